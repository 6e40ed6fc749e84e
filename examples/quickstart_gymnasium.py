"""Gymnasium's loop: one learner's seat, the opponent inside, exact values of the moves in the infos.

python examples/quickstart_gymnasium.py --opponent nim-xor --episodes 100
"""

from __future__ import annotations

import argparse

import gymnasium
import numpy as np

import board_envs


def main() -> None:
    """Play episodes of random legal actions and measure them against perfect play."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opponent", default="random", help="spec of the agent inside the environment")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    env = gymnasium.make("board_envs/Nim-v0", opponent=arguments.opponent, seat="random", oracle="default")
    env.action_space.seed(arguments.seed)
    rewards, regrets = [], []
    for episode in range(arguments.episodes):
        _, info = env.reset(seed=arguments.seed + episode)
        ended, reward = False, 0.0
        while not ended:
            action = env.action_space.sample(info["action_mask"])
            _, last, terminated, truncated, info = env.step(action)
            reward = float(last)
            regrets.append(info["regret"])
            ended = terminated or truncated
        rewards.append(reward)
    env.close()
    print(f"board_envs {board_envs.__version__}: {arguments.episodes} games of Nim against {arguments.opponent}")
    print(f"mean reward {np.mean(rewards):+.2f}")
    print(f"moves that gave away a win: {np.mean(np.array(regrets) > 0):.0%} of {len(regrets)}")


if __name__ == "__main__":
    main()
