"""Texts that are long and wrong are refused in time that grows with their length, not with its square."""

import contextlib
import time

import pytest

from board_envs import GAMES, make_game
from board_envs.forms import read_position, read_text
from board_envs.types import IllegalActionError, PositionError

# What a reader's patterns look for, again and again, and never the end of it.
UNITS = [
    "{",
    "[",
    "(",
    '[a "',
    '[a "b"]',
    "(;GM[",
    "GM[",
    "a",
    "1 ",
    "1. ",
    "(;B[d3]",
    "(;B[",
    '{"a":',
    "\\",
    ",",
    "X",
    "-",
    "\n",
    "٣",
]
BEGINNINGS = ["", "(;GM[Othello]", "1. ", '[White "a"]\n1. ', "(;GM[2]", "1 (;"]
SHORT, LONG = 20_000, 100_000


def seconds(name, text, form):
    game, begin = make_game(name), time.process_time()
    with contextlib.suppress(PositionError, IllegalActionError):
        if form is None:
            read_position(game, text)
        else:
            list(read_text(game, text, form))
    return time.process_time() - begin


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", GAMES)
def test_time_grows_with_the_length(name, unit):
    forms = [None, *(form.name for form in make_game(name).forms if form.read_file is None)]
    for form in forms:
        for begin in BEGINNINGS:
            few = seconds(name, begin + unit * (SHORT // len(unit)), form)
            if few > 0.02:  # worth a look: five times the length takes about five times as long, or 25 times
                many = seconds(name, begin + unit * (LONG // len(unit)), form)
                assert many < 14 * few, f"{form} of {begin!r} and {unit!r}: {few:.2f} s, {many:.2f} s"
