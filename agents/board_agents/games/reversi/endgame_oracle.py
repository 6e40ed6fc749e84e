"""Exact values of Reversi positions near the end of the game."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.reversi.endgame_kernels import make_search
from board_agents.games.reversi.endgame_table import BUCKET
from board_agents.games.reversi.endgame_workspace import (
    BONUS,
    BUSY,
    BUSY_BITS,
    CONTEXT,
    DATE,
    GUESS,
    LIMIT,
    MEMORY_WORDS,
    NODES,
    ORDERED,
    SHIFT,
    STOP,
    TABLE,
)
from board_agents.games.reversi.move_ordering import make_context, make_ordering
from board_agents.games.reversi.pattern_evaluation import UNIT, shipped_evaluation
from board_agents.games.reversi.thinking import NO_LIMIT, Thinker
from board_agents.lowlevel.aligned_arrays import aligned
from board_agents.lowlevel.atomic_files import begins_with, write_whole
from board_agents.lowlevel.copies import Shared
from board_agents.lowlevel.interrupts import watched
from board_agents.oracle import LimitReachedError, check_seconds
from board_envs._bits import popcount
from board_envs._jit import require_numba
from board_envs.game import Game, check_int
from board_envs.games.reversi import State
from board_envs.games.reversi.board import check_scoring, sides
from board_envs.games.reversi.moves import legal_moves
from board_envs.games.reversi.rules import board_mask, start_discs
from board_envs.games.reversi.tiers import tier_names
from board_envs.types import PositionError, Words

LEARNED_SIZE = 8
"""Size of board that there is an evaluation of."""
GUESSED = 19
"""From this number of empty squares on, an exact search starts at the midgame search's value: a tenth less time."""
_GUESS_DEPTH, _GUESS_SELECTIVITY = 14, 1.4
"""Maximum depth of that midgame search in plies (otherwise half of the empty squares), and its selectivity."""
DIRECT = 16
"""With so few empty squares a search takes milliseconds: no thread is started to watch over time and keyboard."""


class Solution(NamedTuple):
    """What a search found.

    Attributes:
        value: the result under best play for the seat to move, in discs (with goal "outcome" 1, 0 or -1); None if the
            limit came first: nothing is known then.
        best: an action that reaches it; None if unknown or the game is over.
        nodes: positions visited with four or more empty squares, by the search for a first guess too.

    """

    value: int | None
    best: int | None
    nodes: int


class _Table:
    """Positions with their bounds, shared by the searches of one oracle; true for ever, so never emptied.

    Args:
        words: uint64, a power of two of buckets from a multiple of 64 bytes on, so that a bucket is one cache line.

    """

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.words = words
        self.bits = (len(words) // BUCKET).bit_length() - 1
        self.address = words.ctypes.data

    @classmethod
    def make(cls, megabytes: int) -> _Table:
        """Return an empty table in at most so much memory."""
        length = 1 << ((megabytes << 20) // 8).bit_length() - 1
        return cls(aligned((length,)))

    def part(self, index: int, count: int) -> _Table:
        """Return part `index` of `count` as a table, so that unrelated searches do not share lines."""
        length = len(self.words) >> (count - 1).bit_length()
        return _Table(self.words[index * length : (index + 1) * length])


class _Searcher:
    """One thread's search: its memory and a limit over several searches."""

    def __init__(self, size: int, table: _Table, bonus: bool, tier: str | None) -> None:
        self.helpers: list[_Searcher] = []
        name = tier_names()[0] if tier is None else tier
        self._search = make_search(size, name, make_ordering(name) if size == LEARNED_SIZE else None)
        self._tier = name
        self._context: Words | None = None
        self._thinker: Thinker | None = None
        self._memory = np.zeros(MEMORY_WORDS, np.uint64)
        self._memory[TABLE] = table.address
        self._memory[SHIFT] = 64 - table.bits
        self._memory[BONUS] = int(bonus)
        self._busy = np.zeros(1 << BUSY_BITS, np.uint64)
        self._table = table
        self._address = np.uint64(self._memory.ctypes.data)
        self._out = np.zeros(3, np.int64)
        self._size, self._cells = size, size * size
        self._deadline: float | None = None
        self._last: State | None = None

    def begin(self, state: State, nodes: int | None, seconds: float | None) -> None:
        """Set the limit for the searches that follow, of a position and what comes after it."""
        empties = self._cells - popcount(state.black | state.white)
        # A small search in a small part of the table stays within the processor's near caches: a sixth of the time.
        self._memory[SHIFT] = 64 - min(self._table.bits, 12 + max(0, empties - 15))
        self.learn(empties)
        for helper in self.helpers:
            helper.learn(min(empties, GUESSED - 1))
        self._memory[NODES] = self._memory[STOP] = 0
        self._memory[LIMIT] = NO_LIMIT if nodes is None else nodes
        if state != self._last:
            # What earlier searches left gives way first, but not to the continuation of one that was stopped.
            self._memory[DATE] = (int(self._memory[DATE]) + 1) % 256
            self._last = state
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def learn(self, empties: int) -> None:
        """Load the evaluations for move ordering and estimates, if there are enough empty squares."""
        if self._size != LEARNED_SIZE or empties < ORDERED:
            return
        if self._context is None:
            self._context = make_context(shipped_evaluation())
            self._memory[CONTEXT] = self._context.ctypes.data
        if self._thinker is None and empties >= GUESSED:
            self._thinker = Thinker(
                shipped_evaluation(), table_bits=16, selectivity=_GUESS_SELECTIVITY, tier=self._tier
            )
            self._thinker.compile()

    @property
    def nodes(self) -> int:
        return int(self._memory[NODES])

    @property
    def likely(self) -> int:
        """The action that the last search thinks best, -1 if it does not know."""
        bit, size = int(self._out[2]), self._size
        return -1 if bit == 64 else bit // 8 * size + bit % 8

    def stop(self) -> None:
        """End the running search from another thread; the memory stays stopped until `begin`."""
        self._memory[STOP] = 1

    def value(self, own: np.uint64, other: np.uint64, alpha: int, beta: int) -> int:
        """Return the value within a window, bounds outside of it; LimitReachedError at the limit."""
        arguments = (self._address, own, other, alpha, beta, self._out)
        empties = self._cells - popcount(own | other)
        if beta - alpha == 2 * self._cells:
            self._memory[GUESS] = 100 + self._first_bar(own, other, empties)
        if empties > DIRECT and self.helpers and beta - alpha > 1:
            self._together(own, other, alpha, beta)
        elif empties <= DIRECT:
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise LimitReachedError
            self._search.window(*arguments)
        else:
            self._watched(arguments)
        if self._out[1]:
            raise LimitReachedError
        return int(self._out[0])

    def _first_bar(self, own: np.uint64, other: np.uint64, empties: int) -> int:
        """Return where to begin the search for the exact value: just below the even number that is expected."""
        expected = 0
        if self._thinker is not None and empties >= GUESSED and legal_moves(own, other):
            self._thinker.begin(int(self._memory[LIMIT]))
            depth = min(_GUESS_DEPTH, empties // 2)
            for plies in range(2 - depth % 2, depth + 1, 2):
                found = self._thinker.search(own, other, plies, deadline=self._deadline)
                if found.square == 64:
                    break
                expected = found.value
            self._memory[NODES] += np.uint64(self._thinker.nodes)
        return max(1 - self._cells, 2 * round(expected / (2 * UNIT)) - 1)

    def _together(self, own: np.uint64, other: np.uint64, alpha: int, beta: int) -> None:
        """Search one position in several threads, which share the table and keep out of each other's way."""
        for helper in self.helpers:
            for word in (STOP, LIMIT, SHIFT, DATE, GUESS):
                helper._memory[word] = self._memory[word]
            helper._memory[NODES] = 0
        workers = []
        for searcher in (self, *self.helpers):
            searcher._memory[BUSY] = self._busy.ctypes.data
        self._busy[:] = 0
        finished: list[_Searcher] = []

        def help_out(helper: _Searcher) -> None:
            helper._search.window(helper._address, own, other, alpha, beta, helper._out)
            if not helper._out[1]:
                finished.append(helper)
                self.stop()

        for helper in self.helpers:
            workers.append(threading.Thread(target=help_out, args=(helper,), daemon=True))
            workers[-1].start()
        try:
            self._watched((self._address, own, other, alpha, beta, self._out))
        finally:
            for helper in self.helpers:
                helper.stop()
            for worker in workers:
                worker.join()
            self._memory[BUSY] = 0
            self._memory[NODES] += sum(helper._memory[NODES] for helper in self.helpers)
        if self._out[1] and finished:
            self._out[:] = finished[0]._out
        if not self._out[1]:
            # A helper may have stopped this search just after its end.
            self._memory[STOP] = 0

    def _watched(self, arguments: tuple[Any, ...]) -> None:
        watched(lambda: self._search.window(*arguments), self.stop, self._deadline)


class ReversiOracle(Shared):
    """Exact endgame values, by search to the end of the game.

    Args:
        game: Reversi of any size.
        rule: how a finished game is counted, "plain" (difference of discs) or "empties-to-winner".
        empties: `action_values` answers None with more empty squares than this. With 18 all moves together take about
            a tenth of a second on a processor of today, and six times as long for every two more.
        nodes: most positions visited in one call, by each thread; None for no limit. With one thread the same limit
            gives the same answer everywhere.
        seconds: most seconds in one call; None for no limit.
        megabytes: memory for positions seen.
        threads: how many search one position of more than 16 empty squares. With several, node counts and the choice
            among equal moves vary from run to run, values do not.
        tier: form of the move generation (see `board_envs.games.reversi.tiers`); None for the best here.

    A copy is the same object, with the same memory; a pickle is made again with an empty one.

    Raises:
        MissingExtraError: numba is not installed.

    """

    def __init__(
        self,
        game: Game[State],
        *,
        rule: str = "plain",
        empties: int = 18,
        nodes: int | None = None,
        seconds: float | None = None,
        megabytes: int = 16,
        threads: int = 1,
        tier: str | None = None,
    ) -> None:
        if game.name != "reversi":
            raise ValueError(f"a Reversi solver cannot solve {game!r}")
        require_numba("the Reversi solver")
        self.game = game
        self.rule = check_scoring(rule)
        self.size = int(game.parameters["size"])
        self.empties = check_int("reversi solver", "empties", empties, 0, 64)
        self.nodes = None if nodes is None else check_int("reversi solver", "nodes", nodes, 1, NO_LIMIT - 1)
        self.seconds = None if seconds is None else check_seconds("reversi solver", seconds)
        self.threads = check_int("reversi solver", "threads", threads, 1, 256)
        self._tier = tier
        self._table = _Table.make(check_int("reversi solver", "megabytes", megabytes, 1, 1 << 20))
        self._cells = self.size**2
        self._outside = ~board_mask(self.size)
        black, white = start_discs(self.size)
        self._start = black | white
        self._searcher = self._make_searcher()
        self._searcher.helpers = [self._make_searcher() for _ in range(self.threads - 1)]
        self._lock = threading.Lock()

    def _make_searcher(self, table: _Table | None = None) -> _Searcher:
        return _Searcher(self.size, table or self._table, self.rule == "empties-to-winner", self._tier)

    # -- questions ----------------------------------------------------------------------------------------------------

    def action_values(self, state: State) -> dict[int, float] | None:
        """Return each legal action's exact value in discs for the mover, {} if the game is over, None out of reach."""
        if self._empty_squares(state) > self.empties:
            return None
        return self._asked(state, lambda searcher: self._action_values(searcher, state), None)

    def fresh_values(self, state: State) -> dict[int, float] | None:
        """Return what `action_values` returns if nothing was asked before, where that may matter: with a limit."""
        if self._empty_squares(state) > self.empties:
            return None
        with self._lock:
            if self.nodes is not None:
                self._table.words[:] = 0
            return self._ask(state, lambda searcher: self._action_values(searcher, state), None)

    def value(self, state: State) -> int | None:
        """Return the exact value in discs for the seat to move, None out of reach."""
        return self.solve(state).value if self._empty_squares(state) <= self.empties else None

    def line(self, state: State) -> list[int]:
        """Return best play to the end of the game as actions; [] if the game is over or the position out of reach."""
        if self._empty_squares(state) > self.empties:
            return []
        return self._asked(state, lambda searcher: self._line(searcher, state), [])

    def best_move(self, state: State) -> int | None:
        """Return an action of the highest value, None if the game is over or the position out of reach."""
        return self.solve(state).best if self._empty_squares(state) <= self.empties else None

    def prepare(self) -> None:
        """Compile, or load what was compiled, for all positions within reach: no question after this waits for it."""
        with self._lock:
            self._compile(self._searcher, self.empties)

    def solve(
        self, state: State, *, goal: str = "exact", nodes: int | None = None, seconds: float | None = None
    ) -> Solution:
        """Search a position with any number of empty squares.

        Args:
            state: the position.
            goal: "exact", or "outcome": only who wins, which takes about half the time.
            nodes: limit of this call instead of the oracle's.
            seconds: limit of this call instead of the oracle's.

        """
        _check_goal(goal)
        self._empty_squares(state)
        nodes = self.nodes if nodes is None else check_int("reversi solver", "nodes", nodes, 1, NO_LIMIT - 1)
        seconds = self.seconds if seconds is None else check_seconds("reversi solver", seconds)
        with self._lock:
            return _solve(self._searcher, self.game, state, goal, nodes, seconds)

    def solve_many(
        self,
        states: Iterable[State],
        *,
        goal: str = "exact",
        nodes: int | None = None,
        seconds: float | None = None,
        threads: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> list[Solution]:
        """Solve positions, several at a time; the limits are those of each position.

        Args:
            states: the positions.
            goal: as in `solve`.
            nodes: as in `solve`.
            seconds: as in `solve`.
            threads: how many positions at a time; 0 for one a core.
            progress: called with the number of positions done, after each.

        """
        _check_goal(goal)
        nodes = self.nodes if nodes is None else check_int("reversi solver", "nodes", nodes, 1, NO_LIMIT - 1)
        seconds = self.seconds if seconds is None else check_seconds("reversi solver", seconds)
        positions = list(states)
        check_int("reversi solver", "threads", threads, 0, 256)
        threads = min(threads or os.cpu_count() or 1, max(1, len(positions)))
        local = threading.local()
        searchers: list[_Searcher] = []
        done = 0
        counting = threading.Lock()
        with self._lock:
            # Compiled by one thread, before the others want it.
            searchers = [self._make_searcher(self._table.part(i, threads)) for i in range(threads)]
            if positions:
                self._compile(searchers[0], max(map(self._empty_squares, positions)))
            free = list(searchers)

            def one(state: State) -> Solution:
                nonlocal done
                if not hasattr(local, "searcher"):
                    with counting:
                        local.searcher = free.pop()
                solution = _solve(local.searcher, self.game, state, goal, nodes, seconds)
                with counting:
                    done += 1
                    if progress is not None:
                        progress(done)
                return solution

            # The longest first, so that no thread is left alone with one of them at the end.
            order = sorted(range(len(positions)), key=lambda i: -self._empty_squares(positions[i]))
            if threads == 1:
                found = {i: one(positions[i]) for i in order}
                return [found[i] for i in range(len(positions))]
            pool = ThreadPoolExecutor(threads)
            try:
                found = dict(zip(order, pool.map(lambda i: one(positions[i]), order), strict=True))
                return [found[i] for i in range(len(positions))]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for searcher in searchers:
                    searcher.stop()
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    # -- long searches ------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what is known of positions to a file, so that a stopped search can go on in another process.

        The file is a line of JSON and the table's words, little endian; it replaces an earlier one as a whole;
        FileExistsError if there is a file of another kind.
        """
        with self._lock:
            words = self._table.words.astype("<u8", copy=False)
            header = {**self._file_header(), "sha256": hashlib.sha256(words.data).hexdigest()}

            def write(part: pathlib.Path) -> None:
                with part.open("wb") as file:
                    file.write(json.dumps(header).encode() + b"\n")
                    file.write(words.data)

            write_whole(path, write, ours=begins_with(b'{"format": "board-envs reversi table"'))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Read what `save` wrote; ValueError if the file is damaged or of another board, rule or amount of memory."""
        with pathlib.Path(path).open("rb") as file:
            try:
                header = json.loads(file.readline(4096))
            except ValueError:
                raise ValueError(f"{path}: not a table of the Reversi solver") from None
            data = file.read()
        for key, wanted in self._file_header().items():
            found = header.get(key) if isinstance(header, dict) else None
            if found != wanted:
                raise ValueError(f"{path}: {key} is {found!r}, this oracle needs {wanted!r}")
        if len(data) != self._table.words.nbytes or hashlib.sha256(data).hexdigest() != header.get("sha256"):
            raise ValueError(f"{path}: damaged, the checksum differs")
        with self._lock:
            self._table.words[:] = np.frombuffer(data, "<u8")

    def _file_header(self) -> dict[str, Any]:
        return {
            "format": "board-envs reversi table",
            "version": 1,
            "size": self.size,
            "rule": self.rule,
            "bits": self._table.bits,
        }

    # -- how ----------------------------------------------------------------------------------------------------------

    def _empty_squares(self, state: State) -> int:
        """Count empty squares; PositionError for what is no state of this size (a full check would cost more)."""
        if not isinstance(state, State) or (state.black & state.white) or (state.black | state.white) & self._outside:
            raise PositionError(f"no state of {self.game!r}: {state!r}")
        if self._start & ~(state.black | state.white):
            raise PositionError(f"the centre is empty: no state of {self.game!r}: {state!r}")
        return self._cells - popcount(state.black | state.white)

    def _compile(self, searcher: _Searcher, empties: int) -> None:
        """Compile or load the code for positions of up to `empties` empty squares."""
        searcher.learn(empties)
        full = self.game.parse("X" * self._cells + " X")
        _solve(searcher, self.game, full, "exact", None, None)

    def _asked(self, state: State, answer: Callable[[_Searcher], Any], unknown: Any) -> Any:
        with self._lock:
            return self._ask(state, answer, unknown)

    def _ask(self, state: State, answer: Callable[[_Searcher], Any], unknown: Any) -> Any:
        self._searcher.begin(state, self.nodes, self.seconds)
        try:
            return answer(self._searcher)
        except LimitReachedError:
            return unknown

    def _action_values(self, searcher: _Searcher, state: State) -> dict[int, float]:
        actions = self.game.legal_actions(state)
        children = {action: self.game.rules.step(state, action) for action in actions}
        if not actions:
            return {}
        top = searcher.value(*sides(state), -self._cells, self._cells)
        values = {}
        for action in actions:
            # Nothing beats the best, and most moves are not far below it.
            values[action] = float(_exactly(searcher, children[action], state.seat, top, self._cells))
        return values

    def _line(self, searcher: _Searcher, state: State) -> list[int]:
        actions: list[int] = []
        if not state.moves:
            return actions
        value = searcher.value(*sides(state), -self._cells, self._cells)
        while state.moves:
            action = _reaching(searcher, self.game, state, value)
            actions.append(action)
            after = self.game.rules.step(state, action)
            value = value if after.seat == state.seat else -value
            state = after
        return actions


def _view(searcher: _Searcher, state: State, seat: int, alpha: int) -> int:
    """Return a bound of a position's value for `seat`, above alpha or not."""
    if state.seat == seat:
        return searcher.value(*sides(state), alpha, alpha + 1)
    return -searcher.value(*sides(state), -alpha - 1, -alpha)


def _exactly(searcher: _Searcher, state: State, seat: int, guess: int, cells: int) -> int:
    """Return a position's value for `seat` by null windows from a guess on; it is at most the guess."""
    lower, upper = -cells, guess
    while lower < upper:
        alpha = upper - 1
        bound = _view(searcher, state, seat, alpha)
        if bound > alpha:
            lower = bound
        else:
            upper = bound
    return upper


def _reaching(searcher: _Searcher, game: Game[State], state: State, value: int) -> int:
    """Return an action whose value is the position's, which was searched last."""
    actions = sorted(game.legal_actions(state), key=lambda action: action != searcher.likely)
    for action in actions[:-1]:
        if _view(searcher, game.rules.step(state, action), state.seat, value - 1) >= value:
            return action
    return actions[-1]


def _solve(
    searcher: _Searcher, game: Game[State], state: State, goal: str, nodes: int | None, seconds: float | None
) -> Solution:
    cells = game.num_actions
    searcher.begin(state, nodes, seconds)
    alpha, beta = (-cells, cells) if goal == "exact" else (-1, 1)
    try:
        value = searcher.value(*sides(state), alpha, beta)
        if goal == "outcome":
            value = (value > 0) - (value < 0)
        best = _reaching(searcher, game, state, value) if state.moves else None
    except LimitReachedError:
        return Solution(None, None, searcher.nodes)
    return Solution(value, best, searcher.nodes)


def _check_goal(goal: str) -> None:
    if goal not in ("exact", "outcome"):
        raise ValueError(f"goal must be 'exact' or 'outcome', not {goal!r}")
