"""Minimax and alpha-beta: the sources' worked examples, a naive search as reference, ties, bounds, win distances."""

import contextlib
import json
import math
from pathlib import Path

import numpy as np
import pytest
from agents_common import GAMES, identify, random_positions

from board_agents import make_agent
from board_agents.agent import observation_of
from board_agents.games.reversi.square_evaluation import square_weights
from board_agents.search.alpha_beta import AlphaBetaAgent
from board_agents.search.evaluations import evaluation_names, named_evaluation, win_value
from board_agents.search.minimax import GreedyAgent, MinimaxAgent
from board_envs import make_game
from board_envs.games.connect_four import alignments

FACTS = json.loads((Path(__file__).parents[1] / "data" / "search_seed_facts.json").read_text(encoding="utf-8"))
CONNECT_FOUR = make_game("connect-four")


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("position", "key"),
    [("", "minimax_empty_player_1"), (FACTS["connect_four"]["example"], "minimax_example_player_2")],
)
def test_the_values_of_the_connect_four_source(position, key, depth):
    state = CONNECT_FOUR.parse(position) if position else CONNECT_FOUR.initial_state()
    value, column, children = FACTS["connect_four"][key][str(depth)]
    result = make_agent(f"minimax:depth={depth}", CONNECT_FOUR).analyse(state)
    seat = CONNECT_FOUR.current_player(state)
    # The source counts for its player 2, our seat 1.
    assert result.value_for(1) == value
    assert result.action == column
    assert [child if seat == 1 else -child for child in result.values.values()] == children
    if not position:
        assert result.nodes == FACTS["connect_four"]["tree_nodes"][depth - 1]
    cut = make_agent(f"alpha-beta:depth={depth}", CONNECT_FOUR).analyse(state)
    assert (cut.value_for(1), cut.action) == (value, column)


def naive(game, state, depth, evaluate):
    """Value in player_0's view by the sources' rule, through the public interface alone."""
    win = win_value(game)
    winner = int(game.winner(state))
    if winner in (0, 1):
        return (1 - 2 * winner) * (win.base + win.step * depth)
    if winner == 2 or depth == 0:
        return evaluate(state)
    values = [naive(game, game.step(state, action), depth - 1, evaluate) for action in game.legal_actions(state)]
    return max(values) if game.current_player(state) == 0 else min(values)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_minimax_and_alpha_beta_equal_a_naive_search(game):
    for name in evaluation_names(game):
        evaluate = named_evaluation(game, name)
        for number, state in enumerate(random_positions(game, 12, seed=4)):
            depth = 1 + number % 3
            sign = 1 - 2 * game.current_player(state)
            children = {
                action: sign * naive(game, game.step(state, action), depth - 1, evaluate)
                for action in game.legal_actions(state)
            }
            full = MinimaxAgent(game, depth=depth, evaluation=name).analyse(state)
            cut = AlphaBetaAgent(game, depth=depth, evaluation=name).analyse(state)
            assert full.values == children
            assert full.value == max(children.values()) == children[full.action]
            assert (cut.value, cut.action) == (full.value, full.action)
            # What alpha-beta calls a value is one.
            assert all(children[action] == value for action, value in cut.values.items())
            assert cut.nodes <= full.nodes
            for result in (full, cut):
                end = state
                for action in result.line:
                    end = game.step(end, action)
                rest = depth - len(result.line)
                assert rest == 0 or game.is_terminal(end)
                assert sign * naive(game, end, rest, evaluate) == result.value


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_random_ties_are_drawn_from_all_best_actions(game):
    for state in random_positions(game, 8, seed=6):
        full = MinimaxAgent(game, depth=2).analyse(state)
        chosen = {agent: set() for agent in (MinimaxAgent, AlphaBetaAgent)}
        for kind, actions in chosen.items():
            agent = kind(game, depth=2, ties="random")
            for seed in range(25):
                agent.reset(seed)
                actions.add(agent.act(observation_of(game, state), state))
        for actions in chosen.values():
            assert {full.values[action] for action in actions} == {full.value}
        assert chosen[MinimaxAgent] == chosen[AlphaBetaAgent]


@pytest.mark.parametrize("spec", ["minimax", "alpha-beta"])
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_the_fastest_win_is_taken(spec, depth):
    assert (
        make_agent(f"{spec}:depth={depth},compiled=false", CONNECT_FOUR).act({}, CONNECT_FOUR.from_moves("121212")) == 0
    )
    # Taking all five wins at once; leaving one object and the like never does.
    nim = make_game("nim", heaps=(5, 1, 1))
    state = nim.parse("5,0,0 0")
    assert nim.action_to_text(state, make_agent(f"{spec}:depth={depth},compiled=false", nim).act({}, state)) == "1:5"


@pytest.mark.parametrize("spec", ["minimax", "alpha-beta"])
def test_reversi_takes_the_faster_of_two_wins_of_equal_value(spec):
    game = make_game("reversi", size=4)
    agent = make_agent(f"{spec}:depth=6,compiled=false", game)
    checked = 0
    for state in random_positions(game, 60, seed=9):
        result = make_agent("minimax:depth=6,compiled=false", game).analyse(state)
        if abs(result.value) != 10_000 or len(result.values) < 2:
            continue
        distances = {
            action: distance(game, game.step(state, action), 5)
            for action, value in result.values.items()
            if value == result.value
        }
        chosen = agent.act({}, state)
        best = min if result.value > 0 else max
        assert distances[chosen] == best(distances.values()), game.format(state)
        checked += len(set(distances.values())) > 1
    assert checked


def distance(game, state, depth):
    """Plies to a decided game when winners hurry and losers delay; the side that wins is the same in all lines."""
    if game.is_terminal(state) or depth == 0:
        return 0
    mover = 1 - 2 * game.current_player(state)
    outcomes = []
    for action in game.legal_actions(state):
        child = game.step(state, action)
        outcomes.append((mover * naive(game, child, depth - 1, game.margin), distance(game, child, depth - 1) + 1))
    value = max(outcome for outcome, _ in outcomes)
    plies = [count for outcome, count in outcomes if outcome == value]
    return min(plies) if value > 0 else max(plies)


@pytest.mark.parametrize("spec", ["minimax:depth=4", "alpha-beta:depth=4", "greedy", "alpha-beta:depth=4,ties=random"])
def test_a_lost_position_still_gets_a_legal_move_and_the_longest_one(spec):
    # O threatens both ends of columns 3 to 5 on the lowest row: X loses at O's next move whatever it plays.
    state = CONNECT_FOUR.parse("-------/-------/-------/-------/--XX---/--OOO-X 0")
    agent = make_agent(spec, CONNECT_FOUR)
    agent.reset(0)
    assert CONNECT_FOUR.is_legal(state, agent.act({}, state))
    # From two heaps of two one loses in two plies, or in four by taking single objects.
    nim = make_game("nim", heaps=(2, 2))
    agent = make_agent(spec, nim)
    agent.reset(0)
    move = nim.action_to_text(nim.initial_state(), agent.act({}, nim.initial_state()))
    assert move in ("1:1", "2:1") or spec == "greedy"


@pytest.mark.parametrize("game", GAMES, ids=repr)
@pytest.mark.parametrize("evaluation", [lambda state: 1e12, lambda state: -math.inf, lambda state: math.inf])
def test_user_evaluations_stay_below_a_win(game, evaluation):
    win = win_value(game)
    for state in random_positions(game, 4, seed=1):
        result = AlphaBetaAgent(game, depth=2, evaluation=evaluation).analyse(state)
        full = MinimaxAgent(game, depth=2, evaluation=evaluation).analyse(state)
        assert result.value == full.value
        assert game.is_legal(state, result.action)
        for action, value in full.values.items():
            child = game.step(state, action)
            if not game.is_terminal(child) and abs(value) < win.base:
                assert abs(value) == win.base - 1


def test_an_evaluation_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="nan"):
        GreedyAgent(CONNECT_FOUR, evaluation=lambda state: math.nan).act({}, CONNECT_FOUR.initial_state())


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_a_search_that_fails_midway_leaves_the_state_as_it_was(game):
    # R083 of the field reports, exceptions and time-outs included.
    calls = []

    def failing(state):
        calls.append(state)
        if len(calls) % 7 == 0:
            raise RuntimeError("no opinion")
        return 0

    for state in random_positions(game, 5, seed=2):
        before = identify(state)
        for kind in (MinimaxAgent, AlphaBetaAgent):
            with contextlib.suppress(RuntimeError):
                kind(game, depth=3, evaluation=failing).act({}, state)
            assert identify(state) == before
        hurried = AlphaBetaAgent(game, seconds=1e-9, compiled=False)
        assert all(game.is_legal(state, hurried.act({}, state)) for _ in range(3))
        assert identify(state) == before
    assert len(calls) >= 7


def test_float_evaluations_come_back_exactly():
    state = CONNECT_FOUR.initial_state()
    evaluate = lambda state: 0.1 * int(state.player_0)  # noqa: E731
    for kind in (MinimaxAgent, AlphaBetaAgent):
        result = kind(CONNECT_FOUR, depth=1, evaluation=evaluate).analyse(state)
        children = [min(99, evaluate(CONNECT_FOUR.step(state, action))) for action in range(7)]
        assert result.value == max(children)


def test_win_values():
    assert win_value(CONNECT_FOUR).base == 100
    assert win_value(CONNECT_FOUR).step == 10
    assert (win_value(make_game("reversi")).base, win_value(make_game("reversi")).step) == (10_000, 0)
    for rows, columns, connect in ((5, 4, 3), (7, 7, 4), (4, 12, 4)):
        counts = np.sort(alignments(rows, columns, connect).ravel())[::-1]
        half = counts.size // 2
        # No grid scores more than the better half of its cells for one player and the rest for the other.
        largest = int(counts[:half].sum() - counts[counts.size - half :].sum())
        if counts.size % 2:
            largest = int(counts[: half + 1].sum() - counts[half + 1 :].sum())
        game = make_game("connect-four", rows=rows, columns=columns, connect=connect)
        assert win_value(game).base == max(100, 1 + largest)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_named_evaluations_are_bounded_below_a_win(game):
    for name in evaluation_names(game):
        evaluate = named_evaluation(game, name)
        for state in random_positions(game, 30, seed=3):
            assert abs(evaluate(state)) < win_value(game).base


@pytest.mark.parametrize("size", [4, 6, 8])
def test_weighted_squares_are_the_sum_of_the_source(size):
    game, weights = make_game("reversi", size=size), square_weights(size)
    assert (weights == weights.T).all()
    assert (weights == weights[::-1]).all()
    assert weights[0, 0] == 100
    evaluate = named_evaluation(game, "squares")
    for state in random_positions(game, 10, seed=5):
        planes = game.observe(state, 0).astype(int)
        assert evaluate(state) == int(((planes[..., 0] - planes[..., 1]) * weights).sum())


@pytest.mark.parametrize("game", [game for game in GAMES if len(game.symmetries()) > 1], ids=repr)
def test_symmetric_positions_have_symmetric_values(game):
    agent = make_agent("minimax:depth=2", game)
    for state in random_positions(game, 5, seed=12):
        seen = observation_of(game, state)
        values = agent.analyse(state).values
        for symmetry in game.symmetries():
            image = game.decode(symmetry.observation(seen["observation"]), game.current_player(state))
            assert agent.analyse(image).values == {symmetry.action(key): value for key, value in values.items()}


@pytest.mark.parametrize("compiled", [False, None])
def test_a_time_limit_searches_deeper_and_deeper(compiled):
    agent = AlphaBetaAgent(CONNECT_FOUR, seconds=0.2, compiled=compiled)
    agent.act({}, CONNECT_FOUR.initial_state())  # compiles, where it does
    result = agent.analyse(CONNECT_FOUR.initial_state())
    assert 1 <= result.depth <= 42
    assert len(result.line) == result.depth
    fixed = AlphaBetaAgent(CONNECT_FOUR, depth=min(result.depth, 5), compiled=compiled)
    if result.depth <= 5:
        assert (result.value, result.action) == (
            fixed.analyse(CONNECT_FOUR.initial_state()).value,
            fixed.act({}, CONNECT_FOUR.initial_state()),
        )
    # Where every line has ended there is nothing deeper to look at.
    late = max(random_positions(CONNECT_FOUR, 100, seed=1), key=lambda state: CONNECT_FOUR.observe(state, 0).sum())
    left = 42 - int(CONNECT_FOUR.observe(late, 0).sum())
    assert left <= 12
    assert AlphaBetaAgent(CONNECT_FOUR, seconds=1000, compiled=compiled).analyse(late).depth <= left
