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
    as_int,
    clear_lowest,
    leading_zeros,
    lowest,
    multiply,
    nth_bit,
    popcount,
    write_bits,
)
from board_envs._jit import compiled_as, jitable
from board_envs.types import Int8, Rules, Word, Words

RULESETS = ("tamale", "abapa")
SEEDS_LIMIT = 127
"""All seeds together: int8 observations, seven bits a pit."""
PITS_LIMIT = 8
SPARE = 32
"""How many entries a fresh memory has room for."""

_BYTE = np.uint64(255)
_UNITS = np.uint64(0x0101010101010101)
_THREES = np.uint64(0x0303030303030303)
_SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)
_TOPS = np.uint64(0x8080808080808080)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_GATHER = np.uint64(0x0102040810204080)
_FOUR_OR_MORE = np.uint64(0x7C7C7C7C7C7C7C7C)


class State(NamedTuple):
    """A position with the part of its game that a repetition can meet again.

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

    def __eq__(self, other: object) -> bool:
        """Whether two states are the same position with the same live memory."""
        if not isinstance(other, State):
            return False
        return self[:7] == other[:7] and np.array_equal(memory(self), memory(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:7])


def memory(state: State) -> Words:
    """Return the live entries of a state's memory, a view: uint64 (n, 2)."""
    return state.history[state.start : state.length]


def own(state: State, spare: int = SPARE) -> State:
    """Return the state with its own copy of the live memory and room for `spare` more entries."""
    live = state.length - state.start
    history = np.empty((live + spare, 2), np.uint64)
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


def _write_rows(mine: Word, other: Word, store: int, other_store: int, out: Int8) -> None:
    for pit in range(out.shape[0]):
        out[pit, 0] = np.int8(mine >> np.uint64(8 * pit) & _BYTE)
        out[pit, 1] = np.int8(other >> np.uint64(8 * pit) & _BYTE)
        out[pit, 2] = np.int8(store)
        out[pit, 3] = np.int8(other_store)
        out[pit, 4] = np.int8(0)


@compiled_as(_write_rows)
def write_rows(mine: Word, other: Word, store: int, other_store: int, out: Int8) -> None:
    """Write both rows and both stores, and zeros in the last plane; out int8 (pits, 5)."""
    out[:, :2] = np.array((mine, other), "<u8").view(np.int8).reshape(2, 8)[:, : out.shape[0]].T
    out[:, 2], out[:, 3], out[:, 4] = store, other_store, 0


@jitable
def gather(row: Word) -> Word:
    """Return the top bits of a row's bytes: bit i is that of byte i."""
    return multiply((row & _TOPS) >> np.uint64(7), _GATHER) >> np.uint64(56)


@jitable
def origin(mine: Word, after: Word) -> Word:
    """Return, as a bit, the one pit whose sowing (of less than a lap) could turn the mover's row into `after`, or zero.

    Sowing empties the pit and leaves the pits before it alone.
    """
    pit = lowest(mine ^ after) >> 3
    if pit == 8 or (after >> np.uint64(8 * pit)) & _BYTE != ZERO:
        return ZERO
    return ONE << np.uint64(pit)


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
        sow: (mover's row, other's row, pit) -> (mover's row, other's row, the other's pit where the last seed fell or
            -1); the pit is not empty.
        play: (mover's row, other's row, pit) -> (mover's row, other's row, gain): sowing and harvest, no rotation.
        playable: (mover's row, other's row) -> word; bit i says that pit i may be played.

    """

    sow: Callable[[Word, Word, int], tuple[Word, Word, int]]
    play: Callable[[Word, Word, int], tuple[Word, Word, int]]
    playable: Callable[[Word, Word], Word]


@functools.cache
def make_moves(pits: int, ruleset: str) -> Moves:
    """Return the moves for `pits` a side."""
    lap = 2 * pits - 1
    own_once = np.zeros((pits, lap), np.uint64)
    other_once = np.zeros((pits, lap), np.uint64)
    for origin in range(pits):
        for seeds in range(lap):
            reached = [(origin + 1 + step) % (2 * pits) for step in range(seeds)]
            own_once[origin, seeds] = sum(1 << (8 * pit) for pit in reached if pit < pits)
            other_once[origin, seeds] = sum(1 << (8 * (pit - pits)) for pit in reached if pit >= pits)
    units = np.uint64(sum(1 << (8 * pit) for pit in range(pits)))
    takes_all = ruleset == "abapa"

    @jitable
    def sow(mine: Word, other: Word, pit: int) -> tuple[Word, Word, int]:
        shift = np.uint64(8 * pit)
        seeds = seeds_at(mine, pit)
        laps = seeds // lap
        rest = seeds - laps * lap
        mine = (mine & ~(_BYTE << shift)) + own_once[pit, rest]
        other = other + other_once[pit, rest]
        if laps > 0:
            mine += np.uint64(laps) * (units & ~(_BYTE << shift))
            other += np.uint64(laps) * units
        # After whole laps the last seed fell just before the origin.
        last = pit + rest - pits
        if rest == 0:
            last = pits - 1 if pit == 0 else -1
        if last >= pits:
            last = -1
        return mine, other, last

    def compiled_harvest(other: Word, last: int) -> tuple[Word, int]:
        # The top bit of a byte says that its pit holds neither 2 nor 3; how far up the last seed's pit the first such
        # byte is tells the number of pits harvested. No branches: they would be guessed wrong half of the time.
        kept = ((other | _UNITS) ^ _THREES) + _SEVENS & _TOPS
        place = max(last, 0)
        number = min(leading_zeros(kept << np.uint64(8 * (7 - place))) >> 3, last + 1)
        taken = (_ALL >> np.uint64(64 - 8 * max(number, 1))) << np.uint64(8 * (place + 1 - max(number, 1)))
        if number <= 0:
            taken = ZERO
        return other & ~taken, seeds_in(other & taken)

    @compiled_as(compiled_harvest)
    def harvest(other: Word, last: int) -> tuple[Word, int]:
        gain = 0
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
        mine, sown, last = sow(mine, other, pit)
        left, gain = harvest(sown, last)
        if takes_all and left == ZERO:
            return mine, sown, 0
        return mine, left, gain

    @jitable
    def playable(mine: Word, other: Word) -> Word:
        # A pit with four seeds or more is no harvest: the opponent keeps it whatever is played.
        fed = (other & _FOUR_OR_MORE) != ZERO
        if fed:
            return gather(mine + _SEVENS)
        word = ZERO
        for pit in range(pits):
            if (mine >> np.uint64(8 * pit)) & _BYTE != ZERO and play(mine, other, pit)[1] != ZERO:
                word |= ONE << np.uint64(pit)
        return word

    return Moves(sow, play, playable)


@functools.cache
def make_settle(pits: int, seeds: int, ruleset: str) -> Callable[..., State]:
    """Return the function that makes a State and ends the game where the rules end it.

    (mover's row, other's row, mover's store, other's store, mover, repeated, history, start, length) -> State
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
        if seat == 0:
            return State(mine, other, store, other_store, seat, winner, word, history, start, length)
        return State(other, mine, other_store, store, seat, winner, word, history, start, length)

    return settle


@functools.cache
def make_rules(pits: int, seeds: int, ruleset: str) -> Rules[State]:
    """Return the rules for `pits` a side and `seeds` a pit, at most 127 seeds in all."""
    moves = make_moves(pits, ruleset)
    play = moves.play
    settle = make_settle(pits, seeds, ruleset)
    start_row = row_of([seeds] * pits)
    more_than_a_lap = np.uint64(0x80 - (2 * pits - 1)) * _UNITS
    indices = np.arange(pits, dtype=np.intp)
    keep_mover = ruleset == "abapa"

    @jitable
    def entry(mine: Word, seat: int) -> Word:
        if keep_mover:
            return mine | np.uint64(seat << 7)
        return mine

    @jitable
    def initial() -> State:
        return settle(start_row, start_row, 0, 0, 0, False, np.empty((SPARE, 2), np.uint64), 0, 0)

    @jitable
    def to_play(state: State) -> int:
        return state.seat

    @jitable
    def count(state: State) -> int:
        return popcount(state.playable)

    @jitable
    def nth(state: State, k: int) -> int:
        return nth_bit(state.playable, k)

    @jitable
    def is_legal(state: State, action: int) -> bool:
        return bool((state.playable >> np.uint64(action)) & ONE)

    @jitable
    def write_mask(state: State, out: Int8) -> None:
        write_bits(state.playable, indices, out)

    @jitable
    def step(state: State, action: int) -> State:
        seat, history, start, length = state.seat, state.history, state.start, state.length
        if seat == 0:
            mine, other, store, other_store = state.row0, state.row1, state.store0, state.store1
        else:
            mine, other, store, other_store = state.row1, state.row0, state.store1, state.store0
        new_mine, new_other, gain = play(mine, other, action)
        if gain > 0:
            start = length
        else:
            if length == history.shape[0]:
                longer = np.empty((2 * length + SPARE, 2), np.uint64)
                longer[:length] = history
                history = longer
            history[length, 0] = entry(mine, seat)
            history[length, 1] = other
            length += 1
        seat = 1 - seat
        repeated = seen(history, start, length, entry(new_other, seat), new_mine)
        return settle(new_other, new_mine, other_store, store + gain, seat, repeated, history, start, length)

    @jitable
    def winner(state: State) -> int:
        return state.winner

    @jitable
    def margin(state: State) -> int:
        return state.store0 - state.store1

    @jitable
    def observe(state: State, seat: int, out: Int8) -> None:
        if seat == 0:
            mine, other, store, other_store = state.row0, state.row1, state.store0, state.store1
        else:
            mine, other, store, other_store = state.row1, state.row0, state.store1, state.store0
        write_rows(mine, other, store, other_store, out)
        if seat != state.seat:
            return
        # Only moves that leave the mover a row that was seen are looked at whole; a pit of a lap or more always is.
        candidates = gather(mine + more_than_a_lap) | origin(mine, other)
        for number in range(state.start, state.length):
            candidates |= origin(mine, state.history[number, 1])
        candidates &= state.playable
        current = entry(mine, seat)
        while candidates != ZERO:
            pit = lowest(candidates)
            candidates = clear_lowest(candidates)
            new_mine, new_other, gain = play(mine, other, pit)
            if gain == 0:
                first = entry(new_other, 1 - seat)
                if (first == current and new_mine == other) or seen(
                    state.history, state.start, state.length, first, new_mine
                ):
                    out[pit, 4] = 1

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

    @jitable
    def unpack(words: Words, memory: Words) -> State:
        facts, extent = words[2], words[3]
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
            as_int(extent >> np.uint64(32)),
        )

    @jitable
    def memory_length(state: State) -> int:
        return state.length

    @jitable
    def compact(state: State) -> State:
        live = state.length - state.start
        if state.start > 0:
            for i in range(live):
                state.history[i, 0] = state.history[state.start + i, 0]
                state.history[i, 1] = state.history[state.start + i, 1]
        return State(
            state.row0,
            state.row1,
            state.store0,
            state.store1,
            state.seat,
            state.winner,
            state.playable,
            state.history,
            0,
            live,
        )

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
        words=4,
        has_memory=True,
        memory_words=1,
        memory_length=memory_length,
        compact=compact,
    )
