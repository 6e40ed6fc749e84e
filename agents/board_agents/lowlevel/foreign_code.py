"""Load Python code named by a user: "package.module:Name", or a file and a name in it, "path/file.py:name".

Loading runs the code, with all rights of this process: only name code that you trust.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from board_envs.types import MissingExtraError, SpecError


def load_object(path: str) -> Any:
    """Return the object "package.module:Name" or "path/file.py:name"; raise SpecError with a one-line message."""
    place, _, name = path.rpartition(":")
    if not place or not name:
        raise SpecError(f"{path!r} is not of the form package.module:name or file.py:name")
    if place.endswith(".py"):
        values = run_file(place)
    else:
        try:
            values = vars(importlib.import_module(place))
        except MissingExtraError:
            raise
        except (Exception, SystemExit) as error:
            raise SpecError(f"{path!r}: {describe(error)}") from error
    if name not in values:
        public = [key for key, value in values.items() if callable(value) and not key.startswith("_")]
        raise SpecError(f"{path!r}: {place} has no {name!r}; names: {', '.join(public) or 'no function or class'}")
    return values[name]


def run_file(path: str, *, again: bool = False) -> Mapping[str, Any]:
    """Run a Python file as a module and return its names; rerun it only if it has changed, or with `again`.

    The file can import modules from its folder: while it runs, these take precedence over
    modules of the same name elsewhere; imports inside its functions search the folder
    last.

    Raises:
        SpecError: the file does not exist, or running it fails; the message has one line with the location.

    """
    try:
        file = Path(path).resolve()
        facts = file.stat()
    except (OSError, ValueError) as error:
        raise SpecError(f"{path!r}: no such file") from error
    if not file.is_file():
        raise SpecError(f"{path!r} is not a file")
    run = _run.__wrapped__ if again else _run
    return run(str(file), facts.st_mtime_ns, facts.st_size)


@functools.lru_cache(maxsize=64)
def _run(path: str, _changed: int, _size: int) -> Mapping[str, Any]:
    folder = str(Path(path).parent)
    # A name that no other module has, and the same in every process.
    name = f"{Path(path).stem}_{hashlib.blake2b(path.encode('utf-8', 'surrogateescape'), digest_size=6).hexdigest()}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    sys.modules[name] = module
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except MissingExtraError:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise SpecError(f"{path}: {describe(error, path)}") from error
    finally:
        sys.path.remove(folder)
        for key in set(sys.modules) - before - {name}:
            if _is_inside(sys.modules[key], folder):
                del sys.modules[key]
    if folder not in sys.path:
        sys.path.append(folder)
    return vars(module)


def _is_inside(module: Any, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(folder) in Path(file).parents


def describe(error: BaseException, path: str = "") -> str:
    """Return an error as one line, with the line number in the file `path` if known."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f"line {lines[-1]}: " if lines else ""
    return " ".join(f"{where}{type(error).__name__}: {error}".split())
