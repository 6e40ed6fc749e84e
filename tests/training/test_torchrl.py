"""The TorchRL recipe, and what its wrapper asks of an environment."""

import pytest

pytest.importorskip("torchrl", reason="needs examples/recipes/requirements-torchrl.txt")

import torch
import train_torchrl as recipe
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import BaseParallelWrapper
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical

import board_envs

pytestmark = pytest.mark.filterwarnings("default")

SMALL = {
    "reversi_v0": {"size": 4},
    "connect_four_v0": {"rows": 4, "columns": 4, "connect": 3},
    "awale_v0": {"pits": 3, "seeds": 2},
    "nim_v0": {"heaps": (2, 3)},
}


def wrapped(name, **kwargs):
    env = getattr(board_envs, name).env(mask_in="info", **SMALL[name])
    return PettingZooWrapper(env, use_mask=True, group_map={"players": env.possible_agents}, seed=0, **kwargs)


def episodes(env, number):
    """Roll out whole games by random legal play; yields one tensordict a game."""
    for _ in range(number):
        data = env.rollout(300)
        if bool(data["next", "done"][-1]):
            yield data


@pytest.mark.parametrize("done_on_any", [None, True, False])
def test_500_episodes_with_every_setting_of_done(done_on_any):
    torch.manual_seed(0)
    env, games = wrapped("nim_v0", done_on_any=done_on_any), 0
    for data in episodes(env, 500):
        rewards = data["next", "players", "reward"].squeeze(-1)  # (plies, seats)
        assert (rewards[:-1] == 0).all()
        assert sorted(rewards[-1].tolist()) == [-1, 1]
        assert data["next", "players", "terminated"][-1].all()
        games += 1
    assert games == 500


@pytest.mark.parametrize("name", SMALL)
def test_every_game_rolls_out_with_masked_actions(name):
    torch.manual_seed(1)
    games = 0
    for data in episodes(wrapped(name), 40):
        players = data["players"]
        turn = players["mask"]
        assert (turn.sum(-1) == 1).all()
        chosen = players["action_mask"][turn].gather(-1, players["action"][turn].unsqueeze(-1))
        assert chosen.all()
        assert (data["next", "players", "info", "illegal"] == 0).all()
        assert data["next", "players", "reward"].sum() == 0
        games += 1
    assert games == 40


class NumbersOnly(BaseParallelWrapper):
    """PettingZoo's conversion of a turn game without the text "active_agent" that it puts into the infos."""

    def step(self, actions):
        *rest, infos = super().step(actions)
        for info in infos.values():
            info.pop("active_agent", None)
        return *rest, infos


@pytest.mark.parametrize("done_on_any", [True, False])
def test_the_parallel_view(done_on_any):
    """The waiting seat's mask is all zeros there, from which TorchRL cannot draw: draw by hand."""
    torch.manual_seed(2)
    parallel = turn_based_aec_to_parallel(board_envs.nim_v0.raw_env(mask_in="info", heaps=(2, 3)))
    env = PettingZooWrapper(NumbersOnly(parallel), use_mask=True, done_on_any=done_on_any, seed=0)
    for _ in range(100):
        data, over = env.reset(), False
        while not over:
            mask = data["player", "action_mask"]
            drawn = torch.multinomial((mask | ~mask.any(-1, keepdim=True)).float(), 1).squeeze(-1)
            data["player", "action"] = drawn
            data = env.step(data)["next"]
            over = bool(data["done"])
        assert sorted(data["player", "reward"].flatten().tolist()) == [-1, 1]


def test_the_mask_in_both_places_is_what_the_wrapper_cannot_take():
    """The reason for ``mask_in="info"``: it fails here as soon as TorchRL mends it, and the recipe gets simpler."""
    env = board_envs.nim_v0.env()
    with pytest.raises(TypeError):
        PettingZooWrapper(env, use_mask=True).rollout(3)


def test_an_untrained_policy_draws_the_only_legal_action(one_legal_move):
    torch.manual_seed(0)
    game = board_envs.make_game("connect-four", **SMALL["connect_four_v0"])
    state = one_legal_move(game)
    net = recipe.Net(game.observation_shape, game.num_actions)
    seen = torch.as_tensor(game.observe(state, game.current_player(state))).expand(20_000, *game.observation_shape)
    mask = torch.as_tensor(game.legal_mask(state)).bool().expand(20_000, -1)
    with torch.no_grad():
        drawn = MaskedCategorical(logits=net(seen), mask=mask).sample()
    assert set(drawn.tolist()) == set(game.legal_actions(state))


def test_training_on_another_game_and_playing_without_an_illegal_move():
    game = board_envs.make_game("nim")
    net = recipe.train(board_envs.nim_v0.env(mask_in="info"), updates=10, plies=100)
    assert all(parameter.isfinite().all() for parameter in net.parameters())
    counts = recipe.play_games(game, [lambda seen: recipe.best_action(net, seen)] * 2, 200)
    assert sum(counts.values()) == 200
