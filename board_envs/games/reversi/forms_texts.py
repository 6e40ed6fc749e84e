"""Games of Reversi as text for people and as JSON: numbered moves, PGN-like games with tag pairs, Othello Quest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from board_envs._bits import popcount
from board_envs.forms import Form, Item, common_forms, from_the_start, read_json, read_tags, write_tags
from board_envs.games.reversi.forms_boards import read_board
from board_envs.games.reversi.rules import State
from board_envs.games.reversi.transcripts import (
    ANNOTATIONS,
    Replay,
    Result,
    annotations_of,
    conclude,
    plies,
    result_of,
)
from board_envs.types import PositionError

_WORD = re.compile(
    r"(?P<comment>\{[^}]*\})|(?P<number>[0-9]{1,4})(?P<dots>\.{1,3}|\))(?=\s|[A-Za-z{(-]|$)"
    r"|(?P<result>1/2-1/2|½-½|[0-9]{1,2}\s?-\s?[0-9]{1,2}(?![0-9])|\*)|(?P<ply>[A-Ha-h][1-8]|pass|pas|pa|ps|--)"
    r"|(?P<remark>[!?]{1,2}|\$[0-9]{1,3})|(?P<line>[()])",
    re.IGNORECASE,
)
_WINS = {(1, 0): 1, (0, 1): 0}  # as in chess, where White's half stands first
_BLACK, _WHITE, _ENDS = "Black", "White", "Termination"


# -- numbered moves and PGN -------------------------------------------------------------------------------------------


def text_forms(game: Any) -> tuple[Form, Form]:
    """Return the forms of PGN-like games and of numbered moves, which `board_envs.forms` distinguishes from others."""
    size = game.parameters["size"]
    usual = game.initial_state()
    pgn, numbered = common_forms(game, _BLACK, _WHITE)

    def read_numbered(text: str) -> Iterator[Item]:
        replay, told, remarks = _read_body(text, usual, size)
        item = conclude(replay, None, _result(told), headers=replay.annotations(), remarks=remarks)
        yield replace(item, winner=-1) if told == "*" else item

    def write_numbered(item: Item) -> str:
        actions = from_the_start(game, item, "numbered")
        return _body(usual, actions, [], _score_text(item, size), size)

    def read_pgn(text: str) -> Iterator[Item]:
        tags, body = read_tags(text)
        start = Item(state=usual)
        if "FEN" in tags:
            start = read_board(tags["FEN"], size)
        replay, after, remarks = _read_body(body, start.state, size, passes=int(start.view is not None))
        told = tags.get("Result", "").strip()
        if _result(told) is None and told not in ("*", "?", ""):
            raise PositionError(f"the result {told!r} is not known; write black's discs-white's, as in 34-30")
        if told not in ("?", "") and after and _result(told) != _result(after):
            remarks.append(f"two results: {told} as a tag, {after} after the moves")
        ended = Result.parse(tags.get(_ENDS, ""))
        result = ended or _result(told) or _result(after)
        names = (_BLACK, _WHITE, "FEN", "SetUp", "Result", *((_ENDS,) if ended else ()))
        players = (tags.get(_BLACK, "?"), tags.get(_WHITE, "?")) if _BLACK in tags or _WHITE in tags else None
        item = conclude(
            replay,
            None if game.same_position(start.state, usual) else start.state,
            result,
            headers={name: text for name, text in tags.items() if name not in names} | replay.annotations(),
            remarks=remarks,
            players=players,
        )
        yield replace(item, winner=-1) if result is None and "*" in (told, after) else item

    def write_pgn(item: Item) -> str:
        if item.start is None:
            from_the_start(game, item, "pgn")
        start = usual if item.start is None else item.start
        tags = dict(item.headers)
        notes = annotations_of(item)
        if "}" in "".join(notes):
            notes = []
        else:
            tags.pop(ANNOTATIONS, None)
        if item.players is not None:
            tags |= dict(zip((_BLACK, _WHITE), item.players, strict=True))
        score = tags["Result"] = _score_text(item, size)
        kept = Result.parse(item.headers.get("Result", ""))
        if kept is not None and kept != _result(score):
            tags[_ENDS] = str(kept)
        if item.start is not None:
            tags |= {"SetUp": "1", "FEN": game.format(start)}
        return write_tags(tags) + "\n" + _body(start, item.actions, notes, score, size)

    return replace(pgn, read=read_pgn, write=write_pgn), replace(numbered, read=read_numbered, write=write_numbered)


def _read_body(text: str, start: State, size: int, passes: int = 0) -> tuple[Replay, str, list[str]]:
    """Replay numbered moves; also return the result that stands after them, "" without one, and what was left out.

    A number counts pairs of plies (1. f5 d6 2. c3) or plies (1. f5 d6 3. c3), in one game always the same.
    """
    replay, remarks, result = Replay(start, size, passes), list[str](), ""
    ways = {"pairs", "pairs after white's move", "plies"}
    at, count, depth, lines = 0, 0, 0, 0
    pending = ""

    def play() -> None:
        nonlocal pending
        if pending:
            ply, _, note = pending.partition("\0")
            replay.add(ply, note=note)
            pending = ""

    while at < len(text):
        if text[at].isspace() or text[at] == ",":
            at += 1
            continue
        match = _WORD.match(text, at)
        if match is None:
            raise PositionError(f"{text[at : at + 12]!r} is not a move, a number or a result")
        at = match.end()
        if match["line"]:
            depth += 1 if match["line"] == "(" else -1
            lines += match["line"] == "(" and depth == 1
            if depth < 0:
                raise PositionError("a parenthesis closes a line of play that was not opened")
        elif depth:
            continue
        elif result:
            raise PositionError(f"{match[0]!r} stands after the result")
        elif match["ply"]:
            play()
            pending, count = match["ply"] + "\0", count + 1
        elif match["comment"]:
            if pending:
                pending += " ".join(match["comment"][1:-1].split())
            else:
                remarks.append(f"a comment before the moves left out: {match['comment'][:40]}")
        elif match["remark"]:
            pending += match["remark"] if pending else ""
        elif match["number"]:
            ways &= _ways(int(match["number"]), count, len(match["dots"]) > 1)
            if not ways:
                raise PositionError(f"move number {match['number']} stands before ply {count + 1}: moves are missing")
        else:
            result = match["result"]
    if depth:
        raise PositionError("a line of play in parentheses does not end")
    play()
    if lines:
        remarks.append(f"{lines} other lines of play left out")
    return replay, result, remarks


def _ways(number: int, count: int, dots: bool) -> set[str]:
    """Return the ways of counting in which `number` may stand before ply `count`, from 0; `dots` is "1... d6"."""
    found = set()
    if number == count // 2 + 1 and (count % 2 == 0 or dots):
        found.add("pairs")
    if number == (count + 1) // 2 + 1 and (count % 2 == 1 or count == 0):
        found.add("pairs after white's move")
    if number == count + 1:
        found.add("plies")
    return found


def _result(text: str) -> Result | None:
    """Read "34-30", black's discs and white's, or who won as in chess; None for anything else."""
    if text.strip() in ("1/2-1/2", "½-½"):
        return Result(2)
    match = re.fullmatch(r"\s*([0-9]{1,2})\s?-\s?([0-9]{1,2})\s*", text)
    if match is None:
        return None
    black, white = int(match[1]), int(match[2])
    if (black, white) in _WINS:
        return Result(_WINS[black, white])
    return Result.of_claim(black - white)


def _score_text(item: Item, size: int) -> str:
    """Write a result as black's discs and white's, empty squares counted for the winner if the item does so."""
    result = result_of(item, size)
    if result is None:
        return "*"
    claim, cells = result.claim, size * size
    if claim is None:
        return "0-1" if result.winner == 0 else "1-0"
    if claim == round(claim) and not result.how:
        for total in (popcount(item.state.black | item.state.white), cells):
            if (total + claim) % 2 == 0 and abs(claim) <= total:
                return f"{round(total + claim) // 2}-{round(total - claim) // 2}"
    return "1/2-1/2" if result.winner == 2 else "0-1" if result.winner == 0 else "1-0"


def _body(start: State, actions: tuple[int, ...], notes: list[str], result: str, size: int) -> str:
    words = []
    for ply, (_, square) in enumerate(plies(start, actions, size)):
        if ply % 2 == 0:
            words.append(f"{ply // 2 + 1}.")
        words.append(square or "pa")
        if ply < len(notes) and notes[ply]:
            words.append(f"{{{notes[ply]}}}")
    return " ".join([*words, result])


# -- Othello Quest ----------------------------------------------------------------------------------------------------


def quest_form(game: Any) -> Form:
    """Return the form of Othello Quest: a JSON object a game, ``{"moves": [{"m": "f5"}, {"m": "-"}]}``."""
    size = game.parameters["size"]
    usual = game.initial_state()

    def sniff(text: str) -> bool:
        return re.match(r"\s*[\[{]", text) is not None and re.search(r'"moves"\s*:\s*\[', text) is not None

    def read(text: str) -> Iterator[Item]:
        data = read_json(text)
        for one in data if isinstance(data, list) else [data]:
            yield read_game(one)

    def read_game(data: Any) -> Item:
        place = data.get("position", data) if isinstance(data, dict) else data
        moves = place.get("moves") if isinstance(place, dict) else None
        if not isinstance(moves, list):
            raise PositionError("a game of Othello Quest is an object with a list 'moves'")
        replay = Replay(usual, size)
        for number, move in enumerate(moves, 1):
            square = move.get("m") if isinstance(move, dict) else None
            if not isinstance(square, str) or not square:
                raise PositionError(f"move {number} is {str(move)[:40]!r}, not an object with a text 'm'")
            rest = {key: value for key, value in move.items() if key != "m"}
            replay.add(square, note=json.dumps(rest, ensure_ascii=False) if rest else "")
        headers = {key: text for key, text in _headers(data) if key.isascii() and key.isalpha()}
        headers |= replay.annotations()
        return conclude(replay, None, None, headers=headers, players=_players(data.get("players")))

    def write(item: Item) -> str:
        actions = from_the_start(game, item, "quest")
        notes = annotations_of(item)
        moves = []
        for ply, (_, square) in enumerate(plies(usual, actions, size)):
            rest = _object(notes[ply]) if ply < len(notes) else {}
            moves.append({"m": square or "-"} | rest)
        data: dict[str, Any] = {key: text for key, text in item.headers.items() if key != ANNOTATIONS}
        if item.players is not None:
            data["players"] = [{"name": name} for name in item.players]
        return json.dumps(data | {"moves": moves}, ensure_ascii=False)

    return Form(
        "quest",
        "game",
        "Othello Quest: JSON with a list of moves, - for a pass",
        '{"moves": []}',
        sniff=sniff,
        read=read,
        write=write,
        split=_json_games,
    )


def _headers(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, (bool, int, float)):
            yield key, json.dumps(value)


def _players(value: Any) -> tuple[str, str] | None:
    """Return the two names of a list of players, black's first."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    names = [one.get("name", one.get("id")) if isinstance(one, dict) else one for one in value]
    black, white = names
    return (black, white) if isinstance(black, str) and isinstance(white, str) else None


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _json_games(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line that is JSON by itself, or the whole text."""
    rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    whole = [(rows[0][0], text)] if rows else []
    yield from rows if all(line.strip()[0] == "{" and line.strip()[-1] == "}" for _, line in rows) else whole
