"""Exact values with few empty squares: up to three by code of their own, up to DEEP by parity alone, without a table.

Everything is seen by the player to move: `own` discs against `other`. `alpha` is the score to beat: the value is exact,
or on the right side of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from board_agents.games.reversi.board_parts import corner_mask, make_parity
from board_agents.games.reversi.endgame_workspace import BONUS, NODES, NONE
from board_agents.games.reversi.stability import make_stability_bound
from board_agents.lowlevel.instructions import load, store
from board_envs._bits import ONE, ZERO, as_int, clear_lowest, lowest, popcount
from board_envs._jit import jitable, recursive
from board_envs.games.reversi import tiers
from board_envs.games.reversi.rules import board_mask


@functools.cache
def make_final(size: int) -> Callable[[np.uint64, np.uint64, int], int]:
    """Return the value of a finished game, (own, other, bonus): with `bonus` the winner gets the empty squares."""
    cells = size * size

    @jitable
    def final(own: np.uint64, other: np.uint64, bonus: int) -> int:
        mine, theirs = popcount(own), popcount(other)
        if bonus:
            if mine > theirs:
                return cells - 2 * theirs
            if mine < theirs:
                return 2 * mine - cells
        return mine - theirs

    return final


@functools.cache
def make_last_flipped(size: int, tier_name: str) -> Callable[[np.uint64, int], np.uint64]:
    """Return what the last move of all turns over, (own, square): every other square is own or the other's."""
    flipped, board = tiers.make_tier(tier_name).flipped, board_mask(size)
    if size == 8 and flipped is tiers.flipped_vector:
        return tiers.last_flipped_vector

    @jitable
    def last_flipped(own: np.uint64, square: int) -> np.uint64:
        return flipped(own, board & ~own & ~(ONE << np.uint64(square)), square)

    return last_flipped


class LastSquares(NamedTuple):
    """Values with 0 to 3 empty squares.

    Attributes:
        by_parity: (own, other, empties, parity, alpha, bonus) -> value with 3, those in odd quadrants first.
        least: jitable (own, other, empties, n, alpha, bonus) -> value with n = 0 to 3.

    """

    by_parity: Callable[[np.uint64, np.uint64, np.uint64, np.uint64, int, int], int]
    least: Callable[[np.uint64, np.uint64, np.uint64, int, int, int], int]


@functools.cache
def make_last_squares(size: int, tier_name: str) -> LastSquares:
    """Return the values with 0 to 3 empty squares."""
    flipped, last_flipped = tiers.make_tier(tier_name).flipped, make_last_flipped(size, tier_name)
    board, cells, final = board_mask(size), size * size, make_final(size)

    @jitable
    def one(own: np.uint64, square: int, bonus: int) -> int:
        """Value with one empty square; all other squares that are not own are the other's."""
        turned = last_flipped(own, square)
        if turned != ZERO:
            return 2 * (popcount(own) + popcount(turned) + 1) - cells
        other = board & ~own & ~(ONE << np.uint64(square))
        turned = last_flipped(other, square)
        if turned != ZERO:
            return 2 * (popcount(own) - popcount(turned)) - cells
        return final(own, other, bonus)

    @jitable
    def two(own: np.uint64, other: np.uint64, a: int, b: int, alpha: int, bonus: int) -> int:
        """Value with two empty squares; who cannot move passes, once."""
        sign = 1
        for _ in range(2):
            best = NONE
            turned = flipped(own, other, a)
            if turned != ZERO:
                best = -one(other ^ turned, b, bonus)
                if best > alpha:
                    return sign * best
            turned = flipped(own, other, b)
            if turned != ZERO:
                value = -one(other ^ turned, a, bonus)
                if value > best:
                    best = value
            if best > NONE:
                return sign * best
            own, other = other, own
            alpha = -alpha - 1
            sign = -1
        return final(own, other, bonus)

    @jitable
    def three(own: np.uint64, other: np.uint64, a: int, b: int, c: int, alpha: int, bonus: int) -> int:
        """Value with three empty squares, tried in this order."""
        sign = 1
        for _ in range(2):
            best = NONE
            turned = flipped(own, other, a)
            if turned != ZERO:
                best = -two(other ^ turned, own | turned | (ONE << np.uint64(a)), b, c, -alpha - 1, bonus)
                if best > alpha:
                    return sign * best
            turned = flipped(own, other, b)
            if turned != ZERO:
                value = -two(other ^ turned, own | turned | (ONE << np.uint64(b)), a, c, -alpha - 1, bonus)
                if value > alpha:
                    return sign * value
                if value > best:
                    best = value
            turned = flipped(own, other, c)
            if turned != ZERO:
                value = -two(other ^ turned, own | turned | (ONE << np.uint64(c)), a, b, -alpha - 1, bonus)
                if value > best:
                    best = value
            if best > NONE:
                return sign * best
            own, other = other, own
            alpha = -alpha - 1
            sign = -1
        return final(own, other, bonus)

    def by_parity(
        own: np.uint64, other: np.uint64, empties: np.uint64, parity: np.uint64, alpha: int, bonus: int
    ) -> int:
        odd = empties & parity
        even = empties ^ odd
        if odd == ZERO:
            odd, even = even, odd
        a = lowest(odd)
        odd = clear_lowest(odd)
        if odd == ZERO:
            odd, even = even, odd
        b = lowest(odd)
        odd = clear_lowest(odd)
        if odd == ZERO:
            odd = even
        c = lowest(odd)
        return three(own, other, a, b, c, alpha, bonus)

    @jitable
    def least(own: np.uint64, other: np.uint64, empties: np.uint64, n: int, alpha: int, bonus: int) -> int:
        if n == 0:
            return popcount(own) - popcount(other)
        if n == 1:
            return one(own, lowest(empties), bonus)
        a = lowest(empties)
        rest = clear_lowest(empties)
        if n == 2:
            return two(own, other, a, lowest(rest), alpha, bonus)
        return three(own, other, a, lowest(rest), lowest(clear_lowest(rest)), alpha, bonus)

    return LastSquares(recursive(by_parity), least)


@functools.cache
def make_few(size: int, tier_name: str) -> Callable[[np.uint64, np.uint64, np.uint64, int, int, np.uint64], int]:
    """Return the search with 3 < n < DEEP empty squares: (own, other, parity, alpha, n, memory)."""
    tier = tiers.make_tier(tier_name)
    legal_moves, flipped = tier.legal_moves, tier.flipped
    board, corners = board_mask(size), corner_mask(size)
    quadrant_masks, final = make_parity(size).masks, make_final(size)
    stability_bound = make_stability_bound(size)
    three_by_parity = make_last_squares(size, tier_name).by_parity

    def few(own: np.uint64, other: np.uint64, parity: np.uint64, alpha: int, n: int, memory: np.uint64) -> int:
        bonus = as_int(load(memory, BONUS))
        store(memory, NODES, load(memory, NODES) + ONE)
        sign = 1
        moves = legal_moves(own, other) & board
        if moves == ZERO:
            own, other = other, own
            moves = legal_moves(own, other) & board
            if moves == ZERO:
                return -final(own, other, bonus)
            alpha = -alpha - 1
            sign = -1
        if n > 4:
            bound = stability_bound(own, other, alpha, n)
            if bound <= alpha:
                return sign * bound
        empties = board & ~(own | other)
        best = NONE
        for turn in range(2):
            # Squares in odd quadrants first, and corners first among them.
            chosen = moves & parity
            if turn:
                chosen = moves & ~parity
            first = chosen & corners
            while chosen != ZERO:
                if first == ZERO:
                    first = chosen
                square = lowest(first)
                bit = ONE << np.uint64(square)
                first = clear_lowest(first)
                chosen ^= bit
                turned = flipped(own, other, square)
                mine, theirs, later = own | turned | bit, other ^ turned, parity ^ quadrant_masks[square]
                if n == 4:
                    value = -three_by_parity(theirs, mine, empties ^ bit, later, -alpha - 1, bonus)
                else:
                    value = -few(theirs, mine, later, -alpha - 1, n - 1, memory)
                if value > best:
                    best = value
                    if value > alpha:
                        return sign * value
        return sign * best

    few = recursive(few)
    return few
