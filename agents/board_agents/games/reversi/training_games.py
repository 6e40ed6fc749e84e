"""Games that training learns from: random, then played by the search, then to the end with a mistake here and there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from board_agents.games.reversi.midgame_workspace import DATE, NO_MOVE
from board_agents.lowlevel.instructions import load, store
from board_envs._bits import ONE, ZERO, borrowed, popcount
from board_envs._jit import Kernel, jitable, kernel
from board_envs.games.reversi import tiers
from board_envs.random import below, draw
from board_envs.types import Words

Choose = Callable[[np.uint64, np.uint64, int, bool, np.uint64, Any], int]
"""Jitable (own, other, depth, whole, memory, values): search each move; see `Midgame.root` for `whole` and `values`."""

_PLANS = 1 << 20
"""Counter of the first draw that decides about a whole game; a move's draws are counted from 0."""


@jitable
def plan_game(key: np.uint64, solved: int) -> tuple[int, int, int]:
    """Draw a game's parts: (plies played at random, plies until positions are kept, empty squares at its end)."""
    free = 1 + below(draw(key, np.uint64(_PLANS)), 10)
    loose = free
    if draw(key, np.uint64(_PLANS + 1)) & ONE:
        loose += below(draw(key, np.uint64(_PLANS + 2)), 42)
    return free, loose, 1 + below(draw(key, np.uint64(_PLANS + 3)), max(1, solved - 1))


@jitable
def record(boards: Words, game: int, kept: int, own: np.uint64, other: np.uint64, seat: np.uint64) -> None:
    """Keep a position of a game."""
    boards[game, kept, 0] = own
    boards[game, kept, 1] = other
    boards[game, kept, 2] = seat


def make_play(tier_name: str, choose: Choose) -> Kernel[Any, None]:
    """Return the kernel that plays games.

    (memory, key of the games' stream, depth, solved, boards, lengths, values, out), see `Thinker.play`.
    """
    tier = tiers.make_tier(tier_name)
    legal_moves, flipped, select_bit = tier.legal_moves, tier.flipped, tier.select_bit

    @jitable
    def choose_deeper(own: np.uint64, other: np.uint64, levels: int, memory: np.uint64, values: Any) -> int:
        """Search deeper and deeper, as a search of its own; return the best move's square."""
        store(memory, DATE, load(memory, DATE) % np.uint64(255) + ONE)
        square = NO_MOVE
        for level in range(2 - levels % 2, levels + 1, 2):
            square = choose(own, other, level, False, memory, borrowed(values))
        return square

    def play(
        memory: np.uint64, keys: np.uint64, depth: int, solved: int, boards: Any, lengths: Any, values: Any, out: Any
    ) -> None:
        for game in range(boards.shape[0]):
            key = draw(keys, np.uint64(game))
            counter = ZERO
            black, white, seat = np.uint64(0x0000000810000000), np.uint64(0x0000001008000000), ZERO
            free, loose, end = plan_game(key, solved)
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
                    record(boards, game, kept, own, other, seat)
                    kept += 1
                if not anchored and (n <= solved or over):
                    # The value of the last position kept so far is that of all before it.
                    if kept == 0:
                        record(boards, game, 0, own, other, seat)
                        kept = 1
                    lengths[game] = kept
                    anchored = True
                if over or (anchored and n <= end):
                    record(boards, game, kept, own, other, seat)
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
                    levels = depth if ply >= loose and not anchored else 1
                    if levels > 2 and not anchored and draw(key, np.uint64(_PLANS + 4)) & ONE:
                        levels -= 1
                    square = choose_deeper(own, other, levels, memory, values)
                turned = flipped(own, other, square)
                mine, theirs = own | turned | (ONE << np.uint64(square)), other ^ turned
                black, white = (mine, theirs) if seat == ZERO else (theirs, mine)
                seat ^= ONE
                ply += 1
            out[0] += 1

    return kernel(play)
