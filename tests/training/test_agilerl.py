"""The AgileRL recipe: its loop takes the masks from the infos, int8 as it needs them."""

import warnings

import pytest

pytest.importorskip("agilerl", reason="needs examples/recipes/requirements-agilerl.txt")

import numpy as np

import board_envs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # AgileRL warns of its own deprecations while it is imported
    import train_agilerl as recipe

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize(
    ("env_id", "name", "parameters"),
    [
        ("board_envs/ConnectFour-v0", "connect-four", {"rows": 4, "columns": 5, "connect": 3}),
        ("board_envs/Nim-v0", "nim", {}),
    ],
)
def test_training_and_playing_without_an_illegal_move(env_id, name, parameters):
    game = board_envs.make_game(name, **parameters)
    learner = recipe.train(env_id, steps=1500, **parameters)  # illegal="raise": one illegal move would end it
    assert all(parameter.isfinite().all() for parameter in learner.actor.parameters())
    learner.set_training_mode(False)
    counts = recipe.play_games(game, [lambda seen: recipe.best_action(learner, seen)] * 2, 200)
    assert sum(counts.values()) == 200


def test_an_untrained_policy_plays_and_explores_only_the_legal_action(one_legal_move):
    game = board_envs.make_game("connect-four", rows=4, columns=5, connect=3)
    state = one_legal_move(game)
    learner = recipe.train("board_envs/ConnectFour-v0", steps=16, rows=4, columns=5, connect=3)
    board = game.observe(state, game.current_player(state)).astype(np.float32).reshape(1, -1)
    seen, masks = np.repeat(board, 20_000, axis=0), np.repeat(game.legal_mask(state)[None], 20_000, axis=0)
    for epsilon in (0.0, 1.0):
        assert set(learner.get_action(seen, epsilon, action_mask=masks).tolist()) == set(game.legal_actions(state))
