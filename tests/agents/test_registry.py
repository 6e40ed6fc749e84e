"""Spec strings: what they name, and how they say that they name nothing."""

from importlib.metadata import EntryPoint

import pytest

from board_agents import make_agent, make_oracle, registry
from board_agents.registry import AGENTS, agent_names, agent_parameters, as_agent, resolve_oracle
from board_agents.specs import split_specs
from board_envs import make_game
from board_envs.resolve import resolve
from board_envs.types import SpecError

GAME = make_game("connect-four")


def test_parameters_come_with_their_types():
    agent = make_agent("alpha-beta: depth = 6, evaluation=grid, ties=random, seconds=0.5", GAME)
    assert (agent.depth, agent.evaluation, agent.ties, agent.seconds) == (6, "grid", "random", 0.5)
    assert make_agent("alpha-beta:seconds=none", GAME).seconds is None


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("alfa-beta", "did you mean 'alpha-beta'"),
        ("", "known agents: random"),
        ("alpha-beta:deep=3", "'deep'.*parameters: depth, evaluation, ties, seconds, compiled"),
        ("random:depth=3", "'depth'.*it has no parameters"),
        ("alpha-beta:depth=3.5", "depth must be an integer, not '3.5'"),
        ("alpha-beta:depth=three", "depth must be an integer, not 'three'"),
        ("alpha-beta:depth=٣", "depth must be an integer"),
        ("alpha-beta:depth=1_0", "depth must be an integer"),
        ("alpha-beta:depth=", "depth must be an integer"),
        ("alpha-beta:depth=0", "depth must be an integer from 1 to 100, not 0"),
        ("alpha-beta:depth=101", "from 1 to 100"),
        ("alpha-beta:seconds=fast", "seconds must be a number"),
        ("alpha-beta:seconds=-1", "seconds must be a finite number above 0"),
        ("alpha-beta:ties=last", "ties must be one of first, random, not 'last'"),
        ("alpha-beta:evaluation=corners", "has no evaluation 'corners'; evaluations: grid, margin, zero"),
        ("alpha-beta:evaluation=no.such:thing", "No module named"),
        ("alpha-beta:evaluation=math:pi", "neither a function"),
        ("alpha-beta:depth", "is not key=value"),
        ("alpha-beta:depth=3,,", "is not key=value"),
        ("alpha-beta:depth=3,depth=4", "given twice"),
        ("nim-xor", "closed form applies to Nim only"),
    ],
)
def test_a_spec_that_names_nothing_says_what_there_is(spec, says):
    with pytest.raises(SpecError, match=says):
        make_agent(spec, GAME)


def test_specs_and_games_of_the_wrong_kind():
    with pytest.raises(SpecError, match="must be a string"):
        make_agent(3, GAME)
    with pytest.raises(TypeError, match="expected a game"):
        make_agent("random", "connect-four")
    with pytest.raises(TypeError, match="must be a spec string"):
        as_agent(3, GAME)


def test_oracles_by_name_and_by_default():
    nim = make_game("nim")
    assert type(make_oracle(nim)).__name__ == "NimOracle"
    assert type(make_oracle(nim, "exhaustive:budget=10")).__name__ == "ExhaustiveOracle"
    assert type(resolve("oracle", "closed-form", nim)) is type(resolve_oracle("default", nim))
    assert type(resolve("agent", "greedy", nim)).__name__ == "GreedyAgent"
    with pytest.raises(SpecError, match="known oracles: exhaustive, .*closed-form"):
        make_oracle(nim, "perfekt")
    with pytest.raises(SpecError, match="budget"):
        make_oracle(nim, "exhaustive:budget=0")


def test_lists_of_specs_are_cut_between_agents():
    assert split_specs("random,alpha-beta:depth=4,ties=random, greedy") == [
        "random",
        "alpha-beta:depth=4,ties=random",
        "greedy",
    ]
    assert split_specs('a:x="1,2",y=3,b') == ['a:x="1,2",y=3', "b"]
    for text in ("random,,greedy", "random,", " ,random", ""):
        with pytest.raises(SpecError, match=f"of '{text}' is empty"):
            split_specs(text)


def test_names_and_parameters_can_be_listed():
    assert {"random", "greedy", "minimax", "alpha-beta", "nim-xor"} <= set(agent_names())
    assert list(agent_parameters("alpha-beta")) == ["depth", "evaluation", "ties", "seconds", "compiled"]
    assert agent_parameters("minimax")["depth"].default == 4


def test_a_broken_package_is_named_when_its_agent_is_used(monkeypatch):
    point = EntryPoint("broken", "no_such_package.agents:Agent", "board_envs.agents")
    monkeypatch.setattr(registry, "entry_points", lambda **_: [point])
    with pytest.raises(SpecError, match=r"agent 'broken' of .*no_such_package.agents:Agent.* fails: ModuleNotFound"):
        make_agent("broken", GAME)


class Unreadable:
    """A class as other packages may bring: one annotation is for type checkers alone, one is missing."""

    def __init__(self, game: "NoSuchName", *, depth: "int" = 2, speed=1.5, name=None):  # noqa: F821
        self.values = depth, speed, name

    def reset(self, seed=None):
        """Begin."""

    def act(self, observation, state=None):
        """Take the first column."""
        return 0


def test_parameters_are_typed_without_readable_annotations(monkeypatch):
    monkeypatch.setitem(AGENTS, "unreadable", "test_registry:Unreadable")
    assert make_agent("unreadable:depth=3,speed=2,name=x", GAME).values == (3, 2.0, "x")
    assert make_agent("unreadable", GAME).values == (2, 1.5, None)
    with pytest.raises(SpecError, match="depth must be an integer"):
        make_agent("unreadable:depth=x", GAME)
    with pytest.raises(SpecError, match="speed must be a number"):
        make_agent("unreadable:speed=x", GAME)
