"""The vectorised environment against Gymnasium's SyncVectorEnv of the scalar one: equal in every bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from board_envs.envs.single import BoardEnv
from board_envs.envs.vector import BoardVectorEnv
from board_envs.game import Game
from board_envs.types import INFO_KEYS

_FORMS: tuple[Mapping[str, Any], ...] = (
    {},
    {"opponent": None, "illegal": "ignore", "illegal_cap": 2},
    {"seat": "random", "illegal": "random", "mask_in": "observation", "flat": True},
)


def check_vector(game: Game[Any], steps: int = 60, rows: int = 8) -> None:
    """Play a game in both environments, in all modes of reset, with some illegal actions, until games have ended.

    Needs numba (MissingExtraError without it).

    Args:
        game: the game.
        steps: the least number in each form; longer games take more.
        rows: games side by side.

    """
    steps = max(steps, (game.max_plies or 0) + 10)
    for mode in AutoresetMode:
        for form in _FORMS:
            ours = BoardVectorEnv(game, rows, autoreset_mode=mode, **form)
            theirs: Any = SyncVectorEnv([lambda: BoardEnv(game, **form)] * rows, autoreset_mode=mode)
            assert ours.observation_space == theirs.observation_space
            assert ours.action_space == theirs.action_space
            compare_vectors(ours, theirs, steps)


def assert_same(ours: Any, theirs: Any, where: str) -> None:
    """Equal bit by bit: keys, dtypes, shapes, entries; NaN equals NaN."""
    if isinstance(theirs, tuple):
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{where}[{k}]")
    elif isinstance(theirs, dict):
        assert set(ours) == set(theirs), where
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(theirs, np.ndarray):
        assert isinstance(ours, np.ndarray), where
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), where
        if theirs.dtype == object:
            assert_same(tuple(ours), tuple(theirs), where)
        else:
            same = np.array_equal(ours, theirs, equal_nan=theirs.dtype.kind == "f")
            assert same, f"{where}: vectorised {ours.tolist()}, scalar {theirs.tolist()}"
    else:
        assert ours is None, where
        assert theirs is None, where


def _assert_partial(ours: Any, theirs: Any, rows: NDArray[np.bool_], last: Any, where: str) -> None:
    """Observations and flags as Gymnasium's; values its own in the rows reset, and the last ones in the others."""
    assert_same(ours[0], theirs[0], where)
    assert set(ours[1]) == set(theirs[1]) == {name for key in INFO_KEYS for name in (key, f"_{key}")}, where
    for key in INFO_KEYS:
        assert_same(ours[1][f"_{key}"], rows, f"{where}: _{key}")
        assert_same(theirs[1][f"_{key}"], rows, f"{where}: _{key}, Gymnasium's")
        assert_same(ours[1][key][rows], theirs[1][key][rows], f"{where}: {key}")
        others = ours[1][key][~rows]
        if key in ("action_values", "regret"):
            assert np.isnan(others).all(), f"{where}: {key}"
        else:
            assert_same(others, last[key][~rows], f"{where}: {key}")


def random_actions(rng: np.random.Generator, masks: NDArray[np.int8], illegal: float = 0.0) -> NDArray[np.int64]:
    """Return a legal action a row, with probability `illegal` any action."""
    actions = (rng.random(masks.shape) * masks).argmax(axis=1)
    wild = rng.random(len(masks)) < illegal
    return np.where(wild, rng.integers(masks.shape[1], size=len(masks)), actions)


def compare_vectors(
    ours: Any, theirs: Any, steps: int, seed: int = 0, illegal: float = 0.03, resets: Any = None
) -> int:
    """Step two vector environments with the same actions and resets; return how many games ended."""
    rng = np.random.default_rng(seed)
    results = ours.reset(seed=seed, options=resets), theirs.reset(seed=seed, options=resets)
    assert_same(*results, "reset")
    masks = results[0][1]["action_mask"].copy()
    ends, over = 0, np.zeros(len(masks), np.bool_)
    for step in range(steps):
        if ours.metadata["autoreset_mode"] is AutoresetMode.DISABLED and over.any():
            again = [env.reset(options={"reset_mask": over.copy()}) for env in (ours, theirs)]
            _assert_partial(again[0], again[1], over, results[0][4], f"partial reset before step {step}")
            masks = again[0][1]["action_mask"].copy()
        actions = random_actions(rng, masks, illegal)
        results = ours.step(actions), theirs.step(actions)
        assert_same(*results, f"step {step}")
        masks = results[0][4]["action_mask"].copy()
        over = results[0][2] | results[0][3]
        ends += int(over.sum())
    return ends
