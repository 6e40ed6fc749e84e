"""DQN for one seat against random play with AgileRL, on the vectorised environment.

What to know: AgileRL's loop passes ``info["action_mask"]`` (int8: it computes 1 - mask) on to the agent by itself. With
SAME_STEP autoreset no row of its replay buffer joins the end of one game to the start of the next.

    pip install -r examples/recipes/requirements-agilerl.txt
    python examples/recipes/train_agilerl.py --steps 20000
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from agilerl.algorithms.dqn import DQN
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.training.train_off_policy import train_off_policy
from numpy.typing import NDArray
from play import play_games

import board_envs


def train(env_id: str, steps: int, *, num_envs: int = 16, seed: int = 0, **parameters: Any) -> DQN:
    """Train a learner.

    Args:
        env_id: id in Gymnasium's registry.
        steps: the learner's moves.
        num_envs: games at once.
        seed: of weights and exploration.
        parameters: of the game.

    """
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (AgileRL samples its buffer by the global generators)
    options = {"opponent": "random", "seat": "random", "flat": True, "illegal": "raise", **parameters}
    envs = gymnasium.make_vec(env_id, num_envs, autoreset_mode="SameStep", **options)
    learner = DQN(envs.single_observation_space, envs.single_action_space, lr=1e-3, learn_step=16, gamma=1.0, tau=0.01)
    (learner,), _ = train_off_policy(
        envs,
        env_id,
        "DQN",
        [learner],
        ReplayBuffer(max_size=20_000),
        max_steps=steps,
        evo_steps=steps,
        eval_steps=200,
        eps_decay=0.995,
        verbose=False,
    )
    envs.close()
    return learner


def best_action(learner: DQN, observation: Mapping[str, NDArray[Any]]) -> int:
    """Return the legal action of the highest Q."""
    seen = observation["observation"].astype(np.float32).reshape(1, -1)
    return int(learner.get_action(seen, action_mask=observation["action_mask"][None])[0])


def main() -> None:
    """Train, save, load, and play without an illegal move."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000, help="moves of the learner (%(default)s)")
    parser.add_argument("--games", type=int, default=200, help="games against random play at the end (%(default)s)")
    arguments = parser.parse_args()
    trained = train("board_envs/ConnectFour-v0", arguments.steps)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "dqn.pt")
        trained.save_checkpoint(path)
        learner = DQN.load(path)
    learner.set_training_mode(False)
    game = board_envs.make_game("connect-four")
    play_games(game, [lambda observation: best_action(learner, observation)] * 2, arguments.games)


if __name__ == "__main__":
    main()
