"""Awalé solved: retrograde tables of exact scores, built, stored, verified and played (rule set "tamale")."""

from board_agents.solvers.awale.files import LevelStatistics, TableError, default_folder
from board_agents.solvers.awale.oracle import AwaleOracle
from board_agents.solvers.awale.tables import Move, Tables, build, open_tables

open = open_tables  # read as ``awale.open(...)``

__all__ = ["AwaleOracle", "LevelStatistics", "Move", "TableError", "Tables", "build", "default_folder", "open"]
