"""Solve Reversi from its first move on a small board, in a run that can be stopped and taken up again.

    python benchmarks/reversi_small_board.py --size 6 --file six.table [--megabytes 1024] [--threads 2] [--minutes 5]

4 x 4 takes a moment. On 6 x 6 random positions took 3 ms with 16 empty squares, 22 with 18, 96 with 20, 0.49 s with 22
and 1.8 s with 24, five times as long for two more; from the start, with 32, that makes about 20 minutes of one thread,
and an hour if best play is harder than random positions are. The file is written after each slice of time and on
Ctrl-C; with the same options the next run goes on from it. The value is black's result under best play, -4 on 6 x 6 as
Feinstein published in 1993.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time
from typing import Any

import board_envs
from board_agents.games.reversi import ReversiOracle
from board_envs.game import Game


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=6)
    parser.add_argument("--file", type=pathlib.Path, required=True)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5, help="between two savings")
    parser.add_argument("--moves", default="", help="begin after these moves")
    options = parser.parse_args()
    game = board_envs.make_game("reversi", size=options.size)
    oracle = ReversiOracle(game, megabytes=options.megabytes, threads=options.threads, empties=64)
    if options.file.exists():
        oracle.load(options.file)
        print(f"going on from {options.file}")
    state = game.from_moves(options.moves)
    begun, busy, nodes = time.perf_counter(), time.process_time(), 0
    try:
        while True:
            solution = oracle.solve(state, seconds=60 * options.minutes)
            nodes += solution.nodes
            print(
                f"{time.perf_counter() - begun:.0f} s, {time.process_time() - busy:.0f} s of processor time,"
                f" {nodes / 1e6:.0f} M positions",
                flush=True,
            )
            if solution.value is not None:
                break
            oracle.save(options.file)
    except KeyboardInterrupt:
        oracle.save(options.file)
        print(f"stopped; the same command goes on from {options.file}")
        return 1
    oracle.save(options.file)
    print(f"value {solution.value} for {'black' if state.seat == 0 else 'white'}")
    print("line", options.moves + game.notation.join_moves(names(game, state, oracle.line(state))))
    return 0


def names(game: Game[Any], state: Any, actions: list[int]) -> list[str]:
    moves = []
    for action in actions:
        moves.append(game.action_to_text(state, action))
        state = game.step(state, action)
    return moves


if __name__ == "__main__":
    sys.exit(main())
