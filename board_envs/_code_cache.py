"""Compiled code on disk, addressed by content: a file's name is a digest of all that the code was made from.

There is no index. An entry is written under a temporary name and renamed, so processes that share a folder at most
write the same entry twice. A damaged, truncated or foreign entry counts as missing and is rewritten.

numba can only store code as a pickle. The folder therefore belongs to the user (mode 0700 where
this module creates it), and nothing is unpickled before the checksum over the file and its own name has been compared.
That catches damage, not malice: whoever may write to the folder may run code as the user, as with Python's own caches.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

UNUSED_DAYS = 30
"""Entries unused for this many days are removed."""
FOLDER_VARIABLE = "BOARD_ENVS_CACHE_DIR"
"""The environment variable that names the folder."""

_MAGIC = b"board-envs compiled code 1\n"
_DAY = 86_400.0
_ENTRY = re.compile(r"[\w.-]+-[0-9a-f]{32}-[0-9a-f]{64}\.code")
_PARTIAL = re.compile(r"part-[\w.-]+\.code")
_LIBRARIES = frozenset({"numba", "numpy", "llvmlite", "builtins"}) | sys.stdlib_module_names
"""Modules identified by their version alone."""


# -- the key of compiled code ------------------------------------------------------------------------------------------


class Description:
    """A digest of values, and of functions by what they do: code, defaults, closures, and the globals that they name.

    It is the same in every process, and covers every function that can be reached, whoever wrote it, as it is loaded
    (files may have been edited since). A function with a compiled form counts by that form. The standard library,
    numpy, numba and llvmlite count by name: their versions are part of a kernel's key.

    Attributes:
        functions: the functions without a compiled form of their own, in the order in which they were reached.

    """

    def __init__(self) -> None:
        self.functions: list[Any] = []
        self._digest = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {}

    def hexdigest(self) -> str:
        """Return the digest of all that was added."""
        return self._digest.hexdigest()

    def add(self, value: Any) -> None:
        """Add a value and what can be reached from it."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self._write(type(value).__name__, repr(value))
        elif isinstance(value, (np.generic, np.ndarray)):
            self._write("array", str(value.dtype), repr(value.shape))
            self._digest.update(value.tobytes())
        elif id(value) in self._seen:
            self._write("again", str(self._seen[id(value)][0]))
        else:
            # The value is held, so that its id stays its own.
            self._seen[id(value)] = (len(self._seen), value)
            self._add_object(value)

    def _write(self, *texts: str) -> None:
        for text in texts:
            octets = text.encode("utf-8", "surrogatepass")
            self._digest.update(len(octets).to_bytes(8, "little"))
            self._digest.update(octets)

    def _add_object(self, value: Any) -> None:
        # What stands for a function: a kernel, a compiled function of numba's, one of its intrinsics, a cached one.
        if not isinstance(value, (types.FunctionType, types.ModuleType, type)):
            for attribute in ("function", "py_func", "_defn", "__wrapped__"):
                inner = getattr(value, attribute, None)
                if isinstance(inner, types.FunctionType):
                    self._write("function behind", type(value).__name__)
                    self.add(inner)
                    return
        if isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(value, types.CodeType):
            self._add_code(value)
        elif isinstance(value, types.MethodType):
            self._write("method")
            self.add(value.__func__)
            self.add(value.__self__)
        elif isinstance(value, functools.partial):
            self._write("partial")
            self.add((value.func, value.args, value.keywords))
        elif isinstance(value, types.ModuleType):
            self._write("module", value.__name__)
        elif isinstance(value, type):
            self._write("class", value.__module__, value.__qualname__)
            self.add(getattr(value, "_fields", ()))
        elif isinstance(value, (tuple, list)):
            self._write(type(value).__qualname__, str(len(value)))
            for item in value:
                self.add(item)
        elif isinstance(value, dict):
            self._write("dict", str(len(value)))
            for key, item in value.items():
                self.add(key)
                self.add(item)
        elif isinstance(value, (set, frozenset)):
            self._write("set", *sorted(map(repr, value)))
        elif getattr(type(value), "__repr__") is object.__repr__:  # noqa: B009  # mypy compares methods by type
            self._write("object", type(value).__module__, type(value).__qualname__)
            self.add(getattr(value, "__dict__", {}))
        else:
            self._write("value", repr(value))

    def _add_function(self, function: types.FunctionType) -> None:
        self._write("function", function.__module__ or "", function.__qualname__)
        if (function.__module__ or "").partition(".")[0] in _LIBRARIES:
            return
        form = getattr(function, "compiled_form", None)
        if form is not None:
            self._write("compiled form")
            self.add(form)
            return
        self.functions.append(function)
        self.add(function.__code__)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._write("closure", name)
            self.add(cell.cell_contents)
        names = sorted(set(_names(function.__code__)))
        for name in names:
            if name in function.__globals__:
                self._write("global", name)
                self._add_global(function.__globals__[name], names)

    def _add_global(self, value: Any, names: list[str]) -> None:
        self.add(value)
        if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] not in _LIBRARIES:
            # `module.name` is looked up when the function is compiled.
            for name in names:
                if name in vars(value):
                    self._write("attribute", name)
                    inner = vars(value)[name]
                    # A module within a package: one level a name, so that packages that name each other end.
                    self._add_global(inner, [other for other in names if other != name])

    def _add_code(self, code: types.CodeType) -> None:
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        self._write("code", code.co_name, repr(counts), code.co_code.hex())
        # From Python 3.11 on, where exceptions go is kept beside the code.
        self.add(getattr(code, "co_exceptiontable", b""))
        for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            self._write(repr(names))
        self._write(str(len(code.co_consts)))
        for constant in code.co_consts:
            self.add(constant)


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that a function and those defined inside it look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


@functools.cache
def versions() -> tuple[str, ...]:
    """Return the versions of all that compiles, without importing it."""
    python = f"{sys.implementation.cache_tag} {sys.version}"
    return (python, *(f"{name} {version(name)}" for name in ("numba", "llvmlite", "numpy")))


# -- the folder -------------------------------------------------------------------------------------------------------


def folder() -> Path:
    """Return the folder of compiled code, which need not exist yet.

    ``BOARD_ENVS_CACHE_DIR`` names it; else it is ``board_envs`` within ``NUMBA_CACHE_DIR``; else
    ``board_envs/compiled`` within the user's folder for caches (``XDG_CACHE_HOME`` or ``~/.cache``; on macOS
    ``~/Library/Caches``, on Windows ``%LOCALAPPDATA%``).
    """
    if own := os.environ.get(FOLDER_VARIABLE):
        return Path(own).expanduser()
    if shared := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(shared).expanduser() / "board_envs"
    base = os.environ.get("XDG_CACHE_HOME")
    if not base:
        if sys.platform == "darwin":
            base = "~/Library/Caches"
        elif sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
        else:
            base = "~/.cache"
    # expanduser leaves "~" alone where there is no home; such a folder is not created.
    return Path(os.path.expanduser(base)) / "board_envs" / "compiled"


def exists(name: str, stem: str) -> bool:
    """Whether there is code of that name and stem, for any argument types and processor."""
    start = f"{name}-{stem}-"
    return any(entry.startswith(start) and _ENTRY.fullmatch(entry) for entry in _listing())


def load(name: str, stem: str, digest: str) -> bytes | None:
    """Return the payload of an entry; None if it is missing or damaged."""
    path = folder() / f"{name}-{stem}-{digest}.code"
    try:
        data = path.read_bytes()
        if time.time() - path.stat().st_mtime > _DAY:
            # Used: it stays. In a folder that belongs to somebody else this is theirs to decide.
            with contextlib.suppress(OSError):
                os.utime(path)
    except OSError:
        return None
    head = len(_MAGIC) + 32
    payload = data[head:]
    return payload if data[:head] == _MAGIC + _checksum(digest, payload) else None


def save(name: str, stem: str, digest: str, payload: bytes) -> None:
    """Write an entry atomically; OSError if it cannot be written."""
    place = folder()
    if str(place).startswith("~"):
        raise OSError(2, "there is no home folder", str(place))
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix="part-", suffix=".code", dir=place)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + _checksum(digest, payload) + payload)
        os.replace(partial, place / f"{name}-{stem}-{digest}.code")
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise
    _prune_once(place)


def entries() -> list[tuple[Path, int]]:
    """List the entries and their sizes in bytes."""
    found = []
    for name in sorted(_listing()):
        if _ENTRY.fullmatch(name):
            path = folder() / name
            with contextlib.suppress(FileNotFoundError):  # somebody else removed it meanwhile
                found.append((path, path.stat().st_size))
    return found


def clear() -> tuple[int, int]:
    """Remove all entries; return how many there were and their bytes. Other files stay."""
    removed = entries()
    _remove(lambda _age: True)
    return len(removed), sum(size for _, size in removed)


@functools.cache
def _prune_once(_place: Path) -> None:
    prune()


def prune() -> None:
    """Remove entries that were not used for `UNUSED_DAYS` days."""
    _remove(lambda age: age > UNUSED_DAYS * _DAY)


def _remove(wanted: Callable[[float], bool]) -> None:
    now = time.time()
    for name in _listing():
        path = folder() / name
        with contextlib.suppress(FileNotFoundError):
            age = now - path.stat().st_mtime
            # A partial file may still be written to; one of yesterday was left behind by a process that was killed.
            if (_ENTRY.fullmatch(name) and wanted(age)) or (_PARTIAL.fullmatch(name) and age > _DAY):
                path.unlink()


def _listing() -> list[str]:
    try:
        return os.listdir(folder())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def _checksum(digest: str, payload: bytes) -> bytes:
    return hashlib.sha256(digest.encode() + payload).digest()
