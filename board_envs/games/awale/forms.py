"""Forms of Awalé: pits as letters, and positions as numbers between dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from board_envs.forms import Form, Item, common_forms, from_the_start, play, short
from board_envs.games.awale.notation import LETTERS
from board_envs.types import PositionError

_SEATS = "SN"
"""South is player_0, who begins; north is player_1."""


def make_forms(game: Any) -> tuple[Form, ...]:
    """Return the forms of one size."""
    pits = game.parameters["pits"]
    numbers = 2 * pits + 2
    dashes = re.compile(rf"\s*((?:[0-9]{{1,3}}-){{{numbers}}})([SN])\s*", re.ASCII | re.IGNORECASE)
    letters = re.compile(rf"\s*[{LETTERS[0][:pits]}{LETTERS[1][:pits]}]+\s*", re.ASCII)

    def read_dashes(text: str) -> Iterator[Item]:
        match = dashes.fullmatch(text)
        if match is None:
            raise PositionError(f"{short(text)}: a position is {2 * pits} pits, two stores and S or N, dashes between")
        fields = match[1].split("-")[:-1]
        south, north, stores = fields[:pits], fields[pits : 2 * pits], fields[2 * pits :]
        seat = _SEATS.index(match[2].upper())
        own, other = (south, north) if seat == 0 else (north, south)
        own_store, other_store = stores[seat], stores[1 - seat]
        yield Item(state=game.notation.parse(f"{','.join(own + other)};{own_store},{other_store} {seat}"))

    def write_dashes(item: Item) -> str:
        text = game.format(item.state)
        if text.endswith("mat"):
            raise PositionError(f"dashes cannot say that a mat ended the game: {text}")
        seat = game.current_player(item.state)
        board, _, rest = text.partition(";")
        fields, stores = board.split(","), rest.split(" ")[0].split(",")
        south, north = (fields[:pits], fields[pits:]) if seat == 0 else (fields[pits:], fields[:pits])
        return "-".join([*south, *north, stores[seat], stores[1 - seat], _SEATS[seat]])

    def read_letters(text: str) -> Iterator[Item]:
        actions, state = play(game, text)
        yield Item(state=state, actions=actions)

    def write_letters(item: Item) -> str:
        actions = from_the_start(game, item, "letters")
        seats = map(game.current_player, game.states(actions))
        return "".join(LETTERS[seat][action] for seat, action in zip(seats, actions, strict=False))

    return (
        Form(
            "dashes",
            "position",
            "the pits of south (player_0) and of north anticlockwise, their stores, and S or N to move",
            write_dashes(Item(state=game.initial_state())),
            sniff=re.compile(r"\s*[0-9]+(?:-[0-9]+)+-[A-Z]\s*", re.ASCII | re.IGNORECASE).fullmatch,
            read=read_dashes,
            write=write_dashes,
        ),
        *common_forms(game),
        Form(
            "letters",
            "moves",
            "moves as letters: capitals are player_0's pits, small letters player_1's, each from its first pit",
            "A",
            sniff=letters.fullmatch,
            read=read_letters,
            write=write_letters,
        ),
    )
