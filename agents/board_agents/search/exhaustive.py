"""Exhaustive search with a transposition table: exact values on small boards of every game, by full-depth alpha-beta.

It uses only the rules, as an independent check of the specialised solvers. Beyond its budget it
returns None, never a guess.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Generic

from board_agents.lowlevel.copies import Shared
from board_agents.oracle import LimitReachedError, check_seconds
from board_agents.support import HistoryKey, exact_unit, load, support_of
from board_envs.game import Game, check_int
from board_envs.types import S

DEPTH_LIMIT = 400
"""Maximum search depth: Python's recursion limit is 1000 calls."""
_INFINITY = 1 << 30
MEMORY_LIMIT = 2_000_000
"""Maximum entries of the transposition table; it is cleared when full."""


class ExhaustiveOracle(Shared, Generic[S]):
    """Exact action values by search to the end, in the game's unit.

    The value of a finished game comes from the game's SUPPORT, by default the margin. Where the rules depend on earlier
    positions, values take the history into account; the transposition table then uses the game's history key.

    Args:
        game: the game.
        budget: new positions searched in one call of `action_values` (a few seconds; one with an expensive history
            counts as several); beyond it the result is None. The transposition table persists, so that asking
            again searches further.
        seconds: time for one call; None for no limit.

    A copy is the same object, with the same transposition table; unpickling starts with an empty one.

    Attributes:
        unit: unit of the values.
        missing: the stronger oracle that this one replaces, and how to install it; otherwise None.

    """

    def __init__(self, game: Game[S], *, budget: int = 150_000, seconds: float | None = None) -> None:
        self.game = game
        self.budget = check_int("exhaustive", "budget", budget, 1, 10**9)
        self._memory: dict[Any, tuple[int, int]] = {}
        self.seconds = None if seconds is None else check_seconds("exhaustive", seconds)
        self.missing: str | None = None
        self._left = 0
        self._deadline: float | None = None
        self._lock = threading.Lock()
        support = support_of(game.name)
        self.unit = exact_unit(game)
        final_value = _margin_at_end if support.final_value is None else load(support.final_value)
        self._end: Callable[[S], int] = final_value(game)
        self._history: HistoryKey | None = None
        if support.history_key is not None:
            self._history = load(support.history_key)(game, self._spend)

    def action_values(self, state: S) -> dict[int, float] | None:
        """Return the exact value of each legal action for the mover, {} if the game is over, None beyond the budget."""
        self.game.check_state(state)
        with self._lock:
            return self._action_values(state)

    def fresh_values(self, state: S) -> dict[int, float] | None:
        """Return `action_values` with an empty transposition table."""
        self.game.check_state(state)
        with self._lock:
            self._memory.clear()
            return self._action_values(state)

    def _action_values(self, state: S) -> dict[int, float] | None:
        rules = self.game.rules
        if len(self._memory) > MEMORY_LIMIT:
            self._memory.clear()
        self._left = self.budget
        self._deadline = None if self.seconds is None else time.monotonic() + self.seconds
        state = self.game.own(state)
        sign = 1 if rules.to_play(state) == 0 else -1
        values = {}
        for k in range(rules.count(state)):
            action = int(rules.nth(state, k))
            child = rules.step(state, action)
            try:
                value = self._value(child, 1, -_INFINITY, _INFINITY)
                values[action] = float(sign * (value + self._gained(state, child)))
            except LimitReachedError:
                return None
        return values

    def _gained(self, state: S, child: S) -> int:
        """Return a move's own contribution, where values count points still to come."""
        if not self.game.values_to_come:
            return 0
        return int(self.game.rules.margin(child)) - int(self.game.rules.margin(state))

    def _value(self, state: S, depth: int, alpha: int, beta: int) -> int:
        """Return the minimax value in player_0's view; outside (alpha, beta) it is a bound."""
        rules = self.game.rules
        if rules.winner(state) >= 0:
            return self._end(state)
        key: Hashable = tuple(self.game.pack(state).tolist()) if self._history is None else self._history.key(state)
        least, most = self._memory.get(key, (-_INFINITY, _INFINITY))
        if least >= beta or least == most:
            return least
        if most <= alpha:
            return most
        self._spend()
        if depth > DEPTH_LIMIT:
            raise LimitReachedError
        low, high = alpha, beta = max(alpha, least), min(beta, most)
        maximise = rules.to_play(state) == 0
        best = -_INFINITY if maximise else _INFINITY
        for k in range(rules.count(state)):
            child = rules.step(state, rules.nth(state, k))
            gained = self._gained(state, child)
            value = self._value(child, depth + 1, alpha - gained, beta - gained) + gained
            if maximise:
                best = max(best, value)
                alpha = max(alpha, best)
            else:
                best = min(best, value)
                beta = min(beta, best)
            if alpha >= beta:
                break
        if best <= low:
            most = best
        elif best >= high:
            least = best
        else:
            least = most = best
        self._memory[key] = least, most
        return best

    def _spend(self) -> None:
        self._left -= 1 if self._history is None else self._history.cost
        if self._left < 0 or (self._deadline is not None and time.monotonic() > self._deadline):
            raise LimitReachedError


def _margin_at_end(game: Game[Any]) -> Callable[[Any], int]:
    return lambda state: int(game.rules.margin(state))
