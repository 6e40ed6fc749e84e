"""The forms in which players of Reversi exchange positions and games, in the order in which they are asked."""

from __future__ import annotations

from typing import Any

from board_envs.forms import Form
from board_envs.games.reversi.forms_boards import board_form, diagram_form, json_form, obf_form
from board_envs.games.reversi.forms_ggf import ggf_form
from board_envs.games.reversi.forms_sgf import sgf_form
from board_envs.games.reversi.forms_texts import quest_form, text_forms
from board_envs.games.reversi.forms_wthor import wthor_form


def make_forms(game: Any) -> tuple[Form, ...]:
    """Return the forms of one size."""
    games = (ggf_form(game), sgf_form(game), quest_form(game), *text_forms(game))
    return (*games, json_form(game), diagram_form(game), obf_form(game), board_form(game), wthor_form(game))
