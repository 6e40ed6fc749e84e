"""Reversi in OpenSpiel."""

from __future__ import annotations

from typing import Any

from board_agents.support import OpenSpielForm
from board_envs.game import Game


def open_spiel_form(game: Game[Any]) -> OpenSpielForm | None:
    """Return OpenSpiel's othello, which is 8 x 8 and writes a skipped turn as action 64; None for other sizes."""
    return OpenSpielForm("othello", skip=64) if game.parameters["size"] == 8 else None
