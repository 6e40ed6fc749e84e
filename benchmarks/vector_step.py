"""Batched random play against the fastest peers: how many times more plies a second, one core.

    pip install 'board-envs[fast]' open_spiel
    python -m venv peers && peers/bin/pip install pgx jax      # optional, any environment of its own
    python benchmarks/vector_step.py --pgx peers/bin/python

Each side plays random legal moves, chosen inside the timed loop, writes observation and mask of every position, and
begins finished games anew. Sides take turns, one short run each, and the median of the ratios of such pairs is told
with the plies a CPU second (process time) of each. Rows:

- ``self-play``: `board_envs.envs.batch.SelfPlay`, arrays written in place;
- ``make_vec``: the Gymnasium environment (``opponent=None``, rewards, flags and infos included), actions chosen by
  numpy from the mask in the infos;
- ``pgx``: its jitted, vmapped step with auto-reset, a scan of steps, on the CPU with one thread;
- ``OpenSpiel``: a Python loop over one state at a time that makes numpy arrays of the tensors.

``--threads`` compares two threads with one at batch 8192.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import board_envs
from board_envs.envs.batch import SelfPlay
from board_envs.envs.vector import BoardVectorEnv

TARGETS = {
    ("connect-four", "pgx"): 10.0,
    ("reversi", "pgx"): 25.0,
    ("awale", "OpenSpiel"): 30.0,
    ("nim", "OpenSpiel"): 50.0,
}
SPIEL = {
    "connect-four": "connect_four",
    "reversi": "othello",
    "awale": "oware",
    "nim": "nim(pile_sizes=3;4;5,is_misere=False)",
}
PGX = {"connect-four": "connect_four", "reversi": "othello"}

PGX_PROGRAM = """
import json, os, sys, time
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
import jax, jax.numpy as jnp, pgx
from pgx.experimental.wrappers import auto_reset
name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
env = pgx.make(name)
step, init = auto_reset(env.step, env.init), jax.vmap(env.init)
def one(carry, key):
    state, total = carry
    logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
    draw, reset = jax.random.split(key)
    action = jax.random.categorical(draw, logits, axis=-1)
    state = jax.vmap(step)(state, action, jax.random.split(reset, batch))
    return (state, total + state.observation.sum() + state.legal_action_mask.sum()), None
@jax.jit
def play(state, key):
    (state, total), _ = jax.lax.scan(one, (state, 0.0), jax.random.split(key, steps))
    return state, total
state = init(jax.random.split(jax.random.PRNGKey(0), batch))
state, _ = jax.block_until_ready(play(state, jax.random.PRNGKey(1)))
print("ready", flush=True)
for line in sys.stdin:
    start = time.process_time()
    state, _ = jax.block_until_ready(play(state, jax.random.PRNGKey(int(line))))
    print(batch * steps / (time.process_time() - start), flush=True)
"""


def self_play(
    name: str, batch: int, seconds: float, threads: int = 1, clock: Callable[[], float] = time.process_time
) -> Callable[[], float]:
    env = SelfPlay(board_envs.make_game(name), batch, num_threads=threads)
    env.step_random()

    def run() -> float:
        start, steps = clock(), 0
        while clock() - start < seconds:
            env.step_random(10)
            steps += 10
        return batch * steps / (clock() - start)

    return run


def make_vec(name: str, batch: int, seconds: float) -> Callable[[], float]:
    env = BoardVectorEnv(name, batch, opponent=None)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    masks = infos["action_mask"]
    env.step((rng.random(masks.shape, np.float32) * masks).argmax(1))

    def run() -> float:
        nonlocal masks
        start, steps = time.process_time(), 0
        while time.process_time() - start < seconds:
            actions = (rng.random(masks.shape, np.float32) * masks).argmax(1)
            masks = env.step(actions)[4]["action_mask"]
            steps += 1
        return batch * steps / (time.process_time() - start)

    return run


def open_spiel(name: str, seconds: float) -> Callable[[], float]:
    import pyspiel

    game = pyspiel.load_game(SPIEL[name])
    draw = random.Random(0)

    def run() -> float:
        start, plies = time.process_time(), 0
        state = game.new_initial_state()
        while time.process_time() - start < seconds:
            for _ in range(50):
                state.apply_action(draw.choice(state.legal_actions()))
                if state.is_terminal():
                    state = game.new_initial_state()
                player = state.current_player()
                np.array(state.observation_tensor(player), np.float32)
                np.array(state.legal_actions_mask(player), np.int8)
            plies += 50
        return plies / (time.process_time() - start)

    return run


class Pgx:
    """pgx in a Python of its own; a run is asked for by a line."""

    def __init__(self, python: str, name: str, batch: int, seconds: float) -> None:
        steps = max(10, int(seconds * (1_500_000 if name == "connect-four" else 250_000)) // batch)
        self._process = subprocess.Popen(
            [python, "-c", PGX_PROGRAM, PGX[name], str(batch), str(steps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._number = 1
        if self._read() != "ready":
            raise RuntimeError(f"{python} runs no pgx")

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __call__(self) -> float:
        """Run once; returns plies a CPU second."""
        assert self._process.stdin is not None
        self._number += 1
        self._process.stdin.write(f"{self._number}\n")
        self._process.stdin.flush()
        return float(self._read())

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compare(name: str, batch: int, runs: int, seconds: float, pgx_python: str | None) -> list[dict[str, Any]]:
    """Return a row for each pair of a way to play here and a peer."""
    ours = {"self-play": self_play(name, batch, seconds), "make_vec": make_vec(name, batch, seconds)}
    peers: dict[str, Callable[[], float]] = {"OpenSpiel": open_spiel(name, seconds)}
    if pgx_python is not None and name in PGX:
        peers["pgx"] = Pgx(pgx_python, name, batch, seconds)
    speeds: dict[str, list[float]] = {label: [] for label in (*ours, *peers)}
    for _ in range(runs):
        for label, run in (*ours.items(), *peers.items()):
            speeds[label].append(run())
    for peer in peers.values():
        if isinstance(peer, Pgx):
            peer.close()
    rows = []
    for label in ours:
        for peer in peers:
            pairs = zip(speeds[label], speeds[peer], strict=True)
            rows.append(
                {
                    "game": name,
                    "batch": batch,
                    "ours": label,
                    "peer": peer,
                    "plies_per_second": round(statistics.median(speeds[label])),
                    "peer_plies_per_second": round(statistics.median(speeds[peer])),
                    "ratio": round(statistics.median(a / b for a, b in pairs), 1),
                    "target": TARGETS.get((name, peer)) if label == "self-play" else None,
                }
            )
    return rows


def compare_threads(name: str, runs: int, seconds: float) -> dict[str, Any]:
    """Return how much two threads gain at batch 8192, by the wall clock."""
    one, two = (self_play(name, 8192, seconds, threads, time.perf_counter) for threads in (1, 2))
    ratios = [two() / one() for _ in range(runs)]
    return {"game": name, "batch": 8192, "threads": 2, "ratio": round(statistics.median(ratios), 2), "target": 1.7}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=list(board_envs.GAMES), help="all by default")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run")
    parser.add_argument("--pgx", metavar="PYTHON", help="a Python that has pgx and jax")
    parser.add_argument("--threads", action="store_true", help="two threads against one instead")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    if arguments.threads:
        print(f"two threads against one on {os.cpu_count()} cores, wall clock", file=sys.stderr)
        for name in arguments.games:
            row = compare_threads(name, arguments.runs, arguments.seconds)
            print(json.dumps(row) if arguments.json else f"{name:14} {row['ratio']:.2f}x (target {row['target']}x)")
        return
    if not arguments.json:
        head = ("game", "ours", "plies/s", "peer", "plies/s", "ratio", "target")
        print("{:13} {:10} {:>12} {:>10} {:>12} {:>8} {:>7}".format(*head))
    for name in arguments.games:
        for row in compare(name, arguments.batch, arguments.runs, arguments.seconds, arguments.pgx):
            if arguments.json:
                print(json.dumps(row))
                continue
            target = "" if row["target"] is None else f"{row['target']:.0f}"
            print(
                f"{name:13} {row['ours']:10} {row['plies_per_second']:>12,} {row['peer']:>10} "
                f"{row['peer_plies_per_second']:>12,} {row['ratio']:>8.1f} {target:>7}",
                flush=True,
            )


if __name__ == "__main__":
    main()
