"""Connect Four: gravity, alternate stones, first line of `connect` wins, a full board without one is a draw.

Source: the exercise "puissance 4" (Bac NSI 2026, Amérique du Nord), whose board is 6 rows by 7 columns.

A board is a uint64, one column after the other, each `rows` bits from the bottom up and one bit that stays empty (the
sentinel), so that shifted boards do not join across columns: bit = column * (rows + 1) + height.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from board_envs._bits import ONE, ZERO, as_int, bit_writer, nth_bit, plane_writer, popcount
from board_envs._jit import compiled_as, jitable
from board_envs.types import Int8, Rules, Words


class State(NamedTuple):
    """A position; `winner` and `seat` follow from the stones and are cached because every ply needs them."""

    player_0: np.uint64
    player_1: np.uint64
    seat: int
    winner: int


def bit_index(rows: int, columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]:
    """Return the bit of each cell, rows from the top: intp (rows, columns)."""
    heights = np.arange(rows - 1, -1, -1, dtype=np.intp)
    return heights[:, None] + np.arange(columns, dtype=np.intp)[None, :] * (rows + 1)


@functools.cache
def make_has_line(rows: int, connect: int) -> Callable[[np.uint64], bool]:
    """Return the test for `connect` stones in a line (four directions) on boards of `rows` rows."""
    height = rows + 1

    @jitable
    def has_line_along(stones: np.uint64, step: int) -> bool:
        # Doubling: after the loop a set bit begins a run of `length` stones.
        length = 1
        while 2 * length <= connect:
            stones = stones & (stones >> np.uint64(step * length))
            length *= 2
        if length < connect:
            stones = stones & (stones >> np.uint64(step * (connect - length)))
        return bool(stones != ZERO)

    # A line that spans 64 bits or more fits no board, and compiled shifts by 64 bits or more are undefined.
    steps = tuple(step for step in (1, height, height - 1, height + 1) if step * (connect - 1) < 64)

    def compiled_has_line(stones: np.uint64) -> bool:
        for step in steps:  # noqa: SIM110  # numba compiles the loop
            if has_line_along(stones, step):
                return True
        return False

    # The same doubling, ready for Python integers: they are twice as fast as scalars of numpy.
    lengths = [1 << k for k in range(connect.bit_length() - 1)]
    if sum(lengths) + 1 < connect:
        lengths.append(connect - sum(lengths) - 1)
    shifts = [[step * length for length in lengths] for step in steps]

    @compiled_as(compiled_has_line)
    def has_line(stones: np.uint64) -> bool:
        value = int(stones)
        if value.bit_count() < connect:
            return False
        for along in shifts:
            runs = value
            for shift in along:
                runs &= runs >> shift
            if runs:
                return True
        return False

    return has_line


@functools.cache
def make_rules(rows: int, columns: int, connect: int) -> Rules[State]:
    """Return the rules for one size; 64 bits must hold ``(rows + 1) * columns``."""
    height = rows + 1
    full = np.uint64(sum(((1 << rows) - 1) << (column * height) for column in range(columns)))
    top = np.uint64(sum(1 << (column * height + rows - 1) for column in range(columns)))
    write_board = plane_writer(bit_index(rows, columns))
    write_tops = bit_writer(np.arange(columns, dtype=np.intp) * height + rows - 1)
    # Further entries stand for the columns that `nth` returns when there is none.
    bottoms = np.zeros(64 // height + 1, np.uint64)
    bottoms[:columns] = [1 << (column * height) for column in range(columns)]
    has_line = make_has_line(rows, connect)

    @jitable
    def initial() -> State:
        return State(ZERO, ZERO, 0, -1)

    @jitable
    def to_play(state: State) -> int:
        return state.seat

    @jitable
    def open_tops(state: State) -> np.uint64:
        if state.winner >= 0:
            return ZERO
        return ~(state.player_0 | state.player_1) & top

    @jitable
    def count(state: State) -> int:
        return popcount(open_tops(state))

    @jitable
    def nth(state: State, k: int) -> int:
        return nth_bit(open_tops(state), k) // height

    @jitable
    def is_legal(state: State, action: int) -> bool:
        return bool((open_tops(state) >> np.uint64(action * height + rows - 1)) & ONE)

    @jitable
    def write_mask(state: State, out: Int8) -> None:
        write_tops(open_tops(state), out)

    @jitable
    def step(state: State, action: int) -> State:
        occupied = state.player_0 | state.player_1
        stone = (occupied + bottoms[action]) & ~occupied
        if state.seat == 0:
            mine = state.player_0 | stone
            player_0, player_1 = mine, state.player_1
        else:
            mine = state.player_1 | stone
            player_0, player_1 = state.player_0, mine
        # The line is looked for before the full board: the last stone can win.
        winner = -1
        if has_line(mine):
            winner = state.seat
        elif (occupied | stone) == full:
            winner = 2
        return State(player_0, player_1, 1 - state.seat, winner)

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
        if seat == 0:
            write_board(state.player_0, state.player_1, out)
        else:
            write_board(state.player_1, state.player_0, out)

    @jitable
    def pack(state: State, out: Words) -> None:
        out[0] = state.player_0
        out[1] = state.player_1
        out[2] = np.uint64(state.seat + 2 * (state.winner + 1))

    @jitable
    def unpack(words: Words, memory: Words) -> State:
        return State(words[0], words[1], as_int(words[2] & ONE), as_int(words[2] >> ONE) - 1)

    @jitable
    def is_sound(state: State) -> bool:
        on_board = ((state.player_0 | state.player_1) & ~full) == ZERO and (state.player_0 & state.player_1) == ZERO
        return on_board and 0 <= state.seat <= 1 and -1 <= state.winner <= 2

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
        words=3,
        is_sound=is_sound,
    )
