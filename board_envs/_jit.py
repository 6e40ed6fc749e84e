"""The only place that imports numba, and only when something is compiled.

Rules and search are written once. A function marked :func:`jitable` runs as plain Python, and compiled code may call
it; a function marked :func:`kernel` is compiled when it is first called. Nothing here imports numba before that.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import pickle
import re
import secrets
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast

from board_envs import _code_cache
from board_envs.types import MissingExtraError

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

_lock = threading.RLock()
_pending: list[Callable[[], None]] = []
"""Registrations to make once numba is imported."""
_compiled: list[Any] = []
"""Compiled forms of jitables, to which numba's types hold weak references only."""
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of functions that only compiled code calls: an entry from Python would only take time to compile."""
_PATIENCE = 1.0
"""Seconds before a compilation is announced."""


def jitable(function: F) -> F:
    """Mark a function that runs interpreted and that compiled code may call too."""
    return _callable_compiled(function)


def inlined(function: F) -> F:
    """Mark a function as `jitable`, and let compiled code hold a copy of it wherever it is called.

    For the parts of a long kernel: to hand on a workspace of many arrays costs more than such a part.
    """
    return _callable_compiled(function, forceinline=True)


def _callable_compiled(function: F, **options: bool) -> F:
    def register() -> None:
        import numba
        from numba.core.typing.templates import infer_global

        # One compilation for each signature: numba's register_jitable makes one for each kind of caller, too.
        compiled = numba.njit(error_model="numpy", **_INNER, **options)(function)
        _compiled.append(compiled)
        infer_global(function, numba.types.Dispatcher(compiled))

    _pending.append(register)
    return function


def compiled_as(implementation: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function whose interpreted body is replaced by `implementation` (same arguments) in compiled code."""

    def mark(function: F) -> F:
        return _with_form(function, ("as", implementation), lambda: _always(implementation))

    return mark


def compiled_as_chosen(choose: Callable[[], Callable[..., Any]]) -> Callable[[F], F]:
    """Mark a function that compiled code replaces by the result of `choose`, which may inspect numba's target.

    `choose` is called once, before the first compilation. It must depend on the processor alone, which is part of
    the key of compiled code.
    """

    def mark(function: F) -> F:
        return _with_form(function, ("chosen", choose), lambda: _calls(choose()))

    return mark


def instruction(signature: str | Callable[..., Any], emit: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function whose compiled form is LLVM code instead of its body.

    Args:
        signature: numba's text for it, "int64(uint64, int64)", to which arguments are converted; or a function of the
            arguments' types that returns a signature of numba's, and raises TypeError for types that will not do.
        emit: writes the code, ``emit(context, builder, signature, args)`` -> the result's LLVM value; None for void.

    """

    def mark(function: F) -> F:
        def form() -> Callable[..., Any]:
            from numba.core.sigutils import normalize_signature
            from numba.extending import intrinsic

            if isinstance(signature, str):
                arguments, result = normalize_signature(signature)
                fixed = result(*arguments)

                def resolve(*_types: Any) -> Any:
                    return fixed

            else:
                resolve = signature

            def codegen(context: Any, builder: Any, types: Any, args: Any) -> Any:
                result = emit(context, builder, types, args)
                return context.get_dummy_value() if result is None else result

            def define(_context: Any, *types: Any) -> Any:
                return resolve(*types), codegen

            # numba counts the arguments by the signature.
            context = inspect.Parameter("_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
            define.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # a function takes attributes
                [context, *inspect.signature(function).parameters.values()]
            )
            define.__name__ = function.__name__
            return _calls(intrinsic(define))

        return _with_form(function, ("instruction", signature, emit), form)

    return mark


def _with_form(function: F, form: tuple[Any, ...], choose: Callable[[], Callable[..., Any]]) -> F:
    """Keep a function's compiled form for the key of compiled code, and register it when numba is there."""

    def register() -> None:
        from numba.extending import overload

        overload(function, strict=False, jit_options=_INNER)(choose())

    function.compiled_form = form  # type: ignore[attr-defined]  # a function takes attributes
    _pending.append(register)
    return function


def _always(implementation: Callable[..., Any]) -> Callable[..., Any]:
    # numba compares the argument names of the two, so the chooser borrows the implementation's signature.
    @functools.wraps(implementation)
    def choose(*_args: Any, **_kwargs: Any) -> Callable[..., Any]:
        return implementation

    return choose


def _calls(target: Callable[..., Any]) -> Callable[..., Any]:
    """Return an overload that calls `target`, which only compiled code may understand."""
    return lambda *args: lambda *args: target(*args)  # noqa: PLW0108  # numba compiles the inner function


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
    """Raise MissingExtraError, which names `what`, unless numba is installed."""
    if not have_numba():
        raise MissingExtraError(what, "fast")


def _flush() -> None:
    """Register with numba every function marked since the last call."""
    _number_apart()
    while _pending:
        _pending.pop(0)()


@functools.cache
def _number_apart() -> None:
    """Let numba number compiled functions at random.

    Numba distinguishes functions of one name (two sizes of a game) by a number that every process counts from 1, and
    that a forked process goes on counting from. That number is part of the symbols inside compiled code: kernels of two
    processes would hold different functions under one symbol; loaded into a third one, the second kernel would call the
    first one's functions, and answer by the rules of another size. Files addressed by content do not change that.
    """
    from numba.core.bytecode import FunctionIdentity

    FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(62), -1)


class _Notice:
    """Says on a terminal, once a process, that kernels are being compiled, if one takes more than a moment."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._said = False
        self._lost = False

    def begin(self) -> None:
        """Start the timer; a kernel that is ready in time is not announced."""
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

    def not_kept(self, error: OSError) -> None:
        """Say, once a process, that compiled code cannot be written."""
        if not self._lost and sys.stderr.isatty():
            place = _code_cache.folder()
            print(f"compiled code is not kept: {place}: {error.strerror or error}", file=sys.stderr, flush=True)
        self._lost = True


_notice = _Notice()


class _DiskCache:
    """What numba's dispatcher asks for compiled code; the methods are those that it calls."""

    cache_path = property(lambda self: str(_code_cache.folder()))

    def __init__(self, kernel: Kernel[..., Any]) -> None:
        self._kernel = kernel

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for argument types, None if it is not on disk."""
        from numba.core.compiler import CompileResult

        target_context.refresh()
        payload = _code_cache.load(*self._kernel.key(sig, target_context.codegen()))
        if payload is not None:
            try:
                return CompileResult._rebuild(target_context, *pickle.loads(payload))
            except Exception as error:  # whatever numba raises for code that it cannot link again
                name = self._kernel.function.__qualname__
                warnings.warn(f"compiled code of {name} on disk is not usable: {error!r}", RuntimeWarning, stacklevel=2)
        _notice.begin()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, unless it holds addresses of this process."""
        from numba.core.serialize import dumps

        _notice.end()
        if data.lifted or data.library.has_dynamic_globals:
            name = self._kernel.function.__qualname__
            warnings.warn(f"compiled code of {name} holds addresses and is not kept", RuntimeWarning, stacklevel=2)
            return
        try:
            _code_cache.save(*self._kernel.key(sig, data.codegen), dumps(data._reduce()))
        except OSError as error:
            _notice.not_kept(error)

    def enable(self) -> None:
        """Do nothing: the cache is always on."""

    def disable(self) -> None:
        """Do nothing: the cache is always on."""

    def flush(self) -> None:
        """Do nothing: entries never expire."""


_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")
"""Settings of numba's that change the code it makes."""


def _overloads_of(functions: list[Any]) -> list[Any]:
    """List what others registered with numba itself, as compiled forms of these functions or of those reached so."""
    from numba.core.typing.templates import builtin_registry

    registered: dict[int, list[Any]] = {}
    for value, kind in builtin_registry.globals:
        for template in getattr(kind, "templates", ()):
            form = getattr(template, "_overload_func", None)
            # Jitable functions are registered so, too, each as its own form: they are reached anyway.
            if form is not None and form.__module__ != "numba.extending" and not hasattr(value, "compiled_form"):
                registered.setdefault(id(value), []).append(form)
    found: list[Any] = []
    rest = list(functions)
    while rest:
        for form in registered.pop(id(rest.pop()), ()):
            found.append(form)
            description = _code_cache.Description()
            description.add(form)
            rest.extend(description.functions)
    return found


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
        self._described: tuple[str, list[Any]] | None = None
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
                    dispatcher._cache = _DiskCache(self)
                    self._dispatcher = dispatcher
        return self._dispatcher

    @property
    def signatures(self) -> list[Any]:
        """The argument types that were compiled or loaded so far."""
        return [] if self._dispatcher is None else list(self._dispatcher.signatures)

    @property
    def is_loaded(self) -> bool:
        """Whether its code is in this process, for some argument types."""
        return bool(self.signatures)

    def is_on_disk(self) -> bool:
        """Whether its code is on disk, for some argument types and processor; imports nothing and loads nothing."""
        return have_numba() and _code_cache.exists(self._file_name, self._describe()[0])

    def key(self, sig: Any, codegen: Any) -> tuple[str, str, str]:
        """Return name, stem and digest of its file: the digest covers all that the code depends on."""
        from numba import config

        stem, functions = self._describe()
        more = _code_cache.Description()
        for function in _overloads_of(functions):
            more.add(function)
        settings = [getattr(config, name) for name in _SETTINGS]
        whole = repr((stem, more.hexdigest(), repr(sig), codegen.magic_tuple(), settings))
        return self._file_name, stem, hashlib.sha256(whole.encode()).hexdigest()

    @property
    def _file_name(self) -> str:
        return re.sub(r"[^\w.-]", "", self.function.__qualname__.replace("<locals>.", ""))[-80:]

    def _describe(self) -> tuple[str, list[Any]]:
        """Return a digest of sources, versions and options, and the functions reached without a compiled form."""
        if self._described is None:
            description = _code_cache.Description()
            description.add((_code_cache.versions(), sorted(self._options.items())))
            description.add(self.function)
            self._described = description.hexdigest()[:32], description.functions
        return self._described

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compile (once) and run."""
        dispatcher = self._dispatcher
        if dispatcher is None:
            dispatcher = self.dispatcher
        result: R = dispatcher(*args, **kwargs)
        return result


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a function to be compiled on first use. It takes and returns numbers and arrays, no tuples of words."""
    return Kernel(function)
