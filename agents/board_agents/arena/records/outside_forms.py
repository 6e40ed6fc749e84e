"""Convert between records and common exchange forms (see `board_envs.forms`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from board_agents.arena.records.game_record import GameRecord, RecordError
from board_agents.lowlevel.atomic_files import check_target, write_whole
from board_envs.forms import Item, find_form, read_file, write_text
from board_envs.game import Game
from board_envs.types import Outcome, PositionError

VALUE = "value"
"""Header of a record for the exact value of the last position, in the mover's view, stated by its form."""
_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)


class Remark(NamedTuple):
    """A remark on a part of a file.

    Attributes:
        line: its first line in the file, from 1 (in a binary file: the game's number).
        kind: "unfinished", "result" (the moves lead to a different result than stated), "odd", or "left out".
        text: the remark.

    """

    line: int
    kind: str
    text: str


def import_games(
    source: str | Path, game: Game[Any], report: Callable[[Remark], None], form: str | None = None
) -> Iterator[tuple[str, GameRecord]]:
    """Yield (form, record) of each game of a file.

    Args:
        source: the file, in any form of the game.
        game: the game.
        report: called with each remark. Unreadable parts, and positions without moves, are left out;
            unfinished games, and games whose moves lead to a different result than stated, are kept.
        form: the form of the file; None detects it.

    Raises:
        RecordError: the file does not have the form.

    """
    try:
        for number, item in enumerate(read_file(game, source, form), 1):
            if item.error:
                report(Remark(item.line, "left out", item.error))
            elif not item.actions and item.start is None and not item.players:
                report(Remark(item.line, "left out", "a position, not a game"))
            else:
                yield item.form, record_of(game, item, number, report)
    except PositionError as error:
        raise RecordError(str(error)) from error


def record_of(game: Game[Any], item: Item, number: int, report: Callable[[Remark], None]) -> GameRecord:
    """Return an item as a record; contradictions with its moves go to `report` and into the record's `detail`."""
    state = item.state
    over = game.is_terminal(state)
    winner, margin = int(game.winner(state)), game.margin(state)
    remarks = [Remark(item.line, "odd", item.remark)] if item.remark else []
    if not over:
        remarks.append(Remark(item.line, "unfinished", f"unfinished after {len(item.actions)} moves"))
    elif item.winner not in (None, -1, winner):
        remarks.append(
            Remark(item.line, "result", f"{_result(item.winner)} stated, its moves lead to {_result(winner)}")
        )
    elif item.margin not in (None, margin):
        remarks.append(Remark(item.line, "result", f"margin {item.margin} stated, its moves lead to {margin}"))
    for remark in remarks:
        report(remark)
    headers = dict(item.headers)
    if item.value is not None:
        sign = 1 if item.view in (None, game.current_player(state)) else -1
        headers[VALUE] = f"{sign * item.value + 0.0:g}"
    return GameRecord.of_game(
        game,
        item.actions,
        state,
        agents=item.players or ("?", "?"),
        opening_number=number,
        start="" if item.start is None else game.format(item.start),
        detail="; ".join(remark.text for remark in remarks),
        headers=headers,
    )


def _result(winner: int | None) -> str:
    return "a draw" if winner == Outcome.DRAW else f"a win of player_{winner}"


def item_of(record: GameRecord) -> Item:
    """Return a record as an item to write; raise RecordError if it does not replay to its recorded end."""
    states = record.replay()
    headers = dict(record.headers)
    stated = headers.pop(VALUE) if _NUMBER.fullmatch(headers.get(VALUE, "")) else None
    return Item(
        state=states[-1],
        value=None if stated is None else float(stated),
        start=states[0] if record.start else None,
        actions=record.actions,
        players=None if record.agents == ("?", "?") else record.agents,
        winner=record.winner,
        margin=record.margin,
        headers=headers,
    )


def export_games(target: str | Path, records: Iterable[GameRecord], form: str, *, overwrite: bool = False) -> int:
    """Write records in a form, atomically; return their number.

    Args:
        target: the file. A file of this form is replaced; files written beside it (names) must not exist.
        records: games of one game and size; each is replayed.
        form: the form's name.
        overwrite: also replace a file of another kind.

    Raises:
        RecordError: the records are of several games or sizes, or the form cannot express one of them (it is named).
        SpecError: the game has no such form, or the form is read-only.
        OSError: the file cannot be written (FileExistsError: it is of another kind); it is named and unchanged.

    """
    kept = list(records)
    games = {record.make_game() for record in kept}
    if len(games) != 1:
        raise RecordError(f"{target}: a file of form {form} contains games of one game and size, not of {len(games)}")
    game = games.pop()
    chosen = find_form(game, form)
    ours = None if overwrite else _reads_as(game, form)
    check_target(Path(target), ours)
    items = [item_of(record) for record in kept]
    try:
        if chosen.write_file is not None:
            _write_files(Path(target), chosen.write_file(items), chosen.suffixes[0], ours)
        else:
            text = write_text(game, items, form)
            write_whole(target, lambda path: path.write_text(text, encoding="utf-8"), ours=ours)
    except PositionError as error:
        raise RecordError(f"{target}: {error}") from error
    return len(items)


def _reads_as(game: Game[Any], form: str) -> Callable[[Path], bool]:
    """Return a function that checks whether a whole file has a form."""

    def check(path: Path) -> bool:
        try:
            return not any(item.error for item in read_file(game, path, form))
        except PositionError:
            return False

    return check


def _write_files(target: Path, contents: Mapping[str, bytes], own: str, ours: Callable[[Path], bool] | None) -> None:
    """Write a file and its companions; if a different companion exists, raise RecordError and write nothing."""
    files = {target if ending == own else target.with_suffix(ending): data for ending, data in contents.items()}
    for path, data in files.items():
        if path != target and path.exists() and path.read_bytes() != data:
            raise RecordError(f"{path} exists with other contents than {target} needs; choose another name")
    for path, data in files.items():
        write_whole(path, partial(_write_bytes, data), ours=ours if path == target else None)


def _write_bytes(data: bytes, path: Path) -> None:
    path.write_bytes(data)
