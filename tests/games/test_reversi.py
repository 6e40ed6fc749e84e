"""Reversi's rules, board functions and notation against a slow generator, OpenSpiel and recorded games."""

from __future__ import annotations

import functools
import json
import pathlib
import random

import numpy as np
import pytest

import board_envs.games.reversi as reversi
from board_envs import make_game
from board_envs._jit import jitable, kernel
from board_envs.games.reversi.moves import flipped, legal_moves
from board_envs.games.reversi.rules import board_mask
from board_envs.types import IllegalActionError, Outcome, PositionError

DATA = pathlib.Path(__file__).parent.parent / "data"
SIZES = (4, 6, 8)
STEPS = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]


# -- an independent slow generator ------------------------------------------------------------------------------------


def slow_captures(grid, row, column, colour):
    size, found = len(grid), {}
    if grid[row][column]:
        return found
    for down, right in STEPS:
        run, r, c = [], row + down, column + right
        while 0 <= r < size and 0 <= c < size and grid[r][c] == -colour:
            run.append((r, c))
            r, c = r + down, c + right
        if run and 0 <= r < size and 0 <= c < size and grid[r][c] == colour:
            found[down, right] = run
    return found


def slow_legal(grid, colour):
    size = len(grid)
    return [(r, c) for r in range(size) for c in range(size) if slow_captures(grid, r, c, colour)]


def slow_play(grid, square, colour):
    grid = [list(row) for row in grid]
    for run in slow_captures(grid, *square, colour).values():
        for r, c in run:
            grid[r][c] = colour
    grid[square[0]][square[1]] = colour
    following = -colour
    if not slow_legal(grid, following) and slow_legal(grid, colour):
        following = colour
    return grid, following


def slow_start(size):
    grid = [[0] * size for _ in range(size)]
    middle = size // 2
    grid[middle - 1][middle] = grid[middle][middle - 1] = 1
    grid[middle - 1][middle - 1] = grid[middle][middle] = -1
    return grid


@pytest.mark.parametrize("size", SIZES)
def test_random_games_equal_the_slow_generator(size):
    """Mask, step, captures, frontier, score, winner, code, text and observation at each position of random games."""
    game = make_game("reversi", size=size)
    chance = random.Random(size)
    again = 0
    for _ in range(60 if size < 8 else 25):
        state, grid, colour = game.initial_state(), slow_start(size), 1
        while True:
            squares = slow_legal(grid, colour)
            assert reversi.playable_squares(state) == squares
            assert game.legal_actions(state) == [r * size + c for r, c in squares]
            assert [game.rules.nth(state, k) for k in range(len(squares))] == game.legal_actions(state)
            assert reversi.grid_of(state, size).tolist() == grid
            assert reversi.score(state, size=size) == game.margin(state) == sum(map(sum, grid))
            touched = {
                (r, c)
                for r in range(size)
                for c in range(size)
                if not grid[r][c]
                and any(0 <= r + a < size and 0 <= c + b < size and grid[r + a][c + b] for a, b in STEPS)
            }
            assert set(reversi.frontier_squares(state, size)) == touched
            assert set(squares) <= touched
            code = reversi.encode(state, size)
            assert code == sum((grid[i][j] + 1) * 3 ** (size * i + j) for i in range(size) for j in range(size))
            assert reversi.decode(code, state.seat, size) == state
            assert game.parse(game.format(state)) == state
            for seat in (0, 1):
                seen = game.observe(state, seat)
                own = np.array(grid) * (1 if seat == 0 else -1)
                assert np.array_equal(seen[..., 0], own == 1)
                assert np.array_equal(seen[..., 1], own == -1)
            if not squares:
                break
            assert game.winner(state) == Outcome.ONGOING
            assert game.decode(game.observe(state, state.seat), state.seat) == state
            square = chance.choice(squares)
            runs = slow_captures(grid, *square, colour)
            assert reversi.captures(state, square, size) == {step: len(run) for step, run in runs.items()}
            assert set(reversi.capture_directions(state, square, size)) == set(runs)
            assert reversi.flipped_squares(state, square, size) == sorted(disc for run in runs.values() for disc in run)
            before = colour
            grid, colour = slow_play(grid, square, colour)
            after = game.step(state, square[0] * size + square[1])
            discs = [int(word).bit_count() for word in (*state[:2], *after[:2])]
            assert sum(discs[2:]) == sum(discs[:2]) + 1
            state = after
            assert state.seat == (0 if colour == 1 else 1) or not state.moves
            again += colour == before
        total = sum(map(sum, grid))
        assert game.winner(state) == (
            Outcome.DRAW if total == 0 else Outcome.PLAYER_0 if total > 0 else Outcome.PLAYER_1
        )
        assert game.returns(state) == ((total > 0) - (total < 0), (total < 0) - (total > 0))
        assert not game.legal_mask(state).any()
    assert again > 0


def test_openspiel_agrees():
    """Mask, step, mover and result of 400 random games; OpenSpiel's pass (action 64) is where ours skips."""
    pyspiel = pytest.importorskip("pyspiel")
    game, theirs = make_game("reversi"), pyspiel.load_game("othello")
    chance = random.Random(1)
    passes = 0
    for _ in range(400):
        state, other = game.initial_state(), theirs.new_initial_state()
        while not other.is_terminal():
            legal = other.legal_actions()
            if legal == [64]:
                other.apply_action(64)
                passes += 1
                continue
            assert other.current_player() == state.seat
            assert game.legal_actions(state) == sorted(legal)
            action = chance.choice(legal)
            state = game.step(state, action)
            other.apply_action(action)
        assert game.is_terminal(state)
        assert list(game.returns(state)) == other.returns()
    assert passes > 100


# -- leaf counts ------------------------------------------------------------------------------------------------------

PERFT = json.loads((DATA / "reversi_perft.json").read_text())


@functools.cache
def make_perft(size):
    """A compiled leaf counter: one count with the games that are over before, one without them."""
    pytest.importorskip("numba", reason="needs the extra `fast`")
    board = board_mask(size)

    @jitable
    def turn(own, other, square):
        discs = flipped(own, other, square)
        return own | discs | (np.uint64(1) << np.uint64(square)), other & ~discs

    def count(own, other, depth, out):
        # An explicit stack: a word a level of moves still to play.
        owns = np.zeros(depth + 1, np.uint64)
        others = np.zeros(depth + 1, np.uint64)
        left = np.zeros(depth + 1, np.uint64)
        waiting = np.zeros(depth + 1, np.int8)
        level = 0
        owns[0], others[0] = own, other
        waiting[0] = 1
        while level >= 0:
            if waiting[level] == 1:
                waiting[level] = 0
                if level == depth:
                    out[0] += 1
                    out[1] += 1
                    level -= 1
                    continue
                left[level] = legal_moves(owns[level], others[level]) & board
                if left[level] == np.uint64(0):
                    if (legal_moves(others[level], owns[level]) & board) == np.uint64(0):
                        out[0] += 1
                        level -= 1
                        continue
                    owns[level + 1], others[level + 1] = others[level], owns[level]
                    waiting[level + 1] = 1
                    level += 1
                    continue
            elif left[level] == np.uint64(0):
                level -= 1
                continue
            square = 0
            while (left[level] >> np.uint64(square)) & np.uint64(1) == np.uint64(0):
                square += 1
            left[level] &= left[level] - np.uint64(1)
            mine, theirs = turn(owns[level], others[level], square)
            owns[level + 1], others[level + 1] = theirs, mine
            waiting[level + 1] = 1
            level += 1

    return kernel(count)


def test_leaf_counts_of_the_standard_board():
    state = make_game("reversi").initial_state()
    for depth in range(1, 11):
        out = np.zeros(2, np.int64)
        make_perft(8)(state.black, state.white, depth, out)
        assert out.tolist() == [PERFT["paths"][depth], PERFT["paths_excl_finished"][depth]]


@pytest.mark.parametrize(("size", "depth"), [(4, 12), (6, 6)])
def test_leaf_counts_of_small_boards_equal_the_slow_generator(size, depth):
    state = make_game("reversi", size=size).initial_state()

    def slow(grid, colour, plies):
        if plies == 0:
            return 1
        squares = slow_legal(grid, colour)
        if not squares:
            return 1 if not slow_legal(grid, -colour) else slow(grid, -colour, plies - 1)
        total = 0
        for square in squares:
            total += slow(slow_play(grid, square, colour)[0], -colour, plies - 1)
        return total

    for plies in range(1, 6):
        out = np.zeros(2, np.int64)
        make_perft(size)(state.black, state.white, plies, out)
        assert out[0] == slow(slow_start(size), 1, plies)
    out = np.zeros(2, np.int64)
    make_perft(size)(state.black, state.white, depth, out)
    assert out[0] > out[1] > 0 or size == 6


def test_interpreted_leaf_counts():
    game = make_game("reversi")
    step, states = game.rules.step, [game.initial_state()]
    for expected in (4, 12, 56, 244, 1396, 8200):
        states = [step(state, action) for state in states for action in game.legal_actions(state)]
        assert len(states) == expected


# -- recorded and extreme games ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", json.loads((DATA / "reversi_games.json").read_text()), ids=lambda r: r["moves"][:18])
def test_recorded_games(record):
    """Shortest games, draws, runs of passes, early ends: seats, discs, scores, with the passes named and without."""
    game = make_game("reversi")
    state, passes, written = game.initial_state(), [], []
    moves = game.notation.split_moves(record["moves"])
    for ply, move in enumerate(moves):
        seat = state.seat
        assert not game.is_terminal(state)
        state = game.step(state, game.text_to_action(state, move))
        written.append(move)
        if not game.is_terminal(state) and state.seat == seat:
            passes.append([ply + 1, "XO"[1 - seat]])
            written.append("--")
    assert game.is_terminal(state)
    assert passes == record["passes"]
    assert (int(state.black).bit_count(), int(state.white).bit_count()) == (record["black"], record["white"])
    assert reversi.score(state) == record["raw_diff"]
    assert game.returns(state)[0] == np.sign(record["raw_diff"])
    if "diff_empties_to_winner" in record:
        assert reversi.score(state, "empties-to-winner") == record["diff_empties_to_winner"]
    if "black_score" in record:  # the federation's: squares to the winner, 32 each for a draw
        assert reversi.score(state, "empties-to-winner") == 2 * record["black_score"] - 64
    for text in (record["moves"], record["moves"].upper(), " ".join(moves), "".join(written), " ".join(written)):
        assert game.from_moves(text) == state
    assert game.write_moves(game.read_moves(record["moves"])) == record["moves"]


def test_a_pass_is_read_only_where_it_is_forced():
    game = make_game("reversi")
    for text in ("d3--c3", "--d3", "d3passpass", "d3 c3 -- c4", "d3,pa,c3"):
        with pytest.raises(IllegalActionError):
            game.from_moves(text)
    over = "d3c3b3d2e1d6d7e3f4"
    assert game.from_moves(over + "--") == game.from_moves(over + " pass PASS") == game.from_moves(over)
    with pytest.raises(IllegalActionError, match="a pass is written only"):
        game.from_moves(over + "------")


# -- the source's examples --------------------------------------------------------------------------------------------


def test_examples_of_the_source():
    game = make_game("reversi")
    start = game.initial_state()
    grid = reversi.grid_of(start)
    assert (grid[3][4], grid[4][3], grid[3][3], grid[4][4]) == (1, 1, -1, -1)
    assert np.count_nonzero(grid) == 4
    assert sorted(map(reversi.square_name, reversi.playable_squares(start))) == ["c4", "d3", "e6", "f5"]
    assert len(reversi.frontier_squares(start)) == 12
    after = game.from_moves("d3")
    assert reversi.score(after) == 3
    assert len(reversi.frontier_squares(after)) == 14
    for moves in ("c4e3f5b4", "c4e3f5c5"):
        state = game.from_moves(moves)
        assert reversi.captures(state, (1, 4)) == {(1, 0): 2}
        assert reversi.flipped_squares(state, (1, 4)) == [(2, 4), (3, 4)]
        assert reversi.captures(state, (2, 3)) == {(1, 0): 1, (1, 1): 1}
    assert reversi.capture_directions(start, (0, 0)) == []
    assert reversi.capture_directions(start, (3, 3)) == []


def test_codes_of_the_source():
    start, after = make_game("reversi").initial_state(), make_game("reversi").from_moves("d3")
    assert reversi.encode(start) == 1716841910146156194489921515200
    assert reversi.encode(after) == 1716841910146156209742278746641
    empty, full = np.zeros((8, 8), int), np.ones((8, 8), int)
    assert reversi.encode_grid(empty) == (3**64 - 1) // 2 == 1716841910146256242328924544640
    assert reversi.encode_grid(full) == 3433683820292512484657849089280
    assert reversi.encode_grid(full).bit_length() == 102
    for code in (0, 1, 3**64 - 1, (3**64 - 1) // 2):
        assert reversi.encode_grid(reversi.decode_grid(code)) == code
    assert reversi.decode(1716841910146156209742278746641, 1) == after
    assert reversi.decode(1716841910146156194489921515200) == start


@pytest.mark.parametrize("code", [-1, 3**64, 1.5, True, "12", None, (3**64 - 1) // 2])
def test_foreign_codes_are_refused(code):
    with pytest.raises(PositionError):
        reversi.decode(code)


def test_squares_in_both_conventions():
    for size in SIZES:
        for row in range(size):
            for column in range(size):
                name = reversi.square_name((row, column), size)
                assert reversi.square_of(name, size) == reversi.square_of(name.upper(), size) == (row, column)
    assert reversi.square_name((2, 3)) == "d3"
    game = make_game("reversi")
    assert game.from_moves("(2, 3)(2,2) c4") == game.from_moves("d3c3c4")
    for bad in ("i1", "a9", "a0", "d", "33", ""):
        with pytest.raises(ValueError, match="squares are a1 to h8"):
            reversi.square_of(bad)
    with pytest.raises(ValueError, match="from 0 to 3"):
        reversi.square_name((4, 0), 4)
    for bad in ("(8,0)", "z3", "x", "d33", "a1"):
        with pytest.raises(IllegalActionError):
            game.from_moves(bad)


def test_ties_and_scoring_rules():
    """An equal count is a draw on every size, not "going on"; the two rules differ in value, never in sign."""
    for size in SIZES:
        game = make_game("reversi", size=size)
        cells = size * size
        state = game.parse("X" * (cells // 2) + "O" * (cells // 2) + " X")
        assert game.is_terminal(state)
        assert game.winner(state) == Outcome.DRAW != Outcome.ONGOING
        assert game.returns(state) == (0, 0)
        for rule in ("plain", "empties-to-winner"):
            assert reversi.score(state, rule, size) == 0
    with pytest.raises(ValueError, match="plain, empties-to-winner"):
        reversi.score(make_game("reversi").initial_state(), "tournament")


def test_blocked_seats_are_skipped():
    """Only the side to move is blocked: not over, the other moves again; both are: over at once, whatever is empty."""
    game = make_game("reversi", size=4)
    skipped = over = 0
    stack = [game.initial_state()]
    while stack and (skipped < 200 or over < 200):
        state = stack.pop()
        for action in game.legal_actions(state):
            after = game.step(state, action)
            grid, colour = slow_play(reversi.grid_of(state, 4).tolist(), divmod(action, 4), 1 - 2 * state.seat)
            if game.is_terminal(after):
                over += bool(np.any(np.array(grid) == 0))
                assert not slow_legal(grid, 1)
                assert not slow_legal(grid, -1)
            else:
                skipped += after.seat == state.seat
                assert 1 - 2 * after.seat == colour
                stack.append(after)
    assert skipped
    assert over


def test_four_by_four_as_a_whole():
    """All states reachable on 4 x 4, and the value of the game by plain search: -8 by discs, -10 with the empties."""
    game = make_game("reversi", size=4)
    rules = game.rules
    values = {}

    def solve(state):
        key = (int(state.black), int(state.white), state.seat)
        if key not in values:
            sign = 1 if state.seat == 0 else -1
            if not state.moves:
                values[key] = tuple(reversi.score(state, rule, 4) for rule in ("plain", "empties-to-winner"))
            else:
                children = [solve(rules.step(state, action)) for action in game.legal_actions(state)]
                values[key] = tuple(sign * max(sign * child[k] for child in children) for k in (0, 1))
        return values[key]

    assert solve(game.initial_state()) == (-8, -10)
    assert len(values) == 53_801  # (black, white, seat) with passes resolved; counts with passes as states are larger


# -- positions as text ------------------------------------------------------------------------------------------------

START = "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (START[1:] + " X", "63 squares; a board of 8 x 8 has 64"),
        (START, "side to move"),
        (START + " Z", "side to move"),
        (START.replace("X", "Z") + " X", "'Z' is not X, O or -"),
        ("-" * 64 + " X", "0 discs"),
        (START.replace("O", "-") + " X", "2 discs"),
        (START[:27] + "-" + "XXX" + START[31:] + " X", "d4 in the centre"),
        (START + " O", "the beginning"),
        (START.replace("X", "Z").replace("O", "X").replace("Z", "O") + " X", "the beginning"),
        ("X" + START[1:] + " X", "a1 are cut off"),
    ],
)
def test_impossible_positions_are_refused_with_the_reason(text, reason):
    with pytest.raises(PositionError, match=reason):
        make_game("reversi").parse(text)


def test_sizes_offered():
    for bad in (3, 5, 7, 10, 0, True, "8", 8.0):
        with pytest.raises(ValueError, match="size must be 4, 6 or 8"):
            make_game("reversi", size=bad)
    assert make_game("reversi", size=np.int64(6)) is make_game("reversi", size=6)


def test_symmetries_are_the_eight_of_the_square():
    for size in SIZES:
        game = make_game("reversi", size=size)
        symmetries = game.symmetries()
        assert len({tuple(symmetry.actions) for symmetry in symmetries}) == 8
        chance = random.Random(size)
        state = game.initial_state()
        for _ in range(20):
            if game.is_terminal(state):
                break
            for symmetry in symmetries:
                image = game.decode(symmetry.observation(game.observe(state, state.seat)), state.seat)
                assert np.array_equal(game.legal_mask(image), symmetry.policy(game.legal_mask(state)))
                for action in game.legal_actions(state):
                    left = game.step(image, symmetry.action(action))
                    right = game.step(state, action)
                    assert np.array_equal(game.observe(left, 0), symmetry.observation(game.observe(right, 0)))
            state = game.step(state, chance.choice(game.legal_actions(state)))


def test_draw():
    assert make_game("reversi", size=4).draw(make_game("reversi", size=4).initial_state()) == (
        "  a b c d\n1 - + - -\n2 + O X -\n3 - X O +\n4 - - + -\nX to move, X 2, O 2"
    )
