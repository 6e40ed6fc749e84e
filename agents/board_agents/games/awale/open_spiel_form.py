"""Awalé in OpenSpiel."""

from __future__ import annotations

from typing import Any

from board_agents.support import OpenSpielForm
from board_envs.game import Game


def open_spiel_form(game: Game[Any]) -> OpenSpielForm | None:
    """Return OpenSpiel's oware, which has the rule set "abapa"; None for other rule sets."""
    parameters = game.parameters
    if parameters["ruleset"] != "abapa":
        return None
    sizes = {"num_houses_per_player": parameters["pits"], "num_seeds_per_house": parameters["seeds"]}
    return OpenSpielForm("oware", sizes)
