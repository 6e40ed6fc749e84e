"""Books of Connect Four from the command line: an obstacle is reported in one line and stays unchanged."""

import pytest

pytest.importorskip("numba")

from board_agents.games.connect_four import ConnectFourSolver, build_book
from board_envs import make_game


@pytest.fixture
def build(run, tmp_path):
    return lambda: run("tables", "build", "connect-four-book", "--plies", "2", "--folder", tmp_path)


@pytest.mark.parametrize("name", ["connect-four-book-2.bin", "connect-four-book-2.bin.partial"])
def test_what_is_in_the_way_is_told_and_kept(build, tmp_path, name):
    path = tmp_path / name
    small = make_game("connect-four", rows=3, columns=3, connect=3)
    build_book(ConnectFourSolver(small, 1), 2, tmp_path / "small")
    damaged = (tmp_path / "small").read_bytes()[:-1]
    for content, reason in (
        (b"", "is not a board-envs connect-four book"),
        (b"another", "is not a board-envs connect-four book"),
        (damaged, "is damaged"),
        ((tmp_path / "small").read_bytes(), "is of (3, 3, 3) to 2 plies; remove it"),
    ):
        path.write_bytes(content)
        code, out, err = build()
        assert (code, out) == (2, "")
        assert f"{path} {reason}" in err
        assert err.count("\n") == 1
        assert path.read_bytes() == content
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name, "small"]


def test_a_folder_that_is_none_is_told(run, tmp_path):
    path = tmp_path / "file"
    path.touch()
    code, out, err = run("tables", "build", "connect-four-book", "--plies", "2", "--folder", path / "inside")
    assert (code, out) == (2, "")
    assert str(path) in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("build", "connect-four-book", "--pits", "3"), "has no option --pits; options: --plies"),
        (("build", "awale", "--plies", "3", "--max-total", "3"), "has no option --plies; options: --pits, --max-total"),
        (("build", "awale"), "tables build awale needs --max-total"),
        (("build", "connect-four-book", "--plies", "17"), "plies must be 0 to 16, not 17"),
        (("info", "connect-four-book"), "verify and info do not apply to it"),
        (
            ("verify", "awales"),
            "unknown table 'awales' (did you mean 'awale'?); known tables: awale, ",
        ),
    ],
)
def test_mistakes(run, tmp_path, monkeypatch, arguments, told):
    monkeypatch.setenv("BOARD_ENVS_TABLES", str(tmp_path / "tables"))
    code, out, err = run("tables", *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
