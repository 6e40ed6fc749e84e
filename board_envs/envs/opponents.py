"""The other seat of a one-seat environment: the built-in random player, agents and policies."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from board_envs.envs.kernels import Policy, random_policy
from board_envs.game import Game, is_action
from board_envs.policies import BatchPolicy, find_policy, is_agent
from board_envs.random import Stream
from board_envs.resolve import resolve
from board_envs.types import IllegalActionError, Int8


class RandomOpponent:
    """Plays the k-th legal action, k drawn from the stream of its seed: what the spec "random" means everywhere."""

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        self._stream = Stream.seeded(0)

    def reset(self, seed: int) -> None:
        """Begin a game."""
        self._stream = Stream.seeded(seed)

    def choose(self, state: Any) -> int:
        """Return an action."""
        rules = self._game.rules
        return int(rules.nth(state, self._stream.below(rules.count(state))))

    def get_state(self) -> Any:
        """Return the state that the next choice depends on."""
        return copy.copy(self._stream)

    def set_state(self, saved: Any) -> None:
        """Restore a state of `get_state`."""
        self._stream = copy.copy(saved)


class AgentOpponent:
    """An agent: ``act(observation, state=None) -> int``, and ``reset(seed=...)`` before each game if it has that."""

    def __init__(self, agent: Any, game: Game[Any]) -> None:
        self._game = game
        self._agent = agent
        self._takes_state = "state" in inspect.signature(agent.act).parameters

    def reset(self, seed: int) -> None:
        """Begin a game."""
        if hasattr(self._agent, "reset"):
            self._agent.reset(seed=seed)

    def choose(self, state: Any) -> int:
        """Return the agent's action; IllegalActionError if the rules do not allow it."""
        seen = seen_in(self._game, state)
        action = self._agent.act(seen, state=state) if self._takes_state else self._agent.act(seen)
        return check_answer(self._game, state, self._agent, action)

    def get_state(self) -> Any:
        """Return a copy of the agent: its own ``get_state()`` if it has one."""
        return self._agent.get_state() if hasattr(self._agent, "set_state") else copy.deepcopy(self._agent)

    def set_state(self, saved: Any) -> None:
        """Restore a state of `get_state`."""
        if hasattr(self._agent, "set_state"):
            self._agent.set_state(saved)
        else:
            self._agent = copy.deepcopy(saved)


class PolicyOpponent:
    """A policy of one observation, or of many positions at once; it is stateless."""

    def __init__(self, policy: Any, game: Game[Any]) -> None:
        self._game = game
        self._policy = policy

    def reset(self, seed: int) -> None:
        """Begin a game; a policy has nothing to begin."""

    def choose(self, state: Any) -> int:
        """Return the policy's action; IllegalActionError if the rules do not allow it."""
        seen = seen_in(self._game, state)
        if isinstance(self._policy, BatchPolicy):
            action = ask_batch(self._policy, seen["observation"][None], seen["action_mask"][None])[0].item()
        else:
            action = self._policy(seen)
        return check_answer(self._game, state, self._policy, action)

    def get_state(self) -> None:
        """Return what the next choice depends on: nothing."""

    def set_state(self, saved: Any) -> None:
        """Restore a state of `get_state`."""


def seen_in(game: Game[Any], state: Any) -> dict[str, Int8]:
    """Return what the seat to act sees, in the form that agents take."""
    return {"observation": game.observe(state, game.current_player(state)), "action_mask": game.legal_mask(state)}


def check_answer(game: Game[Any], state: Any, who: Any, action: Any) -> int:
    """Return an opponent's action; IllegalActionError if the rules do not allow it."""
    if not game.is_legal(state, action):
        raise IllegalActionError(f"the opponent {who!r} played: {game.explain_illegal(state, action)}")
    return int(action)


def ask_batch(policy: BatchPolicy, boards: Int8, masks: Int8) -> NDArray[Any]:
    """Return a policy's actions for k positions, integers (k,); IllegalActionError for any other answer."""
    actions = np.asarray(policy(boards, masks))
    if actions.shape != boards.shape[:1] or actions.dtype.kind not in "iu":
        raise IllegalActionError(
            f"the opponent {policy!r} must return {len(boards)} integers, not {actions.dtype} {actions.shape}"
        )
    return actions


class Mixture:
    """Several opponents of whom one is drawn for each game, by weight."""

    def __init__(self, opponents: Sequence[OneOpponent], weights: Sequence[float]) -> None:
        self._opponents = list(opponents)
        self._shares = cumulative_shares(weights)
        self._drawn = 0

    def draw(self, bits: np.uint64) -> None:
        """Select an opponent by 64 random bits."""
        share = float(int(bits) >> 11) / (1 << 53)
        self._drawn = int(np.searchsorted(self._shares, share, side="right"))

    def reset(self, seed: int) -> None:
        """Begin a game with the opponent drawn."""
        self._opponents[self._drawn].reset(seed)

    def choose(self, state: Any) -> int:
        """Return an action of the opponent drawn."""
        return self._opponents[self._drawn].choose(state)

    def get_state(self) -> Any:
        """Return the state that the next choice depends on."""
        return self._drawn, [opponent.get_state() for opponent in self._opponents]

    def set_state(self, saved: Any) -> None:
        """Restore a state of `get_state`."""
        self._drawn = saved[0]
        for opponent, state in zip(self._opponents, saved[1], strict=True):
            opponent.set_state(state)


OneOpponent: TypeAlias = RandomOpponent | AgentOpponent | PolicyOpponent
Opponent: TypeAlias = OneOpponent | Mixture


def cumulative_shares(weights: Sequence[float]) -> NDArray[np.float64]:
    """Return the cumulative shares of weights, float64, the last one exactly 1; ValueError unless all are positive."""
    array = np.asarray(weights, np.float64)
    if array.size == 0 or not np.isfinite(array).all() or (array <= 0).any():
        raise ValueError(f"the weights of a mixture of opponents must be positive numbers, not {list(weights)!r}")
    shares = np.cumsum(array) / array.sum()
    shares[-1] = 1.0
    return shares


def split_mixture(opponent: Any) -> tuple[list[Any], list[float]]:
    """Return opponents and weights: those of a mapping, or one of weight 1."""
    if isinstance(opponent, Mapping):
        if not opponent:
            raise ValueError("a mixture of opponents must have one")
        return list(opponent), list(opponent.values())
    return [opponent], [1.0]


def make_opponent(opponent: Any, game: Game[Any]) -> Opponent | None:
    """Return the player of the other seat.

    Args:
        opponent: a player in any form of `board_envs.policies` (the spec "random" is built in, others come from the
            installed agents), a mixture ``{opponent: weight}`` of them, or None for self-play.
        game: what is played.

    Raises:
        TypeError: it is not a player.

    """
    if opponent is None:
        return None
    several, weights = split_mixture(opponent)
    cumulative_shares(weights)
    made = [_make_one(one, game) for one in several]
    return made[0] if len(made) == 1 else Mixture(made, weights)


def _make_one(opponent: Any, game: Game[Any]) -> OneOpponent:
    if is_random(opponent):
        return RandomOpponent(game)
    found = find_opponent(opponent, game)
    return AgentOpponent(found, game) if is_agent(found) else PolicyOpponent(found, game)


def is_random(opponent: Any) -> bool:
    """Whether this is the built-in player."""
    return isinstance(opponent, str) and opponent == "random"


def find_opponent(opponent: Any, game: Game[Any]) -> Any:
    """Return an agent, a `BatchPolicy` or a callable of one observation, as `find_policy` reads them."""
    return find_policy(opponent, game, lambda spec, game: resolve("agent", spec, game), "opponent")


class Players:
    """The opponents of a batch: those compiled, policies, and agents, one a row.

    Attributes:
        policies: the compiled ones, numbered from 0; the others follow.
        shares: cumulative shares, float64 (players,), in the order given.
        numbers: the players' numbers, int64 (players,), in the order given.

    """

    def __init__(self, opponent: Any, game: Game[Any], rows: int) -> None:
        self._game = game
        self._rows = rows
        self._given, weights = split_mixture(opponent)
        self.shares = cumulative_shares(weights)
        self._found = [one if is_random(one) else find_opponent(one, game) for one in self._given]
        self._agents: dict[tuple[int, int], AgentOpponent] = {}
        self._number()

    def _number(self) -> None:
        policies: list[Policy | None] = [compiled_policy(one, self._game) for one in self._found]
        found = tuple(policy for policy in policies if policy is not None)
        # The kernel must have one player; if all are asked outside, that one never plays.
        self.policies: tuple[Policy, ...] = found or (random_policy(self._game),)
        inside = [k for k, policy in enumerate(policies) if policy is not None]
        outside = [k for k, policy in enumerate(policies) if policy is None]
        self._outside = {len(self.policies) + place: k for place, k in enumerate(outside)}
        self.numbers = np.zeros(len(policies), np.int64)
        self.numbers[inside] = np.arange(len(inside))
        self.numbers[outside] = np.arange(len(outside)) + len(self.policies)

    @property
    def outside(self) -> bool:
        """Whether there are players that the kernel does not play."""
        return bool(self._outside)

    def begin(self, number: int, row: int, seed: int) -> None:
        """Begin a row's game with a player."""
        if number in self._outside and is_agent(self._found[self._outside[number]]):
            self._agent(number, row).reset(seed)

    def _agent(self, number: int, row: int) -> AgentOpponent:
        agent = self._agents.get((number, row))
        if agent is None:
            # Each row has an agent of its own: games go on side by side.
            original = self._found[self._outside[number]]
            agent = self._agents[number, row] = AgentOpponent(copy.deepcopy(original), self._game)
        return agent

    def choose(
        self, number: int, rows: NDArray[np.intp], boards: Int8, masks: Int8, state_of: Callable[[int], Any]
    ) -> NDArray[np.int64]:
        """Return the actions of a player in some rows, int64 (k,), given what the movers see there.

        IllegalActionError names a row whose action the rules do not allow.
        """
        player = self._found[self._outside[number]]
        n = self._game.num_actions
        answers: Any
        if is_agent(player):
            return np.array([self._agent(number, row).choose(state_of(row)) for row in rows.tolist()], np.int64)
        if isinstance(player, BatchPolicy):
            answers = ask_batch(player, boards, masks)
            legal = (answers >= 0) & (answers < n)
            actions = np.where(legal, answers, 0).astype(np.int64)
        else:
            pairs = zip(boards.copy(), masks.copy(), strict=True)
            answers = [player({"observation": board, "action_mask": mask}) for board, mask in pairs]
            legal = np.array([is_action(answer, n) for answer in answers])
            actions = np.array([int(answer) if fine else 0 for answer, fine in zip(answers, legal, strict=True)])
        legal &= masks[np.arange(rows.size), actions] == 1
        if not legal.all():
            k = int(np.flatnonzero(~legal)[0])
            answer = answers[k].item() if isinstance(answers, np.ndarray) else answers[k]
            reason = self._game.explain_illegal(state_of(int(rows[k])), answer)
            raise IllegalActionError(f"row {rows[k]}: the opponent {player!r} played: {reason}")
        return actions

    def get_state(self) -> Any:
        """Return what the next choices depend on."""
        return {key: agent.get_state() for key, agent in self._agents.items()}

    def set_state(self, saved: Any) -> None:
        """Restore a state of `get_state`; ValueError for anything else."""
        agents = {number for number, k in self._outside.items() if is_agent(self._found[k])}
        rows = range(self._rows)
        if not isinstance(saved, Mapping) or not all(
            isinstance(key, tuple) and len(key) == 2 and key[0] in agents and key[1] in rows for key in saved
        ):
            raise ValueError("the state comes from an environment with other opponents")
        self._agents = {}
        for (number, row), state in saved.items():
            self._agent(number, row).set_state(state)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot be pickled and can be rebuilt."""
        return {name: value for name, value in self.__dict__.items() if name != "policies"}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Take up a copy."""
        self.__dict__.update(saved)
        self._number()


def compiled_policy(opponent: Any, game: Game[Any]) -> Policy | None:
    """Return the jitable form of a player, if it has one: an agent's own ``compiled_policy()``."""
    if is_random(opponent):
        return random_policy(game)
    make = getattr(opponent, "compiled_policy", None)
    return None if make is None else make()


def make_players(opponent: Any, game: Game[Any], rows: int) -> Players | None:
    """Return the opponents of a batch, None in self-play; arguments as in `make_opponent`."""
    return None if opponent is None else Players(opponent, game, rows)
