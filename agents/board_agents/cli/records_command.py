"""``board-envs records``: copy, check, query and analyse recorded games."""

from __future__ import annotations

import csv
import inspect
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from board_agents.arena.records.outside_forms import Remark, export_games
from board_agents.arena.records.outside_forms import import_games as read_outside_games
from board_agents.arena.records.storage import is_database
from board_agents.arena.records.text_formats import read_records, write_records
from board_agents.arena.report.page import csv_text
from board_agents.cli.console import (
    AsJson,
    Parameters,
    UserError,
    agents_output,
    busy,
    err,
    existing,
    file_of,
    out,
    print_json,
    read_game,
    tracked,
)
from board_agents.registry import make_agent, make_oracle
from board_envs.forms import find_form

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="Games in .jsonl, .txt (transcripts), .parquet, .db (SQLite) or postgresql://..."
    ),
]
Database = Annotated[str, typer.Argument(metavar="DATABASE", help="A .db file (SQLite) or postgresql://...")]
Run = Annotated[str | None, typer.Option("--run", help="From a database, only this run's games.")]


def make_app() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(
        help="Recorded games: copy between files and databases, check, query and analyse.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.command("copy")(copy)
    app.command("import")(import_games)
    app.command("check")(check)
    app.command("query")(query)
    app.command("analyse")(analyse)
    return app


def copy(
    source: Source,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="Target file or database, in any of the formats of SOURCE.")
    ],
    run: Run = None,
    into: Annotated[str, typer.Option(help="Name of the run in a database target.")] = "import",
    form: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Form in which to write the target; `games GAME` lists the forms."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing target file.")] = False,
) -> None:
    """Copy games between formats; each game is replayed, and rejected if it does not reach its recorded end."""
    if not is_database(target) and not overwrite and Path(target).exists():
        raise UserError(f"{target} exists; --overwrite replaces it")
    if run is None and is_database(source) and _same(existing(source), target):
        raise UserError(f"{target} is the source itself and its games would be duplicated; --run copies a single run")
    records = read_records(existing(source), run)
    if form is None:
        written = write_records(target, records, into, overwrite=overwrite)
    elif file_of(target) is None or is_database(target):
        raise UserError(f"--form needs a file as target, not {target}")
    else:
        written = export_games(target, records, form, overwrite=overwrite)
    out().print(f"{written} games written to {target}", markup=False)


def _same(source: str, target: str) -> bool:
    a, b = file_of(source), file_of(target)
    if a is None or b is None:
        return source == target
    return b.exists() and a.samefile(b)


def import_games(
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="A file of games in any form of the game; `games GAME` lists the forms."),
    ],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Target, in any format that `copy` writes.")],
    name: Annotated[str, typer.Option("--game", help="The game of the file.")] = "reversi",
    param: Parameters = None,
    form: Annotated[str | None, typer.Option(metavar="NAME", help="Form of the file; detected by default.")] = None,
    into: Annotated[str, typer.Option(help="Name of the run in a database target.")] = "import",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing target file.")] = False,
    json: AsJson = False,
) -> int:
    """Import games in common exchange formats; each game is replayed, and the detected form is reported.

    Unfinished games, and games whose end differs from the stated result, are reported and kept; unreadable lines are
    reported by number and skipped. An import that finds no game writes nothing and exits with status 2.
    """
    if not is_database(target) and not overwrite and Path(target).exists():
        raise UserError(f"{target} exists; --overwrite replaces it")
    remarks: list[Remark] = []
    game = read_game(name, param)
    if form is not None:
        find_form(game, form)
    with busy("importing"):
        found = list(read_outside_games(existing(source), game, remarks.append, form))
        if found:
            written = write_records(target, (record for _, record in found), into, overwrite=overwrite)
    forms = dict(Counter(taken for taken, _ in found))
    if json:
        data = {"games": len(found), "forms": forms, "remarks": [remark._asdict() for remark in remarks]}
        print_json(data)
    else:
        for remark in remarks:
            err().print(f"line {remark.line}: {remark.text}", markup=False, soft_wrap=True)
    if not found:
        raise UserError(f"{source}: no game of {game.name} found, nothing written")
    if json:
        return 0
    kinds = Counter(remark.kind for remark in remarks)
    console = out()
    console.print(f"{written} games written to {target}", markup=False)
    console.print("  form: " + ", ".join(f"{taken} ({count})" for taken, count in forms.items()), markup=False)
    console.print(
        f"  unfinished: {kinds['unfinished']}, result differs: {kinds['result']}, skipped: {kinds['left out']}",
        markup=False,
    )
    return 0


def check(source: Source, run: Run = None, json: AsJson = False) -> None:
    """Replay all games and print a summary."""
    games: dict[str, int] = {}
    endings: dict[str, int] = {}
    plies = 0
    for record in read_records(existing(source), run):
        games[record.game] = games.get(record.game, 0) + 1
        endings[record.ending.value] = endings.get(record.ending.value, 0) + 1
        plies += len(record.actions)
    total = sum(games.values())
    if json:
        print_json({"games": total, "plies": plies, "by_game": games, "by_ending": endings})
        return
    console = out()
    console.print(f"{total} games, {plies} moves, all replayed to their recorded end", markup=False)
    for counts in filter(None, (games, endings)):
        console.print("  " + ", ".join(f"{name}: {count}" for name, count in counts.items()), markup=False)


def query(
    database: Database,
    name: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="Name of a query; without it, all are listed.")
    ] = None,
    values: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Parameters of the query.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma separated values.")] = False,
    json: AsJson = False,
) -> None:
    """Run a predefined query on a database: wins, mean score, positions analysed deeper than n ..."""
    from board_agents.arena.records.database import Store
    from board_agents.arena.records.queries import QUERIES

    if name is None:
        _list_queries(QUERIES)
        return
    if name not in QUERIES:
        raise UserError(f"unknown query {name!r}; queries: {', '.join(QUERIES)}")
    made = QUERIES[name](**_arguments(name, QUERIES[name], values or []))
    with Store(existing(database), create=False) as store:
        columns, rows = store.table(made)
    if json:
        print_json([{key: _plain(value) for key, value in row.items()} for row in rows])
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(row[column]) for column in columns] for row in rows)
        return
    table = Table(*columns, title=f"{name}: {len(rows)} rows", title_justify="left")
    for row in rows:
        table.add_row(*(Text("-" if row[column] is None else _show(row[column])) for column in columns))
    out().print(table)


def analyse(
    database: Database,
    agent: Annotated[str | None, typer.Option(metavar="SPEC", help="A search agent: minimax, alpha-beta ...")] = None,
    oracle: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Oracle that gives exact values; 'default': the game's best.")
    ] = None,
    run: Run = None,
) -> None:
    """Analyse every position of a database's games and store the results in its positions table."""
    from board_agents.arena.records.database import Store

    if (agent is None) == (oracle is None):
        raise UserError("give exactly one of --agent and --oracle")
    if agent is not None:
        analyst = partial(make_agent, agent)
    else:
        analyst = partial(_oracle, None if oracle == "default" else oracle)
    with Store(existing(database), create=False) as store:
        try:
            with agents_output():
                written = store.add_analyses(
                    analyst, agent or f"oracle {oracle}", run, progress=partial(tracked, "games analysed")
                )
        except TypeError as error:
            raise UserError(str(error)) from error
    out().print(f"{written} positions analysed", markup=False)


def _oracle(spec: str | None, game: Any) -> Any:
    return make_oracle(game, spec)


def _list_queries(queries: dict[str, Any]) -> None:
    table = Table("query", "parameters", "result")
    for name, function in queries.items():
        parameters = inspect.signature(function).parameters.values()
        asked = ", ".join(str(one.replace(annotation=inspect.Parameter.empty)) for one in parameters)
        table.add_row(Text(name), Text(asked), Text((inspect.getdoc(function) or "").splitlines()[0]))
    out().print(table)


def _arguments(name: str, function: Any, texts: list[str]) -> dict[str, Any]:
    """Parse "key=value" texts according to the parameters of a query's function."""
    known = inspect.signature(function).parameters
    offered = f"parameters of {name}: {', '.join(known) or 'none'}"
    values: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or key not in known:
            raise UserError(f"invalid parameter {text!r}; {offered}")
        if known[key].annotation == "int":
            if not (value.isascii() and value.lstrip("-").isdigit()):
                raise UserError(f"{key} must be an integer, not {value!r}")
            values[key] = int(value)
        else:
            values[key] = value
    missing = [key for key, parameter in known.items() if parameter.default is parameter.empty and key not in values]
    if missing:
        raise UserError(f"missing {', '.join(missing)} (write {missing[0]}=...); {offered}")
    return values


def _plain(value: Any) -> Any:
    """Return a JSON value; board codes become strings, because JSON readers may round large integers."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 53:
        return str(value)
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def _cell(value: Any) -> Any:
    """Return a value for CSV."""
    return csv_text(value) if isinstance(value, str) else value


def _show(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
