"""A picture as a list of shapes, so that games draw themselves without knowing any graphics library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Rectangle:
    """A filled rectangle: left, top, width, height in units of a cell; `rounded` is the radius of its corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    rounded: float = 0.0


@dataclass(frozen=True)
class Circle:
    """A filled circle: centre and radius in units of a cell, with an edge of colour `edge` unless that is empty."""

    x: float
    y: float
    radius: float
    fill: str
    edge: str = ""


@dataclass(frozen=True)
class Label:
    """A text centred at a point; `size` is the height of its letters in units of a cell."""

    x: float
    y: float
    text: str
    size: float = 0.4
    fill: str = "#333333"


Shape: TypeAlias = Rectangle | Circle | Label


@dataclass(frozen=True)
class Picture:
    """Shapes, later ones above earlier ones, on an area of `width` by `height` cells; y runs downwards."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
