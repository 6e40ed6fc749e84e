"""The stable names for packages that define a game.

``docs/adding_a_game.md`` shows how to use them.
"""

from __future__ import annotations

from board_envs._bits import (
    ONE,
    ZERO,
    add,
    as_int,
    bit_writer,
    clear_lowest,
    lowest,
    lowest_bit,
    multiply,
    nth_bit,
    plane_writer,
    popcount,
    subtract,
    write_bits,
)
from board_envs._jit import compiled_as, jitable
from board_envs.forms import Form, Item, common_forms
from board_envs.game import About, Game, Symmetry, check_int
from board_envs.pictures.shapes import Circle, Label, Picture, Rectangle, Shape
from board_envs.registration import add_game
from board_envs.types import IllegalActionError, Int8, Notation, PositionError, Rules, Words

__all__ = [
    "ONE",
    "ZERO",
    "About",
    "Circle",
    "Form",
    "Game",
    "IllegalActionError",
    "Int8",
    "Item",
    "Label",
    "Notation",
    "Picture",
    "PositionError",
    "Rectangle",
    "Rules",
    "Shape",
    "Symmetry",
    "Words",
    "add",
    "add_game",
    "as_int",
    "bit_writer",
    "check_int",
    "clear_lowest",
    "common_forms",
    "compiled_as",
    "jitable",
    "lowest",
    "lowest_bit",
    "multiply",
    "nth_bit",
    "plane_writer",
    "popcount",
    "subtract",
    "write_bits",
]
