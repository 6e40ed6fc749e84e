"""What plays and judges by exact values: the oracle and the perfect agent."""

from __future__ import annotations

from typing import Any

from board_agents.agent import GameAgent
from board_agents.games.connect_four.solver import default_solver
from board_agents.search.minimax import Ties
from board_envs.game import Game
from board_envs.types import SpecError


class ConnectFourOracle:
    """Exact values of every move, in Pons' scores (see `solver`), from the mover's view.

    Args:
        game: Connect Four of any size.
        seconds: time for one question; what it does not allow is answered by None. None: no limit. The standard board
            needs a few seconds at most; some larger sizes are out of reach.
        table_megabytes: memory of the solver.
        book: a file of known scores (``board-envs tables build connect-four-book``) instead of the one that comes with
            this package.

    """

    unit = "pons"

    def __init__(
        self,
        game: Game[Any],
        *,
        seconds: float | None = 60.0,
        table_megabytes: int = 64,
        book: str | None = None,
    ) -> None:
        _check_game(game)
        if seconds is not None and not seconds > 0:
            raise SpecError(f"seconds must be above 0 or none, not {seconds!r}")
        self.game = game
        self.seconds = seconds
        self.solver = default_solver(game, table_megabytes=table_megabytes, book=book)

    def action_values(self, state: Any) -> dict[int, float] | None:
        """Return each legal action's score, {} if the game is over, None beyond the time."""
        if self._is_over(state):
            return {}
        values = self.solver.action_values(state, time_limit=self.seconds)
        return None if values is None else {action: float(value) for action, value in values.items()}

    def line(self, state: Any) -> list[int] | None:
        """Return best play from here to the end, [] if the game is over, None beyond the time."""
        return [] if self._is_over(state) else self.solver.line(state, time_limit=self.seconds)

    def _is_over(self, state: Any) -> bool:
        """Whether the game is over; the solver checks positions that are asked about, this those that are not."""
        if not self.game.is_terminal(state):
            return False
        self.game.check_state(state)
        return True


class PerfectConnectFourAgent(GameAgent):
    """Plays the fastest win, or a draw, or the slowest loss, whatever time that takes.

    Args:
        game: Connect Four of any size.
        ties: among equal moves the "first" from the middle outwards (of two the left one), which also takes the least
            time, or one at "random".
        table_megabytes: memory of the solver.
        book: as for the oracle.

    """

    def __init__(
        self, game: Game[Any], *, ties: Ties = "first", table_megabytes: int = 64, book: str | None = None
    ) -> None:
        super().__init__(game)
        _check_game(game)
        if ties not in ("first", "random"):
            raise SpecError(f"ties must be 'first' or 'random', not {ties!r}")
        self.ties = ties
        self.solver = default_solver(game, table_megabytes=table_megabytes, book=book)
        self.solver.prepare()

    def choose(self, state: Any) -> int:
        """Return a move of the best exact score."""
        middle = (self.game.parameters["columns"] - 1) / 2
        order = sorted(self.game.legal_actions(state), key=lambda column: abs(column - middle))
        if self.ties == "random":
            for last in range(len(order) - 1, 0, -1):
                other = self.stream.below(last + 1)
                order[last], order[other] = order[other], order[last]
        move = self.solver.best_move(state, order=order)
        assert move is not None, "there was no limit"
        return move


def _check_game(game: Game[Any]) -> None:
    if game.name != "connect-four":
        raise SpecError(f"this solver plays connect-four, not {game!r}")
