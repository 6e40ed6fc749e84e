"""How many lines pass through each cell, and the score of a grid made of it.

Source: `valeur_case` and `score` of the exercise "puissance 4" (Bac NSI 2026, Amérique du Nord).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from board_envs._bits import popcount
from board_envs.games.connect_four.rules import State, bit_index

_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def alignments(rows: int = 6, columns: int = 7, connect: int = 4) -> NDArray[np.int64]:
    """Return the number of lines of `connect` cells through each cell, rows from the top: int64 (rows, columns)."""
    counts = np.zeros((rows, columns), np.int64)
    for row in range(rows):
        for column in range(columns):
            for down, right in _DIRECTIONS:
                cells = [(row + i * down, column + i * right) for i in range(connect)]
                if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
                    for cell in cells:
                        counts[cell] += 1
    return counts


@functools.cache
def _masks(rows: int, columns: int, connect: int) -> tuple[tuple[int, np.uint64], ...]:
    """Return (value, cells that have it as a board), so that a score is one count a value."""
    counts, bits = alignments(rows, columns, connect), bit_index(rows, columns)
    return tuple(
        (int(value), np.uint64(sum(1 << bit for bit in bits[counts == value].tolist())))
        for value in np.unique(counts)
        if value
    )


def grid_score(state: State, rows: int = 6, columns: int = 7, connect: int = 4) -> int:
    """Return the lines through player_1's stones minus those through player_0's: player_1 wants it large."""
    total = 0
    for value, cells in _masks(rows, columns, connect):
        total += value * (popcount(state.player_1 & cells) - popcount(state.player_0 & cells))
    return total
