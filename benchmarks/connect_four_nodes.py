"""Solve the empty 6 x 7 board and count the nodes, which must not change when only the code's form does.

    python benchmarks/connect_four_nodes.py

One thread, a table of 64 MB, no book. The count is 144,808,532: the search is deterministic, so any other number means
that it searches something else. The time is of the processor, compiling left out.
"""

from __future__ import annotations

import sys
import time

from board_agents.games.connect_four import ConnectFourSolver
from board_envs import make_game

NODES = 144_808_532


def main() -> None:
    game = make_game("connect-four")
    # Compiles, or loads what was compiled.
    ConnectFourSolver(game, megabytes=1).score(game.from_moves("44444437777771"))
    solver = ConnectFourSolver(game, megabytes=64)
    began = time.process_time()
    score = solver.score(game.initial_state())
    seconds = time.process_time() - began
    print(f"score {score}, {solver.nodes:,} nodes, {seconds:.2f} s CPU, {seconds / solver.nodes * 1e9:.1f} ns a node")
    sys.exit(0 if (score, solver.nodes) == (1, NODES) else f"expected score 1 and {NODES:,} nodes")


if __name__ == "__main__":
    main()
