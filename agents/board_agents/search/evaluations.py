"""Evaluations of unfinished positions and the values of won ones.

An evaluation is a function of a state, in player_0's view: larger is better for player_0. Those named here are
jitable, so that compiled search runs them; a user's own may be any Python function of a state.

Every game has "margin" and "zero"; a game's own evaluations and its win value stand in its SUPPORT.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from board_agents.lowlevel.foreign_code import load_object
from board_agents.support import load, support_of
from board_envs._jit import jitable
from board_envs.game import Game
from board_envs.types import SpecError

Evaluation: TypeAlias = Callable[[Any], float]


@dataclass(frozen=True)
class WinValue:
    """The value of a won position: ``base + step * (levels of the search left)``.

    Evaluations are clipped to less than `base`, so that no promise outweighs a win.
    """

    base: int
    step: int = 0


def margin(game: Game[Any]) -> Evaluation:
    """Points so far, player_0's minus player_1's."""
    return game.rules.margin


def zero(game: Game[Any]) -> Evaluation:
    """Nothing but wins and losses counts."""

    @jitable
    def nothing(state: Any) -> int:
        return 0

    return nothing


def weight_masks(weights: NDArray[np.int64], bits: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the distinct weights of cells, int64 (k,), and the cells of each as a board, uint64 (k,).

    Zero is left out. A weighted sum over a board is then one count of bits a weight.

    Args:
        weights: of the cells.
        bits: of the cells, in the same shape: number of each one's bit.

    """
    values = np.array([value for value in np.unique(weights) if value], np.int64)
    return values, np.array([sum(1 << bit for bit in bits[weights == value].tolist()) for value in values], np.uint64)


_COMMON: dict[str, str] = {
    "margin": "board_agents.search.evaluations:margin",
    "zero": "board_agents.search.evaluations:zero",
}
DEFAULT_WIN = WinValue(10_000)


def _evaluations(game: Game[Any]) -> dict[str, str]:
    return {**support_of(game.name).evaluations, **_COMMON}


def evaluation_names(game: Game[Any]) -> list[str]:
    """List the named evaluations of a game, its default first."""
    return list(_evaluations(game))


@functools.cache
def named_evaluation(game: Game[Any], name: str) -> Evaluation:
    """Return a named evaluation ("default" is the first of `evaluation_names`); SpecError lists the names."""
    known = _evaluations(game)
    key = next(iter(known)) if name == "default" else name
    if key not in known:
        raise SpecError(f"{game.name} has no evaluation {name!r}; it has: {', '.join(known)}")
    return cast(Evaluation, load(known[key])(game))


@functools.cache
def win_value(game: Game[Any]) -> WinValue:
    """Return what a won position of a game is worth."""
    special = support_of(game.name).win_value
    return DEFAULT_WIN if special is None else cast(WinValue, load(special)(game))


def load_evaluation(path: str) -> Evaluation:
    """Return a user's function named "package.module:function" or "file.py:function"; SpecError says what is missing.

    The module or file is run: only name code that you trust.
    """
    try:
        function = load_object(path)
    except SpecError as error:
        raise SpecError(f"evaluation {error}") from error
    if not callable(function):
        raise SpecError(f"evaluation {path!r} is no function")
    return cast(Evaluation, function)
