"""Perfect Nim, normal and misère: leave heaps whose exclusive or is zero.

Source: Bouton, "Nim, a game with a complete mathematical theory" (1901); the notebook "Implémentation du jeu de Nim"
states the rule for normal play.
"""

from __future__ import annotations

from board_agents.agent import GameAgent
from board_agents.games.nim.closed_form import NimOracle
from board_envs.game import Game
from board_envs.games.nim import State


class NimXorAgent(GameAgent[State]):
    """Plays the first winning move; in a lost position the first legal move."""

    def __init__(self, game: Game[State]) -> None:
        super().__init__(game)
        self.oracle = NimOracle(game)

    def choose(self, state: State) -> int:
        """Return the first action with the best exact value."""
        values = self.oracle.action_values(state)
        return max(values, key=lambda action: values[action])
