"""Registry of agents and oracles by name, imported on use; `specs` parses spec strings."""

from __future__ import annotations

import contextlib
import copy
import difflib
import functools
import inspect
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from board_agents.agent import AdaptedAgent, Agent, BatchAgent, CallableAgent, takes_state
from board_agents.lowlevel.foreign_code import describe, load_object
from board_agents.oracle import Reduced
from board_agents.specs import read_parameters, spec_parameters, split_name, unknown_name
from board_agents.support import Support, load, own_record, own_support, support_of
from board_envs.game import Game
from board_envs.policies import AgentBuilder, BatchPolicy, agent_builder, find_policy, is_agent
from board_envs.types import MissingExtraError, Oracle, S, SpecError

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
    "perfect": "board_agents.search.perfect:PerfectAgent",
    "open-spiel": "board_agents.players.open_spiel:OpenSpielAgent",
}
"""Name -> "module:class" of agents for every game, called as ``cls(game, **parameters)``; a game's own are in its
SUPPORT."""

ORACLES: dict[str, str] = {"exhaustive": "board_agents.search.exhaustive:ExhaustiveOracle"}
"""Name -> "module:class" of oracles for every game; a game's own are in its SUPPORT."""

GROUP = "board_envs.agents"
"""Entry-point group of other packages' agents: name -> class or function ``(game, **parameters) -> Agent``."""


def agent_names(game: str | None = None) -> list[str]:
    """List agent names: built-in ones, then those of installed packages; `game` adds those of an installed game."""
    return list(dict.fromkeys([*_agents(game), *sorted(point.name for point in entry_points(group=GROUP))]))


def oracle_names() -> list[str]:
    """List oracle names, those for every game first."""
    return list(_oracles())


def _agents(game: str | None = None) -> dict[str, str]:
    """Return the agents for every game, of the built-in games, and of `game`.

    A built-in game may replace an agent for every game by its own version.
    """
    own = own_record(game) if game is not None else None
    others = {name: path for record in _records(game) for name, path in record.agents.items() if name not in AGENTS}
    return {**AGENTS, **others, **(own.agents if own is not None else {})}


def _oracles(game: str | None = None) -> dict[str, str]:
    own = {name: path for record in _records(game) for name, path in record.oracles.items()}
    return {**ORACLES, **own, **ORACLES}


def _records(game: str | None) -> list[Support]:
    """Return the records consulted for names: a third-party game's first, so that built-in names take precedence."""
    return [*([] if game is None else [support_of(game)]), *own_support().values()]


def make_agent(spec: str, game: Game[S]) -> Agent[S]:
    """Return the agent that a spec string names, e.g. ``make_agent("alpha-beta:depth=6", game)``.

    A spec "package.module:Name" or "path/file.py:name" runs that module or file: only name code that you trust.

    Raises:
        SpecError: unknown name or parameter (the message lists known ones), or a value of the wrong type.

    """
    if isinstance(spec, str):
        known_for = game.name if isinstance(game, Game) else None
        name, rest = split_name(spec, lambda name: name in agent_names(known_for))
        if ":" in name:
            return _agent_of_code(spec, name, rest, game)
    agent = _make("agent", spec, game, _agent_class)
    if isinstance(agent, (str, type, AgentBuilder)) or not (is_agent(agent) or callable(agent)):
        raise SpecError(f"agent {spec!r} is {agent!r}, which is neither an agent with act() nor a policy")
    return _adapt(agent, game)


def _agent_of_code(spec: str, path: str, rest: str, game: Game[S]) -> Agent[S]:
    """Return the agent that "module:Name" or "file.py:name" names; classes and builders take parameters."""
    label = f"agent {spec!r}"
    try:
        given = load_object(path)
    except SpecError as error:
        known = agent_names()
        near = difflib.get_close_matches(path.partition(":")[0], known, n=1)
        hint = f"; did you mean the agent {near[0]!r}, with parameters as key=value?" if near else ""
        raise SpecError(f"{label}: {error}{hint}") from error
    if not isinstance(given, (type, AgentBuilder)):
        if rest:
            raise SpecError(f"{label}: only classes and builders take parameters, not {given!r}")
        return _as_agent_of(label, copy.deepcopy(given) if is_agent(given) else given, game)
    parameters = read_parameters(label, rest, given)
    return _as_agent_of(label, agent_builder(functools.partial(given, **parameters)), game)


def _as_agent_of(label: str, given: Any, game: Game[S]) -> Agent[S]:
    """Return `as_agent`; raise SpecError for any error in foreign code."""
    try:
        return as_agent(given, game)
    except MissingExtraError:
        raise
    except (SpecError, TypeError) as error:
        raise SpecError(f"{label}: {error}") from error
    except Exception as error:
        raise SpecError(f"{label}: {describe(error)}") from error


def make_oracle(game: Game[S], spec: str | None = None) -> Oracle[S]:
    """Return an oracle for a game: the one that `spec` names, by default the best; raise SpecError if unknown."""
    if spec is None:
        try:
            return make_oracle(game, default_oracle(game.name))
        except MissingExtraError as error:
            stand_in = make_oracle(game, "exhaustive")
            if isinstance(stand_in, Reduced):
                stand_in.missing = str(error)
            return stand_in
    return cast(Oracle[S], _make("oracle", spec, game, _oracle_class))


def default_oracle(game: str) -> str:
    """Return the name of a game's best oracle: the first in its SUPPORT, else "exhaustive"."""
    return next(iter(support_of(game).oracles), "exhaustive")


def missing_estimator(game: Game[Any]) -> str | None:
    """Return the extra that a game's estimator lacks, None if nothing is missing."""
    spec = support_of(game.name).estimator
    if spec is not None:
        try:
            make_agent(spec, game)
        except MissingExtraError as error:
            return str(error)
        except SpecError:
            return None
    return None


def make_estimator(game: Game[Any]) -> Any:
    """Return the agent whose ``analyse(state)`` estimates positions of a game; None if it has none."""
    spec = support_of(game.name).estimator
    if spec is not None:
        # Unsupported size, or missing extra.
        with contextlib.suppress(SpecError, MissingExtraError):
            return make_agent(spec, game)
    return None


def resolve_oracle(spec: str, game: Game[S]) -> Oracle[S]:
    """Return the oracle that a spec names, "default" for a game's best: the entry point of the environments."""
    return make_oracle(game, None if spec == "default" else spec)


def as_agent(agent: Any, game: Game[S]) -> Agent[S]:
    """Return an agent from any of the forms that `board_envs.policies` lists.

    Raises:
        SpecError: a spec string does not name an agent.
        TypeError: the object has none of the forms.

    """
    return _adapt(find_policy(agent, game, make_agent), game)


def _adapt(policy: Any, game: Game[S]) -> Agent[S]:
    """Return an agent object from the result of `find_policy`."""
    if is_agent(policy):
        complete = isinstance(policy, Agent) and takes_state(policy)
        return cast(Agent[S], policy) if complete else AdaptedAgent(game, policy)
    return BatchAgent(game, policy) if isinstance(policy, BatchPolicy) else CallableAgent(game, policy)


def agent_parameters(name: str, game: str | None = None) -> dict[str, inspect.Parameter]:
    """Return the parameters of an agent by its name."""
    return spec_parameters(_agent_class(name, game))


def oracle_parameters(name: str, game: str | None = None) -> dict[str, inspect.Parameter]:
    """Return the parameters of an oracle by its name."""
    return spec_parameters(_oracle_class(name, game))


def _agent_class(name: str, game: str | None = None) -> Callable[..., Any]:
    own = own_record(game) if game is not None else None
    # Most names are found without a look at the records of other games, which would be imported.
    path = (own.agents.get(name) if own is not None else None) or AGENTS.get(name) or _agents(game).get(name)
    if path is not None:
        return load(path)
    for point in entry_points(group=GROUP, name=name):
        return _load_entry_point(point)
    raise unknown_name("agent", name, agent_names(game))


def _load_entry_point(point: EntryPoint) -> Callable[..., Any]:
    """Return another package's agent class; raise SpecError, naming the package, if the import fails."""
    try:
        return cast("Callable[..., Any]", point.load())
    except MissingExtraError:
        raise
    except Exception as error:
        package = "an installed package" if point.dist is None else point.dist.name
        raise SpecError(f"agent {point.name!r} of {package} ({point.value}) fails: {describe(error)}") from error


def _oracle_class(name: str, game: str | None = None) -> Callable[..., Any]:
    own = own_record(game) if game is not None else None
    path = ORACLES.get(name) or (own.oracles.get(name) if own is not None else None) or _oracles(game).get(name)
    if path is None:
        raise unknown_name("oracle", name, list(_oracles(game)))
    return load(path)


def _make(kind: str, spec: str, game: Game[Any], find: Callable[[str, str], Callable[..., Any]]) -> Any:
    if not isinstance(spec, str):
        raise SpecError(f"the spec of an {kind} must be a string such as 'name:key=value', not {spec!r}")
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
        raise SpecError(f"{kind} {spec!r}: not enough memory ({error})") from error
