"""Which games there are. A game is one folder in ``board_envs/games`` and one line here."""

from __future__ import annotations

import copyreg
import difflib
import importlib
import inspect
from typing import Any

from board_envs.game import Game

GAMES: dict[str, str] = {
    "reversi": "board_envs.games.reversi",
    "connect-four": "board_envs.games.connect_four",
    "awale": "board_envs.games.awale",
    "nim": "board_envs.games.nim",
}
"""Name -> module with ``make(**parameters) -> Game`` (same parameters, same object) and ``describe()``."""


def snake_name(name: str) -> str:
    """Return a game's name in module style: "my-game" -> "my_game"."""
    return name.replace("-", "_")


def camel_name(name: str) -> str:
    """Return a game's name in the style of Gymnasium ids: "my-game" -> "MyGame"."""
    return "".join(part.capitalize() for part in name.split("-"))


def check_name(name: str) -> str:
    """Return the registered name of a game ("my_game" is taken for "my-game"); ValueError lists all."""
    key = name.replace("_", "-") if isinstance(name, str) else name
    if key not in GAMES:
        near = difflib.get_close_matches(str(name), GAMES, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"there is no game {name!r}{hint}; there are: {', '.join(GAMES)}")
    return key


def game_parameters(name: str) -> dict[str, Any]:
    """Return the parameters of a game with their defaults."""
    make = importlib.import_module(GAMES[check_name(name)]).make
    return {key: parameter.default for key, parameter in inspect.signature(make).parameters.items()}


def make_game(name: str, **parameters: Any) -> Game[Any]:
    """Return a game at one size.

    Args:
        name: one of `GAMES`.
        parameters: the game's own; see ``board-envs games`` or `game_parameters`.

    Raises:
        ValueError: an unknown name, or a size that is not offered (the limit is named).
        TypeError: an unknown parameter.

    """
    key = check_name(name)
    known = game_parameters(key)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise TypeError(f"{key} has no parameter {', '.join(map(repr, unknown))}; it has: {', '.join(known)}")
    game = importlib.import_module(GAMES[key]).make(**parameters)
    assert isinstance(game, Game)
    return game


def _remake(name: str, parameters: dict[str, Any]) -> Game[Any]:
    return make_game(name, **parameters)


def _reduce(game: Game[Any]) -> tuple[Any, ...]:
    """Pickle and copy by name: a game is made again (or found) where it is loaded."""
    return _remake, (game.name, dict(game.parameters))


copyreg.pickle(Game, _reduce)
