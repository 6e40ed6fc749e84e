"""Text forms of Nim: heaps "3,4,5", moves "heap:count" with heaps counted from 1."""

from __future__ import annotations

import re
from itertools import accumulate

import numpy as np

from board_envs.forms import split_tuples
from board_envs.games.nim.rules import State
from board_envs.types import IllegalActionError, PositionError

_TUPLE = re.compile(r"\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)", re.ASCII)
_MOVE = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)


class NimNotation:
    """Notation for given initial heaps; `" 0"` or `" 1"` at the end of a position is the seat to move."""

    legend = "heap:count, heaps counted from 1, as in 2:3; or (heap, count), heaps counted from 0"

    def __init__(self, heaps: tuple[int, ...], misere: bool) -> None:
        self.heaps, self.misere = heaps, misere
        self._bases = [0, *accumulate(heaps)]

    def sizes(self, state: State) -> list[int]:
        """Return the heaps' sizes."""
        return [int(state.heaps) >> (8 * heap) & 255 for heap in range(len(self.heaps))]

    def parse(self, text: str) -> State:
        """Read a position; no heap may exceed its initial size."""
        body, _, seat = text.strip().partition(" ")
        seat = seat.strip() or "0"
        if seat not in ("0", "1"):
            raise PositionError(f"{text!r}: the seat to move is 0 or 1, not {seat!r}")
        numbers = body.split(",")
        if not all(number.isascii() and number.isdigit() and len(number) <= 9 for number in numbers):
            raise PositionError(f"{text!r}: heaps are whole numbers separated by commas")
        sizes = [int(number) for number in numbers]
        if len(sizes) != len(self.heaps):
            raise PositionError(f"{text!r}: {len(sizes)} heaps, this game has {len(self.heaps)}")
        for heap, (size, limit) in enumerate(zip(sizes, self.heaps, strict=True), 1):
            if size > limit:
                raise PositionError(f"{text!r}: heap {heap} has {size} objects, more than the {limit} it began with")
        return State(np.uint64(sum(size << (8 * heap) for heap, size in enumerate(sizes))), int(seat))

    def format(self, state: State) -> str:
        """Write the heaps, then the seat to move."""
        return ",".join(map(str, self.sizes(state))) + f" {state.seat}"

    def action_to_text(self, state: State, action: int) -> str:
        """Write "heap:count"."""
        heap, count = self.heap_and_count(action)
        return f"{heap + 1}:{count}"

    def heap_and_count(self, action: int) -> tuple[int, int]:
        """Return which heap (from 0) an action takes from, and how many; IllegalActionError for an unknown action."""
        if not 0 <= action < self._bases[-1]:
            raise IllegalActionError(f"there is no action {action}; actions are 0 to {self._bases[-1] - 1}")
        heap = next(heap for heap, end in enumerate(self._bases[1:]) if action < end)
        return heap, action - self._bases[heap] + 1

    def action_of(self, heap: int, count: int) -> int:
        """Return the action that takes `count` objects from `heap` (from 0); IllegalActionError if out of range.

        Counts go up to the initial size; `Rules.is_legal` checks whether the heap still has as many.
        """
        if not 0 <= heap < len(self.heaps):
            raise IllegalActionError(f"there is no heap {heap + 1}; heaps are 1 to {len(self.heaps)}")
        if not 1 <= count <= self.heaps[heap]:
            raise IllegalActionError(f"from heap {heap + 1} one takes 1 to {self.heaps[heap]} objects, not {count}")
        return self._bases[heap] + count - 1

    def text_to_action(self, state: State, text: str) -> int:
        """Read "heap:count", heaps from 1, or the source's "(heap, count)", heaps from 0."""
        pair = _TUPLE.fullmatch(text.strip())
        match = pair or _MOVE.fullmatch(text.strip())
        if not match:
            raise IllegalActionError(f"{text!r} is not a move; moves are heap:count, as in 2:3")
        heap, count = int(match[1]) - (0 if pair else 1), int(match[2])
        if 0 <= heap < len(self.heaps) and not 1 <= count <= self.sizes(state)[heap]:
            left = self.sizes(state)[heap]
            offered = f"1 to {left} objects" if left > 1 else "1 object" if left else "nothing, it is empty"
            raise IllegalActionError(f"{text!r} is not legal: from heap {heap + 1} one takes {offered}")
        return self.action_of(heap, count)

    def split_moves(self, text: str) -> list[str]:
        """Cut at commas or blanks, "(0, 3) (2, 1)" at the parentheses."""
        if text.strip().startswith("("):
            return split_tuples(text)
        return text.split(",") if "," in text else text.split()

    def join_moves(self, moves: list[str]) -> str:
        """Join with spaces."""
        return " ".join(moves)

    def draw(self, state: State) -> str:
        """Return one line a heap, and which object wins."""
        lines = [f"{heap + 1}: {'|' * size} {size}" for heap, size in enumerate(self.sizes(state))]
        return "\n".join([*lines, f"the last object {'loses' if self.misere else 'wins'}"])
