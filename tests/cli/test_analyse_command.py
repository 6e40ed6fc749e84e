import io
import json
import re
from pathlib import Path

import pytest

from board_agents.cli.analyse_command import Analysis, _answer, analyse, words
from board_agents.registry import make_oracle
from board_envs import make_game
from board_envs.forms import Item

KEYS = {"game", "position", "to_play", "winner", "exact", "unit", "value", "moves", "best", "line", "seconds", "form"}
SAMPLES = Path(__file__).parents[1] / "data" / "forms"


@pytest.fixture
def stream(run, monkeypatch):
    """Run analyse with bytes on standard input; returns the exit code and the parsed lines."""

    def call(data, *arguments):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        code, out, err = run("analyse", *arguments, "--stdin")
        assert err == ""
        return code, [json.loads(line) for line in out.splitlines()]

    return call


@pytest.mark.parametrize("misere", ["false", "true"])
def test_nim_by_its_closed_form(run, misere):
    code, out, _ = run("analyse", "nim", "1,2,3 1", "--json", "--param", f"misere={misere}")
    assert code == 0
    data = json.loads(out)
    assert set(data) == KEYS
    assert (data["to_play"], data["exact"], data["unit"], data["value"]) == (1, True, "win", -1)
    assert data["moves"] == dict.fromkeys(["1:1", "2:1", "2:2", "3:1", "3:2", "3:3"], -1)
    assert data["best"] == list(data["moves"])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("nim", {"heaps": (2, 3, 1)}),
        ("reversi", {"size": 4}),
        ("connect-four", {"rows": 3, "columns": 4, "connect": 3}),
        ("awale", {"pits": 2, "seeds": 1}),
    ],
)
def test_the_line_is_play_by_the_best_values_to_the_end(run, name, parameters):
    game = make_game(name, **parameters)
    oracle = make_oracle(game, "exhaustive:budget=3000000")
    arguments = []
    for key, value in parameters.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else value
        arguments += ["--param", f"{key}={text}"]
    code, out, _ = run("analyse", name, "--json", "--oracle", "exhaustive:budget=3000000", *arguments)
    assert code == 0
    data = json.loads(out)
    state = game.initial_state()
    assert data["position"] == game.format(state)
    for move in data["line"]:
        values = oracle.action_values(state)
        action = game.text_to_action(state, move)
        assert values[action] == max(values.values())
        state = game.step(state, action)
    assert game.is_terminal(state)
    assert data["moves"] == {
        game.action_to_text(game.initial_state(), action): value
        for action, value in oracle.action_values(game.initial_state()).items()
    }
    assert data["value"] == max(data["moves"].values())
    assert set(data["best"]) == {move for move, value in data["moves"].items() if value == data["value"]}


def test_values_to_come_in_words():
    game = make_game("awale", pits=2, seeds=1)
    analysis = Analysis(game, game.initial_state(), "seeds", {}, None, [], 0.0)
    assert words(analysis, 0, 2) == "2 seeds more than the other from here"
    assert words(analysis, 0, -1) == "1 seed less than the other from here"
    assert words(analysis, 0, 0) == "equal from here"


SMALL = ["--param", "rows=3", "--param", "columns=4", "--param", "connect=3", "--oracle", "exhaustive"]
"""A board that plain search knows all about: nothing is compiled for it."""


def test_connect_four_tells_plies_beside_pons_score(run):
    arguments = SMALL
    game = make_game("connect-four", rows=3, columns=4, connect=3)
    state = game.initial_state()
    data = json.loads(run("analyse", "connect-four", "--json", *arguments)[1])
    assert data["unit"] == "pons"
    assert data["plies"] == len(data["line"])
    # The score is a function of the plies: (cells + 1 - stones before the winning move) // 2.
    assert data["value"] == (12 + 1 - (data["plies"] - 1)) // 2
    assert data["winner"] == -1
    code, out, _ = run("analyse", "connect-four", *arguments)
    assert code == 0
    assert f"wins in {data['plies']} plies" in out
    assert "principal variation: " + "".join(data["line"]) in out
    assert re.search(r"time: [0-9]+\.[0-9]{2} s", out)
    assert data["seconds"] >= 0
    for move, plies in data["move_plies"].items():
        without_flag = json.loads(run("analyse", "connect-four", move, "--json", *arguments)[1])
        assert without_flag["plies"] + 1 == plies
        after = json.loads(run("analyse", "connect-four", move, "--moves", "--json", *arguments)[1])
        assert after["plies"] + 1 == plies
        assert after["position"] == game.format(game.step(state, game.text_to_action(state, move)))


def test_connect_four_by_its_solver(run):
    pytest.importorskip("numba")
    game = make_game("connect-four")
    # A line of a published position: 22 stones, player_0 to move.
    moves = "2252576253462244111563"
    data = json.loads(run("analyse", "connect-four", moves, "--moves", "--json")[1])
    assert data["exact"] is True
    assert data["unit"] == "pons"
    assert data["plies"] == len(data["line"])
    end = game.from_moves(moves + "".join(data["line"]))
    assert game.is_terminal(end)
    score = {0: 1, 1: -1, 2: 0}[int(game.winner(end))] * (43 - (len(moves) + len(data["line"]) - 1)) // 2
    assert data["value"] == score
    assert set(data["moves"]) == set(data["move_plies"])


def test_reversi_by_either_way_of_counting(run):
    pytest.importorskip("numba")
    plain = json.loads(run("analyse", "reversi", "--param", "size=4", "--json")[1])
    tournament = json.loads(run("analyse", "reversi", "--param", "size=4", "--json", "--empties-to-winner")[1])
    assert (plain["value"], tournament["value"]) == (-8, -10)
    assert plain["unit"] == tournament["unit"] == "discs"


def test_a_position_out_of_reach_is_told_as_such(run):
    code, out, _ = run("analyse", "connect-four", "--json", "--oracle", "exhaustive:budget=100")
    assert code == 0
    data = json.loads(out)
    assert data["exact"] is False
    assert data["value"] is None
    assert set(data["moves"].values()) == {None}
    assert data["best"] == data["line"] == []
    assert "within the oracle's reach" in run("analyse", "connect-four", "--oracle", "exhaustive:budget=100")[1]


def test_estimates_stand_beside_unknown_values_and_are_never_called_exact(run):
    pytest.importorskip("numba")
    data = json.loads(run("analyse", "reversi", "--moves", "d3c3c4", "--json")[1])
    assert (data["exact"], data["value"], data["best"], data["line"]) == (False, None, [], [])
    assert set(data["moves"].values()) == {None}
    estimate = data["estimate"]
    assert set(estimate["moves"]) == set(data["moves"])
    assert estimate["value"] == max(estimate["moves"].values()) == estimate["moves"][estimate["best"]]
    assert estimate["line"][0] == estimate["best"]
    assert abs(estimate["value"]) < 10
    text = run("analyse", "reversi", "--moves", "d3c3c4")[1]
    assert "within the oracle's reach" in text
    assert "estimate (discs)" in text
    for other in (["reversi", "-p", "size=6"], ["connect-four", "--oracle", "exhaustive:budget=100"]):
        assert "estimate" not in json.loads(run("analyse", *other, "--json")[1])


def test_a_finished_game_has_a_winner_and_no_moves(run):
    data = json.loads(run("analyse", "nim", "0,0,0 1", "--json")[1])
    assert (data["winner"], data["value"], data["moves"], data["line"]) == (0, -1, {}, [])
    assert (data["exact"], data["margin"], data["to_play"]) == (True, -1, 1)
    assert "the game is over: player_0 won" in run("analyse", "nim", "0,0,0 1")[1]


def test_finished_games_are_worth_what_their_values_count(run):
    # Connect Four: won with the 7th stone, 6 before it: (42 + 1 - 6) // 2 = 18, against the seat that would be next.
    data = json.loads(run("analyse", "connect-four", "1212121", "--moves", "--json")[1])
    assert (data["exact"], data["value"], data["winner"], data["to_play"]) == (True, -18, 0, 1)
    # Reversi: discs. A board full of black's.
    data = json.loads(run("analyse", "reversi", "X" * 16 + " O", "-p", "size=4", "--json")[1])
    assert (data["exact"], data["value"], data["margin"]) == (True, -16, -16)
    # Awalé: no seed is still to come; the margin is that of the stores.
    data = json.loads(run("analyse", "awale", "0,0,0,0,0,0;7,5 0", "-p", "pits=3", "-p", "seeds=2", "--json")[1])
    assert (data["exact"], data["value"], data["margin"], data["winner"]) == (True, 0, 2, 0)


def test_values_are_those_of_the_side_that_the_text_names():
    """A side that must pass asks: the position is the one after the pass, the values are the asker's."""
    game = make_game("nim")
    state = game.parse("1,2,2 1")
    data = _answer(analyse(game, make_oracle(game), state), Item(state=state, view=0, remark="player_0 must pass"))[0]
    assert (data["to_play"], data["view"], data["value"], data["remark"]) == (1, 0, -1, "player_0 must pass")
    assert data["moves"]["1:1"] == -1
    assert data["best"] == ["1:1"]
    plain = _answer(analyse(game, make_oracle(game), state), Item(state=state, view=0))[0]
    assert (plain["value"], "view" in plain) == (1, False)


def test_a_side_that_must_pass_is_answered_with_its_own_values(run):
    pytest.importorskip("numba")
    # White has no move; black takes the last square, a2.
    board = "XOOOOOOX-OOOXOOXXOOOOXOXXXXXOOOXXXXXOOOXXXXXOXXOXXXXXXOOXXXXXOOO"
    game = make_game("reversi")
    end = game.step(game.parse(board + " X"), 8)
    assert game.is_terminal(end)
    data = json.loads(run("analyse", "reversi", board + " O", "--json")[1])
    assert (data["to_play"], data["view"], data["exact"]) == (0, 1, True)
    assert (data["value"], data["moves"]) == (-game.margin(end), {"a2": -game.margin(end)})
    assert "white must pass" in data["remark"]
    asked_by_black = json.loads(run("analyse", "reversi", board + " X", "--json")[1])
    assert (asked_by_black["value"], "view" in asked_by_black) == (game.margin(end), False)
    text = run("analyse", "reversi", board + " O")[1]
    assert "white must pass" in text
    assert "player_0 to move, values for player_1" in text
    assert f"{-game.margin(end):+}" in text


def test_a_stream_answers_every_line_and_stops_at_none(stream):
    lines = [
        b"3,4,5",
        b"9,9,9",
        b"",
        b"\xff\xfe",
        b"1,2,3 1",
        b"x" * 20_000,
        "\u0663,4,5".encode(),
        b"0,0,0",
        b"9" * 5000,
    ]
    code, answers = stream(b"\n".join(lines), "nim")
    assert code == 0
    assert len(answers) == len(lines)
    failed = {number for number, answer in enumerate(answers, 1) if "error" in answer}
    assert failed == {2, 3, 4, 6, 7, 9}
    for number in failed:
        assert set(answers[number - 1]) == {"error", "line"}
        assert answers[number - 1]["line"] == number
        assert answers[number - 1]["error"]
    assert answers[0]["best"] == ["1:2"]
    assert answers[4]["to_play"] == 1


def test_a_stream_of_games(stream):
    arguments = ["connect-four", "--moves", *SMALL]
    code, answers = stream(b"22\n\n2313\n99\n", *arguments)
    assert code == 0
    assert answers[0]["position"] == "----/-O--/-X-- 0"
    assert answers[1]["position"] == "----/----/---- 0"
    assert "error" not in answers[2]
    assert answers[3]["line"] == 4


@pytest.mark.parametrize(("sample", "form", "values"), [("pons_lines.txt", "pons", 17), ("uci_rows.csv", "uci", 6)])
def test_values_that_a_file_states_are_compared(stream, sample, form, values):
    pytest.importorskip("numba")
    code, answers = stream((SAMPLES / sample).read_bytes(), "connect-four", "--check")
    assert code == 0
    assert answers.pop() == {"checked": values, "differ": 0, "values": values, "unknown": 0, "errors": 0}
    assert len(answers) == values
    for line, answer in enumerate(answers, 1):
        assert answer["form"] == form
        assert (answer["stated"]["line"], answer["stated"]["differences"]) == (line, [])
        if form == "pons":
            assert answer["value"] == answer["stated"]["value"]


def test_a_form_brings_its_way_of_counting(stream):
    pytest.importorskip("numba")
    sample = (SAMPLES / "reversi_problems.obf").read_bytes()
    values = sum(line.count(b":") for line in sample.splitlines() if not line.startswith(b"%"))
    code, answers = stream(sample, "reversi", "--check")
    assert code == 0
    assert answers[-1] == {"checked": 8, "differ": 0, "values": values, "unknown": 0, "errors": 0}
    # On 4 x 4 the first player loses by 8 discs, and by 10 where the two empty squares are the winner's.
    start = b"-----OX--XO----- X; B1:-10; A2:-10; D3:-10; C4:-10;\n"
    assert stream(start, "reversi", "-p", "size=4", "--check")[0] == 0
    code, answers = stream(start, "reversi", "-p", "size=4", "--check", "--oracle", "reversi-endgame")
    assert code == 1
    assert "move b1: -10 stated, exact value -8" in answers[0]["stated"]["differences"]


def test_kaggle_boards_are_compared_move_by_move(stream):
    pytest.importorskip("numba")
    text = (SAMPLES / "kaggle_boards.jsonl").read_text()
    values = sum(1 + sum(score != -99 for score in json.loads(line)["move score"]) for line in text.splitlines())
    code, answers = stream(text.encode(), "connect-four", "--check")
    assert code == 0
    assert answers[-1] == {"checked": 12, "differ": 0, "values": values, "unknown": 0, "errors": 0}


def test_a_stated_value_that_differs_is_reported_and_the_rest_goes_on(run, stream):
    pytest.importorskip("numba")
    code, answers = stream(b"477751 17\n477751 16\n4777519 3\n477751\n", "connect-four", "--check")
    assert code == 1
    assert answers[1]["stated"]["differences"] == ["value: +16 stated, exact value +17"]
    assert "error" in answers[2]
    assert "stated" not in answers[3]
    assert answers[4] == {"checked": 2, "differ": 1, "values": 2, "unknown": 0, "errors": 1}
    assert stream(b"477751 16\n", "connect-four")[0] == 0
    assert run("analyse", "connect-four", "477751 16", "--check")[0] == 1
    code, out, _ = run("analyse", "connect-four", "477751 17", "--check")
    assert code == 0
    assert "read as: pons" in out
    assert "the stated values agree" in out
    code, _, err = run("analyse", "connect-four", "477751", "--check")
    assert (code, "no value is stated" in err) == (2, True)
    code, _, err = run("analyse", "connect-four", "477751 17", "--check", "--oracle", "exhaustive:budget=10")
    assert (code, "1 stated values are out of the oracle's reach" in err) == (2, True)


def test_any_form_is_analysed_and_named(run):
    board = json.dumps({"board": [0] * 11 + [1], "mark": 2})
    for text, form in (
        (board, "kaggle"),
        ("bad", "letters"),
        ("xo../..../....", None),
        ("----/----/X--- 1", "position"),
    ):
        code, out, err = run("analyse", "connect-four", text, "--json", *SMALL)
        if form is None:
            assert (code, "floats" in err) == (2, True)
        else:
            assert json.loads(out)["form"] == form
    code, _, err = run("analyse", "connect-four", "bad", "--form", "leters", *SMALL)
    assert (code, "did you mean 'letters'?" in err) == (2, True)


def test_an_empty_stream(stream):
    assert stream(b"", "nim") == (0, [])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nim", "1,2"], "this game has 3"),
        (["nim", "9,9,9"], "more than the 3"),
        (["connect-four", "-------/-------/-------/-------/---X---/-------"], "floats"),
        (["connect-four", "--moves", "4453x"], "move 5"),
        (["connect-four", "4453x"], "nor moves (move 5"),
        (["connect-four", "44444444"], "nor moves (move 7 ('4')"),
        (["connect-four", ""], "6 rows"),
        (["nim", "3,4,5", "--stdin"], "--stdin"),
        (["nim", "--oracle", "crystal"], "crystal"),
        (["connect-four", "44 53"], "a score is -21 to 21"),
        (["nim", "--empties-to-winner"], "reversi"),
        (["nim", "9" * 5000], ""),
    ],
)
def test_mistakes(run, arguments, told):
    code, out, err = run("analyse", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("board-envs: ")
    assert err.count("\n") == 1
    assert told in err
