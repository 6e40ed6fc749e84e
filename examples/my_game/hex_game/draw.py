"""Hex as a picture: each row half a cell further right, the sides in the colour of the player who joins them."""

from __future__ import annotations

from board_envs.authoring import Circle, Game, Label, Picture, Shape
from hex_game.rules import State

_EMPTY, _EDGE = "#e8e2d6", "#b8b0a0"
_STONES = ("#c0392b", "#2c5f9e")
_ROW = 0.87
"""Rows are nearer than columns, as in a honeycomb."""


def picture(game: Game[State], state: State) -> Picture:
    """Return the board, row 1 at the top; player_0 is red, player_1 blue."""
    size = game.parameters["size"]
    planes = game.observe(state, 0)

    def centre(row: int, column: int) -> tuple[float, float]:
        return 1.5 + column + 0.5 * row, 1.3 + _ROW * row

    shapes: list[Shape] = []
    for index in range(size):
        # Points just off the board show whose side it is.
        for seat, row, column in ((0, -1, index), (0, size, index), (1, index, -1), (1, index, size)):
            x, y = centre(row, column)
            shapes.append(Circle(x, y, 0.12, _STONES[seat]))
        x, y = centre(-1, index)
        shapes.append(Label(x - 0.3, y - 0.2, chr(ord("a") + index), 0.3))
        x, y = centre(index, -1)
        shapes.append(Label(x - 0.4, y, str(index + 1), 0.3))
    for row in range(size):
        for column in range(size):
            x, y = centre(row, column)
            own, other = planes[row, column, :2].tolist()
            fill = _STONES[0] if own else _STONES[1] if other else _EMPTY
            shapes.append(Circle(x, y, 0.45, fill, _EDGE))
    return Picture(size + 0.5 * size + 2, 1.3 + _ROW * size + 0.4, tuple(shapes))
