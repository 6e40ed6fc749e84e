"""Games of people: WTHOR files of Reversi, the French federation's form.

A WTHOR file (.wtb), little endian: 16 bytes of header (century, year, month, day; int32 number of games; uint16 unused;
uint16 year of the games; bytes: size of board, 0 or 8 for 8 x 8, kind, empty squares at which the theoretical score was
computed, unused), then 68 bytes a game: uint16 tournament, black and white player, byte black's score (empty squares to
the winner), byte theoretical score, 60 moves as 10 * row + column, both from 1, 0 after the end; passes are not stored.

What is read is replayed. A game that ends early or whose recorded score is not what its moves lead to is kept and
reported; one with an illegal move is reported and left out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import board_envs
from board_agents.arena.records.game_record import Ending, GameRecord, RecordError
from board_agents.arena.records.outside_forms import Remark
from board_envs.game import Game
from board_envs.games.reversi import score
from board_envs.types import IllegalActionError, Outcome

HEADER = struct.Struct("<4BiHH4B")
GAME = struct.Struct("<3H2B60s")
SCORE_RULE = "empties-to-winner"


def read_wthor(source: str, report: Callable[[Remark], None]) -> Iterator[GameRecord]:
    """Yield the games of a WTHOR file; remarks go to `report`.

    Raises:
        RecordError: the file is none of 8 x 8 games, or not as long as its header says.

    """
    data = Path(source).read_bytes()
    if len(data) < HEADER.size:
        raise RecordError(f"{source}: no WTHOR file, it has {len(data)} bytes and the header alone {HEADER.size}")
    _, _, _, _, count, _, year, size, *_ = HEADER.unpack_from(data)
    if size not in (0, 8):
        raise RecordError(f"{source}: games on a board of size {size}; WTHOR games on 8 x 8 are read")
    if count < 0 or len(data) != HEADER.size + count * GAME.size:
        raise RecordError(
            f"{source}: {len(data)} bytes, but {count} games, as its header says, are {HEADER.size + count * GAME.size}"
        )
    game = board_envs.make_game("reversi")
    for number in range(1, count + 1):
        _, black, white, recorded, _, squares = GAME.unpack_from(data, HEADER.size + (number - 1) * GAME.size)
        names = (f"player {black} ({year})", f"player {white} ({year})")
        record = _game(game, number, names, list(_texts(squares)), recorded, report)
        if record is not None:
            yield record


def _texts(squares: bytes) -> Iterator[str]:
    """Write the moves up to the first 0; a byte that is no square stays what it is, so that it is refused by name."""
    for square in squares:
        if square == 0:
            return
        row, column = divmod(square, 10)
        yield f"{'abcdefgh'[column - 1]}{row}" if 1 <= row <= 8 and 1 <= column <= 8 else f"byte {square}"


def _game(
    game: Game[Any],
    number: int,
    names: tuple[str, str],
    moves: list[str],
    recorded: int | None,
    report: Callable[[Remark], None],
) -> GameRecord | None:
    """Replay one game; None if a move is illegal. `recorded` is black's score as it was told."""
    state, actions = game.initial_state(), []
    for ply, move in enumerate(moves, 1):
        try:
            action = game.text_to_action(state, move)
            state = game.step(state, action)
        except IllegalActionError as error:
            report(Remark(number, "left out", f"move {ply}: {error}"))
            return None
        actions.append(action)
    over = game.is_terminal(state)
    details = []
    if not over:
        details.append(f"unfinished after {len(actions)} moves")
        report(Remark(number, "unfinished", details[-1]))
    elif recorded is not None:
        found = (64 + score(state, SCORE_RULE)) // 2
        if found != recorded:
            details.append(f"recorded score of black {recorded}, its moves lead to {found}")
            report(Remark(number, "result", details[-1]))
    return GameRecord(
        game=game.name,
        parameters=dict(game.parameters),
        agents=names,
        seeds=(0, 0),
        opening=(),
        opening_number=number,
        actions=tuple(actions),
        ending=Ending.FINISHED if over else Ending.UNFINISHED,
        offender=-1,
        winner=int(game.winner(state)) if over else int(Outcome.ONGOING),
        margin=game.margin(state),
        final=game.format(state),
        detail="; ".join(details),
    )
