"""Words of a numpy array by address: what the search passes down instead of arrays, which cost seven arguments a call.

Addresses are those of ``array.ctypes.data``; whoever passes one keeps the array alive. Nothing is checked.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from board_envs._bits import as_int
from board_envs._jit import compiled_by, jitable


def _cell(builder: Any, address: Any, index: Any) -> Any:
    from llvmlite import ir

    start = builder.inttoptr(address, ir.PointerType(ir.IntType(64)))
    return builder.gep(start, [index])


def _install_load() -> None:
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]  # numba is untyped
    def read(_context: Any, address: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(_cell(builder, *args))

        return types.uint64(types.uint64, types.int64), codegen

    overload(load, strict=False)(
        lambda address, index: lambda address, index: read(np.uint64(address), np.int64(index))
    )


def _install_store() -> None:
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]  # numba is untyped
    def write(_context: Any, address: Any, index: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[2], _cell(builder, args[0], args[1]))
            return context.get_dummy_value()

        return types.void(types.uint64, types.int64, types.uint64), codegen

    overload(store, strict=False)(
        lambda address, index, word: (
            lambda address, index, word: write(np.uint64(address), np.int64(index), np.uint64(word))
        )
    )


@compiled_by(_install_load)
def load(address: np.uint64, index: int) -> np.uint64:
    """Return word `index` behind an address."""
    return np.uint64(ctypes.c_uint64.from_address(int(address) + 8 * index).value)


@compiled_by(_install_store)
def store(address: np.uint64, index: int, word: np.uint64) -> None:
    """Set word `index` behind an address."""
    ctypes.c_uint64.from_address(int(address) + 8 * index).value = int(word)


@jitable
def next_move(row: np.uint64, k: int, count: int) -> int:
    """Bring the best of the moves from k on to place k of a row of moves; return its square.

    A move is two words: its rank above its square (8 bits), and the discs that it turns over.
    """
    best = k
    top = load(row, 2 * k)
    for i in range(k + 1, count):
        rank = load(row, 2 * i)
        if rank > top:
            top = rank
            best = i
    if best != k:
        turned = load(row, 2 * best + 1)
        store(row, 2 * best, load(row, 2 * k))
        store(row, 2 * best + 1, load(row, 2 * k + 1))
        store(row, 2 * k, top)
        store(row, 2 * k + 1, turned)
    return as_int(top & np.uint64(255))
