"""Text forms of Connect Four: moves as 1-based columns ("4453"), positions as rows from the top ("-------/---XO--")."""

from __future__ import annotations

import numpy as np

from board_envs._bits import ONE, ZERO, popcount
from board_envs.games.connect_four.rules import State, bit_index, make_has_line
from board_envs.types import IllegalActionError, PositionError

_STONES = "XO"


class ConnectFourNotation:
    """Notation of one size. X is player_0, O player_1, - empty; `" 0"` or `" 1"` at the end is the seat to move."""

    legend = "a column, counted from 1 at the left"

    def __init__(self, rows: int, columns: int, connect: int) -> None:
        self.rows, self.columns, self.connect = rows, columns, connect
        self._bits = bit_index(rows, columns)
        self._has_line = make_has_line(rows, connect)

    def parse(self, text: str) -> State:
        """Read a position; refused are floating stones, wrong counts, two winners and stones played after a win."""
        board, _, seat = text.strip().partition(" ")
        lines = board.split("/")
        if len(lines) != self.rows or any(len(line) != self.columns for line in lines):
            raise PositionError(
                f"{text!r}: expected {self.rows} rows of {self.columns} characters, from the top, separated by '/'"
            )
        stones = [ZERO, ZERO]
        for row, line in enumerate(lines):
            for column, char in enumerate(line):
                if char in _STONES:
                    stones[_STONES.index(char)] |= ONE << np.uint64(self._bits[row, column])
                    if row + 1 < self.rows and lines[row + 1][column] == "-":
                        raise PositionError(f"{text!r}: the stone in column {column + 1}, row {row + 1} floats")
                elif char != "-":
                    raise PositionError(f"{text!r}: {char!r} is none of X, O and -")
        counts = popcount(stones[0]), popcount(stones[1])
        if counts[0] - counts[1] not in (0, 1):
            raise PositionError(
                f"{text!r}: {counts[0]} X and {counts[1]} O: X begins, so X has as many as O or one more"
            )
        to_play = counts[0] - counts[1]
        if seat.strip() and seat.strip() != str(to_play):
            raise PositionError(f"{text!r}: by the stones seat {to_play} is to move, not {seat.strip()!r}")
        won = [self._has_line(stones[0]), self._has_line(stones[1])]
        if won[0] and won[1]:
            raise PositionError(f"{text!r}: both players have {self.connect} in a line")
        winner = 0 if won[0] else 1 if won[1] else -1
        if winner >= 0:
            if winner == to_play:
                raise PositionError(f"{text!r}: {_STONES[winner]} has won, yet {_STONES[1 - winner]} played after that")
            if not self._last_stone_wins(stones, winner):
                raise PositionError(f"{text!r}: {_STONES[winner]} has lines that no single last stone completes")
        elif counts[0] + counts[1] == self.rows * self.columns:
            winner = 2
        return State(stones[0], stones[1], to_play, winner)

    def _last_stone_wins(self, stones: list[np.uint64], winner: int) -> bool:
        """Whether taking one topmost stone off the winner leaves no line, so that it was the last one played."""
        occupied = stones[0] | stones[1]
        for bit in self._bits.ravel():
            last = ONE << np.uint64(bit)
            if stones[winner] & last and not occupied & (last << ONE) and not self._has_line(stones[winner] & ~last):
                return True
        return False

    def format(self, state: State) -> str:
        """Write rows from the top, then the seat to move."""
        return "/".join(self._lines(state)) + f" {state.seat}"

    def _lines(self, state: State) -> list[str]:
        planes = int(state.player_0), int(state.player_1)
        return [
            "".join("X" if planes[0] >> bit & 1 else "O" if planes[1] >> bit & 1 else "-" for bit in row)
            for row in self._bits.tolist()
        ]

    def action_to_text(self, state: State, action: int) -> str:
        """Write a column, counted from 1."""
        return str(action + 1)

    def text_to_action(self, state: State, text: str) -> int:
        """Read a column, counted from 1."""
        text = text.strip()
        if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= self.columns):
            raise IllegalActionError(f"{text!r} is no column; columns are 1 to {self.columns}")
        return int(text) - 1

    def split_moves(self, text: str) -> list[str]:
        """Cut "4453" into digits; with more than nine columns, or with spaces, cut at the spaces."""
        words = text.split()
        if self.columns > 9 or len(words) > 1:
            return words
        return list("".join(words))

    def join_moves(self, moves: list[str]) -> str:
        """Write digits without, longer numbers with spaces."""
        return (" " if self.columns > 9 else "").join(moves)

    def draw(self, state: State) -> str:
        """Return the board with its column numbers."""
        width = len(str(self.columns))
        head = " ".join(str(column + 1).rjust(width) for column in range(self.columns))
        return "\n".join([" ".join(char.rjust(width) for char in line) for line in self._lines(state)] + [head])
