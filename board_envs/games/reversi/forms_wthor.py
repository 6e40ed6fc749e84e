"""WTHOR files as games: see `wthor` for the bytes.

An Item's headers keep what the file states beyond the moves, so that it is written again byte for byte: BlackScore,
TheoreticalScore (both black's discs), TheoreticalDepth (empty squares), TournamentNumber, BlackNumber, WhiteNumber,
FileDate, and Date, the year. Names come from the files of players (.jou) and tournaments (.trn) beside it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from board_envs._bits import popcount
from board_envs.forms import Form, Item
from board_envs.games.reversi import wthor
from board_envs.games.reversi.board import score
from board_envs.games.reversi.transcripts import Replay, Result, conclude
from board_envs.types import IllegalActionError, PositionError

_NUMBERS = ("TournamentNumber", "BlackNumber", "WhiteNumber")
_USUAL = {"GameKind": "0", "BoardSize": "8", "HeaderNames": "0", "HeaderReserved": "0", "AfterMoves": ""}
"""Headers that are kept only where a file has another value."""

_ENDINGS = {".jou": wthor.PLAYER_BYTES, ".trn": wthor.TOURNAMENT_BYTES}


def wthor_form(game: Any) -> Form:
    """Return the form; only games on 8 x 8 are of it."""
    size = game.parameters["size"]

    def read_file(path: Path) -> Iterator[Item]:
        if size != 8:
            raise PositionError(f"{path}: WTHOR files hold games on 8 x 8, but this game has size={size}")
        try:
            header, games = wthor.read_games(path.read_bytes())
            names = {ending: _names_beside(path, ending) for ending in _ENDINGS}
        except PositionError as error:
            raise PositionError(f"{path}: {error}") from None
        for number, one in enumerate(games, 1):
            yield _item(game, header, one, names, number)

    def read(text: str) -> Iterable[Item]:
        raise PositionError(f"WTHOR files are binary, not text: {text[:40]!r}")

    return Form(
        "wthor",
        "game",
        "WTHOR files (.wtb) with their names of players (.jou) and tournaments (.trn)",
        "",
        sniff=lambda text: False,
        read=read,
        suffixes=(".wtb",),
        read_file=read_file,
        write_file=write_file,
    )


def _names_beside(path: Path, ending: str) -> wthor.WthorNames | None:
    """Read the names in the same folder: of the same name as the file, else WTHOR's, else the only such file."""
    found = sorted(other for other in path.parent.iterdir() if other.suffix.lower() == ending)
    for name in (path.stem.lower(), "wthor"):
        chosen = [other for other in found if other.stem.lower() == name]
        if chosen:
            found = chosen
            break
    if len(found) != 1:
        return None
    try:
        return wthor.read_names(found[0].read_bytes(), _ENDINGS[ending])
    except PositionError as error:
        raise PositionError(f"{found[0].name}: {error}") from None


def _item(
    game: Any,
    header: wthor.WthorHeader,
    one: wthor.WthorGame,
    names: Mapping[str, wthor.WthorNames | None],
    number: int,
) -> Item:
    moves, _, after = one.squares.partition(b"\0")
    replay = Replay(game.initial_state(), 8)
    try:
        for text in wthor.square_texts(moves):
            replay.add(text)
    except IllegalActionError as error:
        return Item(error=str(error), line=number)
    players, tournaments = names[".jou"], names[".trn"]
    black, white = (
        (players.name(who) if players else None) or f"player {who} ({header.game_year})"
        for who in (one.black, one.white)
    )
    values = {
        "Event": (tournaments.name(one.tournament) if tournaments else None) or "",
        "Date": str(header.game_year),
        "BlackScore": str(one.score),
        "TheoreticalScore": str(one.theoretical),
        "TheoreticalDepth": str(header.depth),
        **dict(zip(_NUMBERS, map(str, (one.tournament, one.black, one.white)), strict=True)),
        "FileDate": _date(header),
    }
    odd = {
        "GameKind": str(header.kind),
        "BoardSize": str(header.size),
        "HeaderNames": str(header.names),
        "HeaderReserved": str(header.reserved),
        "AfterMoves": after.rstrip(b"\0").hex(),
    }
    values |= {name: value for name, value in odd.items() if value != _USUAL[name]}
    item = conclude(
        replay,
        None,
        Result.of_claim(2 * one.score - 64),
        headers={name: value for name, value in values.items() if value},
        players=(black, white),
        line=number,
    )
    headers = {name: value for name, value in item.headers.items() if name != "Result"}  # BlackScore holds it
    margin = item.margin
    if margin not in (None, 0) and not item.state.moves and margin != game.margin(item.state):
        empty = 64 - popcount(item.state.black | item.state.white)
        margin = margin - empty if margin > 0 else margin + empty
    return replace(item, headers=headers, margin=margin)


def write_file(items: Sequence[Item]) -> dict[str, bytes]:
    """Return the bytes of a .wtb file, and of .jou and .trn files if the items have names and no numbers.

    Raises:
        PositionError: the items are of several files or years, or one of them is not on 8 x 8 from the usual start.

    """
    numbered = [all(name in item.headers for name in _NUMBERS) for item in items]
    if any(numbered) and not all(numbered):
        raise PositionError(
            f"game {numbered.index(False) + 1} has no numbers of players and tournament, others have: they are of "
            "different files"
        )
    header = _header(items)
    names: dict[str, dict[str, int]] = {".jou": {}, ".trn": {}}
    games = [_game(item, names, number, fresh=not any(numbered)) for number, item in enumerate(items, 1)]
    files = {".wtb": wthor.write_games(header, games)}
    if not any(numbered):
        for ending, found in names.items():
            entries = tuple(wthor.name_entry(name, _ENDINGS[ending]) for name in found)
            blank = header._replace(games=0, game_year=0, size=0, kind=0, depth=0)
            files[ending] = wthor.write_names(wthor.WthorNames(blank, entries))
    return files


def _header(items: Sequence[Item]) -> wthor.WthorHeader:
    def one(name: str, usual: str) -> str:
        found = sorted({item.headers.get(name, usual) for item in items} or {usual})
        if len(found) > 1:
            raise PositionError(f"a WTHOR file has one {name}, not {', '.join(found[:5])}")
        return found[0]

    date = _date_parts(one("FileDate", datetime.date.today().isoformat()))
    years = sorted({_year(item.headers.get("Date", ""), 100 * date[0] + date[1]) for item in items})
    if len(years) > 1:
        raise PositionError(f"a WTHOR file holds the games of one year, not of {', '.join(map(str, years[:5]))}")
    numbers = [_integer(name, one(name, usual)) for name, usual in _USUAL.items() if name != "AfterMoves"]
    kind, size, names, reserved = numbers
    depth = _integer("TheoreticalDepth", one("TheoreticalDepth", "0"))
    year = years[0] if years else 0
    return wthor.WthorHeader(*date, len(items), names, year, size, kind, depth, reserved)


def _game(item: Item, names: dict[str, dict[str, int]], number: int, *, fresh: bool) -> wthor.WthorGame:
    if item.start is not None:
        raise PositionError(f"game {number}: a WTHOR file holds games from the usual start")
    if fresh:
        players = item.players or ("?", "?")
        keys = [(".trn", item.headers.get("Event", "?")), *((".jou", player) for player in players)]
        tournament, black, white = (names[ending].setdefault(name, len(names[ending])) for ending, name in keys)
    else:
        tournament, black, white = (_integer(name, item.headers[name]) for name in _NUMBERS)
    own = _integer("BlackScore", item.headers.get("BlackScore", str(_black_score(item))))
    theoretical = _integer("TheoreticalScore", item.headers.get("TheoreticalScore", str(own)))
    try:
        after = bytes.fromhex(item.headers.get("AfterMoves", ""))
    except ValueError:
        raise PositionError(f"AfterMoves is {item.headers['AfterMoves'][:40]!r}, no hexadecimal number") from None
    return wthor.WthorGame(tournament, black, white, own, theoretical, wthor.square_bytes(item.actions, after))


def _black_score(item: Item) -> int:
    """Return black's discs with the empty squares to the winner: as the item states the result, else by its moves."""
    told = Result.parse(item.headers.get("Result", ""))
    claim = None if told is None else told.claim
    if claim is None or abs(claim) > 64 or claim % 2 != 0:
        return (64 + score(item.state, "empties-to-winner")) // 2
    return (64 + int(claim)) // 2


def _integer(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise PositionError(f"{name} is {text[:40]!r}, not a whole number")
    return int(text)


def _year(text: str, usual: int) -> int:
    """Return the year of a date, `usual` if it names none; the number that a file has instead of one is kept."""
    match = re.fullmatch(r"([0-9]{1,5})", text) or re.search(r"(?<![0-9])([0-9]{4})(?![0-9])", text)
    return usual if match is None else int(match[1])


def _date(header: wthor.WthorHeader) -> str:
    """Write a header's date, as 2007-05-22 if its bytes allow it, else as the four bytes 20/107/5/22."""
    parts = header.century, header.year, header.month, header.day
    if max(parts) < 100:
        return "{:02}{:02}-{:02}-{:02}".format(*parts)
    return "/".join(map(str, parts))


def _date_parts(text: str) -> tuple[int, int, int, int]:
    match = re.fullmatch(r"(\d\d)(\d\d)-(\d\d)-(\d\d)|(\d{1,3})/(\d{1,3})/(\d{1,3})/(\d{1,3})", text, re.ASCII)
    if match is None:
        raise PositionError(f"FileDate is {text[:40]!r}, not a date such as 2007-05-22")
    century, year, month, day = (int(part) for part in match.groups() if part is not None)
    return century, year, month, day
