"""The exact search: null-window alpha-beta down to the end of the game, in compiled code.

Everything is seen by the player to move: `own` discs against `other`. A value is own minus other at the end of perfect
play. `alpha` is the score to beat; a null-window search answers a value > alpha, which is then a lower bound, or one
<= alpha, an upper bound.

By number of empty squares: from DEEP up positions are kept in a table and moves ordered by how little they leave the
other; below that, moves go by parity (a square in a quadrant with an odd number of empty squares first) and the last
four squares have code of their own. Sources of the methods: Buro's and Delorme's published descriptions of endgame
search; the code is ours.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from board_agents.games.reversi.stability import make_stable
from board_agents.lowlevel.instructions import load, next_move, store
from board_envs._bits import ONE, ZERO, as_int, lowest, popcount
from board_envs._jit import Kernel, jitable, kernel, recursive
from board_envs.games.reversi import tiers
from board_envs.games.reversi.rules import bit_index, board_mask

NODES, STOP, LIMIT, TABLE, SHIFT, DATE, BONUS, BUSY, CONTEXT, GUESS, STACK = range(11)
"""Words of a search's memory: positions visited; set to 1 to stop; the number of positions to stop at; address and
64 - log2(buckets) of the table; number of this search, 0 to 255; 1 if the winner gets the empty squares; address of the
board of positions that threads are at, 0 without other threads; what the `Ordering` is handed; the first bar of a
search for the exact value, + 100; the moves of the positions on the path, see `row_start`."""

MEMORY_WORDS = STACK + 64 * 65
ENTRY, BUCKET = 4, 8
NONE = -100
UNKNOWN = -1000

DEEP = 7
ETC = 10
ORDERED = 15
"""From so many empty squares up an `Ordering`, where there is one, ranks the moves."""
SHARED = 11
"""From so many empty squares up threads avoid each other's positions."""
BUSY_BITS = 12
_MIX_1 = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_3 = np.uint64(0xFF51AFD7ED558CCD)


Ordering = Callable[[np.uint64, np.uint64, int, np.uint64, int, np.uint64], int]
"""Jitable (own, other, square, turned, n, context) -> rank of a move, the highest is searched first.

own and other are the boards before the move of own, n their empty squares, turned the discs that the move on bit
`square` turns over, context word CONTEXT of the search's memory, each thread its own. The rank is between -2**31 and
2**31. The move that the table knows is first whatever its rank.
"""


@jitable
def row_start(n: int) -> int:
    """Word of the memory where the moves of the position with n empty squares begin: two words for each, at most n."""
    return STACK + n * (n - 1)


class Search(NamedTuple):
    """Kernels of one board size.

    Attributes:
        window: (memory address, own, other, alpha, beta, out int64 (3,)) -> None; out[0] is the value if it lies
            between alpha and beta, else a bound outside; out[1] is 1 if the search was stopped; out[2] is the bit of a
            move that is likely to be best, 64 if none is known.

    """

    window: Kernel[Any, None]


def _stability_bar(empties: int) -> int:
    """Least alpha at which counting stable discs pays with that many empty squares; found by trial."""
    return 99 if empties < 5 else 2 * empties - 6 if empties < 24 else 40


def make_search(size: int, tier: str | None = None, ordering: Ordering | None = None) -> Search:
    """Return the search for boards of one size.

    Args:
        size: of the board.
        tier: name of the move generation's form; None for the best here.
        ordering: what ranks moves from ORDERED empty squares up; None for mobility and the like, as below that.

    """
    return _make_search(size, tiers.tier_names()[0] if tier is None else tier, ordering)


@functools.cache
def _make_search(size: int, tier_name: str, ordering: Ordering | None) -> Search:
    tier = tiers.make_tier(tier_name)
    legal_moves, flipped = tier.legal_moves, tier.flipped
    stable = make_stable(size)
    board = board_mask(size)
    cells = size * size
    edge = size - 1
    bits = bit_index(size)
    corners = np.uint64(sum(1 << int(bits[r, c]) for r in (0, edge) for c in (0, edge)))
    half = size // 2
    quadrant_masks = np.zeros(64, np.uint64)
    for row in range(size):
        for column in range(size):
            quadrant_masks[8 * row + column] = sum(
                1 << int(bit)
                for bit in bits[
                    row // half * half : row // half * half + half, column // half * half : column // half * half + half
                ].ravel()
            )
    quadrants = tuple(np.unique(quadrant_masks[quadrant_masks > 0]).tolist())
    quadrant_1, quadrant_2, quadrant_3, quadrant_4 = (np.uint64(mask) for mask in quadrants)
    stability_bars = np.array([_stability_bar(n) for n in range(65)], np.int64)
    square_worth = _square_worth(size)
    if size == 8 and tier.flipped is tiers.flipped_vector:
        last_flipped: Callable[[np.uint64, int], np.uint64] = tiers.last_flipped_vector
    else:

        @jitable
        def last_flipped_plain(own: np.uint64, square: int) -> np.uint64:
            return flipped(own, board & ~own & ~(ONE << np.uint64(square)), square)

        last_flipped = last_flipped_plain

    @jitable
    def final(own: np.uint64, other: np.uint64, bonus: int) -> int:
        mine, theirs = popcount(own), popcount(other)
        if bonus:
            if mine > theirs:
                return cells - 2 * theirs
            if mine < theirs:
                return 2 * mine - cells
        return mine - theirs

    @jitable
    def parity_of(empties: np.uint64) -> np.uint64:
        found = ZERO
        if popcount(empties & quadrant_1) & 1:
            found |= quadrant_1
        if popcount(empties & quadrant_2) & 1:
            found |= quadrant_2
        if popcount(empties & quadrant_3) & 1:
            found |= quadrant_3
        if popcount(empties & quadrant_4) & 1:
            found |= quadrant_4
        return found

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

    def three_by_parity(
        own: np.uint64, other: np.uint64, empties: np.uint64, parity: np.uint64, alpha: int, bonus: int
    ) -> int:
        odd = empties & parity
        even = empties ^ odd
        if odd == ZERO:
            odd, even = even, odd
        a = lowest(odd)
        odd &= odd - ONE
        if odd == ZERO:
            odd, even = even, odd
        b = lowest(odd)
        odd &= odd - ONE
        if odd == ZERO:
            odd = even
        c = lowest(odd)
        return three(own, other, a, b, c, alpha, bonus)

    three_by_parity = recursive(three_by_parity)

    def few(own: np.uint64, other: np.uint64, parity: np.uint64, alpha: int, n: int, memory: np.uint64) -> int:
        """Value with 3 < n < DEEP empty squares."""
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
        if n > 4 and alpha >= stability_bars[n]:
            bound = cells - 2 * popcount(stable(other, own))
            if bound <= alpha:
                return sign * bound
        empties = board & ~(own | other)
        best = NONE
        for turn in range(2):
            chosen = moves & parity
            if turn:
                chosen = moves & ~parity
            first = chosen & corners
            while chosen != ZERO:
                if first == ZERO:
                    first = chosen
                square = lowest(first)
                bit = ONE << np.uint64(square)
                first &= first - ONE
                chosen ^= bit
                turned = flipped(own, other, square)
                if n == 4:
                    value = -three_by_parity(
                        other ^ turned,
                        own | turned | bit,
                        empties ^ bit,
                        parity ^ quadrant_masks[square],
                        -alpha - 1,
                        bonus,
                    )
                else:
                    value = -few(
                        other ^ turned, own | turned | bit, parity ^ quadrant_masks[square], -alpha - 1, n - 1, memory
                    )
                if value > best:
                    best = value
                    if value > alpha:
                        return sign * value
        return sign * best

    few = recursive(few)

    @jitable
    def least(own: np.uint64, other: np.uint64, empties: np.uint64, n: int, alpha: int, bonus: int) -> int:
        """Value with 0 to 3 empty squares."""
        if n == 0:
            return popcount(own) - popcount(other)
        if n == 1:
            return one(own, lowest(empties), bonus)
        a = lowest(empties)
        rest = empties & (empties - ONE)
        if n == 2:
            return two(own, other, a, lowest(rest), alpha, bonus)
        return three(own, other, a, lowest(rest), lowest(rest & (rest - ONE)), alpha, bonus)

    @jitable
    def bucket_of(own: np.uint64, other: np.uint64, memory: np.uint64) -> np.uint64:
        """Address of the two entries where a position may be kept."""
        mixed = own * _MIX_1 + (other ^ (other >> np.uint64(29))) * _MIX_2
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX_3
        return load(memory, TABLE) + (mixed >> load(memory, SHIFT)) * np.uint64(BUCKET * 8)

    # An entry: own ^ data, other ^ data, data. A torn write of another thread is then no match. data holds, from below,
    # bytes of lower bound + 100, upper bound + 100, best square (64: none), empty squares, number of the search.

    @jitable
    def probe(bucket: np.uint64, own: np.uint64, other: np.uint64) -> np.uint64:
        data = load(bucket, 2)
        if load(bucket, 0) ^ data == own and load(bucket, 1) ^ data == other:
            return data
        data = load(bucket, ENTRY + 2)
        if load(bucket, ENTRY) ^ data == own and load(bucket, ENTRY + 1) ^ data == other:
            return data
        return ZERO

    @jitable
    def keep(
        bucket: np.uint64,
        own: np.uint64,
        other: np.uint64,
        value: int,
        alpha: int,
        beta: int,
        square: int,
        n: int,
        date: np.uint64,
    ) -> None:
        first = load(bucket, 2)
        second = load(bucket, ENTRY + 2)
        lower = -cells
        upper = cells
        known = 64
        if load(bucket, 0) ^ first == own and load(bucket, 1) ^ first == other:
            at = 0
            lower = as_int(first & np.uint64(255)) - 100
            upper = as_int((first >> np.uint64(8)) & np.uint64(255)) - 100
            known = as_int((first >> np.uint64(16)) & np.uint64(255))
        elif load(bucket, ENTRY) ^ second == own and load(bucket, ENTRY + 1) ^ second == other:
            at = ENTRY
            lower = as_int(second & np.uint64(255)) - 100
            upper = as_int((second >> np.uint64(8)) & np.uint64(255)) - 100
            known = as_int((second >> np.uint64(16)) & np.uint64(255))
        elif (first >> np.uint64(32)) & np.uint64(255) != date or as_int(
            (first >> np.uint64(24)) & np.uint64(255)
        ) <= n:
            at = 0
        else:
            at = ENTRY
        if value > alpha:
            if value > lower:
                lower = value
        elif known < 64:
            # No move reached alpha: the one that reached a lower bound before is worth more than any of these.
            square = known
        if value < beta and value < upper:
            upper = value
        data = np.uint64(lower + 100) | (np.uint64(upper + 100) << np.uint64(8)) | (np.uint64(square) << np.uint64(16))
        data |= (np.uint64(n) << np.uint64(24)) | (date << np.uint64(32))
        store(bucket, at, own ^ data)
        store(bucket, at + 1, other ^ data)
        store(bucket, at + 2, data)

    @jitable
    def no_ordering(
        _own: np.uint64, _other: np.uint64, _square: int, _turned: np.uint64, _n: int, _context: np.uint64
    ) -> int:
        return 0

    learned = ordering is not None
    rank_of = no_ordering if ordering is None else ordering

    @jitable
    def gather(own: np.uint64, other: np.uint64, moves: np.uint64, row: np.uint64) -> int:
        """Write each move's square, and what it turns, into the row; return how many there are."""
        k = 0
        while moves != ZERO:
            square = lowest(moves)
            moves &= moves - ONE
            store(row, 2 * k, np.uint64(square))
            store(row, 2 * k + 1, flipped(own, other, square))
            k += 1
        return k

    @jitable
    def order(
        own: np.uint64,
        other: np.uint64,
        count: int,
        parity: np.uint64,
        n: int,
        first: int,
        row: np.uint64,
        context: np.uint64,
    ) -> None:
        """Write the ranks of the moves in the row above their squares."""
        for k in range(count):
            square = as_int(load(row, 2 * k))
            turned = load(row, 2 * k + 1)
            rank = 1 << 40
            if square == first:
                pass
            elif learned and n >= ORDERED:
                rank = (1 << 32) + rank_of(own, other, square, turned, n, context)
            else:
                bit = ONE << np.uint64(square)
                mine = own | turned | bit
                theirs = other ^ turned
                replies = legal_moves(theirs, mine) & board
                rank = (1 << 20) - (popcount(replies) + popcount(replies & corners)) * 512
                rank += square_worth[square]
                if bit & parity:
                    rank += 192
                if n > 9:
                    rank -= popcount(around(mine) & ~(mine | theirs) & board) * 64
                    rank += popcount(stable_corners(mine)) * 256
            store(row, 2 * k, (np.uint64(rank) << np.uint64(8)) | np.uint64(square))

    @jitable
    def around(word: np.uint64) -> np.uint64:
        left = word & np.uint64(0xFEFEFEFEFEFEFEFE)
        right = word & np.uint64(0x7F7F7F7F7F7F7F7F)
        wide = word | (left >> ONE) | (right << ONE)
        return wide | (wide << np.uint64(8)) | (wide >> np.uint64(8))

    step_1 = np.uint64(1)
    corner_nw, corner_ne = ONE << np.uint64(bits[0, 0]), ONE << np.uint64(bits[0, edge])
    corner_sw, corner_se = ONE << np.uint64(bits[edge, 0]), ONE << np.uint64(bits[edge, edge])

    @jitable
    def stable_corners(own: np.uint64) -> np.uint64:
        """Own corners and own discs on the rim next to them."""
        found = own & corners
        near = own & ((found & (corner_nw | corner_sw)) << step_1 | (found & (corner_ne | corner_se)) >> step_1)
        near |= own & (
            (found & (corner_nw | corner_ne)) << np.uint64(8) | (found & (corner_sw | corner_se)) >> np.uint64(8)
        )
        return found | near

    def many(own: np.uint64, other: np.uint64, parity: np.uint64, alpha: int, n: int, memory: np.uint64) -> int:
        """Null-window value with n >= DEEP empty squares; meaningless once the search is stopped."""
        nodes = load(memory, NODES) + ONE
        store(memory, NODES, nodes)
        if load(memory, STOP) != ZERO:
            return alpha
        if nodes >= load(memory, LIMIT):
            store(memory, STOP, ONE)
            return alpha
        if alpha >= stability_bars[n]:
            bound = cells - 2 * popcount(stable(other, own))
            if bound <= alpha:
                return bound
        bucket = bucket_of(own, other, memory)
        data = probe(bucket, own, other)
        first = 64
        if data != ZERO:
            value = as_int(data & np.uint64(255)) - 100
            if value > alpha:
                return value
            value = as_int((data >> np.uint64(8)) & np.uint64(255)) - 100
            if value <= alpha:
                return value
            first = as_int((data >> np.uint64(16)) & np.uint64(255))
        moves = legal_moves(own, other) & board
        if moves == ZERO:
            if legal_moves(other, own) & board == ZERO:
                return final(own, other, as_int(load(memory, BONUS)))
            return -many(other, own, parity, -alpha - 1, n, memory)
        row = memory + np.uint64(row_start(n) * 8)
        count = gather(own, other, moves, row)
        if n >= ETC:
            for k in range(count):
                turned = load(row, 2 * k + 1)
                mine = own | turned | (ONE << load(row, 2 * k))
                theirs = other ^ turned
                found = probe(bucket_of(theirs, mine, memory), theirs, mine)
                if found != ZERO:
                    value = 100 - as_int((found >> np.uint64(8)) & np.uint64(255))
                    if value > alpha:
                        keep(
                            bucket,
                            own,
                            other,
                            value,
                            alpha,
                            alpha + 1,
                            as_int(load(row, 2 * k)),
                            n,
                            load(memory, DATE),
                        )
                        return value
        order(own, other, count, parity, n, first, row, load(memory, CONTEXT))
        busy = ZERO
        if n >= SHARED:
            busy = load(memory, BUSY)
        best = NONE
        best_square = 64
        k = 0
        waiting = 0
        again = False
        while True:
            if k == count:
                if again or waiting == 0:
                    break
                again = True
                count = waiting
                k = 0
            if again:
                square = as_int(load(row, 2 * k) & np.uint64(255))
            else:
                square = next_move(row, k, count)
            turned = load(row, 2 * k + 1)
            mine = own | turned | (ONE << np.uint64(square))
            theirs = other ^ turned
            if n > DEEP:
                slot = 0
                if busy != ZERO:
                    # A position that another thread is at comes later, when its value may be known. Two places of the
                    # row are free for each move that went before.
                    name = mine * _MIX_1 ^ theirs * _MIX_2
                    slot = as_int(name >> np.uint64(64 - BUSY_BITS))
                    if not again and k > 0 and load(busy, slot) == name:
                        store(row, 2 * waiting, load(row, 2 * k))
                        store(row, 2 * waiting + 1, turned)
                        waiting += 1
                        k += 1
                        continue
                    store(busy, slot, name)
                value = -many(theirs, mine, parity ^ quadrant_masks[square], -alpha - 1, n - 1, memory)
                if busy != ZERO:
                    store(busy, slot, ZERO)
                if load(memory, STOP) != ZERO:
                    return alpha
            else:
                value = -few(theirs, mine, parity ^ quadrant_masks[square], -alpha - 1, n - 1, memory)
            if value > best:
                best = value
                best_square = square
                if value > alpha:
                    break
            k += 1
        keep(bucket, own, other, best, alpha, alpha + 1, best_square, n, load(memory, DATE))
        return best

    many = recursive(many)

    def null_window(own: np.uint64, other: np.uint64, alpha: int, n: int, memory: np.uint64) -> int:
        empties = board & ~(own | other)
        if n < 4:
            return least(own, other, empties, n, alpha, as_int(load(memory, BONUS)))
        if n < DEEP:
            return few(own, other, parity_of(empties), alpha, n, memory)
        return many(own, other, parity_of(empties), alpha, n, memory)

    null_window = recursive(null_window)

    def close_in(own: np.uint64, other: np.uint64, alpha: int, beta: int, n: int, memory: np.uint64) -> int:
        """Value by null windows only, for few empty squares."""
        lower, upper = NONE, -NONE
        guess = alpha
        while True:
            value = null_window(own, other, guess, n, memory)
            if load(memory, STOP) != ZERO:
                return value
            if value > guess:
                lower = value
                if value >= beta or lower >= upper:
                    return value
                guess = value
            else:
                upper = value
                if value <= alpha or lower >= upper:
                    return value
                guess = value - 1

    close_in = recursive(close_in)

    def wide(own: np.uint64, other: np.uint64, alpha: int, beta: int, n: int, memory: np.uint64) -> int:
        """Value within a window (principal variation search)."""
        if n < DEEP or beta - alpha == 1:
            if beta - alpha == 1:
                return null_window(own, other, alpha, n, memory)
            return close_in(own, other, alpha, beta, n, memory)
        store(memory, NODES, load(memory, NODES) + ONE)
        if load(memory, STOP) != ZERO:
            return alpha
        moves = legal_moves(own, other) & board
        if moves == ZERO:
            if legal_moves(other, own) & board == ZERO:
                return final(own, other, as_int(load(memory, BONUS)))
            return -wide(other, own, -beta, -alpha, n, memory)
        bucket = bucket_of(own, other, memory)
        data = probe(bucket, own, other)
        first = 64
        if data != ZERO:
            lower = as_int(data & np.uint64(255)) - 100
            upper = as_int((data >> np.uint64(8)) & np.uint64(255)) - 100
            if lower == upper or lower >= beta:
                return lower
            if upper <= alpha:
                return upper
            first = as_int((data >> np.uint64(16)) & np.uint64(255))
        row = memory + np.uint64(row_start(n) * 8)
        parity = parity_of(board & ~(own | other))
        count = gather(own, other, moves, row)
        order(own, other, count, parity, n, first, row, load(memory, CONTEXT))
        best = NONE
        best_square = 64
        low = alpha
        for k in range(count):
            square = next_move(row, k, count)
            turned = load(row, 2 * k + 1)
            mine = own | turned | (ONE << np.uint64(square))
            theirs = other ^ turned
            if k == 0:
                value = -wide(theirs, mine, -beta, -low, n - 1, memory)
            else:
                value = -null_window(theirs, mine, -low - 1, n - 1, memory)
                if low < value < beta:
                    value = -wide(theirs, mine, -beta, -value, n - 1, memory)
            if load(memory, STOP) != ZERO:
                return alpha
            if value > best:
                best = value
                best_square = square
                if value > low:
                    low = value
                    if value >= beta:
                        break
        keep(bucket, own, other, best, alpha, beta, best_square, n, load(memory, DATE))
        return best

    wide = recursive(wide)

    @jitable
    def converge(own: np.uint64, other: np.uint64, n: int, memory: np.uint64) -> int:
        """Exact value by null windows alone, from GUESS on each at the bound that the one before left (Plaat's MTD)."""
        lower, upper = NONE, -NONE
        guess = as_int(load(memory, GUESS)) - 100
        while lower < upper and load(memory, STOP) == ZERO:
            value = null_window(own, other, guess, n, memory)
            if value > guess:
                lower = value
                guess = value
            else:
                upper = value
                guess = value - 1
        return lower

    def window(memory: np.uint64, own: np.uint64, other: np.uint64, alpha: int, beta: int, out: Any) -> None:
        n = cells - popcount(own | other)
        if beta - alpha == 2 * cells:
            out[0] = converge(own, other, n, memory)
        else:
            out[0] = wide(own, other, alpha, beta, n, memory)
        out[1] = as_int(load(memory, STOP))
        out[2] = 64
        data = probe(bucket_of(own, other, memory), own, other)
        if data != ZERO:
            out[2] = as_int((data >> np.uint64(16)) & np.uint64(255))

    return Search(kernel(window))


def _square_worth(size: int) -> Any:
    """Small preferences between squares, by symmetry class: corners first, squares next to an empty corner last."""
    worth = np.zeros(64, np.int64)
    for row in range(size):
        for column in range(size):
            r, c = min(row, size - 1 - row), min(column, size - 1 - column)
            r, c = min(r, c), max(r, c)
            table = {(0, 0): 18, (0, 1): 4, (1, 1): 2, (0, 2): 16, (1, 2): 6, (2, 2): 10, (0, 3): 12, (1, 3): 8}
            worth[8 * row + column] = table.get((r, c), 9) * 8
    return worth
