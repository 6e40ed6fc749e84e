"""Gymnasium's vectorised view of any game: many one-seat or self-play games stepped by one compiled kernel."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from board_envs._jit import require_numba
from board_envs.envs import batch, kernels
from board_envs.envs.common import (
    CAP,
    ILLEGAL,
    MASK_IN,
    PENALTY,
    START_OPTIONS,
    check_choice,
    check_options,
    check_penalty,
    check_positive,
    find_game,
    find_oracle,
    make_spaces,
    read_start,
    regret_of,
    values_array,
)
from board_envs.envs.opponents import Players, make_players
from board_envs.envs.single import check_seat
from board_envs.game import Game
from board_envs.random import Stream, check_seed
from board_envs.types import INFO_FACTS, INFO_KEYS, IllegalActionError, Int8, Oracle, Words

_PER_ENV = ("positions", "states")


class BoardVectorEnv(VectorEnv[Any, Any, Any]):
    """Many games stepped at once, equal to Gymnasium's SyncVectorEnv of `BoardEnv` bit by bit, whatever the mode.

    Rows, B of them, are independent: each has its own seed, chance, opponent and game.

    Args:
        game: a Game, or its name with the parameters beside.
        num_envs: B.
        opponent: a spec string, an agent (copied for each row), a batch callable
            ``f(observations int8 (k, shape), masks int8 (k, n)) -> actions (k,)`` asked for all rows that wait at once,
            a mixture ``{opponent: weight}`` of which each row draws one for each game, or None for self-play. "random",
            and agents that have a compiled policy, play inside the kernel.
        seat: the learner's, 0, 1 or "random".
        autoreset_mode: an AutoresetMode or its name; all three are as Gymnasium defines them.
        num_threads: rows are stepped by so many threads; the results do not depend on it.
        illegal: as in `BoardEnv`; with "raise" no row has moved when IllegalActionError is raised.
        illegal_penalty: what an ignored action costs.
        illegal_cap: a row is truncated at this many ignored actions.
        mask_in: "info", or "observation".
        flat: boards as float32 vectors.
        oracle: an Oracle or its spec, asked row by row.
        render_mode: None or "ansi": `render` returns a text a row.
        parameters: of the game.

    Raises:
        MissingExtraError: numba (the extra `fast`) is not installed.

    """

    metadata: dict[str, Any]

    def __init__(
        self,
        game: str | Game[Any],
        num_envs: int = 1,
        *,
        opponent: Any = "random",
        seat: int | str = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        illegal: str = "lose",
        illegal_penalty: float = PENALTY,
        illegal_cap: int = CAP,
        mask_in: str = "info",
        flat: bool = False,
        oracle: Oracle | str | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        require_numba("the vectorised environment (make_vec)")
        self.game: Game[Any] = find_game(game, parameters)
        self.num_envs = check_positive("num_envs", num_envs)
        self.num_threads = check_positive("num_threads", num_threads)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": ["ansi"], "render_fps": 2}
        self.illegal = check_choice("illegal", illegal, ILLEGAL)
        self.illegal_penalty = check_penalty(illegal_penalty)
        self.illegal_cap = check_positive("illegal_cap", illegal_cap)
        self.mask_in = check_choice("mask_in", mask_in, MASK_IN)
        self.flat = bool(flat)
        self.oracle = find_oracle(oracle, self.game)
        self.render_mode = check_choice("render_mode", render_mode, (None, "ansi"))
        seat = check_seat(seat, opponent)
        self._seat_choice = 2 if seat == "random" else int(seat)
        self._players: Players | None = make_players(opponent, self.game, self.num_envs)
        self.single_observation_space, self.single_action_space = make_spaces(self.game, self.mask_in, self.flat)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

        count, rules = self.num_envs, self.game.rules
        self._words: Words = np.tile(kernels.first_words(self.game), (count, 1))
        self._memory: Words = np.zeros((count, kernels.CAPACITY if rules.has_memory else 0, 2), np.uint64)
        self._keys: Words = np.zeros((kernels.KEYS, count), np.uint64)
        for row in range(count):
            self._keys[kernels.KEY, row] = Stream.seeded(None).key
        self._ints: NDArray[np.int64] = np.zeros((kernels.INTS, count), np.int64)
        self._ints[kernels.SEAT] = 0 if self._seat_choice == 2 else self._seat_choice
        self._over: NDArray[np.bool_] = np.ones(count, np.bool_)
        self._terminated: NDArray[np.bool_] = np.zeros(count, np.bool_)
        self._begun = False
        self._illegal_rule = ILLEGAL.index(self.illegal)
        parts = min(self.num_threads, count)
        self._parts = [(count * k // parts, count * (k + 1) // parts) for k in range(parts)]
        self._bind()

    def _bind(self) -> None:
        """Keep at hand what pickles cannot hold."""
        players = self._players
        policies = (kernels.random_policy(self.game),) if players is None else players.policies
        self._advance = kernels.make_advance(self.game, policies)
        self._find_illegal = kernels.make_find_illegal(self.game)
        self._pool = ThreadPoolExecutor(self.num_threads - 1) if self.num_threads > 1 else None

    # -- Gymnasium ----------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a game in every row, or in some.

        Args:
            seed: row i gets seed + i; or a seed (or None) a row; None goes on with each row's chance.
            options: as in `BoardEnv.reset`, the same start for all; or "positions" or "states", a text or state for
                each row, None for the usual start; "reset_mask", bool (B,): which rows; the others stay as they are.

        Raises:
            ValueError: an unknown option, or a start that is impossible or finished; nothing has changed.

        """
        given = check_options(options, ("reset_mask", *_PER_ENV))
        rows = self._rows_of(given.pop("reset_mask", None))
        starts = self._starts(given, rows)
        seeds = self._seeds(seed)
        mode = np.where(rows, np.int8(kernels.RESET), np.int8(kernels.SKIP))
        for row, state in starts.items():
            self._put(row, state)
            mode[row] = kernels.START
        for row, one in enumerate(seeds):
            if one is not None and rows[row]:
                self._keys[:2, row] = Stream.seeded(one).key, 0
        partial = not rows.all()
        if partial and not self._begun:
            raise ResetNeeded("reset() all rows before some of them")
        told = self._run(mode, np.zeros(self.num_envs, np.int64))
        self._begun = True
        self._over = self._over & ~rows
        if not partial:
            return self._observations(told), self._infos(told)
        infos = self._infos(told, rows=rows)
        return self._observations(self._told_now()), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every row: returns observations, rewards float64, terminated, truncated bool (B,), and infos."""
        if not self._begun:
            raise ResetNeeded("the games have not begun: call reset()")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            rows = np.flatnonzero(self._over).tolist()
            raise ResetNeeded(f"rows {rows} are over: call reset(options={{'reset_mask': ...}})")
        # In the mode NEXT_STEP a row that is over begins anew; in the others none is over here.
        mode = self._over.view(np.int8) + np.int8(kernels.STEP)
        moves = self._check_actions(actions, mode)
        values = self._ask_oracle(mode)
        told = self._run(mode, moves)
        self._over = told.flags[0] | told.flags[1]
        regrets = self._regrets(values, told)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            return self._same_step(told, values, regrets)
        infos = self._infos(told, values, regrets)
        return self._observations(told), told.rewards, told.flags[0], told.flags[1], infos

    def _same_step(self, told: _Told, values: Any, regrets: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Begin new games in the rows that are over, and tell their ends as final observations and infos."""
        ended = self._over
        finals = np.full(self.num_envs, None, dtype=object)
        last, rows = self._observations(told), np.flatnonzero(ended)
        if isinstance(last, dict):
            parts = [list(part[rows]) for part in last.values()]
            lasts: list[Any] = [dict(zip(last, row, strict=True)) for row in zip(*parts, strict=True)]
        else:
            lasts = list(last[rows])
        for row, one in zip(rows.tolist(), lasts, strict=True):
            finals[row] = one
        infos: dict[str, Any] = {
            "final_obs": finals,
            "_final_obs": ended.copy(),
            "final_info": self._infos(told, values, regrets, ended),
            "_final_info": ended.copy(),
        }
        flags, rewards = told.flags.copy(), told.rewards.copy()
        again = np.where(ended, np.int8(kernels.RESET), np.int8(kernels.SKIP))
        self._run(again, np.zeros(self.num_envs, np.int64), told)
        if values is not None:
            values = [None if over else value for value, over in zip(values, ended.tolist(), strict=True)]
            regrets = np.where(ended, np.nan, regrets)
        infos.update(self._infos(told, values, regrets))
        self._over = np.zeros(self.num_envs, np.bool_)
        return self._observations(told), rewards, flags[0], flags[1], infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, bool (B, n); all True in rows that have terminated."""
        told = self._told_now()
        return told.masks.astype(np.bool_)

    def random_actions(self, stream: Stream) -> NDArray[np.int64]:
        """Return a random legal action a row, int64 (B,), 0 where the game is over; row i takes the stream's i-th draw.

        It is compiled, and many times as fast as drawing from the masks; the games' own chance is not touched.
        """
        return batch.random_actions(self.game, self._words, self._memory, stream)

    def render(self) -> tuple[str, ...] | None:
        """Return a text a row in mode "ansi"."""
        if self.render_mode is None:
            return None
        return tuple(self.game.draw(self.state_of(row)) for row in range(self.num_envs))

    def close_extras(self, **_kwargs: Any) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    # -- running the kernel -------------------------------------------------------------------------------------------

    def _run(self, mode: Int8, actions: NDArray[np.int64], told: _Told | None = None) -> _Told:
        """Do what `mode` asks of each row, outside opponents' answers included; returns what is to be told."""
        told = _Told(self) if told is None else told
        waiting = np.zeros(self.num_envs, np.bool_)
        self._call(mode, actions, told, waiting)
        players = self._players
        if players is not None and players.outside:
            for row in np.flatnonzero((mode == kernels.RESET) | (mode == kernels.START)).tolist():
                number = int(self._ints[kernels.POLICY, row])
                players.begin(number, row, int(self._keys[kernels.OPPONENT_SEED, row]))
            while waiting.any():
                rows = np.flatnonzero(waiting)
                answers = self._answers(rows)
                again = np.zeros(self.num_envs, np.int8)
                again[rows] = kernels.REPLY
                self._call(again, answers, told, waiting)
        active = mode != kernels.SKIP
        if active.all():
            self._terminated = told.flags[0].copy()
        else:
            self._terminated[active] = told.flags[0][active]
        return told

    def _call(self, mode: Int8, actions: NDArray[np.int64], told: _Told, waiting: NDArray[np.bool_]) -> None:
        players = self._players
        shares, numbers = (players.shares, players.numbers) if players is not None else (_NO_SHARES, _NO_NUMBERS)

        def work(part: tuple[int, int]) -> int:
            return self._advance(
                mode, actions, self._words, self._memory, self._keys, self._ints, shares, numbers, players is None,
                self._seat_choice, self._illegal_rule, self.illegal_penalty, self.illegal_cap, told.observations,
                told.masks, told.rewards, told.flags, told.facts, waiting, told.played, *part,
            )  # fmt: skip

        parts = self._parts
        while parts:
            if self._pool is None or len(parts) == 1:
                reached = [work(part) for part in parts]
            else:
                others = [self._pool.submit(work, part) for part in parts[1:]]
                reached = [work(parts[0]), *(other.result() for other in others)]
            parts = [(row, end) for row, (_, end) in zip(reached, parts, strict=True) if row < end]
            if parts:
                # A memory is full: all get more room, and the rows that are left go on.
                self._memory = kernels.longer(self._memory, 2 * self._memory.shape[1])

    def _answers(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the actions, int64 (B,), of outside opponents in the rows that wait."""
        assert self._players is not None
        answers = np.zeros(self.num_envs, np.int64)
        numbers = self._ints[kernels.POLICY, rows]
        for number in np.unique(numbers).tolist():
            mine = rows[numbers == number]
            boards, masks = batch.look(self.game, self._words[mine], self._memory[mine])
            answers[mine] = self._players.choose(number, mine, boards, masks, self.state_of)
        mode = np.zeros(self.num_envs, np.int8)
        mode[rows] = kernels.STEP
        self._refuse(answers, mode, answers, "the opponent's ")
        return answers

    def _check_actions(self, actions: Any, mode: Int8) -> NDArray[np.int64]:
        """Return actions as int64 (B,); IllegalActionError names the first row whose action is none, or not legal."""
        given = batch.read_actions(actions, self.num_envs)
        moves = np.ascontiguousarray(given, np.int64)
        if self.illegal == "raise":
            self._refuse(moves, mode, given)
        elif moves.view(np.uint64).max() >= self.game.num_actions:
            self._refuse_numbers(moves, mode, given)
        return moves

    def _refuse_numbers(self, moves: NDArray[np.int64], mode: Int8, given: NDArray[Any], whose: str = "") -> None:
        bad = (mode == kernels.STEP) & ((moves < 0) | (moves >= self.game.num_actions))
        if bad.any():
            self._raise(int(np.flatnonzero(bad)[0]), given, whose)

    def _refuse(self, moves: NDArray[np.int64], mode: Int8, given: NDArray[Any], whose: str = "") -> None:
        self._refuse_numbers(moves, mode, given, whose)
        row = self._find_illegal(mode, moves, self._words, self._memory)
        if row >= 0:
            self._raise(row, given, whose)

    def _raise(self, row: int, given: NDArray[Any], whose: str) -> None:
        reason = self.game.explain_illegal(self.state_of(row), int(given[row]))
        raise IllegalActionError(f"row {row}: {whose}{reason}")

    # -- starts -------------------------------------------------------------------------------------------------------

    def _rows_of(self, mask: Any) -> NDArray[np.bool_]:
        """Return the rows that a reset mask names, all for None."""
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ValueError(f"option 'reset_mask' must be a bool array ({self.num_envs},), not {mask!r}")
        if not mask.any():
            raise ValueError("option 'reset_mask' names no row")
        return mask.copy()

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if not isinstance(seed, Iterable) or isinstance(seed, str):
            first: Any = seed
            return [check_seed(check_seed(first) + row) for row in range(self.num_envs)]
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"there must be {self.num_envs} seeds, one a row, not {len(seeds)}")
        return [None if one is None else check_seed(one) for one in seeds]

    def _starts(self, given: Mapping[str, Any], rows: NDArray[np.bool_]) -> dict[int, Any]:
        """Return the rows' states to start from where they are not the initial one."""
        several = [key for key in _PER_ENV if given.get(key) is not None]
        if len(several) + sum(given.get(key) is not None for key in START_OPTIONS) > 1:
            raise ValueError(f"reset options {', '.join(map(repr, given))} exclude each other")
        if not several:
            if not any(given.get(key) is not None for key in START_OPTIONS):
                return {}
            state = read_start(self.game, given)
            return dict.fromkeys(np.flatnonzero(rows).tolist(), state)
        values = list(given[several[0]])
        if len(values) != self.num_envs:
            raise ValueError(f"option {several[0]!r} must have {self.num_envs} entries, one a row, not {len(values)}")
        single = several[0][:-1]
        return {
            row: read_start(self.game, {single: values[row]})
            for row in np.flatnonzero(rows).tolist()
            if values[row] is not None
        }

    def _put(self, row: int, state: Any) -> None:
        owned = self.game.own(state)
        self.game.rules.pack(owned, self._words[row])
        if self.game.rules.has_memory:
            entries = kernels.memory_of(owned)
            if entries.shape[0] > self._memory.shape[1]:
                self._memory = kernels.longer(self._memory, entries.shape[0])
            self._memory[row, : entries.shape[0]] = entries

    def state_of(self, row: int) -> Any:
        """Return a row's game state, as the game's own functions take it."""
        return self.game.rules.unpack(self._words[row].copy(), self._memory[row].copy())

    # -- what is told -------------------------------------------------------------------------------------------------

    def _told_now(self) -> _Told:
        """Return what was told last of observations and masks, made again."""
        told = _Told(self)
        seats = np.full(self.num_envs, -1, np.int64) if self._players is None else self._ints[kernels.SEAT].copy()
        told.observations, told.masks = batch.look(self.game, self._words, self._memory, seats)
        # A finished game's mask comes as zeros: all ones is what learners get.
        told.masks[self._terminated | ~told.masks.any(axis=1)] = 1
        return told

    def _observations(self, told: _Told) -> Any:
        boards: NDArray[Any] = told.observations
        if self.flat:
            boards = boards.reshape(self.num_envs, -1).astype(np.float32)
        return {"action_mask": told.masks.copy(), "observation": boards} if self.mask_in == "observation" else boards

    def _infos(
        self, told: _Told, values: Any = None, regrets: Any = None, rows: NDArray[np.bool_] | None = None
    ) -> dict[str, Any]:
        """Return infos in memory of their own; only those rows, the others zero, if some are named."""
        count, n = self.num_envs, self.game.num_actions
        if values is None:
            all_values = np.full((count, n), np.nan, np.float32)
            all_regrets = np.full(count, np.nan)
        else:
            all_values = np.array([values_array(one, n) for one in values])
            all_regrets = np.array(regrets)
        masks, facts = told.masks, told.facts
        if rows is None:
            present = np.ones((len(facts) + 3, count), np.bool_)
        else:
            named = np.flatnonzero(rows)
            masks, facts = _only(named, masks), np.zeros_like(facts)
            facts[:, named] = told.facts[:, named]
            all_values, all_regrets = _only(named, all_values), _only(named, all_regrets)
            present = np.zeros((len(facts) + 3, count), np.bool_)
            present[:, named] = True
        arrays = (masks, *facts, all_values, all_regrets)
        infos: dict[str, Any] = {}
        for key, array, mask in zip(INFO_KEYS, arrays, present, strict=True):
            infos[key] = array
            infos[f"_{key}"] = mask
        return infos

    def _ask_oracle(self, mode: Int8) -> list[dict[int, float] | None] | None:
        """Return what the oracle says of each row that is about to move."""
        if self.oracle is None:
            return None
        values: list[dict[int, float] | None] = []
        for row in range(self.num_envs):
            state = self.state_of(row)
            asked = mode[row] == kernels.STEP and not self.game.is_terminal(state)
            values.append(self.oracle.action_values(state) if asked else None)
        return values

    def _regrets(self, values: list[dict[int, float] | None] | None, told: _Told) -> NDArray[np.float64] | None:
        if values is None:
            return None
        played = told.played.tolist()
        return np.array([regret_of(v if move >= 0 else None, move) for v, move in zip(values, played, strict=True)])

    # -- copies -------------------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return all that is in progress as arrays, one row a game, for `set_state` of an environment made alike."""
        saved: dict[str, Any] = {name: copy.copy(getattr(self, f"_{name}")) for name in _SAVED}
        if self._players is not None:
            saved["players"] = self._players.get_state()
        return saved

    def set_state(self, saved: Mapping[str, Any]) -> None:
        """Go back to where `get_state` was called; ValueError if this is no answer of an environment made alike."""
        expected = {*_SAVED, *(["players"] if self._players is not None else [])}
        if not isinstance(saved, Mapping) or set(saved) != expected:
            raise ValueError("a state must come from get_state() of an environment made alike")
        if saved["words"].shape != self._words.shape:
            raise ValueError(f"the state has words {saved['words'].shape}, this environment {self._words.shape}")
        for name in _SAVED:
            setattr(self, f"_{name}", copy.copy(saved[name]))
        if self._players is not None:
            self._players.set_state(saved["players"])

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot be pickled and is found again."""
        return {name: value for name, value in self.__dict__.items() if name not in _BOUND}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Take up a copy."""
        self.__dict__.update(saved)
        self._bind()

    def __copy__(self) -> BoardVectorEnv:
        """Return a copy that plays on by itself."""
        return copy.deepcopy(self)


_SAVED = ("words", "memory", "keys", "ints", "over", "terminated", "begun")
_BOUND = ("_advance", "_find_illegal", "_pool")
_NO_SHARES, _NO_NUMBERS = np.ones(1), np.zeros(1, np.int64)


def _only(rows: NDArray[np.intp], array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that holds zeros in the rows that are not named."""
    copied = np.zeros(array.shape, array.dtype)
    copied[rows] = array[rows]
    return copied


class _Told:
    """Arrays that one step fills, in memory of their own."""

    def __init__(self, env: BoardVectorEnv) -> None:
        count, game = env.num_envs, env.game
        self.observations = np.empty((count, *game.observation_shape), np.int8)
        self.masks = np.empty((count, game.num_actions), np.int8)
        self.rewards = np.zeros(count)
        self.flags = np.zeros((2, count), np.bool_)
        self.facts = np.zeros((len(INFO_FACTS), count), np.int64)
        self.played = np.full(count, -1, np.int64)
