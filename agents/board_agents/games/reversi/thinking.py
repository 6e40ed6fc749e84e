"""One thread's midgame search: its memory, the table, time and interruption."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.reversi.midgame_kernels import make_midgame
from board_agents.games.reversi.midgame_table import ENTRY
from board_agents.games.reversi.midgame_workspace import (
    DATE,
    EVALUATION,
    INFINITE,
    LIMIT,
    MEMORY_WORDS,
    MOST_DEPTH,
    NODES,
    SHIFT,
    SPREADS,
    STOP,
    TABLE,
    shallow_depth,
)
from board_agents.games.reversi.pattern_evaluation import UNIT, Evaluation
from board_agents.lowlevel.copies import Shared
from board_agents.lowlevel.interrupts import watched
from board_envs.games.reversi.board import sides
from board_envs.registry import make_game
from board_envs.types import Words

NO_LIMIT = 2**63
MEASURED = 8
"""Deepest search whose distance from its shallow one training measures; deeper ones are taken to be as far."""


class Found(NamedTuple):
    """What a search of one depth found, in units of 1 / UNIT disc.

    Attributes:
        value: for the player to move.
        square: the best move's bit, 64 if the search was stopped.
        values: square -> value, of the moves whose value is known.

    """

    value: int
    square: int
    values: dict[int, int]


class Thinker(Shared):
    """A search's memory. A copy is the same object: whoever searches holds `lock` from `begin` to the last answer.

    Args:
        evaluation: what searches end with.
        table_bits: the table has 2^table_bits entries of 32 bytes.
        selectivity: how many standard deviations a shallow search must be outside of the window to stand for the deep
            one; None for never.
        tier: form of the move generation.

    """

    def __init__(
        self, evaluation: Evaluation, *, table_bits: int, selectivity: float | None = None, tier: str | None = None
    ) -> None:
        self.evaluation = evaluation
        self.lock = threading.Lock()
        self._kernels = make_midgame(tier)
        self._memory = np.zeros(MEMORY_WORDS, np.uint64)
        self._table = np.zeros(ENTRY << table_bits, np.uint64)
        self._spreads = spread_table(evaluation, selectivity)
        self._memory[TABLE] = self._table.ctypes.data
        self._memory[SHIFT] = 64 - table_bits
        self._memory[EVALUATION] = evaluation.address
        self._memory[SPREADS] = self._spreads.ctypes.data
        self._memory[LIMIT] = NO_LIMIT
        self._address = np.uint64(self._memory.ctypes.data)
        self._values = np.zeros(64, np.int64)
        self._out = np.zeros(3, np.int64)

    def compile(self) -> None:
        """Compile, or load what was compiled, before a clock is started."""
        self.begin()
        self.search(*sides(make_game("reversi").initial_state()), 1)

    def begin(self, nodes: int = NO_LIMIT) -> None:
        """Forget earlier searches, so that the same position gives the same answer whatever came before.

        Args:
            nodes: positions visited until the next `begin`, at most; then the running search is stopped.

        """
        date = int(self._memory[DATE]) % 255 + 1
        if date == 1:
            self._table[:] = 0
        self._memory[DATE] = date
        self._memory[NODES] = self._memory[STOP] = 0
        self._memory[LIMIT] = nodes

    @property
    def nodes(self) -> int:
        """Positions visited since `begin`."""
        return int(self._memory[NODES])

    def search(
        self, own: np.uint64, other: np.uint64, depth: int, *, whole: bool = False, deadline: float | None = None
    ) -> Found:
        """Search one depth of an unfinished position.

        Args:
            own: discs of the player to move.
            other: the other's.
            depth: plies, at least 1.
            whole: find out every move's value, not just the best one's.
            deadline: time.monotonic() at which the search is stopped; None for never.

        """
        arguments = (self._address, own, other, depth, whole, self._values, self._out)
        if deadline is None and depth < 7:
            self._kernels.root(*arguments)
        else:
            watched(lambda: self._kernels.root(*arguments), self.stop, deadline)
        if self._out[2]:
            return Found(0, 64, {})
        known = np.flatnonzero(self._values > -2 * INFINITE).tolist()
        return Found(int(self._out[0]), int(self._out[1]), {square: int(self._values[square]) for square in known})

    def best_known(self, own: np.uint64, other: np.uint64) -> int:
        """Return the square that the searches since `begin` hold to be best in a position, 64 if they do not know."""
        return int(self._kernels.best(self._address, own, other))

    def stop(self) -> None:
        """End the running search from another thread."""
        self._memory[STOP] = 1

    def play(self, keys: np.uint64, depth: int, solved: int, boards: Words, lengths: NDArray[np.int64]) -> None:
        """Play games for training; see `learning.play_games`.

        Args:
            keys: key of the stream that the games' keys are drawn from.
            depth: plies looked ahead.
            solved: empty squares at which a game is handed over.
            boards: uint64 (games, MOST_POSITIONS + 1, 3), gets own, other and seat of each position kept.
            lengths: int64 (games,), gets their numbers; one more follows, reached by loose play.

        """
        self._kernels.play(self._address, keys, depth, solved, boards, lengths, self._values, self._out)


def spread_table(evaluation: Evaluation, selectivity: float | None) -> NDArray[np.int64]:
    """Return by empty squares and depth how far a shallow search must be outside of the window: (65, MOST_DEPTH + 1).

    In units; 0 where nothing is cut: no selectivity, nothing measured, no shallow search.
    """
    table = np.zeros((65, MOST_DEPTH + 1), np.int64)
    measured = evaluation.facts.get("spreads", {})
    if selectivity is None or not measured:
        return table
    bands = sorted(int(band) for band in measured)
    for empties in range(65):
        band = measured[str(min(bands, key=lambda band: abs(band - empties)))]
        for depth in range(3, MOST_DEPTH + 1):
            if shallow_depth(depth):
                known = depth if str(depth) in band else MEASURED - depth % 2
                table[empties, depth] = max(1, round(selectivity * band[str(known)] * UNIT))
    return table
