"""``board-envs tables``: build, check and describe tables of exact scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from board_agents.cli.console import AsJson, UserError, err, out, print_json
from board_agents.games.awale.table_files import FOLDER_VARIABLE, LevelStatistics, TableError, default_folder, folder_of
from board_agents.games.awale.tablebase import Report, Tables, build, check_size, existing_levels
from board_agents.games.awale.verify import verify
from board_envs.games.awale.configurations import count

BOOK = "connect-four-book"
GameWithTables = Annotated[
    str, typer.Argument(metavar="TABLE", help=f"awale (tables of all configurations) or {BOOK} (early positions).")
]
Plies = Annotated[int, typer.Option(min=0, max=16, help=f"{BOOK}: the most stones on the board.")]
Pits = Annotated[int, typer.Option(help="Pits a side.")]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        envvar=FOLDER_VARIABLE,
        show_default="board_envs/tables in the user's data folder",
        help="Where tables are kept.",
    ),
]


def make_app() -> typer.Typer:
    """Return the group of commands."""
    app = typer.Typer(
        help="Tables of exact scores: build them, check them, tell what they hold.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.command("build")(build_command)
    app.command("verify")(verify_command)
    app.command("info")(info_command)
    return app


def build_command(
    game: GameWithTables,
    max_total: Annotated[int | None, typer.Option("--max-total", help="awale: the most seeds on the board.")] = None,
    pits: Pits = 4,
    plies: Plies = 8,
    threads: Annotated[int, typer.Option(min=1, max=64, help="How many work together.")] = 1,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Build what is not there yet; Ctrl-C loses at most a level (or a minute's work), the same command goes on."""
    if game == BOOK:
        _build_book(plies, threads, folder, as_json)
        return
    _check(game, pits, max_total or 0)
    if max_total is None:
        raise UserError("tables of awale need --max-total, the most seeds on the board")
    with _levels(f"{pits} pits", pits, max_total) as report, _told():
        levels = build(pits, max_total, folder, threads=threads, report=report)
    _show(pits, folder, levels, as_json)


def verify_command(
    game: GameWithTables,
    pits: Pits = 4,
    max_total: Annotated[
        int | None, typer.Option("--max-total", help="The last level to check; all if absent.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Solve every level again, by value iteration.")] = False,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Check files against their checksums, and every score and progress depth against what the moves lead to."""
    _check(game, pits, max_total or 0)
    with _told(), Tables.open(pits, folder, total=max_total) as tables:
        with _levels("checking", pits, tables.total) as report:
            wrong = verify(tables, full=full, report=report)
        if wrong is not None:
            level, rank = wrong
            configuration = ",".join(map(str, tables.configuration(level, rank)))
            raise UserError(f"{folder_of(pits, folder)}: level {level}, rank {rank} ({configuration}) is wrong")
        total, configurations = tables.total, sum(level.configurations for level in tables.statistics)
    if as_json:
        print_json({"game": game, "pits": pits, "total": total, "configurations": configurations, "full": full})
        return
    how = "checksums, scores and depths" + (", and value iteration" if full else "")
    out().print(f"{configurations} configurations of up to {total} seeds are right: {how}", markup=False)


def info_command(game: GameWithTables, pits: Pits = 4, folder: Folder = None, as_json: AsJson = False) -> None:
    """Tell where the tables are and what each level holds."""
    _check(game, pits, 0)
    with _told(), Tables.open(pits, folder, check=False) as tables:
        levels = tables.statistics
    _show(pits, folder, levels, as_json)


def _check(game: str, pits: int, total: int) -> None:
    if game != "awale":
        raise UserError(f"there are tables of awale, not of {game!r}; what can be built beside them is {BOOK}")
    try:
        check_size(pits, total)
    except ValueError as error:
        raise UserError(str(error)) from None


def _build_book(plies: int, threads: int, folder: Path | None, as_json: bool) -> None:
    """Build the book of the standard board in the folder of tables."""
    from board_agents.games.connect_four import Book, BookError, build_book, default_solver
    from board_envs import make_game

    place = default_folder() if folder is None else folder
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{BOOK}-{plies}.bin"
    game = make_game("connect-four")
    wanted = tuple(game.parameters.values()), plies
    try:
        if path.exists():
            book = Book.load(path)
            if (book.size, book.plies) != wanted:
                raise BookError(f"{path} is of {book.size} to {book.plies} plies; remove it to build another")
        else:
            with _bar() as bar:
                task = bar.add_task(f"solving positions of {plies} stones")

                def progress(done: int, total: int) -> None:
                    bar.update(task, completed=done, total=total)

                book = build_book(default_solver(game), plies, path, threads=threads, progress=progress)
    except BookError as error:
        raise UserError(str(error)) from None
    size = path.stat().st_size
    if as_json:
        print_json({"table": BOOK, "plies": plies, "file": str(path), "entries": len(book), "bytes": size})
    else:
        out().print(f"{len(book)} positions of up to {plies} stones, {size} bytes in {path}", markup=False)


@contextmanager
def _told() -> Iterator[None]:
    """Tell of a damaged or missing table in one line."""
    try:
        yield
    except TableError as error:
        raise UserError(str(error)) from None


def _bar() -> Progress:
    """Return a progress bar on stderr with an estimate, silent where that is no terminal."""
    console: Console = err()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


@contextmanager
def _levels(what: str, pits: int, total: int) -> Iterator[Report]:
    """Show on stderr, where that is a terminal, how many configurations are done, with an estimate."""
    before = [0]
    for level in range(total + 1):
        before.append(before[-1] + count(pits, level))
    with _bar() as bar:
        task = bar.add_task(what, total=before[-1])

        def report(level: int, share: float) -> None:
            done = before[level] + share * count(pits, level)
            bar.update(task, completed=done, description=f"{what}, {level} of {total} seeds")

        yield report


def _show(pits: int, folder: Path | None, levels: list[LevelStatistics], as_json: bool) -> None:
    place, paths = folder_of(pits, folder), existing_levels(pits, folder)
    size = sum(path.stat().st_size for path in paths)
    if as_json:
        data = [
            {
                **{key: getattr(level, key) for key in LevelStatistics.__dataclass_fields__},
                "scores_crc32": f"{level.scores_crc32:08x}",
                "depths_crc32": f"{level.depths_crc32:08x}",
            }
            for level in levels
        ]
        print_json({"game": "awale", "pits": pits, "folder": str(place), "bytes": size, "levels": data})
        return
    table = Table("seeds", "configurations", "won", "even", "lost", "mat", "deepest", "CRC-32 of scores")
    for level in levels:
        numbers = (level.configurations, level.positive, level.zero, level.negative, level.unresolved, level.deepest)
        table.add_row(str(level.level), *map(str, numbers), f"{level.scores_crc32:08x}")
    console = out()
    console.print(table)
    total = sum(level.configurations for level in levels)
    console.print(f"{total} configurations, {size} bytes in {place}", markup=False)
