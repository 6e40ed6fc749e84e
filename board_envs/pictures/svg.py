"""Pictures of positions: a game's list of shapes as SVG."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from board_envs.game import Game
from board_envs.pictures.shapes import Circle, Label, Picture, Rectangle, Shape
from board_envs.registry import game_drawing

CELL = 60
"""Pixels a cell."""


def picture(game: Game[Any], state: Any) -> Picture:
    """Return a position as a list of shapes."""
    drawn = game_drawing(game.name)(game, state)
    assert isinstance(drawn, Picture)
    return drawn


def svg(game: Game[Any], state: Any, cell: int = CELL) -> str:
    """Return a position as an SVG image, `cell` pixels a cell."""
    return picture_svg(picture(game, state), cell)


def picture_svg(drawn: Picture, cell: int = CELL) -> str:
    """Return shapes as an SVG image, `cell` pixels a unit."""
    return svg_head(drawn, cell) + "".join(map(svg_shape, drawn.shapes)) + "</svg>"


def svg_head(drawn: Picture, cell: int = CELL) -> str:
    """Return the opening tag of a picture's image."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawn.width:g} {drawn.height:g}" '
        f'width="{drawn.width * cell:g}" height="{drawn.height * cell:g}">'
    )


def svg_shape(shape: Shape) -> str:
    """Return one shape as an SVG element."""
    if isinstance(shape, Rectangle):
        rounded = f' rx="{shape.rounded:g}"' if shape.rounded else ""
        return (
            f'<rect x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" height="{shape.height:g}"{rounded} '
            f'fill="{shape.fill}"/>'
        )
    if isinstance(shape, Circle):
        edge = f' stroke="{shape.edge}" stroke-width="0.03"' if shape.edge else ""
        return f'<circle cx="{shape.x:g}" cy="{shape.y:g}" r="{shape.radius:g}" fill="{shape.fill}"{edge}/>'
    assert isinstance(shape, Label)
    return (
        f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" fill="{shape.fill}" text-anchor="middle" '
        f'dominant-baseline="central" font-family="sans-serif">{escape(shape.text)}</text>'
    )
