"""Connect Four in OpenSpiel."""

from __future__ import annotations

from typing import Any

from board_agents.support import OpenSpielForm
from board_envs.game import Game


def open_spiel_form(game: Game[Any]) -> OpenSpielForm:
    """Return OpenSpiel's connect_four of the same size."""
    rows, columns, connect = (game.parameters[key] for key in ("rows", "columns", "connect"))
    return OpenSpielForm("connect_four", {"rows": rows, "columns": columns, "x_in_row": connect})
