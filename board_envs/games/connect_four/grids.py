"""Grids of the source: rows from the top, 0 empty, 1 the first player's stone (player_0), 2 the second's.

Source: the class `Grille` of the exercise "puissance 4" (Bac NSI 2026, Amérique du Nord).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_envs.game import check_grid, check_int
from board_envs.games.connect_four.notation import ConnectFourNotation
from board_envs.games.connect_four.rules import State, bit_index
from board_envs.types import PositionError

_CELLS = "-XO"


def grid_of(state: State, rows: int = 6, columns: int = 7) -> NDArray[np.int8]:
    """Return the grid of a position: int8 (rows, columns), row 0 at the top."""
    bits = bit_index(rows, columns).astype(np.uint64)
    first, second = (np.uint64(board) >> bits & np.uint64(1) for board in (state.player_0, state.player_1))
    return (first + np.uint64(2) * second).astype(np.int8)


def state_of(grid: Any, connect: int = 4) -> State:
    """Return the position of a grid (rows, columns) of 0, 1 and 2; the number of stones says who is to move.

    Raises:
        PositionError: it is no grid, or no game leads there; the message says why.

    """
    array = check_grid(grid, (0, 1, 2))
    rows, columns = array.shape
    if (rows + 1) * columns > 64:
        raise PositionError(f"a grid of {rows} x {columns} does not fit 64 bits: (rows + 1) * columns <= 64")
    check_int("connect-four", "connect", connect, 2, max(rows, columns), f" on {rows} x {columns}")
    text = "/".join("".join(_CELLS[int(cell)] for cell in row) for row in array)
    return ConnectFourNotation(rows, columns, connect).parse(text)
