"""Batches of states for those who write their own trainers: arrays in, arrays out, compiled.

A `States` holds B games as arrays. Nothing here is changed in place: each function returns new arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_envs.envs import kernels
from board_envs.game import Game
from board_envs.types import Int8, Words


def look(game: Game[Any], words: Words, memory: Words, seats: NDArray[np.int64] | None = None) -> tuple[Int8, Int8]:
    """Return what seats (None: the seat to move) see of packed states: int8 (B, shape), and masks int8 (B, n)."""
    count = words.shape[0]
    boards = np.empty((count, *game.observation_shape), np.int8)
    masks = np.empty((count, game.num_actions), np.int8)
    kernels.make_look(game)(words, memory, np.full(count, -1, np.int64) if seats is None else seats, boards, masks)
    return boards, masks
