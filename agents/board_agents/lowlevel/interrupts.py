"""Compiled searches that a time limit or Ctrl-C can stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any


def watched(work: Callable[[], Any], stop: Callable[[], Any], deadline: float | None) -> None:
    """Run `work` in a thread so that a time limit or Ctrl-C can stop it through `stop`."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # re-raised in the caller's thread below
            failed.append(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    try:
        while worker.is_alive():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                stop()
                worker.join()
                break
            worker.join(left)
    except BaseException:
        stop()
        worker.join()
        raise
    if failed:
        raise failed[0]
