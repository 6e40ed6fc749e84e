"""Reversi."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from board_envs.game import About, Game, Symmetry
from board_envs.games.reversi import grids
from board_envs.games.reversi.board import (
    capture_directions,
    captures,
    decode,
    decode_grid,
    encode,
    encode_grid,
    flipped_squares,
    frontier_squares,
    grid_of,
    playable_squares,
    score,
    square_name,
    square_of,
    state_of,
)
from board_envs.games.reversi.forms import make_forms
from board_envs.games.reversi.moves import legal_moves
from board_envs.games.reversi.notation import ReversiNotation
from board_envs.games.reversi.rules import SIZES, State, bit_index, board_mask, make_rules
from board_envs.types import Int8

__all__ = [
    "State",
    "capture_directions",
    "captures",
    "decode",
    "decode_grid",
    "encode",
    "encode_grid",
    "flipped_squares",
    "frontier_squares",
    "grid_of",
    "grids",
    "make",
    "playable_squares",
    "score",
    "square_name",
    "square_of",
    "state_of",
]

SAMPLES = ({"size": 4},)


def make(size: int = 8) -> Game[State]:
    """Return Reversi.

    Args:
        size: of the board, 4, 6 or 8.

    """
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size not in SIZES:
        raise ValueError(f"reversi: size must be 4, 6 or 8 (an even board of at most 64 squares), not {size!r}")
    return _make(int(size))


@functools.cache
def _make(size: int) -> Game[State]:
    bits = bit_index(size)
    board = board_mask(size)

    def decode_observation(observation: Int8, seat: int) -> State:
        set_bits = [bits[observation[..., plane] != 0].tolist() for plane in (seat, 1 - seat)]
        planes = [np.uint64(sum(1 << bit for bit in word)) for word in set_bits]
        own, other = planes[seat], planes[1 - seat]
        return State(planes[0], planes[1], seat, legal_moves(own, other) & board)

    return Game(
        name="reversi",
        parameters={"size": size},
        rules=make_rules(size),
        notation=ReversiNotation(size),
        num_actions=size * size,
        observation_shape=(size, size, 2),
        observation_high=1,
        max_plies=size * size - 4,
        unit="discs",
        decoder=decode_observation,
        symmetries=functools.partial(_symmetries, size),
        outside_forms=make_forms,
        about=About(
            title="Reversi",
            summary="enclose runs of the other's discs to turn them; the larger number of discs wins",
            axes=("row, from the top", "column, from a"),
            planes=("own discs", "the other's discs"),
            actions=f"{size} * row + column of the square, from 0; a side without a move is skipped, so none passes",
            end="neither side can move",
            length=f"every move fills a square, and four of the {size * size} are filled at the start",
        ),
    )


def _symmetries(size: int) -> tuple[Symmetry, ...]:
    """Return the rotations of the square, then those of its mirror image; the first is the identity."""
    cells: Any = np.arange(size * size * 2, dtype=np.intp).reshape(size, size, 2)
    actions: Any = np.arange(size * size, dtype=np.intp).reshape(size, size)
    found = []
    for mirrored in (False, True):
        for turns in range(4):
            maps = [np.rot90(array[:, ::-1] if mirrored else array, turns) for array in (cells, actions)]
            found.append(Symmetry(maps[0].ravel().copy(), maps[1].ravel().copy()))
    return tuple(found)
