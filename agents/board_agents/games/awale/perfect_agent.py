"""``perfect`` in Awalé: tables, and beyond them a search that ends in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from board_agents.games.awale.table_agent import TableAgent
from board_agents.games.awale.tablebase import best_of
from board_agents.games.awale.tablebase_oracle import AwaleOracle
from board_agents.search.perfect import NODES, PerfectAgent
from board_envs.games.awale import State
from board_envs.types import MissingExtraError, Oracle, SpecError


class PerfectAwaleAgent(PerfectAgent[State]):
    """Exact play as far as the tables reach; beyond them alpha-beta of a fixed depth with the tables at its leaves.

    There are tables for the rule set "tamale"; in the other one, and without numba, exhaustive search stands for them
    and plain alpha-beta for the search.

    Args:
        game: Awalé of any size.
        ties: see `PerfectAgent`.
        nodes: positions looked at for an exact value because of a game's history, or by exhaustive search.
        seconds: most time of a plain alpha-beta search; the search that ends in tables takes milliseconds.

    """

    oracle: AwaleOracle

    def make_oracle(self) -> Oracle[State]:
        """Return the tables."""
        return AwaleOracle(self.game, budget=self.nodes or NODES)

    def equal_moves(self, state: State, values: Mapping[int, float]) -> list[int]:
        """List the best moves that make progress: a winner who makes none may repeat a position."""
        equal = super().equal_moves(state, values)
        moves = self.oracle.exact_moves(state) if self.oracle.has_tables else None
        if not moves:
            return equal
        first = best_of(moves)
        return [pit for pit in equal if moves[pit] == moves[first]]

    def make_estimator(self) -> Any:
        """Return the search that ends in tables, where there are tables."""
        try:
            return TableAgent(self.game)
        except (SpecError, MissingExtraError):
            return super().make_estimator()
