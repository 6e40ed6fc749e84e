"""The midgame search's transposition table: one entry a place, of one thread.

An entry: own, other, data. data holds, from below, lower and upper bound + _OFFSET (16 bits each), then bytes of depth,
best square (NO_MOVE: none), number of the search.
"""

from __future__ import annotations

import numpy as np

from board_agents.games.reversi.midgame_workspace import DATE, NO_MOVE, SHIFT, TABLE
from board_agents.lowlevel.instructions import load, store
from board_envs._bits import ZERO, as_int
from board_envs._jit import jitable

ENTRY = 4
"""Words of an entry; the last one is free."""
_OFFSET = 1 << 15
_MIX_1 = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_3 = np.uint64(0xFF51AFD7ED558CCD)


@jitable
def slot_of(own: np.uint64, other: np.uint64, memory: np.uint64) -> np.uint64:
    """Address of the entry where a position may be kept."""
    mixed = own * _MIX_1 + (other ^ (other >> np.uint64(29))) * _MIX_2
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX_3
    return load(memory, TABLE) + (mixed >> load(memory, SHIFT)) * np.uint64(ENTRY * 8)


@jitable
def probe(slot: np.uint64, own: np.uint64, other: np.uint64, memory: np.uint64) -> np.uint64:
    """Return the data of a position's entry if this search wrote it, else 0."""
    data = load(slot, 2)
    if load(slot, 0) == own and load(slot, 1) == other and data >> np.uint64(48) == load(memory, DATE):
        return data
    return ZERO


@jitable
def lower_of(data: np.uint64) -> int:
    """Return an entry's lower bound."""
    return as_int(data & np.uint64(0xFFFF)) - _OFFSET


@jitable
def upper_of(data: np.uint64) -> int:
    """Return an entry's upper bound."""
    return as_int((data >> np.uint64(16)) & np.uint64(0xFFFF)) - _OFFSET


@jitable
def depth_of(data: np.uint64) -> int:
    """Return the depth of the search that an entry is of."""
    return as_int((data >> np.uint64(32)) & np.uint64(255))


@jitable
def move_of(data: np.uint64) -> int:
    """Return an entry's best square, NO_MOVE if it has none; so for data 0, a position that is not known."""
    return NO_MOVE if data == ZERO else as_int((data >> np.uint64(40)) & np.uint64(255))


@jitable
def keep(
    slot: np.uint64,
    own: np.uint64,
    other: np.uint64,
    depth: int,
    lower: int,
    upper: int,
    square: int,
    memory: np.uint64,
) -> None:
    """Write what a search of a depth proved, and its best square; bounds of the same depth are narrowed."""
    data = probe(slot, own, other, memory)
    if data != ZERO:
        if square == NO_MOVE:
            square = move_of(data)
        if depth_of(data) == depth:
            lower = max(lower, lower_of(data))
            upper = min(upper, upper_of(data))
            if lower > upper:
                # Two selective searches disagree: the newer one counts.
                upper = lower
    store(slot, 0, own)
    store(slot, 1, other)
    data = np.uint64(lower + _OFFSET) | (np.uint64(upper + _OFFSET) << np.uint64(16))
    data |= (np.uint64(depth) << np.uint64(32)) | (np.uint64(square) << np.uint64(40))
    store(slot, 2, data | (load(memory, DATE) << np.uint64(48)))
