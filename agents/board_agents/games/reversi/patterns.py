"""The 46 patterns of the Reversi evaluation: which squares each one looks at, and the numbers of what it sees there.

A pattern's index is a number in base 3: digit k is the square k of the pattern, 0 empty, 1 own disc, 2 the other's.
Patterns that a symmetry of the board turns into each other are of one kind and share its weights; a pattern that is its
own mirror image gives both images of what it sees the same weight.

Source of the kinds: M. Buro, "Experiments with multi-ProbCut and a new high-quality evaluation function for Othello"
(1997): corners 3x3 and 2x5, edges with the two squares inside of the corners, rows, diagonals.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.lowlevel.aligned_arrays import aligned

_RIM = [(0, column) for column in range(8)]

KINDS: dict[str, tuple[tuple[int, int], ...]] = {
    "corner 3x3": tuple((row, column) for row in range(3) for column in range(3)),
    "corner 2x5": tuple((row, column) for row in range(2) for column in range(5)),
    "edge and inner corners": (*_RIM, (1, 1), (1, 6)),
    "row 2": tuple((1, column) for column in range(8)),
    "row 3": tuple((2, column) for column in range(8)),
    "row 4": tuple((3, column) for column in range(8)),
    **{
        f"diagonal of {length}": tuple((8 - length + step, step) for step in range(length))
        for length in (8, 7, 6, 5, 4)
    },
}
"""Kind -> the (row, column) of one pattern of it."""

LANES = 48
"""Patterns in memory: 46 and two that look at nothing."""


def _images() -> list[NDArray[np.intp]]:
    """The eight symmetries of the board as maps of squares: intp (8, 8) of 8 * row + column each."""
    squares: Any = np.arange(64, dtype=np.intp).reshape(8, 8)
    return [np.rot90(board, turns) for board in (squares, squares.T) for turns in range(4)]


@functools.cache
def placements() -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the 46 patterns as (kind, squares as 8 * row + column in the order of the digits)."""
    found = []
    for kind, cells in KINDS.items():
        seen = set()
        for image in _images():
            squares = tuple(int(image[cell]) for cell in cells)
            if frozenset(squares) not in seen:
                seen.add(frozenset(squares))
                found.append((kind, squares))
    return tuple(found)


@functools.cache
def kind_offsets() -> dict[str, int]:
    """Return where the weights of each kind begin in a phase's; "" where they all end."""
    offsets, at = {}, 0
    for kind, cells in KINDS.items():
        offsets[kind] = at
        at += 3 ** len(cells)
    return {**offsets, "": at}


@functools.cache
def digit_table() -> NDArray[np.uint16]:
    """Return what each byte of a board adds to each index: uint16 (8 bytes, 256 values, LANES).

    It begins with a line of the cache, and is the same array every time: compiled code gets its address.
    """
    table = aligned((8, 256, LANES), np.uint16)
    for lane, (_, squares) in enumerate(placements()):
        for digit, square in enumerate(squares):
            row, column = divmod(square, 8)
            values = np.arange(256) >> column & 1
            table[row, :, lane] += (values * 3**digit).astype(np.uint16)
    return table


def _mirror(cells: tuple[tuple[int, int], ...]) -> tuple[int, ...] | None:
    """Return a kind's other order of its squares under a symmetry that keeps it in place; None if it has none."""
    squares = tuple(8 * row + column for row, column in cells)
    for image in _images():
        other = tuple(int(image[cell]) for cell in cells)
        if other != squares and set(other) == set(squares):
            return tuple(squares.index(square) for square in other)
    return None


@functools.cache
def shared() -> NDArray[np.int32]:
    """Return for each weight of a phase the number of the one that it shares its value with: int32 (kind_offsets[""],).

    Numbers count the different ones from 0, in the order of the smaller image.
    """
    parts, at = [], 0
    for cells in KINDS.values():
        count = 3 ** len(cells)
        index = np.arange(count)
        images = index
        turned = _mirror(cells)
        if turned is not None:
            digits = index[:, None] // 3 ** np.arange(len(cells)) % 3
            images = np.minimum(index, (digits[:, list(turned)] * 3 ** np.arange(len(cells))).sum(axis=1))
        kept, numbers = np.unique(images, return_inverse=True)
        parts.append(numbers.ravel() + at)
        at += len(kept)
    return np.concatenate(parts).astype(np.int32)


def indices(own: int, other: int) -> list[int]:
    """Return the 46 indices of a board, the slow and plain way."""
    return [
        sum(3**digit * ((own >> square & 1) + 2 * (other >> square & 1)) for digit, square in enumerate(squares))
        for _, squares in placements()
    ]
