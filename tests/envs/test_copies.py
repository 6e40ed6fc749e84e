"""Copies, pickles, forked and spawned processes of environments with oracles, opponents and threads."""

import copy
import multiprocessing
import os
import pickle

import gymnasium
import numpy as np
import pytest

import board_envs
from board_envs.envs.aec import BoardAECEnv
from board_envs.envs.single import BoardEnv
from board_envs.envs.threads import Threads

# Sizes whose exact values come at once.
SMALL = {
    "reversi": {"size": 4},
    "connect-four": {"rows": 3, "columns": 4, "connect": 3},
    "awale": {"pits": 2, "seeds": 2},
    "nim": {"heaps": (1, 3)},
}


def random_steps(env, followers, steps):
    rng = np.random.default_rng(0)
    for _ in range(steps):
        if isinstance(env, BoardAECEnv):
            if env.terminations[env.agent_selection]:
                return
            action = int(rng.choice(np.flatnonzero(env.last()[4]["action_mask"])))
            for each in (env, *followers):
                each.step(action)
            told = [each.last() for each in (env, *followers)]
        else:
            masks = np.atleast_2d(env.action_masks())
            actions = (rng.random(masks.shape) * masks).argmax(axis=1)
            action = actions if env.action_masks().ndim == 2 else int(actions[0])
            told = [each.step(action) for each in (env, *followers)]
        for other in told[1:]:
            assert np.array_equal(other[1], told[0][1])
            for key in ("action_mask", "action_values", "regret", "plies"):
                assert np.array_equal(other[4][key], told[0][4][key], equal_nan=True), key
        if np.asarray(told[0][2]).ndim == 0 and told[0][2]:
            return


@pytest.mark.parametrize("name", board_envs.GAMES)
@pytest.mark.parametrize("kind", ["aec", "single", "vector"])
def test_environments_with_the_default_oracle_are_copied_and_pickled(name, kind):
    if kind == "vector":
        pytest.importorskip("numba")
        from board_envs.envs.vector import BoardVectorEnv

        env = BoardVectorEnv(name, 3, oracle="default", num_threads=2, **SMALL.get(name, {}))
    else:
        env = (BoardAECEnv if kind == "aec" else BoardEnv)(name, oracle="default", **SMALL.get(name, {}))
    fresh = pickle.loads(pickle.dumps(env))
    for each in (env, fresh):
        each.reset(seed=3)
    random_steps(env, [fresh], 1)
    twins = [copy.deepcopy(env), copy.copy(env), pickle.loads(pickle.dumps(env))]
    assert twins[0].oracle is env.oracle
    assert type(twins[2].oracle) is type(env.oracle)
    random_steps(env, [fresh, *twins], 6)


class Same:
    """An oracle given as an object."""

    def action_values(self, state):
        """Return nothing known."""


def test_an_oracle_given_as_object_travels_with_the_pickle():
    env = BoardEnv("nim", oracle=Same())
    env.reset(seed=0)
    again = pickle.loads(pickle.dumps(env))
    assert isinstance(again.oracle, Same)
    assert again.oracle is not env.oracle


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_workers(start):
    ids = [f"board_envs/{name}-v0" for name in ("Nim", "ConnectFour")]
    for name, chosen in zip(ids, ({}, SMALL["connect-four"]), strict=True):
        arguments = {"opponent": "greedy", "oracle": "default", **chosen}
        here = gymnasium.make_vec(name, num_envs=2, vectorization_mode="sync", **arguments)
        there = gymnasium.make_vec(
            name, num_envs=2, vectorization_mode="async", vector_kwargs={"context": start}, **arguments
        )
        rng = np.random.default_rng(0)
        (_, infos), _ = here.reset(seed=0), there.reset(seed=0)
        for _ in range(6):
            mask = infos["action_mask"]
            actions = (rng.random(mask.shape) * mask).argmax(axis=1)
            *mine, infos = here.step(actions)
            *others, other_infos = there.step(actions)
            for a, b in zip(mine, others, strict=True):
                assert np.array_equal(a, b)
            assert np.array_equal(infos["regret"], other_infos["regret"], equal_nan=True)
        here.close()
        there.close()


def _in_child(work, connection):
    connection.send(work())
    connection.close()


def in_fork(work, seconds=60):
    """Return what `work` returns in a forked process; fail if that hangs."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=_in_child, args=(work, theirs))
    process.start()
    try:
        assert mine.poll(seconds), "the forked process hangs"
        return mine.recv()
    finally:
        process.kill()
        process.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own():
    threads = Threads(2)
    assert threads.run(lambda x: x + 1, [1, 2]) == [2, 3]
    assert in_fork(lambda: threads.run(lambda x: x + 1, [1, 2])) == [2, 3]
    assert threads.run(lambda x: x + 1, [5, 6]) == [6, 7]
    threads.close()
    threads.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_environments_with_threads_go_on_in_a_forked_process():
    pytest.importorskip("numba")
    from board_envs.envs.batch import SelfPlay
    from board_envs.envs.vector import BoardVectorEnv

    env = BoardVectorEnv("nim", 4, num_threads=2)
    play = SelfPlay(board_envs.make_game("nim"), 4, num_threads=2)
    env.reset(seed=0)
    env.step(env.action_masks().argmax(axis=1))
    play.step_random(3)

    def go_on():
        play.step_random(2)
        return env.step(env.action_masks().argmax(axis=1))[0].tolist(), play.observations.tolist()

    assert in_fork(go_on) == go_on()
    twin = copy.deepcopy(play)
    for each in (play, twin):
        each.step_random(2)
    assert np.array_equal(twin.observations, play.observations)
    play.close()
