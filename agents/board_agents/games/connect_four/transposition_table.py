"""The transposition table: exact key, both bounds of a score, best move and search effort, in one word.

A line is 64 bytes: eight words, one for each of eight positions. The key of a position (at most 64 bits) goes through
a bijection; its upper bits select the line and the rest is stored in the word, so that keys never
collide. Words are read and written atomically, so that threads may share a table.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from board_envs._bits import ZERO, as_int, multiply
from board_envs._jit import jitable
from board_envs.types import Words

WordFunction: TypeAlias = Callable[..., np.uint64]
WordToInt: TypeAlias = Callable[[np.uint64], int]

LINE = 8
HUGE_PAGE = 1 << 21
SMALL_INDEX_BITS = 14
"""Cache lines of the small table, as a power of two: 1 MiB, which fits in a core's own cache."""


@dataclass(frozen=True)
class Layout:
    """Layout of a word: key | move | upper bound | lower bound | work; in bits.

    Bounds are stored plus `offset`, moves plus one (0: no move).
    """

    key_bits: int
    payload_bits: int
    move_bits: int
    score_bits: int
    work_bits: int
    offset: int


@functools.cache
def layout(key_bits: int, cells: int, columns: int) -> Layout:
    """Return the layout for one size; fields that do not fit are dropped, work first."""
    payload = min(40, 64 - key_bits + SMALL_INDEX_BITS)
    offset = cells // 2 + 2
    score = (2 * offset).bit_length()
    room = payload - 2 * score
    move = columns.bit_length() if room >= columns.bit_length() else 0
    work = min(6, room - move)
    assert work >= 0
    return Layout(key_bits, payload, move, score, work, offset)


@functools.cache
def make_table(
    facts: Layout,
) -> tuple[WordFunction, WordFunction, WordFunction, Callable[..., None]]:
    """Return (scatter, line_of, probe, store) for words of one layout.

    scatter(key) is the bijection; line_of(index_bits, scattered) the index of a line's first word; probe(table,
    index_bits, scattered) the payload or 0; store(table, index_bits, scattered, payload) overwrites the same
    position's word or the one of the line with the least work.
    """
    key_bits = facts.key_bits
    key_mask = np.uint64((1 << key_bits) - 1)
    half = np.uint64(key_bits // 2)
    payload_bits = np.uint64(facts.payload_bits)
    payload_mask = np.uint64((1 << facts.payload_bits) - 1)
    work_mask = np.uint64((1 << facts.work_bits) - 1)
    factor = np.uint64(0x9E3779B97F4A7C15)

    @jitable
    def scatter(key: np.uint64) -> np.uint64:
        key = multiply(key, factor) & key_mask
        key = key ^ (key >> half)
        return multiply(key, factor) & key_mask

    @jitable
    def line_of(index_bits: np.uint64, scattered: np.uint64) -> np.uint64:
        return (scattered >> (np.uint64(key_bits) - index_bits)) << np.uint64(3)

    @jitable
    def probe(table: Words, index_bits: np.uint64, scattered: np.uint64) -> np.uint64:
        rest_bits = np.uint64(key_bits) - index_bits
        line = line_of(index_bits, scattered)
        tag = scattered & ((np.uint64(1) << rest_bits) - np.uint64(1))
        found = ZERO
        for i in range(LINE):
            word = table[line + np.uint64(i)]
            if word >> payload_bits == tag:
                found = word
        return found & payload_mask

    @jitable
    def store(table: Words, index_bits: np.uint64, scattered: np.uint64, payload: np.uint64) -> None:
        rest_bits = np.uint64(key_bits) - index_bits
        line = line_of(index_bits, scattered)
        tag = scattered & ((np.uint64(1) << rest_bits) - np.uint64(1))
        place = line
        least = ~ZERO
        for i in range(LINE):
            word = table[line + np.uint64(i)]
            work = (word & work_mask) + np.uint64(1)
            if word == ZERO or word >> payload_bits == tag:
                work = ZERO
            if work < least:
                least = work
                place = line + np.uint64(i)
        table[place] = (tag << payload_bits) | payload

    return scatter, line_of, probe, store


@functools.cache
def make_payload(facts: Layout) -> tuple[Callable[..., np.uint64], WordToInt, WordToInt, WordToInt]:
    """Return (pack, lower_of, upper_of, move_of) for payloads of one layout; a move is a column, -1 if unknown."""
    score_bits, move_bits, work_bits, offset = facts.score_bits, facts.move_bits, facts.work_bits, facts.offset
    score_mask = np.uint64((1 << score_bits) - 1)
    move_mask = np.uint64((1 << move_bits) - 1)
    most_work = (1 << work_bits) - 1
    move_shift = np.uint64(2 * score_bits + work_bits)
    upper_shift = np.uint64(score_bits + work_bits)
    lower_shift = np.uint64(work_bits)

    @jitable
    def pack(lower: int, upper: int, move: int, work: int) -> np.uint64:
        return (
            (np.uint64(move + 1) << move_shift if move_bits > 0 else ZERO)
            | (np.uint64(upper + offset) << upper_shift)
            | (np.uint64(lower + offset) << lower_shift)
            | np.uint64(min(work, most_work))
        )

    @jitable
    def lower_of(payload: np.uint64) -> int:
        return as_int((payload >> lower_shift) & score_mask) - offset

    @jitable
    def upper_of(payload: np.uint64) -> int:
        return as_int((payload >> upper_shift) & score_mask) - offset

    @jitable
    def move_of(payload: np.uint64) -> int:
        return as_int((payload >> move_shift) & move_mask) - 1

    return pack, lower_of, upper_of, move_of
