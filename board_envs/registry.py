"""The games by name: a folder in ``board_envs/games`` and a line here for built-in games, entry points for all others.

A game's module has ``make(**parameters) -> Game``. It may have ``SAMPLES``, a sequence of parameters beside the usual
ones that tests and `board_envs.testing` try, and ``picture(game, state) -> Picture``, there or in its submodule
``draw``.
"""

from __future__ import annotations

import copyreg
import difflib
import functools
import importlib
import importlib.util
import inspect
import re
import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from board_envs.game import Game
from board_envs.pictures.shapes import Label, Picture
from board_envs.types import MissingExtraError

GAMES: dict[str, str] = {
    "reversi": "board_envs.games.reversi",
    "connect-four": "board_envs.games.connect_four",
    "awale": "board_envs.games.awale",
    "nim": "board_envs.games.nim",
}
"""Built-in games: name -> module with ``make(**parameters) -> Game``; every parameter has a default and is hashable."""

GROUP = "board_envs.games"
"""Entry-point group of other packages' games: name -> module with ``make(**parameters) -> Game``."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NAMING = "a name is words of small letters and digits, joined by hyphens"


def snake_name(name: str) -> str:
    """Return a game's name in module style: "my-game" -> "my_game"."""
    return name.replace("-", "_")


def camel_name(name: str) -> str:
    """Return a game's name in the style of Gymnasium ids: "my-game" -> "MyGame"."""
    return "".join(part.capitalize() for part in name.split("-"))


def game_names() -> list[str]:
    """List the games' names: built-in, added with `add_game`, and of installed packages, which are not imported.

    A warning, here and on use, names a declared game that is left out because its name is taken or malformed.
    """
    for notes in _other_games()[1].values():
        _warn(notes)
    return known_names()


def known_names() -> list[str]:
    """List the games' names as `game_names` does, without warnings."""
    return list(dict.fromkeys([*GAMES, *_ADDED, *_other_games()[0]]))


_ADDED: dict[str, Any] = {}
"""Games added while the program runs: name -> module."""


def add_module(name: str, module: Any) -> None:
    """Make a module's game known by a name, for this process; adding the same again changes nothing.

    Raises:
        ValueError: the name is malformed or taken; the module has no function ``make``.

    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"invalid name of a game: {name!r}; {_NAMING}")
    if not callable(getattr(module, "make", None)):
        raise ValueError(f"game {name!r}: {module!r} has no function make(**parameters)")
    if name in known_names() and _ADDED.get(name) is not module:
        raise ValueError(f"a game {name!r} is already registered")
    _ADDED[name] = module


@functools.cache
def _other_games() -> tuple[dict[str, EntryPoint], dict[str, list[str]]]:
    """Return other packages' games as their metadata declare them, and by name those left out, with the reason."""
    found: dict[str, EntryPoint] = {}
    notes: dict[str, list[str]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        name = point.name.replace("_", "-")
        if _NAME.fullmatch(name) and name not in GAMES and name not in found:
            found[name] = point
            continue
        if not _NAME.fullmatch(name):
            why = f"{point.name!r}: {_NAMING}; it is left out"
        else:
            first = "board_envs" if name in GAMES else _owner(found[name])
            why = f"{name!r}; the one of {first} is used"
        notes.setdefault(name, []).append(f"{_owner(point)} declares a game {why}")
    return found, notes


def _warn(notes: list[str]) -> None:
    for note in notes:
        warnings.warn(note, stacklevel=3)


def _owner(point: EntryPoint) -> str:
    return f"package {point.dist.name!r}" if point.dist is not None else "an installed package"


def check_name(name: str) -> str:
    """Return the registered name of a game ("my_game" is taken for "my-game"); ValueError lists all."""
    key = name.replace("_", "-") if isinstance(name, str) else name
    known, notes = known_names(), _other_games()[1]
    if key in notes:
        _warn(notes[key])
    if key not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"unknown game {name!r}{hint}; known games: {', '.join(known)}")
    return key


def game_module(name: str) -> Any:
    """Return the module of a game, imported now.

    Raises:
        ValueError: an unknown name, or another package's module that does not load; the package is named.
        MissingExtraError: it needs an extra that is not installed.

    """
    key = check_name(name)
    if key in GAMES:
        return importlib.import_module(GAMES[key])
    if key in _ADDED:
        return _ADDED[key]
    point = _other_games()[0][key]
    what = f"game {key!r} of {_owner(point)} ({point.value})"
    try:
        module = point.load()
    except MissingExtraError:
        raise
    except Exception as error:
        raise ValueError(f"{what} does not load: {type(error).__name__}: {error}") from error
    if not callable(getattr(module, "make", None)):
        raise ValueError(f"{what} has no function make(**parameters)")
    return module


def game_drawing(name: str) -> Callable[[Game[Any], Any], Picture]:
    """Return the function ``(game, state) -> Picture`` of a game; without one, that of its drawing for a terminal."""
    module = game_module(name)
    if not hasattr(module, "picture"):
        place = f"{module.__name__}.draw"
        if getattr(module, "__path__", None) is None or importlib.util.find_spec(place) is None:
            return text_picture
        module = importlib.import_module(place)
    return cast("Callable[[Game[Any], Any], Picture]", module.picture)


def text_picture(game: Game[Any], state: Any) -> Picture:
    """Return what `Game.draw` draws as a picture, character by character."""
    lines = game.draw(state).splitlines()
    width, height = 0.3, 0.55
    labels = [
        Label((column + 1) * width, (row + 0.75) * height, character)
        for row, line in enumerate(lines)
        for column, character in enumerate(line)
        if not character.isspace()
    ]
    return Picture((max(map(len, lines), default=0) + 1) * width, (len(lines) + 0.5) * height, tuple(labels))


def game_samples(name: str) -> list[dict[str, Any]]:
    """Return the parameters that tests try: the usual ones (none given), then ``SAMPLES`` of the game's module."""
    return [{}, *map(dict, getattr(game_module(name), "SAMPLES", ()))]


def game_parameters(name: str) -> dict[str, Any]:
    """Return the parameters of a game with their defaults; ValueError if one has no default."""
    parameters = inspect.signature(game_module(name).make).parameters
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty:
            raise ValueError(f"game {name!r}: its parameter {key} must have a default")
    return {key: parameter.default for key, parameter in parameters.items()}


_MADE: dict[tuple[Any, ...], Game[Any]] = {}


def make_game(name: str, **parameters: Any) -> Game[Any]:
    """Return a game at one size; the same name and parameters give the same object.

    Args:
        name: one of `game_names`.
        parameters: the game's own; see ``board-envs games`` or `game_parameters`.

    Raises:
        ValueError: an unknown name, or a size that is not offered (the limit is named).
        TypeError: an unknown parameter.

    """
    key = check_name(name)
    known = game_parameters(key)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        has = ", ".join(known) if known else "none"
        raise TypeError(f"{key} has no parameter {', '.join(map(repr, unknown))}; it has: {has}")
    game = game_module(key).make(**parameters)
    if not isinstance(game, Game) or game.name != key:
        raise ValueError(f"game {key!r}: make() must return a Game of this name, not {game!r}")
    try:
        return _MADE.setdefault((key, *game.parameters.items()), game)
    except TypeError:
        values = dict(game.parameters)
        raise ValueError(f"game {key!r}: the values of Game.parameters must be hashable, not {values}") from None


def _remake(name: str, parameters: dict[str, Any]) -> Game[Any]:
    return make_game(name, **parameters)


def _reduce(game: Game[Any]) -> tuple[Any, ...]:
    """Pickle and copy by name: a game is made again (or found) where it is loaded."""
    return _remake, (game.name, dict(game.parameters))


copyreg.pickle(Game, _reduce)
