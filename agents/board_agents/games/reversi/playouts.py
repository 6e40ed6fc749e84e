"""Uniformly random games of Reversi to the end, and counts of all games, at the speed of the move functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_envs._bits import ONE, ZERO, as_int, lowest, popcount
from board_envs._jit import Kernel, kernel, recursive
from board_envs.game import Game, check_int
from board_envs.games.reversi import State
from board_envs.games.reversi.board import sides
from board_envs.games.reversi.rules import board_mask
from board_envs.games.reversi.tiers import make_tier, tier_names
from board_envs.random import below, check_seed, draw, key_of

LANES = 8
"""Games played side by side."""


@functools.cache
def _make_playouts(size: int, tier: str) -> Kernel[Any, int]:
    """Return the kernel (own, other, keys, margins int8 (count,)) -> number of moves played.

    Game i takes its choices from the stream whose key is draw i of `keys`; margins are own minus other at the end.
    Several games are played side by side, since one alone leaves the processor waiting for its own results.
    """
    legal_moves, flipped, select_bit = make_tier(tier)
    board = board_mask(size)

    def playouts(own: np.uint64, other: np.uint64, keys: np.uint64, margins: NDArray[np.int8]) -> int:
        count = margins.shape[0]
        # A lane a row: the mover's discs, the other's, the key of the game's stream, plies, mover changes, number.
        lanes = np.empty((LANES, 6), np.uint64)
        begun = min(LANES, count)
        for i in range(begun):
            lanes[i] = (own, other, draw(keys, np.uint64(i)), ZERO, ZERO, np.uint64(i))
        live = begun
        total = 0
        while live > 0:
            i = 0
            while i < live:
                mine, theirs = lanes[i, 0], lanes[i, 1]
                moves = legal_moves(mine, theirs) & board
                if moves == ZERO:
                    mine, theirs = theirs, mine
                    lanes[i, 4] += ONE
                    moves = legal_moves(mine, theirs) & board
                    if moves == ZERO:
                        difference = popcount(mine) - popcount(theirs)
                        margins[lanes[i, 5]] = -difference if lanes[i, 4] & ONE else difference
                        total += as_int(lanes[i, 3])
                        if begun < count:
                            lanes[i] = (own, other, draw(keys, np.uint64(begun)), ZERO, ZERO, np.uint64(begun))
                            begun += 1
                        else:
                            live -= 1
                            lanes[i] = lanes[live]
                        continue
                ply = lanes[i, 3]
                square = select_bit(moves, below(draw(lanes[i, 2], ply), popcount(moves)))
                turned = flipped(mine, theirs, square)
                lanes[i, 0] = theirs ^ turned
                lanes[i, 1] = mine | turned | (ONE << np.uint64(square))
                lanes[i, 3] = ply + ONE
                lanes[i, 4] += ONE
                i += 1
        return total

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
    margins = np.zeros(count, np.int8)
    own, other = sides(state)
    run = _make_playouts(int(game.parameters["size"]), tier_names()[0] if tier is None else tier)
    plies = run(own, other, key_of(np.uint64(check_seed(seed))), margins)
    return (margins if state.seat == 0 else -margins), plies


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
