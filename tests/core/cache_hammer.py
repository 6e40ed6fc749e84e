"""Many processes compile one kernel for different sizes at once, into one empty folder; then all sizes are checked.

    python tests/core/cache_hammer.py [--processes 8] [--rounds 50] [--sizes 6]

Each process takes the sizes in an order of its own, checks the answers of what it compiled or loaded, and a process at
the end, which compiles nothing, checks all sizes together. Exits non-zero if any answer was wrong or any process died.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORKER = """
import sys, time
from pathlib import Path
from board_envs._jit import jitable, kernel
import numba

def make(size):
    @jitable
    def step(value):
        # Long enough to be called instead of copied into its callers.
        for _ in range(value % 7):
            value = value * 3 % 1013 + 5 if value % 2 else value * 5 % 2027 + 3
        for _ in range(value % 5):
            value = value * 7 % 3011 + 9 if value % 3 else value * 11 % 4013 + 7
        for _ in range(value % 11):
            value = value * 13 % 5009 + 11 if value % 4 else value * 17 % 6007 + 13
        return value * 100 + size

    def game(value):
        return step(step(value) % 50) + step(value + 1)

    return kernel(game)

begin, compiles = float(sys.argv[1]), sys.argv[2] == "True"
kernels = [(size, make(size)) for size in map(int, sys.argv[3:])]
time.sleep(max(0, begin - time.time()))
for size, kernel in kernels:
    assert kernel(5) == kernel.function(5), f"size {size} played by other rules"
    misses = sum(kernel.dispatcher.stats.cache_misses.values())
    assert compiles or misses == 0, f"size {size} was not found on disk"
for size, kernel in kernels:
    assert kernel(7) == kernel.function(7), f"size {size} plays by other rules once others are loaded"
"""


def hammer(folder: Path, processes: int, sizes: int, seed: int = 0) -> list[str]:
    """Run one round in an empty folder; return what went wrong, a line each."""
    draws = random.Random(seed)
    environment = {**os.environ, "BOARD_ENVS_CACHE_DIR": str(folder)}

    def start(begin: float, compiles: bool, order: list[int]) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WORKER, str(begin), str(compiles), *map(str, order)]
        return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)

    begin = time.time() + 1 + 0.3 * processes  # all have imported numba by then
    running = [start(begin, True, draws.sample(range(sizes), sizes)) for _ in range(processes)]
    wrong = [_last_line(process) for process in running]
    wrong.append(_last_line(start(0, False, list(range(sizes)))))
    return [line for line in wrong if line]


def _last_line(process: subprocess.Popen[str]) -> str:
    _, told = process.communicate()
    if process.returncode == 0:
        return ""
    return (told.strip().splitlines() or ["nothing was said"])[-1] + f" (status {process.returncode})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--sizes", type=int, default=6)
    options = parser.parse_args()
    failed = 0
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            wrong = hammer(Path(folder), options.processes, options.sizes, number)
        failed += bool(wrong)
        for line in wrong:
            print(f"round {number}: {line}", flush=True)
    print(f"{options.rounds} rounds of {options.processes} processes and {options.sizes} sizes: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
