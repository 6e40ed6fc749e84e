"""examples/train_maskable_ppo.py in the environment of the `train` extra: masks, workers, rewards, saved models."""

import contextlib
import zipfile

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra 'train'")

import gymnasium
import torch
import train_maskable_ppo as ppo
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.preprocessing import is_image_space, preprocess_obs
from stable_baselines3.common.vec_env import DummyVecEnv

import board_envs
from board_agents import make_agent
from board_agents.arena import Ending, tournament
from board_envs.registration import gymnasium_id

C4 = "board_envs/ConnectFour-v0"
SMALL_C4 = {"rows": 4, "columns": 5, "connect": 3}


@pytest.mark.parametrize("workers", ppo.WORKERS)
def test_every_kind_of_worker_masks(workers):
    envs = ppo.make_envs(C4, envs=2, workers=workers)
    try:
        _, log = ppo.train(envs, 2000)
    finally:
        envs.close()
    assert len(log.results) > 50
    assert log.illegal == 0


def test_without_masks_the_same_training_makes_illegal_moves():
    """The counter that the other tests read as zero does count."""
    envs = ppo.make_envs(C4, envs=2)
    model = ppo.MaskablePPO("MlpPolicy", envs, n_steps=128, seed=0, device="cpu")
    log = ppo.MoveLog()
    model.learn(3000, callback=log, use_masking=False)
    assert log.illegal > 0


def test_files_of_others_are_not_replaced(tmp_path, monkeypatch, capsys):
    """Said before the training; a model of an earlier run is replaced."""
    target = tmp_path / "model.zip"
    arguments = ["--steps", "64", "--envs", "1", "--games", "2", "--save", str(target)]
    monkeypatch.setattr("sys.argv", ["train_maskable_ppo.py", *arguments])
    monkeypatch.setattr(ppo, "make_envs", lambda *args, **kwargs: pytest.fail("trained before it looked at the file"))
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("diary.txt", "mine")
    before = target.read_bytes()
    with pytest.raises(SystemExit, match="2"):
        ppo.main()
    assert "model.zip" in capsys.readouterr().err
    assert target.read_bytes() == before
    monkeypatch.undo()
    model = ppo.MaskablePPO("MlpPolicy", ppo.make_envs(C4, envs=1), n_steps=64, device="cpu")
    target.unlink()
    model.save(target)
    assert ppo.is_model(target)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_training_beats_random_and_the_saved_model_plays_in_a_tournament(seed, tmp_path):
    envs = ppo.make_envs(C4, seed=seed, opponent="random")
    model, log = ppo.train(envs, 6000, seed=seed)
    assert log.illegal == 0
    assert np.mean(log.results[-100:]) > np.mean(log.results[:100])
    path = tmp_path / "model.zip"
    model.save(path)
    result = ppo.evaluate(str(path), C4, {}, "random", 200, seed)
    (pair,) = result.pairs
    assert pair.agents == ("trained", "random")
    assert pair.games == 200
    assert pair.total.score > 0.6  # 0.78 was seen with 6000 steps; random against itself stays below 0.6
    assert not any(standing.faults for standing in result.standings)


def test_regret_is_logged_and_falls():
    envs = ppo.make_envs("board_envs/Nim-v0", heaps=(1, 2, 3), oracle="default")
    _, log = ppo.train(envs, 8000)
    assert len(log.regrets) >= 8000  # Nim's oracle knows every position
    assert set(log.regrets) == {0.0, 2.0}
    assert np.mean(log.regrets[-1000:]) < np.mean(log.regrets[:1000])


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("cnn", [False, True])
def test_a_loaded_model_plays_200_games_without_an_illegal_move(cnn, deterministic, tmp_path):
    envs = ppo.make_envs(C4, envs=2, flat=not cnn)
    model, _ = ppo.train(envs, 256, cnn=cnn)  # hardly trained: what the mask does not forbid is played
    model.save(tmp_path / "model.zip")
    spec = f"sb3:path={tmp_path / 'model.zip'},deterministic={deterministic}"
    result = tournament(board_envs.make_game("connect-four"), [spec, "random"], 100)
    assert {record.ending for record in result.records} == {Ending.FINISHED}
    assert len(result.records) == 100


@pytest.mark.parametrize(
    ("env_id", "parameters"),
    [
        ("board_envs/Reversi-v0", {"size": 8}),
        ("board_envs/Nim-v0", {"heaps": (100, 110, 120)}),
        ("board_envs/ConnectFour-v0", {"rows": 3, "columns": 16, "connect": 4}),
    ],
)
def test_the_largest_action_spaces_pass_the_distributions_own_validation(env_id, parameters):
    torch.distributions.Distribution.set_default_validate_args(True)
    envs = ppo.make_envs(env_id, envs=4, **parameters)
    _, log = ppo.train(envs, 5000)
    assert log.illegal == 0


def test_an_untrained_policy_draws_the_only_legal_action(one_legal_move):
    game = board_envs.make_game("connect-four", **SMALL_C4)
    state = one_legal_move(game)
    seat = game.current_player(state)
    envs = ppo.make_envs(C4, envs=1, **SMALL_C4)
    model = ppo.MaskablePPO("MlpPolicy", envs, seed=0, device="cpu")
    board = np.repeat(game.observe(state, seat).astype(np.float32).reshape(1, -1), 20_000, axis=0)
    masks = np.repeat(game.legal_mask(state)[None], 20_000, axis=0)
    actions, _ = model.predict(board, action_masks=masks, deterministic=False)
    assert set(actions.tolist()) == set(game.legal_actions(state))
    free, _ = model.predict(board, deterministic=False)
    assert len(set(free.tolist())) > 1


@pytest.mark.parametrize("name", board_envs.GAMES)
def test_sb3_finds_no_fault_with_flat_observations(name):
    check_env(gymnasium.make(gymnasium_id(name), flat=True))  # warnings are errors here


@pytest.mark.parametrize("name", board_envs.GAMES)
def test_sb3_takes_no_board_for_a_picture(name):
    """Its checker only guesses by the rank (hence the warnings), its policies by dtype and bounds: no scaling here."""
    env = gymnasium.make(gymnasium_id(name))
    with pytest.warns(UserWarning, match="image") if len(env.observation_space.shape) > 1 else contextlib.nullcontext():
        check_env(env)
    assert not is_image_space(env.observation_space)
    seen = torch.as_tensor(env.reset(seed=0)[0][None])
    assert torch.equal(preprocess_obs(seen, env.observation_space), seen.float())


@pytest.mark.parametrize(
    ("env_id", "parameters"),
    [
        ("board_envs/Reversi-v0", {"size": 4}),
        ("board_envs/Reversi-v0", {"size": 8}),
        (C4, {}),
    ],
)
def test_the_cnn_takes_boards_of_any_size(env_id, parameters):
    envs = ppo.make_envs(env_id, envs=2, flat=False, **parameters)
    assert isinstance(envs, DummyVecEnv)
    _, log = ppo.train(envs, 512, cnn=True)
    assert log.illegal == 0


def test_a_wrong_model_file_is_refused_before_the_first_game(tmp_path):
    envs = ppo.make_envs("board_envs/Nim-v0", envs=1)
    model = ppo.MaskablePPO("MlpPolicy", envs, device="cpu")
    model.save(tmp_path / "nim.zip")
    with pytest.raises(ValueError, match="actions"):
        make_agent(f"sb3:path={tmp_path / 'nim.zip'}", board_envs.make_game("connect-four"))


def test_parameters_of_the_command_line():
    assert dict(map(ppo.read_parameter, ["rows=4", "heaps=(3,4)", "ruleset=abapa"])) == {
        "rows": 4,
        "heaps": (3, 4),
        "ruleset": "abapa",
    }
    with pytest.raises(ValueError, match="workers must be one of"):
        ppo.make_envs(C4, workers="threads")
