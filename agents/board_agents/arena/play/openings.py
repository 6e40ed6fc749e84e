"""Openings, random or read from a file, so that deterministic agents do not repeat one game."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from board_envs.forms import read_file
from board_envs.game import Game
from board_envs.random import Stream

FIRST_DEPTH = 2
"""Default length of an opening in plies; longer if there are too few distinct ones."""
DRAWS = 32
"""Failed draws after which openings grow by a ply."""


class Opening(NamedTuple):
    """The start of a game.

    Attributes:
        start: a position as text, empty for the initial position.
        actions: moves from there; they do not end the game.

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
        report: called with (line, error) for text that cannot be parsed, and for openings that end the game; both are
            skipped.
        plies: use only the first plies of longer lists of moves and games.
        form: the form of the file; None detects it.

    Raises:
        PositionError: the file does not have the form.

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
    """Draw openings: sequences of random legal actions that do not end the game.

    No two lead to the same position in the mover's view, or to its images under the board's symmetries, as long as
    that is possible; in a game too small for `count` distinct ones they repeat in order. The first k of a longer list
    equal the list of k, so that a match can be continued.

    Args:
        game: the game.
        count: number of openings.
        seed: the same seed gives the same openings everywhere.
        plies: their length; None starts with 2 and increases it when no new ones are found.
        start: position to start from, as text; empty for the initial position.

    """
    if plies is not None and plies < 0:
        raise ValueError(f"plies must be 0 or more, not {plies}")
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
            elif openings:  # no new ones exist
                return [openings[number % len(openings)] for number in range(count)]
            elif depth == 0 or plies is not None:
                raise ValueError(f"every game of {game!r} from {game.format(state)!r} is finished after {depth} plies")
            else:
                depth -= 1
    return openings


def _draw(game: Game[Any], state: Any, plies: int, stream: Stream) -> tuple[tuple[int, ...], Any]:
    """Play random actions; the state is None if they end the game."""
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
    """Return bytes that are equal for images of one position, for either seat to move."""
    observation = game.observe(state, game.current_player(state))
    return min(symmetry.observation(observation).tobytes() for symmetry in game.symmetries())
