"""Shared by the commands: output, progress, common options."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.status import Status

import board_envs
from board_agents.arena.records import minari_datasets as minari
from board_agents.lowlevel.visible_text import visible
from board_envs.game import Game
from board_envs.registry import check_name, game_parameters
from board_envs.types import TextError

T = TypeVar("T")
_ACTING = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
PIPED_WIDTH = 160
"""Width in columns when the output is not a terminal."""


class UserError(TextError):
    """Invalid input from the user; only the message is printed."""


GameName = Annotated[str, typer.Argument(metavar="GAME", help="A game's name; `board-envs games` lists them.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="KEY=VALUE", help="A parameter of the game, e.g. size=6; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


class _Console(Console):
    """A console that escapes control characters in texts from outside."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render objects, without control characters other than rich's own."""
        for segment in super().render(renderable, options):
            yield segment if segment.is_control else Segment(visible(segment.text), segment.style)


def out() -> Console:
    """Return the console for results (stdout)."""
    return _Console(file=sys.stdout, width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


def err() -> Console:
    """Return the console for progress and remarks (stderr)."""
    return _Console(file=sys.stderr, highlight=False)


@contextlib.contextmanager
def agents_output() -> Iterator[None]:
    """Redirect what agents print, here and in child processes, to stderr: stdout is for results."""
    sys.stdout.flush()
    try:
        saved = os.dup(1)
    except OSError:  # no stdout at all
        saved = -1
    try:
        if saved >= 0:
            os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if saved >= 0:
            os.dup2(saved, 1)
            os.close(saved)


def print_json(data: Any) -> None:
    """Print data as one line of JSON; NaN and infinities become null."""
    text = json.dumps(plain(data), ensure_ascii=False)
    # Control characters and lone surrogates are written as JSON escapes.
    print(_ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def plain(data: Any) -> Any:
    """Return data with NaN and infinities replaced by None, at any depth."""
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


@contextlib.contextmanager
def progress(what: str, total: int) -> Iterator[Progress]:
    """Show progress with the estimated time left on stderr, if that is a terminal."""
    console = err()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[remark]}"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    with bar:
        bar.add_task(escape(visible(what)), total=total, remark="")
        yield bar


def tracked(what: str, items: Sequence[T]) -> Iterator[T]:
    """Yield the items and show progress."""
    with progress(what, len(items)) as bar:
        for item in items:
            yield item
            bar.update(bar.task_ids[0], advance=1)


@contextlib.contextmanager
def busy(what: str) -> Iterator[Status | None]:
    """Show a spinner on stderr, if that is a terminal, for work of unknown length."""
    console = err()
    if not console.is_terminal:
        yield None
        return
    with console.status(what) as status:
        yield status


def read_game(name: str, parameters: Sequence[str] | None = None) -> Game[Any]:
    """Return the game that a command names; raise UserError for an invalid name or parameter."""
    try:
        key = check_name(name)
        return board_envs.make_game(key, **read_parameters(key, parameters or ()))
    except (ValueError, TypeError) as error:
        raise UserError(str(error)) from error


def read_parameters(name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Read "key=value" texts; a value has the type of the parameter's default; sequences are comma separated."""
    known = game_parameters(name)
    values: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise UserError(f"--param {text!r} is not key=value; parameters of {name}: {', '.join(known)}")
        if key not in known:
            raise UserError(f"{name} has no parameter {key!r}; parameters: {', '.join(known)}")
        if key in values:
            raise UserError(f"--param {key} is given twice")
        values[key] = _read_value(key, value, known[key])
    return values


def _read_value(key: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise UserError(f"--param {key} must be true or false, not {text!r}")
        return text.lower() == "true"
    try:
        if isinstance(default, int):
            return int(text)
        if isinstance(default, tuple):
            return tuple(int(part) for part in text.split(","))
    except ValueError:
        what = "an integer" if isinstance(default, int) else "integers separated by commas"
        raise UserError(f"--param {key} must be {what}, not {text!r}") from None
    return text


def file_of(source: str) -> Path | None:
    """Return the file of a source of games; None for a database on a server or a Minari dataset."""
    path = source.removeprefix("sqlite:///").partition("?")[0]
    return None if "://" in path or path.startswith(minari.PREFIX) else Path(path)


def existing(source: str) -> str:
    """Check that a source exists; raise UserError if its file does not (opening a missing database would create it)."""
    file = file_of(source)
    if file is not None and not file.exists():
        raise UserError(f"{source}: no such file")
    return source


def game_title(game: Game[Any]) -> str:
    """Return a game's name with its parameters, for display."""
    parameters = ", ".join(f"{key}={show_value(value)}" for key, value in game.parameters.items())
    return f"{game.name} ({parameters})" if parameters else game.name


def show_value(value: Any) -> str:
    """Format a parameter's value as `read_parameters` reads it."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
