"""CPU seconds from a fresh interpreter to the first step: this project's environments, and pgx's.

    pip install 'board-envs[fast]'
    python benchmarks/scalar_startup.py [--pgx peers/bin/python]

Each start is a process of its own; its user and system time is counted, the median of several is told. "cold" is with
an empty cache of compiled functions, "warm" with what the cold start left behind.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

AEC = "import board_envs; env = board_envs.connect_four_v0.env(); env.reset(seed=0); env.last(); env.step(3)"
SINGLE = (
    "import gymnasium, board_envs; env = gymnasium.make('board_envs/ConnectFour-v0'); env.reset(seed=0); env.step(3)"
)
VECTOR = (
    "import gymnasium, board_envs, numpy as np; env = gymnasium.make_vec('board_envs/ConnectFour-v0', num_envs=1024);"
    "env.reset(seed=0); env.step(np.full(1024, 3))"
)
PGX = (
    "import os; os.environ['JAX_PLATFORMS'] = 'cpu'\n"
    "import jax, pgx; env = pgx.make('connect_four')\n"
    "init, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(env.step))\n"
    "state = init(jax.random.split(jax.random.PRNGKey(0), 1024))\n"
    "jax.block_until_ready(step(state, jax.numpy.full(1024, 3)))\n"
)


def start(python: str, program: str, cache: str) -> float:
    """Return the CPU seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run([python, "-c", program], check=True, env=environment, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pgx", metavar="PYTHON", help="a Python that has pgx and jax")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    seconds = {}
    with tempfile.TemporaryDirectory() as cache:
        seconds["AEC"] = [start(sys.executable, AEC, cache) for _ in range(arguments.runs)]
        seconds["one seat"] = [start(sys.executable, SINGLE, cache) for _ in range(arguments.runs)]
        seconds["make_vec, cold"] = [start(sys.executable, VECTOR, cache)]
        seconds["make_vec, warm"] = [start(sys.executable, VECTOR, cache) for _ in range(arguments.runs)]
        if arguments.pgx:
            seconds["pgx"] = [start(arguments.pgx, PGX, cache) for _ in range(arguments.runs)]
    medians = {name: round(statistics.median(values), 2) for name, values in seconds.items()}
    if arguments.json:
        print(json.dumps(medians))
        return
    for name, value in medians.items():
        print(f"{name:16} {value:6.2f} s")


if __name__ == "__main__":
    main()
