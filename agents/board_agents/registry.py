"""Which agents and oracles there are, by name: one line each, imported when asked for.

A spec string is ``"name"`` or ``"name:key=value,key=value"``; its parameters are the keyword arguments of the class,
typed by their annotations. A value with a comma in it stands between double quotes.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import inspect
import re
import types
import typing
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, cast

from board_agents.agent import Agent, CallableAgent
from board_envs.game import Game
from board_envs.types import MissingExtraError, Oracle, SpecError

AGENTS: dict[str, str] = {
    "random": "board_agents.players.random_agent:RandomAgent",
    "greedy": "board_agents.search.minimax:GreedyAgent",
    "minimax": "board_agents.search.minimax:MinimaxAgent",
    "alpha-beta": "board_agents.search.alpha_beta:AlphaBetaAgent",
    "mcts": "board_agents.search.mcts:MctsAgent",
    "nim-xor": "board_agents.games.nim.xor_agent:NimXorAgent",
    "nim-astar": "board_agents.games.nim.astar_agent:NimAStarAgent",
    "table": "board_agents.games.awale.table_agent:TableAgent",
    "human": "board_agents.players.human:HumanAgent",
    "program": "board_agents.players.program:ProgramAgent",
    "sb3": "board_agents.players.policy_files:Sb3Agent",
    "torch": "board_agents.players.policy_files:TorchAgent",
    "open-spiel": "board_agents.players.open_spiel:OpenSpielAgent",
    "kaggle": "board_agents.players.kaggle:KaggleAgent",
    "perfect": "board_agents.games.connect_four:PerfectConnectFourAgent",
    "reversi": "board_agents.games.reversi.level_agent:ReversiAgent",
}
"""Name -> "module:class"; the class is called as ``cls(game, **parameters)``."""

ORACLES: dict[str, str] = {
    "closed-form": "board_agents.games.nim.closed_form:NimOracle",
    "exhaustive": "board_agents.search.exhaustive:ExhaustiveOracle",
    "reversi-endgame": "board_agents.games.reversi:ReversiOracle",
    "awale-tables": "board_agents.games.awale:AwaleOracle",
    "connect-four-solver": "board_agents.games.connect_four:ConnectFourOracle",
}
"""Name -> "module:class" of the oracles."""

DEFAULT_ORACLES: dict[str, str] = {
    "nim": "closed-form",
    "reversi": "reversi-endgame",
    "awale": "awale-tables",
    "connect-four": "connect-four-solver",
}
"""Game -> spec of what ``make_oracle(game)`` gives; "exhaustive" for a game that is not listed or without its extra."""

DEFAULT_ESTIMATES: dict[str, str] = {"reversi": "reversi:level=8"}
"""Game -> spec of the agent whose ``analyse`` estimates what no oracle reaches."""

GROUP = "board_envs.agents"
"""Entry-point group of other packages' agents: name -> class or function ``(game, **parameters) -> Agent``."""

_PAIR = re.compile(r'\s*([A-Za-z_]\w*)\s*=\s*("[^"]*"|[^,"]*?)\s*(?:,|$)')


def agent_names() -> list[str]:
    """List the agents' names, ours first, then those of installed packages."""
    return list(dict.fromkeys([*AGENTS, *sorted(point.name for point in entry_points(group=GROUP))]))


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
            return cast(Oracle, _make("oracle", DEFAULT_ORACLES.get(game.name, "exhaustive"), game, _oracle_class))
        spec = "exhaustive"
    return cast(Oracle, _make("oracle", spec, game, _oracle_class))


def make_estimator(game: Game[Any]) -> Any:
    """Return the agent whose ``analyse(state)`` estimates positions of a game; None if there is none for it here."""
    spec = DEFAULT_ESTIMATES.get(game.name)
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


def split_specs(text: str) -> list[str]:
    """Cut "random,alpha-beta:depth=4,ties=random,greedy" into its specs.

    A piece "key=value" belongs to the spec before it; commas between double quotes do not cut. SpecError if a piece is
    empty.
    """
    specs: list[str] = []
    for number, piece in enumerate(re.split(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', text), 1):
        head = piece.strip()
        if not head:
            raise SpecError(f"piece {number} of {text!r} is empty; agents are separated by one comma")
        if specs and re.match(r"[A-Za-z_]\w*\s*=", head) and ":" in specs[-1]:
            specs[-1] += "," + head
        else:
            specs.append(head)
    return specs


def agent_parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of an agent by its name."""
    return _parameters(_agent_class(name))


def _agent_class(name: str) -> Callable[..., Any]:
    if name in AGENTS:
        return _load(AGENTS[name])
    for point in entry_points(group=GROUP, name=name):
        return cast("Callable[..., Any]", point.load())
    raise _unknown("agent", name, agent_names())


def _oracle_class(name: str) -> Callable[..., Any]:
    if name not in ORACLES:
        raise _unknown("oracle", name, list(ORACLES))
    return _load(ORACLES[name])


def _unknown(kind: str, name: str, known: list[str]) -> SpecError:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return SpecError(f"there is no {kind} {name!r}{hint}; there are: {', '.join(known)}")


def _load(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    return cast("Callable[..., Any]", getattr(importlib.import_module(module), name))


def _make(kind: str, spec: str, game: Game[Any], find: Callable[[str], Callable[..., Any]]) -> Any:
    if not isinstance(spec, str):
        raise SpecError(f"the spec of an {kind} is a text such as 'name:key=value', not {spec!r}")
    if not isinstance(game, Game):
        raise TypeError(f"{kind} {spec!r}: expected a game (make_game(...)), not {game!r}")
    name, _, rest = spec.partition(":")
    make = find(name.strip())
    parameters = _parse(kind, spec, rest, make)
    try:
        return make(game, **parameters)
    except SpecError as error:
        raise SpecError(f"{kind} {spec!r}: {error}") from error
    except ValueError as error:
        raise SpecError(f"{kind} {spec!r}: {error}") from error
    except MemoryError as error:
        raise SpecError(f"{kind} {spec!r}: there is not enough memory ({error})") from error


def _parameters(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return what a spec may set: everything but the game."""
    signature = inspect.signature(make)
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return dict([(key, value) for key, value in signature.parameters.items() if value.kind in named][1:])


def _parse(kind: str, spec: str, text: str, make: Callable[..., Any]) -> dict[str, Any]:
    known = _parameters(make)
    offered = f"it has: {', '.join(known)}" if known else "it has none"
    hints = _hints(make, known)
    values: dict[str, Any] = {}
    position = 0
    while position < len(text):
        match = _PAIR.match(text, position)
        if match is None:
            raise SpecError(f"{kind} {spec!r}: {text[position:]!r} does not read as key=value; {offered}")
        key, value, position = match[1], match[2].strip('"'), match.end()
        if key not in known:
            raise SpecError(f"{kind} {spec!r}: there is no parameter {key!r}; {offered}")
        if key in values:
            raise SpecError(f"{kind} {spec!r}: {key} is given twice")
        try:
            values[key] = _convert(value, hints[key])
        except ValueError as error:
            raise SpecError(f"{kind} {spec!r}: {key} is {error}, not {value!r}") from None
    missing = [key for key, parameter in known.items() if parameter.default is parameter.empty and key not in values]
    if missing:
        raise SpecError(f"{kind} {spec!r}: {', '.join(missing)} must be given; {offered}")
    return values


_BUILTIN: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}


def _hints(make: Callable[..., Any], known: dict[str, inspect.Parameter]) -> dict[str, Any]:
    """Return each parameter's type: its annotation, where that can be read, else the type of its default, else text."""
    try:
        hints = typing.get_type_hints(make.__init__ if isinstance(make, type) else make)  # type: ignore[misc]
    except (NameError, TypeError):
        # Annotations that only type checkers can read (names imported for them alone), or nothing annotated at all.
        written = {key: parameter.annotation for key, parameter in known.items()}
        hints = {key: _BUILTIN[text] for key, text in written.items() if isinstance(text, str) and text in _BUILTIN}
    for key, parameter in known.items():
        plain = isinstance(parameter.default, (bool, int, float, str))
        hints.setdefault(key, type(parameter.default) if plain else str)
    return hints


def _convert(text: str, hint: Any) -> Any:
    """Return a text as the type of an annotation; ValueError says what is expected."""
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        choices = typing.get_args(hint)
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text
    if origin in (typing.Union, types.UnionType):
        members = typing.get_args(hint)
        if type(None) in members and text.lower() == "none":
            return None
        if str in members:
            return text
        return _convert(text, next(member for member in members if member is not type(None)))
    if hint is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError("true or false")
        return text.lower() == "true"
    if hint in (int, float):
        pattern = r"[+-]?\d+" if hint is int else r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?"
        if not re.fullmatch(pattern, text, re.ASCII | re.IGNORECASE):
            raise ValueError("an integer" if hint is int else "a number")
        return hint(text)
    if hint in (str, Any):
        return text
    raise ValueError(f"of a type that a spec cannot give ({hint})")
