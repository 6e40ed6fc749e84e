"""Notation of Connect Four: moves as 1-based columns ("4453" or "4,4,5,3"), positions as rows ("-------/---XO--")."""

from __future__ import annotations

import re

import numpy as np

from board_envs._bits import ONE, ZERO, popcount
from board_envs.forms import split_tuples
from board_envs.games.connect_four.rules import State, bit_index, make_has_line
from board_envs.types import IllegalActionError, PositionError

_STONES = "XO"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_CELL = re.compile(r"\(\s*([0-9]{1,2})\s*,\s*([0-9]{1,2})\s*\)", re.ASCII)
_LETTERS = re.compile(r"[a-z]+", re.IGNORECASE | re.ASCII)


def has_order(columns: list[str]) -> bool:
    """Whether alternate moves, X first, can build these columns (stones from the bottom up)."""
    dead_ends: set[tuple[str, ...]] = set()

    def can_go_on(rest: tuple[str, ...], turn: int) -> bool:
        if not rest:
            return True
        if rest in dead_ends:
            return False
        # Columns that show the other colour next, then long ones, keep most ways open; equal columns are one choice.
        playable = {column for column in rest if column[0] == _STONES[turn]}
        for column in sorted(playable, key=lambda column: (column[1:2] in ("", _STONES[turn]), -len(column), column)):
            left = list(rest)
            left.remove(column)
            if len(column) > 1:
                left.append(column[1:])
            if can_go_on(tuple(sorted(left)), 1 - turn):
                return True
        dead_ends.add(rest)
        return False

    return can_go_on(tuple(sorted(column for column in columns if column)), 0)


class ConnectFourNotation:
    """Notation of one size. X is player_0, O player_1, - empty; `" 0"` or `" 1"` at the end is the seat to move."""

    legend = (
        "a column, counted from 1 at the left, or its letter from a; or the cell (row, column), from 0 at the top left"
    )

    def __init__(self, rows: int, columns: int, connect: int) -> None:
        self.rows, self.columns, self.connect = rows, columns, connect
        self._bits = bit_index(rows, columns)
        self._has_line = make_has_line(rows, connect)

    def parse(self, text: str) -> State:
        """Read a position that play can reach.

        Refused are floating stones, wrong counts, two winners, stones played after a win, and boards that no order of
        alternate moves builds.
        """
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
                    raise PositionError(f"{text!r}: {char!r} is not X, O or -")
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
            before = self._without_last(stones, winner)
            if not before:
                raise PositionError(f"{text!r}: {_STONES[winner]} has lines that no single last stone completes")
        else:
            before = [stones]
            if counts[0] + counts[1] == self.rows * self.columns:
                winner = 2
        if not any(has_order(self._columns(planes)) for planes in before):
            raise PositionError(f"{text!r}: no order of alternate moves, X first, builds these columns")
        return State(stones[0], stones[1], to_play, winner)

    def _without_last(self, stones: list[np.uint64], winner: int) -> list[list[np.uint64]]:
        """Return the boards before the last stone: the winner's topmost stones without which it has no line."""
        occupied = stones[0] | stones[1]
        boards = []
        for bit in self._bits.ravel():
            last = ONE << np.uint64(bit)
            if stones[winner] & last and not occupied & (last << ONE) and not self._has_line(stones[winner] & ~last):
                planes = list(stones)
                planes[winner] &= ~last
                boards.append(planes)
        return boards

    def _columns(self, stones: list[np.uint64]) -> list[str]:
        """Return each column's stones from the bottom up."""
        planes = int(stones[0]), int(stones[1])
        return [
            "".join("X" if planes[0] >> bit & 1 else "O" for bit in column if (planes[0] | planes[1]) >> bit & 1)
            for column in self._bits[::-1].T.tolist()
        ]

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
        """Read a column: its number, counted from 1, its letter, or the cell (row, column) that the stone falls to."""
        text = text.strip()
        column = 0
        if cell := _CELL.fullmatch(text):
            return self._column_of(state, int(cell[1]), int(cell[2]))
        if _NUMBER.fullmatch(text):
            column = int(text)
        elif len(text) == 1 and _LETTERS.fullmatch(text):
            column = ord(text.lower()) - ord("a") + 1
        if not 1 <= column <= self.columns:
            raise IllegalActionError(f"{text!r} is not a column; columns are 1 to {self.columns}")
        return column - 1

    def _column_of(self, state: State, row: int, column: int) -> int:
        """Return the column of a cell; IllegalActionError if a stone does not fall there."""
        if not (row < self.rows and column < self.columns):
            raise IllegalActionError(
                f"({row}, {column}) is not a cell; rows are 0 to {self.rows - 1}, columns 0 to {self.columns - 1}"
            )
        height = len(self._columns([state.player_0, state.player_1])[column])
        if row != self.rows - 1 - height:
            falls = f"to row {self.rows - 1 - height}" if height < self.rows else "nowhere, the column is full"
            raise IllegalActionError(f"({row}, {column}): a stone in column {column} falls {falls}")
        return column

    def split_moves(self, text: str) -> list[str]:
        """Cut "4453" or "ddec" into characters, "4,4,5,3" at its commas; IllegalActionError where blanks separate.

        Cells "(5, 3) (4, 3)" may stand side by side, or with blanks or commas between.

        Two fields with a blank between are moves and a score in this game, never moves. With more than nine columns,
        numbers are separated by commas, or by blanks where there are three or more (as version 0.1.0 wrote them).
        """
        text = text.strip()
        if text.startswith("("):
            return split_tuples(text)
        if "," in text:
            return text.split(",")
        words = text.split()
        if len(words) > 1 and (self.columns <= 9 or len(words) == 2):
            raise IllegalActionError(f"{text!r}: moves one by one are separated by commas, as in 4,4,5,3")
        if len(words) > 1 or (self.columns > 9 and not _LETTERS.fullmatch(text)):
            return words
        return list(text)

    def join_moves(self, moves: list[str]) -> str:
        """Write digits without anything between, longer numbers with commas."""
        return ("," if self.columns > 9 else "").join(moves)

    def draw(self, state: State) -> str:
        """Return the board with its column numbers."""
        width = len(str(self.columns))
        head = " ".join(str(column + 1).rjust(width) for column in range(self.columns))
        return "\n".join([" ".join(char.rjust(width) for char in line) for line in self._lines(state)] + [head])
