"""WTHOR, the French federation's binary files: games (.wtb), names of players (.jou) and of tournaments (.trn).

All are little endian and begin with a header of 16 bytes: the file's date as century, year, month and day (a byte
each), int32 number of games, uint16 number of names, uint16 year of the games, and bytes: size of the board (0 or 8 for
8 x 8), kind (0 ordinary), empty squares at which the theoretical scores were computed, one unused.

A game has 68 bytes: uint16 tournament, black and white player (positions in the files of names, from 0), bytes black's
score and black's theoretical score (discs, empty squares to the winner, 32 for a draw), then 60 moves as
10 * row + column, both from 1, 0 after the last; passes are not stored. A player's name has 20 bytes, a tournament's
26, each ended by a zero byte, in Latin-1.

The functions read and write the bytes and nothing else: what is read is written again byte for byte, invalid
squares and bytes behind the end of a game or name among them.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from board_envs.types import PositionError

PLAYER_BYTES, TOURNAMENT_BYTES = 20, 26
"""Length of one name in .jou and .trn files."""

MAX_MOVES = 60

_HEADER = struct.Struct("<4BiHH4B")
_GAME = struct.Struct(f"<3H2B{MAX_MOVES}s")


class WthorHeader(NamedTuple):
    """The first 16 bytes of a file, see this module."""

    century: int
    year: int
    month: int
    day: int
    games: int
    names: int
    game_year: int
    size: int
    kind: int
    depth: int
    reserved: int


class WthorGame(NamedTuple):
    """One game; `squares` are its 60 bytes of moves as they are stored, see this module."""

    tournament: int
    black: int
    white: int
    score: int
    theoretical: int
    squares: bytes


class WthorNames(NamedTuple):
    """A file of names: the header and each name's bytes, the zero byte and what follows it included."""

    header: WthorHeader
    entries: tuple[bytes, ...]

    def name(self, number: int) -> str | None:
        """Return the name at a position, None if the file has none there."""
        if not 0 <= number < len(self.entries):
            return None
        return self.entries[number].split(b"\0", 1)[0].decode("latin-1").strip()


def read_games(data: bytes) -> tuple[WthorHeader, list[WthorGame]]:
    """Read a file of games (.wtb).

    Raises:
        PositionError: the file is not of 8 x 8 games, or not as long as its header says.

    """
    header = _header(data)
    if header.size not in (0, 8):
        raise PositionError(f"games on a board of size {header.size}; WTHOR games on 8 x 8 are read")
    _check_length(data, "games", header.games, _GAME.size)
    return header, [WthorGame(*fields) for fields in _GAME.iter_unpack(data[_HEADER.size :])]


def write_games(header: WthorHeader, games: list[WthorGame]) -> bytes:
    """Write a file of games, the inverse of `read_games`; the header's number of games is that of the list."""
    packed = [_packed(_GAME, f"game {number}", game) for number, game in enumerate(games, 1)]
    return _packed(_HEADER, "the header", header._replace(games=len(games))) + b"".join(packed)


def read_names(data: bytes, width: int) -> WthorNames:
    """Read a file of names; `width` is PLAYER_BYTES or TOURNAMENT_BYTES.

    Raises:
        PositionError: the file is not as long as its header says.

    """
    header = _header(data)
    _check_length(data, "names", header.names, width)
    return WthorNames(header, tuple(data[at : at + width] for at in range(_HEADER.size, len(data), width)))


def write_names(names: WthorNames) -> bytes:
    """Write a file of names, the inverse of `read_names`."""
    header = names.header._replace(names=len(names.entries))
    return _packed(_HEADER, "the header", header) + b"".join(names.entries)


def name_entry(name: str, width: int) -> bytes:
    """Return the bytes of one name; PositionError if it does not fit, or is not Latin-1."""
    try:
        data = name.encode("latin-1")
    except UnicodeEncodeError:
        raise PositionError(f"the name {name!r} has letters that WTHOR files cannot hold (they are Latin-1)") from None
    if len(data) >= width or b"\0" in data:
        raise PositionError(f"the name {name!r} does not fit: WTHOR files hold {width - 1} characters here")
    return data.ljust(width, b"\0")


def square_texts(squares: bytes) -> list[str]:
    """Name the moves up to the first 0; a byte that is no square is named "byte 99", which no reader takes."""
    texts = []
    for square in squares.split(b"\0", 1)[0]:
        row, column = divmod(square, 10)
        on_board = 1 <= row <= 8 and 1 <= column <= 8
        texts.append(f"{'abcdefgh'[column - 1]}{row}" if on_board else f"byte {square}")
    return texts


def square_bytes(actions: tuple[int, ...], rest: bytes = b"") -> bytes:
    """Return the 60 bytes of a game's moves; `rest` are bytes that follow the first 0 after the last move."""
    moves = bytes(10 * (action // 8 + 1) + action % 8 + 1 for action in actions)
    data = (moves + b"\0" + rest) if rest else moves
    if len(data) > MAX_MOVES:
        raise PositionError(f"{len(actions)} moves: a WTHOR game has at most {MAX_MOVES}")
    return data.ljust(MAX_MOVES, b"\0")


def _header(data: bytes) -> WthorHeader:
    if len(data) < _HEADER.size:
        raise PositionError(f"not a WTHOR file: it has {len(data)} bytes and the header alone {_HEADER.size}")
    return WthorHeader(*_HEADER.unpack_from(data))


def _check_length(data: bytes, what: str, count: int, size: int) -> None:
    expected = _HEADER.size + count * size
    if count < 0 or len(data) != expected:
        raise PositionError(f"{len(data)} bytes, but {count} {what}, as the header says, are {expected}")


def _packed(form: struct.Struct, what: str, values: tuple[int | bytes, ...]) -> bytes:
    try:
        return form.pack(*values)
    except struct.error as error:
        raise PositionError(f"{what} does not fit a WTHOR file: {values} ({error})") from None
