"""Damaged files of every format that the project reads: refused by an error of the project, and left as they are."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from soak_common import damaged_bytes, fault_of, little_memory, pieces

from board_agents.arena import play_game
from board_agents.arena.records.game_record import RecordError
from board_agents.arena.records.outside_forms import export_games, import_games
from board_agents.arena.records.storage import RecordFile
from board_agents.arena.records.text_formats import read_records, write_records
from board_agents.arena.suites.suite_files import SuiteError, published_suites, read_suite
from board_agents.games.awale.table_files import HEADER, MAGIC, path_of, read_level
from board_agents.games.awale.tablebase import build
from board_agents.games.connect_four.opening_book import Book, derive
from board_agents.games.reversi.pattern_evaluation import SHIPPED, Evaluation, EvaluationError
from board_agents.support import TablesError
from board_envs import _code_cache, make_game
from board_envs.types import IllegalActionError, PositionError, SpecError

FILES, PIECE = 100_000, 1000
SECONDS_A_FORMAT = 200
"""About so long at scale 1 the files of one format take at most; of slow formats there are fewer."""
ERRORS = (RecordError, SuiteError, TablesError, EvaluationError, PositionError, IllegalActionError, SpecError)
DATA = Path(__file__).parents[1] / "data" / "forms"
RUNS = Path(__file__).parents[2] / "agents" / "board_agents" / "arena" / "suites" / "data"


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes:
        make: writes intact files into a folder; returns the one that is read.
        read: reads that file.
        seal: puts a right checksum on damaged bytes, as somebody who means harm would; None where there is none.
        damage: names of the files that are damaged, of which one is chosen; empty: the one that is read.
        seconds: what one file takes about.

    """

    make: Callable[[Path], Path]
    read: Callable[[Path], Any]
    seal: Callable[[bytes], bytes] | None = None
    damage: tuple[str, ...] = ()
    seconds: float = 0.002


@functools.cache
def records() -> list[Any]:
    games = [("reversi", {"size": 4}), ("connect-four", {}), ("awale", {"pits": 2, "seeds": 3}), ("nim", {})]
    agents = ["random", "random"]
    return [play_game(make_game(name, **p), agents, names=("a", "=b\x07"), seeds=(1, 2)) for name, p in games]


def _records(suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / f"games{suffix}"
        write_records(str(path), records())
        return path

    return make


def _read_records(path: Path) -> None:
    for record in read_records(str(path)):
        record.replay()


def _seal_lines(data: bytes) -> bytes:
    lines = []
    for line in data.split(b"\n"):
        lines.append(line)
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):  # not even JSON any more
            facts = json.loads(line)
            del facts["crc32"]
            text = json.dumps(facts, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
            lines[-1] = json.dumps(facts | {"crc32": zlib.crc32(text)}).encode()
    return b"\n".join(lines)


def _suite(folder: Path) -> Path:
    path = folder / "a.suite"
    shutil.copy(RUNS / min(published_suites(), key=lambda name: (RUNS / name).stat().st_size), path)
    return path


def _seal_suite(data: bytes) -> bytes:
    head, _, rest = data.partition(b"\n")
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        facts = json.loads(head)
        head = json.dumps(facts | {"sha256": hashlib.sha256(rest).hexdigest()}).encode()
    return head + b"\n" + rest


def _table(folder: Path) -> Path:
    build(2, 6, folder)
    return path_of(folder / "awale-tamale-2", 6)


def _seal_table(data: bytes) -> bytes:
    begin = len(MAGIC) + 8
    length = data.find(b"}") + 1 - begin
    if not 0 < length < HEADER - begin:
        return data
    text = data[begin : begin + length]
    return MAGIC + struct.pack("<II", length, zlib.crc32(text)) + text.ljust(HEADER - begin, b"\0") + data[HEADER:]


def _book(folder: Path) -> Path:
    book = Book.empty(3, 4, 3, 4)
    for stones in range(4, -1, -1):
        derive(book, stones)
    path = folder / "book.bin"
    book.save(path)
    return path


def _seal_head(with_data: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Seal a file of a line of JSON and a body; the digest is over the head's other facts and the body."""

    def seal(data: bytes) -> bytes:
        head, _, body = data.partition(b"\n")
        try:
            facts = json.loads(head)
            facts.pop("sha256", None)
            text = json.dumps(facts, sort_keys=True).encode()
            head = json.dumps(facts | {"sha256": hashlib.sha256(text + with_data(body)).hexdigest()}).encode()
        except (ValueError, AttributeError, TypeError, RecursionError):
            return data  # not even JSON any more
        return head + b"\n" + body

    return seal


def _weights(folder: Path) -> Path:
    path = folder / "a.weights"
    shutil.copy(SHIPPED, path)
    return path


def _sample(name: str, most: int = 6000) -> Callable[[Path], Path]:
    """Return a maker of the beginning of one of the tests' files, up to a line's end."""

    def make(folder: Path) -> Path:
        path = folder / name
        data = (DATA / name).read_bytes()
        path.write_bytes(data if len(data) < most else data[: data.rindex(b"\n", 0, most) + 1])
        return path

    return make


def _written(form: str, suffix: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / f"games{suffix}"
        game = make_game("reversi")
        export_games(
            path, [play_game(game, ["random", "random"], names=("a", "b"), seeds=(n, n)) for n in (1, 2)], form
        )
        return path

    return make


def _wthor(folder: Path) -> Path:
    return _written("wthor", ".wtb")(folder)


def _import(name: str) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        for _, record in import_games(path, make_game(name), lambda remark: None):
            record.replay()

    return read


NAME, STEM, DIGEST = "kernel", "0" * 32, "1" * 64


def _code(folder: Path) -> Path:
    with _cache_in(folder):
        _code_cache.save(NAME, STEM, DIGEST, b"code" * 100)
    return folder / f"{NAME}-{STEM}-{DIGEST}.code"


def _read_code(path: Path) -> None:
    with _cache_in(path.parent):
        assert _code_cache.load(NAME, STEM, DIGEST) in (None, b"code" * 100), "damaged code is loaded"


@contextlib.contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    before = os.environ.get(_code_cache.FOLDER_VARIABLE)
    os.environ[_code_cache.FOLDER_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_code_cache.FOLDER_VARIABLE]
        else:
            os.environ[_code_cache.FOLDER_VARIABLE] = before


FORMATS = {
    "records (JSON lines)": Format(_records(".jsonl"), lambda path: RecordFile(path).read(), _seal_lines),
    "transcripts": Format(_records(".txt"), _read_records),
    "Parquet": Format(_records(".parquet"), _read_records, seconds=0.005),
    "SQLite": Format(_records(".sqlite"), _read_records, seconds=0.015),
    "suites": Format(_suite, read_suite, _seal_suite),
    "Awalé tables": Format(_table, lambda path: read_level(path, 2, 6), _seal_table),
    "Connect Four books": Format(_book, Book.load, _seal_head(lambda body: body)),
    "Reversi weights": Format(_weights, Evaluation.load, seconds=0.02),
    "WTHOR": Format(_wthor, _import("reversi"), None, ("games.wtb", "games.jou", "games.trn")),
    "GGF": Format(_sample("reversi_games.ggf"), _import("reversi"), seconds=0.02),
    "SGF": Format(_sample("reversi_games.sgf"), _import("reversi"), seconds=0.02),
    "OBF": Format(_sample("reversi_problems.obf"), _import("reversi"), seconds=0.005),
    "Othello Quest": Format(_sample("reversi_games_quest.jsonl"), _import("reversi"), seconds=0.02),
    "PGN-like games": Format(_written("pgn", ".pgn"), _import("reversi"), seconds=0.01),
    "numbered games": Format(_sample("reversi_numbered.txt"), _import("reversi"), seconds=0.01),
    "Pons' lines": Format(_sample("pons_lines.txt", 500), _import("connect-four"), seconds=0.005),
    "Kaggle boards": Format(_sample("kaggle_boards.jsonl", 1000), _import("connect-four"), seconds=0.005),
    "UCI rows": Format(_sample("uci_rows.csv", 1000), _import("connect-four"), seconds=0.005),
    "compiled code": Format(_code, _read_code, seconds=0.001),
}


class Read:
    """Reads damaged files of one format."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, seed: str, count: int) -> list[str]:
        form, rng, faults = FORMATS[self.name], Random(seed), list[str]()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = form.make(folder)
            whole = contents(folder)
            fault = fault_of(lambda: form.read(path), ())
            if fault:
                return [f"an intact file: {fault}"]
            with little_memory():
                for number in range(count):
                    chosen = folder / rng.choice(form.damage) if form.damage else path
                    data = damaged_bytes(rng, whole[chosen])
                    if form.seal is not None and rng.random() < 0.5:
                        data = form.seal(data)
                    chosen.write_bytes(data)
                    before = whole | {chosen: data}
                    fault = fault_of(lambda: form.read(path), ERRORS)
                    if not fault and contents(folder) != before:
                        fault = "reading changed the folder"
                    if fault and len(faults) < 5:
                        kept = Path(tempfile.gettempdir()).parent / f"soak-{seed}-{number}{chosen.suffix}"
                        kept.write_bytes(data)
                        faults.append(f"{fault} for {kept}")
                    for old in contents(folder):
                        if old not in whole:
                            old.unlink()
                    chosen.write_bytes(whole[chosen])
        return faults


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the bytes of all files below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def jobs(scale: float) -> Iterator[tuple[str, Any, int, float]]:
    """Yield the files of all formats."""
    for name, form in FORMATS.items():
        for count in pieces(min(FILES, SECONDS_A_FORMAT / form.seconds) * scale, PIECE):
            yield name, Read(name), count, count * form.seconds
