"""The Tianshou recipe, and what its wrapper asks of an environment."""

from functools import partial

import pytest

pytest.importorskip("tianshou", reason="needs examples/recipes/requirements-tianshou.txt")

import numpy as np
import torch
import train_tianshou as recipe
from tianshou.data import Batch
from tianshou.env.pettingzoo_env import PettingZooEnv

import board_envs

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("connect-four", {"rows": 4, "columns": 5, "connect": 3}), ("reversi", {"size": 4})],
)
def test_two_seats_train_on_two_games_and_play_without_an_illegal_move(name, parameters):
    game = board_envs.make_game(name, **parameters)
    module = getattr(board_envs, f"{name.replace('-', '_')}_v0")
    policies = recipe.train(lambda: module.env(**parameters), steps=1000)
    for policy in policies:
        # A loss that is not finite leaves weights that are not.
        assert all(parameter.isfinite().all() for parameter in policy.parameters())
    counts = recipe.play_games(game, [partial(recipe.best_action, policy) for policy in policies], 200)
    assert sum(counts.values()) == 200


@pytest.mark.parametrize("name", ["reversi_v0", "connect_four_v0", "awale_v0", "nim_v0"])
def test_the_wrapper_pays_each_seat_its_result(name):
    """It hands out ``env.rewards``: an environment that fills only the cumulative ones would train on zeros."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        env = recipe.Seats(getattr(board_envs, name).env())
        seen, _ = env.reset()
        total, over = np.zeros(2), False
        while not over:
            action = int(rng.choice(np.flatnonzero(seen["mask"])))
            seen, rewards, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
            assert over or rewards == [0, 0]
            total += rewards
        game = env.env.unwrapped.game
        assert tuple(total) == game.returns(env.env.unwrapped.game_state)


def test_an_untrained_policy_plays_and_explores_only_the_legal_action(one_legal_move):
    parameters = {"rows": 4, "columns": 5, "connect": 3}
    game = board_envs.make_game("connect-four", **parameters)
    state = one_legal_move(game)
    policy = recipe.train(lambda: board_envs.connect_four_v0.env(**parameters), steps=80)[0]
    policy.set_eps_inference(1.0)
    mask = np.repeat(game.legal_mask(state)[None] == 1, 20_000, axis=0)
    board = np.repeat(game.observe(state, game.current_player(state))[None], 20_000, axis=0)
    batch = Batch(obs=Batch(obs=board, mask=mask), info=Batch())
    with torch.no_grad():
        greedy = policy(batch).act
    assert set(greedy.tolist()) == set(game.legal_actions(state))
    explored = policy.add_exploration_noise(greedy.copy(), batch)
    assert set(explored.tolist()) == set(game.legal_actions(state))


def test_infos_are_dropped_for_the_nan_in_them():
    """The reason for `Seats`: an unknown exact value is NaN, and Tianshou's trainer refuses NaN in its buffer."""
    env = PettingZooEnv(board_envs.nim_v0.env())
    _, info = env.reset()
    assert Batch(info=Batch(info)).hasnull()
    _, info = recipe.Seats(board_envs.nim_v0.env()).reset()
    assert info == {}
