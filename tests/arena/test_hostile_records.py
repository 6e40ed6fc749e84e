"""Files of records that somebody made up, with checksums that fit: refused by file and line, in little memory."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import zlib

import pytest

from board_agents.arena import RecordError, play_game
from board_agents.arena.records.storage import LONGEST_LINE, RecordFile
from board_agents.arena.records.text_formats import read_records, write_records
from board_envs import make_game

RECORD = json.loads(play_game(make_game("nim"), ["random", "random"], names=("a", "b")).to_json())
DEEP = json.loads("[" * 800 + "]" * 800)


def forged(**values):
    """A line with a checksum that fits, as `GameRecord.to_json` writes it."""
    data = {key: value for key, value in RECORD.items() if key != "crc32"} | values
    checksum = zlib.crc32(json.dumps(data, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return json.dumps(data | {"crc32": checksum})


def wrong_values():
    huge, odd = 10**30, [None, True, "x", {}, [], DEEP, float("nan"), float("inf"), -1.5, 10**400]
    for name in ("game", "final", "start", "detail", "version"):
        for value in (None, 1, [], {}, "\ud800", DEEP):
            yield {name: value}
    for name in ("opening_number", "offender", "winner", "margin"):
        for value in (*odd, huge, -huge):
            yield {name: value}
    for name in ("agents", "seeds", "opening", "actions", "seconds"):
        for value in (None, "ab", 7, {}, {"0": 1, "1": 2}, [[], []], [None, None], [huge, huge], ["\ud800", "b"], DEEP):
            yield {name: value}
    for value in ([], None, "x", [1], {"heaps": huge}, {"heaps": [huge]}, {"heaps": DEEP}, {"heaps": [float("nan")]}):
        yield {"parameters": value}
    yield {"parameters": {"name": "nim"}}
    yield {"parameters": {"misere": "no"}}
    yield {"parameters": {"heaps": [3, 4, 5], "misere": False, "\ud800": 1}}
    yield {"seeds": [1, 2, 3]}
    yield {"seeds": [True, False]}
    yield {"seconds": [float("nan"), 0]}
    yield {"seconds": [float("inf"), 0]}
    yield {"seconds": [-1, 0]}
    yield {"opening": [11, 11]}
    yield {"actions": [0] * 1000}
    yield {"actions": [10**9]}
    yield {"actions": [-1]}
    yield {"actions": [1.0]}
    yield {"ending": "won"}
    yield {"ending": []}
    yield {"ending": "crash"}  # by nobody
    yield {"ending": "finished", "offender": 0}
    yield {"ending": "crash", "offender": 2}
    yield {"winner": 2}
    yield {"game": "chess"}
    yield {"game": "../../etc/passwd"}
    yield {"game": "connect-four", "parameters": {"rows": huge, "columns": 7, "connect": 4}}
    yield {"game": "awale", "parameters": {"pits": huge}}
    yield {"game": "awale", "parameters": {"pits": 4, "seeds": huge}}
    yield {"game": "reversi", "parameters": {"size": -8}}
    yield {"start": "x" * 100000}
    yield {"headers": []}
    yield {"headers": {"a": 1}}
    yield {"format": [1]}
    yield {"format": True, "game": None}
    yield {"actions": RECORD["actions"][:-1], "ending": "finished", "winner": -1}
    yield {"ending": "unfinished", "winner": -1}


@pytest.mark.parametrize("values", list(wrong_values()), ids=lambda values: ascii(values)[:60])
def test_values_that_no_game_has_are_refused_by_file_and_line(tmp_path, values):
    path = tmp_path / "games.jsonl"
    content = (json.dumps(RECORD) + "\n" + forged(**values) + "\n").encode()
    path.write_bytes(content)
    for read in (lambda: list(read_records(str(path))), RecordFile(path).read):
        with pytest.raises(RecordError, match=r"games\.jsonl, line 2: ") as found:
            read()
        assert len(str(found.value)) < 2000
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 1_000_000,
        b'{"game": ' * 100_000,
        b"1" * 1_000_000,
        b'{"crc32": 0, "format": ' + b"9" * 5000 + b"}",
        b"\xff\xfe",
        b"\x00" * 1000,
        b'{"game": "nim", "game": 1, "crc32": 1}',
    ],
    ids=["deep list", "deep object", "long number", "long number inside", "no UTF-8", "zeros", "twice"],
)
def test_lines_that_are_no_record_are_refused(tmp_path, line):
    path = tmp_path / "games.jsonl"
    path.write_bytes(line + b"\n")
    with pytest.raises(RecordError, match=r"games\.jsonl, line 1: "):
        RecordFile(path).read()


def test_a_run_does_not_go_on_from_a_game_with_another_result(tmp_path, capsys):
    from board_agents.cli import main

    path = tmp_path / "games.jsonl"
    arguments = ["tournament", "nim", "-a", "random,greedy", "-n", "2", "--records", str(path)]
    assert main(arguments) == 0
    lines = path.read_text().splitlines()
    data = json.loads(lines[1])
    del data["crc32"]
    data |= {"winner": 1 - data["winner"], "margin": -data["margin"]}
    checksum = zlib.crc32(json.dumps(data, sort_keys=True, ensure_ascii=False).encode())
    path.write_text(lines[0] + "\n" + json.dumps(data | {"crc32": checksum}) + "\n")
    content = path.read_bytes()
    capsys.readouterr()
    assert main(arguments) == 2
    assert "games.jsonl, line 2: a record of nim states winner" in capsys.readouterr().err
    assert path.read_bytes() == content


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_lines_without_end_and_enormous_games_take_little_memory(tmp_path):
    endless = tmp_path / "endless.jsonl"
    with endless.open("wb") as file:
        file.write(b'{"game": "nim", "parameters": {"heaps": [')
        file.truncate(4 << 30)  # a file with a hole: it takes no room on the disk
    large = tmp_path / "large.jsonl"
    large.write_text(
        forged(parameters={"heaps": [2_000_000_000], "misere": False}, actions=[-1], opening=[], final="0 0") + "\n"
    )
    program = (
        "import resource, sys\n"
        "from board_agents.arena.records.storage import RecordFile, RecordError\n"
        "from pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        RecordFile(Path(name)).read()\n"
        "    except RecordError as error:\n"
        "        print(str(error)[:300])\n"
    )
    run = subprocess.run(  # noqa: PLW1510  # what it printed is judged
        [sys.executable, "-c", program, str(endless), str(large)], capture_output=True, text=True, timeout=60
    )
    assert run.stderr == ""
    first, second = run.stdout.splitlines()
    assert first.endswith(f"line 1: longer than {LONGEST_LINE} bytes")
    assert "large.jsonl, line 1: " in second


@pytest.mark.parametrize("field", ["parameters", "moves", "start", "final", "ending", "seeds"])
def test_wrong_columns_of_a_database_are_refused_by_game(tmp_path, field):
    pytest.importorskip("sqlalchemy")
    import sqlite3

    from board_agents.arena.records.text_formats import write_records

    path = tmp_path / "games.db"
    write_records(str(path), [play_game(make_game("nim"), ["random", "random"], names=("a", "b"))])
    column, value = {"seeds": ("seed_0", "x"), "parameters": ("parameters", "[" * 500)}.get(field, (field, "?!"))
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE games SET {column} = ?", [value])
    connection.close()
    with pytest.raises(RecordError, match="game 1 of the database"):
        list(read_records(str(path)))


def _games(path):
    games = [play_game(make_game("nim"), ["random", "random"], names=("a", "b"), seeds=(n, n)) for n in range(40)]
    write_records(str(path), games)
    return path.read_bytes()


def test_a_parquet_file_damaged_anywhere_is_refused_by_name_or_read(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "games.parquet"
    content, refused = _games(path), []
    for at in range(0, len(content), 41):
        path.write_bytes(content[:at] + b"\xff\x80\x00" + content[at + 3 :])
        try:
            list(read_records(str(path)))
        except RecordError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all("games.parquet" in text for text in refused)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM players",
        "UPDATE players SET name = CAST(x'ff80' AS TEXT) WHERE name = 'a'",
        "UPDATE games SET headers = replace(hex(zeroblob(50000)), '00', '[')",
        "UPDATE games SET player_0_id = 'x'",
    ],
)
def test_a_damaged_database_is_refused(tmp_path, statement):
    pytest.importorskip("sqlalchemy")
    path = tmp_path / "games.sqlite"
    _games(path)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(RecordError):
        list(read_records(str(path)))


def test_a_page_of_a_database_that_was_overwritten_is_refused(tmp_path):
    pytest.importorskip("sqlalchemy")
    path = tmp_path / "games.sqlite"
    content = _games(path)
    for page in range(4096, len(content), 4096):
        path.write_bytes(content[:page] + b"\xff" * 4096 + content[page + 4096 :])
        with contextlib.suppress(RecordError):
            list(read_records(str(path)))


@pytest.mark.parametrize("detail", ['"\\ud', '"\\', '"a" b'])
def test_a_transcript_with_a_broken_quotation_is_refused(tmp_path, detail):
    path = tmp_path / "games.txt"
    path.write_text(f"game: nim\ndetail: {detail}\nmoves:\n")
    with pytest.raises(RecordError, match=r"games\.txt, game 1: .*no text in quotes"):
        list(read_records(str(path)))
