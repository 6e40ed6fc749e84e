"""Search of Reversi positions too far from the end to be solved, with a table and learned estimates.

Everything is seen by the player to move and counted in the units of `evaluation`, finished games too. A ply is a disc
placed: a player who is skipped costs none. With a margin for selectivity a search is cut short where a much shallower
one is so far outside of the window that, by the errors measured in training, the deep one would hardly come back
(Buro's ProbCut, 1995).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from board_agents.games.reversi.midgame_table import (
    depth_of,
    keep,
    lower_of,
    move_of,
    probe,
    slot_of,
    upper_of,
)
from board_agents.games.reversi.midgame_workspace import (
    EVALUATION,
    INFINITE,
    LIMIT,
    MOST_DEPTH,
    NO_MOVE,
    ROW,
    SCRATCH,
    SPREADS,
    STACK,
    STOP,
    count_node,
    shallow_depth,
)
from board_agents.games.reversi.pattern_evaluation import UNIT, estimate
from board_agents.games.reversi.training_games import Choose, make_play
from board_agents.lowlevel.instructions import load, next_move, store
from board_envs._bits import ONE, ZERO, as_int, borrowed, clear_lowest, lowest, lowest_bit, popcount
from board_envs._jit import Kernel, inlined, jitable, kernel, recursive
from board_envs.games.reversi import tiers


class Midgame(NamedTuple):
    """Kernels of the search.

    Attributes:
        root: (memory address, own, other, depth, whole, values int64 (64,), out int64 (3,)) -> None. values[square] is
            the value of a move if it is known to be exact for that depth (the best one's; with `whole` every one's),
            else -2 * INFINITE. out: best value, its square, 1 if stopped (then values are of no use).
        best: (memory address, own, other) -> the square that the table holds for a position, NO_MOVE if none.
        play: plays games for training, see `make_play`.

    """

    root: Kernel[Any, None]
    best: Kernel[Any, int]
    play: Kernel[Any, None]


def make_midgame(tier: str | None = None) -> Midgame:
    """Return the search, its move generation of the named tier (None: the best here)."""
    return _make_midgame(tiers.tier_names()[0] if tier is None else tier)


@functools.cache
def _make_midgame(tier_name: str) -> Midgame:
    choose = make_choose(tier_name)

    def root(
        memory: np.uint64, own: np.uint64, other: np.uint64, depth: int, whole: bool, values: Any, out: Any
    ) -> None:
        for square in range(64):
            values[square] = -2 * INFINITE
        square = choose(own, other, depth, whole, memory, borrowed(values))
        out[0] = values[square] if square < NO_MOVE else 0
        out[1] = square
        out[2] = as_int(load(memory, STOP))

    def best(memory: np.uint64, own: np.uint64, other: np.uint64) -> int:
        return move_of(probe(slot_of(own, other, memory), own, other, memory))

    return Midgame(kernel(root), kernel(best), make_play(tier_name, choose))


class Leaves(NamedTuple):
    """The last two plies of a search; jitable.

    Attributes:
        leaf: (own, other, n, memory) -> the estimate of a position; a player without a move passes.
        last_ply: (own, other, moves, alpha, beta, n, memory) -> the value after one of the moves.

    """

    leaf: Callable[[np.uint64, np.uint64, int, np.uint64], int]
    last_ply: Callable[[np.uint64, np.uint64, np.uint64, int, int, int, np.uint64], int]


@functools.cache
def make_leaves(tier_name: str) -> Leaves:
    """Return the last two plies."""
    tier = tiers.make_tier(tier_name)
    legal_moves, flipped = tier.legal_moves, tier.flipped

    @jitable
    def guess(own: np.uint64, other: np.uint64, n: int, memory: np.uint64) -> int:
        return estimate(own, other, n, load(memory, EVALUATION), memory + np.uint64(SCRATCH * 8))

    @jitable
    def leaf(own: np.uint64, other: np.uint64, n: int, memory: np.uint64) -> int:
        count_node(memory)
        sign = 1
        if legal_moves(own, other) == ZERO:
            if legal_moves(other, own) == ZERO:
                return UNIT * (popcount(own) - popcount(other))
            count_node(memory)
            own, other, sign = other, own, -1
        return sign * guess(own, other, n, memory)

    @jitable
    def last_ply(
        own: np.uint64, other: np.uint64, moves: np.uint64, alpha: int, beta: int, n: int, memory: np.uint64
    ) -> int:
        best = -INFINITE
        while moves != ZERO:
            square = lowest(moves)
            moves = clear_lowest(moves)
            turned = flipped(own, other, square)
            value = -leaf(other ^ turned, own | turned | (ONE << np.uint64(square)), n - 1, memory)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    if value >= beta:
                        break
        return best

    return Leaves(leaf, last_ply)


@inlined
def stopped(nodes: np.uint64, memory: np.uint64) -> bool:
    """Return whether the search is stopped, which it is at the limit."""
    if load(memory, STOP) != ZERO:
        return True
    if nodes >= load(memory, LIMIT):
        store(memory, STOP, ONE)
        return True
    return False


@inlined
def recall(data: np.uint64, depth: int, alpha: int, beta: int) -> tuple[bool, int]:
    """Ask an entry's data: (whether it answers within the window, its value)."""
    if data == ZERO or depth_of(data) < depth:
        return False, 0
    lower, upper = lower_of(data), upper_of(data)
    if lower >= beta or lower == upper:
        return True, lower
    return upper <= alpha, upper


@inlined
def spread_of(n: int, depth: int, memory: np.uint64) -> int:
    """Return how far outside of the window a shallow search must be to cut the deep one, 0 for never."""
    return as_int(load(load(memory, SPREADS), n * (MOST_DEPTH + 1) + depth))


@functools.cache
def make_search(tier_name: str) -> Callable[[np.uint64, np.uint64, int, int, int, int, np.uint64], int]:
    """Return the search: (own, other, depth, alpha, beta, n, memory).

    It returns the value within (alpha, beta), a bound outside of it; n is the number of empty squares. Meaningless once
    the search is stopped.
    """
    tier = tiers.make_tier(tier_name)
    legal_moves, flipped = tier.legal_moves, tier.flipped
    leaf, last_ply = make_leaves(tier_name)
    shallow = np.array([shallow_depth(depth) for depth in range(MOST_DEPTH + 1)], np.int64)

    def search(own: np.uint64, other: np.uint64, depth: int, alpha: int, beta: int, n: int, memory: np.uint64) -> int:
        if depth == 0:
            return leaf(own, other, n, memory)
        nodes = count_node(memory)
        moves = legal_moves(own, other)
        if moves == ZERO:
            if legal_moves(other, own) == ZERO:
                return UNIT * (popcount(own) - popcount(other))
            return -search(other, own, depth, -beta, -alpha, n, memory)
        if stopped(nodes, memory):
            return alpha
        if depth == 1:
            return last_ply(own, other, moves, alpha, beta, n, memory)
        slot = slot_of(own, other, memory)
        data = probe(slot, own, other, memory)
        answered, value = recall(data, depth, alpha, beta)
        if answered:
            return value
        first = move_of(data)
        if beta - alpha == 1 and depth < n:
            spread = spread_of(n, depth, memory)
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
        # Not constants: numba would compile the search once more for each constant that it is called with.
        widest = as_int(np.uint64(INFINITE))
        ahead = as_int(np.uint64(0 if depth < 6 else 1 if depth < 9 else 2))
        row = memory + np.uint64((STACK + n * ROW) * 8)
        count = 0
        while moves != ZERO:
            square = lowest(moves)
            moves = clear_lowest(moves)
            turned = flipped(own, other, square)
            rank = 1 << 30
            if square != first:
                mine, theirs = own | turned | (ONE << np.uint64(square)), other ^ turned
                rank = (1 << 20) - search(theirs, mine, ahead, -widest, widest, n - 1, memory)
                rank -= popcount(legal_moves(theirs, mine)) * (UNIT // 4)
            store(row, 2 * count, (np.uint64(rank) << np.uint64(8)) | np.uint64(square))
            store(row, 2 * count + 1, turned)
            count += 1
        best, best_square, low = -widest, NO_MOVE, alpha
        for k in range(count):
            square = next_move(row, k, count)
            turned = load(row, 2 * k + 1)
            mine, theirs = own | turned | (ONE << np.uint64(square)), other ^ turned
            if k == 0:
                value = -search(theirs, mine, depth - 1, -beta, -low, n - 1, memory)
            else:
                value = -search(theirs, mine, depth - 1, -low - 1, -low, n - 1, memory)
                if low < value < beta:
                    value = -search(theirs, mine, depth - 1, -beta, -low, n - 1, memory)
            if load(memory, STOP) != ZERO:
                return alpha
            best = max(best, value)
            if value > low:
                best_square, low = square, value
                if value >= beta:
                    break
        lower, upper = -INFINITE if best <= alpha else best, INFINITE if best >= beta else best
        keep(slot, own, other, depth, lower, upper, best_square, memory)
        return best

    search = recursive(search)
    return search


@functools.cache
def make_choose(tier_name: str) -> Choose:
    """Return the search of a root's moves."""
    tier = tiers.make_tier(tier_name)
    legal_moves, flipped = tier.legal_moves, tier.flipped
    search = make_search(tier_name)

    @jitable
    def choose(own: np.uint64, other: np.uint64, depth: int, whole: bool, memory: np.uint64, values: Any) -> int:
        """Search each move; write what is exact to values, return the square of the best."""
        n = 64 - popcount(own | other)
        moves = legal_moves(own, other)
        slot = slot_of(own, other, memory)
        first = move_of(probe(slot, own, other, memory))
        widest = as_int(np.uint64(INFINITE))
        best = -2 * widest
        best_square = NO_MOVE
        if first < NO_MOVE:
            ahead = ONE << np.uint64(first)
        else:
            ahead = lowest_bit(moves)
        while moves != ZERO:
            square = lowest(ahead)
            moves &= ~ahead
            turned = flipped(own, other, square)
            mine = own | turned | ahead
            theirs = other ^ turned
            value = -2 * INFINITE
            if whole or best_square == NO_MOVE:
                value = -search(theirs, mine, depth - 1, -widest, widest, n - 1, memory)
                values[square] = value
            else:
                found = -search(theirs, mine, depth - 1, -best - 1, -best, n - 1, memory)
                if found > best:
                    value = -search(theirs, mine, depth - 1, -widest, -best, n - 1, memory)
                    if value > best:
                        values[square] = value
            if load(memory, STOP) != ZERO:
                return NO_MOVE
            if value > best:
                best = value
                best_square = square
            ahead = lowest_bit(moves)
        keep(slot, own, other, depth, best, best, best_square, memory)
        return best_square

    return choose
