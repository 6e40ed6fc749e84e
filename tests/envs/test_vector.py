"""The vectorised environment against Gymnasium's SyncVectorEnv of the scalar one, and what it adds to that."""

import copy
import json
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import board_envs
from board_agents import agent_builder, batch_policy, make_oracle
from board_agents.games.nim.xor_agent import NimXorAgent
from board_envs import _jit
from board_envs.envs import kernels
from board_envs.envs.opponents import RandomOpponent
from board_envs.envs.single import BoardEnv
from board_envs.envs.vector import BoardVectorEnv
from board_envs.random import Stream
from board_envs.testing.vectors import compare_vectors, random_actions
from board_envs.types import IllegalActionError, MissingExtraError, PositionError

pytest.importorskip("numba")

CASES = [
    ("reversi", {}),
    ("reversi", {"size": 4}),
    ("connect-four", {}),
    ("connect-four", {"rows": 3, "columns": 16, "connect": 3}),
    ("awale", {}),
    ("awale", {"pits": 3, "seeds": 2, "ruleset": "abapa"}),
    ("nim", {}),
    ("nim", {"heaps": (1, 3), "misere": True}),
]
FORMS = [
    {},
    {"opponent": None, "illegal": "ignore", "illegal_cap": 2},
    {"seat": "random", "illegal": "random", "mask_in": "observation", "flat": True},
]
SMALL = CASES[-1][1]
ROWS, STEPS = 16, 92
# Cases x modes x forms x rows x steps: the equality is looked at over this many steps.
assert len(CASES) * 3 * len(FORMS) * ROWS * STEPS > 100_000


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("name", "parameters"), CASES, ids=[f"{n}-{'-'.join(map(str, p.values()))}" for n, p in CASES])
def test_equal_to_gymnasiums_own(name, parameters, mode):  # R092, R094
    for form in FORMS:
        ours = BoardVectorEnv(name, ROWS, autoreset_mode=mode, **parameters, **form)
        theirs = SyncVectorEnv([lambda: BoardEnv(name, **parameters, **form)] * ROWS, autoreset_mode=mode)
        assert ours.observation_space == theirs.observation_space
        assert ours.action_space == theirs.action_space
        assert compare_vectors(ours, theirs, STEPS) > 0


def first_legal(boards, masks):
    return masks.argmax(axis=1)


def one_by_one(seen):
    return int(first_legal(seen["observation"][None], seen["action_mask"][None])[0])


BATCH = batch_policy(first_legal)
OPPONENTS = [
    ("nim", "nim-xor", "nim-xor"),
    ("nim", "random", "random"),
    ("reversi", BATCH, one_by_one),
    ("reversi", one_by_one, BATCH),
    ("nim", NimXorAgent, "nim-xor"),
    ("nim", agent_builder(NimXorAgent), NimXorAgent),
    ("nim", agent_builder(lambda game: BATCH), agent_builder(lambda game: one_by_one)),
    ("reversi", {"random": 1.0, BATCH: 2.0}, {"random": 1.0, one_by_one: 2.0}),
    ("reversi", {one_by_one: 1, "random": 3}, {BATCH: 1, "random": 3}),
    ("nim", {"nim-xor": 1, "random": 1, "greedy": 1}, {"nim-xor": 1, "random": 1, "greedy": 1}),
]


@pytest.mark.parametrize(("name", "batch", "scalar"), OPPONENTS)
def test_opponents_are_the_scalar_ones(name, batch, scalar):
    parameters = {"size": 4} if name == "reversi" else {}
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        ours = BoardVectorEnv(name, 6, opponent=batch, seat="random", autoreset_mode=mode, **parameters)
        theirs = SyncVectorEnv(
            [lambda: BoardEnv(name, opponent=scalar, seat="random", **parameters)] * 6, autoreset_mode=mode
        )
        assert compare_vectors(ours, theirs, 40) > 0


def test_agents_with_chance_and_memory_of_their_own_stay_apart():
    class Outside(RandomOpponent):
        """The random player as an agent that the kernel does not know."""

        def act(self, observation, state=None):
            return self.choose(state)

    ours = BoardVectorEnv("nim", 5, opponent=Outside(board_envs.make_game("nim")))
    assert ours._players.outside
    theirs = SyncVectorEnv([lambda: BoardEnv("nim", opponent="random")] * 5)
    compare_vectors(ours, theirs, 40)


def test_a_mixture_draws_by_weight():
    env = BoardVectorEnv("nim", 2000, opponent={"random": 3, BATCH: 1})
    env.reset(seed=0)
    share = (env._ints[kernels.POLICY] == 0).mean()
    assert 0.7 < share < 0.8


@pytest.mark.parametrize("weights", [{}, {"random": 0}, {"random": -1, "greedy": 2}, {"random": float("nan")}])
def test_bad_mixtures_are_refused(weights):
    for make in (lambda w: BoardVectorEnv("nim", 2, opponent=w), lambda w: BoardEnv("nim", opponent=w)):
        with pytest.raises(ValueError, match="mixture"):
            make(weights)


def test_bad_answers_of_an_opponent_are_refused():
    env = BoardVectorEnv("nim", 3, opponent=batch_policy(lambda boards, masks: masks.argmin(axis=1)), **SMALL)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="row 0: the opponent .* played: action 0"):
        env.step([0, 0, 0])
    env = BoardVectorEnv("nim", 3, opponent=batch_policy(lambda boards, masks: 0.5), seat=1)
    with pytest.raises(IllegalActionError, match="must return 3 integers"):
        env.reset(seed=0)


@pytest.mark.parametrize("form", [{}, {"opponent": None}, {"illegal": "ignore"}])
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
def test_oracles(form, mode):
    oracle = make_oracle(board_envs.make_game("nim"))
    ours = BoardVectorEnv("nim", 4, oracle=oracle, autoreset_mode=mode, **form)
    theirs = SyncVectorEnv([lambda: BoardEnv("nim", oracle=oracle, **form)] * 4, autoreset_mode=mode)
    compare_vectors(ours, theirs, 30, illegal=0.1)
    ours.reset(seed=0)
    infos = ours.step([0, 0, 0, 0])[4]
    assert np.isfinite(infos["regret"]).all()


def test_full_memories_grow(monkeypatch):
    """Awalé's histories outgrow arrays that begin with room for hardly more than a step."""
    monkeypatch.setattr(kernels, "CAPACITY", kernels.ROOM + 1)
    parameters = {"pits": 3, "seeds": 2, "ruleset": "abapa"}
    ours = BoardVectorEnv("awale", 8, opponent=None, num_threads=2, **parameters)
    theirs = SyncVectorEnv([lambda: BoardEnv("awale", opponent=None, **parameters)] * 8)
    compare_vectors(ours, theirs, 60, illegal=0.0)
    assert ours._memory.shape[1] > kernels.ROOM + 1
    game = ours.game
    state = game.initial_state()
    while game.own(state).length < kernels.ROOM:
        state = game.step(state, game.legal_actions(state)[0])
        if game.is_terminal(state):
            raise AssertionError("a game without harvest is wanted here")
    env = BoardVectorEnv(game, 2, opponent=None)
    env.reset(options={"states": [state, None]})
    assert env.state_of(0) == state


def test_threads_change_nothing():
    plain = BoardVectorEnv("connect-four", 33, seat="random")
    threaded = BoardVectorEnv("connect-four", 33, seat="random", num_threads=3)
    compare_vectors(threaded, plain, 40)
    threaded.close()


# -- starts and resets ------------------------------------------------------------------------------------------------


def test_starts_for_all_and_for_each():
    game = board_envs.make_game("connect-four")
    states = [game.from_moves("44"), None, game.from_moves("1"), None]
    env = BoardVectorEnv(game, 4, opponent=None)
    theirs = SyncVectorEnv([lambda: BoardEnv(game, opponent=None)] * 4)
    compare_vectors(env, theirs, 20, resets={"moves": "4453"})
    texts = [None if state is None else game.format(state) for state in states]
    for options in ({"states": states}, {"positions": texts}):
        env.reset(options=options)
        for row, state in enumerate(states):
            assert game.same_position(env.state_of(row), state or game.initial_state())
    _, infos = env.reset(options={"positions": texts, "reset_mask": np.array([False, False, True, True])})
    assert infos["_plies"].tolist() == [False, False, True, True]
    assert game.same_position(env.state_of(2), states[2])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"positions": ["1", "2"]}, ValueError, "3 entries"),
        ({"positions": ["x", None, None]}, PositionError, "x"),
        ({"position": "x", "positions": [None] * 3}, ValueError, "exclude"),
        ({"positoin": "x"}, ValueError, "known options: position, moves, state, reset_mask, positions, states"),
        ({"reset_mask": np.zeros(3, np.bool_)}, ValueError, "names no row"),
        ({"reset_mask": [True, True, True]}, ValueError, "bool array"),
        ({"reset_mask": np.ones(2, np.bool_)}, ValueError, "bool array"),
    ],
)
def test_impossible_resets_change_nothing(options, error, message):
    env = BoardVectorEnv("nim", 3)
    env.reset(seed=0)
    env.step([0, 1, 2])
    before = pickle.dumps(env.get_state())
    with pytest.raises(error, match=message):
        env.reset(seed=1, options=options)
    assert pickle.dumps(env.get_state()) == before


def test_seeds_for_each_row():
    def told(seed):
        env = BoardVectorEnv("reversi", 3, seat=1)
        return env.reset(seed=seed)[0]

    assert np.array_equal(told(5), told([5, 6, 7]))
    assert np.array_equal(told([7, None, 5])[[2, 0]], told(5)[[0, 2]])
    env = BoardVectorEnv("reversi", 3)
    for bad in ([1, 2], -1, 1 << 63, [1, 2, -3], 1.5):
        with pytest.raises((ValueError, TypeError)):
            env.reset(seed=bad)


def test_disabled_wants_its_resets():
    env = BoardVectorEnv("nim", 2, **SMALL, opponent=None, autoreset_mode="Disabled")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0, 0])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(seed=0)
    env.step([3, 1])  # Row 0 has taken all three; one object is left.
    env.step([0, 1])
    with pytest.raises(gymnasium.error.ResetNeeded, match="rows \\[0\\]"):
        env.step([0, 0])
    with pytest.raises(ValueError, match="AutoresetMode"):
        BoardVectorEnv("nim", 2, autoreset_mode="sometimes")


# -- illegal actions --------------------------------------------------------------------------------------------------


def test_raise_moves_no_row():
    env = BoardVectorEnv("nim", 3, opponent=None, illegal="raise")
    env.reset(seed=0, options={"position": "1,1,1"})
    before = pickle.dumps(env.get_state())
    with pytest.raises(IllegalActionError, match="row 2: action 1 is not legal"):
        env.step([0, 3, 1])
    assert pickle.dumps(env.get_state()) == before
    env.step([0, 3, 7])


@pytest.mark.parametrize("actions", [[0, 0], [0, 0, 12], [0, -1, 0], [0.0, 0, 0], "abc"])
def test_what_is_no_action_is_refused(actions):
    env = BoardVectorEnv("nim", 3)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="actions must be 3 integers|is not an integer from 0 to 11"):
        env.step(actions)


def test_random_actions_are_legal_and_touch_nothing():
    env = BoardVectorEnv("awale", 50, opponent=None, autoreset_mode="NextStep", illegal="raise")
    env.reset(seed=0)
    stream = Stream.seeded(1)
    ends = 0
    for _ in range(300):
        before = pickle.dumps(env.get_state())
        actions = env.random_actions(stream)
        assert pickle.dumps(env.get_state()) == before
        ends += env.step(actions)[2].sum()
    assert ends > 20
    assert stream.counter == 300 * 50


def test_a_number_beyond_all_integers_is_told_as_it_was_given():
    env = BoardVectorEnv("nim", 2)
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="row 1: action 18446744073709551615 is not an integer from 0 to 11"):
        env.step(np.array([0, 2**64 - 1], np.uint64))


# -- Gymnasium around it ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ConnectFour", "Nim"])
def test_make_vec(name):  # R097
    env = gymnasium.make_vec(f"board_envs/{name}-v0", num_envs=4, opponent=None)
    assert isinstance(env.unwrapped, BoardVectorEnv)
    assert env.spec.id == f"board_envs/{name}-v0"
    json.loads(env.spec.to_json())
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observation, infos = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    env.action_space.seed(0)
    env.step(env.action_space.sample())
    for mode in ("sync", "async"):
        other = gymnasium.make_vec(f"board_envs/{name}-v0", num_envs=2, vectorization_mode=mode)
        other.reset(seed=0)
        other.close()
    assert infos["action_mask"].shape == (4, env.single_action_space.n)


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
def test_episode_statistics(mode):  # R095
    """From 1,3 both take single objects from the first heap there is: the learner, second, takes the last and loses."""
    env = BoardVectorEnv("nim", 3, **SMALL, opponent=batch_policy(lambda boards, masks: masks.argmax(axis=1)), seat=1,
                         autoreset_mode=mode)  # fmt: skip
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    _, infos = env.reset(seed=0)
    over = np.zeros(3, np.bool_)
    episodes = 0
    while episodes < 30:
        if mode is AutoresetMode.DISABLED and over.any():
            _, infos = env.reset(options={"reset_mask": over.copy()})
        _, _, terminations, truncations, infos = env.step(infos["action_mask"].argmax(axis=1))
        over = terminations | truncations
        if over.any():
            told = infos["episode"] if "episode" in infos else infos["final_info"]["episode"]
            assert told["l"][over].tolist() == [2] * over.sum()
            assert told["r"][over].tolist() == [-1.0] * over.sum()
            episodes += int(over.sum())


def test_what_was_told_never_changes():  # R101
    env = BoardVectorEnv("connect-four", 8, autoreset_mode="SameStep", mask_in="observation")
    kept = []

    def keep(value):
        if isinstance(value, dict):
            for part in value.values():
                keep(part)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            for other, _ in kept[-40:]:
                assert not np.shares_memory(value, other)
            kept.append((value, value.copy()))

    rng = np.random.default_rng(0)
    observation, infos = env.reset(seed=0)
    keep(observation)
    keep(infos)
    for _ in range(60):
        result = env.step(random_actions(rng, infos["action_mask"]))
        infos = result[4]
        for part in result:
            keep(part)
    for value, then in kept:
        assert np.array_equal(value, then, equal_nan=value.dtype.kind == "f")


def copies(env):
    return [copy.copy(env), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]


@pytest.mark.parametrize("opponent", [None, "random", "nim-xor", {"random": 1, "greedy": 1}])
def test_copies_and_saved_states(opponent):  # R079
    def play(env, steps=25):
        rng = np.random.default_rng(1)
        masks, told = env.action_masks(), []
        for _ in range(steps):
            observation, rewards, _, _, infos = env.step(random_actions(rng, masks))
            masks = infos["action_mask"]
            told.append((observation.tobytes(), rewards.tobytes(), infos["plies"].tobytes()))
        return told

    env = BoardVectorEnv("nim", 5, opponent=opponent)
    env.reset(seed=3)
    play(env, 3)
    made, saved = copies(env), env.get_state()
    expected = play(env)
    assert [play(other) for other in made] == [expected] * 3
    env.set_state(saved)
    assert play(env) == expected
    other = BoardVectorEnv("nim", 5, opponent=opponent)
    other.set_state(saved)
    assert play(other) == expected
    with pytest.raises(ValueError, match="made alike"):
        env.set_state({"words": 3})
    with pytest.raises(ValueError, match="words"):
        BoardVectorEnv("nim", 6, opponent=opponent).set_state(saved)


def test_rendering():
    env = BoardVectorEnv("nim", 2, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == (env.game.draw(env.game.initial_state()),) * 2
    assert BoardVectorEnv("nim", 2).render() is None


def test_without_numba_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(_jit.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="board-envs\\[fast\\]"):
        gymnasium.make_vec("board_envs/Nim-v0", num_envs=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"num_envs": 0}, "num_envs"), ({"num_threads": 0}, "num_threads"), ({"illegal": "x"}, "illegal must be one of")],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BoardVectorEnv("nim", **{"num_envs": 2, **options})
