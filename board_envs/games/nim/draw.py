"""Nim as a picture: one row a heap, an object a bar."""

from __future__ import annotations

from board_envs.game import Game
from board_envs.games.nim.rules import State
from board_envs.pictures.shapes import Label, Picture, Rectangle, Shape

_BAR, _GONE = "#a8703f", "#e4e0da"
_STEP = 0.3


def picture(game: Game[State], state: State) -> Picture:
    """Return the heaps, counted from 1; what has been taken is pale."""
    initial = game.parameters["heaps"]
    shapes: list[Shape] = []
    for heap, (began, size) in enumerate(zip(initial, game.observe(state, 0).tolist(), strict=True)):
        shapes.append(Label(0.4, heap + 0.5, str(heap + 1)))
        for bar in range(began):
            fill = _BAR if bar < size else _GONE
            shapes.append(Rectangle(0.9 + bar * _STEP, heap + 0.15, 0.18, 0.7, fill, 0.06))
    return Picture(1 + max(initial) * _STEP, len(initial), tuple(shapes))
