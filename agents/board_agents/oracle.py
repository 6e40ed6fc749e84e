"""What oracles and searches share: limits of one question, and the abilities that not all of them have.

The protocol itself, ``action_values(state) -> {action: exact value for the mover} | None``, is
`board_envs.types.Oracle`.
"""

from __future__ import annotations

import functools
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from board_envs.game import check_int
from board_envs.types import S_contra

F = TypeVar("F", bound=Callable[..., Any])
MOST_NODES = 2**63 - 1


class LimitReachedError(Exception):
    """A search came to one of its limits. It stays inside the solvers: their callers are answered with None."""


def check_seconds(what: str, seconds: Any) -> float:
    """Return a number of seconds as a float.

    Raises:
        ValueError: it is no finite number above 0; the message names `what`, the owner of the limit.

    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
        raise ValueError(f"{what}: seconds must be a finite number above 0, not {seconds!r}")
    return float(seconds)


@dataclass(frozen=True)
class Limits:
    """Limits of one question to a solver; it answers None where they do not suffice.

    Attributes:
        nodes: positions looked at, from 0 on; None for no limit. The same number gives the same answer everywhere.
        seconds: time, above 0; None for no limit.

    """

    nodes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Check both; ValueError says what is allowed."""
        if self.nodes is not None:
            object.__setattr__(self, "nodes", check_int("limits", "nodes", self.nodes, 0, MOST_NODES))
        if self.seconds is not None:
            object.__setattr__(self, "seconds", check_seconds("limits", self.seconds))

    @property
    def deadline(self) -> float | None:
        """``time.monotonic()`` at which the time of a question asked now is over; None for no limit."""
        return None if self.seconds is None else time.monotonic() + self.seconds


NO_LIMITS = Limits()


def renamed(owner: str, old: dict[str, Any], new: str) -> None:
    """Warn, on behalf of the caller's caller, of old names of parameters that it used (those that are not None)."""
    used = [name for name, value in old.items() if value is not None]
    if used:
        warnings.warn(
            f"{owner}: {' and '.join(used)} will be removed in the next release; use {new}",
            DeprecationWarning,
            stacklevel=3,
        )


def old_limits(method: F) -> F:
    """Let a method that takes `limits` be called with ``node_limit`` and ``time_limit`` too, with a warning."""

    @functools.wraps(method)
    def call(*args: Any, node_limit: int | None = None, time_limit: float | None = None, **kwargs: Any) -> Any:
        if node_limit is not None or time_limit is not None:
            old = {"node_limit": node_limit, "time_limit": time_limit}
            renamed(method.__qualname__, old, "limits=Limits(nodes, seconds)")
            kwargs["limits"] = Limits(node_limit, time_limit)
        return method(*args, **kwargs)

    return cast(F, call)


@runtime_checkable
class Preparable(Protocol):
    """An oracle that compiles, or loads, on its first question; `warmup` asks for that beforehand."""

    def prepare(self) -> None:
        """Compile and load what the first question would wait for."""
        ...


@runtime_checkable
class HasFreshValues(Protocol[S_contra]):
    """An oracle whose memory lets it answer more within its limits, the more it was asked before."""

    def fresh_values(self, state: S_contra) -> dict[int, float] | None:
        """Return what ``action_values`` returns if nothing was asked before."""
        ...


@runtime_checkable
class HasValue(Protocol[S_contra]):
    """An oracle that may know a position's value without those of all its moves."""

    def value(self, state: S_contra) -> float | None:
        """Return the exact value for the seat to move, None out of reach."""
        ...


@runtime_checkable
class Reduced(Protocol):
    """An oracle that knows less than it could because an extra is not installed.

    Attributes:
        missing: what would know more, and how to install it; None if nothing is missing.

    """

    missing: str | None


@runtime_checkable
class HasUnit(Protocol):
    """An oracle that says what its values count; others count in the game's own unit.

    Attributes:
        unit: the name of the unit, e.g. "discs".

    """

    unit: str


@runtime_checkable
class HasLine(Protocol[S_contra]):
    """An oracle that knows a line of best play."""

    def line(self, state: S_contra) -> Sequence[int] | None:
        """Return the actions of best play to the end, [] if the game is over, None where it is out of reach."""
        ...


class Finding(Protocol):
    """What a search found in a position.

    Attributes:
        action: the action chosen.
        depth: plies looked ahead.

    """

    @property
    def action(self) -> int: ...  # noqa: D102

    @property
    def depth(self) -> int: ...  # noqa: D102

    def value_for(self, seat: int) -> float:
        """Return the position's value in a seat's view."""
        ...


@runtime_checkable
class MaybeExact(Protocol):
    """A finding that says whether its values are exact; others are estimates."""

    @property
    def exact(self) -> bool: ...  # noqa: D102


@runtime_checkable
class Analyst(Protocol[S_contra]):
    """Anything that values unfinished positions by a search, such as the agents that look ahead."""

    def analyse(self, state: S_contra) -> Finding:
        """Return what a search finds in an unfinished position."""
        ...
