"""A game as outside forms record it: plies with the passes between them, and a claimed result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from board_envs.forms import Item
from board_envs.games.reversi.board import SCORING_RULES, check_position, score, square_name, square_of
from board_envs.games.reversi.moves import legal_moves
from board_envs.games.reversi.rules import SIZES, State, bit_index, board_mask, make_rules
from board_envs.types import IllegalActionError, PositionError

PASS_NAMES = ("pa", "ps", "pas", "pass", "--", "-")
"""How forms write a pass, in either case."""

ANNOTATIONS = "Annotations"
"""Header of what stands beside the moves, see `Replay.annotations`."""

SIDES = ("black", "white")


def check_size(size: int) -> int:
    """Return a size that is offered; PositionError otherwise."""
    if size not in SIZES:
        raise PositionError(f"a board of {size} x {size}; Reversi is played here on 4 x 4, 6 x 6 and 8 x 8")
    return size


def pieces(text: str, starts: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Cut a text before each start (increasing); yield the line on which each piece begins, from 1, and the piece."""
    line, counted = 1, 0
    cuts = [*starts, len(text)]
    for at, end in pairwise(cuts):
        piece = text[at:end]
        begin = at + len(piece) - len(piece.lstrip())
        line += text.count("\n", counted, begin)
        counted = begin
        yield line, piece.strip()


# -- plies ------------------------------------------------------------------------------------------------------------


class Replay:
    """Plays a game ply by ply as a form lists it.

    A forced pass may be listed or left out. A pass that is not forced, a move of the wrong side and an illegal move
    raise IllegalActionError, which names the ply.

    Attributes:
        state: the position reached.
        actions: the moves so far.

    """

    def __init__(self, start: State, size: int, passes: int = 0) -> None:
        """Begin at `start`; `passes` is 1 if a forced pass may be listed before the first move."""
        self.size = size
        self.state = start
        self.actions: list[int] = []
        self._ply = 0  # forced passes counted, whether listed or not; none before the first move
        self._last = -1  # the ply of the last move
        self._notes: dict[int, str] = {}
        self._owed = passes
        self._step = make_rules(size).step
        self._bits = bit_index(size).ravel().tolist()

    def add(self, text: str, seat: int | None = None, note: str = "") -> None:
        """Play a square or a pass, by `seat` if the form says whose it is; `note` is what stands beside it."""
        if text.strip().lower() in ("", *PASS_NAMES):
            self._pass(text, seat)
            if not self.actions:
                return
        else:
            self._move(text, seat)
        if note:
            self._notes[self._ply] = note
        self._ply += 1

    def annotations(self) -> dict[str, str]:
        """Return the header that keeps the notes, for an Item's headers; empty without notes.

        It holds a text a ply, forced passes counted, set apart by |; what could be mistaken is written as %XX.
        """
        notes = {ply: note for ply, note in self._notes.items() if ply <= self._last}
        if not notes:
            return {}
        texts = (notes.get(ply, "") for ply in range(max(notes) + 1))
        return {ANNOTATIONS: "|".join(quote(text, safe=" !#$&'()*+,-./:;<=>?@^_`~") for text in texts)}

    def _pass(self, text: str, seat: int | None) -> None:
        if not self._owed:
            raise IllegalActionError(f"ply {self._ply + 1} ({text or 'an empty move'}): this pass is not forced")
        if seat is not None and self.state.moves and seat == self.state.seat:
            raise IllegalActionError(
                f"ply {self._ply + 1} ({text or 'an empty move'}): {SIDES[seat]} passes but can move"
            )
        self._owed -= 1

    def _move(self, text: str, seat: int | None) -> None:
        if self.state.moves and self._owed and self.actions:
            self._ply += 1  # the pass before this move is not listed
        try:
            row, column = square_of(text, self.size)
        except ValueError as error:
            raise IllegalActionError(f"ply {self._ply + 1}: {error}") from None
        where, mover = f"ply {self._ply + 1} ({text})", self.state.seat
        if not self.state.moves:
            raise IllegalActionError(f"{where}: the game is over")
        if seat is not None and seat != mover:
            raise IllegalActionError(f"{where}: a move of {SIDES[seat]}, but {SIDES[mover]} is to move")
        action = row * self.size + column
        if not int(self.state.moves) >> self._bits[action] & 1:
            raise IllegalActionError(f"{where}: not legal, {SIDES[mover]} captures nothing there")
        self.state = self._step(self.state, action)
        self.actions.append(action)
        self._last = self._ply
        self._owed = int(self.state.seat == mover) if self.state.moves else 2


def plies(start: State, actions: tuple[int, ...], size: int) -> Iterator[tuple[int, str]]:
    """Yield (seat, square) for each ply, a forced pass between two moves as ""; none stands after the last move."""
    step = make_rules(size).step
    state, last = start, 1 - start.seat
    for action in actions:
        if state.seat == last:
            yield 1 - last, ""
        last = state.seat
        yield last, square_name(divmod(action, size), size)
        state = step(state, action)


def annotations_of(item: Item) -> list[str]:
    """Return what stands beside each ply, the inverse of `Replay.annotations`."""
    text = item.headers.get(ANNOTATIONS, "")
    return [unquote(note) for note in text.split("|")] if text else []


def position_after_pass(black: int, white: int, seat: int, size: int) -> tuple[State, bool]:
    """Return the position of two boards and whether `seat`, who is named as the side to move, must pass in it.

    If so the position is the one after the pass. PositionError as from `board.check_position`.
    """
    words = np.uint64(black), np.uint64(white)
    try:
        return check_position(*words, seat, size), False
    except PositionError:
        if legal_moves(words[seat], words[1 - seat]) & board_mask(size):
            raise
    return check_position(*words, None, size), True


def must_pass(seat: int) -> str:
    """Return a remark that the side named must pass."""
    return f"{SIDES[seat]} must pass"


# -- results ----------------------------------------------------------------------------------------------------------

_HOW = ("resigned", "timeout", "agreed")
_RESULT = re.compile(rf"(?:(draw)|([BW])(?:\+([0-9]+(?:\.[0-9]+)?))?)(?: ({'|'.join(_HOW)}))?")


class Result(NamedTuple):
    """A game's result as a text states it.

    Attributes:
        winner: 0 (black), 1 (white), 2 for a draw.
        discs: by how many discs, None if the text does not say.
        how: "" if the game was played out, else "resigned", "timeout" or "agreed".

    """

    winner: int
    discs: float | None = None
    how: str = ""

    @property
    def claim(self) -> float | None:
        """Black's discs minus white's, None if the text does not say."""
        if self.winner == 2:
            return 0.0
        return -self.discs if self.discs is not None and self.winner == 1 else self.discs

    def __str__(self) -> str:
        """Write it as the header "Result" keeps it, e.g. "B+4", "W timeout" or "draw"; `parse` is the inverse."""
        discs = "" if self.discs is None or self.winner == 2 else f"+{_number(self.discs)}"
        return f"{('B', 'W', 'draw')[self.winner]}{discs} {self.how}".strip()

    @classmethod
    def parse(cls, text: str) -> Result | None:
        """Read what ``str`` wrote; None for anything else."""
        match = _RESULT.fullmatch(text.strip())
        if match is None:
            return None
        discs = None if match[3] is None else float(match[3])
        return cls(2 if match[1] else "BW".index(match[2]), discs, match[4] or "")

    @classmethod
    def of_claim(cls, claim: float, how: str = "") -> Result:
        """Return the result of black's discs minus white's."""
        return cls(2, None, how) if claim == 0 else cls(int(claim < 0), abs(claim), how)


def conclude(replay: Replay, start: State | None, result: Result | None, komi: float = 0.0, **more: Any) -> Item:
    """Return the Item of a game that was replayed, with the result that its text claims.

    A result that is right by either scoring rule is right, and the Item's margin is then the plain one. The header
    "Result" keeps what the moves do not say: a game not played out, empty squares counted for the winner, a wrong
    result.

    Args:
        replay: the game at its end.
        start: where it began, None for the usual position.
        result: what the text says, None if nothing.
        komi: discs by which the result may differ, in either direction.
        **more: further fields of the Item; `remarks` are joined to its remark.

    """
    state = replay.state
    headers, remarks = dict(more.pop("headers", {})), list(more.pop("remarks", ()))
    winner, margin = None, None
    if result is not None:
        winner, claim = result.winner, result.claim
        scores = [score(state, rule, replay.size) for rule in SCORING_RULES]
        shifted = {one + shift for one in scores for shift in (komi, -komi)}
        if result.how:
            remarks.append(f"not played out ({result.how}): {result}")
        if claim is not None and not state.moves and (claim in scores or claim in shifted):
            if claim not in scores:
                remarks.append(f"komi {_number(komi)}: {result}")
            winner, margin = _winner(scores[0]), scores[0]
        elif claim is not None and not result.how:
            margin = round(claim)
            if margin != claim:
                remarks.append(f"a result of half a disc: {result}")
        if state.moves or result != Result.of_claim(scores[0]):
            headers["Result"] = str(result)
    return Item(
        state=state,
        start=start,
        actions=tuple(replay.actions),
        winner=winner,
        margin=margin,
        headers=headers,
        remark="; ".join(remarks),
        **more,
    )


def result_of(item: Item, size: int) -> Result | None:
    """Return an Item's result for a writer: its header "Result", else that of its moves, else its winner."""
    told = Result.parse(item.headers.get("Result", ""))
    if told is not None:
        return told
    if not item.state.moves:
        return Result.of_claim(score(item.state, "plain", size))
    return Result(item.winner) if item.winner in (0, 1, 2) else None


def _winner(margin: int) -> int:
    return 2 if margin == 0 else int(margin < 0)


def _number(value: float) -> str:
    """Write a number without an exponent and without an idle fraction."""
    return f"{value:.10f}".rstrip("0").rstrip(".")
