"""The order in which the exact search tries moves: what leaves the other little first, by an `Ordering` or by mobility.

A row of moves is in the workspace, two words for each: its square, above it its rank once it is ranked, and the discs
that it turns over (see `lowlevel.instructions.next_move`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.reversi.board_parts import corner_mask
from board_agents.games.reversi.endgame_workspace import CONTEXT, ORDERED, Ordering, row_start
from board_agents.lowlevel.instructions import load, store
from board_envs._bits import ONE, ZERO, as_int, clear_lowest, lowest, popcount
from board_envs._jit import jitable
from board_envs.games.reversi import tiers
from board_envs.games.reversi.rules import bit_index, board_mask

TABLE_MOVE = 1 << 40
"""Rank of the move that the table knows."""
_LEARNED, _PLAIN = 1 << 32, 1 << 20
"""What makes the ranks of an `Ordering`, and the others, positive."""
_REPLY, _EDGE, _FRONTIER, _ODD = 512, 256, 64, 192
"""Weights: of a reply that a move leaves (a corner counts twice), of an own disc that stays on the rim, of an empty
square beside own discs, of a quadrant with an odd number of empty squares."""
_WIDE = 10
"""Minimum number of empty squares for counting discs on the rim and empty squares beside discs."""


class MoveRanking(NamedTuple):
    """Functions on a row of moves.

    Attributes:
        gather: jitable (own, other, moves, row) -> number of moves; writes each one's square and what it turns over.
        rank: jitable (own, other, count, parity, n, first, memory): write the ranks of the row of the position with n
            empty squares; `first` is the table's move.

    """

    gather: Callable[[np.uint64, np.uint64, np.uint64, np.uint64], int]
    rank: Callable[[np.uint64, np.uint64, int, np.uint64, int, int, np.uint64], None]


@functools.cache
def make_move_ranking(size: int, tier_name: str, ordering: Ordering | None) -> MoveRanking:
    """Return how moves are ranked: from ORDERED empty squares up by `ordering`, where there is one."""
    flipped = tiers.make_tier(tier_name).flipped
    plain_rank = make_plain_rank(size, tier_name)
    learned = ordering is not None
    learned_rank = _no_ordering if ordering is None else ordering

    @jitable
    def gather(own: np.uint64, other: np.uint64, moves: np.uint64, row: np.uint64) -> int:
        k = 0
        while moves != ZERO:
            square = lowest(moves)
            moves = clear_lowest(moves)
            store(row, 2 * k, np.uint64(square))
            store(row, 2 * k + 1, flipped(own, other, square))
            k += 1
        return k

    @jitable
    def rank(
        own: np.uint64, other: np.uint64, count: int, parity: np.uint64, n: int, first: int, memory: np.uint64
    ) -> None:
        row = memory + np.uint64(row_start(n) * 8)
        context = load(memory, CONTEXT)
        for k in range(count):
            square = as_int(load(row, 2 * k))
            turned = load(row, 2 * k + 1)
            found = TABLE_MOVE
            if square == first:
                pass
            elif learned and n >= ORDERED:
                found = _LEARNED + learned_rank(own, other, square, turned, n, context)
            else:
                found = _PLAIN + plain_rank(own, other, square, turned, n, parity)
            store(row, 2 * k, (np.uint64(found) << np.uint64(8)) | np.uint64(square))

    return MoveRanking(gather, rank)


@jitable
def _no_ordering(
    _own: np.uint64, _other: np.uint64, _square: int, _turned: np.uint64, _n: int, _context: np.uint64
) -> int:
    return 0


@functools.cache
def make_plain_rank(size: int, tier_name: str) -> Ordering:
    """Return the rank of a move by mobility and the like: an `Ordering` whose last argument is the parity."""
    legal_moves = tiers.make_tier(tier_name).legal_moves
    board, corners, worth = board_mask(size), corner_mask(size), square_worth(size)
    bits, edge = bit_index(size), size - 1
    nw, ne, sw, se = (ONE << np.uint64(bits[row, column]) for row in (0, edge) for column in (0, edge))
    west, east, north, south = nw | sw, ne | se, nw | ne, sw | se
    down = np.uint64(8)

    @jitable
    def rim_discs(own: np.uint64) -> np.uint64:
        """Own corners and own discs on the rim next to them."""
        found = own & corners
        near = own & ((found & west) << ONE | (found & east) >> ONE)
        near |= own & ((found & north) << down | (found & south) >> down)
        return found | near

    @jitable
    def plain_rank(own: np.uint64, other: np.uint64, square: int, turned: np.uint64, n: int, parity: np.uint64) -> int:
        bit = ONE << np.uint64(square)
        mine = own | turned | bit
        theirs = other ^ turned
        replies = legal_moves(theirs, mine) & board
        found = worth[square] - (popcount(replies) + popcount(replies & corners)) * _REPLY
        if bit & parity:
            found += _ODD
        if n >= _WIDE:
            found -= popcount(around(mine) & ~(mine | theirs) & board) * _FRONTIER
            found += popcount(rim_discs(mine)) * _EDGE
        return found

    return plain_rank


@jitable
def around(word: np.uint64) -> np.uint64:
    """Return squares and their neighbours."""
    left = word & np.uint64(0xFEFEFEFEFEFEFEFE)
    right = word & np.uint64(0x7F7F7F7F7F7F7F7F)
    wide = word | (left >> ONE) | (right << ONE)
    return wide | (wide << np.uint64(8)) | (wide >> np.uint64(8))


def square_worth(size: int) -> NDArray[np.int64]:
    """Return small preferences between squares by bit, int64 (64,).

    They go by symmetry class: corners first, squares next to an empty corner last.
    """
    worth = np.zeros(64, np.int64)
    for row in range(size):
        for column in range(size):
            r, c = min(row, size - 1 - row), min(column, size - 1 - column)
            r, c = min(r, c), max(r, c)
            table = {(0, 0): 18, (0, 1): 4, (1, 1): 2, (0, 2): 16, (1, 2): 6, (2, 2): 10, (0, 3): 12, (1, 3): 8}
            worth[8 * row + column] = table.get((r, c), 9) * 8
    return worth
