"""Tables of exact scores: built, opened, asked.

A score is what the mover of a configuration gains minus what the other gains from here on, in seeds, under best play,
stores not counted; a mat gives each side the same. Positive is good for the mover.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from math import comb
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from board_agents.games.awale.probing import UNKNOWN, make_probing
from board_agents.games.awale.retrograde import DEPTH_LIMIT, finish_depths, finish_scores, solve_level
from board_agents.games.awale.rows import make_rows
from board_agents.games.awale.table_files import (
    SLICE,
    Counter,
    LevelStatistics,
    TableError,
    folder_of,
    forget,
    path_of,
    read_level,
    write_level,
)
from board_agents.games.awale.table_search import make_table_search
from board_envs._jit import require_numba
from board_envs.game import check_int
from board_envs.games.awale.configurations import Configuration, check, unrank
from board_envs.games.awale.rules import PITS_LIMIT, SEEDS_LIMIT, State, row_of
from board_envs.types import Word, Words

D = TypeVar("D")
Report = Callable[[int, float], None]
"""Called with a level and the share of it that is done."""
TOTAL_LIMIT = SEEDS_LIMIT - 1
"""Levels above are refused: a score of -127 and the codes of moves fill a byte."""


def _quiet(level: int, share: float) -> None:
    pass


def check_size(pits: int, total: int) -> tuple[int, int]:
    """Return both as ints; ValueError names the limits."""
    pits = check_int("awale tables", "pits", pits, 1, PITS_LIMIT)
    total = check_int("awale tables", "total", total, 0, TOTAL_LIMIT)
    while comb(total + 2 * pits - 1, total) >= 1 << 32:
        raise ValueError(
            f"awale tables: a level of {total} seeds in {2 * pits} pits has {comb(total + 2 * pits - 1, total)} "
            f"configurations, more than a 32-bit rank can address"
        )
    return pits, total


def _cells(
    pits: int,
    total: int,
    level: int,
    addresses: Words,
    threads: int,
    report: Report,
    initialised: Callable[[], None] = lambda: None,
) -> NDArray[np.uint32]:
    rows = make_rows(pits, max(total, 1))
    return solve_level(
        rows,
        level,
        addresses,
        threads=threads,
        initialised=initialised,
        report=lambda share: report(level, share),
    )


def _score_parts(cells: NDArray[np.uint32], counter: Counter) -> Iterator[NDArray[np.int8]]:
    for begin in range(0, len(cells), SLICE):
        part = cells[begin : begin + SLICE]
        scores = np.empty(len(part), np.int8)
        counter.unresolved += int(finish_scores(part, scores))
        yield scores


def _depth_parts(cells: NDArray[np.uint32]) -> Iterator[NDArray[np.uint8]]:
    for begin in range(0, len(cells), SLICE):
        part = cells[begin : begin + SLICE]
        depths = np.empty(len(part), np.uint8)
        if finish_depths(part, depths) >= DEPTH_LIMIT:
            raise TableError(f"a progress depth of {DEPTH_LIMIT} or more does not fit a byte")
        yield depths


def build(
    pits: int,
    total: int,
    folder: str | os.PathLike[str] | None = None,
    *,
    threads: int = 1,
    report: Report = _quiet,
) -> list[LevelStatistics]:
    """Build the levels 0 to `total` that are not there yet, and return the statistics of all of them.

    A level is written under a temporary name and renamed when it is whole: whatever ends the work, the next call goes
    on with the first level that is missing.

    Args:
        pits: pits a side, 1 to 8.
        total: the most seeds on the board.
        folder: where tables are kept; None for the default (see `default_folder`).
        threads: how many work together; the result is the same.
        report: told how far a level is; also levels found, with share 1.

    Raises:
        ValueError: a size that is not offered.
        TableError: a file in the way is no intact table of this size; it is named and left alone.
        OSError: the disk is full or not writable; the file is named.
        MissingExtraError: numba is not installed.

    """
    pits, total = check_size(pits, total)
    threads = check_int("awale tables", "threads", threads, 1, 64)
    require_numba("building tables")
    place = folder_of(pits, folder)
    place.mkdir(parents=True, exist_ok=True)
    addresses = np.zeros(total + 1, np.uint64)
    kept: list[NDArray[np.int8]] = []
    found = []

    def release() -> None:
        for part in kept:
            forget(part)

    for level in range(total + 1):
        path = path_of(place, level)
        there = path.exists()
        if not there:
            cells, counter = _cells(pits, total, level, addresses, threads, report, release), Counter(level)
            write_level(path, pits, counter, _score_parts(cells, counter), _depth_parts(cells), threads)
            del cells
        # Mapped from the file, so that its memory can be given back.
        statistics, scores, _ = read_level(path, pits, level, check=there)
        kept.append(scores)
        found.append(statistics)
        addresses[level] = scores.ctypes.data
        report(level, 1.0)
    return found


class Move(NamedTuple):
    """What playing a pit is worth.

    Attributes:
        value: seeds still to come, the gain of the move included, for who plays it.
        depth: progress depth of what it leads to; -1 after a harvest.
        mine: the next mover's row after it.
        other: the row of who played it.

    """

    value: int
    depth: int
    mine: Word
    other: Word


class Tables:
    """Levels 0 to `total` of one number of pits, read-only; any number of threads may ask at once.

    A configuration is given as a `State`, or as the 2P numbers from the mover's first pit.

    Attributes:
        pits: pits a side.
        total: the most seeds that the tables know.
        statistics: of each level.
        scores: int8 (configurations,) a level, in the order of ranks.
        depths: uint8 (configurations,) a level: inside a level a winner wins by moves to a smaller depth.

    """

    def __init__(
        self, pits: int, levels: Sequence[tuple[LevelStatistics, NDArray[np.int8], NDArray[np.uint8]]]
    ) -> None:
        self.pits, self.total = pits, len(levels) - 1
        self.statistics = [statistics for statistics, _, _ in levels]
        self.scores = [scores for _, scores, _ in levels]
        self.depths = [depths for _, _, depths in levels]
        self.score_addresses = np.array([part.ctypes.data for part in self.scores], np.uint64)
        self.depth_addresses = np.array([part.ctypes.data for part in self.depths], np.uint64)
        self._probing = make_probing(pits)

    @classmethod
    def open(
        cls,
        pits: int,
        folder: str | os.PathLike[str] | None = None,
        *,
        total: int | None = None,
        check: bool = True,
    ) -> Tables:
        """Map the tables that are in a folder, from level 0 up to `total` or the first one missing.

        Args:
            pits: pits a side.
            folder: where tables are kept; None for the default.
            total: the last level wanted; TableError if one is missing. None for all there are.
            check: compare every level with its checksums (a gigabyte takes about a second).

        Raises:
            TableError: it does not exist, or a file is foreign, truncated or altered; the message names it.

        """
        require_numba("tables of Awalé")
        place = folder_of(pits, folder)
        levels: list[tuple[LevelStatistics, NDArray[np.int8], NDArray[np.uint8]]] = []
        while path_of(place, len(levels)).exists() if total is None else len(levels) <= total:
            levels.append(read_level(path_of(place, len(levels)), pits, len(levels), check=check))
        if not levels:
            raise TableError(
                f"{place}: no tables; build them with: board-envs tables build awale --pits {pits} --max-total SEEDS"
            )
        return cls(pits, levels)

    @classmethod
    def solve(cls, pits: int, total: int, *, threads: int = 1, report: Report = _quiet) -> Tables:
        """Build the levels 0 to `total` in memory, about two bytes a configuration."""
        pits, total = check_size(pits, total)
        require_numba("tables of Awalé")
        addresses, levels = np.zeros(total + 1, np.uint64), []
        for level in range(total + 1):
            cells, counter = _cells(pits, total, level, addresses, threads, report), Counter(level)
            scores = np.concatenate([counter.add_scores(part) for part in _score_parts(cells, counter)])
            depths = np.concatenate([counter.add_depths(part) for part in _depth_parts(cells)])
            levels.append((counter.statistics(), scores, depths))
            addresses[level] = scores.ctypes.data
        return cls(pits, levels)

    def close(self) -> None:
        """Let go of the files; nothing is known afterwards."""
        self.total = -1
        self.statistics, self.scores, self.depths = [], [], []
        self.score_addresses = self.depth_addresses = np.zeros(0, np.uint64)

    def __enter__(self) -> Tables:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def rows(self, position: State | Sequence[int]) -> tuple[Word, Word]:
        """Return the mover's row and the other's."""
        if isinstance(position, State):
            return (position.row0, position.row1) if position.seat == 0 else (position.row1, position.row0)
        configuration = check(position)
        if len(configuration) != 2 * self.pits:
            raise ValueError(f"{len(configuration)} pits, these tables have {2 * self.pits}")
        return row_of(configuration[: self.pits]), row_of(configuration[self.pits :])

    def score_of_rows(self, mine: Word, other: Word) -> int:
        """Return the score of a configuration given as rows; UNKNOWN (-128) beyond the tables."""
        return self._probing.find_one(mine, other, self.score_addresses)

    def depth_of_rows(self, mine: Word, other: Word) -> int:
        """Return the progress depth of a configuration given as rows, which the tables hold."""
        return self._probing.find_one(mine, other, self.depth_addresses) & 255

    def get(self, position: State | Sequence[int], default: D | None = None) -> int | D | None:
        """Return a configuration's score, or `default` if it has more seeds than the tables."""
        score = self.score_of_rows(*self.rows(position))
        return default if score == UNKNOWN else score

    def probe(self, position: State | Sequence[int]) -> int:
        """Return a configuration's score; TableError if it has more seeds than the tables."""
        mine, other = self.rows(position)
        score = self.score_of_rows(mine, other)
        if score == UNKNOWN:
            raise self._too_large(mine, other)
        return score

    def probe_depth(self, position: State | Sequence[int]) -> int:
        """Return a configuration's progress depth; TableError if it has more seeds than the tables."""
        mine, other = self.rows(position)
        if self.score_of_rows(mine, other) == UNKNOWN:
            raise self._too_large(mine, other)
        return self.depth_of_rows(mine, other)

    def _too_large(self, mine: Word, other: Word) -> TableError:
        seeds = self._probing.locate_one(mine, other) >> 48
        return TableError(f"{seeds} seeds on the board, the tables of {self.pits} pits a side go to {self.total}")

    def probe_many(self, rows: Words, out: NDArray[np.int8] | None = None) -> NDArray[np.int8]:
        """Return the scores of many configurations; UNKNOWN (-128) for those with more seeds than the tables.

        Args:
            rows: uint64 (m, 2), the mover's row and the other's, eight bits a pit, first pit lowest.
            out: int8 (m,), filled and returned if given.

        """
        if rows.dtype != np.uint64 or rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(f"rows must be uint64 (m, 2), not {rows.dtype} {rows.shape}")
        scores = np.empty(len(rows), np.int8) if out is None else out
        self._probing.find_many(np.ascontiguousarray(rows), self.score_addresses, scores)
        return scores

    def moves(self, position: State | Sequence[int]) -> dict[int, Move] | None:
        """Return what each playable pit is worth and leads to; None if a child has more seeds than the tables."""
        return self.moves_of_rows(*self.rows(position))

    def moves_of_rows(self, mine: Word, other: Word) -> dict[int, Move] | None:
        """Return the same for a configuration given as rows."""
        out, children = np.full((self.pits, 2), UNKNOWN, np.int64), np.zeros((self.pits, 2), np.uint64)
        if not self._probing.values(mine, other, self.score_addresses, self.depth_addresses, out, children):
            return None
        return {
            pit: Move(value, depth, children[pit, 0], children[pit, 1])
            for pit, (value, depth) in enumerate(out.tolist())
            if value != UNKNOWN
        }

    def search(self, position: State | Sequence[int], earlier: Words, depth: int) -> tuple[int, int]:
        """Return (pit, value) of the best move that alpha-beta finds, with these tables at its leaves.

        Where the tables know nothing a leaf counts the seeds harvested on the way.

        Args:
            position: with a playable pit.
            earlier: uint64 (k, 2), configurations that would be a mat.
            depth: plies to look ahead, 1 or more.

        """
        mine, other = self.rows(position)
        found = make_table_search(self.pits)(mine, other, np.ascontiguousarray(earlier), self.score_addresses, depth)
        return found & 15, found >> 4

    def action_values(self, position: State | Sequence[int]) -> dict[int, int] | None:
        """Return the value of each playable pit for the mover: gain minus the score of what follows; None beyond.

        A game's history does not count here, see `AwaleOracle`.
        """
        moves = self.moves(position)
        return None if moves is None else {pit: move.value for pit, move in moves.items()}

    def best_action(self, position: State | Sequence[int]) -> int | None:
        """Return the pit to play: of the best ones a winner takes a harvest, or else the smallest progress depth.

        None beyond the tables, and where no pit is playable.
        """
        moves = self.moves(position)
        return best_of({pit: (move.value, move.depth) for pit, move in moves.items()}) if moves else None

    def configuration(self, level: int, rank: int) -> Configuration:
        """Return the configuration at a place of a level."""
        return unrank(rank, level, self.pits)


def best_of(values: dict[int, tuple[int, int]]) -> int:
    """Return the best of (value, progress depth) a pit: the largest value, then progress, then the lowest pit.

    A loser has no use for progress: it takes the largest depth.
    """
    top = max(value for value, _ in values.values())
    sign = 1 if top > 0 else -1
    return min((sign * depth, pit) for pit, (value, depth) in values.items() if value == top)[1]


def open_tables(
    pits: int, folder: str | os.PathLike[str] | None = None, *, total: int | None = None, check: bool = True
) -> Tables:
    """Open tables as `Tables.open` does; use it as a context manager."""
    return Tables.open(pits, folder, total=total, check=check)


def existing_levels(pits: int, folder: str | os.PathLike[str] | None = None) -> list[Path]:
    """List the level files that a folder has, from 0 up to the first one missing."""
    place = folder_of(pits, folder)
    paths: list[Path] = []
    while path_of(place, len(paths)).exists():
        paths.append(path_of(place, len(paths)))
    return paths
