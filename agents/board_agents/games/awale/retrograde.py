"""Retrograde analysis of one level: all configurations of n seeds, from the levels below.

The source's three phases: harvests and terminal configurations give bounds and count the quiet moves (initialisation);
in passes l = 0 .. n the configurations whose bound is n - l, or that wait for no child any more, become stable and tell
their parents (convergence); what is left can be held by both sides and counts 0 (stabilisation).

A cell is a uint32: bits 0-3 children still missing, bits 4-5 the state, bits 8-15 the progress depth, bits 16-23 the
bound plus 128. The progress depth of a configuration is one more than the largest among the children that gave it its
value before it became stable, 0 if only harvests did. So, inside a level, a winner finds a move to a smaller depth, and
all answers of the loser that keep the value lead to a smaller one still.

Convergence goes in rounds: all that became stable in one round tells its parents in the next. A cell takes messages
until its own round begins, in any order, so that the result depends neither on the order nor on the number of threads.
"""

# numba infers the types of compiled functions.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.games.awale.rows import Rows
from board_agents.lowlevel.instructions import fetch_add, load_int8, prefetch_to_write, swap
from board_envs._jit import jitable, kernel

MISSING = np.uint32(0x0F)
STATE = np.uint32(0x30)
"""0 unstable, 0x10 or 0x20 stable and about to tell its parents (in turn, by rounds), 0x30 done."""
DONE = np.uint32(0x30)
EIGHT, SIXTEEN = np.uint32(8), np.uint32(16)
ZERO32 = np.uint32(0)
CHUNK = 128
"""Nodes whose messages are made before they are applied: enough for memory loads to overlap, few for the cache."""
ROWS = 32
"""Rows in which a thread looks for stable cells before it takes the next ones."""
DEPTH_LIMIT = 255


@kernel
def initialise(n, low, high, first, sums, rank, after, code, room, sown, reaped, gained, block, addresses, cells):
    """Phase 1 for the other's rows low .. high - 1; addresses uint64 of the score arrays of the levels below n."""
    pits = after.shape[1]
    kind = np.zeros(2 * n + 2, np.int64)
    moved = np.zeros(2 * n + 2, np.int64)
    for other in range(low, high):
        mine = n - np.int64(sums[other])
        begin = first[mine]
        pairs = np.int64(room[other])
        start = np.int64(block[pairs + mine])
        for dropped in range(mine + 1):
            # Quiet unless it starves the other.
            kind[2 * dropped] = 0 if sown[pairs + dropped] != 0 else -1
            gain = np.int64(gained[pairs + dropped])
            moved[2 * dropped + 1] = reaped[pairs + dropped]
            kind[2 * dropped + 1] = gain if moved[2 * dropped + 1] != 0 else -1
        for k in range(first[mine + 1] - begin):
            row = begin + k
            missing = 0
            bound = -n
            for pit in range(pits):
                way = code[row, pit]
                if way == 255:
                    continue
                gain = kind[way]
                if gain == 0:
                    missing += 1
                elif gain > 0:
                    child = moved[way]
                    place = np.int64(block[np.int64(room[after[row, pit]]) + np.int64(sums[child])]) + np.int64(
                        rank[child]
                    )
                    value = gain - load_int8(addresses[n - gain] + np.uint64(place))
                    if value > bound:
                        bound = value
            cells[start + k] = np.uint32(((bound + 128) << 16) | missing)


@kernel
def start_pass(n, target, low, high, first, sums, order, base, cells, queue, counters):
    """Make stable what a pass begins with: its bound is `target`, or (in the first) no child is missing.

    For the other's rows order[low:high], which follow each other in the table. They go to `queue`, see `_make_round`.
    """
    found = np.zeros(256, np.int64)
    opening = target == n
    wanted = np.uint32((target + 128) << 16)
    mask = np.uint32(0x00FF0030)
    place = np.int64(base[order[low]])
    end = np.int64(cells.shape[0]) if high == order.shape[0] else np.int64(base[order[high]])
    block = low
    while place < end:
        piece = min(place + 256, end)
        if not opening:
            nearest = np.uint32(0xFFFFFFFF)
            for k in range(place, piece):
                nearest = min(nearest, (cells[k] & mask) ^ wanted)
            if nearest != ZERO32:
                place = piece
                continue
        count = 0
        while place < piece:
            while block + 1 < high and np.int64(base[order[block + 1]]) <= place:
                block += 1
            other = np.int64(order[block])
            shift = first[n - np.int64(sums[other])] - np.int64(base[other])
            stop = piece
            if block + 1 < high:
                stop = min(piece, np.int64(base[order[block + 1]]))
            while place < stop:
                cell = cells[place]
                if (cell & mask) == wanted or (opening and (cell & MISSING) == ZERO32):
                    cells[place] = cell | np.uint32(0x10)
                    found[count] = ((place + shift) << 32) | other
                    count += 1
                place += 1
        enqueue(found, count, queue, counters)


# numba counts references to every array that a call passes: the ones below take many nodes a call.


@jitable
def enqueue(nodes, count, queue, counters):
    """Add nodes[:count] to a queue of which counters[1] entries are taken; more than it holds is only counted."""
    begin = fetch_add(np.uint64(counters.ctypes.data) + np.uint64(8), count)
    for x in range(min(count, queue.shape[0] - begin)):
        queue[begin + x] = nodes[x]


@jitable
def tell_parents(
    chunk, filled, sums, rank, parent_start, parent_row, parent_code, unsown, base, cells, places, nodes, keys
):
    """Mark chunk[:filled] done and write the messages to their quiet parents; return how many there are."""
    address = np.uint64(cells.ctypes.data)
    made = 0
    for x in range(filled):
        mover, other = chunk[x] >> 32, chunk[x] & 0xFFFFFFFF
        here = np.int64(base[other]) + np.int64(rank[mover])
        cell = cells[here]
        cells[here] = cell | DONE
        score = np.int64(cell >> SIXTEEN) - 128
        depth = np.int64((cell >> EIGHT) & np.uint32(255)) + 1
        key = np.uint32(((128 - score) << 8) | min(depth, 255))
        seeds = np.int64(sums[mover])
        if seeds == 0:
            continue
        begin = made
        for k in range(parent_start[other], parent_start[other + 1]):
            way = np.int64(parent_code[k])
            if way >> 1 > seeds:
                break
            # Without a branch: a row that no quiet sowing made is written too, and overwritten by the next.
            found = np.int64(unsown[mover, way >> 1])
            row = max(found, 0) >> 1
            own = np.int64(parent_row[k])
            places[made] = np.int64(base[row]) + np.int64(rank[own])
            nodes[made] = (own << 32) | row
            keys[made] = key
            made += (found >= 0) & ((found & way & 1) == 0)
        for k in range(begin, made):
            prefetch_to_write(address + np.uint64(places[k] << 2))
    return made


@jitable
def hear(cell, key, wanted, pending):
    """Return a cell after a message, and whether that made it stable; without branches, which nobody could predict."""
    state = cell & STATE
    best = max(cell >> EIGHT, key)
    missing = (cell & MISSING) - np.uint32(1)
    stable = (state == ZERO32) & ((missing == ZERO32) | ((best >> EIGHT) == wanted))
    low = missing if state == ZERO32 else cell & np.uint32(0xFF)
    low = low | pending if stable else low
    return (best << EIGHT) | low if (state == ZERO32) | (state == pending) else cell, stable


def _make_round(shared: bool) -> Callable[..., None]:
    """Return what runs a thread's part of a round; `shared` if other threads write the same cells meanwhile.

    `pending` (0x10 or 0x20) is the state of the `count` cells whose round it is. They are in `queue` (mover's row << 32
    | other's row) if it has room for them all; otherwise they are looked for. counters[0], 0 before the round, is how
    far the threads have come: each takes the next piece as soon as it can. What becomes stable goes to the queue
    `following`, counted by counters[1].
    """

    @jitable
    def listen(cells, places, keys, nodes, made, wanted, pending):
        address = np.uint64(cells.ctypes.data)
        found = 0
        for x in range(made):
            place, key = places[x], keys[x]
            cell = cells[place]
            heard, stable = hear(cell, key, wanted, pending)
            if shared:
                while not swap(address + np.uint64(place << 2), cell, heard):
                    cell = cells[place]
                    heard, stable = hear(cell, key, wanted, pending)
            else:
                cells[place] = heard
            nodes[found] = nodes[x]
            found += stable
        return found

    @jitable
    def run(
        n,
        target,
        pending,
        count,
        first,
        sums,
        rank,
        parent_start,
        parent_row,
        parent_code,
        unsown,
        base,
        cells,
        queue,
        following,
        counters,
        chunk,
        places,
        nodes,
        keys,
    ):
        wanted, state, next_state = np.uint32(target + 128), np.uint32(pending), np.uint32(0x30 - pending)
        width = unsown.shape[1] * 4
        cell_address, unsown_address = np.uint64(cells.ctypes.data), np.uint64(unsown.ctypes.data)
        progress = np.uint64(counters.ctypes.data)
        looked_for = count > queue.shape[0]
        other = stop = k = 0
        while True:
            filled = 0
            while looked_for and filled < CHUNK:
                if other >= stop:
                    other = fetch_add(progress, ROWS)
                    stop = min(other + ROWS, first[n + 1])
                    k = 0
                    if other >= stop:
                        break
                mine = n - np.int64(sums[other])
                begin = first[mine]
                start = np.int64(base[other])
                size = first[mine + 1] - begin
                while k < size and filled < CHUNK:
                    if k + 64 <= size:
                        found = False
                        for x in range(start + k, start + k + 64):
                            found |= (cells[x] & STATE) == state
                        if not found:
                            k += 64
                            continue
                    end = min(k + 64, size)
                    while k < end and filled < CHUNK:
                        if (cells[start + k] & STATE) == state:
                            chunk[filled] = ((begin + k) << 32) | other
                            filled += 1
                        k += 1
                if k >= size:
                    other += 1
                    k = 0
            if not looked_for:
                taken = fetch_add(progress, CHUNK)
                filled = max(0, min(CHUNK, count - taken))
                for x in range(filled):
                    node = queue[taken + x]
                    chunk[x] = node
                    place = np.int64(base[node & 0xFFFFFFFF]) + np.int64(rank[node >> 32])
                    prefetch_to_write(cell_address + np.uint64(place << 2))
                    prefetch_to_write(unsown_address + np.uint64((node >> 32) * width))
            if filled == 0:
                break
            made = tell_parents(
                chunk,
                filled,
                sums,
                rank,
                parent_start,
                parent_row,
                parent_code,
                unsown,
                base,
                cells,
                places,
                nodes,
                keys,
            )
            enqueue(nodes, listen(cells, places, keys, nodes, made, wanted, next_state), following, counters)

    return run


_run_alone, _run_shared = _make_round(shared=False), _make_round(shared=True)


@kernel
def converge(
    n,
    target,
    pending,
    count,
    limit,
    first,
    sums,
    rank,
    parent_start,
    parent_row,
    parent_code,
    unsown,
    base,
    cells,
    queues,
    counters,
    chunk,
    places,
    nodes,
    keys,
):
    """Rounds of one pass by one thread, while there are 1 to `limit` cells whose round it is.

    Returns their state and leaves their number in counters[1]; they are in queues[state >> 5].
    """
    while 0 < count <= limit:
        counters[:] = 0
        _run_alone(
            n,
            target,
            pending,
            count,
            first,
            sums,
            rank,
            parent_start,
            parent_row,
            parent_code,
            unsown,
            base,
            cells,
            queues[pending >> 5],
            queues[1 - (pending >> 5)],
            counters,
            chunk,
            places,
            nodes,
            keys,
        )
        count = counters[1]
        pending = 0x30 - pending
    return pending


@kernel
def share_round(
    n,
    target,
    pending,
    count,
    first,
    sums,
    rank,
    parent_start,
    parent_row,
    parent_code,
    unsown,
    base,
    cells,
    queues,
    counters,
    chunk,
    places,
    nodes,
    keys,
):
    """One thread's part of one round."""
    _run_shared(
        n,
        target,
        pending,
        count,
        first,
        sums,
        rank,
        parent_start,
        parent_row,
        parent_code,
        unsown,
        base,
        cells,
        queues[pending >> 5],
        queues[1 - (pending >> 5)],
        counters,
        chunk,
        places,
        nodes,
        keys,
    )


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


# -- one level --------------------------------------------------------------------------------------------------------

QUEUE_SHARE = 16
"""One configuration in so many finds room in a queue; when more become stable in a round they are looked for."""
QUEUE_LEAST = 1024
"""A queue's smallest size."""
PARALLEL_ROUND = 5_000
"""Rounds with fewer nodes are not worth two threads."""
PIECES = 16
"""Pieces a thread into which a level is cut; whoever is done takes the next."""


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
    base = rows.block[rows.room[:count] + (n - rows.sums[:count].astype(np.int32))]
    order = np.argsort(base, kind="stable").astype(np.int32)
    work = _Work(rows, n, cells, base, order, threads)
    with ThreadPoolExecutor(threads) as pool:
        work.spread(
            pool,
            lambda low, high: initialise(
                n,
                low,
                high,
                rows.first,
                rows.sums,
                rows.rank,
                rows.after,
                rows.code,
                rows.room,
                rows.sown,
                rows.reaped,
                rows.gained,
                rows.block,
                addresses,
                cells,
            ),
            work.row_bounds,
        )
        initialised()
        for done in range(n + 1):
            report((done + 1) / (n + 2))
            work.run_pass(pool, n - done)
    report(1.0)
    return cells


class _Work:
    """The arrays of one level's convergence, and how threads share it."""

    def __init__(
        self,
        rows: Rows,
        n: int,
        cells: NDArray[np.uint32],
        base: NDArray[np.uint32],
        order: NDArray[np.int32],
        threads: int,
    ) -> None:
        self.rows, self.n, self.cells, self.base, self.order, self.threads = rows, n, cells, base, order, threads
        size, count = len(cells), len(base)
        self.queues = np.empty((2, size // QUEUE_SHARE + QUEUE_LEAST), np.int64)
        self.counters = np.zeros(2, np.int64)
        room = CHUNK * int(np.diff(rows.parent_start).max(initial=0)) + 1
        self.scratch = [
            (np.empty(CHUNK, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint32))
            for _ in range(threads)
        ]
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
        rows, threads = self.rows, self.threads
        self.counters[:] = 0
        self.spread(
            pool,
            lambda low, high: start_pass(
                self.n,
                target,
                low,
                high,
                rows.first,
                rows.sums,
                self.order,
                self.base,
                self.cells,
                self.queues[0],
                self.counters,
            ),
            self.order_bounds,
        )
        arrays = (
            rows.first,
            rows.sums,
            rows.rank,
            rows.parent_start,
            rows.parent_row,
            rows.parent_code,
            rows.unsown,
            self.base,
            self.cells,
            self.queues,
            self.counters,
        )
        limit = (1 << 39) if threads == 1 else PARALLEL_ROUND
        pending = 0x10
        while count := int(self.counters[1]):
            if count <= limit:
                pending = converge(self.n, target, pending, count, limit, *arrays, *self.scratch[0])
                continue
            self.counters[:] = 0
            now = (self.n, target, pending, count, *arrays)
            list(pool.map(lambda scratch, now=now: share_round(*now, *scratch), self.scratch))
            pending = 0x30 - pending
