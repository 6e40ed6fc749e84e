"""The forms in which players of Reversi exchange positions and games: samples with right values, kinds, round trips."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from board_envs import make_game
from board_envs.forms import Item, find_form, read_file, read_one, read_text, write_text
from board_envs.games.reversi import score
from board_envs.types import PositionError

GAME = make_game("reversi")
DATA = Path(__file__).parent.parent / "data" / "forms"
START = GAME.format(GAME.initial_state())
GAME_FORMS = ("ggf", "sgf", "quest", "pgn", "numbered")


def jsonl(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def one(text, game=GAME):
    (item,) = read_text(game, text)
    return item


def error(text, game=GAME):
    (item,) = read_text(game, text)
    assert item.error, item
    return item.error


# -- samples ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("reversi_games.ggf", "ggf"),
        ("reversi_games.sgf", "sgf"),
        ("reversi_numbered.txt", "numbered"),
        ("reversi_games_quest.jsonl", "quest"),
    ],
)
def test_the_same_four_games_in_four_forms(name, form, tmp_path):
    expected = jsonl("reversi_games_expected.jsonl")
    unnamed = tmp_path / "games.txt"  # nothing but the text says what it is
    unnamed.write_text((DATA / name).read_text())
    for path in (DATA / name, unnamed):
        items = list(read_file(GAME, path))
        assert [item.form for item in items] == [form] * 4
        for item, right in zip(items, expected, strict=True):
            assert (item.error, item.remark) == ("", "")
            assert GAME.write_moves(item.actions) == right["moves"]
            assert GAME.format(item.state) == right["final"]
            assert item.margin in (None, right["margin"])
            passes = write_text(GAME, [item], "ggf").count("[PA")
            assert passes == right["passes"]


def test_the_ggf_sample_keeps_all_it_says():
    item = next(read_file(GAME, DATA / "reversi_games.ggf"))
    assert (item.players, item.winner, item.margin) == (("first", "second"), 0, 4)
    assert dict(item.headers) | {"Annotations": ""} == {
        "Site": "test", "Date": "2026.01.01", "Clock": "05:00", "Type": "8", "Annotations": "",
    }  # fmt: skip
    first, again = (DATA / "reversi_games.ggf").read_text().splitlines()[0], write_text(GAME, [item], "ggf").strip()
    assert again == first.replace("]PW[second]RE[+4]TI[05:00]TY[8]BO", "]PW[second]TI[05:00]TY[8]RE[+4.000]BO")


def test_obf_scores_are_values_of_moves():
    items = list(read_file(GAME, DATA / "reversi_problems.obf"))
    lines = (DATA / "reversi_problems.obf").read_text().splitlines()
    assert [item.form for item in items] == ["obf"] * 8
    for item, line in zip(items, lines, strict=True):
        printed = {
            field.split(":")[0].strip(): float(field.split(":")[1]) for field in line.split(";")[1:] if ":" in field
        }
        named = {GAME.action_to_text(item.state, action).upper(): value for action, value in item.values.items()}
        assert named == printed
    assert find_form(GAME, "obf").rule == "empties-to-winner"
    again = list(read_text(GAME, write_text(GAME, items, "obf")))
    assert again == [replace(item) for item in items]


def test_obf_comments_and_passes():
    assert list(read_text(GAME, "% a comment\n")) == []
    item = one(START + "; F5:+0; % first")
    assert (item.form, item.headers) == ("obf", {"Comment": "first"})
    assert "first" in write_text(GAME, [item], "obf")
    blocked = jsonl("reversi_side_must_pass.jsonl")[0]
    item = one(f"{blocked['board']} {blocked['side']}; PA:+12;")
    assert (item.value, item.view, item.remark) == (12, 1, "white must pass")
    assert one(write_text(GAME, [item], "obf")) == item
    for bad, message in [
        (START + "; F5:+0; F5:+2;", "second score of F5"),
        (START + "; A1:+0;", "A1 is not legal"),
        (START + "; I9:+0;", "is not a square"),
        (START + "; PA:+0;", "the side to move can move"),
        (START + "; F5;", "no MOVE:score"),
        (f"{blocked['board']} {blocked['side']}; g7:+12;", "must pass"),
        ("; F5:+0;", "scores without a board"),
    ]:
        assert message in error(bad)


@pytest.mark.parametrize("right", jsonl("reversi_side_must_pass.jsonl"))
def test_where_the_side_named_must_pass_the_position_is_that_after_the_pass(right):
    item = one(f"{right['board']} {right['side']}")
    asker = "XO".index(right["side"])
    assert (item.view, item.state.seat) == (asker, 1 - asker)
    assert item.remark == f"{('black', 'white')[asker]} must pass"
    assert GAME.format(item.state) == f"{right['board']} {'OX'[asker]}"
    assert GAME.parse(f"{right['board']} {right['side']}") == item.state
    # One empty square: the game ends with it, so the score needs no solver.
    (action,) = GAME.legal_actions(item.state)
    last = GAME.step(item.state, action)
    sign = 1 - 2 * asker
    assert GAME.is_terminal(last)
    assert (sign * score(last), sign * score(last, "empties-to-winner")) == (right["score_raw"], right["score"])
    for form in ("obf", "board", "diagram"):
        assert replace(one(write_text(GAME, [item], form)), form="", line=1) == replace(item, form="", line=1)


@pytest.mark.parametrize("right", jsonl("reversi_finished.jsonl"))
def test_finished_positions_are_positions(right):
    item = one(f"{right['board']} {right['side']}")
    sign = 1 if right["side"] == "X" else -1
    assert GAME.is_terminal(item.state)
    assert sign * score(item.state) == right["score_raw"]
    assert sign * score(item.state, "empties-to-winner") == right["score"]


def test_suites_of_positions_in_json():
    for name in ("reversi_side_must_pass.jsonl", "reversi_finished.jsonl"):
        items = list(read_file(GAME, DATA / name))
        for item, right in zip(items, jsonl(name), strict=True):
            spelled = one(f"{right['board']} {right['side']}")
            assert replace(item, form="", line=1, value=None) == replace(spelled, form="", line=1)
            assert (item.form, item.value) == ("json", right["score_raw"])
        assert list(read_text(GAME, write_text(GAME, items, "json"))) == items
    board = BOARD.replace("X", "x")
    assert one(json.dumps({"board": board, "side": "black"})).state == GAME.initial_state()
    assert "score_raw is 'x', no number of discs" in error(json.dumps({"board": BOARD, "side": "X", "score_raw": "x"}))
    for bad in ("NaN", "1e999", "true", "65"):
        assert "no number of discs" in error(f'{{"board": "{BOARD}", "side": "X", "score_raw": {bad}}}')
    assert "'board' and 'side'" in error('{"board": "X"}')
    assert "not valid JSON" in error('{"board": ')


# -- boards -----------------------------------------------------------------------------------------------------------

ROWS = [START[at : at + 8] for at in range(0, 64, 8)]
BOARD = START[:64]


@pytest.mark.parametrize(
    "text",
    [
        START,
        START.lower(),
        BOARD + "X",
        BOARD + " X;",
        BOARD + " black",
        BOARD + ", Black to move",
        BOARD + " side to move: X",
        BOARD + " *",
        BOARD + "\n" + "X",
        " ".join(ROWS) + " X",
        "/".join(ROWS) + " x",
        "|" + "|".join(ROWS) + "| b",
        "\n".join(ROWS) + "\nX to move",
        "\n".join(ROWS) + "\n\n".rstrip() + "X",
        " ".join(BOARD) + " X",
        "\n".join(" ".join(row) for row in ROWS) + "\nblack",
        START.replace("-", "."),
        START.replace("-", "_"),
        START.replace("X", "*"),
        START.replace("X", "@"),
        START.replace("X", "#"),
        START.replace("X", "B").replace("O", "W"),
        START.replace("X", "b").replace("O", "w").replace("-", "."),
        BOARD.replace("X", "0").replace("O", "1") + " 0",
        BOARD.replace("X", "0").replace("O", "1").replace("-", ".") + " X",
        BOARD.replace("X", "1").replace("O", "2").replace("-", "0") + " 1",
        BOARD.replace("O", "0") + " X",
        f"BO[8 {' '.join(ROWS).replace('X', '*')} *]",
        f"bo[8 {BOARD.replace('X', '*')} *];",
        "BO[8\n" + "\n".join(ROWS).replace("X", "*") + "\n*]",
    ],
)
def test_spellings_of_a_board(text):
    assert read_one(GAME, text).state == GAME.initial_state()
    assert GAME.parse(text) == GAME.initial_state()


def test_what_a_game_draws_is_read():
    for moves in ("", "f5", "f5d6c3d3c4f4f6"):
        state = GAME.from_moves(moves)
        item = read_one(GAME, GAME.draw(state))
        assert (item.state, item.form) == (state, "diagram")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOARD, "side to move is missing"),
        ("\n".join(ROWS), "side to move is missing"),
        (BOARD[1:] + " X", "63 squares"),
        (BOARD + "- X", "65 squares"),
        (" ".join([ROWS[0][1:], ROWS[1] + "-", *ROWS[2:]]) + " X", "row 1 .* has 7 squares"),
        (START.replace("X", "*", 1), r"'\*' and 'x' both stand for black"),
        (START.replace("-", ".", 1), "both stand for an empty square"),
        (BOARD.replace("X", "1").replace("O", "0").replace("-", "1") + " 0", "more than one way"),
        (BOARD.replace("X", "1") + " X", "more than one way"),
        (START[:-1] + "0", "'0' does not fit"),
        (START[:-1] + "1", "'1' does not fit"),
        (BOARD.replace("X", "1").replace("O", "2").replace("-", "0") + " 0", "'0' does not fit"),
        (f"BO[10 {'-' * 100} *]", "a board of 10 x 10"),
        (f"BO[88 {'-' * 100} *]", "without corners"),
        (f"BO[6 {'-' * 36} *]", "6 x 6, but this game has size=8"),
        (f"BO[x {BOARD} *]", "."),
        ("X" * 5000, "5000 characters"),
    ],
)
def test_a_board_that_could_mean_two_things_or_none_is_refused(text, message):
    with pytest.raises(PositionError, match=message):
        GAME.parse(text)


# -- GGF --------------------------------------------------------------------------------------------------------------

RANDOM_START = "f5d6c3d3c4f4f6f3e6e7"


def ggf(moves="f5 d6 c3", *, re="?", ty="8", bo=None, extra="", name="Othello", seats="BW"):
    board = START.replace("X", "*") if bo is None else bo
    plies = "".join(f"{seats[at % 2]}[{move}]" for at, move in enumerate(moves.split()))
    return f"(;GM[{name}]PC[GGS/os]PB[a+]PW[b]RE[{re}]TI[05:00//02:00]TY[{ty}]{extra}BO[8 {board}]{plies};)"


def test_archives_have_numbered_lines_with_two_games_each():
    text = f"1 {ggf()}\n2 {ggf(ty='s8')}{ggf('d3 c3', ty='s8')}\n\n1 {ggf('f5')}\n{ggf('e6')}\n"
    items = list(read_text(GAME, text))
    assert [(item.line, len(item.actions), item.error) for item in items] == [
        (1, 3, ""), (2, 3, ""), (2, 2, ""), (4, 1, ""), (5, 1, ""),
    ]  # fmt: skip
    assert items[1].headers["Type"] == "s8"
    wrong = list(read_text(GAME, f"3 {ggf()}{ggf()}\n1 {ggf('d3')}"))
    assert [item.error for item in wrong] == ["", "", "3 games are announced, and 2 follow", ""]


def test_one_bad_game_of_two_does_not_take_the_other_with_it():
    first, second = read_text(GAME, f"2 {ggf('f5 a1')}{ggf()}")
    assert "ply 2 (a1): not legal, white captures nothing there" in first.error
    assert len(second.actions) == 3


def test_random_starts():
    start = GAME.from_moves(RANDOM_START)
    board = GAME.format(start).replace("X", "*")
    (action, *_), name = GAME.legal_actions(start), GAME.action_to_text
    item = one(ggf(name(start, action), ty="s8r14", bo=board))
    assert (item.start, item.actions, item.error) == (start, (action,), "")
    assert replace(one(write_text(GAME, [item], "ggf")), line=1) == item


@pytest.mark.parametrize("spelled", ["PA", "pass", "pa", "--", "PASS/0.5/1.2"])
def test_passes_evaluations_and_times(spelled):
    sample = (DATA / "reversi_games.ggf").read_text().splitlines()[0]
    item = one(sample.replace("W[PA//0.5]", f"W[{spelled}]"))
    assert item.error == ""
    assert item.actions == one(sample).actions
    left_out = one(sample.replace("W[PA//0.5]", ""))
    assert left_out.actions == item.actions
    assert left_out.headers["Annotations"].count("//0.5") == 60
    assert "this pass is not forced" in error(ggf("f5 PA"))


def test_whose_move_it_is_counts():
    assert "a move of white, but black is to move" in error(ggf("f5 d6", seats="WB"))
    sample = (DATA / "reversi_games.ggf").read_text().splitlines()[0]
    assert "black passes but can move" in error(sample.replace("W[PA", "B[PA"))


@pytest.mark.parametrize(
    ("re", "winner", "result", "remark"),
    [
        ("-40.00:r", 1, "W+40 resigned", "not played out (resigned): W+40 resigned"),
        ("+64.000:t", 0, "B+64 timeout", "not played out (timeout): B+64 timeout"),
        ("+2.00:s", 0, "B+2 agreed", "not played out (agreed): B+2 agreed"),
        ("0:s", 2, "draw agreed", "not played out (agreed): draw agreed"),
        ("+0.5", 0, "B+0.5", "a result of half a disc: B+0.5"),
        ("?", None, None, ""),
    ],
)
def test_results_that_were_not_played_out_are_kept_and_said(re, winner, result, remark):
    item = one(ggf(re=re))
    assert (item.winner, item.headers.get("Result"), item.remark) == (winner, result, remark)
    for form in ("ggf", "pgn"):
        again = one(write_text(GAME, [item], form))
        assert again.headers.get("Result") == result
        assert again.winner == (-1 if winner is None and form == "pgn" else winner)  # PGN's * says unfinished


def test_both_ways_of_counting_empty_squares_are_right():
    """A wipe-out at move 9: 13 discs, or all 64 squares."""
    moves = "d3 c3 b3 d2 e1 d6 d7 e3 f4"
    for re, header in (("+13", None), ("+64", "B+64")):
        item = one(ggf(moves, re=re))
        assert (item.error, item.margin, item.headers.get("Result")) == ("", 13, header)
        assert one(write_text(GAME, [item], "ggf")).headers == item.headers
        assert one(write_text(GAME, [item], "pgn")).headers.get("Result") == header
    assert one(ggf(moves, re="+12")).margin == 12  # what importers compare with the moves' 13
    assert one(ggf(moves, re="-64")).winner == 1


def test_komi():
    moves = "d3 c3 b3 d2 e1 d6 d7 e3 f4"
    item = one(ggf(moves, re="+9", ty="8k", extra="KM[4]KB[4.00//3.2]"))
    assert (item.margin, item.remark, item.headers["Komi"], item.headers["KB"]) == (13, "komi 4: B+9", "4", "4.00//3.2")
    assert one(ggf(moves, re="+9")).margin == 9


def test_programs_write_ggf_in_their_own_ways():
    assert len(one(ggf(ty="0", name="othello")).actions) == 3
    board = "BO[8 ---------------------------O*------*O--------------------------- *]"
    assert len(one(f"(;GM[Othello]PC[]PB[a]PW[]RE[2]TI[0]{board}B[F5/-1.04/0.01]W[D6//0.01])").actions) == 2
    assert one(f" (; GM[Othello]\n{board}\nB[F5]\nW[D6] ; ) ").error == ""


def test_unknown_properties_are_kept():
    item = one(ggf(extra="XY[what (is) this?]Kind[z]"))
    assert (item.headers["XY"], item.headers["Kind"]) == ("what (is) this?", "z")
    assert one(write_text(GAME, [item], "ggf")).headers == item.headers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ggf(ty="10"), "a board of 10 x 10"),
        (ggf(ty="88"), "without corners"),
        (ggf(ty="8a"), "fewer discs win"),
        (ggf(ty="6"), "6 x 6, but this game has size=8"),
        (ggf(ty="x"), "no type of game"),
        (ggf(name="Amazons"), r"GM[Amazons]: a game of GM[Othello] is expected"),
        (ggf(extra="PC[again]"), "PC stands twice"),
        (ggf()[:-2], "does not end"),
        (ggf().replace("BO[8", "BO[10"), "a board of 10 x 10"),
        (ggf("f5 z9"), "'z9' is not a square"),
    ],
)
def test_ggf_that_is_no_game_here(text, message):
    assert message in error(text)


def test_ggf_on_other_sizes():
    for size in (4, 6):
        game = make_game("reversi", size=size)
        first = game.legal_actions(game.initial_state())[0]
        item = Item(state=game.step(game.initial_state(), first), actions=(first,))
        text = write_text(game, [item], "ggf")
        assert f"TY[{size}]" in text
        assert one(text, game).actions == (first,)


# -- SGF --------------------------------------------------------------------------------------------------------------


def test_sgf_squares_by_letters():
    assert one("(;GM[2];B[fe];W[df];B[cc])").actions == one("(;GM[2];B[f5];W[D6];B[c3])").actions


def test_sgf_variations_comments_and_starts():
    item = one("(;GM[2]EV[Cup]C[hello \\] x];B[f5]C[good];W[d6]TE[1](;B[c3];W[d3])(;B[c4])(;B[c5](;W[b6])(;W[c4])))")
    assert (GAME.write_moves(item.actions), item.remark) == ("f5d6c3d3", "2 other lines of play left out")
    assert (item.headers["Event"], item.headers["C"]) == ("Cup", "hello ] x")
    again = one(write_text(GAME, [item], "sgf"))
    assert replace(again, remark=item.remark) == item
    assert "C[good]" in write_text(GAME, [item], "sgf")
    assert "TE[1]" in write_text(GAME, [item], "sgf")
    late = one("(;GM[2]AB[f5][e5]PL[W];W[d6])")
    assert late.start == GAME.from_moves("f5")
    assert one(write_text(GAME, [late], "sgf")) == late
    assert one("(;GM[2];B[f5];C[what];W[d6])").remark == "1 nodes without a move left out"


@pytest.mark.parametrize(
    ("re", "winner", "result"),
    [("B+R", 0, "B resigned"), ("W+Time", 1, "W timeout"), ("W+12", 1, "W+12"), ("Draw", 2, "draw"), ("?", None, None)],
)
def test_sgf_results(re, winner, result):
    item = one(f"(;GM[2]RE[{re}];B[f5])")
    assert (item.winner, item.headers.get("Result")) == (winner, result)
    assert one(write_text(GAME, [item], "sgf")) == item


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[1];B[ee])", "GM[1]: a game of GM[2], Othello, is expected"),
        ("(;GM[2]SZ[10];B[f5])", "10 x 10"),
        ("(;GM[2];B[f5]", "does not end"),
        ("(;GM[2];B[f5];AB[a1])", "after the start"),
        ("(;GM[2];B[f5]W[d6])", "more than one move"),
        ("(;GM[2];B[f5][d3])", "more than one move"),
        ("(;GM[2];W[f5])", "a move of white, but black is to move"),
        ("(;GM[2];B[])", "this pass is not forced"),
        ("(;GM[2]PL[X];B[f5])", "PL[x]"),
    ],
)
def test_sgf_that_is_no_game_here(text, message):
    assert message in error(text)


def test_deep_nesting_is_an_error_and_no_crash():
    assert "SGF" in error("(;GM[2]" * 50_000)
    assert "JSON" in error('{"moves": [' + "[" * 100_000)


@pytest.mark.parametrize(
    "text",
    [
        "(;" * 20_000,
        "(;GM[" * 20_000,
        "(;GM[Othello]" + " " * 50_000 + "x",
        "(;GM[2]C[" + "\\" * 50_000,
        "[" * 50_000,
        "(;GM[2]" + "[" * 50_000,
        "1. f5 {" + "x" * 50_000,
        "X" * 8 + " " * 50_000 + "x\n" + "X" * 8,
        START[:64] + " " * 50_000 + "x y",
        f"BO[8 {START}]" + " " * 50_000 + "x",
        "(;GM[Othello];)\n" * 20_000,
    ],
    ids=lambda text: text[:16].strip(),
)
def test_long_texts_take_time_in_proportion(text):
    """Where a pattern or a count began again at every character, half a million characters took minutes."""
    began = time.process_time()
    for _ in read_text(GAME, text):
        pass
    assert time.process_time() - began < 10


# -- numbered games, PGN, Quest ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1. f5 d6 2. c3 d3",
        "1.f5 d6 2.c3 d3",
        "1. F5D6 2. C3D3",
        "1) f5 d6 2) c3 d3",
        "1. f5 1... d6 2. c3 d3",
        "1. f5 2. d6 3. c3 4. d3",
        "1. f5 d6\n3. c3 d3",
        "1. f5! d6?? {a comment} 2. c3 $1 (2. c4 d3) d3",
        "1. f5 d6 2. c3 d3 *",
        "1. f5 d6 2. c3 d3 32-32",
    ],
)
def test_ways_of_numbering(text):
    item = one(text)
    assert (item.error, item.form) == ("", "numbered")
    assert GAME.write_moves(item.actions) == "f5d6c3d3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. f5 d6 2. c3 4. d3", "moves are missing"),
        ("1. f5 d6 4. c3 d3", "move number 4 stands before ply 3"),
        ("1. f5 d6 2. c3 1. d3", "move number 1 stands before ply 4"),
        ("1. f5 pa", "this pass is not forced"),
        ("1. f5 Nf6", "'Nf6' is not a move"),
        ("1. f5 d6 34-30 2. c3", "stands after the result"),
        ("1. f5 (d6", "does not end"),
    ],
)
def test_numbered_games_that_do_not_read(text, message):
    assert message in error(text)


def test_pgn_of_archives():
    """The layout of a public archive made from WTHOR: numbers count plies, passes left out, the score as result."""
    moves = jsonl("reversi_games_expected.jsonl")[0]["moves"]
    squares = [moves[at : at + 2].upper() for at in range(0, len(moves), 2)]
    lines = [f"{at + 1}. {' '.join(squares[at : at + 2])}" for at in range(0, len(squares), 2)]
    text = '[Event "Cup - 1999"]\n[Date "1999"]\n[Black "A \\"x\\""]\n[White "B"]\n[Result "34-30"]\n\n'
    items = list(read_text(GAME, (text + "\n".join([*lines, "34-30"]) + "\n\n") * 2))
    assert [(item.error, item.form) for item in items] == [("", "pgn")] * 2
    assert GAME.write_moves(items[0].actions) == moves
    assert (items[0].players, items[0].winner, items[0].margin) == (('A "x"', "B"), 0, 4)
    assert items[0].headers == {"Event": "Cup - 1999", "Date": "1999"}
    (again,) = read_text(GAME, write_text(GAME, items[:1], "pgn"))
    assert again == items[0]
    wrong = one((text + "\n".join(lines)).replace("34-30", "40-24"))
    assert wrong.margin == 16
    assert "two results" in one(text + "\n".join([*lines, "40-24"])).remark
    assert "result 'who' is not known" in error(text.replace("34-30", "who") + "1. f5")


def test_quest_keeps_names_and_times():
    moves = '{"moves": [{"m": "f5", "t": 9}, {"m": "d6"}]}'
    text = f'{{"id": "g1", "players": [{{"id": "a"}}, {{"name": "b"}}], "position": {moves}}}'
    item = one(text)
    assert (GAME.write_moves(item.actions), item.players, item.headers["id"]) == ("f5d6", ("a", "b"), "g1")
    assert one(write_text(GAME, [item], "quest")) == item
    (first, second) = read_text(GAME, f"[{text},\n {text}]")
    assert first.actions == second.actions
    assert "move 1 is 'f5', not an object" in error('{"moves": ["f5"]}').replace('"', "'")
    assert "a list 'moves'" in error('{"x": {"moves": []}}')


# -- round trips ------------------------------------------------------------------------------------------------------


@st.composite
def games(draw, size):
    """A game from the usual or a random start, whole or broken off, as an Item."""
    game = make_game("reversi", size=size)
    state = start = game.initial_state()
    actions, first = [], draw(st.integers(0, 12)) if draw(st.booleans()) else 0
    most = draw(st.sampled_from((3, 20, 64)))
    while not game.is_terminal(state) and len(actions) < first + most:
        if len(actions) == first:
            start = state
        actions.append(draw(st.sampled_from(game.legal_actions(state))))
        state = game.step(state, actions[-1])
    if len(actions) <= first:
        start, first = game.initial_state(), 0
    return game, Item(
        state=state,
        start=None if first == 0 else start,
        actions=tuple(actions[first:]),
        players=draw(st.none() | st.tuples(*[st.sampled_from(["a", "Ü ñ", 'x "y"', "back\\slash", "?b"])] * 2)),
        headers=draw(
            st.dictionaries(st.sampled_from(["Date", "Site", "Event"]), st.sampled_from(["1999", "a b", "é"]))
        ),
    )


@pytest.mark.parametrize("size", [4, 6, 8])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_games_survive_every_form(size, data):
    game, item = data.draw(games(size))
    for form in GAME_FORMS:
        known = find_form(game, form)
        if item.start is not None and form in ("quest", "numbered"):
            with pytest.raises(PositionError, match="usual start"):
                known.write(item)
            continue
        text = write_text(game, [item, item], form)
        first, second = read_text(game, text)  # no form is named: which one it is follows from the text
        assert (first.error, first.form) == ("", form)
        assert (first.actions, first.start, first.state) == (item.actions, item.start, item.state)
        assert second.actions == item.actions
        claims = [known.name for known in game.forms if known.kind == "game" and known.sniff(text)]
        assert claims == [form]
        if form != "numbered":
            assert first.players == item.players
            extra = {"Type": str(size)} if form == "ggf" else {}
            assert dict(first.headers) == dict(item.headers) | extra
        assert write_text(game, [first, second], form) == text
    for form in ("obf", "board", "diagram", "position"):
        text = write_text(game, [Item(state=item.state)], form)
        again = one(text, game)
        assert (again.form, again.state) == (form, item.state)


def test_games_go_from_any_form_to_any_other():
    items = list(read_file(GAME, DATA / "reversi_games.ggf"))
    for first in GAME_FORMS:
        passed = list(read_text(GAME, write_text(GAME, items, first)))
        for second in GAME_FORMS:
            again = list(read_text(GAME, write_text(GAME, passed, second)))
            assert [item.actions for item in again] == [item.actions for item in items]
    notes = [item.headers.get("Annotations") for item in items]
    for form in ("sgf", "pgn", "ggf"):
        again = list(read_text(GAME, write_text(GAME, items, form)))
        assert [item.headers.get("Annotations") for item in again] == notes
