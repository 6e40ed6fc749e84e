"""The exact search: null-window alpha-beta down to the end of the game, in compiled code.

Everything is seen by the player to move: `own` discs against `other`. A value is own minus other at the end of perfect
play. `alpha` is the score to beat; a null-window search answers a value > alpha, which is then a lower bound, or one
<= alpha, an upper bound.

By number of empty squares: from DEEP up positions are kept in a table and moves ordered by how little they leave the
other; below that, moves go by parity (a square in a quadrant with an odd number of empty squares first) and the last
four squares have code of their own. Sources of the methods: Buro's and Delorme's published descriptions of endgame
search; the code is ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from board_agents.games.reversi.board_parts import make_parity
from board_agents.games.reversi.endgame_ranking import make_move_ranking
from board_agents.games.reversi.endgame_table import bucket_of, lower_of, make_keep, move_of, probe, stamp_of, upper_of
from board_agents.games.reversi.endgame_workspace import (
    BONUS,
    DEEP,
    GUESS,
    NO_MOVE,
    NODES,
    NONE,
    STOP,
    Ordering,
    row_start,
)
from board_agents.games.reversi.last_squares import make_final
from board_agents.games.reversi.null_window import NullWindow, make_null_window
from board_agents.lowlevel.instructions import load, next_move, store
from board_envs._bits import ONE, ZERO, as_int, popcount
from board_envs._jit import Kernel, jitable, kernel, recursive
from board_envs.games.reversi import tiers
from board_envs.games.reversi.rules import board_mask


class Search(NamedTuple):
    """Kernels of one board size.

    Attributes:
        window: (memory address, own, other, alpha, beta, out int64 (3,)) -> None; out[0] is the value if it lies
            between alpha and beta, else a bound outside; out[1] is 1 if the search was stopped; out[2] is the bit of a
            move that is likely to be best, NO_MOVE if none is known.

    """

    window: Kernel[Any, None]


def make_search(size: int, tier: str | None = None, ordering: Ordering | None = None) -> Search:
    """Return the search for boards of one size.

    Args:
        size: of the board.
        tier: name of the move generation's form; None for the best here.
        ordering: what ranks moves from ORDERED empty squares up; None for mobility and the like, as below that.

    """
    return _make_search(size, tiers.tier_names()[0] if tier is None else tier, ordering)


@functools.cache
def _make_search(size: int, tier_name: str, ordering: Ordering | None) -> Search:
    cells = size * size
    null_window = make_null_window(size, tier_name, ordering)
    wide = _make_wide(size, tier_name, ordering)

    @jitable
    def converge(own: np.uint64, other: np.uint64, n: int, memory: np.uint64) -> int:
        """Exact value by null windows alone, from GUESS on each at the bound that the one before left (Plaat's MTD)."""
        lower, upper = NONE, -NONE
        guess = as_int(load(memory, GUESS)) - 100
        while lower < upper and load(memory, STOP) == ZERO:
            value = null_window(own, other, guess, n, memory)
            if value > guess:
                lower = value
                guess = value
            else:
                upper = value
                guess = value - 1
        return lower

    def window(memory: np.uint64, own: np.uint64, other: np.uint64, alpha: int, beta: int, out: Any) -> None:
        n = cells - popcount(own | other)
        if beta - alpha == 2 * cells:
            out[0] = converge(own, other, n, memory)
        else:
            out[0] = wide(own, other, alpha, beta, n, memory)
        out[1] = as_int(load(memory, STOP))
        out[2] = NO_MOVE
        data = probe(bucket_of(own, other, memory), own, other)
        if data != ZERO:
            out[2] = move_of(data)

    return Search(kernel(window))


def _make_close_in(null_window: NullWindow) -> Callable[[np.uint64, np.uint64, int, int, int, np.uint64], int]:
    """Return the search within a window by null windows only, for few empty squares; arguments as of `_make_wide`."""

    def close_in(own: np.uint64, other: np.uint64, alpha: int, beta: int, n: int, memory: np.uint64) -> int:
        lower, upper = NONE, -NONE
        guess = alpha
        while True:
            value = null_window(own, other, guess, n, memory)
            if load(memory, STOP) != ZERO:
                return value
            if value > guess:
                lower = value
                if value >= beta or lower >= upper:
                    return value
                guess = value
            else:
                upper = value
                if value <= alpha or lower >= upper:
                    return value
                guess = value - 1

    return recursive(close_in)


def _make_wide(
    size: int, tier_name: str, ordering: Ordering | None
) -> Callable[[np.uint64, np.uint64, int, int, int, np.uint64], int]:
    """Return the search within a window, principal variation search: (own, other, alpha, beta, n, memory)."""
    legal_moves, board = tiers.make_tier(tier_name).legal_moves, board_mask(size)
    parity_of, final, keep = make_parity(size).of, make_final(size), make_keep(size * size)
    gather, rank = make_move_ranking(size, tier_name, ordering)
    null_window = make_null_window(size, tier_name, ordering)
    close_in = _make_close_in(null_window)

    def wide(own: np.uint64, other: np.uint64, alpha: int, beta: int, n: int, memory: np.uint64) -> int:
        if n < DEEP or beta - alpha == 1:
            if beta - alpha == 1:
                return null_window(own, other, alpha, n, memory)
            return close_in(own, other, alpha, beta, n, memory)
        store(memory, NODES, load(memory, NODES) + ONE)
        if load(memory, STOP) != ZERO:
            return alpha
        moves = legal_moves(own, other) & board
        if moves == ZERO:
            if legal_moves(other, own) & board == ZERO:
                return final(own, other, as_int(load(memory, BONUS)))
            return -wide(other, own, -beta, -alpha, n, memory)
        bucket = bucket_of(own, other, memory)
        data = probe(bucket, own, other)
        first = NO_MOVE
        if data != ZERO:
            lower, upper = lower_of(data), upper_of(data)
            if lower == upper or lower >= beta:
                return lower
            if upper <= alpha:
                return upper
            first = move_of(data)
        row = memory + np.uint64(row_start(n) * 8)
        parity = parity_of(board & ~(own | other))
        count = gather(own, other, moves, row)
        rank(own, other, count, parity, n, first, memory)
        best = NONE
        best_square = NO_MOVE
        low = alpha
        for k in range(count):
            square = next_move(row, k, count)
            turned = load(row, 2 * k + 1)
            mine = own | turned | (ONE << np.uint64(square))
            theirs = other ^ turned
            if k == 0:
                value = -wide(theirs, mine, -beta, -low, n - 1, memory)
            else:
                value = -null_window(theirs, mine, -low - 1, n - 1, memory)
                if low < value < beta:
                    value = -wide(theirs, mine, -beta, -value, n - 1, memory)
            if load(memory, STOP) != ZERO:
                return alpha
            if value > best:
                best = value
                best_square = square
                if value > low:
                    low = value
                    if value >= beta:
                        break
        keep(bucket, own, other, best, alpha, beta, best_square, stamp_of(n, memory))
        return best

    wide = recursive(wide)
    return wide
