"""Interpreted scalar play against PettingZoo's own Connect Four: how many times faster the same games are replayed.

    pip install 'board-envs[dev]'
    python benchmarks/scalar_aec.py

Recorded legal games are replayed by both with ``last()`` and ``step()`` at each ply, ``reset()`` included. Each run
plays the same games on one environment and then on the other, so the ratio of a pair is taken under the same
conditions; the median of the ratios is told with the plies a CPU second (process time, not wall time) of each side.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import board_envs
from board_envs.random import Stream

TARGETS = {"raw": 3.0, "wrapped": 1.5}


def record_games(number: int, seed: int) -> list[list[int]]:
    """Return the actions of random games, the same for a seed."""
    game = board_envs.make_game("connect-four")
    stream = Stream.seeded(seed)
    games = []
    for _ in range(number):
        state, actions = game.initial_state(), []
        while not game.is_terminal(state):
            action = game.rules.nth(state, stream.below(game.rules.count(state)))
            actions.append(action)
            state = game.rules.step(state, action)
        games.append(actions)
    return games


def replay(env: Any, games: list[list[int]]) -> float:
    """Return the CPU seconds that replaying takes."""
    start = time.process_time()
    for actions in games:
        env.reset()
        for action in actions:
            env.last()
            env.step(action)
    return time.process_time() - start


def makers() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Return, by name, how to make our environment and PettingZoo's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's registry has no raw environments.
        from pettingzoo.classic import connect_four_v3
    ours: Any = board_envs.connect_four_v0
    return {"raw": (ours.raw_env, connect_four_v3.raw_env), "wrapped": (ours.env, connect_four_v3.env)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=200, help="games a run")
    parser.add_argument("--runs", type=int, default=5, help="paired runs")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    games = record_games(arguments.games, seed=0)
    plies = sum(map(len, games))
    results = {}
    for name, (make_ours, make_theirs) in makers().items():
        ours, theirs = make_ours(), make_theirs()
        replay(ours, games[:10]), replay(theirs, games[:10])
        pairs = [(replay(ours, games), replay(theirs, games)) for _ in range(arguments.runs)]
        results[name] = {
            "ratio": round(statistics.median(b / a for a, b in pairs), 2),
            "target": TARGETS[name],
            "plies_per_second": round(plies / statistics.median(a for a, _ in pairs)),
            "pettingzoo_plies_per_second": round(plies / statistics.median(b for _, b in pairs)),
        }
    if arguments.json:
        json.dump({"games": len(games), "plies": plies, "runs": arguments.runs, "results": results}, sys.stdout)
        print()
        return
    print(f"Connect Four, {len(games)} games ({plies} plies) a run, median of {arguments.runs} paired runs")
    print(f"{'':10}{'ours, plies/s':>16}{'PettingZoo':>14}{'ratio':>8}{'target':>8}")
    for name, row in results.items():
        print(
            f"{name:10}{row['plies_per_second']:>16,}{row['pettingzoo_plies_per_second']:>14,}"
            f"{row['ratio']:>8.2f}{row['target']:>8.1f}"
        )


if __name__ == "__main__":
    main()
