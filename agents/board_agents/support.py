"""SUPPORT: the agents' half of a game as one record, and how records are found.

A built-in game has a package of its name in ``board_agents.games`` that defines ``SUPPORT``; another package declares
an entry point in the group ``board_envs.support``, game name -> ``"module:attribute"``. A game without a record still
plays: its evaluation is the margin, its oracle the exhaustive search.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from board_envs.game import Game
from board_envs.registry import snake_name
from board_envs.types import MissingExtraError, SpecError, TextError

GROUP = "board_envs.support"
"""Entry-point group of other packages' records: game name -> "module:attribute"."""


@dataclass(frozen=True)
class Unit:
    """The unit of exact values, and their meaning for the seat to move.

    The three sentences may contain ``{value}`` (the value without its sign), ``{unit}`` (singular or plural) and
    ``{plies}`` (plies to the end, if the game's `Support.plies` gives them).

    Attributes:
        name: as printed beside values, e.g. "discs".
        singular: name for one.
        won: the sentence for a value above 0.
        lost: for a value below 0.
        equal: for a value of 0.

    """

    name: str
    singular: str
    won: str = "wins by {value}"
    lost: str = "loses by {value}"
    equal: str = "draws"

    def describe(self, value: float, plies: int | None = None) -> str:
        """Describe a value from the mover's view."""
        sentence = self.won if value > 0 else self.lost if value < 0 else self.equal
        size = abs(value)
        return sentence.format(value=f"{size:g}", unit=self.singular if size == 1 else self.name, plies=plies)


class HistoryKey(Protocol):
    """Key of a position whose value depends on its history.

    Attributes:
        cost: number of positions of the search's budget that one position costs.

    """

    cost: int

    def key(self, state: Any) -> Hashable:
        """Return a key; states with equal keys have equal values."""
        ...


class TablesError(TextError):
    """Tablebases or books that cannot be built or read: a wrong size, or a file that is missing or damaged."""


@dataclass(frozen=True)
class TablesReport:
    """Result of building, verifying or describing tables.

    Attributes:
        data: plain data, printed with ``--json``.
        summary: one line.
        header: column names of the list, if any.
        rows: the list's rows.

    """

    data: Mapping[str, Any]
    summary: str
    header: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()


Progress: TypeAlias = Callable[[str, float, float], None]
"""Called with (description, amount done, total amount)."""


class TablesBuilder(Protocol):
    """A tablebase or book on disk that ``board-envs tables`` builds.

    Attributes:
        about: a short description.
        options: option -> default; None if the option is required to build.

    """

    about: str
    options: Mapping[str, int | None]

    def build(self, options: Mapping[str, int], folder: Path | None, threads: int, progress: Progress) -> TablesReport:
        """Build what is missing in a folder (None: the default one); a stopped build resumes."""
        ...


@runtime_checkable
class TablesInspector(Protocol):
    """Tables that can also be verified and described. Options without a default may be absent."""

    def verify(self, options: Mapping[str, int], folder: Path | None, full: bool, progress: Progress) -> TablesReport:
        """Check the files, with `full` also every value; raise TablesError for a wrong one."""
        ...

    def info(self, options: Mapping[str, int], folder: Path | None) -> TablesReport:
        """Describe the existing tables."""
        ...


@dataclass(frozen=True, kw_only=True)
class Support:
    """What agents, oracles and commands use for one game. Everything is optional.

    A reference is a text ``"module:attribute"``; its module is imported on use. The first oracle
    and the first evaluation are the game's defaults.

    Attributes:
        oracles: name -> class, called as ``cls(game, **parameters)``.
        agents: name -> class of agents for this game alone, called in the same way.
        estimator: spec of the agent whose ``analyse`` estimates what the oracle does not know, in the same unit.
        evaluations: name -> function ``game -> evaluation``; "margin" and "zero" exist for every game.
        weights: function ``(game, matrix int64 of the board's shape) -> evaluation`` with weights of cells.
        win_value: function ``game -> WinValue`` (`board_agents.search.evaluations`).
        final_value: function ``game -> (finished state -> int)``: exact value in player_0's view; default: margin.
        unit: unit of exact values; default: the game's own unit.
        plies: function ``(game, state, value) -> int``: plies from `state` to the end, if a value determines them.
        history_key: ``(game, spend) -> HistoryKey`` for games whose values depend on earlier positions; it calls
            ``spend()`` for each further position it visits. Default: the position alone is the key.
        outside: name of an outside program or protocol ("open-spiel", ...) -> function ``game -> form | None``, None
            where it does not have these rules; the module that implements the protocol defines the form.
        tables: name -> class of a `TablesBuilder`, called without arguments.

    """

    oracles: Mapping[str, str] = field(default_factory=dict)
    agents: Mapping[str, str] = field(default_factory=dict)
    estimator: str | None = None
    evaluations: Mapping[str, str] = field(default_factory=dict)
    weights: str | None = None
    win_value: str | None = None
    final_value: str | None = None
    unit: Unit | None = None
    plies: str | None = None
    history_key: str | None = None
    outside: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenSpielForm:
    """A game's form in OpenSpiel: the result of ``outside["open-spiel"]``.

    Attributes:
        name: OpenSpiel's short name of the game.
        parameters: parameters of ``pyspiel.load_game``.
        skip: OpenSpiel's action for a skipped turn, which is not an action here; None if it has none.
        action: function ``(state, action here) -> OpenSpiel's action``; None if both numberings agree.

    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    skip: int | None = None
    action: Callable[[Any, int], int] | None = None


def outside_form(game: Game[Any], name: str) -> Any:
    """Return a game's form for an outside program or protocol (`Support.outside`), None if it has none."""
    reference = support_of(game.name).outside.get(name)
    return None if reference is None else load(reference)(game)


def load(reference: str) -> Callable[..., Any]:
    """Import the object that a reference "module:attribute" names."""
    module, _, name = reference.partition(":")
    return cast("Callable[..., Any]", getattr(importlib.import_module(module), name))


@functools.cache
def _own_names() -> list[str]:
    folder = importlib.import_module("board_agents.games")
    return sorted(module.name for module in pkgutil.iter_modules(folder.__path__) if module.ispkg)


def own_record(game: str) -> Support | None:
    """Return the record of one of this package's games; nothing of the other games is imported."""
    name = snake_name(game)
    if name not in _own_names():
        return None
    return cast(Support, importlib.import_module(f"board_agents.games.{name}").SUPPORT)


@functools.cache
def own_support() -> dict[str, Support]:
    """Return the records of all of this package's games: module-style name -> record."""
    return {name: record for name in _own_names() if (record := own_record(name)) is not None}


def own_tables() -> dict[str, str]:
    """Return the tables of this package's games: name -> class of a `TablesBuilder`."""
    return {name: path for record in own_support().values() for name, path in record.tables.items()}


def other_tables() -> tuple[dict[str, str], list[SpecError | MissingExtraError]]:
    """Return the tables of other packages' games like `own_tables`, and the errors of broken records; imports all.

    Built-in names take precedence.
    """
    found: dict[str, str] = {}
    errors: list[SpecError | MissingExtraError] = []
    for game in sorted({_game_name(point) for point in entry_points(group=GROUP)}):
        try:
            found |= support_of(game).tables
        except (SpecError, MissingExtraError) as error:  # noqa: PERF203  # one broken package must not hide the others
            errors.append(error)
    return {name: path for name, path in found.items() if name not in own_tables()}, errors


@functools.cache
def support_of(name: str) -> Support:
    """Return the record of a game by the game's name; an empty one if it has none.

    Raises:
        SpecError: another package's record does not load; the message names the package.
        MissingExtraError: it needs an extra that is not installed.

    """
    ours = own_record(name)
    if ours is not None:
        return ours
    points = [point for point in entry_points(group=GROUP) if _game_name(point) == name.replace("_", "-")]
    return _load_point(min(points, key=lambda point: point.value)) if points else Support()


def _game_name(point: EntryPoint) -> str:
    return point.name.replace("_", "-")


def _load_point(point: EntryPoint) -> Support:
    owner = f"package {point.dist.name!r}" if point.dist is not None else "an installed package"
    where = f"{owner}: entry point {point.name} = {point.value} in {GROUP}"
    try:
        record = point.load()
    except MissingExtraError:
        raise
    except Exception as error:
        raise SpecError(f"{where} does not load: {type(error).__name__}: {error}") from error
    if not isinstance(record, Support):
        raise SpecError(f"{where} is not a Support record, but {record!r}")
    return record


def value_unit(game: Game[Any], name: str) -> Unit:
    """Return the unit called `name`: the game's own, or a default made from the facts of the game."""
    unit = support_of(game.name).unit
    if unit is not None and unit.name == name:
        return unit
    singular = name.removesuffix("s")
    if name == "win":
        return Unit(name, singular, "wins", "loses")
    if game.values_to_come:
        more = "{value} {unit} more than the other from here"
        return Unit(name, singular, more, more.replace("more", "less"), "equal from here")
    return Unit(name, singular)


def exact_unit(game: Game[Any]) -> str:
    """Return the name of the unit of a game's exact values."""
    unit = support_of(game.name).unit
    return game.unit if unit is None else unit.name
