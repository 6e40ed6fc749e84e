"""Reversi: place a disc that captures in at least one direction; a player without a move is skipped.

Source: the problem "Jeu de reversi" (EPITA 2024, Sciences du numérique), played on 8 x 8. Black (player_0) begins with
discs on d5 and e4, white has d4 and e5. The game ends when neither player can move, whatever squares are still empty;
the outcome is the plain difference of discs.

A board is a uint64, bit = 8 * row + column with rows from the top, for every size (see `moves`); an action is
row * size + column. There is no action for a pass: a mover whose move leaves the next player none moves again.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from board_envs._bits import ONE, ZERO, as_int, bit_writer, nth_bit, plane_writer, popcount
from board_envs._jit import jitable
from board_envs.games.reversi.moves import flipped, legal_moves
from board_envs.types import Int8, Rules, Words

SIZES = (4, 6, 8)


class State(NamedTuple):
    """A position; `moves`, where `seat` can play, follows from the rest; zero when the game is over."""

    black: np.uint64
    white: np.uint64
    seat: int
    moves: np.uint64


def bit_index(size: int) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]:
    """Return the bit of each square, rows from the top: intp (size, size)."""
    return np.arange(size, dtype=np.intp)[:, None] * 8 + np.arange(size, dtype=np.intp)[None, :]


def board_mask(size: int) -> np.uint64:
    """Return the squares of a board of that size."""
    return np.uint64(sum(((1 << size) - 1) << (8 * row) for row in range(size)))


def start_discs(size: int) -> tuple[np.uint64, np.uint64]:
    """Return black's and white's two discs in the centre."""
    up = size // 2 - 1
    black = (1 << (8 * up + up + 1)) | (1 << (8 * (up + 1) + up))
    white = (1 << (8 * up + up)) | (1 << (8 * (up + 1) + up + 1))
    return np.uint64(black), np.uint64(white)


@functools.cache
def make_rules(size: int) -> Rules[State]:
    """Return the rules for one size, 4, 6 or 8."""
    board = board_mask(size)
    black_start, white_start = start_discs(size)
    first_moves = legal_moves(black_start, white_start) & board
    cells = bit_index(size)
    write_board, write_squares = plane_writer(cells), bit_writer(cells.ravel())
    gap = 8 - size

    @jitable
    def initial() -> State:
        return State(black_start, white_start, 0, first_moves)

    @jitable
    def to_play(state: State) -> int:
        return state.seat

    @jitable
    def count(state: State) -> int:
        return popcount(state.moves)

    @jitable
    def nth(state: State, k: int) -> int:
        bit = nth_bit(state.moves, k) & 63
        return bit - (bit >> 3) * gap

    @jitable
    def is_legal(state: State, action: int) -> bool:
        return bool((state.moves >> np.uint64(action + action // size * gap)) & ONE)

    @jitable
    def write_mask(state: State, out: Int8) -> None:
        write_squares(state.moves, out)

    @jitable
    def step(state: State, action: int) -> State:
        square = action + action // size * gap
        disc = ONE << np.uint64(square)
        if state.seat == 0:
            turned = flipped(state.black, state.white, square)
            black = state.black | disc | turned
            white = state.white & ~turned
            own, other = black, white
        else:
            turned = flipped(state.white, state.black, square)
            white = state.white | disc | turned
            black = state.black & ~turned
            own, other = white, black
        seat = 1 - state.seat
        moves = legal_moves(other, own) & board
        if moves == ZERO:
            again = legal_moves(own, other) & board
            if again != ZERO:
                return State(black, white, state.seat, again)
        return State(black, white, seat, moves)

    @jitable
    def margin(state: State) -> int:
        return popcount(state.black) - popcount(state.white)

    @jitable
    def winner(state: State) -> int:
        if state.moves != ZERO:
            return -1
        difference = popcount(state.black) - popcount(state.white)
        if difference > 0:
            return 0
        if difference < 0:
            return 1
        return 2

    @jitable
    def observe(state: State, seat: int, out: Int8) -> None:
        if seat == 0:
            write_board(state.black, state.white, out)
        else:
            write_board(state.white, state.black, out)

    @jitable
    def pack(state: State, out: Words) -> None:
        out[0] = state.black
        out[1] = state.white
        out[2] = np.uint64(state.seat)
        out[3] = state.moves

    @jitable
    def unpack(words: Words, memory: Words) -> State:
        # Moves and seat are indices of tables: whatever the words are, they stay within them.
        return State(words[0], words[1], as_int(words[2] & ONE), words[3] & board)

    @jitable
    def is_sound(state: State) -> bool:
        occupied = state.black | state.white
        if (occupied & ~board) != ZERO or (state.black & state.white) != ZERO or not 0 <= state.seat <= 1:
            return False
        if state.seat == 0:
            moves = legal_moves(state.black, state.white) & board
        else:
            moves = legal_moves(state.white, state.black) & board
        return moves == state.moves

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
        is_sound=is_sound,
    )
