"""Minari datasets of recorded games (extra "minari"): back to the same games, and what an offline learner reads."""

import os

import gymnasium
import numpy as np
import pytest

pytest.importorskip("minari")

import minari

import board_envs
from board_agents.arena import RecordError, play_game, tournament
from board_agents.arena.records.text_formats import read_records, write_records
from board_agents.cli import main

# Minari opens files that it leaves to the garbage collector, and calls what is deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
GAMES = [
    board_envs.make_game("connect-four", rows=4, columns=4, connect=3),
    board_envs.make_game("nim"),
    board_envs.make_game("awale", pits=3, seeds=2),
    board_envs.make_game("reversi", size=4),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert os.environ["MINARI_DATASETS_PATH"] == str(tmp_path)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_dataset_gives_back_its_games_and_tells_them_as_the_environment_does(game):
    records = list(tournament(game, ["random", "greedy:compiled=false"], games=6, seed=3).records)
    records.append(play_game(game, ["random", "random"], names=("a", "b"), max_plies=2))
    target = "minari:board_envs/games-v0"
    assert write_records(target, records) == 7
    assert list(read_records(target)) == records
    dataset = minari.load_dataset("board_envs/games-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (7, sum(len(r.actions) for r in records))
    env = dataset.recover_environment().unwrapped
    for record, episode in zip(records, dataset.iterate_episodes(), strict=True):
        observation, info = env.reset()
        assert np.array_equal(episode.observations[0], observation)
        assert np.array_equal(episode.infos["action_mask"][0], info["action_mask"])
        for step, action in enumerate(record.actions):
            observation, reward, terminated, _, info = env.step(action)
            assert np.array_equal(episode.observations[step + 1], observation)
            assert reward == episode.rewards[step]
            assert terminated == episode.terminations[step]
        assert episode.truncations.tolist() == [False] * (len(record.actions) - 1) + [record.winner == -1]


def test_datasets_are_copied_on_the_command_line(tmp_path, capsys):
    record = play_game(GAMES[1], ["random", "random"], names=("a", "b"))
    lines = tmp_path / "games.jsonl"
    write_records(str(lines), [record])
    assert main(["records", "copy", str(lines), "minari:nim-v0"]) == 0
    assert main(["records", "copy", "minari:nim-v0", str(tmp_path / "back.txt")]) == 0
    assert list(read_records(str(tmp_path / "back.txt"))) == [record]
    assert main(["records", "check", "minari:other-v0"]) == 2
    assert "no local Minari dataset" in capsys.readouterr().err


def test_what_cannot_be_a_dataset_is_refused():
    good = play_game(GAMES[1], ["random", "random"], names=("a", "b"))
    empty = play_game(GAMES[1], ["random", "random"], names=("a", "b"), max_plies=0)
    other = play_game(GAMES[0], ["random", "random"], names=("a", "b"))
    with pytest.raises(RecordError, match="no local Minari dataset"):
        list(read_records("minari:nothing-v0"))
    with pytest.raises(RecordError, match="without a single move"):
        write_records("minari:games-v0", [good, empty])
    with pytest.raises(RecordError, match="of one game and size"):
        write_records("minari:games-v0", [good, other])
    with pytest.raises(RecordError, match="minari:games without version!: Malformed"):
        write_records("minari:games without version!", [good])
    write_records("minari:games-v0", [good])
    with pytest.raises(RecordError, match="already"):
        write_records("minari:games-v0", [good])


def test_the_environment_can_be_collected_from_and_holds_no_records_then():
    pytest.importorskip("jax")  # Minari's collector needs it
    env = minari.DataCollector(gymnasium.make("board_envs/Nim-v0", opponent="random"))
    for seed in range(3):
        env.reset(seed=seed)
        done = False
        while not done:
            mask = env.unwrapped.action_masks()
            _, _, terminated, truncated, _ = env.step(int(np.flatnonzero(mask)[0]))
            done = terminated or truncated
    dataset = env.create_dataset("collected-v0")
    env.close()
    assert dataset.total_episodes == 3
    with pytest.raises(RecordError, match="contains no game record"):
        list(read_records("minari:collected-v0"))
