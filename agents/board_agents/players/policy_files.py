"""Trained policies in files: models of Stable-Baselines3 and sb3-contrib, and exported torch modules.

Illegal actions are always masked out.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.agent import GameAgent, observation_of
from board_envs.game import Game
from board_envs.types import MissingExtraError, S, SpecError

_ALGORITHMS = {
    "MaskablePPO": "sb3_contrib",
    "PPO": "stable_baselines3",
    "A2C": "stable_baselines3",
    "DQN": "stable_baselines3",
}


class Sb3Agent(GameAgent[S]):
    """A saved model of Stable-Baselines3 or sb3-contrib.

    The file is loaded by Stable-Baselines3 itself, which unpickles parts of it: only name files that you trust.

    Args:
        game: the game of its training.
        path: the model's .zip.
        algorithm: "MaskablePPO", "PPO", "A2C" or "DQN".
        deterministic: play the most likely action; otherwise sample from the policy.

    """

    def __init__(self, game: Game[S], *, path: str, algorithm: str = "MaskablePPO", deterministic: bool = True) -> None:
        super().__init__(game)
        if algorithm not in _ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(_ALGORITHMS)}, not {algorithm!r}")
        self.path, self.algorithm, self.deterministic = _existing(path), algorithm, deterministic
        space = self._model.action_space
        if getattr(space, "n", None) != game.num_actions:
            raise ValueError(f"{path} has the action space {space}, but {game!r} has {game.num_actions} actions")

    @property
    def _model(self) -> Any:
        # Not an attribute: copies and pickles of the agent store the path.
        return _load_sb3(self.path, self.algorithm, Path(self.path).stat().st_mtime_ns)

    def choose(self, state: S) -> int:
        """Return a legal action of the policy."""
        import torch

        seen, policy = observation_of(self.game, state), self._model.policy
        with torch.no_grad():
            batch, _ = policy.obs_to_tensor(_fit(seen, self._model.observation_space))
            if self.algorithm == "DQN":
                preferences = policy.q_net(batch)
            else:
                preferences = policy.get_distribution(batch).distribution.logits
        return _choose(self, preferences.cpu().numpy().ravel(), seen["action_mask"], self.deterministic)


class TorchAgent(GameAgent[S]):
    """A torch module in a file: TorchScript (``torch.jit.save``) or an exported program (``torch.export.save``, .pt2).

    torch runs code in the file, and may unpickle parts of a .pt2: only name files that you trust.

    It takes float32 observations, (1, *shape) or (1, size), and returns logits or values, (1, n).

    Args:
        game: the game of its training.
        path: the file.
        flat: whether the module takes flat observations.
        deterministic: play the action with the largest number; otherwise sample from the softmax.

    """

    def __init__(self, game: Game[S], *, path: str, flat: bool = False, deterministic: bool = True) -> None:
        super().__init__(game)
        self.path, self.flat, self.deterministic = _existing(path), flat, deterministic
        self._module  # noqa: B018  # raise for an invalid file here, not at the first move

    @property
    def _module(self) -> Any:
        return _load_torch(self.path, Path(self.path).stat().st_mtime_ns)

    def choose(self, state: S) -> int:
        """Return a legal action."""
        import torch

        seen = observation_of(self.game, state)
        array = seen["observation"].astype(np.float32)
        with torch.no_grad():
            batch = torch.from_numpy(array.reshape(1, -1) if self.flat else array[None])
            answer = self._module(batch)
        preferences = (answer[0] if isinstance(answer, tuple) else answer).cpu().numpy().ravel()
        if preferences.size != self.game.num_actions:
            raise ValueError(f"{self.path} returned {preferences.size} numbers for {self.game.num_actions} actions")
        return _choose(self, preferences, seen["action_mask"], self.deterministic)


def _existing(path: str) -> str:
    if not Path(path).is_file():
        raise SpecError(f"no such file: {path!r}")
    return str(Path(path).resolve())


@functools.lru_cache(maxsize=8)
def _load_sb3(path: str, algorithm: str, _changed: int) -> Any:
    import importlib

    try:
        module = importlib.import_module(_ALGORITHMS[algorithm])
    except ImportError as error:
        raise MissingExtraError(f"a policy of {_ALGORITHMS[algorithm]}", "train") from error
    return getattr(module, algorithm).load(path, device="cpu")


@functools.lru_cache(maxsize=8)
def _load_torch(path: str, _changed: int) -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("a torch policy", "train") from error
    if path.endswith(".pt2"):
        return torch.export.load(path).module()
    return torch.jit.load(path, map_location="cpu").eval()


def _fit(seen: dict[str, NDArray[Any]], space: Any) -> Any:
    """Return the observation in the shape of the policy's observation space."""
    if hasattr(space, "spaces"):
        return {key: _fit_array(seen[key], part) for key, part in space.spaces.items()}
    return _fit_array(seen["observation"], space)


def _fit_array(array: NDArray[Any], space: Any) -> NDArray[Any]:
    if array.size != int(np.prod(space.shape)):
        raise ValueError(f"the policy takes observations of shape {space.shape}, the game has {array.shape}")
    return array.reshape(space.shape).astype(space.dtype)


def _choose(agent: GameAgent[Any], preferences: NDArray[Any], mask: NDArray[np.int8], deterministic: bool) -> int:
    """Return the legal action with the largest number, or a sample from the softmax."""
    legal = np.flatnonzero(mask)
    values = preferences[legal].astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"the policy returned non-finite values: {values.tolist()}")
    if deterministic:
        return int(legal[values.argmax()])
    weights = np.exp(values - values.max()).cumsum()
    point = int(agent.stream.bits() >> np.uint64(11)) / 2**53 * weights[-1]
    return int(legal[min(int(np.searchsorted(weights, point, side="right")), legal.size - 1)])
