"""How fast tournaments go: compiled agents of depth 2, games written to a database, on one worker and on several.

Run:  python benchmarks/arena_workers.py [--games 10000] [--workers 2] [--rounds 3]

Rounds are paired, one with each number of workers; the benchmark prints the median of their ratios. Workers are
started, and what is compiled is loaded by them, before the clock runs. Other programs on the machine lower the ratio.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from board_agents.arena.records.database import Store
from board_agents.arena.tournament import plan, play
from board_agents.arena.workers import play_parallel
from board_envs import make_game

AGENTS = {
    "first": "alpha-beta:depth=2,compiled=true",
    "second": "alpha-beta:depth=2,ties=random,compiled=true",
}


def run(games: int, workers: int, seed: int) -> float:
    """Return the seconds that planning, playing and writing take."""
    game = make_game("connect-four")
    list(play_parallel(game, AGENTS, plan(game, list(AGENTS), 64, seed=99), workers=workers))
    begun = time.perf_counter()
    tasks = plan(game, list(AGENTS), games, seed=seed)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "games.db") as store:
        with store.writer("run") as writer:
            played = play(game, AGENTS, tasks) if workers == 1 else play_parallel(game, AGENTS, tasks, workers=workers)
            for record in played:
                writer.append(record)
        assert store.count() == games
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ratios = []
    for number in range(options.rounds):
        alone, together = (run(options.games, workers, number) for workers in (1, options.workers))
        ratios.append(alone / together)
        print(f"round {number + 1}: 1 worker {alone:.1f} s, {options.workers} workers {together:.1f} s", flush=True)
    print(
        f"{options.games} games: {options.workers} workers are {statistics.median(ratios):.2f} times as fast (median)"
    )


if __name__ == "__main__":
    main()
