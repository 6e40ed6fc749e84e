"""The oracle of Awalé: exact values of moves from tables, a game's earlier configurations taken into account."""

from __future__ import annotations

import functools
from math import comb
from typing import Any

import numpy as np

from board_agents.games.awale.table_files import folder_of
from board_agents.games.awale.tablebase import TOTAL_LIMIT, Move, Tables, best_of, existing_levels
from board_agents.oracle import LimitReachedError
from board_agents.search.exhaustive import ExhaustiveOracle
from board_envs._jit import have_numba
from board_envs.game import Game, check_int
from board_envs.games.awale import State, memory
from board_envs.types import MissingExtraError, PositionError, Word

MEMORY_CONFIGURATIONS = 11_000_000
"""Maximum configurations of a tablebase built in memory if none is on disk: a second or two, once per process."""
LINE_LIMIT = 1000
"""Plies of a line."""
_LONGEST = 350
"""Configurations of one line that are followed: Python's own recursion ends at 1000 calls, two of them a ply."""


def levels_in_memory(pits: int, total: int) -> int:
    """Return the last level, at most `total`, up to which tables are made in memory."""
    level = 0
    while level < min(total, TOTAL_LIMIT) and comb(level + 1 + 2 * pits, 2 * pits) <= MEMORY_CONFIGURATIONS:
        level += 1
    return level


@functools.lru_cache(maxsize=4)
def _solved(pits: int, total: int) -> Tables:
    return Tables.solve(pits, total)


@functools.lru_cache(maxsize=4)
def _opened(pits: int, folder: str, levels: int, stamp: float) -> Tables:
    return Tables.open(pits, folder, total=levels - 1)


def find_tables(pits: int, seeds: int, folder: str | None = None) -> Tables:
    """Return the tables for a game of `seeds` seeds: those on disk, or in memory if that reaches further.

    Raises TableError for a damaged file on disk.
    """
    paths = existing_levels(pits, folder)
    small = levels_in_memory(pits, seeds)
    if len(paths) - 1 >= min(small, seeds):
        return _opened(pits, str(folder_of(pits, folder).parent), len(paths), paths[-1].stat().st_mtime)
    return _solved(pits, small)


class AwaleOracle:
    """Exact action values: seeds still to come for the mover, minus those for the other.

    From tables (see ``board-envs tables build``), in the rule set "tamale". What the tables do not reach is answered
    with None; the rule set "abapa", and everything where numba is not installed, by exhaustive search within its
    budget.

    A repetition counts in the game that is played. Where an earlier configuration could still come back against the
    winner, the lines to it are searched within a budget; None if that is not enough.

    Args:
        game: Awalé.
        folder: where the tables are; the default folder if not given.
        budget: positions looked at in one call, because of earlier configurations.

    Attributes:
        unit: of the values.
        missing: what would know more, and how to install it; None if nothing is missing.

    """

    unit = "seeds"

    def __init__(self, game: Game[State], *, folder: str | None = None, budget: int = 20_000) -> None:
        if game.name != "awale":
            raise ValueError(f"these are tables of awale, not of {game.name}")
        self.game = game
        self.budget = check_int("awale tables", "budget", budget, 1, 10**9)
        self._tables: Tables | None = None
        self._folder = folder
        parameters = game.parameters
        self.pits, self._seeds = int(parameters["pits"]), 2 * int(parameters["pits"]) * int(parameters["seeds"])
        self._search = None
        self.missing: str | None = None
        if parameters["ruleset"] != "tamale" or not have_numba():
            self._search = ExhaustiveOracle(game)
            if parameters["ruleset"] == "tamale":
                self.missing = str(MissingExtraError("Awalé's tables", "fast"))
        self._reach = max(levels_in_memory(self.pits, self._seeds), len(existing_levels(self.pits, folder)) - 1)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the tables out of copies and pickles: they are found again, in one process without being read again."""
        return {**self.__dict__, "_tables": None}

    @property
    def tables(self) -> Tables:
        """The tables, found or made when first asked for."""
        if self._tables is None:
            self._tables = find_tables(self.pits, self._seeds, self._folder)
        return self._tables

    @property
    def has_tables(self) -> bool:
        """Whether answers come from tables; else by exhaustive search."""
        return self._search is None

    def action_values(self, state: State) -> dict[int, float] | None:
        """Return each legal action's value for the mover, {} if the game is over, None if out of reach."""
        if self._search is not None:
            return self._search.action_values(state)
        moves = self.exact_moves(state)
        return None if moves is None else {pit: float(value) for pit, (value, _) in moves.items()}

    def fresh_values(self, state: State) -> dict[int, float] | None:
        """Return what `action_values` returns if nothing was asked before."""
        return self.action_values(state) if self._search is None else self._search.fresh_values(state)

    def exact_moves(self, state: State) -> dict[int, tuple[int, int]] | None:
        """Return (value, progress depth after it or -1 for a harvest) of each legal action; None if out of reach."""
        self._check(state)
        if state.winner >= 0:
            return {}
        # No move harvests more than three seeds a pit: far above the tables they need not even be made.
        if self._seeds - state.store0 - state.store1 - 3 * self.pits > self._reach:
            return None
        moves = self.tables.moves(state)
        if moves is None:
            return None
        mine, other = self.tables.rows(state)
        earlier = {(int(first), int(second)) for first, second in memory(state)} | {(int(mine), int(other))}
        left = [self.budget]
        # How far on its way a winner was, at most: see _value.
        far = max(self._strength(np.uint64(first), np.uint64(second)) for first, second in earlier)
        try:
            return {
                pit: (self._value(move, earlier, far, -1000, 1000, left), move.depth) for pit, move in moves.items()
            }
        except LimitReachedError:
            return None

    def _check(self, state: State) -> None:
        """Raise PositionError for what is no state of this size (a full check would cost more)."""
        if isinstance(state, State):
            rows = int(state.row0).to_bytes(8, "little"), int(state.row1).to_bytes(8, "little")
            total = sum(map(sum, rows)) + state.store0 + state.store1
            if total == self._seeds and not any(rows[0][self.pits :]) and not any(rows[1][self.pits :]):
                return
        raise PositionError(f"no state of {self.game!r}: {state!r}")

    def best_action(self, state: State) -> int | None:
        """Return a best action (a winner makes progress); None if out of reach or the game is over."""
        if self._search is not None:
            values = self._search.action_values(state)
            return max(values, key=lambda pit: (values[pit], -pit)) if values else None
        moves = self.exact_moves(state)
        return best_of(moves) if moves else None

    def line(self, state: State) -> list[int]:
        """Return best play of both sides, to the end or as far as the tables know it."""
        actions: list[int] = []
        while len(actions) < LINE_LIMIT:
            action = self.best_action(state)
            if action is None:
                break
            actions.append(action)
            state = self.game.step(state, action)
        return actions

    def _strength(self, mine: Word, other: Word) -> tuple[int, int]:
        """Return how much the winner of a configuration wins, and how near progress is.

        A winner who plays by the tables raises it with every ply, whatever the loser answers.
        """
        score = self.tables.score_of_rows(mine, other)
        return abs(score), -self.tables.depth_of_rows(mine, other)

    def _value(
        self, move: Move, earlier: set[tuple[int, int]], far: tuple[int, int], alpha: int, beta: int, left: list[int]
    ) -> int:
        """Return the exact value of a move for who plays it, in a game that has seen `earlier`.

        `far` is the greatest strength among them, `left` how many positions may still be looked at. Earlier
        configurations that are not stronger than what a move leads to cannot come back if the winner plays by the
        tables, and the loser can wish for nothing else: the value is that of the tables. A value of 0 stays 0, since a
        mat is worth 0.
        """
        if move.depth < 0 or move.value == 0:
            return move.value
        here = (int(move.mine), int(move.other))
        if here in earlier:
            return 0
        if (abs(move.value), -move.depth) >= far:
            return move.value
        return -self._score(move, here, earlier, far, -beta, -alpha, left)

    def _score(
        self,
        move: Move,
        here: tuple[int, int],
        earlier: set[tuple[int, int]],
        far: tuple[int, int],
        alpha: int,
        beta: int,
        left: list[int],
    ) -> int:
        """Return the exact score of what a move leads to; outside (alpha, beta) a bound of it."""
        left[0] -= 1
        if left[0] < 0 or len(earlier) > _LONGEST:
            raise LimitReachedError
        moves = self.tables.moves_of_rows(move.mine, move.other)
        assert moves is not None
        seen = earlier | {here}
        far = max(far, (abs(move.value), -move.depth))
        top = -move.value
        best = -1000
        # The winner's good moves first; the loser's chance is a mat.
        ordered = sorted(moves.values(), key=lambda child: (-child.value, child.depth if top > 0 else -child.depth))
        for child in ordered:
            best = max(best, self._value(child, seen, far, max(alpha, best), beta, left))
            # History cannot help the winner to more than the tables promise.
            if best >= beta or (top > 0 and best >= top):
                break
        return best
