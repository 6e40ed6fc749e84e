"""What environments refuse, and that a refusal leaves nothing half done: scalar, vectorised and batched."""

import copy
import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import board_envs
from board_envs import make_game
from board_envs.envs.aec import BoardAECEnv
from board_envs.envs.single import BoardEnv
from board_envs.policies import agent_builder, batch_policy
from board_envs.random import Stream
from board_envs.types import IllegalActionError, PositionError

GAMES = list(board_envs.GAMES)


class Failing:
    """An agent that plays the first legal action, and does what `fault` says at one of its moves."""

    def __init__(self, fault, at):
        self.fault, self.left = fault, at

    def reset(self, seed=None):
        """Begin a game."""

    def act(self, observation, state=None):
        """Return an action, or not."""
        self.left -= 1
        if self.left >= 0:
            return int(observation["action_mask"].argmax())
        if isinstance(self.fault, type):
            raise self.fault("the opponent broke down")
        return self.fault


def failing_forms(fault, at):
    """The same opponent as an agent, a policy, a builder and a batch policy."""
    agents = [Failing(fault, at) for _ in range(4)]
    batch = batch_policy(
        lambda boards, masks: np.array([agents[3].act({"action_mask": mask}) for mask in masks]),
    )
    return [agents[0], lambda seen: agents[1].act(seen), agent_builder(lambda game: agents[2]), batch]


FAULTS = [(RuntimeError, RuntimeError), (KeyboardInterrupt, KeyboardInterrupt), (99, IllegalActionError)]


@pytest.mark.parametrize(("fault", "error"), FAULTS)
@pytest.mark.parametrize("form", range(4))
def test_after_a_failure_of_the_opponent_the_environment_wants_a_reset(form, fault, error):
    env = BoardEnv("connect-four", opponent=failing_forms(fault, 1)[form], render_mode="ansi")
    env.reset(seed=0)
    env.step(3)
    saved = env.get_state() if form != 3 else None
    with pytest.raises(error):
        env.step(3)
    for query in (lambda: env.step(3), env.action_masks, env.render, env.get_state, lambda: env.game_state):
        with pytest.raises(ResetNeeded, match="broken off"):
            query()
    if saved is not None:
        _, info = env.set_state(saved)
        assert (info["to_play"], info["plies"]) == (0, 2)
    env.reset(options={"moves": "44"})
    assert env.action_masks().all()


@pytest.mark.parametrize(("fault", "error"), FAULTS)
def test_a_reset_that_the_opponent_breaks_off_is_no_game(fault, error):
    env = BoardEnv("connect-four", opponent=Failing(fault, 0), seat=1)
    with pytest.raises(error):
        env.reset(seed=0)
    with pytest.raises(ResetNeeded, match="broken off"):
        env.step(0)


@pytest.mark.parametrize(("fault", "error"), FAULTS)
@pytest.mark.parametrize("form", range(4))
def test_the_vector_environment_wants_a_reset_too(form, fault, error):
    pytest.importorskip("numba")
    from board_envs.envs.vector import BoardVectorEnv

    at = 1 if form in (0, 2) else 4  # Each row has its own copy of an agent; a policy is asked by all.
    env = BoardVectorEnv("connect-four", 3, opponent=failing_forms(fault, at)[form], render_mode="ansi")
    env.reset(seed=0)
    env.step([3, 3, 3])
    saved = env.get_state()
    with pytest.raises(error):
        env.step([3, 3, 3])
    rows = np.array([True, False, False])
    for query in (
        lambda: env.step([3, 3, 3]), env.action_masks, env.render, env.get_state, lambda: env.state_of(0),
        lambda: env.random_actions(Stream.seeded(0)), lambda: env.reset(options={"reset_mask": rows}),
    ):  # fmt: skip
        with pytest.raises(ResetNeeded, match="broken off"):
            query()
    env.set_state(saved)
    assert [env.game.current_player(env.state_of(row)) for row in range(3)] == [0, 0, 0]
    env.reset()
    assert env.action_masks().all()


class FailingOracle:
    """An oracle whose answer is given."""

    def __init__(self, answer):
        self.answer = answer

    def action_values(self, state):
        """Return the answer, or raise it."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


ANSWERS = [
    (RuntimeError("no table"), RuntimeError),
    ({99: 1.0}, ValueError),
    ([1, 2], ValueError),
    ({"a": 1}, ValueError),
]


@pytest.mark.parametrize(("answer", "error"), ANSWERS)
@pytest.mark.parametrize("illegal", ["lose", "random", "ignore"])
def test_an_oracle_that_fails_changes_nothing(answer, error, illegal):
    oracle = FailingOracle({})
    chosen = {"illegal": illegal, "oracle": oracle}
    envs = [BoardEnv("nim", opponent=None, **chosen), BoardEnv("nim", **chosen), BoardAECEnv("nim", **chosen)]
    for env in envs:
        env.reset(seed=0, options={"position": "2,4,5"})
        before = env.get_state()
        for action in (1, 2):  # The second is not legal.
            oracle.answer = answer
            with pytest.raises(error):
                env.step(action)
            after = env.get_state()
            assert {k: v for k, v in after.items() if k != "opponent"} == {
                k: v for k, v in before.items() if k != "opponent"
            }
        oracle.answer = {}
        env.step(1)


def test_an_oracle_that_fails_changes_no_row():
    pytest.importorskip("numba")
    from board_envs.envs.vector import BoardVectorEnv

    for answer, error in ANSWERS:
        oracle = FailingOracle({})
        env = BoardVectorEnv("nim", 3, oracle=oracle)
        env.reset(seed=0)
        before = env.get_state()
        oracle.answer = answer
        with pytest.raises(error):
            env.step([0, 1, 2])
        after = env.get_state()
        assert all(np.array_equal(before[key], after[key]) for key in before)
        oracle.answer = {}
        env.step([0, 1, 2])


@pytest.mark.parametrize("name", GAMES)
def test_queries_before_the_first_reset_name_it(name):
    env = BoardAECEnv(name, render_mode="ansi")
    for query in (
        env.last, lambda: env.observe("player_0"), env.state, env.render, env.get_state, lambda: env.step(0),
        lambda: env.game_state,
    ):  # fmt: skip
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            query()
    for attribute in ("agent_selection", "rewards", "terminations", "truncations", "infos"):
        assert not hasattr(env, attribute)
        with pytest.raises(AttributeError, match=rf"{attribute} is set by reset\(\)"):
            getattr(env, attribute)
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        _ = env.no_such_thing
    assert env.agents == []
    env = BoardEnv(name, render_mode="ansi")
    for query in (env.action_masks, env.render, env.get_state, lambda: env.step(0), lambda: env.game_state):
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            query()
    assert BoardEnv(name).render() is None
    copy.deepcopy(env).reset()


def test_vector_queries_before_the_first_reset_name_it():
    pytest.importorskip("numba")
    from board_envs.envs.vector import BoardVectorEnv

    env = BoardVectorEnv("nim", 2, render_mode="ansi")
    for query in (
        env.action_masks, env.render, env.get_state, lambda: env.step([0, 0]), lambda: env.state_of(0),
        lambda: env.random_actions(Stream.seeded(0)), lambda: env.reset(options={"reset_mask": np.arange(2) == 0}),
    ):  # fmt: skip
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            query()
    env.reset()
    for row in (2, -1):
        with pytest.raises(IndexError, match="rows are 0 to 1"):
            env.state_of(row)


def test_queries_after_the_end():
    env = BoardAECEnv("nim", heaps=(1,), render_mode="ansi")
    env.reset()
    env.step(0)
    env.step(None)
    env.step(None)
    assert env.agents == []
    for query in (env.last, lambda: env.step(None), lambda: env.step(0)):
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            query()
    assert env.observe("player_0")["action_mask"].sum() == 0
    assert env.state() is not None
    assert env.infos == {}
    assert "0" in env.render()
    with pytest.raises(ValueError, match="unknown agent 'player_2'; agents: player_0, player_1"):
        env.observe("player_2")
    env.reset()
    assert env.last()[4]["plies"] == 0


def test_whoever_loses_by_an_illegal_action_leaves_the_game_to_the_other():
    for moves, offender in (("", 0), ("4", 1)):
        options = {"options": {"moves": moves + "1" * 6 if offender else "111111"}}
        env = BoardAECEnv("connect-four", illegal="lose")
        env.reset(**options)
        mover = env.agents.index(env.agent_selection)
        env.step(0)
        assert [info["winner"] for info in env.infos.values()] == [1 - mover] * 2
        wrapped = board_envs.connect_four_v0.env()
        wrapped.reset(**options)
        wrapped.step(0)
        assert wrapped.last()[4]["winner"] == 1 - mover
        alone = BoardEnv("connect-four", opponent=None)
        alone.reset(**options)
        _, reward, terminated, _, info = alone.step(0)
        assert (reward, terminated, info["winner"], info["illegal"]) == (-1.0, True, 1 - mover, 1)
    env = BoardEnv("connect-four", seat=1)
    env.reset(seed=0, options={"moves": "1111114"})
    assert env.step(0)[4]["winner"] == 0
    env = BoardEnv("connect-four", illegal="ignore", illegal_cap=1)
    env.reset(seed=0, options={"moves": "111111"})
    _, _, terminated, truncated, info = env.step(0)
    assert (terminated, truncated, info["winner"]) == (False, True, -1)


FOREIGN = {
    "reversi": lambda game: game.initial_state(),
    "connect-four": lambda game: game.from_moves("1111111"),
    "awale": lambda game: game.initial_state(),
    "nim": lambda game: game.initial_state(),
}
"""States of the second parameters that are none of the first."""
STATES = {
    "reversi": ({"size": 6}, {"size": 8}),
    "connect-four": ({}, {"rows": 7, "columns": 6}),
    "awale": ({}, {"pits": 4, "seeds": 3}),
    "nim": ({}, {"heaps": (9, 9, 9)}),
}


@pytest.mark.parametrize("name", list(STATES))
def test_states_of_another_game_or_size_are_refused(name):
    parameters, others = STATES[name]
    game, foreign = make_game(name, **parameters), make_game(name, **others)
    stranger = make_game("nim" if name != "nim" else "reversi")
    for env in (BoardEnv(game), BoardAECEnv(game)):
        env.reset(seed=0)
        before = env.get_state()
        bad = [FOREIGN[name](foreign), stranger.initial_state(), (1, 2), "x"]
        own = game.initial_state()
        bad += [
            own._replace(**{own._fields[0]: value}) for value in (-1, 5, 1 << 70, None, 2.5, np.uint64((1 << 64) - 1))
        ]
        for state in bad:
            with pytest.raises(PositionError):
                env.reset(options={"state": state})
            with pytest.raises(PositionError):
                env.set_state({**before, "_state": state})
        other = type(env)(foreign)
        other.reset()
        for saved, message in (
            (other.get_state(), "this environment plays"), (None, "must come from get_state"), ({}, "must come from"),
            ({**before, "more": 1}, "must come from"), ({**before, "_stream": 3}, "_stream"),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=message):
                env.set_state(saved)
        assert env.get_state().keys() == before.keys()
        assert env.game_state == before["_state"]


def test_states_of_another_rule_set_are_refused():
    here, there = make_game("awale"), make_game("awale", ruleset="abapa")
    moves = ["2", "1", "0"]
    for game, other in ((here, there), (there, here)):
        state = game.from_moves(moves)
        assert game.check_state(state) is state
        with pytest.raises(PositionError):
            other.check_state(state)


def test_another_kind_of_opponent_is_refused():
    saved = []
    for opponent in ("random", None, lambda seen: 0, {"random": 1, "greedy": 1}):
        env = BoardEnv("nim", opponent=opponent)
        env.reset(seed=0)
        saved.append((env, env.get_state()))
    for env, _ in saved:
        for other, state in saved:
            if other is env:
                env.set_state(state)
            else:
                with pytest.raises(ValueError, match="another kind of opponent"):
                    env.set_state(state)


@pytest.mark.parametrize("name", list(STATES))
def test_damaged_vector_states_are_refused_and_change_nothing(name):
    pytest.importorskip("numba")
    from board_envs.envs.vector import BoardVectorEnv

    parameters, others = STATES[name]
    env = BoardVectorEnv(name, 4, opponent={"random": 1, "greedy": 1}, **parameters)
    env.reset(seed=0)
    env.step(env.action_masks().argmax(axis=1))
    good = env.get_state()
    other = BoardVectorEnv(name, 4, opponent={"random": 1, "greedy": 1}, **others)
    other.reset()
    alone = BoardVectorEnv(name, 4, opponent=None, **parameters)
    alone.reset()
    fewer = BoardVectorEnv(name, 3, opponent={"random": 1, "greedy": 1}, **parameters)
    fewer.reset()
    bad = [
        None,
        {},
        {**good, "more": 1},
        other.get_state(),
        alone.get_state(),
        fewer.get_state(),
        {**good, "players": 3},
    ]
    bad += [{**good, "players": {(9, 9): None}}]
    for key in ("words", "memory", "keys", "ints", "over", "terminated"):
        array = good[key]
        bad += [
            {**good, key: value} for value in (None, array.tolist(), array[:-1], array.astype(np.float64), array[0])
        ]
    for value in (-5, 1 << 40):
        ints = good["ints"].copy()
        ints[:, 2] = value
        bad.append({**good, "ints": ints})
    words = good["words"].copy()
    words[1] = (1 << 64) - 1
    bad.append({**good, "words": words})
    for state in bad:
        with pytest.raises(ValueError, match="."):
            env.set_state(state)
        now = env.get_state()
        assert all(np.array_equal(now[key], good[key]) for key in good if key not in ("players", "game"))
    env.set_state(good)
    env.step(env.action_masks().argmax(axis=1))


@pytest.mark.parametrize("name", list(STATES))
def test_batches_are_checked(name):
    pytest.importorskip("numba")
    from board_envs.envs.batch import Batch, SelfPlay, States

    parameters, others = STATES[name]
    game, foreign = make_game(name, **parameters), make_game(name, **others)
    batch = Batch(game)
    states = batch.initial(5)
    words, memory = states
    first = batch.legal(states).argmax(axis=1)
    wild = words.copy()
    wild[3] = (1 << 64) - 1
    bad = [
        (None, "is States"), ((words,), "is States"), (States(words.tolist(), memory), "are uint64"),
        (States(words.astype(np.int64), memory), "are uint64"), (States(words[:, :1], memory), "are uint64"),
        (States(words[0], memory), "are uint64"), (States(words, memory[:, :, 0]), "are uint64"),
        (States(words, memory[:4]), "does not go with"),
        (States(words, np.zeros((5, 0 if game.rules.has_memory else 40, 2), np.uint64)), "does not go with"),
    ]  # fmt: skip
    calls = [
        batch.legal, batch.observe, batch.status, lambda s: batch.random_actions(s, Stream.seeded(0)),
        lambda s: batch.step(s, first), lambda s: batch.playout(s, 0), lambda s: batch.unpack(s, 0), batch.check,
    ]  # fmt: skip
    for call in calls:
        call(states)
        for value, message in bad:
            with pytest.raises(ValueError, match=message):
                call(value)
    for call in (batch.check, lambda s: batch.unpack(s, 3)):
        with pytest.raises(PositionError, match="row 3 is no state"):
            call(States(wild, memory))
    with pytest.raises(PositionError, match="row 3 is no state"):
        batch.step(States(wild, memory), np.where(np.arange(5) == 3, 1 << 20, first))
    batch.unpack(States(wild, memory), 2)
    for seats in (np.zeros(4, int), np.full(5, 2), np.full(5, -1), np.zeros(5), [0, 1]):
        with pytest.raises(ValueError, match="seats must be"):
            batch.observe(states, seats)
    assert np.array_equal(batch.observe(states, np.zeros(5, np.int8)), batch.observe(states))
    for row in (5, -1):
        with pytest.raises(IndexError, match="rows are 0 to 4"):
            batch.unpack(states, row)
    for longest in (0, -1, "x"):
        with pytest.raises(ValueError, match="longest"):
            batch.playout(states, 0, longest)
    with pytest.raises(PositionError):
        batch.pack([FOREIGN[name](foreign)])
    seen, masks = batch.observe(states), batch.legal(states)
    with pytest.raises(ValueError, match="expected observations"):
        batch.images(seen[:4], masks, batch.symmetries()[0])
    with pytest.raises(ValueError, match="expected observations"):
        batch.images(seen, masks[:, :1], batch.symmetries()[0])
    play = SelfPlay(game, 3, num_threads=2)
    with pytest.raises(IllegalActionError, match="18446744073709551615"):
        play.step(np.full(3, (1 << 64) - 1, np.uint64))
    play.close()
    with pytest.raises(IllegalActionError, match="18446744073709551615"):
        batch.step(states, np.full(5, (1 << 64) - 1, np.uint64))


WILD = """
import sys
import numpy as np
from board_envs import make_game
from board_envs.envs.batch import Batch, SelfPlay, States
from board_envs.random import Stream

name, parameters, seed = eval(sys.argv[1])
game, rng = make_game(name, **parameters), np.random.default_rng(seed)
batch, n = Batch(game), game.num_actions
real = batch.initial(1)
for _ in range(2):
    real = batch.step(real, batch.random_actions(real, Stream.seeded(seed)))
rows, width = 160, real.words.shape[1]

def words(shape):
    full = rng.integers(1 << 64, size=shape, dtype=np.uint64)
    return full & rng.integers(1 << 64, size=shape, dtype=np.uint64) >> rng.integers(64, size=shape, dtype=np.uint64)

some = words((rows, width))
some[:64] = real.words ^ np.where(np.arange(64)[:, None] == rng.integers(64, size=(64, width)), words((64, width)), 0)
some[64], some[65] = 0, ~np.uint64(0)
some[66:110] |= words((44, width)) | words((44, width)) << np.uint64(32)
some[80:110] = rng.integers(1 << 64, size=(30, width), dtype=np.uint64)
some[90:110] |= np.uint64(0xFFFF << 48)
for capacity in (1, 40) if game.rules.has_memory else (0,):
    states = States(some, words((rows, capacity, 2)))
    batch.legal(states), batch.status(states)
    batch.observe(states), batch.observe(states, rng.integers(2, size=rows))
    chosen = batch.random_actions(states, Stream.seeded(seed))
    for actions in (chosen, rng.integers(-2, n + 2, size=rows), chosen):
        after = [[], []]
        for row in range(rows):
            one = States(states.words[row:row + 1], states.memory[row:row + 1])
            try:
                batch.playout(one, seed + row, 70)
            except RuntimeError as error:
                assert "no end" in str(error)
            try:
                one = batch.step(one, actions[row:row + 1])
            except ValueError:
                pass
            for parts, part in zip(after, one):
                parts.append(part)
        longest = max(memory.shape[1] for memory in after[1])
        padded = [np.pad(memory, ((0, 0), (0, longest - memory.shape[1]), (0, 0))) for memory in after[1]]
        states = States(np.concatenate(after[0]), np.concatenate(padded))
    play = SelfPlay(game, rows)
    play.states.words[:] = some
    play.step_random(3)
print("done")
"""


@pytest.mark.parametrize("name", GAMES)
def test_no_words_lead_outside_arrays(name):
    """Under numba's own checks of indices an access outside raises IndexError; the processor without features makes
    all tables arrays, which the checks cover."""
    pytest.importorskip("numba")
    for number, parameters in enumerate((*STATES[name], *(({"ruleset": "abapa"},) if name == "awale" else ()))):
        done = subprocess.run(
            [sys.executable, "-c", WILD, repr((name, parameters, number))],
            env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CPU_NAME": "generic"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


def test_every_state_of_random_games_is_sound():
    pytest.importorskip("numba")
    from board_envs.envs.batch import Batch

    for name, both in STATES.items():
        for parameters in (*both, *({**p, "ruleset": "abapa"} for p in both if name == "awale")):
            game = make_game(name, **parameters)
            batch, stream, states = Batch(game), Stream.seeded(1), Batch(game).initial(64)
            for ply in range(60):
                over = batch.status(states)[1] >= 0
                for row in range(ply % 7, len(over), 13):
                    game.check_state(batch.unpack(states, row))
                actions = batch.random_actions(states, stream)
                states = type(states)(states.words[~over], states.memory[~over])
                if over.all():
                    break
                states = batch.step(states, actions[~over])


def test_opponents_answers_beyond_all_integers_are_told_as_given():
    pytest.importorskip("numba")
    from board_envs.envs.vector import BoardVectorEnv

    huge = batch_policy(lambda boards, masks: np.full(len(masks), (1 << 64) - 1, np.uint64))
    env = BoardVectorEnv("nim", 2, opponent=huge)
    env.reset()
    with pytest.raises(IllegalActionError, match=r"row 0: .*18446744073709551615"):
        env.step([0, 0])
    single = BoardEnv("nim", opponent=huge)
    single.reset()
    with pytest.raises(IllegalActionError, match="action 18446744073709551615"):
        single.step(0)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_max_episode_steps_is_gymnasiums_time_limit(mode):
    pytest.importorskip("numba")
    name, rows = "board_envs/Nim-v0", 6
    ours = gymnasium.make_vec(name, num_envs=rows, max_episode_steps=3, autoreset_mode=mode)
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make(name, max_episode_steps=3, disable_env_checker=True)] * rows, autoreset_mode=mode
    )
    cut = 0
    for env in (ours, theirs):
        env.reset(seed=0)
    infos = None
    rng = np.random.default_rng(0)
    for _ in range(60):
        masks = ours.unwrapped.action_masks()
        actions = np.array(
            [np.flatnonzero(mask)[0] if rng.random() < 0.8 else np.flatnonzero(mask)[-1] for mask in masks]
        )
        (*a, infos), (*b, _) = ours.step(actions), theirs.step(actions)
        for mine, other in zip(a, b, strict=True):
            assert np.array_equal(mine, other)
        cut += int(a[3].sum())
        over = a[2] | a[3]
        if mode is AutoresetMode.DISABLED and over.any():
            for env in (ours, theirs):
                env.reset(options={"reset_mask": over})
    assert cut > 20
    assert infos is not None
    for limit in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="max_episode_steps"):
            gymnasium.make_vec(name, num_envs=2, max_episode_steps=limit)
