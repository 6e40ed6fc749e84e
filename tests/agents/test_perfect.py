"""``perfect`` in every game: exact where the truth is within reach, else an estimate; the same games everywhere."""

import copy
import pickle
import time

import pytest
from agents_common import random_positions

from board_agents import make_agent, make_oracle
from board_agents.agent import observation_of
from board_envs import make_game
from board_envs._jit import have_numba
from board_envs.registry import GAMES

numba = pytest.mark.skipif(not have_numba(), reason="needs numba")
EXACT = [
    make_game("connect-four", rows=3, columns=4, connect=3),
    make_game("reversi", size=4),
    make_game("awale", pits=2, seeds=1),
    make_game("awale", pits=2, seeds=1, ruleset="abapa"),
    make_game("nim", heaps=(2, 3, 4), misere=True),
]


def self_play(game, agent, seed, most=200):
    agent.reset(seed)
    state, moves = game.initial_state(), []
    while not game.is_terminal(state) and len(moves) < most:
        moves.append(agent.act(observation_of(game, state), game.own(state)))
        state = game.step(state, moves[-1])
    return moves


@pytest.mark.parametrize("game", EXACT, ids=repr)
@pytest.mark.parametrize("ties", ["first", "random"])
def test_small_boards_are_played_exactly(game, ties):
    oracle = make_oracle(game, "exhaustive:budget=3000000")
    agent = make_agent(f"perfect:ties={ties}", game)
    agent.reset(3)
    for state in random_positions(game, 8, seed=4):
        values = oracle.action_values(state)
        best = max(values.values())
        assert values[agent.act({}, state)] == best
        found = agent.analyse(state)
        assert (found.exact, found.value, found.values) == (True, best, values)
        assert values[found.action] == best
        assert found.line[0] == found.action


@pytest.mark.parametrize("name", list(GAMES))
def test_every_game_has_the_same_name_for_it_and_any_seat_gets_a_legal_move(name):
    game = make_game(name)
    agent = make_agent("perfect", game)
    agent.reset(1)
    state = game.initial_state()
    for _ in range(2):
        action = agent.act(observation_of(game, state), state)
        assert game.is_legal(state, action)
        state = game.step(state, action)
    found = agent.analyse(state)
    assert game.is_legal(state, found.action)
    assert found.seat == game.current_player(state)


@numba
def test_the_truth_of_each_game_is_known_where_it_is():
    # Connect Four's first move wins in the middle (Pons: 1); Nim 3,4,5 is won; Reversi's opening is an estimate.
    exact = {"connect-four": True, "nim": True, "reversi": False, "awale": False}
    for name, expected in exact.items():
        game = make_game(name)
        found = make_agent("perfect", game).analyse(game.initial_state())
        assert found.exact is expected, name
        assert found.value == max(found.values.values())
    connect_four = make_game("connect-four")
    found = make_agent("perfect", connect_four).analyse(connect_four.initial_state())
    assert (found.action, found.value) == (3, 1.0)
    assert found.values == dict(enumerate([-2.0, -1.0, 0.0, 1.0, 0.0, -1.0, -2.0]))


@numba
@pytest.mark.parametrize("size", [(1, 32, 4), (7, 8, 4)])
def test_boards_that_cannot_be_solved_are_answered_all_the_same(size):
    rows, columns, connect = size
    game = make_game("connect-four", rows=rows, columns=columns, connect=connect)
    agent = make_agent("perfect", game)
    begun = time.monotonic()
    found = agent.analyse(game.initial_state())
    assert not found.exact
    assert game.is_legal(game.initial_state(), agent.act({}, game.initial_state()))
    assert time.monotonic() - begun < 60


@numba
def test_a_limit_of_nodes_gives_the_same_games_whatever_was_asked_before():
    game = make_game("connect-four", rows=5, columns=8)
    fresh, used = (make_agent("perfect:nodes=20000,megabytes=1", game) for _ in range(2))
    for state in random_positions(game, 10, seed=5):
        used.analyse(state)
    found = [agent.analyse(game.from_moves("4455")).exact for agent in (fresh, used)]
    assert found == [False, False]
    expected = self_play(game, fresh, 9)
    assert self_play(game, used, 9) == expected
    assert self_play(game, copy.deepcopy(used), 9) == expected
    assert self_play(game, pickle.loads(pickle.dumps(used)), 9) == expected


@numba
def test_reversi_near_the_end_is_exact_and_before_it_not():
    game = make_game("reversi")
    agent = make_agent("perfect:seconds=0.2", game)
    by_stones = {bool(game.observe(state, 0).sum() >= 48): state for state in random_positions(game, 40, seed=6)}
    assert agent.analyse(by_stones[True]).exact
    assert agent.analyse(by_stones[True]).values == make_oracle(game).action_values(by_stones[True])
    assert not agent.analyse(by_stones[False]).exact


@numba
def test_perfect_awale_makes_progress_as_tables_do():
    game = make_game("awale", pits=3, seeds=2)
    assert self_play(game, make_agent("perfect", game), 2) == self_play(game, make_agent("table", game), 2)


def test_limits_of_perfect_are_checked():
    game = make_game("nim")
    for spec, told in [
        ("perfect:seconds=0", "seconds must be a finite number above 0, not 0.0"),
        ("perfect:nodes=0", "nodes must be an integer from 1"),
        ("perfect:ties=last", "first"),
    ]:
        with pytest.raises(ValueError, match=told):
            make_agent(spec, game)
