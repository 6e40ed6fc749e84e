"""Reversi's two move functions in several compiled forms; the best one for the processor is chosen when first used.

- "vector": all eight directions at once in vector registers. The code is plain vector arithmetic, which LLVM lowers to
  the available instructions; it pays from AVX2 up, most with AVX-512 for its rotations and leading-zero counts.
- "bmi2": pext gathers the four lines through a square into indices of small tables, pdep scatters the flips.
- "portable": word arithmetic only.

All are tested equal. The choice follows numba's target, so NUMBA_CPU_NAME=generic gives the portable one, and since
that target is part of the key of numba's cache, machines that share a cache keep their own code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from board_envs._bits import ONE, lowest, popcount
from board_envs._jit import compiled_as, instruction, jitable, require_numba
from board_envs.games.reversi.portable_moves import (
    RAYS,
    flipped,
    flipped_portable,
    legal_moves,
    legal_moves_portable,
)

WordOfTwo = Callable[[np.uint64, np.uint64], np.uint64]
WordOfMove = Callable[[np.uint64, np.uint64, int], np.uint64]


class Tier(NamedTuple):
    """One set of compiled forms of `moves.legal_moves` and `moves.flipped`, and `select_bit`."""

    legal_moves: WordOfTwo
    flipped: WordOfMove
    select_bit: Callable[[np.uint64, int], int]


def _features() -> tuple[str, frozenset[str]]:
    """Return the target triple and the features that numba compiles for."""
    require_numba("compiled Reversi")
    from numba.core.registry import cpu_target

    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    return triple, frozenset(name[1:] for name in features.split(",") if name.startswith("+"))


@functools.cache
def tier_names() -> tuple[str, ...]:
    """List the tiers that run on this machine, the best first."""
    triple, features = _features()
    on_x86 = triple.startswith(("x86_64", "amd64"))
    names = ["vector"] if "avx2" in features else []
    if on_x86 and "bmi2" in features:
        names.append("bmi2")
    names.append("portable")
    if "vector" not in names:
        names.append("vector")
    return tuple(names)


def make_tier(name: str | None = None) -> Tier:
    """Return a tier by name, None for the best on this machine; ValueError if it cannot run here."""
    names = tier_names()
    if name is None:
        name = names[0]
    if name not in names:
        raise ValueError(f"unknown or unsupported tier {name!r}; tiers on this machine: {', '.join(names)}")
    if name == "vector":
        select = select_bit_pdep if "bmi2" in names else select_bit_portable
        return Tier(legal_moves_vector, flipped_vector, select)
    if name == "bmi2":
        return Tier(legal_moves_portable, flipped_bmi2, select_bit_pdep)
    return Tier(legal_moves_portable, flipped_portable, select_bit_portable)


# -- LLVM ------------------------------------------------------------------------------------------------------------


def _word_type() -> Any:
    from llvmlite import ir

    return ir.IntType(64)


def _vector(values: list[int]) -> Any:
    from llvmlite import ir

    return ir.Constant(ir.VectorType(_word_type(), len(values)), values)


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    """Call an LLVM intrinsic, declared on first use."""
    from llvmlite import ir
    from numba.core import cgutils

    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _splat(builder: Any, word: Any, lanes: int) -> Any:
    from llvmlite import ir

    one = builder.insert_element(
        ir.Constant(ir.VectorType(_word_type(), lanes), ir.Undefined), word, ir.Constant(ir.IntType(32), 0)
    )
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes))


def _any_of(builder: Any, vector: Any) -> Any:
    return _call(builder, f"llvm.vector.reduce.or.v{vector.type.count}i64", _word_type(), [vector])


def _table(builder: Any, name: str, rows: list[list[int]]) -> Any:
    """Return a table of vectors shared by all code that is linked together."""
    from llvmlite import ir

    module = builder.module
    if name in module.globals:
        return module.globals[name]
    values = [_vector(row) for row in rows]
    constant = ir.Constant(ir.ArrayType(values[0].type, len(values)), values)
    table = ir.GlobalVariable(module, constant.type, name)
    table.linkage, table.global_constant, table.initializer, table.align = "linkonce_odr", True, constant, 64
    return table


def _row(builder: Any, table: Any, index: Any) -> Any:
    from llvmlite import ir

    zero = ir.Constant(_word_type(), 0)
    return builder.load(builder.gep(table, [zero, index], inbounds=True), align=table.type.pointee.element.count * 8)


_ROTATIONS = (1, 7, 8, 9, 63, 57, 56, 55)
_ROWS, _COLUMNS = 0x00FFFFFFFFFFFF00, 0x7E7E7E7E7E7E7E7E
_CAPTURABLE = (_COLUMNS, _ROWS & _COLUMNS, _ROWS, _ROWS & _COLUMNS) * 2


def _emit_legal_moves(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Parallel prefix in eight directions: rotations need no masks, since no disc on the rim is capturable outwards."""
    own, other = args
    rotate_by = _vector(list(_ROTATIONS))
    twice = _vector([2 * step % 64 for step in _ROTATIONS])

    def rotate(vector: Any, by: Any) -> Any:
        return _call(builder, "llvm.fshl.v8i64", vector.type, [vector, vector, by])

    discs = _splat(builder, own, 8)
    line = builder.and_(_splat(builder, other, 8), _vector(list(_CAPTURABLE)))
    run = builder.and_(line, rotate(discs, rotate_by))
    run = builder.or_(run, builder.and_(line, rotate(run, rotate_by)))
    pairs = builder.and_(line, rotate(line, rotate_by))
    run = builder.or_(run, builder.and_(pairs, rotate(run, twice)))
    run = builder.or_(run, builder.and_(pairs, rotate(run, twice)))
    found = _any_of(builder, rotate(run, rotate_by))
    return builder.and_(found, builder.not_(builder.or_(own, other)))


def _emit_flipped(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The four rays of each sense in one vector; see `flipped_portable` for the arithmetic."""
    own, other, square = args
    rows = [[int(ray) for ray in half] for rays in RAYS for half in (rays[:4], rays[4:])]
    table = _table(builder, "board_envs_reversi_rays", rows)
    one = _vector([1] * 4)
    index = builder.shl(square, square.type(1))
    up = _row(builder, table, index)
    down = _row(builder, table, builder.or_(index, square.type(1)))
    mine, theirs = _splat(builder, own, 4), _splat(builder, other, 4)
    carry = builder.add(builder.or_(theirs, builder.not_(up)), one)
    end = builder.and_(builder.and_(mine, up), carry)
    found_up = builder.and_(up, _call(builder, "llvm.usub.sat.v4i64", end.type, [end, one]))
    blank = builder.or_(builder.and_(down, builder.not_(theirs)), one)
    zeros = _call(builder, "llvm.ctlz.v4i64", blank.type, [blank, _false()])
    end = builder.and_(builder.lshr(_vector([1 << 63] * 4), zeros), builder.and_(mine, down))
    found_down = builder.and_(down, builder.sub(_vector([0] * 4), builder.add(end, end)))
    return _any_of(builder, builder.or_(found_up, found_down))


def _emit_last_flipped(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """`flipped` on a board whose only empty square is the one played: every disc that is not own is the other's."""
    own, square = args
    rows = [[int(ray) for ray in half] for rays in RAYS for half in (rays[:4], rays[4:])]
    table = _table(builder, "board_envs_reversi_rays", rows)
    one = _vector([1] * 4)
    index = builder.shl(square, square.type(1))
    up = _row(builder, table, index)
    down = _row(builder, table, builder.or_(index, square.type(1)))
    mine = _splat(builder, own, 4)
    ends = builder.and_(mine, up)
    end = builder.and_(ends, builder.sub(_vector([0] * 4), ends))
    found_up = builder.and_(up, _call(builder, "llvm.usub.sat.v4i64", end.type, [end, one]))
    ends = builder.and_(mine, down)
    zeros = _call(builder, "llvm.ctlz.v4i64", ends.type, [builder.or_(ends, one), _false()])
    end = builder.and_(builder.lshr(_vector([1 << 63] * 4), zeros), ends)
    found_down = builder.and_(down, builder.sub(_vector([0] * 4), builder.add(end, end)))
    return _any_of(builder, builder.or_(found_up, found_down))


def _false() -> Any:
    from llvmlite import ir

    return ir.Constant(ir.IntType(1), 0)


@instruction("uint64(uint64, uint64)", _emit_legal_moves)
def legal_moves_vector(own: np.uint64, other: np.uint64) -> np.uint64:
    """`moves.legal_moves`, eight directions at once when compiled."""
    return legal_moves(own, other)


@instruction("uint64(uint64, uint64, int64)", _emit_flipped)
def flipped_vector(own: np.uint64, other: np.uint64, square: int) -> np.uint64:
    """`moves.flipped`, eight rays at once when compiled."""
    return flipped(own, other, square)


@instruction("uint64(uint64, int64)", _emit_last_flipped)
def last_flipped_vector(word: np.uint64, k: int) -> np.uint64:
    """`moves.flipped` for discs `word` on the one empty square k of 8 x 8: all else is the other's."""
    return flipped(word, ~word & ~(ONE << np.uint64(k)), k)


# -- BMI2 ------------------------------------------------------------------------------------------------------------


def _emit_pext(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _call(builder, "llvm.x86.bmi.pext.64", _word_type(), list(args))


def _emit_pdep(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _call(builder, "llvm.x86.bmi.pdep.64", _word_type(), list(args))


@instruction("uint64(uint64, uint64)", _emit_pext)
def pext(own: np.uint64, other: np.uint64) -> np.uint64:
    """Gather the bits of `own` where the mask `other` has one, to the low end."""
    source, found, at = int(own), 0, 0
    for bit in range(64):
        if int(other) >> bit & 1:
            found |= (source >> bit & 1) << at
            at += 1
    return np.uint64(found)


@instruction("uint64(uint64, uint64)", _emit_pdep)
def pdep(own: np.uint64, other: np.uint64) -> np.uint64:
    """Scatter the low bits of `own` to where the mask `other` has one: the inverse of `pext`."""
    source, found = int(own), 0
    for bit in range(64):
        if int(other) >> bit & 1:
            found |= (source & 1) << bit
            source >>= 1
    return np.uint64(found)


def _lines() -> tuple[Any, Any, Any, Any]:
    """Tables of the "bmi2" tier.

    Returns:
        lines uint64 (64, 4): the lines through a square, the square among them.
        places uint8 (64, 4): how many squares of the line are below it.
        ends uint8 (8, 64): by place and the other's discs on squares 1 to 6 of a line, where an own disc would capture.
        runs uint8 (8, 256): by place and the own discs that do capture, the discs turned.

    """
    lines, places = np.zeros((64, 4), np.uint64), np.zeros((64, 4), np.uint8)
    for square in range(64):
        for k in range(4):
            lines[square, k] = RAYS[square, k] | RAYS[square, k + 4] | (ONE << np.uint64(square))
            places[square, k] = popcount(RAYS[square, k + 4])
    ends, runs = np.zeros((8, 64), np.uint8), np.zeros((8, 256), np.uint8)
    for place in range(8):
        for discs in range(64):
            for step in (1, -1):
                at = place + step
                while 1 <= at <= 6 and discs << 1 >> at & 1:
                    at += step
                if at != place + step and 0 <= at <= 7:
                    ends[place, discs] |= 1 << at
        for found in range(256):
            for step in (1, -1):
                beyond = [at for at in range(place + step, 8 if step == 1 else -1, step) if found >> at & 1]
                if beyond:
                    runs[place, found] |= sum(1 << at for at in range(place + step, beyond[0], step))
    return lines, places, ends, runs


_LINES, _PLACES, _ENDS, _RUNS = _lines()


def _flipped_bmi2(own: np.uint64, other: np.uint64, square: int) -> np.uint64:
    found = np.uint64(0)
    for k in range(4):
        line = _LINES[square, k]
        place = _PLACES[square, k]
        ends = _ENDS[place, (pext(other, line) >> np.uint64(1)) & np.uint64(63)] & pext(own, line)
        found |= pdep(np.uint64(_RUNS[place, ends]), line)
    return found


@compiled_as(_flipped_bmi2)
def flipped_bmi2(own: np.uint64, other: np.uint64, square: int) -> np.uint64:
    """`moves.flipped` through tables of lines."""
    return flipped(own, other, square)


def _select_bit_pdep(word: np.uint64, k: int) -> int:
    return lowest(pdep(np.uint64(1) << np.uint64(k), word))


@compiled_as(_select_bit_pdep)
def select_bit_pdep(word: np.uint64, k: int) -> int:
    """Index of the k-th set bit from below, counted from 0; at least k + 1 bits must be set."""
    return select_bit_portable(word, k)


@jitable
def select_bit_portable(word: np.uint64, k: int) -> int:
    """Index of the k-th set bit from below, counted from 0; at least k + 1 bits must be set."""
    for _ in range(k):
        word = word & (word - np.uint64(1))
    return lowest(word)
