"""Minimax and alpha-beta over any game, interpreted: the reference for the compiled search.

Scores inside the search are in player_0's view: player_0 maximises, player_1 minimises, whoever moves next (a seat may
move twice in a row). A score is ``256 * value``, plus or minus the levels left where the game is won; so among equal
values the faster win and the slower loss are preferred, and the value can be recovered exactly.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from board_agents.oracle import LimitReachedError
from board_agents.search.evaluations import Evaluation, WinValue
from board_envs.types import Rules

RootScores: TypeAlias = dict[int, tuple[float, tuple[int, ...]]]
"""Action of the root -> (exact score, principal variation after it)."""

SCALE = 256
DEPTH_LIMIT = 100
"""Levels left must stay below SCALE / 2."""


@dataclass(frozen=True)
class SearchResult:
    """Result of a search, values in the view of the seat to move.

    Attributes:
        action: the action chosen.
        value: its value.
        values: exact values of the root's actions, as far as the search needed them: all with minimax.
        line: the principal variation, actions from the root, `action` first.
        nodes: positions searched, including the root.
        depth: levels searched in full.
        seat: the seat to move at the root.
        exact: whether the values are game-theoretic; otherwise they are estimates.

    """

    action: int
    value: float
    values: dict[int, float]
    line: tuple[int, ...]
    nodes: int
    depth: int
    seat: int
    exact: bool = False

    def value_for(self, seat: int) -> float:
        """Return the value in a seat's view."""
        return self.value if seat == self.seat else -self.value


def value_of(score: float, win: WinValue) -> float:
    """Return the value of a score."""
    if abs(score) >= win.base * SCALE:
        return math.floor((score + SCALE // 2) / SCALE)
    value = score / SCALE
    return int(value) if value == int(value) else value


class Search:
    """Depth-first search of one position with one evaluation.

    Args:
        rules: the game's rules.
        evaluate: evaluation in player_0's view.
        win: the value of a won position.
        deadline: time.monotonic() after which LimitReachedError is raised; None: no limit.

    """

    def __init__(self, rules: Rules[Any], evaluate: Evaluation, win: WinValue, deadline: float | None = None) -> None:
        self.rules, self.evaluate, self.win, self.deadline = rules, evaluate, win, deadline
        self.nodes = 0
        self.saw_horizon = False

    def leaf(self, state: Any, winner: int, levels: int) -> float:
        """Return the score of a finished position or one at the horizon; a draw is evaluated."""
        if winner == 0 or winner == 1:
            score = (self.win.base + self.win.step * levels) * SCALE + levels
            return score if winner == 0 else -score
        if winner < 0:
            self.saw_horizon = True
        value = self.evaluate(state)
        if value != value:
            raise ValueError(f"the evaluation returned {value!r} for {state!r}")
        limit = self.win.base - 1
        return max(-limit, min(limit, value)) * SCALE

    def enter(self) -> None:
        """Count a node and check the time."""
        self.nodes += 1
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise LimitReachedError

    def minimax(self, state: Any, levels: int) -> tuple[float, tuple[int, ...]]:
        """Return (score, principal variation) of a position, searching `levels` plies."""
        self.enter()
        rules = self.rules
        winner = rules.winner(state)
        if winner >= 0 or levels == 0:
            return self.leaf(state, winner, levels), ()
        sign = 1 if rules.to_play(state) == 0 else -1
        best, line = -math.inf, ()  # type: float, tuple[int, ...]
        for k in range(rules.count(state)):
            action = rules.nth(state, k)
            score, rest = self.minimax(rules.step(state, action), levels - 1)
            if sign * score > best:
                best, line = sign * score, (action, *rest)
        return sign * best, line

    def alpha_beta(self, state: Any, levels: int, alpha: float, beta: float) -> tuple[float, tuple[int, ...]]:
        """Return (score, line); exact inside (alpha, beta), else a bound."""
        self.enter()
        rules = self.rules
        winner = rules.winner(state)
        if winner >= 0 or levels == 0:
            return self.leaf(state, winner, levels), ()
        maximise = rules.to_play(state) == 0
        best = -math.inf if maximise else math.inf
        line: tuple[int, ...] = ()
        for k in range(rules.count(state)):
            action = rules.nth(state, k)
            score, rest = self.alpha_beta(rules.step(state, action), levels - 1, alpha, beta)
            if (score > best) if maximise else (score < best):
                best, line = score, (action, *rest)
            if maximise:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best, line

    def root_minimax(self, state: Any, levels: int) -> RootScores:
        """Return (score, line after it) of each action of the root."""
        self.enter()
        rules = self.rules
        actions = [rules.nth(state, k) for k in range(rules.count(state))]
        return {action: self.minimax(rules.step(state, action), levels - 1) for action in actions}

    def root_alpha_beta(self, state: Any, levels: int, all_ties: bool) -> RootScores:
        """Return (score, line) of the actions with exact scores: the best one, with `all_ties` all its equals."""
        self.enter()
        rules = self.rules
        maximise = rules.to_play(state) == 0
        exact: RootScores = {}
        best = -math.inf
        for k in range(rules.count(state)):
            action = rules.nth(state, k)
            # Opened by one unit, the window includes scores equal to the best.
            bound = best - 1 if all_ties else best
            window = (bound, math.inf) if maximise else (-math.inf, -bound)
            score, rest = self.alpha_beta(rules.step(state, action), levels - 1, *window)
            own = score if maximise else -score
            if own > bound:
                exact[action] = score, rest
                best = max(best, own)
        return exact


def finish(
    exact: RootScores,
    seat: int,
    win: WinValue,
    nodes: int,
    depth: int,
    pick: Callable[[int], int] | None,
) -> SearchResult:
    """Choose among the root's exact scores: the best, ties by the first, or number ``pick(count)``."""
    sign = 1 if seat == 0 else -1
    best = max(sign * score for score, _ in exact.values())
    candidates = sorted(action for action, (score, _) in exact.items() if sign * score == best)
    action = candidates[0 if pick is None or len(candidates) == 1 else pick(len(candidates))]
    values = {key: sign * value_of(score, win) for key, (score, _) in sorted(exact.items())}
    return SearchResult(action, values[action], values, (action, *exact[action][1]), nodes, depth, seat)
