"""Gymnasium's one-seat view of any game: the other seat is part of the environment, or the learner plays both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from board_envs.envs.common import (
    CAP,
    HALF_DONE,
    PENALTY,
    RENDER_MODES,
    Table,
    check_choice,
    check_options,
    check_saved,
    make_spaces,
    read_start,
)
from board_envs.envs.opponents import Mixture, make_opponent
from board_envs.game import Game
from board_envs.random import Stream, check_seed
from board_envs.types import RETURNS, IllegalActionError, Int8, Oracle


class BoardEnv(Table[Any], gymnasium.Env[Any, Any]):
    """A game for one learner.

    With an opponent, `step` plays the learner's action and then the opponent's, until the learner must decide again or
    the game is over; the reward is the learner's. Without one (self-play) each action is that of the seat to move, the
    reward is that of the seat which just moved, and the observation is what the next mover sees.

    ``info["action_mask"]`` and `action_masks` give the legal actions at every decision; they are all ones when the
    episode has terminated. Where the opponent ends the game before the learner's first decision (it happens in tiny
    games), the info of `reset` holds the winner, and the next step, whatever its action, returns the result.

    Args:
        game: a Game, or its name with the parameters beside.
        opponent: a player in any form of `board_envs.policies`, a mixture ``{opponent: weight}`` of which one is drawn
            for each game, or None for self-play.
        seat: the learner's, 0, 1 or "random" (drawn at each reset); 0 in self-play, where it has no effect.
        illegal: "lose" (-1 and terminated, the state as it was), or "raise", "random", "ignore".
        illegal_penalty: subtracted from the reward for each ignored action.
        illegal_cap: the episode is truncated at this many ignored actions.
        mask_in: "info", or "observation": ``{"observation": board, "action_mask": int8 (n,)}``.
        flat: the board as float32 vector.
        oracle: an Oracle or its spec; ``action_values`` and ``regret`` in the infos are about the learner's last move.
        render_mode: None, "ansi" or "human".
        parameters: of the game.

    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012  # as in Env
    _SAVED: ClassVar[tuple[str, ...]] = (*Table._SAVED, "seat", "_over")

    def __init__(
        self,
        game: str | Game[Any],
        *,
        opponent: Any = "random",
        seat: int | str = 0,
        illegal: str = "lose",
        illegal_penalty: float = PENALTY,
        illegal_cap: int = CAP,
        mask_in: str = "info",
        flat: bool = False,
        oracle: Oracle[Any] | str | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        self._set_table(
            game, parameters, illegal=illegal, illegal_penalty=illegal_penalty, illegal_cap=illegal_cap,
            mask_in=mask_in, flat=flat, oracle=oracle, render_mode=render_mode,
        )  # fmt: skip
        self._seat_choice = check_seat(seat, opponent)
        self.seat = 0 if seat == "random" else int(seat)
        self._opponent = make_opponent(opponent, self.game)
        self.observation_space, self.action_space = make_spaces(self.game, self.mask_in, self.flat)
        self._over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: of all chance, the opponent's included (0 to 2^63 - 1); None continues the current stream.
            options: one of "position" (text), "moves" (text or list) or "state": where to start.

        Raises:
            ValueError: an unknown option, or a start that is impossible or finished; the game on stays as it was.

        """
        state = read_start(self.game, check_options(options))
        if seed is not None:
            seed = check_seed(seed)
        self._needs_reset = HALF_DONE
        super().reset(seed=seed)
        if seed is not None:
            self._stream = Stream.seeded(seed)
        self._begin(state)
        self._over = False
        if self._seat_choice == "random":
            self.seat = self._stream.below(2)
        if self._opponent is not None:
            if isinstance(self._opponent, Mixture):
                self._opponent.draw(self._stream.bits())
            self._opponent.reset(self._stream.seed())
            self._answer()
        self._needs_reset = None
        if self.render_mode == "human":
            self.render()
        return self._told()

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play the learner's action: returns observation, reward, terminated, truncated, info.

        Where the opponent raises or answers an illegal action, its error goes through and the environment refuses all
        but `reset` and `set_state`; where the oracle raises, nothing has changed.

        Raises:
            IllegalActionError: the action is out of range, or not legal with ``illegal="raise"``; nothing has changed.
            ResetNeeded: there is no episode to step.

        """
        if self._needs_reset is not None:
            self._check_ready()
        if self._over:
            raise ResetNeeded("the episode is over: call reset()")
        if type(action) is not int or not 0 <= action < self._n:
            action = self._check_action(action)
        reward, truncated = 0.0, False
        opponent = self._opponent
        mover = self._seat if opponent is None else self.seat
        decided = self._winner >= 0  # The opponent had ended the game before the learner's first decision.
        legal = decided or self._legal_mask()[action]
        if not legal and self.illegal == "raise":
            raise IllegalActionError(self.game.explain_illegal(self._state, action))
        values = None if decided or self.oracle is None else self._ask()
        self._needs_reset = HALF_DONE
        self._illegal = 0 if legal else 1
        if not decided and (legal or self.illegal == "random"):
            if not legal:
                action = self._random_action()
            if self.oracle is not None:
                self._note(values, action, True)
            self._play(action)
            if opponent is not None:
                self._answer()
        elif not legal:
            self._note(values, action, False)
            if self.illegal == "lose":
                self._winner = 1 - mover
            else:
                self._illegal_count += 1
                reward, truncated = -self.illegal_penalty, self._illegal_count >= self.illegal_cap
        if self._winner >= 0:
            reward, self._over = float(RETURNS[self._winner][mover]), True
        terminated = self._over
        self._over = terminated or truncated
        self._needs_reset = None
        if self.render_mode == "human":
            self.render()
        observation, info = self._told(terminated=terminated)
        return observation, reward, terminated, truncated, info

    def _answer(self) -> None:
        """Let the opponent play until the learner is to decide, or the game is over."""
        assert self._opponent is not None
        while self._winner < 0 and self._seat != self.seat:
            self._play(self._opponent.choose(self._state))

    # -- observations and infos ------------------------------------------------------------------------------------

    def _mask_now(self, terminated: bool) -> Int8:
        mask = self._legal_mask().copy()
        if terminated or self._winner >= 0:
            mask[:] = 1
        return mask

    def _told(self, *, terminated: bool = False) -> tuple[Any, dict[str, Any]]:
        """Return the current observation and info."""
        mask = self._mask_now(terminated)
        seat = self._seat if self._opponent is None else self.seat
        return self._observation(seat, mask.copy() if self._mask_in_observation else mask), self._info(mask)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, bool (n,); all True when the episode has terminated."""
        self._check_ready()
        return self._mask_now(self._over).astype(np.bool_)

    def render(self) -> str | None:
        """Return the board as text in mode "ansi"; print it in mode "human"."""
        return self._show()

    # -- copies -------------------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return all that is an episode in progress, chance and opponent included."""
        saved = super().get_state()
        opponent = self._opponent
        saved["opponent"] = None if opponent is None else (type(opponent).__name__, opponent.get_state())
        return saved

    def set_state(self, saved: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:  # type: ignore[override]
        """Go back to where `get_state` was called; returns observation and info, as `reset` does."""
        check_saved(saved, self.game, (*self._SAVED, "opponent"))
        mine = dict(saved)
        given = mine.pop("opponent")
        kind, state = given if isinstance(given, tuple) and len(given) == 2 else (None, None)
        if kind != (None if self._opponent is None else type(self._opponent).__name__):
            raise ValueError("the state comes from an environment with another kind of opponent")
        super().set_state(mine)
        if self._opponent is not None:
            self._opponent.set_state(state)
        return self._told(terminated=self._over)


def check_seat(seat: int | str, opponent: Any) -> int | str:
    """Return the learner's seat; ValueError if there is no such seat, or self-play is given one."""
    checked: int | str = check_choice("seat", seat, (0, 1, "random"))
    if opponent is None and checked != 0:
        raise ValueError(f"in self-play (opponent=None) the learner has both seats: seat={seat!r} has no effect")
    return checked
