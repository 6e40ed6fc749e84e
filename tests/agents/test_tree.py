"""Exploration trees: values, drawings, and the trees of the source documents."""

import xml.etree.ElementTree as ET
from typing import NamedTuple

import numpy as np
import pytest
from agents_common import GAMES, random_positions

from board_agents import make_agent
from board_agents.games.connect_four.document_tree import build_tree as document_tree
from board_agents.search.evaluations import named_evaluation, win_value
from board_agents.search.tree import build_tree
from board_envs import make_game
from board_envs.game import Game
from board_envs.types import PositionError, Rules, SpecError

REVERSI, CONNECT_FOUR = make_game("reversi"), make_game("connect-four")


def naive(game, state, depth, evaluate):
    """The documents' minimax in player_0's view, from the game's public functions alone."""
    if game.is_terminal(state):
        base, step = win_value(game).base, win_value(game).step
        won = game.returns(state)[0]
        return won * (base + step * depth) if won else evaluate(state)
    if depth == 0:
        return evaluate(state)
    values = [naive(game, game.step(state, action), depth - 1, evaluate) for action in game.legal_actions(state)]
    return max(values) if game.current_player(state) == 0 else min(values)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_values_are_those_of_a_naive_search_and_of_minimax(game):
    evaluate = named_evaluation(game, "default")
    agent = make_agent("minimax:depth=2", game)
    for state in random_positions(game, 6, seed=7):
        tree = build_tree(game, state, 2)
        assert tree.value == naive(game, state, 2, evaluate)
        assert [child.action for child in tree.children] == game.legal_actions(state)
        assert [child.move for child in tree.children] == [
            game.action_to_text(state, action) for action in game.legal_actions(state)
        ]
        for child in tree.children:
            assert game.same_position(child.state, game.step(state, child.action))
            assert child.value == naive(game, child.state, 1, evaluate)
        found = agent.analyse(state)
        assert tree.value == found.value_for(0)
        sign = 1 if tree.seat == 0 else -1
        assert {child.action: sign * child.value for child in tree.children} == found.values
        assert tree.best is next(child for child in tree.children if child.value == tree.value)
        assert tree.count() == 1 + sum(1 + len(child.children) for child in tree.children)


def test_a_seat_that_is_skipped_has_no_edge():
    # After this move white cannot play, and black moves again.
    game = make_game("reversi", size=4)
    state = next(
        state
        for state in random_positions(game, 400, seed=1)
        if any(
            not game.is_terminal(game.step(state, action))
            and game.current_player(game.step(state, action)) == game.current_player(state)
            for action in game.legal_actions(state)
        )
    )
    tree = build_tree(game, state, 2)
    twice = [child for child in tree.children if child.seat == tree.seat and child.children]
    assert twice
    for child in twice:
        choose = max if child.seat == 0 else min
        assert child.value == choose(grandchild.value for grandchild in child.children)


def test_finished_games_are_leaves_and_a_draw_counts_as_evaluated():
    state = REVERSI.parse("X" * 32 + "O" * 32 + " X")
    tree = build_tree(REVERSI, state, 3)
    assert (tree.children, tree.best, tree.line()) == ((), None, [])
    assert tree.value == named_evaluation(REVERSI, "squares")(state)
    assert build_tree(REVERSI, REVERSI.parse("X" * 40 + "O" * 24 + " X"), 1).value == 10_000
    assert build_tree(REVERSI, REVERSI.parse("X" * 24 + "O" * 40 + " X"), 1).value == -10_000


def test_the_tree_as_text():
    nim = make_game("nim", heaps=(2, 1))
    # By hand: taking one of the first heap leaves 1, 1, which loses for the player to move.
    assert build_tree(nim, nim.initial_state(), 2, "zero").draw().splitlines() == [
        "0 player_0 chooses the highest",
        "├─ 1:1: 0 player_1 chooses the lowest *",
        "│  ├─ 1:1: 0 *",
        "│  └─ 2:1: 0",
        "├─ 1:2: -10000 player_1 chooses the lowest",
        "│  └─ 2:1: -10000 *",
        "└─ 2:1: -10000 player_1 chooses the lowest",
        "   ├─ 1:1: 0",
        "   └─ 1:2: -10000 *",
    ]
    assert build_tree(nim, nim.initial_state(), 3, "zero").line() == ["1:1", "1:1", "2:1"]


def test_the_tree_as_a_picture_shows_every_node_and_edge():
    tree = build_tree(CONNECT_FOUR, CONNECT_FOUR.initial_state(), 2)
    image = ET.fromstring(tree.svg())
    space = "{http://www.w3.org/2000/svg}"
    labels = [label.text for label in image.iter(f"{space}text")]
    assert len(list(image.iter(f"{space}circle"))) == 8  # the nodes with children
    assert len(labels) == 57 + 56  # a value a node, a move an edge
    assert labels.count("4") == 7 + 1 + sum(leaf.value == 4 for leaf in tree.leaves())  # column 4 of each inner node
    width, height = map(float, image.get("viewBox").split()[2:])
    for shape in image.iter():
        if shape.get("x"):
            assert 0 <= float(shape.get("x")) <= width
            assert 0 <= float(shape.get("y")) <= height


def test_a_matrix_of_weights_is_an_evaluation(tmp_path):
    weights = [[row * column % 7 - 3 for column in range(8)] for row in range(8)]
    text = "/".join(" ".join(map(str, row)) for row in weights)
    file = tmp_path / "mine.py"
    file.write_text(f"F = {weights}\n", encoding="utf-8")
    agents = [
        make_agent(f"minimax:depth=1,evaluation={text}", REVERSI),
        make_agent(f"minimax:depth=1,evaluation={file}:F", REVERSI),
    ]
    kind = type(agents[0])
    agents.append(kind(REVERSI, depth=1, evaluation=weights))
    for state in random_positions(REVERSI, 10, seed=2):
        # The document's f: the sum of p[i][j] F[i][j], black 1 and white -1.
        planes = REVERSI.observe(state, 0).astype(int)
        expected = sum(int(planes[i, j, 0] - planes[i, j, 1]) * weights[i][j] for i in range(8) for j in range(8))
        assert build_tree(REVERSI, state, 0, weights).value == expected
        values = [agent.analyse(state).values for agent in agents]
        assert values[0] == values[1] == values[2]
        children = [build_tree(REVERSI, REVERSI.step(state, a), 0, text).value for a in values[0]]
        sign = 1 if REVERSI.current_player(state) == 0 else -1
        assert [sign * value for value in children] == list(values[0].values())


def test_connect_fours_cells_take_weights_too():
    from board_envs.games.connect_four import alignments

    state = CONNECT_FOUR.from_moves("344")
    assert build_tree(CONNECT_FOUR, state, 0, alignments()).value == 8
    assert build_tree(CONNECT_FOUR, state, 2, alignments()).value == build_tree(CONNECT_FOUR, state, 2, "grid").value


def test_compiled_search_takes_weights_and_keeps_two_matrices_apart():
    pytest.importorskip("numba")
    game = make_game("reversi", size=4)
    states = random_positions(game, 5, seed=4)
    found = []
    for corner in ("9", "-9"):
        spec = f"minimax:depth=2,evaluation={corner} 1 1 2/3 1 1 1/1 1 1 1/1 1 1 4,compiled="
        plain, compiled = make_agent(spec + "false", game), make_agent(spec + "true", game)
        found.append([compiled.analyse(state).values for state in states])
        assert found[-1] == [plain.analyse(state).values for state in states]
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("game", "evaluation", "why"),
    [
        (REVERSI, "1 2/3 4", "8 rows of 8, not 2 of 2"),
        (REVERSI, "/".join(["1 2 3 4 5 6 7 -"] * 8), "a weight is a whole number from .* not '-'"),
        (REVERSI, [[0.5] * 8] * 8, "a weight is a whole number from .* not 0.5"),
        (REVERSI, [[10**6 + 1] * 8] * 8, "not '1000001'"),
        (REVERSI, 3.5, "a name, a function of a state or a matrix of weights, not 3.5"),
        (REVERSI, "math:pi", "'math:pi' is neither a function of a state nor a matrix of weights, but 3.14"),
        (make_game("nim"), [[1, 2, 3]], "nim has no evaluation by a matrix of weights"),
    ],
)
def test_weights_that_are_refused(game, evaluation, why):
    with pytest.raises(SpecError, match=why):
        build_tree(game, game.initial_state(), 1, evaluation)


def test_what_else_is_refused():
    with pytest.raises(ValueError, match=r"tree: depth 3 from .* has more than 100 positions; use a smaller depth"):
        build_tree(CONNECT_FOUR, CONNECT_FOUR.initial_state(), 3, nodes=100)
    assert build_tree(CONNECT_FOUR, CONNECT_FOUR.initial_state(), 2, nodes=57).count() == 57
    with pytest.raises(ValueError, match="depth must be"):
        build_tree(CONNECT_FOUR, CONNECT_FOUR.initial_state(), -1)
    with pytest.raises(SpecError, match="evaluations: grid"):
        build_tree(CONNECT_FOUR, CONNECT_FOUR.initial_state(), 1, "nothing")
    with pytest.raises(PositionError):
        build_tree(CONNECT_FOUR, REVERSI.initial_state(), 1)


class Place(NamedTuple):
    """A node of the figure: the numbers of the edges from the root as digits, and who is to move."""

    path: np.uint64
    seat: int


class PlaceNotation:
    legend = "c1, c2 or c3"

    def parse(self, text):
        path, seat = text.split()
        return Place(np.uint64(path), int(seat))

    def format(self, state):
        return f"{state.path} {state.seat}"

    def action_to_text(self, state, action):
        return f"c{action + 1}"

    def text_to_action(self, state, text):
        return int(text[1:]) - 1

    def draw(self, state):
        return self.format(state)

    def split_moves(self, text):
        return text.split()

    def join_moves(self, moves):
        return " ".join(moves)


def figure_game():
    """The tree of figure 5: J1 has three moves, the first ends the game and loses; then two moves each, twice."""

    def count(state):
        path = int(state.path)
        return 3 if path == 0 else 0 if path == 1 or path > 100 else 2

    def pack(state, out):
        out[0], out[1] = state.path, np.uint64(state.seat)

    rules = Rules(
        initial=lambda: Place(np.uint64(0), 0),
        to_play=lambda state: state.seat,
        count=count,
        nth=lambda state, k: k,
        is_legal=lambda state, action: action < count(state),
        write_mask=lambda state, out: out.__setitem__(slice(None), [k < count(state) for k in range(3)]),
        step=lambda state, action: Place(np.uint64(10 * int(state.path) + action + 1), 1 - state.seat),
        winner=lambda state: 1 if int(state.path) == 1 else -1,
        margin=lambda state: 0,
        observe=lambda state, seat, out: None,
        pack=pack,
        unpack=lambda words, memory: Place(words[0], int(words[1])),
        words=2,
    )
    return Game("figure", {}, rules, PlaceNotation(), 3, (1,), 1, 3, "win", lambda seen, seat: None, tuple)


def test_figures_5_and_6_of_the_reversi_document():
    """Nine leaves; a lost game counts -10000, the others f; levels choose max, min, max; J1 takes the third move."""
    f = {211: 3, 212: 5, 221: 2, 222: 9, 311: 4, 312: 7, 321: 8, 322: 6}  # the figure's own numbers are lost
    game = figure_game()
    tree = build_tree(game, game.initial_state(), 3, lambda state: f[int(state.path)])
    assert [leaf.value for leaf in tree.leaves()] == [-10000, *f.values()]
    assert tree.draw().splitlines() == [
        "7 player_0 chooses the highest",
        "├─ c1: -10000",
        "├─ c2: 5 player_1 chooses the lowest",
        "│  ├─ c1: 5 player_0 chooses the highest *",
        "│  │  ├─ c1: 3",
        "│  │  └─ c2: 5 *",
        "│  └─ c2: 9 player_0 chooses the highest",
        "│     ├─ c1: 2",
        "│     └─ c2: 9 *",
        "└─ c3: 7 player_1 chooses the lowest *",
        "   ├─ c1: 7 player_0 chooses the highest *",
        "   │  ├─ c1: 4",
        "   │  └─ c2: 7 *",
        "   └─ c2: 8 player_0 chooses the highest",
        "      ├─ c1: 8 *",
        "      └─ c2: 6",
    ]


def test_figure_3_of_the_connect_four_document():
    """The root is no move, and the columns of its children and of theirs are 0 to 6, as far as it shows them."""
    tree = document_tree(CONNECT_FOUR, CONNECT_FOUR.initial_state(), 2)
    assert (tree.column, [child.column for child in tree.children]) == (-1, list(range(7)))
    assert all([after.column for after in child.children] == list(range(7)) for child in tree.children)
    drawn = build_tree(CONNECT_FOUR, CONNECT_FOUR.initial_state(), 2, "grid").draw().splitlines()
    assert len(drawn) == 57
    assert [line.split(":")[0] for line in drawn if line[0] in "├└"] == [*(f"├─ {k}" for k in range(1, 7)), "└─ 7"]
