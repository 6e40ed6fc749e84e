"""Uniformly random games of Reversi to the end, and counts of all games, at the speed of the move functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_envs._bits import ONE, ZERO, lowest, popcount
from board_envs._jit import Kernel, jitable, kernel, recursive
from board_envs.game import Game, check_int
from board_envs.games.reversi import State
from board_envs.games.reversi.rules import board_mask
from board_envs.games.reversi.tiers import make_tier, tier_names
from board_envs.random import below, check_seed, draw, key_of


@functools.cache
def _make_playouts(size: int, tier: str) -> Kernel[Any, None]:
    """Return the kernel (own, other, key, margins int8 (count,), plies int64 (1,)) -> None.

    Game i takes its choices from the stream whose key is draw i of `key`; margins are own minus other discs at the end.
    Two games are played side by side, since one alone leaves the processor waiting for its own results.
    """
    legal_moves, flipped, select_bit = make_tier(tier)
    board = board_mask(size)

    @jitable
    def advance(own: np.uint64, other: np.uint64, bits: np.uint64) -> tuple[np.uint64, np.uint64, int]:
        """Return the next mover's discs, the other's, and 0 after a move, 1 after a pass and a move, 2 at the end."""
        moves = legal_moves(own, other) & board
        passed = 0
        if moves == ZERO:
            own, other = other, own
            moves = legal_moves(own, other) & board
            passed = 1
            if moves == ZERO:
                return other, own, 2
        square = select_bit(moves, below(bits, popcount(moves)))
        turned = flipped(own, other, square)
        return other ^ turned, own | turned | (ONE << np.uint64(square)), passed

    @jitable
    def margin(own: np.uint64, other: np.uint64, swapped: int) -> int:
        difference = popcount(own) - popcount(other)
        return -difference if swapped else difference

    def playouts(own: np.uint64, other: np.uint64, key: np.uint64, margins: NDArray[np.int8], plies: Any) -> None:
        count = margins.shape[0]
        total = 0
        a, b = 0, 1
        a_own, a_other, a_key, a_ply, a_swapped = own, other, draw(key, np.uint64(0)), 0, 0
        b_own, b_other, b_key, b_ply, b_swapped = own, other, draw(key, np.uint64(1)), 0, 0
        while a < count and b < count:
            a_own, a_other, a_end = advance(a_own, a_other, draw(a_key, np.uint64(a_ply)))
            b_own, b_other, b_end = advance(b_own, b_other, draw(b_key, np.uint64(b_ply)))
            a_ply += 1
            b_ply += 1
            a_swapped ^= 1 ^ a_end
            b_swapped ^= 1 ^ b_end
            if a_end == 2:
                margins[a] = margin(a_own, a_other, a_swapped & 1 ^ 1)
                total += a_ply - 1
                a += 2
                a_own, a_other, a_key, a_ply, a_swapped = own, other, draw(key, np.uint64(a)), 0, 0
            if b_end == 2:
                margins[b] = margin(b_own, b_other, b_swapped & 1 ^ 1)
                total += b_ply - 1
                b += 2
                b_own, b_other, b_key, b_ply, b_swapped = own, other, draw(key, np.uint64(b)), 0, 0
        # One of the two is through with its games; the other has at most a few left.
        if b < count:
            a, a_own, a_other, a_key, a_ply, a_swapped = b, b_own, b_other, b_key, b_ply, b_swapped
        while a < count:
            a_own, a_other, a_end = advance(a_own, a_other, draw(a_key, np.uint64(a_ply)))
            a_ply += 1
            a_swapped ^= 1 ^ a_end
            if a_end == 2:
                margins[a] = margin(a_own, a_other, a_swapped & 1 ^ 1)
                total += a_ply - 1
                a += 2
                a_own, a_other, a_key, a_ply, a_swapped = own, other, draw(key, np.uint64(a)), 0, 0
        plies[0] = total

    return kernel(playouts)


def playouts(
    game: Game[State], state: State, count: int, seed: int, tier: str | None = None
) -> tuple[NDArray[np.int8], int]:
    """Play random games from a position to the end.

    Args:
        game: Reversi.
        state: where all games begin.
        count: how many games.
        seed: of all of them; the same seed gives the same games on every machine.
        tier: form of the move generation; None for the best here.

    Returns:
        Black minus white discs at the end of each game, int8 (count,), and the number of moves played in all.

    """
    check_int("reversi", "count", count, 0, 2**31)
    margins, plies = np.zeros(count, np.int8), np.zeros(1, np.int64)
    own, other = (state.black, state.white) if state.seat == 0 else (state.white, state.black)
    run = _make_playouts(int(game.parameters["size"]), tier_names()[0] if tier is None else tier)
    run(own, other, key_of(np.uint64(check_seed(seed))), margins, plies)
    return (margins if state.seat == 0 else -margins), int(plies[0])


@functools.cache
def _make_perft(size: int, tier: str) -> Kernel[Any, None]:
    legal_moves, flipped, _ = make_tier(tier)
    board = board_mask(size)

    def leaves(own: np.uint64, other: np.uint64, depth: int) -> int:
        moves = legal_moves(own, other) & board
        if moves == ZERO:
            if depth == 1 or legal_moves(other, own) & board == ZERO:
                return 1
            return leaves(other, own, depth - 1)
        if depth == 1:
            return popcount(moves)
        count = 0
        while moves != ZERO:
            square = lowest(moves)
            moves &= moves - ONE
            turned = flipped(own, other, square)
            count += leaves(other ^ turned, own | turned | (ONE << np.uint64(square)), depth - 1)
        return count

    leaves = recursive(leaves)

    def perft(own: np.uint64, other: np.uint64, depth: int, out: Any) -> None:
        out[0] = leaves(own, other, depth) if depth > 0 else 1

    return kernel(perft)


def perft(game: Game[State], depth: int, tier: str | None = None) -> int:
    """Count the games of `depth` plies from the initial position.

    A forced pass is a ply here, and a game that is over before is counted once: the usual published convention.
    """
    check_int("reversi", "depth", depth, 0, 20)
    out = np.zeros(1, np.int64)
    start = game.initial_state()
    _make_perft(int(game.parameters["size"]), tier_names()[0] if tier is None else tier)(
        start.black, start.white, depth, out
    )
    return int(out[0])
