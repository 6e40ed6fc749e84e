"""Self-play PPO in one file on the vectorised environment: a loop of your own to change, torch and nothing else.

What to know: with ``opponent=None`` each action is that of the seat to move, the reward is the mover's, and what the
next seat sees comes back. So a value counts with its sign changed when the turn changes (``infos["to_play"]``; in
Reversi a seat may move twice). Autoreset is SAME_STEP: the row of an ended game already shows the next game, mask
included, and no step is wasted. Illegal logits get -1e8, not 0; ``illegal="raise"`` would raise if one slipped through.

    pip install -r examples/recipes/requirements-own_loop.txt
    python examples/recipes/train_own_loop.py --updates 60
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import torch
from numpy.typing import NDArray
from play import play_games
from torch import nn
from torch.distributions import Categorical

import board_envs

ILLEGAL_LOGIT = -1e8


class Net(nn.Module):
    """Flat observations (..., cells) float32 and masks (..., n) -> masked logits (..., n), values (...)."""

    def __init__(self, cells: int, n: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(cells, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
        self.policy, self.value = nn.Linear(128, n), nn.Linear(128, 1)

    def forward(self, seen: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and values."""
        hidden = self.body(seen)
        return self.policy(hidden).masked_fill(~mask, ILLEGAL_LOGIT), self.value(hidden).squeeze(-1)


def train(env_id: str, updates: int, *, num_envs: int = 64, plies: int = 32, seed: int = 0, **parameters: Any) -> Net:
    """Train by self-play.

    Args:
        env_id: id in Gymnasium's registry.
        updates: of the network, each from `num_envs` times `plies` moves.
        num_envs: games at once.
        plies: moves in each of them between two updates.
        seed: of weights and play.
        parameters: of the game.

    """
    torch.manual_seed(seed)
    options = {"opponent": None, "flat": True, "illegal": "raise", "autoreset_mode": "SameStep", **parameters}
    envs = gymnasium.make_vec(env_id, num_envs, **options)
    actions, seen_space = envs.single_action_space, envs.single_observation_space
    assert isinstance(actions, gymnasium.spaces.Discrete)
    assert isinstance(seen_space, gymnasium.spaces.Box)
    n, cells = int(actions.n), seen_space.shape[0]
    net = Net(cells, n)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)
    seen, infos = envs.reset(seed=seed)
    observations = torch.zeros(plies, num_envs, cells)
    masks = torch.zeros(plies, num_envs, n, dtype=torch.bool)
    actions = torch.zeros(plies, num_envs, dtype=torch.int64)
    chances, values, rewards, ends, signs = (torch.zeros(plies, num_envs) for _ in range(5))
    games, begun = 0, time.perf_counter()
    for update in range(1, updates + 1):
        for ply in range(plies):
            observations[ply], masks[ply] = torch.as_tensor(seen), torch.as_tensor(infos["action_mask"] == 1)
            with torch.no_grad():
                logits, values[ply] = net(observations[ply], masks[ply])
            policy = Categorical(logits=logits)
            actions[ply] = policy.sample()
            chances[ply] = policy.log_prob(actions[ply])
            mover = infos["to_play"]
            seen, reward, terminated, truncated, infos = envs.step(actions[ply].numpy())
            rewards[ply], ends[ply] = torch.as_tensor(reward), torch.as_tensor(terminated | truncated)
            signs[ply] = torch.as_tensor(infos["to_play"] == mover) * 2.0 - 1  # of what follows, for this mover
        games += int(ends.sum())
        with torch.no_grad():
            after = net(torch.as_tensor(seen), torch.as_tensor(infos["action_mask"] == 1))[1]
        advantages = torch.zeros(plies, num_envs)
        advantage = torch.zeros(num_envs)
        for ply in reversed(range(plies)):
            goes_on = (1 - ends[ply]) * signs[ply]
            advantage = rewards[ply] + goes_on * (after + 0.95 * advantage) - values[ply]
            advantages[ply], after = advantage, values[ply]
        targets = advantages + values
        for _ in range(4):
            for rows in torch.randperm(plies * num_envs).split(512):
                logits, value = net(observations.flatten(0, 1)[rows], masks.flatten(0, 1)[rows])
                policy = Categorical(logits=logits)
                ratio = (policy.log_prob(actions.flatten()[rows]) - chances.flatten()[rows]).exp()
                gain = advantages.flatten()[rows]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                surrogate = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                error = (value - targets.flatten()[rows]).square().mean()
                loss = -surrogate + 0.5 * error - 0.01 * policy.entropy().mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        if update % 10 == 0:
            left = (time.perf_counter() - begun) / update * (updates - update)
            print(f"{update}/{updates}: {games} games, {left:.0f} s left", file=sys.stderr)
    envs.close()
    return net


def best_action(net: Net, observation: Mapping[str, NDArray[Any]]) -> int:
    """Return the likeliest legal action."""
    seen = torch.as_tensor(observation["observation"], dtype=torch.float32).flatten()
    with torch.no_grad():
        return int(net(seen, torch.as_tensor(observation["action_mask"] == 1))[0].argmax())


def main() -> None:
    """Train, save, load, and play without an illegal move."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=60, help="of the network, 2048 moves each (%(default)s)")
    parser.add_argument("--games", type=int, default=200, help="games against random play at the end (%(default)s)")
    arguments = parser.parse_args()
    game = board_envs.make_game("connect-four")
    trained = train("board_envs/ConnectFour-v0", arguments.updates)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.pt"
        torch.save(trained.state_dict(), path)
        net = Net(trained.body[0].in_features, game.num_actions)
        net.load_state_dict(torch.load(path, weights_only=True))
    play_games(game, [lambda observation: best_action(net, observation)] * 2, arguments.games)


if __name__ == "__main__":
    main()
