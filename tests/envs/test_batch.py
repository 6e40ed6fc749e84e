"""Batches of states, and the two speeds of one source."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import board_envs
from board_envs.envs import kernels
from board_envs.envs.batch import Batch, SelfPlay
from board_envs.envs.vector import BoardVectorEnv
from board_envs.random import Stream, below, draw
from board_envs.types import IllegalActionError, PositionError

pytest.importorskip("numba")

CASES = [
    ("reversi", {}),  # Uses all 64 bits.
    ("connect-four", {}),
    ("awale", {"pits": 3, "seeds": 2, "ruleset": "abapa"}),
    ("nim", {"heaps": (1, 3), "misere": True}),
]
every_case = pytest.mark.parametrize(("name", "parameters"), CASES, ids=[name for name, _ in CASES])


def random_state(game, plies, seed):
    stream = Stream.seeded(seed)
    state = game.initial_state()
    for _ in range(plies):
        if game.is_terminal(state):
            break
        state = game.step(state, game.rules.nth(state, stream.below(game.rules.count(state))))
    return state


def batch_of(game, count=24):
    states = [random_state(game, seed % 70, seed) for seed in range(count)]
    batch = Batch(game)
    return states, batch, batch.pack(states)


@every_case
def test_batches_say_what_the_game_says(name, parameters):
    game = board_envs.make_game(name, **parameters)
    states, batch, packed = batch_of(game)
    if name == "reversi":
        assert (packed.words[:, :2] >> np.uint64(63)).any(), "bit 63 is used"
    seats, winners, margins = batch.status(packed)
    legal, seen, seen_by_1 = batch.legal(packed), batch.observe(packed), batch.observe(packed, np.ones(24, np.int64))
    for row, state in enumerate(states):
        assert batch.unpack(packed, row) == state
        assert legal[row].tolist() == game.legal_mask(state).tolist()
        assert np.array_equal(seen[row], game.observe(state, game.current_player(state)))
        assert np.array_equal(seen_by_1[row], game.observe(state, 1))
        assert (seats[row], winners[row], margins[row]) == (
            game.current_player(state),
            int(game.winner(state)),
            game.margin(state),
        )


@every_case
def test_stepping_leaves_the_states_as_they_are(name, parameters):
    game = board_envs.make_game(name, **parameters)
    states, batch, _ = batch_of(game)
    states = [state for state in states if not game.is_terminal(state)]
    packed = batch.pack(states)
    before = packed.words.copy(), packed.memory.copy()
    actions = [game.legal_actions(state)[-1] for state in states]
    after = batch.step(packed, actions)
    assert np.array_equal(packed.words, before[0])
    assert np.array_equal(packed.memory, before[1])
    for row, (state, action) in enumerate(zip(states, actions, strict=True)):
        assert batch.unpack(after, row) == game.step(state, action)


@every_case
def test_playouts_are_random_games(name, parameters):
    game = board_envs.make_game(name, **parameters)
    batch = Batch(game)
    ends = batch.playout(batch.initial(8), seed=5)
    for row in range(8):
        stream, state, plies = Stream.seeded(5 + row), game.initial_state(), 0
        while not game.is_terminal(state):
            state = game.step(state, game.rules.nth(state, stream.below(game.rules.count(state))))
            plies += 1
        assert (ends.winners[row], ends.margins[row], ends.plies[row]) == (
            game.winner(state),
            game.margin(state),
            plies,
        )
    with pytest.raises(RuntimeError, match="no end in 1 plies"):
        batch.playout(batch.initial(2), seed=0, longest=1)


@every_case
def test_symmetries_map_batches(name, parameters):
    game = board_envs.make_game(name, **parameters)
    _, batch, packed = batch_of(game)
    seen, legal = batch.observe(packed), batch.legal(packed)
    for symmetry in batch.symmetries():
        images, masks = batch.images(seen, legal, symmetry)
        for row in range(24):
            assert np.array_equal(images[row], symmetry.observation(seen[row]))
            assert np.array_equal(masks[row], symmetry.policy(legal[row]))


@every_case
def test_random_actions_are_the_streams(name, parameters):
    game = board_envs.make_game(name, **parameters)
    states, batch, packed = batch_of(game)
    stream, same = Stream.seeded(3), Stream.seeded(3)
    for _ in range(3):
        actions = batch.random_actions(packed, stream)
        for state, action in zip(states, actions.tolist(), strict=True):
            legal, bits = game.legal_actions(state), same.bits()
            assert action == (legal[below(bits, len(legal))] if legal else 0)
    assert stream == same


def test_what_is_refused():
    game = board_envs.make_game("nim", heaps=(1, 3), misere=True)
    batch = Batch(game)
    states = batch.initial(2)
    for actions in ([0], [0, 4], [0, -1], [0.0, 1.0]):
        with pytest.raises(IllegalActionError):
            batch.step(states, actions)
    taken = batch.step(states, [0, 1])
    with pytest.raises(IllegalActionError, match="row 0: action 0 is not legal"):
        batch.step(taken, [0, 0])
    with pytest.raises(PositionError, match="state 0"):
        batch.pack(["1,3"])
    with pytest.raises(ValueError, match="count"):
        batch.initial(0)


@every_case
def test_self_play_is_interpreted_play(name, parameters):
    """The same draws, interpreted: words, boards, masks, rewards and ends over hundreds of compiled steps fed back."""
    game = board_envs.make_game(name, **parameters)
    rules, count = game.rules, 3
    env = SelfPlay(game, count, seed=9)
    key = Stream.seeded(9).key
    states = [game.initial_state()] * count
    high_bit = False
    for step in range(150):
        env.step_random()
        for row in range(count):
            state = states[row]
            bits = draw(key, np.uint64(step * count + row))
            mover = game.current_player(state)
            state = game.step(state, rules.nth(state, below(bits, rules.count(state))))
            over = game.is_terminal(state)
            assert env.terminated[row] == over
            assert env.rewards[row] == (game.returns(state)[mover] if over else 0)
            states[row] = state = game.initial_state() if over else state
            assert np.array_equal(env.states.words[row][:2], [int(word) for word in game.pack(state)[:2]])
            assert np.array_equal(env.observations[row], game.observe(state, game.current_player(state)))
            assert np.array_equal(env.masks[row], game.legal_mask(state))
            high_bit = high_bit or bool(game.pack(state)[0] >> np.uint64(63))
    assert len(env._kernel.signatures) == 1, "results fed back compile no second form"
    assert high_bit == (name == "reversi")


def test_self_play_with_actions_and_threads():
    game = board_envs.make_game("connect-four")
    plain, threaded = SelfPlay(game, 50, seed=1), SelfPlay(game, 50, seed=1, num_threads=2)
    for _ in range(60):
        plain.step_random()
        threaded.step_random()
        assert np.array_equal(plain.states.words, threaded.states.words)
    threaded.step_random(5)
    for _ in range(5):
        plain.step_random()
    assert np.array_equal(plain.states.words, threaded.states.words)
    threaded.close()
    chosen = SelfPlay(game, 2)
    chosen.step([3, 0])
    assert chosen.observations[0, 5, 3].tolist() == [0, 1]
    assert chosen.observations[1, 5, 0].tolist() == [0, 1]
    with pytest.raises(IllegalActionError, match="row 1: action 7"):
        chosen.step([3, 7])
    for actions in ([3], [3.5, 0.0], [True, False]):
        with pytest.raises(IllegalActionError, match="2 integers"):
            chosen.step(actions)
    with pytest.raises(IllegalActionError, match="row 0: action 18446744073709551615 is not"):
        chosen.step(np.array([2**64 - 1, 0], np.uint64))


def test_many_steps_at_once_go_on_where_a_memory_was_full():
    game = board_envs.make_game("awale", pits=3, seeds=2, ruleset="abapa")
    plain, several = SelfPlay(game, 40, seed=2), SelfPlay(game, 40, seed=2, num_threads=2)
    several.states = several.states._replace(memory=several.states.memory[:, : kernels.ROOM].copy())
    several.step_random(50)
    for _ in range(50):
        plain.step_random()
    assert several.states.memory.shape[1] > kernels.ROOM
    for row in range(40):
        assert Batch(game).unpack(several.states, row) == Batch(game).unpack(plain.states, row)
    several.close()


def test_a_million_games_fit_in_a_gibibyte():
    """Bytes a game of everything that is held and told, observations and masks included."""
    count = 1000
    env = SelfPlay(board_envs.make_game("connect-four"), count)
    held = [*env.states, env.observations, env.masks, env.rewards, env.terminated]
    assert sum(array.nbytes for array in held) / count * 1_000_000 < 2**30
    vector = BoardVectorEnv("connect-four", count)
    observation, infos = vector.reset(seed=0)
    result = vector.step(infos["action_mask"].argmax(axis=1))
    told = [observation, *infos.values(), *result[:4], *result[4].values()]
    state = [value for value in vector.get_state().values() if isinstance(value, np.ndarray)]
    # Two steps' results at once, as a learner holds them, and a copy of the state.
    assert (sum(a.nbytes for a in told) + 2 * sum(a.nbytes for a in state)) / count * 1_000_000 < 2**30


def test_kernels_of_equal_games_are_one():
    game = board_envs.make_game("connect-four")
    assert kernels.make_self_play(game) is kernels.make_self_play(board_envs.make_game("connect-four", rows=6))


# -- the cache on disk ------------------------------------------------------------------------------------------------

PROGRAM = """
import numpy as np
import board_envs
from board_envs.envs import kernels
game = board_envs.make_game("nim")
step = kernels.make_step(game)
words = kernels.first_words(game)[None].copy()
step(np.array([0]), words, np.empty((1, 0, 2), np.uint64), game.num_actions)
stats = step.dispatcher.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), hex(words[0, 0]))
"""


class Installation:
    """A copy of the package, run in processes of its own."""

    def __init__(self, folder):
        self.root = folder / "site"
        source = Path(board_envs.__file__).parent
        shutil.copytree(source, self.root / "board_envs", ignore=shutil.ignore_patterns("__pycache__"))
        self.home = folder / "home"
        self.home.mkdir()

    def run(self):
        environment = {**os.environ, "PYTHONPATH": str(self.root), "HOME": str(self.home)}
        for name in ("BOARD_ENVS_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
            environment.pop(name, None)
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, cwd=self.home, check=False
        )
        assert run.returncode == 0, run.stderr
        hits, misses, words = run.stdout.split()
        return int(hits), int(misses), words


def test_caches_are_used_and_never_stale(tmp_path):
    installation = Installation(tmp_path)
    assert installation.run() == (0, 1, "0x50402")
    assert installation.run() == (1, 0, "0x50402"), "a second process compiles nothing"
    # The kernel calls the rules: an edit there must reach it, though its own file is as it was.
    rules = installation.root / "board_envs" / "games" / "nim" / "rules.py"
    text = rules.read_text()
    edited = text.replace("taken = action - as_int(bases[heap]) + 1", "taken = action - as_int(bases[heap]) + 2")
    assert edited != text
    rules.write_text(edited)
    assert installation.run() == (0, 1, "0x50401")
    rules.write_text(text)
    assert installation.run() == (1, 0, "0x50402"), "the old form is found again"


def test_an_install_that_cannot_be_written_caches_elsewhere(tmp_path):
    installation = Installation(tmp_path)
    # Files in the place of the folders that Python and numba would write to: what root cannot write either.
    for folder in [installation.root / "board_envs", *(installation.root / "board_envs").rglob("*/")]:
        (folder / "__pycache__").touch()
    assert installation.run() == (0, 1, "0x50402")
    assert installation.run() == (1, 0, "0x50402")
    assert len(list(installation.home.rglob("*.code"))) == 1, "the cache is in the user's own folder"
