"""Exact endgames of Reversi."""

from board_agents.games.reversi.endgame_oracle import ReversiOracle, Solution

__all__ = ["ReversiOracle", "Solution"]
