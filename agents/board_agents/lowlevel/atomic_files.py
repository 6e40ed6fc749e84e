"""Writing files so that nothing is ever half there."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def write_whole(target: str | os.PathLike[str], write: Callable[[Path], T]) -> T:
    """Write a file whole or not at all: under another name first, then moved to its place.

    Args:
        target: the file.
        write: writes the path that it is given, which ends like the target.

    Returns:
        What `write` returned.

    Raises:
        OSError: it cannot be written; the error names the target.

    """
    path = Path(target)
    temporary = path.with_name(f"part-{os.getpid()}-{path.name}")
    try:
        result = write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        # A full disk reports no name, and the other name says nothing to the user.
        number = error.errno or errno.EIO
        raise OSError(number, os.strerror(number), str(target)) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return result
