"""Exact values of Connect Four: Pons' scores, and the plies to the end that they determine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from board_agents.games.connect_four.solver import plies_to_end
from board_envs._bits import popcount
from board_envs.game import Game


def pons_score(game: Game[Any]) -> Callable[[Any], int]:
    """Return the value of finished states: faster wins score higher, by half a point per stone."""
    cells = game.parameters["rows"] * game.parameters["columns"]

    def score(state: Any) -> int:
        stones_before = _stones(state) - 1
        return int(game.rules.margin(state)) * ((cells + 1 - stones_before) // 2)

    return score


def pons_plies(game: Game[Any], state: Any, value: float) -> int:
    """Return the length in plies of a game with this score."""
    return plies_to_end(int(value), _stones(state), game.parameters["rows"] * game.parameters["columns"])


def _stones(state: Any) -> int:
    return int(popcount(state.player_0)) + int(popcount(state.player_1))
