"""PettingZoo's loop: two agents play one game of any of the games, and the board is shown.

python examples/quickstart_aec.py --game reversi --seed 3
"""

from __future__ import annotations

import argparse

import board_envs
from board_agents import make_agent


def main() -> None:
    """Play a game of random moves against an agent."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="connect-four", choices=board_envs.game_names())
    parser.add_argument("--agent", default="greedy", help="who plays player_1: an agent's spec")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    env = board_envs.env(arguments.game, render_mode="ansi")
    player_1 = make_agent(arguments.agent, board_envs.make_game(arguments.game))
    player_1.reset(seed=arguments.seed)

    env.reset(seed=arguments.seed)
    env.action_space("player_0").seed(arguments.seed)
    for name in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        if termination or truncation:
            print(f"{name}: {reward:+g}")
            env.step(None)
        elif name == "player_0":
            env.step(env.action_space(name).sample(observation["action_mask"]))
        else:
            env.step(player_1.act(observation))
        if env.agents and not (termination or truncation):
            print(env.render(), end="\n\n")
    env.close()


if __name__ == "__main__":
    main()
