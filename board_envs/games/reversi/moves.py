"""Which squares capture, and what a disc turns over: the two questions that Reversi is made of.

Boards are those of `portable_moves`. Interpreted, both functions work on Python integers; compiled code takes the best
tier of `tiers` that the processor runs.
"""

from __future__ import annotations

from typing import Any

from board_envs._jit import compiled_as_chosen
from board_envs.games.reversi import portable_moves
from board_envs.games.reversi.tiers import make_tier

legal_moves = compiled_as_chosen(lambda: make_tier().legal_moves)(portable_moves.legal_moves)
flipped = compiled_as_chosen(lambda: make_tier().flipped)(portable_moves.flipped)


def squares_of(word: Any) -> list[int]:
    """List the set bits of a board in increasing order."""
    value, found = int(word), []
    while value:
        found.append((value & -value).bit_length() - 1)
        value &= value - 1
    return found
