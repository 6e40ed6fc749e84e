"""Several workers: the same records as one, whatever their number; a killed worker loses nothing."""

import json
import os
import signal

import pytest

pytest.importorskip("joblib")

from board_agents.arena import Ending, plan
from board_agents.arena.tournament import play
from board_agents.arena.workers import CHUNK_SECONDS, Chunks, WorkerError, count_workers, play_parallel
from board_agents.cli import main
from board_envs import make_game
from board_envs.policies import agent_builder

NIM = make_game("nim")
SPECS = {"random": "random", "greedy": "greedy"}


@pytest.fixture(scope="module")
def serial():
    tasks = plan(NIM, list(SPECS), 41, seed=5)
    return tasks, list(play(NIM, SPECS, tasks))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_records_do_not_depend_on_the_number_of_workers(serial, workers):
    tasks, records = serial
    assert list(play_parallel(NIM, SPECS, tasks, workers=workers)) == records


def test_chunks_follow_the_pace_shrink_towards_the_end_and_hold_every_game_once(serial):
    tasks = serial[0] * 20
    chunks = Chunks(tasks, workers=2)
    cut = []
    for number, chunk in enumerate(chunks):
        cut.append(chunk)
        if number == 3:
            chunks.pace = CHUNK_SECONDS / 100
        if number == 5:
            chunks.pace = CHUNK_SECONDS * 10
        if number == 7:
            chunks.pace = 0.0
    assert [task for chunk in cut for task in chunk] == tasks
    sizes = [len(chunk) for chunk in cut]
    assert sizes[:9] == [1, 1, 1, 1, 100, 100, 1, 1, (len(tasks) - 206) // 4]
    assert sizes[8:] == sorted(sizes[8:], reverse=True)
    assert sizes[-1] == 1


def test_games_that_are_done_are_not_played_again(serial):
    tasks, records = serial

    @agent_builder
    def refuse(game):
        raise RuntimeError("played again")

    done = [records[4], records[0], *records[20:]]
    again = list(play_parallel(NIM, {"random": refuse, "greedy": refuse}, tasks, workers=2, done=done))
    assert again[4] == records[4]
    assert again[20:] == records[20:]
    assert {r.ending for r in again[1:4]} == {Ending.CRASH}  # these were open, so the refusing agents were made
    assert list(play_parallel(NIM, SPECS, tasks, workers=2, done=records)) == records


def test_a_killed_worker_loses_nothing(serial, tmp_path):
    tasks, records = serial
    marker = tmp_path / "killed"

    @agent_builder
    def build(game):
        from board_agents import make_agent

        agent = make_agent("random", game)

        class Deadly:
            def reset(self, seed=None):
                agent.reset(seed)

            def act(self, observation, state=None):
                if observation["observation"].tolist() == [0, 0, 2] and not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return agent.act(observation, state)

        return Deadly()

    again = list(play_parallel(NIM, {"random": build, "greedy": "greedy"}, tasks, workers=2))
    assert marker.exists()
    assert again == records


def test_games_that_always_kill_their_worker_end_the_run(serial):
    @agent_builder
    def build(game):
        os.kill(os.getpid(), signal.SIGKILL)

    tasks = serial[0][:4]
    with pytest.raises(WorkerError, match="died 3 times over the same games"):
        list(play_parallel(NIM, {"random": build, "greedy": "greedy"}, tasks, workers=2))


def test_breaking_off_leaves_the_first_games(serial):
    tasks, records = serial
    games = play_parallel(NIM, SPECS, tasks, workers=2)
    first = [next(games) for _ in range(3)]
    games.close()
    assert first == records[:3]


def test_an_agent_that_fails_in_a_worker_is_a_crash_in_the_record(serial):
    @agent_builder
    def build(game):
        def act(observation):
            raise ZeroDivisionError("in the worker")

        return act

    (record,) = play_parallel(NIM, {"random": build, "greedy": "greedy"}, serial[0][:1], workers=2)
    assert record.ending is Ending.CRASH
    assert "ZeroDivisionError: in the worker" in record.detail


def test_wrong_numbers_and_backends_are_refused(serial):
    assert count_workers(0) >= 1
    assert count_workers(3) == 3
    with pytest.raises(ValueError, match="workers must be 0"):
        next(play_parallel(NIM, SPECS, serial[0], workers=-1))
    with pytest.raises(ValueError, match="unknown backend 'dask'; backends: loky, ray"):
        next(play_parallel(NIM, SPECS, serial[0], workers=1, backend="dask"))


def test_the_command_gives_the_same_table_with_workers_and_goes_on_from_a_database(tmp_path, capsys):
    pytest.importorskip("sqlalchemy")

    def table(*options):
        assert main(["tournament", "nim", "-a", "random,greedy,nim-xor", "--json", *options]) == 0
        data = json.loads(capsys.readouterr().out)
        for agent in data["agents"]:
            del agent["seconds"]
        return data

    database = str(tmp_path / "games.db")
    alone = table("-n", "12")
    assert table("-n", "4", "--records", database) != alone
    assert table("-n", "12", "--records", database, "--workers", "2") == alone
    assert table("-n", "12", "--records", database) == alone
    from board_agents.arena.records.database import Store

    with Store(database) as store:
        assert store.count("tournament") == 36
        records = list(store.records())
    assert {r.key for r in records} == {t.key for t in plan(NIM, ["random", "greedy", "nim-xor"], 12)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "-2"], "workers must be 0"),
        (["--backend", "dask"], "unknown backend 'dask'"),
        (["--sprt", "10"], "--sprt must be two numbers"),
        (["--sprt", "10,5"], "--sprt must be two numbers"),
        (["--records", "mysql://host/games"], "not mysql"),
    ],
)
def test_mistakes_are_told_in_one_line(options, message, capsys):
    assert main(["tournament", "nim", "-a", "random,greedy", "-n", "2", *options]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert (captured.err.count("\n"), captured.out) == (1, "")
