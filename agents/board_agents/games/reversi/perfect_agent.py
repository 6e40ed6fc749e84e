"""``perfect`` in Reversi: the endgame solver, and before it the strongest level."""

from __future__ import annotations

from typing import Any

from board_agents.games.reversi.endgame_oracle import LEARNED_SIZE, ReversiOracle
from board_agents.games.reversi.level_agent import LEVELS, ReversiAgent
from board_agents.search.perfect import PerfectAgent
from board_envs._jit import have_numba
from board_envs.games.reversi import State
from board_envs.types import Oracle


class PerfectReversiAgent(PerfectAgent[State]):
    """Exact play with up to 18 empty squares (22 with the strongest level's own solver on 8 x 8), else that level.

    On other sizes alpha-beta stands for the levels, and without numba exhaustive search for the solver.

    Args:
        game: Reversi of any size.
        ties: see `PerfectAgent`.
        nodes: see `PerfectAgent`; None is no limit, since the number of empty squares is one.
        seconds: most time of a search; see `PerfectAgent`.

    """

    def make_oracle(self) -> Oracle[State]:
        """Return the endgame solver."""
        if not have_numba():
            return super().make_oracle()
        return ReversiOracle(self.game, nodes=self.nodes, seconds=self.seconds)

    def make_estimator(self) -> Any:
        """Return the strongest level where there are levels."""
        if not have_numba() or self.game.parameters["size"] != LEARNED_SIZE:
            return super().make_estimator()
        return ReversiAgent(self.game, level=len(LEVELS), seconds=self.seconds)
