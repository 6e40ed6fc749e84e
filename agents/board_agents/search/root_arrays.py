"""Shared by compiled searches: states as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from board_envs.game import Game
from board_envs.types import Words

MEMORY_SPARE = 256
"""Space for the entries that a search appends to a state's history."""


def root_arrays(game: Game[Any], state: Any) -> tuple[Words, Words]:
    """Return a state as new arrays: its words, uint64 (words,), and its history, uint64 (capacity, 2)."""
    words = np.zeros(game.rules.words, np.uint64)
    if not game.rules.has_memory:
        game.rules.pack(state, words)
        return words, np.empty((0, 2), np.uint64)
    owned = game.own(state)
    game.rules.pack(owned, words)
    entries = next(value for value in owned if isinstance(value, np.ndarray))
    memory = np.empty((entries.shape[0] + MEMORY_SPARE, 2), np.uint64)
    memory[: entries.shape[0]] = entries
    return words, memory
