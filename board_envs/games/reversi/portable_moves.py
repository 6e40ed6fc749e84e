"""Reversi's two move functions in plain arithmetic: on Python integers, and on words for any processor.

A board is a uint64 with bit = 8 * row + column, rows from the top, whatever the size: a smaller board lies in the top
left corner. The squares outside are never occupied, so no run of discs passes through them, and one set of functions
serves every size (of `legal_moves` the caller keeps the squares on the board).

Rules take `legal_moves` and `flipped` from `moves`, which gives them their compiled forms.
"""

from __future__ import annotations

import numpy as np

from board_envs._bits import ZERO, leading_zeros
from board_envs._jit import jitable
from board_envs.types import Words

_INNER = 0x7E7E7E7E7E7E7E7E
_INNER_WORD = np.uint64(_INNER)


def _rays() -> list[tuple[list[int], list[int]]]:
    """For each square, the four rays towards higher bits and the four opposite ones, as boards."""
    table = []
    for row in range(8):
        for column in range(8):
            both = []
            for sign in (1, -1):
                rays = []
                for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
                    ray, r, c = 0, row + sign * down, column + sign * right
                    while 0 <= r < 8 and 0 <= c < 8:
                        ray |= 1 << (8 * r + c)
                        r, c = r + sign * down, c + sign * right
                    rays.append(ray)
                both.append(rays)
            table.append((both[0], both[1]))
    return table


_RAYS = _rays()
RAYS: Words = np.array(_RAYS, np.uint64).reshape(64, 8)
"""uint64 (64, 8): each square's rays right, down left, down, down right (higher bits), then the opposites."""


@jitable
def _runs(own: np.uint64, other: np.uint64, shift: np.uint64) -> np.uint64:
    # Parallel prefix: after three doublings a run of up to six discs is covered, in both senses of one direction.
    up = other & (own << shift)
    down = other & (own >> shift)
    up |= other & (up << shift)
    down |= other & (down >> shift)
    pairs_up = other & (other << shift)
    pairs_down = other & (other >> shift)
    double = shift + shift
    up |= pairs_up & (up << double)
    down |= pairs_down & (down >> double)
    up |= pairs_up & (up << double)
    down |= pairs_down & (down >> double)
    return (up << shift) | (down >> shift)


@jitable
def legal_moves_portable(own: np.uint64, other: np.uint64) -> np.uint64:
    """`legal_moves` in plain word arithmetic."""
    inner = other & _INNER_WORD
    found = _runs(own, inner, np.uint64(1)) | _runs(own, inner, np.uint64(7))
    found |= _runs(own, inner, np.uint64(9)) | _runs(own, other, np.uint64(8))
    return found & ~(own | other)


def legal_moves(own: np.uint64, other: np.uint64) -> np.uint64:
    """Return the empty squares where `own` captures; on a smaller board some lie outside of it."""
    mine, theirs = int(own), int(other)
    inner = theirs & _INNER
    found = 0
    for shift, line in ((1, inner), (7, inner), (9, inner), (8, theirs)):
        up, down = line & (mine << shift), line & (mine >> shift)
        if up:
            up |= line & (up << shift)
            pairs = line & (line << shift)
            up |= pairs & (up << 2 * shift)
            up |= pairs & (up << 2 * shift)
            found |= up << shift
        if down:
            down |= line & (down >> shift)
            pairs = line & (line >> shift)
            down |= pairs & (down >> 2 * shift)
            down |= pairs & (down >> 2 * shift)
            found |= down >> shift
    return np.uint64(found & ~(mine | theirs) & 0xFFFFFFFFFFFFFFFF)


@jitable
def flipped_portable(own: np.uint64, other: np.uint64, square: int) -> np.uint64:
    """`flipped` in plain word arithmetic."""
    found = ZERO
    for k in range(4):
        # Towards higher bits: a carry runs through the other's discs and stops at the first square that is not one.
        ray = RAYS[square, k]
        end = own & ray & ((other | ~ray) + np.uint64(1))
        found |= ray & (end - np.uint64(end != ZERO))
        # Towards lower bits there is no carry: the first square is the highest bit.
        ray = RAYS[square, k + 4]
        end = (np.uint64(1) << np.uint64(63 - leading_zeros((ray & ~other) | np.uint64(1)))) & own & ray
        found |= ray & (~(end + end) + np.uint64(1))
    return found


def flipped(own: np.uint64, other: np.uint64, square: int) -> np.uint64:
    """Return the discs of `other` that a new disc of `own` on the empty `square` turns over."""
    mine, theirs = int(own), int(other)
    higher, lower = _RAYS[square]
    found = 0
    for ray in higher:
        if theirs & ray:
            end = mine & ray & ((theirs | ~ray) + 1)
            if end:
                found |= ray & (end - 1)
    for ray in lower:
        if theirs & ray:
            end = 1 << (ray & ~theirs).bit_length() >> 1
            if end & mine & ray:
                found |= ray & -(end << 1)
    return np.uint64(found)
