"""Evaluations of unfinished positions and the values of won ones.

An evaluation is a function of a state, in player_0's view: larger is better for player_0. Named evaluations are
jitable, so that compiled search runs them; a user's own may be any Python function of a state.

Every game has "margin" and "zero"; a game's own evaluations and its win value are in its SUPPORT. Where that offers
`weights`, an integer matrix is an evaluation, too: as rows of numbers, or as a text whose rows are separated by
"/" and whose numbers by blanks, which is a valid name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from board_agents.lowlevel.foreign_code import load_object
from board_agents.support import load, support_of
from board_envs._bits import popcount
from board_envs._jit import jitable
from board_envs.game import Game
from board_envs.types import SpecError

Evaluation: TypeAlias = Callable[[Any], float]
Weights: TypeAlias = Sequence[Sequence[int]] | NDArray[Any]
"""An integer matrix, rows from the top."""


@dataclass(frozen=True)
class WinValue:
    """The value of a won position: ``base + step * (levels of the search left)``.

    Evaluations are clipped to less than `base`, so that no evaluation outweighs a win.
    """

    base: int
    step: int = 0


def margin(game: Game[Any]) -> Evaluation:
    """Points so far, player_0's minus player_1's."""
    return game.rules.margin


def zero(game: Game[Any]) -> Evaluation:
    """Only wins and losses count."""

    @jitable
    def nothing(state: Any) -> int:
        return 0

    return nothing


def weighted_cells(weights: NDArray[np.int64], bits: NDArray[np.intp]) -> Evaluation:
    """Return the sum of the weights under player_0's pieces minus the sum under player_1's.

    States must begin with the boards of player_0 and player_1, uint64. A weighted sum over a board
    takes one population count per distinct weight.

    Args:
        weights: weights of the cells, int64.
        bits: bit number of each cell, same shape.

    """
    values = np.array([value for value in np.unique(weights) if value], np.int64)
    masks = np.array([sum(1 << bit for bit in bits[weights == value].tolist()) for value in values], np.uint64)
    kinds = len(values)

    @jitable
    def difference(state: Any) -> int:
        total = 0
        for kind in range(kinds):
            cells = masks[kind]
            total += int(values[kind]) * (popcount(state[0] & cells) - popcount(state[1] & cells))
        return total

    return difference


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
    """Return a named evaluation ("default" is the first of `evaluation_names`); raise SpecError if unknown."""
    if _MATRIX.fullmatch(name):
        return _weighted(game, [row.split() for row in name.split("/")])
    known = _evaluations(game)
    key = next(iter(known)) if name == "default" else name
    if key not in known:
        raise SpecError(f"{game.name} has no evaluation {name!r}; evaluations: {', '.join(known)}")
    return cast(Evaluation, load(known[key])(game))


_MATRIX = re.compile(r"[-+0-9\s/]*[0-9][-+0-9\s/]*", re.ASCII)
WEIGHT_LIMIT = 1_000_000
"""Largest absolute weight: sums fit in 64 bits."""


def _weighted(game: Game[Any], rows: list[list[str]]) -> Evaluation:
    """Return the evaluation for a matrix of weights, given as text; raise SpecError if it is invalid."""
    place = support_of(game.name).weights
    if place is None:
        raise SpecError(
            f"{game.name} has no evaluation by a matrix of weights; evaluations: {', '.join(_evaluations(game))}"
        )
    high, wide = game.observation_shape[:2]
    if len(rows) != high or any(len(row) != wide for row in rows):
        sizes = sorted({len(row) for row in rows})
        raise SpecError(
            f"weights of {game!r} must be {high} rows of {wide}, not {len(rows)} of {' or '.join(map(str, sizes))}"
        )
    for number in (number for row in rows for number in row):
        if not _WHOLE.fullmatch(number) or abs(int(number)) > WEIGHT_LIMIT:
            raise SpecError(f"a weight is a whole number from {-WEIGHT_LIMIT} to {WEIGHT_LIMIT}, not {number!r}")
    return cast(Evaluation, load(place)(game, np.array(rows, object).astype(np.int64)))


_WHOLE = re.compile(r"[-+]?[0-9]{1,12}", re.ASCII)


def weights_text(game: Game[Any], weights: Any) -> str:
    """Return the name of the evaluation by a matrix of weights, such as ``"1 0/0 1"``.

    Args:
        game: a game whose board has the shape of the matrix.
        weights: integers, rows from the top: an array or a list of lists, shape (rows, columns).

    Raises:
        SpecError: the matrix is invalid, or the game does not support one.

    """
    array = np.asarray(weights, object)
    if array.ndim != 2 or not array.size:
        raise SpecError(f"an evaluation must be a name, a function of a state or a matrix of weights, not {weights!r}")
    for weight in array.ravel().tolist():
        if isinstance(weight, bool) or not isinstance(weight, (int, np.integer)):
            raise SpecError(f"a weight is a whole number from {-WEIGHT_LIMIT} to {WEIGHT_LIMIT}, not {weight!r}")
    name = "/".join(" ".join(str(int(weight)) for weight in row) for row in array.tolist())
    named_evaluation(game, name)
    return name


def settled_evaluation(game: Game[Any], given: Any) -> str | Evaluation:
    """Normalise an agent's `evaluation` argument to a name, "module:function", or a function of a state.

    Raises:
        SpecError: an unknown name, neither a function nor a matrix, or a matrix that does not fit the game.

    """
    if callable(given):
        return cast(Evaluation, given)
    if not isinstance(given, str):
        return weights_text(game, given)
    if ":" not in given:
        named_evaluation(game, given)
        return given
    found = load_place(given)
    if not callable(found) and np.ndim(found) != 2:
        raise SpecError(f"evaluation {given!r} is neither a function of a state nor a matrix of weights, but {found!r}")
    return given if callable(found) else weights_text(game, found)


@functools.cache
def win_value(game: Game[Any]) -> WinValue:
    """Return the value of a won position of a game."""
    special = support_of(game.name).win_value
    return DEFAULT_WIN if special is None else cast(WinValue, load(special)(game))


def evaluation_function(game: Game[Any], settled: str | Evaluation) -> Evaluation:
    """Return the function for a result of `settled_evaluation`."""
    if not isinstance(settled, str):
        return settled
    return cast(Evaluation, load_place(settled)) if ":" in settled else named_evaluation(game, settled)


def load_place(path: str) -> Any:
    """Import "package.module:name" or "file.py:name"; raise SpecError if it is missing.

    The module or file is run: only name code that you trust.
    """
    try:
        return load_object(path)
    except SpecError as error:
        raise SpecError(f"evaluation {error}") from error
