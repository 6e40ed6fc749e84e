"""Bit constants of one Connect Four size, used by the solver's compiled code.

Boards are those of the rules (`board_envs.games.connect_four.rules`): one column after the other, each with one empty
sentinel bit on top. "Own" is always the side to move.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from board_envs._bits import ONE, ZERO, clear_lowest, popcount
from board_envs._jit import Kernel, jitable, kernel
from board_envs.games.connect_four.rules import make_has_line
from board_envs.types import Words


@dataclass(frozen=True)
class Geometry:
    """Constants of one size; words are np.uint64.

    Attributes:
        height: bits of a column, the sentinel included.
        cells: number of cells.
        board: all cells.
        bottom: the lowest cell of each column.
        column: the cells of the first column.
        paired: the cells that the side to move gets while its opponent answers each move right above, an even number
            of cells being empty (see `search`).

    """

    rows: int
    columns: int
    connect: int
    height: int
    cells: int
    board: np.uint64
    bottom: np.uint64
    column: np.uint64
    paired: np.uint64

    @property
    def key_bits(self) -> int:
        """Number of bits of a position's key."""
        return self.height * self.columns


@functools.cache
def geometry(rows: int, columns: int, connect: int) -> Geometry:
    """Return the constants of a size."""
    height = rows + 1

    def each_column(bits: int) -> np.uint64:
        return np.uint64(sum(bits << (column * height) for column in range(columns)))

    paired = sum(1 << row for row in range(rows) if (rows - row) % 2 == 0)
    return Geometry(
        rows=rows,
        columns=columns,
        connect=connect,
        height=height,
        cells=rows * columns,
        board=each_column((1 << rows) - 1),
        bottom=each_column(1),
        column=np.uint64((1 << rows) - 1),
        paired=each_column(paired),
    )


@functools.cache
def make_winning_squares(rows: int, connect: int) -> Callable[[np.uint64], np.uint64]:
    """Return the function from stones to the squares that complete a line of `connect` with them.

    The result may contain occupied squares and bits off the board: callers mask it.
    """
    height = rows + 1
    others = connect - 1

    @jitable
    def along(stones: np.uint64, step: int) -> np.uint64:
        # A square completes a line when i stones in a row lie right below it (in this direction) and the others - i
        # missing ones right above it.
        below = stones << np.uint64(step)
        squares = ZERO
        for i in range(others):
            # The line needs the squares 1 .. others - i above, together with i below.
            above = ~ZERO
            for j in range(1, others - i + 1):
                above = above & (stones >> np.uint64(step * j))
            for j in range(1, i + 1):
                above = above & (stones << np.uint64(step * j))
            squares = squares | above
        for j in range(2, others + 1):
            below = below & (stones << np.uint64(step * j))
        return squares | below

    @jitable
    def winning_squares(stones: np.uint64) -> np.uint64:
        squares = stones << ONE
        for j in range(2, connect):
            squares = squares & (stones << np.uint64(j))
        # A direction in which a line spans 64 bits or more fits no board, and such shifts are undefined.
        if height * others < 64:
            squares = squares | along(stones, height)
        if (height - 1) * others < 64:
            squares = squares | along(stones, height - 1)
        if (height + 1) * others < 64:
            squares = squares | along(stones, height + 1)
        return squares

    return winning_squares


@functools.cache
def make_safe_replies(rows: int, columns: int, connect: int) -> Callable[[np.uint64, np.uint64], np.uint64]:
    """Return the function from (squares that win for the opponent, occupied) to moves that do not lose at once.

    No bit is set when every move loses: two squares to block, or a win right above each move.
    """
    facts = geometry(rows, columns, connect)
    board, bottom = facts.board, facts.bottom

    @jitable
    def safe_replies(threats: np.uint64, occupied: np.uint64) -> np.uint64:
        possible = (occupied + bottom) & board
        forced = possible & threats
        moves = (possible if forced == ZERO else forced) & ~(threats >> ONE)
        return moves if clear_lowest(forced) == ZERO else ZERO

    return safe_replies


PROBLEMS = ("stones off the board", "floating stones", "wrong numbers of stones", "the game is over")


@functools.cache
def make_fault(rows: int, columns: int, connect: int) -> Kernel[..., int]:
    """Return the compiled search for the first row of uint64 (n, 2), own and all stones, that is not an open position.

    It returns the row's index times len(PROBLEMS) plus the problem's; -1 when all rows are fine.
    """
    facts = geometry(rows, columns, connect)
    board, bottom = facts.board, facts.bottom
    has_line = make_has_line(rows, connect)

    def fault(positions: Words) -> int:
        for i in range(positions.shape[0]):
            own, mask = positions[i, 0], positions[i, 1]
            if (mask & ~board) | (own & ~mask) != ZERO:
                return 4 * i
            if (mask + bottom) & mask & ~bottom != ZERO:
                return 4 * i + 1
            if popcount(own) != popcount(mask) // 2:
                return 4 * i + 2
            if mask == board or has_line(own) or has_line(own ^ mask):
                return 4 * i + 3
        return -1

    return kernel(fault)


def mirror(words: Words, rows: int, columns: int) -> Words:
    """Return boards (or keys) with the columns in reverse order; uint64 of any shape."""
    height = rows + 1
    column_bits = np.uint64((1 << height) - 1)
    image = np.zeros_like(words)
    for column in range(columns):
        bits = (words >> np.uint64(column * height)) & column_bits
        image |= bits << np.uint64((columns - 1 - column) * height)
    return image


def has_lines(stones: Words, rows: int, connect: int) -> NDArray[np.bool_]:
    """Whether boards hold `connect` in a line: bool, the shape of `stones`."""
    height = rows + 1
    found = np.zeros(stones.shape, np.bool_)
    for step in (1, height - 1, height, height + 1):
        if step * (connect - 1) < 64:
            runs = stones
            for i in range(1, connect):
                runs = runs & (stones >> np.uint64(step * i))
            found |= runs != 0
    return found
