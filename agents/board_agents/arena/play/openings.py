"""Openings, random by a seed or read from a file, so that agents that always answer alike do not repeat one game."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from board_envs.forms import read_file
from board_envs.game import Game
from board_envs.random import Stream

FIRST_DEPTH = 2
"""Plies of an opening, as long as there are enough different ones of that length."""
DRAWS = 32
"""Draws in vain after which openings grow by a ply."""


class Opening(NamedTuple):
    """How a game begins.

    Attributes:
        start: a position as text, empty for the usual one.
        actions: moves from there; the game goes on after them.

    """

    start: str
    actions: tuple[int, ...]


def read_openings(
    game: Game[Any],
    source: str | Path,
    report: Callable[[int, str], None],
    *,
    plies: int | None = None,
    form: str | None = None,
) -> list[tuple[str, Opening]]:
    """Return (form, opening) of each position, list of moves or game of a file, in any form of the game.

    Args:
        game: the game.
        source: the file.
        report: called with (line, what is wrong) for what does not read, and for openings that end the game; these are
            left out.
        plies: of longer lists of moves and games, the first ones only.
        form: the only form to read; None finds it.

    Raises:
        PositionError: the file is none of the form.

    """
    openings = []
    for item in read_file(game, source, form):
        if item.error:
            report(item.line, item.error)
            continue
        if not item.actions:
            initial = game.same_position(item.state, game.initial_state())
            opening = Opening("" if initial else game.format(item.state), ())
        else:
            opening = Opening("" if item.start is None else game.format(item.start), item.actions[:plies])
        state = game.states(opening.actions, game.parse(opening.start) if opening.start else None)[-1]
        if game.is_terminal(state):
            report(item.line, f"the game is over after this opening ({game.format(state)})")
            continue
        openings.append((item.form, opening))
    return openings


def make_openings(
    game: Game[Any], count: int, seed: int, *, plies: int | None = None, start: str = ""
) -> list[tuple[int, ...]]:
    """Draw openings: sequences of random legal actions after which the game goes on.

    No two lead to the same position in the mover's view, or to images of one under the board's symmetries, as long as
    that is possible; in a game too small for `count` different ones they recur in turn. The first k of a longer list
    are the list of k, so that a match can be continued.

    Args:
        game: the game.
        count: how many.
        seed: the same seed gives the same openings everywhere.
        plies: their length; None begins with 2 and lengthens them when no new ones are found.
        start: a position to begin from, as text; empty for the usual one.

    """
    if plies is not None and plies < 0:
        raise ValueError(f"an opening has 0 plies or more, not {plies}")
    state = game.parse(start) if start else game.initial_state()
    stream = Stream.seeded(seed)
    depth = FIRST_DEPTH if plies is None else plies
    seen: set[bytes] = set()
    openings: list[tuple[int, ...]] = []
    while len(openings) < count:
        drawn = False
        for _ in range(DRAWS):
            actions, end = _draw(game, state, depth, stream)
            if end is None:
                continue
            drawn = True
            if (key := mover_key(game, end)) not in seen:
                seen.add(key)
                openings.append(actions)
                break
        else:
            if drawn and plies is None:
                depth += 1
            elif openings:  # no new ones to be had
                return [openings[number % len(openings)] for number in range(count)]
            elif depth == 0 or plies is not None:
                raise ValueError(f"every game of {game!r} from {game.format(state)!r} is finished after {depth} plies")
            else:
                depth -= 1
    return openings


def _draw(game: Game[Any], state: Any, plies: int, stream: Stream) -> tuple[tuple[int, ...], Any]:
    """Play random actions; the state is None if the game ends on the way."""
    actions = []
    for _ in range(plies):
        count = game.rules.count(state)
        if count == 0:
            return (), None
        action = int(game.rules.nth(state, stream.below(count)))
        actions.append(action)
        state = game.rules.step(state, action)
    return tuple(actions), None if game.is_terminal(state) else state


def position_key(game: Game[Any], state: Any) -> bytes:
    """Return bytes that are equal for images of one position under the game's symmetries."""
    return mover_key(game, state) + bytes([game.current_player(state)])


def mover_key(game: Game[Any], state: Any) -> bytes:
    """Return bytes that are equal for images of one position, whichever seat is to move."""
    observation = game.observe(state, game.current_player(state))
    return min(symmetry.observation(observation).tobytes() for symmetry in game.symmetries())
