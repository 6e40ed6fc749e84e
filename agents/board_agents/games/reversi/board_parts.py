"""Parts of the board that the exact search asks about: corners, and quadrants with an odd number of empty squares.

Who moves last in a quadrant keeps what he turns over there, so squares in odd quadrants are tried first (parity).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from board_envs._bits import ZERO, popcount
from board_envs._jit import jitable
from board_envs.games.reversi.rules import bit_index
from board_envs.types import Words


class Parity(NamedTuple):
    """Quadrants of one size.

    Attributes:
        masks: uint64 (64,), by bit the squares of its quadrant. A move there makes another parity: parity ^ masks[bit].
        of: jitable, empty squares -> all squares of the quadrants where their number is odd.

    """

    masks: Words
    of: Callable[[np.uint64], np.uint64]


def corner_mask(size: int) -> np.uint64:
    """Return the four corners of a board of that size."""
    bits = bit_index(size)
    return np.uint64(sum(1 << int(bits[row, column]) for row in (0, -1) for column in (0, -1)))


@functools.cache
def make_parity(size: int) -> Parity:
    """Return the quadrants of boards of that size."""
    bits, half = bit_index(size), size // 2
    masks = np.zeros(64, np.uint64)
    quadrants = []
    for top in (0, half):
        for left in (0, half):
            squares = bits[top : top + half, left : left + half].ravel()
            mask = np.uint64(sum(1 << int(bit) for bit in squares))
            masks[squares] = mask
            quadrants.append(mask)
    quadrant_1, quadrant_2, quadrant_3, quadrant_4 = quadrants

    @jitable
    def parity_of(empties: np.uint64) -> np.uint64:
        found = ZERO
        if popcount(empties & quadrant_1) & 1:
            found |= quadrant_1
        if popcount(empties & quadrant_2) & 1:
            found |= quadrant_2
        if popcount(empties & quadrant_3) & 1:
            found |= quadrant_3
        if popcount(empties & quadrant_4) & 1:
            found |= quadrant_4
        return found

    return Parity(masks, parity_of)
