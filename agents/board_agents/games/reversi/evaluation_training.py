"""What training the Reversi evaluation consists of: games with exact values at their ends, and the fit of weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.reversi.endgame_oracle import ReversiOracle
from board_agents.games.reversi.midgame_workspace import MOST_POSITIONS, shallow_depth
from board_agents.games.reversi.pattern_evaluation import (
    PHASES,
    SCRATCH_WORDS,
    UNIT,
    Evaluation,
    locate,
    phase_of,
)
from board_agents.games.reversi.patterns import digit_table, kind_offsets, placements, shared
from board_agents.games.reversi.thinking import Thinker
from board_agents.lowlevel.instructions import load
from board_envs import make_game
from board_envs._bits import as_int, popcount
from board_envs._jit import kernel
from board_envs.games.reversi import State
from board_envs.games.reversi.moves import legal_moves
from board_envs.random import key_of
from board_envs.types import Words

BIASES = 65
"""Numbers of empty squares, each with a weight of its own behind those of the patterns."""


class Positions(NamedTuple):
    """Positions and what they are worth.

    Attributes:
        boards: uint64 (n, 2), discs of the player to move and of the other.
        values: int8 (n,), discs that the player to move wins by in the end.

    """

    boards: Words
    values: NDArray[np.int8]

    @property
    def empties(self) -> NDArray[np.int64]:
        """Number of empty squares of each: int64 (n,)."""
        return 64 - np.bitwise_count(self.boards[:, 0] | self.boards[:, 1]).astype(np.int64)


def join(parts: list[Positions]) -> Positions:
    """Return all positions of several batches."""
    return Positions(np.concatenate([part.boards for part in parts]), np.concatenate([part.values for part in parts]))


def play_games(evaluation: Evaluation, seed: int, games: int, depth: int, solved: int) -> Positions:
    """Play games against oneself and tell the positions on the way with what they led to.

    A game begins with 1 to 10 random moves; half of them go on with moves of a search of one ply and, one in seven,
    random ones. Then both sides search `depth` plies (in half of the games one less) until `solved` squares are empty:
    the exact value there is that of all positions since the last loose move. Then the game goes on loosely to a number
    of empty squares drawn by lot, and that position is solved too.

    Args:
        evaluation: what the searches end with.
        seed: of the games; the same seed gives the same games everywhere.
        games: how many.
        depth: plies looked ahead; 0 plays at random.
        solved: number of empty squares from which the rest is solved exactly.

    """
    thinker = Thinker(evaluation, table_bits=14)
    boards = np.zeros((games, MOST_POSITIONS + 1, 3), np.uint64)
    lengths = np.zeros(games, np.int64)
    thinker.play(np.uint64(key_of(np.uint64(seed))), depth, solved, boards, lengths)
    oracle = ReversiOracle(make_game("reversi"), empties=solved, megabytes=1)
    counts = lengths[:, None] > np.arange(MOST_POSITIONS + 1)
    last = boards[np.arange(games), lengths - 1]
    late = boards[np.arange(games), lengths]
    ends = [solution.value for solution in oracle.solve_many(map(_state, last), threads=1)]
    lates = [solution.value for solution in oracle.solve_many(map(_state, late), threads=1)]
    values = np.array(ends, np.int64)[:, None] * np.where(boards[:, :, 2] == last[:, None, 2], 1, -1)
    return join(
        [
            Positions(boards[counts][:, :2].copy(), values[counts].astype(np.int8)),
            Positions(late[:, :2].copy(), np.array(lates, np.int8)),
        ]
    )


def _state(row: Words) -> State:
    """Return the position of a row (own, other, seat) as the solver takes it; whose turn it is plays no part."""
    return State(np.uint64(row[0]), np.uint64(row[1]), 0, legal_moves(np.uint64(row[0]), np.uint64(row[1])))


# -- the fit ----------------------------------------------------------------------------------------------------------


@kernel
def _slots(
    boards: Words, digits: np.uint64, scratch: np.uint64, starts: Any, numbers: Any, bias: int, out: NDArray[np.int32]
) -> None:
    """Write for each position which weights its estimate is the sum of: int32 (n, 47)."""
    patterns = starts.shape[0]
    for i in range(boards.shape[0]):
        own, other = boards[i, 0], boards[i, 1]
        locate(digits, own, other, scratch)
        for k in range(patterns):
            word = load(scratch, k >> 2)
            index = as_int((word >> np.uint64(16 * (k & 3))) & np.uint64(0xFFFF))
            out[i, k] = numbers[starts[k] + index]
        out[i, patterns] = bias + 64 - popcount(own | other)


@kernel
def _gather(slots: NDArray[np.int32], weights: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Sum each position's weights."""
    for i in range(slots.shape[0]):
        total = np.float32(0.0)
        for k in range(slots.shape[1]):
            total += weights[slots[i, k]]
        out[i] = total


@kernel
def _scatter(slots: NDArray[np.int32], errors: NDArray[np.float32], out: NDArray[np.float64]) -> None:
    """Add each position's error to each of its weights."""
    for i in range(slots.shape[0]):
        error = errors[i]
        for k in range(slots.shape[1]):
            out[slots[i, k]] += error


def slots_of(boards: Words) -> NDArray[np.int32]:
    """Return which weights the estimate of each position is the sum of: int32 (n, 47), the bias last."""
    numbers = shared()
    starts = np.array([kind_offsets()[kind] for kind, _ in placements()], np.int64)
    out = np.zeros((len(boards), len(starts) + 1), np.int32)
    digits = digit_table()
    scratch = np.zeros(SCRATCH_WORDS, np.uint64)
    address = np.uint64(digits.ctypes.data)
    _slots(boards, address, np.uint64(scratch.ctypes.data), starts, numbers, int(numbers.max()) + 1, out)
    return out


def fit_phase(positions: Positions, phase: int, rounds: int = 30, ridge: float = 8.0) -> NDArray[np.float32]:
    """Return the weights of one phase, in discs: float32 (weights and 65 biases).

    Least squares with a penalty on each weight's square, by conjugate gradients that see each weight in proportion to
    how often it occurs. Positions with two empty squares more or fewer than the phase has take part too.
    """
    count = int(shared().max()) + 1 + BIASES
    low, high = _bounds(phase)
    empties = positions.empties
    chosen = (empties >= low - 2) & (empties <= high + 2)
    boards, values = positions.boards[chosen], positions.values[chosen].astype(np.float32)
    weights = np.zeros(count, np.float64)
    if len(boards) == 0:
        return weights.astype(np.float32)
    slots = slots_of(np.ascontiguousarray(boards))
    occurrences = np.bincount(slots.ravel(), minlength=count)
    scale = 1.0 / (occurrences + ridge)
    errors, step_errors = values.copy(), np.zeros(len(values), np.float32)
    gradient = np.zeros(count, np.float64)
    _scatter(slots, errors, gradient)
    direction = scale * gradient
    product = float(gradient @ direction)
    for _ in range(rounds):
        _gather(slots, direction.astype(np.float32), step_errors)
        curvature = float(np.dot(step_errors, step_errors)) + ridge * float(direction @ direction)
        if curvature <= 0.0:
            break
        length = product / curvature
        weights += length * direction
        errors -= np.float32(length) * step_errors
        gradient[:] = 0.0
        _scatter(slots, errors, gradient)
        gradient -= ridge * weights
        scaled = scale * gradient
        after = float(gradient @ scaled)
        direction = scaled + (after / product) * direction
        product = after
    return weights.astype(np.float32)


def _bounds(phase: int) -> tuple[int, int]:
    """Return the least and the largest number of empty squares of a phase."""
    members = [empties for empties in range(61) if phase_of(empties) == phase]
    return members[0], members[-1]


def make_evaluation(phases: list[NDArray[np.float32]], facts: dict[str, Any] | None = None) -> Evaluation:
    """Return the evaluation of the phases' fitted weights."""
    weights = np.stack([np.rint(phase[:-BIASES] * UNIT) for phase in phases])
    bias = np.array(
        [np.rint(phases[phase_of(empties)][int(shared().max()) + 1 + empties] * UNIT) for empties in range(65)]
    )
    return Evaluation(weights.astype(np.int64), bias.astype(np.int64), facts)


def errors_by_phase(evaluation: Evaluation, positions: Positions) -> list[float]:
    """Return the mean absolute error of each phase in discs, NaN where there is no position."""
    empties = positions.empties
    found = []
    for phase in range(PHASES):
        low, high = _bounds(phase)
        chosen = (empties >= low) & (empties <= high)
        if not chosen.any():
            found.append(float("nan"))
            continue
        slots = slots_of(np.ascontiguousarray(positions.boards[chosen]))
        weights = np.concatenate([evaluation.weights[phase], evaluation.bias]).astype(np.float32)
        estimates = np.zeros(len(slots), np.float32)
        _gather(slots, weights, estimates)
        found.append(float(np.abs(estimates / UNIT - positions.values[chosen]).mean()))
    return found


# -- how far deep searches are from shallow ones ----------------------------------------------------------------------


def measure_spreads(evaluation: Evaluation, boards: Words, most_depth: int) -> dict[int, float]:
    """Return by depth the standard deviation, in discs, of its value from that of its shallow search.

    Args:
        evaluation: what the searches end with.
        boards: positions, uint64 (n, 2), with more than `most_depth` empty squares.
        most_depth: deepest search.

    """
    thinker = Thinker(evaluation, table_bits=18)
    differences: dict[int, list[float]] = {depth: [] for depth in range(3, most_depth + 1)}
    for own, other in boards:
        if legal_moves(np.uint64(own), np.uint64(other)) == 0:
            continue
        values = [0.0] * (most_depth + 1)
        for depth in range(1, most_depth + 1):
            thinker.begin()
            values[depth] = thinker.search(np.uint64(own), np.uint64(other), depth).value
        for depth, found in differences.items():
            found.append((values[depth] - values[shallow_depth(depth)]) / UNIT)
    return {depth: float(np.std(found)) for depth, found in differences.items()}
