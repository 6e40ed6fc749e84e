"""The command ``board-envs``: one module for each command, and the entry point."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from board_agents.lowlevel.visible_text import visible
from board_envs.types import IllegalActionError, MissingExtraError, PositionError, SpecError

USAGE_ERROR, INTERRUPTED, PIPE_CLOSED, TERMINATED = 2, 130, 141, 143
"""Exit codes: usage error, Ctrl-C, closed pipe on standard output, and SIGTERM."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; usage errors print one line on stderr and exit with status 2."""
    try:
        import typer

        from board_agents.agent import InputEndedError
        from board_agents.arena.records.game_record import RecordError
        from board_agents.cli.app import make_app
        from board_agents.cli.console import UserError
        from board_agents.support import TablesError
    except ModuleNotFoundError as error:
        if error.name in ("typer", "rich", "click"):
            return _fail(MissingExtraError("the command line", "cli"))
        raise
    usage_error: Any = typer.BadParameter.__base__  # click's; its place in typer differs between versions
    try:
        with _ended_by_sigterm() as received:
            code = make_app()(
                list(sys.argv[1:] if arguments is None else arguments), "board-envs", standalone_mode=False
            )
        sys.stdout.flush()  # report a full disk here, not while the interpreter exits
    except usage_error as error:
        message = str(error.format_message())
        if not message.startswith("Usage:"):
            return _fail(message)
        print(message, file=sys.stderr)  # a command without arguments shows its help
        return USAGE_ERROR
    except (
        UserError,
        InputEndedError,
        SpecError,
        PositionError,
        IllegalActionError,
        RecordError,
        TablesError,
        MissingExtraError,
    ) as wrong:
        return _fail(wrong)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:
        if error.filename is None:
            return _output_failed(error)
        return _fail(f"{error.filename}: {error.strerror}")
    if code == INTERRUPTED:
        print("board-envs: stopped", file=sys.stderr)
        return TERMINATED if received else INTERRUPTED
    return int(code or 0)


def _output_failed(error: OSError) -> int:
    """Report a failed write to standard output; a closed pipe is not an error and prints nothing."""
    with contextlib.suppress(OSError, ValueError):  # no descriptor behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # flushing the rest at exit would fail again
    return PIPE_CLOSED if isinstance(error, BrokenPipeError) else _fail(f"output: {error.strerror or error}")


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[list[int]]:
    """Handle SIGTERM like Ctrl-C, so that workers and programs end too; yield the list of received signals."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)


def _fail(message: object) -> int:
    print("board-envs: " + visible(" ".join(str(message).split())), file=sys.stderr)
    return USAGE_ERROR
