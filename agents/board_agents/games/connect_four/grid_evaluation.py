"""Connect Four's evaluation by lines through cells, and the value of a win.

Source: the grid score and the win value 100 + 10 (levels left) of the exercise "puissance 4" (Bac NSI 2026, Amérique du
Nord).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.search.evaluations import Evaluation, WinValue, weighted_cells
from board_envs.game import Game
from board_envs.games.connect_four import alignments
from board_envs.games.connect_four.rules import bit_index


def weighted(game: Game[Any], weights: NDArray[np.int64]) -> Evaluation:
    """The sum of the weights under player_0's stones minus the sum under player_1's; int64 (rows, columns)."""
    return weighted_cells(weights, bit_index(game.parameters["rows"], game.parameters["columns"]))


def grid(game: Game[Any]) -> Evaluation:
    """Lines through player_0's stones minus lines through player_1's: the source's score, sign changed."""
    return weighted(game, alignments(*(game.parameters[key] for key in ("rows", "columns", "connect"))))


def grid_win_value(game: Game[Any]) -> WinValue:
    """100 on the source's board; on others more, if the lines through all good cells can reach 100."""
    size = tuple(game.parameters[key] for key in ("rows", "columns", "connect"))
    if size == (6, 7, 4):
        return WinValue(100, 10)
    counts = np.sort(alignments(*size).ravel())
    largest = int(counts[counts.size // 2 :].sum() - counts[: counts.size // 2].sum())
    return WinValue(max(100, 1 + largest), 10)
