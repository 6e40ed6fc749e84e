"""Search of Reversi positions too far from the end to be solved, with a table and learned estimates.

Everything is seen by the player to move and counted in the units of `evaluation`, finished games too. A ply is a disc
placed: a player who is skipped costs none. With a margin for selectivity a search is cut short where a much shallower
one is so far outside of the window that, by the errors measured in training, the deep one would hardly come back
(Buro's ProbCut, 1995).

The same factory makes the kernel that plays games for training.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from board_agents.games.reversi.pattern_evaluation import SCRATCH_WORDS, UNIT, estimate
from board_agents.lowlevel.instructions import load, next_move, store
from board_envs._bits import ONE, ZERO, as_int, borrowed, lowest, popcount
from board_envs._jit import Kernel, jitable, kernel, recursive
from board_envs.games.reversi import tiers
from board_envs.random import below, draw

NODES, STOP, LIMIT, TABLE, SHIFT, DATE, EVALUATION, SPREADS, SCRATCH = range(9)
"""Words of a search's memory: positions visited; set to 1 to stop; number of positions to stop at; address and
64 - log2(entries) of the table; number of this search, 1 to 255; address of the evaluation; address of the spreads
(int64 (65, MOST_DEPTH + 1)) of deep searches around shallow ones, by empty squares and depth, 0 where nothing is cut;
the evaluation's scratch words. Then come the moves of the positions on the path, ROW words for each number of empty
squares."""

STACK = SCRATCH + SCRATCH_WORDS
ROW = 72
MEMORY_WORDS = STACK + 65 * ROW
ENTRY = 4
MOST_DEPTH = 60
INFINITE = 65 * UNIT
MOST_POSITIONS = 62
"""Positions of one game that are kept, at most."""
_OFFSET = 1 << 15
_MIX_1 = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_3 = np.uint64(0xFF51AFD7ED558CCD)

SHALLOW = (0, 0, 0, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 5, 6)
"""By depth, how deep the search is that may cut one of that depth short; the last two go on in turn."""


def shallow_depth(depth: int) -> int:
    """Return how deep the search is that may cut one of `depth` short, 0 for none."""
    if depth < len(SHALLOW):
        return SHALLOW[depth]
    return SHALLOW[len(SHALLOW) - 2 + (depth - len(SHALLOW)) % 2]


class Midgame(NamedTuple):
    """Kernels of the search.

    Attributes:
        root: (memory address, own, other, depth, whole, values int64 (64,), out int64 (3,)) -> None. values[square] is
            the value of a move if it is known to be exact for that depth (the best one's; with `whole` every one's),
            else -2 * INFINITE. out: best value, its square, 1 if stopped (then values are of no use).
        best: (memory address, own, other) -> the square that the table holds for a position, 64 for none.
        play: see `learning`.

    """

    root: Kernel[Any, None]
    best: Kernel[Any, int]
    play: Kernel[Any, None]


def make_midgame(tier: str | None = None) -> Midgame:
    """Return the search, its move generation of the named tier (None: the best here)."""
    return _make_midgame(tiers.tier_names()[0] if tier is None else tier)


@functools.cache
def _make_midgame(tier_name: str) -> Midgame:
    tier = tiers.make_tier(tier_name)
    legal_moves, flipped, select_bit = tier.legal_moves, tier.flipped, tier.select_bit
    shallow = np.array([shallow_depth(depth) for depth in range(MOST_DEPTH + 1)], np.int64)

    @jitable
    def slot_of(own: np.uint64, other: np.uint64, memory: np.uint64) -> np.uint64:
        mixed = own * _MIX_1 + (other ^ (other >> np.uint64(29))) * _MIX_2
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _MIX_3
        return load(memory, TABLE) + (mixed >> load(memory, SHIFT)) * np.uint64(ENTRY * 8)

    # An entry: own, other, data. data holds, from below, lower and upper bound + _OFFSET (16 bits each), then bytes of
    # depth, best square (64: none), number of the search.

    @jitable
    def probe(slot: np.uint64, own: np.uint64, other: np.uint64, memory: np.uint64) -> np.uint64:
        data = load(slot, 2)
        if load(slot, 0) == own and load(slot, 1) == other and data >> np.uint64(48) == load(memory, DATE):
            return data
        return ZERO

    @jitable
    def keep(
        slot: np.uint64,
        own: np.uint64,
        other: np.uint64,
        depth: int,
        lower: int,
        upper: int,
        square: int,
        memory: np.uint64,
    ) -> None:
        data = probe(slot, own, other, memory)
        if data != ZERO:
            if square == 64:
                square = as_int((data >> np.uint64(40)) & np.uint64(255))
            if as_int((data >> np.uint64(32)) & np.uint64(255)) == depth:
                lower = max(lower, as_int(data & np.uint64(0xFFFF)) - _OFFSET)
                upper = min(upper, as_int((data >> np.uint64(16)) & np.uint64(0xFFFF)) - _OFFSET)
                if lower > upper:
                    # Two selective searches disagree: the newer one counts.
                    upper = lower
        store(slot, 0, own)
        store(slot, 1, other)
        data = np.uint64(lower + _OFFSET) | (np.uint64(upper + _OFFSET) << np.uint64(16))
        data |= (np.uint64(depth) << np.uint64(32)) | (np.uint64(square) << np.uint64(40))
        store(slot, 2, data | (load(memory, DATE) << np.uint64(48)))

    @jitable
    def guess(own: np.uint64, other: np.uint64, n: int, memory: np.uint64) -> int:
        return estimate(own, other, n, load(memory, EVALUATION), memory + np.uint64(SCRATCH * 8))

    def search(own: np.uint64, other: np.uint64, depth: int, alpha: int, beta: int, n: int, memory: np.uint64) -> int:
        """Value within (alpha, beta), a bound outside of it; meaningless once stopped."""
        moves = legal_moves(own, other)
        nodes = load(memory, NODES) + ONE
        store(memory, NODES, nodes)
        if moves == ZERO:
            if legal_moves(other, own) == ZERO:
                return UNIT * (popcount(own) - popcount(other))
            return -search(other, own, depth, -beta, -alpha, n, memory)
        if depth == 0:
            return guess(own, other, n, memory)
        if load(memory, STOP) != ZERO:
            return alpha
        if nodes >= load(memory, LIMIT):
            store(memory, STOP, ONE)
            return alpha
        # Not a constant: numba would compile the search once more for each constant that it is called with.
        widest = as_int(np.uint64(INFINITE))
        best = -widest
        if depth == 1:
            while moves != ZERO:
                square = lowest(moves)
                moves &= moves - ONE
                turned = flipped(own, other, square)
                value = -search(
                    other ^ turned, own | turned | (ONE << np.uint64(square)), depth - 1, -beta, -alpha, n - 1, memory
                )
                if value > best:
                    best = value
                    if value > alpha:
                        alpha = value
                        if value >= beta:
                            break
            return best
        slot = slot_of(own, other, memory)
        data = probe(slot, own, other, memory)
        first = 64
        if data != ZERO:
            first = as_int((data >> np.uint64(40)) & np.uint64(255))
            if as_int((data >> np.uint64(32)) & np.uint64(255)) >= depth:
                lower = as_int(data & np.uint64(0xFFFF)) - _OFFSET
                upper = as_int((data >> np.uint64(16)) & np.uint64(0xFFFF)) - _OFFSET
                if lower >= beta or lower == upper:
                    return lower
                if upper <= alpha:
                    return upper
        if beta - alpha == 1 and depth < n:
            spread = as_int(load(load(memory, SPREADS), n * (MOST_DEPTH + 1) + depth))
            if spread > 0:
                bar = beta + spread
                if bar < INFINITE:
                    value = search(own, other, shallow[depth], bar - 1, bar, n, memory)
                    if value >= bar:
                        return beta
                bar = alpha - spread
                if bar > -INFINITE:
                    value = search(own, other, shallow[depth], bar, bar + 1, n, memory)
                    if value <= bar:
                        return alpha
                if load(memory, STOP) != ZERO:
                    return alpha
        row = memory + np.uint64((STACK + n * ROW) * 8)
        count = 0
        while moves != ZERO:
            square = lowest(moves)
            moves &= moves - ONE
            turned = flipped(own, other, square)
            rank = 1 << 30
            if square != first:
                mine = own | turned | (ONE << np.uint64(square))
                ahead = as_int(np.uint64(0 if depth < 6 else 1 if depth < 9 else 2))
                rank = (1 << 20) - search(other ^ turned, mine, ahead, -widest, widest, n - 1, memory)
                rank -= popcount(legal_moves(other ^ turned, mine)) * (UNIT // 4)
            store(row, 2 * count, (np.uint64(rank) << np.uint64(8)) | np.uint64(square))
            store(row, 2 * count + 1, turned)
            count += 1
        low = alpha
        best_square = 64
        for k in range(count):
            square = next_move(row, k, count)
            turned = load(row, 2 * k + 1)
            mine = own | turned | (ONE << np.uint64(square))
            theirs = other ^ turned
            if k == 0:
                value = -search(theirs, mine, depth - 1, -beta, -low, n - 1, memory)
            else:
                value = -search(theirs, mine, depth - 1, -low - 1, -low, n - 1, memory)
                if low < value < beta:
                    value = -search(theirs, mine, depth - 1, -beta, -low, n - 1, memory)
            if load(memory, STOP) != ZERO:
                return alpha
            if value > best:
                best = value
                if value > low:
                    best_square = square
                    low = value
                    if value >= beta:
                        break
        if best >= beta:
            keep(slot, own, other, depth, best, INFINITE, best_square, memory)
        elif best <= alpha:
            keep(slot, own, other, depth, -INFINITE, best, best_square, memory)
        else:
            keep(slot, own, other, depth, best, best, best_square, memory)
        return best

    search = recursive(search)

    @jitable
    def choose(own: np.uint64, other: np.uint64, depth: int, whole: bool, memory: np.uint64, values: Any) -> int:
        """Search each move; write what is exact to values, return the square of the best."""
        n = 64 - popcount(own | other)
        moves = legal_moves(own, other)
        slot = slot_of(own, other, memory)
        data = probe(slot, own, other, memory)
        first = 64
        if data != ZERO:
            first = as_int((data >> np.uint64(40)) & np.uint64(255))
        widest = as_int(np.uint64(INFINITE))
        best = -2 * widest
        best_square = 64
        if first < 64:
            ahead = ONE << np.uint64(first)
        else:
            ahead = moves & (~moves + ONE)
        while moves != ZERO:
            square = lowest(ahead)
            moves &= ~ahead
            turned = flipped(own, other, square)
            mine = own | turned | ahead
            theirs = other ^ turned
            value = -2 * INFINITE
            if whole or best_square == 64:
                value = -search(theirs, mine, depth - 1, -widest, widest, n - 1, memory)
                values[square] = value
            else:
                found = -search(theirs, mine, depth - 1, -best - 1, -best, n - 1, memory)
                if found > best:
                    value = -search(theirs, mine, depth - 1, -widest, -best, n - 1, memory)
                    if value > best:
                        values[square] = value
            if load(memory, STOP) != ZERO:
                return 64
            if value > best:
                best = value
                best_square = square
            ahead = moves & (~moves + ONE)
        keep(slot, own, other, depth, best, best, best_square, memory)
        return best_square

    def root(
        memory: np.uint64, own: np.uint64, other: np.uint64, depth: int, whole: bool, values: Any, out: Any
    ) -> None:
        for square in range(64):
            values[square] = -2 * INFINITE
        square = choose(own, other, depth, whole, memory, borrowed(values))
        out[0] = values[square] if square < 64 else 0
        out[1] = square
        out[2] = as_int(load(memory, STOP))

    def best(memory: np.uint64, own: np.uint64, other: np.uint64) -> int:
        data = probe(slot_of(own, other, memory), own, other, memory)
        return 64 if data == ZERO else as_int((data >> np.uint64(40)) & np.uint64(255))

    def play(
        memory: np.uint64, keys: np.uint64, depth: int, solved: int, boards: Any, lengths: Any, values: Any, out: Any
    ) -> None:
        """Play games; see `learning.play_games`."""
        for game in range(boards.shape[0]):
            key = draw(keys, np.uint64(game))
            counter = ZERO
            black = np.uint64(0x0000000810000000)
            white = np.uint64(0x0000001008000000)
            seat = ZERO
            free = 1 + below(draw(key, np.uint64(1 << 20)), 10)
            loose = free
            if draw(key, np.uint64((1 << 20) + 1)) & ONE:
                loose += below(draw(key, np.uint64((1 << 20) + 2)), 42)
            end = 1 + below(draw(key, np.uint64((1 << 20) + 3)), max(1, solved - 1))
            ply, kept, anchored = 0, 0, False
            lengths[game] = 0
            while True:
                own, other = (black, white) if seat == ZERO else (white, black)
                moves = legal_moves(own, other)
                over = False
                if moves == ZERO:
                    own, other = other, own
                    seat ^= ONE
                    moves = legal_moves(own, other)
                    over = moves == ZERO
                n = 64 - popcount(own | other)
                if not anchored and ply >= loose:
                    boards[game, kept, 0] = own
                    boards[game, kept, 1] = other
                    boards[game, kept, 2] = seat
                    kept += 1
                if not anchored and (n <= solved or over):
                    # The value of the last position kept so far is that of all before it.
                    if kept == 0:
                        boards[game, 0, 0] = own
                        boards[game, 0, 1] = other
                        boards[game, 0, 2] = seat
                        kept = 1
                    lengths[game] = kept
                    anchored = True
                if over or (anchored and n <= end):
                    boards[game, kept, 0] = own
                    boards[game, kept, 1] = other
                    boards[game, kept, 2] = seat
                    break
                chance = draw(key, counter)
                counter += ONE
                carefree = ply < free or depth == 0
                if not carefree and (ply < loose or anchored):
                    carefree = below(draw(key, counter), 100) < (40 if anchored else 15)
                    counter += ONE
                if carefree:
                    square = select_bit(moves, below(chance, popcount(moves)))
                else:
                    store(memory, DATE, load(memory, DATE) % np.uint64(255) + ONE)
                    levels = depth if ply >= loose and not anchored else 1
                    if levels > 2 and not anchored and draw(key, np.uint64((1 << 20) + 4)) & ONE:
                        levels -= 1
                    square = 64
                    for level in range(2 - levels % 2, levels + 1, 2):
                        square = choose(own, other, level, False, memory, borrowed(values))
                turned = flipped(own, other, square)
                mine = own | turned | (ONE << np.uint64(square))
                theirs = other ^ turned
                if seat == ZERO:
                    black, white = mine, theirs
                else:
                    black, white = theirs, mine
                seat ^= ONE
                ply += 1
            out[0] += 1

    return Midgame(kernel(root), kernel(best), kernel(play))
