"""One Connect Four game at a time against the peers: how many times faster the same games are replayed.

    pip install 'board-envs[dev]' open_spiel shimmy
    python benchmarks/scalar_aec.py

Recorded legal games are replayed by both sides, with observation and mask as arrays at each ply and a reset for each
game. Each run plays the same games on one environment and then on the other, so the ratio of a pair is taken under the
same conditions; it prints the median of the ratios and the plies per CPU second (process time, not wall time) of each
side. A peer that is not installed has no row. (``shimmy[openspiel]`` asks for an old OpenSpiel without wheels for new
Pythons; without the extra shimmy takes the one that is there.)

- ``raw``, ``wrapped``: our AEC environments and PettingZoo's own, ``last()`` and ``step()`` at each ply;
- ``shimmy``: our wrapped AEC environment and OpenSpiel through shimmy, the same loop;
- ``functions``: `Game.step`, `observe` and `legal_mask`, and OpenSpiel's states with numpy arrays made of its tensors;
- ``gymnasium``: `BoardEnv` in self-play, with rewards and infos, and the same loop of OpenSpiel;
- ``compiled``: `SelfPlay` of one game, which is stepped by compiled code, and the same loop of OpenSpiel.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import board_envs
from board_envs.envs.batch import SelfPlay
from board_envs.envs.single import BoardEnv
from board_envs.random import Stream

TARGETS = {"raw": 3.0, "wrapped": 1.5}
Games = list[list[int]]
Replay = Callable[[Games], float]
"""Replays games; returns the CPU seconds that this takes."""


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


def aec(env: Any) -> Replay:
    def replay(games: Games) -> float:
        start = time.process_time()
        for actions in games:
            env.reset()
            for action in actions:
                env.last()
                env.step(action)
        return time.process_time() - start

    return replay


def functions(games: Games) -> float:
    game = board_envs.make_game("connect-four")
    start = time.process_time()
    for actions in games:
        state = game.initial_state()
        for action in actions:
            game.observe(state, game.current_player(state))
            game.legal_mask(state)
            state = game.step(state, action)
    return time.process_time() - start


def gymnasium_loop() -> Replay:
    env = BoardEnv("connect-four", opponent=None)

    def replay(games: Games) -> float:
        start = time.process_time()
        for actions in games:
            env.reset()
            for action in actions:
                env.step(action)
        return time.process_time() - start

    return replay


def compiled() -> Replay:
    env = SelfPlay(board_envs.make_game("connect-four"), 1)

    def replay(games: Games) -> float:
        moves = [np.array([action]) for actions in games for action in actions]
        start = time.process_time()
        for move in moves:
            env.step(move)
        return time.process_time() - start

    return replay


def open_spiel() -> Replay:
    import pyspiel

    game = pyspiel.load_game("connect_four")

    def replay(games: Games) -> float:
        start = time.process_time()
        for actions in games:
            state = game.new_initial_state()
            for action in actions:
                player = state.current_player()
                np.array(state.observation_tensor(player), np.float32)
                np.array(state.legal_actions_mask(player), np.int8)
                state.apply_action(action)
        return time.process_time() - start

    return replay


def pairs() -> dict[str, tuple[str, Replay, Replay]]:
    """Return, by name, the peer, our replay and the peer's, of those that are installed."""
    have = {name: importlib.util.find_spec(name) is not None for name in ("pygame", "shimmy", "pyspiel")}
    ours: Any = board_envs.connect_four_v0
    found: dict[str, tuple[str, Replay, Replay]] = {}
    if have["pygame"]:  # Which PettingZoo's own Connect Four imports.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's registry has no raw environments.
            from pettingzoo.classic import connect_four_v3
        found["raw"] = ("PettingZoo", aec(ours.raw_env()), aec(connect_four_v3.raw_env()))
        found["wrapped"] = ("PettingZoo", aec(ours.env()), aec(connect_four_v3.env()))
    if have["shimmy"] and have["pyspiel"]:
        from shimmy import OpenSpielCompatibilityV0

        found["shimmy"] = ("shimmy", aec(ours.env()), aec(OpenSpielCompatibilityV0(game_name="connect_four")))
    if have["pyspiel"]:
        theirs = open_spiel()
        found["functions"] = ("OpenSpiel", functions, theirs)
        found["gymnasium"] = ("OpenSpiel", gymnasium_loop(), theirs)
        if importlib.util.find_spec("numba") is not None:
            found["compiled"] = ("OpenSpiel", compiled(), theirs)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=200, help="games a run")
    parser.add_argument("--runs", type=int, default=5, help="paired runs")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    games = record_games(arguments.games, seed=0)
    plies = sum(map(len, games))
    results = {}
    for name, (peer, ours, theirs) in pairs().items():
        ours(games[:10]), theirs(games[:10])
        times = [(ours(games), theirs(games)) for _ in range(arguments.runs)]
        results[name] = {
            "peer": peer,
            "ratio": round(statistics.median(b / a for a, b in times), 2),
            "target": TARGETS.get(name),
            "plies_per_second": round(plies / statistics.median(a for a, _ in times)),
            "peer_plies_per_second": round(plies / statistics.median(b for _, b in times)),
        }
    if arguments.json:
        json.dump({"games": len(games), "plies": plies, "runs": arguments.runs, "results": results}, sys.stdout)
        print()
        return
    print(f"Connect Four, {len(games)} games ({plies} plies) a run, median of {arguments.runs} paired runs")
    print(f"{'':12}{'ours, plies/s':>14} {'peer':>12} {'plies/s':>10} {'ratio':>8} {'target':>8}")
    for name, row in results.items():
        target = "" if row["target"] is None else f"{row['target']:.1f}"
        print(
            f"{name:12}{row['plies_per_second']:>14,} {row['peer']:>12} {row['peer_plies_per_second']:>10,} "
            f"{row['ratio']:>8.2f} {target:>8}"
        )


if __name__ == "__main__":
    main()
