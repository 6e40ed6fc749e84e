"""The learned evaluation as the order in which the endgame solver tries moves: it changes the time, never a value."""

from __future__ import annotations

import functools

import numpy as np

from board_agents.games.reversi.endgame_workspace import Ordering
from board_agents.games.reversi.pattern_evaluation import SCRATCH_WORDS, UNIT, Evaluation, estimate
from board_agents.lowlevel.instructions import load
from board_envs._bits import ONE, ZERO, as_int, lowest, popcount
from board_envs._jit import jitable, recursive
from board_envs.games.reversi import tiers
from board_envs.types import Words

_EVALUATION, _SCRATCH = 0, 1
_CORNERS = np.uint64(0x8100000000000081)

_REPLY = 3 * UNIT
"""A reply less makes as good a move as this gain in the estimate: what leaves the other little is refuted sooner."""


def make_context(evaluation: Evaluation) -> Words:
    """Return what an ordering needs, a thread's own: its address is the `context` of each call."""
    words = np.zeros(_SCRATCH + SCRATCH_WORDS, np.uint64)
    words[_EVALUATION] = evaluation.address
    return words


@functools.cache
def make_ordering(tier_name: str) -> Ordering:
    """Return the order of moves on 8 x 8: a short search of each, and how many replies it leaves."""
    tier = tiers.make_tier(tier_name)
    legal_moves, flipped = tier.legal_moves, tier.flipped

    def ahead(own: np.uint64, other: np.uint64, depth: int, alpha: int, beta: int, n: int, context: np.uint64) -> int:
        """Value in units after `depth` plies, by plain alpha-beta."""
        if depth == 0:
            return estimate(own, other, n, load(context, _EVALUATION), context + np.uint64(8 * _SCRATCH))
        moves = legal_moves(own, other)
        if moves == ZERO:
            if legal_moves(other, own) == ZERO:
                return UNIT * (popcount(own) - popcount(other))
            return -ahead(other, own, depth, -beta, -alpha, n, context)
        while moves != ZERO:
            square = lowest(moves)
            moves &= moves - ONE
            turned = flipped(own, other, square)
            value = -ahead(
                other ^ turned, own | turned | (ONE << np.uint64(square)), depth - 1, -beta, -alpha, n - 1, context
            )
            if value > alpha:
                alpha = value
                if value >= beta:
                    break
        return alpha

    ahead = recursive(ahead)

    @jitable
    def rank(own: np.uint64, other: np.uint64, square: int, turned: np.uint64, n: int, context: np.uint64) -> int:
        mine, theirs = own | turned | (ONE << np.uint64(square)), other ^ turned
        replies = legal_moves(theirs, mine)
        # No constants: numba would compile `ahead` once more for each.
        depth = as_int(np.uint64(0 if n < 17 else 1 if n < 18 else 2 if n < 20 else 3 if n < 22 else 4))
        widest = as_int(np.uint64(65 * UNIT))
        value = -ahead(theirs, mine, depth, -widest, widest, n - 1, context)
        return value - (popcount(replies) + popcount(replies & _CORNERS)) * _REPLY

    return rank
