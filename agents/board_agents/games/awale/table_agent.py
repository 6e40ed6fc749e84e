"""The agent that plays by exact tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from board_agents.agent import GameAgent
from board_agents.games.awale.tablebase import best_of
from board_agents.games.awale.tablebase_oracle import AwaleOracle
from board_envs._jit import require_numba
from board_envs.game import Game, check_int
from board_envs.games.awale import memory
from board_envs.types import SpecError


class TableAgent(GameAgent):
    """Awalé by tables: where they reach it never gives a seed away, and a winner always makes progress.

    With more seeds on the board than the tables know it searches by alpha-beta, with the tables at the leaves.

    Args:
        game: Awalé, rule set "tamale".
        folder: where the tables are; the default folder if not given. Small ones are made in memory.
        depth: plies that it looks ahead beyond the tables, 1 to 30.

    """

    def __init__(self, game: Game[Any], *, folder: str | None = None, depth: int = 8) -> None:
        if game.name != "awale" or game.parameters["ruleset"] != "tamale":
            raise SpecError(f"there are tables of awale with the ruleset 'tamale', not of {game!r}")
        require_numba("the table agent")
        super().__init__(game)
        self.depth = check_int("table", "depth", depth, 1, 30)
        self.oracle = AwaleOracle(game, folder=folder)

    def choose(self, state: Any) -> int:
        """Return a best action as far as the tables and the search tell."""
        action = self.oracle.best_action(state)
        if action is not None:
            return action
        tables = self.oracle.tables
        moves = tables.moves(state)
        earlier = np.concatenate([memory(state), np.array([tables.rows(state)], np.uint64)])
        if moves is None:
            return tables.search(state, earlier, self.depth)[0]
        # Too much history to be exact: by the tables, a repetition counted as what it is.
        known = {(int(first), int(second)) for first, second in earlier}
        return best_of(
            {
                pit: (0 if (int(move.mine), int(move.other)) in known else move.value, move.depth)
                for pit, move in moves.items()
            }
        )
