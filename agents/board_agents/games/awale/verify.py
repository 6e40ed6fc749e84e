"""Checks of whole tables that share nothing with their making but the rules and the order of ranks.

`check_level` asks every configuration whether its score is the best of gain(m) - score(child), and whether its progress
depth is one: a winner has a best move that harvests or lowers it, and all best moves of a loser harvest or lower it.

`iterate_level` finds the scores again, by two-sided value iteration: if play without end counts -n for the mover of A,
score(A) has a lower end, if it counts +n an upper end, and lower(A) = max over m of gain(m) - upper(child), likewise
the other way round. The score is 0 where 0 lies between the ends, and otherwise the end that is nearer to 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from board_agents.games.awale.probing import make_probing
from board_agents.games.awale.tablebase import Report, Tables
from board_envs._bits import ONE, ZERO
from board_envs._jit import Kernel, jitable, kernel
from board_envs.games.awale.rules import make_moves
from board_envs.types import Word, Words

BATCH = 1 << 22
"""Configurations between two reports."""


@dataclass(frozen=True)
class _Checks:
    start: Kernel[Any, None]
    consistent: Kernel[Any, int]
    sweep: Kernel[Any, int]


@functools.cache
def _make_checks(pits: int) -> _Checks:
    probing, moves = make_probing(pits), make_moves(pits, "tamale")
    locate, find, play, playable = probing.locate, probing.find, moves.play, moves.playable
    walls_count = 2 * pits - 1

    @jitable
    def mover_row(walls: Any) -> Word:
        row = ZERO
        before = -1
        for pit in range(pits):
            row |= np.uint64(walls[pit] - before - 1) << np.uint64(8 * pit)
            before = walls[pit]
        return row

    @jitable
    def other_row(walls: Any) -> Word:
        row = ZERO
        for pit in range(pits):
            row |= np.uint64(walls[pits + pit] - walls[pits + pit - 1] - 1) << np.uint64(8 * pit)
        return row

    @jitable
    def advance(walls: Any) -> None:
        # The last entry stands behind the last pit and never moves.
        place = 0
        while place < walls_count - 1 and walls[place] + 1 == walls[place + 1]:
            place += 1
        walls[place] += 1
        for low in range(place):
            walls[low] = low

    @kernel
    def start(level: int, walls: Any) -> None:
        for place in range(walls_count):
            walls[place] = place
        walls[walls_count] = level + walls_count

    @kernel
    def consistent(
        level: int, walls: Any, begin: int, scores: Any, depths: Any, score_at: Words, depth_at: Words
    ) -> int:
        """Check scores and depths, the entries from `begin` on; the rank of the first that is wrong, or -1."""
        for x in range(scores.shape[0]):
            mine, other = mover_row(walls), other_row(walls)
            if locate(mine, other) != (level << 48) + begin + x:
                return begin + x
            score, depth = np.int64(scores[x]), np.int64(depths[x])
            word = playable(mine, other)
            best = -level
            lowered = False
            raised = False
            for pit in range(pits):
                if (word >> np.uint64(pit)) & ONE:
                    after, left, gain = play(mine, other, pit)
                    value = gain - find(left, after, score_at)
                    best = max(best, value)
                    if value == score:
                        if gain > 0 or find(left, after, depth_at) & 255 < depth:
                            lowered = True
                        else:
                            raised = True
            if best != score or (score > 0 and not lowered) or (score < 0 and raised):
                return begin + x
            advance(walls)
        return -1

    @kernel
    def sweep(level: int, walls: Any, begin: int, end: int, lower: Any, upper: Any, score_at: Words) -> int:
        """Improve both ends of the entries begin .. end - 1 in place; how many changed."""
        changed = 0
        for rank in range(begin, end):
            if lower[rank] != upper[rank]:
                mine, other = mover_row(walls), other_row(walls)
                word = playable(mine, other)
                low = -level
                high = -level
                for pit in range(pits):
                    if (word >> np.uint64(pit)) & ONE:
                        after, left, gain = play(mine, other, pit)
                        if gain > 0:
                            value = gain - find(left, after, score_at)
                            low = max(low, value)
                            high = max(high, value)
                        else:
                            child = locate(left, after) & 0xFFFFFFFFFFFF
                            low = max(low, -np.int64(upper[child]))
                            high = max(high, -np.int64(lower[child]))
                if low != lower[rank] or high != upper[rank]:
                    lower[rank] = low
                    upper[rank] = high
                    changed += 1
            advance(walls)
        return changed

    return _Checks(start, consistent, sweep)


def check_level(tables: Tables, level: int, report: Report) -> int | None:
    """Return the rank of the first configuration whose score or depth contradicts its children, None if none does."""
    checks, walls = _make_checks(tables.pits), np.zeros(2 * tables.pits, np.int64)
    scores, depths = tables.scores[level], tables.depths[level]
    checks.start(level, walls)
    for begin in range(0, len(scores), BATCH):
        wrong = checks.consistent(
            level,
            walls,
            begin,
            scores[begin : begin + BATCH],
            depths[begin : begin + BATCH],
            tables.score_addresses,
            tables.depth_addresses,
        )
        if wrong >= 0:
            return int(wrong)
        report(level, min(1.0, (begin + BATCH) / len(scores)))
    return None


def iterate_level(tables: Tables, level: int, report: Report) -> int | None:
    """Solve a level again by two-sided value iteration; the rank of the first score that differs, None if none does.

    The levels below are taken from the tables: check them first. Takes two bytes a configuration.
    """
    checks, walls = _make_checks(tables.pits), np.zeros(2 * tables.pits, np.int64)
    scores = tables.scores[level]
    lower, upper = np.full(len(scores), -level, np.int8), np.full(len(scores), level, np.int8)
    changed = first_changed = 1
    while changed:
        changed = 0
        checks.start(level, walls)
        for begin in range(0, len(scores), BATCH):
            changed += checks.sweep(
                level, walls, begin, min(begin + BATCH, len(scores)), lower, upper, tables.score_addresses
            )
        first_changed = max(first_changed, changed)
        report(level, 1 - changed / first_changed)
    wrong = np.flatnonzero(np.clip(np.zeros_like(lower), lower, upper) != scores)
    return int(wrong[0]) if len(wrong) else None


def verify(tables: Tables, *, full: bool = False, report: Report) -> tuple[int, int] | None:
    """Check all levels from the lowest up; (level, rank) of the first configuration that is wrong, None if all is well.

    Args:
        tables: what to check.
        full: also solve every level again by value iteration.
        report: told how far a level is.

    """
    checks: list[Callable[[Tables, int, Report], int | None]] = [check_level]
    if full:
        checks.append(iterate_level)
    for level in range(tables.total + 1):
        for number, check in enumerate(checks):

            def part(level: int, share: float, number: int = number) -> None:
                report(level, (number + share) / len(checks))

            wrong = check(tables, level, part)
            if wrong is not None:
                return level, wrong
    return None
