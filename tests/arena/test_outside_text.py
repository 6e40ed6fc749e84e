"""Names and texts from outside, in CSV, on pages, in figures and on the terminal."""

import csv
import dataclasses
import io
import json
import math

import pytest

from board_agents.arena import play_game, tournament
from board_agents.arena.records.text_formats import write_records
from board_agents.arena.statistics.ratings import rate, to_json
from board_agents.cli import main
from board_agents.lowlevel.visible_text import visible
from board_envs import make_game

NIM = make_game("nim")
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://localhost";"x")']
CONTROLS = "a\x1b[31mred\x1b]0;title\x07\x00\x9b2Jb\u202ecba\x7f"


def games_of(*names, games=4):
    """Records of a tournament, its agents renamed."""
    records = tournament(NIM, ["random", "greedy"], games=games).records
    new = dict(zip(("random", "greedy"), names, strict=True))
    return [dataclasses.replace(record, agents=tuple(new[name] for name in record.agents)) for record in records]


@pytest.mark.parametrize("name", FORMULAS)
def test_a_name_is_no_formula_in_csv(tmp_path, name, capsys):
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("matplotlib")
    database, report = tmp_path / "games.db", tmp_path / "report.csv"
    write_records(str(database), games_of(name, "plain"), "=run")
    assert main(["report", str(database), "-o", str(report), "--judged", "0"]) == 0
    rows = list(csv.DictReader(io.StringIO(report.read_bytes().decode(), newline="")))
    assert {row["agent"] for row in rows} == {"?=1" if name == "\r=1" else "'" + name, "plain"}
    capsys.readouterr()
    assert main(["records", "query", str(database), "runs", "--csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row["run"] == "'=run"
    assert main(["records", "query", str(database), "runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["run"] == "=run"  # what programs read stays as it is


def test_numbers_in_csv_stay_numbers(tmp_path):
    pytest.importorskip("matplotlib")
    games, report = tmp_path / "games.jsonl", tmp_path / "report.csv"
    write_records(str(games), tournament(NIM, ["random", "nim-xor"], games=20).records)
    assert main(["report", str(games), "-o", str(report), "--judged", "0"]) == 0
    ratings = [float(row["rating"]) for row in csv.DictReader(io.StringIO(report.read_text()))]
    assert min(ratings) < 0 < max(ratings)


@pytest.mark.parametrize("names", [("$a$", "b$x^2$"), ("$", "$$"), ("$\\frac$", "\\$"), ("a_b^{", "_hidden")])
def test_dollars_in_names_are_no_formulas_in_figures(tmp_path, names):
    pytest.importorskip("matplotlib")
    games, report = tmp_path / "games.jsonl", tmp_path / "report.html"
    write_records(str(games), games_of(*names))
    title = "from $5 to $title and $games"
    assert main(["report", str(games), "-o", str(report), "--title", title, "--judged", "0"]) == 0
    text = report.read_text()
    assert f"<h1>{title}</h1>" in text
    for name in names:
        assert f">{name}<" in text  # a label of a figure, as it is


def test_control_characters_reach_neither_terminal_nor_page(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    games, report = tmp_path / "games.jsonl", tmp_path / "report.html"
    records = games_of(CONTROLS, "b")
    fault = play_game(NIM, [lambda observation: 99, "random"], names=(CONTROLS, "b"))
    records.append(dataclasses.replace(fault, detail=CONTROLS, opening_number=99))
    write_records(str(games), records)
    assert main(["report", str(games), "-o", str(report), "--judged", "0"]) == 0
    page = report.read_text()
    assert not set(page) & set("\x1b\x07\x00\x9b\x7f\u202e")
    assert visible(CONTROLS) in page
    capsys.readouterr()
    assert main(["tournament", "nim", "-a", f"\x1b[31m,{CONTROLS}"]) == 2
    assert main(["records", "check", str(tmp_path / f"no{CONTROLS[1:]}such.jsonl").replace("\x00", "")]) == 2
    captured = capsys.readouterr()
    assert not set(captured.out + captured.err) & set("\x1b\x07\x00\x9b\x7f\u202e")


def test_control_characters_do_not_reach_a_table(capsys):
    from rich.table import Table
    from rich.text import Text

    from board_agents.cli.console import err, out

    table = Table("agent", "score")
    table.add_row(Text(CONTROLS), "1")
    out().print(table)
    out().print(CONTROLS, markup=False)
    err().print(CONTROLS, markup=False)
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert "red" in text
        assert not set(text) & set("\x1b\x07\x00\x9b\x7f\u202e")


def test_visible_text_keeps_what_can_be_seen():
    text = "é ∞ – 漢字\tand\nlines 🎲"
    assert visible(text) == text
    assert visible(CONTROLS) == "a?[31mred?]0;title???2Jb?cba?"


def test_ratings_without_games_are_not_numbers():
    unfinished = play_game(NIM, ["random", "random"], names=("a", "b"), max_plies=2)
    ratings = rate([unfinished], ["a", "b", "c"])
    assert [agent.games for agent in ratings.agents] == [0, 0, 0]
    for agent in ratings.agents:
        assert all(map(math.isnan, (agent.rating, agent.low, agent.high)))
    assert all(map(math.isnan, ratings.first_move))
    data = json.loads(json.dumps(to_json(ratings), allow_nan=False))
    assert [(agent["rating"], agent["low"], agent["high"]) for agent in data["agents"]] == [(None, None, None)] * 3
    assert {(entry["advantage"], entry["low"], entry["high"]) for entry in data["first_move"]} == {(None, None, None)}
    played = rate(tournament(NIM, ["random", "greedy"], games=4).records, ["random", "greedy", "absent"])
    assert math.isnan(played.of("absent").low)
    assert math.isfinite(played.of("random").rating)


def test_a_tournament_without_results_says_so(capsys):
    assert (
        main(["tournament", "nim", "-a", "random,greedy", "-n", "2", "--max-plies", "1", "--opening-plies", "0"]) == 0
    )
    out = capsys.readouterr().out
    assert "no games with a result, no rating" in out
    assert "0 to" not in out
    arguments = ["-n", "2", "--max-plies", "1", "--opening-plies", "0", "--json"]
    assert main(["tournament", "nim", "-a", "random,greedy", *arguments]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [agent["rating"]["low"] for agent in data["agents"]] == [None, None]
