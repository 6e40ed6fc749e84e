"""The agent that plays by exact tables."""

from __future__ import annotations

import numpy as np

from board_agents.agent import GameAgent
from board_agents.games.awale.tablebase import best_of
from board_agents.games.awale.tablebase_oracle import AwaleOracle
from board_agents.search.interpreted import SearchResult
from board_envs._jit import require_numba
from board_envs.game import Game, check_int
from board_envs.games.awale import State, memory
from board_envs.types import SpecError


class TableAgent(GameAgent[State]):
    """Awalé by tables: where they reach it never gives a seed away, and a winner always makes progress.

    With more seeds on the board than the tables know it searches by alpha-beta, with the tables at the leaves.

    Args:
        game: Awalé, rule set "tamale".
        folder: where the tables are; the default folder if not given. Small ones are made in memory.
        depth: plies that it looks ahead beyond the tables, 1 to 30.

    """

    def __init__(self, game: Game[State], *, folder: str | None = None, depth: int = 8) -> None:
        if game.name != "awale" or game.parameters["ruleset"] != "tamale":
            raise SpecError(f"there are tables of awale with the ruleset 'tamale', not of {game!r}")
        require_numba("the table agent")
        super().__init__(game)
        self.depth = check_int("table", "depth", depth, 1, 30)
        self.oracle = AwaleOracle(game, folder=folder)

    def choose(self, state: State) -> int:
        """Return a best action by the tablebase and the search."""
        action = self.oracle.best_action(state)
        return self._estimate(state)[0] if action is None else action

    def analyse(self, state: State) -> SearchResult:
        """Return the best action and its value, seeds still to come for the mover; of all actions where all are exact.

        Raises:
            IllegalActionError: the game is over.
            PositionError: no position of this game and size.

        """
        self.check(state)
        seat = self.game.current_player(state)
        moves = self.oracle.exact_moves(state)
        if moves is None:
            action, value = self._estimate(state)
            return SearchResult(action, value, {action: value}, (action,), 0, self.depth, seat)
        values = {pit: float(value) for pit, (value, _) in moves.items()}
        line = tuple(self.oracle.line(state))
        return SearchResult(line[0], values[line[0]], values, line, 0, 0, seat, exact=True)

    def _estimate(self, state: State) -> tuple[int, float]:
        """Return an action and its value where the oracle has no answer."""
        tables = self.oracle.tables
        moves = tables.moves(state)
        earlier = np.concatenate([memory(state), np.array([tables.rows(state)], np.uint64)])
        if moves is None:
            return tables.search(state, earlier, self.depth)
        # Too much history to be exact: by the tables, a repetition counted as what it is.
        known = {(int(first), int(second)) for first, second in earlier}
        values = {
            pit: (0 if (int(move.mine), int(move.other)) in known else move.value, move.depth)
            for pit, move in moves.items()
        }
        action = best_of(values)
        return action, values[action][0]
