"""``board-envs tables``: build, verify and describe tablebases and opening books (from each game's SUPPORT)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from board_agents.cli.console import AsJson, UserError, err, out, print_json
from board_agents.lowlevel.data_folder import FOLDER_VARIABLE
from board_agents.specs import unknown_name
from board_agents.support import Progress as Report
from board_agents.support import TablesBuilder, TablesInspector, TablesReport, load, other_tables, own_tables

TablesName = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help=f"One of: {', '.join(own_tables())}; or a name from an installed package's game.",
    ),
]
MaxTotal = Annotated[
    int | None, typer.Option("--max-total", help="Largest number of pieces on the board, for tables by pieces.")
]
Plies = Annotated[int | None, typer.Option(help="Longest opening in plies, for opening books.")]
Pits = Annotated[int | None, typer.Option(help="Pits per side, for tables by pits.")]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="KEY=NUMBER", help="Another size by name, for tables of other packages."),
]
_FLAGS = ("max_total", "pits", "plies")
Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        envvar=FOLDER_VARIABLE,
        show_default="board_envs/tables in the user's data folder",
        help="Folder of the tables.",
    ),
]


def make_app() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(
        help="Tablebases and opening books: build, verify, describe.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.command("build")(build_command)
    app.command("verify")(verify_command)
    app.command("info")(info_command)
    return app


def build_command(
    table: TablesName,
    max_total: MaxTotal = None,
    pits: Pits = None,
    plies: Plies = None,
    param: Sizes = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Number of threads.")] = 1,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Build what is missing; after Ctrl-C the same command resumes, with at most a level or a minute lost."""
    builder = _builder(table)
    options = _options(table, builder, param, max_total=max_total, pits=pits, plies=plies)
    for key in builder.options:
        if key not in options:
            raise UserError(f"tables build {table} needs {_flag(key)}")
    with _bar() as report:
        built = builder.build(options, folder, threads, report)
    _show(built, as_json)


def verify_command(
    table: TablesName,
    pits: Pits = None,
    max_total: MaxTotal = None,
    param: Sizes = None,
    full: Annotated[bool, typer.Option("--full", help="Prove every value independently.")] = False,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Check files against their checksums, and every value against those of its successors."""
    inspector, options = _inspector(table, param, max_total=max_total, pits=pits)
    with _bar() as report:
        checked = inspector.verify(options, folder, full, report)
    _show(checked, as_json)


def info_command(
    table: TablesName, pits: Pits = None, param: Sizes = None, folder: Folder = None, as_json: AsJson = False
) -> None:
    """Print the folder and the contents of the tables."""
    inspector, options = _inspector(table, param, pits=pits)
    _show(inspector.info(options, folder), as_json)


def _builder(table: str) -> TablesBuilder:
    known = own_tables()
    if table not in known:
        others, errors = other_tables()
        known |= others
        if table not in known:
            raise UserError("; ".join(map(str, [unknown_name("table", table, list(known)), *errors])))
    builder: TablesBuilder = load(known[table])()
    return builder


def _inspector(table: str, param: list[str] | None, **given: int | None) -> tuple[TablesInspector, dict[str, int]]:
    builder = _builder(table)
    if not isinstance(builder, TablesInspector):
        raise UserError(f"{table} is checked whenever it is read; verify and info do not apply to it")
    return builder, _options(table, builder, param, **given)


def _options(table: str, builder: TablesBuilder, param: list[str] | None, **given: int | None) -> dict[str, int]:
    """Return the given sizes, and the defaults of the others."""
    for text in param or ():
        key, _, value = text.partition("=")
        if not re.fullmatch(r"-?[0-9]{1,9}", value, re.ASCII):
            raise UserError(f"--param must be KEY=NUMBER, as in size=4, not {text!r}")
        given[key] = int(value)
    wrong = [_flag(key) for key, value in given.items() if value is not None and key not in builder.options]
    if wrong:
        known = ", ".join(map(_flag, builder.options))
        raise UserError(f"{table} ({builder.about}) has no option {', '.join(wrong)}; options: {known}")
    chosen = {key: default if given.get(key) is None else given[key] for key, default in builder.options.items()}
    return {key: value for key, value in chosen.items() if value is not None}


def _flag(key: str) -> str:
    return "--" + key.replace("_", "-") if key in _FLAGS else f"--param {key}=..."


@contextmanager
def _bar() -> Iterator[Report]:
    """Show progress with the estimated time left on stderr, if that is a terminal."""
    console: Console = err()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def _show(report: TablesReport, as_json: bool) -> None:
    if as_json:
        print_json(dict(report.data))
        return
    console = out()
    if report.header:
        table = Table(*report.header)
        for row in report.rows:
            table.add_row(*row)
        console.print(table)
    console.print(report.summary, markup=False)
