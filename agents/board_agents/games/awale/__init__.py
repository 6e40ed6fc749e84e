"""Awalé solved: retrograde tables of exact scores, built, stored, verified and played (rule set "tamale")."""

from board_agents.games.awale.table_files import LevelStatistics, TableError, default_folder
from board_agents.games.awale.tablebase import Move, Tables, build, open_tables
from board_agents.games.awale.tablebase_oracle import AwaleOracle
from board_agents.support import Support, Unit

SUPPORT = Support(
    oracles={"awale-tables": "board_agents.games.awale.tablebase_oracle:AwaleOracle"},
    agents={
        "perfect": "board_agents.games.awale.perfect_agent:PerfectAwaleAgent",
        "table": "board_agents.games.awale.table_agent:TableAgent",
    },
    evaluations={"stores": "board_agents.search.evaluations:margin"},
    final_value="board_agents.games.awale.configuration_history:nothing_to_come",
    history_key="board_agents.games.awale.configuration_history:ConfigurationHistory",
    unit=Unit(
        "seeds",
        "seed",
        won="{value} {unit} more than the other from here",
        lost="{value} {unit} less than the other from here",
        equal="equal from here",
    ),
    tables={"awale": "board_agents.games.awale.tables_builder:AwaleTablesBuilder"},
    outside={"open-spiel": "board_agents.games.awale.open_spiel_form:open_spiel_form"},
)

open = open_tables  # read as ``awale.open(...)``

__all__ = [
    "SUPPORT",
    "AwaleOracle",
    "LevelStatistics",
    "Move",
    "TableError",
    "Tables",
    "build",
    "default_folder",
    "open",
]
