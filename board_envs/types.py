"""The vocabulary that rules, environments and agents share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Word: TypeAlias = np.uint64
Words: TypeAlias = NDArray[np.uint64]
Int8: TypeAlias = NDArray[np.int8]
S = TypeVar("S", bound=tuple[Any, ...])
"""A game's State: a NamedTuple of words (np.uint64) and small integers, immutable by convention."""
S_contra = TypeVar("S_contra", bound=tuple[Any, ...], contravariant=True)
"""A State as agents and oracles take it (contravariant)."""


class Outcome(IntEnum):
    """How a game stands. The numbers are those of ``info["winner"]``."""

    ONGOING = -1
    PLAYER_0 = 0
    PLAYER_1 = 1
    DRAW = 2


RETURNS: dict[int, tuple[int, int]] = {-1: (0, 0), 0: (1, -1), 1: (-1, 1), 2: (0, 0)}
"""An Outcome's number -> what player_0 and player_1 get."""

INFO_FACTS = ("to_play", "last_mover", "winner", "margin", "illegal", "plies")
"""The keys of an info whose values are integers."""
INFO_KEYS = ("action_mask", *INFO_FACTS, "action_values", "regret")
"""All keys of an environment's info, in its order."""


class TextError(ValueError):
    """An error whose message quotes its input; a message longer than LONGEST is cut in its middle."""

    LONGEST = 2000

    def __init__(self, message: object = "") -> None:
        text = str(message)
        if len(text) > self.LONGEST:
            text = f"{text[: self.LONGEST // 2]} ... {text[-self.LONGEST // 4 :]}"
        super().__init__(text)


class IllegalActionError(TextError):
    """An action that the rules do not allow in this state."""


class PositionError(TextError):
    """A text, a list of moves or a state that is no legal position of the game."""


class SpecError(TextError):
    """A spec string (``"name:key=value,..."``) that does not match a known name or parameter."""


class MissingExtraError(ImportError):
    """An optional dependency is not installed.

    Attributes:
        extra: the name to put between brackets in ``pip install 'board-envs[...]'``.

    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'board-envs[{extra}]'")
        self.extra = extra


@dataclass(frozen=True)
class Rules(Generic[S]):
    """A game's rules as pure functions over its State; each is jitable, so one source serves both speeds.

    Every function but `step` and `initial` only reads. Seats are 0 and 1; actions are 0 .. n-1.

    Attributes:
        initial: () -> State.
        to_play: (state) -> seat to act; in a finished game the seat that would have been next.
        count: (state) -> number of legal actions; 0 exactly when the game is over.
        nth: (state, k) -> the k-th legal action in increasing order, 0 <= k < count.
        is_legal: (state, action) -> bool, for 0 <= action < n.
        write_mask: (state, out int8 (n,)) -> None; 1 where legal, every entry written.
        step: (state, action) -> State after a legal action. A state with a history gets the next free entry
            of it written, so the caller passes a state that it owns (`Game.step` sees to that).
        winner: (state) -> an Outcome's number.
        margin: (state) -> player_0's points minus player_1's so far, in the game's unit.
        observe: (state, seat, out int8 (observation shape)) -> None; every entry written.
        pack: (state, out uint64 (words,)) -> None; the state without the entries of its history.
        unpack: (words uint64 (words,), memory uint64 (capacity, 2)) -> State; `memory` is used, not copied. The words
            may be any at all: what the other functions make of such a state is free, but compiled code does not check
            indices, so all that they use as one must stay within its array (masked or cut off here).
        words: how many words `pack` writes.
        has_memory: whether a state carries earlier configurations of its game.
        memory_words: how many of the last packed words only say which entries of the history are the state's (0 without
            a history). They are no part of the position; a batch keeps them beside the others.
        memory_length: with a history, (state) -> how far its array is used. A step may need one entry more; without
            room it goes on in a larger array of its own, so callers that store the history check before stepping.
        step_with_room: with a history, `step` for callers that have made sure of room: it makes no new array,
            so that compiled code need not count references to one.
        compact: with a history, (state) -> the same state, its live entries moved in place to the front of the array.
        is_sound: (state) -> whether a state that was unpacked can be a position. It is asked where states come from
            outside, not at each step. None: all are.

    """

    initial: Callable[[], S]
    to_play: Callable[[S], int]
    count: Callable[[S], int]
    nth: Callable[[S, int], int]
    is_legal: Callable[[S, int], bool]
    write_mask: Callable[[S, Int8], None]
    step: Callable[[S, int], S]
    winner: Callable[[S], int]
    margin: Callable[[S], int]
    observe: Callable[[S, int, Int8], None]
    pack: Callable[[S, Words], None]
    unpack: Callable[[Words, Words], S]
    words: int
    has_memory: bool = False
    memory_words: int = 0
    memory_length: Callable[[S], int] | None = None
    compact: Callable[[S], S] | None = None
    step_with_room: Callable[[S, int], S] | None = None
    is_sound: Callable[[S], bool] | None = None


class Notation(Protocol[S]):
    """A game's text forms. Functions that read text raise PositionError (positions) or IllegalActionError (moves).

    Attributes:
        legend: how a move is written, for people: what is counted, from where and from which number.

    """

    legend: str

    def parse(self, text: str) -> S:
        """Return the state that a text describes; PositionError says why it cannot arise."""
        ...

    def format(self, state: S) -> str:
        """Write a state so that ``parse(format(state)) == state``, up to the history."""
        ...

    def action_to_text(self, state: S, action: int) -> str:
        """Write an action as the move's usual name."""
        ...

    def text_to_action(self, state: S, text: str) -> int:
        """Return the action that a move's name means in `state`; IllegalActionError if no legal move has this name."""
        ...

    def split_moves(self, text: str) -> list[str]:
        """Cut a game's moves, written one after the other, into single moves."""
        ...

    def join_moves(self, moves: list[str]) -> str:
        """Write single moves as one text; the inverse of `split_moves`."""
        ...

    def draw(self, state: S) -> str:
        """Return the position as several lines for a terminal."""
        ...


@runtime_checkable
class Oracle(Protocol[S_contra]):
    """Anything that knows exact values (solvers, tables, closed forms)."""

    def action_values(self, state: S_contra) -> dict[int, float] | None:
        """Return each legal action's exact value for the mover, larger is better, or None if out of reach."""
        ...
