"""Arithmetic on 64-bit words that is right interpreted and compiled, and silent under warnings-as-errors.

Words are np.uint64. Interpreted numpy warns when scalar arithmetic wraps, and numba turns a mix of np.uint64 and Python
integers into floats; so what wraps lives here, through Python integers where interpreted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from board_envs._jit import compiled_as, instruction

_MASK = (1 << 64) - 1
ZERO = np.uint64(0)
ONE = np.uint64(1)


def _emit_popcount(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.ctpop(args[0])


def _emit_lowest(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    from llvmlite import ir

    return builder.cttz(args[0], ir.IntType(1)(0))


def _emit_leading_zeros(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    from llvmlite import ir

    return builder.ctlz(args[0], ir.IntType(1)(0))


@instruction("int64(uint64)", _emit_popcount)
def popcount(word: np.uint64) -> int:
    """Number of set bits."""
    return int(word).bit_count()


@instruction("int64(uint64)", _emit_lowest)
def lowest(word: np.uint64) -> int:
    """Index of the lowest set bit; 64 for zero."""
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


@instruction("int64(uint64)", _emit_leading_zeros)
def leading_zeros(word: np.uint64) -> int:
    """Number of zero bits above the highest set bit; 64 for zero."""
    return 64 - int(word).bit_length()


def _as_int(word: np.uint64) -> int:
    return np.int64(word)  # type: ignore[no-any-return,return-value,unused-ignore]  # compiled code has no Python int


@compiled_as(_as_int)
def as_int(word: np.uint64) -> int:
    """Return a small word as a signed integer."""
    return int(word)


def _add(a: np.uint64, b: np.uint64) -> np.uint64:
    return a + b


@compiled_as(_add)
def add(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return a + b modulo 2^64."""
    return np.uint64((int(a) + int(b)) & _MASK)


def _subtract(a: np.uint64, b: np.uint64) -> np.uint64:
    return a - b


@compiled_as(_subtract)
def subtract(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return a - b modulo 2^64."""
    return np.uint64((int(a) - int(b)) & _MASK)


def _multiply(a: np.uint64, b: np.uint64) -> np.uint64:
    return a * b


@compiled_as(_multiply)
def multiply(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return a * b modulo 2^64."""
    return np.uint64((int(a) * int(b)) & _MASK)


def _lowest_bit(word: np.uint64) -> np.uint64:
    return word & (~word + np.uint64(1))


@compiled_as(_lowest_bit)
def lowest_bit(word: np.uint64) -> np.uint64:
    """Return the word with only its lowest set bit; zero for zero."""
    value = int(word)
    return np.uint64(value & -value)


def _clear_lowest(word: np.uint64) -> np.uint64:
    return word & (word - np.uint64(1))


@compiled_as(_clear_lowest)
def clear_lowest(word: np.uint64) -> np.uint64:
    """Return the word without its lowest set bit; zero for zero."""
    value = int(word)
    return np.uint64(value & (value - 1) if value else 0)


def _nth_bit(word: np.uint64, k: int) -> int:
    for _ in range(k):
        word &= word - np.uint64(1)
    return lowest(word)


@compiled_as(_nth_bit)
def nth_bit(word: np.uint64, k: int) -> int:
    """Index of the k-th set bit from below, counted from 0; 64 if fewer are set."""
    value = int(word)
    for _ in range(k):
        value &= value - 1
    return (value & -value).bit_length() - 1 if value else 64


def _write_bits(word: np.uint64, indices: NDArray[np.intp], out: NDArray[np.int8]) -> None:
    for i in range(indices.shape[0]):
        out[i] = np.int8((word >> np.uint64(indices[i])) & np.uint64(1))


@compiled_as(_write_bits)
def write_bits(word: np.uint64, indices: NDArray[np.intp], out: NDArray[np.int8]) -> None:
    """Set out[i] to bit indices[i] of the word; indices intp (m,), out int8 (m,)."""
    known = _known_bits.get(id(indices))
    if known is not None:
        value = int(word) & known[1]
        bits = known[2].get(value)
        if bits is None:
            bits = known[2][value] = np.array([value >> index & 1 for index in indices.tolist()], np.int8)
        out[:] = bits
    elif indices.shape[0] <= _FEW:
        # The array is held too, so that its id is not given to another one.
        _known_bits[id(indices)] = (indices, sum({1 << index for index in indices.tolist()}), {})
        write_bits(word, indices, out)
    else:
        octets = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)
        # The mode keeps numpy from filling a buffer first; all indices are in range.
        np.unpackbits(octets, None, None, "little").view(np.int8).take(indices, None, out, "clip")


_FEW = 10
"""Masks of up to this many bits have all their combinations cached (2^10 small arrays)."""
_known_bits: dict[int, tuple[NDArray[np.intp], int, dict[int, NDArray[np.int8]]]] = {}


def _write_planes(own: np.uint64, other: np.uint64, indices: NDArray[np.intp], out: NDArray[np.int8]) -> None:
    columns = indices.shape[1]
    for i in range(indices.shape[0]):
        for j in range(columns):
            out[i, j, 0] = np.int8((own >> np.uint64(indices[i, j])) & np.uint64(1))
            out[i, j, 1] = np.int8((other >> np.uint64(indices[i, j])) & np.uint64(1))


@compiled_as(_write_planes)
def write_planes(own: np.uint64, other: np.uint64, indices: NDArray[np.intp], out: NDArray[np.int8]) -> None:
    """Write two boards as planes: out[i, j, 0 or 1] is bit indices[i, j] of own or other; out int8 (..., 2)."""
    octets = np.frombuffer((int(own) | int(other) << 64).to_bytes(16, "little"), np.uint8)
    # The mode keeps numpy from filling a buffer first; all indices are in range.
    np.unpackbits(octets, None, None, "little").view(np.int8).take(_pairs(indices), None, out, "clip")


_known_pairs: dict[int, tuple[NDArray[np.intp], NDArray[np.intp]]] = {}


def _pairs(indices: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the bits of each cell in two words that follow each other: intp (..., 2); kept for each array."""
    known = _known_pairs.get(id(indices))
    if known is None:
        # The array is held too, so that its id is not given to another one.
        known = _known_pairs[id(indices)] = (indices, np.stack([indices, indices + 64], -1))
    return known[1]


Writer: TypeAlias = Callable[..., None]


def bit_writer(indices: NDArray[np.intp]) -> Writer:
    """Return `write_bits` for these indices, (word, out): compiled, it moves all bits at once."""

    @_shuffled([indices.ravel()])
    def write(word: np.uint64, out: NDArray[np.int8]) -> None:
        write_bits(word, indices, out)

    return write


def plane_writer(indices: NDArray[np.intp]) -> Writer:
    """Return `write_planes` for these indices, (own, other, out): compiled, it moves all bits at once."""
    pairs = _pairs(indices)

    @_shuffled([indices.ravel(), indices.ravel() + 64])
    def write(own: np.uint64, other: np.uint64, out: NDArray[np.int8]) -> None:
        # As in `write_planes`, whose look-up by array would cost a tenth of this.
        octets = np.frombuffer((int(own) | int(other) << 64).to_bytes(16, "little"), np.uint8)
        np.unpackbits(octets, None, None, "little").view(np.int8).take(pairs, None, out, "clip")

    return write


def byte_writer(order: NDArray[np.intp]) -> Writer:
    """Return a function (four words, out) that writes byte order[...] of the words, 8 each, to out[...].

    The values are below 128; out is int8 of the shape of `order`. Compiled, all bytes move at once.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        from llvmlite import ir

        words: Any = ir.Constant(ir.VectorType(ir.IntType(64), 4), ir.Undefined)
        for place, word in enumerate(args[:-1]):
            words = builder.insert_element(words, word, ir.Constant(ir.IntType(32), place))
        octets = builder.bitcast(words, ir.VectorType(ir.IntType(8), 32))
        _store_shuffled(context, builder, signature, args, octets, octets, order.ravel().tolist())

    @instruction(_words_into_octets, emit)
    def write(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64, out: NDArray[np.int8]) -> None:
        octets = np.frombuffer((int(a) | int(b) << 64 | int(c) << 128 | int(d) << 192).to_bytes(32, "little"), np.int8)
        # The mode keeps numpy from filling a buffer first; all indices are in range.
        octets.take(order, None, out, "clip")

    return write


def _words_into_octets(*types: Any) -> Any:
    """Return the signature of a writer: words, and an int8 array in one piece; TypeError for another array."""
    from numba.core.types import uint64, void

    array = types[-1]
    if array.layout != "C" or str(array.dtype) != "int8":
        raise TypeError(f"a writer needs a contiguous int8 array, not {array}")
    return void(*[uint64] * (len(types) - 1), array)


def _store_shuffled(
    context: Any, builder: Any, signature: Any, args: Any, first: Any, second: Any, order: list[int]
) -> None:
    """Store bytes of two vectors, in this order, to the array that comes last."""
    from llvmlite import ir

    positions = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order)
    array = context.make_array(signature.args[-1])(context, builder, args[-1])
    result = ir.VectorType(ir.IntType(8), len(order))
    builder.store(
        builder.shuffle_vector(first, second, positions), builder.bitcast(array.data, result.as_pointer()), align=1
    )


def _shuffled(planes: list[NDArray[np.intp]]) -> Callable[[Writer], Writer]:
    """Give a writer its compiled form: bits widened to bytes, put in order, stored; three vector instructions.

    Byte k * planes + p of the output is bit ``planes[p][k]`` of the words, each 64 bits, one after the other.
    """
    order = np.stack(planes, -1).ravel().tolist()

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> None:
        from llvmlite import ir

        bits, octets = (ir.VectorType(ir.IntType(width), 64) for width in (1, 8))
        words = [builder.zext(builder.bitcast(word, bits), octets) for word in args[:-1]]
        _store_shuffled(context, builder, signature, args, words[0], words[-1], order)

    return instruction(_words_into_octets, emit)


def _emit_without_owner(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _without_owner(context, builder, signature.args[0], args[0])


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    from numba import types
    from numba.core import cgutils

    if isinstance(kind, types.Array):
        view = context.make_array(kind)(context, builder, value)
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        for place, item in enumerate(kind):
            part = _without_owner(context, builder, item, builder.extract_value(value, place))
            value = builder.insert_value(value, part, place)
    return value


A = TypeVar("A", bound="NDArray[Any] | tuple[Any, ...]")


@instruction(lambda array: array(array), _emit_without_owner)
def borrowed(array: A) -> A:
    """Return an array, or a tuple of arrays, that compiled code does not count references to; the caller holds them.

    Each row taken of a counted array costs two atomic operations, which is more than a move in a simple game.
    """
    return array
