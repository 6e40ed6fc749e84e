"""What a move does to one row of pits, for every row: the look-up tables under the retrograde analysis.

A configuration is two rows. A move changes the mover's row in a way that only the mover's row decides, and drops e
seeds, in order, round and round, into the other's row; what they do there depends on that row, on e and on whether the
last seed of all fell there. So a move is two look-ups, and so is a configuration's rank:

    rank = block[other's row, seeds of the mover's row] + rank of the mover's row among those with as many seeds.

Rows are numbered by their seeds, then in the order of ranks; row 0 is the empty one.
"""

# numba infers the types of compiled functions.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from board_envs._jit import kernel
from board_envs.games.awale.configurations import binomials

EMPTY = 255
"""Code of a pit without seeds; the others are 2 e + (the last seed falls in the other's row)."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Tables of all rows of `pits` pits with at most `total` seeds; R rows, N = total, P = pits.

    Attributes:
        first: int64 (N + 2,), the first row with so many seeds; first[N + 1] = R.
        seeds: uint8 (R, P), seeds in each pit.
        sums: uint8 (R,), seeds of a row.
        rank: int32 (R,), place among the rows with as many seeds.
        after: int32 (R, P), the mover's row after playing a pit.
        code: uint8 (R, P), how the move goes on in the other's row, or EMPTY.
        room: int32 (R + 1,); entry room[row] + e of the next four is about `row` and e, as far as both have N seeds.
        sown: int32, the row after e seeds in order.
        reaped: int32, the same after the harvest that the last of e seeds brings.
        gained: uint8, the seeds of that harvest.
        block: uint32, the block of the other's row `row` where the mover's has e seeds, see above.
        parent_start: int64 (R + 1,); the moves that end in a row b are entries parent_start[b] to before
            parent_start[b + 1] of `parent_row` int32 and `parent_code` uint8, e not falling.
        unsown: int32 (R, N + 1), twice the row that e seeds made into this one, or -1; plus 1 where the last of them,
            if it was the last of all, would have brought a harvest.

    """

    pits: int
    total: int
    first: NDArray[np.int64]
    seeds: NDArray[np.uint8]
    sums: NDArray[np.uint8]
    rank: NDArray[np.int32]
    after: NDArray[np.int32]
    code: NDArray[np.uint8]
    room: NDArray[np.int32]
    sown: NDArray[np.int32]
    reaped: NDArray[np.int32]
    gained: NDArray[np.uint8]
    block: NDArray[np.uint32]
    parent_start: NDArray[np.int64]
    parent_row: NDArray[np.int32]
    parent_code: NDArray[np.uint8]
    unsown: NDArray[np.int32]


@kernel
def _enumerate(total, first, seeds, sums, rank):
    """List the rows in order: the colexicographic successor of the walls between pits."""
    pits = seeds.shape[1]
    walls = np.zeros(pits, np.int64)
    row = 0
    for size in range(total + 1):
        for place in range(pits - 1):
            walls[place] = place
        end = size + pits - 1
        place = 0
        while place < pits:
            before = -1
            for pit in range(pits - 1):
                seeds[row, pit] = walls[pit] - before - 1
                before = walls[pit]
            seeds[row, pits - 1] = end - before - 1
            sums[row] = size
            rank[row] = row - first[size]
            row += 1
            place = 0
            while place < pits - 1:
                top = walls[place + 1] if place + 1 < pits - 1 else end
                if walls[place] + 1 < top:
                    break
                place += 1
            if place >= pits - 1:
                break
            walls[place] += 1
            for low in range(place):
                walls[low] = low
    return row


@kernel
def _fill(total, first, binomial, seeds, sums, after, code, room, sown, reaped, gained, block, unsown):
    rows, pits = seeds.shape
    pit_seeds = np.zeros(pits, np.int64)

    # The row with one more seed in a pit.
    more = np.full((rows, pits), -1, np.int32)
    for row in range(first[total]):
        for pit in range(pits):
            size = 1
            number = 0
            position = -1
            for place in range(pits):
                here = np.int64(seeds[row, place])
                if place == pit:
                    here += 1
                size += np.int64(seeds[row, place])
                position += here + 1
                if place < pits - 1:
                    number += binomial[position, place + 1]
            more[row, pit] = first[size] + number

    for row in range(rows):
        size = np.int64(sums[row])
        # Walls of the other's row stand behind those of the mover's, whose seeds are `mine`.
        for mine in range(total - size + 1):
            start = 0
            before = 0
            for place in range(pits):
                start += binomial[mine + pits - 1 + place + before, pits + place]
                before += np.int64(seeds[row, place])
            block[room[row] + mine] = start
        for pit in range(pits):
            code[row, pit] = 255
            after[row, pit] = -1
            hand = np.int64(seeds[row, pit])
            if hand == 0:
                continue
            for place in range(pits):
                pit_seeds[place] = seeds[row, place]
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
            code[row, pit] = 2 * dropped + (1 if place >= pits else 0)
            number = 0
            position = -1
            left = 0
            for place in range(pits):
                left += pit_seeds[place]
                position += pit_seeds[place] + 1
                if place < pits - 1:
                    number += binomial[position, place + 1]
            after[row, pit] = first[left] + number

    for row in range(rows):
        reached = row
        for dropped in range(total - np.int64(sums[row]) + 1):
            last = -1
            if dropped > 0:
                last = (dropped - 1) % pits
                reached = np.int64(more[reached, last])
            sown[room[row] + dropped] = reached
            gain = 0
            for place in range(pits):
                pit_seeds[place] = seeds[reached, place]
            while last >= 0 and 2 <= pit_seeds[last] <= 3:
                gain += pit_seeds[last]
                pit_seeds[last] = 0
                last -= 1
            number = 0
            position = -1
            for place in range(pits):
                position += pit_seeds[place] + 1
                if place < pits - 1:
                    number += binomial[position, place + 1]
            reaped[room[row] + dropped] = first[np.int64(sums[reached]) - gain] + number
            gained[room[row] + dropped] = gain
            unsown[reached, dropped] = 2 * row + (gain > 0)


@kernel
def _invert(after, code, parent_start, parent_row, parent_code):
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
    seeds, sums, rank = np.zeros((count, pits), np.uint8), np.zeros(count, np.uint8), np.zeros(count, np.int32)
    _enumerate(total, first, seeds, sums, rank)
    after, code = np.zeros((count, pits), np.int32), np.zeros((count, pits), np.uint8)
    room = np.zeros(count + 1, np.int32)
    np.cumsum(total + 1 - sums.astype(np.int32), out=room[1:])
    pairs = int(room[-1])
    sown, reaped, gained = np.zeros(pairs, np.int32), np.zeros(pairs, np.int32), np.zeros(pairs, np.uint8)
    block, unsown = np.zeros(pairs, np.uint32), np.full((count, total + 1), -1, np.int32)
    _fill(total, first, binomial, seeds, sums, after, code, room, sown, reaped, gained, block, unsown)
    parent_start = np.zeros(count + 1, np.int64)
    moves = int((after >= 0).sum())
    parent_row, parent_code = np.zeros(moves, np.int32), np.zeros(moves, np.uint8)
    _invert(after, code, parent_start, parent_row, parent_code)
    return Rows(
        pits=pits,
        total=total,
        first=first,
        seeds=seeds,
        sums=sums,
        rank=rank,
        after=after,
        code=code,
        room=room,
        sown=sown,
        reaped=reaped,
        gained=gained,
        block=block,
        parent_start=parent_start,
        parent_row=parent_row,
        parent_code=parent_code,
        unsown=unsown,
    )
