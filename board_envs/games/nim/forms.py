"""Forms of Nim: heaps as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from board_envs.forms import Form, Item, common_forms, short
from board_envs.types import PositionError

_NUMBER = "[0-9]{1,9}"
_SEAT = r"(?:\s+(?P<seat>[01]))?"
_SPELLINGS = [
    # Blanks alone leave no room for a seat to move: it would look like one heap more.
    re.compile(rf"\s*(?P<heaps>{_NUMBER}(?:\s+{_NUMBER})+)(?P<seat>(?!))?\s*", re.ASCII),
    re.compile(rf"\s*(?P<heaps>{_NUMBER}(?:\s*,\s*{_NUMBER})*){_SEAT}\s*", re.ASCII),
    re.compile(rf"\s*(?P<heaps>{_NUMBER}(?:-{_NUMBER})+){_SEAT}\s*", re.ASCII),
    re.compile(rf"\s*[\[(]\s*(?P<heaps>{_NUMBER}(?:\s*,\s*{_NUMBER})*),?\s*[\])]{_SEAT}\s*", re.ASCII),
]

_PAIR = re.compile(rf"\s*\(\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\)\s*", re.ASCII)
"""A move (heap, count), or a position of two heaps."""


def make_forms(game: Any) -> tuple[Form, ...]:
    """Return the forms of given initial heaps."""
    pair_is_move = len(game.parameters["heaps"]) != 2

    def match_of(text: str) -> re.Match[str] | None:
        if pair_is_move and _PAIR.fullmatch(text):
            return None
        return next(filter(None, (spelling.fullmatch(text) for spelling in _SPELLINGS)), None)

    def read(text: str) -> Iterator[Item]:
        match = match_of(text)
        if match is None:
            raise PositionError(f"{short(text)}: heaps are like 3 4 5, 3-4-5, [3, 4, 5] or 3, 4, 5")
        heaps = ",".join(re.findall(_NUMBER, match["heaps"]))
        yield Item(state=game.notation.parse(f"{heaps} {match['seat'] or 0}"))

    def write(item: Item) -> str:
        heaps, _, seat = game.format(item.state).partition(" ")
        return f"[{heaps.replace(',', ', ')}]" + (" 1" if seat == "1" else "")

    return (
        Form(
            "heaps",
            "position",
            "the heaps between blanks, dashes or commas, with or without brackets",
            write(Item(state=game.initial_state())),
            sniff=match_of,
            read=read,
            write=write,
        ),
        *common_forms(game),
    )
