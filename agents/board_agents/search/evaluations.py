"""Evaluations of unfinished positions and the values of won ones.

An evaluation is a function of a state, in player_0's view: larger is better for player_0. Those named here are
jitable, so that compiled search runs them; a user's own may be any Python function of a state.

Sources: the matrix evaluation and the win value 10000 of the Reversi problem (EPITA 2024); the grid score and the win
value 100 + 10 (levels left) of the exercise "puissance 4" (Bac NSI 2026, Amérique du Nord).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from board_envs._bits import popcount
from board_envs._jit import jitable
from board_envs.game import Game
from board_envs.games.connect_four import alignments
from board_envs.games.connect_four.rules import bit_index
from board_envs.games.reversi.rules import bit_index as reversi_bits
from board_envs.types import SpecError

Evaluation: TypeAlias = Callable[[Any], float]


@dataclass(frozen=True)
class WinValue:
    """The value of a won position: ``base + step * (levels of the search left)``.

    Evaluations are clipped to less than `base`, so that no promise outweighs a win.
    """

    base: int
    step: int = 0


def _margin(game: Game[Any]) -> Evaluation:
    return game.rules.margin


def _zero(game: Game[Any]) -> Evaluation:
    @jitable
    def zero(state: Any) -> int:
        return 0

    return zero


def _grid(game: Game[Any]) -> Evaluation:
    """Lines through player_0's stones minus lines through player_1's: the source's score, sign changed."""
    rows, columns, connect = (game.parameters[key] for key in ("rows", "columns", "connect"))
    values, masks = _masks(alignments(rows, columns, connect), bit_index(rows, columns))
    kinds = len(values)

    @jitable
    def grid(state: Any) -> int:
        total = 0
        for kind in range(kinds):
            cells = masks[kind]
            total += int(values[kind]) * (popcount(state.player_0 & cells) - popcount(state.player_1 & cells))
        return total

    return grid


_QUADRANT = ((100, -20, 10, 5), (-20, -50, -2, -2), (10, -2, -1, -1), (5, -2, -1, -1))
"""The classic weights of a quarter of a Reversi board, its corner first; smaller boards use its outer part."""


def square_weights(size: int) -> NDArray[np.int64]:
    """Return the weight of each Reversi square: int64 (size, size), symmetric, at most 100."""
    quarter = np.array(_QUADRANT, np.int64)[: size // 2, : size // 2]
    half = np.concatenate([quarter, quarter[:, ::-1]], axis=1)
    return np.concatenate([half, half[::-1]])


def _squares(game: Game[Any]) -> Evaluation:
    """The source's sum of p[i][j] F[i][j], with F of `square_weights`."""
    size = game.parameters["size"]
    weights, bits = square_weights(size), reversi_bits(size)
    values, masks = _masks(weights, bits)
    kinds = len(values)

    @jitable
    def squares(state: Any) -> int:
        total = 0
        for kind in range(kinds):
            cells = masks[kind]
            total += int(values[kind]) * (popcount(state.black & cells) - popcount(state.white & cells))
        return total

    return squares


def _masks(weights: NDArray[np.int64], bits: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the distinct weights, int64 (k,), and the cells of each as a board, uint64 (k,): one count a weight."""
    values = np.array([value for value in np.unique(weights) if value], np.int64)
    return values, np.array([sum(1 << bit for bit in bits[weights == value].tolist()) for value in values], np.uint64)


def _connect_four_win(game: Game[Any]) -> WinValue:
    """100 on the source's board; on others more, if the lines through all good cells can reach 100."""
    size = tuple(game.parameters[key] for key in ("rows", "columns", "connect"))
    if size == (6, 7, 4):
        return WinValue(100, 10)
    counts = np.sort(alignments(*size).ravel())
    largest = int(counts[counts.size // 2 :].sum() - counts[: counts.size // 2].sum())
    return WinValue(max(100, 1 + largest), 10)


EVALUATIONS: dict[str, dict[str, Callable[[Game[Any]], Evaluation]]] = {
    "reversi": {"squares": _squares, "discs": _margin},
    "connect-four": {"grid": _grid},
    "awale": {"stores": _margin},
    "nim": {},
}
"""Game -> name -> factory; the first is the game's default. "margin" and "zero" are there for every game."""

_COMMON: dict[str, Callable[[Game[Any]], Evaluation]] = {"margin": _margin, "zero": _zero}
_WINS: dict[str, Callable[[Game[Any]], WinValue]] = {"connect-four": _connect_four_win}
_DEFAULT_WIN = WinValue(10_000)


def evaluation_names(game: Game[Any]) -> list[str]:
    """List the named evaluations of a game, its default first."""
    return list({**EVALUATIONS.get(game.name, {}), **_COMMON})


@functools.cache
def named_evaluation(game: Game[Any], name: str) -> Evaluation:
    """Return a named evaluation ("default" is the first of `evaluation_names`); SpecError lists the names."""
    known = {**EVALUATIONS.get(game.name, {}), **_COMMON}
    key = next(iter(known)) if name == "default" else name
    if key not in known:
        raise SpecError(f"{game.name} has no evaluation {name!r}; it has: {', '.join(known)}")
    return known[key](game)


@functools.cache
def win_value(game: Game[Any]) -> WinValue:
    """Return what a won position of a game is worth."""
    special = _WINS.get(game.name)
    return _DEFAULT_WIN if special is None else special(game)


def load_evaluation(path: str) -> Evaluation:
    """Return a user's function named "package.module:function"; SpecError says what is missing."""
    module, _, name = path.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SpecError(f"evaluation {path!r}: {error}") from error
    if not callable(function):
        raise SpecError(f"evaluation {path!r} is no function")
    return function
