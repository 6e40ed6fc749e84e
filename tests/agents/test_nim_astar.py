"""A* in Nim: the notebook's paths and its weakness, figure by figure."""

import json
from pathlib import Path

import pytest

from board_agents import make_agent, make_oracle
from board_agents.games.nim.astar_agent import Node, path_to, plain_estimate, shortest_path, successors, xor_estimate
from board_envs import make_game
from board_envs.types import SpecError

FACTS = json.loads((Path(__file__).parents[1] / "data" / "search_seed_facts.json").read_text(encoding="utf-8"))["nim"]
GAME = make_game("nim", heaps=(7, 7, 7))


def test_the_paths_of_the_notebook():
    assert shortest_path((4, 8, 5)) == [tuple(heaps) for heaps in FACTS["astar_4_8_5"]]
    assert shortest_path((3, 4, 5)) == [tuple(heaps) for heaps in FACTS["astar_3_4_5"]]


def test_moves_come_heap_by_heap():
    assert successors((1, 0, 2)) == [(0, 0, 2), (1, 0, 1), (1, 0, 0)]
    assert len(successors((3, 4, 5))) == 12
    assert successors((0, 0, 0)) == []


def test_it_finds_a_winning_move_in_22_of_448_won_positions():
    oracle, agent = make_oracle(GAME), make_agent("nim-astar", GAME)
    won = found = 0
    for a in range(8):
        for b in range(8):
            for c in range(8):
                if a ^ b ^ c:
                    state = GAME.parse(f"{a},{b},{c}")
                    won += 1
                    found += oracle.action_values(state)[agent.act({}, state)] == 1
    assert won == FACTS["N_positions_heaps_le_7"]
    assert found == FACTS["astar_plays_winning_move"]


def test_the_plain_sum_beside_the_improved_heuristic():
    assert [plain_estimate(heaps) for heaps in ((3, 4, 5), (0, 0, 0), (1, 0, 2))] == [12, 0, 3]
    assert [xor_estimate(heaps) for heaps in ((3, 4, 5), (0, 0, 0), (1, 2, 3))] == [12, 100, 106]
    # What the notebook's own code answers with its first heuristic.
    assert shortest_path((4, 8, 5), plain_estimate) == [(4, 8, 5), (4, 0, 5), (4, 0, 0), (0, 0, 0)]
    assert shortest_path((3, 4, 5), plain_estimate) == [(3, 4, 5), (3, 4, 0), (3, 0, 0), (0, 0, 0)]
    agent = make_agent("nim-astar:heuristic=sum", GAME)
    state = GAME.parse("4,4,5")
    assert GAME.action_to_text(state, agent.act({}, state)) == "3:5"
    with pytest.raises(SpecError, match="xor, sum"):
        make_agent("nim-astar:heuristic=best", GAME)


def test_a_path_is_rebuilt_from_its_last_node():
    """The notebook's example of `reconstruire_chemin`."""
    first = Node(12, (3, 4, 5), 0, None)
    last = Node(9, (3, 4, 0), 2, Node(12, (3, 4, 4), 1, first))
    assert path_to(last) == [(3, 4, 5), (3, 4, 4), (3, 4, 0)]
    assert path_to(first) == [(3, 4, 5)]


def winner_from(state, agents):
    while not GAME.is_terminal(state):
        state = GAME.step(state, agents[GAME.current_player(state)].act({}, state))
    return int(GAME.winner(state))


def starts():
    heaps = [(a, b, c) for a in range(1, 8) for b in range(1, 8) for c in range(1, 8) if a ^ b ^ c]
    assert len(heaps) == 301
    return [GAME.parse(f"{a},{b},{c}") for a, b, c in heaps]


def test_the_matches_over_all_301_won_starts():
    astar, xor, chance = (make_agent(spec, GAME) for spec in ("nim-astar", "nim-xor", "random"))
    chance.reset(0)
    expected = FACTS["matches_301_starts_winning_for_first"]

    def first_wins(first, second):
        return sum(winner_from(state, (first, second)) == 0 for state in starts())

    # Perfect play wins every won start, from A* and from chance alike.
    assert first_wins(xor, astar) == expected["optimal first vs astar"] == 301
    assert first_wins(xor, chance) == expected["optimal first vs random"] == 301
    # How often A* escapes depends on what a perfect player does when lost; it is next to never.
    assert first_wins(astar, xor) <= 10
    # A binomial of 301 has a standard deviation below 9.
    assert abs(first_wins(astar, chance) - expected["astar first vs random"]) < 45
    assert abs(first_wins(chance, astar) - expected["random first vs astar"]) < 45
    assert abs(first_wins(chance, chance) - expected["random first vs random"]) < 45


def test_only_small_nim_is_taken():
    with pytest.raises(SpecError, match="too many"):
        make_agent("nim-astar", make_game("nim", heaps=(100, 100, 100)))
    with pytest.raises(SpecError, match="plays Nim only"):
        make_agent("nim-astar", make_game("connect-four"))
