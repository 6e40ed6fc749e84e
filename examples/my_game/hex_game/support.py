"""What agents know of Hex; the entry point ``hex`` in the group ``board_envs.support`` names `SUPPORT`."""

from __future__ import annotations

from typing import Any

from board_agents.search.evaluations import Evaluation
from board_agents.support import OpenSpielForm, Support, Unit
from board_envs.authoring import Game, jitable
from hex_game.rules import make_geometry

SUPPORT = Support(
    evaluations={"paths": "hex_game.support:paths"},
    unit=Unit("win", "win", won="wins", lost="loses"),
    outside={"open-spiel": "hex_game.support:open_spiel_form"},
)


def paths(game: Game[Any]) -> Evaluation:
    """How many more stones than player_0 player_1 needs to join its sides, if nobody hinders anybody."""
    distance = make_geometry(game.parameters["size"]).distance

    @jitable
    def difference(state: Any) -> int:
        first = distance(state.low_0, state.high_0, state.low_1, state.high_1, 0)
        second = distance(state.low_1, state.high_1, state.low_0, state.high_0, 1)
        return second - first

    return difference


def open_spiel_form(game: Game[Any]) -> OpenSpielForm | None:
    """Return OpenSpiel's hex, which numbers cells as we do; it has another form of the swap."""
    if game.parameters["swap"]:
        return None
    return OpenSpielForm("hex", {"board_size": game.parameters["size"]})
