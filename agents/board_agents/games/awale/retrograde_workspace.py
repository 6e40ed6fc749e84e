"""What the retrograde analysis of one level works on: its cells, the queues of rounds, and each thread's scratch.

A cell is a uint32: bits 0-3 children still missing, bits 4-5 the state, bits 8-15 the progress depth, bits 16-23 the
bound plus 128.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.awale.rows import Rows

MISSING = np.uint32(0x0F)
STATE = np.uint32(0x30)
"""0 unstable, 0x10 or 0x20 stable and about to tell its parents (in turn, by rounds), 0x30 done."""
DONE = np.uint32(0x30)
EIGHT, SIXTEEN = np.uint32(8), np.uint32(16)
ZERO32 = np.uint32(0)
CHUNK = 128
"""Nodes whose messages are made before they are applied: enough for memory loads to overlap, few for the cache."""


class Level(NamedTuple):
    """The arrays of one level, which threads share; C configurations, R rows of at most `seeds` seeds.

    A node is a configuration as mover's row << 32 | other's row.

    Attributes:
        seeds: seeds on the board, n.
        first, sums, rank: of rows, see `Rows`.
        base: uint32 (R,), the cell of the other's row with the mover's first row of the seeds that are left.
        order: int32 (R,), the other's rows as their cells follow each other.
        cells: uint32 (C,).
        queues: int64 (2, room), the nodes of this round and the next: those in state s are in queues[s >> 5].
        counters: int64 (2,): how far the threads have come in a round, and the number of nodes of the next.

    """

    seeds: int
    first: NDArray[np.int64]
    sums: NDArray[np.uint8]
    rank: NDArray[np.int32]
    base: NDArray[np.uint32]
    order: NDArray[np.int32]
    cells: NDArray[np.uint32]
    queues: NDArray[np.int64]
    counters: NDArray[np.int64]


class Scratch(NamedTuple):
    """One thread's messages of a chunk of nodes.

    Attributes:
        chunk: int64 (CHUNK,), the nodes that tell their parents.
        places: int64 (room,), the parents' cells.
        nodes: int64 (room,), the parents.
        keys: uint32 (room,), what they hear: bound plus 128, and progress depth in the lowest byte.

    """

    chunk: NDArray[np.int64]
    places: NDArray[np.int64]
    nodes: NDArray[np.int64]
    keys: NDArray[np.uint32]


def make_scratch(rows: Rows) -> Scratch:
    """Return a thread's scratch."""
    room = CHUNK * int(np.diff(rows.parents.start).max(initial=0)) + 1
    return Scratch(
        np.empty(CHUNK, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint32)
    )
