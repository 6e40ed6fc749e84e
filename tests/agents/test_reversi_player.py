"""The Reversi player: levels, exactness, limits, its analysis of a position."""

import pytest

pytest.importorskip("numba")

from agents_common import random_positions

from board_agents import make_agent
from board_agents.games.reversi import ReversiOracle
from board_agents.games.reversi.level_agent import LEVELS
from board_agents.games.reversi.pattern_evaluation import shipped_evaluation
from board_envs import make_game
from board_envs._bits import popcount
from board_envs.random import Stream
from board_envs.types import SpecError

GAME = make_game("reversi")


def play(first, second, opening_seed):
    """Return the margin of a game for `first`, who begins after four random plies."""
    stream, state = Stream.seeded(opening_seed), GAME.initial_state()
    for _ in range(4):
        legal = GAME.legal_actions(state)
        state = GAME.step(state, legal[stream.below(len(legal))])
    agents = (first, second)
    for seat, agent in enumerate(agents):
        agent.reset(opening_seed + seat)
    while not GAME.is_terminal(state):
        state = GAME.step(state, agents[state.seat].act({}, state))
    return GAME.margin(state)


def test_levels_get_stronger_and_beat_the_weighted_squares():
    agents = [make_agent(f"reversi:level={level}", GAME) for level in (1, 3, 5)]
    squares = make_agent("alpha-beta:depth=6", GAME)
    for strong, weak in ((agents[1], agents[0]), (agents[2], agents[1]), (agents[2], squares)):
        margins = [play(strong, weak, seed) for seed in range(5)] + [-play(weak, strong, seed) for seed in range(5)]
        assert sum(margin > 0 for margin in margins) >= 8


def test_estimates_come_near_exact_values():
    """On average three times as near as a guess of zero, in positions that random play reaches."""
    oracle, evaluation = ReversiOracle(GAME, megabytes=1), shipped_evaluation()
    states = [state for state in random_positions(GAME, 250, 1) if 10 <= 64 - popcount(state.black | state.white) <= 14]
    values = [oracle.value(state) for state in states]
    errors = [abs(evaluation.value(state) - value) for state, value in zip(states, values, strict=True)]
    assert len(states) > 15
    assert 2 * sum(errors) < sum(abs(value) for value in values)


@pytest.mark.parametrize("level", [4, 6, 10])
def test_near_the_end_play_and_values_are_exact(level):
    agent, oracle = make_agent(f"reversi:level={level}", GAME), ReversiOracle(GAME, megabytes=1)
    exact = 0
    for state in random_positions(GAME, 60, 2):
        empties = 64 - popcount(state.black | state.white)
        if empties > 14:
            continue
        thought = agent.analyse(state)
        values = oracle.action_values(state)
        assert set(thought.values) == set(values)
        if empties <= LEVELS[level - 1].empties:
            exact += 1
            assert thought.exact
            assert thought.values == values
            assert values[agent.act({}, state)] == thought.value == max(values.values())
            assert oracle.value(state) == thought.value
        else:
            assert not thought.exact
    assert exact > 3


@pytest.mark.parametrize(
    "spec", ["reversi:level=1", "reversi:level=5", "reversi:level=7", "reversi:level=10,seconds=0.002"]
)
def test_estimates_are_marked_and_lines_are_legal(spec):
    agent = make_agent(spec, GAME)
    for state in random_positions(GAME, 12, 3):
        if 64 - popcount(state.black | state.white) <= 24:
            continue
        thought = agent.analyse(state)
        assert not thought.exact
        assert thought.depth >= 1
        assert set(thought.values) <= set(GAME.legal_actions(state))
        assert thought.values[thought.action] == thought.value == max(thought.values.values())
        assert thought.line[0] == thought.action
        after = state
        for action in thought.line:
            after = GAME.step(after, action)  # raises if it is illegal


def test_the_same_position_is_answered_alike_whatever_came_before():
    states = random_positions(GAME, 8, 4)
    fresh = [make_agent("reversi:level=7", GAME).act({}, state) for state in states]
    agent = make_agent("reversi:level=7", GAME)
    assert [agent.act({}, state) for state in states] == fresh
    noisy = make_agent("reversi:level=1", GAME)
    runs = []
    for seed in (5, 5, 6):
        noisy.reset(seed)
        runs.append([noisy.act({}, state) for state in states])
    assert runs[0] == runs[1] != runs[2]


def test_time_ends_a_search_and_nothing_illegal_is_played():
    """With hardly any time the player still moves, in the middle and where the solver would reach the end."""
    agent = make_agent("reversi:level=10,seconds=0.0005", GAME)
    depths = set()
    for state in random_positions(GAME, 40, 6):
        assert GAME.is_legal(state, agent.act({}, state))
        thought = agent.analyse(state)
        assert thought.action in GAME.legal_actions(state)
        depths.add(thought.depth)
    assert len(depths) > 1


def test_what_cannot_be_solved_in_time_is_not_tried(monkeypatch):
    positions = random_positions(GAME, 60, 6)
    states = [state for state in positions if 19 <= 64 - popcount(state.black | state.white) <= 22][:3]
    assert states
    for seconds, tried in ((0.002, 0), (5, len(states))):
        agent = make_agent(f"reversi:level=10,seconds={seconds}", GAME)
        calls = []
        monkeypatch.setattr(agent, "_solve", lambda state, *_, calls=calls: calls.append(state))
        for state in states:
            assert GAME.is_legal(state, agent.act({}, state))
        assert len(calls) == tried


def test_depth_and_empty_squares_can_be_chosen():
    agent = make_agent("reversi:depth=2,empties=0", GAME)
    assert agent.analyse(GAME.initial_state()).depth == 2
    assert not any(agent.analyse(state).exact for state in random_positions(GAME, 40, 8))
    assert make_agent("reversi:level=1,empties=60", GAME).strength.empties == 60


def test_what_it_does_not_play_is_refused():
    with pytest.raises(SpecError, match="8 x 8"):
        make_agent("reversi", make_game("reversi", size=6))
    with pytest.raises(SpecError, match="8 x 8"):
        make_agent("reversi", make_game("nim"))
    with pytest.raises(SpecError, match="level"):
        make_agent("reversi:level=11", GAME)
    with pytest.raises(SpecError, match="depth"):
        make_agent("reversi:depth=61", GAME)
    with pytest.raises(SpecError, match="empties"):
        make_agent("reversi:empties=65", GAME)
    with pytest.raises(SpecError, match="seconds"):
        make_agent("reversi:seconds=0", GAME)


def test_an_analysis_in_a_database_tells_exact_values_from_estimates():
    pytest.importorskip("sqlalchemy")
    from board_agents.arena.records.database import analyse_position

    agent = make_agent("reversi:level=6", GAME)
    kinds = set()
    for state in random_positions(GAME, 20, 9):
        found = analyse_position(GAME, state, agent)
        kinds.add(found["exact"])
        assert found["exact"] == (64 - popcount(state.black | state.white) <= agent.strength.empties)
    assert kinds == {True, False}
