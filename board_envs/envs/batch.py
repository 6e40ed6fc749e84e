"""Batches of games for custom trainers: arrays in, arrays out, compiled.

`Batch` has the pure functions of a game over B states at once; each returns new arrays. `SelfPlay` is the fast loop: B
games stepped in place, finished ones restarted at once, boards and masks in arrays that are reused.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from board_envs._jit import require_numba
from board_envs.envs import kernels
from board_envs.envs.common import check_positive
from board_envs.envs.threads import Threads
from board_envs.game import Game, Symmetry
from board_envs.random import Stream
from board_envs.types import IllegalActionError, Int8, PositionError, Words

_WORD = np.dtype(np.uint64)


class States(NamedTuple):
    """A batch of B states."""

    words: Words
    """uint64 (B, words): each state packed, see `Rules.pack`."""
    memory: Words
    """uint64 (B, capacity, 2): each state's history; capacity 0 if the rules keep none."""


class Playouts(NamedTuple):
    """Ends of random games."""

    winners: NDArray[np.int64]
    """int64 (B,): 0, 1, or 2 for a draw."""
    margins: NDArray[np.int64]
    """int64 (B,): player_0's points minus player_1's."""
    plies: NDArray[np.int64]
    """int64 (B,): how many moves were made."""


class Batch:
    """A game's functions over many states at once.

    Every function that takes `States` checks shapes and dtypes; a ValueError names what is wrong. The words' values are
    not checked at each call, which would take about as long as a step: words that are no state give meaningless
    results, but never touch memory outside the arrays. `check` checks states that come from elsewhere.

    Args:
        game: what is played.

    Raises:
        MissingExtraError: numba (the extra `fast`) is not installed.

    """

    def __init__(self, game: Game[Any]) -> None:
        require_numba("the batch API")
        self.game = game
        self._words, self._has_memory = game.rules.words, game.rules.has_memory

    def initial(self, count: int) -> States:
        """Return `count` initial states."""
        check_positive("count", count)
        return States(np.tile(kernels.first_words(self.game), (count, 1)), self._memory(count, kernels.CAPACITY))

    def pack(self, states: Sequence[Any]) -> States:
        """Return a batch of the game's own states; PositionError names one that is not a state of this game."""
        owned = []
        try:
            for state in states:
                owned.append(self.game.own(self.game.check_state(state)))  # noqa: PERF401  # its length names the row
        except PositionError as error:
            raise PositionError(f"state {len(owned)}: {error}") from None
        words = np.zeros((len(owned), self.game.rules.words), np.uint64)
        entries = [kernels.memory_of(state) for state in owned]
        capacity = max([kernels.CAPACITY, *(entry.shape[0] for entry in entries)])
        memory = self._memory(len(owned), capacity)
        for row, state in enumerate(owned):
            self.game.rules.pack(state, words[row])
            if memory.shape[1]:
                memory[row, : entries[row].shape[0]] = entries[row]
        return self.check(States(words, memory))

    def check(self, states: States) -> States:
        """Return the states, in arrays of one piece, if all can be positions of the game; PositionError names a row."""
        checked = self._checked(states)
        check_rows(self.game, *checked)
        return checked

    def unpack(self, states: States, row: int) -> Any:
        """Return one row as the game's own state; IndexError if there is no such row, PositionError if it is none."""
        words, memory = self._checked(states)
        if not 0 <= operator.index(row) < words.shape[0]:
            raise IndexError(f"there is no row {row}; rows are 0 to {words.shape[0] - 1}")
        check_rows(self.game, words, memory, [row])
        return unpack(self.game, words, memory, row)

    def legal(self, states: States) -> Int8:
        """Return masks, int8 (B, n): 1 where the seat to act may play; all zeros in a finished game."""
        return look(self.game, *self._checked(states))[1]

    def observe(self, states: States, seats: NDArray[np.int64] | None = None) -> Int8:
        """Return what each seat (integers (B,), 0 or 1; None: the seat to act) sees: int8 (B, shape)."""
        words, memory = self._checked(states)
        if seats is not None:
            seats = np.asarray(seats)
            if seats.shape != words.shape[:1] or seats.dtype.kind not in "iu" or not np.isin(seats, (0, 1)).all():
                raise ValueError(f"seats must be {words.shape[0]} integers, 0 or 1, not {seats!r}")
            seats = seats.astype(np.int64)
        return look(self.game, words, memory, seats)[0]

    def status(self, states: States) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the seat to act, the winner (-1 none yet, 0, 1, 2 a draw) and the margin: int64 (B,) each."""
        return status(self.game, *self._checked(states))

    def random_actions(self, states: States, stream: Stream) -> NDArray[np.int64]:
        """Return a random legal action a row, int64 (B,), 0 in a finished game; row i takes the stream's i-th draw."""
        return random_actions(self.game, *self._checked(states), stream)

    def step(self, states: States, actions: Any) -> States:
        """Return the states after a legal action each, integers (B,); IllegalActionError names a row that fails."""
        states = self._checked(states)
        given = read_actions(actions, states.words.shape[0])
        after = self._with_room(states)
        row = kernels.make_step(self.game)(given.astype(np.int64), *after, self.game.num_actions)
        if row >= 0:
            reason = self.game.explain_illegal(self.unpack(states, row), int(given[row]))
            raise IllegalActionError(f"row {row}: {reason}")
        return after

    def playout(self, states: States, seed: int, longest: int = 10_000) -> Playouts:
        """Play every state to its end with random moves.

        Args:
            states: where to begin.
            seed: of the moves; row i draws from the stream of ``seed + i``.
            longest: RuntimeError if a game takes more plies than this.

        """
        check_positive("longest", longest)
        states = self._checked(states)
        count = states.words.shape[0]
        after = self._with_room(states)
        told = np.zeros((3, count), np.int64)
        keys = np.array([Stream.seeded(seed + row).key for row in range(count)], np.uint64)
        counters = np.zeros(count, np.uint64)
        begin = 0
        while begin < count:
            begin = kernels.make_playout(self.game)(*after, keys, counters, told, longest, begin)
            if begin < 0:
                raise RuntimeError(f"row {-begin - 1}: no end in {longest} plies")
            if begin < count:
                after = States(after.words, kernels.longer(after.memory, 2 * after.memory.shape[1]))
        return Playouts(told[0], told[1], told[2])

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return the game's symmetries, the identity among them."""
        return self.game.symmetries()

    def images(self, observations: NDArray[Any], policies: NDArray[Any], symmetry: Symmetry) -> tuple[Any, Any]:
        """Return the images of observations (B, shape) and of masks, policies or action values (B, n)."""
        boards, n = (len(observations), *self.game.observation_shape), self.game.num_actions
        if observations.shape != boards or policies.shape != (boards[0], n):
            raise ValueError(
                f"expected observations {boards} and policies {(boards[0], n)}, not {observations.shape} and "
                f"{policies.shape}"
            )
        flat = observations.reshape(observations.shape[0], -1)
        return flat[:, symmetry.cells].reshape(observations.shape), symmetry.policy(policies)

    def _checked(self, states: States) -> States:
        """Return the states, their arrays contiguous, if they are a batch of this game."""
        if not isinstance(states, tuple) or len(states) != 2:
            raise ValueError(f"a batch of states is States(words, memory), not {states!r}")
        words, memory = states
        if not isinstance(words, np.ndarray) or not isinstance(memory, np.ndarray):
            self._refuse(words, memory)
        shape, entries = words.shape, memory.shape
        if (
            words.dtype != _WORD or memory.dtype != _WORD or len(shape) != 2 or shape[1] != self._words
            or len(entries) != 3 or entries[0] != shape[0] or entries[2] != 2 or (entries[1] > 0) != self._has_memory
        ):  # fmt: skip
            self._refuse(words, memory)
        if words.flags.c_contiguous and memory.flags.c_contiguous:
            return states
        return States(np.ascontiguousarray(words), np.ascontiguousarray(memory))

    def _refuse(self, words: Any, memory: Any) -> NoReturn:
        """ValueError says why these are not the words and memory of a batch."""
        rules = self.game.rules
        for name, array, shape in (("words", words, (rules.words,)), ("memory", memory, (None, 2))):
            fits = isinstance(array, np.ndarray) and array.dtype == np.uint64 and array.ndim == 1 + len(shape)
            if not fits or any(want not in (None, got) for want, got in zip(shape, array.shape[1:], strict=True)):
                wanted = ", ".join(["B", *("any" if size is None else str(size) for size in shape)])
                given = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else repr(array)
                raise ValueError(f"the {name} of a batch of {self.game!r} are uint64 ({wanted}), not {given}")
        raise ValueError(
            f"memory {memory.shape} does not go with words {words.shape} in {self.game!r}: as many rows, and "
            f"{'room for entries' if rules.has_memory else 'no entries'}"
        )

    def _memory(self, count: int, capacity: int) -> Words:
        return np.zeros((count, capacity if self.game.rules.has_memory else 0, 2), np.uint64)

    def _with_room(self, states: States) -> States:
        """Return copies in which every history has room for a step."""
        words, memory = states
        words, memory = words.copy(), memory.copy()
        if self._has_memory:
            while not kernels.make_room(self.game)(words, memory):
                memory = kernels.longer(memory, 2 * memory.shape[1])
        return States(words, memory)


class SelfPlay:
    """B games stepped in place, one policy for both seats; a finished game restarts within the step.

    All arrays are overwritten at each step: copy what you keep. There are no infos; see `BoardVectorEnv`.

    Args:
        game: what is played.
        count: B.
        seed: of random moves.
        num_threads: number of threads that step the rows; the results do not depend on it.

    Attributes:
        states: `States`, B games.
        observations: int8 (B, shape), what the seat to move sees.
        masks: int8 (B, n).
        rewards: float32 (B,), of the seat that has just moved.
        terminated: bool (B,), whether the step ended the game; the board is then that of the next one.

    """

    def __init__(self, game: Game[Any], count: int, seed: int = 0, num_threads: int = 1) -> None:
        batch = Batch(game)
        self.game = game
        self.states = batch.initial(count)
        self.observations, self.masks = look(game, *self.states)
        self.rewards: NDArray[np.float32] = np.zeros(count, np.float32)
        self.terminated: NDArray[np.bool_] = np.zeros(count, np.bool_)
        self._key = Stream.seeded(seed).key
        self._steps = 0
        self._kernel = kernels.make_self_play(game)
        parts = min(check_positive("num_threads", num_threads), count)
        self._parts = [(count * k // parts, count * (k + 1) // parts) for k in range(parts)]
        self._threads = Threads(parts)
        self._no_actions = np.zeros(0, np.int64)

    def step(self, actions: Any) -> None:
        """Play a legal action in every row, integers (B,).

        IllegalActionError names a row that fails; the rows before it have moved.
        """
        self._run(read_actions(actions, self.rewards.size))

    def step_random(self, steps: int = 1) -> None:
        """Play random legal actions in every row, some steps in a row: threads then meet once, not at each step."""
        self._run(self._no_actions, check_positive("steps", steps))

    def close(self) -> None:
        """End the threads."""
        self._threads.close()

    def _run(self, given: NDArray[Any], steps: int = 1) -> None:
        actions = np.ascontiguousarray(given, np.int64)

        def work(place: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
            """Go on with a part, rows start .. stop - 1, from a step and a row of it; returns how far that went."""
            start, stop, step, row = place
            while step < steps:
                row = self._kernel(
                    actions, self._key, self._steps + step, *self.states, self.observations, self.masks, self.rewards,
                    self.terminated, row, stop,
                )  # fmt: skip
                if row != stop:
                    break
                step, row = step + 1, start
            return start, stop, step, row

        places = [(start, stop, 0, start) for start, stop in self._parts]
        while places:
            places = self._threads.run(work, places)
            for *_, row in places:
                if row < 0:
                    bad = -row - 1
                    state = unpack(self.game, *self.states, bad)
                    raise IllegalActionError(f"row {bad}: {self.game.explain_illegal(state, int(given[bad]))}")
            places = [place for place in places if place[2] < steps]
            if places:
                memory = kernels.longer(self.states.memory, 2 * self.states.memory.shape[1])
                self.states = States(self.states.words, memory)
        self._steps += steps


def read_actions(actions: Any, count: int) -> NDArray[Any]:
    """Return actions as an array of integers (count,); IllegalActionError otherwise.

    As int64 those beyond its range become negative, so they are refused too; the error shows the original values.
    """
    given = np.asarray(actions)
    if given.shape != (count,) or given.dtype.kind not in "iu":
        raise IllegalActionError(f"actions must be {count} integers, not an array {given.shape} of {given.dtype}")
    return given


def check_rows(game: Game[Any], words: Words, memory: Words, rows: Sequence[int] | None = None) -> None:
    """PositionError names the first packed state, of `rows` or all, that the rules find invalid."""
    if game.rules.is_sound is None:
        return
    if rows is None:
        found = kernels.make_find_unsound(game)(words, memory)
    else:
        found = kernels.make_find_unsound(game)(words[rows], memory[rows])
        found = rows[found] if found >= 0 else -1
    if found >= 0:
        raise PositionError(f"row {found} is no state of {game!r}: words {words[found].tolist()}")


def unpack(game: Game[Any], words: Words, memory: Words, row: int) -> Any:
    """Return one packed state as the game's own."""
    return game.own(game.rules.unpack(words[row].copy(), memory[row]))


def look(game: Game[Any], words: Words, memory: Words, seats: NDArray[np.int64] | None = None) -> tuple[Int8, Int8]:
    """Return what seats (None: the seat to act) see of packed states, int8 (B, shape), and masks, int8 (B, n)."""
    count = words.shape[0]
    boards = np.empty((count, *game.observation_shape), np.int8)
    masks = np.empty((count, game.num_actions), np.int8)
    kernels.make_look(game)(words, memory, np.full(count, -1, np.int64) if seats is None else seats, boards, masks)
    return boards, masks


def status(
    game: Game[Any], words: Words, memory: Words
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return seat to act, winner and margin of packed states: int64 (B,) each."""
    told = np.empty((3, words.shape[0]), np.int64)
    kernels.make_status(game)(words, memory, told)
    return told[0], told[1], told[2]


def random_actions(game: Game[Any], words: Words, memory: Words, stream: Stream) -> NDArray[np.int64]:
    """Return a random legal action for each packed state, int64 (B,), 0 where the game is over; B draws."""
    actions = np.empty(words.shape[0], np.int64)
    kernels.make_choose(game)(words, memory, stream.key, np.uint64(stream.counter), actions)
    stream.counter += actions.size
    return actions
