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

    """

    locate: Callable[[Word, Word], int]
    find: Callable[[Word, Word, Words], int]
    locate_one: Kernel[Any, int]
    find_one: Kernel[Any, int]
    find_many: Kernel[Any, None]
    values: Kernel[Any, bool]


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
            return UNKNOWN
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
            if score == UNKNOWN:
                return False
            out[pit, 0] = gain - score
            out[pit, 1] = -1 if gain > 0 else find(left, after, depths) & 255
            children[pit, 0] = left
            children[pit, 1] = after
        return True

    return Probing(locate, find, locate_one, find_one, find_many, values)
