"""The Connect Four solver against known scores and plain search; its book, limits, threads, refusals and agents.

tests/data/connect_four_scores.csv: a sample of Pascal Pons' test sets (as kept in benjaminrall/connect-four-ai, MIT)
and of scores per column found by bitbully.
"""

import csv
import itertools
import json
import pathlib
import random

import numpy as np
import pytest

from board_agents import make_agent, make_oracle
from board_agents.games.connect_four import (
    Book,
    BookError,
    ConnectFourOracle,
    ConnectFourSolver,
    PerfectConnectFourAgent,
    build_book,
    plies_to_end,
    score_of_plies,
)
from board_agents.games.connect_four.opening_book import _digest, positions_by_stones
from board_agents.games.connect_four.solver_workspace import LIMIT
from board_agents.oracle import Limits
from board_envs import make_game
from board_envs.types import Outcome, PositionError, SpecError

pytest.importorskip("numba", reason="needs the extra `fast`")

DATA = pathlib.Path(__file__).parents[1] / "data"
GAME = make_game("connect-four")


@pytest.fixture(scope="module")
def solver():
    return ConnectFourSolver(GAME, megabytes=16)


def _known():
    with open(DATA / "connect_four_scores.csv") as file:
        return list(csv.DictReader(file))


class Plain:
    """Scores by looking at every line of play, on lists of columns; it shares nothing with the solver."""

    def __init__(self, rows, columns, connect):
        self.rows, self.columns, self.connect = rows, columns, connect
        self.values = {}

    def wins(self, board, column):
        """Whether the topmost stone of `column` is in a line."""
        row, seat = len(board[column]) - 1, board[column][-1]

        def same(r, c):
            return 0 <= c < self.columns and 0 <= r < len(board[c]) and board[c][r] == seat

        for up, right in ((1, 0), (0, 1), (1, 1), (1, -1)):
            run = 1
            for sign in (1, -1):
                i = 1
                while same(row + sign * i * up, column + sign * i * right):
                    i += 1
                run += i - 1
            if run >= self.connect:
                return True
        return False

    def score(self, board, stones):
        """Pons' score of an unfinished position; `board` is a tuple of strings from the bottom up."""
        if board not in self.values:
            cells, best = self.rows * self.columns, None
            for column in range(self.columns):
                if len(board[column]) < self.rows:
                    after = (*board[:column], board[column] + "XO"[stones % 2], *board[column + 1 :])
                    if self.wins(after, column):
                        value = (cells + 1 - stones) // 2
                    elif stones + 1 == cells:
                        value = 0
                    else:
                        value = -self.score(after, stones + 1)
                    best = value if best is None else max(best, value)
            self.values[board] = best
        return self.values[board]

    def words(self, board):
        """The position as (own stones, all stones)."""
        planes = {"X": 0, "O": 0}
        for column, stack in enumerate(board):
            for row, stone in enumerate(stack):
                planes[stone] |= 1 << (column * (self.rows + 1) + row)
        stones = sum(map(len, board))
        return planes["XO"[stones % 2]], planes["X"] | planes["O"]


def test_known_scores_and_moves(solver):
    for row in _known():
        state, score = GAME.from_moves(row["moves"]), int(row["score"])
        assert solver.score(state) == score, row
        assert solver.outcome(state) == np.sign(score)
        if row["columns"]:
            expected = {i: int(value) for i, value in enumerate(row["columns"].split()) if value != "-"}
            assert solver.action_values(state) == expected
            best = [action for action, value in expected.items() if value == score]
            assert solver.best_moves(state) == best
            assert solver.best_move(state) == best[0]
            assert solver.best_move(state, order=list(expected)[::-1]) == best[-1]


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_many_at_once(solver, threads, weak):
    rows = _known()[:190]
    words = solver.as_words([GAME.from_moves(row["moves"]) for row in rows])
    expected = np.array([int(row["score"]) for row in rows])
    done = []
    found = solver.solve_many(words, weak=weak, threads=threads, progress=done.append, chunk=16)
    assert found.tolist() == (np.sign(expected) if weak else expected).tolist()
    assert sum(done) == len(rows)
    assert solver.solve_many(words[:0]).shape == (0,)


@pytest.mark.parametrize("size", [(4, 4, 3), (4, 4, 4), (4, 5, 3), (2, 2, 2)])
def test_every_position_of_small_boards_against_plain_search(size):
    plain = Plain(*size)
    plain.score(("",) * size[1], 0)
    solver = ConnectFourSolver(make_game("connect-four", rows=size[0], columns=size[1], connect=size[2]), 1)
    words = np.array([plain.words(board) for board in plain.values], np.uint64)
    assert np.array_equal(solver.solve_many(words), list(plain.values.values()))
    assert np.array_equal(solver.solve_many(words, weak=True), np.sign(list(plain.values.values())))


@pytest.mark.parametrize("size", [(5, 5, 4), (7, 8, 4), (3, 16, 4), (15, 4, 5)])
def test_late_positions_of_larger_boards_against_plain_search(size):
    rows, columns, connect = size
    game = make_game("connect-four", rows=rows, columns=columns, connect=connect)
    solver, plain, rng = ConnectFourSolver(game, 1), Plain(*size), random.Random(8)
    checked = 0
    for _ in range(4000):
        state, board, stones = game.initial_state(), ("",) * columns, 0
        while not game.is_terminal(state) and stones < rows * columns - 8:
            column = rng.choice(game.legal_actions(state))
            state = game.step(state, column)
            board = (*board[:column], board[column] + "XO"[stones % 2], *board[column + 1 :])
            stones += 1
        if not game.is_terminal(state):
            assert solver.score(state) == plain.score(board, stones), game.format(state)
            checked += 1
            if checked == 12:
                break
    assert checked


def test_interpreted_is_compiled():
    game = make_game("connect-four", rows=4, columns=4, connect=3)
    rng, results = random.Random(2), []
    words = []
    while len(words) < 25:
        state = game.initial_state()
        for _ in range(rng.randrange(9)):
            if not game.is_terminal(state):
                state = game.step(state, rng.choice(game.legal_actions(state)))
        if not game.is_terminal(state):
            words.append(state)
    for interpreted in (False, True):
        solver = ConnectFourSolver(game, 1)
        positions = solver.as_words(words)
        bounds = np.full((len(words), 2), 16, np.int64) * [-1, 1]
        (stack,) = solver._stacks
        stack.begin()
        stack.control[LIMIT] = 10**9
        kernel = stack.kernel.function if interpreted else stack.kernel
        assert kernel(positions, bounds, stack.workspace) == 1
        results.append((bounds.tolist(), stack.nodes, solver._big.tobytes(), stack.small.tobytes()))
    assert results[0] == results[1]


def test_mirror_images_have_mirrored_values(solver):
    for row in _known()[-20:]:
        image = "".join(str(8 - int(move)) for move in row["moves"])
        values = solver.action_values(GAME.from_moves(row["moves"]))
        assert solver.action_values(GAME.from_moves(image)) == {6 - action: value for action, value in values.items()}


def test_line_is_perfect_to_the_end(solver):
    for row in _known()[100:160:6]:
        state, score = GAME.from_moves(row["moves"]), int(row["score"])
        line = solver.line(state)
        assert len(line) == plies_to_end(score, len(row["moves"]), 42)
        mover = state.seat
        for action in line:
            assert action in solver.best_moves(state)
            state = GAME.step(state, action)
        assert GAME.is_terminal(state)
        assert GAME.returns(state)[mover] == np.sign(score)


def test_plies_and_scores():
    assert plies_to_end(1, 0, 42) == 41  # the first player wins with its last stone, on the last square but one
    assert plies_to_end(18, 6, 42) == 1
    assert plies_to_end(0, 10, 42) == 32
    for cells, stones in itertools.product((16, 25, 42, 56), range(14)):
        for plies in range(1, cells - stones + 1):
            before = stones + plies - 1
            score = (cells + 1 - before) // 2 * (1 if plies % 2 else -1)
            assert score_of_plies(plies, stones, cells) == score
            assert plies_to_end(score, stones, cells) == plies


def test_limits_give_no_guess(solver):
    state = GAME.initial_state()
    assert solver.score(state, limits=Limits(nodes=1000)) is None
    assert solver.nodes == 1000
    assert solver.score(state, limits=Limits(seconds=1e-9)) is None
    assert solver.outcome(state, limits=Limits(nodes=1000)) is None
    assert solver.action_values(state, limits=Limits(nodes=1000)) is None
    assert solver.best_move(state, limits=Limits(nodes=1000)) is None
    assert solver.best_moves(state, limits=Limits(nodes=1000)) is None
    assert solver.line(state, limits=Limits(nodes=1000)) is None
    low, high = solver.bounds(GAME.from_moves("4444"), limits=Limits(nodes=20000))
    assert low <= -2 <= high
    assert low < high


def test_a_paused_search_goes_on():
    row = _known()[-90]
    words = ConnectFourSolver(GAME, 1).as_words([GAME.from_moves(row["moves"])])
    counts = []
    for step in (10**9, 97):
        (stack,) = ConnectFourSolver(GAME, 1)._stacks
        bounds = np.array([[-42, 42]], np.int64)
        stack.begin()
        while not stack.go_on(words, bounds, stack.nodes + step):
            assert bounds[0, 0] <= int(row["score"]) <= bounds[0, 1]
        assert bounds.tolist() == [[int(row["score"])] * 2]
        counts.append(stack.nodes)
    assert counts[0] == counts[1] > 1000


def test_two_threads_on_one_position(solver):
    for row in _known()[-90:-86]:
        fresh = ConnectFourSolver(GAME, 1)
        assert fresh.score(GAME.from_moves(row["moves"]), threads=2) == int(row["score"])


def test_a_limit_is_that_of_all_threads_together():
    for threads in (1, 2, 3):
        solver = ConnectFourSolver(GAME, 1)
        assert solver.score(GAME.initial_state(), limits=Limits(nodes=5000), threads=threads) is None
        assert solver.nodes == 5000


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_ends_all_threads(solver, threads):
    calls = []

    def fail(done):
        calls.append(done)
        raise KeyboardInterrupt

    words = solver.as_words([GAME.from_moves(_known()[0]["moves"])] * 5000)
    with pytest.raises(KeyboardInterrupt):
        solver.solve_many(words, threads=threads, chunk=1, progress=fail)
    assert len(calls) <= threads


def test_what_is_no_position_is_refused(solver):
    for moves in ("1212121", "7122334545" + "5"):
        if GAME.is_terminal(GAME.from_moves(moves)):
            with pytest.raises(PositionError, match="the game is over"):
                solver.score(GAME.from_moves(moves))
    state = GAME.initial_state()
    bottom = np.uint64(1)
    for bad in (
        state._replace(player_0=np.uint64(2), seat=1),  # floats
        state._replace(player_0=bottom),  # the wrong seat
        state._replace(player_0=bottom, player_1=bottom, seat=0),  # two stones in one cell
        state._replace(player_1=bottom, seat=1),  # the second player began
        state._replace(player_0=np.uint64(0b1111), player_1=np.uint64(0b111 << 7), seat=1),  # won, and not said so
        state._replace(player_0=np.uint64(1 << 63), seat=1),  # off the board
    ):
        with pytest.raises(PositionError):
            solver.score(bad)
    full = np.uint64(0b0111111)
    for own, mask, reason in (
        (2, 2, "wrong|floating"),
        (0, 1 << 6, "off the board"),
        (4, 1, "off the board"),
        (1, 1, "wrong numbers"),
        (0b1111, 0b1111 | 0b1111 << 7, "is over"),
        (0, int(full) | 1 << 6, "off the board"),
    ):
        words = np.array([[0, 0], [own, mask]], np.uint64)
        with pytest.raises(PositionError, match=rf"position 1 .*({reason})"):
            solver.solve_many(words)
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        solver.solve_many(np.zeros(4, np.uint64))
    for make in (ConnectFourSolver, ConnectFourOracle, PerfectConnectFourAgent):
        with pytest.raises(ValueError, match="connect-four"):
            make(make_game("nim"))
    for megabytes in (0, 1.5, True, 1 << 21):
        with pytest.raises(ValueError, match=f"megabytes must be .* not {megabytes}"):
            ConnectFourSolver(GAME, megabytes)
    for order in ([], [0, 1], [0, 1, 2, 3, 4, 5, 7]):
        with pytest.raises(ValueError, match=r"order .* not \["):
            solver.best_move(state, order=order)


def test_too_little_memory_is_told(monkeypatch):
    def no_memory(megabytes, _key_bits):
        raise MemoryError(f"Unable to allocate {megabytes} MB")

    monkeypatch.setattr("board_agents.games.connect_four.solver.big_table", no_memory)
    with pytest.raises(SpecError, match=r"megabytes=9000': not enough memory \(Unable to allocate"):
        make_oracle(GAME, "connect-four-solver:megabytes=9000")


# -- book --------------------------------------------------------------------------------------------------------------

SMALL = make_game("connect-four", rows=4, columns=5, connect=4)


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    path = tmp_path_factory.mktemp("book") / "small.bin"
    calls = []
    build_book(ConnectFourSolver(SMALL, 1), 4, path, progress=lambda done, total: calls.append((done, total)))
    assert calls[0][0] == 0
    assert calls[-1][0] == calls[-1][1] == len(Book.load(path).scores[4])
    assert [entry.name for entry in path.parent.iterdir()] == ["small.bin"]
    return path


def test_book_holds_every_early_position(small_book):
    book, solver = Book.load(small_book), ConnectFourSolver(SMALL, 1)
    level = {SMALL.initial_state()}
    for _ in range(5):
        for state in level:
            assert book.get(state) == solver.score(state)
        level = {SMALL.step(state, action) for state in level for action in SMALL.legal_actions(state)}
    assert all(book.get(state) is None for state in level)
    with_book = ConnectFourSolver(SMALL, 1, book)
    assert with_book.score(SMALL.initial_state()) == solver.score(SMALL.initial_state())
    assert with_book.nodes == 0
    assert with_book.outcome(SMALL.initial_state()) == solver.outcome(SMALL.initial_state())
    with pytest.raises(ValueError, match="the book is for"):
        ConnectFourSolver(GAME, 1, book)


def test_a_book_bounds_what_lies_one_stone_beyond(small_book):
    book, solver = Book.load(small_book), ConnectFourSolver(SMALL, 1)
    positions = positions_by_stones(*solver.size, 5)[5]
    least, scores = book.least(positions), solver.solve_many(positions)
    assert (least <= scores).all()
    assert (least == scores).any()
    assert (least > -solver.cells).all(), "every position came from one in the book"
    assert np.array_equal(solver.solve_many(positions, least=least), scores)
    too_much = least + 1
    assert np.array_equal(solver.solve_many(positions, least=too_much), np.maximum(scores, too_much))


def test_moves_are_the_same_with_a_book(small_book):
    """The moves that a book rules out without a search are wrong ones."""
    with_book, without = ConnectFourSolver(SMALL, 1, Book.load(small_book)), ConnectFourSolver(SMALL, 1)
    rng = random.Random(6)
    for stones in range(8):
        for _ in range(12):
            state = SMALL.initial_state()
            for _ in range(stones):
                state = SMALL.step(state, rng.choice(SMALL.legal_actions(state)))
                if SMALL.is_terminal(state):
                    break
            if SMALL.is_terminal(state):
                continue
            values = without.action_values(state)
            for order in (sorted(values), sorted(values, reverse=True)):
                wanted = next(action for action in order if values[action] == max(values.values()))
                assert with_book.best_move(state, order=order) == wanted
                assert without.best_move(state, order=order) == wanted


def test_a_shorter_book_makes_a_longer_one(small_book, tmp_path):
    """The longer one gives back the shorter one's scores."""
    shorter = Book.load(small_book)
    longer = build_book(ConnectFourSolver(SMALL, 1, shorter), 5, tmp_path / "longer.bin")
    other = build_book(ConnectFourSolver(SMALL, 1), 5, tmp_path / "other.bin")
    assert all(np.array_equal(a, b) for a, b in zip(longer.scores, other.scores, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(longer.scores[:5], shorter.scores, strict=True))


def test_book_building_is_resumed(small_book, tmp_path):
    path = tmp_path / "again.bin"
    reached = []

    class StoppedError(Exception):
        pass

    def interrupt(done, total):
        reached.append(done)
        if done >= 20:
            raise StoppedError

    with pytest.raises(StoppedError):
        build_book(ConnectFourSolver(SMALL, 1), 4, path, progress=interrupt)
    assert not path.exists()
    unfinished = path.with_name("again.bin.partial")
    with pytest.raises(BookError, match="unfinished: [0-9]+ scores are missing"):
        Book.load(unfinished)
    with pytest.raises(ValueError, match="unfinished: [0-9]+ scores are missing"):
        ConnectFourSolver(SMALL, 1, Book.load(unfinished, partial=True))
    assert reached[:2] == [0, 1], "hard positions are kept one by one"
    first = []
    build_book(ConnectFourSolver(SMALL, 1), 4, path, progress=lambda done, total: first.append(done))
    assert first[0] == reached[-1] < first[-1]
    assert path.read_bytes() == small_book.read_bytes()
    assert not unfinished.exists()
    unfinished.write_bytes(small_book.read_bytes())
    with pytest.raises(BookError, match="remove it to start anew"):
        build_book(ConnectFourSolver(SMALL, 1), 3, path)


def test_a_place_that_cannot_be_written_is_told_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    told = []
    with pytest.raises(OSError, match=r"Not a directory: .*book\.bin"):
        build_book(
            ConnectFourSolver(SMALL, 1), 4, tmp_path / "file" / "book.bin", progress=lambda *done: told.append(done)
        )
    assert told == []


def test_damaged_and_foreign_books_are_refused_by_name(small_book, tmp_path):
    data = small_book.read_bytes()
    head, body = data.split(b"\n", 1)
    facts = json.loads(head)

    def written(content):
        path = tmp_path / "bad.bin"
        path.write_bytes(content)
        return path

    def signed(changes):
        """A head that says something else under its right checksum."""
        told = {**facts, **changes}
        return json.dumps({**told, "sha256": _digest(told, body)}).encode() + b"\n" + body

    flipped = bytearray(data)
    flipped[-5] ^= 1
    for content, reason in (
        (b"", "is not a board-envs connect-four book"),
        (b"PK\x03\x04 something else\n", "is not a board-envs"),
        (b'{"kind": "another"}\n', "is not a board-envs"),
        (b"\xff\xfe\n\n", "is not a board-envs"),
        (bytes(flipped), "damaged"),
        (data[:-1], "damaged"),
        (data + b"x", "damaged"),
        (json.dumps({**facts, "version": 99}).encode() + b"\n" + body, "version 99"),
        (json.dumps({**facts, "plies": 3}).encode() + b"\n" + body, "damaged"),
        (signed({"plies": 3}), "positions belong to it"),
        (signed({"rows": "many"}), "invalid header"),
        (signed({"plies": 10**6}), "invalid header"),
    ):
        with pytest.raises(BookError, match=reason) as error:
            Book.load(written(content))
        assert "bad.bin" in str(error.value)


# -- what uses it ------------------------------------------------------------------------------------------------------


def test_oracle():
    oracle = make_oracle(GAME)
    assert isinstance(oracle, ConnectFourOracle)
    assert oracle.unit == "pons"
    row = _known()[-1]
    values = oracle.action_values(GAME.from_moves(row["moves"]))
    assert values == {i: float(v) for i, v in enumerate(row["columns"].split()) if v != "-"}
    assert len(oracle.line(GAME.from_moves(row["moves"]))) == plies_to_end(int(row["score"]), len(row["moves"]), 42)
    assert oracle.action_values(GAME.from_moves("1212121")) == {}
    assert oracle.line(GAME.from_moves("1212121")) == []
    both = GAME.from_moves("1212121")._replace(player_1=np.uint64(0b1111 << 7), seat=0)
    for ask in (oracle.action_values, oracle.line):
        with pytest.raises(PositionError, match="both players have 4 in a line"):
            ask(both)
    large = make_game("connect-four", rows=7, columns=8)
    impatient = make_oracle(large, "connect-four-solver:seconds=0.05,megabytes=1")
    assert impatient.action_values(large.initial_state()) is None
    assert impatient.line(large.initial_state()) is None
    with pytest.raises(SpecError, match="seconds"):
        make_oracle(GAME, "connect-four-solver:seconds=-1")


@pytest.mark.parametrize("ties", ["first", "random"])
def test_perfect_agent_never_loses_value(solver, ties):
    agent, rng = make_agent(f"perfect:ties={ties},megabytes=16", GAME), random.Random(6)
    chosen = set()
    for row in _known()[-60:-30]:
        state = GAME.from_moves(row["moves"])
        agent.reset(seed=3)
        while not GAME.is_terminal(state):
            best = sorted(solver.best_moves(state), key=lambda column: (abs(column - 3), column))
            observation = {"observation": GAME.observe(state, state.seat), "action_mask": GAME.legal_mask(state)}
            action = agent.act(observation)
            assert action in best
            assert ties == "random" or action == best[0]
            chosen.add(best.index(action))
            state = GAME.step(state, action)
            if not GAME.is_terminal(state):
                state = GAME.step(state, rng.choice(GAME.legal_actions(state)))
    assert (len(chosen) > 1) == (ties == "random")


def test_perfect_agent_follows_its_seed():
    agent = PerfectConnectFourAgent(GAME, ties="random", megabytes=1)
    state = GAME.from_moves(_known()[0]["moves"][:16])

    def game_of(seed):
        agent.reset(seed)
        moves, position = [], state
        while not GAME.is_terminal(position):
            moves.append(agent.choose(position))
            position = GAME.step(position, moves[-1])
        return moves

    games = [game_of(seed) for seed in (0, 1, 2, 3, 0)]
    assert games[0] == games[4]
    assert len({tuple(moves) for moves in games}) > 1
    with pytest.raises(SpecError, match="ties"):
        make_agent("perfect:ties=best", GAME)


def test_small_boards_are_won_perfectly():
    """From the start of a board that the first player wins, within the number of plies that the score tells."""
    game = make_game("connect-four", rows=4, columns=5, connect=3)
    agent = make_agent("perfect:megabytes=1", game)
    solver, rng = ConnectFourSolver(game, 1), random.Random(1)
    plies = plies_to_end(solver.score(game.initial_state()), 0, 20)
    assert plies % 2
    for _ in range(50):
        state, played = game.initial_state(), 0
        while not game.is_terminal(state):
            action = agent.choose(state) if state.seat == 0 else rng.choice(game.legal_actions(state))
            state, played = game.step(state, action), played + 1
        assert state.winner == Outcome.PLAYER_0
        assert played <= plies


def test_book_command(tmp_path):
    from typer.testing import CliRunner

    from board_agents.cli.app import make_app

    arguments = ["tables", "build", "connect-four-book", "--plies", "3", "--folder", str(tmp_path)]
    (tmp_path / "connect-four-book-3.bin").write_bytes(b"something else")
    refused = CliRunner().invoke(make_app(), arguments)
    assert refused.exit_code != 0
    assert "connect-four-book-3.bin is not a board-envs connect-four book" in str(refused.exception or refused.output)


def test_number_of_early_positions():
    """Unfinished positions up to mirror image, counted with bitbully's book."""
    counts = [len(level) for level in positions_by_stones(6, 7, 4, 6)]
    assert counts == [1, 4, 25, 121, 568, 2144, 8231]
