"""Commands that write files leave foreign files unchanged."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from board_agents import make_oracle
from board_agents.arena import RecordError, tournament
from board_agents.arena.records.storage import RecordFile
from board_agents.arena.records.text_formats import read_records, write_records
from board_agents.arena.suites.suite_files import build_suite
from board_envs import make_game

NIM = make_game("nim")
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 19 + b"no line end"
OTHERS = {
    "an object cut off": b'{"game": "chess", "moves": "e4',
    "picture": PICTURE,
    "text": b"dear diary\n\nyesterday ...",
    "one line": b"dear diary",
    "other lines": b'{"game": "chess", "moves": "e4"}\n{"game": "chess", "moves": "d4"}',
    "one other line": b'{"game": "chess", "moves": "e4"}',
    "another object": b'{"name": "package", "version": "1.0"',
}


@pytest.fixture(params=OTHERS)
def foreign(request, tmp_path):
    """A file of another program, and its bytes."""
    path = tmp_path / "theirs"
    path.write_bytes(OTHERS[request.param])
    yield path
    assert path.read_bytes() == OTHERS[request.param]
    assert [entry.name for entry in tmp_path.iterdir()] == ["theirs"]


def renamed(path, suffix):
    """The file under a name with a suffix; it is put back afterwards by whoever asks."""
    return path.rename(path.with_suffix(suffix))


def test_a_tournament_does_not_touch_it(foreign, run):
    code, out, err = run("tournament", "nim", "-a", "random,greedy", "-n", "2", "--records", foreign)
    assert (code, out) == (2, "")
    assert err.startswith(f"board-envs: {foreign}, line 1: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("suffix", [".txt", ".jsonl", ".parquet", ".db"])
def test_records_are_not_written_over_it(foreign, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    if suffix == ".db":
        pytest.importorskip("sqlalchemy")
    target = renamed(foreign, suffix)
    try:
        with pytest.raises((FileExistsError, RecordError), match=r"theirs\."):
            write_records(str(target), tournament(NIM, ["random", "greedy"], games=2).records)
    finally:
        target.rename(foreign)


def test_a_suite_is_not_written_over_it(foreign):
    suite = build_suite(NIM, make_oracle(NIM), seed=1, bins=[(0, 1)], per_cell=1)
    with pytest.raises(FileExistsError, match="theirs"):
        suite.save(foreign)


def test_a_saved_game_is_not_written_over_it(foreign, run, monkeypatch):
    lines = iter([f"save {foreign}", "quit"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(lines))
    code, out, _ = run("play", "nim", "-o", "human")
    assert code == 0
    assert "exists and is not a file of this kind" in out


def test_reversi_weights_are_not_written_over_it(foreign):
    from board_agents.games.reversi.pattern_evaluation import PHASES, Evaluation
    from board_agents.games.reversi.patterns import shared

    evaluation = Evaluation(np.zeros((PHASES, int(shared().max()) + 1), int), np.zeros(65, int))
    with pytest.raises(FileExistsError, match="theirs"):
        evaluation.save(foreign)


def test_books_are_not_written_over_it(foreign):
    from board_agents.games.connect_four.opening_book import Book

    with pytest.raises(FileExistsError, match="theirs"):
        Book.empty(4, 5, 4, 2).save(foreign)
    pytest.importorskip("numba")
    from board_agents.games.connect_four.book_building import build_book
    from board_agents.games.connect_four.solver import ConnectFourSolver

    solver = ConnectFourSolver(make_game("connect-four", rows=4, columns=5), 1)
    with pytest.raises(FileExistsError, match="theirs"):
        build_book(solver, 2, foreign)


def test_a_table_of_a_long_search_is_not_written_over_it(foreign):
    pytest.importorskip("numba")
    from board_agents.games.reversi.endgame_oracle import ReversiOracle

    with pytest.raises(FileExistsError, match="theirs"):
        ReversiOracle(make_game("reversi", size=4), megabytes=1).save(foreign)


@pytest.mark.parametrize("suffix", [".html", ".json", ".csv"])
def test_a_report_is_not_written_over_it(foreign, suffix, run, tmp_path_factory):
    pytest.importorskip("matplotlib")
    games = tmp_path_factory.mktemp("games") / "games.jsonl"
    write_records(str(games), tournament(NIM, ["random", "greedy"], games=2).records)
    target = renamed(foreign, suffix)
    content = target.read_bytes()
    try:
        code, out, err = run("report", games, "-o", target, "--judged", "0")
        assert (code, out) == (2, "")
        assert "--overwrite" in err
        assert target.read_bytes() == content
        assert run("report", games, "-o", target, "--judged", "0", "--overwrite")[0] == 0
        ours = target.read_bytes()
        assert ours != content
        assert run("report", games, "-o", target, "--judged", "0")[0] == 0  # ours is replaced
        target.write_bytes(content)
    finally:
        target.rename(foreign)


def test_a_database_of_another_program_gets_no_tables_of_ours(tmp_path, run):
    pytest.importorskip("sqlalchemy")
    path = tmp_path / "browser.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    content = path.read_bytes()
    for arguments in (
        ["tournament", "nim", "-a", "random,greedy", "-n", "2", "--records", path],
        ["records", "check", path],
        ["records", "query", path, "wins", "player=a"],
        ["records", "analyse", path, "--oracle", "default"],
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert "tables of another program" in err
        assert path.read_bytes() == content


def test_reading_makes_no_database_of_an_empty_file(tmp_path, run):
    pytest.importorskip("sqlalchemy")
    path = tmp_path / "empty.db"
    path.touch()
    code, _, err = run("records", "check", path)
    assert code == 2
    assert "contains no games" in err
    assert path.read_bytes() == b""


def test_checking_changes_nothing(tmp_path, run):
    pytest.importorskip("sqlalchemy")
    records = tournament(NIM, ["random", "greedy"], games=4).records
    for name in ("games.jsonl", "games.txt", "games.db"):
        path = tmp_path / name
        write_records(str(path), records)
        content, status = path.read_bytes(), path.stat()
        assert run("records", "check", path)[0] == 0
        assert path.read_bytes() == content
        assert path.stat().st_mtime_ns == status.st_mtime_ns
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes((tmp_path / "games.jsonl").read_bytes()[:-20])
    content = cut.read_bytes()
    assert run("records", "check", cut)[0] == 2
    assert RecordFile(cut).read() == list(records[:-1])
    assert cut.read_bytes() == content  # only a run that appends cuts the line off


def test_a_last_line_that_lacks_its_end_only_is_kept(tmp_path):
    records = tournament(NIM, ["random", "greedy"], games=2).records
    path = tmp_path / "games.jsonl"
    write_records(str(path), records[:1])
    path.write_bytes(path.read_bytes()[:-1])
    file = RecordFile(path)
    assert file.read() == list(records[:1])
    assert file.dropped == 0
    file.append(records[1])
    assert list(read_records(str(path))) == list(records)


def test_every_cut_of_a_file_goes_on(tmp_path):
    records = list(tournament(NIM, ["random", "greedy"], games=4).records)
    path = tmp_path / "games.jsonl"
    whole = "".join(record.to_json() + "\n" for record in records).encode()
    for cut in range(0, len(whole), 37):
        path.write_bytes(whole[:cut])
        file = RecordFile(path)
        found = file.read()
        assert found == records[: len(found)]
        for record in records[len(found) :]:
            file.append(record)
        # A file that lacks only its last newline holds every record, so nothing is written to it.
        assert path.read_bytes() == (whole[:-1] if cut == len(whole) - 1 else whole)


def test_two_first_writers_of_one_database(tmp_path):
    pytest.importorskip("sqlalchemy")
    program = (
        "import sys\n"
        "from board_agents.arena.records.database import Store\n"
        "sys.stdin.readline()\n"
        "Store(sys.argv[1]).close()\n"
    )
    for round_ in range(3):
        path = tmp_path / f"{round_}.db"
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for _ in range(4)
        ]
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        errors = [worker.communicate(timeout=60)[1] for worker in workers]
        assert errors == [""] * 4
    write_records(str(path), tournament(NIM, ["random", "greedy"], games=2).records)
    assert len(list(read_records(str(path)))) == 2


@pytest.mark.parametrize("word", ["game.txt", "game", "game.jsonl", "game.saved"])
def test_a_saved_game_is_a_record_that_records_reads(word, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = iter(["1:1", f"save {word}", "quit", "quit", "quit"])
    monkeypatch.setattr("builtins.input", lambda _prompt: next(lines))
    assert run("play", "nim", "-o", "human", "--start", "3,4,5 0")[0] == 0
    code, out, _ = run("records", "check", word, "--json")
    assert code == 0
    assert json.loads(out)["by_ending"] == {"unfinished": 1}
    code, out, _ = run("play", "--load", word, "-o", "human")
    assert "the position is: 2,4,5 1" in out


def test_a_game_that_0_1_0_saved_as_text_is_read(tmp_path, run):
    saved = Path(__file__).parents[1] / "data" / "version_0_1_0" / "connect_four.saved"
    path = tmp_path / "game.txt"  # 0.1.0 wrote a line of JSON under every name
    path.write_bytes(saved.read_bytes())
    assert run("records", "check", path)[0] == 0


def test_a_file_of_several_games_is_no_saved_game(tmp_path, run):
    path = tmp_path / "games.jsonl"
    write_records(str(path), tournament(NIM, ["random", "greedy"], games=2).records)
    code, _, err = run("play", "--load", path)
    assert code == 2
    assert "contains 2 games; a saved game is exactly one" in err
