"""Every agent: legal, deterministic under a seed, blind to the caller's state, at home in PettingZoo."""

import copy
import importlib
import pickle
import subprocess
import sys

import numpy as np
import pettingzoo
import pytest
from agents_common import GAMES, SPECS, identify, random_positions

import board_envs
from board_agents import Agent, as_agent, make_agent
from board_agents.agent import observation_of, state_of
from board_envs import make_game
from board_envs.types import IllegalActionError, PositionError


def play(game, agents, seed):
    """The first actions of a game; each agent gets its own seed."""
    for seat, agent in enumerate(agents):
        agent.reset(seed + seat)
    state, actions = game.initial_state(), []
    while not game.is_terminal(state) and len(actions) < 24:
        actions.append(agents[game.current_player(state)].act(observation_of(game, state), state))
        state = game.step(state, actions[-1])
    return actions


@pytest.mark.parametrize("game", GAMES, ids=repr)
@pytest.mark.parametrize("spec", SPECS)
def test_agents_play_legal_games_and_never_touch_the_state(game, spec):
    agent = make_agent(spec, game)
    assert isinstance(agent, Agent)
    agent.reset(seed=3)
    for state in random_positions(game, 6, seed=11):
        before = identify(state)
        action = agent.act(observation_of(game, state), state)
        assert identify(state) == before
        assert game.is_legal(state, action)
        assert type(action) is int


@pytest.mark.parametrize("game", GAMES, ids=repr)
@pytest.mark.parametrize("spec", SPECS)
def test_an_agent_seeded_alike_plays_alike(game, spec):
    one, two = make_agent(spec, game), make_agent(spec, game)
    games = [play(game, (one, two), seed=5)]
    # Another agent in between, a copy and a pickle change nothing.
    play(game, (make_agent("random", game), make_agent(spec, game)), seed=99)
    games.append(play(game, (copy.deepcopy(one), pickle.loads(pickle.dumps(two))), seed=5))
    assert games[0] == games[1]


def test_a_copy_in_the_middle_of_a_game_goes_on_alike():
    game = make_game("connect-four")
    agent = make_agent("random", game)
    agent.reset(seed=8)
    state = game.initial_state()
    for _ in range(5):
        agent.act(observation_of(game, state), state)
    copies = [copy.deepcopy(agent), pickle.loads(pickle.dumps(agent)), agent]
    games = [[each.act(observation_of(game, state), state) for _ in range(20)] for each in copies]
    assert games[0] == games[1] == games[2]


_PROGRAM = """
import json, sys
from board_agents import make_agent
from board_agents.agent import observation_of
from board_envs import make_game
games = {}
for spec in sys.argv[1:]:
    game = make_game("reversi", size=4)
    agents = make_agent(spec, game), make_agent(spec, game)
    for seat, agent in enumerate(agents):
        agent.reset(seat + 5)
    state, actions = game.initial_state(), []
    while not game.is_terminal(state):
        actions.append(agents[game.current_player(state)].act(observation_of(game, state)))
        state = game.step(state, actions[-1])
    games[spec] = actions
print(json.dumps(games))
"""


def test_other_processes_play_the_same_games():
    command = [sys.executable, "-W", "error", "-c", _PROGRAM, *SPECS]
    runs = {subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)}
    assert len(runs) == 1
    game = make_game("reversi", size=4)
    here = {spec: play(game, (make_agent(spec, game), make_agent(spec, game)), seed=5) for spec in SPECS}
    import json

    assert json.loads(runs.pop()) == here


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_search_from_the_observation_alone_chooses_as_with_the_state(game):
    if game.rules.has_memory:
        return_states = [game.initial_state()]
    else:
        return_states = random_positions(game, 8, seed=2)
    agent = make_agent("alpha-beta:depth=2", game)
    for state in return_states:
        seen = observation_of(game, state)
        assert agent.act(seen) == agent.act(seen, state)
        # Environments with the mask in their infos, or with flat float observations, show less.
        assert agent.act(seen["observation"]) == agent.act(seen, state)
        flat = {**seen, "observation": seen["observation"].ravel().astype(np.float32)}
        assert agent.act(flat) == agent.act(seen, state)


def test_the_seat_is_told_from_the_stones():
    game = make_game("connect-four")
    for moves in ("", "4", "44", "445"):
        state = game.from_moves(moves)
        assert state_of(game, observation_of(game, state)) == state


def test_an_observation_of_no_position_is_refused():
    game = make_game("connect-four")
    seen = observation_of(game, game.initial_state())
    seen["observation"][0, 0, 0] = 1
    with pytest.raises(PositionError, match="floats"):
        make_agent("greedy", game).act(seen)


@pytest.mark.parametrize("spec", SPECS)
def test_there_is_nothing_to_choose_after_the_end(spec):
    game = make_game("connect-four")
    with pytest.raises(IllegalActionError, match="over"):
        make_agent(spec, game).act({}, game.from_moves("1212121"))


@pytest.mark.parametrize("spec", ["random", "greedy", "alpha-beta:depth=3", "minimax:depth=2"])
def test_agents_play_in_pettingzoos_own_connect_four(spec):
    pytest.importorskip("pygame")  # that module of PettingZoo's draws
    game = make_game("connect-four")
    if hasattr(pettingzoo, "make"):
        env = pettingzoo.make("aec", "classic/connect_four-v3")
    else:  # PettingZoo before 1.27
        env = importlib.import_module("pettingzoo.classic.connect_four_v3").env()
    agents = {"player_0": make_agent(spec, game), "player_1": make_agent("random", game)}
    for seed in range(4):
        env.reset(seed=seed)
        for number, agent in enumerate(agents.values()):
            agent.reset(seed + number)
        rewards = dict.fromkeys(agents, 0)
        for name in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            done = terminated or truncated
            env.step(None if done else agents[name].act(observation))
            for seat, reward in env.rewards.items():
                rewards[seat] += 0 if done else reward
        # The raw environment punishes an illegal move with the game; a real game is won, lost or drawn.
        assert sorted(rewards.values()) in ([-1, 1], [0, 0])
        if spec.startswith("alpha"):
            assert rewards["player_0"] == 1
    env.close()


@pytest.mark.parametrize("name", ["reversi", "connect_four", "awale", "nim"])
@pytest.mark.parametrize("spec", ["greedy", "alpha-beta:depth=2", "mcts:simulations=4"])
def test_agents_play_in_our_environments_from_what_last_hands_out(name, spec):
    env = getattr(board_envs, f"{name}_v0").env(illegal="raise")
    game = make_game(name)
    agents = {"player_0": make_agent(spec, game), "player_1": make_agent("random", game)}
    env.reset(seed=3)
    for agent in agents.values():
        agent.reset(3)
    plies = 0
    for mover in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else agents[mover].act(observation))
        plies += 1
    assert plies > 3


def test_a_plain_callable_is_an_agent():
    game = make_game("connect-four")
    agent = as_agent(lambda observation: int(np.flatnonzero(observation["action_mask"])[-1]), game)
    assert agent.act(observation_of(game, game.initial_state())) == 6
    for answer in (7, -1, 2.0, None, True):
        with pytest.raises(IllegalActionError, match="answered"):
            as_agent(lambda observation, answer=answer: answer, game).act({})


@pytest.mark.parametrize("spec", ["random", "alpha-beta:depth=4,ties=random", "greedy:ties=random"])
def test_different_seeds_play_different_games(spec):
    game = make_game("nim", heaps=(5, 5, 5, 5))
    games = {tuple(play(game, (make_agent(spec, game), make_agent("random", game)), seed)) for seed in range(6)}
    assert len(games) > 1


def test_the_random_agent_is_one_draw_of_its_stream_a_move():
    from board_envs.random import Stream

    game = make_game("reversi")
    agent, stream = make_agent("random", game), Stream.seeded(17)
    agent.reset(17)
    state = game.initial_state()
    while not game.is_terminal(state):
        action = agent.act(observation_of(game, state), state)
        assert action == game.legal_actions(state)[stream.below(len(game.legal_actions(state)))]
        state = game.step(state, action)


def test_agents_leave_the_global_generators_alone():
    import random

    before = np.random.get_state()[1].tolist(), random.getstate()  # noqa: NPY002
    game = make_game("connect-four")
    for spec in SPECS:
        play(game, (make_agent(spec, game), make_agent(spec, game)), seed=1)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before  # noqa: NPY002
