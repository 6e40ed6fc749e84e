"""Commands killed at random moments: each goes on where it was, and ends with what an undisturbed run ends with."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from soak_common import pieces

from board_agents.arena.records.text_formats import read_records

KILLS, PIECE = 40, 10
LONGEST = 300
"""Seconds after which a command that was not disturbed counts as hanging."""
CLI = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C
from board_agents.cli import main
sys.exit(main(sys.argv[1:]))
"""
BOOK = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from board_agents.games.connect_four.book_building import build_book
from board_agents.games.connect_four.solver import ConnectFourSolver
from board_envs import make_game
build_book(ConnectFourSolver(make_game("connect-four", rows=4, columns=5)), 8, sys.argv[1], threads=2, save_every=0.02)
"""
ENDINGS = {
    signal.SIGKILL: (-signal.SIGKILL,),
    signal.SIGTERM: (-signal.SIGTERM, 143),
    signal.SIGINT: (-signal.SIGINT, 130, 1),  # 1: before the command has begun
}


@dataclass(frozen=True)
class Target:
    """A command that is killed.

    Attributes:
        program: what Python runs.
        arguments: with {} for a folder of its own.
        result: what it has made, from that folder.

    """

    program: str
    arguments: tuple[str, ...]
    result: Callable[[Path], Any]

    def start(self, folder: Path) -> subprocess.Popen[bytes]:
        """Start it in a session of its own."""
        arguments = [part.format(folder) for part in self.arguments]
        command = [sys.executable, "-c", self.program, *arguments]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)


def _games(name: str) -> Callable[[Path], Any]:
    def result(folder: Path) -> list[Any]:
        games = [dataclasses.replace(record, seconds=(0.0, 0.0)) for record in read_records(str(folder / name))]
        return sorted(games, key=lambda record: record.key)

    return result


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _tournament(name: str, workers: int) -> Target:
    agents, games = ("-a", "random,greedy"), ("-n", "300", "--seed", "3", "--workers", str(workers))
    return Target(
        CLI, ("tournament", "reversi", "-p", "size=4", *agents, *games, "--records", "{}/" + name), _games(name)
    )


TARGETS = {
    **{
        f"tournament, {name}, {workers} workers": _tournament(name, workers)
        for name in ("games.jsonl", "games.sqlite")
        for workers in (1, 2)
    },
    "Awalé tables": Target(
        CLI,
        ("tables", "build", "awale", "--pits", "4", "--max-total", "13", "--folder", "{}", "--threads", "2"),
        _files,
    ),
    "Connect Four book": Target(BOOK, ("{}/book.bin",), _files),
}


class Kill:
    """Kills one command a number of times, up to four times a build."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, seed: str, kills: int) -> list[str]:
        target, rng = TARGETS[self.name], Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            undisturbed(target, Path(folder))  # which compiles, and so takes longer
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            fault = undisturbed(target, Path(folder))
            if fault:
                return [f"not disturbed: {fault}"]
            wanted, seconds = target.result(Path(folder)), time.monotonic() - begin
        faults = []
        while kills > 0 and len(faults) < 3:
            told = []
            with tempfile.TemporaryDirectory() as folder:
                for _ in range(min(kills, rng.randint(1, 4))):
                    number = rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
                    delay = rng.uniform(0.2, 1.1) * seconds
                    told.append(f"{number.name} after {delay:.2f} s")
                    kills -= 1
                    fault = fault or killed(target, Path(folder), number, delay)
                fault = fault or undisturbed(target, Path(folder))
                if not fault and target.result(Path(folder)) != wanted:
                    fault = "ends with another result"
                left = [path.name for path in Path(folder).rglob("*") if path.name.startswith("part-")]
                if not fault and left:
                    fault = f"leaves {', '.join(left)}"
            if fault:
                faults.append(f"{fault} ({', '.join(told)}; an undisturbed run takes {seconds:.2f} s)")
                fault = ""
        return faults


def undisturbed(target: Target, folder: Path) -> str:
    """Run to the end; return what was wrong."""
    process = target.start(folder)
    try:
        _, errors = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return f"takes more than {LONGEST} s"
    finally:
        _end(process)
    return f"status {process.returncode}: {errors.decode()[-600:]}" if process.returncode else ""


def killed(target: Target, folder: Path, number: signal.Signals, delay: float) -> str:
    """Send a signal after a while; return what was wrong with the end."""
    process = target.start(folder)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(delay)
            return f"status {process.returncode} by itself" if process.returncode else ""
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        return f"still runs 60 s after {number.name}"
    finally:
        _end(process)
    if process.returncode not in (0, *ENDINGS[number]):
        return f"status {process.returncode} after {number.name}: {errors.decode()[-600:]}"
    if number is signal.SIGTERM and b"Traceback" in errors:
        return f"a traceback after SIGTERM: {errors.decode()[-600:]}"
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the session: the command if it hangs, and workers that it left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def jobs(scale: float) -> Iterator[tuple[str, Any, int, float]]:
    """Yield the kills of all commands."""
    for name in TARGETS:
        for count in pieces(KILLS * scale, PIECE):
            yield name, Kill(name), count, 8 + 4 * count
