import json

import pytest


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
    assert err == f"board-envs: {source}: there is no such file\n"
    code, out, err = run("report", source, "--output", "page.html")
    assert (code, out) == (2, "")
    assert "there is no such file" in err
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
    source.write_text("d3c3b3d2e1d6d7e3f4\nd3c3\nd3d3\n")
    code, out, err = run("records", "import", source, target)
    assert code == 0
    assert "2 games written" in out
    assert "unfinished: 1, wrong recorded score: 0, left out: 1" in out
    assert "game 2: unfinished after 2 moves" in err
    assert "game 3: move 2" in err
    assert json.loads(run("records", "check", target, "--json")[1])["games"] == 2
    code, out, err = run("records", "import", source, target)
    assert (code, out) == (2, "")
    assert "there already" in err
    told = json.loads(run("records", "import", source, target, "--overwrite", "--json")[1])
    assert told["games"] == 2
    assert [remark["kind"] for remark in told["remarks"]] == ["unfinished", "illegal"]
    source.rename(tmp_path / "games.wtb")
    code, out, err = run("records", "import", tmp_path / "games.wtb", target, "--overwrite")
    assert (code, out) == (2, "")
    assert "games.wtb" in err


def test_bytes_that_are_no_text_are_told_in_one_line(run, tmp_path):
    source, target = tmp_path / "games.txt", tmp_path / "games.jsonl"
    source.write_bytes("d3c3\nd3é\n".encode("latin-1"))
    code, out, err = run("records", "import", source, target)
    assert (code, out) == (2, "")
    assert f"{source}: no text" in err
    assert err.count("\n") == 1
    assert not target.exists()
