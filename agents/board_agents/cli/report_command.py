"""``board-envs report``: a report on recorded games."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from board_agents.arena.records.game_record import GameRecord
from board_agents.arena.records.text_formats import read_records
from board_agents.arena.report.page import REPLAYED, is_report, report_csv, report_data, report_html, sample
from board_agents.arena.statistics.quality import QualityReport, judge_records
from board_agents.cli.console import UserError, existing, out, plain, tracked
from board_agents.lowlevel.atomic_files import check_target, write_whole
from board_agents.registry import make_oracle
from board_envs.game import Game


def command(
    source: Annotated[
        str,
        typer.Argument(metavar="RECORDS", help="Games in .jsonl, .txt, .parquet, .db (SQLite) or postgresql://..."),
    ],
    output: Annotated[
        list[Path], typer.Option("--output", "-o", help="File to write: .html, .json or .csv; repeatable.")
    ],
    run: Annotated[str | None, typer.Option(help="From a database, only this run's games.")] = None,
    game_name: Annotated[str | None, typer.Option("--game", help="From mixed records, only this game.")] = None,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    judged: Annotated[
        int, typer.Option(help="Number of games, chosen at random, whose moves are compared with exact values.")
    ] = (20),
    oracle: Annotated[str | None, typer.Option(metavar="SPEC", help="Oracle that gives the exact values.")] = None,
    replayed: Annotated[int, typer.Option(help="Number of games that can be replayed on the page.")] = REPLAYED,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Also replace files that are not reports.")] = False,
) -> None:
    """Write a report on recorded games: ratings, cross table, results by seat, move quality, figures, replays."""
    for path in output:
        if path.suffix not in (".html", ".json", ".csv"):
            raise UserError(f"{path}: a report must be .html, .json or .csv")
        try:
            check_target(path, None if overwrite else is_report)
        except FileExistsError as error:
            raise UserError(f"{path} exists and is not a report; --overwrite replaces it") from error
    for option, value in (("--judged", judged), ("--replayed", replayed)):
        if value < 0:
            raise UserError(f"{option} must be 0 or more, not {value}")
    records = [record for record in read_records(existing(source), run) if game_name in (None, record.game)]
    if not records:
        raise UserError(f"{source}: no games{'' if run is None else f' of the run {run!r}'}")
    games = list(dict.fromkeys(record.make_game() for record in records))
    if len(games) > 1:
        raise UserError(f"{source} contains games of {', '.join(map(repr, games))}; choose one with --game")
    quality = _judge(games[0], records, judged, oracle)
    for path in output:
        if path.suffix == ".html":
            text = report_html(games[0], records, quality, title=title, replayed=replayed)
        elif path.suffix == ".json":
            text = jsonlib.dumps(plain(report_data(games[0], records, quality)), ensure_ascii=False) + "\n"
        else:
            text = report_csv(games[0], records, quality)
        write_whole(path, partial(_write_text, text), ours=None if overwrite else is_report)
        out().print(f"{len(records)} games: {path}", markup=False)


def _write_text(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")


def _judge(
    game: Game[Any], records: Sequence[GameRecord], count: int, spec: str | None
) -> dict[str, QualityReport] | None:
    if count == 0:
        return None
    return judge_records(sample(records, count), make_oracle(game, spec), progress=partial(tracked, "games judged"))
