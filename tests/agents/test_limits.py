"""Limits of solvers, and states that agents and oracles refuse: each kind in one way, everywhere."""

import contextlib
import math

import pytest
from agents_common import random_positions

from board_agents import make_agent, make_oracle
from board_agents.games.connect_four.document_tree import choose_column
from board_agents.oracle import Limits
from board_agents.registry import agent_names, agent_parameters, oracle_names, oracle_parameters
from board_envs import make_game
from board_envs._jit import have_numba
from board_envs.registry import GAMES
from board_envs.types import IllegalActionError, MissingExtraError, PositionError, SpecError

NO_SECONDS = [True, "1", 0, -1, math.inf, math.nan, [1]]
NEEDED = {"program": {"command": "true"}, "kaggle": {"agent": print}}


def test_limits_are_checked_and_frozen():
    assert Limits() == Limits(nodes=None, seconds=None)
    assert Limits(seconds=1).seconds == 1.0
    for value in NO_SECONDS:
        with pytest.raises(ValueError, match="seconds must be a finite number above 0, not"):
            Limits(seconds=value)
    for value in (-1, True, 1.5, "3"):
        with pytest.raises(ValueError, match="nodes must be an integer from 0"):
            Limits(nodes=value)
    with pytest.raises(AttributeError):
        Limits().nodes = 3


@pytest.mark.parametrize("value", NO_SECONDS, ids=repr)
def test_every_seconds_is_checked_alike(value):
    from board_agents.registry import _agent_class, _oracle_class

    checked = []
    for kind, names, parameters, find in [
        ("agent", agent_names(), agent_parameters, _agent_class),
        ("oracle", oracle_names(), oracle_parameters, _oracle_class),
    ]:
        for name in names:
            if "seconds" not in parameters(name):
                continue
            for game in map(make_game, GAMES):
                try:
                    find(name)(game, **NEEDED.get(name, {}), seconds=1.0)
                except (ValueError, MissingExtraError):
                    continue
                with pytest.raises(ValueError, match="seconds must be a finite number above 0, not"):
                    find(name)(game, **NEEDED.get(name, {}), seconds=value)
                checked.append((kind, name))
                break
    assert ("agent", "alpha-beta") in checked
    assert ("oracle", "exhaustive") in checked


def test_old_names_of_limits_warn_and_work():
    pytest.importorskip("numba")
    from board_agents.games.connect_four import ConnectFourSolver, default_solver

    game = make_game("connect-four", rows=4, columns=5)
    with pytest.warns(DeprecationWarning, match=r"table_megabytes .* use megabytes"):
        solver = ConnectFourSolver(game, table_megabytes=1)
    with pytest.warns(DeprecationWarning, match="table_megabytes"):
        default_solver(game, table_megabytes=1)
    with pytest.warns(DeprecationWarning, match="table_megabytes"):
        make_agent("perfect:table_megabytes=1", game)
    with pytest.warns(DeprecationWarning, match="table_megabytes"):
        make_oracle(game, "connect-four-solver:table_megabytes=1")
    state = game.initial_state()
    with pytest.warns(DeprecationWarning, match=r"score: node_limit .* use limits=Limits\(nodes, seconds\)"):
        assert solver.score(state, node_limit=10) is None
    with pytest.warns(DeprecationWarning, match="time_limit"):
        assert solver.score(state, time_limit=60.0) == solver.score(state)


SMALL_AND_LARGE = {
    "connect-four": ({"rows": 4, "columns": 5}, {}),
    "reversi": ({"size": 4}, {}),
    "awale": ({"pits": 3, "seeds": 2}, {}),
    "nim": ({"heaps": (1, 2)}, {"heaps": (7, 7, 7)}),
}
SEARCHES = ["greedy", "minimax:depth=2", "alpha-beta:depth=2", "mcts:simulations=5,compiled=false", "perfect"]


def foreign_states(game):
    """States of other games, and of this one in another size."""
    for name in GAMES:
        for parameters in SMALL_AND_LARGE.get(name, ({},)):
            other = make_game(name, **parameters)
            if other is not game:
                yield from (other.initial_state(), random_positions(other, 1, seed=3)[0])
    yield None
    yield "3,4,5"


def oracles_of(game):
    for name in oracle_names():
        with contextlib.suppress(SpecError, MissingExtraError):
            yield make_oracle(game, name)


def fits(game, state):
    """Whether a foreign state happens to be a position here too."""
    try:
        game.check_state(state)
    except (PositionError, AttributeError, TypeError):
        return False
    return True


@pytest.mark.parametrize("name", list(GAMES))
def test_states_of_other_games_and_sizes_are_refused(name):
    game = make_game(name, **SMALL_AND_LARGE.get(name, ({}, {}))[1])
    asked = 0
    for state in foreign_states(game):
        if fits(game, state):
            continue
        for oracle in oracles_of(game):
            with pytest.raises(PositionError):
                oracle.action_values(state)
            asked += 1
        for spec in SEARCHES:
            agent = make_agent(spec, game)
            with pytest.raises(PositionError):
                agent.analyse(state)
            if state is not None:
                with pytest.raises(PositionError):
                    agent.act({}, state)
    assert asked


def finished(game):
    state = random_positions(game, 1, seed=2)[0]
    while not game.is_terminal(state):
        state = game.step(state, game.legal_actions(state)[0])
    return state


@pytest.mark.parametrize("name", list(GAMES))
def test_in_a_finished_game_there_is_nothing_to_choose(name):
    game = make_game(name)
    state = finished(game)
    for spec in [
        *SEARCHES,
        "alpha-beta:depth=2,seconds=1,compiled=false",
        *(["alpha-beta:depth=5"] if have_numba() else []),
    ]:
        agent = make_agent(spec, game)
        for ask in (agent.choose, agent.analyse, lambda state, agent=agent: agent.act({}, state)):
            with pytest.raises(IllegalActionError, match="the game is over"):
                ask(state)
    for oracle in oracles_of(game):
        assert oracle.action_values(state) == {}


def test_the_source_has_no_column_to_choose_in_a_finished_game():
    game = make_game("connect-four")
    with pytest.raises(IllegalActionError, match="the game is over"):
        choose_column(game, game.from_moves("1212121"), 2)
