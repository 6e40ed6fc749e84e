"""Awalé: sow a pit's seeds one by one anticlockwise, harvest what they complete to two or three.

Source: "Le jeu d'Awalé" (entrance exam of the French Écoles normales supérieures, 2016), rule set "tamale":

- the origin pit is skipped on every lap;
- a harvest begins where the last seed fell, in the opponent's row, while the pits hold 2 or 3, pit by pit backwards;
- a pit is playable if the opponent has a seed after sowing and harvest: one never takes all and must feed;
- a mover without a playable pit ends the game, and the opponent takes every seed on the board;
- a configuration (the board seen from the mover) that this game has seen before is a mat: each takes half of what is
  left, rounded down. An odd seed is nobody's: it stays in the mover's first pit, going round, that is not empty.

Rule set "abapa" is what OpenSpiel plays as `oware`: a move that would take all is played and takes nothing; feeding is
compulsory; the game ends when a store holds more than half of all seeds, when the mover has no legal move, or when a
board comes back with the same mover; then each takes the seeds of its own row.

A row is a uint64 of eight bits a pit, the seat's own first pit lowest. Seeds never exceed 127, so that the highest bit
of every byte is free and nothing carries from pit to pit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from board_envs._bits import (
    ONE,
    ZERO,
    add,
    as_int,
    bit_writer,
    byte_writer,
    clear_lowest,
    leading_zeros,
    lowest,
    multiply,
    nth_bit,
    popcount,
)
from board_envs._jit import compiled_as, jitable
from board_envs.types import Int8, Rules, Word, Words

RULESETS = ("tamale", "abapa")
SEEDS_LIMIT = 127
"""All seeds together: int8 observations, seven bits a pit."""
PITS_LIMIT = 8
SPARE = 32
"""Capacity of a new history."""

_BYTE, _SEEDS = np.uint64(255), np.uint64(127)
_UNITS = np.uint64(0x0101010101010101)
_THREES = np.uint64(0x0303030303030303)
_SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)
_TOPS = np.uint64(0x8080808080808080)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_GATHER = np.uint64(0x0102040810204080)
_FOUR_OR_MORE = np.uint64(0x7C7C7C7C7C7C7C7C)
_THREE_OR_MORE = np.uint64(0x7D7D7D7D7D7D7D7D)
"""Added to a row, it sets the top bits of pits with three seeds or more."""
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
"""Odd numbers without a pattern, for traces."""
_NTH = np.array(
    [[([b for b in range(8) if word >> b & 1] + [0] * 8)[k] for k in range(8)] for word in range(256)], np.int8
)
"""Which bit is the k-th of a byte, counted from 0."""


class State(NamedTuple):
    """A position with the part of its game that a repetition can match.

    ``history[start:length]``, uint64 (capacity, 2), holds the configurations before this one since the last harvest
    (earlier ones had more seeds and cannot come back): the mover's row, in "abapa" with the mover in bit 7, and the
    other's row. Entries are only appended: a search may use one array as its stack.
    """

    row0: Word
    row1: Word
    store0: int
    store1: int
    seat: int
    winner: int
    playable: Word
    """Bit i: the mover may play pit i; zero exactly when the game is over."""
    history: Words
    start: int
    length: int
    marks0: Word
    """Of every live entry, the bit that its trace's highest six bits name (others may be set too): most positions are
    distinguished from the whole history without reading it."""
    marks1: Word
    """The same with the next six bits."""

    def __eq__(self, other: object) -> bool:
        """Whether two states are the same position with the same live history."""
        if not isinstance(other, State):
            return False
        return self[:7] == other[:7] and np.array_equal(memory(self), memory(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:7])

    def __reduce__(self) -> tuple[type[State], tuple[Any, ...]]:
        """Pickle the live history alone, so that equal states have equal pickles."""
        return State, tuple(own(self))


def memory(state: State) -> Words:
    """Return the live entries of a state's history, a view: uint64 (n, 2)."""
    return state.history[state.start : state.length]


def own(state: State, spare: int = SPARE) -> State:
    """Return the state with its own copy of the live history and room for `spare` more entries."""
    live = state.length - state.start
    history = np.zeros((live + spare, 2), np.uint64)
    history[:live] = memory(state)
    return state._replace(history=history, start=0, length=live)


def _seen(history: Words, start: int, length: int, first: Word, second: Word) -> bool:
    # Backwards: repetitions mostly meet recent entries.
    for entry in range(length - 1, start - 1, -1):  # noqa: SIM110  # compiled code has no generators here
        if history[entry, 0] == first and history[entry, 1] == second:
            return True
    return False


@compiled_as(_seen)
def seen(history: Words, start: int, length: int, first: Word, second: Word) -> bool:
    """Whether an entry from `start` to before `length` equals (first, second)."""
    if start == length:
        return False
    live = history[start:length]
    return bool(((live[:, 0] == first) & (live[:, 1] == second)).any())


@jitable
def gather(row: Word) -> Word:
    """Return the top bits of a row's bytes: bit i is that of byte i."""
    return multiply((row & _TOPS) >> np.uint64(7), _GATHER) >> np.uint64(56)


@jitable
def trace(first: Word, second: Word) -> Word:
    """Hash an entry of the history; linear, so that a move adds a number to the trace."""
    return add(multiply(first, _FIRST), multiply(second, _SECOND))


@jitable
def mark0(hashed: Word) -> Word:
    """Return the bit of a trace in ``State.marks0``."""
    return ONE << (hashed >> np.uint64(58))


@jitable
def mark1(hashed: Word) -> Word:
    """Return the bit of a trace in ``State.marks1``."""
    return ONE << ((hashed >> np.uint64(52)) & np.uint64(63))


def _swapped_words(first: Word, second: Word, swap: int) -> tuple[Word, Word]:
    # No branch: which seat moves cannot be guessed.
    difference = (first ^ second) & np.uint64(-swap)
    return first ^ difference, second ^ difference


@compiled_as(_swapped_words)
def swapped_words(first: Word, second: Word, swap: int) -> tuple[Word, Word]:
    """Return two words, in the other order if `swap` is 1."""
    return (second, first) if swap else (first, second)


def _swapped(first: int, second: int, swap: int) -> tuple[int, int]:
    difference = (first ^ second) & -swap
    return first ^ difference, second ^ difference


@compiled_as(_swapped)
def swapped(first: int, second: int, swap: int) -> tuple[int, int]:
    """Return two numbers, in the other order if `swap` is 1."""
    return (second, first) if swap else (first, second)


@jitable
def seeds_in(row: Word) -> int:
    """Sum of a row's pits."""
    return as_int(multiply(row, _UNITS) >> np.uint64(56))


@jitable
def seeds_at(row: Word, pit: int) -> int:
    """Seeds in one pit."""
    return as_int((row >> np.uint64(8 * pit)) & _BYTE)


def row_of(pits: Any) -> Word:
    """Return the row that holds these seeds; the opposite of `pits_of`."""
    return np.uint64(sum(int(seeds) << (8 * pit) for pit, seeds in enumerate(pits)))


def pits_of(row: Word, pits: int) -> tuple[int, ...]:
    """Return the seeds of each pit of a row."""
    return tuple(int(row).to_bytes(8, "little")[:pits])


@dataclass(frozen=True)
class Moves:
    """What a move does to the two rows; each function is jitable.

    Attributes:
        sow: (mover's row, other's row, pit) -> (mover's row, other's row, all bits of the other's pits from the first
            to where the last seed fell, zero if it fell elsewhere); the pit is not empty.
        play: (mover's row, other's row, pit) -> (mover's row, other's row, gain): sowing and harvest, no rotation.
        playable: (mover's row, other's row) -> word; bit i says that pit i may be played.
        table: uint64 (8, 128, 4), for each pit and number of seeds in it: what sowing adds to the mover's row (the
            pit emptied before) and to the other's, the bits that `sow` returns, and what it adds to the trace of
            (other's row, mover's row). Eight pits and `_SEEDS` as mask: whatever a row is, no index is outside.

    """

    sow: Callable[[Word, Word, int], tuple[Word, Word, Word]]
    play: Callable[[Word, Word, int], tuple[Word, Word, int]]
    playable: Callable[[Word, Word], Word]
    table: Words


def make_table(pits: int) -> Words:
    """Return ``Moves.table``."""
    table = np.zeros((PITS_LIMIT, SEEDS_LIMIT + 1, 4), np.uint64)
    for pit in range(pits):
        mine = other = reached = 0
        place = pit
        for seeds in range(1, SEEDS_LIMIT + 1):
            place = (place + 1) % (2 * pits)
            if place == pit:
                place = (place + 1) % (2 * pits)
            if place < pits:
                mine, reached = mine + (1 << 8 * place), 0
            else:
                other, reached = other + (1 << 8 * (place - pits)), (1 << 8 * (place - pits + 1)) - 1
            added = (mine - (seeds << 8 * pit)) * int(_SECOND) + other * int(_FIRST)
            table[pit, seeds] = mine, other, reached, added % (1 << 64)
    return table


@functools.cache
def make_moves(pits: int, ruleset: str) -> Moves:
    """Return the moves for `pits` a side."""
    table = make_table(pits)
    # The top bit marks a lap or more, and what reaches the other's row.
    more_than_a_lap = np.uint64(0x80 - (2 * pits - 1)) * _UNITS
    reaching = np.uint64(sum((0x80 - (pits - pit)) << (8 * pit) for pit in range(pits)))
    # Rows whose pits all reach the other's pit number k - 1; none does for k = 0.
    filling = np.array(
        [_SEVENS, *(np.uint64(sum((pits - pit + k) << (8 * pit) for pit in range(pits))) for k in range(8))], np.uint64
    )
    takes_all = ruleset == "abapa"

    @jitable
    def sow(mine: Word, other: Word, pit: int) -> tuple[Word, Word, Word]:
        shift = np.uint64(8 * pit)
        seeds = (mine >> shift) & _SEEDS
        return (mine & ~(_BYTE << shift)) + table[pit, seeds, 0], other + table[pit, seeds, 1], table[pit, seeds, 2]

    def compiled_harvest(other: Word, reached: Word) -> tuple[Word, int]:
        # The lowest bit of a byte says that its pit holds neither 2 nor 3: all pits above the highest such byte are
        # harvested. No branches: they would be guessed wrong half of the time.
        kept = ((((other | _UNITS) ^ _THREES) + _SEVENS) & _TOPS & reached) >> np.uint64(7)
        taken = reached & ((_ALL << np.uint64(63 - leading_zeros(kept | ONE))) << np.uint64(8))
        if kept == ZERO:
            taken = reached
        return other & ~taken, seeds_in(other & taken)

    @compiled_as(compiled_harvest)
    def harvest(other: Word, reached: Word) -> tuple[Word, int]:
        gain = 0
        last = int(reached).bit_length() // 8 - 1
        while last >= 0:
            seeds = seeds_at(other, last)
            if seeds < 2 or seeds > 3:
                break
            other &= ~(_BYTE << np.uint64(8 * last))
            gain += seeds
            last -= 1
        return other, gain

    @jitable
    def play(mine: Word, other: Word, pit: int) -> tuple[Word, Word, int]:
        mine, sown, reached = sow(mine, other, pit)
        left, gain = harvest(sown, reached)
        if takes_all and left == ZERO:
            return mine, sown, 0
        return mine, left, gain

    @jitable
    def playable(mine: Word, other: Word) -> Word:
        # A pit with four seeds or more is no harvest: the opponent keeps it whatever is played.
        if other & _FOUR_OR_MORE != ZERO:
            return gather(mine + _SEVENS)
        if other == ZERO:
            word = gather(mine + reaching)
        else:
            word = gather(mine + _SEVENS)
        if takes_all:
            return word
        # Sowing less than a lap takes all if it ends in the last of the other's pits that hold seeds, these are the
        # first ones, without a gap, and hold one or two each.
        held = gather(other + _SEVENS)
        if held & (held + ONE) == ZERO and (other + _THREE_OR_MORE) & _TOPS == ZERO:
            word &= gather((mine ^ filling[popcount(held)]) + _SEVENS)
        laps = gather(mine + more_than_a_lap)
        while laps != ZERO:
            pit = lowest(laps)
            laps = clear_lowest(laps)
            if play(mine, other, pit)[1] != ZERO:
                word |= ONE << np.uint64(pit)
            else:
                word &= ~(ONE << np.uint64(pit))
        return word

    return Moves(sow, play, playable, table)


@functools.cache
def make_settle(pits: int, seeds: int, ruleset: str) -> Callable[..., State]:
    """Return the function that makes a State and ends the game where the rules end it.

    (mover's row, other's row, mover's store, other's store, mover, repeated, history, start, length, marks0, marks1)
    -> State
    """
    total = 2 * pits * seeds
    playable = make_moves(pits, ruleset).playable
    tamale = ruleset == "tamale"

    @jitable
    def settle(
        mine: Word,
        other: Word,
        store: int,
        other_store: int,
        seat: int,
        repeated: bool,
        history: Words,
        start: int,
        length: int,
        marks0: Word,
        marks1: Word,
    ) -> State:
        word = ZERO if repeated else playable(mine, other)
        if tamale:
            left = seeds_in(mine) + seeds_in(other)
            if repeated:
                store += left // 2
                other_store += left // 2
                # The odd seed stays in the first pit that is not empty.
                if left % 2 == 0:
                    mine, other = ZERO, ZERO
                elif mine != ZERO:
                    mine, other = ONE << np.uint64(lowest(mine) // 8 * 8), ZERO
                else:
                    other = ONE << np.uint64(lowest(other) // 8 * 8)
            elif word == ZERO:
                other_store += left
                mine, other = ZERO, ZERO
        elif word == ZERO or 2 * store > total or 2 * other_store > total:
            word = ZERO
            store += seeds_in(mine)
            other_store += seeds_in(other)
            mine, other = ZERO, ZERO
        winner = -1
        if word == ZERO:
            winner = 2 if store == other_store else seat if store > other_store else 1 - seat
        row0, row1 = swapped_words(mine, other, seat)
        store0, store1 = swapped(store, other_store, seat)
        return State(row0, row1, store0, store1, seat, winner, word, history, start, length, marks0, marks1)

    return settle


@functools.cache
def make_rules(pits: int, seeds: int, ruleset: str) -> Rules[State]:
    """Return the rules for `pits` a side and `seeds` a pit, at most 127 seeds in all."""
    moves = make_moves(pits, ruleset)
    play, table = moves.play, moves.table
    settle = make_settle(pits, seeds, ruleset)
    start_row = row_of([seeds] * pits)
    own_pits = np.uint64(sum(127 << (8 * pit) for pit in range(pits)))
    write_playable = bit_writer(np.arange(pits, dtype=np.intp))
    # Bytes of four words: the two rows, the two stores, and where a move would complete a mat.
    write_rows = byte_writer(np.array([[pit, 8 + pit, 16, 17, 24 + pit] for pit in range(pits)], np.intp))
    keep_mover = ruleset == "abapa"
    additions = table[:, :, 3].tolist()

    @jitable
    def entry(mine: Word, seat: int) -> Word:
        if keep_mover:
            return mine | np.uint64(seat << 7)
        return mine

    @jitable
    def initial() -> State:
        history = np.zeros((SPARE, 2), np.uint64)
        return settle(start_row, start_row, 0, 0, 0, False, history, 0, 0, ZERO, ZERO)

    @jitable
    def to_play(state: State) -> int:
        return state.seat

    @jitable
    def count(state: State) -> int:
        return popcount(state.playable)

    def compiled_nth(state: State, k: int) -> int:
        return np.int64(_NTH[state.playable, k])

    @compiled_as(compiled_nth)
    def nth(state: State, k: int) -> int:
        return nth_bit(state.playable, k)

    @jitable
    def is_legal(state: State, action: int) -> bool:
        return bool((state.playable >> np.uint64(action)) & ONE)

    @jitable
    def write_mask(state: State, out: Int8) -> None:
        write_playable(state.playable, out)

    @jitable
    def step_with_room(state: State, action: int) -> State:
        seat, history, start, length = state.seat, state.history, state.start, state.length
        mine, other = swapped_words(state.row0, state.row1, seat)
        store, other_store = swapped(state.store0, state.store1, seat)
        new_mine, new_other, gain = play(mine, other, action)
        # What a harvest makes worthless is written too, which costs less than to ask first.
        first = entry(mine, seat)
        history[length, 0] = first
        history[length, 1] = other
        hashed = trace(first, other)
        marks0, marks1 = state.marks0 | mark0(hashed), state.marks1 | mark1(hashed)
        length += 1
        if gain > 0:
            start = length
            marks0, marks1 = ZERO, ZERO
        seat = 1 - seat
        first = entry(new_other, seat)
        hashed = trace(first, new_mine)
        repeated = False
        if marks0 & mark0(hashed) != ZERO and marks1 & mark1(hashed) != ZERO:
            repeated = seen(history, start, length, first, new_mine)
        return settle(
            new_other, new_mine, other_store, store + gain, seat, repeated, history, start, length, marks0, marks1
        )

    @jitable
    def step(state: State, action: int) -> State:
        length = state.length
        if length < state.history.shape[0]:
            return step_with_room(state, action)
        history = np.zeros((2 * length + SPARE, 2), np.uint64)
        # Element by element: numba compiles seconds of error messages for the assignment of a slice.
        for i in range(length):
            history[i, 0] = state.history[i, 0]
            history[i, 1] = state.history[i, 1]
        return step_with_room(with_memory(state, history, state.start, length), action)

    @jitable
    def with_memory(state: State, history: Words, start: int, length: int) -> State:
        return State(
            state.row0,
            state.row1,
            state.store0,
            state.store1,
            state.seat,
            state.winner,
            state.playable,
            history,
            start,
            length,
            state.marks0,
            state.marks1,
        )

    @jitable
    def winner(state: State) -> int:
        return state.winner

    @jitable
    def margin(state: State) -> int:
        return state.store0 - state.store1

    def compiled_candidates(state: State, mine: Word, other: Word) -> Word:
        # The position itself can repeat, as those in the history can.
        seat = state.seat
        hashed = trace(entry(mine, seat), other)
        marks0, marks1 = state.marks0 | mark0(hashed), state.marks1 | mark1(hashed)
        hashed = trace(entry(other, 1 - seat), mine)
        word = ZERO
        for pit in range(pits):
            after = hashed + table[pit, (mine >> np.uint64(8 * pit)) & _SEEDS, 3]
            both = (marks0 >> (after >> np.uint64(58))) & (marks1 >> ((after >> np.uint64(52)) & np.uint64(63)))
            word |= (both & ONE) << np.uint64(pit)
        return word & state.playable

    @compiled_as(compiled_candidates)
    def candidates(state: State, mine: Word, other: Word) -> Word:
        """Return the pits that may repeat a position of the history, a superset of those that do."""
        seat = state.seat
        hashed = trace(entry(mine, seat), other)
        marks0, marks1 = int(state.marks0 | mark0(hashed)), int(state.marks1 | mark1(hashed))
        start, left, word = int(trace(entry(other, 1 - seat), mine)), int(state.playable), 0
        for pit, held in enumerate(pits_of(mine, pits)):
            if left >> pit & 1:
                after = (start + additions[pit][held]) & 0xFFFFFFFFFFFFFFFF
                word |= (marks0 >> (after >> 58) & marks1 >> (after >> 52 & 63) & 1) << pit
        return np.uint64(word)

    @jitable
    def repeats(state: State, mine: Word, other: Word) -> Word:
        """Return 1 in the bytes of the pits that would complete a mat."""
        seat = state.seat
        word = ZERO
        left = candidates(state, mine, other)
        while left != ZERO:
            pit = lowest(left)
            left = clear_lowest(left)
            new_mine, new_other, gain = play(mine, other, pit)
            if gain == 0:
                first = entry(new_other, 1 - seat)
                if (first == entry(mine, seat) and new_mine == other) or seen(
                    state.history, state.start, state.length, first, new_mine
                ):
                    word |= ONE << np.uint64(8 * pit)
        return word

    @jitable
    def observe(state: State, seat: int, out: Int8) -> None:
        mine, other = swapped_words(state.row0, state.row1, seat)
        store, other_store = swapped(state.store0, state.store1, seat)
        marked = repeats(state, mine, other) if seat == state.seat else ZERO
        write_rows(mine, other, np.uint64(store) | np.uint64(other_store) << np.uint64(8), marked, out)

    @jitable
    def pack(state: State, out: Words) -> None:
        out[0] = state.row0
        out[1] = state.row1
        out[2] = (
            np.uint64(state.seat)
            | np.uint64(state.winner + 1) << ONE
            | state.playable << np.uint64(8)
            | np.uint64(state.store0) << np.uint64(16)
            | np.uint64(state.store1) << np.uint64(24)
        )
        out[3] = np.uint64(state.start) | np.uint64(state.length) << np.uint64(32)
        out[4] = state.marks0
        out[5] = state.marks1

    @jitable
    def unpack(words: Words, memory: Words) -> State:
        facts, extent = words[2], words[3]
        # Whatever the words are, the live entries stay within the memory.
        length = min(as_int(extent >> np.uint64(32)), memory.shape[0])
        return State(
            words[0],
            words[1],
            as_int((facts >> np.uint64(16)) & _BYTE),
            as_int((facts >> np.uint64(24)) & _BYTE),
            as_int(facts & ONE),
            as_int((facts >> ONE) & np.uint64(3)) - 1,
            (facts >> np.uint64(8)) & _BYTE,
            memory,
            as_int(extent & np.uint64(0xFFFFFFFF)),
            length,
            words[4],
            words[5],
        )

    @jitable
    def memory_length(state: State) -> int:
        return state.length

    @jitable
    def compact(state: State) -> State:
        live = max(state.length - state.start, 0)
        if state.start > 0:
            for i in range(live):
                state.history[i, 0] = state.history[state.start + i, 0]
                state.history[i, 1] = state.history[state.start + i, 1]
        return with_memory(state, state.history, 0, live)

    @jitable
    def is_sound(state: State) -> bool:
        left = 0
        for pit in range(pits):
            left += seeds_at(state.row0, pit) + seeds_at(state.row1, pit)
        if ((state.row0 | state.row1) & ~own_pits) != ZERO or left + state.store0 + state.store1 != 2 * pits * seeds:
            return False
        if not (0 <= state.seat <= 1 and -1 <= state.winner <= 2 and state.store0 >= 0 and state.store1 >= 0):
            return False
        row = state.row0 if state.seat == 0 else state.row1
        if (state.playable & ~gather((row & _SEVENS) + _SEVENS)) != ZERO:
            return False
        if not 0 <= state.start <= state.length <= state.history.shape[0]:
            return False
        # The history holds this game's boards, with as many seeds as are left now, all of them marked.
        for k in range(state.start, state.length):
            first, other = state.history[k, 0], state.history[k, 1]
            hashed = trace(first, other)
            if (state.marks0 & mark0(hashed)) == ZERO or (state.marks1 & mark1(hashed)) == ZERO:
                return False
            if keep_mover:
                if as_int((first >> np.uint64(7)) & ONE) != (state.seat + state.length - k) % 2:
                    return False
                first &= ~np.uint64(128)
            if ((first | other) & ~own_pits) != ZERO or (
                state.winner < 0 and seeds_in(first) + seeds_in(other) != left
            ):
                return False
        return True

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
        words=6,
        has_memory=True,
        memory_words=3,
        memory_length=memory_length,
        compact=compact,
        step_with_room=step_with_room,
        is_sound=is_sound,
    )
