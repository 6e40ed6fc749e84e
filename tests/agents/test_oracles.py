"""Nim's closed form and the exhaustive oracle, each against the other and against plain searches."""

import pytest
from agents_common import random_positions

from board_agents import make_agent, make_oracle
from board_agents.agent import observation_of
from board_agents.search.exhaustive import ExhaustiveOracle
from board_envs import make_game
from board_envs.types import Oracle, SpecError


@pytest.mark.parametrize("misere", [False, True])
def test_nims_closed_form_equals_exhaustive_search(misere):
    game = make_game("nim", heaps=(3, 3, 4, 5), misere=misere)
    closed, search = make_oracle(game), make_oracle(game, "exhaustive")
    assert isinstance(closed, Oracle)
    assert isinstance(search, Oracle)
    for a in range(4):
        for b in range(4):
            for c in range(5):
                for d in range(6):
                    state = game.parse(f"{a},{b},{c},{d} 1")
                    assert closed.action_values(state) == search.action_values(state)


@pytest.mark.parametrize("misere", [False, True])
def test_xor_nim_wins_every_won_position_against_every_defence(misere):
    game = make_game("nim", heaps=(3, 2, 3), misere=misere)
    agent = make_agent("nim-xor", game)

    def wins(state, seat):
        """Whether `seat`, played by the agent, wins against all replies."""
        if game.is_terminal(state):
            return game.returns(state)[seat] == 1
        if game.current_player(state) == seat:
            return wins(game.step(state, agent.act(observation_of(game, state), state)), seat)
        return all(wins(game.step(state, action), seat) for action in game.legal_actions(state))

    won = 0
    for state in [game.parse(f"{a},{b},{c} 0") for a in range(4) for b in range(3) for c in range(4) if a + b + c]:
        if max(make_oracle(game).action_values(state).values()) > 0:
            assert wins(state, 0)
            won += 1
    assert won > 30


def test_xor_nim_plays_from_the_observation_in_both_seats():
    game = make_game("nim", heaps=(7, 5, 6), misere=True)
    agent = make_agent("nim-xor", game)
    for state in random_positions(game, 20, seed=3):
        assert agent.act(observation_of(game, state)) == agent.act({}, state)


def final_margin(game, state):
    """Best play's final margin in player_0's view, without any memory."""
    if game.is_terminal(state):
        return game.margin(state)
    values = [final_margin(game, game.step(state, action)) for action in game.legal_actions(state)]
    return max(values) if game.current_player(state) == 0 else min(values)


def test_reversi_4x4_is_lost_by_eight_discs():
    # REVERSI.md of the sources: brute force over 64,971 states.
    game = make_game("reversi", size=4)
    oracle = make_oracle(game, "exhaustive")
    assert set(oracle.action_values(game.initial_state()).values()) == {-8.0}
    for state in random_positions(game, 25, seed=7):
        if len(game.legal_actions(state)) and (game.observe(state, 0).sum() >= 9):
            sign = 1 - 2 * game.current_player(state)
            assert oracle.action_values(state) == {
                action: sign * final_margin(game, game.step(state, action)) for action in game.legal_actions(state)
            }


def plies_search(game, state):
    """(sign of the result for the mover, plies to the end) with fast wins and slow losses."""
    if game.is_terminal(state):
        return game.returns(state)[game.current_player(state)], 0
    best = None
    for action in game.legal_actions(state):
        sign, plies = plies_search(game, game.step(state, action))
        rank = (-sign, -(plies + 1) if -sign > 0 else plies + 1)
        best = max(best, rank) if best else rank
    return best[0], abs(best[1])


@pytest.mark.parametrize("size", [(3, 4, 3), (4, 3, 3), (2, 5, 3)])
def test_connect_four_is_scored_as_pons_does(size):
    rows, columns, connect = size
    game = make_game("connect-four", rows=rows, columns=columns, connect=connect)
    oracle = make_oracle(game, "exhaustive")
    for state in random_positions(game, 12, seed=8):
        stones = int(game.observe(state, 0).sum())
        if stones < rows * columns - 8:
            continue
        expected = {}
        for action in game.legal_actions(state):
            sign, plies = plies_search(game, game.step(state, action))
            before_last = stones + plies
            expected[action] = float(-sign * ((rows * columns + 1 - before_last) // 2))
        assert oracle.action_values(state) == expected


AWALE = [
    {"pits": 2, "seeds": 2},
    {"pits": 2, "seeds": 3},
    {"pits": 2, "seeds": 2, "ruleset": "abapa"},
    {"pits": 3, "seeds": 1},
]


@pytest.mark.parametrize("parameters", AWALE, ids=str)
def test_small_awale_counts_the_seeds_to_come_with_the_history_of_the_game(parameters):
    game = make_game("awale", **parameters)
    oracle = make_oracle(game, "exhaustive:budget=40000")
    compared = 0
    for state in random_positions(game, 40, seed=2):
        try:
            expected = limited(game, state, [1500])
        except OverflowError:
            continue
        values = oracle.action_values(state)
        if values is not None:
            assert values == expected, game.format(state)
            compared += 1
    assert compared >= 10


def limited(game, state, left):
    """Seeds to come of each action for the mover, by every line; OverflowError if there are too many."""

    def best(position):
        left[0] -= 1
        if left[0] < 0:
            raise OverflowError
        if game.is_terminal(position):
            return game.margin(position)
        values = [best(game.step(position, action)) for action in game.legal_actions(position)]
        return max(values) if game.current_player(position) == 0 else min(values)

    sign, so_far = 1 - 2 * game.current_player(state), game.margin(state)
    return {action: float(sign * (best(game.step(state, action)) - so_far)) for action in game.legal_actions(state)}


def test_beyond_the_budget_nothing_is_claimed():
    game = make_game("reversi")
    oracle = ExhaustiveOracle(game, budget=500)
    assert oracle.action_values(game.initial_state()) is None
    long_nim = make_game("nim", heaps=(127,) * 8)
    assert ExhaustiveOracle(long_nim, budget=5000).action_values(long_nim.initial_state()) is None
    small = make_game("nim", heaps=(3, 4))
    for budget in (1, 2, 5, 10):
        values = ExhaustiveOracle(small, budget=budget).action_values(small.initial_state())
        assert values in (None, make_oracle(small).action_values(small.initial_state()))


def test_a_finished_game_has_no_actions_to_value():
    game = make_game("nim", heaps=(1,))
    over = game.from_moves("1:1")
    assert make_oracle(game).action_values(over) == {}
    assert make_oracle(game, "exhaustive").action_values(over) == {}


def test_the_closed_form_is_for_nim_alone():
    with pytest.raises(SpecError, match="Nim"):
        make_oracle(make_game("connect-four"), "closed-form")
