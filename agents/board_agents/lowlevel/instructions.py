"""Instructions that numba lacks: access by address, prefetch, two atomic operations.

Addresses are those of ``array.ctypes.data``; the caller keeps the array alive. Nothing is checked. A search
passes addresses instead of arrays, which cost seven arguments per call; a kernel takes any number of arrays as one
array of their addresses.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from board_envs._bits import as_int
from board_envs._jit import instruction, jitable


def _at(builder: Any, address: Any, bits: int) -> Any:
    """Return an address as a pointer to integers of that width."""
    from llvmlite import ir

    return builder.inttoptr(address, ir.IntType(bits).as_pointer())


def _emit_load_int8(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    from llvmlite import ir

    return builder.sext(builder.load(_at(builder, args[0], 8)), ir.IntType(64))


@instruction("int64(uint64)", _emit_load_int8)
def load_int8(address: int) -> int:
    """Return the signed byte at an address."""
    return ctypes.c_int8.from_address(int(address)).value


def _emit_load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.load(builder.gep(_at(builder, args[0], 64), [args[1]]))


@instruction("uint64(uint64, int64)", _emit_load)
def load(address: np.uint64, index: int) -> np.uint64:
    """Return word `index` behind an address."""
    return np.uint64(ctypes.c_uint64.from_address(int(address) + 8 * index).value)


def _emit_store(context: Any, builder: Any, signature: Any, args: Any) -> None:
    builder.store(args[2], builder.gep(_at(builder, args[0], 64), [args[1]]))


@instruction("void(uint64, int64, uint64)", _emit_store)
def store(address: np.uint64, index: int, word: np.uint64) -> None:
    """Set word `index` behind an address."""
    ctypes.c_uint64.from_address(int(address) + 8 * index).value = int(word)


def _emit_prefetch(builder: Any, address: Any, writes: int) -> None:
    from llvmlite import ir
    from numba.core import cgutils

    number = ir.IntType(32)
    pointer = _at(builder, address, 8)
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
    # Highest locality, data cache.
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(function, [pointer, number(writes), number(3), number(1)])


def _emit_prefetch_to_read(context: Any, builder: Any, signature: Any, args: Any) -> None:
    _emit_prefetch(builder, args[0], 0)


@instruction("void(uint64)", _emit_prefetch_to_read)
def prefetch(address: int) -> None:
    """Prefetch the cache line at an address for reading; a hint without effect on results."""


def _emit_prefetch_to_write(context: Any, builder: Any, signature: Any, args: Any) -> None:
    _emit_prefetch(builder, args[0], 1)


@instruction("void(uint64)", _emit_prefetch_to_write)
def prefetch_to_write(address: int) -> None:
    """Prefetch the cache line at an address for writing, which invalidates it in other cores."""


def _emit_fetch_add(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.atomic_rmw("add", _at(builder, args[0], 64), args[1], "acq_rel")


@instruction("int64(uint64, int64)", _emit_fetch_add)
def fetch_add(address: int, amount: int) -> int:
    """Atomically add to the int64 at an address; return its previous value."""
    word = ctypes.c_int64.from_address(int(address))
    before = word.value
    word.value = before + amount
    return before


def _emit_swap(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.extract_value(builder.cmpxchg(_at(builder, args[0], 32), args[1], args[2], "acq_rel", "acquire"), 1)


@instruction("boolean(uint64, uint32, uint32)", _emit_swap)
def swap(address: int, expected: int, new: int) -> bool:
    """Atomically write `new` to the uint32 at an address if it equals `expected`; return whether it did."""
    word = ctypes.c_uint32.from_address(int(address))
    if word.value != int(expected):
        return False
    word.value = int(new)
    return True


@jitable
def next_move(row: np.uint64, k: int, count: int) -> int:
    """Swap the best of the moves from index k on to index k of a row of moves; return its square.

    A move is two words: its rank above its square (8 bits), and the bits that it changes.
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
