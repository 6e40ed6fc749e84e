"""What is left when a command is killed, or cannot write: nothing lost, nobody left, one line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_common import PROGRAM

from board_agents.arena.records.text_formats import read_records

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")

SLOW = """
import time

def play(observation):
    time.sleep(0.02)
    return int(observation["action_mask"].argmax())
"""


def start(*arguments, **others):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **others
    )


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def children(pid):
    """The processes below one, as (pid, time of its start): numbers are used again."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append((int(folder.name), fields[19]))
            found += children(int(folder.name))
    return found


def alive(process):
    try:
        fields = Path(f"/proc/{process[0]}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == process[1] and fields[0] != "Z"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_killed_tournament(tmp_path, number):
    pytest.importorskip("joblib")
    (tmp_path / "slow.py").write_text(SLOW)
    records = tmp_path / "games.jsonl"
    agents = f"{tmp_path}/slow.py:play,random"
    below = []
    process = start("tournament", "nim", "-a", agents, "-n", "4000", "--workers", "2", "--records", records)
    try:
        wait_until(lambda: records.exists() and records.read_bytes().count(b"\n") >= 3)
        below = children(process.pid)
        assert len(below) >= 2
        process.send_signal(number)
        process.communicate(timeout=30)
        wait_until(lambda: not any(map(alive, below)), 20)
    finally:
        for worker in filter(alive, [*children(process.pid), *below]):
            os.kill(worker[0], signal.SIGKILL)
        if process.poll() is None:
            process.kill()
            process.communicate()
    kept = len(list(read_records(str(records)))) if records.read_bytes().endswith(b"\n") else 3
    assert kept >= 3


def test_a_tournament_killed_again_and_again_loses_nothing(tmp_path):
    records = tmp_path / "games.jsonl"
    arguments = ["tournament", "reversi", "-p", "size=4", "-a", "random,greedy", "-n", "60", "--records"]
    whole = tmp_path / "whole.jsonl"
    out, _ = start(*arguments, whole, "--json").communicate(timeout=120)
    seen = 0
    for wanted in (5, 20, 40):
        process = start(*arguments, records)
        wait_until(lambda: process.poll() is not None or _lines(records) >= wanted)
        process.kill()
        process.communicate(timeout=30)
        assert _lines(records) >= seen
        seen = _lines(records)
    last, errors = start(*arguments, records, "--json").communicate(timeout=120)
    assert b"Traceback" not in errors
    found, expected = list(read_records(str(records))), list(read_records(str(whole)))
    assert found == expected
    for data in (first := json.loads(out), second := json.loads(last)):
        for agent in data["agents"]:
            del agent["seconds"]
    assert first == second


def _lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("arguments", [["games"], ["games", "--json"], ["tournament", "nim", "-a", "random,greedy"]])
def test_output_to_a_full_disk_is_reported_in_one_line(arguments):
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert process.returncode == 2
    assert process.stderr == b"board-envs: output: No space left on device\n"


def test_a_reader_that_has_read_enough_is_no_error():
    process = start("games")
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) in (1, 141)
    assert errors == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tournament", "nim", "-a", "random,greedy", "-n", "2", "--records", "/dev/full"], "/dev/full"),
        (["tournament", "nim", "-a", "random,greedy", "-n", "2", "--records", "/dev/zero"], "/dev/zero"),
        (["tournament", "nim", "-a", "random,greedy", "-n", "2", "--records", "."], "Is a directory"),
        (["records", "check", "zero.jsonl"], "not a regular file"),
        (["records", "check", "zero.txt"], "is a device"),
        (["records", "check", "folder.jsonl"], "Is a directory"),
        (["records", "check", "folder.txt"], "Is a directory"),
        (["records", "copy", "games.jsonl", "full.txt", "--overwrite"], "No space left on device"),
        (["records", "copy", "games.jsonl", "full.jsonl", "--overwrite"], "No space left on device"),
        (["records", "copy", "games.jsonl", "full.parquet", "--overwrite"], "No space left on device"),
        (["records", "copy", "games.jsonl", "folder.txt", "--overwrite"], "Is a directory"),
        (["report", "games.jsonl", "-o", "full.csv", "--judged", "0"], "No space left on device"),
        (["report", "games.jsonl", "-o", "folder.html", "--judged", "0"], "Is a directory"),
        (["play", "--load", "zero.txt"], "is a device"),
        (["play", "--load", "folder.txt"], "Is a directory"),
    ],
)
def test_what_is_no_file_is_reported_in_one_line(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert run("tournament", "nim", "-a", "random,greedy", "-n", "2", "--records", "games.jsonl")[0] == 0
    for suffix in ("txt", "jsonl", "parquet", "csv", "html"):
        Path(f"full.{suffix}").symlink_to("/dev/full")
        Path(f"zero.{suffix}").symlink_to("/dev/zero")
        Path(f"folder.{suffix}").mkdir()
    code, _, err = run(*arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert os.path.islink("full.txt")
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("part-")]
