"""The exact search's transposition table: buckets of two entries, shared by threads without locks.

An entry: own ^ data, other ^ data, data. A torn write of another thread is then no match. data holds, from below, bytes
of lower bound + 100, upper bound + 100, best square (NO_MOVE: none), empty squares, number of the search.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from board_agents.games.reversi.endgame_workspace import DATE, NO_MOVE, SHIFT, TABLE
from board_agents.lowlevel.instructions import load, store
from board_envs._bits import ZERO, as_int
from board_envs._jit import jitable

ENTRY, BUCKET = 4, 8
"""Words of an entry (the last one is free) and of a bucket."""
MIX_1 = np.uint64(0x9E3779B97F4A7C15)
MIX_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_3 = np.uint64(0xFF51AFD7ED558CCD)
_BYTE = np.uint64(255)


@jitable
def bucket_of(own: np.uint64, other: np.uint64, memory: np.uint64) -> np.uint64:
    """Address of the two entries where a position may be kept."""
    mixed = own * MIX_1 + (other ^ (other >> np.uint64(29))) * MIX_2
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX_3
    return load(memory, TABLE) + (mixed >> load(memory, SHIFT)) * np.uint64(BUCKET * 8)


@jitable
def is_of(bucket: np.uint64, at: int, data: np.uint64, own: np.uint64, other: np.uint64) -> bool:
    """Return whether the entry `at` words into a bucket, with that data, is of that position."""
    return load(bucket, at) ^ data == own and load(bucket, at + 1) ^ data == other


@jitable
def probe(bucket: np.uint64, own: np.uint64, other: np.uint64) -> np.uint64:
    """Return the data of a position's entry, 0 if it does not exist."""
    data = load(bucket, 2)
    if is_of(bucket, 0, data, own, other):
        return data
    data = load(bucket, ENTRY + 2)
    if is_of(bucket, ENTRY, data, own, other):
        return data
    return ZERO


@jitable
def lower_of(data: np.uint64) -> int:
    """Return an entry's lower bound."""
    return as_int(data & _BYTE) - 100


@jitable
def upper_of(data: np.uint64) -> int:
    """Return an entry's upper bound."""
    return as_int((data >> np.uint64(8)) & _BYTE) - 100


@jitable
def move_of(data: np.uint64) -> int:
    """Return an entry's best square, NO_MOVE if it has none."""
    return as_int((data >> np.uint64(16)) & _BYTE)


@jitable
def stamp_of(n: int, memory: np.uint64) -> np.uint64:
    """Return the upper part of the data that this search writes for a position with n empty squares."""
    return (np.uint64(n) << np.uint64(24)) | (load(memory, DATE) << np.uint64(32))


@jitable
def gives_way(data: np.uint64, stamp: np.uint64) -> bool:
    """Return whether an entry is of an earlier search, or of no more empty squares than the stamp."""
    return (data >> np.uint64(32)) & _BYTE != stamp >> np.uint64(32) or (data >> np.uint64(24)) & _BYTE <= (
        stamp >> np.uint64(24)
    ) & _BYTE


@functools.cache
def make_keep(cells: int) -> Callable[[np.uint64, np.uint64, np.uint64, int, int, int, int, np.uint64], None]:
    """Return the function that writes an entry, for a board size.

    (bucket, own, other, value, alpha, beta, square, stamp): what a search within (alpha, beta) answered, its best
    square, and the position's `stamp_of`.
    """

    @jitable
    def keep(
        bucket: np.uint64,
        own: np.uint64,
        other: np.uint64,
        value: int,
        alpha: int,
        beta: int,
        square: int,
        stamp: np.uint64,
    ) -> None:
        """Narrow the position's bounds, in its own entry or the one that gives way."""
        first, second = load(bucket, 2), load(bucket, ENTRY + 2)
        at, lower, upper, known = 0, -cells, cells, NO_MOVE
        if is_of(bucket, 0, first, own, other):
            lower, upper, known = lower_of(first), upper_of(first), move_of(first)
        elif is_of(bucket, ENTRY, second, own, other):
            at, lower, upper, known = ENTRY, lower_of(second), upper_of(second), move_of(second)
        elif not gives_way(first, stamp):
            at = ENTRY
        if value > alpha:
            lower = max(lower, value)
        elif known < NO_MOVE:
            # No move reached alpha: the one that reached a lower bound before is worth more than any of these.
            square = known
        if value < beta:
            upper = min(upper, value)
        data = np.uint64(lower + 100) | (np.uint64(upper + 100) << np.uint64(8)) | (np.uint64(square) << np.uint64(16))
        data |= stamp
        store(bucket, at, own ^ data)
        store(bucket, at + 1, other ^ data)
        store(bucket, at + 2, data)

    return keep
