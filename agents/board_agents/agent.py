"""What an agent is: anything that turns an observation into an action.

An agent is an object with ``reset(seed)`` and ``act(observation, state=None) -> int``; `board_envs.policies` lists the
other forms in which one is given, `registry.as_agent` reads them. An observation is what PettingZoo's ``env.last()``
hands out, ``{"observation": int8 (shape), "action_mask": int8 (n,)}``.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from board_envs.game import Game, is_action
from board_envs.policies import BatchPolicy
from board_envs.random import Stream
from board_envs.types import IllegalActionError, PositionError, S, S_contra

Observation: TypeAlias = Mapping[str, NDArray[Any]] | NDArray[Any]
"""``{"observation", "action_mask"}``, or the observation array alone (environments with the mask in infos)."""


class InputEndedError(Exception):
    """Whoever answers for an agent, a person at a terminal, is gone: no fault of the agent's, nothing can go on."""


@runtime_checkable
class Agent(Protocol[S_contra]):
    """A policy for one game."""

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game; what is random in it follows the seed, None takes one from the operating system."""
        ...

    def act(self, observation: Observation, state: S_contra | None = None) -> int:
        """Return a legal action for the seat to move. `state`, where the caller has it, is only read."""
        ...


@runtime_checkable
class Closeable(Protocol):
    """An agent that holds something open: a program, a file, a connection."""

    def close(self) -> None:
        """Let it go."""
        ...


class GameAgent(ABC, Generic[S]):
    """Base of agents that think about states. Subclasses write `choose`.

    Attributes:
        game: the game played.
        stream: the agent's own random numbers, renewed by `reset`.

    """

    def __init__(self, game: Game[S]) -> None:
        self.game = game
        self.stream = Stream.seeded(None)

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game with the random numbers of `seed`."""
        self.stream = Stream.seeded(seed)

    def act(self, observation: Observation, state: S | None = None) -> int:
        """Return a legal action; the state is rebuilt from the observation unless it is given.

        Raises:
            IllegalActionError: the game is over.
            PositionError: the observation shows no position of this game.

        """
        if state is None:
            state = state_of(self.game, observation)
        elif not self._vouches(observation, state):
            self.game.check_state(state)
        self.check_unfinished(state)
        return self.choose(state)

    def _vouches(self, observation: Observation, state: S) -> bool:
        """Whether an environment of this game's size handed out observation and state: a full check costs more."""
        mask = observation.get("action_mask") if isinstance(observation, Mapping) else None
        return type(state) is _state_type(self.game) and mask is not None and len(mask) == self.game.num_actions

    def check(self, state: S) -> None:
        """Refuse what this agent cannot think about.

        Raises:
            IllegalActionError: the game is over.
            PositionError: no position of this game and size.

        """
        self.game.check_state(state)
        self.check_unfinished(state)

    def check_unfinished(self, state: S) -> None:
        """Raise IllegalActionError in a finished game."""
        if self.game.is_terminal(state):
            raise IllegalActionError(f"there is nothing to choose, the game is over: {self.game.format(state)}")

    @abstractmethod
    def choose(self, state: S) -> int:
        """Return a legal action of an unfinished state, which is only read."""


@functools.cache
def _state_type(game: Game[Any]) -> type:
    return type(game.initial_state())


class CallableAgent(GameAgent[S]):
    """A plain callable ``f({"observation", "action_mask"}) -> int`` as an agent."""

    def __init__(self, game: Game[S], function: Callable[[Any], Any]) -> None:
        super().__init__(game)
        self.function = function

    def act(self, observation: Observation, state: S | None = None) -> int:
        """Return what the callable answers; IllegalActionError if that is no integer of the action space."""
        return check_action(self.game, self.function(observation), repr(self.function))

    def choose(self, state: S) -> int:
        """Show the callable what the seat to move sees."""
        return self.act(observation_of(self.game, state), state)


class BatchAgent(GameAgent[S]):
    """A policy of many positions, ``f(boards (k, *shape), masks (k, n)) -> actions (k,)``, asked for one at a time."""

    def __init__(self, game: Game[S], policy: BatchPolicy) -> None:
        super().__init__(game)
        self.policy = policy

    def choose(self, state: S) -> int:
        """Return what the policy answers to a batch of one; IllegalActionError if that is no integer action."""
        seen = observation_of(self.game, state)
        answer = self.policy(seen["observation"][None], seen["action_mask"][None])
        return check_action(self.game, np.asarray(answer), repr(self.policy))


class AdaptedAgent(GameAgent[S]):
    """An agent object without `reset`, or whose ``act`` takes the observation alone."""

    def __init__(self, game: Game[S], agent: Any) -> None:
        super().__init__(game)
        self.agent = agent
        self._takes_state = takes_state(agent)

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game, if the agent has something to begin."""
        super().reset(seed)
        if hasattr(self.agent, "reset"):
            self.agent.reset(seed=seed)

    def act(self, observation: Observation, state: S | None = None) -> int:
        """Return the agent's answer; IllegalActionError if that is no integer action."""
        answer = self.agent.act(observation, state) if self._takes_state else self.agent.act(observation)
        return check_action(self.game, answer, repr(self.agent))

    def choose(self, state: S) -> int:
        """Show the agent what the seat to move sees."""
        return self.act(observation_of(self.game, state), state)

    def close(self) -> None:
        """Close the agent, if it has something to close."""
        close_agent(self.agent)


def takes_state(agent: Any) -> bool:
    """Whether an agent's ``act`` can be called with a state as its second argument."""
    try:
        inspect.signature(agent.act).bind({}, None)
    except TypeError:
        return False
    except ValueError:
        pass  # some builtin callables have no signature to look at
    return True


def close_agent(agent: Any) -> None:
    """Close an agent that holds a program or a file open."""
    if isinstance(agent, Closeable) and not isinstance(agent, type):
        agent.close()


def observation_of(game: Game[S], state: S) -> dict[str, NDArray[np.int8]]:
    """Return what the seat to move sees, in the form that agents take."""
    seat = game.current_player(state)
    return {"observation": game.observe(state, seat), "action_mask": game.legal_mask(state)}


def state_of(game: Game[S], observation: Observation) -> S:
    """Rebuild the state from what the seat to move sees.

    An observation shows own and other pieces, not which seat one has. The seat taken is the first, 0 or 1, with which
    the position can arise (the number of pieces may tell); where both can it is 0: the game is the same with the seats
    exchanged, and so is every choice made from the mover's view.
    """
    array = observation["observation"] if isinstance(observation, Mapping) else observation
    errors = []
    for seat in (0, 1):
        state = game.decode(array, seat)
        try:
            return game.check_state(state)
        except PositionError as error:
            errors.append(f"as seat {seat}: {error}")
    raise PositionError(f"the observation shows no position of {game!r}; " + "; ".join(errors))


def check_action(game: Game[Any], action: Any, who: str) -> int:
    """Return an answer as an int; IllegalActionError names who gave it if it is no action number."""
    if isinstance(action, np.ndarray) and action.size == 1:
        action = action.reshape(()).item()
    if not is_action(action, game.num_actions):
        raise IllegalActionError(f"{who} answered {action!r}, no integer from 0 to {game.num_actions - 1}")
    return int(action)
