"""Pictures: well-formed SVG that shows what the position holds, on every game and several sizes."""

from collections import Counter
from xml.etree import ElementTree

import pytest

from board_envs import make_game
from board_envs.pictures.shapes import Circle, Label, Rectangle
from board_envs.pictures.svg import picture, svg, svg_shape
from board_envs.random import Stream

GAMES = [
    make_game("connect-four"),
    make_game("connect-four", rows=3, columns=9, connect=3),
    make_game("reversi"),
    make_game("reversi", size=4),
    make_game("awale"),
    make_game("awale", pits=3, seeds=2),
    make_game("nim"),
    make_game("nim", heaps=(1, 9), misere=True),
]
XML = "{http://www.w3.org/2000/svg}"


def states(game):
    """All states of a random game."""
    stream, state = Stream.seeded(7), game.initial_state()
    yield state
    while count := game.rules.count(state):
        state = game.step(state, game.rules.nth(state, stream.below(count)))
        yield state


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_pictures_are_well_formed_and_inside_their_area(game):
    for state in states(game):
        root = ElementTree.fromstring(svg(game, state))
        drawn = picture(game, state)
        assert len(root) == len(drawn.shapes)
        assert root.get("viewBox") == f"0 0 {drawn.width:g} {drawn.height:g}"
        for shape in drawn.shapes:
            size = {Circle: lambda s: s.radius, Rectangle: lambda s: 0, Label: lambda s: s.size / 2}[type(shape)](shape)
            assert shape.x - size >= 0
            assert shape.y + size <= drawn.height + 1e-9
            right = shape.x + (shape.width if isinstance(shape, Rectangle) else size)
            assert right <= drawn.width + 1e-9


def stones(game, state):
    """Colours of the large circles and how often each is there."""
    return Counter(
        shape.fill for shape in picture(game, state).shapes if isinstance(shape, Circle) and shape.radius > 0.2
    )


@pytest.mark.parametrize("game", GAMES[:4], ids=repr)
def test_every_stone_is_drawn_in_its_colour(game):
    colours = ("#d33c32", "#f2c230") if game.name == "connect-four" else ("#101010", "#f7f7f2")
    for state in states(game):
        planes = game.observe(state, 0)
        drawn = stones(game, state)
        assert [drawn[colour] for colour in colours] == planes.sum((0, 1)).tolist()


def test_rows_run_from_the_top():
    game = make_game("connect-four")
    red = [s for s in picture(game, game.from_moves("1")).shapes if isinstance(s, Circle) and s.fill == "#d33c32"]
    assert [(s.x, s.y) for s in red] == [(0.5, 5.5)]
    game = make_game("reversi")
    discs = {(s.x, s.y): s.fill for s in picture(game, game.from_moves("d3")).shapes if isinstance(s, Circle)}
    assert discs[0.6 + 3.5, 0.6 + 2.5] == "#101010"  # d3: fourth column, third row


def test_reversi_marks_the_playable_squares():
    game = GAMES[2]
    for state in states(game):
        dots = [s for s in picture(game, state).shapes if isinstance(s, Circle) and s.radius < 0.2]
        assert len(dots) == len(game.legal_actions(state))


@pytest.mark.parametrize("game", GAMES[4:6], ids=repr)
def test_awale_shows_every_seed_in_its_pit(game):
    pits = game.parameters["pits"]
    for state in states(game):
        labels = {(s.x, s.y): int(s.text) for s in picture(game, state).shapes if isinstance(s, Label)}
        assert sum(labels.values()) == 2 * pits * game.parameters["seeds"]
        own = game.observe(state, 0)[:, 0].tolist()
        assert [labels[1.5 + pit, 1.5] for pit in range(pits)] == own
        other = game.observe(state, 1)[:, 0].tolist()
        assert [labels[0.5 + pits - pit, 0.5] for pit in range(pits)] == other
        marked = [s for s in picture(game, state).shapes if isinstance(s, Circle) and s.edge]
        assert len(marked) == len(game.legal_actions(state))


def test_nim_shows_what_is_left():
    game = make_game("nim")
    bars = Counter(s.fill for s in picture(game, game.parse("1,0,5")).shapes if isinstance(s, Rectangle))
    assert sorted(bars.values()) == [6, 6]


def test_texts_are_escaped():
    assert "&lt;b&gt;" in svg_shape(Label(0, 0, "<b>"))
