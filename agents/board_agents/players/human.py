"""A person at a terminal as an agent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from board_agents.agent import GameAgent, InputEndedError
from board_envs.game import Game
from board_envs.types import IllegalActionError, S


def ask_terminal(prompt: str) -> str:
    """Show a prompt on stderr (stdout is for results) and return a line."""
    print(prompt, end="", file=sys.stderr, flush=True)
    return input()


def tell_terminal(text: str) -> None:
    """Show a text on stderr."""
    print(text, file=sys.stderr)


class HumanAgent(GameAgent[S]):
    """Shows the position and asks for a move in the game's notation until it is legal.

    Args:
        game: the game.
        ask: like `input`: shows a prompt, returns a line; `act` turns its EOFError into InputEndedError.
        tell: like `print`.

    """

    def __init__(
        self, game: Game[S], *, ask: Callable[[str], str] = ask_terminal, tell: Callable[[str], Any] = tell_terminal
    ) -> None:
        super().__init__(game)
        self._ask, self._tell = ask, tell

    def choose(self, state: S) -> int:
        """Return the move that the person types."""
        game = self.game
        self._tell(game.draw(state))
        moves = [game.action_to_text(state, action) for action in game.legal_actions(state)]
        while True:
            try:
                text = self._ask(f"move for player_{game.current_player(state)} (such as {moves[0]}): ").strip()
            except EOFError:
                seat = game.current_player(state)
                raise InputEndedError(f"end of input: player_{seat} (a person) is to move") from None
            try:
                if not text:
                    raise IllegalActionError("empty input")
                return game.text_to_action(state, text)
            except IllegalActionError as error:
                self._tell(f"{error}. Moves: {' '.join(moves)}")
