"""Alpha-beta: the value of minimax, with a pruned tree."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from board_agents.oracle import LimitReachedError, check_seconds
from board_agents.search.evaluations import Evaluation, Weights
from board_agents.search.interpreted import DEPTH_LIMIT, SearchResult
from board_agents.search.minimax import SearchAgent, Ties
from board_envs.game import Game
from board_envs.types import S

if TYPE_CHECKING:
    from board_envs.envs.kernels import Policy


class AlphaBetaAgent(SearchAgent[S]):
    """Minimax with alpha-beta pruning; with `seconds`, iterative deepening until the time is over.

    Args:
        game: the game.
        depth: search depth in plies; with `seconds` the maximum depth. None: 4, or with `seconds` no limit.
        evaluation: see `SearchAgent`.
        ties: see `SearchAgent`.
        seconds: time per move; None searches `depth` plies without time limit. Depth 1 is always completed.
        compiled: see `SearchAgent`; with `seconds`, None is compiled where numba is installed.

    """

    def __init__(
        self,
        game: Game[S],
        *,
        depth: int | None = None,
        evaluation: str | Evaluation | Weights = "default",
        ties: Ties = "first",
        seconds: float | None = None,
        compiled: bool | None = None,
    ) -> None:
        self.seconds = None if seconds is None else check_seconds("alpha-beta", seconds)
        if depth is None:
            depth = 4 if seconds is None else DEPTH_LIMIT
        super().__init__(game, depth=depth, evaluation=evaluation, ties=ties, compiled=compiled)

    @property
    def _is_heavy(self) -> bool:
        return self.seconds is not None or super()._is_heavy

    def compiled_policy(self) -> Policy | None:
        """Return the same choice as a function for compiled code; None for deep and for timed searches."""
        return super().compiled_policy() if self.seconds is None else None

    def _compiled(self, state: S, with_line: bool) -> SearchResult:
        """Search to the depth, or as deep as time allows; an incomplete depth is discarded."""
        return self.search_compiled(state, prune=True, seconds=self.seconds, with_line=with_line)

    def _interpreted(self, state: S) -> SearchResult:
        seat, owned = self.game.current_player(state), self.game.own(state)
        all_ties = self.ties == "random"
        search = self.new_search()
        if self.seconds is None:
            exact = search.root_alpha_beta(owned, self.depth, all_ties)
            return self.finish(exact, seat, search.nodes, self.depth)
        deadline = time.monotonic() + self.seconds
        exact, reached = search.root_alpha_beta(owned, 1, all_ties), 1
        search.deadline = deadline
        while reached < self.depth and search.saw_horizon:
            search.saw_horizon = False
            try:
                exact = search.root_alpha_beta(self.game.own(state), reached + 1, all_ties)
            except LimitReachedError:
                break
            reached += 1
        return self.finish(exact, seat, search.nodes, reached)
