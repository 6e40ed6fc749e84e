"""Threads that step the parts of a batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Threads:
    """Runs a function on several parts at once; the calling thread takes the first.

    Threads start when they are first needed. Copies, pickles and forked processes, to which threads do not come along,
    start threads of their own.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def run(self, work: Callable[[T], R], parts: Sequence[T]) -> list[R]:
        """Return ``[work(part) for part in parts]``; there are at most `count` parts."""
        if len(parts) == 1:
            return [work(parts[0])]
        if self._pool is None or self._process != os.getpid():
            self._pool, self._process = ThreadPoolExecutor(self._count - 1), os.getpid()
        others = [self._pool.submit(work, part) for part in parts[1:]]
        return [work(parts[0]), *(other.result() for other in others)]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def __reduce__(self) -> tuple[type[Threads], tuple[int]]:
        """Leave the threads out of copies and pickles."""
        return Threads, (self._count,)
