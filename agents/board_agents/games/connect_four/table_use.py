"""How the search uses the transposition tables: keys, stored data, probes of children."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from board_agents.games.connect_four.geometry import geometry
from board_agents.games.connect_four.solver_workspace import (
    FEW_EMPTIES,
    MIRRORED,
    NEAR,
    NO_TABLE,
    STARTED,
    Workspace,
    lanes_of,
)
from board_agents.games.connect_four.transposition_table import layout, make_payload, make_table
from board_agents.lowlevel.instructions import prefetch
from board_envs._bits import ZERO, clear_lowest, leading_zeros, lowest
from board_envs._jit import inlined, jitable
from board_envs.types import Words


class TableUse(NamedTuple):
    """Jitable parts of one size; see `make_table_use`."""

    key_of: Callable[[np.uint64, int], np.uint64]
    recall: Callable[..., tuple[int, int, int]]
    remember: Callable[[Workspace, int, int, int, int, int, int], None]
    name_children: Callable[[np.uint64, np.uint64, np.uint64, int, Words], None]
    prefetch_children: Callable[[Workspace], None]
    look_ahead: Callable[[Workspace, np.uint64, int], int]


@jitable
def worth_keeping(empties: int, beta: int) -> bool:
    """Whether a position is probed and stored."""
    return empties >= NO_TABLE and min((empties - 1) // 2 - beta, beta + (empties - 2) // 2) > NEAR


@functools.cache
def make_table_use(rows: int, columns: int, connect: int) -> TableUse:
    """Return the functions that probe and store in the two transposition tables, for one size."""
    facts = geometry(rows, columns, connect)
    first_column, height, cells = facts.column, facts.height, facts.cells
    cut = layout(facts.key_bits, cells, columns)
    scatter, line_of, probe, store = make_table(cut)
    pack, lower_of, upper_of, move_of = make_payload(cut)
    has_moves = cut.move_bits > 0
    lanes_count = lanes_of(rows, columns)
    column_bits = np.uint64((1 << height) - 1)

    @jitable
    def flip(key: np.uint64) -> np.uint64:
        """Return the key of the mirror image."""
        image = ZERO
        for i in range(columns):
            image = image << np.uint64(height) | (key >> np.uint64(i * height)) & column_bits
        return image

    @jitable
    def canonical(key: np.uint64, empties: int) -> np.uint64:
        """Return the key under which a position is stored: with few stones, the smaller of its two images' keys."""
        return min(key, flip(key)) if empties >= MIRRORED else key

    @jitable
    def key_of(plain: np.uint64, empties: int) -> np.uint64:
        """Return the scattered key of a position from its plain one, own plus all stones."""
        return scatter(canonical(plain, empties))

    @inlined
    def recall(work: Workspace, plain: np.uint64, empties: int, lower: int, upper: int) -> tuple[int, int, int]:
        """Return the bounds of a score, narrowed by a probe, and the column of the best move (-1 if unknown)."""
        known_move = -1
        name = canonical(plain, empties)
        if empties >= FEW_EMPTIES:
            found = probe(work.big, work.big_bits, scatter(name))
        else:
            found = probe(work.small, work.small_bits, scatter(name))
        if found != ZERO:
            lower = max(lower, lower_of(found))
            upper = min(upper, upper_of(found))
            if has_moves:
                known_move = move_of(found)
                if known_move >= 0 and name != plain:
                    known_move = columns - 1 - known_move
        return lower, upper, known_move

    @inlined
    def remember(work: Workspace, d: int, empties: int, lower: int, upper: int, column: int, nodes: int) -> None:
        """Store the bounds of a frame's position, and its best column (-1 if unknown)."""
        plain = work.own[d] + work.mask[d]
        name = canonical(plain, empties)
        if column >= 0 and name != plain:
            column = columns - 1 - column
        effort = 63 - leading_zeros(np.uint64(nodes - work.frames[d, STARTED] + 1))
        payload = pack(lower, upper, column, effort)
        if empties >= FEW_EMPTIES:
            store(work.big, work.big_bits, scatter(name), payload)
        else:
            store(work.small, work.small_bits, scatter(name), payload)

    @jitable
    def name_children(theirs: np.uint64, mask: np.uint64, safe: np.uint64, empties: int, keys: Words) -> None:
        """Write, a lane a column, the scattered key after each safe move; other lanes get the key without a move."""
        if empties >= MIRRORED:
            for i in range(columns):
                key = theirs + (mask | (safe & (first_column << np.uint64(i * height))))
                keys[i] = scatter(canonical(key, empties))
        else:
            for i in range(lanes_count):
                keys[i] = scatter(theirs + (mask | (safe & (first_column << np.uint64(i * height)))))

    @inlined
    def prefetch_children(work: Workspace) -> None:
        """Prefetch the children's cache lines of the big table while the node is described."""
        address = np.uint64(work.big.ctypes.data)
        for i in range(lanes_count):
            prefetch(address + (line_of(work.big_bits, work.keys[i]) << np.uint64(3)))

    @jitable
    def best_proven(table: Words, index_bits: np.uint64, keys: Words, moves: np.uint64) -> int:
        """Return the best lower bound that a table proves for any of the moves."""
        best = -cells
        while moves != ZERO:
            found = probe(table, index_bits, keys[lowest(moves) // height])
            moves = clear_lowest(moves)
            best = max(best, -upper_of(found) if found != ZERO else -cells)
        return best

    @inlined
    def look_ahead(work: Workspace, moves: np.uint64, empties: int) -> int:
        """Return the best lower bound that the children's entries prove; `keys` are those after `moves`."""
        if empties > FEW_EMPTIES:
            return best_proven(work.big, work.big_bits, work.keys, moves)
        return best_proven(work.small, work.small_bits, work.keys, moves)

    return TableUse(key_of, recall, remember, name_children, prefetch_children, look_ahead)
