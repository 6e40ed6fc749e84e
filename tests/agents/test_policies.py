"""Agents as functions for compiled code: the choices and the draws of the agents themselves, at both speeds."""

import numpy as np
import pytest
from agents_common import random_positions

from board_agents import make_agent
from board_agents.search.root_arrays import root_arrays
from board_envs import make_game
from board_envs._jit import kernel

GAMES = [
    make_game("connect-four"),
    make_game("reversi", size=4),
    make_game("awale", pits=4, seeds=3),
    make_game("nim", heaps=(2, 3, 4), misere=True),
]
SPECS = [
    "random",
    "greedy",
    "greedy:ties=random",
    "alpha-beta:depth=2,ties=random",
    "alpha-beta:depth=3",
    "minimax:depth=2",
]


def as_kernel(game, policies):
    """A kernel that asks several policies at once: actions int64 (p,), counters uint64 (p,)."""
    unpack = game.rules.unpack
    first, second, third = policies

    def ask(words, memory, key, counter, actions, counters):
        state = unpack(words, memory)
        actions[0], counters[0] = first(state, key, counter)
        actions[1], counters[1] = second(state, key, counter)
        actions[2], counters[2] = third(state, key, counter)

    return kernel(ask)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_interpreted_policies_choose_as_the_agents(game):
    for spec in SPECS:
        agent = make_agent(spec, game)
        policy = agent.compiled_policy()
        for number, state in enumerate(random_positions(game, 15, seed=21)):
            agent.reset(number)
            action, counter = policy(game.own(state), agent.stream.key, np.uint64(0))
            assert agent.act({}, state) == action
            assert agent.stream.counter == counter


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_compiled_policies_choose_as_the_agents(game):
    pytest.importorskip("numba")
    specs = ["greedy:ties=random", "alpha-beta:depth=2", "random"]
    agents = [make_agent(spec, game) for spec in specs]
    ask = as_kernel(game, [agent.compiled_policy() for agent in agents])
    actions, counters = np.zeros(3, np.int64), np.zeros(3, np.uint64)
    for number, state in enumerate(random_positions(game, 60, seed=22)):
        words, memory = root_arrays(game, state)
        for agent in agents:
            agent.reset(number)
        ask(words, memory, agents[0].stream.key, np.uint64(0), actions, counters)
        assert actions.tolist() == [agent.act({}, state) for agent in agents]
        assert counters.tolist() == [agent.stream.counter for agent in agents]
    assert len(ask.signatures) == 1


def test_what_is_no_policy():
    game = GAMES[0]
    assert make_agent("alpha-beta:depth=5", game).compiled_policy() is None
    assert make_agent("alpha-beta:depth=3,seconds=1", game).compiled_policy() is None
    assert not hasattr(make_agent("mcts", game), "compiled_policy")
    from board_agents.search.minimax import GreedyAgent

    assert GreedyAgent(game, evaluation=lambda state: 0).compiled_policy() is None
