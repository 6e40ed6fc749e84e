"""A learned estimate of Reversi positions: the sum of a weight for what each of 46 patterns sees, in nanoseconds.

The estimate is the difference of discs at the end, own minus other, that play from the position is expected to reach,
in units of 1 / UNIT disc. Weights differ by phase of the game, and a number for each count of empty squares is added.
`examples/train_reversi_evaluation.py` made the weights that come with the package.
"""

from __future__ import annotations

import functools
import hashlib
import json
import lzma
import os
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from board_agents.games.reversi.patterns import LANES, digit_table, indices, kind_offsets, placements, shared
from board_agents.lowlevel.atomic_files import begins_with, read_bytes, write_whole
from board_agents.lowlevel.instructions import load, store
from board_envs._bits import as_int, popcount
from board_envs._jit import instruction, jitable
from board_envs.games.reversi import State
from board_envs.games.reversi.board import sides
from board_envs.types import TextError

UNIT = 64
"""Estimates count 1 / UNIT of a disc."""
LARGEST = 63 * UNIT
"""No estimate is beyond plus or minus this: a whole board is not guessed."""
FIRST_PHASE, PHASE_LENGTH = 48, 4
"""More than FIRST_PHASE empty squares are phase 0; then every PHASE_LENGTH squares fewer begin a new one."""
PHASES = 1 + FIRST_PHASE // PHASE_LENGTH
SHIPPED = pathlib.Path(__file__).with_name("evaluation.weights")
"""The weights that come with the package."""
_QUANTUM = 8
"""Weights in a file are multiples of this number of units, one signed byte each."""
_HEADER = {"format": "board-envs reversi evaluation", "version": 1}
_IS_EVALUATION = begins_with(b'{"format": "board-envs reversi evaluation"')

# Words behind an evaluation's address, and of the scratch memory that `estimate` writes to.
_DIGITS, _PHASE, _BIAS = 0, 1, 66
_LIFT = 1 << 20  # added to a bias in memory, so that it is no negative word
TABLE_WORDS = 131
SCRATCH_WORDS = LANES // 4


class EvaluationError(TextError):
    """A file that holds no intact weights of this evaluation."""


def phase_of(empties: int) -> int:
    """Return the phase of a position with that many empty squares, 0 to PHASES - 1."""
    return min(PHASES - 1, max(0, (FIRST_PHASE - empties) // PHASE_LENGTH + 1))


# -- compiled ---------------------------------------------------------------------------------------------------------


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _emit_locate(context: Any, builder: Any, signature: Any, args: Any) -> None:
    from llvmlite import ir

    word = ir.IntType(64)
    lanes = ir.VectorType(ir.IntType(16), LANES)
    digits, own, other, out = args
    sums = []
    for board in (own, other):
        total = ir.Constant(lanes, [0] * LANES)
        for row in range(8):
            octet = builder.and_(builder.lshr(board, word(8 * row)), word(255))
            at = builder.mul(builder.add(octet, word(256 * row)), word(2 * LANES))
            part = builder.load(_pointer(builder, builder.add(digits, at), lanes), align=32)
            total = builder.add(total, part)
        sums.append(total)
    both = builder.add(sums[0], builder.add(sums[1], sums[1]))
    builder.store(both, _pointer(builder, out, lanes), align=8)


@instruction("void(uint64, uint64, uint64, uint64)", _emit_locate)
def locate(digits: np.uint64, own: np.uint64, other: np.uint64, out: np.uint64) -> None:
    """Write a board's indices, uint16 each, to LANES / 4 words at an address; `digits` is that of `digit_table`."""
    lanes = np.zeros(LANES, np.uint16)
    lanes[: len(placements())] = indices(int(own), int(other))
    for at, word in enumerate(lanes.view(np.uint64)):
        store(out, at, word)


def _emit_weigh(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    from llvmlite import ir

    word, short, long = ir.IntType(64), ir.IntType(16), ir.IntType(32)
    weights, at = args
    starts = _pointer(builder, weights, short)
    places = _pointer(builder, at, short)
    totals = [long(0), long(0)]
    for lane, (kind, _) in enumerate(placements()):
        index = builder.zext(builder.load(builder.gep(places, [word(lane)])), word)
        weight = builder.load(builder.gep(starts, [builder.add(index, word(kind_offsets()[kind]))]))
        totals[lane % 2] = builder.add(totals[lane % 2], builder.sext(weight, long))
    return builder.sext(builder.add(*totals), word)


@instruction("int64(uint64, uint64)", _emit_weigh)
def weigh(weights: np.uint64, at: np.uint64) -> int:
    """Return the sum of the weights, int16 at an address, of the indices that `locate` wrote at another."""
    lanes = np.array([load(at, k) for k in range(SCRATCH_WORDS)], np.uint64).view(np.uint16)
    total = 0
    for lane, (kind, _) in enumerate(placements()):
        place = kind_offsets()[kind] + int(lanes[lane])
        octets = int(load(weights, place // 4)) >> 16 * (place % 4) & 0xFFFF
        total += octets - (octets >> 15 << 16)
    return total


@jitable
def estimate(own: np.uint64, other: np.uint64, empties: int, evaluation: np.uint64, scratch: np.uint64) -> int:
    """Return the estimate for the player with `own`, who is to move.

    Args:
        own: discs of the player to move.
        other: the other's.
        empties: number of empty squares.
        evaluation: an `Evaluation`'s address.
        scratch: address of SCRATCH_WORDS words that are overwritten.

    """
    locate(load(evaluation, _DIGITS), own, other, scratch)
    value = weigh(load(evaluation, _PHASE + empties), scratch) + as_int(load(evaluation, _BIAS + empties)) - _LIFT
    if value > LARGEST:
        return LARGEST
    if value < -LARGEST:
        return -LARGEST
    return value


# -- weights ----------------------------------------------------------------------------------------------------------


class Evaluation:
    """Weights in the form that compiled code reads.

    Args:
        weights: in units, int (PHASES, number of different weights of a phase), see `patterns.shared`.
        bias: in units, int (65,), added by number of empty squares.
        facts: what else is to be kept with them, plain data.

    Attributes:
        address: what `estimate` takes; good as long as the object lives.

    """

    def __init__(self, weights: NDArray[Any], bias: NDArray[Any], facts: dict[str, Any] | None = None) -> None:
        self.facts = facts or {}
        self.weights = np.clip(weights, -(2**15), 2**15 - 1).astype(np.int16)
        self.bias = np.asarray(bias, np.int64)
        self._digits = digit_table()
        spread = self.weights[:, shared()]
        # Rows of whole words: the interpreted form reads words.
        self._rows = np.zeros((PHASES, -(-spread.shape[1] // 4) * 4), np.int16)
        self._rows[:, : spread.shape[1]] = spread
        self._table = np.zeros(TABLE_WORDS, np.uint64)
        self._table[_DIGITS] = self._digits.ctypes.data
        for empties in range(65):
            self._table[_PHASE + empties] = self._rows[phase_of(empties)].ctypes.data
        self._table[_BIAS : _BIAS + 65] = (self.bias + _LIFT).astype(np.uint64)
        self._scratch = np.zeros(SCRATCH_WORDS, np.uint64)
        self.address = np.uint64(self._table.ctypes.data)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the weights, not by addresses; the shipped ones are read again."""
        if shipped_evaluation() is self:
            return shipped_evaluation, ()
        return Evaluation, (self.weights, self.bias, self.facts)

    def value(self, state: State) -> float:
        """Return the estimate for the seat to move in discs; an unfinished position is assumed."""
        own, other = sides(state)
        empties = 64 - popcount(own | other)
        return estimate(own, other, empties, self.address, np.uint64(self._scratch.ctypes.data)) / UNIT

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: a line of JSON, then the weights as multiples of a quantum, signed bytes, compressed by LZMA.

        The phases of a weight follow each other. Weights beyond a byte are cut. The file replaces an earlier one as a
        whole; FileExistsError if there is a file of another kind.
        """
        data = np.clip(np.rint(self.weights.T / _QUANTUM), -127, 127).astype(np.int8).tobytes()
        header = {
            **_HEADER,
            "unit": UNIT,
            "quantum": _QUANTUM,
            "phases": PHASES,
            "weights": self.weights.shape[1],
            "bias": self.bias.tolist(),
            "facts": self.facts,
        }
        header["sha256"] = _digest(header, data)
        content = json.dumps(header).encode() + b"\n" + lzma.compress(data, preset=9)
        write_whole(path, lambda part: part.write_bytes(content), ours=_IS_EVALUATION)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Evaluation:
        """Read what `save` wrote; EvaluationError says what is wrong with a foreign, cut or altered file."""
        line, _, packed = read_bytes(path).partition(b"\n")
        try:
            header = json.loads(line)
            known = header.pop("sha256")
        except (ValueError, KeyError, TypeError, AttributeError):
            raise EvaluationError(f"{path}: no weights of a Reversi evaluation") from None
        count = int(shared().max()) + 1
        wanted = {**_HEADER, "unit": UNIT, "quantum": _QUANTUM, "phases": PHASES, "weights": count}
        for key, value in wanted.items():
            if header.get(key) != value:
                raise EvaluationError(f"{path}: {key} is {header.get(key)!r}, this version reads {value!r}")
        try:
            reader = lzma.LZMADecompressor()
            data = reader.decompress(packed, PHASES * count + 1)  # without a limit few bytes could fill the memory
        except (lzma.LZMAError, EOFError) as error:
            raise EvaluationError(f"{path}: cut or damaged ({error})") from None
        if len(data) <= PHASES * count and not reader.eof:
            raise EvaluationError(f"{path}: cut or damaged (the compressed weights end early)")
        if len(data) != PHASES * count or _digest(header, data) != known:
            raise EvaluationError(f"{path}: altered or damaged, the checksum differs")
        weights = np.frombuffer(data, np.int8).reshape(count, PHASES).T.astype(np.int16) * _QUANTUM
        return cls(weights, np.array(header["bias"]), header["facts"])


def _digest(header: dict[str, Any], data: bytes) -> str:
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode() + data).hexdigest()


@functools.cache
def shipped_evaluation() -> Evaluation:
    """Return the evaluation that comes with the package, read once."""
    return Evaluation.load(SHIPPED)
