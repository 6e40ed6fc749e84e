"""Connect Four as a picture: a blue board, player_0 red, player_1 yellow, columns numbered from 1."""

from __future__ import annotations

from board_envs.game import Game
from board_envs.games.connect_four.rules import State
from board_envs.pictures.shapes import Circle, Label, Picture, Rectangle, Shape

_BOARD, _EMPTY, _STONES = "#1f5fae", "#eef2f7", ("#d33c32", "#f2c230")


def picture(game: Game[State], state: State) -> Picture:
    """Return the board, rows from the top."""
    rows, columns, _ = game.observation_shape
    planes = game.observe(state, 0)
    shapes: list[Shape] = [Rectangle(0, 0, columns, rows, _BOARD, 0.15)]
    for row in range(rows):
        for column in range(columns):
            own, other = planes[row, column].tolist()
            fill = _STONES[0] if own else _STONES[1] if other else _EMPTY
            shapes.append(Circle(column + 0.5, row + 0.5, 0.4, fill))
    shapes += [Label(column + 0.5, rows + 0.3, str(column + 1)) for column in range(columns)]
    return Picture(columns, rows + 0.6, tuple(shapes))
