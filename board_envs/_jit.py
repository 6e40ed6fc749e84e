"""The only place that imports numba, and only when something is compiled.

Rules and search are written once. A function marked :func:`jitable` runs as plain Python, and compiled code may call
it; a function marked :func:`kernel` is compiled when it is first called. Nothing here imports numba before that.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import itertools
import pathlib
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar, cast

from board_envs.types import MissingExtraError

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

_lock = threading.RLock()
_jitables: list[Callable[..., Any]] = []
_overloads: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
_intrinsics: list[Callable[[], None]] = []
_PATIENCE = 1.0
"""Seconds before a compilation is announced."""


def jitable(function: F) -> F:
    """Mark a function that runs interpreted and that compiled code may call too."""
    _jitables.append(function)
    return function


def compiled_as(implementation: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function whose interpreted body is replaced by `implementation` (same arguments) in compiled code."""

    def mark(function: F) -> F:
        _overloads.append((function, implementation))
        return function

    return mark


def compiled_by(register: Callable[[], None]) -> Callable[[F], F]:
    """Mark a function whose compiled form `register` installs (LLVM instructions); called once numba is there."""

    def mark(function: F) -> F:
        _intrinsics.append(register)
        return function

    return mark


def recursive(function: F) -> F:
    """Return the compiled form of a function that calls itself, which a jitable cannot; imports numba.

    For use inside a factory of kernels, ``search = recursive(search)``, so that it happens on first use and the
    function's own name means the compiled form. Only compiled code may call it.
    """
    require_numba(f"compiled {function.__qualname__}")
    import numba

    _flush()
    return cast(F, numba.njit(nogil=True, error_model="numpy")(function))


def have_numba() -> bool:
    """Whether the extra `fast` is installed (numba is looked for, not imported)."""
    return importlib.util.find_spec("numba") is not None


def require_numba(what: str) -> None:
    """Raise MissingExtraError, naming `what` needs it, unless numba is installed."""
    if not have_numba():
        raise MissingExtraError(what, "fast")


def _flush() -> None:
    """Tell numba of every function marked since the last call."""
    from numba.extending import overload, register_jitable

    _number_apart()
    while _intrinsics:
        _intrinsics.pop(0)()
    while _overloads:
        function, implementation = _overloads.pop(0)
        # The overload hands back its implementation whatever the argument types are.
        overload(function, strict=False)(_always(implementation))
    while _jitables:
        register_jitable(_jitables.pop(0))


def _always(implementation: Callable[..., Any]) -> Callable[..., Any]:
    # numba compares the argument names of the two, so the chooser borrows the implementation's signature.
    @functools.wraps(implementation)
    def choose(*_args: Any, **_kwargs: Any) -> Callable[..., Any]:
        return implementation

    return choose


@functools.cache
def fingerprint() -> str:
    """A digest of every source file of this project: a compiled kernel is reused only under the same one."""
    digest = hashlib.sha256()
    for name in ("board_envs", "board_agents"):
        spec = importlib.util.find_spec(name)
        for root in sorted(spec.submodule_search_locations or []) if spec else []:
            for path in sorted(pathlib.Path(root).rglob("*.py")):
                digest.update(str(path.relative_to(root)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _describe(value: Any) -> Any:
    """What a closure holds, as data that is the same in every process: functions by name and by what they hold."""
    function = getattr(value, "function", None) or getattr(value, "py_func", None) or value
    if callable(function) and hasattr(function, "__code__"):
        return (function.__module__, function.__qualname__, tuple(_describe_cells(function)))
    if isinstance(value, tuple):
        return tuple(_describe(item) for item in value)
    if hasattr(value, "tobytes"):
        return (str(value.dtype), value.shape, value.tobytes())
    return repr(value)


def _describe_cells(function: Any) -> Iterator[Any]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        # A function that calls itself holds itself: its name says all there is to say.
        value = cell.cell_contents
        yield name if getattr(value, "py_func", value) is function else _describe(value)


@functools.cache
def _number_apart() -> None:
    """Let this process number compiled functions from a place of its own.

    Numba tells functions of one name (two sizes of a game) apart by a number that every process counts from 1. Kernels
    cached by two processes then hold different functions under the same symbol; loaded into a third one, the second
    kernel would call the first one's functions, and answer by the rules of another size.
    """
    from numba.core.bytecode import FunctionIdentity

    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(60))


class _Notice:
    """Says on a terminal, once a process, that kernels are being compiled, if one takes more than a moment."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._said = False

    def begin(self) -> None:
        """Start to wait; a kernel that is there in time is not worth a word."""
        self.end()
        if not self._said and sys.stderr.isatty():
            self._timer = threading.Timer(_PATIENCE, self._say)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """Stop waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _say(self) -> None:
        self._said = True
        print("compiling: once, then kept on disk ...", file=sys.stderr, flush=True)


_notice = _Notice()


@functools.cache
def _cache_class() -> Any:
    from numba.core.caching import FunctionCache, IndexDataCacheFile

    class SourceCache(FunctionCache):  # type: ignore[misc]  # numba is untyped
        """numba's file cache, keyed by the sources of all that a kernel may call, not by one file's date."""

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, "board_envs")

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = super().load_overload(sig, target_context)
            if found is None:
                _notice.begin()
            return found

        def save_overload(self, sig: Any, data: Any) -> None:
            _notice.end()
            super().save_overload(sig, data)

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return (sig, codegen.magic_tuple(), fingerprint(), repr(_describe(self._py_func)))

    return SourceCache


class Kernel(Generic[P, R]):
    """A function that is compiled on its first call and kept on disk for later processes.

    Attributes:
        function: the plain Python function.
        dispatcher: numba's dispatcher; asking for it imports numba.

    """

    def __init__(self, function: Callable[P, R], **options: Any) -> None:
        self.function = function
        self._options = {"nogil": True, "error_model": "numpy", **options}
        self._dispatcher: Any = None
        functools.update_wrapper(self, function)

    @property
    def dispatcher(self) -> Any:
        """Numba's dispatcher, made on first use."""
        if self._dispatcher is None:
            with _lock:
                if self._dispatcher is None:
                    require_numba(f"compiled {self.function.__qualname__}")
                    import numba

                    _flush()
                    dispatcher = numba.njit(**self._options)(self.function)
                    dispatcher._cache = _cache_class()(self.function)
                    self._dispatcher = dispatcher
        return self._dispatcher

    @property
    def signatures(self) -> list[Any]:
        """The argument types that were compiled or loaded so far."""
        return [] if self._dispatcher is None else list(self._dispatcher.signatures)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compile (once) and run."""
        return cast(R, self.dispatcher(*args, **kwargs))


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a function to be compiled on first use. It takes and returns numbers and arrays, no tuples of words."""
    return Kernel(function)
