"""Checks of environments beyond PettingZoo's and Gymnasium's own."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from board_envs.random import Stream
from board_envs.types import INFO_FACTS, INFO_KEYS


def check_env(make: Callable[[], Any], games: int = 5, seed: int = 0) -> None:
    """Play random games on an environment, PettingZoo AEC or Gymnasium, and check its outputs at every step.

    Masks, fixed info keys, rewards, the way a game ends, that outputs never share memory with earlier ones, and
    that copies and pickles play on as the original does.

    Args:
        make: makes the environment.
        games: how many games.
        seed: of the environment and of the actions.

    """
    env = make()
    if isinstance(env, AECEnv):
        _check_aec(env, games, seed)
    elif isinstance(env, gymnasium.Env):
        _check_single(env, games, seed)
    else:
        raise TypeError(f"neither an AECEnv nor a gymnasium.Env: {env!r}")


def _check_info(info: dict[str, Any], n: int) -> None:
    assert tuple(info) == INFO_KEYS, f"the info has the keys {tuple(info)}"
    mask, values = info["action_mask"], info["action_values"]
    assert (mask.dtype, mask.shape) == (np.int8, (n,)), f"the mask is {mask.dtype} {mask.shape}"
    assert (values.dtype, values.shape) == (np.float32, (n,)), f"the values are {values.dtype} {values.shape}"
    for key in INFO_FACTS:
        assert type(info[key]) is int, f"info[{key!r}] is {info[key]!r}, no int"
    assert isinstance(info["regret"], float), f"info['regret'] is {info['regret']!r}, no float"


class _Kept:
    """Arrays that were handed out, with copies made at once."""

    def __init__(self) -> None:
        self._kept: list[tuple[Any, Any]] = []

    def add(self, *outputs: Any) -> None:
        for value in outputs:
            if isinstance(value, dict):
                self.add(*value.values())
            elif isinstance(value, np.ndarray):
                for other, _ in self._kept[-12:]:
                    assert not np.shares_memory(value, other), "an output shares memory with an earlier output"
                self._kept.append((value, value.copy()))

    def check(self) -> None:
        for value, then in self._kept:
            assert np.array_equal(value, then, equal_nan=value.dtype.kind == "f"), "an earlier output has changed"


def _board(observation: Any) -> Any:
    return observation["observation"] if isinstance(observation, dict) else observation


def _copies(env: Any) -> list[Any]:
    return [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]


def _check_aec(env: Any, games: int, seed: int) -> None:
    stream = Stream.seeded(seed)
    raw = env.unwrapped
    rules_of = getattr(raw, "game", None)
    for number in range(games):
        env.reset(seed=seed + number)
        kept = _Kept()
        followers: list[Any] = []
        plies = 0
        while True:
            agent = env.agent_selection
            n = int(env.action_space(agent).n)
            observation, _, terminated, truncated, info = env.last()
            kept.add(observation, info)
            _check_info(info, n)
            over = terminated or truncated
            for each in env.agents:
                seen = env.observe(each)
                mask = env.infos[each]["action_mask"]
                kept.add(seen)
                assert env.observation_space(each).contains(seen), f"an observation of {each} is out of its space"
                assert mask.any() == (each == agent and not over), f"{each} has the mask {mask} while {agent} acts"
                if isinstance(seen, dict):
                    assert np.array_equal(seen["action_mask"], mask), "observation and info have different masks"
            for follower in followers:
                assert np.array_equal(_board(follower.last()[0]), _board(observation)), "a copy plays another game"
            if over:
                break
            if plies == number:
                followers = _copies(env)
            legal = np.flatnonzero(info["action_mask"])
            action = int(legal[stream.below(len(legal))])
            mover = env.agents.index(agent)
            for each in (env, *followers):
                each.step(action)
            plies += 1
            assert env.infos[env.agents[0]]["last_mover"] == mover, "last_mover is wrong"
            assert env.infos[env.agents[0]]["plies"] == plies, "the number of plies is wrong"
        kept.check()
        assert all(env.terminations.values()), "not both seats have terminated"
        assert sum(env.rewards.values()) == 0, f"the rewards are {env.rewards}"
        winner = env.infos[agent]["winner"]
        assert winner >= 0, "the game is over, but winner is -1"
        won = [float(winner == each) - float(winner == 1 - each) for each in (0, 1)] if winner < 2 else [0.0, 0.0]
        assert list(env.rewards.values()) == won, f"winner {winner}, rewards {env.rewards}"
        if rules_of is not None:
            assert rules_of.is_terminal(raw.game_state), "the environment has ended, the game has not"
        env.step(None)
        env.step(None)
        assert env.agents == [], "agents are left after both have ended"


def _check_single(env: Any, games: int, seed: int) -> None:
    stream = Stream.seeded(seed)
    bare = env.unwrapped
    for number in range(games):
        observation, info = env.reset(seed=seed + number)
        kept = _Kept()
        followers: list[Any] = []
        steps, over, reward = 0, False, 0.0
        while True:
            kept.add(observation, info)
            _check_info(info, int(env.action_space.n))
            assert env.observation_space.contains(observation), "an observation is out of its space"
            assert np.array_equal(bare.action_masks(), info["action_mask"].astype(bool)), "two masks differ"
            assert info["action_mask"].any(), "a mask is all zeros"
            if over:
                break
            if steps == number:
                followers = _copies(env)
            legal = np.flatnonzero(info["action_mask"])
            action = int(legal[stream.below(len(legal))])
            results = [each.step(action) for each in (env, *followers)]
            observation, reward, terminated, truncated, info = results[0]
            for other in results[1:]:
                assert np.array_equal(_board(other[0]), _board(observation)), "a copy plays another game"
                assert other[1:4] == results[0][1:4], "a copy ends otherwise"
            over = terminated or truncated
            steps += 1
        kept.check()
        assert info["action_mask"].all(), "the mask is not all ones at the end"
        assert (info["winner"] == 2) == (reward == 0), f"winner {info['winner']}, reward {reward}"
