"""A report on recorded games: one self-contained HTML page, or its numbers as JSON or CSV."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

import board_envs
from board_agents.arena.records.game_record import FAULTS, GameRecord
from board_agents.arena.report.figures import figures
from board_agents.arena.report.summary import to_data
from board_agents.arena.statistics.quality import PHASES, Quality, QualityReport
from board_agents.arena.statistics.ratings import Rating
from board_agents.arena.statistics.tally import Standing, Tally
from board_agents.arena.tournament import Result, summarise
from board_agents.lowlevel.atomic_files import begins_with
from board_agents.lowlevel.visible_text import visible
from board_envs.game import Game
from board_envs.pictures.svg import picture, svg_head, svg_shape
from board_envs.random import Stream
from board_envs.types import Outcome

REPLAYED = 100
"""Default number of games that can be replayed on the page."""
is_report = begins_with(
    b'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta name="generator" content="board_envs">',
    b'{"format": "board-envs report ',
    b"agent,rating,low,high,pool,",
)
"""Whether a file is a report: a page, or its numbers as JSON or CSV."""
EXTREMES = 5
"""Number of longest and of shortest games listed."""


def report_data(
    game: Game[Any], records: Sequence[GameRecord], quality: Mapping[str, QualityReport] | None = None
) -> dict[str, Any]:
    """Return all numbers of a report; NaN where there is no data."""
    result = summarise(records)
    return {
        "format": "board-envs report 1",
        "version": board_envs.__version__,
        "game": game.name,
        "parameters": dict(game.parameters),
        **to_data(result),
        "quality": {name: report.to_dict() for name, report in (quality or {}).items()},
        "longest": [_listed(records, number) for number in by_length(records)[::-1][:EXTREMES]],
        "shortest": [_listed(records, number) for number in by_length(records)[:EXTREMES]],
    }


def report_csv(
    game: Game[Any], records: Sequence[GameRecord], quality: Mapping[str, QualityReport] | None = None
) -> str:
    """Return one row per agent: rating, results by seat, faults, and move quality if evaluated."""
    result = summarise(records)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    seats = [f"{count}_{seat}" for seat in ("begins", "answers") for count in ("wins", "draws", "losses")]
    judgement = ("decisions", "counted", "share_optimal", "mean_regret", "blunders")
    faults = [fault.value for fault in FAULTS]
    writer.writerow(["agent", "rating", "low", "high", "pool", *seats, "unfinished", *faults, "seconds", *judgement])
    for rating in result.ratings.agents:
        standing = _standing(result, rating.name)
        judged = quality[rating.name].total if quality and rating.name in quality else Quality()
        numbers = [rating.rating, rating.low, rating.high] if rating.games else [math.nan] * 3
        row: list[Any] = [
            csv_text(rating.name),
            *(f"{n:.1f}" if math.isfinite(n) else "" for n in numbers),
            rating.pool,
        ]
        for tally in standing.seats:
            row += [tally.wins, tally.draws, tally.losses]
        row += [standing.total.unfinished, *(standing.faults[fault] for fault in FAULTS), f"{standing.seconds:.3f}"]
        row += [judged.decisions, judged.counted, *(_number(n) for n in (judged.share_optimal, judged.mean_regret))]
        writer.writerow([*row, judged.blunders])
    return out.getvalue()


def csv_text(text: str) -> str:
    """Return a text as a cell that spreadsheets do not evaluate: prefix "'" where it would start a formula."""
    text = visible(text)  # csv does not quote a carriage return, but readers start a new line there
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text


def report_html(
    game: Game[Any],
    records: Sequence[GameRecord],
    quality: Mapping[str, QualityReport] | None = None,
    *,
    title: str = "",
    replayed: int = REPLAYED,
) -> str:
    """Return the page.

    Args:
        game: the game.
        records: all games of the report, of this game.
        quality: agent -> quality of its moves; None omits that section.
        title: heading; default: the game's name.
        replayed: number of games that can be replayed; the longest, the shortest and those with a fault come first.

    """
    result = summarise(records)
    chosen = choose_games(records, replayed)
    parts = [
        _section("Ratings", _ratings(result)),
        _section("Pairs", _cross_table(result)),
        _section("Seats", _seats(result)),
        _section("Move quality", _quality(quality)) if quality else "",
        _section("Longest and shortest games", _extremes(records, chosen)),
        _section("Figures", "".join(_figure(*entry) for entry in figures(result, quality or {}).items())),
    ]
    page = Template(resources.files("board_agents.arena.report").joinpath("page.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=escape(title or _title(game)),
        intro=escape(_intro(game, result, len(chosen))),
        sections="\n".join(part for part in parts if part),
        games=_script_json(replay_data(game, records, chosen)),
    )


def sample(records: Sequence[GameRecord], count: int) -> list[GameRecord]:
    """Return `count` of the records, chosen at random with a fixed seed, in their order."""
    stream = Stream.seeded(0)
    marks = {number: int(stream.bits()) for number in range(len(records))}
    return [records[number] for number in sorted(sorted(marks, key=lambda number: marks[number])[:count])]


def by_length(records: Sequence[GameRecord]) -> list[int]:
    """Return the numbers of the games that ended by the rules, shortest first; ties by number."""
    finished = [number for number, record in enumerate(records) if record.ending.value == "finished"]
    return sorted(finished, key=lambda number: len(records[number].actions))


def choose_games(records: Sequence[GameRecord], count: int) -> list[int]:
    """Return the numbers of the games to replay: extremes and faults, then the first ones; sorted."""
    if count >= len(records):
        return list(range(len(records)))
    lengths = by_length(records)
    faulty = [number for number, record in enumerate(records) if record.offender >= 0]
    wanted = [*lengths[:EXTREMES], *lengths[::-1][:EXTREMES], *faulty[:EXTREMES], *range(len(records))]
    return sorted(list(dict.fromkeys(wanted))[:count])


def replay_data(game: Game[Any], records: Sequence[GameRecord], chosen: Sequence[int]) -> dict[str, Any]:
    """Return the data from which the page draws the games.

    Each distinct shape is stored once; a position is a list of shape numbers.
    """
    pool: dict[str, int] = {}
    games = []
    head = svg_head(picture(game, game.initial_state()))
    for number in chosen:
        record = records[number]
        states = record.replay()
        frames = [
            [pool.setdefault(svg_shape(shape), len(pool)) for shape in picture(game, state).shapes] for state in states
        ]
        moves = game.move_names(record.actions, states)
        seats = [game.current_player(state) for state in states[: len(moves)]]
        games.append(
            {
                "number": number + 1,
                "agents": [visible(name) for name in record.agents],
                "result": visible(_result(record)),
                "opening": len(record.opening),
                "moves": moves,
                "seats": seats,
                "frames": frames,
            }
        )
    return {"head": head, "shapes": list(pool), "games": games}


def escape(text: str) -> str:
    """Return a text as HTML, without control characters."""
    return html.escape(visible(text))


def _title(game: Game[Any]) -> str:
    parameters = ", ".join(f"{key}={value}" for key, value in game.parameters.items())
    return f"{game.name} ({parameters})"


def _intro(game: Game[Any], result: Result, replayed: int) -> str:
    played = len(result.records)
    text = f"{played} games ({result.distinct} distinct) of {len(result.standings)} agents at {_title(game)}"
    return f"{text}; {replayed} can be replayed below. board_envs {board_envs.__version__}"


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{body}</section>"


def _figure(title: str, svg: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}</figure>"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """Return a table; the first column names the row. Cells are HTML."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{row[0]}</th>" + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>\n" for row in rows
    )
    return f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>'


def _ratings(result: Result) -> str:
    rows = []
    for rating in result.ratings.agents:
        standing = _standing(result, rating.name)
        total = standing.total
        faults = ", ".join(f"{standing.faults[fault]} {fault.value}" for fault in FAULTS if standing.faults[fault])
        seconds = f"{standing.seconds / max(1, _games(total)):.3g}"
        counted = [_share(total), _wdl(total), str(total.unfinished), faults or "none", seconds]
        rows.append([escape(rating.name), _rating(rating), _interval(rating), *counted])
    columns = ("agent", "rating", "95 % interval", "score", "W/D/L", "unfinished", "faults", "seconds per game")
    notes = list(result.ratings.notes)
    for pool, (value, (low, high)) in enumerate(
        zip(result.ratings.first_move, result.ratings.first_move_interval, strict=True)
    ):
        if result.first_mover.decided and pool == 0:
            notes.insert(0, f"first-move advantage {value:+.0f} points ({low:+.0f} to {high:+.0f})")
    return _table(columns, rows) + "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"


def _cross_table(result: Result) -> str:
    names = [rating.name for rating in result.ratings.agents]
    cells = {}
    for pair in result.pairs:
        cells[pair.agents] = pair.total
        total = pair.total
        cells[pair.agents[::-1]] = Tally(total.losses, total.draws, total.wins, total.unfinished)
    rows = []
    for name in names:
        row = [escape(name)]
        for other in names:
            tally = cells.get((name, other)) if name != other else None
            row.append("" if tally is None else f"{_share(tally)}<br><small>{_wdl(tally)}</small>")
        rows.append(row)
    return _table(("", *names), rows, "cross")


def _seats(result: Result) -> str:
    rows = [
        [escape(standing.name), *(cell for tally in standing.seats for cell in (_share(tally), _wdl(tally)))]
        for standing in result.standings
    ]
    first = result.first_mover
    rows.append(["all", _share(first), _wdl(first), "", ""])
    return _table(("agent", "begins", "W/D/L", "answers", "W/D/L"), rows)


def _quality(quality: Mapping[str, QualityReport]) -> str:
    rows = []
    for name, report in quality.items():
        for phase, part in [("all", report.total), *((phase, report.phases[phase]) for phase in PHASES)]:
            low, high = part.optimal_interval
            interval = f"{_percent(low)} to {_percent(high)}" if part.counted else "-"
            numbers = [_percent(part.share_optimal), interval, _number(part.mean_regret)]
            counted = [
                str(part.decisions),
                _percent(part.share_counted),
                *numbers,
                f"{part.blunders} of {part.chances}",
            ]
            rows.append([escape(name) if phase == "all" else "", phase, *counted])
    unit = next(iter(quality.values())).unit
    columns = ("agent", "phase", "decisions", "counted", "optimal", "95 % interval", f"mean regret ({unit})")
    games = next(iter(quality.values())).source.get("games", 0)
    note = (
        f"<p>Compared with exact values in {games} games. A decision is a position with at least two moves; it counts "
        "if its exact values are known. A blunder turns a win into a draw or loss, or a draw into a loss.</p>"
    )
    return note + _table((*columns, "blunders"), rows)


def _extremes(records: Sequence[GameRecord], chosen: Sequence[int]) -> str:
    lengths = by_length(records)
    if not lengths:
        return "<p>No game ended by the rules.</p>"
    shown = {number: place for place, number in enumerate(chosen)}
    parts = []
    for title, numbers in (("Longest", lengths[::-1][:EXTREMES]), ("Shortest", lengths[:EXTREMES])):
        rows = []
        for number in numbers:
            record = records[number]
            name = f"game {number + 1}"
            link = f'<a href="#game={number + 1}">{name}</a>' if number in shown else name
            rows.append([link, *map(escape, record.agents), str(len(record.actions)), escape(_result(record))])
        parts.append(f"<h3>{title}</h3>" + _table(("", "begins", "answers", "plies", "result"), rows))
    return "".join(parts)


def _listed(records: Sequence[GameRecord], number: int) -> dict[str, Any]:
    record = records[number]
    return {"game": number + 1, "agents": list(record.agents), "plies": len(record.actions), "winner": record.winner}


def _standing(result: Result, name: str) -> Standing:
    return next(standing for standing in result.standings if standing.name == name)


def _result(record: GameRecord) -> str:
    if record.winner == Outcome.ONGOING:
        return "unfinished"
    text = "drawn" if record.winner == Outcome.DRAW else f"{record.agents[record.winner]} won"
    if record.offender >= 0:
        return f"{text}: {record.ending.value}, {record.detail}"
    unit = record.make_game().unit
    return f"{text} by {abs(record.margin)} {unit}" if record.margin and unit != "win" else text


def _games(tally: Tally) -> int:
    return tally.decided + tally.unfinished


def _share(tally: Tally) -> str:
    return _percent(tally.score)


def _percent(value: float) -> str:
    return f"{value:.1%}" if math.isfinite(value) else "-"


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else ""


def _wdl(tally: Tally) -> str:
    return f"{tally.wins}/{tally.draws}/{tally.losses}"


def _rating(rating: Rating) -> str:
    if not rating.games:
        return "-"
    if math.isinf(rating.high) or math.isinf(rating.low):
        return "not bounded"
    return f"{rating.rating:+.0f}"


def _interval(rating: Rating) -> str:
    if not rating.games:
        return "-"
    low, high = ("-∞" if math.isinf(rating.low) else f"{rating.low:+.0f}"), f"{rating.high:+.0f}"
    return f"{low} to {'∞' if math.isinf(rating.high) else high}"


def _script_json(data: Any) -> str:
    """Return JSON that is safe inside a script element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
