"""The agent protocol: anything that turns an observation into an action.

An agent is an object with ``reset(seed)`` and ``act(observation, state=None) -> int``; `board_envs.policies` lists the
other forms, `registry.as_agent` converts them. An observation is that of PettingZoo's ``env.last()``:
``{"observation": int8 (shape), "action_mask": int8 (n,)}``.
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
    """Input for an agent ended (a person at a terminal left); not an agent's fault, the game cannot continue."""


@runtime_checkable
class Agent(Protocol[S_contra]):
    """A policy for one game."""

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game; `seed` determines all random choices, None takes one from the operating system."""
        ...

    def act(self, observation: Observation, state: S_contra | None = None) -> int:
        """Return a legal action for the seat to move. `state` is optional and not modified."""
        ...


@runtime_checkable
class Closeable(Protocol):
    """An agent with an open resource: a program, a file, a connection."""

    def close(self) -> None:
        """Release the resource."""
        ...


class GameAgent(ABC, Generic[S]):
    """Base class of agents that work on states. Subclasses implement `choose`.

    Attributes:
        game: the game.
        stream: the agent's random stream, reset by `reset`.

    """

    def __init__(self, game: Game[S]) -> None:
        self.game = game
        self.stream = Stream.seeded(None)

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game; seed the random stream."""
        self.stream = Stream.seeded(seed)

    def act(self, observation: Observation, state: S | None = None) -> int:
        """Return a legal action; without `state` it is decoded from the observation.

        Raises:
            IllegalActionError: the game is over.
            PositionError: the observation is not a position of this game.

        """
        if state is None:
            state = state_of(self.game, observation)
        elif not self._vouches(observation, state):
            self.game.check_state(state)
        self.check_unfinished(state)
        return self.choose(state)

    def _vouches(self, observation: Observation, state: S) -> bool:
        """Whether observation and state have the shapes of this game's size; a cheap check."""
        mask = observation.get("action_mask") if isinstance(observation, Mapping) else None
        return type(state) is _state_type(self.game) and mask is not None and len(mask) == self.game.num_actions

    def check(self, state: S) -> None:
        """Raise for a state that this agent cannot handle.

        Raises:
            IllegalActionError: the game is over.
            PositionError: not a position of this game and size.

        """
        self.game.check_state(state)
        self.check_unfinished(state)

    def check_unfinished(self, state: S) -> None:
        """Raise IllegalActionError in a finished game."""
        if self.game.is_terminal(state):
            raise IllegalActionError(f"no legal actions, the game is over: {self.game.format(state)}")

    @abstractmethod
    def choose(self, state: S) -> int:
        """Return a legal action of an unfinished state; `state` is not modified."""


@functools.cache
def _state_type(game: Game[Any]) -> type:
    return type(game.initial_state())


class CallableAgent(GameAgent[S]):
    """A plain callable ``f({"observation", "action_mask"}) -> int`` as an agent."""

    def __init__(self, game: Game[S], function: Callable[[Any], Any]) -> None:
        super().__init__(game)
        self.function = function

    def act(self, observation: Observation, state: S | None = None) -> int:
        """Return the callable's action; raise IllegalActionError if it is not an integer of the action space."""
        return check_action(self.game, self.function(observation), repr(self.function))

    def choose(self, state: S) -> int:
        """Call the callable with the observation of the seat to move."""
        return self.act(observation_of(self.game, state), state)


class BatchAgent(GameAgent[S]):
    """A policy of many positions, ``f(boards (k, *shape), masks (k, n)) -> actions (k,)``, called with one board."""

    def __init__(self, game: Game[S], policy: BatchPolicy) -> None:
        super().__init__(game)
        self.policy = policy

    def choose(self, state: S) -> int:
        """Return the policy's action for a batch of one; raise IllegalActionError if it is not an integer action."""
        seen = observation_of(self.game, state)
        answer = self.policy(seen["observation"][None], seen["action_mask"][None])
        return check_action(self.game, np.asarray(answer), repr(self.policy))


class AdaptedAgent(GameAgent[S]):
    """An agent object without `reset`, or whose ``act`` takes only the observation."""

    def __init__(self, game: Game[S], agent: Any) -> None:
        super().__init__(game)
        self.agent = agent
        self._takes_state = takes_state(agent)

    def reset(self, seed: int | None = None) -> None:
        """Begin a new game, if the agent has `reset`."""
        super().reset(seed)
        if hasattr(self.agent, "reset"):
            self.agent.reset(seed=seed)

    def act(self, observation: Observation, state: S | None = None) -> int:
        """Return the agent's action; raise IllegalActionError if it is not an integer action."""
        answer = self.agent.act(observation, state) if self._takes_state else self.agent.act(observation)
        return check_action(self.game, answer, repr(self.agent))

    def choose(self, state: S) -> int:
        """Call the agent with the observation of the seat to move."""
        return self.act(observation_of(self.game, state), state)

    def close(self) -> None:
        """Close the agent, if it has `close`."""
        close_agent(self.agent)


def takes_state(agent: Any) -> bool:
    """Whether an agent's ``act`` can be called with a state as its second argument."""
    try:
        inspect.signature(agent.act).bind({}, None)
    except TypeError:
        return False
    except ValueError:
        pass  # some builtin callables have no signature
    return True


def close_agent(agent: Any) -> None:
    """Close an agent with an open program or file."""
    if isinstance(agent, Closeable) and not isinstance(agent, type):
        agent.close()


def observation_of(game: Game[S], state: S) -> dict[str, NDArray[np.int8]]:
    """Return the observation of the seat to move, in the form that agents take."""
    seat = game.current_player(state)
    return {"observation": game.observe(state, seat), "action_mask": game.legal_mask(state)}


def state_of(game: Game[S], observation: Observation) -> S:
    """Decode the state from the observation of the seat to move.

    An observation shows own and other pieces, not the seat. The seat chosen is the first, 0 or 1, with which
    the position can arise (the number of pieces may decide); if both can, it is 0: the game is symmetric in the seats,
    and so is every choice made from the mover's view.
    """
    array = observation["observation"] if isinstance(observation, Mapping) else observation
    errors = []
    for seat in (0, 1):
        state = game.decode(array, seat)
        try:
            return game.check_state(state)
        except PositionError as error:
            errors.append(f"as seat {seat}: {error}")
    raise PositionError(f"the observation is not a position of {game!r}; " + "; ".join(errors))


def check_action(game: Game[Any], action: Any, who: str) -> int:
    """Return an action as an int; raise IllegalActionError, naming its author, if it is not an action number."""
    if isinstance(action, np.ndarray) and action.size == 1:
        action = action.reshape(()).item()
    if not is_action(action, game.num_actions):
        raise IllegalActionError(f"{who} answered {action!r}, not an integer from 0 to {game.num_actions - 1}")
    return int(action)
