"""Connect Four: rules against arrays and OpenSpiel, counts, text, refusals, symmetries, the source's examples."""

import csv
import itertools
import pathlib
import random

import numpy as np
import pyspiel
import pytest

from board_envs import make_game
from board_envs._bits import popcount
from board_envs._jit import kernel
from board_envs.games.connect_four import alignments, grid_score, make
from board_envs.games.connect_four.notation import has_order
from board_envs.games.connect_four.rules import make_has_line
from board_envs.types import IllegalActionError, Outcome, PositionError

DATA = pathlib.Path(__file__).parents[1] / "data"
SIZES = [
    (6, 7, 4),
    (4, 5, 3),
    (7, 8, 4),
    (3, 16, 4),
    (1, 32, 5),
    (15, 4, 8),
    (15, 4, 3),
    (63, 1, 6),
    (31, 2, 2),
    (8, 7, 5),
]
"""(rows, columns, connect): the standard, a small one, and sizes that use all 64 bits (or 63)."""


class ArrayEngine:
    """The rules on a plain array, looking at every line of the board after every move."""

    def __init__(self, rows, columns, connect):
        self.grid = np.full((rows, columns), -1)
        self.connect = connect

    def open_columns(self):
        return [column for column in range(self.grid.shape[1]) if self.grid[0, column] == -1]

    def play(self, column, seat):
        row = max(row for row in range(self.grid.shape[0]) if self.grid[row, column] == -1)
        self.grid[row, column] = seat

    def has_line(self, seat):
        rows, columns = self.grid.shape
        for row, column in itertools.product(range(rows), range(columns)):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                end_row, end_column = row + down * (self.connect - 1), column + right * (self.connect - 1)
                if 0 <= end_row < rows and 0 <= end_column < columns:
                    cells = [(row + down * i, column + right * i) for i in range(self.connect)]
                    if all(self.grid[cell] == seat for cell in cells):
                        return True
        return False


def _perft(game, state, depth):
    if depth == 0:
        return 1
    return sum(_perft(game, game.rules.step(state, action), depth - 1) for action in game.legal_actions(state))


@pytest.mark.parametrize(
    ("size", "counts"),
    [((6, 7, 4), (7, 49, 343, 2401, 16807)), ((4, 5, 3), (5, 25, 125, 625, 3120, 14020))],
)
def test_leaf_counts(size, counts):
    game = make(*size)
    assert tuple(_perft(game, game.initial_state(), depth) for depth in range(1, len(counts) + 1)) == counts


def test_positions_per_ply():
    """Distinct and finished positions; source: Boeck (2025), in agreement with Tromp's counts."""
    game = make()
    level = {game.initial_state()}
    with open(DATA / "connect_four_positions_per_ply.csv") as file:
        for row in itertools.islice(csv.DictReader(file), 8):
            assert len(level) == int(row["total"])
            assert sum(state.winner >= 0 for state in level) == int(row["terminal"])
            level = {game.rules.step(state, action) for state in level for action in game.legal_actions(state)}


@pytest.mark.parametrize("size", SIZES)
def test_random_games_against_arrays(size):
    game, rng, ways = make(*size), random.Random(7), set()
    for _ in range(25):
        state, engine, seat = game.initial_state(), ArrayEngine(*size), 0
        while True:
            assert game.legal_actions(state) == engine.open_columns()
            assert [game.rules.nth(state, k) for k in range(game.rules.count(state))] == engine.open_columns()
            assert game.winner(state) is Outcome.ONGOING
            assert game.returns(state) == (0, 0)
            assert game.current_player(state) == seat
            for view in (0, 1):
                planes = np.stack([engine.grid == view, engine.grid == 1 - view], axis=-1)
                assert np.array_equal(game.observe(state, view), planes)
            assert game.decode(game.observe(state, seat), seat) == state
            assert game.parse(game.format(state)) == state
            column = rng.choice(engine.open_columns())
            state = game.step(state, column)
            engine.play(column, seat)
            if engine.has_line(seat):
                assert game.winner(state) == seat
                assert game.returns(state) == ((1, -1) if seat == 0 else (-1, 1))
                assert game.margin(state) == game.returns(state)[0]
                ways.add("win")
                break
            if not engine.open_columns():
                assert game.winner(state) is Outcome.DRAW
                assert game.returns(state) == (0, 0)
                ways.add("draw")
                break
            seat = 1 - seat
        assert game.is_terminal(state)
        assert not game.legal_mask(state).any()
        assert game.parse(game.format(state)) == state
    assert ways


@pytest.mark.parametrize("size", SIZES)
def test_every_line_and_no_other_is_a_line_interpreted_and_compiled(size):
    """Each line of the board, the borders among them, and each line with one stone missing."""
    pytest.importorskip("numba", reason="needs the extra `fast`")
    rows, columns, connect = size
    test = make_has_line(rows, connect)

    @kernel
    def compiled(boards, out):
        for i in range(boards.shape[0]):
            out[i] = test(boards[i])

    def bit(row, column):
        return 1 << (column * (rows + 1) + rows - 1 - row)

    boards, expected = [], []
    for row, column in itertools.product(range(rows), range(columns)):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            cells = [(row + down * i, column + right * i) for i in range(connect)]
            if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
                line = sum(bit(r, c) for r, c in cells)
                boards += [line, line & ~bit(*cells[connect // 2])]
                expected += [True, False]
    # Random boards of full columns' worth of stones, judged by the array engine.
    rng, engine = random.Random(3), ArrayEngine(*size)
    for _ in range(30):
        engine.grid[:] = [[rng.choice((-1, 0, 0)) for _ in range(columns)] for _ in range(rows)]
        boards.append(sum(bit(r, c) for r, c in zip(*np.nonzero(engine.grid == 0), strict=True)))
        expected.append(engine.has_line(0))
    words, out = np.array(boards, np.uint64), np.zeros(len(boards), np.bool_)
    compiled(words, out)
    assert out.tolist() == expected
    assert [test(word) for word in words] == expected


def test_random_games_against_openspiel():
    game, rng, reference = make(), random.Random(11), pyspiel.load_game("connect_four")
    for _ in range(300):
        state, theirs = game.initial_state(), reference.new_initial_state()
        while not theirs.is_terminal():
            assert game.legal_actions(state) == theirs.legal_actions()
            assert game.current_player(state) == theirs.current_player()
            action = rng.choice(theirs.legal_actions())
            state = game.step(state, action)
            theirs.apply_action(action)
        assert game.is_terminal(state)
        assert list(game.returns(state)) == theirs.returns()


def test_line_is_looked_for_before_the_full_board():
    game, rng = make(4, 4, 3), random.Random(0)
    last_stone_wins = 0
    for _ in range(4000):
        state = game.initial_state()
        while not game.is_terminal(state):
            state = game.step(state, rng.choice(game.legal_actions(state)))
        full = popcount(state.player_0 | state.player_1) == 16
        if full and state.winner != Outcome.DRAW:
            last_stone_wins += 1
            assert state.winner == Outcome.PLAYER_1
            assert game.returns(state) == (-1, 1)
    assert last_stone_wins


@pytest.mark.parametrize("moves", ["1212121", "1122334", "12233434464", "76655454424"])
def test_wins_in_each_direction_for_both_seats(moves):
    game = make()
    assert game.winner(game.from_moves(moves)) is Outcome.PLAYER_0
    assert game.winner(game.from_moves(moves[:-1])) is Outcome.ONGOING
    # A stone out of the way first, and the other seat has the line.
    first = "1" if moves[0] == "7" else "7"
    assert game.winner(game.from_moves(first + moves)) is Outcome.PLAYER_1
    assert game.winner(game.from_moves(first + moves[:-1])) is Outcome.ONGOING


def test_alignments_of_the_source():
    top = [[3, 4, 5, 7, 5, 4, 3], [4, 6, 8, 10, 8, 6, 4], [5, 8, 11, 13, 11, 8, 5]]
    assert alignments().tolist() == top + top[::-1]
    assert alignments()[0, 1] == 4


@pytest.mark.parametrize("size", [(4, 5, 3), (6, 7, 4), (2, 2, 2), (7, 8, 5)])
def test_alignments_sum_to_all_lines(size):
    rows, columns, connect = size
    up, across = max(0, rows - connect + 1), max(0, columns - connect + 1)
    lines = rows * across + columns * up + 2 * up * across
    assert alignments(*size).sum() == connect * lines


def test_grid_score_of_the_source():
    """Player 1 on (5,2) and (4,3), player 2 on (5,3): 7 - (5 + 10)."""
    state = make().parse("-------/-------/-------/-------/---X---/--XO---")
    assert grid_score(state) == -8


@pytest.mark.parametrize("size", [(6, 7, 4), (4, 5, 3), (7, 8, 4)])
def test_grid_score_is_the_weighted_sum(size):
    game, rng, weights = make(*size), random.Random(2), alignments(*size)
    for _ in range(20):
        state = game.initial_state()
        for _ in range(rng.randrange(12)):
            if not game.is_terminal(state):
                state = game.step(state, rng.choice(game.legal_actions(state)))
        planes = game.observe(state, 0).astype(int)
        assert grid_score(state, *size) == ((planes[..., 1] - planes[..., 0]) * weights).sum()


@pytest.mark.parametrize(
    "parameters",
    [
        {"rows": 0},
        {"columns": 0},
        {"rows": 7, "columns": 9},
        {"rows": 64, "columns": 1},
        {"rows": 6, "columns": 10},
        {"connect": 1},
        {"connect": 8},
        {"rows": 1, "columns": 1},
        {"rows": 6.0},
        {"rows": True},
        {"columns": "7"},
    ],
)
def test_sizes_that_are_refused(parameters):
    name = next(iter(parameters))
    with pytest.raises(ValueError, match=r"connect-four: \w+ must be an integer from") as error:
        make_game("connect-four", **parameters)
    assert any(repr(parameters[key]) in str(error.value) for key in parameters), name


EMPTY = "-------/" * 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected 6 rows of 7"),
        ("-------/" * 6, "expected 6 rows"),
        (EMPTY + "--------", "expected 6 rows of 7"),
        (EMPTY + "---Z---", "'Z' is not X, O or -"),
        (EMPTY + "---Х---", "is not X, O or -"),
        ("-------/" * 4 + "---X---/-------", "floats"),
        (EMPTY + "---O---", "0 X and 1 O"),
        (EMPTY + "-X-X---", "2 X and 0 O"),
        (EMPTY + "---X--- 0", "seat 1 is to move"),
        (EMPTY + "---X--- 1 1", "seat 1 is to move"),
        (EMPTY + "---X--- 2", "seat 1 is to move"),
        ("-------/" * 4 + "OOOO---/XXXX---", "both players have 4 in a line"),
        ("-------/" * 4 + "OOO-O--/XXXX--- 0", "floats"),
        ("-------/" * 4 + "OOO----/XXXXO--", "X has won, yet O played after that"),
        ("-------/-------/X-----X/X-O---X/X-O-O-X/XOO-OOX", "no single last stone"),
        ("-------/" * 4 + "X------/O------", "no order of alternate moves"),
        ("-------/" * 3 + "X------/X------/O-----O", "no order of alternate moves"),
    ],
)
def test_positions_that_are_refused(text, reason):
    with pytest.raises(PositionError, match=reason):
        make().parse(text)


def test_one_stone_may_complete_two_lines():
    game = make()
    state = game.from_moves("67662565513665241111374")
    assert state.winner == Outcome.PLAYER_0
    assert game.parse("-----X-/O----O-/X---OX-/O---XO-/XXXXOXO/OXXOOXO 1") == state


def test_order_of_moves_against_all_orders():
    """`has_order` against the set of all boards that play without a goal can build on 3 x 3."""
    seen, level = {("", "", "")}, {("", "", "")}
    for ply in range(9):
        level = {
            (*columns[:k], columns[k] + "XO"[ply % 2], *columns[k + 1 :])
            for columns in level
            for k in range(3)
            if len(columns[k]) < 3
        }
        seen |= level
    stacks = ["".join(stones) for n in range(4) for stones in itertools.product("XO", repeat=n)]
    accepted = 0
    for columns in itertools.product(stacks, repeat=3):
        text = "".join(columns)
        if text.count("X") - text.count("O") in (0, 1):
            assert has_order(list(columns)) == (columns in seen), columns
            accepted += columns in seen
    assert accepted > 500


@pytest.mark.parametrize("move", ["0", "8", "-1", "", "x", "٣", "３", "1.0", "9" * 5000, "+1", "1_0"])
def test_moves_that_are_refused(move):
    game = make()
    with pytest.raises(IllegalActionError, match="is not a column; columns are 1 to 7"):
        game.text_to_action(game.initial_state(), move)


def test_moves_that_are_refused_are_numbered():
    game = make()
    with pytest.raises(IllegalActionError, match=r"move 7 \('4'\)"):
        game.from_moves("4444444")
    with pytest.raises(IllegalActionError, match=r"move 8 \('3'\): the game is over"):
        game.from_moves("12121213")
    with pytest.raises(IllegalActionError, match=r"move 2 \('0'\)"):
        game.from_moves("40")
    with pytest.raises(IllegalActionError, match="legal here: 0, 1, 2"):
        game.step(game.initial_state(), 7)
    full = game.from_moves("444444")
    with pytest.raises(IllegalActionError, match="action 3 is not legal"):
        game.step(full, 3)
    for action in (-1, 3.0, True, "3", None):
        assert not game.is_legal(full, action)


@pytest.mark.parametrize("size", [(6, 7, 4), (3, 16, 4)])
def test_moves_round_trip(size):
    game, rng = make(*size), random.Random(5)
    for _ in range(20):
        state, actions = game.initial_state(), []
        while not game.is_terminal(state):
            actions.append(rng.choice(game.legal_actions(state)))
            state = game.step(state, actions[-1])
        text = game.write_moves(actions)
        assert game.read_moves(text) == actions
        assert game.read_moves(game.notation.split_moves(text)) == actions
        assert game.from_moves(text) == state
    assert make().from_moves("4, 4, 5, 3") == make().from_moves("4,4,5,3") == make().from_moves("4453")


@pytest.mark.parametrize("size", [(6, 7, 4), (4, 5, 3), (3, 16, 4), (5, 1, 3)])
def test_symmetries(size):
    game, rng = make(*size), random.Random(9)
    symmetries = game.symmetries()
    assert len(symmetries) == (1 if size[1] == 1 else 2)
    for symmetry in symmetries:
        state = image = game.initial_state()
        while not game.is_terminal(state):
            seat = game.current_player(state)
            assert np.array_equal(symmetry.observation(game.observe(state, seat)), game.observe(image, seat))
            assert np.array_equal(symmetry.policy(game.legal_mask(state)), game.legal_mask(image))
            action = rng.choice(game.legal_actions(state))
            state, image = game.step(state, action), game.step(image, symmetry.action(action))
            assert game.winner(state) == game.winner(image)


def test_draw_shows_the_board():
    lines = make().draw(make().from_moves("4453")).splitlines()
    assert lines[-1] == "1 2 3 4 5 6 7"
    assert lines[-2] == "- - O X X - -"
    assert lines[-3] == "- - - O - - -"
