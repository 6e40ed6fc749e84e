"""Self-play PPO on a PettingZoo game with RLlib's new API stack and its own action-masking module (PPO, torch).

What to know: the module wants observations ``{"action_mask": float32 (n,), "observations": float32, flat}``, the second
key in the plural. `RLlibView` renames; ``flat=True`` flattens. Register by ``tune.register_env``: workers do not know
the ids that the driver registered. RLlib 2.60 pins gymnasium 1.2.2.

    pip install -r examples/recipes/requirements-rllib.txt
    python examples/recipes/train_rllib.py --iterations 5
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import BaseWrapper
from play import play_games
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

import board_envs


class RLlibView(BaseWrapper):
    """A game made with ``flat=True`` under the names and dtypes that RLlib's masking module reads."""

    def __init__(self, env: AECEnv) -> None:
        super().__init__(env)
        inner = env.observation_space("player_0")
        mask = gymnasium.spaces.Box(0, 1, inner["action_mask"].shape, np.float32)
        self.space = gymnasium.spaces.Dict({"action_mask": mask, "observations": inner["observation"]})

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """Return the same space for both seats."""
        return self.space

    def observe(self, agent: str) -> dict[str, NDArray[np.float32]]:
        """Return what a seat sees."""
        seen = self.env.observe(agent)
        return {"action_mask": seen["action_mask"].astype(np.float32), "observations": seen["observation"]}


def configure(make: Callable[[], AECEnv], workers: int = 0, batch: int = 1000) -> PPOConfig:
    """Return a configuration of self-play: one policy for both seats.

    Args:
        make: makes the game's AEC environment, with ``flat=True``.
        workers: processes that play; 0 plays in this one.
        batch: moves to play an iteration.

    """
    tune.register_env("game", lambda config: PettingZooEnv(RLlibView(make())))
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config={"fcnet_hiddens": [128, 128], "head_fcnet_hiddens": [], "vf_share_layers": False},
    )
    return (
        PPOConfig()
        .environment("game")
        .env_runners(num_env_runners=workers, batch_mode="complete_episodes")
        .multi_agent(policies={"player"}, policy_mapping_fn=lambda agent, episode, **_: "player")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"player": module}))
        .training(train_batch_size_per_learner=batch, minibatch_size=128, num_epochs=4, gamma=1.0, entropy_coeff=0.01)
        .debugging(seed=0)
    )


def best_action(module: RLModule, observation: Mapping[str, NDArray[Any]]) -> int:
    """Return the likeliest legal action; the module masks."""
    batch = {
        "action_mask": torch.as_tensor(observation["action_mask"], dtype=torch.float32)[None],
        "observations": torch.as_tensor(observation["observation"], dtype=torch.float32).reshape(1, -1),
    }
    with torch.no_grad():
        return int(module.forward_inference({"obs": batch})["action_dist_inputs"][0].argmax())


def main() -> None:
    """Train, save, load, and play without an illegal move."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=5, help="PPO iterations of 1000 moves")
    parser.add_argument("--workers", type=int, default=0, help="processes that play")
    parser.add_argument("--games", type=int, default=200, help="games against random play at the end")
    arguments = parser.parse_args()
    algorithm = configure(lambda: board_envs.connect_four_v0.env(flat=True), arguments.workers).build_algo()
    for iteration in range(1, arguments.iterations + 1):
        result = algorithm.train()["env_runners"]
        games, plies = int(result["num_episodes"]), float(result["episode_len_mean"])
        print(f"iteration {iteration}/{arguments.iterations}: {games} games, {plies:.1f} plies each")
    with tempfile.TemporaryDirectory() as folder:
        algorithm.save_to_path(folder)
        algorithm.stop()
        path = Path(folder) / "learner_group" / "learner" / "rl_module" / "player"
        module = RLModule.from_checkpoint(path)
    game = board_envs.make_game("connect-four")
    play_games(game, [lambda observation: best_action(module, observation)] * 2, arguments.games)


if __name__ == "__main__":
    main()
