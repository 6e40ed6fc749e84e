"""The workspace of one thread's search: its arrays, their columns, and the search's thresholds."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.connect_four.transposition_table import LINE
from board_agents.lowlevel.aligned_arrays import aligned
from board_envs.games.connect_four.alignments import alignments
from board_envs.games.connect_four.rules import bit_index
from board_envs.types import Words

Ints = NDArray[np.int64]

# Columns of a stack frame (int64).
BETA, BEST, LOWER, UPPER, STARTED, PREVIOUS = range(6)
FRAME = 8
# State of a search between two calls (int64).
POSITION, DEPTH, ENTERING, NODES, LIMIT, STOP, GUESS, BEGUN, TOGETHER = range(9)
CONTROL = 9
NO_GUESS, LEAST = 1000, 1001
"""GUESS of positions without information, or whose score is likely to be the given lower bound; else it is the
score of the position before."""

HARD = 26
"""From this number of empty squares on, positions are mostly near a draw, and windows far from it are expensive."""
FEW_EMPTIES = 21
"""Positions with fewer empty squares use the small transposition table."""
QUICK_NODES = 4000
"""Up to this number of nodes, the shortest wins and losses are tested first: enough for easy positions."""
PLAIN_WIN = 9
"""Scores this far from 0 are tested first in hard positions: short wins are cheap to prove or refute."""
FOLLOW_UP = 6
"""Minimum number of empty squares for follow-up bounds."""
NO_TABLE = 10
"""Positions with fewer empty squares are not stored in a transposition table."""
MIRRORED = 28
"""Minimum number of empty squares for identifying mirror images."""
NEAR = 1
"""Nor are positions whose window can be decided within this number of stones: searching is faster than probing."""
LOOK_AHEAD = 11
"""Minimum number of empty squares for probing the children's entries before searching."""

# Ranks of moves (int64): points above 6 bits for the column.
NEVER = -(1 << 62)
"""The rank of a column without an untried move."""
KNOWN = 1 << 46
"""Added to the rank of the transposition table's move."""
DEFERRED = 1 << 50
"""Subtracted from the rank of a move that another thread is searching."""
SHARED = 20
"""Minimum number of empty squares at which threads that solve one position share what they search."""
BUSY_BITS = 12
"""Slots for positions being searched, as a power of two."""
ROW = 65
"""History has a row for each square of the previous move and, last, one for any move, which a root uses; a row has an
entry for each square."""
ANY = 64 * ROW
HISTORY = 65 * ROW
HISTORY_LIMIT = 2000
UNIT = 5120
"""Weight of one point of a static feature, relative to history."""


def lanes_of(rows: int, columns: int) -> int:
    """Return the number of lanes: padded to eight for full vectors; the last ones may be unused."""
    return 8 if columns <= 8 and 7 * (rows + 1) < 64 else columns


class Workspace(NamedTuple):
    """The arrays of one thread's search; depth d is the node after d moves from the root.

    Attributes:
        own, mask: uint64 (depth,), stones of the side to move and all stones.
        safe: uint64 (depth,), the moves that do not lose at once.
        threats: uint64 (depth + 2,), at d the winning squares of the side to move at depth d.
        untried: uint64 (depth,), the moves not yet searched.
        frames: int64 (depth, FRAME), columns BETA to PREVIOUS.
        ranks: int64 (depth, lanes), the rank of each column's move.
        replies, later_threats: uint64 (depth, lanes), `safe` of the child by each column's move, the move's threats.
        lanes, keys: uint64 (3 * lanes,) and (lanes,), scratch of one node: see `describe` and `name_children`.
        big, small: uint64, the transposition tables of positions with many and few empty squares.
        busy: uint64 (1 << BUSY_BITS,), the keys of positions that threads are searching.
        history: int16 (HISTORY,).
        values: int64 (65,), `square_values`.
        control: int64 (CONTROL,), the state of a search between two calls.
        big_bits, small_bits: log2 of the tables' numbers of cache lines.

    """

    own: Words
    mask: Words
    safe: Words
    threats: Words
    untried: Words
    frames: Ints
    ranks: Ints
    replies: Words
    later_threats: Words
    lanes: Words
    keys: Words
    big: Words
    small: Words
    busy: Words
    history: NDArray[np.int16]
    values: Ints
    control: Ints
    big_bits: np.uint64
    small_bits: np.uint64


def make_workspace(rows: int, columns: int, connect: int, big: Words, small: Words, busy: Words) -> Workspace:
    """Return the workspace of one thread, which shares `big` and `busy` with others."""
    depth = rows * columns + 1
    lanes = max(8, columns)
    return Workspace(
        own=aligned((depth,)),
        mask=aligned((depth,)),
        safe=aligned((depth,)),
        threats=aligned((depth + 2,)),
        untried=aligned((depth,)),
        frames=aligned((depth, FRAME), np.int64),
        ranks=aligned((depth, lanes), np.int64),
        replies=aligned((depth, lanes)),
        later_threats=aligned((depth, lanes)),
        lanes=aligned((3 * lanes,)),
        keys=aligned((lanes,)),
        big=big,
        small=small,
        busy=busy,
        history=aligned((HISTORY,), np.int16),
        values=square_values(rows, columns, connect),
        control=np.zeros(CONTROL, np.int64),
        big_bits=np.uint64((big.size // LINE).bit_length() - 1),
        small_bits=np.uint64((small.size // LINE).bit_length() - 1),
    )


@functools.cache
def square_values(rows: int, columns: int, connect: int) -> Ints:
    """Return the static value of each bit: int64 (65,); lines through it, in UNITs, low rows first."""
    values = np.zeros(65, np.int64)
    lines = alignments(rows, columns, connect)
    most = max(1, int(lines.max()))
    for row, bits in enumerate(bit_index(rows, columns)):
        for column, bit in enumerate(bits):
            values[bit] = lines[row, column] * 8 * UNIT // most
    return values
