"""The opening book of the standard board for ``board-envs tables``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from board_agents.games.connect_four.book_building import build_book, check_plies
from board_agents.games.connect_four.opening_book import Book, BookError
from board_agents.games.connect_four.solver import default_solver
from board_agents.lowlevel.data_folder import default_folder
from board_agents.support import Progress, TablesReport
from board_envs.registry import make_game

NAME = "connect-four-book"


class ConnectFourBookBuilder:
    """The exact score of every position of the standard board with up to `plies` stones, in one file."""

    about = "positions with up to --plies stones"
    options: ClassVar[Mapping[str, int | None]] = {"plies": 8}

    def build(self, options: Mapping[str, int], folder: Path | None, threads: int, progress: Progress) -> TablesReport:
        """Build the book, unless it exists."""
        plies = options["plies"]
        check_plies(plies)
        place = default_folder() if folder is None else folder
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{NAME}-{plies}.bin"
        game = make_game("connect-four")
        wanted = tuple(game.parameters.values()), plies
        if path.exists():
            book = Book.load(path)
            if (book.size, book.plies) != wanted:
                raise BookError(f"{path} is of {book.size} to {book.plies} plies; remove it to build another")
        else:
            what = f"solving positions with {plies} stones"
            book = build_book(
                default_solver(game),
                plies,
                path,
                threads=threads,
                progress=lambda done, total: progress(what, done, total),
            )
        size = path.stat().st_size
        return TablesReport(
            {"table": NAME, "plies": plies, "file": str(path), "entries": len(book), "bytes": size},
            f"{len(book)} positions of up to {plies} stones, {size} bytes in {path}",
        )
