"""What the parts of the soak share: pieces of work, damage, and the guard around a reader."""

from __future__ import annotations

import contextlib
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

SECONDS = 20
"""Longest time that one damaged text or file may take, on a machine that does other things, too."""
MEMORY = 1 << 30
"""Most bytes that reading may take beside what the process has when it begins."""
SPECIAL = "0123456789abhxXoO*-+.,:;/()[]{}\"'\\ \n\tAWB%=|#\u0663\x00\u00e9\uff21\u2028\ud800"


def pieces(total: float, size: int) -> Iterator[int]:
    """Cut a number into pieces of a size, the last one smaller; at least one piece of 1."""
    left = max(1, round(total))
    while left > 0:
        yield min(size, left)
        left -= size


def damaged_text(rng: Random, text: str, other: str) -> str:
    """Return a text cut, doubled, shuffled, joined with another, and sprinkled with characters that mean something."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        at, to = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        some = "".join(rng.choices(SPECIAL, k=rng.randint(0, 4)))
        text = rng.choice(
            (
                text[:at] + text[to:],
                text[:to] + text[at:],
                text[:at] + some + text[at:],
                text[:at] + some + text[to:],
                text[:at] + some + text[at + 1 :],
                text[:at] + text[at:to].swapcase() + text[to:],
                text[:at] + text[at:to][::-1] + text[to:],
                text[:at] + other[rng.randint(0, len(other)) :],
                text[:at] + str(rng.choice((0, -1, 2**31, 2**63, 10**30, 1.5))) + text[to:],
                text[:at] + rng.choice(SPECIAL) * rng.choice((10, 300, 5000)) + text[at:],
            )
        )
    return text


def damaged_bytes(rng: Random, data: bytes) -> bytes:
    """Return bytes with some changed, cut out, doubled, zeroed, or replaced by large numbers."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        # Half of the damage is in the head, where a format keeps its facts.
        reach = len(data) if rng.random() < 0.5 else min(len(data), 200)
        at = rng.randint(0, reach)
        to = min(len(data), at + rng.choice((1, 1, 2, 4, 8, 100, len(data))))
        data = rng.choice(
            (
                data[:at] + rng.randbytes(to - at if to - at < 200 else 1) + data[to:],
                data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :] if at < len(data) else data,
                data[:at],
                data[:at] + data[to:],
                data[:to] + data[at:],
                data[:at] + bytes(to - at) + data[to:],
                data[:at]
                + rng.choice((b"\xff" * 4, b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\xff" * 8))
                + data[at + 4 :],
            )
        )
    return data


class TooLongError(BaseException):
    """A reader took longer than SECONDS; no reader's `except` catches it."""


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Limit the time of what is inside."""

    def stop(_number: int, _frame: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def little_memory() -> Iterator[None]:
    """Limit the process's memory to MEMORY more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def fault_of(read: Callable[[], Any], allowed: tuple[type[BaseException], ...]) -> str:
    """Return what is wrong with how a reader ends; empty if it reads, or raises an error of the project with a text."""
    try:
        with bounded(), warnings.catch_warnings():
            warnings.simplefilter("error")
            read()
    except TooLongError:
        return f"took more than {SECONDS} s"
    except allowed as error:
        if not str(error) or len(str(error)) > 5000:
            return f"{type(error).__name__} with a message of {len(str(error))} characters: {str(error)[:100]!r}"
    except BaseException as error:  # anything else is what the soak looks for
        return f"{type(error).__name__}: {str(error)[:300]}; {_where(error)}"
    return ""


def _where(error: BaseException) -> str:
    places, step = [], error.__traceback__
    while step is not None:
        places.append(f"{Path(step.tb_frame.f_code.co_filename).name}:{step.tb_lineno}")
        step = step.tb_next
    return " > ".join(places[-5:])
