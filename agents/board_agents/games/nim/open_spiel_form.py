"""Nim in OpenSpiel."""

from __future__ import annotations

from typing import Any

from board_agents.support import OpenSpielForm
from board_envs.game import Game


def open_spiel_form(game: Game[Any]) -> OpenSpielForm:
    """Return OpenSpiel's nim, whose actions are ordered by number of objects, then by heap."""
    heaps = game.parameters["heaps"]

    def theirs(state: Any, action: int) -> int:
        heap, count = (int(part) for part in game.action_to_text(state, action).split(":"))
        return (count - 1) * len(heaps) + heap - 1

    sizes = {"pile_sizes": ";".join(map(str, heaps)), "is_misere": game.parameters["misere"]}
    return OpenSpielForm("nim", sizes, action=theirs)
