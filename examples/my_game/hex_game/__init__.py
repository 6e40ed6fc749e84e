"""Hex as a game of board_envs; the entry point ``hex`` in the group ``board_envs.games`` names this module."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from board_envs.authoring import Game, Int8, Symmetry, check_int
from hex_game.notation import HexNotation
from hex_game.rules import State, make_rules, words_of

__all__ = ["SAMPLES", "State", "make"]

SAMPLES = ({"size": 3}, {"size": 8}, {"size": 5, "swap": True})
"""Parameters that `board_envs.testing` tries beside the usual ones."""


def make(size: int = 11, swap: bool = False) -> Game[State]:
    """Return Hex.

    Args:
        size: cells a side, 3 to 11 (two words of 64 bits hold a board).
        swap: whether player_1 may answer the first stone by taking it, mirrored at the long diagonal.

    """
    if not isinstance(swap, (bool, np.bool_)):
        raise ValueError(f"hex: swap must be True or False, not {swap!r}")
    return _make(check_int("hex", "size", size, 3, 11), bool(swap))


@functools.cache
def _make(size: int, swap: bool) -> Game[State]:
    cells = size * size

    def decode(observation: Int8, seat: int) -> State:
        own, other = (words_of(np.flatnonzero(observation[..., plane]).tolist()) for plane in (0, 1))
        first, second = (own, other) if seat == 0 else (other, own)
        return State(*first, *second, seat, -1)

    def symmetries() -> tuple[Symmetry, ...]:
        # Half a turn leaves both players' sides where they are. A reflection exchanges them: no symmetry of the rules.
        board: Any = np.arange(cells * 3, dtype=np.intp).reshape(size, size, 3)
        actions = np.arange(cells, dtype=np.intp)
        rest = np.arange(cells, cells + swap, dtype=np.intp)
        return (
            Symmetry(board.ravel(), np.concatenate([actions, rest])),
            Symmetry(board[::-1, ::-1].ravel(), np.concatenate([actions[::-1], rest])),
        )

    return Game(
        name="hex",
        parameters={"size": size, "swap": swap},
        rules=make_rules(size, swap),
        notation=HexNotation(size, swap),
        num_actions=cells + swap,
        observation_shape=(size, size, 3),
        observation_high=1,
        max_plies=cells + swap,
        unit="win",
        decoder=decode,
        symmetries=symmetries,
    )
