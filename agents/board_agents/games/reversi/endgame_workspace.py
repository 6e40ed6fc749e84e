"""What one thread's exact search works on: words behind an address, and the thresholds between which its parts change.

The recursion hands on one address instead of arrays, whose references each call would count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from board_envs._jit import jitable

NODES, STOP, LIMIT, TABLE, SHIFT, DATE, BONUS, BUSY, CONTEXT, GUESS, STACK = range(11)
"""Words of the workspace.

NODES: positions visited. STOP: set to 1 to stop. LIMIT: the number of positions to stop at. TABLE, SHIFT: address of
the transposition table and 64 - log2(its buckets). DATE: number of this search, 0 to 255. BONUS: 1 if the winner gets
the empty squares. BUSY: address of the board of positions that threads are at, 0 without other threads. CONTEXT: what
the `Ordering` is handed. GUESS: the first bar of a search for the exact value, + 100. STACK: the moves of the positions
on the path, see `row_start`.
"""
MEMORY_WORDS = STACK + 64 * 65
NONE = -100
"""Less than any value."""
NO_MOVE = 64
"""Bit of a move that is not known."""

DEEP = 7
"""Minimum number of empty squares of positions in the transposition table."""
ETC = 10
"""Minimum number of empty squares for probing the children's entries before searching."""
ORDERED = 15
"""Minimum number of empty squares for ranking moves by an `Ordering`, if any."""
SHARED = 11
"""Minimum number of empty squares at which threads avoid each other's positions."""
BUSY_BITS = 12
"""Places for what is searched just now, as a power of two."""

Ordering = Callable[[np.uint64, np.uint64, int, np.uint64, int, np.uint64], int]
"""Jitable (own, other, square, turned, n, context) -> rank of a move, the highest is searched first.

own and other are the boards before the move of own, n their empty squares, turned the discs that the move on bit
`square` turns over, context word CONTEXT of the workspace, each thread its own. The rank is between -2**31 and 2**31.
The move that the table knows is first whatever its rank.
"""


@jitable
def row_start(n: int) -> int:
    """Word of the memory where the moves of the position with n empty squares begin: two words for each, at most n."""
    return STACK + n * (n - 1)
