"""Reversi as a picture: a green board with squares named a1, b1 ... from the top left; dots where one can play."""

from __future__ import annotations

from board_envs.game import Game
from board_envs.games.reversi.rules import State
from board_envs.pictures.shapes import Circle, Label, Picture, Rectangle, Shape

_FRAME, _SQUARE, _DOT = "#1d4d33", "#2e7d4f", "#1d4d33"
_DISCS = ("#101010", "#f7f7f2")
_MARGIN = 0.6


def picture(game: Game[State], state: State) -> Picture:
    """Return the board, rows from the top."""
    size = game.observation_shape[0]
    planes, mask = game.observe(state, 0), game.legal_mask(state)
    shapes: list[Shape] = [Rectangle(_MARGIN, _MARGIN, size, size, _FRAME)]
    for index in range(size):
        shapes.append(Label(_MARGIN + index + 0.5, 0.3, "abcdefgh"[index]))
        shapes.append(Label(0.3, _MARGIN + index + 0.5, str(index + 1)))
    for row in range(size):
        for column in range(size):
            x, y = _MARGIN + column, _MARGIN + row
            shapes.append(Rectangle(x + 0.02, y + 0.02, 0.96, 0.96, _SQUARE))
            own, other = planes[row, column].tolist()
            if own or other:
                shapes.append(Circle(x + 0.5, y + 0.5, 0.4, _DISCS[0 if own else 1], "#303030"))
            elif mask[row * size + column]:
                shapes.append(Circle(x + 0.5, y + 0.5, 0.08, _DOT))
    return Picture(size + _MARGIN + 0.1, size + _MARGIN + 0.1, tuple(shapes))
