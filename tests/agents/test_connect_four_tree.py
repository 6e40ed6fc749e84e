"""The tree of the Connect Four source."""

import json
from pathlib import Path

import pytest
from agents_common import random_positions

from board_agents import make_agent
from board_agents.games.connect_four.document_tree import build_tree, choose_column
from board_envs import make_game
from board_envs.types import SpecError

FACTS = json.loads((Path(__file__).parents[1] / "data" / "search_seed_facts.json").read_text(encoding="utf-8"))[
    "connect_four"
]
GAME = make_game("connect-four")


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_scores_children_and_size(depth):
    for text, key in (("", "minimax_empty_player_1"), (FACTS["example"], "minimax_example_player_2")):
        state = GAME.parse(text) if text else GAME.initial_state()
        value, column, scores = FACTS[key][str(depth)]
        tree = build_tree(GAME, state, depth)
        assert tree.column == -1
        assert tree.score == value
        assert [child.score for child in tree.children] == scores
        assert [child.column for child in tree.children] == list(range(7))
        chosen = tree.lowest() if not text else tree.highest()
        assert chosen == (column, value)
        assert choose_column(GAME, state, depth) == column
    assert build_tree(GAME, GAME.initial_state(), depth).count() == FACTS["tree_nodes"][depth - 1]


def test_the_tree_has_the_values_of_minimax_and_ends_where_games_end():
    for state in random_positions(GAME, 20, seed=3):
        tree, result = build_tree(GAME, state, 3), make_agent("minimax:depth=3", GAME).analyse(state)
        assert tree.score == result.value_for(1)
        assert choose_column(GAME, state, 3) == result.action

        def check(node, position, depth):
            assert bool(node.children) == (depth > 0 and not GAME.is_terminal(position))
            for child in node.children:
                after = GAME.step(position, child.column)
                if GAME.is_terminal(after):
                    assert child.children == ()
                check(child, after, depth - 1)

        check(tree, state, 3)


def test_what_is_refused():
    with pytest.raises(SpecError, match="Connect Four"):
        build_tree(make_game("nim"), make_game("nim").initial_state(), 2)
    with pytest.raises(ValueError, match="depth must be"):
        build_tree(GAME, GAME.initial_state(), 0)
