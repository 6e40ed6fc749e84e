"""Train sb3-contrib's MaskablePPO against an opponent of your choice, then let the saved model play a tournament.

    pip install 'board-envs[train]'
    python examples/train_maskable_ppo.py --steps 100000 --opponent alpha-beta:depth=1
    python examples/train_maskable_ppo.py --id board_envs/ConnectFour-v0 --set rows=4 --set columns=5 --oracle default

The environment has ``action_masks()``, which MaskablePPO finds by itself: no wrapper is needed. The learner's seat is
drawn anew for each game; its reward is its own result. With an oracle, what its moves give away is logged as
``rollout/regret``. Plain PPO's evaluation and ``model.predict(observation)`` do not mask: pass
``action_masks=env.action_masks()``, or let the arena play the file, ``sb3:path=model.zip``, which masks always.
"""

from __future__ import annotations

import argparse
import ast
import sys
import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv
from torch import nn

from board_agents.arena import Ending, Result, tournament
from board_agents.lowlevel.atomic_files import check_target, write_whole

WORKERS = ("dummy", "spawn", "forkserver")


class BoardCnn(BaseFeaturesExtractor):  # type: ignore[misc]  # SB3 is optional, its types are not read
    """Convolutions for boards of any size: int8 or float32 (rows, columns, planes), channels last -> features.

    SB3's own convolutions are for pictures of 36x36 pixels and more.
    """

    def __init__(self, observation_space: gymnasium.spaces.Box, features_dim: int = 128) -> None:
        super().__init__(observation_space, features_dim)
        rows, columns, planes = observation_space.shape
        self.layers = nn.Sequential(
            nn.Conv2d(planes, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * rows * columns, features_dim),
            nn.ReLU(),
        )

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return features (batch, features_dim)."""
        return self.layers(observations.float().permute(0, 3, 1, 2))


class MoveLog(BaseCallback):  # type: ignore[misc]
    """Count illegal moves, games and their results, and log the regret of the learner's moves.

    Attributes:
        illegal: illegal moves so far; masks are on, so any is a fault.
        results: result of each finished game, +1, 0 or -1 for the learner.
        regrets: regret of each move, where the oracle has an answer.

    """

    def __init__(self) -> None:
        super().__init__()
        self.illegal = 0
        self.results: list[float] = []
        self.regrets: list[float] = []
        self._logged = 0

    def _on_step(self) -> bool:
        for info, done, reward in zip(self.locals["infos"], self.locals["dones"], self.locals["rewards"], strict=True):
            self.illegal += int(info["illegal"])
            if not np.isnan(info["regret"]):
                self.regrets.append(float(info["regret"]))
            if done:
                self.results.append(float(reward))
        return True

    def _on_rollout_end(self) -> None:
        fresh = self.regrets[self._logged :]
        self._logged = len(self.regrets)
        if fresh:
            self.logger.record("rollout/regret", float(np.mean(fresh)))
            self.logger.record("rollout/perfect_moves", float(np.mean(np.array(fresh) == 0)))


def make_envs(
    env_id: str,
    *,
    envs: int = 8,
    workers: str = "dummy",
    opponent: str = "random",
    oracle: str | None = None,
    flat: bool = True,
    seed: int = 0,
    **parameters: Any,
) -> VecEnv:
    """Return environments for SB3.

    Args:
        env_id: id in Gymnasium's registry; workers import this package by the "module:" put before it.
        envs: how many play at once.
        workers: "dummy" in this process, "spawn" or "forkserver" in processes of their own.
        opponent: spec of the other player.
        oracle: spec of an oracle for the infos, "default" for the game's best, None for no oracle.
        flat: observations as a vector, for the MLP policy; False for `BoardCnn`.
        seed: of all chance.
        parameters: of the game.

    """
    if workers not in WORKERS:
        raise ValueError(f"workers must be one of {', '.join(WORKERS)}, not {workers!r}")
    # By default SB3 asks for pictures (render_mode="rgb_array").
    kwargs = {"opponent": opponent, "seat": "random", "oracle": oracle, "flat": flat, "render_mode": None, **parameters}
    return make_vec_env(
        f"board_envs:{env_id}",
        n_envs=envs,
        seed=seed,
        env_kwargs=kwargs,
        vec_env_cls=DummyVecEnv if workers == "dummy" else SubprocVecEnv,
        vec_env_kwargs=None if workers == "dummy" else {"start_method": workers},
    )


def train(
    envs: VecEnv, steps: int, *, cnn: bool = False, seed: int = 0, verbose: int = 0, progress: bool = False
) -> tuple[MaskablePPO, MoveLog]:
    """Train a model.

    Args:
        envs: from `make_envs`, with ``flat=False`` for a CNN.
        steps: the learner's moves.
        cnn: convolutions instead of an MLP.
        seed: of weights and play.
        verbose: 1 prints SB3's tables.
        progress: show SB3's progress bar.

    """
    policy_kwargs: dict[str, Any] = {"net_arch": [128, 128]}
    if cnn:
        policy_kwargs = {"net_arch": [128], "features_extractor_class": BoardCnn, "normalize_images": False}
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=128, batch_size=256, gamma=1.0, ent_coef=0.01, policy_kwargs=policy_kwargs,
        seed=seed, device="cpu", verbose=verbose,
    )  # fmt: skip
    log = MoveLog()
    model.learn(steps, callback=log, progress_bar=progress)
    return model, log


def is_model(path: Path) -> bool:
    """Whether a file is a model of Stable-Baselines3: any other is not replaced."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as file:
        return "_stable_baselines3_version" in file.namelist()


def evaluate(
    path: str | Path, env_id: str, parameters: dict[str, Any], opponent: str, games: int, seed: int = 0
) -> Result:
    """Let a saved model play the opponent and random, through the arena's adapter for SB3 files.

    Raises:
        RuntimeError: a game did not end by the rules (an illegal move, an exception).

    """
    game = gymnasium.make(env_id, **parameters).unwrapped.game  # type: ignore[attr-defined]
    agents = {"trained": f"sb3:path={path}", opponent: opponent, "random": "random"}
    result = tournament(game, agents, games, seed=seed)
    for record in result.records:
        if record.ending is not Ending.FINISHED:
            raise RuntimeError(f"{record.agents[record.offender]}: {record.ending.value}: {record.detail}")
    return result


def read_parameter(text: str) -> tuple[str, Any]:
    """Read "rows=4" or "heaps=(3,4)"."""
    key, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is not name=value")
    try:
        return key, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return key, value


def main() -> None:
    """Read the arguments, train, save, play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--id", default="board_envs/ConnectFour-v0", help="environment (%(default)s)")
    parser.add_argument("--set", type=read_parameter, action="append", default=[], help="parameter of the game, k=v")
    parser.add_argument("--opponent", default="random", help="spec of the other player (%(default)s)")
    parser.add_argument("--oracle", help='spec of an oracle, or "default", to log the regret')
    parser.add_argument("--steps", type=int, default=100_000, help="moves of the learner (%(default)s)")
    parser.add_argument("--envs", type=int, default=8, help="games at once (%(default)s)")
    parser.add_argument("--workers", choices=WORKERS, default="dummy", help="where they are played (%(default)s)")
    parser.add_argument("--cnn", action="store_true", help="convolutions instead of an MLP")
    parser.add_argument("--seed", type=int, default=0, help="of all chance (%(default)s)")
    parser.add_argument("--games", type=int, default=200, help="games of each pair in the tournament (%(default)s)")
    parser.add_argument("--save", type=Path, default="model.zip", help="the model's file, .zip (%(default)s)")
    arguments = parser.parse_args()
    if arguments.save.suffix != ".zip":
        parser.error(f"--save is a file that ends in .zip, not {arguments.save}")
    try:
        check_target(arguments.save, is_model)  # before the training, not after it
    except OSError as error:
        parser.error(str(error))
    parameters = dict(arguments.set)
    envs = make_envs(
        arguments.id, envs=arguments.envs, workers=arguments.workers, opponent=arguments.opponent,
        oracle=arguments.oracle, flat=not arguments.cnn, seed=arguments.seed, **parameters,
    )  # fmt: skip
    model, log = train(
        envs, arguments.steps, cnn=arguments.cnn, seed=arguments.seed, verbose=1, progress=sys.stderr.isatty()
    )
    envs.close()
    write_whole(arguments.save, model.save, ours=is_model)
    print(f"{len(log.results)} games, {log.illegal} illegal moves, mean result of the last 100: ", end="")
    print(f"{np.mean(log.results[-100:]):+.2f}", end="")
    print(f", mean regret of the last 1000 moves: {np.mean(log.regrets[-1000:]):.3f}" if log.regrets else "")
    if log.illegal:
        raise SystemExit("masks failed: the learner made an illegal move")
    result = evaluate(arguments.save, arguments.id, parameters, arguments.opponent, arguments.games, arguments.seed)
    for pair in result.pairs:
        first, second = pair.agents
        print(f"{first} against {second}: {pair.total.wins} won, {pair.total.draws} drawn, {pair.total.losses} lost")


if __name__ == "__main__":
    main()
