"""When a search runs compiled: if it pays at once, if the code is cached, or once interpreting has cost more.

Interpreted and compiled search choose the same, so an agent may change from one to the other between any two moves.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator
from typing import Any

from board_envs._jit import Kernel, have_numba

LOAD_SECONDS = 0.3
"""Approximate time to import numba and load a kernel from disk, in seconds."""
COMPILE_SECONDS = 2.0
"""Approximate minimum time to compile a kernel, in seconds."""


class CompiledChoice:
    """Decides for one kernel whether the next search runs compiled, and sums the time spent interpreting.

    Attributes:
        seconds: time that searches of this process spent interpreted although the kernel could have run.

    """

    def __init__(self, kernel: Kernel[..., Any]) -> None:
        self.kernel, self.seconds = kernel, 0.0
        self._on_disk: bool | None = None

    def decide(self, *, heavy: bool, light: bool) -> bool:
        """Return whether to run compiled.

        Args:
            heavy: a single search is long enough for compiling to pay.
            light: a search is over before numba has loaded.

        """
        if self.kernel.is_loaded:
            return True
        if heavy:
            return have_numba()
        if self._on_disk is None:
            self._on_disk = self.kernel.is_on_disk()
        if self._on_disk:
            return not light or self.seconds >= LOAD_SECONDS
        return self.seconds >= COMPILE_SECONDS and have_numba()

    @contextlib.contextmanager
    def interpreted(self) -> Iterator[None]:
        """Add the time of an interpreted search."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - begun


@functools.cache
def choice_for(kernel: Kernel[..., Any]) -> CompiledChoice:
    """Return the choice for a kernel, shared by all agents of this process."""
    return CompiledChoice(kernel)
