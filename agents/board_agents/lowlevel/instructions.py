"""Instructions that numba has no word for: a byte read at an address, a cache line asked for, two atomic writes.

Whoever passes an address keeps the array alive. (A kernel that reads many arrays gets their addresses as
one array, instead of a different signature a count of arrays.)
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from board_envs._jit import compiled_by


def _register_load() -> None:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]  # numba is untyped
    def load(_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
            return builder.sext(builder.load(pointer), ir.IntType(64))

        return types.int64(types.uint64), codegen

    overload(load_int8, strict=False)(lambda address: lambda address: load(np.uint64(address)))


@compiled_by(_register_load)
def load_int8(address: int) -> int:
    """Return the signed byte at an address."""
    return ctypes.c_int8.from_address(int(address)).value


def _register_prefetch(function_name: str, writes: int) -> None:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]  # numba is untyped
    def fetch(_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = ir.IntType(32)
            pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
            kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
            name = "llvm.prefetch.p0"
            function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
            # To be kept in all caches, a data cache.
            builder.call(function, [pointer, number(writes), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(types.uint64), codegen

    overload(globals()[function_name], strict=False)(lambda address: lambda address: fetch(np.uint64(address)))


@compiled_by(lambda: _register_prefetch("prefetch", 0))
def prefetch(address: int) -> None:
    """Ask for the cache line at an address, soon to be read; a hint without effect on results."""


@compiled_by(lambda: _register_prefetch("prefetch_to_write", 1))
def prefetch_to_write(address: int) -> None:
    """Ask for the cache line at an address, soon to be written, which other cores then lose."""


def _register_fetch_add() -> None:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]  # numba is untyped
    def add(_context: Any, address: Any, amount: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
            return builder.atomic_rmw("add", pointer, args[1], "acq_rel")

        return types.int64(types.uint64, types.int64), codegen

    overload(fetch_add, strict=False)(
        lambda address, amount: lambda address, amount: add(np.uint64(address), np.int64(amount))
    )


@compiled_by(_register_fetch_add)
def fetch_add(address: int, amount: int) -> int:
    """Add to the int64 at an address and return what was there before; no other thread comes in between."""
    word = ctypes.c_int64.from_address(int(address))
    before = word.value
    word.value = before + amount
    return before


def _register_swap() -> None:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]  # numba is untyped
    def exchange(_context: Any, address: Any, expected: Any, new: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], ir.IntType(32).as_pointer())
            return builder.extract_value(builder.cmpxchg(pointer, args[1], args[2], "acq_rel", "acquire"), 1)

        return types.boolean(types.uint64, types.uint32, types.uint32), codegen

    overload(swap, strict=False)(
        lambda address, expected, new: (
            lambda address, expected, new: exchange(np.uint64(address), np.uint32(expected), np.uint32(new))
        )
    )


@compiled_by(_register_swap)
def swap(address: int, expected: int, new: int) -> bool:
    """Write `new` to the uint32 at an address if it still is `expected`, and tell whether; atomic like `fetch_add`."""
    word = ctypes.c_uint32.from_address(int(address))
    if word.value != int(expected):
        return False
    word.value = int(new)
    return True
