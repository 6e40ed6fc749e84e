"""What compiled search shares: states as arrays, running a kernel at either speed, telling that it is compiling."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from board_envs._jit import Kernel
from board_envs.game import Game
from board_envs.types import Words

MEMORY_SPARE = 256
"""Room for the entries that a search appends to a state's memory of earlier positions."""
_PATIENCE = 1.0
"""Seconds before a compilation is announced."""


def root_arrays(game: Game[Any], state: Any) -> tuple[Words, Words]:
    """Return a state as arrays of its own: its words, uint64 (words,), and its memory, uint64 (capacity, 2)."""
    words = np.zeros(game.rules.words, np.uint64)
    if not game.rules.has_memory:
        game.rules.pack(state, words)
        return words, np.empty((0, 2), np.uint64)
    owned = game.own(state)
    game.rules.pack(owned, words)
    entries = next(value for value in owned if isinstance(value, np.ndarray))
    memory = np.empty((entries.shape[0] + MEMORY_SPARE, 2), np.uint64)
    memory[: entries.shape[0]] = entries
    return words, memory


def run(function: Kernel[Any, Any], compiled: bool, arguments: tuple[Any, ...], what: str) -> Any:
    """Call a kernel compiled or as plain Python; the first compiled call may take a while and says so."""
    if not compiled:
        return function.function(*arguments)
    if function.signatures:
        return function(*arguments)
    with announced(function, what):
        return function(*arguments)


@contextmanager
def announced(function: Kernel[Any, Any], what: str) -> Iterator[None]:
    """Say on a terminal that a kernel is being compiled, if it is (not found on disk) and takes more than a moment."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_PATIENCE):
            if function.dispatcher.stats.cache_misses:
                print(f"compiling {what}: once, then kept on disk ...", file=sys.stderr, flush=True)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    if sys.stderr.isatty():
        watcher.start()
    try:
        yield
    finally:
        done.set()
