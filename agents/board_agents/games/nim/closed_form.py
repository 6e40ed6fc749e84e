"""Nim's closed form, normal and misère.

Source: Bouton, "Nim, a game with a complete mathematical theory", Annals of Mathematics 3 (1901).
"""

from __future__ import annotations

from board_envs.game import Game
from board_envs.games.nim import State
from board_envs.types import SpecError


class NimOracle:
    """Exact values of Nim positions of any size: +1 the mover wins, -1 it loses."""

    def __init__(self, game: Game[State]) -> None:
        if game.name != "nim":
            raise SpecError(f"the closed form applies to Nim only, not to {game!r}")
        self.game = game
        self.misere = bool(game.parameters["misere"])

    def value(self, state: State) -> int:
        """Return +1 or -1 for the seat to move; in a finished game for the seat that would have moved next."""
        self.game.check_state(state)
        return self._value(state)

    def _value(self, state: State) -> int:
        heaps = int(state.heaps).to_bytes(8, "little")
        total = 0
        for size in heaps:
            total ^= size
        if self.misere and max(heaps) <= 1:
            # Only heaps of one object are left: in misère play an odd number loses.
            return -1 if total else 1
        return 1 if total else -1

    def action_values(self, state: State) -> dict[int, float]:
        """Return each legal action's value for the mover."""
        game = self.game
        game.check_state(state)
        return {action: float(-self._value(game.rules.step(state, action))) for action in game.legal_actions(state)}
