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
from board_agents.solvers.awale.files import FOLDER_VARIABLE, LevelStatistics, TableError, folder_of
from board_agents.solvers.awale.tables import Report, Tables, build, check_size, existing_levels
from board_agents.solvers.awale.verify import verify
from board_envs.games.awale.configurations import count

GameWithTables = Annotated[str, typer.Argument(metavar="GAME", help="awale, the game that has tables.")]
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
    max_total: Annotated[int, typer.Option("--max-total", help="The most seeds on the board.")],
    pits: Pits = 4,
    threads: Annotated[int, typer.Option(min=1, max=64, help="How many work together.")] = 1,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Build the levels that are not there yet; Ctrl-C loses at most the level under way, the same command goes on."""
    _check(game, pits, max_total)
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
        raise UserError(f"there are tables of awale, not of {game!r}")
    try:
        check_size(pits, total)
    except ValueError as error:
        raise UserError(str(error)) from None


@contextmanager
def _told() -> Iterator[None]:
    """Tell of a damaged or missing table in one line."""
    try:
        yield
    except TableError as error:
        raise UserError(str(error)) from None


@contextmanager
def _levels(what: str, pits: int, total: int) -> Iterator[Report]:
    """Show on stderr, where that is a terminal, how many configurations are done, with an estimate."""
    console: Console = err()
    before = [0]
    for level in range(total + 1):
        before.append(before[-1] + count(pits, level))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
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
