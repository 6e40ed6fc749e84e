"""The forms of a player, the same for ``opponent=`` of environments and for agents of the arena.

| given | what it is |
| --- | --- |
| text | a spec, such as ``"alpha-beta:depth=4"`` |
| object with ``act`` | an agent: ``act(observation, state=None) -> int``, ``reset(seed=...)`` before each game |
| class, ``agent_builder(f)`` | a builder: called with the game, returns an agent or a policy |
| ``batch_policy(f)`` | a policy of many positions: ``f(boards (k, shape), masks (k, n)) -> actions (k,)`` |
| other callable | a policy of one observation: ``f({"observation", "action_mask"}) -> int`` |
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable
from typing import Any

from board_envs.game import Game


def is_agent(player: Any) -> bool:
    """Whether a player is an agent object, one with ``act``; what a proxy looks up elsewhere counts."""
    return hasattr(player, "act") and not isinstance(player, type)


class _Declared:
    """A function with its kind declared; it can be called as before, and used as a decorator's result."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"{type(self).__name__} takes a function, not {function!r}")
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        """Pickle a decorated function by its name, which leads to this object and not to the function."""
        module = sys.modules.get(getattr(self.function, "__module__", None) or "")
        name = getattr(self.function, "__qualname__", "")
        try:
            by_name = operator.attrgetter(name)(module) is self
        except AttributeError:
            by_name = False
        return name if by_name else (type(self), (self.function,))

    def __repr__(self) -> str:
        """Show the kind and the function."""
        return f"{type(self).__name__}({self.function!r})"


class AgentBuilder(_Declared):
    """A function ``f(game)`` that returns an agent or a policy; see `agent_builder`."""


class BatchPolicy(_Declared):
    """A policy of many positions at once; see `batch_policy`."""


def agent_builder(function: Callable[[Game[Any]], Any]) -> AgentBuilder:
    """Declare that a function builds an agent: it is called with the game. Usable as a decorator."""
    return AgentBuilder(function)


def batch_policy(function: Callable[[Any, Any], Any]) -> BatchPolicy:
    """Declare a policy of many positions at once. Usable as a decorator.

    Args:
        function: ``f(boards int8 (k, shape), masks int8 (k, n)) -> actions``, integers (k,). A vector environment asks
            it for all waiting rows at once; a single game calls it with k = 1.

    """
    return BatchPolicy(function)


def find_policy(policy: Any, game: Game[Any], make_agent: Callable[[str, Game[Any]], Any], what: str = "agent") -> Any:
    """Return what a given player plays with: an agent object, a `BatchPolicy`, or a callable of one observation.

    Args:
        policy: any form of the table above.
        game: what is played; builders are called with it.
        make_agent: reads a spec.
        what: the argument's name, for errors.

    Raises:
        TypeError: it is not of any of these forms.

    """
    if isinstance(policy, str):
        return make_agent(policy, game)
    if isinstance(policy, (type, AgentBuilder)):
        built = policy(game)
        if isinstance(built, (str, type, AgentBuilder)) or not (is_agent(built) or callable(built)):
            raise TypeError(f"{what}: {policy!r} built {built!r}, which is neither an agent with act() nor a policy")
        policy = built
    if isinstance(policy, BatchPolicy) or is_agent(policy):
        return policy
    if not callable(policy):
        raise TypeError(
            f"{what} must be a spec string, an agent with act(), a class, or a callable of one observation, "
            f"not {policy!r}"
        )
    try:
        inspect.signature(policy).bind({})
    except TypeError:
        raise TypeError(
            f"{what}: {policy!r} cannot be called with one observation; batch_policy(f) declares a policy "
            "f(boards, masks) of many positions, agent_builder(f) a function f(game) that builds an agent"
        ) from None
    except ValueError:
        pass  # Some builtin callables have no signature to look at.
    return policy
