"""Check the solver on every unfinished position of small boards against values counted back from the last stone.

    python benchmarks/connect_four_small_boards.py [ROWSxCOLUMNSxCONNECT ...]

The reference does not search: it computes each position's value from its successors, starting from terminal ones.
Positions are taken up to mirror image. 5x5x4 has tens of millions of them: it takes some GB and many minutes.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from board_agents.games.connect_four import Book, ConnectFourSolver
from board_agents.games.connect_four.opening_book import derive, positions_by_stones
from board_envs import make_game

DEFAULT = ("4x4x3", "4x4x4", "4x5x3", "5x4x3", "4x5x4", "5x4x4", "5x5x3")


def check(rows: int, columns: int, connect: int) -> int:
    solver = ConnectFourSolver(make_game("connect-four", rows=rows, columns=columns, connect=connect))
    began = time.process_time()
    last = rows * columns - 1
    book = Book.empty(rows, columns, connect, last)
    for stones in range(last, -1, -1):
        derive(book, stones)
    compared = wrong = 0
    for level, scores in zip(positions_by_stones(rows, columns, connect, last), book.scores, strict=True):
        if len(level):
            compared += len(level)
            wrong += int(np.count_nonzero(solver.solve_many(level) != scores))
    seconds = time.process_time() - began
    print(f"{rows} x {columns}, {connect}: {compared} positions, {wrong} differ, {seconds:.1f} s CPU", flush=True)
    return wrong


def main() -> None:
    sizes = sys.argv[1:] or DEFAULT
    sys.exit(1 if sum(check(*map(int, size.split("x"))) for size in sizes) else 0)


if __name__ == "__main__":
    main()
