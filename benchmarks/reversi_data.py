"""Check the Reversi solver against files of positions with known exact scores, and say how long each file takes.

    python benchmarks/reversi_data.py FOLDER [--tier portable] [--files ffo.jsonl ...] [--moves] [--limit N]

FOLDER holds JSON lines with "board" (64 of X, O and - from a1), "side", "score" (empties to the winner) and, where they
are known, "score_raw" or "published_raw" (plain difference) and "moves" {"d3": score}. Times are processor seconds of
one thread; every difference is printed, and the exit status is 1 if there was one.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from typing import Any

import board_envs
from board_agents.games.reversi import ReversiOracle
from board_envs.game import Game
from board_envs.types import PositionError

FILES = (
    "own_endgames_1_16.jsonl",
    "endgames_13_14.jsonl",
    "endgames_15_16.jsonl",
    "endgames_17_18.jsonl",
    "endgames_19_20.jsonl",
    "ffo.jsonl",
)


def position(game: Game[Any], record: dict[str, Any]) -> tuple[Any, int]:
    """Return the position, and -1 if the side named is blocked: ours has no such positions, the other is to move."""
    try:
        return game.parse(f"{record['board']} {record['side']}"), 1
    except PositionError:
        return game.parse(f"{record['board']} {'XO'[record['side'] == 'X']}"), -1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--files", nargs="+", default=FILES)
    parser.add_argument("--tier", default=None, help="vector, bmi2 or portable; the best here if not given")
    parser.add_argument("--megabytes", type=int, default=16)
    parser.add_argument("--limit", type=int, default=None, help="only the first positions of each file")
    parser.add_argument("--empties", type=int, default=22, help="leave out positions with more empty squares")
    parser.add_argument("--moves", action="store_true", help="check every move's value too where it is known")
    parser.add_argument("--plain", action="store_true", help="check the plain difference too where it is known")
    options = parser.parse_args()

    game = board_envs.make_game("reversi")
    oracles = {
        rule: ReversiOracle(game, rule=rule, tier=options.tier, megabytes=options.megabytes, empties=64)
        for rule in ("empties-to-winner", "plain")
    }
    started = time.perf_counter()
    for oracle in oracles.values():
        oracle.prepare()
    print(f"compiled or loaded in {time.perf_counter() - started:.1f} s")
    differences = 0
    for name in options.files:
        records = [json.loads(line) for line in (options.folder / name).read_text().splitlines()]
        records = [record for record in records if record["board"].count("-") <= options.empties][: options.limit]
        seconds, slowest, checked, nodes = 0.0, 0.0, 0, 0
        for record in records:
            state, sign = position(game, record)
            wanted = {"empties-to-winner": record["score"]}
            if options.plain:
                wanted["plain"] = record.get("score_raw", record.get("published_raw"))
            for rule, score in wanted.items():
                if score is None:
                    continue
                begun = time.process_time()
                solution = oracles[rule].solve(state)
                spent = time.process_time() - begun
                if rule == "empties-to-winner":
                    seconds, slowest, nodes = seconds + spent, max(slowest, spent), nodes + solution.nodes
                checked += 1
                if solution.value != sign * score:
                    differences += 1
                    print(f"{record['id']} {rule}: {solution.value}, expected {sign * score}")
            if options.moves and sign == 1 and record.get("moves"):
                values = oracles["empties-to-winner"].action_values(state) or {}
                found = {game.action_to_text(state, action): value for action, value in values.items()}
                for move, score in record["moves"].items():
                    checked += 1
                    if found.get(move) != score:
                        differences += 1
                        print(f"{record['id']} {move}: {found.get(move)}, expected {score}")
        count = max(1, len(records))
        print(
            f"{name}: {len(records)} positions, {seconds:.2f} s, {1000 * seconds / count:.2f} ms each, slowest"
            f" {slowest:.2f} s, {nodes / 1e6:.0f} M nodes, {checked} values checked",
            flush=True,
        )
    print(f"{differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
