"""A plan on a ray cluster (extra "cluster"): the same records as on one process."""

import pytest

pytest.importorskip("ray")

import ray

from board_agents.arena import plan
from board_agents.arena.tournament import play
from board_agents.arena.workers import play_parallel
from board_envs import make_game

# ray opens files, sockets and processes that it does not close itself, and calls what is deprecated.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)


@pytest.mark.parametrize("workers", [1, 2])
def test_records_are_those_of_one_process(workers):
    game = make_game("nim")
    specs = {"random": "random", "greedy": "greedy"}
    tasks = plan(game, list(specs), 41, seed=5)
    serial = list(play(game, specs, tasks))
    assert list(play_parallel(game, specs, tasks, workers=workers, backend="ray")) == serial
    assert not ray.is_initialized()


def test_a_cluster_that_is_there_is_used_and_left_running():
    game = make_game("nim")
    specs = {"random": "random", "nim-xor": "nim-xor"}
    tasks = plan(game, list(specs), 10, seed=1)
    ray.init(num_cpus=2, log_to_driver=False)
    try:
        assert list(play_parallel(game, specs, tasks, workers=0, backend="ray")) == list(play(game, specs, tasks))
        assert ray.is_initialized()
    finally:
        ray.shutdown()
