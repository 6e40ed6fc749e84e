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
