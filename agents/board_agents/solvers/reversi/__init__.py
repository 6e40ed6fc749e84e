"""Exact endgames of Reversi."""

from board_agents.solvers.reversi.oracle import ReversiOracle, Solution

__all__ = ["ReversiOracle", "Solution"]
