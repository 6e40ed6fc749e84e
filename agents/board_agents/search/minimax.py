"""Minimax to a fixed depth, and the greedy agent, which is minimax of depth one.

Sources: the n-ply minimax of the EPITA entrance exam 2024 and `calcule_score` / `choisit_coup` of the Bac NSI 2026
(Amérique du Nord); their win values and evaluations are in the games' SUPPORT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from board_agents.agent import GameAgent
from board_agents.search.compiled_choice import CompiledChoice, choice_for
from board_agents.search.evaluations import (
    Evaluation,
    Weights,
    evaluation_function,
    settled_evaluation,
    win_value,
)
from board_agents.search.interpreted import DEPTH_LIMIT, RootScores, Search, SearchResult, finish
from board_envs._jit import require_numba
from board_envs.game import Game, check_int
from board_envs.types import S

if TYPE_CHECKING:
    from board_envs.envs.kernels import Policy

Ties = Literal["first", "random"]

COMPILED_FROM = 5
"""Depth from which compiling pays for a single search."""
LOADED_FROM = 3
"""Depth from which loading cached compiled code pays for a single search."""


def check_ties(ties: str) -> Ties:
    """Check a rule for ties; raise ValueError, listing both, if unknown."""
    if ties not in ("first", "random"):
        raise ValueError(f"ties must be 'first' or 'random', not {ties!r}")
    return cast(Ties, ties)


class SearchAgent(GameAgent[S]):
    """Base class of agents that search with an evaluation.

    Args:
        game: the game.
        depth: search depth in plies, 1 to 100; a skipped turn does not count.
        evaluation: a name (`evaluations.evaluation_names`), a function of a state in player_0's view, or, in games that
            offer it, an integer matrix: weights of the cells, positive for player_0, negative for player_1. Also
            "module:name" or "file.py:name" of such a function or matrix. Values are clipped below the value of a win.
        ties: "first" or "random" action among those of equal value (and equally fast wins).
        compiled: run compiled (True: needs numba and a named evaluation), interpreted (False), or whichever is faster
            done (None): compiled where numba is installed and either the depth is 5 or more, or compiled code is loaded
            or on disk (see `board-envs warmup`), or interpreted moves have cost more than compiling will. Values and
            choices are the same, `nodes` is not.

    """

    def __init__(
        self,
        game: Game[S],
        *,
        depth: int = 4,
        evaluation: str | Evaluation | Weights = "default",
        ties: Ties = "first",
        compiled: bool | None = None,
    ) -> None:
        super().__init__(game)
        self.depth = check_int(type(self).__name__, "depth", depth, 1, DEPTH_LIMIT)
        self.ties = check_ties(ties)
        self.evaluation = settled_evaluation(game, evaluation)
        if compiled:
            require_numba("compiled search")
            if not self._is_named:
                raise ValueError("compiled search needs a named evaluation; a Python function runs interpreted")
        self.compiled = compiled

    @property
    def evaluate(self) -> Evaluation:
        """The evaluation as a function."""
        return evaluation_function(self.game, self.evaluation)

    @property
    def _is_named(self) -> bool:
        return isinstance(self.evaluation, str) and ":" not in self.evaluation

    @property
    def runs_compiled(self) -> bool:
        """Whether the search runs compiled."""
        if self.compiled is None:
            return self._is_named and self._choice.decide(heavy=self._is_heavy, light=self.depth < LOADED_FROM)
        return self.compiled

    @property
    def _is_heavy(self) -> bool:
        return self.depth >= COMPILED_FROM

    @property
    def _choice(self) -> CompiledChoice:
        from board_agents.search.alpha_beta_kernel import make_search

        return choice_for(make_search(self.game, str(self.evaluation)))

    def choose(self, state: S) -> int:
        """Return the action with the best value."""
        return self.search(state, with_line=False).action

    def analyse(self, state: S) -> SearchResult:
        """Return values and principal variation as well as the action.

        Raises:
            IllegalActionError: the game is over.
            PositionError: not a position of this game and size.

        """
        self.check(state)
        return self.search(state, with_line=True)

    def search(self, state: S, *, with_line: bool) -> SearchResult:
        """Search an unfinished state; without `with_line` the principal variation may be incomplete."""
        self.check_unfinished(state)
        if self.runs_compiled:
            return self._compiled(state, with_line)
        if self.compiled is not None or not self._is_named:
            return self._interpreted(state)
        with self._choice.interpreted():
            return self._interpreted(state)

    def _compiled(self, state: S, with_line: bool) -> SearchResult:
        """Search by compiled code."""
        raise NotImplementedError

    def _interpreted(self, state: S) -> SearchResult:
        """Search by the rules as plain Python."""
        raise NotImplementedError

    def compiled_policy(self) -> Policy | None:
        """Return the same choice as a function for compiled code, None if that is not possible."""
        from board_agents.search.batch_policies import DEPTH_LIMIT as LIMIT
        from board_agents.search.batch_policies import make_policy

        if not isinstance(self.evaluation, str) or not self._is_named or self.depth > LIMIT:
            return None
        return make_policy(self.game, self.evaluation, self.depth, self.ties == "random")

    def new_search(self, deadline: float | None = None) -> Search:
        """Return an interpreted search with this agent's evaluation."""
        return Search(self.game.rules, self.evaluate, win_value(self.game), deadline)

    def search_compiled(self, state: S, *, prune: bool, seconds: float | None, with_line: bool) -> SearchResult:
        """Search compiled, with this agent's evaluation, depth and rule for ties."""
        from board_agents.search.compiled import SearchRequest, search_compiled

        assert isinstance(self.evaluation, str), "checked by runs_compiled"
        all_ties = self.ties == "random"
        request = SearchRequest(
            self.game, self.evaluation, self.depth, prune, seconds, all_ties, with_line, self.finish
        )
        return search_compiled(request, state)

    def finish(self, exact: RootScores, seat: int, nodes: int, depth: int) -> SearchResult:
        """Choose among exact root scores by this agent's rule for ties."""
        pick = self.stream.below if self.ties == "random" else None
        return finish(exact, seat, win_value(self.game), nodes, depth, pick)


class MinimaxAgent(SearchAgent[S]):
    """Plain minimax: the exact value of every action of the root at a fixed depth."""

    def _compiled(self, state: S, with_line: bool) -> SearchResult:
        """Search the full tree of `depth` plies."""
        return self.search_compiled(state, prune=False, seconds=None, with_line=with_line)

    def _interpreted(self, state: S) -> SearchResult:
        search = self.new_search()
        exact = search.root_minimax(self.game.own(state), self.depth)
        return self.finish(exact, self.game.current_player(state), search.nodes, self.depth)


class GreedyAgent(MinimaxAgent[S]):
    """Minimax of depth 1."""

    def __init__(
        self,
        game: Game[S],
        *,
        evaluation: str | Evaluation | Weights = "default",
        ties: Ties = "first",
        compiled: bool | None = None,
    ) -> None:
        super().__init__(game, depth=1, evaluation=evaluation, ties=ties, compiled=compiled)
