"""PettingZoo's and Gymnasium's own checkers, run on an environment."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import gymnasium
from gymnasium.utils.env_checker import check_env as gymnasium_check_env

from board_envs.envs.single import BoardEnv
from board_envs.game import Game
from board_envs.registration import env, gymnasium_id, raw_env

KNOWN_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation numpy array is all zeros.",
    "Observation space for each agent probably should be",
    "Observation is a single number",
)
"""What PettingZoo's api_test warns of with every third-party Dict observation, an empty board, and a board of one
number."""


def only_known_warnings(caught: Iterable[warnings.WarningMessage], allowed: Iterable[str] = KNOWN_WARNINGS) -> None:
    """AssertionError for warnings that begin with none of the allowed texts."""
    allowed = tuple(allowed)
    unknown = [str(w.message) for w in caught if not any(re.match(re.escape(text), str(w.message)) for text in allowed)]
    assert unknown == [], f"PettingZoo warns: {unknown}"


def pettingzoo_tests() -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    """Return PettingZoo's api_test, seed_test and render_test; importing them warns of PettingZoo's own old names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pettingzoo.test import api_test, render_test, seed_test
    return api_test, seed_test, render_test


def check_pettingzoo(game: Game[Any]) -> None:
    """Run PettingZoo's checkers on both AEC environments of a game; warnings other than `KNOWN_WARNINGS` fail."""
    api_test, seed_test, render_test = pettingzoo_tests()
    for make in (raw_env, env):

        def make_env(**options: Any) -> Any:
            return make(game.name, **game.parameters, **options)

        # The checkers print, and what render_mode="human" shows goes with it.
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("always")
            api_test(make_env(), num_cycles=30)
            seed_test(make_env, num_cycles=20)
            render_test(make_env)
        only_known_warnings(caught)


def check_gymnasium(game: Game[Any]) -> None:
    """Run Gymnasium's checker on a game's environment, with an opponent, in self-play and flat; make it by its id."""
    for options in ({}, {"opponent": None}, {"seat": "random", "mask_in": "observation", "flat": True}):
        made = gymnasium.make(gymnasium_id(game.name), **game.parameters, **options)
        assert isinstance(made.unwrapped, BoardEnv), f"{gymnasium_id(game.name)} makes {made.unwrapped!r}"
        assert made.unwrapped.game is game, f"{gymnasium_id(game.name)} plays {made.unwrapped.game!r}, not {game!r}"
        with contextlib.redirect_stdout(io.StringIO()):
            gymnasium_check_env(made.unwrapped)
