"""The loop of one's own on the vectorised environment learns, and masks as its text says."""

import pytest

pytest.importorskip("torch", reason="needs examples/recipes/requirements-own_loop.txt")
pytest.importorskip("numba", reason="needs examples/recipes/requirements-own_loop.txt")

import torch
import train_own_loop as recipe
from torch.distributions import Categorical

import board_envs


def test_self_play_learns_connect_four():
    game = board_envs.make_game("connect-four")
    net = recipe.train("board_envs/ConnectFour-v0", updates=25)
    counts = recipe.play_games(game, [lambda seen: recipe.best_action(net, seen)] * 2, 200)
    assert counts["won"] > 140  # 183 were seen after 30 updates; random play against itself wins 100


def test_a_game_in_which_a_seat_may_move_twice_trains_without_an_illegal_move():
    net = recipe.train("board_envs/Reversi-v0", updates=3, num_envs=16, plies=16, size=4)
    assert all(parameter.isfinite().all() for parameter in net.parameters())


def test_an_untrained_policy_draws_the_only_legal_action(one_legal_move):
    torch.manual_seed(0)
    game = board_envs.make_game("connect-four", rows=4, columns=5, connect=3)
    state = one_legal_move(game)
    net = recipe.Net(40, game.num_actions)
    seen = torch.as_tensor(game.observe(state, game.current_player(state))).float().flatten().expand(20_000, -1)
    mask = torch.as_tensor(game.legal_mask(state) == 1).expand(20_000, -1)
    with torch.no_grad():
        drawn = Categorical(logits=net(seen, mask)[0]).sample()
    assert set(drawn.tolist()) == set(game.legal_actions(state))
