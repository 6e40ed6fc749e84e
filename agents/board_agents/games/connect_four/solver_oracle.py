"""The oracle and the perfect agent, by exact values."""

from __future__ import annotations

from collections.abc import Mapping

from board_agents.games.connect_four.opening_book import Book
from board_agents.games.connect_four.solver import ConnectFourSolver, default_solver
from board_agents.oracle import Limits, renamed
from board_agents.search.exhaustive import ExhaustiveOracle
from board_agents.search.minimax import Ties
from board_agents.search.perfect import PerfectAgent
from board_envs._jit import have_numba
from board_envs.game import Game
from board_envs.games.connect_four import State
from board_envs.types import MissingExtraError, Oracle, SpecError

SOLVED = (6, 7)
"""Rows and columns up to which every position is solved without limit: seconds at most, with the book."""
NODES = 10_000_000
"""Default positions searched per query on larger boards: about a second."""

INTERPRETED = 30_000
"""Positions that exhaustive search visits per query without numba: about a second."""


class ConnectFourOracle:
    """Exact values of every move, in Pons' scores (see `solver`), from the mover's view.

    Without numba it uses its book, and exhaustive search within a budget.

    Args:
        game: Connect Four of any size.
        nodes: positions searched per query; beyond them the result is None. None: no limit up to
            6 x 7, ten million on larger boards.
        seconds: time per query; None for no limit.
        megabytes: size of the solver's transposition table.
        book: a file of known scores (``board-envs tables build connect-four-book``) instead of the one shipped with
            this package.
        table_megabytes: the old name of `megabytes`.

    Attributes:
        solver: None without numba.
        missing: the missing part, and how to install it; None if nothing is missing.

    """

    unit = "pons"

    def __init__(
        self,
        game: Game[State],
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        megabytes: int = 64,
        book: str | None = None,
        table_megabytes: int | None = None,
    ) -> None:
        if game.name != "connect-four":
            raise SpecError(f"this solver plays connect-four, not {game!r}")
        renamed("connect-four-solver", {"table_megabytes": table_megabytes}, "megabytes")
        if nodes is None and (game.parameters["rows"] > SOLVED[0] or game.parameters["columns"] > SOLVED[1]):
            nodes = NODES
        self.game = game
        self.limits = Limits(nodes, seconds)
        self.solver: ConnectFourSolver | None = None
        self.missing: str | None = None
        if have_numba():
            size = megabytes if table_megabytes is None else table_megabytes
            self.solver = default_solver(game, megabytes=size, book=book)
            return
        self.missing = str(MissingExtraError("the Connect Four solver", "fast"))
        self._book = Book.of(game, book)
        self._search = ExhaustiveOracle(game, budget=INTERPRETED)

    @property
    def seconds(self) -> float | None:
        """Time per query."""
        return self.limits.seconds

    def action_values(self, state: State) -> dict[int, float] | None:
        """Return each legal action's score, {} if the game is over, None beyond the limits."""
        if self._is_over(state):
            return {}
        if self.solver is None:
            self.game.check_state(state)
            values = None if self._book is None else self._book.action_values(self.game, state)
            if values is None:
                return self._search.action_values(state)
        else:
            values = self.solver.action_values(state, limits=self.limits)
        return None if values is None else {action: float(value) for action, value in values.items()}

    def value(self, state: State) -> float | None:
        """Return the score of an unfinished position for the seat to move, None beyond the limits."""
        if self.solver is not None:
            score = self.solver.score(state, limits=self.limits)
            return None if score is None else float(score)
        score = None if self._book is None else self._book.get(state)
        if score is not None:
            return float(score)
        values = self._search.action_values(state)
        return max(values.values()) if values else None

    def line(self, state: State) -> list[int] | None:
        """Return the principal variation to the end, [] if the game is over, None beyond the limits.

        Without numba it may end early.
        """
        if self.solver is not None:
            return [] if self._is_over(state) else self.solver.line(state, limits=self.limits)
        actions: list[int] = []
        while values := self.action_values(state):
            best = max(values.values())
            actions.append(min(action for action, value in values.items() if value == best))
            state = self.game.step(state, actions[-1])
        return actions

    def _is_over(self, state: State) -> bool:
        """Whether the game is over; checks positions that do not reach the solver."""
        if isinstance(state, State) and not self.game.is_terminal(state):
            return False
        self.game.check_state(state)
        return True


class PerfectConnectFourAgent(PerfectAgent[State]):
    """Plays the fastest win, or a draw, or the slowest loss; beyond its limits, alpha-beta's move.

    Args:
        game: Connect Four of any size.
        ties: among equal moves the "first" from the centre outwards (left before right), which is also
            fastest, or a "random" one.
        nodes: positions that the solver may search per move. None: no limit up to 6 x 7, ten million on larger
            boards.
        seconds: time of the solver per move, and again of alpha-beta; None for no limit.
        megabytes: size of the solver's transposition table.
        book: as for the oracle.
        table_megabytes: the old name of `megabytes`.

    """

    oracle: ConnectFourOracle

    def __init__(
        self,
        game: Game[State],
        *,
        ties: Ties = "first",
        nodes: int | None = None,
        seconds: float | None = None,
        megabytes: int = 64,
        book: str | None = None,
        table_megabytes: int | None = None,
    ) -> None:
        renamed("perfect", {"table_megabytes": table_megabytes}, "megabytes")
        self._megabytes = megabytes if table_megabytes is None else table_megabytes
        self._book = book
        super().__init__(game, ties=ties, nodes=nodes, seconds=seconds)
        if self.oracle.solver is not None:
            self.oracle.solver.prepare()

    def make_oracle(self) -> Oracle[State]:
        """Return the solver's oracle."""
        return ConnectFourOracle(
            self.game, nodes=self.nodes, seconds=self.seconds, megabytes=self._megabytes, book=self._book
        )

    @property
    def solver(self) -> ConnectFourSolver | None:
        """The solver; None without numba."""
        return self.oracle.solver

    def choose(self, state: State) -> int:
        """Return a move with the best exact score; beyond the limits alpha-beta's move."""
        self.check_unfinished(state)
        solver = self.oracle.solver
        if solver is None:
            return super().choose(state)
        order = self.order(self.game.legal_actions(state))
        with solver.afresh(self.oracle.limits):
            move = solver.best_move(state, limits=self.oracle.limits, order=order)
        return int(self.estimator.choose(state)) if move is None else move

    def exact_values(self, state: State) -> dict[int, float] | None:
        """Return each move's score, None beyond the limits."""
        solver = self.oracle.solver
        if solver is None:
            return super().exact_values(state)
        with solver.afresh(self.oracle.limits):
            return self.oracle.action_values(state)

    def pick(self, state: State, values: Mapping[int, float]) -> int:
        """Return the first best move in the order of `choose`."""
        best = max(values.values())
        return next(action for action in self.order(sorted(values)) if values[action] == best)

    def order(self, legal: list[int]) -> list[int]:
        """Return moves in order of preference among equals; a random order draws from the stream."""
        middle = (self.game.parameters["columns"] - 1) / 2
        order = sorted(legal, key=lambda column: abs(column - middle))
        if self.ties == "random":
            for last in range(len(order) - 1, 0, -1):
                other = self.stream.below(last + 1)
                order[last], order[other] = order[other], order[last]
        return order
