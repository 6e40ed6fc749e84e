"""The root: which null windows are searched, and what their results prove."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from board_agents.games.connect_four.geometry import geometry, make_safe_replies, make_winning_squares
from board_agents.games.connect_four.solver_workspace import (
    BEGUN,
    BETA,
    GUESS,
    HARD,
    LEAST,
    NO_GUESS,
    PLAIN_WIN,
    PREVIOUS,
    QUICK_NODES,
    Ints,
    Workspace,
)
from board_envs._bits import ZERO, popcount
from board_envs._jit import inlined, jitable
from board_envs.types import Words


@jitable
def shortest(low: int, high: int, empties: int) -> int:
    """Return the null window's upper end that tests the shortest win or loss still possible."""
    return high if (empties - 1) // 2 - high <= low + (empties - 2) // 2 else low + 1


@jitable
def window_end(low: int, high: int, guess: int) -> int:
    """Return the null window's upper end, low < it <= high.

    First both windows that prove the guess, if there is one; else near 0 first, then halving.
    """
    if low < guess <= high:
        return guess
    if low == guess:
        return low + 1
    if high == guess - 1:
        return high
    middle = (low + high) // 2
    if middle <= 0 and low // 2 < middle:
        middle = -((-low) // 2)
    elif middle >= 0 and high // 2 > middle:
        middle = high // 2
    return min(max(middle, low), high - 1) + 1


@jitable
def narrow(bounds: Ints, position: int, value: int, beta: int) -> None:
    """Narrow a position's bounds by the result of a null window; they never cross."""
    low, high = bounds[position, 0], bounds[position, 1]
    if value >= beta:
        bounds[position, 0] = min(max(low, value), high)
    else:
        bounds[position, 1] = max(min(high, value), low)


@inlined
def close_window(bounds: Ints, work: Workspace, position: int, value: int) -> None:
    """Update the root with its null window's result."""
    narrow(bounds, position, value, work.frames[0, BETA])
    if work.control[GUESS] < NO_GUESS and bounds[position, 0] == bounds[position, 1]:
        work.control[GUESS] = bounds[position, 0]


@functools.cache
def make_next_window(rows: int, columns: int, connect: int) -> Callable[[Words, Ints, Workspace, int, int], int]:
    """Return the functions that open the root's null windows, for one size."""
    facts = geometry(rows, columns, connect)
    board, bottom, cells = facts.board, facts.bottom, facts.cells
    winning_squares = make_winning_squares(rows, connect)
    safe_replies = make_safe_replies(rows, columns, connect)

    @jitable
    def root(own: np.uint64, mask: np.uint64, position: int, bounds: Ints) -> np.uint64:
        """Return the moves that do not lose at once; narrow the bounds, to the score where it is obvious."""
        empties = cells - popcount(mask)
        upper = (empties - 1) // 2
        lower = -((empties - 2) // 2)
        starts = (mask + bottom) & board
        safe = ZERO
        if winning_squares(own) & starts != ZERO:
            lower = upper = (empties + 1) // 2
        else:
            safe = safe_replies(winning_squares(own ^ mask) & board & ~mask, mask)
            if empties <= 1:
                lower = upper = 0
            elif safe == ZERO:
                lower = upper = -(empties // 2)
            elif empties <= 2:
                lower = upper = 0
        narrow(bounds, position, lower, lower)
        narrow(bounds, position, upper, upper + 1)
        return safe

    @inlined
    def next_window(positions: Words, bounds: Ints, work: Workspace, position: int, nodes: int) -> int:
        """Open the next null window at the root; returns its position, or the number of positions when all are done."""
        control = work.control
        while True:
            while position < positions.shape[0] and bounds[position, 0] >= bounds[position, 1]:
                position += 1
                control[BEGUN] = nodes
            if position == positions.shape[0]:
                return position
            own, mask = positions[position, 0], positions[position, 1]
            safe = root(own, mask, position, bounds)
            low, high = bounds[position, 0], bounds[position, 1]
            if low < high:
                break
        work.own[0] = own
        work.mask[0] = mask
        work.safe[0] = safe
        work.threats[0] = winning_squares(own) & board
        work.threats[1] = winning_squares(own ^ mask) & board
        empties = cells - popcount(mask)
        guess = control[GUESS]
        if guess == LEAST:
            guess = low
        elif guess == NO_GUESS and nodes - control[BEGUN] < QUICK_NODES:
            guess = shortest(low, high, empties)
        elif guess == NO_GUESS and empties >= HARD:
            guess = 1
            if low < PLAIN_WIN < high:
                guess = PLAIN_WIN
            elif low < -PLAIN_WIN < high:
                guess = 1 - PLAIN_WIN
        work.frames[0, BETA] = window_end(low, high, guess)
        work.frames[0, PREVIOUS] = 64
        return position

    return next_window
