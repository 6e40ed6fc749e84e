"""Compiled look-ups: from rows to ranks to scores."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from board_agents.lowlevel.instructions import load_int8
from board_envs._bits import ONE, ZERO
from board_envs._jit import Kernel, jitable, kernel
from board_envs.games.awale.configurations import binomials
from board_envs.games.awale.rules import SEEDS_LIMIT, make_moves
from board_envs.types import Word, Words

UNKNOWN = -128
"""Score of a configuration with more seeds than the tables hold."""


@dataclass(frozen=True)
class Probing:
    """Kernels for one number of pits; `addresses` is uint64 (levels,), where each level's scores (or depths) begin.

    Attributes:
        locate: jitable, (mover's row, other's row) -> seeds * 2^48 + rank.
        find: jitable, (mover's row, other's row, addresses) -> score, or UNKNOWN beyond the levels.
        locate_one: `locate` as a kernel.
        find_one: `find` as a kernel.
        find_many: (rows uint64 (m, 2), addresses, out int8 (m,)) -> None.
        values: (mover's row, other's row, score addresses, depth addresses, out int64 (P, 2), children uint64 (P, 2))
            -> whether all are known; for each playable pit, out gets its value and the depth of what it leads to, -1
            after a harvest, and children the two rows it leads to, the next mover's first.
        search: (mover's row, other's row, earlier uint64 (k, 2), score addresses, depth) -> value * 16 + pit of the
            best move found by alpha-beta that asks the tables at its leaves; `earlier` configurations are mats.

    """

    locate: Callable[[Word, Word], int]
    find: Callable[[Word, Word, Words], int]
    locate_one: Kernel[Any, int]
    find_one: Kernel[Any, int]
    find_many: Kernel[Any, None]
    values: Kernel[Any, bool]
    search: Kernel[Any, int]


@functools.cache
def make_probing(pits: int) -> Probing:
    """Return the look-ups for `pits` a side."""
    binomial = np.array(binomials(SEEDS_LIMIT + 2 * pits, 2 * pits), np.float64)
    # Ranks of levels that fit a memory are exact in int64; larger numbers are never looked up.
    table = np.where(binomial < 2.0**47, binomial, 0.0).astype(np.int64).T.copy()
    moves = make_moves(pits, "tamale")
    play, playable = moves.play, moves.playable
    byte = np.uint64(255)

    @jitable
    def locate(mine: Word, other: Word) -> int:
        wall = -1
        rank = 0
        for pit in range(pits):
            wall += np.int64((mine >> np.uint64(8 * pit)) & byte) + 1
            rank += table[pit + 1, wall]
        for pit in range(pits - 1):
            wall += np.int64((other >> np.uint64(8 * pit)) & byte) + 1
            rank += table[pits + pit + 1, wall]
        seeds = wall - 2 * pits + 2 + np.int64((other >> np.uint64(8 * pits - 8)) & byte)
        return (seeds << 48) + rank

    @jitable
    def find(mine: Word, other: Word, addresses: Words) -> int:
        place = locate(mine, other)
        seeds = place >> 48
        if seeds >= addresses.shape[0]:
            return -128
        return load_int8(addresses[seeds] + np.uint64(place & 0xFFFFFFFFFFFF))

    @kernel
    def locate_one(mine: Word, other: Word) -> int:
        return locate(mine, other)

    @kernel
    def find_one(mine: Word, other: Word, addresses: Words) -> int:
        return find(mine, other, addresses)

    @kernel
    def find_many(rows: Words, addresses: Words, out: Any) -> None:
        for k in range(rows.shape[0]):
            out[k] = find(rows[k, 0], rows[k, 1], addresses)

    @kernel
    def values(mine: Word, other: Word, scores: Words, depths: Words, out: Any, children: Words) -> bool:
        word = playable(mine, other)
        for pit in range(pits):
            if (word >> np.uint64(pit)) & ONE == ZERO:
                continue
            after, left, gain = play(mine, other, pit)
            score = find(left, after, scores)
            if score == -128:
                return False
            out[pit, 0] = gain - score
            out[pit, 1] = -1 if gain > 0 else find(left, after, depths) & 255
            children[pit, 0] = left
            children[pit, 1] = after
        return True

    @kernel
    def search(mine: Word, other: Word, earlier: Words, scores: Words, depth: int) -> int:
        # One row a ply: rows, moves by falling gain, window, best value, and the gain of the move played.
        rows = np.zeros((depth + 1, 2), np.uint64)
        order = np.zeros((depth + 1, pits), np.int64)
        gains = np.zeros((depth + 1, pits), np.int64)
        count = np.zeros(depth + 1, np.int64)
        tried = np.zeros(depth + 1, np.int64)
        alpha = np.full(depth + 1, -1000, np.int64)
        beta = np.full(depth + 1, 1000, np.int64)
        best = np.full(depth + 1, -1000, np.int64)
        choice = 0
        rows[0, 0], rows[0, 1] = mine, other
        ply = 0
        entering = True
        while True:
            if entering:
                mine, other = rows[ply, 0], rows[ply, 1]
                value = -1000
                if ply > 0:
                    for past in range(ply):
                        if rows[past, 0] == mine and rows[past, 1] == other:
                            value = 0
                    for past in range(earlier.shape[0]):
                        if earlier[past, 0] == mine and earlier[past, 1] == other:
                            value = 0
                    if value == -1000:
                        score = find(mine, other, scores)
                        if score != -128:
                            value = score
                word = playable(mine, other)
                if value == -1000 and word == ZERO:
                    value = -(locate(mine, other) >> 48)
                if value == -1000 and ply == depth:
                    # Seeds harvested on the way are all that is known here.
                    value = 0
                if value == -1000:
                    found = 0
                    for pit in range(pits):
                        if (word >> np.uint64(pit)) & ONE:
                            gain = play(mine, other, pit)[2]
                            place = found
                            while place > 0 and gains[ply, place - 1] < gain:
                                gains[ply, place] = gains[ply, place - 1]
                                order[ply, place] = order[ply, place - 1]
                                place -= 1
                            gains[ply, place] = gain
                            order[ply, place] = pit
                            found += 1
                    count[ply] = found
                    tried[ply] = 0
                    best[ply] = -1000
                    entering = False
                    continue
            elif tried[ply] < count[ply] and best[ply] < beta[ply]:
                after, left, gain = play(rows[ply, 0], rows[ply, 1], order[ply, tried[ply]])
                rows[ply + 1, 0], rows[ply + 1, 1] = left, after
                low = max(alpha[ply], best[ply])
                alpha[ply + 1] = gain - beta[ply]
                beta[ply + 1] = gain - low
                ply += 1
                entering = True
                continue
            else:
                if ply == 0:
                    return best[0] * 16 + choice
                value = best[ply]
            ply -= 1
            entering = False
            value = gains[ply, tried[ply]] - value
            if value > best[ply]:
                best[ply] = value
                if ply == 0:
                    choice = order[0, tried[0]]
            tried[ply] += 1

    return Probing(locate, find, locate_one, find_one, find_many, values, search)
