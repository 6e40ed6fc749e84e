"""Exact endgames of Reversi."""

from board_agents.games.reversi.endgame_oracle import ReversiOracle, Solution
from board_agents.support import Support, Unit

__all__ = ["SUPPORT", "ReversiOracle", "Solution"]

SUPPORT = Support(
    oracles={"reversi-endgame": "board_agents.games.reversi.endgame_oracle:ReversiOracle"},
    agents={
        "perfect": "board_agents.games.reversi.perfect_agent:PerfectReversiAgent",
        "reversi": "board_agents.games.reversi.level_agent:ReversiAgent",
    },
    estimator="reversi:level=8",
    evaluations={
        "squares": "board_agents.games.reversi.square_evaluation:squares",
        "discs": "board_agents.search.evaluations:margin",
    },
    weights="board_agents.games.reversi.square_evaluation:weighted",
    unit=Unit("discs", "disc"),
    outside={"open-spiel": "board_agents.games.reversi.open_spiel_form:open_spiel_form"},
)
