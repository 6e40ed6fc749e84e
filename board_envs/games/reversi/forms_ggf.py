"""GGF, the Generic Game Format of game servers and of their archives.

``(;GM[Othello]PC[...]DT[...]PB[...]PW[...]RE[+4.000]TI[05:00//02:00]TY[8]BO[8 ... *]B[f5/0.6/1.2]W[d6//0.5]...;)``: a
move may carry an evaluation and a time, PA is a pass, BO the start with * for black and O for white. RE is black's
result, with :r for a resignation, :t for a time-out, :s for a score agreed upon. TY is the size, with s (synchro: two
games at once, which a line that begins with their number keeps together), r and a number (random start with that many
discs), k (komi) and a (anti: fewer discs win).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from board_envs.forms import Form, Item
from board_envs.games.reversi.forms_boards import read_bo, write_bo
from board_envs.games.reversi.transcripts import (
    ANNOTATIONS,
    Replay,
    Result,
    annotations_of,
    check_size,
    conclude,
    pieces,
    plies,
    result_of,
)
from board_envs.types import IllegalActionError, PositionError

HEADERS = {
    "PC": "Site", "DT": "Date", "RB": "BlackElo", "RW": "WhiteElo", "TI": "Clock", "TB": "BlackClock",
    "TW": "WhiteClock", "TY": "Type", "KM": "Komi",
}  # fmt: skip
"""Properties that an Item's headers keep under a name of their own; any other keeps its own name."""

_HEAD = 2000
"""Leading characters that identify the form."""
_BEGIN = re.compile(r"(?:(?<![^\s)])([0-9]{1,9})[ \t]*)?\(;")
_GAME = re.compile(r"\(;((?:\s*[A-Za-z]+\s*\[[^\]]*\])*)\s*(?:;\s*)?\)")
_PROPERTY = re.compile(r"([A-Za-z]+)\s*\[([^\]]*)\]")
_RESULT = re.compile(r"([+-]?[0-9]+(?:\.[0-9]*)?)\s*(?::\s*([rts]))?", re.IGNORECASE)
_HOW = {"r": "resigned", "t": "timeout", "s": "agreed"}
_FLAGS = {how: flag for flag, how in _HOW.items()}
_TYPE = re.compile(r"[a-z]*([0-9]+)((?:[akbws]|r[0-9]*)*)", re.IGNORECASE)
_GAMES = ("othello", "reversi")


def looks_like_ggf(text: str) -> bool:
    """Whether a text begins as GGF does and not as SGF, whose game is a number and whose moves follow semicolons."""
    text = text[:_HEAD]
    if not re.match(r"\s*(?:[0-9]{1,9}\s*)?\(;", text):
        return False
    game = re.search(r"GM\s*\[\s*([^\]]*)\]", text)
    if game is not None:
        return not game[1].strip().isdigit()
    return re.search(r";\s*[BW]\s*\[", text) is None


def ggf_form(game: Any) -> Form:
    """Return the form."""
    size = game.parameters["size"]
    usual = game.initial_state()

    def read(text: str) -> Iterator[Item]:
        starts = [match.start() for match in re.finditer(r"\(;", text)]
        count = text[: starts[0]].strip() if starts else ""
        if not starts or (count and not (count.isascii() and count.isdigit())):
            raise PositionError(f"not a game in GGF: {text[:60]!r}")
        for line, piece in pieces(text, starts):
            yield read_game(piece, line)
        if count and int(count[:9]) != len(starts):
            yield Item(error=f"{count} games are announced, and {len(starts)} follow")

    def read_game(text: str, line: int) -> Item:
        try:
            return game_of(text, line)
        except (PositionError, IllegalActionError) as error:
            return Item(error=str(error), line=line)

    def game_of(text: str, line: int) -> Item:
        match = _GAME.fullmatch(text)
        if match is None:
            raise PositionError(f"a game in GGF that does not end, or is damaged: {text[:60]!r}")
        properties, moves = dict[str, str](), list[tuple[int, str]]()
        for name, value in _PROPERTY.findall(match[1]):
            if name.upper() in ("B", "W"):
                moves.append(("BW".index(name.upper()), value))
            elif name in properties:
                raise PositionError(f"the property {name} stands twice in one game")
            else:
                properties[name] = value.strip()
        return _game(properties, moves, line)

    def _game(properties: dict[str, str], moves: list[tuple[int, str]], line: int) -> Item:
        kind = properties.pop("GM", "")
        if kind.lower() not in _GAMES:
            raise PositionError(f"GM[{kind}]: a game of GM[Othello] is expected")
        check_type(properties.get("TY", str(size)))
        start = read_bo(properties.pop("BO"), size) if "BO" in properties else Item(state=usual)
        replay = Replay(start.state, size, passes=int(start.view is not None))
        for seat, value in moves:
            move, slash, note = value.partition("/")
            replay.add(move.strip(), seat, slash + note.strip())
        players = (properties.pop("PB", "") or "?", properties.pop("PW", "") or "?")
        told = properties.pop("RE", "?")
        result = _RESULT.fullmatch(told)
        headers = {HEADERS.get(name, name): value for name, value in properties.items() if value}
        headers |= replay.annotations()
        how = _HOW[result[2].lower()] if result is not None and result[2] else ""
        extra = Result.parse(headers.pop("Result", ""))  # what RE cannot say
        odd = [start.remark] if start.remark else []
        if result is None and told not in ("?", ""):
            odd.append(f"the result RE[{told}] is not known")
            headers["RE"] = told
        return conclude(
            replay,
            None if game.same_position(start.state, usual) else start.state,
            extra if result is None else Result.of_claim(float(result[1]), how),
            _komi(headers.get("Komi", "")),
            headers=headers,
            remarks=odd,
            players=None if players == ("?", "?") else players,
            line=line,
        )

    def check_type(text: str) -> None:
        match = _TYPE.fullmatch(text)
        if match is None:
            raise PositionError(f"TY[{text}] is no type of game")
        if "a" in match[2].lower():
            raise PositionError(f"TY[{text}]: an anti game, in which fewer discs win")
        if match[1] == "88":
            raise PositionError(
                f"TY[{text}]: a board of 10 x 10 without corners; Reversi is played here on square boards"
            )
        if match[1] != "0" and check_size(int(match[1][:4])) != size:  # 0 where a program leaves it to the board
            raise PositionError(f"TY[{text}]: a board of {match[1]} x {match[1]}, but this game has size={size}")

    def write(item: Item) -> str:
        start = usual if item.start is None else item.start
        if not item.actions and item.start is None and not game.same_position(item.state, usual):
            start = item.state
        headers = dict(item.headers)
        notes = annotations_of(item)
        if all(note.startswith("/") or not note for note in notes) and "]" not in "".join(notes):
            headers.pop(ANNOTATIONS, None)
        else:
            notes = []
        result = result_of(item, size)
        properties = {"GM": "Othello"}
        for name in ("PC", "DT"):
            properties[name] = headers.pop(HEADERS[name], "")
        properties["PB"], properties["PW"] = item.players or ("?", "?")
        for name in ("RB", "RW", "TI", "TB", "TW", "TY", "KM"):
            properties[name] = headers.pop(HEADERS[name], "")
        properties["TY"] = properties["TY"] or str(size)
        properties["RE"] = headers.pop("RE", "?")
        if result is not None and result.claim is not None:
            headers.pop("Result", None)
            properties["RE"] = f"{result.claim:+.3f}" + (f":{_FLAGS[result.how]}" if result.how else "")
        elif result is not None:
            headers["Result"] = str(result)
        properties["BO"] = write_bo(start, size, start.seat)
        text = "".join(_property(name, value) for name, value in (properties | headers).items() if value)
        for ply, (seat, square) in enumerate(plies(start, item.actions, size)):
            text += _property("BW"[seat], (square or "PA") + (notes[ply] if ply < len(notes) else ""))
        return f"(;{text};)"

    return Form(
        "ggf",
        "game",
        "GGF: games of servers and archives, with evaluations and times of the moves",
        f"(;GM[Othello]PB[first]PW[second]RE[?]TY[{size}]BO[{write_bo(usual, size, 0)}];)",
        sniff=looks_like_ggf,
        read=read,
        write=write,
        split=_groups,
        suffixes=(".ggf",),
    )


def _property(name: str, value: str) -> str:
    if not (name.isascii() and name.isalpha()) or "]" in value or "(;" in value:
        raise PositionError(f"GGF cannot hold {name} {value!r}: names are letters, values hold neither ] nor (;")
    return f"{name}[{value}]"


def _komi(text: str) -> float:
    return float(text) if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]*)?", text) else 0.0


def _groups(text: str) -> Iterator[tuple[int, str]]:
    """Cut into games; those that a number before them announces stay together."""
    starts, announced = list[int](), 0
    for match in _BEGIN.finditer(text):
        if match[1] is not None:
            starts.append(match.start())
            announced = int(match[1][:9]) - 1
        elif announced > 0:
            announced -= 1
        else:
            starts.append(match.start())
    if text[: starts[0] if starts else len(text)].strip():
        starts.insert(0, 0)
    yield from pieces(text, starts)
