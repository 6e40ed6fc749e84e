"""Forms of Connect Four: what the samples say is read as it is meant."""

import json
from pathlib import Path

import numpy as np
import pytest

from board_envs import make_game
from board_envs.forms import read_file, read_one, read_text, write_text
from board_envs.types import IllegalActionError, PositionError

SAMPLES = Path(__file__).parents[1] / "data" / "forms"
GAME = make_game("connect-four")


def test_two_fields_are_moves_and_a_score():
    items = list(read_file(GAME, SAMPLES / "pons_lines.txt"))
    lines = [line.split() for line in (SAMPLES / "pons_lines.txt").read_text().splitlines()]
    assert len(items) == len(lines) == 17
    for item, (moves, score) in zip(items, lines, strict=True):
        assert (item.error, item.form) == ("", "pons")
        assert item.actions == tuple(int(move) - 1 for move in moves)
        assert item.value == int(score)
        assert item.view is None
    assert write_text(GAME, items, "pons") == (SAMPLES / "pons_lines.txt").read_text()


@pytest.mark.parametrize("text", ["44 53", "4 4 5 3", "4453 7", "4 4"])
def test_moves_are_never_read_over_a_blank(text):
    with pytest.raises(IllegalActionError, match="separated by commas"):
        GAME.read_moves(text)
    with pytest.raises(ValueError, match="commas"):
        read_one(GAME, text, "moves")


def test_two_fields_whose_second_is_no_score_are_refused():
    for text in ("4453 44", "44 53"):
        with pytest.raises(PositionError, match=r"a score is -21 to 21, not '\d\d' \(moves one by one use commas\)"):
            read_one(GAME, text)
    assert read_one(GAME, "4453 7").value == 7
    assert len(read_one(GAME, "4453 7").actions) == 4


@pytest.mark.parametrize(
    "moves", ["4453", "4,4,5,3", "4, 4, 5, 3", "ddec", "DDEC", "d,d,e,c", ["4", "4", "5", "3"], ["d", "4", "E", "3"]]
)
def test_moves_one_by_one(moves):
    assert GAME.read_moves(moves) == [3, 3, 4, 2]


@pytest.mark.parametrize("moves", ["04", "4,04", "44,53", "4,,4", "4,4,", "h", "٤", "4-4"])
def test_spellings_that_mean_nothing(moves):
    with pytest.raises(IllegalActionError):
        GAME.read_moves(moves)


def test_more_than_nine_columns():
    wide = make_game("connect-four", rows=4, columns=12)
    assert wide.write_moves([9, 0, 11]) == "10,1,12"
    assert wide.read_moves("10,1,12") == wide.read_moves("10 1 12") == wide.read_moves("jal") == [9, 0, 11]
    assert wide.read_moves("10") == [9]
    with pytest.raises(IllegalActionError, match="commas"):
        wide.read_moves("10 3")
    item = read_one(wide, "10,1 -3")
    assert (item.form, item.actions, item.value) == ("pons", (9, 0), -3)
    assert write_text(wide, [item], "pons") == "10,1 -3\n"
    assert read_one(wide, "10 3").actions == (9,)


def test_kaggle_boards():
    lines = (SAMPLES / "kaggle_boards.jsonl").read_text().splitlines()
    items = list(read_file(GAME, SAMPLES / "kaggle_boards.jsonl"))
    assert len(items) == len(lines) == 12
    for item, line in zip(items, lines, strict=True):
        told = json.loads(line)
        cells = np.array(told["board"]).reshape(6, 7)
        assert item.form == "kaggle"
        assert np.array_equal(GAME.observe(item.state, 0), np.stack([cells == 1, cells == 2], axis=-1))
        assert GAME.current_player(item.state) == told["mark"] - 1
        assert item.value == told["score"]
        assert item.values == {c: score for c, score in enumerate(told["move score"]) if score != -99}
        assert set(item.values) == set(GAME.legal_actions(item.state))
        for board in (told["board"], cells.tolist(), {"board": told["board"], "mark": told["mark"]}):
            assert GAME.parse(json.dumps(board)) == item.state
    assert write_text(GAME, items, "kaggle").splitlines() == lines


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"board": [0] * 41}, "6 rows of 7 cells"),
        ({"board": [[0] * 7] * 5}, "6 rows of 7 cells"),
        ({"board": [0] * 41 + [3]}, "0, 1 or 2, not 3"),
        ({"board": [0] * 41 + [True]}, "0, 1 or 2, not True"),
        ({"board": [0] * 41 + [1.0]}, "0, 1 or 2, not 1.0"),
        ({"board": [1] + [0] * 41}, "floats"),
        ({"board": 5}, "list of 42 cells"),
        ({"mark": 2}, "seat 0 is to move"),
        ({"mark": 3}, "mark is 1 or 2"),
        ({"score": "5"}, "whole number"),
        ({"move score": [1] * 6}, "7 whole numbers"),
        ({"move score": [1] * 6 + [-99]}, "full columns"),
    ],
)
def test_kaggle_boards_that_are_refused(change, message):
    told = {"board": [0] * 42, "mark": 1} | change
    (item,) = read_text(GAME, json.dumps(told))
    assert message in item.error
    assert item.form == "kaggle" or not item.form


def test_rows_of_the_uci_data_set():
    items = list(read_file(GAME, SAMPLES / "uci_rows.csv"))
    assert [(item.form, item.outcome, item.view) for item in items] == [
        ("uci", outcome, 0) for outcome in (1, 0, 0, -1, -1, -1)
    ]
    # The data set's first row: x, o in the third column, x, o, x, o, x, o in the fourth, from the bottom.
    assert items[0].state == GAME.from_moves("33444444")
    assert write_text(GAME, items, "uci") == (SAMPLES / "uci_rows.csv").read_text()
    without = GAME.parse((SAMPLES / "uci_rows.csv").read_text().splitlines()[0].removesuffix(",win"))
    assert without == items[0].state


STATE = GAME.from_moves("4453")
ROWS = ["-------"] * 4 + ["---O---", "--OXX--"]


@pytest.mark.parametrize(
    "text",
    [
        "/".join(ROWS),
        "/".join(ROWS) + " 0",
        "/".join(ROWS).lower(),
        "/".join(ROWS).replace("-", "."),
        "/".join(ROWS).replace("-", "_") + " 0",
        "".join(ROWS),
        "\n".join(ROWS),
        "\n".join(ROWS) + "\n0",
        "\n".join(" ".join(row.lower()) for row in ROWS),
        " / ".join(" ".join(row) for row in ROWS),
        "\n".join(ROWS).translate(str.maketrans("-XO", "012")),
        "\n".join(" ".join(row) for row in ROWS).translate(str.maketrans("-XO", "012")) + "\n0",
        "/".join(ROWS).translate(str.maketrans("-XO", "012")),
        "".join(ROWS).translate(str.maketrans("-XO", "012")) + " 0",
    ],
)
def test_boards_as_people_type_them(text):
    assert GAME.parse(text) == STATE
    assert read_one(GAME, text).state == STATE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n".join(ROWS[1:]), "6 rows"),
        ("/".join(ROWS).lower() + "/", "6 rows of 7 cells"),
        ("/".join(ROWS).lower() + " 1", "seat 0 is to move"),
        ("/".join(ROWS).replace("-", "0"), "'0' is not X, O or -"),
        ("/".join(ROWS).replace("--OXX--", "--2xx--"), "is not X, O or -"),
        ("\n".join(ROWS[:5]) + "\n0021100", "6 rows of 7 cells"),
    ],
)
def test_boards_that_are_refused(text, message):
    with pytest.raises(PositionError, match=message):
        GAME.parse(text)


def test_a_file_of_boards_in_rows():
    board = "\n".join(ROWS).replace("-", ".")
    items = list(read_text(GAME, f"{board}\n\n{board}\n{board.replace('X', '#')}\n{board}\n"))
    assert [(item.line, bool(item.error)) for item in items] == [(1, False), (8, False), (14, True), (20, False)]


def test_lines_of_every_kind_in_one_text():
    text = "4453\n4453 7\nddec\n/\n[0, 0]\n" + "/".join(ROWS) + "\n"
    items = list(read_text(GAME, text))
    assert [(item.form, bool(item.error)) for item in items] == [
        ("moves", False),
        ("pons", False),
        ("letters", False),
        ("moves", True),
        ("kaggle", True),
        ("position", False),
    ]
