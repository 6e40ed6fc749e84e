"""The opening book that comes with the package: whole, complete, and right where it is solved again."""

import hashlib
import json
import zlib

import numpy as np
import pytest

from board_agents.games.connect_four import Book, ConnectFourSolver, PerfectConnectFourAgent, default_solver
from board_agents.games.connect_four.opening_book import KIND, VERSION, BookError, derive, positions_by_stones
from board_envs import make_game

pytest.importorskip("numba")

GAME = make_game("connect-four")


def test_shipped_book_is_complete():
    """Counts of unfinished positions up to mirror image; the scores of the first moves are well known."""
    book = Book.shipped(GAME)
    assert book is not None
    assert (book.size, book.plies) == ((6, 7, 4), 9)
    assert [len(scores) for scores in book.scores] == [1, 4, 25, 121, 568, 2144, 8231, 27109, 91295, 269531]
    assert book.get(GAME.initial_state()) == 1
    solver = default_solver(GAME, megabytes=1)
    assert list(solver.action_values(GAME.initial_state()).values()) == [-2, -1, 0, 1, 0, -1, -2]
    assert solver.nodes == 0
    assert Book.shipped(make_game("connect-four", rows=5, columns=5)) is None


def test_a_fixed_sample_of_the_book_is_solved_again():
    book, rng = Book.shipped(GAME), np.random.default_rng(8)
    positions = positions_by_stones(6, 7, 4, 9)[9]
    sample = rng.choice(len(positions), 40, replace=False)
    scores = ConnectFourSolver(GAME).solve_many(positions[sample])
    assert scores.tolist() == book.scores[9][sample].tolist()


def test_earlier_positions_follow_from_later_ones():
    book = Book.shipped(GAME)
    again = Book(book.size, book.plies, book.keys, [scores.copy() for scores in book.scores])
    for stones in range(8, -1, -1):
        again.scores[stones][:] = 0
        derive(again, stones)
        assert np.array_equal(again.scores[stones], book.scores[stones])


def test_first_moves_of_perfect_play():
    agent = PerfectConnectFourAgent(GAME, megabytes=16)
    state = GAME.initial_state()
    for _ in range(8):
        action = agent.choose(state)
        assert agent.solver.action_values(state)[action] == agent.solver.score(state)
        state = GAME.step(state, action)
    assert agent.solver.score(state) == 1


@pytest.mark.parametrize("change", [("plies", 4, 3), ("connect", 4, 3), ("rows", 4, 5), ("entries", None, 1)])
def test_the_head_of_a_book_is_under_its_checksum(tmp_path, change):
    name, before, after = change
    path = tmp_path / "book"
    Book.empty(4, 5, 4, 4).save(path)
    head, _, body = path.read_bytes().partition(b"\n")
    facts = json.loads(head)
    assert before in (None, facts[name])
    path.write_bytes(json.dumps(facts | {name: after}).encode() + b"\n" + body)
    with pytest.raises(BookError, match="checksum does not match"):
        Book.load(path, partial=True)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"rows": 6, "columns": 7, "connect": 4, "plies": 16}, "has 5 scores; more positions"),
        ({"rows": 6, "columns": 7, "connect": 4, "plies": 0}, "has 5 scores; 1 positions"),
        ({"rows": 10**6, "columns": 10**6, "connect": 4, "plies": 1}, "rows"),
        ({"rows": -1, "columns": 7, "connect": 4, "plies": 1}, "rows"),
        ({"rows": 6, "columns": 7, "connect": 4, "plies": 17}, "invalid header"),
    ],
)
def test_a_head_with_a_right_checksum_cannot_ask_for_more_than_the_file_holds(tmp_path, facts, message):
    path, body = tmp_path / "book", zlib.compress(bytes(5))
    facts = {"kind": KIND, "version": VERSION, **facts}
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode() + body).hexdigest()
    path.write_bytes(json.dumps(facts | {"sha256": digest}).encode() + b"\n" + body)
    with pytest.raises(BookError, match=message):
        Book.load(path)


def test_a_head_that_is_nested_deeply_is_no_book(tmp_path):
    path = tmp_path / "book"
    path.write_bytes(b"[" * 4000 + b"\n")
    with pytest.raises(BookError, match="is no"):
        Book.load(path)
