"""Null-window alpha-beta with the transposition table, from DEEP empty squares up; below that `last_squares` goes on.

A node of the search: `open_node` counts it and asks what is known of it, `rank` puts its moves in order, `select` takes
the next one, `keep` writes what was found.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from board_agents.games.reversi.board_parts import make_parity
from board_agents.games.reversi.endgame_ranking import make_move_ranking
from board_agents.games.reversi.endgame_table import (
    MIX_1,
    MIX_2,
    bucket_of,
    lower_of,
    make_keep,
    move_of,
    probe,
    stamp_of,
    upper_of,
)
from board_agents.games.reversi.endgame_workspace import (
    BONUS,
    BUSY,
    BUSY_BITS,
    DEEP,
    ETC,
    LIMIT,
    NO_MOVE,
    NODES,
    NONE,
    SHARED,
    STOP,
    Ordering,
    row_start,
)
from board_agents.games.reversi.last_squares import make_few, make_final, make_last_squares
from board_agents.games.reversi.stability import make_stability_bound
from board_agents.lowlevel.instructions import load, next_move, store
from board_envs._bits import ONE, ZERO, as_int
from board_envs._jit import inlined, recursive
from board_envs.games.reversi import tiers
from board_envs.games.reversi.rules import board_mask

NullWindow = Callable[[np.uint64, np.uint64, int, int, np.uint64], int]
"""(own, other, alpha, n, memory) -> a value > alpha, which is a lower bound, or <= alpha, an upper bound.

n is the number of empty squares. Meaningless once the search is stopped.
"""


@inlined
def count_node(memory: np.uint64) -> bool:
    """Count a position; return whether the search is stopped, which it is at the limit."""
    nodes = load(memory, NODES) + ONE
    store(memory, NODES, nodes)
    if load(memory, STOP) != ZERO:
        return True
    if nodes >= load(memory, LIMIT):
        store(memory, STOP, ONE)
        return True
    return False


@inlined
def recall(data: np.uint64, alpha: int) -> tuple[bool, int, int]:
    """Ask an entry's data: (whether it answers, its value, the table's move or NO_MOVE)."""
    if data == ZERO:
        return False, 0, NO_MOVE
    value = lower_of(data)
    if value > alpha:
        return True, value, NO_MOVE
    value = upper_of(data)
    return value <= alpha, value, move_of(data)


@inlined
def refutation(
    own: np.uint64, other: np.uint64, alpha: int, count: int, row: np.uint64, memory: np.uint64
) -> tuple[int, int]:
    """Return what the first child's entry proves that proves more than alpha, and the move; (NONE, NO_MOVE) if none."""
    for k in range(count):
        turned = load(row, 2 * k + 1)
        mine = own | turned | (ONE << load(row, 2 * k))
        theirs = other ^ turned
        found = probe(bucket_of(theirs, mine, memory), theirs, mine)
        if found != ZERO:
            value = -upper_of(found)
            if value > alpha:
                return value, as_int(load(row, 2 * k))
    return NONE, NO_MOVE


@inlined
def select(row: np.uint64, k: int, count: int, again: bool) -> tuple[int, np.uint64]:
    """Take the next move, from place k of its row: (its square, what it turns)."""
    square = as_int(load(row, 2 * k) & np.uint64(255)) if again else next_move(row, k, count)
    return square, load(row, 2 * k + 1)


@inlined
def defer(row: np.uint64, k: int, waiting: int) -> None:
    """Put move k, which another thread searches now, to those that wait; there is room where moves went before."""
    square, turned = load(row, 2 * k), load(row, 2 * k + 1)
    store(row, 2 * waiting, square)
    store(row, 2 * waiting + 1, turned)


@functools.cache
def make_many(
    size: int, tier_name: str, ordering: Ordering | None
) -> Callable[[np.uint64, np.uint64, np.uint64, int, int, np.uint64], int]:
    """Return the search with n >= DEEP empty squares: (own, other, parity, alpha, n, memory), see `NullWindow`."""
    legal_moves, board = tiers.make_tier(tier_name).legal_moves, board_mask(size)
    quadrant_masks, final = make_parity(size).masks, make_final(size)
    stability_bound, keep = make_stability_bound(size), make_keep(size * size)
    gather, rank = make_move_ranking(size, tier_name, ordering)
    few = make_few(size, tier_name)

    def many(own: np.uint64, other: np.uint64, parity: np.uint64, alpha: int, n: int, memory: np.uint64) -> int:
        if count_node(memory):
            return alpha
        value = stability_bound(own, other, alpha, n)
        if value <= alpha:
            return value
        bucket = bucket_of(own, other, memory)
        answered, value, first = recall(probe(bucket, own, other), alpha)
        if answered:
            return value
        moves = legal_moves(own, other) & board
        if moves == ZERO:
            if legal_moves(other, own) & board == ZERO:
                return final(own, other, as_int(load(memory, BONUS)))
            return -many(other, own, parity, -alpha - 1, n, memory)
        row = memory + np.uint64(row_start(n) * 8)
        count = gather(own, other, moves, row)
        if n >= ETC:
            value, square = refutation(own, other, alpha, count, row, memory)
            if value > alpha:
                keep(bucket, own, other, value, alpha, alpha + 1, square, stamp_of(n, memory))
                return value
        rank(own, other, count, parity, n, first, memory)
        busy = load(memory, BUSY) if n >= SHARED else ZERO
        best, best_square = NONE, NO_MOVE
        k = waiting = 0
        again = False
        while True:
            if k == count:
                if again or waiting == 0:
                    break
                k, count, again = 0, waiting, True
            square, turned = select(row, k, count, again)
            mine, theirs = own | turned | (ONE << np.uint64(square)), other ^ turned
            later = parity ^ quadrant_masks[square]
            if n == DEEP:
                value = -few(theirs, mine, later, -alpha - 1, n - 1, memory)
            else:
                slot = 0
                if busy != ZERO:
                    name = mine * MIX_1 ^ theirs * MIX_2
                    slot = as_int(name >> np.uint64(64 - BUSY_BITS))
                    if not again and k > 0 and load(busy, slot) == name:
                        # Another thread is at this position: its value may be known later.
                        defer(row, k, waiting)
                        waiting += 1
                        k += 1
                        continue
                    store(busy, slot, name)
                value = -many(theirs, mine, later, -alpha - 1, n - 1, memory)
                if busy != ZERO:
                    store(busy, slot, ZERO)
                if load(memory, STOP) != ZERO:
                    return alpha
            if value > best:
                best, best_square = value, square
                if value > alpha:
                    break
            k += 1
        keep(bucket, own, other, best, alpha, alpha + 1, best_square, stamp_of(n, memory))
        return best

    many = recursive(many)
    return many


@functools.cache
def make_null_window(size: int, tier_name: str, ordering: Ordering | None) -> NullWindow:
    """Return the null-window search with any number of empty squares."""
    board, parity_of = board_mask(size), make_parity(size).of
    least, few, many = (
        make_last_squares(size, tier_name).least,
        make_few(size, tier_name),
        make_many(size, tier_name, ordering),
    )

    def null_window(own: np.uint64, other: np.uint64, alpha: int, n: int, memory: np.uint64) -> int:
        empties = board & ~(own | other)
        if n < 4:
            return least(own, other, empties, n, alpha, as_int(load(memory, BONUS)))
        if n < DEEP:
            return few(own, other, parity_of(empties), alpha, n, memory)
        return many(own, other, parity_of(empties), alpha, n, memory)

    return recursive(null_window)
