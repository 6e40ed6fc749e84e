"""The games and sizes that every contract test runs over."""

import functools
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import board_envs
from board_envs.random import Stream
from board_envs.registry import camel_name, game_samples

CASES = [(name, parameters) for name in board_envs.GAMES for parameters in game_samples(name)]
every_case = pytest.mark.parametrize(
    ("name", "parameters"), CASES, ids=[f"{name}-{'-'.join(map(str, p.values()))}" for name, p in CASES]
)
every_game = pytest.mark.parametrize("name", list(board_envs.GAMES))


def module_of(name):
    """Return env() and raw_env() of a game, as the module of its name has them."""
    return SimpleNamespace(
        env=functools.partial(board_envs.env, name), raw_env=functools.partial(board_envs.raw_env, name)
    )


def gymnasium_id(name):
    return f"board_envs/{camel_name(name)}-v0"


class recording:  # noqa: N801  # used like a function
    """Record every warning: PettingZoo's own tests are judged by the list of texts."""

    def __enter__(self):
        self._catcher = warnings.catch_warnings(record=True)
        caught = self._catcher.__enter__()
        warnings.simplefilter("always")
        return caught

    def __exit__(self, *details):
        return self._catcher.__exit__(*details)


def play_random(env, seed, reset=True):
    """Play an AEC game to its end with actions drawn from a seed; returns all outputs."""
    stream = Stream.seeded(seed)
    if reset:
        env.reset(seed=seed)
    told = []
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        board = observation["observation"] if isinstance(observation, dict) else observation
        told.append((agent, board.tobytes(), reward, termination, truncation, info["action_mask"].tobytes()))
        if termination or truncation:
            env.step(None)
        else:
            legal = np.flatnonzero(info["action_mask"])
            env.step(int(legal[stream.below(len(legal))]))
    return told


def play_single(env, seed, steps=200, reset=True):
    """Play a Gymnasium environment to the end of an episode; returns all outputs."""
    stream = Stream.seeded(seed)
    told = []
    if reset:
        env.reset(seed=seed)
    for _ in range(steps):
        legal = np.flatnonzero(env.get_wrapper_attr("action_masks")())
        observation, reward, terminated, truncated, info = env.step(int(legal[stream.below(len(legal))]))
        board = observation["observation"] if isinstance(observation, dict) else observation
        told.append((board.tobytes(), reward, terminated, truncated, info["plies"], info["winner"]))
        if terminated or truncated:
            return told
    raise AssertionError(f"no end in {steps} steps")
