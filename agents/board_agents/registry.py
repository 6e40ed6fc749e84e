"""Which agents and oracles there are, by name: one line each, imported when asked for; `specs` reads the texts."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, cast

from board_agents.agent import Agent, CallableAgent
from board_agents.specs import read_parameters, spec_parameters, unknown_name
from board_agents.support import Support, load, own_support, support_of
from board_envs.game import Game
from board_envs.types import MissingExtraError, Oracle, SpecError

AGENTS: dict[str, str] = {
    "random": "board_agents.players.random_agent:RandomAgent",
    "greedy": "board_agents.search.minimax:GreedyAgent",
    "minimax": "board_agents.search.minimax:MinimaxAgent",
    "alpha-beta": "board_agents.search.alpha_beta:AlphaBetaAgent",
    "mcts": "board_agents.search.mcts:MctsAgent",
    "human": "board_agents.players.human:HumanAgent",
    "program": "board_agents.players.program:ProgramAgent",
    "sb3": "board_agents.players.policy_files:Sb3Agent",
    "torch": "board_agents.players.policy_files:TorchAgent",
    "open-spiel": "board_agents.players.open_spiel:OpenSpielAgent",
}
"""Name -> "module:class" of agents for every game, called as ``cls(game, **parameters)``; a game's own stand in its
SUPPORT."""

ORACLES: dict[str, str] = {"exhaustive": "board_agents.search.exhaustive:ExhaustiveOracle"}
"""Name -> "module:class" of oracles for every game; a game's own stand in its SUPPORT."""

GROUP = "board_envs.agents"
"""Entry-point group of other packages' agents: name -> class or function ``(game, **parameters) -> Agent``."""


def agent_names() -> list[str]:
    """List the agents' names, ours first, then those of installed packages."""
    return list(dict.fromkeys([*_agents(), *sorted(point.name for point in entry_points(group=GROUP))]))


def oracle_names() -> list[str]:
    """List the oracles' names, those for every game first."""
    return list(_oracles())


def _agents(game: str | None = None) -> dict[str, str]:
    """Return the agents for every game and those of our games, and of `game` wherever it comes from."""
    return dict(AGENTS | {name: path for record in _records(game) for name, path in record.agents.items()})


def _oracles(game: str | None = None) -> dict[str, str]:
    return dict(ORACLES | {name: path for record in _records(game) for name, path in record.oracles.items()})


def _records(game: str | None) -> list[Support]:
    """Return the records read for a name: a stranger's first, so that one of ours keeps its name."""
    return [*([] if game is None else [support_of(game)]), *own_support().values()]


def make_agent(spec: str, game: Game[Any]) -> Agent:
    """Return the agent that a spec string names, e.g. ``make_agent("alpha-beta:depth=6", game)``.

    Raises:
        SpecError: unknown name or parameter, or a value of the wrong type; what there is is listed.

    """
    agent = _make("agent", spec, game, _agent_class)
    if not isinstance(agent, Agent):
        if callable(agent):
            return CallableAgent(game, agent)
        raise SpecError(f"agent {spec!r} is {agent!r}, which has no reset and act")
    return agent


def make_oracle(game: Game[Any], spec: str | None = None) -> Oracle:
    """Return what knows exact values of a game: the best there is, or the one that `spec` names (SpecError if none)."""
    if spec is None:
        with contextlib.suppress(MissingExtraError):
            return make_oracle(game, default_oracle(game.name))
        spec = "exhaustive"
    return cast(Oracle, _make("oracle", spec, game, _oracle_class))


def default_oracle(game: str) -> str:
    """Return the name of a game's best oracle: the first in its SUPPORT, else "exhaustive"."""
    return next(iter(support_of(game).oracles), "exhaustive")


def make_estimator(game: Game[Any]) -> Any:
    """Return the agent whose ``analyse(state)`` estimates positions of a game; None if there is none for it here."""
    spec = support_of(game.name).estimator
    if spec is not None:
        # Not for this size, or without its extra.
        with contextlib.suppress(SpecError, MissingExtraError):
            return make_agent(spec, game)
    return None


def resolve_oracle(spec: str, game: Game[Any]) -> Oracle:
    """Return the oracle that a spec names, "default" for a game's best: the entry point of the environments."""
    return make_oracle(game, None if spec == "default" else spec)


def as_agent(agent: Any, game: Game[Any]) -> Agent:
    """Return an agent from any of its forms: a spec string, an agent, or a plain callable of the observation."""
    if isinstance(agent, str):
        return make_agent(agent, game)
    if isinstance(agent, Agent) and not isinstance(agent, type):
        return agent
    if callable(agent):
        return CallableAgent(game, agent)
    raise SpecError(f"an agent is a spec string, an object with reset and act, or a callable, not {agent!r}")


def agent_parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of an agent by its name."""
    return spec_parameters(_agent_class(name))


def oracle_parameters(name: str, game: str | None = None) -> dict[str, inspect.Parameter]:
    """Return the parameters of an oracle by its name."""
    return spec_parameters(_oracle_class(name, game))


def _agent_class(name: str, game: str | None = None) -> Callable[..., Any]:
    known = _agents(game)
    if name in known:
        return load(known[name])
    for point in entry_points(group=GROUP, name=name):
        return cast("Callable[..., Any]", point.load())
    raise unknown_name("agent", name, agent_names())


def _oracle_class(name: str, game: str | None = None) -> Callable[..., Any]:
    known = _oracles(game)
    if name not in known:
        raise unknown_name("oracle", name, list(known))
    return load(known[name])


def _make(kind: str, spec: str, game: Game[Any], find: Callable[[str, str], Callable[..., Any]]) -> Any:
    if not isinstance(spec, str):
        raise SpecError(f"the spec of an {kind} is a text such as 'name:key=value', not {spec!r}")
    if not isinstance(game, Game):
        raise TypeError(f"{kind} {spec!r}: expected a game (make_game(...)), not {game!r}")
    name, _, rest = spec.partition(":")
    make = find(name.strip(), game.name)
    parameters = read_parameters(f"{kind} {spec!r}", rest, make)
    try:
        return make(game, **parameters)
    except SpecError as error:
        raise SpecError(f"{kind} {spec!r}: {error}") from error
    except ValueError as error:
        raise SpecError(f"{kind} {spec!r}: {error}") from error
    except MemoryError as error:
        raise SpecError(f"{kind} {spec!r}: there is not enough memory ({error})") from error
