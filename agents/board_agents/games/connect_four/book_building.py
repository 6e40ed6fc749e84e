"""How an opening book is made: every position of its last ply solved, the earlier ones derived."""

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
"""About so long positions are solved between two looks at progress and the time to save: a few hard ones, or many."""


def check_plies(plies: int) -> None:
    """Raise BookError for a length that books do not have."""
    if not 0 <= plies <= MOST_PLIES:
        raise BookError(f"a book goes to 0 .. {MOST_PLIES} plies, not {plies!r}")


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

    What is done is kept beside the target in ``<name>.partial`` and taken up again by the next call.

    Args:
        solver: of the size that the book is for; its own book, if it has one, saves work when it ends one ply earlier.
        plies: the largest number of stones.
        path: where the book is written.
        threads: how many positions are searched at a time.
        progress: called with (positions done, positions in all).
        save_every: seconds between two savings.

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
    # A folder that nothing can be written to, or a file in the way, is better reported now than after an hour.
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
            # An interruption loses the positions of a step, and threads wait for each other at its end.
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
