"""Where a run keeps its records: a file with one line of JSON a game, or a database."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from board_agents.arena.records.game_record import GameRecord, RecordError

DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")


def read_text(source: str | Path) -> str:
    """Return the text of a file in UTF-8; RecordError names a file that holds anything else."""
    try:
        return Path(source).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"{source}: no text ({error})") from error


class Records(Protocol):
    """What a run appends to and continues from."""

    def read(self) -> list[GameRecord]:
        """Return the records that are there, each game once."""
        ...

    def append(self, record: GameRecord) -> None:
        """Keep a game."""
        ...


def is_database(target: str | Path) -> bool:
    """Whether a target is a database, by its form: a URL, or a file that ends in .db, .sqlite or .sqlite3."""
    return "://" in str(target) or str(target).endswith(DATABASE_SUFFIXES)


@contextlib.contextmanager
def open_records(target: str | Path, run: str) -> Iterator[Records]:
    """Open a file or database (see `is_database`) to keep a run's records in.

    Args:
        target: a path or a database URL.
        run: the run's name in a database; a file holds one run.

    """
    if not is_database(target):
        yield RecordFile(Path(target))
        return
    from board_agents.arena.records.database import Store

    with Store(target) as store, store.writer(run) as writer:
        yield writer


class RecordFile:
    """A file of records that a run appends to and continues from.

    A line is written in one call and flushed to the disk, so a killed process loses at most the game under way; a last
    line that a crash cut off is dropped by the run that goes on. Any other damage is refused.

    Attributes:
        path: the file; it need not exist yet.
        dropped: how many incomplete last lines (0 or 1) the last `read` dropped.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dropped = 0

    def read(self, mend: bool = True) -> list[GameRecord]:
        """Return the records, each game once; RecordError names the line of a damaged one.

        Args:
            mend: cut an incomplete last line off the file; otherwise it is damage like any other.

        """
        self.dropped = 0
        if not self.path.exists():
            return []
        if not (self.path.is_file() or self.path.is_dir()):  # to read a device may never end
            raise RecordError(f"{self.path} is no ordinary file")
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if mend and whole < len(data):
            self.dropped = 1
            os.truncate(self.path, whole)
            data = data[:whole]
        records: dict[str, GameRecord] = {}
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else (), 1):
            record = self._read_line(number, line)
            records.setdefault(record.key, record)
        return list(records.values())

    def _read_line(self, number: int, line: bytes) -> GameRecord:
        try:
            return GameRecord.from_json(line.decode())
        except (RecordError, UnicodeDecodeError) as error:
            raise RecordError(f"{self.path}, line {number}: {error}") from error

    def append(self, record: GameRecord) -> None:
        """Add a record; OSError names the file."""
        try:
            with self.path.open("ab") as file:
                file.write(record.to_json().encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:  # a full disk is told without a name
            raise OSError(error.errno, error.strerror, str(self.path)) from error
