"""Connect Four's evaluation by lines through cells, and what a win is worth.

Source: the grid score and the win value 100 + 10 (levels left) of the exercise "puissance 4" (Bac NSI 2026, Amérique du
Nord).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from board_agents.search.evaluations import Evaluation, WinValue, weight_masks
from board_envs._bits import popcount
from board_envs._jit import jitable
from board_envs.game import Game
from board_envs.games.connect_four import alignments
from board_envs.games.connect_four.rules import bit_index


def grid(game: Game[Any]) -> Evaluation:
    """Lines through player_0's stones minus lines through player_1's: the source's score, sign changed."""
    rows, columns, connect = (game.parameters[key] for key in ("rows", "columns", "connect"))
    values, masks = weight_masks(alignments(rows, columns, connect), bit_index(rows, columns))
    kinds = len(values)

    @jitable
    def difference(state: Any) -> int:
        total = 0
        for kind in range(kinds):
            cells = masks[kind]
            total += int(values[kind]) * (popcount(state.player_0 & cells) - popcount(state.player_1 & cells))
        return total

    return difference


def grid_win_value(game: Game[Any]) -> WinValue:
    """100 on the source's board; on others more, if the lines through all good cells can reach 100."""
    size = tuple(game.parameters[key] for key in ("rows", "columns", "connect"))
    if size == (6, 7, 4):
        return WinValue(100, 10)
    counts = np.sort(alignments(*size).ravel())
    largest = int(counts[counts.size // 2 :].sum() - counts[: counts.size // 2].sum())
    return WinValue(max(100, 1 + largest), 10)
