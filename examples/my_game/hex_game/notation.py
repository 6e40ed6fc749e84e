"""Notation of Hex: moves "a1" (column, row from the top) or "swap", positions as rows ("---/-X-/---")."""

from __future__ import annotations

import re

import numpy as np

from board_envs.authoring import IllegalActionError, PositionError
from hex_game.rules import Cells, State, make_geometry, words_of

_STONES = "XO"
_MOVE = re.compile(r"swap|[a-z][0-9]{1,2}", re.IGNORECASE | re.ASCII)


def stones_of(low: np.uint64, high: np.uint64) -> list[int]:
    """List the cells of a set."""
    board = int(low) | int(high) << 64
    return [cell for cell in range(board.bit_length()) if board >> cell & 1]


class HexNotation:
    """Notation of one size. X is player_0, O player_1, - empty; `" 0"` or `" 1"` at the end is the seat to move."""

    def __init__(self, size: int, swap: bool) -> None:
        self.size, self.swap = size, swap
        self._last = self._name(size * size - 1)
        self._joins = make_geometry(size).joins
        self.legend = "a cell: its column's letter from a, its row's number from 1 at the top, as in b3" + (
            "; or swap" if swap else ""
        )

    def _name(self, cell: int) -> str:
        return f"{chr(ord('a') + cell % self.size)}{cell // self.size + 1}"

    def parse(self, text: str) -> State:
        """Read a position that play can reach: the counts fit, and only the last stone has joined two sides."""
        board, _, seat = text.strip().partition(" ")
        rows = board.split("/")
        if len(rows) != self.size or any(len(row) != self.size for row in rows):
            raise PositionError(
                f"{text!r}: expected {self.size} rows of {self.size} characters, from the top, separated by '/'"
            )
        characters = "".join(rows)
        for character in characters:
            if character not in "XO-":
                raise PositionError(f"{text!r}: {character!r} is not X, O or -")
        stones = [[cell for cell, found in enumerate(characters) if found == stone] for stone in _STONES]
        to_play = self._seat(text, len(stones[0]), len(stones[1]), seat.strip())
        words = [words_of(cells) for cells in stones]
        winner = next((seat for seat in (0, 1) if self._has_won(words[seat], seat)), -1)
        if winner == to_play:
            raise PositionError(f"{text!r}: {_STONES[winner]} has won, yet {_STONES[1 - winner]} played after that")
        if winner >= 0 and not self._has_last(stones[winner], winner):
            raise PositionError(f"{text!r}: {_STONES[winner]} has won in ways that no single last stone completes")
        return State(*words[0], *words[1], to_play, winner)

    def _seat(self, text: str, first: int, second: int, seat: str) -> int:
        """Return the seat to move, stated or not; PositionError if play never leads to these counts."""
        # A swap takes player_0's only stone away and gives player_1 one: from then on player_1 is a stone ahead.
        seats = {0: first == second or (self.swap and second == first + 1), 1: first == second + 1}
        seats[1] = seats[1] or (self.swap and first == second > 0)
        known = [each for each, fits in seats.items() if fits]
        if not known:
            rule = "X begins, so X has as many as O or one more" + (", after a swap one fewer" if self.swap else "")
            raise PositionError(f"{text!r}: {first} X and {second} O: {rule}")
        if not seat:
            return known[0]
        if seat not in map(str, known):
            fits = " or ".join(map(str, known))
            raise PositionError(f"{text!r}: by the stones seat {fits} is to move, not {seat!r}")
        return int(seat)

    def _has_won(self, words: Cells, seat: int) -> bool:
        return any(self._joins(*words, stone, seat) for stone in stones_of(*words))

    def _has_last(self, stones: list[int], seat: int) -> bool:
        """Whether there is a stone without which the others do not join the seat's sides."""
        return any(not self._has_won(words_of(set(stones) - {last}), seat) for last in stones)

    def format(self, state: State) -> str:
        """Write rows from the top, then the seat to move."""
        return "/".join(self._rows(state)) + f" {state.seat}"

    def _rows(self, state: State) -> list[str]:
        characters = ["-"] * (self.size * self.size)
        for stone, words in zip(_STONES, (state[0:2], state[2:4]), strict=True):
            for cell in stones_of(*words):
                characters[cell] = stone
        return ["".join(characters[row * self.size : (row + 1) * self.size]) for row in range(self.size)]

    def action_to_text(self, state: State, action: int) -> str:
        """Write a cell, or "swap"."""
        return "swap" if action == self.size * self.size else self._name(action)

    def text_to_action(self, state: State, text: str) -> int:
        """Read a cell, or "swap"."""
        move = text.strip().lower()
        if self.swap and move == "swap":
            return self.size * self.size
        if not _MOVE.fullmatch(move) or move == "swap":
            raise IllegalActionError(f"{text!r} is not a move; moves are cells from a1 to {self._last}")
        column, row = ord(move[0]) - ord("a"), int(move[1:]) - 1
        if not (column < self.size and 0 <= row < self.size):
            raise IllegalActionError(f"{text!r} is not on the board; cells are a1 to {self._last}")
        return row * self.size + column

    def split_moves(self, text: str) -> list[str]:
        """Cut at commas or blanks, and between cells that stand one after the other ("a1b2")."""
        moves: list[str] = []
        for word in text.split(",") if "," in text else text.split():
            pieces = _MOVE.findall(word)
            moves.extend(pieces if pieces and "".join(pieces) == word.strip() else [word])
        return moves

    def join_moves(self, moves: list[str]) -> str:
        """Join with blanks."""
        return " ".join(moves)

    def draw(self, state: State) -> str:
        """Return the board, each row half a cell further right; X joins top and bottom, O left and right."""
        letters = " ".join(chr(ord("a") + column) for column in range(self.size))
        lines = [" " * row + f"{row + 1:>2} " + " ".join(cells) for row, cells in enumerate(self._rows(state))]
        return "\n".join(["   " + letters, *lines])
