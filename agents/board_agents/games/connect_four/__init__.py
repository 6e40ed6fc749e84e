"""Connect Four solved exactly: the solver, its opening book and what plays by them."""

from board_agents.games.connect_four.opening_book import Book, BookError, build_book
from board_agents.games.connect_four.solver import ConnectFourSolver, default_solver, plies_to_end, score_of_plies
from board_agents.games.connect_four.solver_oracle import ConnectFourOracle, PerfectConnectFourAgent

__all__ = [
    "Book",
    "BookError",
    "ConnectFourOracle",
    "ConnectFourSolver",
    "PerfectConnectFourAgent",
    "build_book",
    "default_solver",
    "plies_to_end",
    "score_of_plies",
]
