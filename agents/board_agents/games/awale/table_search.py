"""Alpha-beta that asks the tables at its leaves, without recursion: one row of each array is a ply."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.awale.probing import UNKNOWN, make_probing
from board_envs._bits import ONE, ZERO
from board_envs._jit import Kernel, inlined, kernel
from board_envs.games.awale.rules import make_moves
from board_envs.types import Word, Words

WORST = -1000
"""Less than any value."""


class Stack(NamedTuple):
    """The positions on the path from the root, P pits.

    Attributes:
        rows: uint64 (plies, 2), the mover's row and the other's.
        order: int64 (plies, P), the playable pits by falling gain.
        gains: int64 (plies, P), their gains.
        counts, tried: int64 (plies,), how many pits are playable, and how many were searched.
        alpha, beta, best: int64 (plies,), the window and the best value so far.

    """

    rows: Words
    order: NDArray[np.int64]
    gains: NDArray[np.int64]
    counts: NDArray[np.int64]
    tried: NDArray[np.int64]
    alpha: NDArray[np.int64]
    beta: NDArray[np.int64]
    best: NDArray[np.int64]


@functools.cache
def make_table_search(pits: int) -> Kernel[Any, int]:
    """Return the search for `pits` a side.

    (mover's row, other's row, earlier uint64 (k, 2), score addresses, depth) -> value * 16 + pit of the best move;
    `earlier` configurations are mats.
    """
    moves = make_moves(pits, "tamale")
    play, playable = moves.play, moves.playable
    probing = make_probing(pits)
    locate, find = probing.locate, probing.find

    @inlined
    def leaf_value(stack: Stack, ply: int, word: Word, earlier: Words, scores: Words) -> int:
        """Return what is known of a position after the root with these playable pits, WORST if nothing is."""
        mine, other = stack.rows[ply, 0], stack.rows[ply, 1]
        for past in range(ply):
            if stack.rows[past, 0] == mine and stack.rows[past, 1] == other:
                return 0
        for past in range(earlier.shape[0]):
            if earlier[past, 0] == mine and earlier[past, 1] == other:
                return 0
        score = find(mine, other, scores)
        if score != UNKNOWN:
            return score
        if word == ZERO:
            return -(locate(mine, other) >> 48)
        return WORST

    @inlined
    def expand(stack: Stack, ply: int, word: Word) -> None:
        """Put the playable pits in order."""
        mine, other = stack.rows[ply, 0], stack.rows[ply, 1]
        found = 0
        for pit in range(pits):
            if (word >> np.uint64(pit)) & ONE:
                gain = play(mine, other, pit)[2]
                place = found
                while place > 0 and stack.gains[ply, place - 1] < gain:
                    stack.gains[ply, place] = stack.gains[ply, place - 1]
                    stack.order[ply, place] = stack.order[ply, place - 1]
                    place -= 1
                stack.gains[ply, place] = gain
                stack.order[ply, place] = pit
                found += 1
        stack.counts[ply] = found
        stack.tried[ply] = 0
        stack.best[ply] = WORST

    @inlined
    def descend(stack: Stack, ply: int) -> None:
        """Write the position after the next pit, and its window."""
        after, left, gain = play(stack.rows[ply, 0], stack.rows[ply, 1], stack.order[ply, stack.tried[ply]])
        stack.rows[ply + 1, 0], stack.rows[ply + 1, 1] = left, after
        stack.alpha[ply + 1] = gain - stack.beta[ply]
        stack.beta[ply + 1] = gain - max(stack.alpha[ply], stack.best[ply])

    @kernel
    def search(mine: Word, other: Word, earlier: Words, scores: Words, depth: int) -> int:
        plies = depth + 1
        stack = Stack(
            np.zeros((plies, 2), np.uint64),
            np.zeros((plies, pits), np.int64),
            np.zeros((plies, pits), np.int64),
            np.zeros(plies, np.int64),
            np.zeros(plies, np.int64),
            np.full(plies, WORST, np.int64),
            np.full(plies, -WORST, np.int64),
            np.full(plies, WORST, np.int64),
        )
        stack.rows[0, 0], stack.rows[0, 1] = mine, other
        expand(stack, 0, playable(mine, other))
        choice = ply = 0
        while True:
            if stack.tried[ply] < stack.counts[ply] and stack.best[ply] < stack.beta[ply]:
                descend(stack, ply)
                ply += 1
                word = playable(stack.rows[ply, 0], stack.rows[ply, 1])
                value = leaf_value(stack, ply, word, earlier, scores)
                if value == WORST and ply < depth:
                    expand(stack, ply, word)
                    continue
                if value == WORST:
                    # Seeds harvested on the way are all that is known here.
                    value = 0
            elif ply == 0:
                return stack.best[0] * 16 + choice
            else:
                value = stack.best[ply]
            ply -= 1
            value = stack.gains[ply, stack.tried[ply]] - value
            if value > stack.best[ply]:
                stack.best[ply] = value
                if ply == 0:
                    choice = stack.order[0, stack.tried[0]]
            stack.tried[ply] += 1

    return search
