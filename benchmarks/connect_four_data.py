"""Check the solver against files of known Connect Four scores; prints what was compared and how many differ.

    python benchmarks/connect_four_data.py FOLDER [--threads 2] [--book] [--limit N]

FOLDER holds ``pons/*.txt`` ("moves score"), ``move_scores.csv`` (moves, score, c1 .. c7), and ``scores_ply0_8.csv``,
``scores_ply9_12.csv`` and ``uci_connect4_8ply.csv`` (moves, score); what is missing is left out. ``--book`` also
compares the shipped book, as far as the file goes, with ``scores_ply0_8.csv``; the files of early positions are read
by the book where there is one, as solving their hundred thousands of positions anew takes an hour. Exit status 1 if
anything differs.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import sys
import time
from collections.abc import Iterator

import numpy as np

from board_agents.games.connect_four import Book, ConnectFourSolver, default_solver
from board_envs import make_game

GAME = make_game("connect-four")


def pons(path: pathlib.Path) -> Iterator[tuple[str, int]]:
    for line in path.read_text().splitlines():
        moves, score = line.split()
        yield moves, int(score)


def table(path: pathlib.Path) -> Iterator[dict[str, str]]:
    with open(path, newline="") as file:
        yield from csv.DictReader(file)


def report(name: str, compared: int, wrong: int, began: float) -> int:
    print(f"{name:24} {compared:7} compared  {wrong} differ  {time.process_time() - began:8.1f} s CPU", flush=True)
    return wrong


def check_many(solver: ConnectFourSolver, name: str, rows: list[tuple[str, int]], threads: int) -> int:
    began = time.process_time()
    states = [GAME.from_moves(moves) for moves, _ in rows]
    if solver.book is None:
        found = solver.solve_many(solver.as_words(states), threads=threads).tolist()
    else:
        found = [solver.score(state) for state in states]
    return report(name, len(rows), sum(a != b for a, (_, b) in zip(found, rows, strict=True)), began)


def check_moves(solver: ConnectFourSolver, path: pathlib.Path, limit: int | None) -> int:
    began, wrong, rows = time.process_time(), 0, list(table(path))[:limit]
    for row in rows:
        known = {i: int(row[f"c{i + 1}"]) for i in range(7) if row[f"c{i + 1}"]}
        state = GAME.from_moves(row["moves"])
        wrong += solver.action_values(state) != known or solver.score(state) != int(row["score"])
    return report(path.name, len(rows), wrong, began)


def check_book(path: pathlib.Path) -> int:
    began, book = time.process_time(), Book.shipped(GAME)
    if book is None:
        raise SystemExit("no book is shipped for this size")
    rows = list(table(path))
    known = {GAME.from_moves(row["moves"]): int(row["score"]) for row in rows}
    wrong = sum(book.get(state) != score for state, score in known.items())
    most = max(len(row["moves"]) for row in rows)
    entries = sum(len(scores) for scores in book.scores[: most + 1])
    if len(known) != entries:
        print(f"the book has {entries} entries of up to {most} stones, the file {len(known)}")
        wrong += 1
    return report("book", len(known), wrong, began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--book", action="store_true")
    parser.add_argument("--limit", type=int, help="positions of each file")
    arguments = parser.parse_args()
    folder, limit = arguments.folder, arguments.limit
    plain, with_book = ConnectFourSolver(GAME), default_solver(GAME)
    wrong = 0
    if arguments.book:
        wrong += check_book(folder / "scores_ply0_8.csv")
    for path in sorted((folder / "pons").glob("*.txt")):
        wrong += check_many(plain, path.stem, list(pons(path))[:limit], arguments.threads)
    for name in ("scores_ply9_12.csv", "uci_connect4_8ply.csv"):
        if (folder / name).exists():
            rows = [(row["moves"], int(row["score"])) for row in table(folder / name)]
            rows = [rows[i] for i in np.linspace(0, len(rows) - 1, limit, dtype=int)] if limit else rows
            solver = with_book if "8ply" in name else plain
            wrong += check_many(solver, name, rows, arguments.threads)
    if (folder / "move_scores.csv").exists():
        wrong += check_moves(with_book, folder / "move_scores.csv", limit)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
