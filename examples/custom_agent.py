"""An agent of one's own, as an object and as a function, in a match against a built-in one.

python examples/custom_agent.py --games 40
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.arena import tournament
from board_envs import make_game
from board_envs.game import Game
from board_envs.random import Stream


class OneMoveAhead:
    """Wins if it can at once, else avoids moves that let the opponent win at once, else plays by lot.

    The state is handed over by the arena; the same could be found out from the observation alone.
    """

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.stream = Stream.seeded(0)

    def reset(self, seed: int | None = None) -> None:
        """Begin a game."""
        self.stream = Stream.seeded(seed)

    def act(self, observation: Mapping[str, NDArray[Any]], state: Any = None) -> int:
        """Choose."""
        seat = self.game.current_player(state)
        legal = self.game.legal_actions(state)
        after = {action: self.game.step(state, action) for action in legal}
        for action in legal:
            if self.game.returns(after[action])[seat] > 0:
                return action
        safe = [action for action in legal if not self.can_win(after[action], 1 - seat)] or legal
        return safe[self.stream.below(len(safe))]

    def can_win(self, state: Any, seat: int) -> bool:
        """Whether `seat`, to move, can win at once."""
        return any(self.game.returns(self.game.step(state, a))[seat] > 0 for a in self.game.legal_actions(state))


def lowest_legal(observation: Mapping[str, NDArray[Any]]) -> int:
    """Play the first legal action: the shortest agent there is."""
    return int(np.argmax(observation["action_mask"]))


def main() -> None:
    """Let both play the built-in greedy agent."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=20)
    arguments = parser.parse_args()

    game = make_game("connect-four")
    agents = {"one move ahead": OneMoveAhead, "lowest": lowest_legal, "greedy": "greedy"}
    result = tournament(game, agents, games=arguments.games, seed=0)
    for rating in result.ratings.agents:
        print(f"{rating.name:15} {rating.rating:+5.0f}  (95 %: {rating.low:+.0f} to {rating.high:+.0f})")


if __name__ == "__main__":
    main()
