"""Storage of a run's records: a JSON lines file, or a database."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from board_agents.arena.records.game_record import GameRecord, RecordError
from board_agents.lowlevel.atomic_files import check_target, read_bytes

DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
LONGEST_LINE = 1 << 24
"""Longest line of a record, in bytes."""
_MARK = b'{"game": "", "parameters": {'
"""Start of every record's line, without the game's name."""


def read_text(source: str | Path) -> str:
    """Return the text of a UTF-8 file; raise RecordError naming the file if it is not text."""
    try:
        return io.TextIOWrapper(io.BytesIO(read_bytes(source)), encoding="utf-8").read()
    except UnicodeDecodeError as error:
        raise RecordError(f"{source}: not UTF-8 text ({error})") from error


def is_record_file(path: Path) -> bool:
    """Whether a file contains records as JSON lines: a saved game, or the games of a run."""
    with path.open("rb") as file:
        return _nameless(file.read(1000)).startswith(_MARK)


def _nameless(line: bytes) -> bytes:
    """Return the start of a record's line, without the game's name."""
    return re.sub(rb'^(\{"game": ")[^"\n]*', rb"\1", line)


class Records(Protocol):
    """Storage that a run appends to and resumes from."""

    def read(self) -> list[GameRecord]:
        """Return the stored records, each game once."""
        ...

    def append(self, record: GameRecord) -> None:
        """Store a game."""
        ...


def is_database(target: str | Path) -> bool:
    """Whether a target is a database, by its name: a URL, or a file that ends in .db, .sqlite or .sqlite3."""
    return "://" in str(target) or str(target).endswith(DATABASE_SUFFIXES)


@contextlib.contextmanager
def open_records(target: str | Path, run: str) -> Iterator[Records]:
    """Open a file or database (see `is_database`) for a run's records.

    Args:
        target: a path or a database URL.
        run: the run's name in a database; a file contains one run.

    """
    if not is_database(target):
        check_target(Path(target))
        yield RecordFile(Path(target))
        return
    from board_agents.arena.records.database import Store

    with Store(target) as store, store.writer(run) as writer:
        yield writer


class RecordFile:
    """A file of records that a run appends to and resumes from.

    A line is written in one call and flushed to the disk, so a killed process loses at most the current game. The
    last line may then be incomplete: the next `append` cuts it off, if all lines before it are records. Nothing
    else changes a file, and any other damage raises an error. A file that ends between two lines is a shorter run:
    it does not state the number of planned games, and a resumed run plays the missing ones.

    Attributes:
        path: the file; it need not exist yet.
        dropped: number of incomplete last lines (0 or 1) that the last `read` found.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dropped = 0
        self._tail: tuple[int, int] | None = None  # start and end of an incomplete last line
        self._unended = False  # whether the last line lacks only its line end

    def read(self, mend: bool = True) -> list[GameRecord]:
        """Return the records, each game once, each replayed; the file is not changed.

        Args:
            mend: skip an incomplete last line, which the next `append` cuts off; otherwise it is an error like any
                other.

        Raises:
            RecordError: a line is not a record or does not replay to its recorded end; names file and line.

        """
        self.dropped, self._tail, self._unended = 0, None, False
        records: dict[str, GameRecord] = {}
        if not self.path.exists():
            return []
        if not (self.path.is_file() or self.path.is_dir()):  # reading a device may never end
            raise RecordError(f"{self.path} is not a regular file")
        with self.path.open("rb") as file:
            number, begin = 0, 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                if not line.endswith(b"\n"):
                    if len(line) == LONGEST_LINE:
                        raise RecordError(f"{self.path}, line {number}: longer than {LONGEST_LINE} bytes")
                    if mend and _is_cut(line):
                        self.dropped, self._tail = 1, (begin, begin + len(line))
                        break
                    self._unended = True
                begin += len(line)
                record = self._read_line(number, line.removesuffix(b"\n"))
                records.setdefault(record.key, record)
        return list(records.values())

    def _read_line(self, number: int, line: bytes) -> GameRecord:
        try:
            record = GameRecord.from_json(line.decode())
            record.replay()
        except (RecordError, UnicodeDecodeError) as error:
            raise RecordError(f"{self.path}, line {number}: {error}") from error
        return record

    def append(self, record: GameRecord) -> None:
        """Add a record; OSError names the file."""
        line = record.to_json().encode() + b"\n"
        try:
            with self.path.open("ab") as file:
                if self._tail is not None and os.fstat(file.fileno()).st_size == self._tail[1]:
                    file.truncate(self._tail[0])
                if self._unended:
                    line = b"\n" + line
                self._tail, self._unended = None, False
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:  # the error of a full disk has no file name
            raise OSError(error.errno, error.strerror, str(self.path)) from error


def _is_cut(line: bytes) -> bool:
    """Whether a last line without line end is an incomplete record, not a complete or foreign line."""
    begin = _nameless(line)[: len(_MARK)]
    if begin != _MARK[: len(begin)]:
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False
