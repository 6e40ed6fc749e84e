"""The games and sizes that every contract test runs over."""

import re
import warnings

import numpy as np
import pytest

import board_envs
from board_envs.random import Stream
from board_envs.registry import camel_name, snake_name

CASES = [
    ("reversi", {}),
    ("reversi", {"size": 4}),
    ("connect-four", {}),
    ("connect-four", {"rows": 3, "columns": 16, "connect": 3}),
    ("awale", {}),
    ("awale", {"pits": 3, "seeds": 2, "ruleset": "abapa"}),
    ("nim", {}),
    ("nim", {"heaps": (1, 3), "misere": True}),
]
assert {name for name, _ in CASES} == set(board_envs.GAMES), "every registered game is under contract"
every_case = pytest.mark.parametrize(
    ("name", "parameters"), CASES, ids=[f"{name}-{'-'.join(map(str, p.values()))}" for name, p in CASES]
)
every_game = pytest.mark.parametrize("name", list(board_envs.GAMES))

KNOWN_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation numpy array is all zeros.",
    "Observation space for each agent probably should be",
)
"""What PettingZoo's api_test warns of with every third-party Dict observation, and with an empty board."""


def module_of(name):
    return getattr(board_envs, f"{snake_name(name)}_v0")


def gymnasium_id(name):
    return f"board_envs/{camel_name(name)}-v0"


def only_known_warnings(caught, allowed=KNOWN_WARNINGS):
    unknown = [str(w.message) for w in caught if not any(re.match(re.escape(text), str(w.message)) for text in allowed)]
    assert unknown == []


class recording:  # noqa: N801  # used like a function
    """Record every warning: PettingZoo's own tests are judged by the list of texts."""

    def __enter__(self):
        self._catcher = warnings.catch_warnings(record=True)
        caught = self._catcher.__enter__()
        warnings.simplefilter("always")
        return caught

    def __exit__(self, *details):
        return self._catcher.__exit__(*details)


def pettingzoo_tests():
    """Return PettingZoo's test functions; importing them warns of PettingZoo's own old names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pettingzoo.test import api_test, render_test, seed_test
    return api_test, seed_test, render_test


def play_random(env, seed, reset=True):
    """Play an AEC game to its end with actions drawn from a seed; returns everything that was told."""
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
    """Play a Gymnasium environment to the end of an episode; returns everything that was told."""
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
