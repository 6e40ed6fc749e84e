"""Plain grids and the spellings of moves that the source documents use."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from board_envs import make_game
from board_envs.forms import read_one
from board_envs.games import connect_four, reversi
from board_envs.games.reversi import grids
from board_envs.types import IllegalActionError, PositionError

FACTS = json.loads((Path(__file__).parents[1] / "data" / "source_facts.json").read_text(encoding="utf-8"))
REVERSI, CONNECT_FOUR, NIM = make_game("reversi"), make_game("connect-four"), make_game("nim")
EIGHT = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]


def slow_captures(p, square, player):
    """The document's definition, cell by cell: lists alone, nothing of the package."""
    (i, j), found = square, {}
    if p[i][j] != 0:
        return found
    for dx, dy in EIGHT:
        x, y, run = i + dx, j + dy, 0
        while 0 <= x < len(p) and 0 <= y < len(p) and p[x][y] == -player:
            x, y, run = x + dx, y + dy, run + 1
        if run and 0 <= x < len(p) and 0 <= y < len(p) and p[x][y] == player:
            found[dx, dy] = run
    return found


def slow_frontier(p):
    size = len(p)
    inside = lambda x, y: 0 <= x < size and 0 <= y < size  # noqa: E731
    return [
        (i, j)
        for i in range(size)
        for j in range(size)
        if p[i][j] == 0 and any(inside(i + dx, j + dy) and p[i + dx][j + dy] for dx, dy in EIGHT)
    ]


def any_grid(rng, size):
    """A grid that no game need reach."""
    return [[rng.choice((1, -1, 0)) for _ in range(size)] for _ in range(size)]


@pytest.mark.parametrize("size", [4, 6, 8])
@pytest.mark.parametrize("kind", [list, np.array], ids=["lists", "array"])
def test_reversis_functions_on_any_grid_are_the_documents(size, kind):
    rng = random.Random(size)
    for _ in range(40):
        p, player = any_grid(rng, size), rng.choice((1, -1))
        given = kind(p)
        cells = [(i, j) for i in range(size) for j in range(size)]
        assert grids.score(given) == sum(map(sum, p))
        assert grids.frontier(given) == slow_frontier(p)
        playable = [cell for cell in cells if slow_captures(p, cell, player)]
        assert grids.playable(given, player) == playable
        for cell in cells:
            assert grids.captures(given, cell, player) == slow_captures(p, cell, player)
        for square in playable[:3]:
            expected = [row[:] for row in p]
            expected[square[0]][square[1]] = player
            for (dx, dy), run in slow_captures(p, square, player).items():
                for step in range(1, run + 1):
                    expected[square[0] + step * dx][square[1] + step * dy] = player
            assert grids.play(given, square, player).tolist() == expected
        assert np.array(given).tolist() == p, "the given grid is not changed"
        over = not any(slow_captures(p, cell, colour) for cell in cells for colour in (1, -1))
        assert grids.is_over(given) == over


def test_figures_of_the_reversi_document():
    start = reversi.grid_of(REVERSI.initial_state())
    facts = FACTS["reversi"]
    assert grids.playable(start, 1) == [tuple(square) for square in facts["first_moves"]]
    assert len(grids.frontier(start)) == facts["frontier_at_the_start"]
    after = grids.play(start, (2, 3), 1)
    assert grids.score(after) == facts["score_after_d3"]
    assert len(grids.frontier(after)) == facts["frontier_after_d3"]
    for moves in ("c4e3f5b4", "c4e3f5c5"):
        p = reversi.grid_of(REVERSI.from_moves(moves))
        assert grids.captures(p, (1, 4), 1) == {(1, 0): 2}
        assert grids.captures(p, (2, 3), 1) == {(1, 0): 1, (1, 1): 1}


@pytest.mark.parametrize(
    ("call", "error", "why"),
    [
        (lambda p: grids.play(p, (0, 0), 1), IllegalActionError, r"captures nothing on \(0, 0\); playable: \(2, 3\)"),
        (lambda p: grids.playable(p, 2), ValueError, "1 .black. or -1 .white., not 2"),
        (lambda p: grids.captures(p, (8, 0), 1), ValueError, "from 0 to 7"),
        (lambda p: grids.score([[0, 3], [0, 0]]), PositionError, "one of 1, -1, 0, not"),
        (lambda p: reversi.encode_grid([[0, 2], [0, 0]]), PositionError, "one of 1, -1, 0, not"),
        (lambda p: grids.score([[0] * 5] * 5), PositionError, "4, 6 or 8 wide"),
        (lambda p: grids.score([[0], [0, 1]]), PositionError, "rows of one length"),
        (lambda p: connect_four.state_of([[0, 3]]), PositionError, "one of 0, 1, 2, not"),
        (lambda p: connect_four.state_of([0, 1]), PositionError, "rows of cells"),
        (lambda p: connect_four.state_of([[0] * 10] * 6), PositionError, "does not fit 64 bits"),
        (lambda p: connect_four.state_of([[0] * 3] * 3), ValueError, "connect must be"),
        (lambda p: connect_four.state_of([[1] * 7, [0] * 7]), PositionError, "floats"),
    ],
)
def test_what_is_refused(call, error, why):
    with pytest.raises(error, match=why):
        call(reversi.grid_of(REVERSI.initial_state()))


@pytest.mark.parametrize("size", [(6, 7, 4), (4, 5, 3), (1, 8, 2), (7, 8, 4)])
def test_connect_four_grids_hold_what_the_observation_shows(size):
    rows, columns, connect = size
    game, rng = make_game("connect-four", rows=rows, columns=columns, connect=connect), random.Random(1)
    for _ in range(20):
        state = game.initial_state()
        for _ in range(rng.randrange(rows * columns)):
            if not game.is_terminal(state):
                state = game.step(state, rng.choice(game.legal_actions(state)))
        grid = connect_four.grid_of(state, rows, columns)
        planes = game.observe(state, 0)
        assert grid.tolist() == (planes[..., 0] + 2 * planes[..., 1]).tolist()
        assert connect_four.state_of(grid.tolist(), connect) == state


def test_the_grid_of_the_connect_four_document():
    grid = FACTS["connect_four"]["jeu1"]
    state = connect_four.state_of(grid)
    assert connect_four.grid_of(state).tolist() == grid
    assert connect_four.grid_score(state) == FACTS["connect_four"]["jeu1_score"] == -8
    moves = ", ".join(f"({row}, {column})" for row, column in FACTS["connect_four"]["jeu1_cells"])
    assert CONNECT_FOUR.from_moves(moves) == CONNECT_FOUR.from_moves("344") == state


@pytest.mark.parametrize(
    ("game", "theirs", "ours"),
    [
        (REVERSI, "(2, 3) (2,2)(3, 2)", "d3c3c4"),
        (REVERSI, "(3, d) (3,C)(4, c)", "d3c3c4"),
        (CONNECT_FOUR, "(5, 3) (4,3)(5, 0), (3, 3)", "4414"),
        (NIM, "(0, 3) (2, 5), (1,1)", "1:3 3:5 2:1"),
    ],
)
def test_moves_as_the_documents_write_them(game, theirs, ours):
    assert game.read_moves(theirs) == game.read_moves(ours)
    one_by_one = [part + ")" for part in theirs.replace(" ", "").replace("),", ")").split(")")[:-1]]
    assert game.read_moves(one_by_one) == game.read_moves(ours)


@pytest.mark.parametrize(
    ("game", "moves", "why"),
    [
        (REVERSI, "(9, d)", "squares are a1 to h8"),
        (REVERSI, "(0, d)", "squares are a1 to h8"),
        (REVERSI, "(3, z)", "squares are a1 to h8"),
        (CONNECT_FOUR, "(4, 3)", r"\(4, 3\): a stone in column 3 falls to row 5"),
        (CONNECT_FOUR, "(6, 3)", "rows are 0 to 5, columns 0 to 6"),
        (CONNECT_FOUR, "444444(0, 3)", "move 1"),
        (CONNECT_FOUR, ["4"] * 6 + ["(0, 3)"], "move 7 .*column is full"),
        (CONNECT_FOUR, "(5, 3) 4", "no move in parentheses at character 8"),
        (NIM, "(3, 1)", "heaps are 1 to 3"),
        (NIM, "(0, 4)", "from heap 1 one takes 1 to 3 objects"),
        (NIM, "(0, 0)", "from heap 1 one takes 1 to 3 objects"),
        (NIM, "(0, 1) 1:1", "no move in parentheses at character 8"),
    ],
)
def test_moves_that_are_refused(game, moves, why):
    with pytest.raises(IllegalActionError, match=why):
        game.read_moves(moves)


def test_a_pair_alone_is_a_move_of_three_heaps_and_a_position_of_two():
    item = read_one(NIM, "(0, 3)")
    assert (item.form, item.state) == ("moves", NIM.from_moves("1:3"))
    two = make_game("nim", heaps=(3, 4))
    assert read_one(two, "(0, 3)").state == two.parse("0,3")
