"""Move ordering: static points of each column plus the history heuristic."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.connect_four.geometry import geometry, make_safe_replies, make_winning_squares
from board_agents.games.connect_four.solver_workspace import (
    ANY,
    HISTORY_LIMIT,
    KNOWN,
    NEVER,
    NO_TABLE,
    PREVIOUS,
    ROW,
    UNIT,
    Ints,
    Workspace,
    lanes_of,
)
from board_envs._bits import ONE, ZERO, as_int, clear_lowest, lowest, popcount
from board_envs._jit import inlined, jitable
from board_envs.types import Words


class MoveRanking(NamedTuple):
    """Jitable parts of one size; see `make_move_ranking`."""

    describe: Callable[..., np.uint64]
    rank_moves: Callable[[Workspace, int, np.uint64, int, int], int]
    best_rank: Callable[[Ints, int], int]


@jitable
def reward(history: NDArray[np.int16], place: int, change: int) -> None:
    """Add to a place of history, within the limit."""
    history[place] = max(-HISTORY_LIMIT, min(HISTORY_LIMIT, history[place] + change))


@inlined
def learn(work: Workspace, d: int, square: int) -> None:
    """History: raise the move that caused a cutoff, lower those tried before it."""
    tried = work.safe[d] & ~work.untried[d] & ~(ONE << np.uint64(square))
    if tried == ZERO:
        return
    history = work.history
    previous = work.frames[d, PREVIOUS] * ROW
    reward(history, ANY + square, 9)
    reward(history, previous + square, 9)
    while tried != ZERO:
        square = lowest(tried)
        tried = clear_lowest(tried)
        reward(history, ANY + square, -5)
        reward(history, previous + square, -5)


@functools.cache
def make_move_ranking(rows: int, columns: int, connect: int) -> MoveRanking:
    """Return the functions that describe and rank the moves of a node, for one size."""
    facts = geometry(rows, columns, connect)
    board, bottom, first_column, height, cells = facts.board, facts.bottom, facts.column, facts.height, facts.cells
    winning_squares = make_winning_squares(rows, connect)
    safe_replies = make_safe_replies(rows, columns, connect)
    lanes_count = lanes_of(rows, columns)
    odd_rows = np.uint64(int(bottom) * sum(1 << row for row in range(0, rows, 2)))
    even_rows = np.uint64(int(board) & ~int(odd_rows))
    low_rows = np.uint64(int(bottom) * 3)

    @jitable
    def describe(
        own: np.uint64, mask: np.uint64, threats_now: np.uint64, safe: np.uint64, empties: int, lanes: Words
    ) -> np.uint64:
        """Write, a lane a column, the opponent's safe replies to each safe move, the move's points and its threats.

        Returns the moves to which the opponent has no safe reply: they win with the next stone but one.
        """
        good_rows = odd_rows if (cells - empties) % 2 == 0 else even_rows
        below_own_threat = (threats_now & ~mask) >> ONE
        wins = ZERO
        for i in range(lanes_count):
            move = safe & (first_column << np.uint64(i * height))
            mine = own | move
            occupied = mask | move
            threats = winning_squares(mine) & board & ~occupied
            answers = safe_replies(threats, occupied)
            wins |= move if answers == ZERO else ZERO
            lanes[i] = answers
            lanes[lanes_count + i] = np.uint64(
                256
                + 2 * popcount(threats)
                + 2 * popcount(threats & good_rows)
                + 2 * popcount(threats & low_rows)
                + 4 * popcount(threats & (threats << ONE))
                - 4 * popcount(answers)
                - 36 * popcount(move & below_own_threat)
            )
            lanes[2 * lanes_count + i] = threats
        return wins

    @inlined
    def rank_moves(work: Workspace, d: int, can: np.uint64, empties: int, known_move: int) -> int:
        """Rank the moves of a frame, each lane a column, and store `describe`'s results; return the best column."""
        lanes, ranks, history, values = work.lanes, work.ranks, work.history, work.values
        rank = NEVER
        # Two loops: a test inside one loop would compile to a branch for each lane.
        if empties >= NO_TABLE:
            previous = work.frames[d, PREVIOUS] * ROW
            for i in range(lanes_count):
                square = lowest(can & (first_column << np.uint64(i * height)))
                points = as_int(lanes[lanes_count + i]) * UNIT + values[square]
                points += history[ANY + square] + history[previous + square]
                points = points << 6 | i if square < 64 else NEVER
                if i == known_move:
                    points |= KNOWN
                ranks[d, i] = points
                rank = max(rank, points)
        else:
            for i in range(lanes_count):
                square = lowest(can & (first_column << np.uint64(i * height)))
                points = as_int(lanes[lanes_count + i]) * UNIT + values[square]
                points = points << 6 | i if square < 64 else NEVER
                ranks[d, i] = points
                rank = max(rank, points)
        for i in range(lanes_count):
            work.replies[d, i] = lanes[i]
            work.later_threats[d, i] = lanes[2 * lanes_count + i]
        column = rank & 63
        ranks[d, column] = NEVER
        return column

    @jitable
    def best_rank(ranks: Ints, d: int) -> int:
        """Return the highest rank of a frame's row."""
        rank = ranks[d, 0]
        for i in range(1, lanes_count):
            rank = max(rank, ranks[d, i])
        return rank

    return MoveRanking(describe, rank_moves, best_rank)
