"""Shared by the environments: the current position, its observations and its infos."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Generic

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from board_envs.game import Game, is_action
from board_envs.random import Stream
from board_envs.registry import make_game
from board_envs.resolve import resolve
from board_envs.types import IllegalActionError, Int8, Oracle, PositionError, S

ILLEGAL = ("raise", "lose", "random", "ignore")
"""What an illegal action may do: raise IllegalActionError; lose the game; be replaced by a random legal one; be ignored
at a penalty, and end the game as truncated when a cap is reached."""
_INT8 = np.dtype(np.int8)
MASK_IN = ("observation", "info")
RENDER_MODES = ("ansi", "human")
START_OPTIONS = ("position", "moves", "state")
PENALTY, CAP = 0.1, 100
NOT_BEGUN = "the game has not begun: call reset()"
HALF_DONE = "the last step or reset was broken off, by an error or an interrupt: call reset()"


class Unknown(np.float64):
    """NaN that equals NaN, so that checkers which compare infos by value can compare those with unknown numbers."""

    def __eq__(self, other: object) -> bool:
        """Whether the other is NaN too."""
        return isinstance(other, float) and float(other) != float(other)

    __hash__ = np.float64.__hash__

    def __reduce__(self) -> tuple[type, tuple[float]]:
        """Keep the type in pickles and copies."""
        return Unknown, (float(self),)


class Values(np.ndarray[Any, Any]):
    """Action values, float32 (n,): an array in which ``==`` and `numpy.allclose` take NaN for equal to NaN.

    Gymnasium's and PettingZoo's determinism checks compare infos by these two.
    """

    def __eq__(self, other: object) -> Any:
        """Compare entry by entry."""
        mine, others = np.asarray(self), np.asarray(other)
        return (mine == others) | ((mine != mine) & (others != others))

    __hash__ = None

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Give `numpy.allclose` its option ``equal_nan``."""
        if func is np.allclose:
            kwargs = {"equal_nan": True, **kwargs}
        return super().__array_function__(func, types, args, kwargs)


UNKNOWN = Unknown("nan")


def check_choice(name: str, value: Any, allowed: Iterable[Any]) -> Any:
    """Return the value if it is allowed; ValueError says what is."""
    choices = tuple(allowed)
    if isinstance(value, bool) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return value


def check_positive(name: str, value: Any) -> int:
    """Return the value as an int; ValueError unless it is an integer from 1 on."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be an integer from 1 on, not {value!r}")
    return int(value)


def check_penalty(value: Any) -> float:
    """Return the penalty of an ignored action; ValueError unless it is a number from 0 on."""
    if isinstance(value, (str, bytes)) or not value >= 0:
        raise ValueError(f"illegal_penalty must be 0 or more (it is subtracted), not {value!r}")
    return float(value)


def find_game(game: str | Game[Any], parameters: Mapping[str, Any]) -> Game[Any]:
    """Return a game given as an object or by name and parameters."""
    if isinstance(game, Game):
        if parameters:
            raise TypeError(f"{game!r} is a Game already, it takes no {', '.join(sorted(parameters))}")
        return game
    return make_game(game, **parameters)


def find_oracle(oracle: Oracle[Any] | str | None, game: Game[Any]) -> Oracle[Any] | None:
    """Return an oracle given as an object or by a spec string."""
    if isinstance(oracle, str):
        oracle = resolve("oracle", oracle, game)
    if oracle is not None and not isinstance(oracle, Oracle):
        raise TypeError(f"oracle must have a method action_values(state), {oracle!r} has none")
    return oracle


def check_options(options: Mapping[str, Any] | None, others: Iterable[str] = ()) -> dict[str, Any]:
    """Return the reset options; ValueError names an unknown key, or those that exclude each other."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"reset options are a mapping such as {{'moves': ...}}, not {options!r}")
    given = dict(options)
    allowed = (*START_OPTIONS, *others)
    unknown = [key for key in given if key not in allowed]
    if unknown:
        raise ValueError(f"unknown reset option {unknown[0]!r}; known options: {', '.join(allowed)}")
    starts = [key for key in START_OPTIONS if given.get(key) is not None]
    if len(starts) > 1:
        raise ValueError(f"reset options {' and '.join(map(repr, starts))} exclude each other")
    return given


def read_start(game: Game[S], options: Mapping[str, Any]) -> S:
    """Return the state to start from; PositionError or IllegalActionError says why one cannot be played from."""
    if options.get("position") is not None:
        state = game.parse(options["position"])
    elif options.get("moves") is not None:
        state = game.from_moves(options["moves"])
    elif options.get("state") is not None:
        state = game.own(game.check_state(options["state"]))
    else:
        return game.initial_state()
    if game.is_terminal(state):
        raise PositionError(f"the game is over in {game.format(state)}: there is nothing to play")
    return state


def ask_oracle(oracle: Oracle[Any], state: Any, n: int) -> dict[int, float] | None:
    """Return an oracle's answer for an unfinished state; ValueError if it is malformed."""
    values = oracle.action_values(state)
    if values is None:
        return None
    if not isinstance(values, Mapping) or not all(is_action(action, n) for action in values):
        raise ValueError(f"the oracle {oracle!r} answered {values!r}, not {{action: value}} with actions 0 to {n - 1}")
    return {int(action): float(value) for action, value in values.items()}


def values_array(values: Mapping[int, float] | None, n: int) -> NDArray[np.float32]:
    """Return an oracle's answer as float32 (n,), NaN where nothing is known."""
    array = np.full(n, np.nan, np.float32)
    if values is not None:
        for action, value in values.items():
            array[action] = value
    return array


def regret_of(values: Mapping[int, float] | None, action: int) -> float:
    """Return by how much an action falls short of the best; NaN where nothing is known."""
    if values is None or action not in values:
        return UNKNOWN
    return float(max(values.values()) - values[action])


class Actions(spaces.Discrete):
    """The actions 0 .. n-1: a Discrete space with a fast path for plain integers (wrappers check each step)."""

    def contains(self, x: Any) -> bool:
        """Whether `x` is one of the actions."""
        if type(x) is int:
            return bool(0 <= x < self.n)
        return bool(super().contains(x))


def make_spaces(game: Game[Any], mask_in: str, flat: bool) -> tuple[spaces.Space[Any], spaces.Discrete]:
    """Return an observation space and an action space of one seat."""
    high = game.observation_high
    board: spaces.Space[Any]
    if flat:
        board = spaces.Box(0, high, (int(np.prod(game.observation_shape)),), np.float32)
    else:
        board = spaces.Box(0, high, game.observation_shape, np.int8)
    if mask_in == "observation":
        mask = spaces.Box(0, 1, (game.num_actions,), np.int8)
        board = spaces.Dict({"observation": board, "action_mask": mask})
    return board, Actions(game.num_actions)


class Copies:
    """Copies and pickles of an environment; `_bind` rebuilds the attributes that they omit.

    A copy shares the oracle: its answers do not depend on what it was asked before. A pickle holds the oracle's spec if
    it was given by one.
    """

    _UNBOUND: ClassVar[tuple[str, ...]]
    """The attributes that `_bind` sets."""
    game: Game[Any]
    oracle: Oracle[Any] | None
    _oracle_spec: str | None

    def _set_oracle(self, oracle: Oracle[Any] | str | None) -> None:
        self._oracle_spec = oracle if isinstance(oracle, str) else None
        self.oracle = find_oracle(oracle, self.game)

    def _bind(self) -> None:
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what `_bind` rebuilds."""
        saved = {name: value for name, value in self.__dict__.items() if name not in self._UNBOUND}
        if self._oracle_spec is not None:
            saved["oracle"] = self._oracle_spec
        return saved

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Take up a copy."""
        self.__dict__.update(saved)
        self.oracle = find_oracle(saved["oracle"], self.game)
        self._bind()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Return an independent copy."""
        twin = memo[id(self)] = type(self).__new__(type(self))
        memo[id(self.oracle)] = self.oracle
        twin.__setstate__(copy.deepcopy({**self.__getstate__(), "oracle": self.oracle}, memo))
        return twin

    def __copy__(self) -> Any:
        """Return an independent copy: nothing mutable is shared, so a shallow copy is a deep one."""
        return copy.deepcopy(self)


class Table(Copies, Generic[S]):
    """The current position with its bookkeeping; base of the environments.

    Attributes:
        game: the game and its size.
        illegal: what an illegal action does, one of `ILLEGAL`.
        illegal_penalty: subtracted from the reward for each ignored action.
        illegal_cap: the game is truncated at this many ignored actions.
        mask_in: where the mask is besides the info: "observation" or "info" (nowhere else).
        flat: whether observations are float32 vectors.
        oracle: the source of exact values, or None.
        render_mode: "ansi" (render returns text), "human" (prints it at each step) or None.

    """

    _SAVED: ClassVar[tuple[str, ...]] = (
        "_state", "_stream", "_seat", "_winner", "_margin", "_plies", "_last_mover", "_illegal", "_illegal_count",
        "_values", "_regret",
    )  # fmt: skip
    """The attributes that are a game in progress; subclasses add theirs."""
    _UNBOUND = ("_rules", "_own")
    _needs_reset: str | None = NOT_BEGUN
    """Why nothing can be done before `reset`, None if it can."""

    _state: S

    def _set_table(
        self,
        game: str | Game[Any],
        parameters: Mapping[str, Any],
        *,
        illegal: str,
        illegal_penalty: float,
        illegal_cap: int,
        mask_in: str,
        flat: bool,
        oracle: Oracle[Any] | str | None,
        render_mode: str | None,
    ) -> None:
        self.game: Game[Any] = find_game(game, parameters)
        self.illegal = check_choice("illegal", illegal, ILLEGAL)
        self.illegal_penalty = check_penalty(illegal_penalty)
        self.illegal_cap = check_positive("illegal_cap", illegal_cap)
        self.mask_in = check_choice("mask_in", mask_in, MASK_IN)
        self.flat = bool(flat)
        self._set_oracle(oracle)
        self.render_mode = check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        self._stream = Stream.seeded(None)
        self._bind()

    def _bind(self) -> None:
        """Keep at hand what pickles cannot hold and copies need not."""
        self._rules = self.game.rules
        self._own = self.game.own if self.game.rules.has_memory else None
        self._n = self.game.num_actions
        self._shape = self.game.observation_shape
        self._mask_in_observation = self.mask_in == "observation"
        self._unknown = np.full(self._n, np.nan, np.float32).view(Values)

    def _begin(self, state: S) -> None:
        """Set the state of a new game."""
        self._state = state
        self._seat = int(self._rules.to_play(state))
        self._winner = -1
        self._margin = int(self._rules.margin(state))
        self._mask: Int8 | None = None
        self._plies = 0
        self._last_mover = -1
        self._illegal = 0
        self._illegal_count = 0
        self._values: Values | None = None
        self._regret: float = UNKNOWN

    def _check_ready(self) -> None:
        if self._needs_reset is not None:
            raise ResetNeeded(self._needs_reset)

    # -- moves --------------------------------------------------------------------------------------------------------

    def _legal_mask(self) -> Int8:
        """Return the mask of the seat to act, all zeros at the end; it is kept, so hand out copies only."""
        mask = self._mask
        if mask is None:
            mask = self._mask = np.empty(self._n, np.int8)
            self._rules.write_mask(self._state, mask)
        return mask

    def _check_action(self, action: Any) -> int:
        """Return an action's number; IllegalActionError, under every `illegal` rule, unless it is in 0 .. n-1."""
        if not is_action(action, self._n):
            raise IllegalActionError(self.game.explain_illegal(self._state, action))
        return int(action)

    def _ask(self) -> dict[int, float] | None:
        """Return what the oracle says of the position before a move; nothing has changed if it fails."""
        return None if self.oracle is None else ask_oracle(self.oracle, self._state, self._n)

    def _note(self, values: dict[int, float] | None, action: int, legal: bool) -> None:
        """Keep what the oracle said before a move, and what the move gives away."""
        if self.oracle is None:
            return
        self._values = values_array(values, self._n).view(Values)
        self._regret = regret_of(values if legal else None, action)

    def _random_action(self) -> int:
        return int(self._rules.nth(self._state, self._stream.below(self._rules.count(self._state))))

    def _play(self, action: int) -> None:
        """Make a legal move."""
        rules = self._rules
        self._last_mover = self._seat
        state = self._state if self._own is None else self._own(self._state)
        self._state = state = rules.step(state, action)
        self._seat = rules.to_play(state)
        self._winner = rules.winner(state)
        self._margin = rules.margin(state)
        self._mask = None
        self._plies += 1

    # -- observations and infos ------------------------------------------------------------------------------------

    def _observation(self, seat: int, mask: Int8) -> Any:
        """Return a seat's observation as a new array; the mask is not copied."""
        board = np.empty(self._shape, _INT8)
        self._rules.observe(self._state, seat, board)
        if self.flat:
            board = board.reshape(-1).astype(np.float32)
        return {"observation": board, "action_mask": mask} if self._mask_in_observation else board

    def _info(self, mask: Int8) -> dict[str, Any]:
        """Return an info in arrays of its own; the mask is not copied."""
        return {
            "action_mask": mask,
            "to_play": self._seat,
            "last_mover": self._last_mover,
            "winner": self._winner,
            "margin": self._margin,
            "illegal": self._illegal,
            "plies": self._plies,
            "action_values": (self._unknown if self._values is None else self._values).copy(),
            "regret": self._regret,
        }

    def _show(self) -> str | None:
        if self.render_mode is None:
            return None
        self._check_ready()
        picture = self.game.draw(self._state)
        if self.render_mode == "human":
            print(picture, end="\n\n", flush=True)
            return None
        return picture

    # -- copies -------------------------------------------------------------------------------------------------------

    @property
    def game_state(self) -> S:
        """The game's own state, immutable; ``game.format`` writes it."""
        self._check_ready()
        return self._state

    def get_state(self) -> dict[str, Any]:
        """Return all that is a game in progress, chance included, for `set_state` of an environment made alike."""
        self._check_ready()
        return {"game": repr(self.game), **{name: _copied(getattr(self, name)) for name in self._SAVED}}

    def set_state(self, saved: Mapping[str, Any]) -> None:
        """Restore a state of `get_state`; ValueError, with nothing changed, for anything else."""
        check_saved(saved, self.game, self._SAVED)
        if not isinstance(saved["_stream"], Stream):
            raise ValueError(f"the state's _stream is {saved['_stream']!r}, not what get_state() returned")
        self.game.check_state(saved["_state"])
        for name in self._SAVED:
            setattr(self, name, _copied(saved[name]))
        self._mask = None
        self._needs_reset = None


def check_saved(saved: Any, game: Game[Any], names: Iterable[str]) -> None:
    """ValueError unless `saved` has what `get_state` of an environment of this kind and game returns."""
    expected = {"game", *names}
    if not isinstance(saved, Mapping) or set(saved) != expected:
        given = f"one with the keys {', '.join(map(str, saved))}" if isinstance(saved, Mapping) else repr(saved)
        raise ValueError(f"a state must come from get_state() of an environment made alike, not {given}")
    if saved["game"] != repr(game):
        raise ValueError(f"the state is one of {saved['game']}, this environment plays {game!r}")


def _copied(value: Any) -> Any:
    """Copy what is changed in place."""
    if isinstance(value, (dict, list, Stream)):
        return copy.copy(value)
    return value
