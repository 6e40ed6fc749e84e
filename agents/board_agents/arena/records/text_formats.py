"""Read and write records as transcripts, JSON lines, Parquet, Minari datasets or databases, by a target's name.

| target | form |
| --- | --- |
| ``games.txt`` | transcripts, for people and other programs; only game and moves are required |
| ``games.jsonl`` | one line of JSON a game, with a checksum |
| ``games.parquet`` | a data frame, for pandas, polars, DuckDB ... (extra "records") |
| ``games.db``, ``postgresql://...`` | a database (extra "records") |
| ``minari:name-v0`` | a dataset for offline reinforcement learning (extra "minari") |

Every record read is replayed, and rejected if it does not reach its recorded end. JSON lines (a saved game) are
recognised by their first bytes, whatever the file's name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import board_envs
from board_agents.arena.records import minari_datasets as minari
from board_agents.arena.records.game_record import FORMAT, Ending, GameRecord, RecordError, headers_of, parameters_of
from board_agents.arena.records.storage import RecordFile, is_database, is_record_file, read_text
from board_agents.lowlevel.atomic_files import begins_with, check_target, write_whole
from board_envs.types import MissingExtraError


def read_records(source: str, run: str | None = None) -> Iterator[GameRecord]:
    """Yield the records of a file, database or dataset.

    Args:
        source: see this module's table.
        run: from a database, only this run.

    Raises:
        RecordError: a record is damaged or does not replay to its recorded end, or the format is unknown.

    """
    if is_database(source):
        from board_agents.arena.records.database import Store

        with Store(source, create=False) as store:
            yield from store.records(run)
        return
    if _is_lines(source):
        yield from _read_lines(source)  # replays them
        return
    form = _form(source)
    number = 0
    for number, record in enumerate(form.read(source), 1):
        try:
            record.replay()
        except (RecordError, ValueError) as error:
            raise RecordError(f"{source}, game {number}: {error}") from error
        yield record


def write_records(target: str, records: Iterable[GameRecord], run: str = "import", *, overwrite: bool = False) -> int:
    """Write records; a file is written atomically, to a database they are added.

    Args:
        target: see this module's table. A file of records of the same format is replaced.
        records: the records; each is replayed.
        run: in a database, the run's name.
        overwrite: also replace a file of another kind.

    Returns:
        number of games written (in a database: of new games).

    Raises:
        RecordError: a record does not replay to its recorded end; nothing is written (in a database: not its batch).
        OSError: the file cannot be written (FileExistsError: it is of another kind); it is named and unchanged.

    """
    if is_database(target):
        from board_agents.arena.records.database import Store

        with Store(target) as store:
            return store.add(records, run)
    form = _form(target)
    ours = None if overwrite else form.ours
    if not target.startswith(minari.PREFIX):
        check_target(Path(target), ours)
    checked = []
    for record in records:
        record.replay()
        checked.append(record)
    form.write(target, checked, ours)
    return len(checked)


_Ours: TypeAlias = Callable[[Path], bool] | None
"""Return a check that a file has the format to be written; None: any file may be replaced."""


class _Form(NamedTuple):
    read: Callable[[str], Iterable[GameRecord]]
    write: Callable[[str, list[GameRecord], _Ours], None]
    ours: _Ours


def _form(target: str) -> _Form:
    if target.startswith(minari.PREFIX):
        return _Form(minari.read, _write_dataset, None)
    suffix = Path(target).suffix
    if suffix not in _FORMS:
        raise RecordError(
            f"{target}: unknown format; known: {', '.join(_FORMS)}, .db (SQLite), postgresql://..., {minari.PREFIX}..."
        )
    return _FORMS[suffix]


# -- JSON lines -------------------------------------------------------------------------------------------------------


def _is_lines(source: str) -> bool:
    """Whether a file contains JSON lines: by its name, or a saved game (see `board-envs play`) by its first bytes."""
    path = Path(source)
    return path.suffix == ".jsonl" or (path.is_file() and is_record_file(path))


def _write_dataset(target: str, records: list[GameRecord], _ours: _Ours) -> None:
    minari.write(target, records)


def _read_lines(source: str) -> list[GameRecord]:
    if not Path(source).exists():
        raise RecordError(f"{source}: no such file")
    return RecordFile(Path(source)).read(mend=False)


def _write_lines(target: str, records: list[GameRecord], ours: _Ours) -> None:
    text = "".join(record.to_json() + "\n" for record in records)
    write_whole(target, lambda path: path.write_text(text, encoding="utf-8"), ours=ours)


# -- transcripts ------------------------------------------------------------------------------------------------------


def write_transcript(record: GameRecord) -> str:
    """Return a game as lines "key: value"; the moves are in the game's own notation."""
    game = record.make_game()
    states = record.replay()
    moves = game.notation.join_moves(game.move_names(record.actions, states))
    values: dict[str, Any] = {
        "game": record.game,
        "parameters": json.dumps(dict(record.parameters)),
        "player_0": _quoted(record.agents[0]),
        "player_1": _quoted(record.agents[1]),
        "start": _quoted(record.start),
        "opening": f"{len(record.opening)} plies, number {record.opening_number}",
        "seeds": f"{record.seeds[0]} {record.seeds[1]}",
        "seconds": f"{record.seconds[0]!r} {record.seconds[1]!r}",
        "ending": record.ending.value if record.offender < 0 else f"{record.ending.value} of player_{record.offender}",
        "detail": _quoted(record.detail),
        "result": _RESULTS[record.winner],
        "margin": record.margin,
        "final": _quoted(record.final),
        "version": _quoted(record.version),
        "headers": json.dumps(dict(record.headers)) if record.headers else "",
        "moves": moves,  # last, so that a truncated text does not reach the stated end
    }
    return "".join(f"{key}: {value}\n" for key, value in values.items() if value != "" or key == "moves")


_RESULTS = {0: "1-0", 1: "0-1", 2: "1/2-1/2", -1: "*"}


def read_transcript(text: str) -> GameRecord:
    """Return the game of lines "key: value".

    Only "game" and "moves" are required: a game whose moves end it is finished, any other is unfinished. All other
    entries are checked against them by `GameRecord.replay`.

    Raises:
        RecordError: a line or a move is invalid.

    """
    values = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in _KEYS:
            raise RecordError(f"{line!r} is not a line of a transcript; keys: {', '.join(_KEYS)}")
        values[key.strip()] = _unquoted(value.strip())
    for key in ("game", "moves"):
        if key not in values:
            raise RecordError(f"a transcript without {key!r}: {text[:80]!r}")
    try:
        return _from_values(values)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise RecordError(f"a transcript of {values['game']}: {error}") from error


_KEYS = (
    "game", "parameters", "player_0", "player_1", "start", "moves", "opening", "seeds", "seconds", "ending", "detail",
    "result", "margin", "final", "version", "headers",
)  # fmt: skip


def _from_values(values: Mapping[str, str]) -> GameRecord:
    given = json.loads(values.get("parameters", "{}"))
    game = board_envs.make_game(values["game"], **parameters_of(given))
    start = values.get("start", "")
    actions, state = game.play_moves(values["moves"], game.parse(start) if start else None)
    opening = values.get("opening", "0 plies, number 0").replace(",", "").split()
    seeds = values.get("seeds", "0 0").split()
    seconds = values.get("seconds", "0 0").split()
    record = GameRecord.of_game(
        game,
        actions,
        state,
        agents=(values.get("player_0", "?"), values.get("player_1", "?")),
        seeds=(int(seeds[0]), int(seeds[1])),
        opening=actions[: int(opening[0])],
        opening_number=int(opening[3]),
        start=start,
        detail=values.get("detail", ""),
        version=values.get("version", ""),
        headers=headers_of(json.loads(values.get("headers", "{}"))),
        seconds=(float(seconds[0]), float(seconds[1])),
    )
    stated: dict[str, Any] = {}  # stated in the text; `GameRecord.replay` compares it with the moves
    if "ending" in values:
        ending, _, offender = values["ending"].partition(" of player_")
        stated |= {"ending": Ending(ending), "offender": int(offender) if offender else -1}
    if "result" in values:
        stated["winner"] = {text: winner for winner, text in _RESULTS.items()}[values["result"]]
    if "margin" in values:
        stated["margin"] = int(values["margin"])
    if "final" in values:
        stated["final"] = values["final"]
    return dataclasses.replace(record, **stated)


def _quoted(text: str) -> str:
    """Return a text, quoted as JSON if it has several lines or looks quoted itself."""
    if text.isprintable() and text == text.strip() and not text.startswith('"'):
        return text
    return json.dumps(text)


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError as error:
        raise RecordError(f"{text[:80]!r} is no text in quotes ({error})") from error


def _read_transcripts(source: str) -> Iterator[GameRecord]:
    for number, block in enumerate(filter(str.strip, read_text(source).split("\n\n")), 1):
        yield _read_block(source, number, block)


def _read_block(source: str, number: int, block: str) -> GameRecord:
    try:
        return read_transcript(block.strip())
    except RecordError as error:
        raise RecordError(f"{source}, game {number}: {error}") from error


def _write_transcripts(target: str, records: list[GameRecord], ours: _Ours) -> None:
    text = "\n".join(map(write_transcript, records))
    write_whole(target, lambda path: path.write_text(text, encoding="utf-8"), ours=ours)


# -- Parquet ----------------------------------------------------------------------------------------------------------


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise MissingExtraError("Parquet files", "records") from error
    return pyarrow


def _read_parquet(source: str) -> Iterator[GameRecord]:
    pa, number = _pyarrow(), 0
    with _damage_named(source), pa.parquet.ParquetFile(source) as file:
        found = (file.schema_arrow.metadata or {}).get(b"board_envs")
        if found != str(FORMAT).encode():
            raise RecordError(f"{source}: not a Parquet table of game records of format {FORMAT}")
        for batch in file.iter_batches():
            for row in batch.to_pylist():
                number += 1
                try:
                    record = _from_row(row)
                except RecordError as error:
                    raise RecordError(f"{source}, game {number}: {error}") from error
                yield record


@contextlib.contextmanager
def _damage_named(source: str) -> Iterator[None]:
    """Turn what pyarrow raises about a damaged file into RecordError; a file that is not there is no damage."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise
        raise RecordError(f"{source}: damaged ({' '.join(str(error).split())})") from error
    except (_pyarrow().ArrowException, UnicodeDecodeError) as error:
        raise RecordError(f"{source}: damaged ({' '.join(str(error).split())})") from error


def _from_row(row: Mapping[str, Any]) -> GameRecord:
    try:
        parameters = parameters_of(json.loads(row["parameters"]))
        values = {key: row[key] for key in ("actions", "winner", "margin")}
        agents = (row["player_0"], row["player_1"])
    except RecordError:
        raise
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"a row that is no game record ({type(error).__name__}: {error})") from error
    return GameRecord.from_columns(row, parameters=parameters, agents=agents, **values)


def _is_parquet(path: Path) -> bool:
    """Whether a file is a Parquet table of game records."""
    pa = _pyarrow()
    try:
        metadata = pa.parquet.read_schema(path).metadata
    except pa.ArrowInvalid:
        return False
    return b"board_envs" in (metadata or {})


def _write_parquet(target: str, records: list[GameRecord], ours: _Ours) -> None:
    pa = _pyarrow()
    text, small, large, real = pa.string(), pa.int32(), pa.int64(), pa.float64()
    schema = pa.schema(
        [
            ("game", text), ("parameters", text), ("player_0", text), ("player_1", text), ("seed_0", large),
            ("seed_1", large), ("opening_plies", small), ("opening_number", small), ("actions", pa.list_(small)),
            ("ending", text), ("offender", small), ("winner", small), ("margin", small), ("final", text),
            ("start", text), ("detail", text), ("version", text), ("headers", text), ("seconds_0", real),
            ("seconds_1", real),
        ],
        metadata={"board_envs": str(FORMAT)},
    )  # fmt: skip
    rows = [
        record.to_columns()
        | {
            "player_0": record.agents[0],
            "player_1": record.agents[1],
            "actions": list(record.actions),
            "winner": record.winner,
            "margin": record.margin,
        }
        for record in records
    ]
    table = pa.Table.from_pylist(rows, schema=schema)
    write_whole(target, lambda path: pa.parquet.write_table(table, path), ours=ours)


_FORMS = {
    ".txt": _Form(_read_transcripts, _write_transcripts, begins_with(b"game: ")),
    ".jsonl": _Form(_read_lines, _write_lines, is_record_file),
    ".parquet": _Form(_read_parquet, _write_parquet, _is_parquet),
}
