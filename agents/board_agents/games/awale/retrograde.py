"""Retrograde analysis of one level: all configurations of n seeds, from the levels below.

The source's three phases: harvests and terminal configurations give bounds and count the quiet moves (initialisation);
in passes l = 0 .. n the configurations whose bound is n - l, or that wait for no child any more, become stable and tell
their parents (convergence); what is left can be held by both sides and counts 0 (stabilisation).

The progress depth of a configuration is one more than the largest among the children that gave it its value before it
became stable, 0 if only harvests did. So, inside a level, a winner finds a move to a smaller depth, and all answers of
the loser that keep the value lead to a smaller one still.
"""

# numba infers the types of compiled functions.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.games.awale.convergence import converge, share_round, start_pass
from board_agents.games.awale.initialisation import initialise
from board_agents.games.awale.retrograde_workspace import EIGHT, SIXTEEN, STATE, ZERO32, Level, make_scratch
from board_agents.games.awale.rows import Rows
from board_envs._jit import kernel

DEPTH_LIMIT = 255

QUEUE_SHARE = 16
"""Configurations per queue slot; when more become stable in a round, the level is scanned for them."""
QUEUE_LEAST = 1024
"""A queue's smallest size."""
PARALLEL_ROUND = 5_000
"""Rounds with fewer nodes are not worth two threads."""
PIECES = 16
"""Pieces a thread into which a level is cut; whoever is done takes the next."""


@kernel
def finish_scores(cells, scores):
    """Phase 3: read int8 scores off the cells; what is not stable gets 0. Returns how many these are."""
    unresolved = 0
    for place in range(cells.shape[0]):
        cell = cells[place]
        unstable = (cell & STATE) == ZERO32
        unresolved += unstable
        scores[place] = 0 if unstable else np.int64(cell >> SIXTEEN) - 128
    return unresolved


@kernel
def finish_depths(cells, depths):
    """Read uint8 progress depths off the cells; 0 where the score is 0. Returns the largest."""
    deepest = 0
    for place in range(cells.shape[0]):
        cell = cells[place]
        drawn = ((cell & STATE) == ZERO32) | ((cell >> SIXTEEN) == np.uint32(128))
        depth = 0 if drawn else np.int64((cell >> EIGHT) & np.uint32(255))
        depths[place] = depth
        deepest = max(deepest, depth)
    return deepest


def solve_level(
    rows: Rows,
    n: int,
    addresses: NDArray[np.uint64],
    *,
    threads: int = 1,
    initialised: Callable[[], None] = lambda: None,
    report: Callable[[float], None] = lambda share: None,
) -> NDArray[np.uint32]:
    """Return the cells of level n after convergence: uint32 (configurations,).

    Args:
        rows: tables of at least n seeds.
        n: seeds on the board.
        addresses: uint64, where the int8 scores of each level below n - 1 begin.
        threads: how many work together.
        initialised: called when the levels below are no longer needed.
        report: called with the share of the level that is done; what it raises ends the work.

    """
    size = comb(n + 2 * rows.pits - 1, n)
    if size >= 1 << 32:
        raise ValueError(
            f"level {n} has {size} configurations, more than the {1 << 32} that a rank of 32 bits can tell"
        )
    count = int(rows.first[n + 1])
    cells = np.empty(size, np.uint32)
    base = rows.moves.block[rows.moves.room[:count] + (n - rows.sums[:count].astype(np.int32))]
    order = np.argsort(base, kind="stable").astype(np.int32)
    work = _Work(rows, n, cells, base, order, threads)
    with ThreadPoolExecutor(threads) as pool:
        work.spread(
            pool,
            lambda low, high: initialise(work.level, rows.moves, low, high, addresses),
            work.row_bounds,
        )
        initialised()
        for done in range(n + 1):
            report((done + 1) / (n + 2))
            work.run_pass(pool, n - done)
    report(1.0)
    return cells


class _Work:
    """The arrays of one level, and how threads share it."""

    def __init__(
        self,
        rows: Rows,
        n: int,
        cells: NDArray[np.uint32],
        base: NDArray[np.uint32],
        order: NDArray[np.int32],
        threads: int,
    ) -> None:
        self.parents, self.threads = rows.parents, threads
        size, count = len(cells), len(base)
        queues = np.empty((2, size // QUEUE_SHARE + QUEUE_LEAST), np.int64)
        self.level = Level(n, rows.first, rows.sums, rows.rank, base, order, cells, queues, np.zeros(2, np.int64))
        self.scratch = [make_scratch(rows) for _ in range(threads)]
        # Equal shares of configurations: of rows in their own order, and of the table.
        pieces = 1 if threads == 1 else PIECES * threads
        lengths = rows.first[n + 1 - rows.sums[:count].astype(np.int64)] - rows.first[n - rows.sums[:count]]
        shares = [size * piece // pieces for piece in range(1, pieces)]
        self.row_bounds = [0, *np.searchsorted(np.cumsum(lengths), shares).tolist(), count]
        self.order_bounds = [0, *np.searchsorted(base[order], shares).tolist(), count]

    def spread(self, pool: ThreadPoolExecutor, task: Callable[[int, int], Any], bounds: list[int]) -> None:
        """Run task(low, high) for each piece that is not empty."""
        pieces = [(low, high) for low, high in pairwise(bounds) if low < high]
        run = pool.map if self.threads > 1 else map
        list(run(lambda piece: task(*piece), pieces))

    def run_pass(self, pool: ThreadPoolExecutor, target: int) -> None:
        """One pass: what has the bound `target` becomes stable, and all that follows from it."""
        level, threads, counters = self.level, self.threads, self.level.counters
        counters[:] = 0
        self.spread(pool, lambda low, high: start_pass(level, target, low, high), self.order_bounds)
        limit = (1 << 39) if threads == 1 else PARALLEL_ROUND
        pending = 0x10
        while count := int(counters[1]):
            if count <= limit:
                pending = converge(level, self.parents, self.scratch[0], target, pending, count, limit)
                continue
            counters[:] = 0
            now = (target, pending, count)
            list(pool.map(lambda scratch, now=now: share_round(level, self.parents, scratch, *now), self.scratch))
            pending = 0x30 - pending
