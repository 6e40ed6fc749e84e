"""CPU seconds from a fresh interpreter to the first step: this project's environments, and pgx's.

    pip install 'board-envs[fast]'
    python benchmarks/scalar_startup.py [--pgx peers/bin/python]

Each start is a process of its own; it prints the median of user plus system time. "import" ends
after the imports, the others after the first step. "cold" is with an empty cache of compiled functions each time,
"warm" with what a cold start left behind. pgx's step, vmapped with auto-reset and jitted, compiles at each start,
unless its user switches on jax's cache on disk ("pgx, warm"). Sides take turns, so that each pair has the same
conditions; the ratio is the median of pgx's time over ours.
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
IMPORT = "import board_envs"
PGX_IMPORT = "import os; os.environ['JAX_PLATFORMS'] = 'cpu'\nimport jax, pgx\n"
PGX = (
    PGX_IMPORT + "if os.environ.get('WARM'):\n"
    "    jax.config.update('jax_compilation_cache_dir', os.environ['NUMBA_CACHE_DIR'])\n"
    "    jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
    "from pgx.experimental.wrappers import auto_reset\n"
    "env = pgx.make('connect_four')\n"
    "init, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(auto_reset(env.step, env.init)))\n"
    "keys = jax.random.split(jax.random.PRNGKey(0), 1024)\n"
    "jax.block_until_ready(step(init(keys), jax.numpy.full(1024, 3), keys))\n"
)
Start = tuple[str, str, bool]
"""Python, program, and whether the cache is kept from run to run."""


def starts(pgx: str | None) -> dict[str, Start]:
    """Return, by name, what is started."""
    here = sys.executable
    named = {
        "import": (here, IMPORT, True),
        "AEC": (here, AEC, True),
        "one seat": (here, SINGLE, True),
        "make_vec, cold": (here, VECTOR, False),
        "make_vec, warm": (here, VECTOR, True),
    }
    if pgx is not None:
        named |= {"pgx, import": (pgx, PGX_IMPORT, True), "pgx": (pgx, PGX, False), "pgx, warm": (pgx, PGX, True)}
    return named


RIVALS = {
    "import": ("pgx, import",),
    "AEC": ("pgx",),
    "one seat": ("pgx",),
    "make_vec, cold": ("pgx",),
    "make_vec, warm": ("pgx", "pgx, warm"),
}


def measure(start: Start, kept: str) -> float:
    """Return the CPU seconds of one process."""
    python, program, warm = start
    with tempfile.TemporaryDirectory() as fresh:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment = {**os.environ, "NUMBA_CACHE_DIR": kept if warm else fresh, "WARM": "1" if warm else ""}
        subprocess.run([python, "-c", program], check=True, env=environment, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pgx", metavar="PYTHON", help="a Python that has pgx and jax")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    named = starts(arguments.pgx)
    seconds: dict[str, list[float]] = {name: [] for name in named}
    with tempfile.TemporaryDirectory() as kept:
        for one in named.values():
            if one[2]:
                measure(one, kept)  # Fills the caches.
        for _ in range(arguments.runs):
            for name, one in named.items():
                seconds[name].append(measure(one, kept))
    rows = {}
    for name, times in seconds.items():
        rows[name] = {"seconds": round(statistics.median(times), 2)}
        for rival in RIVALS.get(name, ()):
            if rival in seconds:
                pairs = zip(seconds[rival], times, strict=True)
                rows[name][f"of {rival}"] = round(statistics.median(a / b for a, b in pairs), 1)
    if arguments.json:
        print(json.dumps(rows))
        return
    for name, row in rows.items():
        times_less = ", ".join(f"{ratio:.1f}x less than {key[3:]}" for key, ratio in row.items() if key != "seconds")
        print(f"{name:16} {row['seconds']:6.2f} s  {times_less}")


if __name__ == "__main__":
    main()
