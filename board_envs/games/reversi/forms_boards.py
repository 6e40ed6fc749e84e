"""Positions of Reversi in the spellings that people use: boards of many signs, drawn boards, ``BO[...]``, OBF."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from board_envs.forms import Form, Item, blocks, read_json
from board_envs.games.reversi.board import square_name, square_of
from board_envs.games.reversi.moves import legal_moves
from board_envs.games.reversi.rules import State, bit_index, board_mask
from board_envs.games.reversi.transcripts import PASS_NAMES, check_size, must_pass, position_after_pass
from board_envs.types import PositionError

_BLACK, _WHITE, _EMPTY = "x*b#@", "ow", "-._"
_LONGEST = 2000
_SIGNS = _BLACK + _WHITE + _EMPTY + "012"
_SIDE = re.compile(
    r"(?P<board>.*?)(?:\b(?:side\s+)?to\s+(?:move|play)\s*[:=]?)?[\s,;:]*"
    r"(?P<side>black|white|[xobw*#@012])(?:\s+(?:to\s+(?:move|play)|moves|plays))?[\s,;.]*",
    re.IGNORECASE | re.DOTALL,
)
_BO = re.compile(r"\s*BO\s*\[\s*([0-9]+)\s+(.*)\]\s*;?\s*", re.IGNORECASE | re.DOTALL)
_LABELS = re.compile(r"\s*a(\s*b)(\s*c)(\s*d)(\s*[e-h])*\s*", re.IGNORECASE)
_SCORE = re.compile(r"\s*([A-Za-z-]+[0-9]*)\s*:\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*")


def read_board(text: str, size: int) -> Item:
    """Read a board and the side to move.

    Black is X, *, B, # or @, white is O or W, in either case, an empty square is -, . or _; with an empty square so
    spelled 0 and 1 may stand for black and white, the seats, and 0, 1 and 2 alone for empty, black and white. Rows may
    be set apart by blanks, line breaks, / or |. The side to move is one of these signs or a word.

    Returns:
        The position; where the side named must pass, the one after the pass, with the side's view and a remark.

    Raises:
        PositionError: the text is no board of this size, could be read in two ways, or no game leads there.

    """
    if len(text) > _LONGEST:
        raise PositionError(f"{_short(text)}: {len(text)} characters; a board has {size * size} squares")
    match = _SIDE.fullmatch(text.strip())
    squares = _squares(match["board"] if match else text, size)
    glued = match is not None and match["board"] + match["side"] == text.strip().rstrip(";.,")
    if match is None or (glued and len(squares) == size * size - 1):
        raise PositionError(f"{_short(text)}: the side to move is missing; write X or O after the board")
    if len(squares) != size * size:
        raise PositionError(f"{_short(text)}: {len(squares)} squares; a board of {size} x {size} has {size * size}")
    black, white, sides = _meaning(squares, text)
    side = match["side"].lower()
    if side not in sides:
        raise PositionError(
            f"{_short(text)}: the side to move {side!r} does not fit the board's signs; write black or white"
        )
    return _item(_bits(squares, black, size), _bits(squares, white, size), sides[side], size)


def _item(black: int, white: int, seat: int, size: int) -> Item:
    state, passed = position_after_pass(black, white, seat, size)
    return Item(state=state, view=seat if passed else None, remark=must_pass(seat) if passed else "")


def _squares(text: str, size: int) -> str:
    """Return a board's signs in lower case, one after the other; rows that are set apart must be whole."""
    rows = [row for row in re.split(r"[\s/|]+", text.strip().lower()) if row]
    if len(rows) > 1 and {len(row) for row in rows} not in ({1}, {size}):
        wrong = next((number, row) for number, row in enumerate(rows, 1) if len(row) != size)
        raise PositionError(f"row {wrong[0]} ({wrong[1][:20]!r}) has {len(wrong[1])} squares, not {size}")
    return "".join(rows)


def _meaning(squares: str, text: str) -> tuple[str, str, dict[str, int]]:
    """Return black's sign, white's sign, and what each spelling of the side to move means."""
    signs = set(squares)
    foreign = sorted(signs - set(_SIGNS))
    if foreign:
        raise PositionError(f"{_short(text)}: {foreign[0]!r} is no sign of a square")
    sides = {"black": 0, "white": 1} | dict.fromkeys(_BLACK, 0) | dict.fromkeys(_WHITE, 1)
    digits, rest = signs & set("012"), signs - set("012")
    empty = rest <= set(_EMPTY)
    if digits and not rest and "2" in digits:
        return "1", "2", sides | {"1": 0, "2": 1}
    if digits and rest and empty and "2" not in digits:
        return "0", "1", sides | {"0": 0, "1": 1}
    if digits == {"0"} and rest & set(_EMPTY) and not rest & set(_WHITE):
        digits, rest, sides = set(), rest | {"0"}, sides | {"0": 1}
    if digits:
        found = ", ".join(sorted(signs))
        raise PositionError(f"{_short(text)}: {found} can be read in more than one way; use X, O and -")
    kinds = [sorted(rest & set(kind)) for kind in (_BLACK, _WHITE + "0", _EMPTY)]
    for name, kind in zip(("black", "white", "an empty square"), kinds, strict=True):
        if len(kind) > 1:
            raise PositionError(f"{_short(text)}: {' and '.join(map(repr, kind))} both stand for {name}; use one sign")
    return "".join(kinds[0]), "".join(kinds[1]), sides


def _bits(squares: str, sign: str, size: int) -> int:
    return sum(1 << bit for bit, char in zip(bit_index(size).ravel().tolist(), squares, strict=True) if char == sign)


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "...")


# -- BO[...] and boards on a line -------------------------------------------------------------------------------------


def read_bo(value: str, size: int) -> Item:
    """Read what stands in the brackets of BO[...]: the size, the board, the side to move."""
    number, _, board = value.strip().partition(" ")
    if not (number.isascii() and number.isdigit() and len(number) < 4):
        raise PositionError(f"BO[{value[:40]}]: a size, a board and the side to move are expected")
    if number == "88":
        raise PositionError("BO[88 ...]: a board of 10 x 10 without corners; Reversi is played here on square boards")
    if check_size(int(number)) != size:
        raise PositionError(f"BO[{number} ...]: a board of {number} x {number}, but this game has size={size}")
    return read_board(board, size)


def write_bo(state: State, size: int, side: int) -> str:
    """Write what stands in the brackets of BO[...]; `side` is the seat to name as the one to move."""
    return f"{size} {' '.join(_rows(state, size, '*O-'))} {'*O'[side]}"


def named_side(item: Item, size: int) -> int:
    """Return the seat to name as the one to move: an item's view if that side must pass, else the state's own."""
    state, view = item.state, item.view
    if view is not None and view != state.seat and state.moves:
        words = state.black, state.white
        if not legal_moves(words[view], words[1 - view]) & board_mask(size):
            return view
    return int(state.seat)


def _rows(state: State, size: int, signs: str) -> list[str]:
    black, white = int(state.black), int(state.white)
    return [
        "".join(signs[0] if black >> bit & 1 else signs[1] if white >> bit & 1 else signs[2] for bit in row)
        for row in bit_index(size).tolist()
    ]


def board_form(game: Any) -> Form:
    """Return the form of boards on one line, or in BO[...]."""
    size = game.parameters["size"]
    words = re.compile(r"black|white|\b(?:side\s+)?to\s+(?:move|play)\b|\b(?:moves|plays)\b", re.IGNORECASE)

    def sniff(text: str) -> bool:
        if len(text) <= _LONGEST and _BO.fullmatch(text):
            return True
        text = text[:_LONGEST]
        signs = re.sub(r"[\s/|,;:.=]", "", words.sub("", text)).lower()
        dots = text.count(".")
        return len(signs) + dots > size * size // 2 and set(signs) <= set(_SIGNS)

    def read(text: str) -> Iterator[Item]:
        match = _BO.fullmatch(text)
        yield read_bo(f"{match[1]} {match[2]}", size) if match else read_board(text, size)

    return Form(
        "board",
        "position",
        "a board in other signs (X * B # @, O W, - . _), its rows apart or not, and the side to move; or BO[...]",
        "........ ........ ........ ...WB... ...BW... ........ ........ ........ black",
        sniff=sniff,
        read=read,
        write=lambda item: f"BO[{write_bo(item.state, size, named_side(item, size))}]",
    )


# -- drawn boards -----------------------------------------------------------------------------------------------------


def diagram_form(game: Any) -> Form:
    """Return the form of boards drawn on several lines."""
    size = game.parameters["size"]
    row = re.compile(rf"\s*(?:[1-8]\s+)?((?:[{re.escape(_SIGNS)}+]\s*){{{size}}})(?:\s+[1-8])?\s*", re.IGNORECASE)

    def row_of(line: str) -> str | None:
        match = row.fullmatch(line) if len(line) < _LONGEST // size else None
        return None if match is None else "".join(match[1].split()).replace("+", "-")

    def sniff(text: str) -> bool:
        rows = [line for line in text[:_LONGEST].split("\n") if line.strip() and not _LABELS.fullmatch(line)]
        return len(rows) > 1 and all(row_of(line) for line in rows[:2])

    def read(text: str) -> Iterator[Item]:
        rows, rest = list[str](), list[str]()
        for line in text.split("\n"):
            found = row_of(line)
            if found is not None and len(rows) < size:
                rows.append(found)
            elif not _LABELS.fullmatch(line):
                rest.append(line)
        if len(rows) != size:  # a side without a blank before it, or a row too long or too short
            yield read_board(text, size)
            return
        side = re.sub(r",.*", "", " ".join(" ".join(rest).split()), flags=re.DOTALL)
        yield read_board(f"{'/'.join(rows)} {side}", size)

    def write(item: Item) -> str:
        signs = (" ".join(line) for line in _rows(item.state, size, "XO-"))
        lines = [f"{number} {line}" for number, line in enumerate(signs, 1)]
        return "\n".join(["  " + " ".join("abcdefgh"[:size]), *lines, f"{'XO'[named_side(item, size)]} to move"])

    return Form(
        "diagram",
        "position",
        "a board drawn on as many lines as it has rows, with or without labels, and the side to move",
        write(Item(state=game.initial_state())),
        sniff=sniff,
        read=read,
        write=write,
        split=blocks,
    )


# -- JSON -----------------------------------------------------------------------------------------------------------


def json_form(game: Any) -> Form:
    """Return the form of JSON objects with a board and a side, as suites of endgames have them."""
    size = game.parameters["size"]

    def sniff(text: str) -> bool:
        return text.lstrip().startswith("{") and re.search(r'"board"\s*:', text) is not None

    def read(text: str) -> Iterator[Item]:
        data = read_json(text)
        board, side = (data.get(key) if isinstance(data, dict) else None for key in ("board", "side"))
        if not isinstance(board, str) or not isinstance(side, str):
            raise PositionError(f"{_short(text)}: an object with the texts 'board' and 'side' is expected")
        value = data.get("score_raw")
        if value is not None and (type(value) not in (int, float) or abs(value) > size * size or value != value):
            raise PositionError(f"{_short(text)}: score_raw is {value!r}, no number of discs")
        item = read_board(f"{board} {side}", size)
        yield replace(item, value=None if value is None else float(value))

    def write(item: Item) -> str:
        side = named_side(item, size)
        data: dict[str, Any] = {"board": "".join(_rows(item.state, size, "XO-")), "side": "XO"[side]}
        if item.value is not None:
            view = item.state.seat if item.view is None else item.view
            data["score_raw"] = item.value if view == side else -item.value
        return json.dumps(data)

    return Form(
        "json",
        "position",
        "a JSON object with board and side, and score_raw, the exact value for that side, in discs",
        json.dumps({"board": game.format(game.initial_state())[: size * size], "side": "X"}),
        sniff=sniff,
        read=read,
        write=write,
    )


# -- OBF --------------------------------------------------------------------------------------------------------------


def obf_form(game: Any) -> Form:
    """Return the form of Othello Board Files: board, side, ``;``, ``MOVE:score;`` for moves, % before a comment."""
    size = game.parameters["size"]
    usual = game.initial_state()
    first = square_name(divmod(game.legal_actions(usual)[0], size), size).upper()

    def sniff(text: str) -> bool:
        board, semicolon, _ = text.partition("%")[0].partition(";")
        signs = "".join(board.split()).lower()
        return not signs or (bool(semicolon) and len(signs) > size * size // 2 and set(signs) <= set(_SIGNS))

    def read(text: str) -> Iterator[Item]:
        fields, _, comment = text.partition("%")
        board, *scores = (field.strip() for field in fields.split(";"))
        if not board:
            if any(scores):
                raise PositionError(f"{_short(text)}: scores without a board")
            return
        item = read_board(board, size)
        values, value = _scores(filter(None, scores), item, size)
        headers = {"Comment": comment.strip()} if comment.strip() else {}
        yield replace(item, values=values, value=value, headers=headers)

    def write(item: Item) -> str:
        side = named_side(item, size)
        line = f"{''.join(_rows(item.state, size, 'XO-'))} {'XO'[side]};"
        if side != item.state.seat and item.value is not None:
            line += f" PA:{item.value:+g};"
        for action, value in item.values.items():
            line += f" {square_name(divmod(action, size), size).upper()}:{value:+g};"
        comment = item.headers.get("Comment", "")
        return line + (f" % {comment}" if comment else "")

    return Form(
        "obf",
        "position",
        "Othello Board File: a board, the side, and the scores of moves, empty squares counted for the winner",
        f"{game.format(usual)}; {first}:+0;",
        sniff=sniff,
        read=read,
        write=write,
        rule="empties-to-winner",
        suffixes=(".obf",),
    )


def _scores(fields: Iterator[str], item: Item, size: int) -> tuple[dict[int, float], float | None]:
    """Read "MOVE:score" fields; return the scores by action, and that of a pass."""
    values: dict[int, float] = {}
    passed = None
    for field in fields:
        match = _SCORE.fullmatch(field)
        if match is None:
            raise PositionError(f"{field[:40]!r} is no MOVE:score")
        if match[1].lower() in PASS_NAMES:
            if item.state.moves and item.view is None:
                raise PositionError(f"{field[:40]!r}: the side to move can move")
            passed = float(match[2])
            continue
        try:
            row, column = square_of(match[1], size)
        except ValueError as error:
            raise PositionError(f"{field[:40]!r}: {error}") from None
        action = row * size + column
        if not int(item.state.moves) >> (8 * row + column) & 1:
            raise PositionError(f"{field[:40]!r}: {match[1]} is not legal")
        if item.view is not None:
            raise PositionError(f"{field[:40]!r}: the side to move must pass")
        if action in values:
            raise PositionError(f"{field[:40]!r}: a second score of {match[1]}")
        values[action] = float(match[2])
    return values, passed
