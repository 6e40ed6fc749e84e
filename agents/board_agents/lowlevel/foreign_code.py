"""Python code that a user names: "package.module:Name", or a file and a name in it, "path/file.py:name".

To load it is to run it, with all the rights of this process: only name code that you trust.
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
    """Return what "package.module:Name" or "path/file.py:name" names; SpecError says in one line what is wrong."""
    place, _, name = path.rpartition(":")
    if not place or not name:
        raise SpecError(f"{path!r} does not read as package.module:name or file.py:name")
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
        raise SpecError(f"{path!r}: {place} has no {name!r}; it has: {', '.join(public) or 'no function or class'}")
    return values[name]


def run_file(path: str, *, again: bool = False) -> Mapping[str, Any]:
    """Run a Python file as a module, once as long as it does not change, or `again`, and return its names.

    Modules in the file's folder can be imported: those that the file imports while it is run are its own, even where
    another folder has one of the same name; what its functions import later is looked for in the folder, too, after
    everything else.

    Raises:
        SpecError: there is no such file, or running it fails; one line with the place.

    """
    try:
        file = Path(path).resolve()
        facts = file.stat()
    except (OSError, ValueError) as error:
        raise SpecError(f"{path!r}: there is no such file") from error
    if not file.is_file():
        raise SpecError(f"{path!r} is no file")
    run = _run.__wrapped__ if again else _run
    return run(str(file), facts.st_mtime_ns, facts.st_size)


@functools.lru_cache(maxsize=64)
def _run(path: str, _changed: int, _size: int) -> Mapping[str, Any]:
    folder = str(Path(path).parent)
    # No name of another module, but the same in every process.
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
    """Return an error as one line, with the line of the file `path` in which it arose where that is known."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f"line {lines[-1]}: " if lines else ""
    return " ".join(f"{where}{type(error).__name__}: {error}".split())
