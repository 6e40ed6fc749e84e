"""Phase 1: harvests and terminal configurations give bounds, and the quiet moves are counted."""

# numba infers the types of compiled functions.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from board_agents.lowlevel.instructions import load_int8
from board_envs._bits import borrowed
from board_envs._jit import inlined, kernel


@inlined
def first_cell(level, moves, addresses, row, kind, moved):
    """Return the cell of a configuration: its bound by harvests, and the number of its quiet moves.

    By a move's code, `kind` is its gain, 0 if it is quiet, -1 if not allowed, and `moved` the other's row after it.
    """
    missing = 0
    bound = -level.seeds
    for pit in range(moves.code.shape[1]):
        way = moves.code[row, pit]
        if way == 255:
            continue
        gain = kind[way]
        if gain == 0:
            missing += 1
        elif gain > 0:
            child = moved[way]
            block = moves.block[np.int64(moves.room[moves.after[row, pit]]) + np.int64(level.sums[child])]
            place = np.int64(block) + np.int64(level.rank[child])
            value = gain - load_int8(addresses[level.seeds - gain] + np.uint64(place))
            if value > bound:
                bound = value
    return np.uint32(((bound + 128) << 16) | missing)


@kernel
def initialise(level, moves, low, high, addresses):
    """Write the cells of the other's rows low .. high - 1.

    Args:
        level: `Level`.
        moves: `RowMoves`.
        low: first row.
        high: row after the last.
        addresses: uint64, of the score arrays of the levels below.

    """
    level, moves, addresses = borrowed(level), borrowed(moves), borrowed(addresses)
    n = level.seeds
    kind = np.zeros(2 * n + 2, np.int64)
    moved = np.zeros(2 * n + 2, np.int64)
    for other in range(low, high):
        mine = n - np.int64(level.sums[other])
        begin = level.first[mine]
        start = np.int64(level.base[other])
        pairs = np.int64(moves.room[other])
        for dropped in range(mine + 1):
            # Quiet unless it starves the other.
            kind[2 * dropped] = 0 if moves.sown[pairs + dropped] != 0 else -1
            gain = np.int64(moves.gained[pairs + dropped])
            moved[2 * dropped + 1] = moves.reaped[pairs + dropped]
            kind[2 * dropped + 1] = gain if moved[2 * dropped + 1] != 0 else -1
        for k in range(level.first[mine + 1] - begin):
            level.cells[start + k] = first_cell(level, moves, addresses, begin + k, kind, moved)
