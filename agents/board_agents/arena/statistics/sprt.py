"""Likelihood of superiority, and a sequential probability ratio test (SPRT) that stops a match early.

Results are counted by the first agent's score. Single games: loss, draw, win (three kinds). Pairs of
games, one opening played from both seats: 0, 1/2, 1, 3/2 or 2 points (five kinds). The games of a pair share their
opening, so a pair, not a game, is one observation; counting pairs keeps the test's error rates correct.

Sources: Wald, "Sequential tests of statistical hypotheses" (1945); the likelihood ratio of two means with the rest of
the distribution fitted follows Van den Bergh, "A practical introduction to the GSPRT" (2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from board_agents.arena.records.game_record import GameRecord
from board_envs.types import Outcome

Decision = Literal["accept", "reject", "continue"]
_UNSEEN = 1e-3
"""Count assigned to a kind of result that did not occur, so that its probability can be fitted."""


def score_of_elo(elo: float) -> float:
    """Return the expected score, 0 to 1, of a player who is `elo` points stronger."""
    return 1.0 / (1.0 + 10.0 ** (-elo / 400.0))


def likelihood_of_superiority(wins: int, losses: int) -> float:
    """Return the probability that the first of two agents is the stronger one, with a uniform prior; draws are ignored.

    With p the chance that a decided game is won, this is P(p > 1/2) under Beta(wins + 1, losses + 1), computed exactly
    as P(Binomial(wins + losses + 1, 1/2) <= wins). Without any decided game it is 1/2.
    """
    if wins < 0 or losses < 0:
        raise ValueError(f"counts cannot be negative: {wins} wins, {losses} losses")
    n = wins + losses + 1
    few = min(wins, losses)
    # Sum the shorter tail, computing each C(n, k) from the previous one.
    term, total = 1, 1
    for k in range(1, few + 1):
        term = term * (n - k + 1) // k
        total += term
    tail = total / (1 << n) if n < 1000 else math.exp(math.log(total) - n * math.log(2.0))
    return tail if wins <= losses else 1.0 - tail


class PairCounter:
    """Counts the results of two agents' paired games as they end.

    Attributes:
        name: the agent whose score is counted.
        counts: pairs in which it scored 0, 1/2, 1, 3/2 and 2 points.
        left_out: pairs with an unfinished game.

    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts = [0] * 5
        self.left_out = 0
        self._waiting: dict[tuple[str, int], GameRecord] = {}

    def add(self, record: GameRecord) -> bool:
        """Add a game; return True if it completes a counted pair."""
        key = record.start, record.opening_number
        other = self._waiting.pop(key, None)
        if other is None or other.agents == record.agents:
            self._waiting[key] = record
            return False
        if Outcome.ONGOING in (record.winner, other.winner):
            self.left_out += 1
            return False
        self.counts[self._half_points(record) + self._half_points(other)] += 1
        return True

    def _half_points(self, record: GameRecord) -> int:
        if record.winner == Outcome.DRAW:
            return 1
        return 2 if record.agents[record.winner] == self.name else 0


@dataclass(frozen=True)
class SprtResult:
    """State of a sequential test.

    Attributes:
        decision: "accept" (of `elo1` over `elo0` for the first agent), "reject", or "continue".
        llr: log-likelihood ratio so far.
        lower: at or below this the test rejects.
        upper: at or above this the test accepts.
        observations: games or pairs counted.

    """

    decision: Decision
    llr: float
    lower: float
    upper: float
    observations: int


@dataclass(frozen=True)
class Sprt:
    """Sequential probability ratio test of `elo0` against `elo1`.

    Attributes:
        elo0: strength difference of the null hypothesis.
        elo1: strength difference of the alternative, larger than `elo0`.
        alpha: chance of accepting `elo1` although `elo0` holds.
        beta: chance of rejecting `elo1` although it holds.

    """

    elo0: float = 0.0
    elo1: float = 50.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Raise ValueError for inconsistent hypotheses or error rates."""
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 must be below elo1, not {self.elo0} and {self.elo1}")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1 and self.alpha + self.beta < 1):
            raise ValueError(
                f"alpha and beta must lie between 0 and 1, their sum below 1, not {self.alpha}, {self.beta}"
            )

    def test(self, counts: Sequence[int]) -> SprtResult:
        """Test the results so far.

        Args:
            counts: number of results of each kind, by increasing score: (losses, draws, wins) of games, or
                five numbers of pairs.

        """
        lower = math.log(self.beta / (1.0 - self.alpha))
        upper = math.log((1.0 - self.beta) / self.alpha)
        llr = log_likelihood_ratio(counts, score_of_elo(self.elo0), score_of_elo(self.elo1))
        decision: Decision = "accept" if llr >= upper else "reject" if llr <= lower else "continue"
        return SprtResult(decision, llr, lower, upper, sum(counts))


def log_likelihood_ratio(counts: Sequence[int], score0: float, score1: float) -> float:
    """Return the log-likelihood of mean score `score1` minus that of `score0`, the distribution fitted under each.

    Args:
        counts: at least two kinds of result, evenly spaced in score from 0 to 1.
        score0: a mean strictly between 0 and 1.
        score1: another.

    """
    if len(counts) < 2 or any(count < 0 for count in counts):
        raise ValueError(f"counts must be at least two numbers, none negative, not {tuple(counts)}")
    if not (0 < score0 < 1 and 0 < score1 < 1):
        raise ValueError(f"scores must lie strictly between 0 and 1, not {score0} and {score1}")
    if not any(counts):
        return 0.0
    weights = [count or _UNSEEN for count in counts]
    fitted0, fitted1 = _fit(weights, score0), _fit(weights, score1)
    return sum(count * math.log(p1 / p0) for count, p0, p1 in zip(counts, fitted0, fitted1, strict=True) if count)


def _fit(weights: Sequence[float], mean: float) -> list[float]:
    """Return the maximum-likelihood probabilities of the kinds of result, given their counts, with this mean.

    By Lagrange they are ``q_i / (1 + x (a_i - mean))`` with q the observed shares; x solves for the mean, and the
    left side decreases in x, so bisection finds it.
    """
    total = sum(weights)
    shifts = [i / (len(weights) - 1) - mean for i in range(len(weights))]
    low, high = -1.0 / shifts[-1], -1.0 / shifts[0]
    for _ in range(100):
        x = 0.5 * (low + high)
        if sum(w * a / (1.0 + x * a) for w, a in zip(weights, shifts, strict=True)) > 0:
            low = x
        else:
            high = x
    x = 0.5 * (low + high)
    return [w / total / (1.0 + x * a) for w, a in zip(weights, shifts, strict=True)]
