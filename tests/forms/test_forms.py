"""Every form of every game: examples read, written text reads again, damage is reported."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board_envs import GAMES, make_game
from board_envs.forms import Form, Item, common_forms, play, read_one, read_text, write_text
from board_envs.random import Stream
from board_envs.types import IllegalActionError, PositionError, SpecError

FORMS = [pytest.param(name, form.name, id=f"{name}-{form.name}") for name in GAMES for form in make_game(name).forms]


def form_of(name, form):
    game = make_game(name)
    return game, next(known for known in game.forms if known.name == form)


def random_game(game, seed, plies=200):
    stream, state, actions = Stream.seeded(seed), game.initial_state(), []
    while not game.is_terminal(state) and len(actions) < plies:
        legal = game.legal_actions(state)
        actions.append(legal[stream.below(len(legal))])
        state = game.step(state, actions[-1])
    return tuple(actions), state


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_an_example_is_read_as_its_form(name, form):
    game, known = form_of(name, form)
    if known.read_file is not None:
        return
    (item,) = read_text(game, known.example)
    assert (item.error, item.form) == ("", form)
    assert read_one(game, known.example).form == form


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_what_is_written_reads_as_the_same(name, form):
    game, known = form_of(name, form)
    if known.write is None:
        return
    items = []
    for seed in range(12):
        actions, state = random_game(game, seed, plies=(200, 7)[seed % 2])
        item = Item(state=state, actions=actions)
        if known.kind != "game":
            values = {action: float(action) - 1 for action in game.legal_actions(state)}
            item = Item(state=state, actions=actions, value=-3.0, values=values, outcome=1, view=1)
        if known.kind == "position":
            item = replace(item, actions=())
        elif known.kind == "game":
            over = game.is_terminal(state)
            item = replace(item, players=(f"A {seed}", "B"), winner=int(game.winner(state)) if over else -1)
        try:
            write_text(game, [item], form)
        except PositionError:  # a few ends that a form has no word for
            continue
        items.append(item)
    assert len(items) >= 10
    again = list(read_text(game, write_text(game, items, form), form))
    assert [item.error for item in again] == [""] * len(items)
    for item, other in zip(items, again, strict=True):
        assert game.same_position(item.state, other.state)
        assert other.actions == item.actions
        sign = 1 if (game.current_player(item.state) if other.view is None else other.view) == 1 else -1
        assert other.value in (None, sign * -3.0)
        assert other.outcome in (None, sign)
        assert other.values in ({}, item.values)
        assert other.players in (None, item.players)
        assert other.winner in (None, item.winner)
    assert list(read_text(game, write_text(game, again, form), form)) == again


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("form", ["pgn", "numbered"])
def test_results_players_and_starts_survive(name, form):
    game = make_game(name)
    actions, state = random_game(game, 3)
    winner = int(game.winner(state))
    item = Item(state=state, actions=actions, players=('A "1"', "B\\"), winner=winner, headers={"Event": "x y"})
    (again,) = read_text(game, write_text(game, [item], form))
    assert (again.actions, again.winner) == (actions, winner)
    if form == "pgn":
        assert (again.players, again.headers) == (item.players, item.headers)
    _, start = random_game(game, 3, plies=2)
    late = Item(state=state, start=start, actions=actions[2:])
    if form == "pgn":
        (again,) = read_text(game, write_text(game, [late], form))
        assert again.actions == actions[2:]
        assert game.same_position(again.start, start)
    else:
        with pytest.raises(PositionError, match="usual start"):
            write_text(game, [late], form)


def test_pieces_that_do_not_read_are_told_by_line_and_the_rest_goes_on():
    game = make_game("nim")
    items = list(read_text(game, "3,4,5\n\nnonsense\n1:2 2:3\n9,9,9\r\n0,0,1 1\n"))
    assert [(item.line, bool(item.error), item.form) for item in items] == [
        (1, False, "position"),
        (3, True, "moves"),
        (4, False, "moves"),
        (5, True, "heaps"),
        (6, False, "position"),
    ]
    items = list(read_text(game, "1. 1:2 2:3\n2. 3:1\n\n1. 1:9\n1. 1:1 *\n"))
    assert [(item.line, bool(item.error), len(item.actions)) for item in items] == [
        (1, False, 3),
        (4, True, 0),
        (5, False, 1),
    ]


def test_move_numbers_are_not_thrown_away():
    game = make_game("nim")
    (item,) = read_text(game, "1. 1:2 2:3 3. 3:1")
    assert "move number 3 comes after 1" in item.error


@pytest.mark.parametrize("name", GAMES)
def test_no_separator_of_moves_is_thrown_away(name):
    game = make_game(name)
    actions, _ = random_game(game, 2, plies=6)
    state, moves = game.initial_state(), []
    for action in actions:
        moves.append(game.action_to_text(state, action))
        state = game.step(state, action)
    assert tuple(game.read_moves(", ".join(moves))) == tuple(game.read_moves(moves)) == actions
    for separator in ("/", "|", "-", ".", ":", "_", "+", ",,", ", ,", " - ", "=", "\u200b", "\u0663"):
        with pytest.raises(IllegalActionError):
            game.read_moves(separator.join(moves))
    for text in ("," + moves[0], " , " + ",".join(moves)):
        with pytest.raises(IllegalActionError):
            game.read_moves(text)


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("text", ["", "\n", " \n\t\n"])
def test_an_empty_text_holds_nothing(name, form, text):
    game, known = form_of(name, form)
    assert list(read_text(game, text)) == []
    if known.read_file is None:
        assert all(item.error for item in read_text(game, text, form))


SIZES = [
    ("reversi", {"size": 4}),
    ("connect-four", {"rows": 5, "columns": 1, "connect": 2}),
    ("connect-four", {"rows": 1, "columns": 5, "connect": 2}),
    ("connect-four", {"rows": 4, "columns": 12, "connect": 3}),
    ("awale", {"pits": 1, "seeds": 2}),
    ("awale", {"pits": 8, "seeds": 3}),
    ("nim", {"heaps": (3,)}),
    ("nim", {"heaps": (1,) * 8, "misere": True}),
]


@pytest.mark.parametrize(("name", "parameters"), SIZES)
def test_what_is_written_is_found_on_other_sizes_too(name, parameters):
    game = make_game(name, **parameters)
    for seed in range(3):
        actions, state = random_game(game, seed, plies=(200, 4)[seed % 2])
        for form in game.forms:
            played = () if form.kind == "position" else actions
            item = Item(state=state, actions=played, value=2.0, outcome=1, view=0)
            try:
                text = "" if form.write is None else write_text(game, [item], form.name)
            except PositionError:  # no word for this end, or a state that remembers more than a position
                continue
            if text:
                (again,) = read_text(game, text)
                assert again.error == ""
                assert (again.actions, game.same_position(again.state, state)) == (played, True)


def test_one_means_one():
    game = make_game("nim")
    with pytest.raises(PositionError, match="2 positions or games"):
        read_one(game, "1. 1:2\n\n1. 2:1")
    with pytest.raises(
        SpecError, match=r"unknown form 'pgm' \(did you mean 'pgn'\?\); forms of nim: position, .*moves"
    ):
        read_one(game, "3,4,5", "pgm")


def test_a_form_has_a_known_kind():
    with pytest.raises(ValueError, match="position, moves, game"):
        Form("x", "positions", "", "", sniff=bool, read=lambda text: [])


@pytest.mark.parametrize(("name", "form"), FORMS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_texts_are_errors_and_nothing_else(name, form, data):
    game, known = form_of(name, form)
    text = data.draw(damaged(known.example))
    for chosen in (None, form) if known.read_file is None else (None,):
        for item in read_text(game, text, chosen):
            assert (item.state is None) == bool(item.error)
            if not item.error:
                game.check_state(item.state)


@st.composite
def damaged(draw, text):
    """A text cut, doubled, shuffled and sprinkled with characters that mean something somewhere."""
    special = st.text(st.sampled_from("0123456789abhxXoO*-+.,:;/()[]{}\"'\\ \n\tAWB%٣\x00éＡ"), max_size=4)
    for _ in range(draw(st.integers(1, 4))):
        at, to = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        what = draw(st.sampled_from(["cut", "double", "insert", "replace", "swap case"]))
        if what == "cut":
            text = text[:at] + text[to:]
        elif what == "double":
            text = text[:to] + text[at:]
        elif what == "insert":
            text = text[:at] + draw(special) + text[at:]
        elif what == "replace":
            text = text[:at] + draw(special) + text[to:]
        else:
            text = text[:at] + text[at:to].swapcase() + text[to:]
    return text


def test_every_form_has_its_example_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "forms.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)\n", page, flags=re.MULTILINE)
    sections = {
        title.lower().replace(" ", "-").replace("é", "e"): text
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    common = set(re.findall(r"^\| `(\w+)`", sections["all-games"], re.MULTILINE))
    for name in GAMES:
        section = sections.get(name, "")  # a game without forms of its own needs none
        rows = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
        shown = {form for row in rows for form in re.findall(r"`(\w+)`", row)}
        assert shown | common == {form.name for form in make_game(name).forms}
        assert not shown & common
        examples = "".join(re.findall(r"^```pycon\n(.*?)^```", section, re.MULTILINE | re.DOTALL))
        assert all(form in examples for form in shown)


def test_a_game_may_list_forms_of_its_own():
    def read(text):
        actions, state = play(game, text.removeprefix("take ").split(" and "))
        yield Item(state=state, actions=actions)

    form = Form("words", "moves", "moves in words", "take 1:1", sniff=re.compile("take ").match, read=read)
    game = replace(make_game("nim"), outside_forms=lambda game: (form,))
    assert [known.name for known in game.forms] == ["position", "words", "moves"]
    item = read_one(game, "take 1:1 and 2:2")
    assert (item.form, item.actions) == ("words", tuple(game.read_moves("1:1 2:2")))
    (item,) = read_text(game, "take 1:9")
    assert (item.form, item.line, "move 1 ('1:9')" in item.error) == ("words", 1, True)
    with pytest.raises(SpecError, match="form 'words' is not written; written forms of nim: position, moves"):
        write_text(game, [item], "words")
    twice = replace(game, outside_forms=lambda game: (form, form))
    with pytest.raises(ValueError, match="two forms have one name"):
        assert twice.forms
    plain = replace(game, outside_forms=common_forms)
    assert [known.name for known in plain.forms] == ["position", "pgn", "numbered", "moves"]
