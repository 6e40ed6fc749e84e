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
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.solvers.awale.memory import load_int8, prefetch
from board_agents.solvers.awale.rows import Rows
from board_envs._jit import jitable, kernel

MISSING = np.uint32(0x0F)
STATE = np.uint32(0x30)
"""0 unstable, 0x10 or 0x20 stable and about to tell its parents (in turn, by rounds), 0x30 done."""
DONE = np.uint32(0x30)
EIGHT, SIXTEEN = np.uint32(8), np.uint32(16)
ZERO32 = np.uint32(0)
CHUNK = 128
"""Nodes whose messages are made before they are applied: enough for memory loads to overlap, few for the cache."""
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
def start_pass(n, target, low, high, first, sums, order, base, cells, queue):
    """Make stable what a pass begins with: its bound is `target`, or (in the first) no child is missing.

    For the other's rows order[low:high], which follow each other in the table. They go to `queue` (mover's row << 32 |
    other's row), but for its last entry, as far as it has room. Returns how many there are.
    """
    count = 0
    capacity = queue.shape[0] - 1
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
                    queue[min(count, capacity)] = ((place + shift) << 32) | other
                    count += 1
                place += 1
    return count


# The two below take many nodes a call: numba counts references to every array that a call passes.


@jitable
def tell_parents(
    chunk, filled, sums, rank, parent_start, parent_row, parent_code, unsown, base, cells, places, nodes, keys, made
):
    """Mark chunk[:filled] done and write the messages to their quiet parents from `made` on; return the new count."""
    address = np.uint64(cells.ctypes.data)
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
            prefetch(address + np.uint64(places[k] << 2))
    return made


@jitable
def listen(cells, places, keys, nodes, made, wanted, pending, queue, count):
    """Give cells their messages; what that makes stable goes to the queue. Return its new count."""
    capacity = queue.shape[0] - 1
    for x in range(made):
        # Without branches, which nobody could predict.
        place, key = places[x], keys[x]
        cell = cells[place]
        state = cell & STATE
        best = max(cell >> EIGHT, key)
        missing = (cell & MISSING) - np.uint32(1)
        stable = (state == ZERO32) & ((missing == ZERO32) | ((best >> EIGHT) == wanted))
        low = missing if state == ZERO32 else cell & np.uint32(0xFF)
        low = low | pending if stable else low
        cells[place] = (best << EIGHT) | low if (state == ZERO32) | (state == pending) else cell
        queue[min(count, capacity)] = nodes[x]
        count += stable
    return count


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
    places,
    nodes,
    keys,
):
    """Rounds of one pass, until nothing tells its parents any more or a round has more than `limit` that do.

    `pending` (0x10 or 0x20) is the state of the `count` cells whose round comes; they are in queues[0] if it has room
    for them all, otherwise they are looked for. Returns pending * 2^40 + count.
    """
    # The last entry takes what has no room, or is no node.
    capacity = queues.shape[1] - 1
    wanted = np.uint32(target + 128)
    chunk = np.zeros(CHUNK, np.int64)
    width = unsown.shape[1] * 4
    cell_address, unsown_address = np.uint64(cells.ctypes.data), np.uint64(unsown.ctypes.data)
    current = 0
    while 0 < count <= limit:
        after = 0
        following = np.uint32(0x30 - pending)
        looked_for = count > capacity
        taken = 0
        other = 0
        k = 0
        while True:
            filled = 0
            if looked_for:
                while filled < CHUNK and other < first[n + 1]:
                    mine = n - np.int64(sums[other])
                    begin = first[mine]
                    start = np.int64(base[other])
                    size = first[mine + 1] - begin
                    while k < size and filled < CHUNK:
                        if k + 64 <= size:
                            found = False
                            for x in range(start + k, start + k + 64):
                                found |= (cells[x] & STATE) == np.uint32(pending)
                            if not found:
                                k += 64
                                continue
                        end = min(k + 64, size)
                        while k < end and filled < CHUNK:
                            if (cells[start + k] & STATE) == np.uint32(pending):
                                chunk[filled] = ((begin + k) << 32) | other
                                filled += 1
                            k += 1
                    if k >= size:
                        other += 1
                        k = 0
            else:
                while filled < CHUNK and taken < count:
                    node = queues[current, taken]
                    chunk[filled] = node
                    place = np.int64(base[node & 0xFFFFFFFF]) + np.int64(rank[node >> 32])
                    prefetch(cell_address + np.uint64(place << 2))
                    prefetch(unsown_address + np.uint64((node >> 32) * width))
                    filled += 1
                    taken += 1
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
                0,
            )
            after = listen(cells, places, keys, nodes, made, wanted, following, queues[1 - current], after)
        current = 1 - current
        pending = 0x30 - pending
        count = after
    if current == 1 and count <= capacity:
        queues[0, :count] = queues[1, :count]
    return (pending << 40) | count


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


@kernel
def tell_part(
    begin,
    end,
    most,
    splits,
    sums,
    rank,
    parent_start,
    parent_row,
    parent_code,
    unsown,
    base,
    cells,
    queue,
    places,
    nodes,
    keys,
    made,
):
    """A thread's part of a round: queue[begin:end] tells its parents, as far as the room for messages goes.

    Messages for cells from splits[t] to before splits[t + 1] go to places[t] and so on; made[t] counts them, and gets
    them all. `most` is the largest number of parents. Returns where it stopped.
    """
    owners, space = places.shape
    chunk = np.zeros(CHUNK, np.int64)
    some_places = np.zeros(CHUNK * most + 1, np.int64)
    some_nodes = np.zeros(CHUNK * most + 1, np.int64)
    some_keys = np.zeros(CHUNK * most + 1, np.uint32)
    width = unsown.shape[1] * 4
    cell_address, unsown_address = np.uint64(cells.ctypes.data), np.uint64(unsown.ctypes.data)
    for owner in range(owners):
        made[owner] = 0
    while begin < end:
        for owner in range(owners):
            if made[owner] + CHUNK * most > space:
                return begin
        filled = min(CHUNK, end - begin)
        for x in range(filled):
            node = queue[begin + x]
            chunk[x] = node
            place = np.int64(base[node & 0xFFFFFFFF]) + np.int64(rank[node >> 32])
            prefetch(cell_address + np.uint64(place << 2))
            prefetch(unsown_address + np.uint64((node >> 32) * width))
        begin += filled
        some = tell_parents(
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
            some_places,
            some_nodes,
            some_keys,
            0,
        )
        for x in range(some):
            owner = 0
            for other in range(1, owners):
                owner += some_places[x] >= splits[other]
            to = made[owner]
            places[owner, to] = some_places[x]
            nodes[owner, to] = some_nodes[x]
            keys[owner, to] = some_keys[x]
            made[owner] = to + 1
    return begin


@kernel
def listen_part(cells, places, keys, nodes, made, target, pending, queue, count):
    """The other half of a thread's part: give its cells the messages places[:made]. Returns the queue's new count."""
    address = np.uint64(cells.ctypes.data)
    for begin in range(0, made, CHUNK):
        size = min(CHUNK, made - begin)
        end = min(begin + 2 * CHUNK, made)
        for x in range(begin + size, end):
            prefetch(address + np.uint64(places[x] << 2))
        count = listen(
            cells,
            places[begin : begin + size],
            keys[begin : begin + size],
            nodes[begin : begin + size],
            size,
            np.uint32(target + 128),
            np.uint32(pending),
            queue,
            count,
        )
    return count


# -- one level --------------------------------------------------------------------------------------------------------

QUEUE_SHARE = 64
"""One configuration in so many finds room in a queue; when more become stable in a round they are looked for."""
QUEUE_SHARE_THREADS = 16
"""The same for several threads, which can share only rounds that a queue holds."""
QUEUE_LEAST = 1024
"""A queue's smallest size."""
PARALLEL_ROUND = 20_000
"""Rounds with fewer nodes are not worth two threads."""
MESSAGES = 1 << 17


def solve_level(
    rows: Rows,
    n: int,
    addresses: NDArray[np.uint64],
    *,
    threads: int = 1,
    report: Callable[[float], None] = lambda share: None,
) -> NDArray[np.uint32]:
    """Return the cells of level n after convergence: uint32 (configurations,).

    Args:
        rows: tables of at least n seeds.
        n: seeds on the board.
        addresses: uint64, where the int8 scores of each level below n - 1 begin.
        threads: how many work together.
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
            lambda part, low, high: initialise(
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
        capacity = size // (QUEUE_SHARE if threads == 1 else QUEUE_SHARE_THREADS) + QUEUE_LEAST
        self.queues = np.empty((2, capacity + 1), np.int64)
        self.most = int(np.diff(rows.parent_start).max(initial=0))
        room = CHUNK * self.most + 1
        self.messages = (np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint32))
        # Equal shares of configurations: of rows in their own order, and of the table.
        lengths = rows.first[n + 1 - rows.sums[:count].astype(np.int64)] - rows.first[n - rows.sums[:count]]
        shares = [size * part // threads for part in range(1, threads)]
        self.row_bounds = [0, *np.searchsorted(np.cumsum(lengths), shares).tolist(), count]
        self.order_bounds = [0, *np.searchsorted(base[order], shares).tolist(), count]
        starts = np.append(base[order], np.int64(size))
        self.splits = starts[self.order_bounds[:-1]].astype(np.int64)
        if threads > 1:
            space = max(MESSAGES, 2 * room)
            self.parts = [
                (
                    np.empty((threads, space), np.int64),
                    np.empty((threads, space), np.int64),
                    np.empty((threads, space), np.uint32),
                    np.zeros(threads, np.int64),
                )
                for _ in range(threads)
            ]
            self.part_queues = [np.empty(capacity + 1, np.int64) for _ in range(threads)]

    def spread(self, pool: ThreadPoolExecutor, task: Callable[[int, int, int], Any], bounds: list[int]) -> list[Any]:
        """Run task(part, bounds[part], bounds[part + 1]) in each thread."""
        if self.threads == 1:
            return [task(0, bounds[0], bounds[1])]
        return list(pool.map(task, range(self.threads), bounds[:-1], bounds[1:]))

    def run_pass(self, pool: ThreadPoolExecutor, target: int) -> None:
        """One pass: what has the bound `target` becomes stable, and all that follows from it."""
        rows, capacity = self.rows, self.queues.shape[1] - 1
        queues = [self.queues[0]] if self.threads == 1 else self.part_queues
        counts = self.spread(
            pool,
            lambda part, low, high: (
                start_pass(
                    self.n, target, low, high, rows.first, rows.sums, self.order, self.base, self.cells, queues[part]
                )
                if low < high
                else 0
            ),
            self.order_bounds,
        )
        pending, count = 0x10, self._gather(counts)
        while count:
            if self.threads > 1 and PARALLEL_ROUND < count <= capacity:
                count = self._round(pool, target, pending, count)
                pending = 0x30 - pending
                continue
            # A frontier beyond the queue takes one serial round, then threads may go on.
            limit = (1 << 39) if self.threads == 1 else PARALLEL_ROUND
            result = converge(
                self.n,
                target,
                pending,
                count,
                max(limit, count),
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
                *self.messages,
            )
            pending, count = result >> 40, result & ((1 << 40) - 1)

    def _gather(self, counts: list[int]) -> int:
        """Join the threads' queues in the common one; more than fits is only counted."""
        total, capacity = sum(counts), self.queues.shape[1] - 1
        if self.threads > 1 and total <= capacity:
            place = 0
            for queue, count in zip(self.part_queues, counts, strict=True):
                self.queues[0, place : place + count] = queue[:count]
                place += count
        return total

    def _round(self, pool: ThreadPoolExecutor, target: int, pending: int, count: int) -> int:
        """One round by all threads: tell and listen in turn, each thread the only one that changes its cells."""
        rows, threads = self.rows, self.threads
        bounds = [count * part // threads for part in range(threads + 1)]
        at = bounds[:-1]
        following = 0x30 - pending
        counts = [0] * threads
        barrier = threading.Barrier(threads)

        def work(part: int) -> None:
            while True:
                at[part] = tell_part(
                    at[part],
                    bounds[part + 1],
                    self.most,
                    self.splits,
                    rows.sums,
                    rows.rank,
                    rows.parent_start,
                    rows.parent_row,
                    rows.parent_code,
                    rows.unsown,
                    self.base,
                    self.cells,
                    self.queues[0],
                    *self.parts[part],
                )
                barrier.wait()
                for places, nodes, keys, made in self.parts:
                    counts[part] = listen_part(
                        self.cells,
                        places[part],
                        keys[part],
                        nodes[part],
                        made[part],
                        target,
                        following,
                        self.part_queues[part],
                        counts[part],
                    )
                over = at == bounds[1:]
                # Nobody tells again before all have listened, nor looks at `at` while it changes.
                barrier.wait()
                if over:
                    return

        def guarded(part: int) -> None:
            try:
                work(part)
            except threading.BrokenBarrierError:
                # Another thread failed; its own error is the one to raise.
                return
            except BaseException:
                barrier.abort()
                raise

        list(pool.map(guarded, range(threads)))
        return self._gather(counts)
