"""An OpenSpiel bot as an agent (needs the package open_spiel)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from board_agents.agent import GameAgent
from board_agents.support import OpenSpielForm, outside_form
from board_envs.game import Game
from board_envs.types import IllegalActionError, MissingExtraError, PositionError, S, SpecError

SEARCH_LIMIT = 30_000
"""Maximum positions searched for moves that lead to the current position."""


def open_spiel_form(game: Game[Any]) -> OpenSpielForm:
    """Return a game's form in OpenSpiel; raise SpecError if OpenSpiel does not have its rules."""
    form = outside_form(game, "open-spiel")
    if form is None:
        raise SpecError(f"OpenSpiel has no game with the rules of {game!r}")
    return cast(OpenSpielForm, form)


def load_open_spiel(game: Game[Any]) -> Any:
    """Return OpenSpiel's game with the same rules.

    Raises:
        MissingExtraError: open_spiel is not installed.

    """
    try:
        import pyspiel
    except ImportError as error:
        raise MissingExtraError("OpenSpiel", "dev") from error
    form = open_spiel_form(game)
    return pyspiel.load_game(form.name, dict(form.parameters))


class OpenSpielAgent(GameAgent[S]):
    """Plays the moves of an OpenSpiel bot.

    A bot needs a state with its history; it gets a shortest sequence of moves from the last position it saw,
    or from the initial position, to the current one. So a game may start a few plies after the initial position.

    Args:
        game: a game whose SUPPORT names the OpenSpiel game with the same rules.
        bot: "mcts", "uniform-random", or a function ``(pyspiel game, seed) -> pyspiel.Bot``.
        simulations: simulations of "mcts", with one random playout each.

    """

    def __init__(
        self, game: Game[S], *, bot: str | Callable[[Any, int], Any] = "mcts", simulations: int = 1000
    ) -> None:
        super().__init__(game)
        self._form, self._open_spiel = open_spiel_form(game), load_open_spiel(game)
        self.simulations = simulations
        if isinstance(bot, str) and bot not in ("mcts", "uniform-random"):
            raise SpecError(f"bot must be 'mcts' or 'uniform-random', not {bot!r}")
        self.bot = bot
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game with a new bot."""
        super().reset(seed)
        self._bots: dict[int, Any] = {}
        self._state = self.game.initial_state()
        self._theirs = self._open_spiel.new_initial_state()
        # OpenSpiel's seeds are 32 bits.
        self._seed = self.stream.seed() % 2**31

    def __getstate__(self) -> dict[str, Any]:
        """Drop OpenSpiel's objects; a copy starts again from the next position it sees."""
        own = ("game", "stream", "simulations", "bot", "_seed")
        return {key: self.__dict__[key] for key in own}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self._form, self._open_spiel = open_spiel_form(self.game), load_open_spiel(self.game)
        self._bots = {}
        self._state = self.game.initial_state()
        self._theirs = self._open_spiel.new_initial_state()

    def choose(self, state: S) -> int:
        """Return the bot's move."""
        self._follow(state)
        seat = self._theirs.current_player()
        if seat not in self._bots:
            self._bots[seat] = self._new_bot(seat)
        answer = int(self._bots[seat].step(self._theirs))
        for action in self.game.legal_actions(state):
            if self._to_theirs(state, action) == answer:
                return action
        raise IllegalActionError(f"the bot answered {answer}, not a move of {self.game.format(state)}")

    def see(self, state: S) -> None:
        """Follow the game while the bot is not to move, so that long runs of skipped turns stay within the search."""
        self._follow(state)

    def _new_bot(self, seat: int) -> Any:
        import pyspiel

        if not isinstance(self.bot, str):
            return self.bot(self._open_spiel, self._seed)
        if self.bot == "uniform-random":
            return pyspiel.make_uniform_random_bot(seat, self._seed)
        return pyspiel.MCTSBot(
            self._open_spiel,
            pyspiel.RandomRolloutEvaluator(1, self._seed),
            2.0,
            self.simulations,
            -1,
            True,
            self._seed,
            False,
            pyspiel.ChildSelectionPolicy.UCT,
        )

    def _to_theirs(self, state: S, action: int) -> int:
        return action if self._form.action is None else self._form.action(state, action)

    def _follow(self, target: S) -> None:
        """Advance OpenSpiel's state to the current position."""
        line = self._line(self._state, target)
        if line is None:
            self._state, self._theirs = self.game.initial_state(), self._open_spiel.new_initial_state()
            line = self._line(self._state, target)
        if line is None:
            raise PositionError(
                f"no moves found that lead to {self.game.format(target)} in {SEARCH_LIMIT} positions; an OpenSpiel bot "
                "must see a game from near its start"
            )
        for action in line:
            self._theirs.apply_action(self._to_theirs(self._state, action))
            self._state = self.game.step(self._state, action)
            while not self._theirs.is_terminal() and self._theirs.legal_actions() == [self._form.skip]:
                self._theirs.apply_action(self._form.skip)

    def _line(self, start: S, target: S) -> list[int] | None:
        """Return a shortest sequence of moves between two positions, by breadth-first search; None if too far."""
        goal, game = self.game.pack(target).tobytes(), self.game
        level: list[tuple[Any, tuple[int, ...]]] = [(start, ())]
        seen = {game.pack(start).tobytes()}
        if goal in seen:
            return []
        while level and len(seen) < SEARCH_LIMIT:
            following = []
            for state, line in level:
                for action in game.legal_actions(state):
                    child = game.step(state, action)
                    key = game.pack(child).tobytes()
                    if key == goal:
                        return [*line, action]
                    if key not in seen:
                        seen.add(key)
                        following.append((child, (*line, action)))
            level = following
        return None
