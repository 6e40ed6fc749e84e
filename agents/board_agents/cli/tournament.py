"""``board-envs tournament``: who is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

import board_envs
from board_agents.arena.play import Builder, build_agent
from board_agents.arena.ratings import Rating, to_json
from board_agents.arena.records import FAULTS, GameRecord
from board_agents.arena.storage import RecordFile
from board_agents.arena.tally import Tally
from board_agents.arena.tournament import Result, name_entrants, plan, play, summarise
from board_agents.cli.console import (
    AsJson,
    GameName,
    Parameters,
    UserError,
    err,
    game_title,
    out,
    print_json,
    progress,
    read_game,
)
from board_agents.registry import split_specs
from board_envs.game import Game
from board_envs.random import check_seed

INTERRUPTED = 130


def command(
    name: GameName,
    agents: Annotated[
        list[str],
        typer.Option(
            "--agents",
            "-a",
            metavar="SPECS",
            help="Agents, comma separated and/or given repeatedly: random,alpha-beta:depth=4,ties=random,greedy. "
            "A piece key=value belongs to the agent before it.",
        ),
    ],
    games: Annotated[int, typer.Option("--games", "-n", help="Games of every two agents, half from each seat.")] = 20,
    seed: Annotated[int, typer.Option(help="Decides openings and agents' chances; same seed, same games.")] = 0,
    param: Parameters = None,
    opening_plies: Annotated[
        int | None, typer.Option(help="Random plies before the agents take over; as many as it needs unless given.")
    ] = None,
    start: Annotated[str, typer.Option(metavar="POSITION", help="Begin all games from this position.")] = "",
    anchor: Annotated[str | None, typer.Option(metavar="SPEC", help="The agent whose rating is fixed at 0.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds a move may take; a slower one loses.")] = None,
    max_plies: Annotated[int | None, typer.Option(help="Longer games are broken off and counted apart.")] = None,
    records: Annotated[
        Path | None,
        typer.Option(help="Keep every game in this file (JSON lines); games found there are not played again."),
    ] = None,
    json: AsJson = False,
) -> int:
    """Let agents play each other, every opening from both seats, and rate them."""
    game = read_game(name, param)
    entrants = name_entrants(spec for text in agents for spec in split_specs(text))
    if len(entrants) < 2:
        raise UserError(f"a tournament needs two agents or more; --agents gives {', '.join(entrants) or 'none'}")
    if games < 1:
        raise UserError(f"--games is 1 or more, not {games}")
    if anchor is not None and anchor not in entrants:
        raise UserError(f"--anchor {anchor!r} is none of the agents: {', '.join(entrants)}")
    for option, value in (("--time-limit", time_limit), ("--max-plies", max_plies)):
        if value is not None and value <= 0:
            raise UserError(f"{option} is above 0, not {value}")
    for builder in entrants.values():
        build_agent(builder, game)  # tells an impossible agent before the first game
    try:
        tasks = plan(game, list(entrants), games, seed=check_seed(seed), opening_plies=opening_plies, start=start)
    except ValueError as error:
        raise UserError(str(error)) from error
    played, stopped = _run(game, entrants, tasks, time_limit, max_plies, records)
    result = summarise(played, list(entrants), anchor=anchor)
    if json:
        print_json(as_data(game, result, seed=seed, games=games, planned=len(tasks)))
    else:
        _show(game, result, seed, games, len(tasks))
    return INTERRUPTED if stopped else 0


def _run(
    game: Game[Any],
    entrants: dict[str, Builder],
    tasks: Sequence[Any],
    time_limit: float | None,
    max_plies: int | None,
    path: Path | None,
) -> tuple[list[GameRecord], bool]:
    """Play with live progress; return the records, and whether Ctrl-C ended it."""
    file = None if path is None else RecordFile(path)
    done = [] if file is None else file.read()
    if file is not None and file.dropped:
        err().print(f"{path}: an incomplete last line was dropped", markup=False)
    known = {record.key for record in done}
    score = {name: Tally() for name in entrants}
    played: list[GameRecord] = []
    try:
        with progress("games", len(tasks)) as bar:
            for record in play(game, entrants, tasks, done=done, time_limit=time_limit, max_plies=max_plies):
                played.append(record)
                if file is not None and record.key not in known:
                    file.append(record)
                for seat, name in enumerate(record.agents):
                    score[name].add(record, seat)
                leaders = sorted(score.items(), key=lambda item: -item[1].score if item[1].decided else 0)
                remark = "  ".join(f"{name} {tally.score:.0%}" for name, tally in leaders[:3] if tally.decided)
                bar.update(bar.task_ids[0], advance=1, remark=Text(remark).plain.replace("[", r"\["))
    except KeyboardInterrupt:
        return played, True
    return played, False


def as_data(game: Game[Any], result: Result, *, seed: int, games: int, planned: int) -> dict[str, Any]:
    """Return a result as plain data."""
    ratings = to_json(result.ratings)
    rated = {entry["name"]: entry for entry in ratings["agents"]}

    def counts(tally: Tally) -> dict[str, Any]:
        return {
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
            "unfinished": tally.unfinished,
            "score": tally.score,
        }

    return {
        "version": board_envs.__version__,
        "game": game.name,
        "parameters": dict(game.parameters),
        "seed": seed,
        "games_per_pair": games,
        "planned": planned,
        "played": len(result.records),
        "distinct": result.distinct,
        "agents": [
            {
                "name": standing.name,
                "first": counts(standing.seats[0]),
                "second": counts(standing.seats[1]),
                "total": counts(standing.total),
                "faults": {fault.value: standing.faults[fault] for fault in FAULTS},
                "seconds": round(standing.seconds, 3),
                "rating": rated[standing.name],
            }
            for standing in result.standings
        ],
        "pairs": [
            {
                "agents": pair.agents,
                "first": counts(pair.seats[0]),
                "second": counts(pair.seats[1]),
                "total": counts(pair.total),
                "games": pair.games,
                "distinct": pair.distinct,
                "openings_from_one_seat": pair.half_pairs,
            }
            for pair in result.pairs
        ],
        "first_mover": counts(result.first_mover),
        "ratings": {key: value for key, value in ratings.items() if key != "agents"},
    }


def _show(game: Game[Any], result: Result, seed: int, games: int, planned: int) -> None:
    console = out()
    title = f"{game_title(game)}: {games} game{'s' if games > 1 else ''} a pair, seed {seed}"
    table = Table(title=title, title_justify="left")
    faulty = any(standing.faults for standing in result.standings)
    unfinished = any(standing.total.unfinished for standing in result.standings)
    table.add_column("agent")
    columns = ["rating", "95 % interval", "score", "begins W/D/L", "answers W/D/L"]
    columns += ["illegal/crash/timeout"] * faulty + ["unfinished"] * unfinished + ["s a game"]
    for column in columns:
        table.add_column(column, justify="right")
    by_name = {standing.name: standing for standing in result.standings}
    for rating in result.ratings.agents:
        standing = by_name[rating.name]
        total = standing.total
        row = [show_rating(rating), show_interval(rating), f"{total.score:.1%}" if total.decided else "-"]
        row += [show_tally(tally) for tally in standing.seats]
        row += ["/".join(str(standing.faults[fault]) for fault in FAULTS)] * faulty
        row += [str(total.unfinished)] * unfinished
        row.append(f"{standing.seconds / max(total.decided + total.unfinished, 1):.3g}")
        table.add_row(Text(rating.name), *row)
    console.print(table)
    if len(result.pairs) > 1:
        cross = Table("pair", title="Every two agents (in the first one's view)", title_justify="left")
        for column in ("W/D/L", "begins W/D/L", "answers W/D/L", "different games"):
            cross.add_column(column, justify="right")
        for pair in result.pairs:
            row = [show_tally(pair.total), *map(show_tally, pair.seats), f"{pair.distinct} of {pair.games}"]
            cross.add_row(Text(" - ".join(pair.agents)), *row)
        console.print(cross)
    for line in remarks(result, planned):
        console.print(line, markup=False)


def remarks(result: Result, planned: int) -> list[str]:
    """Return what a reader of the table must know besides."""
    played, first = len(result.records), result.first_mover
    lines = []
    if played < planned:
        lines.append(f"stopped after {played} of {planned} games")
    lines.append(f"{result.distinct} of {played} games differ from all others" if played else "no games")
    if result.distinct < played:
        lines[-1] = f"{result.distinct} different games among {played}: repeated ones say nothing new"
    if first.decided:
        advantage, (low, high) = result.ratings.first_move[0], result.ratings.first_move_interval[0]
        lines.append(
            f"who begins: {show_tally(first)} W/D/L, {first.score:.1%}; worth {advantage:+.0f} points "
            f"({low:+.0f} to {high:+.0f})"
        )
    if any(pair.half_pairs for pair in result.pairs):
        lines.append("an odd number of games: the last opening was played from one seat only")
    lines.extend(result.ratings.notes)
    for standing in result.standings:
        for fault in FAULTS:
            if standing.faults[fault]:
                detail = next(
                    record.detail
                    for record in result.records
                    if record.ending is fault and record.agents[record.offender] == standing.name
                )
                lines.append(f"{standing.name}: {fault.value} in {standing.faults[fault]} games; first: {detail}")
    return lines


def show_tally(tally: Tally) -> str:
    """Write wins, draws and losses."""
    return f"{tally.wins}/{tally.draws}/{tally.losses}"


def show_rating(rating: Rating) -> str:
    """Write a rating; one that nothing bounds on a side says so by a sign."""
    if rating.games == 0:
        return "-"
    above, below = math.isinf(rating.high), math.isinf(rating.low)
    sign = "" if above == below else "≥ " if above else "≤ "
    if above and below:
        return "unbounded"
    return sign + f"{(rating.low if above else rating.high if below else rating.rating):+.0f}"


def show_interval(rating: Rating) -> str:
    """Write an interval."""
    if rating.games == 0:
        return "-"
    low = "-∞" if math.isinf(rating.low) else f"{rating.low:+.0f}"
    high = "∞" if math.isinf(rating.high) else f"{rating.high:+.0f}"
    return f"{low} to {high}"
