"""Hex: players place stones by turns; player_0 wins by joining top and bottom, player_1 by joining left and right.

Sources: Piet Hein (1942) and John Nash (1948) for the game; a full board has exactly one winner, so there is no draw
(Gale, "The game of Hex and the Brouwer fixed-point theorem", American Mathematical Monthly 86, 1979).

Cells are numbered row by row from the top left, number = row * size + column. A cell touches those beside it in its
row, those above and below it in its column, and the two on the diagonal from bottom left to top right. A set of cells
is two words: cells 0 to 63 in `low`, the others in `high`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from board_envs.authoring import (
    ONE,
    ZERO,
    Int8,
    Rules,
    Words,
    as_int,
    compiled_as,
    jitable,
    nth_bit,
    popcount,
    write_bits,
)

Cells: TypeAlias = tuple[np.uint64, np.uint64]
"""A set of cells: (low, high)."""
_WORD = (1 << 64) - 1


class State(NamedTuple):
    """A position; `winner` follows from the stones and is kept because it is asked for at every ply."""

    low_0: np.uint64
    high_0: np.uint64
    low_1: np.uint64
    high_1: np.uint64
    seat: int
    winner: int


def words_of(cells: Iterable[int]) -> Cells:
    """Return a set of cells as two words."""
    board = sum(1 << cell for cell in cells)
    return np.uint64(board & _WORD), np.uint64(board >> 64)


class Geometry(NamedTuple):
    """Functions on sets of cells of one size, all jitable."""

    flood: Callable[[np.uint64, np.uint64, np.uint64, np.uint64], Cells]
    """(low, high of the start; low, high of where to go) -> what is reached from the start, itself included."""
    joins: Callable[[np.uint64, np.uint64, int, int], bool]
    """(low, high of a seat's stones, one stone, seat) -> whether the stone's group touches both of the seat's sides."""
    distance: Callable[[np.uint64, np.uint64, np.uint64, np.uint64, int], int]
    """(low, high of a seat's stones, of the other's, seat) -> how many more stones the seat needs to join its sides."""


@functools.cache
def make_geometry(size: int) -> Geometry:
    """Return the functions of one size."""
    cells = size * size
    board_low, board_high = words_of(range(cells))
    # Without the first and without the last column: from there a step to the side leads off the board.
    not_first_low, not_first_high = not_first_words = words_of(cell for cell in range(cells) if cell % size > 0)
    not_last_low, not_last_high = not_last_words = words_of(cell for cell in range(cells) if cell % size < size - 1)
    top_low, top_high = words_of(range(size))
    bottom_low, bottom_high = words_of(range(cells - size, cells))
    left_low, left_high = words_of(range(0, cells, size))
    right_low, right_high = words_of(range(size - 1, cells, size))

    @jitable
    def up(low: np.uint64, high: np.uint64, by: int) -> Cells:
        """Add `by`, 1 to 63, to each cell's number."""
        return low << np.uint64(by), (high << np.uint64(by)) | (low >> np.uint64(64 - by))

    @jitable
    def down(low: np.uint64, high: np.uint64, by: int) -> Cells:
        """Subtract `by`, 1 to 63, from each cell's number."""
        return (low >> np.uint64(by)) | (high << np.uint64(64 - by)), high >> np.uint64(by)

    @jitable
    def neighbours(low: np.uint64, high: np.uint64) -> Cells:
        """Return the cells that touch a set."""
        right = up(low & not_last_low, high & not_last_high, 1)
        left = down(low & not_first_low, high & not_first_high, 1)
        below = up(low, high, size)
        above = down(low, high, size)
        below_left = up(low & not_first_low, high & not_first_high, size - 1)
        above_right = down(low & not_last_low, high & not_last_high, size - 1)
        return (
            (right[0] | left[0] | below[0] | above[0] | below_left[0] | above_right[0]) & board_low,
            (right[1] | left[1] | below[1] | above[1] | below_left[1] | above_right[1]) & board_high,
        )

    def compiled_flood(low: np.uint64, high: np.uint64, within_low: np.uint64, within_high: np.uint64) -> Cells:
        while True:
            near = neighbours(low, high)
            next_low = low | (near[0] & within_low)
            next_high = high | (near[1] & within_high)
            if next_low == low and next_high == high:
                return low, high
            low, high = next_low, next_high

    not_first, not_last = (int(low) | int(high) << 64 for low, high in (not_first_words, not_last_words))

    @compiled_as(compiled_flood)
    def flood(low: np.uint64, high: np.uint64, within_low: np.uint64, within_high: np.uint64) -> Cells:
        # Interpreted, one Python integer is several times faster than two words.
        reached, within = int(low) | int(high) << 64, int(within_low) | int(within_high) << 64
        while True:
            inner, outer = reached & not_first, reached & not_last
            near = outer << 1 | inner >> 1 | reached << size | reached >> size | inner << size - 1 | outer >> size - 1
            grown = reached | near & within
            if grown == reached:
                return np.uint64(reached & _WORD), np.uint64(reached >> 64)
            reached = grown

    @jitable
    def touches_first(low: np.uint64, high: np.uint64, seat: int) -> bool:
        if seat == 0:
            return ((low & top_low) | (high & top_high)) != ZERO
        return ((low & left_low) | (high & left_high)) != ZERO

    @jitable
    def touches_second(low: np.uint64, high: np.uint64, seat: int) -> bool:
        if seat == 0:
            return ((low & bottom_low) | (high & bottom_high)) != ZERO
        return ((low & right_low) | (high & right_high)) != ZERO

    @jitable
    def joins(low: np.uint64, high: np.uint64, stone: int, seat: int) -> bool:
        start_low = ONE << np.uint64(stone) if stone < 64 else ZERO
        start_high = ONE << np.uint64(stone - 64) if stone >= 64 else ZERO
        group = flood(start_low, start_high, low, high)
        return touches_first(group[0], group[1], seat) and touches_second(group[0], group[1], seat)

    @jitable
    def distance(low: np.uint64, high: np.uint64, other_low: np.uint64, other_high: np.uint64, seat: int) -> int:
        side_low = top_low if seat == 0 else left_low
        side_high = top_high if seat == 0 else left_high
        empty_low = board_low & ~(low | other_low)
        empty_high = board_high & ~(high | other_high)
        reached = flood(low & side_low, high & side_high, low, high)
        for stones in range(cells):
            if touches_second(reached[0], reached[1], seat):
                return stones
            # One stone more, wherever it helps: next to what is reached, or on the side itself.
            near = neighbours(reached[0], reached[1])
            further_low = reached[0] | ((near[0] | side_low) & empty_low)
            further_high = reached[1] | ((near[1] | side_high) & empty_high)
            reached = flood(further_low, further_high, low, high)
        return cells  # The other player's stones block every way.

    return Geometry(flood, joins, distance)


@functools.cache
def make_rules(size: int, swap: bool) -> Rules[State]:
    """Return the rules of one size. With `swap`, the action after those of the cells is to swap."""
    cells = size * size
    board_low, board_high = words_of(range(cells))
    in_low = min(cells, 64)
    low_bits, high_bits = np.arange(in_low, dtype=np.intp), np.arange(cells - in_low, dtype=np.intp)
    joins = make_geometry(size).joins

    @jitable
    def initial() -> State:
        return State(ZERO, ZERO, ZERO, ZERO, 0, -1)

    @jitable
    def to_play(state: State) -> int:
        return state.seat

    @jitable
    def free(state: State) -> Cells:
        """Return the cells that can be played: the empty ones, none when the game is over."""
        if state.winner >= 0:
            return ZERO, ZERO
        return board_low & ~(state.low_0 | state.low_1), board_high & ~(state.high_0 | state.high_1)

    @jitable
    def can_swap(state: State) -> bool:
        if not swap or state.seat == 0 or (state.low_1 | state.high_1) != ZERO:
            return False
        return popcount(state.low_0) + popcount(state.high_0) == 1

    @jitable
    def count(state: State) -> int:
        low, high = free(state)
        return popcount(low) + popcount(high) + (1 if can_swap(state) else 0)

    @jitable
    def nth(state: State, k: int) -> int:
        low, high = free(state)
        lower = popcount(low)
        if k < lower:
            return nth_bit(low, k)
        if k - lower < popcount(high):
            return 64 + nth_bit(high, k - lower)
        return cells

    @jitable
    def is_legal(state: State, action: int) -> bool:
        if action == cells:
            return can_swap(state)
        low, high = free(state)
        if action < 64:
            return ((low >> np.uint64(action)) & ONE) == ONE
        return ((high >> np.uint64(action - 64)) & ONE) == ONE

    @jitable
    def write_mask(state: State, out: Int8) -> None:
        low, high = free(state)
        write_bits(low, low_bits, out[:in_low])
        if cells > 64:
            write_bits(high, high_bits, out[in_low:cells])
        if swap:
            out[cells] = 1 if can_swap(state) else 0

    @jitable
    def step(state: State, action: int) -> State:
        if action == cells:
            stone = nth_bit(state.low_0, 0) if state.low_0 != ZERO else 64 + nth_bit(state.high_0, 0)
            mirrored = stone % size * size + stone // size
            low = ONE << np.uint64(mirrored) if mirrored < 64 else ZERO
            high = ONE << np.uint64(mirrored - 64) if mirrored >= 64 else ZERO
            return State(ZERO, ZERO, low, high, 0, -1)
        low = ONE << np.uint64(action) if action < 64 else ZERO
        high = ONE << np.uint64(action - 64) if action >= 64 else ZERO
        if state.seat == 0:
            low, high = low | state.low_0, high | state.high_0
            winner = 0 if joins(low, high, action, 0) else -1
            return State(low, high, state.low_1, state.high_1, 1, winner)
        low, high = low | state.low_1, high | state.high_1
        winner = 1 if joins(low, high, action, 1) else -1
        return State(state.low_0, state.high_0, low, high, 0, winner)

    @jitable
    def winner(state: State) -> int:
        return state.winner

    @jitable
    def margin(state: State) -> int:
        if state.winner == 0:
            return 1
        if state.winner == 1:
            return -1
        return 0

    @jitable
    def observe(state: State, seat: int, out: Int8) -> None:
        planes = out.reshape(cells, 3)
        own, other = (0, 1) if seat == 0 else (1, 0)
        write_bits(state.low_0, low_bits, planes[:in_low, own])
        write_bits(state.low_1, low_bits, planes[:in_low, other])
        if cells > 64:
            write_bits(state.high_0, high_bits, planes[in_low:, own])
            write_bits(state.high_1, high_bits, planes[in_low:, other])
        planes[:, 2] = seat  # whose sides are whose: the stones alone do not show it

    @jitable
    def pack(state: State, out: Words) -> None:
        out[0] = state.low_0
        out[1] = state.high_0
        out[2] = state.low_1
        out[3] = state.high_1
        out[4] = np.uint64(state.seat + 2 * (state.winner + 1))

    @jitable
    def unpack(words: Words, memory: Words) -> State:
        return State(words[0], words[1], words[2], words[3], as_int(words[4] & ONE), as_int(words[4] >> ONE) - 1)

    @jitable
    def is_sound(state: State) -> bool:
        outside = ((state.low_0 | state.low_1) & ~board_low) | ((state.high_0 | state.high_1) & ~board_high)
        shared = (state.low_0 & state.low_1) | (state.high_0 & state.high_1)
        return (outside | shared) == ZERO and 0 <= state.seat <= 1 and -1 <= state.winner <= 1

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
        words=5,
        is_sound=is_sound,
    )
