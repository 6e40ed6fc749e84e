"""Upper bounds of a score by following up: L. V. Allis' "rule of claimeven"."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from board_agents.games.connect_four.geometry import geometry
from board_envs._bits import ONE, ZERO, clear_lowest, lowest
from board_envs._jit import jitable
from board_envs.games.connect_four.rules import make_has_line


class ScoreBounds(NamedTuple):
    """Jitable bounds of one size; see `make_score_bounds`."""

    follow_up: Callable[[np.uint64, np.uint64], int]
    owed_square: Callable[[np.uint64, np.uint64, np.uint64], int]


@functools.cache
def make_score_bounds(rows: int, columns: int, connect: int) -> ScoreBounds:
    """Return the bounds of one size: `follow_up` for an even number of empty squares, `owed_square` for an odd one."""
    facts = geometry(rows, columns, connect)
    board, bottom, first_column, paired = facts.board, facts.bottom, facts.column, facts.paired
    height, cells = facts.height, facts.cells
    has_line = make_has_line(rows, connect)

    @jitable
    def follow_up(mine: np.uint64, occupied: np.uint64) -> int:
        """Return an upper bound of the score with an even number of empty squares; `cells` if none is seen.

        The opponent answers each move right above it and, after a move that leaves a column of even room, in another
        column of odd room (with an even number of empty squares there is one): the side to move gets no more than
        `mover_gets`.
        """
        empty = board & ~occupied
        mover_gets = (empty & paired) | ((occupied + bottom) & board)
        if has_line(mine | mover_gets):
            return cells
        return -1 if has_line((mine ^ occupied) | (empty & ~mover_gets)) else 0

    @jitable
    def owed_square(mine: np.uint64, occupied: np.uint64, threats: np.uint64) -> int:
        """Return an upper bound of the score with an odd number of empty squares; `cells` if none is seen.

        The opponent wins on one of its `threats`, even room above the one below it, in a column of odd room. It
        follows up everywhere (see `follow_up`; columns of odd room other than this one are even in number), until the
        side to move must play in that column, where the following up ends on the winning square.
        """
        empty = board & ~occupied
        starts = (occupied + bottom) & board & ~paired
        owed = threats & empty & paired
        while owed != ZERO:
            square = lowest(owed)
            owed = clear_lowest(owed)
            column = square // height
            here = first_column << np.uint64(column * height)
            if starts & here != ZERO:
                below = here & ((ONE << np.uint64(square)) - ONE)
                mover_gets = (((empty & paired) | starts) & ~here) | (empty & ~paired & below)
                if not has_line(mine | mover_gets):
                    return -((rows - (square - column * height) + 1) // 2)
        return cells

    return ScoreBounds(follow_up, owed_square)
