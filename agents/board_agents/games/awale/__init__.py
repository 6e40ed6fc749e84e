"""Awalé solved: retrograde tables of exact scores, built, stored, verified and played (rule set "tamale")."""

from board_agents.games.awale.table_files import LevelStatistics, TableError, default_folder
from board_agents.games.awale.tablebase import Move, Tables, build, open_tables
from board_agents.games.awale.tablebase_oracle import AwaleOracle

open = open_tables  # read as ``awale.open(...)``

__all__ = ["AwaleOracle", "LevelStatistics", "Move", "TableError", "Tables", "build", "default_folder", "open"]
