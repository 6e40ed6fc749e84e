"""Nim: the closed form and agents."""

from board_agents.support import Support, Unit

__all__ = ["SUPPORT"]

SUPPORT = Support(
    oracles={"closed-form": "board_agents.games.nim.closed_form:NimOracle"},
    agents={
        "nim-xor": "board_agents.games.nim.xor_agent:NimXorAgent",
        "nim-astar": "board_agents.games.nim.astar_agent:NimAStarAgent",
    },
    unit=Unit("win", "win", won="wins", lost="loses", equal="draws"),
    outside={"open-spiel": "board_agents.games.nim.open_spiel_form:open_spiel_form"},
)
