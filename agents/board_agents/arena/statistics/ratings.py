"""Ratings: one joint Bradley-Terry fit over all games, with a first-move advantage.

Model (Bradley and Terry 1952; order effect as in Davidson and Beaver 1977): the first player scores against the second
with probability 1 / (1 + exp(-(r_first - r_second + h))); a draw counts as half a win and half a loss. The
penalised likelihood is maximised by Newton's method. The penalty is one drawn game, half from each seat, between every
two agents that met, and one game won and one lost by the first player: a weak prior that keeps every number finite.

The package choix fits the same model without the first-move advantage; where that is zero, a test checks that
the two agree.

Where results bound a rating on one side only (an agent that never lost a point to the others), the interval is open on
the other side. Agents that no chain of games connects are rated in separate pools, whose ratings are not comparable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.arena.records.game_record import GameRecord
from board_agents.arena.statistics.tally import names_of
from board_envs.types import Outcome

ELO = 400 / math.log(10)
"""Points of the Elo scale per unit of log odds."""
PRIOR_GAMES = 1.0
RESAMPLES = 300
LEVEL = 0.95
_NORMAL = 1.959963984540054  # two-sided quantile of LEVEL
_TOLERANCE = 1e-10

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rating:
    """An agent's strength on the Elo scale.

    Attributes:
        name: the agent.
        rating: points, relative to the mean of its pool's core (0) or to the anchor. NaN without games.
        low: lower end of the interval, -inf where the games set no bound, NaN without games.
        high: upper end, inf where the games set no bound, NaN without games.
        pool: agents with the same number are connected by games; ratings of different pools are not comparable.
        games: number of games with a result.

    """

    name: str
    rating: float
    low: float
    high: float
    pool: int
    games: int


@dataclass(frozen=True)
class Ratings:
    """Result of a fit.

    Attributes:
        agents: ratings, best first within each pool.
        first_move: first-move advantage of each pool, in points; NaN without games.
        first_move_interval: (low, high) of each.
        pools: number of pools.
        notes: caveats for the reader.

    """

    agents: tuple[Rating, ...]
    first_move: tuple[float, ...]
    first_move_interval: tuple[tuple[float, float], ...]
    pools: int
    notes: tuple[str, ...]

    def of(self, name: str) -> Rating:
        """Return an agent's rating."""
        return next(rating for rating in self.agents if rating.name == name)


def rate(
    records: Sequence[GameRecord],
    names: Sequence[str] | None = None,
    *,
    anchor: str | None = None,
    anchor_rating: float = 0.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Ratings:
    """Fit ratings to games; unfinished games and games of an agent with itself are ignored.

    Intervals are the wider of two: a bootstrap over openings (games of one opening are not independent), and the
    curvature of the likelihood (a bootstrap of few or one-sided games is overconfident).

    Args:
        records: the games, in any order.
        names: the agents; None: all agents of the records.
        anchor: an agent whose rating is fixed; its pool's other ratings are relative to it.
        anchor_rating: the value it is fixed at.
        resamples: bootstrap samples.
        seed: seed of the bootstrap.

    """
    order = list(names_of(records) if names is None else names)
    if anchor is not None and anchor not in order:
        raise ValueError(f"the anchor {anchor!r} is not one of the agents: {', '.join(order)}")
    index = {name: number for number, name in enumerate(order)}
    score, count = _tensors(records, index)
    met = (count.sum(0) + count.sum(0).T) > 0
    result: list[Rating] = []
    advantages, intervals, notes = [], [], []
    pools = _components(met)
    for number, members in enumerate(pools):
        fixed = members.index(index[anchor]) if anchor is not None and index[anchor] in members else None
        if not met[np.ix_(members, members)].any():
            # One agent without a counted game: its rating would come from the prior alone.
            result.append(Rating(order[members[0]], math.nan, math.nan, math.nan, number, 0))
            advantages.append(math.nan)
            intervals.append((math.nan, math.nan))
            notes.append(f"{order[members[0]]}: no games with a result, no rating")
            continue
        pool = _Pool(score[:, members][:, :, members], count[:, members][:, :, members], fixed)
        rated, advantage, interval = pool.fit(resamples, seed)
        shift = anchor_rating if fixed is not None else 0.0
        games = (count.sum(0) + count.sum(0).T).sum(1)[members]
        entries = [
            Rating(order[member], rating * ELO + shift, low * ELO + shift, high * ELO + shift, number, int(total))
            for member, (rating, low, high), total in zip(members, rated, games.tolist(), strict=True)
        ]
        result.extend(sorted(entries, key=lambda entry: -entry.rating))
        advantages.append(advantage * ELO)
        intervals.append((interval[0] * ELO, interval[1] * ELO))
        notes.extend(_notes(entries, pool))
    if len(pools) > 1:
        notes.insert(0, f"{len(pools)} pools without games between them: their ratings are not comparable")
    return Ratings(tuple(result), tuple(advantages), tuple(intervals), len(pools), tuple(notes))


class _Pool:
    """Agents connected by games. Arrays are (openings, agents, agents): the row moved first, the column second."""

    def __init__(self, score: Array, count: Array, fixed: int | None) -> None:
        self.score, self.count, self.fixed = score, count, fixed
        self.size = score.shape[1]
        self.openings = int((count.sum((1, 2)) > 0).sum())
        total = count.sum(0)
        self.met = (total + total.T) > 0
        points = score.sum(0) + (count - score).sum(0).T  # points[i, j]: what i scored against j, from both seats
        reach = _reach(points > 0)
        both = reach & reach.T
        core = int(both.sum(1).argmax()) if fixed is None else fixed
        self.core = np.flatnonzero(both[core])
        if fixed is None and len(self.core) == 1:
            self.core = np.arange(self.size)  # no agent is bounded on both sides: use the pool's mean as zero
            others = ~np.eye(self.size, dtype=bool)
            self.open_above, self.open_below = (~reach & others).any(0), (~reach & others).any(1)
        else:
            self.open_above = ~reach[core]  # no agent in the core has scored against them, even through others
            self.open_below = ~reach[:, core]

    def weights(self) -> Array:
        """Return the contrast that makes a rating relative: (agents, agents), ratings @ weights."""
        zero = np.zeros(self.size)
        zero[self.core if self.fixed is None else self.fixed] = 1.0
        return np.eye(self.size) - np.outer(zero / zero.sum(), np.ones(self.size))

    def fit(self, resamples: int, seed: int) -> tuple[list[tuple[float, float, float]], float, tuple[float, float]]:
        """Return ([(rating, low, high)], first-move advantage, its interval), in units of log odds."""
        contrast = self.weights()
        parameters, covariance = _maximise(self.score.sum(0), self.count.sum(0), self.met)
        ratings = parameters[:-1] @ contrast
        spread = np.sqrt(np.maximum(np.diag(contrast.T @ covariance[:-1, :-1] @ contrast), 0.0))
        low, high = ratings - _NORMAL * spread, ratings + _NORMAL * spread
        advantage = float(parameters[-1])
        half = _NORMAL * math.sqrt(max(float(covariance[-1, -1]), 0.0))
        ends = (advantage - half, advantage + half)
        if self.openings > 1 and self.size > 1 and resamples > 0:
            generator = np.random.Generator(np.random.PCG64(seed))
            played = np.flatnonzero(self.count.sum((1, 2)) > 0)
            draws = generator.multinomial(self.openings, np.full(self.openings, 1 / self.openings), size=resamples)
            samples = np.empty((resamples, self.size + 1))
            for row, draw in enumerate(draws.astype(np.float64)):
                score = np.tensordot(draw, self.score[played], axes=1)
                count = np.tensordot(draw, self.count[played], axes=1)
                samples[row] = _maximise(score, count, self.met, parameters)[0]
            tail = 100 * (1 - LEVEL) / 2
            relative = np.percentile(samples[:, :-1] @ contrast, [tail, 100 - tail], axis=0)
            low, high = np.minimum(low, relative[0]), np.maximum(high, relative[1])
            first = np.percentile(samples[:, -1], [tail, 100 - tail])
            ends = (min(ends[0], float(first[0])), max(ends[1], float(first[1])))
        low = np.where(self.open_below, -np.inf, low)
        high = np.where(self.open_above, np.inf, high)
        return list(zip(ratings.tolist(), low.tolist(), high.tolist(), strict=True)), advantage, ends


def _maximise(score: Array, count: Array, met: NDArray[np.bool_], begin: Array | None = None) -> tuple[Array, Array]:
    """Return (ratings with mean 0, then the first-move advantage: (agents + 1,), their covariance).

    Only differences of ratings are meaningful, in the covariance as well.
    """
    size = len(score)
    prior = PRIOR_GAMES / 2 * met  # one drawn game a pair, half from each seat
    points, games = score + prior / 2, count + prior
    x = np.zeros(size + 1) if begin is None else begin.copy()

    def loss(x: Array) -> float:
        odds = x[:-1, None] - x[None, :-1] + x[-1]
        both = np.logaddexp(0, -odds) * points + np.logaddexp(0, odds) * (games - points)
        return float(both.sum() + np.logaddexp(0, x[-1]) + np.logaddexp(0, -x[-1]))

    value = loss(x)
    for _ in range(100):
        p = 1 / (1 + np.exp(-(x[:-1, None] - x[None, :-1] + x[-1])))
        error = games * p - points
        own = 1 / (1 + math.exp(-x[-1]))
        gradient = np.append(error.sum(1) - error.sum(0), error.sum() + 2 * own - 1)
        weight = games * p * (1 - p)
        hessian = np.empty((size + 1, size + 1))
        hessian[:-1, :-1] = np.diag(weight.sum(1) + weight.sum(0)) - weight - weight.T
        hessian[:-1, -1] = hessian[-1, :-1] = weight.sum(1) - weight.sum(0)
        hessian[-1, -1] = weight.sum() + 2 * own * (1 - own)
        hessian[:-1, :-1] += 1.0  # fixes the ratings' mean, on which the likelihood does not depend, at 0
        direction = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-6 and (new := loss(x - length * direction)) > value:
            length /= 2
        x, change, value = x - length * direction, value - new, min(new, value)
        if abs(change) < _TOLERANCE and float(np.abs(direction).max()) < 1e-6:
            break
    covariance: Array = np.linalg.inv(hessian).astype(np.float64)
    return x, covariance


def _tensors(records: Sequence[GameRecord], index: dict[str, int]) -> tuple[Array, Array]:
    """Return (points of the first player, games), each (openings, agents, agents)."""
    openings = {
        key: row for row, key in enumerate(sorted({(record.start, record.opening_number) for record in records}))
    }
    shape = (max(len(openings), 1), len(index), len(index))
    score, count = np.zeros(shape), np.zeros(shape)
    for record in records:
        first, second = index[record.agents[0]], index[record.agents[1]]
        if record.winner == Outcome.ONGOING or first == second:
            continue
        row = openings[record.start, record.opening_number]
        count[row, first, second] += 1
        score[row, first, second] += {0: 1.0, 1: 0.0, 2: 0.5}[record.winner]
    return score, count


def _reach(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether a chain of edges leads from row to column (each row reaches itself)."""
    reach = edges | np.eye(len(edges), dtype=bool)
    for middle in range(len(edges)):
        reach |= reach[:, middle, None] & reach[None, middle, :]
    return reach


def _components(met: NDArray[np.bool_]) -> list[list[int]]:
    """List the pools: agents connected by games, the largest pool first."""
    reach = _reach(met)
    pools = {tuple(np.flatnonzero(row).tolist()) for row in reach}
    return [list(pool) for pool in sorted(pools, key=lambda pool: (-len(pool), pool))]


def _notes(entries: Sequence[Rating], pool: _Pool) -> list[str]:
    notes: list[str] = []
    for entry in entries:
        if math.isinf(entry.high) and math.isinf(entry.low):
            notes.append(f"{entry.name}: its rating is unbounded on both sides")
        elif math.isinf(entry.high):
            notes.append(f"{entry.name}: lost no point to lower-rated agents; its rating has no upper bound")
        elif math.isinf(entry.low):
            notes.append(f"{entry.name}: scored no point against higher-rated agents; its rating has no lower bound")
    if pool.openings < 2:
        notes.append("only one opening: the intervals depend on the model alone")
    return notes


def to_json(ratings: Ratings) -> dict[str, Any]:
    """Return plain data; an unbounded end, and values without games, are null."""

    def number(value: float) -> float | None:
        return round(value, 1) if math.isfinite(value) else None

    return {
        "scale": "elo",
        "level": LEVEL,
        "agents": [
            {
                "name": entry.name,
                "rating": number(entry.rating),
                "low": number(entry.low),
                "high": number(entry.high),
                "pool": entry.pool,
                "games": entry.games,
            }
            for entry in ratings.agents
        ],
        "first_move": [
            {"pool": pool, "advantage": number(value), "low": number(low), "high": number(high)}
            for pool, (value, (low, high)) in enumerate(
                zip(ratings.first_move, ratings.first_move_interval, strict=True)
            )
        ],
        "pools": ratings.pools,
        "notes": list(ratings.notes),
    }
