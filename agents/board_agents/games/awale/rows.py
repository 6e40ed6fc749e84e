"""What a move does to one row of pits, for every row: the look-up tables under the retrograde analysis.

A configuration is two rows. A move changes the mover's row in a way that only the mover's row decides, and drops e
seeds, in order, round and round, into the other's row; what they do there depends on that row, on e and on whether the
last seed of all fell there. So a move is two look-ups, and so is a configuration's rank:

    rank = block[other's row, seeds of the mover's row] + rank of the mover's row among those with as many seeds.

Rows are numbered by their seeds, then in the order of ranks; row 0 is the empty one.
"""

# numba infers the types of compiled functions.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import functools
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_envs._bits import borrowed
from board_envs._jit import jitable, kernel
from board_envs.games.awale.configurations import binomials

EMPTY = 255
"""Code of a pit without seeds; the others are 2 e + (the last seed falls in the other's row)."""


class RowMoves(NamedTuple):
    """What a move does to either row; R rows, N = total, P = pits.

    Attributes:
        after: int32 (R, P), the mover's row after playing a pit.
        code: uint8 (R, P), how the move goes on in the other's row, or EMPTY.
        room: int32 (R + 1,); entry room[row] + e of the next four is about `row` and e, as far as both have N seeds.
        sown: int32, the row after e seeds in order.
        reaped: int32, the same after the harvest that the last of e seeds brings.
        gained: uint8, the seeds of that harvest.
        block: uint32, the block of the other's row `row` where the mover's has e seeds, see above.

    """

    after: NDArray[np.int32]
    code: NDArray[np.uint8]
    room: NDArray[np.int32]
    sown: NDArray[np.int32]
    reaped: NDArray[np.int32]
    gained: NDArray[np.uint8]
    block: NDArray[np.uint32]


class RowParents(NamedTuple):
    """The same moves backward.

    Attributes:
        start: int64 (R + 1,); the moves that end in a mover's row b are entries start[b] to before start[b + 1] of
            `row` int32 and `code` uint8, e not falling.
        unsown: int32 (R, N + 1), twice the other's row that e seeds made into this one, or -1; plus 1 where the last of
            them, if it was the last of all, would have brought a harvest.

    """

    start: NDArray[np.int64]
    row: NDArray[np.int32]
    code: NDArray[np.uint8]
    unsown: NDArray[np.int32]


class Rows(NamedTuple):
    """Tables of all rows of `pits` pits with at most `total` seeds; R rows, N = total, P = pits.

    Attributes:
        first: int64 (N + 2,), first[s] is the first row with s seeds; first[N + 1] = R.
        seeds: uint8 (R, P), seeds in each pit.
        sums: uint8 (R,), seeds of a row.
        rank: int32 (R,), place among the rows with as many seeds.

    """

    pits: int
    total: int
    first: NDArray[np.int64]
    seeds: NDArray[np.uint8]
    sums: NDArray[np.uint8]
    rank: NDArray[np.int32]
    moves: RowMoves
    parents: RowParents


def _enumerate(pits: int, total: int) -> NDArray[np.uint8]:
    """Return the seeds of all rows in order: uint8 (R, P)."""
    rows = np.arange(total + 1, dtype=np.uint8)[:, None]
    for pit in range(1, pits):
        # A row of one pit more: any with as many seeds or fewer, in its order, and the rest in the last pit.
        sums = rows.sum(axis=1, dtype=np.uint8)
        shorter = [comb(size + pit, pit) for size in range(total + 1)]
        rest = [np.uint8(size) - sums[:count] for size, count in enumerate(shorter)]
        rows = np.concatenate([np.column_stack([rows[:count], rest[size]]) for size, count in enumerate(shorter)])
    return rows


@jitable
def row_number(first, binomial, pit_seeds):
    """Return the number of the row with these seeds."""
    pits = pit_seeds.shape[0]
    number = 0
    size = 0
    for place in range(pits):
        size += pit_seeds[place]
        if place < pits - 1:
            number += binomial[size + place, place + 1]
    return first[size] + number


@jitable
def write_blocks(total, seeds, sums, binomial, moves):
    """Write where the blocks begin: walls of the other's row stand behind those of the mover's, of `mine` seeds."""
    rows, pits = seeds.shape
    for row in range(rows):
        for mine in range(total - np.int64(sums[row]) + 1):
            start = 0
            before = 0
            for place in range(pits):
                start += binomial[mine + pits - 1 + place + before, pits + place]
                before += np.int64(seeds[row, place])
            moves.block[moves.room[row] + mine] = start


@jitable
def sow(pit_seeds, pit):
    """Sow a pit of the mover's row; return (the seeds that the other's row gets, whether the last one is there)."""
    pits = pit_seeds.shape[0]
    hand = pit_seeds[pit]
    pit_seeds[pit] = 0
    place = pit
    dropped = 0
    while hand > 0:
        place += 1
        if place == 2 * pits:
            place = 0
        if place == pit:
            continue
        if place < pits:
            pit_seeds[place] += 1
        else:
            dropped += 1
        hand -= 1
    return dropped, place >= pits


@jitable
def write_own(first, seeds, binomial, moves, pit_seeds):
    """Write what playing a pit does to the mover's row."""
    rows, pits = seeds.shape
    for row in range(rows):
        for pit in range(pits):
            moves.code[row, pit] = 255
            moves.after[row, pit] = -1
            if seeds[row, pit] == 0:
                continue
            for place in range(pits):
                pit_seeds[place] = seeds[row, place]
            dropped, crosses = sow(pit_seeds, pit)
            moves.code[row, pit] = 2 * dropped + crosses
            moves.after[row, pit] = row_number(first, binomial, pit_seeds)


@jitable
def write_other(total, first, seeds, sums, binomial, moves, unsown, pit_seeds):
    """Write what seeds that are dropped do to the other's row."""
    rows, pits = seeds.shape
    for row in range(rows):
        start = moves.room[row]
        for dropped in range(total - np.int64(sums[row]) + 1):
            # So many for each pit, and one more for the first ones.
            laps, rest = dropped // pits, dropped % pits
            for place in range(pits):
                pit_seeds[place] = np.int64(seeds[row, place]) + laps + (place < rest)
            reached = row_number(first, binomial, pit_seeds)
            last = (dropped - 1) % pits if dropped > 0 else -1
            gain = 0
            while last >= 0 and 2 <= pit_seeds[last] <= 3:
                gain += pit_seeds[last]
                pit_seeds[last] = 0
                last -= 1
            moves.sown[start + dropped] = reached
            moves.reaped[start + dropped] = row_number(first, binomial, pit_seeds) if gain > 0 else reached
            moves.gained[start + dropped] = gain
            unsown[reached, dropped] = 2 * row + (gain > 0)


@kernel
def _fill(total, first, seeds, sums, binomial, moves, unsown, scratch):
    """Fill the tables of moves, of which `room` is given; binomial int64 (N + 2P + 1, 2P + 1), scratch int64 (P,)."""
    first, seeds, binomial, moves = borrowed(first), borrowed(seeds), borrowed(binomial), borrowed(moves)
    pit_seeds = borrowed(scratch)
    write_blocks(total, seeds, sums, binomial, moves)
    write_own(first, seeds, binomial, moves, pit_seeds)
    write_other(total, first, seeds, sums, binomial, moves, unsown, pit_seeds)


@kernel
def _invert(after, code, parent_start, parent_row, parent_code):
    """List the moves by the row in which they end."""
    rows, pits = after.shape
    for row in range(rows):
        for pit in range(pits):
            if after[row, pit] >= 0:
                parent_start[after[row, pit] + 1] += 1
    for row in range(rows):
        parent_start[row + 1] += parent_start[row]
    free = parent_start[:-1].copy()
    # Rows come by their seeds, so that a bucket's entries have more and more seeds dropped.
    for row in range(rows):
        for pit in range(pits):
            target = after[row, pit]
            if target >= 0:
                parent_row[free[target]] = row
                parent_code[free[target]] = code[row, pit]
                free[target] += 1


@functools.lru_cache(maxsize=1)
def make_rows(pits: int, total: int) -> Rows:
    """Return the tables for `pits` a side and up to `total` seeds, 1 to 126."""
    count = comb(total + pits, pits)
    binomial = np.array(binomials(total + 2 * pits + 1, 2 * pits + 1), np.int64)
    first = np.array([0] + [comb(size + pits, pits) for size in range(total + 1)], np.int64)
    seeds = _enumerate(pits, total)
    sums = seeds.sum(axis=1, dtype=np.uint8)
    rank = np.arange(count, dtype=np.int32) - first.astype(np.int32)[sums]
    room = np.zeros(count + 1, np.int32)
    np.cumsum(total + 1 - sums.astype(np.int32), out=room[1:])
    pairs = int(room[-1])
    moves = RowMoves(
        after=np.zeros((count, pits), np.int32),
        code=np.zeros((count, pits), np.uint8),
        room=room,
        sown=np.zeros(pairs, np.int32),
        reaped=np.zeros(pairs, np.int32),
        gained=np.zeros(pairs, np.uint8),
        block=np.zeros(pairs, np.uint32),
    )
    unsown = np.full((count, total + 1), -1, np.int32)
    _fill(total, first, seeds, sums, binomial, moves, unsown, np.zeros(pits, np.int64))
    ways = int((moves.after >= 0).sum())
    parents = RowParents(np.zeros(count + 1, np.int64), np.zeros(ways, np.int32), np.zeros(ways, np.uint8), unsown)
    _invert(moves.after, moves.code, *parents[:3])
    return Rows(pits, total, first, seeds, sums, rank, moves, parents)
