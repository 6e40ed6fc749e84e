"""``board-envs evaluate``: how far an agent's moves are from perfect play."""

from __future__ import annotations

import math
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from board_agents.arena.play.decisions import check_builders
from board_agents.arena.statistics.quality import Quality, QualityReport, judge_records
from board_agents.arena.suites.suite_files import (
    Suite,
    SuiteError,
    judge_on_suite,
    load_suite,
    published_suites,
    read_suite,
    suite_name,
)
from board_agents.arena.tournament import name_entrants, plan, play
from board_agents.cli.console import (
    AsJson,
    GameName,
    Parameters,
    UserError,
    agents_output,
    err,
    game_title,
    out,
    print_json,
    read_game,
    tracked,
)
from board_agents.oracle import Reduced
from board_agents.registry import make_oracle
from board_agents.specs import split_specs
from board_envs.game import Game
from board_envs.random import check_seed
from board_envs.registry import check_name


class On(str, Enum):
    """Which positions are evaluated."""

    SUITE = "suite"
    GAMES = "games"


def command(
    name: GameName,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Agent spec, or several, comma separated.")],
    param: Parameters = None,
    on: Annotated[
        On | None,
        typer.Option(
            help="Positions of the published suite, or of games that the agent plays; default: the suite if it exists."
        ),
    ] = None,
    suite: Annotated[Path | None, typer.Option(help="Your own suite file instead of the published one.")] = None,
    games: Annotated[
        int, typer.Option("--games", "-n", help="With --on games: number of games, half from each seat.")
    ] = 20,
    opponent: Annotated[
        str | None, typer.Option(metavar="SPEC", help="With --on games: the opponent; default: the agent itself.")
    ] = None,
    oracle: Annotated[
        str | None, typer.Option(metavar="SPEC", help="With --on games: oracle that gives the exact values.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="On a suite: number of answers at each position.")] = 1,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same result.")] = 0,
    json: AsJson = False,
) -> None:
    """Compare an agent's moves with exact values: share of optimal moves, mean regret, blunders, by phase."""
    name, agent = _in_order(name, agent)
    game = read_game(name, param)
    specs = split_specs(agent)
    for option, value in (("--games", games), ("--repeats", repeats)):
        if value < 1:
            raise UserError(f"{option} must be 1 or more, not {value}")
    try:
        check_seed(seed)
        positions = _suite(game, suite, on)
    except (SuiteError, ValueError) as error:
        raise UserError(str(error)) from error
    with agents_output():
        check_builders([*specs, *([] if opponent is None else [opponent])], game)
        reports = [
            judge_on_suite(
                spec, positions, name=spec, seed=seed, repeats=repeats, progress=partial(tracked, f"{spec}: positions")
            )
            if positions is not None
            else _own_games(game, spec, opponent or spec, games, seed, oracle)
            for spec in specs
        ]
    if json:
        print_json([report.to_dict() for report in reports] if len(reports) > 1 else reports[0].to_dict())
        return
    for report in reports:
        _show(report)


def _in_order(first: str, second: str) -> tuple[str, str]:
    """Return game and agent; the order of earlier versions, AGENT GAME, is accepted where it is unambiguous."""
    if _is_game(first) or not _is_game(second):
        return first, second
    err().print(
        f"board-envs: the game comes first: evaluate {second} {first}; the next release drops the old order",
        markup=False,
        soft_wrap=True,
    )
    return second, first


def _is_game(name: str) -> bool:
    try:
        check_name(name)
    except ValueError:
        return False
    return True


def _suite(game: Game[Any], path: Path | None, on: On | None) -> Suite | None:
    """Return the suite to use; None for games."""
    if path is not None:
        suite = read_suite(path)
        if suite.game is not game:
            raise SuiteError(f"{path} is a suite for {suite.game!r}, not for {game!r}")
        return suite
    if on is On.GAMES or (on is None and suite_name(game) not in published_suites()):
        return None
    return load_suite(game)


def _own_games(game: Game[Any], spec: str, opponent: str, games: int, seed: int, oracle: str | None) -> QualityReport:
    judges = make_oracle(game, oracle)
    if isinstance(judges, Reduced) and judges.missing is not None:
        err().print(
            f"{judges.missing}; exhaustive search takes its place: seconds a move, and most values stay unknown",
            markup=False,
        )
    entrants = name_entrants([spec, opponent])
    tasks = plan(game, list(entrants), games, seed=seed)
    records = list(play(game, entrants, tracked(f"{spec}: games", tasks)))
    reports = judge_records(records, judges, agent=spec, progress=partial(tracked, f"{spec}: moves judged"))
    if spec not in reports:
        raise UserError(f"{spec} made no decision in {games} games: every move was forced or random")
    report = reports[spec]
    report.source |= {"opponent": opponent, "seed": seed, "oracle": oracle or type(judges).__name__}
    return report


def _show(report: QualityReport) -> None:
    console = out()
    source = report.source
    where = (
        f"suite {source['name']}, sha256 {source['sha256'][:12]}"
        if source["kind"] == "suite"
        else f"{source['games']} games against {source['opponent']}, seed {source['seed']}"
    )
    table = Table(title=Text(f"{report.agent} at {game_title(report.game)}: {where}"), title_justify="left")
    table.add_column("phase")
    for column in ("decisions", "counted", "optimal", "95 % interval", f"mean regret ({report.unit})", "blunders"):
        table.add_column(column, justify="right")
    if report.total.faults:
        table.add_column("no legal answer", justify="right")
    for phase, quality in [*report.phases.items(), ("all", report.total)]:
        if phase == "all":
            table.add_section()
        row = [str(quality.decisions), *_texts(quality)]
        table.add_row(Text(phase), *row, *([str(quality.faults)] if report.total.faults else []))
    console.print(table)
    console.print(
        "A decision is a position with at least two moves; it counts if its exact values are known. A blunder "
        "turns a win into a draw or loss, or a draw into a loss; decisions in which one was possible are the base.",
        markup=False,
    )


def _texts(quality: Quality) -> list[str]:
    if quality.decisions == 0:
        return ["-"] * 5
    if quality.counted == 0:
        return ["0 %", *["-"] * 4]
    low, high = quality.optimal_interval
    error = "" if math.isnan(quality.regret_error) else f" ± {quality.regret_error:.3f}"
    return [
        f"{quality.share_counted:.1%}",
        f"{quality.share_optimal:.1%}",
        f"{low:.1%} to {high:.1%}",
        f"{quality.mean_regret:.3f}{error}",
        f"{quality.blunders} of {quality.chances}",
    ]
