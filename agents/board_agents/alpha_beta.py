"""Alpha-beta: the value of minimax from a part of its tree."""

from __future__ import annotations

import math
import time
from typing import Any

from board_agents.evaluations import Evaluation
from board_agents.minimax import SearchAgent, Ties
from board_agents.search import OutOfTimeError, SearchResult
from board_envs.game import Game


class AlphaBetaAgent(SearchAgent):
    """Minimax with alpha-beta cuts; with `seconds`, deeper and deeper until the time is over.

    Args:
        game: the game.
        depth: plies looked ahead (the most, if `seconds` is given).
        evaluation: see `SearchAgent`.
        ties: see `SearchAgent`.
        seconds: time a move; None searches `depth` plies however long it takes. The first ply is always finished.

    """

    def __init__(
        self,
        game: Game[Any],
        *,
        depth: int = 4,
        evaluation: str | Evaluation = "default",
        ties: Ties = "first",
        seconds: float | None = None,
    ) -> None:
        super().__init__(game, depth=depth, evaluation=evaluation, ties=ties)
        if seconds is not None and not (isinstance(seconds, (int, float)) and 0 < seconds < math.inf):
            raise ValueError(f"seconds is a time above 0, not {seconds!r}")
        self.seconds = seconds

    def analyse(self, state: Any) -> SearchResult:
        """Search to the depth, or as deep as the time allows; what an unfinished depth found is not used."""
        seat, owned = self.game.current_player(state), self.game.own(state)
        all_ties = self.ties == "random"
        if self.seconds is None:
            search = self.new_search()
            exact = search.root_alpha_beta(owned, self.depth, all_ties)
            return self.finish(exact, seat, search.nodes, self.depth)
        deadline = time.monotonic() + self.seconds
        search, reached = self.new_search(), 1
        exact = search.root_alpha_beta(owned, 1, all_ties)
        search.deadline = deadline
        for depth in range(2, self.depth + 1):
            try:
                exact = search.root_alpha_beta(self.game.own(state), depth, all_ties)
            except OutOfTimeError:
                break
            reached = depth
        return self.finish(exact, seat, search.nodes, reached)
