"""Phase 2: certain positions become stable and notify their parents.

In passes l = 0 .. n the configurations become stable whose bound is n - l, or that wait for no child any more. A pass
goes in rounds: positions that became stable in one round notify their parents in the next. A cell takes messages until
its own round begins, in any order, so that the result depends neither on the order nor on the number of threads.
"""

# numba infers the types of compiled functions.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from board_agents.games.awale.retrograde_workspace import CHUNK, DONE, EIGHT, MISSING, SIXTEEN, STATE, ZERO32
from board_agents.lowlevel.instructions import fetch_add, prefetch_to_write, swap
from board_envs._bits import ZERO, as_int, borrowed
from board_envs._jit import inlined, jitable, kernel

ROWS = 32
"""Rows in which a thread looks for stable cells before it takes the next ones."""
_PIECE = 256
"""Cells that are looked through at once for what begins a pass."""
_STRETCH = 64
"""Cells that are looked through at once for those whose round it is."""


@jitable
def enqueue(nodes, count, queue, counters):
    """Add nodes[:count] to a queue of which counters[1] entries are taken; more than it holds is only counted."""
    begin = fetch_add(np.uint64(counters.ctypes.data) + np.uint64(8), count)
    for x in range(min(count, queue.shape[0] - begin)):
        queue[begin + x] = nodes[x]


# -- what begins a pass -----------------------------------------------------------------------------------------------


@kernel
def start_pass(level, target, low, high):
    """Make stable what a pass begins with: its bound is `target`, or (in the first) no child is missing.

    For the other's rows order[low:high], which follow each other in the table. They go to queues[0], see `Level`.
    """
    level = borrowed(level)
    n, order, base, cells = level.seeds, level.order, level.base, level.cells
    found = np.zeros(_PIECE, np.int64)
    opening = target == n
    wanted = np.uint32((target + 128) << 16)
    mask = np.uint32(0x00FF0030)
    place = np.int64(base[order[low]])
    end = np.int64(cells.shape[0]) if high == order.shape[0] else np.int64(base[order[high]])
    block = low
    while place < end:
        piece = min(place + _PIECE, end)
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
            shift = level.first[n - np.int64(level.sums[other])] - np.int64(base[other])
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
        enqueue(found, count, level.queues[0], level.counters)


# -- a round: select nodes, tell their parents, let these hear --------------------------------------------------------


@inlined
def take(level, unsown, queue, count, chunk):
    """Select the next nodes of a queue of `count` into a thread's chunk; return how many they are."""
    taken = fetch_add(np.uint64(level.counters.ctypes.data), CHUNK)
    filled = max(0, min(CHUNK, count - taken))
    cells, row = np.uint64(level.cells.ctypes.data), np.uint64(unsown.ctypes.data)
    width = unsown.shape[1] * 4
    for x in range(filled):
        node = queue[taken + x]
        chunk[x] = node
        place = np.int64(level.base[node & 0xFFFFFFFF]) + np.int64(level.rank[node >> 32])
        prefetch_to_write(cells + np.uint64(place << 2))
        prefetch_to_write(row + np.uint64((node >> 32) * width))
    return filled


@inlined
def look_for(level, state, chunk, other, stop, k):
    """Select the next nodes by looking for cells in a state; return how many they are, and where to go on.

    A thread is at cell k of the block of row `other`, and its rows end before `stop`; then it takes the next ones.
    """
    first, cells = level.first, level.cells
    filled = 0
    while filled < CHUNK:
        if other >= stop:
            other = fetch_add(np.uint64(level.counters.ctypes.data), ROWS)
            stop = min(other + ROWS, first[level.seeds + 1])
            k = 0
            if other >= stop:
                break
        mine = level.seeds - np.int64(level.sums[other])
        begin = first[mine]
        start = np.int64(level.base[other])
        size = first[mine + 1] - begin
        while k < size and filled < CHUNK:
            if k + _STRETCH <= size:
                found = False
                for x in range(start + k, start + k + _STRETCH):
                    found |= (cells[x] & STATE) == state
                if not found:
                    k += _STRETCH
                    continue
            end = min(k + _STRETCH, size)
            while k < end and filled < CHUNK:
                if (cells[start + k] & STATE) == state:
                    chunk[filled] = ((begin + k) << 32) | other
                    filled += 1
                k += 1
        if k >= size:
            other += 1
            k = 0
    return filled, other, stop, k


@inlined
def tell_parents(level, parents, scratch, filled):
    """Mark chunk[:filled] done and write the messages to their quiet parents; return how many there are."""
    base, cells = level.base, level.cells
    places, nodes = scratch.places, scratch.nodes
    address = np.uint64(cells.ctypes.data)
    made = 0
    for x in range(filled):
        mover, other = scratch.chunk[x] >> 32, scratch.chunk[x] & 0xFFFFFFFF
        here = np.int64(base[other]) + np.int64(level.rank[mover])
        cell = cells[here]
        cells[here] = cell | DONE
        score = np.int64(cell >> SIXTEEN) - 128
        depth = np.int64((cell >> EIGHT) & np.uint32(255)) + 1
        key = np.uint32(((128 - score) << 8) | min(depth, 255))
        seeds = np.int64(level.sums[mover])
        if seeds == 0:
            continue
        begin = made
        for k in range(parents.start[other], parents.start[other + 1]):
            way = np.int64(parents.code[k])
            if way >> 1 > seeds:
                break
            # Without a branch: a row that no quiet sowing made is written too, and overwritten by the next.
            found = np.int64(parents.unsown[mover, way >> 1])
            row = max(found, 0) >> 1
            own = np.int64(parents.row[k])
            places[made] = np.int64(base[row]) + np.int64(level.rank[own])
            nodes[made] = (own << 32) | row
            scratch.keys[made] = key
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

    `pending` (0x10 or 0x20) is the state of the `count` cells whose round it is. They are in its queue if that has room
    for them all; otherwise they are looked for. counters[0], 0 before the round, is how far the threads have come: each
    takes the next piece as soon as it can. What becomes stable goes to the other queue, counted by counters[1].
    """

    @inlined
    def listen(cells, scratch, made, wanted, pending):
        """Apply the messages; move the nodes that became stable to the front and return how many they are."""
        places, keys, nodes = scratch.places, scratch.keys, scratch.nodes
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

    @inlined
    def run(level, parents, scratch, target, pending, count):
        wanted, state, next_state = np.uint32(target + 128), np.uint32(pending), np.uint32(0x30 - pending)
        queue, following = level.queues[pending >> 5], level.queues[1 - (pending >> 5)]
        looked_for = count > queue.shape[0]
        # No constants: numba would compile `look_for` once more for them.
        other = stop = k = as_int(ZERO)
        while True:
            if looked_for:
                filled, other, stop, k = look_for(level, state, scratch.chunk, other, stop, k)
            else:
                filled = take(level, parents.unsown, queue, count, scratch.chunk)
            if filled == 0:
                break
            made = tell_parents(level, parents, scratch, filled)
            found = listen(level.cells, scratch, made, wanted, next_state)
            enqueue(scratch.nodes, found, following, level.counters)

    return run


_run_alone, _run_shared = _make_round(shared=False), _make_round(shared=True)


@kernel
def converge(level, parents, scratch, target, pending, count, limit):
    """Rounds of one pass by one thread, while there are 1 to `limit` cells whose round it is.

    Returns their state and leaves their number in counters[1]; they are in queues[state >> 5].
    """
    level, parents, scratch = borrowed(level), borrowed(parents), borrowed(scratch)
    while 0 < count <= limit:
        level.counters[:] = 0
        _run_alone(level, parents, scratch, target, pending, count)
        count = level.counters[1]
        pending = 0x30 - pending
    return pending


@kernel
def share_round(level, parents, scratch, target, pending, count):
    """One thread's part of one round."""
    _run_shared(borrowed(level), borrowed(parents), borrowed(scratch), target, pending, count)
