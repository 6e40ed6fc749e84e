"""Counts of results, from records alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from board_agents.arena.records.game_record import FAULTS, Ending, GameRecord
from board_envs.types import Outcome


@dataclass
class Tally:
    """Results of games from one side's view."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    unfinished: int = 0

    @property
    def decided(self) -> int:
        """Games with a result."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points per game with a result, a draw counting half a point; NaN without games."""
        return (self.wins + self.draws / 2) / self.decided if self.decided else math.nan

    def add(self, record: GameRecord, seat: int) -> None:
        """Count a game from a seat's view."""
        if record.winner == Outcome.ONGOING:
            self.unfinished += 1
        elif record.winner == Outcome.DRAW:
            self.draws += 1
        elif record.winner == seat:
            self.wins += 1
        else:
            self.losses += 1

    def __add__(self, other: Tally) -> Tally:
        """Add two counts."""
        return Tally(
            self.wins + other.wins,
            self.draws + other.draws,
            self.losses + other.losses,
            self.unfinished + other.unfinished,
        )


@dataclass
class Standing:
    """An agent's results: `seats[0]` as first player, `seats[1]` as second; only its own faults."""

    name: str
    seats: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))
    faults: Counter[Ending] = field(default_factory=Counter)
    seconds: float = field(default=0.0, compare=False)

    @property
    def total(self) -> Tally:
        """Both seats together."""
        return self.seats[0] + self.seats[1]


@dataclass
class Pair:
    """Two agents' games with each other, from the first one's view: `seats[0]` where it moved first."""

    agents: tuple[str, str]
    seats: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))
    games: int = 0
    distinct: int = 0
    half_pairs: int = 0

    @property
    def total(self) -> Tally:
        """Both seats together."""
        return self.seats[0] + self.seats[1]


def names_of(records: Iterable[GameRecord]) -> list[str]:
    """List the agents in order of appearance."""
    return list(dict.fromkeys(name for record in records for name in record.agents))


def standings(records: Sequence[GameRecord], names: Sequence[str] | None = None) -> list[Standing]:
    """Count every agent's results by seat; a fault also counts as a loss."""
    table = {name: Standing(name) for name in (names_of(records) if names is None else names)}
    for record in records:
        for seat, name in enumerate(record.agents):
            standing = table[name]
            standing.seats[seat].add(record, seat)
            standing.seconds += record.seconds[seat]
            if record.ending in FAULTS and record.offender == seat:
                standing.faults[record.ending] += 1
    return list(table.values())


def pairs(records: Sequence[GameRecord], names: Sequence[str] | None = None) -> list[Pair]:
    """Count the games of each pair of agents."""
    order = {name: number for number, name in enumerate(names_of(records) if names is None else names)}
    table: dict[tuple[str, str], Pair] = {}
    games: dict[tuple[str, str], set[tuple[object, ...]]] = {}
    sides: dict[tuple[str, str], Counter[int]] = {}
    for record in records:
        first = 0 if order[record.agents[0]] <= order[record.agents[1]] else 1
        key = (record.agents[first], record.agents[1 - first])
        pair = table.setdefault(key, Pair(key))
        pair.seats[first].add(record, first)
        pair.games += 1
        games.setdefault(key, set()).add(_course(record))
        sides.setdefault(key, Counter())[record.opening_number] += 1 if first == 0 else -1
    for key, pair in table.items():
        pair.distinct = len(games[key])
        pair.half_pairs = sum(1 for balance in sides[key].values() if balance)
    return sorted(table.values(), key=lambda pair: (order[pair.agents[0]], order[pair.agents[1]]))


def distinct_games(records: Iterable[GameRecord]) -> int:
    """Count the distinct games, by seats, start and moves."""
    return len({_course(record) for record in records})


def first_mover(records: Iterable[GameRecord]) -> Tally:
    """Count the results of the first seat."""
    tally = Tally()
    for record in records:
        tally.add(record, 0)
    return tally


def _course(record: GameRecord) -> tuple[object, ...]:
    return record.agents, record.start, record.actions
