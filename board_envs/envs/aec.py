"""PettingZoo's turn-by-turn view (AEC) of any game."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from board_envs.envs.common import (
    CAP,
    PENALTY,
    RENDER_MODES,
    Table,
    check_options,
    make_spaces,
    read_start,
)
from board_envs.game import Game
from board_envs.random import Stream, check_seed
from board_envs.registry import snake_name
from board_envs.types import RETURNS, IllegalActionError, Int8, Oracle

AGENTS = ("player_0", "player_1")
_SEATS = {"player_0": 0, "player_1": 1}


class _SetByReset:
    """Placeholder for an attribute that `reset` sets; a ``__getattr__`` would slow every attribute down."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, env: Any, owner: type) -> Any:
        raise AttributeError(f"{self._name} is set by reset(): call it first")


class BoardAECEnv(Table[Any], AECEnv[str, Any, Any]):  # type: ignore[misc]  # PettingZoo is not typed
    """A game for two agents, ``player_0`` and ``player_1``, of whom ``agent_selection`` is to move.

    Both seats end on the same step, and after it the seat that would have moved next is selected. Rewards are +1, 0 and
    -1. An observation is ``{"observation": int8 (shape), "action_mask": int8 (n,)}``; plane 0 holds the pieces of the
    seat that looks, at every moment; the mask is all zeros for a seat that cannot act.

    Args:
        game: a Game, or its name with the parameters beside.
        illegal: "raise", or "lose" (the offender gets -1, the other 0, both terminate), "random", "ignore".
        illegal_penalty: subtracted from the reward for each ignored action.
        illegal_cap: both seats are truncated at this many ignored actions.
        mask_in: "observation", or "info": the observation is then the board alone.
        flat: the board as float32 vector.
        oracle: an Oracle or its spec; its answers are in the infos.
        render_mode: None, "ansi" or "human".
        parameters: of the game.

    """

    metadata: dict[str, Any]
    render_modes: ClassVar[tuple[str, ...]] = RENDER_MODES
    agent_selection: Any = _SetByReset()
    rewards: Any = _SetByReset()
    terminations: Any = _SetByReset()
    truncations: Any = _SetByReset()
    _SAVED = (
        *Table._SAVED, "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations",
        "_skip_agent_selection",
        "_stopped",
    )  # fmt: skip

    def __init__(
        self,
        game: str | Game[Any],
        *,
        illegal: str = "raise",
        illegal_penalty: float = PENALTY,
        illegal_cap: int = CAP,
        mask_in: str = "observation",
        flat: bool = False,
        oracle: Oracle[Any] | str | None = None,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__()
        self._set_table(
            game, parameters, illegal=illegal, illegal_penalty=illegal_penalty, illegal_cap=illegal_cap,
            mask_in=mask_in, flat=flat, oracle=oracle, render_mode=render_mode,
        )  # fmt: skip
        self.metadata = {
            "name": f"{snake_name(self.game.name)}_v0",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        # PettingZoo declares what it holds, not what may be read.
        self.action_spaces: dict[str, spaces.Discrete] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
        for agent in AGENTS:
            self.observation_spaces[agent], self.action_spaces[agent] = make_spaces(self.game, self.mask_in, self.flat)
        self._infos: dict[str, dict[str, Any]] | None
        self._selected_info: dict[str, Any] | None
        self._forget_infos()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: of the environment's chance (0 to 2^63 - 1); None continues the current stream.
            options: one of "position" (text), "moves" (text or list) or "state": where to start.

        Raises:
            ValueError: an unknown option, or a start that is impossible or finished; the game on stays as it was.

        """
        # PettingZoo's api_test resets every environment with {"options": 1} and wants it let pass.
        if isinstance(options, dict):
            options = {key: value for key, value in options.items() if key != "options"}
        state = read_start(self.game, check_options(options))
        if seed is not None:
            self._stream = Stream.seeded(check_seed(seed))
        self._begin(state)
        self._needs_reset = None
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._skip_agent_selection = None
        self.agent_selection = AGENTS[self._seat]
        self._stopped = False
        self._forget_infos()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play the selected agent's action, or None once that agent has ended.

        Raises:
            IllegalActionError: the action is out of range, or not legal with ``illegal="raise"``; nothing has changed.
            ResetNeeded: the game has not begun, or both agents have ended and been stepped with None.

        """
        if not self.agents:
            self._refuse()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if type(action) is not int or not 0 <= action < self._n:
            action = self._check_action(action)
        mask = self._mask
        if mask is None:
            mask = self._legal_mask()
        if mask[action] and self.oracle is None:
            self._illegal = 0
        else:
            replaced = self._judge(agent, action)
            if replaced is None:
                return
            action = replaced
        self._play(action)
        self._cumulative_rewards[agent] = 0.0
        self.agent_selection = AGENTS[self._seat]
        if self._winner < 0:
            self.rewards = {"player_0": 0.0, "player_1": 0.0}
        else:
            first, second = RETURNS[self._winner]
            self._finish(float(first), float(second), terminated=True)
        self._infos = self._selected_info = None
        if self.render_mode == "human":
            self.render()

    def _judge(self, agent: str, action: int) -> int | None:
        """Ask the oracle, and do what an illegal action does; return the action to play, None if there is none."""
        legal = bool(self._legal_mask()[action])
        if not legal and self.illegal == "raise":
            raise IllegalActionError(self.game.explain_illegal(self._state, action))
        values = self._ask()
        self._illegal = int(not legal)
        if not legal and self.illegal != "random":
            self._note(values, action, False)
            self._punish(agent)
            return None
        if not legal:
            action = self._random_action()
        self._note(values, action, True)
        return action

    def _punish(self, agent: str) -> None:
        """Apply the rule for an illegal action that is not replaced."""
        self._cumulative_rewards[agent] = 0.0
        if self.illegal == "lose":
            cost, over = 1.0, True
            self._winner = 1 - self._seat
        else:
            self._illegal_count += 1
            cost, over = self.illegal_penalty, self._illegal_count >= self.illegal_cap
        costs = (-cost, 0.0) if agent == AGENTS[0] else (0.0, -cost)
        if over:
            self._stopped = True
            self._finish(*costs, terminated=self.illegal == "lose")
        else:
            self.rewards = dict(zip(AGENTS, costs, strict=True))
            self._accumulate_rewards()
        self._forget_infos()

    def _finish(self, first: float, second: float, *, terminated: bool) -> None:
        self.rewards = {"player_0": first, "player_1": second}
        self._accumulate_rewards()
        ended = dict.fromkeys(AGENTS, True)
        if terminated:
            self.terminations = ended
        else:
            self.truncations = ended

    def _deads_step_first(self) -> str:
        """Bring the infos up to date where PettingZoo's own wrapper ends the game over an illegal move."""
        self._illegal = 1
        self._winner = 1 - self._seat
        self._stopped = True
        self._forget_infos()
        return super()._deads_step_first()

    # -- observations and infos ------------------------------------------------------------------------------------

    def _refuse(self) -> NoReturn:
        """ResetNeeded says why no agent is selected."""
        self._check_ready()
        raise ResetNeeded("both agents have ended and left the game: call reset()")

    def _mask_of(self, agent: str) -> Int8:
        """Return a seat's mask as a new array: zeros unless the seat is to act."""
        if self._stopped or agent != self.agent_selection:
            return np.zeros(self._n, np.int8)
        mask = self._mask
        return (self._legal_mask() if mask is None else mask).copy()

    def observe(self, agent: str) -> Any:
        """Return what a seat sees, whether it is to move or not, also when the game is over."""
        if self._needs_reset is not None:
            self._check_ready()
        if agent not in _SEATS:
            raise ValueError(f"unknown agent {agent!r}; agents: {', '.join(AGENTS)}")
        return self._observation(_SEATS[agent], self._mask_of(agent))

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return what the selected agent sees, what it got since its last move, its two flags and its info."""
        if not self.agents:
            self._refuse()
        agent = self.agent_selection
        if self._infos is not None:
            info = self._infos[agent]
        elif self._selected_info is not None:
            info = self._selected_info
        else:
            info = self._selected_info = self._info(self._mask_of(agent))
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            info,
        )

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """Each agent's info, made on first access after each step."""
        infos = self._infos
        if infos is None and self._needs_reset is not None:
            raise AttributeError("infos is set by reset(): call it first")
        if infos is None:
            infos = self._infos = self._make_infos()
        return infos

    @infos.setter
    def infos(  # pyright: ignore[reportIncompatibleVariableOverride]  # a property stands for PettingZoo's variable
        self, value: dict[str, dict[str, Any]]
    ) -> None:
        self._infos = value

    def _make_infos(self) -> dict[str, dict[str, Any]]:
        """Give both seats the same info except for the mask, in arrays of their own."""
        selected = self.agent_selection
        infos = {}
        info = self._info(np.zeros(self._n, np.int8))
        for agent in self.agents:
            if agent != selected:
                infos[agent] = info
            elif self._selected_info is not None:
                infos[agent] = self._selected_info
            else:
                values = info["action_values"].copy()
                infos[agent] = {**info, "action_mask": self._mask_of(agent), "action_values": values}
        return infos

    def _forget_infos(self) -> None:
        self._infos = self._selected_info = None

    def state(self) -> Any:
        """Return the board as player_0 sees it, whoever is to move: PettingZoo's global view."""
        self._check_ready()
        seen = self._observation(0, self._legal_mask())
        return seen["observation"] if self._mask_in_observation else seen

    def set_state(self, saved: Any) -> None:
        """Go back to where `get_state` was called."""
        super().set_state(saved)
        self._forget_infos()

    def render(self) -> str | None:
        """Return the board as text in mode "ansi"; print it in mode "human"."""
        return self._show()

    def close(self) -> None:
        """Nothing is held open."""


def wrap(env: BoardAECEnv, *, terminate_illegal: bool = True) -> AECEnv[str, Any, Any]:
    """Put PettingZoo's standard wrappers around an environment, in its standard order."""
    wrapped: AECEnv[str, Any, Any] = env
    if terminate_illegal:
        wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)
