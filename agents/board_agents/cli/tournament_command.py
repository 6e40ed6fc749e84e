"""``board-envs tournament``: results by seat and Elo ratings with 95 % intervals."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

import board_envs
from board_agents.arena.play.decisions import check_builders
from board_agents.arena.play.openings import Opening, read_openings
from board_agents.arena.records.game_record import FAULTS, GameRecord
from board_agents.arena.records.storage import open_records
from board_agents.arena.report.summary import to_data
from board_agents.arena.statistics.ratings import Rating
from board_agents.arena.statistics.sprt import PairCounter, Sprt, SprtResult, likelihood_of_superiority
from board_agents.arena.statistics.tally import Tally
from board_agents.arena.tournament import Result, name_entrants, plan, play, summarise
from board_agents.arena.workers import WorkerError, play_parallel
from board_agents.cli.console import (
    AsJson,
    GameName,
    Parameters,
    UserError,
    agents_output,
    err,
    existing,
    game_title,
    out,
    print_json,
    progress,
    read_game,
)
from board_agents.lowlevel.visible_text import visible
from board_agents.specs import split_specs
from board_envs.game import Game
from board_envs.random import check_seed

INTERRUPTED = 130
GAMES = 20
"""Default number of games per pair of agents."""


def command(
    name: GameName,
    agents: Annotated[
        list[str],
        typer.Option(
            "--agents",
            "-a",
            metavar="SPECS",
            help="Agents, comma separated or repeated: random,alpha-beta:depth=4,ties=random,greedy. "
            "A part key=value belongs to the agent before it.",
        ),
    ],
    games: Annotated[
        int | None,
        typer.Option(
            "--games",
            "-n",
            help="Games per pair, half from each seat; default: 20, with --openings two per opening.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same games.")] = 0,
    param: Parameters = None,
    opening_plies: Annotated[
        int | None,
        typer.Option(
            help="Random plies before the agents move; default: enough for distinct openings. With --openings, how "
            "many of each opening's moves are played."
        ),
    ] = None,
    openings: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Openings from this file (positions, moves or games, in any form), each played from both seats.",
        ),
    ] = None,
    start: Annotated[str, typer.Option(metavar="POSITION", help="Start all games from this position.")] = "",
    anchor: Annotated[str | None, typer.Option(metavar="SPEC", help="Agent whose rating is fixed at 0.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds per move; a slower move loses the game.")] = None,
    max_plies: Annotated[int | None, typer.Option(help="Stop longer games and count them separately.")] = None,
    records: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Save every game to this file (JSON lines; .db is an SQLite database) or database (postgresql://...); "
            "games already there are not played again.",
        ),
    ] = None,
    run: Annotated[
        str, typer.Option(help="Name of the run in a database; a stopped run resumes by name.")
    ] = "tournament",
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="ELO0,ELO1",
            help="Two agents: stop when an SPRT (5 % errors) decides whether the first is ELO0 or ELO1 "
            "points stronger.",
        ),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", "-w", help="Number of processes; 0: one per processor.")] = 1,
    backend: Annotated[str, typer.Option(help="Where workers run: loky (this machine) or ray (a cluster).")] = "loky",
    address: Annotated[str | None, typer.Option(help="With --backend ray: the cluster's address.")] = None,
    json: AsJson = False,
) -> int:
    """Play paired openings between all agents and rate them."""
    game = read_game(name, param)
    entrants = name_entrants(spec for text in agents for spec in split_specs(text))
    if len(entrants) < 2:
        raise UserError(f"a tournament needs at least two agents; --agents gives {', '.join(entrants) or 'none'}")
    if games is not None and games < 1:
        raise UserError(f"--games must be 1 or more, not {games}")
    if openings is not None and start:
        raise UserError("--openings and --start exclude each other")
    if anchor is not None and anchor not in entrants:
        raise UserError(f"--anchor {anchor!r} is not one of the agents: {', '.join(entrants)}")
    for option, value in (("--time-limit", time_limit), ("--max-plies", max_plies)):
        if value is not None and not value > 0:  # NaN is not
            raise UserError(f"{option} must be above 0, not {value}")
    book = None if openings is None else _read_openings(game, openings, opening_plies)
    if games is None:
        games = GAMES if book is None else 2 * len(book)
    try:
        if book is None:
            tasks = plan(game, list(entrants), games, seed=check_seed(seed), opening_plies=opening_plies, start=start)
        else:
            lines = [opening for _, opening in book]
            tasks = plan(game, list(entrants), games, seed=check_seed(seed), openings=lines)
    except ValueError as error:
        raise UserError(str(error)) from error
    test = _read_sprt(sprt, list(entrants))

    def begin(done: Sequence[GameRecord]) -> Iterator[GameRecord]:
        if workers == 1 and backend == "loky":
            return play(game, entrants, tasks, done=done, time_limit=time_limit, max_plies=max_plies)
        return play_parallel(
            game,
            entrants,
            tasks,
            workers=workers,
            backend=backend,
            address=address,
            done=done,
            time_limit=time_limit,
            max_plies=max_plies,
        )

    try:
        with agents_output():
            check_builders(entrants.values(), game)
            played, stopped = _run(begin, list(entrants), len(tasks), None if records is None else (records, run), test)
    except (WorkerError, ValueError) as error:
        raise UserError(str(error)) from error
    result = summarise(played, list(entrants), anchor=anchor, seed=seed)
    decided = None if test is None else test.result()
    if json:
        data = as_data(game, result, seed=seed, games=games, planned=len(tasks))
        if book is not None:
            data["openings"] = {"file": openings, "read": len(book), "forms": _forms(book)}
        print_json(data if decided is None else data | {"sprt": asdict(decided)})
    else:
        _show(game, result, seed, games, len(tasks))
        if book is not None:
            forms = ", ".join(f"{form} ({count})" for form, count in _forms(book).items())
            out().print(f"openings of {openings}: {forms}", markup=False)
        if test is not None:
            out().print(test.text(), markup=False)
    return INTERRUPTED if stopped else 0


def _read_openings(game: Game[Any], source: str, plies: int | None) -> list[tuple[str, Opening]]:
    """Read a file of openings; report bad lines, and raise UserError if no opening is left."""
    if plies is not None and plies < 0:
        raise UserError(f"--opening-plies must be 0 or more, not {plies}")

    def report(line: int, text: str) -> None:
        err().print(f"{source}, line {line}: {text}", markup=False, soft_wrap=True)

    book = read_openings(game, existing(source), report, plies=plies)
    if not book:
        raise UserError(f"{source}: no opening of {game.name} found")
    return book


def _forms(book: list[tuple[str, Opening]]) -> dict[str, int]:
    return dict(Counter(form for form, _ in book))


class _Test:
    """The sequential probability ratio test of one match, updated as games end."""

    def __init__(self, sprt: Sprt, name: str) -> None:
        self.sprt, self.pairs = sprt, PairCounter(name)

    def result(self) -> SprtResult:
        """Return the result of the pairs so far."""
        return self.sprt.test(self.pairs.counts)

    def text(self) -> str:
        """Describe the result."""
        result, sprt = self.result(), self.sprt
        verdicts = {
            "accept": f"{self.pairs.name} is {sprt.elo1:g} points stronger, not {sprt.elo0:g}",
            "reject": f"{self.pairs.name} is {sprt.elo0:g} points stronger, not {sprt.elo1:g}",
            "continue": "undecided",
        }
        return (
            f"sequential test after {result.observations} pairs: {verdicts[result.decision]} "
            f"(log-likelihood ratio {result.llr:.2f}, bounds {result.lower:.2f} and {result.upper:.2f})"
        )


def _read_sprt(text: str | None, names: list[str]) -> _Test | None:
    if text is None:
        return None
    if len(names) != 2:
        raise UserError(f"--sprt compares two agents, not {len(names)}")
    try:
        elo0, elo1 = map(float, text.split(","))
        test = _Test(Sprt(elo0, elo1), names[0])
        test.result()  # raises for numbers too large for any score
        return test
    except ValueError as error:
        raise UserError(f"--sprt must be two numbers ELO0,ELO1 with ELO0 below ELO1, not {text!r}") from error


def _run(
    begin: Callable[[Sequence[GameRecord]], Iterator[GameRecord]],
    names: list[str],
    total: int,
    kept: tuple[str, str] | None,
    test: _Test | None,
) -> tuple[list[GameRecord], bool]:
    """Play with progress; return the records, and whether Ctrl-C stopped it."""
    score = {name: Tally() for name in names}
    played: list[GameRecord] = []
    with contextlib.ExitStack() as stack:
        keep = None if kept is None else stack.enter_context(open_records(*kept))
        done = [] if keep is None else keep.read()
        if getattr(keep, "dropped", 0):
            err().print(f"{kept and kept[0]}: an incomplete last line was dropped", markup=False)
        known = {record.key for record in done}
        try:
            bar = stack.enter_context(progress("games", total))
            for record in begin(done):
                played.append(record)
                if keep is not None and record.key not in known:
                    keep.append(record)
                for seat, name in enumerate(record.agents):
                    score[name].add(record, seat)
                leaders = sorted(score.items(), key=lambda item: -item[1].score if item[1].decided else 0)
                remark = "  ".join(f"{name} {tally.score:.0%}" for name, tally in leaders[:3] if tally.decided)
                bar.update(bar.task_ids[0], advance=1, remark=escape(visible(remark)))
                if test is not None and test.pairs.add(record) and test.result().decision != "continue":
                    break
        except KeyboardInterrupt:
            return played, True
    return played, False


def as_data(game: Game[Any], result: Result, *, seed: int, games: int, planned: int) -> dict[str, Any]:
    """Return a result as plain data, with the settings."""
    return {
        "version": board_envs.__version__,
        "game": game.name,
        "parameters": dict(game.parameters),
        "seed": seed,
        "games_per_pair": games,
        "planned": planned,
        **to_data(result),
    }


def _show(game: Game[Any], result: Result, seed: int, games: int, planned: int) -> None:
    console = out()
    title = f"{escape(game_title(game))}: {games} game{'s' if games > 1 else ''} a pair, seed {seed}"
    table = Table(title=title, title_justify="left")
    faulty = any(standing.faults for standing in result.standings)
    unfinished = any(standing.total.unfinished for standing in result.standings)
    table.add_column("agent")
    columns = ["rating", "95 % interval", "score", "first W/D/L", "second W/D/L"]
    columns += ["illegal/crash/timeout"] * faulty + ["unfinished"] * unfinished + ["s per game"]
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
        cross = Table("pair", title="Pairs (results of the first agent)", title_justify="left")
        for column in ("W/D/L", "first W/D/L", "second W/D/L", "distinct games", "first is better"):
            cross.add_column(column, justify="right")
        for pair in result.pairs:
            row = [show_tally(pair.total), *map(show_tally, pair.seats), f"{pair.distinct} of {pair.games}"]
            row.append(f"{likelihood_of_superiority(pair.total.wins, pair.total.losses):.1%}")
            cross.add_row(Text(" - ".join(pair.agents)), *row)
        console.print(cross)
    for line in remarks(result, planned):
        console.print(line, markup=False)


def remarks(result: Result, planned: int) -> list[str]:
    """Return the notes below the table."""
    played, first = len(result.records), result.first_mover
    lines = []
    if played < planned:
        lines.append(f"stopped after {played} of {planned} games")
    lines.append(f"{result.distinct} of {played} games are distinct" if played else "no games")
    if result.distinct < played:
        lines[-1] = f"only {result.distinct} of {played} games are distinct; repeated games add no information"
    if first.decided:
        advantage, (low, high) = result.ratings.first_move[0], result.ratings.first_move_interval[0]
        lines.append(
            f"first seat: {show_tally(first)} W/D/L, {first.score:.1%}; worth {advantage:+.0f} points "
            f"({low:+.0f} to {high:+.0f})"
        )
    if any(pair.half_pairs for pair in result.pairs):
        lines.append("odd number of games: the last opening was played from one seat only")
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
    """Format wins, draws and losses."""
    return f"{tally.wins}/{tally.draws}/{tally.losses}"


def show_rating(rating: Rating) -> str:
    """Format a rating; "≤" or "≥" marks one that is unbounded on a side."""
    if rating.games == 0:
        return "-"
    above, below = math.isinf(rating.high), math.isinf(rating.low)
    sign = "" if above == below else "≥ " if above else "≤ "
    if above and below:
        return "unbounded"
    return sign + f"{(rating.low if above else rating.high if below else rating.rating):+.0f}"


def show_interval(rating: Rating) -> str:
    """Format an interval."""
    if rating.games == 0:
        return "-"
    low = "-∞" if math.isinf(rating.low) else f"{rating.low:+.0f}"
    high = "∞" if math.isinf(rating.high) else f"{rating.high:+.0f}"
    return f"{low} to {high}"
