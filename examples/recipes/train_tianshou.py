"""Two DQN learners play each other on a PettingZoo game with Tianshou 2.

Note: only Tianshou's Q-learning family (and its random policy) obeys masks. It keeps every info in its replay
buffer and refuses NaN there, but unknown exact values are NaN here, so `Seats` drops the infos. The next
observation in the buffer is the opponent's; two-step returns (``n_step_return_horizon=2``) lead to the learner's own.

    pip install -r examples/recipes/requirements-tianshou.txt
    python examples/recipes/train_tianshou.py --steps 4000
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pettingzoo import AECEnv
from play import play_games
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import board_envs


class Seats(PettingZooEnv):
    """Tianshou's view of a game without infos; each reward list is its own (theirs is one object, changed in place)."""

    def reset(self, *args: Any, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the first seat's observation."""
        observation, _ = super().reset(*args, **kwargs)
        return observation, {}

    def step(self, action: Any) -> tuple[dict[str, Any], list[float], bool, bool, dict[str, Any]]:
        """Return the next seat's observation and what both seats were paid."""
        observation, rewards, terminated, truncated, _ = super().step(action)
        return observation, list(rewards), terminated, truncated, {}


def train(make: Callable[[], AECEnv], steps: int, seed: int = 0) -> list[DiscreteQLearningPolicy]:
    """Train a learner a seat.

    Args:
        make: makes the game's AEC environment.
        steps: moves to play.
        seed: of weights and play.

    Returns:
        the policies of seats 0 and 1.

    """
    np.random.seed(seed)  # noqa: NPY002 (Tianshou explores by numpy's global generator)
    torch.manual_seed(seed)
    env = Seats(make())
    space, n = env.observation_space["observation"], env.action_space.n

    def learner() -> DQN:
        net = Net(state_shape=space.shape, action_shape=n, hidden_sizes=[128, 128])
        policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.1)
        optimiser = AdamOptimizerFactory(lr=1e-3)
        return DQN(policy=policy, optim=optimiser, gamma=1.0, n_step_return_horizon=2, target_update_freq=100)

    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner() for _ in env.agents], env=env)
    envs = DummyVectorEnv([lambda: Seats(make()) for _ in range(8)])
    collector = Collector(algorithm, envs, VectorReplayBuffer(20_000, 8), exploration_noise=True)
    collector.reset()
    collector.collect(n_step=800, random=False)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=80,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=128,
            multi_agent_return_reduction=lambda returns: returns[:, 0],
            show_progress=sys.stderr.isatty(),
            verbose=False,
        )
    )
    print(f"{result.train_step} moves, {result.train_episode} games, {result.update_step} updates")
    return [algorithm.get_algorithm(agent).policy for agent in env.agents]


def best_action(policy: DiscreteQLearningPolicy, observation: Mapping[str, NDArray[Any]]) -> int:
    """Return the legal action of the highest Q."""
    mask = np.asarray(observation["action_mask"], bool)
    batch = Batch(obs=Batch(obs=observation["observation"][None], mask=mask[None]), info=Batch())
    with torch.no_grad():
        return int(policy(batch).act[0])


def main() -> None:
    """Train, save, load, and play without an illegal move."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=4000, help="moves to play in training")
    parser.add_argument("--games", type=int, default=200, help="games against random play at the end")
    arguments = parser.parse_args()
    policies = train(board_envs.connect_four_v0.env, arguments.steps)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policies.pt"
        torch.save([policy.state_dict() for policy in policies], path)
        for policy, weights in zip(policies, torch.load(path, weights_only=True), strict=True):
            policy.load_state_dict(weights)
    game = board_envs.make_game("connect-four")
    play_games(game, [partial(best_action, policy) for policy in policies], arguments.games)


if __name__ == "__main__":
    main()
