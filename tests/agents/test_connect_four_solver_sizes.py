"""Sizes compiled in processes of their own and loaded into one: each keeps to its own rules."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("numba")

PROGRAM = """
import json, sys
from board_agents.games.connect_four import ConnectFourSolver
from board_agents.games.connect_four.opening_book import Book, derive, positions_by_stones
from board_envs import make_game

for rows, columns, connect in json.loads(sys.argv[1]):
    solver = ConnectFourSolver(make_game("connect-four", rows=rows, columns=columns, connect=connect), 1)
    book = Book.empty(rows, columns, connect, rows * columns - 1)
    for stones in range(book.plies, -1, -1):
        derive(book, stones)
    levels = positions_by_stones(rows, columns, connect, book.plies)
    wrong = [(solver.solve_many(level) != known).sum() for level, known in zip(levels, book.scores) if len(level)]
    print(int(sum(wrong)))
"""


def test_cached_kernels_of_two_sizes_meet(tmp_path):
    """Compiled functions of one name must not be taken for each other, whichever process made them."""

    def wrong(*sizes):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", PROGRAM, json.dumps(sizes)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return [int(line) for line in run.stdout.split()]

    first, second = (2, 2, 2), (3, 4, 3)
    assert wrong(first) == [0]
    assert wrong(second) == [0]
    assert wrong(first, second) == [0, 0]
