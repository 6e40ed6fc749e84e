"""Compiled search: the values and choices of the interpreted one; table, time, lines, cold start."""

import json
import subprocess
import sys

import numpy as np
import pytest
from agents_common import identify, random_positions

from board_agents import make_agent
from board_agents.search import root_arrays as compiled
from board_agents.search.alpha_beta import AlphaBetaAgent
from board_agents.search.alpha_beta_kernel import (
    DONE,
    MODE,
    NODES,
    ROOT_ACTION,
    ROOT_BEST,
    begin,
    make_search,
    make_workspace,
)
from board_agents.search.compiled_choice import COMPILE_SECONDS, LOAD_SECONDS
from board_agents.search.evaluations import evaluation_names, named_evaluation, win_value
from board_agents.search.mcts import make_simulate
from board_agents.search.minimax import MinimaxAgent
from board_envs import make_game
from board_envs.types import SpecError

pytest.importorskip("numba")

GAMES = [
    make_game("connect-four"),
    make_game("connect-four", rows=4, columns=5, connect=3),
    make_game("reversi"),
    make_game("reversi", size=4),
    make_game("awale", pits=4, seeds=3),
    make_game("nim", heaps=(2, 3, 4, 5), misere=True),
]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_values_and_choices_are_those_of_the_interpreted_search(game):
    for depth, number in ((1, 200), (2, 200), (3, 100), (4, 40)):
        plain = AlphaBetaAgent(game, depth=depth, compiled=False)
        fast = AlphaBetaAgent(game, depth=depth, compiled=True)
        full = MinimaxAgent(game, depth=depth, compiled=True)
        for index, state in enumerate(random_positions(game, number, seed=100 + depth)):
            before = identify(state)
            expected, cut, every = plain.analyse(state), fast.analyse(state), full.analyse(state)
            assert identify(state) == before
            assert (cut.value, cut.action) == (expected.value, expected.action) == (every.value, every.action)
            # What the table or the windows leave as bounds is never reported as a value.
            assert all(every.values[action] == value for action, value in cut.values.items())
            if index % 5 == 0:
                reference = MinimaxAgent(game, depth=depth, compiled=False).analyse(state)
                assert reference == every
                end, seat = state, game.current_player(state)
                for action in cut.line:
                    end = game.step(end, action)
                assert len(cut.line) == depth or game.is_terminal(end)
                assert leaf_value(game, end, depth - len(cut.line)) * (1 - 2 * seat) == cut.value


def leaf_value(game, state, levels):
    """Value in player_0's view of a position where a line ends."""
    winner, win = int(game.winner(state)), win_value(game)
    if winner in (0, 1):
        return (1 - 2 * winner) * (win.base + win.step * levels)
    return named_evaluation(game, evaluation_names(game)[0])(state)


@pytest.mark.parametrize("game", GAMES[:3], ids=repr)
def test_deep_searches_with_a_table_have_the_values_of_searches_without(game):
    kernel = make_search(game, "default")
    for state in random_positions(game, 12, seed=31):
        results = []
        # No table to speak of, one with many collisions, a large one; forgotten or kept from the search before.
        for bits in (0, 4, 14):
            work = make_workspace(game, 6, bits)
            words, memory = compiled.root_arrays(game, state)
            for depth in (6, 4, 6):
                begin(work, words)
                kernel(memory, work, depth, True, False, 10**9, -1)
                assert work.status[MODE] == DONE
                results.append((depth, int(work.status[ROOT_BEST]), int(work.status[ROOT_ACTION])))
        assert len(set(results)) == 2, results


def test_a_search_stopped_anywhere_goes_on_to_the_same_end():
    game = make_game("connect-four")
    kernel = make_search(game, "default")
    for state in random_positions(game, 10, seed=8):
        words, memory = compiled.root_arrays(game, state)
        ends = []
        for limit in (10**9, 1, 7):
            work = make_workspace(game, 4, 8)
            begin(work, words)
            calls = 0
            while work.status[MODE] != DONE:
                kernel(memory, work, 4, True, True, limit, -1)
                calls += 1
            exact = np.flatnonzero(work.root_exact).tolist()
            ends.append((int(work.status[NODES]), exact, work.root_scores[exact].tolist(), work.lines[0].tolist()))
            assert calls == 1 or limit < 10**9
        assert ends[0] == ends[1] == ends[2]
    assert len(kernel.signatures) == 1


@pytest.mark.parametrize("game", GAMES[1:4:2], ids=repr)
def test_random_ties_are_drawn_from_the_same_actions(game):
    for state in random_positions(game, 15, seed=5):
        choices = []
        for speed in (False, True):
            agent = AlphaBetaAgent(game, depth=3, ties="random", compiled=speed)
            actions = []
            for seed in range(8):
                agent.reset(seed)
                result = agent.analyse(state)
                assert result.line[0] == result.action
                actions.append(result.action)
            choices.append(actions)
        assert choices[0] == choices[1]


@pytest.fixture
def unknown_game(monkeypatch, tmp_path):
    """A game of which nothing is compiled, neither in this process nor on disk."""
    monkeypatch.setenv("BOARD_ENVS_CACHE_DIR", str(tmp_path))
    for made in (make_search, make_simulate):
        made.cache_clear()
    return make_game("connect-four", rows=3, columns=4, connect=3)


def test_what_is_compiled_when(unknown_game):
    game = unknown_game
    assert AlphaBetaAgent(game, depth=5).runs_compiled
    assert not AlphaBetaAgent(game, depth=4).runs_compiled
    assert AlphaBetaAgent(game, seconds=1).runs_compiled
    assert make_agent("mcts:simulations=500", game).runs_compiled
    assert not make_agent("mcts:simulations=50", game).runs_compiled
    # A user's function is Python: it is searched interpreted, and compiling it is refused.
    assert not AlphaBetaAgent(game, depth=8, evaluation=lambda state: 0).runs_compiled
    with pytest.raises(ValueError, match="named evaluation"):
        AlphaBetaAgent(game, evaluation=lambda state: 0, compiled=True)
    with pytest.raises(SpecError, match="true or false"):
        make_agent("alpha-beta:compiled=maybe", game)


SHALLOW = ["alpha-beta:depth=4", "alpha-beta:depth=3,ties=random", "minimax:depth=3", "mcts:simulations=199"]
SHORTEST = ["greedy", "alpha-beta:depth=2", "minimax:depth=1,ties=random", "mcts:simulations=19"]


def with_speed(spec, compiled):
    return f"{spec}{',' if ':' in spec else ':'}compiled={str(compiled).lower()}"


def test_code_that_is_there_is_used(unknown_game):
    game, specs = unknown_game, [*SHALLOW, *SHORTEST]
    assert not any(make_agent(spec, game).runs_compiled for spec in specs)
    for spec in ("alpha-beta:depth=1", "mcts:simulations=1"):
        make_agent(with_speed(spec, True), game).choose(game.initial_state())
    # Loaded in this process: used by every agent, however little is asked of it.
    assert all(make_agent(spec, game).runs_compiled for spec in specs)
    assert not any(make_agent(with_speed(spec, False), game).runs_compiled for spec in specs)
    # On disk, in another process (whose kernels and choices are new).
    for made in (make_search, make_simulate):
        made.cache_clear()
    assert [make_agent(spec, game).runs_compiled for spec in specs] == [True] * 4 + [False] * 4
    for spec in specs:
        agent = make_agent(spec, game)
        assert not agent._choice.kernel.is_loaded
        agent._choice.seconds = LOAD_SECONDS
        assert agent.runs_compiled


@pytest.mark.parametrize("spec", [*SHALLOW, *SHORTEST])
def test_interpreting_ends_when_it_has_cost_more_than_compiling(unknown_game, spec):
    agent = make_agent(spec, unknown_game)
    agent.choose(unknown_game.initial_state())
    assert 0 < agent._choice.seconds < COMPILE_SECONDS
    agent._choice.seconds = COMPILE_SECONDS
    assert agent.runs_compiled
    assert not make_agent(with_speed(spec, False), unknown_game).runs_compiled


@pytest.mark.parametrize("spec", [*SHALLOW, *SHORTEST])
@pytest.mark.parametrize("game", GAMES[1:4:2], ids=repr)
def test_a_change_between_moves_changes_no_game(game, spec):
    def play(speeds):
        agent, state, moves = make_agent(spec, game), game.initial_state(), []
        agent.reset(7)
        for speed in speeds:
            if game.is_terminal(state):
                break
            agent.compiled = speed
            moves.append(agent.choose(state))
            state = game.step(state, moves[-1])
        return moves

    plies = game.max_plies
    interpreted = play([False] * plies)
    assert play([True] * plies) == interpreted
    assert play(([False] * 3 + [True] * 2) * plies) == interpreted


_PROGRAM = """
import json
from board_agents import make_agent
from board_agents.search.mcts import make_simulate
from board_agents.search.alpha_beta_kernel import make_search
from board_envs import make_game
game = make_game("connect-four", rows=4, columns=4, connect=3)
actions = [make_agent(spec, game).act({}, game.initial_state()) for spec in ("alpha-beta:depth=6", "minimax:depth=5")]
agent = make_agent("mcts:simulations=500", game)
agent.reset(3)
actions.append(agent.act({}, game.initial_state()))
misses = 0
for kernel in (make_search(game, "default"), make_simulate(game)):
    misses += sum(kernel.dispatcher.stats.cache_misses.values())
print(json.dumps([actions, misses]))
"""


def test_a_second_process_compiles_nothing_and_plays_the_same():
    def run():
        command = [sys.executable, "-W", "error", "-c", _PROGRAM]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    before, after = run(), run()
    assert after == [before[0], 0]
