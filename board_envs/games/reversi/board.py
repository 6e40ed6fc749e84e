"""The source's functions on a Reversi board: captures, playable and frontier squares, score, code, grid.

Source: the problem "Jeu de reversi" (EPITA 2024, Sciences du numérique). A square is (row, column), both from 0,
rows from the top; a grid p is indexed the same way, 1 where black stands, -1 where white does, 0 where nothing stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_envs._bits import ZERO, popcount
from board_envs.game import check_grid, ternary_code
from board_envs.games.reversi.moves import flipped, legal_moves, squares_of
from board_envs.games.reversi.rules import SIZES, State, bit_index, board_mask, start_discs
from board_envs.types import PositionError

DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
"""The eight directions as (row step, column step)."""

SCORING_RULES = ("plain", "empties-to-winner")
"""Names of the two ways to count a finished game; they never differ in who wins."""

_COLUMN_A = 0x0101010101010101
_WORD = (1 << 64) - 1


def check_square(square: Any, size: int) -> tuple[int, int]:
    """Return a (row, column) on the board as ints; ValueError otherwise."""
    if not isinstance(square, Sequence) or len(square) != 2:
        raise ValueError(f"a square is (row, column), not {square!r}")
    for part in square:
        if isinstance(part, bool) or not isinstance(part, (int, np.integer)) or not 0 <= part < size:
            raise ValueError(f"square {square!r}: row and column are integers from 0 to {size - 1}")
    return int(square[0]), int(square[1])


def square_name(square: tuple[int, int], size: int = 8) -> str:
    """Return the algebraic name of (row, column): (2, 3) is "d3"."""
    row, column = check_square(square, size)
    return f"{'abcdefgh'[column]}{row + 1}"


def square_of(name: str, size: int = 8) -> tuple[int, int]:
    """Return (row, column) of an algebraic name; "d3" and "D3" are (2, 3). ValueError if there is no such square."""
    letters, digits = "abcdefgh"[:size], "12345678"[:size]
    text = name.strip().lower() if isinstance(name, str) else ""
    if len(text) != 2 or text[0] not in letters or text[1] not in digits:
        raise ValueError(f"{name!r} is not a square; squares are a1 to {letters[-1]}{digits[-1]}")
    return digits.index(text[1]), letters.index(text[0])


def sides(state: State) -> tuple[np.uint64, np.uint64]:
    """Return the discs of the seat to move and of the other."""
    return (state.black, state.white) if state.seat == 0 else (state.white, state.black)


def playable_squares(state: State) -> list[tuple[int, int]]:
    """List the squares where the seat to move captures, row by row; none when the game is over."""
    return [divmod(bit, 8) for bit in squares_of(state.moves)]


def flipped_squares(state: State, square: tuple[int, int], size: int = 8) -> list[tuple[int, int]]:
    """List the discs, row by row, that the seat to move turns over by playing on `square`; none if it may not."""
    row, column = check_square(square, size)
    own, other = sides(state)
    bit = 8 * row + column
    if int(own | other) >> bit & 1:
        return []
    return [divmod(turned, 8) for turned in squares_of(flipped(own, other, bit))]


def capture_directions(state: State, square: tuple[int, int], size: int = 8) -> list[tuple[int, int]]:
    """List the directions (dx, dy) in which the seat to move captures by playing on `square`.

    A direction leads from the placed disc towards the captured ones: dx is the step of the row, dy that of the column.
    """
    return list(captures(state, square, size))


def captures(state: State, square: tuple[int, int], size: int = 8) -> dict[tuple[int, int], int]:
    """Return how many discs the seat to move turns over in each capture direction of `square`."""
    row, column = check_square(square, size)
    turned = set(flipped_squares(state, square, size))
    counts = {}
    for down, right in DIRECTIONS:
        length = 0
        while (row + (length + 1) * down, column + (length + 1) * right) in turned:
            length += 1
        if length:
            counts[down, right] = length
    return counts


def neighbours(word: np.uint64) -> np.uint64:
    """Return the squares next to a set one (8 directions), the set ones left out unless next to another."""
    value = int(word)
    left, right = value & ~_COLUMN_A, value & ~(_COLUMN_A << 7)
    found = left >> 1 | right << 1 | value >> 8 | value << 8
    found |= left >> 9 | left << 7 | right >> 7 | right << 9
    return np.uint64(found & _WORD)


def frontier_squares(state: State, size: int = 8) -> list[tuple[int, int]]:
    """List the empty squares with an occupied neighbour; the playable squares are among them."""
    occupied = state.black | state.white
    return [divmod(bit, 8) for bit in squares_of(neighbours(occupied) & ~occupied & board_mask(size))]


def check_scoring(rule: str) -> str:
    """Return the name of a scoring rule; ValueError lists both."""
    if rule not in SCORING_RULES:
        raise ValueError(f"unknown scoring rule {rule!r}; known rules: {', '.join(SCORING_RULES)}")
    return rule


def score(state: State, rule: str = "plain", size: int = 8) -> int:
    """Return black's result minus white's.

    Args:
        state: any position; a finished one for the game's score.
        rule: "plain", the source's: discs on the board; or "empties-to-winner", the habit of tournaments: whoever has
            more discs gets the empty squares too.
        size: of the board.

    """
    check_scoring(rule)
    black, white = popcount(state.black), popcount(state.white)
    difference = black - white
    if rule == "plain" or difference == 0:
        return difference
    empties = size * size - black - white
    return difference + empties if difference > 0 else difference - empties


def grid_of(state: State, size: int = 8) -> NDArray[np.int8]:
    """Return the grid p: int8 (size, size), 1 black, -1 white, 0 empty."""
    bits = bit_index(size)
    black, white = int(state.black), int(state.white)
    values = [[(black >> bit & 1) - (white >> bit & 1) for bit in row] for row in bits.tolist()]
    return np.array(values, np.int8)


def state_of(grid: Any, seat: int | None = None) -> State:
    """Return the position of a grid (size, size) of 1, -1 and 0.

    Args:
        grid: rows from the top.
        seat: who is to move, 0 (black) or 1; None takes black unless only white can move.

    Raises:
        PositionError: no game leads there; the message says why.

    """
    black, white, size = boards_of(grid)
    return check_position(black, white, seat, size)


def boards_of(grid: Any) -> tuple[np.uint64, np.uint64, int]:
    """Return black's board, white's board and the size of any grid of 1, -1 and 0, reachable or not.

    Raises:
        PositionError: it is no grid (size, size) of size 4, 6 or 8, or holds something else.

    """
    array = check_grid(grid, (1, -1, 0))
    size = len(array)
    if size not in SIZES or array.shape != (size, size):
        raise PositionError(f"a grid is square, 4, 6 or 8 wide, not of shape {array.shape}")
    bits = bit_index(size)
    black, white = (np.uint64(sum(1 << bit for bit in bits[array == value].tolist())) for value in (1, -1))
    return black, white, size


def check_position(black: np.uint64, white: np.uint64, seat: int | None, size: int) -> State:
    """Return the position of two boards; PositionError if it is impossible (see `state_of`).

    Refused are: an empty square in the centre; four discs that are not the starting ones; discs that do not hang
    together with the centre; and a seat to move that is blocked while the other is not, for it would have been skipped.
    """
    if seat not in (None, 0, 1):
        raise PositionError(f"the seat to move is 0 (black) or 1 (white), not {seat!r}")
    board = board_mask(size)
    start = start_discs(size)
    occupied = black | white
    discs = popcount(occupied)
    if discs < 4:
        raise PositionError(f"{discs} discs: a game has four from the beginning")
    centre = start[0] | start[1]
    if centre & ~occupied:
        names = ", ".join(square_name(divmod(bit, 8), size) for bit in squares_of(centre & ~occupied))
        raise PositionError(f"{names} in the centre cannot be empty: the game begins with discs there")
    if discs == 4 and ((black, white) != start or seat == 1):
        raise PositionError("four discs: that is the beginning, with its own colours and black to move")
    reached = centre
    while True:
        more = (neighbours(reached) | reached) & occupied
        if more == reached:
            break
        reached = more
    if reached != occupied:
        names = ", ".join(square_name(divmod(bit, 8), size) for bit in squares_of(occupied & ~reached))
        raise PositionError(f"the discs on {names} are cut off from the centre: every move touches another disc")
    moves = (legal_moves(black, white) & board, legal_moves(white, black) & board)
    if seat is None:
        seat = 1 if moves[0] == ZERO and moves[1] != ZERO else 0
    if moves[seat] == ZERO and moves[1 - seat] != ZERO:
        blocked, other = ("black", "white") if seat == 0 else ("white", "black")
        raise PositionError(f"{blocked} is to move but cannot, and {other} can: then it is {other}'s turn")
    return State(black, white, seat, moves[seat])


def encode(state: State, size: int = 8) -> int:
    """Return the source's code of a board, the sum of (p[i][j] + 1) 3^(size i + j): exact, up to 102 bits on 8 x 8."""
    return ternary_code(grid_of(state, size))


def encode_grid(grid: Any) -> int:
    """Return the code of any grid of 1, -1 and 0, reachable or not; PositionError if it holds something else."""
    return ternary_code(check_grid(grid, (1, -1, 0)))


def decode_grid(code: int, size: int = 8) -> NDArray[np.int8]:
    """Return the grid of a code, the inverse of `encode_grid`: int8 (size, size).

    Raises:
        PositionError: `code` is no integer from 0 to 3^(size * size) - 1.

    """
    cells = size * size
    if isinstance(code, bool) or not isinstance(code, (int, np.integer)) or not 0 <= code < 3**cells:
        raise PositionError(f"{code!r} is not a code of a {size} x {size} board: an integer from 0 to 3^{cells} - 1")
    rest, values = int(code), []
    for _ in range(cells):
        rest, digit = divmod(rest, 3)
        values.append(digit - 1)
    return np.array(values, np.int8).reshape(size, size)


def decode(code: int, seat: int | None = None, size: int = 8) -> State:
    """Return the position of a code; who is to move is not in it (see `state_of`, also for what is refused)."""
    return state_of(decode_grid(code, size), seat)
