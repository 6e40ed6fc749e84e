"""``perfect``: exact play where the game's oracle has an answer, the best estimate elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from board_agents.agent import GameAgent
from board_agents.oracle import MOST_NODES, HasFreshValues, HasLine, check_seconds
from board_agents.search.alpha_beta import AlphaBetaAgent
from board_agents.search.exhaustive import ExhaustiveOracle
from board_agents.search.interpreted import SearchResult
from board_agents.search.minimax import Ties, check_ties
from board_agents.support import load, support_of
from board_envs.game import Game, check_int
from board_envs.types import MissingExtraError, Oracle, S

NODES = 30_000
"""Default budget of exhaustive search for one move, in positions: about a second."""
DEPTH = 6
"""Depth of alpha-beta in plies where no exact value is known and the game has no better player."""


class PerfectAgent(GameAgent[S]):
    """Plays a move with the best exact value where the oracle knows it, else the best move of a search.

    `analyse(state).exact` is True for the former. Some games have their own version of this agent; this one asks
    the game's oracle, or searches exhaustively within a budget, then falls back on alpha-beta.

    Args:
        game: the game.
        ties: "first" or "random" move among those of equal exact value.
        nodes: position budget of a search for an exact value; None: a default by game and size, so that the same
            seed gives the same games on every machine.
        seconds: time limit of a search; the choice then depends on the machine. None: no limit.

    Attributes:
        oracle: the oracle, asked first.
        estimator: the agent asked where the oracle has no answer: ``analyse(state) -> SearchResult``.

    """

    def __init__(
        self, game: Game[S], *, ties: Ties = "first", nodes: int | None = None, seconds: float | None = None
    ) -> None:
        super().__init__(game)
        self.ties = check_ties(ties)
        self.nodes = None if nodes is None else check_int("perfect", "nodes", nodes, 1, MOST_NODES)
        self.seconds = None if seconds is None else check_seconds("perfect", seconds)
        self.oracle = self.make_oracle()
        self.estimator = self.make_estimator()

    def make_oracle(self) -> Oracle[S]:
        """Return the game's own oracle, else exhaustive search."""
        for reference in support_of(self.game.name).oracles.values():
            try:
                oracle: Oracle[Any] = load(reference)(self.game)
            except MissingExtraError:
                break
            return oracle
        return ExhaustiveOracle(self.game, budget=self.nodes or NODES, seconds=self.seconds)

    def make_estimator(self) -> Any:
        """Return the agent for positions where the oracle has no answer."""
        return AlphaBetaAgent(self.game, depth=DEPTH, seconds=self.seconds)

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game."""
        super().reset(seed)
        # One stream for both, so that copies play alike.
        self.estimator.stream = self.stream

    def choose(self, state: S) -> int:
        """Return a move with the best exact value, else with the best estimate."""
        self.check_unfinished(state)
        values = self.exact_values(state)
        return int(self.estimator.choose(state)) if values is None else self.pick(state, values)

    def exact_values(self, state: S) -> dict[int, float] | None:
        """Return each legal action's exact value for the mover, None if unknown."""
        if isinstance(self.oracle, HasFreshValues):
            # The result must not depend on earlier calls.
            return self.oracle.fresh_values(state)
        return self.oracle.action_values(state)

    def pick(self, state: S, values: Mapping[int, float]) -> int:
        """Return a move with the best value by the rule for ties."""
        equal = self.equal_moves(state, values)
        return equal[self.stream.below(len(equal)) if self.ties == "random" and len(equal) > 1 else 0]

    def equal_moves(self, state: S, values: Mapping[int, float]) -> list[int]:
        """List the best moves among which `ties` chooses."""
        best = max(values.values())
        return sorted(action for action, value in values.items() if value == best)

    def analyse(self, state: S) -> SearchResult:
        """Return every move's value; `exact` states whether they are exact or estimates.

        Raises:
            IllegalActionError: the game is over.
            PositionError: not a position of this game.

        """
        self.check(state)
        values = self.exact_values(state)
        if values is None:
            estimate: SearchResult = self.estimator.analyse(state)
            return estimate
        action, line = self.pick(state, values), self.exact_line(state)
        if not line or line[0] != action:
            line = (action,)
        return SearchResult(action, values[action], values, line, 0, 0, self.game.current_player(state), exact=True)

    def exact_line(self, state: S) -> tuple[int, ...]:
        """Return the principal variation from a position with exact values, as far as the oracle knows it."""
        if not isinstance(self.oracle, HasLine):
            return ()
        return tuple(int(action) for action in self.oracle.line(state) or ())
