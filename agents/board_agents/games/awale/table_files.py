"""Table files: one a level, a header of 4096 bytes, then int8 scores and uint8 progress depths in the order of ranks.

The header is a magic line, a length and a CRC-32 (little-endian uint32 each) and that many bytes of JSON: format
version, game, rule set, pits, level, encoding, the level's statistics, a CRC-32 of either part. A file is written under
a temporary name, flushed and renamed, so that "level-NNN.table" always stands for a whole level.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from board_agents.lowlevel.atomic_files import begins_with, write_whole
from board_agents.lowlevel.data_folder import FOLDER_VARIABLE as FOLDER_VARIABLE
from board_agents.lowlevel.data_folder import default_folder as default_folder
from board_agents.support import TablesError
from board_envs._jit import kernel
from board_envs.games.awale.configurations import count

MAGIC = b"board_envs table"
VERSION = 1
HEADER = 4096
GAME, RULESET = "awale", "tamale"
ENCODING = "enc order; int8 scores of the mover, then uint8 progress depths"
SLICE = 1 << 20
"""Bytes read or written at a time."""


class TableError(TablesError):
    """A table that is missing, damaged, of another game or of another format; the message names the file."""


@kernel
def tally(part: Any, counts: Any) -> None:
    """Count the bytes of an array, by their values."""
    for x in range(part.shape[0]):
        counts[part[x]] += 1


@dataclass(frozen=True)
class LevelStatistics:
    """What one level holds.

    Attributes:
        level: seeds on the board.
        configurations: how many there are.
        positive, zero, negative: how many scores are so.
        unresolved: how many of the zeros are held by both sides (a mat ends the game).
        largest: the largest score.
        smallest: the smallest score.
        deepest: the largest progress depth.
        scores_crc32: of the scores.
        depths_crc32: of the depths.

    """

    level: int
    configurations: int
    positive: int
    zero: int
    negative: int
    unresolved: int
    largest: int
    smallest: int
    deepest: int
    scores_crc32: int
    depths_crc32: int


def folder_of(pits: int, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds the levels of `pits` a side, inside `folder` or the default one."""
    return (default_folder() if folder is None else Path(folder)) / f"{GAME}-{RULESET}-{pits}"


def path_of(folder: Path, level: int) -> Path:
    """Return the file of a level."""
    return folder / f"level-{level:03}.table"


class Counter:
    """Counts a level part by part, scores and depths in the order of ranks."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.unresolved = 0
        self._counts = np.zeros(256, np.int64)
        self._deepest = 0
        self._checksums = [0, 0]

    def add_scores(self, part: NDArray[np.int8]) -> NDArray[np.int8]:
        """Count scores and return them."""
        tally(part.view(np.uint8), self._counts)
        self._checksums[0] = zlib.crc32(part.data, self._checksums[0])
        return part

    def add_depths(self, part: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Count depths and return them."""
        self._deepest = max(self._deepest, int(part.max()))
        self._checksums[1] = zlib.crc32(part.data, self._checksums[1])
        return part

    def statistics(self) -> LevelStatistics:
        """Return what was counted."""
        counts = np.roll(self._counts, 128)
        present = np.flatnonzero(counts) - 128
        return LevelStatistics(
            level=self.level,
            configurations=int(counts.sum()),
            positive=int(counts[129:].sum()),
            zero=int(counts[128]),
            negative=int(counts[:128].sum()),
            unresolved=self.unresolved,
            largest=int(present[-1]),
            smallest=int(present[0]),
            deepest=self._deepest,
            scores_crc32=self._checksums[0],
            depths_crc32=self._checksums[1],
        )


def write_level(
    path: Path,
    pits: int,
    counter: Counter,
    scores: Iterable[NDArray[np.int8]],
    depths: Iterable[NDArray[np.uint8]],
    threads: int = 1,
) -> LevelStatistics:
    """Write one level, given in parts, whole or not at all; two threads take a half each.

    OSError names the file (FileExistsError: there is one that is no table).
    """

    def write_half(target: Path, begin: int, parts: Iterable[NDArray[Any]]) -> None:
        with target.open("r+b") as half:
            half.seek(begin)
            for part in parts:
                half.write(part.data)

    def write(target: Path) -> LevelStatistics:
        with target.open("wb") as file:
            middle = HEADER + count(pits, counter.level)
            halves = (HEADER, map(counter.add_scores, scores)), (middle, map(counter.add_depths, depths))
            with ThreadPoolExecutor(min(threads, 2)) as pool:
                list(pool.map(lambda half: write_half(target, *half), halves))
            statistics = counter.statistics()
            facts = {"version": VERSION, "game": GAME, "ruleset": RULESET, "pits": pits, "encoding": ENCODING}
            text = json.dumps(facts | asdict(statistics)).encode()
            file.seek(0)
            file.write(MAGIC + struct.pack("<II", len(text), zlib.crc32(text)) + text)
        return statistics

    return write_whole(path, write, ours=begins_with(MAGIC))


def read_level(
    path: Path, pits: int, level: int, *, check: bool = True
) -> tuple[LevelStatistics, NDArray[np.int8], NDArray[np.uint8]]:
    """Map one level into memory, read-only; with `check` its contents are compared with their checksums.

    Raises:
        TableError: the file is missing, foreign, truncated, altered, or of another game, size, level or version.

    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(HEADER)
            facts = _read_header(path, head, size)
            statistics = _expect(path, facts, pits, level)
            wanted = HEADER + 2 * statistics.configurations
            if size != wanted:
                raise TableError(f"{path}: {size} bytes, not {wanted}: the file is truncated or was added to")
            if check:
                _check(path, file, statistics)
            data = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except FileNotFoundError:
        raise TableError(f"{path}: there is no such table") from None
    middle = HEADER + statistics.configurations
    return statistics, data[HEADER:middle].view(np.int8), data[middle:]


def forget(part: NDArray[Any]) -> None:
    """Give back the memory of an array mapped by `read_level`, where the system can; it is read again when asked."""
    owner: Any = part
    while not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else owner.base
    if hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)


def _check(path: Path, file: BinaryIO, statistics: LevelStatistics) -> None:
    """Compare the contents with their checksums, by reading: what is only mapped takes no memory yet."""
    for name, expected in (("scores", statistics.scores_crc32), ("depths", statistics.depths_crc32)):
        checksum, left = 0, statistics.configurations
        while left:
            part = file.read(min(left, SLICE))
            checksum = zlib.crc32(part, checksum)
            left -= len(part)
        if checksum != expected:
            raise TableError(f"{path}: the {name} do not match their checksum, the file was altered")


def _read_header(path: Path, head: bytes, size: int) -> dict[str, Any]:
    if not head.startswith(MAGIC):
        raise TableError(f"{path}: no table of board_envs")
    if len(head) < HEADER:
        raise TableError(f"{path}: {size} bytes, the header is truncated")
    begin = len(MAGIC) + 8
    length, checksum = struct.unpack("<II", head[len(MAGIC) : begin])
    text = head[begin : begin + length]
    if length > HEADER - begin or zlib.crc32(text) != checksum or any(head[begin + length :]):
        raise TableError(f"{path}: the header does not match its checksum, the file was altered")
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TableError(f"{path}: the header is no JSON ({error})") from None
    if not isinstance(facts, dict):
        raise TableError(f"{path}: the header is no JSON object")
    return facts


def _expect(path: Path, facts: dict[str, Any], pits: int, level: int) -> LevelStatistics:
    wanted = {"version": VERSION, "game": GAME, "ruleset": RULESET, "pits": pits, "encoding": ENCODING, "level": level}
    for key, value in wanted.items():
        if facts.get(key) != value:
            raise TableError(f"{path}: {key} is {facts.get(key)!r}, expected {value!r}")
    for key in LevelStatistics.__dataclass_fields__:
        if type(facts.get(key)) is not int:
            raise TableError(f"{path}: {key} is {facts.get(key)!r}, expected an integer")
    statistics = LevelStatistics(**{key: facts[key] for key in LevelStatistics.__dataclass_fields__})
    if statistics.configurations != count(pits, level):
        raise TableError(f"{path}: {statistics.configurations} configurations, level {level} has {count(pits, level)}")
    return statistics
