"""What commands know and say where the extra "fast" is not installed."""

import json

import pytest

from board_agents import make_agent, make_oracle
from board_agents.agent import observation_of
from board_envs import _jit, make_game
from board_envs.registry import GAMES

EXTRA = "pip install 'board-envs[fast]'"


@pytest.fixture(autouse=True)
def without_numba(monkeypatch):
    real = _jit.importlib.util.find_spec
    monkeypatch.setattr(
        _jit.importlib.util, "find_spec", lambda name, *rest: None if name == "numba" else real(name, *rest)
    )


def test_the_book_of_connect_four_is_read(run):
    # Pons: the scores of the first moves, and of a game's fifth moves.
    data = json.loads(run("analyse", "connect-four", "--json")[1])
    assert (data["exact"], data["value"], data["best"]) == (True, 1, ["4"])
    assert data["moves"] == dict(zip("1234567", [-2, -1, 0, 1, 0, -1, -2], strict=True))
    assert data["plies"] == 41
    assert "hint" not in data
    after = json.loads(run("analyse", "connect-four", "4", "--moves", "--json")[1])
    assert (after["exact"], after["value"]) == (True, -1)


def test_the_values_of_all_stones_of_the_book_are_those_of_the_moves_after_them():
    game = make_game("connect-four")
    oracle = make_oracle(game)
    state = game.initial_state()
    for _ in range(8):
        values = oracle.action_values(state)
        assert oracle.value(state) == max(values.values())
        state = game.step(state, max(values, key=lambda action: (values[action], action == 3)))
        if not game.is_terminal(state):
            assert oracle.value(state) == -max(values.values())


def test_at_the_books_end_the_value_is_known_and_the_rest_needs_the_extra(run):
    text = "444455222"
    data = json.loads(run("analyse", "connect-four", text, "--moves", "--json")[1])
    assert data["exact"] is True
    assert isinstance(data["value"], int)
    assert set(data["moves"].values()) == {None}
    assert EXTRA in data["hint"]
    beyond = json.loads(run("analyse", "connect-four", text + "33", "--moves", "--json")[1])
    assert (beyond["exact"], beyond["value"]) == (False, None)
    assert EXTRA in beyond["hint"]
    assert EXTRA in run("analyse", "connect-four", text + "33", "--moves")[1]


def test_reversi_says_what_the_extra_would_bring(run):
    data = json.loads(run("analyse", "reversi", "--json")[1])
    assert data["exact"] is False
    assert "the Reversi solver needs" in data["hint"]
    assert "the Reversi player needs" in data["hint"]
    assert EXTRA in data["hint"]
    assert "hint" not in json.loads(run("analyse", "reversi", "-p", "size=4", "--json")[1])


def test_evaluation_says_at_once_what_it_lacks(run):
    arguments = ["--on", "games", "-n", "1", "-p", "size=4", "--json"]
    code, out, err = run("evaluate", "greedy", "reversi", *arguments)
    assert code == 0
    assert json.loads(out)["total"]["counted"] > 0
    assert EXTRA in err
    assert "EXTRA" not in run("evaluate", "greedy", "nim", "--on", "games", "-n", "1")[2]


@pytest.mark.parametrize("name", list(GAMES))
def test_perfect_plays(name):
    game = make_game(name, **{"reversi": {"size": 4}, "awale": {"pits": 2, "seeds": 1}}.get(name, {}))
    agent = make_agent("perfect", game)
    agent.reset(1)
    state = game.initial_state()
    assert agent.analyse(state).exact
    assert game.is_legal(state, agent.act(observation_of(game, state), state))
