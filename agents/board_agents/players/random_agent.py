"""The agent that plays uniformly random legal actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from board_agents.agent import GameAgent
from board_envs.types import S

if TYPE_CHECKING:
    from board_envs.envs.kernels import Policy


class RandomAgent(GameAgent[S]):
    """Uniformly random play: one bounded draw of the stream per move (kernels do the same)."""

    def choose(self, state: S) -> int:
        """Return a random legal action."""
        rules = self.game.rules
        return int(rules.nth(state, self.stream.below(int(rules.count(state)))))

    def compiled_policy(self) -> Policy:
        """Return the same choice as a function for compiled code."""
        from board_envs.envs.kernels import random_policy

        return random_policy(self.game)
