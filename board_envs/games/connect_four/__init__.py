"""Connect Four."""

from __future__ import annotations

import functools

import numpy as np

from board_envs.game import About, Game, Symmetry, check_int
from board_envs.games.connect_four.alignments import alignments, grid_score
from board_envs.games.connect_four.forms import make_forms
from board_envs.games.connect_four.grids import grid_of, state_of
from board_envs.games.connect_four.notation import ConnectFourNotation
from board_envs.games.connect_four.rules import State, bit_index, make_rules
from board_envs.types import Int8

__all__ = ["State", "alignments", "grid_of", "grid_score", "make", "state_of"]

SAMPLES = ({"rows": 3, "columns": 16, "connect": 3},)


def make(rows: int = 6, columns: int = 7, connect: int = 4) -> Game[State]:
    """Return Connect Four.

    Args:
        rows: 1 or more.
        columns: 1 or more, 2 with a single row; ``(rows + 1) * columns <= 64``, the bits of a board.
        connect: how many in a line win, 2 to the longer side.

    """
    name = "connect-four"
    rows = check_int(name, "rows", rows, 1, 63)
    columns = check_int(
        name,
        "columns",
        columns,
        2 if rows == 1 else 1,
        64 // (rows + 1),
        f" with {rows} rows ((rows + 1) * columns <= 64)",
    )
    connect = check_int(name, "connect", connect, 2, max(rows, columns), f" on {rows} x {columns}")
    return _make(rows, columns, connect)


@functools.cache
def _make(rows: int, columns: int, connect: int) -> Game[State]:
    rules = make_rules(rows, columns, connect)
    bits = bit_index(rows, columns)

    def decode(observation: Int8, seat: int) -> State:
        planes = []
        for plane in (seat, 1 - seat):
            set_bits = bits[observation[..., plane] != 0].tolist()
            planes.append(np.uint64(sum(1 << bit for bit in set_bits)))
        return State(planes[0], planes[1], seat, -1)

    def symmetries() -> tuple[Symmetry, ...]:
        cells = np.arange(rows * columns * 2, dtype=np.intp).reshape(rows, columns, 2)
        actions = np.arange(columns, dtype=np.intp)
        identity = Symmetry(cells.ravel(), actions)
        if columns == 1:
            return (identity,)
        return (identity, Symmetry(cells[:, ::-1].ravel(), actions[::-1].copy()))

    return Game(
        name="connect-four",
        parameters={"rows": rows, "columns": columns, "connect": connect},
        rules=rules,
        notation=ConnectFourNotation(rows, columns, connect),
        num_actions=columns,
        observation_shape=(rows, columns, 2),
        observation_high=1,
        max_plies=rows * columns,
        unit="win",
        decoder=decode,
        symmetries=symmetries,
        outside_forms=make_forms,
        about=About(
            title="Connect Four",
            summary=f"drop stones into columns; {connect} in a row, column or diagonal win",
            axes=("row, from the top", "column, from the left"),
            planes=("own stones", "the other's stones"),
            actions="the column, from 0 at the left",
            end=f"{connect} stones of one side are in a line, or the board is full (a draw)",
            length=f"every move fills one of {rows} * {columns} cells",
        ),
    )
