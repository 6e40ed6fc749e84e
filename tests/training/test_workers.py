"""What trainers' worker processes need: environments and what makes them travel by pickle and cloudpickle."""

import pickle
import subprocess
import sys

import cloudpickle
import pytest

import board_envs


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_functions_of_game_modules_travel_by_name(dumps):
    for name in ("reversi_v0", "connect_four_v0", "awale_v0", "nim_v0"):
        module = getattr(board_envs, name)
        assert pickle.loads(dumps(module.env)) is module.env


def test_game_modules_travel_by_name():
    assert pickle.loads(cloudpickle.dumps(board_envs.nim_v0)) is board_envs.nim_v0


def test_a_function_that_names_a_game_module_runs_in_a_fresh_process(tmp_path):
    # A lambda of a script is pickled by value, the modules it names with it; ray's workers get environments like this.
    make = lambda: board_envs.nim_v0.raw_env(heaps=(1, 2))  # noqa: E731
    make.__module__ = "__main__"
    path = tmp_path / "make.pkl"
    path.write_bytes(cloudpickle.dumps(make))
    code = f"import pickle; env = pickle.load(open({str(path)!r}, 'rb'))(); env.reset(); print(env.observe('player_1'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[1, 2]" in done.stdout
