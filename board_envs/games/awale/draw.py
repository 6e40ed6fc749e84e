"""Awalé as a picture: player_0's row below from left to right, player_1's above from right to left, stores outside."""

from __future__ import annotations

from board_envs.game import Game
from board_envs.games.awale.rules import State, pits_of
from board_envs.pictures.shapes import Circle, Label, Picture, Rectangle, Shape

_WOOD, _PIT, _TURN, _NUMBER = "#a8703f", "#6f4522", "#f2c230", "#fff6e8"


def picture(game: Game[State], state: State) -> Picture:
    """Return the board; the numbers are seeds, a bright edge marks the row to move and what it may play."""
    pits = game.parameters["pits"]
    mask = game.legal_mask(state)
    shapes: list[Shape] = [Rectangle(0, 0, pits + 2, 2, _WOOD, 0.3)]
    for seat, (row, store) in enumerate(((state.row0, state.store0), (state.row1, state.store1))):
        y = 1.5 if seat == 0 else 0.5
        for pit, seeds in enumerate(pits_of(row, pits)):
            x = 1.5 + (pit if seat == 0 else pits - 1 - pit)
            edge = _TURN if seat == state.seat and mask[pit] else ""
            shapes += [Circle(x, y, 0.42, _PIT, edge), Label(x, y, str(seeds), 0.4, _NUMBER)]
        x = pits + 1.5 if seat == 0 else 0.5
        shapes += [Rectangle(x - 0.35, 0.15, 0.7, 1.7, _PIT, 0.3), Label(x, 1, str(store), 0.5, _NUMBER)]
    return Picture(pits + 2, 2, tuple(shapes))
