"""Compiling beforehand: afterwards nothing that a game uses by default is compiled again, and --clear removes it."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("numba")

COMMAND = "import sys; from board_agents.cli import main; sys.exit(main())"
USE = """
import numpy as np
from board_agents import make_agent, make_oracle
from board_envs import make_game
from board_envs.envs.vector import BoardVectorEnv

game = make_game("nim")
state = game.initial_state()
for opponent in ("random", None):
    rows = BoardVectorEnv(game, 5, opponent=opponent, num_threads=2)
    _, infos = rows.reset(seed=3)
    for _ in range(4):
        infos = rows.step(infos["action_mask"].argmax(axis=1))[4]
for spec in ("minimax:depth=5", "alpha-beta:depth=6", "mcts", "alpha-beta", "nim-xor"):
    make_agent(spec, game).act({}, state)
make_oracle(game).action_values(state)
"""


@pytest.fixture
def process(tmp_path):
    """Run a program with a folder of compiled code of its own; returns (status, stdout, stderr)."""

    def call(program, *arguments, folder=tmp_path / "cache"):
        run = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env={**os.environ, "BOARD_ENVS_CACHE_DIR": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        return run.returncode, run.stdout, run.stderr

    return call


def test_what_was_warmed_up_is_not_compiled_again(process, tmp_path):
    def warm():
        code, out, err = process(COMMAND, "warmup", "nim", "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    def files():
        return {path.name: path.stat().st_size for path in (tmp_path / "cache").iterdir()}

    first = warm()
    (row,) = first["games"]
    assert row["game"] == "nim"
    assert row["skipped"] == {}
    assert row["compiled"] == first["entries"] == len(files()) > 0
    assert first["bytes"] == sum(files().values())
    assert first["folder"] == str(tmp_path / "cache")
    kept = files()
    assert warm()["games"][0]["compiled"] == 0
    assert process(USE) == (0, "", "")
    assert files() == kept
    (tmp_path / "cache" / "notes.txt").touch()
    code, out, _ = process(COMMAND, "warmup", "--clear", "--json")
    assert (code, json.loads(out)) == (
        0,
        {"folder": str(tmp_path / "cache"), "removed": first["entries"], "bytes": first["bytes"]},
    )
    assert set(files()) == {"notes.txt"}


def test_the_table_names_folder_and_size(run, monkeypatch, tmp_path):
    monkeypatch.setenv("BOARD_ENVS_CACHE_DIR", str(tmp_path / "cache"))
    code, out, err = run("warmup", "nim", "--param", "heaps=1,2")
    assert (code, err) == (0, "")
    assert "nim" in out
    assert f"MB, in {tmp_path / 'cache'}" in out
    code, out, err = run("warmup", "--clear")
    assert (code, err) == (0, "")
    assert out.startswith("removed ")


def test_what_is_refused(run, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    for folder, arguments, told in (
        (blocked, ["nim"], f"cannot store compiled code in {blocked}"),
        (tmp_path, ["nim", "--clear"], "takes no GAME"),
        (tmp_path, ["--param", "heaps=1"], "--param needs a GAME"),
        (tmp_path, ["nym"], "nim"),
    ):
        monkeypatch.setenv("BOARD_ENVS_CACHE_DIR", str(folder))
        code, out, err = run("warmup", *arguments)
        assert (code, out) == (2, "")
        assert told in err
        assert err.count("\n") == 1


def test_without_numba_the_extra_is_named(run, monkeypatch):
    monkeypatch.setattr("board_envs._jit.have_numba", lambda: False)
    code, out, err = run("warmup", "nim")
    assert (code, out) == (2, "")
    assert "fast" in err
