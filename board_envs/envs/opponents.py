"""The other seat of a one-seat environment: the built-in random player, agents, and plain callables."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

from board_envs.game import Game
from board_envs.random import Stream
from board_envs.resolve import resolve
from board_envs.types import IllegalActionError


class RandomOpponent:
    """Plays the k-th legal action, k drawn from the stream of its seed: what the spec "random" means everywhere."""

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        self._stream = Stream.seeded(0)

    def reset(self, seed: int) -> None:
        """Begin a game."""
        self._stream = Stream.seeded(seed)

    def choose(self, state: Any) -> int:
        """Return an action."""
        rules = self._game.rules
        return int(rules.nth(state, self._stream.below(rules.count(state))))

    def get_state(self) -> Any:
        """Return what the next choice depends on."""
        return copy.copy(self._stream)

    def set_state(self, saved: Any) -> None:
        """Go back to where `get_state` was called."""
        self._stream = copy.copy(saved)


class AgentOpponent:
    """An agent, ``act(observation, state=None)``, or a callable ``f({"observation", "action_mask"}) -> int``."""

    def __init__(self, agent: Any, game: Game[Any]) -> None:
        self._game = game
        self._agent = agent
        self._act = "act" if hasattr(agent, "act") else "__call__"
        parameters = inspect.signature(getattr(agent, "act", agent)).parameters
        self._takes_state = "state" in parameters

    def reset(self, seed: int) -> None:
        """Begin a game; a callable without a method ``reset`` has nothing to begin."""
        if hasattr(self._agent, "reset"):
            self._agent.reset(seed=seed)

    def choose(self, state: Any) -> int:
        """Return the agent's action; IllegalActionError if the rules do not allow it."""
        game = self._game
        seen = {"observation": game.observe(state, game.current_player(state)), "action_mask": game.legal_mask(state)}
        act = getattr(self._agent, self._act)
        action = act(seen, state=state) if self._takes_state else act(seen)
        if not game.is_legal(state, action):
            raise IllegalActionError(f"the opponent {self._agent!r} played: {game.explain_illegal(state, action)}")
        return int(action)

    def get_state(self) -> Any:
        """Return a copy of the agent: its own ``get_state()`` if it has one."""
        return self._agent.get_state() if hasattr(self._agent, "set_state") else copy.deepcopy(self._agent)

    def set_state(self, saved: Any) -> None:
        """Go back to where `get_state` was called."""
        if hasattr(self._agent, "set_state"):
            self._agent.set_state(saved)
        else:
            self._agent = copy.deepcopy(saved)


Opponent = RandomOpponent | AgentOpponent


def make_opponent(opponent: str | Callable[..., Any] | Any | None, game: Game[Any]) -> Opponent | None:
    """Return the player of the other seat.

    Args:
        opponent: a spec string ("random" is built in, others come from the installed agents), an agent, a callable, or
            None for self-play.
        game: what is played.

    Raises:
        TypeError: it is none of these.

    """
    if opponent is None:
        return None
    if isinstance(opponent, str):
        if opponent == "random":
            return RandomOpponent(game)
        opponent = resolve("agent", opponent, game)
    if isinstance(opponent, type) or not (hasattr(opponent, "act") or callable(opponent)):
        raise TypeError(f"opponent must be a spec string, an agent with act(), a callable or None, not {opponent!r}")
    return AgentOpponent(opponent, game)
