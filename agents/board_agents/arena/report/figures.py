"""Figures of a report, as self-contained SVG (extra "records")."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from board_agents.arena.records.game_record import GameRecord
from board_agents.arena.statistics.quality import QualityReport
from board_agents.arena.tournament import Result
from board_agents.lowlevel.visible_text import visible
from board_envs.types import MissingExtraError

_COLOURS = ("#1f5fae", "#d33c32", "#2e7d4f", "#f2a230", "#7a4fa3", "#0f8b8d", "#8a5a2b", "#555555")
_WIN, _DRAW, _LOSS = "#2e7d4f", "#c9c9c9", "#d33c32"


def figures(result: Result, quality: Mapping[str, QualityReport]) -> dict[str, str]:
    """Return title -> SVG, for the figures that have data.

    Raises:
        MissingExtraError: matplotlib is not installed.

    """
    try:
        from matplotlib import rc_context
    except ModuleNotFoundError as error:
        raise MissingExtraError("figures", "records") from error
    with rc_context({"text.parse_math": False}):  # a name between two "$" is not a formula
        drawn = {
            "Ratings with 95 % intervals": _ratings(result),
            "Results by seat": _seats(result),
            "Lengths of the games": _lengths(result.records),
            "Mean regret by ply": _regret(quality),
        }
    return {title: svg for title, svg in drawn.items() if svg}


def _ratings(result: Result) -> str:
    rated = [rating for rating in result.ratings.agents if rating.games]
    if not rated:
        return ""
    figure, axes = _new(0.45 * len(rated) + 1.1)
    finite = [v for r in rated for v in (r.rating, r.low, r.high) if math.isfinite(v)]
    left, right = min(finite) - 100, max(finite) + 100
    for place, rating in enumerate(rated):
        low, high = max(rating.low, left), min(rating.high, right)
        axes.plot([low, high], [place, place], color=_COLOURS[0], linewidth=2)
        if math.isfinite(rating.low) and math.isfinite(rating.high):
            axes.plot([rating.rating], [place], "o", color=_COLOURS[0])
        for end, value, mark in ((low, rating.low, "<"), (high, rating.high, ">")):
            if not math.isfinite(value):
                axes.plot([end], [place], mark, color=_COLOURS[0])  # an unbounded end
    axes.set_yticks(range(len(rated)), [visible(rating.name) for rating in rated])
    axes.set_ylim(len(rated) - 0.5, -0.5)
    axes.set_xlabel("rating (Elo points)")
    axes.grid(axis="x", alpha=0.3)
    return _svg(figure)


def _seats(result: Result) -> str:
    rows = [
        (f"{visible(standing.name)} {'first' if seat == 0 else 'second'}", tally)
        for standing in result.standings
        for seat, tally in enumerate(standing.seats)
        if tally.decided
    ]
    if not rows:
        return ""
    figure, axes = _new(0.35 * len(rows) + 1.1)
    for place, (_, tally) in enumerate(rows):
        left = 0.0
        for share, colour in ((tally.wins, _WIN), (tally.draws, _DRAW), (tally.losses, _LOSS)):
            axes.barh([place], [share / tally.decided], left=left, color=colour)
            left += share / tally.decided
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("won (green), drawn (grey), lost (red)")
    return _svg(figure)


def _lengths(records: Sequence[GameRecord]) -> str:
    lengths = [len(record.actions) for record in records]
    if not lengths:
        return ""
    figure, axes = _new(2.6)
    bins = range(min(lengths), max(lengths) + 2, max(1, (max(lengths) - min(lengths)) // 40))
    axes.hist(lengths, bins=[b - 0.5 for b in [*bins, bins[-1] + bins.step]], color=_COLOURS[0])
    axes.set_xlabel("plies")
    axes.set_ylabel("games")
    return _svg(figure)


def _regret(quality: Mapping[str, QualityReport]) -> str:
    judged = {name: report for name, report in quality.items() if report.total.counted}
    if not judged:
        return ""
    figure, axes = _new(3.2)
    for number, (name, report) in enumerate(judged.items()):
        plies = [ply for ply in sorted(report.plies) if report.plies[ply].counted]
        means = [report.plies[ply].mean_regret for ply in plies]
        axes.plot(plies, means, marker=".", label=visible(name), color=_COLOURS[number % len(_COLOURS)])
    axes.set_xlabel("ply")
    axes.set_ylabel(f"mean regret ({next(iter(judged.values())).unit})")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return _svg(figure)


def _new(height: float) -> tuple[Any, Any]:
    """Return a figure and its axes; matplotlib's window backends are not loaded."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, height), layout="constrained")
    return figure, figure.add_subplot()


def _svg(figure: Any) -> str:
    """Return the figure's SVG element: the same bytes for the same data, text kept as text."""
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": "board_envs", "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
