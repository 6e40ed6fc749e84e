"""Building an opening book: positions of the last ply are solved, earlier ones derived."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Callable

import numpy as np

from board_agents.games.connect_four.opening_book import (
    MOST_PLIES,
    UNKNOWN,
    Book,
    BookError,
    derive,
    is_book,
    positions_by_stones,
)
from board_agents.games.connect_four.solver import ConnectFourSolver
from board_agents.lowlevel.atomic_files import check_target

STEP_SECONDS = 2.0
"""Approximate seconds of solving between two updates of progress and checks for saving."""


def check_plies(plies: int) -> None:
    """Raise BookError for an unsupported length."""
    if not 0 <= plies <= MOST_PLIES:
        raise BookError(f"plies must be 0 to {MOST_PLIES}, not {plies!r}")


def build_book(
    solver: ConnectFourSolver,
    plies: int,
    path: str | os.PathLike[str],
    *,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    save_every: float = 60.0,
) -> Book:
    """Solve every position with `plies` stones, derive those with fewer, and write the book.

    Partial results are stored beside the target in ``<name>.partial``; the next call resumes from them.

    Args:
        solver: a solver of the book's size; a book of its own that ends one ply earlier saves work.
        plies: the largest number of stones.
        path: where the book is written.
        threads: number of positions searched at a time.
        progress: called with (positions done, positions in all).
        save_every: seconds between two saves.

    """
    target = pathlib.Path(path)
    unfinished = target.with_name(target.name + ".partial")
    check_plies(plies)
    book = Book.empty(*solver.size, plies)
    if unfinished.exists():
        earlier = Book.load(unfinished, partial=True)
        if (earlier.size, earlier.plies) != (book.size, plies):
            raise BookError(f"{unfinished} is of {earlier.size} to {earlier.plies} plies; remove it to start anew")
        book = earlier
    last = book.scores[plies]
    positions = positions_by_stones(*solver.size, plies)[plies]
    least = None
    if solver.book is not None and solver.book.plies == plies - 1:
        least = solver.book.least(positions)
    missing = np.flatnonzero(last == UNKNOWN)
    # Report an unwritable folder, or a foreign file, now rather than after an hour.
    check_target(target, is_book)
    book.save(unfinished)
    start, step = 0, threads
    saved = time.monotonic()
    try:
        while start < len(missing):
            if progress is not None:
                progress(len(last) - len(missing) + start, len(last))
            rows = missing[start : start + step]
            began = time.monotonic()
            last[rows] = solver.solve_many(
                positions[rows],
                related=least is None,
                least=None if least is None else least[rows],
                threads=threads,
                chunk=max(1, min(8, step // (4 * threads))),
            )
            start += len(rows)
            # An interruption loses one step's positions; threads wait for each other at its end.
            if time.monotonic() - began < STEP_SECONDS:
                step = min(2 * step, 128 * threads)
            else:
                step = max(threads, step // 2)
            if time.monotonic() - saved >= save_every:
                book.save(unfinished)
                saved = time.monotonic()
    except BaseException:
        book.save(unfinished)
        raise
    if progress is not None:
        progress(len(last), len(last))
    for stones in range(plies - 1, -1, -1):
        derive(book, stones)
    book.save(target)
    unfinished.unlink(missing_ok=True)
    return book
