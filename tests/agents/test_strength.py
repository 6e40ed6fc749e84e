"""Who beats whom, on every game, from seeded openings and in both seats."""

import pytest

from board_agents import make_agent
from board_agents.arena import play_game
from board_envs import make_game
from board_envs.random import Stream

GAMES = [make_game(name) for name in ("reversi", "connect-four", "awale", "nim")]


def share(game, spec, other, pairs):
    """Points of `spec` against `other`, a draw counts half: 0 to 1."""
    stream, points = Stream.seeded(20), 0.0
    for number in range(pairs):
        state, opening = game.initial_state(), []
        for _ in range(1 if game.name == "nim" else 2):
            legal = game.legal_actions(state)
            opening.append(legal[stream.below(len(legal))])
            state = game.step(state, opening[-1])
        for seat in (0, 1):
            specs = (spec, other) if seat == 0 else (other, spec)
            record = play_game(game, specs, names=("a", "b"), seeds=(number, number + 1000), opening=opening)
            assert record.ending == "finished", record.detail
            points += 1.0 if record.winner == seat else 0.5 if record.winner == 2 else 0.0
    return points / (2 * pairs)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_greedy_beats_random(game):
    assert share(game, "greedy", "random", 25) > 0.55


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_alpha_beta_beats_greedy(game):
    assert share(game, "alpha-beta:depth=4", "greedy", 8) > 0.6


def test_mcts_beats_greedy():
    assert share(make_game("connect-four"), "mcts:simulations=300", "greedy", 6) > 0.7


def test_the_search_agents_know_nothing_of_the_game_but_its_rules():
    # The same class plays every game; its default evaluation follows the game.
    assert {type(make_agent("alpha-beta", game)).__name__ for game in GAMES} == {"AlphaBetaAgent"}
