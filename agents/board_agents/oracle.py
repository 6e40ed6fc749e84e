"""Limits of a query, and protocols for optional abilities of oracles and searches.

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
    """A search reached one of its limits. Solvers catch it and return None."""


def check_seconds(what: str, seconds: Any) -> float:
    """Return a number of seconds as a float.

    Raises:
        ValueError: it is not a finite number above 0; the message names `what`, the owner of the limit.

    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
        raise ValueError(f"{what}: seconds must be a finite number above 0, not {seconds!r}")
    return float(seconds)


@dataclass(frozen=True)
class Limits:
    """Limits of one query to a solver, which returns None where they do not suffice.

    Attributes:
        nodes: positions searched, 0 or more; None for no limit. The same number gives the same answer on every machine.
        seconds: time in seconds, above 0; None for no limit.

    """

    nodes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Check both; raise ValueError if one is invalid."""
        if self.nodes is not None:
            object.__setattr__(self, "nodes", check_int("limits", "nodes", self.nodes, 0, MOST_NODES))
        if self.seconds is not None:
            object.__setattr__(self, "seconds", check_seconds("limits", self.seconds))

    @property
    def deadline(self) -> float | None:
        """``time.monotonic()`` at which the time of a query that starts now is over; None for no limit."""
        return None if self.seconds is None else time.monotonic() + self.seconds


NO_LIMITS = Limits()


def renamed(owner: str, old: dict[str, Any], new: str) -> None:
    """Warn the caller's caller about deprecated parameters that it used (those that are not None)."""
    used = [name for name, value in old.items() if value is not None]
    if used:
        warnings.warn(
            f"{owner}: {' and '.join(used)} will be removed in the next release; use {new}",
            DeprecationWarning,
            stacklevel=3,
        )


def old_limits(method: F) -> F:
    """Let a method with `limits` also accept ``node_limit`` and ``time_limit``, with a warning."""

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
    """An oracle that compiles or loads code at its first query; `warmup` does so ahead of time."""

    def prepare(self) -> None:
        """Compile and load the code ahead of the first query."""
        ...


@runtime_checkable
class HasFreshValues(Protocol[S_contra]):
    """An oracle whose cached results let later queries reach further within the same limits."""

    def fresh_values(self, state: S_contra) -> dict[int, float] | None:
        """Return ``action_values`` independent of earlier queries."""
        ...


@runtime_checkable
class HasValue(Protocol[S_contra]):
    """An oracle that can value a position without valuing all its moves."""

    def value(self, state: S_contra) -> float | None:
        """Return the exact value for the seat to move, None if unknown."""
        ...


@runtime_checkable
class Reduced(Protocol):
    """An oracle that is limited by a missing extra.

    Attributes:
        missing: the missing part, and how to install it; None if nothing is missing.

    """

    missing: str | None


@runtime_checkable
class HasUnit(Protocol):
    """An oracle with its own unit of values; others use the game's unit.

    Attributes:
        unit: the name of the unit, e.g. "discs".

    """

    unit: str


@runtime_checkable
class HasLine(Protocol[S_contra]):
    """An oracle that knows a principal variation."""

    def line(self, state: S_contra) -> Sequence[int] | None:
        """Return the principal variation to the end of the game, [] if it is over, None if unknown."""
        ...


class Finding(Protocol):
    """Result of a search.

    Attributes:
        action: the action chosen.
        depth: search depth in plies.

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
    """A result that states whether its values are exact; otherwise they are estimates."""

    @property
    def exact(self) -> bool: ...  # noqa: D102


@runtime_checkable
class Analyst(Protocol[S_contra]):
    """Anything that evaluates unfinished positions by a search, such as search agents."""

    def analyse(self, state: S_contra) -> Finding:
        """Search an unfinished position and return the result."""
        ...
