"""Game: rules, observation, notation and facts of one game at one size."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, cast

import numpy as np
from numpy.typing import NDArray

from board_envs.forms import Form, all_forms, common_forms, read_position
from board_envs.types import RETURNS, IllegalActionError, Int8, Notation, Outcome, PositionError, Rules, S


@dataclass(frozen=True)
class Symmetry:
    """A symmetry of a game's rules as array maps.

    Attributes:
        cells: intp (observation size,); the image's flat observation is ``observation.reshape(-1)[cells]``.
        actions: intp (n,); the image's mask (or policy) is ``mask[actions]``.

    """

    cells: NDArray[np.intp]
    actions: NDArray[np.intp]

    def observation(self, observation: NDArray[Any]) -> NDArray[Any]:
        """Return the image of an observation, its shape kept."""
        return observation.reshape(-1)[self.cells].reshape(observation.shape)

    def policy(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the image of a mask, a policy or action values (..., n)."""
        return values[..., self.actions]

    def action(self, action: int) -> int:
        """Return the image of an action."""
        return int(np.flatnonzero(self.actions == action)[0])


@dataclass(frozen=True, kw_only=True)
class About:
    """What documentation says of a game, as data; each text is a phrase without a full stop.

    Attributes:
        title: the game's usual name.
        summary: what one does and who wins.
        axes: what the axes of an observation count, without the last one if `planes` names its entries.
        planes: what ``observation[..., k]`` is, an entry a plane; () if the observation has no planes.
        actions: what action number means which move.
        end: when a game is over.
        length: why `Game.max_plies` is the longest game, or why no such number is stated.

    """

    title: str
    summary: str
    axes: tuple[str, ...]
    planes: tuple[str, ...]
    actions: str
    end: str
    length: str


@dataclass(frozen=True, eq=False)
class Game(Generic[S]):
    """One game at one size. Make it by ``board_envs.make_game``; equal names and parameters give the same object.

    Every game here is deterministic, zero-sum, of perfect information, for two seats: player_0 (begins) and player_1.

    Attributes:
        name: the name in the registry, words in small letters joined by hyphens.
        parameters: all parameters with their values.
        rules: the pure functions underneath; they check nothing.
        notation: text forms.
        num_actions: n; actions are 0 .. n-1.
        observation_shape: shape of an int8 observation.
        observation_high: largest entry that an observation can hold.
        max_plies: bound on a game's length, None if the rules give none worth stating.
        unit: what the margin counts.
        symmetries: function that lists the symmetries of this size, the identity among them.
        decoder: (observation int8, seat) -> State.
        values_to_come: whether exact values count only what is still to come, so that the outcome is the sign of the
            mover's margin so far plus the value; else it is the value's own sign.
        outside_forms: (game) -> the forms that this game reads beside its own notation; see `board_envs.forms`.
        about: what documentation says of it; None limits the game's page to what the code states.

    """

    name: str
    parameters: Mapping[str, Any]
    rules: Rules[S]
    notation: Notation[S]
    num_actions: int
    observation_shape: tuple[int, ...]
    observation_high: int
    max_plies: int | None
    unit: str
    decoder: Callable[[Int8, int], S]
    symmetries: Callable[[], tuple[Symmetry, ...]]
    own: Callable[[S], S] = field(default=lambda state: state)
    values_to_come: bool = False
    outside_forms: Callable[[Any], Sequence[Form]] = common_forms
    about: About | None = None

    def __post_init__(self) -> None:
        """Freeze the parameters (games are shared) and check that every plane is named."""
        if self.about is not None:
            planes = len(self.about.planes)
            if len(self.about.axes) + bool(planes) != len(self.observation_shape) or (
                planes and planes != self.observation_shape[-1]
            ):
                raise ValueError(
                    f"{self.name}: about names {len(self.about.axes)} axes and {planes} planes, "
                    f"observations have shape {self.observation_shape}"
                )
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def __repr__(self) -> str:
        """Return the call that makes this game."""
        arguments = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"make_game({self.name!r}{', ' if arguments else ''}{arguments})"

    # -- states -------------------------------------------------------------------------------------------------------

    def initial_state(self) -> S:
        """Return the state that a game begins with."""
        return self.rules.initial()

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """All forms that are read (and perhaps written), the game's own notation among them; see `board_envs.forms`."""
        return all_forms(self)

    def parse(self, text: str) -> S:
        """Return the position that a text describes, in any form; PositionError says what is wrong with it."""
        if not isinstance(text, str):
            raise PositionError(f"a position of {self.name} is a text, not {text!r}")
        return cast("S", read_position(self, text))

    def format(self, state: S) -> str:
        """Write a position as text; ``parse`` is its inverse (up to the history)."""
        return self.notation.format(state)

    def from_moves(self, moves: str | Iterable[str], start: S | None = None) -> S:
        """Return the state after moves; arguments and errors are those of `read_moves`."""
        return self.play_moves(moves, start)[1]

    def read_moves(self, moves: str | Iterable[str], start: S | None = None) -> list[int]:
        """Return the actions of a game's moves.

        Args:
            moves: one text, or one text a move; a pass may stand by itself where the game's notation writes passes.
            start: the state that the moves are played from, None for the initial one.

        Raises:
            IllegalActionError: a move is not readable or not legal; its number and text are named.

        """
        return self.play_moves(moves, start)[0]

    def play_moves(self, moves: str | Iterable[str], start: S | None = None) -> tuple[list[int], S]:
        """Return the actions of a game's moves and the state they lead to; see `read_moves`."""
        state = self.initial_state() if start is None else start
        actions = []
        if not isinstance(moves, Iterable):
            raise IllegalActionError(f"moves are one text or one text a move, not {moves!r}")
        if isinstance(moves, str):
            numbered = list(enumerate(self.notation.split_moves(moves), 1))
        else:
            numbered = self._with_passes(moves)
        for number, move in numbered:
            try:
                action = self.text_to_action(state, move)
                state = self.step(state, action)
            except IllegalActionError as error:
                raise IllegalActionError(f"move {number} ({move!r}): {error}") from None
            actions.append(action)
        return actions, state

    def states(self, actions: Iterable[int], start: S | None = None) -> list[S]:
        """Return the states from `start` (None: initial) to the one after the last action, one more than actions.

        Raises:
            IllegalActionError: an action is not legal; its ply, counted from 1, is named.

        """
        states = [self.initial_state() if start is None else start]
        try:
            for action in actions:
                states.append(self.step(states[-1], action))  # each needs the one before it
        except IllegalActionError as error:
            raise IllegalActionError(f"ply {len(states)}: {error}") from None
        return states

    def move_names(self, actions: Sequence[int], states: Sequence[S]) -> list[str]:
        """Name actions as players do, one text each, given the states they were played in (see `states`)."""
        return [self.action_to_text(state, action) for action, state in zip(actions, states, strict=False)]

    def _with_passes(self, moves: Iterable[str]) -> list[tuple[int, str]]:
        """Number the moves of a list; one that continues the move before it, as a pass does, is joined to that one."""
        numbered: list[tuple[int, str]] = []
        for number, move in enumerate(moves, 1):
            if numbered and isinstance(move, str) and isinstance(numbered[-1][1], str) and move.strip():
                with contextlib.suppress(IllegalActionError):  # The reader of the moves reports a wrong one.
                    together = self.notation.split_moves(f"{numbered[-1][1]} {move.strip()}")
                    if len(together) == 1 and together[0].endswith(move.strip().lower()):
                        numbered[-1] = (numbered[-1][0], together[0])
                        continue
            numbered.append((number, move))
        return numbered

    def write_moves(self, actions: Iterable[int], start: S | None = None) -> str:
        """Write the actions of a game played from `start` (None: initial) as one text; `read_moves` is the inverse."""
        actions = list(actions)
        return self.notation.join_moves(self.move_names(actions, self.states(actions, start)))

    def check_state(self, state: S) -> S:
        """Return the state if it is a legal position; else PositionError says why not."""
        if not isinstance(state, type(self.initial_state())):
            raise PositionError(f"a state of {self!r} is a {type(self.initial_state()).__name__}, not {state!r}")
        for value, model in zip(state, self.initial_state(), strict=True):
            if isinstance(model, np.ndarray):
                fits = isinstance(value, np.ndarray) and (value.dtype, value.ndim) == (model.dtype, model.ndim)
            elif isinstance(model, np.uint64):
                fits = isinstance(value, np.uint64)
            else:
                fits = isinstance(value, (int, np.integer)) and bool(-1 <= value < 1 << 31)
            if not fits:
                raise PositionError(
                    f"{state!r} is no state of {self!r}: {value!r} is no {type(model).__name__} in range"
                )
        if self.rules.is_sound is not None and not self.rules.is_sound(state):
            raise PositionError(f"{state!r} is no state of {self!r}")
        again = self.notation.parse(self.format(state))
        if not self.same_position(again, state):
            raise PositionError(f"{state!r} is no state of {self!r}: it reads as {self.format(state)!r}")
        return state

    def same_position(self, a: S, b: S) -> bool:
        """Whether two states are the same position (their histories are not compared)."""
        return bool(np.array_equal(self.pack(a), self.pack(b)))

    def pack(self, state: S) -> NDArray[np.uint64]:
        """Return the position's words without the history: uint64 (words - memory_words,)."""
        words = np.zeros(self.rules.words, np.uint64)
        self.rules.pack(state, words)
        return words[: self.rules.words - self.rules.memory_words]

    # -- play ---------------------------------------------------------------------------------------------------------

    def current_player(self, state: S) -> int:
        """Return the seat to act, 0 or 1; in a finished game the seat that would have been next."""
        return int(self.rules.to_play(state))

    def legal_actions(self, state: S) -> list[int]:
        """List the legal actions in increasing order; none when the game is over."""
        return cast("list[int]", np.flatnonzero(self.legal_mask(state)).tolist())

    def legal_mask(self, state: S) -> Int8:
        """Return an int8 array (n,): 1 where the seat to act may play; all zeros when the game is over."""
        mask = np.zeros(self.num_actions, np.int8)
        self.rules.write_mask(state, mask)
        return mask

    def is_legal(self, state: S, action: int) -> bool:
        """Whether the seat to act may play `action`; anything else than an action number is not legal."""
        return is_action(action, self.num_actions) and bool(self.rules.is_legal(state, int(action)))

    def step(self, state: S, action: int) -> S:
        """Return the state after a legal action (the given one stays as it is); IllegalActionError otherwise."""
        if not self.is_legal(state, action):
            raise IllegalActionError(self.explain_illegal(state, action))
        return self.rules.step(self.own(state), int(action))

    def explain_illegal(self, state: S, action: Any) -> str:
        """Say why an action is not legal, and what is."""
        if self.is_terminal(state):
            return f"action {action!r}: the game is over ({self.format(state)})"
        legal = self.legal_actions(state)
        shown = ", ".join(map(str, legal[:20])) + (", ..." if len(legal) > 20 else "")
        if not is_action(action, self.num_actions):
            return f"action {action!r} is not an integer from 0 to {self.num_actions - 1}; legal here: {shown}"
        return f"action {action} is not legal in {self.format(state)}; legal: {shown}"

    def is_terminal(self, state: S) -> bool:
        """Whether the game is over."""
        return self.rules.count(state) == 0

    def winner(self, state: S) -> Outcome:
        """Return the outcome so far; ONGOING is not DRAW."""
        return Outcome(self.rules.winner(state))

    def returns(self, state: S) -> tuple[int, int]:
        """Return what each seat gets, +1 / 0 / -1; (0, 0) while the game goes on."""
        return RETURNS[int(self.rules.winner(state))]

    def margin(self, state: S) -> int:
        """Return player_0's points minus player_1's so far, in `unit`."""
        return int(self.rules.margin(state))

    # -- observations -------------------------------------------------------------------------------------------------

    def observe(self, state: S, seat: int) -> Int8:
        """Return what `seat` sees: int8 of `observation_shape`, channels last, plane 0 the seat's own pieces."""
        out = np.zeros(self.observation_shape, np.int8)
        self.rules.observe(state, check_seat(seat), out)
        return out

    def decode(self, observation: NDArray[Any], seat: int) -> S:
        """Rebuild the state of an unfinished game from the observation of the seat to move (its history is lost)."""
        array = np.asarray(observation)
        if array.size != int(np.prod(self.observation_shape)):
            raise ValueError(f"an observation of {self!r} has shape {self.observation_shape}, not {array.shape}")
        return self.decoder(array.reshape(self.observation_shape).astype(np.int8), check_seat(seat))

    # -- notation -----------------------------------------------------------------------------------------------------

    def action_to_text(self, state: S, action: int) -> str:
        """Name an action as players do; IllegalActionError if it is not an action number."""
        if not is_action(action, self.num_actions):
            raise IllegalActionError(f"action {action!r} is not an integer from 0 to {self.num_actions - 1}")
        return self.notation.action_to_text(state, action)

    def text_to_action(self, state: S, text: str) -> int:
        """Return the legal action that a move's name means in `state`; IllegalActionError otherwise."""
        if not isinstance(text, str):
            raise IllegalActionError(f"a move is a text such as {self._names_of_legal(state, 1)}, not {text!r}")
        if self.is_terminal(state):
            raise IllegalActionError(f"the game is over ({self.format(state)})")
        action = self.notation.text_to_action(state, text)
        if not self.is_legal(state, action):
            raise IllegalActionError(
                f"{text!r} is not legal in {self.format(state)}; legal: {self._names_of_legal(state, 20)}"
            )
        return action

    def _names_of_legal(self, state: S, most: int) -> str:
        legal = self.legal_actions(state)
        names = [self.notation.action_to_text(state, action) for action in legal[:most]]
        return ", ".join(names) + (", ..." if len(legal) > most else "")

    def draw(self, state: S) -> str:
        """Return the position as lines for a terminal."""
        return self.notation.draw(state)


def is_action(action: Any, n: int) -> bool:
    """Whether `action` is an integer (not a bool) from 0 to n-1."""
    if isinstance(action, np.ndarray) and action.shape == () and action.dtype.kind in "iu":
        action = action.item()
    return isinstance(action, (int, np.integer)) and not isinstance(action, bool) and 0 <= int(action) < n


def check_grid(grid: Any, values: tuple[int, ...]) -> NDArray[np.int8]:
    """Return a grid, rows of cells that each hold one of `values`, as int8 (rows, columns); PositionError otherwise."""
    try:
        array = np.asarray(grid)
    except ValueError:
        raise PositionError(f"a grid has rows of one length, not {grid!r}") from None
    if array.ndim != 2 or not array.size:
        raise PositionError(f"a grid is rows of cells, not of shape {array.shape}")
    wrong = array[~np.isin(array, values)]
    if wrong.size:
        raise PositionError(f"a cell of a grid is one of {', '.join(map(str, values))}, not {wrong[0]!r}")
    return array.astype(np.int8)


def ternary_code(grid: Any) -> int:
    """Return the sum of (p + 1) 3^i over the cells of a grid of 1, -1 and 0, whether it can arise or not."""
    code = 0
    for value in reversed(np.asarray(grid).ravel().tolist()):
        code = 3 * code + value + 1
    return code


def check_seat(seat: Any) -> int:
    """Return a seat, 0 or 1; ValueError if it is neither."""
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or seat not in (0, 1):
        raise ValueError(f"a seat is 0 or 1, not {seat!r}")
    return int(seat)


def check_int(game: str, name: str, value: Any, low: int, high: int, why: str = "") -> int:
    """Return a parameter as an int; ValueError names the game, the value and the limits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{game}: {name} must be an integer from {low} to {high}{why}, not {value!r}")
    return int(value)
