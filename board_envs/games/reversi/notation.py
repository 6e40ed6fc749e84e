"""Text forms of Reversi: moves "d3c3c4", positions as size x size of X (black), O (white), - and the side to move."""

from __future__ import annotations

import re

import numpy as np

from board_envs.games.reversi.board import check_position, square_name, square_of
from board_envs.games.reversi.rules import State, bit_index, make_rules
from board_envs.types import IllegalActionError, PositionError

_DISCS = "XO"
_PASS = r"(?:--|pass|pa|ps)"
_SQUARE = r"(?:[a-z][0-9]+|\(\s*[0-9]+\s*,\s*(?:[0-9]+|[a-z])\s*\))"
_MOVE = re.compile(rf"({_SQUARE})\s*((?:{_PASS}[\s,;]*)*)")
_PASSES = re.compile(_PASS)
_EMPTY = re.compile(r"(?:^|[,;])\s*[,;]")
"""A separator after which nothing stands: an empty move may mean a pass, so it is not passed over."""


class ReversiNotation:
    """Notation of one size.

    Moves are read in three conventions, in either case: "d3"; "(2, 3)", row and column from 0, rows from the top; and
    "(3, d)", the number and letter that stand at the board's edge, row first, as the source writes them. A
    transcript may name passes ("--", "pass", "pa" or "ps") after the move that forces them; a pass that is not forced
    is refused, and none is ever written.
    """

    legend = (
        "a square such as d3, columns from a at the left, rows from 1 at the top; or (row, column) from 0; or (3, d)"
    )

    def __init__(self, size: int) -> None:
        self.size = size
        self._bits = [int(bit) for bit in bit_index(size).ravel()]
        self._step = make_rules(size).step

    def parse(self, text: str) -> State:
        """Read a position, row by row from a1; `board.check_position` says which are refused."""
        board, _, side = text.strip().partition(" ")
        side = side.strip().upper()
        board = board.upper()
        cells = self.size * self.size
        if len(board) != cells:
            raise PositionError(f"{text!r}: expected {cells} characters and the side to move, not {len(board)}")
        foreign = sorted(set(board) - set("XO-"))
        if foreign:
            raise PositionError(f"{text!r}: {foreign[0]!r} is not X, O or -")
        if side not in ("X", "O"):
            raise PositionError(f"{text!r}: the side to move, X or O after a space, is {side!r}")
        words = [
            np.uint64(sum(1 << bit for bit, char in zip(self._bits, board, strict=True) if char == disc))
            for disc in _DISCS
        ]
        try:
            return check_position(words[0], words[1], _DISCS.index(side), self.size)
        except PositionError as error:
            raise PositionError(f"{text!r}: {error}") from None

    def format(self, state: State) -> str:
        """Write the squares row by row from a1, then the side to move."""
        return f"{self._squares(state)} {_DISCS[state.seat]}"

    def _squares(self, state: State) -> str:
        black, white = int(state.black), int(state.white)
        return "".join("X" if black >> bit & 1 else "O" if white >> bit & 1 else "-" for bit in self._bits)

    def action_to_text(self, state: State, action: int) -> str:
        """Write a square's algebraic name."""
        return square_name(divmod(action, self.size), self.size)

    def text_to_action(self, state: State, text: str) -> int:
        """Read a square in either convention, with the passes that the move forces, if they are named."""
        match = _MOVE.fullmatch(text.strip().lower())
        if match is None:
            raise IllegalActionError(f"{text!r} is not a move; moves are squares like d3 or (2, 3)")
        square, passes = match[1], len(_PASSES.findall(match[2]))
        try:
            row, column = self._row_and_column(square)
        except ValueError as error:
            raise IllegalActionError(str(error)) from None
        action = row * self.size + column
        if passes:
            self._check_passes(state, action, text, passes)
        return action

    def _row_and_column(self, square: str) -> tuple[int, int]:
        if square[0] != "(":
            return square_of(square, self.size)
        first, second = (part.strip() for part in square.strip("()").split(","))
        if second.isalpha():
            return square_of(second + first.lstrip("0"), self.size)
        row, column = int(first), int(second)
        if not (row < self.size and column < self.size):
            raise ValueError(f"{square!r} is not a square; rows and columns are 0 to {self.size - 1}")
        return row, column

    def _check_passes(self, state: State, action: int, text: str, passes: int) -> None:
        if not int(state.moves) >> self._bits[action] & 1:
            raise IllegalActionError(f"{text!r}: the move before the pass is not legal")
        after = self._step(state, action)
        over = not after.moves
        allowed = 2 if over else int(after.seat == state.seat)
        if passes > allowed:
            raise IllegalActionError(f"{text!r}: a pass is written only where the next player cannot move")

    def split_moves(self, text: str) -> list[str]:
        """Cut a transcript into moves, each with the passes named after it; IllegalActionError for anything else."""
        if (empty := _EMPTY.search(text)) is not None:
            raise IllegalActionError(f"{text!r}: no move before the separator at character {empty.end()}")
        moves, at = [], 0
        low = text.lower()
        while at < len(low):
            if low[at].isspace() or low[at] in ",;":
                at += 1
                continue
            match = _MOVE.match(low, at)
            if match is None:
                raise IllegalActionError(f"{text!r}: no move at character {at + 1}, {text[at : at + 8]!r}")
            moves.append(match[0].rstrip(" \t\n,;"))
            at = match.end()
        return moves

    def join_moves(self, moves: list[str]) -> str:
        """Write moves without anything between."""
        return "".join(moves)

    def draw(self, state: State) -> str:
        """Return the board, + where the side to move can play, and a line with who is to move and the discs."""
        squares = self._squares(state)
        moves = int(state.moves)
        shown = ["+" if moves >> bit & 1 else char for bit, char in zip(self._bits, squares, strict=True)]
        lines = ["  " + " ".join("abcdefgh"[: self.size])]
        rows = (shown[at : at + self.size] for at in range(0, len(shown), self.size))
        lines += [f"{number} " + " ".join(row) for number, row in enumerate(rows, 1)]
        status = f"{_DISCS[state.seat]} to move" if moves else "game over"
        lines.append(f"{status}, X {squares.count('X')}, O {squares.count('O')}")
        return "\n".join(lines)
