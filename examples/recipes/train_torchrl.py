"""Self-play on a PettingZoo game with TorchRL: one network for both seats, REINFORCE, masked sampling.

What to know: wrap the environment made with ``mask_in="info"`` (the wrapper takes the mask from the observation or
from the infos and trips over an environment that has it in both), with ``use_mask=True`` (turn games need it). It then
gives ``("players", "action_mask")``, the legal actions, and ``("players", "mask")``, the seat to move.

    pip install -r examples/recipes/requirements-torchrl.txt
    python examples/recipes/train_torchrl.py --updates 30
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from pettingzoo import AECEnv
from play import play_games
from tensordict.nn import TensorDictModule
from torch import nn

import board_envs

warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested using")
from torchrl.envs.libs.pettingzoo import PettingZooWrapper  # noqa: E402
from torchrl.modules import MaskedCategorical, ProbabilisticActor  # noqa: E402
from torchrl.objectives.value.functional import reward2go  # noqa: E402


class Net(nn.Module):
    """Observations (..., *shape) int8 -> one logit an action (..., n)."""

    def __init__(self, shape: tuple[int, ...], n: int) -> None:
        super().__init__()
        self.rank = len(shape)
        cells = int(torch.Size(shape).numel())
        self.layers = nn.Sequential(nn.Linear(cells, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, n))

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        return self.layers(observation.float().flatten(-self.rank))


def train(aec: AECEnv, updates: int, plies: int = 500, seed: int = 0) -> Net:
    """Train by self-play.

    Args:
        aec: a game made with ``mask_in="info"``.
        updates: gradient steps.
        plies: moves played for each of them.
        seed: of weights and play.

    """
    torch.manual_seed(seed)
    env = PettingZooWrapper(aec, use_mask=True, group_map={"players": aec.possible_agents}, seed=seed)
    net = Net(aec.observation_space("player_0").shape, aec.action_space("player_0").n)
    actor = ProbabilisticActor(
        TensorDictModule(net, in_keys=[("players", "observation")], out_keys=[("players", "logits")]),
        in_keys={"logits": ("players", "logits"), "mask": ("players", "action_mask")},
        out_keys=[("players", "action")],
        distribution_class=MaskedCategorical,
    )
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)
    for update in range(1, updates + 1):
        with torch.no_grad():
            data = env.rollout(plies, actor, break_when_any_done=False)
        finished = int(data["next", "done"].flatten().nonzero()[-1]) + 1  # the last game is cut off: leave it out
        data = data[:finished]
        players = data["players"]
        result = reward2go(data["next", "players", "reward"], data["next", "players", "done"], gamma=1.0, time_dim=0)
        turn = players["mask"]  # learn from the moves of whoever had to move: (plies, 2) -> (moves,)
        policy = MaskedCategorical(logits=net(players["observation"][turn]), mask=players["action_mask"][turn])
        gain = policy.log_prob(players["action"][turn]) * result[turn].squeeze(-1)
        loss = -gain.mean() - 0.01 * policy.entropy().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if update % 10 == 0:
            games = int(data["next", "done"].sum())
            print(f"{update}/{updates}: {games} games, {finished / games:.1f} plies each, loss {loss.item():.2f}")
    return net


def best_action(net: Net, observation: Mapping[str, NDArray[Any]]) -> int:
    """Return the likeliest legal action: a policy that the arena and the environments take."""
    with torch.no_grad():
        logits = net(torch.as_tensor(observation["observation"]))
    return int(logits.masked_fill(torch.as_tensor(observation["action_mask"]) == 0, -torch.inf).argmax())


def main() -> None:
    """Train, save, load, and play without an illegal move."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=30, help="gradient steps")
    parser.add_argument("--games", type=int, default=200, help="games against random play at the end")
    arguments = parser.parse_args()
    game = board_envs.make_game("connect-four")
    trained = train(board_envs.connect_four_v0.env(mask_in="info"), arguments.updates)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.pt"
        torch.save(trained.state_dict(), path)
        net = Net(game.observation_shape, game.num_actions)
        net.load_state_dict(torch.load(path, weights_only=True))
    play_games(game, [lambda observation: best_action(net, observation)] * 2, arguments.games)


if __name__ == "__main__":
    main()
