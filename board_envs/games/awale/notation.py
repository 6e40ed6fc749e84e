"""Text forms of Awalé: positions "3,3,3,3,3,3,3,3;0,0 0", moves as the mover's pits "0 3 1"."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from board_envs._bits import ZERO
from board_envs.games.awale.rules import PITS_LIMIT, SPARE, State, make_settle, pits_of, row_of
from board_envs.types import IllegalActionError, PositionError

LETTERS = ("ABCDEFGH", "abcdefgh")
"""Names of each seat's pits, from its first anticlockwise."""
_PITS = "01234567"
_POSITION = re.compile(r"([^;\s]*)(?:;(\S*))?(?:\s+([^\sm]\S*))?(?:\s+(mat))?")


class AwaleNotation:
    """Notation of one size.

    A position is the 2P numbers of the configuration, from the mover's first pit anticlockwise, then the mover's store
    and the other's after ";", then the seat to move. A game that a mat ended with an odd seed left says "mat" at last.
    """

    legend = "a pit of the side to move, counted from 0 at the left as drawn, or its letter: A ... first, a ... second"

    def __init__(self, pits: int, seeds: int, ruleset: str) -> None:
        self.pits, self.total, self.ruleset = pits, 2 * pits * seeds, ruleset
        self._settle = make_settle(pits, seeds, ruleset)

    def position(self, configuration: Sequence[int], stores: tuple[int, int], seat: int) -> State:
        """Return the state with an empty history, ended where the rules end it. Nothing is checked."""
        mine, other = row_of(configuration[: self.pits]), row_of(configuration[self.pits :])
        return self._settle(mine, other, *stores, seat, False, np.zeros((SPARE, 2), np.uint64), 0, 0, ZERO, ZERO)

    def parse(self, text: str) -> State:
        """Read a position. Without stores the seeds not on the board are shared, an odd one to the seat not to move."""
        match = _POSITION.fullmatch(text.strip())
        if not match:
            raise PositionError(f"{text!r}: a position is like {self._example()!r}")
        board, stores_text, seat, mat = match.groups()
        if seat not in (None, "0", "1"):
            raise PositionError(f"{text!r}: the seat to move is 0 or 1, not {seat!r}")
        configuration = self._numbers(text, board)
        if len(configuration) != 2 * self.pits:
            raise PositionError(f"{text!r}: {len(configuration)} pits, this game has {2 * self.pits}")
        left = self.total - sum(configuration)
        if left < 0:
            raise PositionError(f"{text!r}: {self.total - left} seeds on the board, this game has {self.total}")
        if stores_text is None:
            stores = [left // 2, left - left // 2]
        else:
            stores = self._numbers(text, stores_text)
            if len(stores) != 2:
                raise PositionError(f"{text!r}: after ';' come the mover's store and the other's, two numbers")
            if sum(stores) != left:
                raise PositionError(
                    f"{text!r}: {sum(configuration)} seeds on the board and {sum(stores)} in the stores are not "
                    f"{self.total}, the seeds of this game"
                )
        state = self.position(configuration, (stores[0], stores[1]), int(seat or 0))
        if not mat:
            return state
        if self.ruleset != "tamale" or sum(configuration) != 1:
            raise PositionError(f"{text!r}: a mat that shows is one seed left on the board, in the rule set tamale")
        mine, other = row_of(configuration[: self.pits]), row_of(configuration[self.pits :])
        return self._settle(mine, other, *stores, int(seat or 0), True, state.history, 0, 0, ZERO, ZERO)

    def _example(self) -> str:
        seeds = self.total // (2 * self.pits)
        return ",".join([str(seeds)] * (2 * self.pits)) + ";0,0 0"

    @staticmethod
    def _numbers(text: str, part: str) -> list[int]:
        numbers = part.split(",")
        for number in numbers:
            if not (number.isascii() and number.isdigit() and len(number) <= 9):
                raise PositionError(
                    f"{text!r}: {number!r} is not a number of seeds; write integers separated by commas"
                )
        return [int(number) for number in numbers]

    def format(self, state: State) -> str:
        """Write configuration, stores and seat to move."""
        rows, stores = (state.row0, state.row1), (state.store0, state.store1)
        seat = state.seat
        configuration = pits_of(rows[seat], self.pits) + pits_of(rows[1 - seat], self.pits)
        mat = " mat" if state.winner >= 0 and any(configuration) else ""
        return f"{','.join(map(str, configuration))};{stores[seat]},{stores[1 - seat]} {seat}{mat}"

    def action_to_text(self, state: State, action: int) -> str:
        """Write the mover's pit, counted from 0."""
        return str(action)

    def text_to_action(self, state: State, text: str) -> int:
        """Read a pit of the mover: its number, from 0, or its letter, from A for player_0 and from a for player_1."""
        text = text.strip()
        pit = (_PITS + LETTERS[state.seat]).find(text) if len(text) == 1 else -1
        if pit < 0 and len(text) == 1 and LETTERS[1 - state.seat].find(text) in range(self.pits):
            raise IllegalActionError(
                f"{text!r} is a pit of player_{1 - state.seat}, and player_{state.seat} is to move; capitals are "
                "player_0's pits, small letters player_1's"
            )
        if pit < 0 or pit % PITS_LIMIT >= self.pits:
            raise IllegalActionError(
                f"{text!r} is not a pit; the mover's pits are 0 to {self.pits - 1}, or {LETTERS[state.seat][0]} to "
                f"{LETTERS[state.seat][self.pits - 1]}"
            )
        return pit % PITS_LIMIT

    def split_moves(self, text: str) -> list[str]:
        """Cut at commas or blanks; one word is cut into characters ("031", "CdA"). A pit is one character."""
        words = text.split(",") if "," in text else text.split()
        return list(words[0]) if len(words) == 1 else words

    def join_moves(self, moves: list[str]) -> str:
        """Join with spaces."""
        return " ".join(moves)

    def draw(self, state: State) -> str:
        """Return the board with the mover's row below, pit numbers under it, stores beside the rows.

        The other's row runs right to left, so that sowing goes round anticlockwise.
        """
        rows, stores = (state.row0, state.row1), (state.store0, state.store1)
        width = max(2, len(str(self.total)))
        lines = []
        for seat in (1 - state.seat, state.seat):
            pits = pits_of(rows[seat], self.pits)
            shown = pits if seat == state.seat else pits[::-1]
            cells = " ".join(str(seeds).rjust(width) for seeds in shown)
            lines.append(f"player_{seat} {cells}   store {stores[seat]}")
        lines.append(" " * len("player_0 ") + " ".join(f"{pit}".rjust(width) for pit in range(self.pits)))
        return "\n".join(lines)
