import json
from pathlib import Path

import pytest

from board_agents.arena.records.text_formats import read_records


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "FILE"],
        ["query", "FILE", "wins", "player=random"],
        ["analyse", "FILE", "--oracle", "default"],
        ["copy", "FILE", "games.jsonl"],
    ],
)
@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_a_database_that_is_not_there_is_told_and_not_made(run, tmp_path, monkeypatch, arguments, form):
    pytest.importorskip("sqlalchemy")
    monkeypatch.chdir(tmp_path)
    source = form.format(tmp_path / "gmaes.db")
    code, out, err = run("records", *[source if word == "FILE" else word for word in arguments])
    assert (code, out) == (2, "")
    assert err == f"board-envs: {source}: no such file\n"
    code, out, err = run("report", source, "--output", "page.html")
    assert (code, out) == (2, "")
    assert "no such file" in err
    assert not list(tmp_path.iterdir())


def test_a_database_is_not_copied_onto_itself(run, tmp_path):
    pytest.importorskip("sqlalchemy")
    database, link = tmp_path / "games.db", tmp_path / "link.db"
    assert run("tournament", "nim", "-a", "random,nim-xor", "-n", 2, "--records", database, "--run", "first")[0] == 0
    link.symlink_to(database)
    for target in (database, link, f"sqlite:///{database}"):
        code, out, err = run("records", "copy", database, target)
        assert (code, out) == (2, "")
        assert "source itself" in err
    assert json.loads(run("records", "check", database, "--json")[1])["games"] == 2


def test_questions_are_listed_with_what_they_ask_for(run, tmp_path):
    pytest.importorskip("sqlalchemy")
    assert run("tournament", "nim", "-a", "random,nim-xor", "-n", 2, "--records", tmp_path / "games.db")[0] == 0
    code, out, _ = run("records", "query", tmp_path / "games.db")
    assert code == 0
    assert "'str'" not in out
    assert "│ player" in out


def test_games_of_people_are_imported_and_what_is_wrong_with_them_is_told(run, tmp_path):
    source, target = tmp_path / "games.txt", tmp_path / "games.jsonl"
    source.write_text("d3c3b3d2e1d6d7e3f4\n\nd3c3\nd3d3\n")
    code, out, err = run("records", "import", source, target)
    assert code == 0
    assert "2 games written" in out
    assert "form: moves (2)" in out
    assert "unfinished: 1, result differs: 0, skipped: 1" in out
    assert "line 3: unfinished after 2 moves" in err
    assert "line 4: neither a position (" in err
    assert ") nor moves (move 2 ('d3')" in err
    assert json.loads(run("records", "check", target, "--json")[1])["games"] == 2
    code, out, err = run("records", "import", source, target)
    assert (code, out) == (2, "")
    assert "exists; --overwrite replaces it" in err
    told = json.loads(run("records", "import", source, target, "--overwrite", "--json")[1])
    assert (told["games"], told["forms"]) == (2, {"moves": 2})
    assert [remark["kind"] for remark in told["remarks"]] == ["unfinished", "left out"]
    source.rename(tmp_path / "games.wtb")
    code, out, err = run("records", "import", tmp_path / "games.wtb", target, "--overwrite")
    assert (code, out) == (2, "")
    assert "games.wtb" in err


def test_a_result_that_the_moves_do_not_bear_out_is_told_and_kept(run, tmp_path):
    source, target = tmp_path / "games.pgn", tmp_path / "games.jsonl"
    source.write_text('[White "A"]\n[Event "E"]\n1. 1:3 2:4 2. 3:5 0-1\n\n[Black "B"]\n1. 1:3 2:4 2. 3:5 1-0\n')
    told = json.loads(run("records", "import", source, target, "--game", "nim", "--json")[1])
    assert told == {
        "games": 2,
        "forms": {"pgn": 2},
        "remarks": [
            {"line": 1, "kind": "result", "text": "a win of player_1 stated, its moves lead to a win of player_0"}
        ],
    }
    first, second = read_records(str(target))
    assert (first.agents, first.headers, second.agents) == (("A", "?"), {"Event": "E"}, ("?", "B"))
    assert first.detail == told["remarks"][0]["text"]
    assert (second.winner, second.detail) == (0, "")


def test_moves_with_a_score_keep_it_and_no_score_becomes_a_move(run, tmp_path):
    source = Path(__file__).parents[1] / "data" / "forms" / "pons_lines.txt"
    target, back = tmp_path / "games.jsonl", tmp_path / "back.txt"
    code, out, _ = run("records", "import", source, target, "--game", "connect-four")
    assert code == 0
    assert "form: pons (17)" in out
    lines = [line.split() for line in source.read_text().splitlines()]
    records = list(read_records(str(target)))
    assert [record.actions for record in records] == [tuple(int(move) - 1 for move in moves) for moves, _ in lines]
    assert [record.headers for record in records] == [{"value": score} for _, score in lines]
    assert run("records", "copy", target, back, "--form", "pons")[0] == 0
    assert back.read_text() == source.read_text()
    code, _, err = run("records", "copy", target, back, "--form", "kagle", "--overwrite")
    assert (code, "did you mean 'kaggle'?" in err) == (2, True)


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="no /dev/zero here")
def test_what_never_ends_and_folders_are_no_games(run, tmp_path):
    for source in ("/dev/zero", tmp_path):
        for arguments in (
            ["records", "import", source, tmp_path / "x.jsonl", "--game", "nim"],
            ["tournament", "nim", "-a", "random,greedy", "--openings", source],
        ):
            code, out, err = run(*arguments)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert str(source) in err
    assert not list(tmp_path.iterdir())


def test_an_import_that_read_nothing_writes_nothing(run, tmp_path):
    source, target = tmp_path / "games.txt", tmp_path / "games.jsonl"
    for text in ("", "nonsense\n", "3,4,5 0\n"):
        source.write_text(text)
        code, out, err = run("records", "import", source, target, "--game", "nim")
        assert (code, out) == (2, "")
        assert f"{source}: no game of nim found, nothing written" in err
        assert not target.exists()
    source.write_text("1:1\n")
    code, out, err = run("records", "import", source, target, "--game", "nim", "--form", "png")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "unknown form 'png' (did you mean 'pgn'?); forms of nim: position, " in err


@pytest.mark.parametrize("form", ["pgn", "numbered", "moves"])
def test_games_are_copied_to_a_form_and_back(run, tmp_path, form):
    games, target, again = tmp_path / "games.jsonl", tmp_path / "games.other", tmp_path / "again.jsonl"
    assert run("tournament", "awale", "-p", "pits=3", "-a", "random,greedy", "-n", 4, "--records", games)[0] == 0
    code, out, _ = run("records", "copy", games, target, "--form", form)
    assert (code, out) == (0, f"4 games written to {target}\n")
    code, out, err = run("records", "import", target, again, "--game", "awale", "-p", "pits=3")
    assert (code, err) == (0, "")
    assert f"form: {form} (4)" in out
    records, back = list(read_records(str(games))), list(read_records(str(again)))
    assert [record.actions for record in records] == [record.actions for record in back]
    if form == "pgn":
        assert [record.agents for record in records] == [record.agents for record in back]
    code, out, err = run("records", "copy", games, "sqlite:///x.db", "--form", form)
    assert (code, out) == (2, "")
    assert "--form needs a file as target" in err


def test_bytes_that_are_no_text_are_told_in_one_line(run, tmp_path):
    source, target = tmp_path / "games.txt", tmp_path / "games.jsonl"
    source.write_bytes("d3c3\nd3é\n".encode("latin-1"))
    code, out, err = run("records", "import", source, target)
    assert (code, out) == (2, "")
    assert f"{source}: not UTF-8 text" in err
    assert err.count("\n") == 1
    assert not target.exists()


def test_an_archive_of_a_server_is_imported_and_exported(run, tmp_path):
    """Two games on a line, a resignation, a board that is not offered, a wrong result, empty squares for the winner."""
    board = "BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]"
    wiped_out = "B[d3]W[c3]B[b3]W[d2]B[e1]W[d6]B[d7]W[e3]B[f4]"
    source, target, back = tmp_path / "archive.ggf", tmp_path / "games.jsonl", tmp_path / "back.ggf"
    source.write_text(
        f"2 (;GM[Othello]PB[a]PW[b]RE[-40.00:r]TY[s8]{board}B[f5//1.5]W[d6];)"
        f"(;GM[Othello]PB[b]PW[a]RE[+13]{board}{wiped_out};)\n"
        f"1 (;GM[Othello]TY[10]BO[10 ---------- *];)\n"
        f"1 (;GM[Othello]RE[+64]{board}{wiped_out};)\n1 (;GM[Othello]RE[+6]{board}{wiped_out};)\n"
    )
    told = json.loads(run("records", "import", source, target, "--json")[1])
    assert (told["games"], told["forms"]) == (4, {"ggf": 4})
    assert [(remark["line"], remark["kind"]) for remark in told["remarks"]] == [
        (1, "odd"), (1, "unfinished"), (2, "left out"), (4, "result"),
    ]  # fmt: skip
    assert told["remarks"][0]["text"] == "not played out (resigned): W+40 resigned"
    assert "a board of 10 x 10" in told["remarks"][2]["text"]
    assert told["remarks"][3]["text"] == "margin 6 stated, its moves lead to 13"
    assert run("records", "copy", target, back, "--form", "ggf")[0] == 0
    results = [line.split("RE[")[1].split("]")[0] for line in back.read_text().splitlines() if line]
    assert results == ["-40.000:r", "+13.000", "+64.000", "+6.000"]
    assert "B[f5//1.5]" in back.read_text()
