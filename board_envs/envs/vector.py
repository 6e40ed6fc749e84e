"""Gymnasium's vectorised view of any game: many one-seat or self-play games stepped by one compiled kernel."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
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
    HALF_DONE,
    ILLEGAL,
    MASK_IN,
    NOT_BEGUN,
    PENALTY,
    START_OPTIONS,
    Copies,
    ask_oracle,
    check_choice,
    check_options,
    check_penalty,
    check_positive,
    check_saved,
    find_game,
    make_spaces,
    read_start,
    regret_of,
    values_array,
)
from board_envs.envs.opponents import Players, make_players
from board_envs.envs.single import check_seat
from board_envs.envs.threads import Threads
from board_envs.game import Game
from board_envs.random import Stream, check_seed
from board_envs.types import INFO_FACTS, INFO_KEYS, IllegalActionError, Int8, Oracle, Words

_PER_ENV = ("positions", "states")


class BoardVectorEnv(Copies, VectorEnv[Any, Any, Any]):
    """Many games stepped at once, equal to Gymnasium's SyncVectorEnv of `BoardEnv` bit by bit, whatever the mode.

    Rows, B of them, are independent: each has its own seed, chance, opponent and game.

    Args:
        game: a Game, or its name with the parameters beside.
        num_envs: B.
        opponent: a player in any form of `board_envs.policies`, a mixture ``{opponent: weight}`` of which each row
            draws one for each game, or None for self-play. "random", and agents that have a compiled policy, play
            inside the kernel; other agents are copied for each row; a `batch_policy` is asked for all rows that wait at
            once, another callable row by row.
        seat: the learner's, 0, 1 or "random".
        autoreset_mode: an AutoresetMode or its name; all three are as Gymnasium defines them.
        max_episode_steps: a row is truncated at this many steps, as by Gymnasium's TimeLimit; None sets no limit.
        num_threads: number of threads that step the rows; the results do not depend on it.
        illegal: as in `BoardEnv`; with "raise" no row has moved when IllegalActionError is raised.
        illegal_penalty: subtracted from the reward for each ignored action.
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
    _UNBOUND = ("_advance", "_find_illegal")

    def __init__(
        self,
        game: str | Game[Any],
        num_envs: int = 1,
        *,
        opponent: Any = "random",
        seat: int | str = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        num_threads: int = 1,
        illegal: str = "lose",
        illegal_penalty: float = PENALTY,
        illegal_cap: int = CAP,
        mask_in: str = "info",
        flat: bool = False,
        oracle: Oracle[Any] | str | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        require_numba("the vectorised environment (make_vec)")
        self.game: Game[Any] = find_game(game, parameters)
        self.num_envs = check_positive("num_envs", num_envs)
        self.num_threads = check_positive("num_threads", num_threads)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        if max_episode_steps is not None:
            max_episode_steps = check_positive("max_episode_steps", max_episode_steps)
        self.max_episode_steps = max_episode_steps
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": ["ansi"], "render_fps": 2}
        self.illegal = check_choice("illegal", illegal, ILLEGAL)
        self.illegal_penalty = check_penalty(illegal_penalty)
        self.illegal_cap = check_positive("illegal_cap", illegal_cap)
        self.mask_in = check_choice("mask_in", mask_in, MASK_IN)
        self.flat = bool(flat)
        self._set_oracle(oracle)
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
        self._needs_reset: str | None = NOT_BEGUN
        self._illegal_rule = ILLEGAL.index(self.illegal)
        parts = min(self.num_threads, count)
        self._parts = [(count * k // parts, count * (k + 1) // parts) for k in range(parts)]
        self._threads = Threads(parts)
        self._bind()

    def _bind(self) -> None:
        """Keep at hand what pickles cannot hold."""
        players = self._players
        policies = (kernels.random_policy(self.game),) if players is None else players.policies
        self._advance = kernels.make_advance(self.game, policies)
        self._find_illegal = kernels.make_find_illegal(self.game)

    # -- Gymnasium ----------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a game in every row, or in some.

        Args:
            seed: row i gets seed + i; or a seed (or None) a row; None continues each row's stream.
            options: as in `BoardEnv.reset`, the same start for all; or "positions" or "states", a text or state for
                each row, None for the usual start; "reset_mask", bool (B,): which rows; the others stay as they are.

        Returns:
            Observations and infos, true in all rows. After a reset of some rows, the arrays ``_key`` of the infos are
            True in those alone, and ``action_values`` and ``regret`` NaN in all, so that nothing counts twice.

        Raises:
            ValueError: an unknown option, or a start that is impossible or finished; nothing has changed.
            ResetNeeded: only some rows of an environment that has not begun.

        """
        given = check_options(options, ("reset_mask", *_PER_ENV))
        rows = self._rows_of(given.pop("reset_mask", None))
        partial = not rows.all()
        if partial and self._needs_reset is not None:
            raise ResetNeeded(f"{self._needs_reset} for all rows, without 'reset_mask'")
        starts = self._starts(given, rows)
        seeds = self._seeds(seed)
        self._needs_reset = HALF_DONE
        mode = np.where(rows, np.int8(kernels.RESET), np.int8(kernels.SKIP))
        for row, state in starts.items():
            self._put(row, state)
            mode[row] = kernels.START
        for row, one in enumerate(seeds):
            if one is not None and rows[row]:
                self._keys[:2, row] = Stream.seeded(one).key, 0
        told = self._run(mode, np.zeros(self.num_envs, np.int64))
        self._needs_reset = None
        self._over = self._over & ~rows
        if partial:
            told = self._told_now()
        return self._observations(told), self._infos(told, present=rows)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every row: returns observations, rewards float64, terminated, truncated bool (B,), and infos.

        Where an opponent raises or answers an illegal action, its error goes through and the environment refuses all
        but `reset` of all rows and `set_state`; where the oracle raises, nothing has changed.

        Raises:
            IllegalActionError: an action is out of range, or not legal with ``illegal="raise"``; nothing has changed.
            ResetNeeded: the games have not begun, or, in the mode DISABLED, some are over.

        """
        self._check_ready()
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over.any():
            rows = np.flatnonzero(self._over).tolist()
            raise ResetNeeded(f"rows {rows} are over: call reset(options={{'reset_mask': ...}})")
        # In the mode NEXT_STEP a row that is over restarts; in the others none is over here.
        mode = self._over.view(np.int8) + np.int8(kernels.STEP)
        moves = self._check_actions(actions, mode)
        values = self._ask_oracle(mode)
        self._needs_reset = HALF_DONE
        told = self._run(mode, moves)
        if self.max_episode_steps is not None:
            told.flags[1] |= (mode == kernels.STEP) & (self._ints[kernels.STEPS] >= self.max_episode_steps)
        self._over = told.flags[0] | told.flags[1]
        regrets = self._regrets(values, told)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            results = self._same_step(told, values, regrets)
            self._needs_reset = None
            return results
        self._needs_reset = None
        infos = self._infos(told, values, regrets)
        return self._observations(told), told.rewards, told.flags[0], told.flags[1], infos

    def _same_step(self, told: _Told, values: Any, regrets: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Begin new games in the rows that are over, and return their ends as final observations and infos."""
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
            "final_info": self._infos(told, values, regrets, ended, others_zero=True),
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
        self._check_ready()
        told = self._told_now()
        return told.masks.astype(np.bool_)

    def random_actions(self, stream: Stream) -> NDArray[np.int64]:
        """Return a random legal action a row, int64 (B,), 0 where the game is over; row i takes the stream's i-th draw.

        It is compiled, and many times as fast as drawing from the masks; the games' own chance is not touched.
        """
        self._check_ready()
        return batch.random_actions(self.game, self._words, self._memory, stream)

    def render(self) -> tuple[str, ...] | None:
        """Return a text a row in mode "ansi"."""
        if self.render_mode is None:
            return None
        self._check_ready()
        return tuple(self.game.draw(self.state_of(row)) for row in range(self.num_envs))

    def close_extras(self, **_kwargs: Any) -> None:
        """End the threads."""
        self._threads.close()

    # -- running the kernel -------------------------------------------------------------------------------------------

    def _run(self, mode: Int8, actions: NDArray[np.int64], told: _Told | None = None) -> _Told:
        """Do what `mode` asks of each row, outside opponents' answers included; returns the outputs."""
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
            reached = self._threads.run(work, parts)
            parts = [(row, end) for row, (_, end) in zip(reached, parts, strict=True) if row < end]
            if parts:
                # A history is full: all get more room, and the rows that are left go on.
                self._memory = kernels.longer(self._memory, 2 * self._memory.shape[1])

    def _answers(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the actions, int64 (B,), of outside opponents in the rows that wait."""
        assert self._players is not None
        answers = np.zeros(self.num_envs, np.int64)
        numbers = self._ints[kernels.POLICY, rows]
        for number in np.unique(numbers).tolist():
            mine = rows[numbers == number]
            boards, masks = batch.look(self.game, self._words[mine], self._memory[mine])
            answers[mine] = self._players.choose(number, mine, boards, masks, self._state_of)
        return answers

    def _check_actions(self, actions: Any, mode: Int8) -> NDArray[np.int64]:
        """Return actions as int64 (B,); IllegalActionError names the first row whose action is invalid or illegal."""
        given = batch.read_actions(actions, self.num_envs)
        moves = np.ascontiguousarray(given, np.int64)
        if moves.view(np.uint64).max() >= self.game.num_actions:
            bad = (mode == kernels.STEP) & ((moves < 0) | (moves >= self.game.num_actions))
            if bad.any():
                self._refuse(int(np.flatnonzero(bad)[0]), given)
        if self.illegal == "raise":
            row = self._find_illegal(mode, moves, self._words, self._memory)
            if row >= 0:
                self._refuse(row, given)
        return moves

    def _refuse(self, row: int, given: NDArray[Any]) -> None:
        raise IllegalActionError(f"row {row}: {self.game.explain_illegal(self._state_of(row), int(given[row]))}")

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
        """Return a row's game state, as the game's own functions take it; IndexError if there is no such row."""
        self._check_ready()
        if not 0 <= operator.index(row) < self.num_envs:
            raise IndexError(f"there is no row {row}; rows are 0 to {self.num_envs - 1}")
        return self._state_of(row)

    def _state_of(self, row: int) -> Any:
        return batch.unpack(self.game, self._words, self._memory, row)

    def _check_ready(self) -> None:
        if self._needs_reset is not None:
            raise ResetNeeded(self._needs_reset)

    # -- outputs -----------------------------------------------------------------------------------------------------

    def _told_now(self) -> _Told:
        """Return the latest observations, masks and facts, computed again."""
        told = _Told(self)
        seats = np.full(self.num_envs, -1, np.int64) if self._players is None else self._ints[kernels.SEAT].copy()
        told.observations, told.masks = batch.look(self.game, self._words, self._memory, seats)
        # A finished game's mask comes as zeros: all ones is what learners get.
        told.masks[self._terminated | ~told.masks.any(axis=1)] = 1
        seat, winner, margin = batch.status(self.game, self._words, self._memory)
        ints = self._ints
        # A game that goes on by its rules but has terminated was lost by an illegal move.
        winner = np.where(self._terminated & (winner < 0), 1 - seat, winner)
        told.facts[:] = seat, ints[kernels.LAST_MOVER], winner, margin, ints[kernels.ILLEGAL], ints[kernels.PLIES]
        return told

    def _observations(self, told: _Told) -> Any:
        boards: NDArray[Any] = told.observations
        if self.flat:
            boards = boards.reshape(self.num_envs, -1).astype(np.float32)
        return {"action_mask": told.masks.copy(), "observation": boards} if self.mask_in == "observation" else boards

    def _infos(
        self,
        told: _Told,
        values: Any = None,
        regrets: Any = None,
        present: NDArray[np.bool_] | None = None,
        *,
        others_zero: bool = False,
    ) -> dict[str, Any]:
        """Return infos in arrays of their own.

        `present`, bool (B,), is what the arrays ``_key`` hold, None for all True. With `others_zero` the other rows
        hold zeros, as Gymnasium has it in final infos.
        """
        count, n = self.num_envs, self.game.num_actions
        if values is None:
            all_values = np.full((count, n), np.nan, np.float32)
            all_regrets = np.full(count, np.nan)
        else:
            all_values = np.array([values_array(one, n) for one in values])
            all_regrets = np.array(regrets)
        masks, facts = told.masks, told.facts
        flags = np.ones((len(INFO_KEYS), count), np.bool_)
        if present is not None:
            flags[:] = present
        if others_zero:
            named = np.flatnonzero(flags[0])
            masks, facts = _only(named, masks), np.zeros_like(facts)
            facts[:, named] = told.facts[:, named]
            all_values, all_regrets = _only(named, all_values), _only(named, all_regrets)
        infos: dict[str, Any] = {}
        for key, array, flag in zip(INFO_KEYS, (masks, *facts, all_values, all_regrets), flags, strict=True):
            infos[key] = array
            infos[f"_{key}"] = flag
        return infos

    def _ask_oracle(self, mode: Int8) -> list[dict[int, float] | None] | None:
        """Return the oracle's answer for each row that is about to move."""
        if self.oracle is None:
            return None
        values: list[dict[int, float] | None] = []
        for row in range(self.num_envs):
            state = self._state_of(row)
            asked = mode[row] == kernels.STEP and not self.game.is_terminal(state)
            values.append(ask_oracle(self.oracle, state, self.game.num_actions) if asked else None)
        return values

    def _regrets(self, values: list[dict[int, float] | None] | None, told: _Told) -> NDArray[np.float64] | None:
        if values is None:
            return None
        played = told.played.tolist()
        return np.array([regret_of(v if move >= 0 else None, move) for v, move in zip(values, played, strict=True)])

    # -- copies -------------------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return all that is in progress as arrays, one row a game, for `set_state` of an environment made alike."""
        self._check_ready()
        saved: dict[str, Any] = {name: getattr(self, f"_{name}").copy() for name in _SAVED}
        saved["game"] = repr(self.game)
        saved["players"] = None if self._players is None else self._players.get_state()
        return saved

    def set_state(self, saved: Mapping[str, Any]) -> None:
        """Restore a state of `get_state`; ValueError unless it comes from an environment made alike.

        Nothing has changed after an error.
        """
        check_saved(saved, self.game, (*_SAVED, "players"))
        if (saved["players"] is None) != (self._players is None):
            raise ValueError("the state comes from an environment with another kind of opponent")
        for name in _SAVED:
            now, then = getattr(self, f"_{name}"), saved[name]
            if not isinstance(then, np.ndarray) or then.dtype != now.dtype:
                raise ValueError(f"the state's {name} must be an array of {now.dtype}, not {then!r}")
            free = name == "memory" and now.shape[1] > 0
            if then.shape != now.shape and not (
                free and then.shape[::2] == now.shape[::2] and then.shape[1] >= kernels.CAPACITY
            ):
                raise ValueError(f"the state's {name} has the shape {then.shape}, this environment's {now.shape}")
        self._check_ints(saved["ints"])
        batch.check_rows(self.game, saved["words"], saved["memory"])
        if self._players is not None:
            self._players.set_state(saved["players"])
        for name in _SAVED:
            setattr(self, f"_{name}", saved[name].copy())
        self._needs_reset = None

    def _check_ints(self, ints: NDArray[np.int64]) -> None:
        """ValueError unless the bookkeeping is within its bounds."""
        highest = np.full(kernels.INTS, np.iinfo(np.int64).max)
        highest[[kernels.SEAT, kernels.LAST_MOVER, kernels.ILLEGAL]] = 1
        highest[kernels.POLICY] = 0 if self._players is None else self._players.numbers.max()
        lowest = np.zeros(kernels.INTS, np.int64)
        lowest[kernels.LAST_MOVER] = -1
        bad = (ints < lowest[:, None]) | (ints > highest[:, None])
        if bad.any():
            raise ValueError(f"the state's ints are damaged in row {int(np.flatnonzero(bad.any(axis=0))[0])}")


_SAVED = ("words", "memory", "keys", "ints", "over", "terminated")
_NO_SHARES, _NO_NUMBERS = np.ones(1), np.zeros(1, np.int64)


def _only(rows: NDArray[np.intp], array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that holds zeros in the rows that are not named."""
    copied = np.zeros(array.shape, array.dtype)
    copied[rows] = array[rows]
    return copied


class _Told:
    """New arrays that one step fills."""

    def __init__(self, env: BoardVectorEnv) -> None:
        count, game = env.num_envs, env.game
        self.observations = np.empty((count, *game.observation_shape), np.int8)
        self.masks = np.empty((count, game.num_actions), np.int8)
        self.rewards = np.zeros(count)
        self.flags = np.zeros((2, count), np.bool_)
        self.facts = np.zeros((len(INFO_FACTS), count), np.int64)
        self.played = np.full(count, -1, np.int64)
