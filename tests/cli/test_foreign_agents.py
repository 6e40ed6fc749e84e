"""The command line with agents that are not ours: what they print, where they come from, how they are ended."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_common import PROGRAM

from board_agents.arena import tournament
from board_agents.arena.records.game_record import Ending, GameRecord
from board_agents.arena.report.summary import to_data
from board_envs import make_game

LOUD = """
import os, sys
print("loaded")
def play(observation):
    print("thinking")
    os.write(1, b"from below\\n")
    return int(observation["action_mask"].argmax())
"""


def command(*arguments, **options):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, *map(str, arguments)], text=True, **options)


def outcome(*arguments, **options):
    process = command(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.mark.parametrize(
    "arguments",
    [
        ("tournament", "nim", "-a", "random,{}", "-n", 2),
        ("tournament", "nim", "-a", "random,{}", "-n", 4, "-w", 2),
        ("evaluate", "nim", "{}"),
        ("evaluate", "nim", "{}", "--on", "games", "-n", 2),
    ],
    ids=["tournament", "workers", "evaluate", "games"],
)
def test_agents_that_print_do_not_disturb_json(tmp_path, arguments):
    (tmp_path / "loud.py").write_text(LOUD)
    spec = f"{tmp_path}/loud.py:play"
    code, out, err = outcome(*(str(one).format(spec) for one in arguments), "--json")
    assert code == 0, err
    assert "thinking" in err
    assert "from below" in err
    json.loads(out)


def test_a_kaggle_file_that_prints_does_not_disturb_json(tmp_path, run):
    (tmp_path / "loud.py").write_text("print('hello')\ndef agent(o):\n    print('x')\n    return o.step % 7\n")
    code, out, err = run(
        "tournament", "connect-four", "-a", f"random,kaggle:agent={tmp_path}/loud.py", "-n", 2, "--json"
    )
    assert code == 0
    assert "hello" in err
    assert json.loads(out)["played"] == 2
    (tmp_path / "loud.py").write_text("def agent(o:\n")
    code, out, err = run("tournament", "connect-four", "-a", f"random,kaggle:agent={tmp_path}/loud.py")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "loud.py: line 1: " in err


def test_evaluate_stops_where_no_person_answers():
    code, out, err = outcome("evaluate", "nim", "human", stdin=subprocess.DEVNULL)
    assert (code, out) == (2, "")
    assert err.endswith("board-envs: end of input: player_0 (a person) is to move\n")
    code, out, err = outcome("tournament", "nim", "-a", "human,random", "-n", 2, "-w", 2, stdin=subprocess.DEVNULL)
    assert (code, out) == (2, "")
    assert "end of input: player_" in err


def test_the_game_comes_first_and_the_other_order_works_with_a_warning(run):
    code, out, err = run("evaluate", "nim", "greedy", "--json")
    assert (code, err) == (0, "")
    swapped = run("evaluate", "greedy", "nim", "--json")
    assert swapped[:2] == (0, out)
    assert "the game comes first: evaluate nim greedy" in swapped[2]
    code, out, err = run("evaluate", "greedy", "chess")
    assert (code, out) == (2, "")
    assert "'greedy'" in err
    assert run("evaluate", "reversi", "nobody")[2].startswith("board-envs: unknown agent 'nobody'")


@pytest.mark.parametrize("arguments", [("nim", "--foo"), ("nim", "--jsn", "--json"), ("--foo", "nim"), ("nim", "-q")])
def test_an_unknown_option_of_analyse_is_no_position(run, arguments):
    code, out, err = run("analyse", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("board-envs: no such option: -")


def test_a_position_may_begin_with_a_dash(run):
    position = "---------------------------OX------XO--------------------------- X"
    code, out, _ = run("analyse", "reversi", position, "--json", "--oracle", "exhaustive:budget=10")
    assert (code, json.loads(out)["exact"]) == (0, False)


@pytest.mark.parametrize("text", ["random,,greedy", "random,", ",random", "random, ,greedy", ""])
def test_an_empty_piece_of_agents_is_refused(run, text):
    code, out, err = run("tournament", "nim", "--agents", text)
    assert (code, out) == (2, "")
    assert "is empty; separate agents by one comma" in err


def test_names_cannot_act_on_the_terminal(run, tmp_path):
    name = "\x1b]0;title\x07\x1b[2Jwild\u202e"
    record = GameRecord(
        game="nim", parameters={"heaps": (1,), "misere": False}, agents=(name, "random"), seeds=(0, 0), opening=(),
        opening_number=0, actions=(0,), ending=Ending.FINISHED, offender=-1, winner=0, margin=1, final="0 1",
    )  # fmt: skip
    (tmp_path / "games.jsonl").write_text(record.to_json() + "\n")
    database, file = tmp_path / "games.db", tmp_path / f"{name}.py"
    file.write_text("def play(observation):\n    return int(observation['action_mask'].argmax())\n")
    code, out, err = run("records", "copy", tmp_path / "games.jsonl", database)
    assert code == 0, err
    for arguments in (
        ("records", "query", database, "results"),
        ("tournament", "nim", "-a", f"random,{name}", "-n", 1),
        ("tournament", "nim", "-a", f"random,{file}:play", "-n", 1),
        ("evaluate", "nim", f"{file}:play"),
        ("evaluate", "nim", name),
        ("evaluate", "nim", f"{name}.py:play"),
        ("analyse", "nim", name),
    ):
        code, out, err = run(*arguments)
        assert not any(sign in out + err for sign in ("\x1b", "\x07", "\u202e")), arguments
        assert "]0;title" in out + err, arguments


def test_the_seed_that_was_used_is_part_of_the_result(run):
    arguments = ("tournament", "nim", "-a", "random,greedy,nim-xor", "-n", 6, "--seed", 7, "--json")
    data = json.loads(run(*arguments)[1])
    result = tournament(make_game("nim"), ["random", "greedy", "nim-xor"], games=6, seed=7)
    assert result.seed == data["seed"] == data["ratings"]["seed"] == 7
    # The intervals come of a bootstrap: the same seed in the library gives the same numbers.
    own = to_data(result)
    assert [agent["rating"] for agent in data["agents"]] == [agent["rating"] for agent in own["agents"]]
    assert own["ratings"]["seed"] == 7


SLEEPER = """
import os, sys, time
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
for line in sys.stdin:
    if line.startswith("move"):
        time.sleep(600)
    print("ready", flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_leaves_neither_workers_nor_programs(tmp_path, workers):
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    pids = tmp_path / "pids"
    spec = f'program:command="{sys.executable} {tmp_path}/sleeper.py {pids}",seconds=500'
    process = command(
        "tournament", "nim", "-a", f"random,{spec}", "-n", 8, "-w", workers,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        wait_for(lambda: pids.exists() and len(pids.read_text().split()) >= workers)
        time.sleep(1)
        started = descendants(process.pid) | {int(number) for number in pids.read_text().split()}
        assert len(started) >= workers
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=60)[1]
        assert process.returncode == 143, err
        assert "stopped" in err
        wait_for(lambda: not any(map(alive, started)))
    finally:
        process.kill()
        process.communicate()
    assert [number for number in started if alive(number)] == []


def wait_for(condition, seconds=60):
    patience = time.monotonic() + seconds
    while not condition() and time.monotonic() < patience:
        time.sleep(0.05)


def stat(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["Z", "0"]


def alive(number):
    return stat(number)[0] != "Z"


def descendants(number):
    children = {int(name) for name in os.listdir("/proc") if name.isdigit() and stat(name)[1] == str(number)}
    return children.union(*map(descendants, children))
