"""Nim: take any number of objects, at least one, from one heap; normal play: who takes the last object wins.

Source: the notebook "Implémentation du jeu de Nim" (heaps 3, 4, 5; the last object wins). With `misere` it loses.

The heaps are eight bits each in one uint64, heap 0 lowest. Action numbers are dense: those of heap h follow those of
the heaps before it, and taking c objects is ``sum(initial heaps before h) + c - 1``.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from board_envs._bits import ONE, ZERO, as_int, byte_writer
from board_envs._jit import jitable
from board_envs.types import Int8, Rules, Words


class State(NamedTuple):
    """A position: the heaps, and the seat to act."""

    heaps: np.uint64
    seat: int


@functools.cache
def make_rules(heaps: tuple[int, ...], misere: bool) -> Rules[State]:
    """Return the rules for these initial heaps, at most 8 of at most 127 objects."""
    number = len(heaps)
    start = np.uint64(sum(size << (8 * heap) for heap, size in enumerate(heaps)))
    bases = np.concatenate([[0], np.cumsum(heaps)]).astype(np.int64)
    # It goes on beyond the actions, so that heaps of any eight bits lead to no index outside.
    heap_of = np.pad(np.repeat(np.arange(number), heaps), (0, 256), constant_values=number - 1).astype(np.int64)
    heap_sizes = np.array(heaps, np.int64)
    write_heaps = byte_writer(np.arange(number, dtype=np.intp))
    last_object_wins = not misere

    @jitable
    def size_of(state: State, heap: int) -> int:
        return as_int((state.heaps >> np.uint64(8 * heap)) & np.uint64(255))

    @jitable
    def initial() -> State:
        return State(start, 0)

    @jitable
    def to_play(state: State) -> int:
        return state.seat

    @jitable
    def count(state: State) -> int:
        total = 0
        for heap in range(number):
            total += size_of(state, heap)
        return total

    @jitable
    def nth(state: State, k: int) -> int:
        # The legal actions of a heap are its first `size` numbers.
        for heap in range(number):
            size = size_of(state, heap)
            if k < size:
                return as_int(bases[heap]) + k
            k -= size
        return -1

    @jitable
    def is_legal(state: State, action: int) -> bool:
        heap = as_int(heap_of[action])
        return action - as_int(bases[heap]) < size_of(state, heap)

    @jitable
    def write_mask(state: State, out: Int8) -> None:
        out[:] = 0
        for heap in range(number):
            base = as_int(bases[heap])
            out[base : base + size_of(state, heap)] = 1

    @jitable
    def step(state: State, action: int) -> State:
        heap = as_int(heap_of[action])
        taken = action - as_int(bases[heap]) + 1
        return State(state.heaps - (np.uint64(taken) << np.uint64(8 * heap)), 1 - state.seat)

    @jitable
    def winner(state: State) -> int:
        if state.heaps != ZERO:
            return -1
        return 1 - state.seat if last_object_wins else state.seat

    @jitable
    def margin(state: State) -> int:
        if state.heaps != ZERO:
            return 0
        return 1 - 2 * winner(state)

    @jitable
    def observe(state: State, seat: int, out: Int8) -> None:
        write_heaps(state.heaps, ZERO, ZERO, ZERO, out)

    @jitable
    def pack(state: State, out: Words) -> None:
        out[0] = state.heaps
        out[1] = np.uint64(state.seat)

    @jitable
    def unpack(words: Words, memory: Words) -> State:
        return State(words[0], as_int(words[1] & ONE))

    @jitable
    def is_sound(state: State) -> bool:
        left = state.heaps
        for heap in range(number):
            size = size_of(state, heap)
            if size > heap_sizes[heap]:
                return False
            left -= np.uint64(size) << np.uint64(8 * heap)
        return left == ZERO and 0 <= state.seat <= 1

    return Rules(
        initial,
        to_play,
        count,
        nth,
        is_legal,
        write_mask,
        step,
        winner,
        margin,
        observe,
        pack,
        unpack,
        words=2,
        is_sound=is_sound,
    )
