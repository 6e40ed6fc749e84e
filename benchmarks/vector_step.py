"""Batched random play against the fastest peers: how many times more plies a second, one core.

    pip install 'board-envs[fast]' open_spiel
    python -m venv peers && peers/bin/pip install pgx jax creversi-python numba envpool     # optional, any of them
    python benchmarks/vector_step.py --peers peers/bin/python

Each side plays random legal moves, chosen inside the timed loop, writes observation and mask of every position, and
restarts finished games. Sides take turns, one short run each; it prints the median of the ratios of such pairs
with the plies a CPU second (process time) of each; a peer that is not installed has no row. Ours:

- ``self-play``: `board_envs.envs.batch.SelfPlay`, arrays written in place;
- ``make_vec``: the Gymnasium environment (``opponent=None``, rewards, flags and infos included), actions chosen by its
  ``random_actions``.

Peers:

- ``pgx``: its jitted, vmapped step with auto-reset, a scan of steps, on the CPU with one thread;
- ``OpenSpiel``: a Python loop over one state at a time that makes numpy arrays of the tensors;
- ``creversi``: the batched environment of creversi-python with numba. It has bitboards only: moves are chosen, planes
  and masks written, by a compiled loop written here, the best that its user can do;
- ``EnvPool``: its synchronous environment with one thread, actions chosen by numpy from the mask in the infos. It has
  Connect Four and Othello (1.2.5 has a wheel for Python 3.11, older ones have no board games), no Awalé and no Nim.

``floor`` compares self-play with a kernel that draws a number, reads and writes each packed state, and writes as many
bytes of observation, mask, reward and flag, but plays no game: what no rules could beat in this form. The share of it
that each game reaches is what its rules leave.

Then two threads are compared with one at batch 8192, and a million Connect Four games run at once (peak memory of
the process). ``--table``, ``--threads`` and ``--memory`` ask for one of the three.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import board_envs
from board_envs._bits import borrowed
from board_envs._jit import kernel
from board_envs.envs.batch import SelfPlay
from board_envs.envs.vector import BoardVectorEnv
from board_envs.random import Stream, draw

TARGETS = {
    ("connect-four", "pgx"): 10.0,
    ("reversi", "pgx"): 25.0,
    ("reversi", "creversi"): 6.0,
    ("awale", "OpenSpiel"): 30.0,
    ("nim", "OpenSpiel"): 50.0,
}
SPIEL = {
    "connect-four": "connect_four",
    "reversi": "othello",
    "awale": "oware",
    "nim": "nim(pile_sizes=3;4;5,is_misere=False)",
}
PGX = """
import os, sys, time
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
CREVERSI = """
import sys, time
import numpy as np
from numba import njit
from creversi.gym_reversi.envs.reversi_vec_env import ReversiVecEnvFast
batch, steps = int(sys.argv[2]), int(sys.argv[3])
one = np.uint64(1)
@njit
def look(moves, player, opponent, seen, masks, actions, word):
    for i in range(moves.shape[0]):
        left, number = moves[i], 0
        for k in range(64):
            legal = (left >> np.uint64(k)) & one
            masks[i, k] = legal
            number += np.int64(legal)
            seen[i, k, 0] = (player[i] >> np.uint64(k)) & one
            seen[i, k, 1] = (opponent[i] >> np.uint64(k)) & one
        masks[i, 64] = number == 0
        actions[i] = 64
        if number:
            word ^= word << np.uint64(13)
            word ^= word >> np.uint64(7)
            word ^= word << np.uint64(17)
            chosen = np.int64(((word >> np.uint64(32)) * np.uint64(number)) >> np.uint64(32))
            for k in range(64):
                if masks[i, k]:
                    if chosen == 0:
                        actions[i] = k
                        break
                    chosen -= 1
    return word
env = ReversiVecEnvFast(batch)
seen, masks = np.empty((batch, 64, 2), np.int8), np.empty((batch, 65), np.int8)
actions, word = np.empty(batch, np.int64), np.uint64(88172645463325252)
def play(word, steps):
    for _ in range(steps):
        word = np.uint64(look(env.legal_moves_mask(), env.player, env.opponent, seen, masks, actions, word))
        env.step(actions)
    return word
word = play(word, 3)
print("ready", flush=True)
for line in sys.stdin:
    start = time.process_time()
    word = play(word, steps)
    print(batch * steps / (time.process_time() - start), flush=True)
"""
ENVPOOL = """
import sys, time
import numpy as np
import envpool
name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
env = envpool.make(name, env_type="gymnasium", num_envs=batch, num_threads=1)
rng = np.random.default_rng(0)
mask = env.reset()[1]["legal_action_mask"]
print("ready", flush=True)
for line in sys.stdin:
    start = time.process_time()
    for _ in range(steps):
        actions = (rng.random(mask.shape, np.float32) * mask).argmax(1).astype(np.int32)
        mask = env.step(actions)[4]["legal_action_mask"]
    print(batch * steps / (time.process_time() - start), flush=True)
"""
PROGRAMS: dict[tuple[str, str], tuple[str, str, int]] = {
    ("connect-four", "pgx"): (PGX, "connect_four", 1_500_000),
    ("reversi", "pgx"): (PGX, "othello", 250_000),
    ("reversi", "creversi"): (CREVERSI, "", 1_000_000),
    ("connect-four", "EnvPool"): (ENVPOOL, "ConnectFour-v1", 200_000),
    ("reversi", "EnvPool"): (ENVPOOL, "Othello-v1", 100_000),
}
"""By game and peer: the program, what it calls the game, and about how many plies a second it makes."""


def self_play(
    name: str, batch: int, seconds: float, threads: int = 1, clock: Callable[[], float] = time.process_time
) -> Callable[[], float]:
    env = SelfPlay(board_envs.make_game(name), batch, num_threads=threads)
    env.step_random()

    def run() -> float:
        start, steps = clock(), 0
        while clock() - start < seconds:
            env.step_random(20)
            steps += 20
        return batch * steps / (clock() - start)

    return run


def make_vec(name: str, batch: int, seconds: float) -> Callable[[], float]:
    env = BoardVectorEnv(name, batch, opponent=None)
    env.reset(seed=0)
    stream = Stream.seeded(0)
    env.step(env.random_actions(stream))

    def run() -> float:
        start, steps = time.process_time(), 0
        while time.process_time() - start < seconds:
            env.step(env.random_actions(stream))
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


class Peer:
    """A peer's program in its own Python; each line sent to it requests a run."""

    def __init__(self, python: str, game: str, peer: str, batch: int, seconds: float) -> None:
        program, name, speed = PROGRAMS[game, peer]
        steps = max(3, int(seconds * speed) // batch)
        self._process = subprocess.Popen(
            [python, "-c", program, name, str(batch), str(steps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._number = 1
        self.ready = self._read() == "ready"

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


def find_peers(game: str, batch: int, seconds: float, pythons: list[str]) -> dict[str, Peer]:
    """Start each peer that has the game in the first Python that runs it."""
    found = {}
    for name in [peer for one, peer in PROGRAMS if one == game]:
        for python in pythons:
            peer = Peer(python, game, name, batch, seconds)
            if peer.ready:
                found[name] = peer
                break
            peer.close()
        else:
            print(f"{game}: no {name}, so no row of it", file=sys.stderr)
    return found


@kernel
def touch(
    key: np.uint64, steps: int, words: Any, seen: Any, masks: Any, rewards: Any, terminated: Any, count: int
) -> None:
    """Do what a step of self-play does but play."""
    words, seen, masks = borrowed(words), borrowed(seen), borrowed(masks)
    for step in range(steps):
        base = np.uint64(step) * np.uint64(count)
        for i in range(count):
            bits = draw(key, base + np.uint64(i))
            for j in range(words.shape[1]):
                words[i, j] ^= bits
            seen[i] = np.int8(bits & np.uint64(1))
            masks[i] = np.int8(bits & np.uint64(1))
            rewards[i] = 0.0
            terminated[i] = words[i, 0] == bits


def floor(name: str, batch: int, seconds: float) -> tuple[Callable[[], float], int]:
    """Return a run that only moves as many bytes as self-play, and how many it writes a ply."""
    env = SelfPlay(board_envs.make_game(name), batch)
    seen = env.observations.reshape(batch, -1)
    written = [env.states.words, seen, env.masks, env.rewards, env.terminated]
    touch(env._key, 1, *written, batch)

    def run() -> float:
        start, steps = time.process_time(), 0
        while time.process_time() - start < seconds:
            touch(env._key, 10, *written, batch)
            steps += 10
        return batch * steps / (time.process_time() - start)

    return run, sum(array.nbytes for array in written) // batch


def compare(name: str, batch: int, runs: int, seconds: float, pythons: list[str]) -> list[dict[str, Any]]:
    """Return a row for each pair of a way to play here and a peer."""
    ours = {"self-play": self_play(name, batch, seconds), "make_vec": make_vec(name, batch, seconds)}
    lowest, written = floor(name, batch, seconds / 4)
    processes = find_peers(name, batch, seconds, pythons)
    peers: dict[str, Callable[[], float]] = {**processes}
    if importlib.util.find_spec("pyspiel") is not None:
        peers["OpenSpiel"] = open_spiel(name, seconds)
    peers["floor"] = lowest
    speeds: dict[str, list[float]] = {label: [] for label in (*ours, *peers)}
    for _ in range(runs):
        for label, run in (*ours.items(), *peers.items()):
            speeds[label].append(run())
    for process in processes.values():
        process.close()
    rows = []
    for label in ours:
        for peer in peers if label == "self-play" else [peer for peer in peers if peer != "floor"]:
            pairs = zip(speeds[label], speeds[peer], strict=True)
            rows.append(
                {
                    "game": name,
                    "batch": batch,
                    "ours": label,
                    "peer": peer,
                    "plies_per_second": round(statistics.median(speeds[label])),
                    "peer_plies_per_second": round(statistics.median(speeds[peer])),
                    "ratio": round(statistics.median(a / b for a, b in pairs), 2),
                    "target": TARGETS.get((name, peer)),
                    "bytes_per_ply": written,
                }
            )
    return rows


def compare_threads(name: str, runs: int, seconds: float) -> dict[str, Any]:
    """Return how much two threads gain at batch 8192, by the wall clock: the median of short pairs in both orders."""
    one, two = (self_play(name, 8192, seconds, threads, time.perf_counter) for threads in (1, 2))
    ratios = []
    for number in range(runs):
        if number % 2:
            first, second = two(), one()
            ratios.append(first / second)
        else:
            first, second = one(), two()
            ratios.append(second / first)
    return {"game": name, "batch": 8192, "threads": 2, "ratio": round(statistics.median(ratios), 2), "target": 1.7}


def hold_a_million(kind: str) -> dict[str, Any]:
    """Return what a million Connect Four games with observations and masks take, after three steps of each."""
    count = 1_000_000
    if kind == "self-play":
        env = SelfPlay(board_envs.make_game("connect-four"), count)
        env.step_random(3)
    else:
        vector = BoardVectorEnv("connect-four", count, opponent=None)
        infos = vector.reset(seed=0)[1]
        for _ in range(3):
            infos = vector.step(infos["action_mask"].argmax(1))[4]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"game": "connect-four", "games": count, "ours": kind, "peak_mib": round(peak), "target": 1024}


def measure_memory() -> list[dict[str, Any]]:
    """Hold a million games in a process of its own for each form."""
    program = "import json, sys, vector_step; print(json.dumps(vector_step.hold_a_million(sys.argv[1])))"
    here = os.path.dirname(os.path.abspath(__file__))
    return [
        json.loads(subprocess.check_output([sys.executable, "-c", program, kind], cwd=here, text=True))
        for kind in ("self-play", "make_vec")
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", help="all by default")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run")
    parser.add_argument("--peers", metavar="PYTHON", nargs="+", default=[], help="Pythons that have peers installed")
    for part in ("table", "threads", "memory"):
        parser.add_argument(f"--{part}", action="append_const", const=part, dest="parts", help="only this part")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    parts = arguments.parts or ["table", "threads", "memory"]
    games = arguments.games or list(board_envs.GAMES)
    if "table" in parts:
        if not arguments.json:
            head = ("game", "ours", "plies/s", "peer", "plies/s", "ratio", "target")
            print("{:13} {:10} {:>12} {:>10} {:>12} {:>8} {:>7}".format(*head))
        for name in games:
            for row in compare(name, arguments.batch, arguments.runs, arguments.seconds, arguments.peers):
                if arguments.json:
                    print(json.dumps(row))
                    continue
                target = "" if row["target"] is None else f"{row['target']:.0f}"
                if row["peer"] == "floor":
                    target = f"  of {row['bytes_per_ply']} bytes a ply"
                print(
                    f"{name:13} {row['ours']:10} {row['plies_per_second']:>12,} {row['peer']:>10} "
                    f"{row['peer_plies_per_second']:>12,} {row['ratio']:>8.2f} {target:>7}",
                    flush=True,
                )
    if "threads" in parts:
        print(f"two threads against one on {os.cpu_count()} cores, wall clock", file=sys.stderr)
        for name in games:
            row = compare_threads(name, 3 * arguments.runs, arguments.seconds / 3)
            print(json.dumps(row) if arguments.json else f"{name:13} {row['ratio']:.2f}x (target {row['target']}x)")
    if "memory" in parts:
        for row in measure_memory():
            if arguments.json:
                print(json.dumps(row))
                continue
            print(f"{row['games']:,} games, {row['ours']}: {row['peak_mib']} MiB at most (target {row['target']} MiB)")


if __name__ == "__main__":
    main()
