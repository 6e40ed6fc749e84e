"""Reversi's evaluation by the classic weights of squares.

Source: the matrix evaluation of the Reversi problem (EPITA 2024).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.search.evaluations import Evaluation, weighted_cells
from board_envs.game import Game
from board_envs.games.reversi.rules import bit_index

_QUADRANT = ((100, -20, 10, 5), (-20, -50, -2, -2), (10, -2, -1, -1), (5, -2, -1, -1))
"""The classic weights of a quarter of a Reversi board, its corner first; smaller boards use its outer part."""


def square_weights(size: int) -> NDArray[np.int64]:
    """Return the weight of each Reversi square: int64 (size, size), symmetric, at most 100."""
    quarter = np.array(_QUADRANT, np.int64)[: size // 2, : size // 2]
    half = np.concatenate([quarter, quarter[:, ::-1]], axis=1)
    return np.concatenate([half, half[::-1]])


def weighted(game: Game[Any], weights: NDArray[np.int64]) -> Evaluation:
    """The source's sum of p[i][j] F[i][j], with `weights` for F: int64 (size, size)."""
    return weighted_cells(weights, bit_index(game.parameters["size"]))


def squares(game: Game[Any]) -> Evaluation:
    """The source's sum with F of `square_weights`."""
    return weighted(game, square_weights(game.parameters["size"]))
