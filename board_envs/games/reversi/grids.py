"""The source's functions on plain grids: lists of lists or integer arrays p, any board at all.

Source: the problem "Jeu de reversi" (EPITA 2024). p[i][j] is 1 where black stands, -1 where white does, 0 where nothing
stands; i is the row from the top, j the column, both from 0; a player is 1 (black) or -1 (white). Grids are 4, 6 or 8
wide and need not be reachable; nothing here changes the grid that it is given. PositionError reports a bad grid,
ValueError a bad player or square.

`board` has the same functions for states, which know who is to move.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_envs._bits import ONE
from board_envs.games.reversi import board
from board_envs.games.reversi.moves import flipped, legal_moves
from board_envs.games.reversi.rules import State, bit_index, board_mask
from board_envs.types import IllegalActionError


def _position(p: Any, player: int) -> tuple[State, int]:
    """Return the grid as a state with a player to move, unchecked, and the size."""
    if isinstance(player, bool) or player not in (1, -1):
        raise ValueError(f"a player is 1 (black) or -1 (white), not {player!r}")
    black, white, size = board.boards_of(p)
    own, other = (black, white) if player == 1 else (white, black)
    return State(black, white, 0 if player == 1 else 1, legal_moves(own, other) & board_mask(size)), size


def score(p: Any) -> int:
    """Return the number of black discs minus that of white ones."""
    return board.score(_position(p, 1)[0])


def playable(p: Any, player: int) -> list[tuple[int, int]]:
    """List the squares on which a player captures, row by row."""
    return board.playable_squares(_position(p, player)[0])


def frontier(p: Any) -> list[tuple[int, int]]:
    """List the empty squares with an occupied one beside them (8 directions), row by row."""
    return board.frontier_squares(*_position(p, 1))


def captures(p: Any, square: tuple[int, int], player: int) -> dict[tuple[int, int], int]:
    """Return how many discs a player turns over by playing on a square: direction (dx, dy) -> number.

    dx is the step of the row and dy that of the column, from the placed disc towards the captured ones; empty where
    nothing is captured.
    """
    state, size = _position(p, player)
    return board.captures(state, square, size)


def play(p: Any, square: tuple[int, int], player: int) -> NDArray[np.int8]:
    """Return the grid after a player's move: int8 (size, size).

    Raises:
        IllegalActionError: the player captures nothing there.

    """
    state, size = _position(p, player)
    row, column = board.check_square(square, size)
    bit = int(bit_index(size)[row, column])
    if not int(state.moves) >> bit & 1:
        legal = ", ".join(map(str, board.playable_squares(state))) or "no square"
        raise IllegalActionError(f"player {player} captures nothing on {square}; playable: {legal}")
    own, other = board.sides(state)
    turned = flipped(own, other, bit)
    own, other = own | turned | ONE << np.uint64(bit), other & ~turned
    black, white = (own, other) if player == 1 else (other, own)
    return board.grid_of(State(black, white, 0, turned), size)


def is_over(p: Any) -> bool:
    """Whether neither player can play."""
    return not playable(p, 1) and not playable(p, -1)
