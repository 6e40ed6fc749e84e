"""Monte Carlo tree search: both speeds alike, signs, proofs, strength."""

import pytest
from agents_common import GAMES, identify, random_positions

from board_agents import make_agent, make_oracle
from board_agents.agent import observation_of
from board_agents.search.mcts import MctsAgent
from board_agents.search.minimax import MinimaxAgent
from board_envs import make_game
from board_envs.types import SpecError

CONNECT_FOUR = make_game("connect-four")


@pytest.mark.parametrize("game", [make_game("connect-four", rows=4, columns=5, connect=3), make_game("nim")], ids=repr)
def test_compiled_and_interpreted_searches_are_the_same(game):
    pytest.importorskip("numba")
    for number, state in enumerate(random_positions(game, 8, seed=3)):
        results = []
        for compiled in (False, True):
            agent = MctsAgent(game, simulations=60 + 40 * number, compiled=compiled)
            agent.reset(number)
            results.append((agent.analyse(state), agent.stream.counter))
        assert results[0] == results[1]


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_interpreted_search_is_legal_deterministic_and_only_reads(game):
    agent = MctsAgent(game, simulations=40, compiled=False)
    for number, state in enumerate(random_positions(game, 3, seed=5)):
        before = identify(state)
        agent.reset(number)
        result = agent.analyse(state)
        assert identify(state) == before
        assert game.is_legal(state, result.action)
        assert sorted(result.visits) == game.legal_actions(state)
        assert result.simulations - 1 <= sum(result.visits.values()) <= result.simulations
        assert all(-1 <= value <= 1 for value in result.values.values())
        agent.reset(number)
        assert agent.analyse(state) == result


def wins_at_once(state):
    return {
        action
        for action in CONNECT_FOUR.legal_actions(state)
        if CONNECT_FOUR.winner(CONNECT_FOUR.step(state, action)) == CONNECT_FOUR.current_player(state)
    }


def must_block(state):
    """Columns where the other seat would win at once, were it its turn."""
    turned = state._replace(seat=1 - state.seat)
    return wins_at_once(turned)


def test_one_move_wins_and_blocks_are_taken():
    # R110 of the field reports: a wrong sign shows here at once.
    agent = MctsAgent(CONNECT_FOUR, simulations=2000)
    wins = blocks = 0
    for number, state in enumerate(random_positions(CONNECT_FOUR, 300, seed=14)):
        winning, threats = wins_at_once(state), must_block(state)
        if not winning and len(threats) != 1:
            continue
        agent.reset(number)
        action = agent.act(observation_of(CONNECT_FOUR, state), state)
        if winning:
            assert action in winning
            wins += 1
        else:
            block = threats.pop()
            after = CONNECT_FOUR.step(state, block)
            if not wins_at_once(after):
                assert action == block
                blocks += 1
    assert min(wins, blocks) >= 20


@pytest.mark.parametrize("misere", [False, True])
def test_every_won_nim_position_is_won(misere):
    game = make_game("nim", heaps=(3, 4, 5), misere=misere)
    oracle, agent = make_oracle(game), MctsAgent(game, simulations=2000)
    agent.reset(0)
    won = 0
    for a in range(4):
        for b in range(5):
            for c in range(6):
                state = game.parse(f"{a},{b},{c} {(a + b) % 2}")
                if game.is_terminal(state):
                    continue
                values = oracle.action_values(state)
                result = agent.analyse(state)
                # Proofs are never wrong, and where the root is proven its sign is the oracle's.
                assert all(values[action] == value for action, value in result.proven.items())
                if max(values.values()) > 0:
                    assert values[result.action] == 1
                    assert result.value > 0
                    won += 1
    assert won > 90


def test_proofs_agree_with_exhaustive_search():
    game = make_game("connect-four", rows=4, columns=4, connect=3)
    oracle, agent = make_oracle(game, "exhaustive"), MctsAgent(game, simulations=1500)
    proofs = 0
    for number, state in enumerate(random_positions(game, 25, seed=6)):
        agent.reset(number)
        exact, result = oracle.action_values(state), agent.analyse(state)
        for action, outcome in result.proven.items():
            assert (exact[action] > 0) - (exact[action] < 0) == outcome
            proofs += 1
    assert proofs > 30


def test_a_win_in_one_is_taken_beside_a_win_in_three():
    nim = make_game("nim", heaps=(5, 2, 2))
    for text, move in (("5,0,0 0", "1:5"), ("0,2,0 1", "2:2")):
        state = nim.parse(text)
        for seed in range(5):
            agent = MctsAgent(nim, simulations=500, compiled=False)
            agent.reset(seed)
            assert nim.action_to_text(state, agent.act({}, state)) == move


def test_proven_wins_are_the_fastest_and_proven_losses_the_slowest():
    # R114 of the field reports, against the distances of minimax.
    game = make_game("connect-four", rows=4, columns=5, connect=3)
    decided = 0
    for number, state in enumerate(random_positions(game, 60, seed=77)):
        exact = MinimaxAgent(game, depth=4, compiled=False).analyse(state)
        if abs(exact.value) >= 100:
            agent = MctsAgent(game, simulations=2000)
            agent.reset(number)
            assert exact.values[agent.act({}, state)] == exact.value, game.format(state)
            decided += 1
    assert decided > 20


def test_the_search_is_timed_or_counted():
    agent = MctsAgent(CONNECT_FOUR, simulations=123)
    agent.reset(1)
    assert agent.analyse(CONNECT_FOUR.initial_state()).simulations == 123
    agent = MctsAgent(CONNECT_FOUR, seconds=0.05)
    agent.reset(1)
    assert agent.analyse(CONNECT_FOUR.initial_state()).simulations > 0
    for spec in ("mcts:simulations=0", "mcts:seconds=0", "mcts:exploration=-1", "mcts:compiled=perhaps"):
        with pytest.raises(SpecError, match="must be|is a|is true"):
            make_agent(spec, CONNECT_FOUR)


def test_more_simulations_are_stronger_than_few():
    from board_agents.arena import play_game

    points = 0
    for number in range(10):
        specs = ["mcts:simulations=400", "mcts:simulations=20"]
        seat = number % 2
        record = play_game(
            CONNECT_FOUR,
            specs if seat == 0 else specs[::-1],
            names=("first", "second"),
            seeds=(number, number + 100),
        )
        points += record.winner == seat
    assert points >= 7
