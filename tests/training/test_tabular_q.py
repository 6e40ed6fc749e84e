"""examples/train_tabular_q.py reaches perfect play, by exact values that it did not learn from."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
import train_tabular_q as q

import board_envs
from board_agents import make_oracle
from board_agents.arena import Ending, play_game


@pytest.mark.parametrize("misere", [False, True])
def test_nim_is_learned_to_perfection(misere):
    outcome = q.train("nim", {"heaps": (3, 4, 5), "misere": misere}, episodes=30_000, check_every=3000)
    assert outcome.positions == 4 * 5 * 6 - 1  # all but the empty one
    assert outcome.imperfect == 0
    assert outcome.worst_regret == 0
    wins = 0
    for seed in range(50):  # first to move from a won position: every game is won
        builders = [outcome.table, "random"]
        record = play_game(outcome.table.game, builders, names=("table", "random"), seeds=(seed, seed))
        assert record.ending is Ending.FINISHED
        wins += record.winner == 0
    assert wins == 50


def test_a_small_awale_is_learned_to_perfection_memory_of_the_game_included():
    outcome = q.train("awale", {"pits": 2, "seeds": 3}, episodes=150_000, check_every=20_000)
    assert outcome.positions > 9000
    assert outcome.imperfect == 0
    game = outcome.table.game
    # The values themselves are right, too: the start's is that of the exhaustive search.
    start = game.initial_state()
    exact = make_oracle(game, "exhaustive").action_values(start)
    learned = outcome.table.values[q.key_of(game, start)]
    assert learned.max() == max(exact.values())


def test_the_proof_sees_faults():
    game = board_envs.make_game("nim", heaps=(2, 2))
    judge = gymnasium.make("board_envs/Nim-v0", heaps=(2, 2), opponent=None, oracle="default")
    states = q.positions(game)
    assert len(states) == 8
    lost = q.regrets(judge, q.Table(game), states)  # an empty table takes the first legal action
    assert set(lost) == {0.0, 2.0}
    small = gymnasium.make("board_envs/Nim-v0", heaps=(2, 2), opponent=None)
    with pytest.raises(ValueError, match="does not know all positions"):
        q.regrets(small, q.Table(game), states)


def test_the_awale_key_tells_histories_apart():
    game = board_envs.make_game("awale", pits=2, seeds=3)
    seen: dict[bytes, set[object]] = {}
    for state in q.positions(game)[:3000]:
        seen.setdefault(game.observe(state, state.seat).tobytes(), set()).add(q.key_of(game, state))
    assert max(map(len, seen.values())) > 1


def test_the_program_runs_with_numpy_alone():
    code = (
        "import sys, runpy\n"
        "for name in ('torch', 'numba', 'rich', 'typer'): sys.modules[name] = None\n"
        f"sys.argv = ['x', 'nim', '--heaps', '2', '3', '--check-every', '500']\n"
        f"runpy.run_path({q.__file__!r}, run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert "regret 0 in 11 of 11 positions" in done.stdout
    assert np.isfinite(float(done.stdout.split(" games in ")[1].split(" s:")[0]))
