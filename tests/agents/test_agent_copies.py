"""Every agent and oracle of the registry: deep copies, pickles, environments' snapshots, rows, other processes."""

import copy
import itertools
import multiprocessing
import pickle
import sys

import gymnasium
import numpy as np
import pytest

from board_agents import make_agent, make_oracle
from board_agents.agent import observation_of
from board_agents.registry import agent_names, oracle_names
from board_envs import make_game
from board_envs._jit import have_numba
from board_envs.registration import gymnasium_id
from board_envs.registry import GAMES
from board_envs.types import MissingExtraError, SpecError

SMALL = {"connect-four": {"rows": 4, "columns": 5}, "reversi": {}, "awale": {"pits": 3, "seeds": 2}, "nim": {}}
"""Sizes on which every move is answered at once; games that are not listed are tried as they are."""
PROGRAM = """
import sys
for line in sys.stdin:
    kind, *fields = line.rstrip("\\n").split("\\t")
    if kind == "quit":
        break
    print(fields[1].split(" ")[0] if kind == "move" else "ready", flush=True)
"""
NOT_IN_PROCESSES = {"human": "a worker has no keyboard"}
NO_CONTINUATION = {"open-spiel": "OpenSpiel's bots cannot be copied; a copy begins with a new bot"}


@pytest.fixture
def spec_of(tmp_path, monkeypatch):
    """Name -> a spec whose required parameters are filled in."""
    program, kaggle = tmp_path / "first.py", tmp_path / "kaggle.py"
    program.write_text(PROGRAM)
    kaggle.write_text("def agent(observation, configuration):\n    return observation.board.index(0)\n")
    typed = itertools.cycle([f"{heap}:{count}" for heap in (1, 2, 3) for count in (1, 2)])
    # Moves of the smallest game, again and again, until one is legal.
    monkeypatch.setattr("builtins.input", lambda prompt="": next(typed))
    filled = {
        "program": f'program:command="{sys.executable} {program}"',
        "kaggle": f"kaggle:agent={kaggle}",
        "open-spiel": "open-spiel:simulations=5",
        "minimax": "minimax:depth=2",
        "alpha-beta": "alpha-beta:depth=2,ties=random",
        "mcts": "mcts:simulations=20,compiled=false",
        "reversi": "reversi:level=4",
    }

    def spec(name):
        if name in ("sb3", "torch"):
            pytest.skip("needs a trained policy; see tests/training and test_policies")
        return filled.get(name, name)

    return spec


def playable(spec):
    """The agent, with the first game that it plays, small ones first."""
    refused = []
    for name in reversed(GAMES):
        game = make_game(name, **SMALL.get(name, {}))
        try:
            return game, make_agent(spec, game)
        except MissingExtraError as error:
            pytest.skip(str(error))
        except SpecError as error:
            refused.append(str(error))
    raise AssertionError(refused)


def play(game, agent, state, most=6):
    """Moves of an agent that plays both seats, and the state after them."""
    moves = []
    while len(moves) < most and not game.is_terminal(state):
        moves.append(agent.act(observation_of(game, state), game.own(state)))
        state = game.step(state, moves[-1])
    return moves, state


def from_seed(game, agent):
    agent.reset(seed=7)
    return play(game, agent, game.initial_state(), 10)[0]


def close(*agents):
    for agent in agents:
        getattr(agent, "close", lambda: None)()


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "twice": lambda thing: copy.deepcopy(pickle.loads(pickle.dumps(copy.deepcopy(thing)))),
}


@pytest.mark.parametrize("way", [way for way in WAYS if way != "copy"])
@pytest.mark.parametrize("name", agent_names())
def test_a_copied_agent_goes_on_as_its_original(name, way, spec_of):
    game, agent = playable(spec_of(name))
    agent.reset(seed=3)
    _, state = play(game, agent, game.initial_state(), 3)
    twin = WAYS[way](agent)
    if name not in NO_CONTINUATION and name != "human":
        # The original first: what it does must not reach the copy.
        expected = play(game, agent, state)[0]
        assert play(game, twin, state)[0] == expected
    if name != "human":
        assert from_seed(game, twin) == from_seed(game, agent)
    else:
        assert play(game, twin, state)[0]
    close(agent, twin)


@pytest.mark.parametrize("name", agent_names())
def test_every_agent_plays_in_environments_and_their_copies(name, spec_of):
    spec = spec_of(name)
    game, agent = playable(spec)
    close(agent)
    parameters = dict(game.parameters)
    env = gymnasium.make(gymnasium_id(game.name), opponent=spec, **parameters).unwrapped
    env.reset(seed=5)
    saved = env.get_state()
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]

    def go_on(env):
        seen = []
        for _ in range(3):
            observation, reward, over, _, info = env.step(int(env.action_masks().argmax()))
            seen.append((np.asarray(observation).tolist(), reward, info["plies"]))
            if over:
                break
        return seen

    first = go_on(env)
    if name not in NO_CONTINUATION and name != "human":
        assert [go_on(twin) for twin in twins] == [first, first]
        env.set_state(saved)
        assert go_on(env) == first
    if not have_numba():
        with pytest.raises(MissingExtraError, match="fast"):
            gymnasium.make_vec(gymnasium_id(game.name), num_envs=2, opponent=spec, **parameters)
        return
    rows = gymnasium.make_vec(gymnasium_id(game.name), num_envs=2, opponent=spec, **parameters)
    _, infos = rows.reset(seed=[5, 5])
    _, rewards, *_ = rows.step(infos["action_mask"].argmax(axis=1))
    assert rewards.shape == (2,)
    rows.close()


def answer(payload):
    """In a worker: an agent's moves or an oracle's answers."""
    game, thing, states = payload
    if states is None:
        moves = from_seed(game, thing)
        close(thing)
        return moves
    return [thing.action_values(state) for state in states]


@pytest.fixture(scope="module", params=["fork", "spawn"])
def worker(request):
    if request.param not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {request.param}")
    with multiprocessing.get_context(request.param).Pool(1) as pool:
        yield lambda payload: pool.apply_async(answer, (payload,)).get(timeout=120)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("name", agent_names())
def test_every_agent_plays_in_other_processes(name, spec_of, worker):
    if name in NOT_IN_PROCESSES:
        pytest.skip(NOT_IN_PROCESSES[name])
    game, agent = playable(spec_of(name))
    assert worker((game, agent, None)) == from_seed(game, agent)
    close(agent)


def asked(name):
    """The oracle with the first game that it knows, and positions near the end of a game and at its beginning."""
    for game_name in reversed(GAMES):
        game = make_game(game_name, **SMALL.get(game_name, {}))
        try:
            oracle = make_oracle(game, name)
        except MissingExtraError as error:
            pytest.skip(str(error))
        except SpecError:
            continue
        agent = make_agent("random", game)
        agent.reset(1)
        states = [game.initial_state()]
        while not game.is_terminal(states[-1]):
            states.append(game.step(states[-1], agent.act({}, states[-1])))
        return game, oracle, states[-12:]
    raise AssertionError(f"no game for {name}")


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("name", oracle_names())
def test_a_copied_oracle_answers_as_its_original(name, way):
    _, oracle, states = asked(name)
    before = WAYS[way](oracle)
    expected = [oracle.action_values(state) for state in states]
    assert any(expected)
    for twin in (before, WAYS[way](oracle)):
        assert [twin.action_values(state) for state in states] == expected
    assert len(pickle.dumps(oracle)) < 1 << 20, "a pickle holds no tables"


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("name", oracle_names())
def test_every_oracle_answers_in_other_processes(name, worker):
    game, oracle, states = asked(name)
    assert worker((game, oracle, states)) == [oracle.action_values(state) for state in states]


@pytest.mark.parametrize("name", list(GAMES))
def test_environments_with_an_oracle_copy(name):
    game = make_game(name, **SMALL.get(name, {}))
    env = gymnasium.make(gymnasium_id(name), opponent="random", oracle="default", **game.parameters).unwrapped
    env.reset(seed=2)
    saved = env.get_state()
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]

    def regret(env):
        info = env.step(int(env.action_masks().argmax()))[-1]
        return [float(info["regret"]), *info["action_values"].tolist()]

    first = regret(env)
    for twin in twins:
        np.testing.assert_equal(regret(twin), first)
    env.set_state(saved)
    np.testing.assert_equal(regret(env), first)
