"""A tournament's result as plain data, ready for JSON."""

from __future__ import annotations

from typing import Any

from board_agents.arena.records.game_record import FAULTS
from board_agents.arena.statistics.ratings import to_json
from board_agents.arena.statistics.sprt import likelihood_of_superiority
from board_agents.arena.statistics.tally import Tally
from board_agents.arena.tournament import Result


def to_data(result: Result) -> dict[str, Any]:
    """Return counts, ratings and pairings; a score without games is NaN."""
    ratings = to_json(result.ratings)
    rated = {entry["name"]: entry for entry in ratings["agents"]}
    return {
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
                "superiority": likelihood_of_superiority(pair.total.wins, pair.total.losses),
                "games": pair.games,
                "distinct": pair.distinct,
                "openings_from_one_seat": pair.half_pairs,
            }
            for pair in result.pairs
        ],
        "first_mover": counts(result.first_mover),
        "ratings": {key: value for key, value in ratings.items() if key != "agents"} | {"seed": result.seed},
    }


def counts(tally: Tally) -> dict[str, Any]:
    """Return counts of results as plain data."""
    return {
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "unfinished": tally.unfinished,
        "score": tally.score,
    }
