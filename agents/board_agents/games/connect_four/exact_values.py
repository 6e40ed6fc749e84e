"""What exact values of Connect Four are: Pons' scores, and the plies to the end that they tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from board_agents.games.connect_four.solver import plies_to_end
from board_envs._bits import popcount
from board_envs.game import Game


def pons_score(game: Game[Any]) -> Callable[[Any], int]:
    """Return the value of finished states: the faster the win, the higher; every stone later costs half a point."""
    cells = game.parameters["rows"] * game.parameters["columns"]

    def score(state: Any) -> int:
        stones_before = _stones(state) - 1
        return int(game.rules.margin(state)) * ((cells + 1 - stones_before) // 2)

    return score


def pons_plies(game: Game[Any], state: Any, value: float) -> int:
    """Return how many plies a game of this score lasts."""
    return plies_to_end(int(value), _stones(state), game.parameters["rows"] * game.parameters["columns"])


def _stones(state: Any) -> int:
    return int(popcount(state.player_0)) + int(popcount(state.player_1))
