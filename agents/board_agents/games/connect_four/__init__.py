"""Exact Connect Four: solver, opening book, oracle and agents."""

from board_agents.games.connect_four.book_building import build_book
from board_agents.games.connect_four.opening_book import Book, BookError
from board_agents.games.connect_four.solver import ConnectFourSolver, default_solver, plies_to_end, score_of_plies
from board_agents.games.connect_four.solver_oracle import ConnectFourOracle, PerfectConnectFourAgent
from board_agents.support import Support, Unit

SUPPORT = Support(
    oracles={"connect-four-solver": "board_agents.games.connect_four.solver_oracle:ConnectFourOracle"},
    agents={
        "perfect": "board_agents.games.connect_four.solver_oracle:PerfectConnectFourAgent",
        "kaggle": "board_agents.games.connect_four.kaggle_agent:KaggleAgent",
    },
    evaluations={"grid": "board_agents.games.connect_four.grid_evaluation:grid"},
    weights="board_agents.games.connect_four.grid_evaluation:weighted",
    win_value="board_agents.games.connect_four.grid_evaluation:grid_win_value",
    final_value="board_agents.games.connect_four.exact_values:pons_score",
    unit=Unit(
        "pons", "pons", won="wins in {plies} plies", lost="loses in {plies} plies", equal="draws in {plies} plies"
    ),
    plies="board_agents.games.connect_four.exact_values:pons_plies",
    tables={"connect-four-book": "board_agents.games.connect_four.book_builder:ConnectFourBookBuilder"},
    outside={"open-spiel": "board_agents.games.connect_four.open_spiel_form:open_spiel_form"},
)

__all__ = [
    "SUPPORT",
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
