"""Exhaustive search with memory: exact values of small boards of every game, by alpha-beta to the end of every line.

It knows nothing but the rules, and is the independent check of the cleverer solvers. What is beyond its budget it
answers with None, never with a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from board_envs._bits import popcount
from board_envs.game import Game, check_int

DEPTH_LIMIT = 400
"""Longest line followed: Python's own recursion ends at 1000 calls."""
_INFINITY = 1 << 30
MEMORY_LIMIT = 2_000_000
"""Positions remembered before the memory is emptied."""


class _TooLargeError(Exception):
    """More positions than the budget, or a line longer than DEPTH_LIMIT."""


class ExhaustiveOracle:
    """Exact action values by search to the end, in the game's unit.

    Reversi: the final difference in discs; Awalé: the difference in seeds still to come; Connect Four: Pons' score,
    (cells + 1 - stones before the winning move) // 2; Nim: +1 or -1.

    A position of Awalé is worth what it is worth in its game: a repetition depends on the configurations that came
    before. The memory is therefore keyed by a position *and* by those earlier configurations that can still come back
    from it.

    Args:
        game: the game.
        budget: new positions looked at in one call of `action_values` (a few seconds' worth; one of Awalé, whose
            history costs time, counts for four); beyond it the answer is None. What was found stays in memory, so that
            asking again goes further.

    Attributes:
        unit: of the values.

    """

    def __init__(self, game: Game[Any], *, budget: int = 150_000) -> None:
        self.game = game
        self.budget = check_int("exhaustive", "budget", budget, 1, 10**9)
        self._memory: dict[Any, tuple[int, int]] = {}
        self._left = 0
        self.unit = "pons" if game.name == "connect-four" else game.unit
        self._end = _ENDINGS.get(game.name, _margin_at_end)(game)
        self._awale = AwaleKeys(game, self._spend) if game.name == "awale" else None

    def action_values(self, state: Any) -> dict[int, float] | None:
        """Return the exact value of each legal action for the mover, {} if the game is over, None beyond the budget."""
        rules = self.game.rules
        if len(self._memory) > MEMORY_LIMIT:
            self._memory.clear()
        self._left = self.budget
        state = self.game.own(state)
        sign = 1 if rules.to_play(state) == 0 else -1
        values = {}
        for k in range(rules.count(state)):
            action = int(rules.nth(state, k))
            child = rules.step(state, action)
            try:
                value = self._value(child, 1, -_INFINITY, _INFINITY)
                values[action] = float(sign * (value + self._gained(state, child)))
            except _TooLargeError:
                return None
        return values

    def _gained(self, state: Any, child: Any) -> int:
        """Return what a move itself adds to the value: Awalé counts what is still to come."""
        if not self.game.values_to_come:
            return 0
        return int(self.game.rules.margin(child)) - int(self.game.rules.margin(state))

    def _value(self, state: Any, depth: int, alpha: int, beta: int) -> int:
        """Return the result of best play from here in player_0's view; outside (alpha, beta) a bound of it."""
        rules = self.game.rules
        if rules.winner(state) >= 0:
            return self._end(state)
        key = tuple(self.game.pack(state).tolist()) if self._awale is None else self._awale.key(state)
        least, most = self._memory.get(key, (-_INFINITY, _INFINITY))
        if least >= beta or least == most:
            return least
        if most <= alpha:
            return most
        self._spend()
        if depth > DEPTH_LIMIT:
            raise _TooLargeError
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
        self._left -= 1 if self._awale is None else 4
        if self._left < 0:
            raise _TooLargeError


class AwaleKeys:
    """What the value of an Awalé position depends on: the board, and the earlier configurations it can come back to.

    Moves without harvest make a graph of configurations; an earlier configuration can come back exactly if it lies in
    the same strongly connected component as the present one. Components are found by Tarjan's algorithm.

    Args:
        game: Awalé.
        spend: called for each configuration looked at.

    """

    def __init__(self, game: Game[Any], spend: Callable[[], None]) -> None:
        self._game, self._spend = game, spend
        # OpenSpiel's rules tell movers apart and end a game by its stores.
        self._abapa = game.parameters["ruleset"] == "abapa"
        self._component: dict[tuple[int, int], int] = {}

    def key(self, state: Any) -> tuple[Any, ...]:
        """Return a hashable key."""
        configuration = self._configuration(state)
        if configuration not in self._component:
            self._find_components(state)
        component = self._component[configuration]
        earlier = map(tuple, state.history[state.start : state.length].tolist())
        relevant = frozenset(entry for entry in earlier if self._component.get(entry) == component)
        stores = (state.store0, state.store1) if self._abapa else ()
        return (*configuration, state.seat, *stores, relevant)

    def _configuration(self, state: Any) -> tuple[int, int]:
        mine, other = (state.row0, state.row1) if state.seat == 0 else (state.row1, state.row0)
        return int(mine) | (state.seat << 7 if self._abapa else 0), int(other)

    def _successors(self, state: Any) -> list[Any]:
        """Return the unfinished states one move without harvest away, none of them with a memory of others."""
        rules = self._game.rules
        start = state._replace(start=0, length=0)
        after = [rules.step(start, rules.nth(start, k)) for k in range(rules.count(start))]
        return [child for child in after if child.winner < 0 and child.length > child.start]

    def _find_components(self, root: Any) -> None:
        root = self._game.own(root)
        index: dict[tuple[int, int], int] = {}
        low: dict[tuple[int, int], int] = {}
        path: list[tuple[int, int]] = []
        on_path: set[tuple[int, int]] = set()
        work: list[tuple[tuple[int, int], list[Any]]] = []

        def enter(state: Any) -> None:
            self._spend()
            name = self._configuration(state)
            index[name] = low[name] = len(index)
            path.append(name)
            on_path.add(name)
            work.append((name, self._successors(state)))

        enter(root)
        while work:
            name, children = work[-1]
            if children:
                child = children.pop()
                other = self._configuration(child)
                if other in on_path:
                    low[name] = min(low[name], index[other])
                elif other not in self._component:
                    enter(child)
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == index[name]:
                number = len(self._component)
                while True:
                    member = path.pop()
                    on_path.discard(member)
                    self._component[member] = number
                    if member == name:
                        break


def _margin_at_end(game: Game[Any]) -> Callable[[Any], int]:
    return lambda state: int(game.rules.margin(state))


def _nothing_to_come(game: Game[Any]) -> Callable[[Any], int]:
    return lambda state: 0


def _pons_score(game: Game[Any]) -> Callable[[Any], int]:
    """Connect Four: the faster the win, the higher; every stone later costs half a point."""
    cells = game.parameters["rows"] * game.parameters["columns"]

    def score(state: Any) -> int:
        stones_before = popcount(state.player_0) + popcount(state.player_1) - 1
        return int(game.rules.margin(state)) * ((cells + 1 - stones_before) // 2)

    return score


_ENDINGS: dict[str, Callable[[Game[Any]], Callable[[Any], int]]] = {
    "connect-four": _pons_score,
    "awale": _nothing_to_come,
}
"""Game -> what a finished state is worth in player_0's view; the margin where nothing is said."""
