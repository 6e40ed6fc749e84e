"""What one thread's midgame search works on: words behind an address, and how deep its searches are."""

from __future__ import annotations

import numpy as np

from board_agents.games.reversi.pattern_evaluation import SCRATCH_WORDS, UNIT
from board_agents.lowlevel.instructions import load, store
from board_envs._bits import ONE
from board_envs._jit import jitable

NODES, STOP, LIMIT, TABLE, SHIFT, DATE, EVALUATION, SPREADS, SCRATCH = range(9)
"""Words of a search's workspace: positions visited; set to 1 to stop; number of positions to stop at; address and
64 - log2(entries) of the table; number of this search, 1 to 255; address of the evaluation; address of the spreads
(int64 (65, MOST_DEPTH + 1)) of deep searches around shallow ones, by empty squares and depth, 0 where nothing is cut;
the evaluation's scratch words. Then come the moves of the positions on the path, ROW words for each number of empty
squares."""

STACK = SCRATCH + SCRATCH_WORDS
ROW = 72
MEMORY_WORDS = STACK + 65 * ROW
MOST_DEPTH = 60
INFINITE = 65 * UNIT
NO_MOVE = 64
"""Bit of a move that is not known."""
MOST_POSITIONS = 62
"""Positions of one game that are kept, at most."""

SHALLOW = (0, 0, 0, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 5, 6)
"""By depth, how deep the search is that may cut one of that depth short; the last two go on in turn."""


def shallow_depth(depth: int) -> int:
    """Return how deep the search is that may cut one of `depth` short, 0 for none."""
    if depth < len(SHALLOW):
        return SHALLOW[depth]
    return SHALLOW[len(SHALLOW) - 2 + (depth - len(SHALLOW)) % 2]


@jitable
def count_node(memory: np.uint64) -> np.uint64:
    """Count a position; return how many were visited."""
    nodes = load(memory, NODES) + ONE
    store(memory, NODES, nodes)
    return nodes
