"""Exact play of Connect Four: scores, best moves and principal variations of any legal position.

Scores are Pascal Pons': from the side to move, (cells + 1 - stones before the winning stone) // 2 for a win, negative
for a loss, 0 for a draw. On 6 x 7 a player who wins with its last stone scores 1, the fastest win of all 18.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from board_agents.games.connect_four import solver_workspace as layout
from board_agents.games.connect_four.geometry import PROBLEMS, geometry, make_fault
from board_agents.games.connect_four.opening_book import Book
from board_agents.games.connect_four.solver_kernels import make_search
from board_agents.games.connect_four.transposition_table import HUGE_PAGE, LINE, SMALL_INDEX_BITS
from board_agents.lowlevel.aligned_arrays import aligned
from board_agents.lowlevel.copies import Shared
from board_agents.oracle import NO_LIMITS, Limits, old_limits, renamed
from board_envs._bits import popcount
from board_envs._jit import require_numba
from board_envs.game import Game, check_int
from board_envs.games.connect_four import State
from board_envs.types import PositionError, Words

SLICE = 1 << 21
"""Nodes between two clock checks (about 0.1 s)."""


def plies_to_end(score: int, stones: int, cells: int) -> int:
    """Return the plies to the end under perfect play, for a score with `stones` stones on a board of `cells` cells."""
    if score == 0:
        return cells - stones
    # Two numbers of stones before the last one give the same score; the side that wins decides which.
    before = cells + 1 - 2 * abs(score)
    mover = stones if score > 0 else stones + 1
    if (before - mover) % 2:
        before -= 1
    return before + 1 - stones


def score_of_plies(plies: int, stones: int, cells: int) -> int:
    """Return the score of a game that the side to move wins (odd `plies`) or loses (even) with the ply of that number.

    A draw has score 0.
    """
    value = (cells + 2 - stones - plies) // 2
    return value if plies % 2 else -value


def big_table(megabytes: int, key_bits: int) -> Words:
    """Return an empty transposition table: uint64, the largest power of two bytes within `megabytes`."""
    index_bits = max((megabytes << 20) // (8 * LINE), 1 << SMALL_INDEX_BITS).bit_length() - 1
    return aligned((LINE << min(index_bits, key_bits),), unit=HUGE_PAGE)


class Stack:
    """Workspace of one thread's search.

    Attributes:
        small: uint64, its own transposition table for positions with few empty squares, which fits in a core's cache.
        history: int16, the history heuristic's counts.

    """

    def __init__(self, rows: int, columns: int, connect: int, big: Words, busy: Words) -> None:
        facts = geometry(rows, columns, connect)
        # With padding, so that it fits in one huge page.
        room = aligned((HUGE_PAGE // 8,), unit=HUGE_PAGE)
        self.small = room[: LINE << min(SMALL_INDEX_BITS, facts.key_bits)]
        self.kernel = make_search(rows, columns, connect)
        self.workspace = layout.make_workspace(rows, columns, connect, big, self.small, busy)
        self.control, self.history = self.workspace.control, self.workspace.history

    @property
    def nodes(self) -> int:
        """Nodes searched since the last `begin`."""
        return int(self.control[layout.NODES])

    def begin(self, related: bool = False, least: bool = False, together: bool = False) -> None:
        """Prepare for new positions.

        `related` ones are likely to have the score of the one before them, or the `least` that their bounds allow;
        `together` with other threads they are searched when each has the same.
        """
        self.control[layout.TOGETHER] = together
        if least:
            self.control[layout.GUESS] = layout.LEAST
        elif not related:
            self.control[layout.GUESS] = layout.NO_GUESS
        elif self.control[layout.GUESS] >= layout.NO_GUESS:
            self.control[layout.GUESS] = 0
        self.control[layout.POSITION] = 0
        self.control[layout.DEPTH] = -1
        self.control[layout.ENTERING] = 0
        self.control[layout.NODES] = self.control[layout.BEGUN] = 0
        self.control[layout.STOP] = 0

    def go_on(self, positions: Words, bounds: NDArray[np.int64], nodes: int) -> bool:
        """Search until a total number of nodes since `begin`; return whether every position is done."""
        self.control[layout.LIMIT] = nodes
        return self.kernel(positions, bounds, self.workspace) == 1

    def stop(self) -> None:
        """Pause the search that another thread runs."""
        self.control[layout.STOP] = 1


@dataclass
class Budget:
    """Limits of one query: nodes and seconds of all threads together, None for no limit."""

    nodes: int | None = None
    seconds: float | None = None
    used: int = 0
    began: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, limits: Limits) -> Budget:
        """Return the budget for a query's limits."""
        return cls(limits.nodes, limits.seconds)

    def take(self) -> int:
        """Return the nodes that a thread may search before the next clock check; 0 if the budget is used up."""
        if self.seconds is not None and time.monotonic() - self.began >= self.seconds:
            return 0
        with self.lock:
            taken = SLICE if self.nodes is None else max(0, min(SLICE, self.nodes - self.used))
            self.used += taken
        return taken

    def give_back(self, nodes: int) -> None:
        """Return unused nodes to the budget."""
        with self.lock:
            self.used -= nodes


class ConnectFourSolver(Shared):
    """Solves positions of one size exactly. One object may be used by several threads, one at a time.

    Args:
        game: Connect Four of any size.
        megabytes: size of the transposition table; rounded down to a power of two.
        book: known scores of early positions, or None.
        table_megabytes: the old name of `megabytes`.

    Queries take `Limits` (`node_limit` and `time_limit` are old names of its parts); beyond them the result
    is None, never a guess.

    A copy is the same object, with the same transposition table; unpickling starts with an empty one.

    """

    def __init__(
        self,
        game: Game[State],
        megabytes: int = 64,
        book: Book | None = None,
        *,
        table_megabytes: int | None = None,
    ) -> None:
        if game.name != "connect-four":
            raise ValueError(f"this solver plays connect-four, not {game!r}")
        renamed("ConnectFourSolver", {"table_megabytes": table_megabytes}, "megabytes")
        megabytes = megabytes if table_megabytes is None else table_megabytes
        megabytes = check_int("Connect Four solver", "megabytes", megabytes, 1, 1 << 20)
        require_numba("the Connect Four solver")
        self.game = game
        self.size = (game.parameters["rows"], game.parameters["columns"], game.parameters["connect"])
        self.facts = geometry(*self.size)
        self.cells = self.facts.cells
        if book is not None and book.size != self.size:
            raise ValueError(f"the book is for {book.size}, the game is {self.size}")
        if book is not None and book.missing:
            raise ValueError(f"the book is unfinished: {book.missing} scores are missing")
        self.book = book
        self._big = big_table(megabytes, self.facts.key_bits)
        self._busy = aligned((1 << layout.BUSY_BITS,))
        self.nodes = 0
        self._stacks = [Stack(*self.size, self._big, self._busy)]
        self._lock = threading.RLock()

    # -- questions ----------------------------------------------------------------------------------------------------

    @old_limits
    def score(
        self,
        state: State,
        *,
        limits: Limits = NO_LIMITS,
        threads: int = 1,
    ) -> int | None:
        """Return the exact score, or None if the limits do not allow it.

        Raises:
            PositionError: an illegal or a finished position.

        """
        self._check(state)
        low, high = self._bounds(state, -self.cells, self.cells, Budget.of(limits), threads)
        return low if low == high else None

    @old_limits
    def outcome(
        self,
        state: State,
        *,
        limits: Limits = NO_LIMITS,
    ) -> int | None:
        """Return 1 (won for the side to move), 0 or -1, which is cheaper than the score; None if unknown."""
        self._check(state)
        low, high = self._bounds(state, -1, 1, Budget.of(limits))
        return low if low == high else None

    @old_limits
    def bounds(
        self,
        state: State,
        *,
        limits: Limits = NO_LIMITS,
    ) -> tuple[int, int]:
        """Return (lower, upper) bounds of the score, as far as the limits allow."""
        self._check(state)
        return self._bounds(state, -self.cells, self.cells, Budget.of(limits))

    @old_limits
    def action_values(
        self,
        state: State,
        *,
        limits: Limits = NO_LIMITS,
    ) -> dict[int, int] | None:
        """Return the score after each legal move, from the mover's view; None if one is unknown."""
        self._check(state)
        budget = Budget.of(limits)
        values = {}
        for action in self.game.legal_actions(state):
            value = self._action_value(state, action, budget)
            if value is None:
                return None
            values[action] = value
        return values

    @old_limits
    def best_moves(
        self,
        state: State,
        *,
        limits: Limits = NO_LIMITS,
    ) -> list[int] | None:
        """Return every move with the best score: the fastest wins, or the slowest losses."""
        values = self.action_values(state, limits=limits)
        if values is None:
            return None
        best = max(values.values())
        return [action for action, value in values.items() if value == best]

    @old_limits
    def best_move(
        self,
        state: State,
        *,
        limits: Limits = NO_LIMITS,
        order: list[int] | None = None,
    ) -> int | None:
        """Return the first move in `order` (all legal ones; default: by column) with the best score."""
        self._check(state)
        legal = self.game.legal_actions(state)
        if order is not None and sorted(order) != legal:
            raise ValueError(f"order must contain each of the legal actions {legal} once, not {order!r}")
        return self._best_move(state, Budget.of(limits), legal if order is None else order)

    @old_limits
    def line(
        self,
        state: State,
        *,
        limits: Limits = NO_LIMITS,
    ) -> list[int] | None:
        """Return the principal variation to the end, always with the first best move by column."""
        self._check(state)
        budget = Budget.of(limits)
        moves = []
        while not self.game.is_terminal(state):
            move = self._best_move(state, budget, self.game.legal_actions(state))
            if move is None:
                return None
            moves.append(move)
            state = self.game.step(state, move)
        return moves

    def solve_many(
        self,
        positions: Words,
        *,
        weak: bool = False,
        related: bool = False,
        least: NDArray[np.int64] | None = None,
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
        chunk: int = 64,
    ) -> NDArray[np.int64]:
        """Solve an array of unfinished positions.

        Args:
            positions: uint64 (n, 2): stones of the side to move, all stones (`as_words` makes them of states).
            weak: only the sign of the score.
            related: neighbours in the array are similar, so that one's score is a good guess for the next.
            least: int64 (n,), proven lower bounds that are likely to be the scores.
            threads: number of positions searched at a time, on a shared transposition table.
            progress: called with the number of positions done since the last call.
            chunk: number of positions a thread takes at a time.

        Returns:
            int64 (n,), the scores. The book is not used.

        Raises:
            PositionError: a row is not an open position of this size (the message gives its index); not checked is
                whether moves can lead there.

        """
        positions = np.ascontiguousarray(positions, np.uint64)
        if positions.ndim != 2 or positions.shape[1] != 2:
            raise ValueError(f"positions must be uint64 (n, 2), not {positions.shape}")
        self._check_words(positions)
        limit = 1 if weak else self.cells
        bounds = np.empty((len(positions), 2), np.int64)
        bounds[:] = (-limit, limit)
        if least is not None:
            bounds[:, 0] = np.clip(least, -limit, limit)
        starts = itertools.count(0, chunk)

        def work(thread: Stack) -> None:
            while not stop.is_set() and (start := next(starts)) < len(positions):
                rows = slice(start, start + chunk)
                thread.begin(related, least is not None)
                while not thread.go_on(positions[rows], bounds[rows], thread.nodes + SLICE):
                    if stop.is_set():
                        return
                with count_lock:
                    self.nodes += thread.nodes
                    if progress is not None:
                        progress(len(bounds[rows]))

        stop, count_lock = threading.Event(), threading.Lock()
        with self._lock:
            self.nodes = 0
            _together(self._threads(threads), work, stop)
        return bounds[:, 0]

    def as_words(self, states: list[State]) -> Words:
        """Return states as an array for `solve_many`: uint64 (n, 2)."""
        words = np.empty((len(states), 2), np.uint64)
        for row, state in zip(words, states, strict=True):
            row[0] = state.player_1 if state.seat else state.player_0
            row[1] = state.player_0 | state.player_1
        return words

    def prepare(self) -> None:
        """Compile or load what a search needs, ahead of the first query."""
        self.solve_many(np.zeros((0, 2), np.uint64))

    @contextlib.contextmanager
    def afresh(self, limits: Limits) -> Iterator[None]:
        """Lock the solver for one thread; with a node limit clear the transposition table first.

        The result then depends on the query alone.
        """
        with self._lock:
            if limits.nodes is not None:
                self.forget()
            yield

    def forget(self) -> None:
        """Clear the transposition tables. Their entries are proven, so only measurements need this."""
        with self._lock:
            self._big.fill(0)
            for thread in self._stacks:
                thread.small.fill(0)
                thread.history.fill(0)

    # -- searches -----------------------------------------------------------------------------------------------------

    def _threads(self, count: int) -> list[Stack]:
        if count < 1:
            raise ValueError(f"threads must be 1 or more, not {count!r}")
        while len(self._stacks) < count:
            self._stacks.append(Stack(*self.size, self._big, self._busy))
        return self._stacks[:count]

    def _check(self, state: State) -> None:
        self.game.check_state(state)
        if self.game.is_terminal(state):
            raise PositionError(f"{self.game.format(state)}: the game is over")

    def _check_words(self, positions: Words) -> None:
        fault = make_fault(*self.size)(positions)
        if fault >= 0:
            index, problem = divmod(fault, len(PROBLEMS))
            own, mask = positions[index]
            raise PositionError(f"position {index} (own {own:#x}, all {mask:#x}): {PROBLEMS[problem]}")

    def _bounds(self, state: State, low: int, high: int, budget: Budget, threads: int = 1) -> tuple[int, int]:
        """Return proven bounds, clipped to the window: they meet when the limits allow."""
        known = None if self.book is None else self.book.get(state)
        if known is not None:
            known = max(low, min(high, known))
            return known, known
        positions = self.as_words([state])
        if self.book is not None and self.stones(state) == self.book.plies + 1:
            low = min(high, max(low, int(self.book.least(positions)[0])))
            if low == high:
                return low, high
        with self._lock:
            self.nodes = 0
            workers = self._threads(threads)
            shared = [np.array([[low, high]], np.int64) for _ in workers]
            if threads == 1:
                self._run(workers[0], positions, shared[0], budget, lambda: False)
            else:
                self._race(workers, positions, shared, budget)
            self.nodes = sum(worker.nodes for worker in workers)
            proven_low = max(int(bounds[0, 0]) for bounds in shared)
            proven_high = min(int(bounds[0, 1]) for bounds in shared)
            return proven_low, proven_high

    def _run(
        self,
        thread: Stack,
        positions: Words,
        bounds: NDArray[np.int64],
        budget: Budget,
        stopped: Callable[[], bool],
        together: bool = False,
    ) -> bool:
        """Search one position with one thread; return whether its bounds meet."""
        thread.begin(together=together)
        while (nodes := budget.take()) > 0:
            before = thread.nodes
            done = thread.go_on(positions, bounds, before + nodes)
            budget.give_back(before + nodes - thread.nodes)
            if done or stopped():
                return done
        return False

    def _race(self, workers: list[Stack], positions: Words, shared: list[NDArray[np.int64]], budget: Budget) -> None:
        """Let several threads solve one position; they share a table, and the first to finish stops the others."""
        over = threading.Event()
        self._busy.fill(0)

        def work(thread: Stack) -> None:
            index = workers.index(thread)
            if index:
                # A different order of equal moves sends this thread elsewhere.
                noise = np.random.default_rng(index).integers(-layout.UNIT // 4, layout.UNIT // 4, thread.history.shape)
                thread.history[:] = noise
            # A thread that runs out of budget leaves the others theirs.
            if self._run(thread, positions, shared[index], budget, over.is_set, together=True):
                over.set()
                for other in workers:
                    other.stop()

        _together(workers, work, over)

    def _action_value(self, state: State, action: int, budget: Budget) -> int | None:
        after = self.game.step(state, action)
        if self.game.is_terminal(after):
            return (self.cells + 1 - self.stones(state)) // 2 if after.winner == state.seat else 0
        low, high = self._bounds(after, -self.cells, self.cells, budget)
        return -low if low == high else None

    def _keeps(self, state: State, action: int, score: int, budget: Budget) -> bool | None:
        """Whether a move has the position's score, by a single null window; None if the budget ends."""
        after = self.game.step(state, action)
        if self.game.is_terminal(after):
            return self._action_value(state, action, budget) == score
        least, most = self._bounds(after, -score, -score + 1, budget)
        return most == -score if least == most else None

    def _best_move(self, state: State, budget: Budget, order: list[int]) -> int | None:
        low, high = self._bounds(state, -self.cells, self.cells, budget)
        if low != high:
            return None
        # First exclude moves without search: a single one may remain.
        rest = [action for action in order if self._keeps(state, action, low, Budget(nodes=0)) is not False]
        for action in rest[:-1]:
            keeps = self._keeps(state, action, low, budget)
            if keeps is None:
                return None
            if keeps:
                return action
        return rest[-1]

    def stones(self, state: State) -> int:
        """Return the number of stones on the board."""
        return popcount(state.player_0 | state.player_1)


def _together(workers: list[Stack], work: Callable[[Stack], None], stop: threading.Event) -> None:
    """Run `work` for each worker, the first in the calling thread; an error or interruption stops all."""
    if len(workers) == 1:
        work(workers[0])
        return

    def guarded(worker: Stack) -> None:
        try:
            work(worker)
        except BaseException:
            stop.set()
            for other in workers:
                other.stop()
            raise

    with ThreadPoolExecutor(len(workers) - 1) as pool:
        others = [pool.submit(guarded, worker) for worker in workers[1:]]
        guarded(workers[0])
        for other in others:
            other.result()


def default_solver(
    game: Game[State],
    *,
    megabytes: int = 64,
    book: str | os.PathLike[str] | None = None,
    table_megabytes: int | None = None,
) -> ConnectFourSolver:
    """Return a solver with the book in a file, or with the shipped book for this size, if any.

    Raises:
        BookError: the file is not an intact book; ValueError: it is for another size.

    """
    renamed("default_solver", {"table_megabytes": table_megabytes}, "megabytes")
    megabytes = megabytes if table_megabytes is None else table_megabytes
    return ConnectFourSolver(game, megabytes, Book.of(game, book))
