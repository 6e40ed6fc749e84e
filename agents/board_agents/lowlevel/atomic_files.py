"""Safe file access: atomic writes, no overwriting of foreign files, bounded reads."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]  # asked for before it is used

T = TypeVar("T")
_TEMPORARY = re.compile(r"part-[0-9]+-[0-9a-f]{8}(\.\w+)?")
MOST_BYTES = 1 << 30
"""Largest file read into memory, in bytes."""


def write_whole(
    target: str | os.PathLike[str], write: Callable[[Path], T], *, ours: Callable[[Path], bool] | None = None
) -> T:
    """Write a file atomically: write a temporary file beside it, flush it to disk, rename it.

    For a symbolic link, its target is replaced; a replaced file keeps its permissions. Devices and
    pipes are written directly.

    Args:
        target: the file.
        write: function that writes to the path it is given, which has the target's suffix.
        ours: function that returns whether an existing file may be replaced; None allows every file. An empty file may
            always be replaced.

    Returns:
        The result of `write`.

    Raises:
        OSError: it cannot be written (FileExistsError: it may not be replaced); the error names the target.

    """
    path = Path(target)
    with _naming(path):
        before = check_target(path, ours)
        if before is not None and (not stat.S_ISREG(before.st_mode) or _leads_to_a_descriptor(path)):
            return write(path)
        place = Path(os.path.realpath(path))
        _remove_abandoned(place.parent)
        temporary, lock = _make_temporary(place)
        try:
            result = write(temporary)
            with temporary.open("r+b") as file:
                os.fsync(file.fileno())
            if before is not None:
                _keep_permissions(temporary, before)
            os.replace(temporary, place)
        finally:
            if lock is not None:
                os.close(lock)
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    return result


def _make_temporary(place: Path) -> tuple[Path, int | None]:
    """Make a temporary file beside a file, and lock it: one that can be locked was left by a killed writer.

    Returns its path, and the descriptor that holds the lock, None where there are no locks.
    """
    while True:
        temporary = place.with_name(f"part-{os.getpid()}-{secrets.token_hex(4)}{place.suffix}")
        if fcntl is None:
            return temporary, None
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), temporary.stat()):
                return temporary, handle
        except (BlockingIOError, FileNotFoundError):
            pass  # another process took it for left behind, before it was locked
        except OSError:  # a file system without locks
            os.close(handle)
            return temporary, None
        os.close(handle)


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files that killed writers left in a folder."""
    if fcntl is None or not folder.is_dir():
        return
    for name in filter(_TEMPORARY.fullmatch, os.listdir(folder)):
        with contextlib.suppress(OSError), (folder / name).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / name).unlink()


def check_target(path: Path, ours: Callable[[Path], bool] | None = None) -> os.stat_result | None:
    """Return the status of the file to be replaced, None if it does not exist; see `write_whole`.

    Call it before a long computation whose result is written later.

    Raises:
        OSError: the target cannot be written, or (FileExistsError) may not be replaced; the error names it.

    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not os.access(path, os.W_OK):  # renaming over a write-protected file would succeed
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if stat.S_ISREG(status.st_mode) and status.st_size and ours is not None and not ours(path):
        raise FileExistsError(errno.EEXIST, "exists and is not a file of this kind; it was not changed", str(path))
    return status


def begins_with(*marks: bytes) -> Callable[[Path], bool]:
    """Return a function that checks whether a file begins with one of the marks."""
    longest = max(map(len, marks))

    def check(path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(longest).startswith(marks)

    return check


def read_bytes(source: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file or a pipe.

    Raises:
        OSError: it cannot be read, is a device, or has more than `most` bytes; the error names it.

    """
    path = Path(source)
    with _naming(path), path.open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not file.isatty()):
            raise OSError(errno.EINVAL, "is a device, not a file", str(path))
        parts, left = [], most
        while part := file.read(min(left + 1, 1 << 24)):
            parts.append(part)
            left -= len(part)
            if left < 0:
                raise OSError(errno.EFBIG, f"is larger than {most} bytes", str(path))
    return b"".join(parts)


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Make errors name the user's file, not the temporary one or none."""
    try:
        yield
    except OSError as error:
        if error.filename == str(path):
            raise
        number = error.errno or errno.EIO
        raise OSError(number, os.strerror(number), str(path)) from error


def _leads_to_a_descriptor(path: Path) -> bool:
    """Whether a path is an open descriptor, such as /dev/stdout: renaming would not reach its reader."""
    while path.is_symlink():
        folder = os.path.realpath(path.parent)
        if folder == "/dev" or folder.startswith("/proc/"):
            return True
        path = Path(folder, os.readlink(path))
    return os.path.realpath(path.parent).startswith("/proc/")


def _keep_permissions(temporary: Path, before: os.stat_result) -> None:
    """Copy owner and permissions from the file that is replaced."""
    now = temporary.stat()
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(PermissionError):  # only root may change the owner
            os.chown(temporary, before.st_uid, before.st_gid)
    temporary.chmod(stat.S_IMODE(before.st_mode))
