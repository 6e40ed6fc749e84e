"""Discs that no sequence of moves can turn over: a bound on every result that follows.

A disc is safe in a direction if the whole line is occupied, or a neighbour in it is the rim or a safe disc of the same
colour; it is stable if it is safe in all four directions. The rule is applied from nothing until it adds nothing, so
some stable discs are missed and none is claimed wrongly.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from board_envs._bits import popcount
from board_envs._jit import jitable
from board_envs.games.reversi.rules import board_mask

_COLUMN_A = 0x0101010101010101


def _outside(down: int, right: int, steps: int) -> np.uint64:
    """Squares from which `steps` steps in a direction leave the 8 x 8 square."""
    found = 0
    for row in range(8):
        for column in range(8):
            if not (0 <= row + steps * down < 8 and 0 <= column + steps * right < 8):
                found |= 1 << (8 * row + column)
    return np.uint64(found)


@functools.cache
def make_stable(size: int) -> Callable[[np.uint64, np.uint64], np.uint64]:
    """Return the function (own, other) -> stable discs of own, jitable, for boards of that size."""
    board = board_mask(size)
    beyond = ~board
    column_a, column_h = np.uint64(_COLUMN_A), np.uint64(_COLUMN_A << 7)
    row_1, row_8 = np.uint64(0xFF), np.uint64(0xFF << 56)
    # Per direction, the squares 1, 2 and 4 steps from leaving the board, in either sense.
    up_right_1, up_right_2, up_right_4 = (_outside(-1, 1, steps) for steps in (1, 2, 4))
    down_left_1, down_left_2, down_left_4 = (_outside(1, -1, steps) for steps in (1, 2, 4))
    down_right_1, down_right_2, down_right_4 = (_outside(1, 1, steps) for steps in (1, 2, 4))
    up_left_1, up_left_2, up_left_4 = (_outside(-1, -1, steps) for steps in (1, 2, 4))

    @jitable
    def stable(own: np.uint64, other: np.uint64) -> np.uint64:
        occupied = own | other | beyond
        # Lines that are full: each word holds, after k doublings, whether 2^k squares from here on are occupied.
        across = occupied & (occupied >> np.uint64(1))
        across = across & (across >> np.uint64(2))
        across = across & (across >> np.uint64(4)) & column_a
        safe_across = (across * np.uint64(0xFF)) | column_a | column_h
        along = occupied & ((occupied >> np.uint64(8)) | (occupied << np.uint64(56)))
        along = along & ((along >> np.uint64(16)) | (along << np.uint64(48)))
        along = along & ((along >> np.uint64(32)) | (along << np.uint64(32)))
        safe_along = along | row_1 | row_8
        a = occupied & (up_right_1 | (occupied << np.uint64(7)))
        b = occupied & (down_left_1 | (occupied >> np.uint64(7)))
        a = a & (up_right_2 | (a << np.uint64(14)))
        b = b & (down_left_2 | (b >> np.uint64(14)))
        a = a & (up_right_4 | (a << np.uint64(28)))
        b = b & (down_left_4 | (b >> np.uint64(28)))
        rim = column_a | column_h | row_1 | row_8
        safe_7 = (a & b) | rim
        a = occupied & (down_right_1 | (occupied >> np.uint64(9)))
        b = occupied & (up_left_1 | (occupied << np.uint64(9)))
        a = a & (down_right_2 | (a >> np.uint64(18)))
        b = b & (up_left_2 | (b << np.uint64(18)))
        a = a & (down_right_4 | (a >> np.uint64(36)))
        b = b & (up_left_4 | (b << np.uint64(36)))
        safe_9 = (a & b) | rim
        found = own & safe_across & safe_along & safe_7 & safe_9
        if size == 8 and found == np.uint64(0):
            return found
        while True:
            near = found | beyond
            more = own & (safe_across | (near << np.uint64(1)) | (near >> np.uint64(1)))
            more &= safe_along | (near << np.uint64(8)) | (near >> np.uint64(8))
            more &= safe_7 | (near << np.uint64(7)) | (near >> np.uint64(7))
            more &= safe_9 | (near << np.uint64(9)) | (near >> np.uint64(9))
            if more == found:
                return found
            found = more

    return stable


def _stability_bar(empties: int) -> int:
    """Least alpha at which counting stable discs pays with that many empty squares; found by trial."""
    return 99 if empties < 5 else 2 * empties - 6 if empties < 24 else 40


@functools.cache
def make_stability_bound(size: int) -> Callable[[np.uint64, np.uint64, int, int], int]:
    """Return an upper bound of a position's value, jitable: (own, other, alpha, empty squares).

    Stable discs are counted if there may be enough of them for a bound <= alpha; otherwise it is more than any value.
    """
    stable, cells = make_stable(size), size * size
    bars = np.array([_stability_bar(n) for n in range(65)], np.int64)

    @jitable
    def stability_bound(own: np.uint64, other: np.uint64, alpha: int, n: int) -> int:
        if alpha >= bars[n]:
            return cells - 2 * popcount(stable(other, own))
        return 2 * cells

    return stability_bound
