"""All checks of a game, by its name: what a package with a game of its own runs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

from board_envs.envs.single import BoardEnv
from board_envs.forms import Item, read_text, write_text
from board_envs.game import Game
from board_envs.pictures.svg import picture, svg
from board_envs.random import Stream
from board_envs.registration import env, raw_env
from board_envs.registry import game_samples, make_game
from board_envs.testing.conformance import LONGEST, check_rules
from board_envs.testing.environments import check_env
from board_envs.testing.frameworks import check_gymnasium, check_pettingzoo
from board_envs.testing.vectors import check_vector
from board_envs.types import IllegalActionError, MissingExtraError, PositionError


def check_game(name: str, report: Callable[[str], None] = lambda line: None) -> None:
    """Check a registered game at its usual size and at those of its module's ``SAMPLES``.

    Rules, notation, symmetries and `decode` (`check_rules`); copies and pickles; forms; drawings; the environments,
    also by PettingZoo's and Gymnasium's checkers; the vectorised environment against the scalar one, for which
    numba compiles the rules.

    Args:
        name: of the game; add yours with `board_envs.add_game`, or install its package.
        report: called with a line as each check begins, and where one is left out because numba is not installed.

    Raises:
        AssertionError: what is broken, and where.

    """
    for parameters in game_samples(name):
        game = make_game(name, **parameters)
        for check, function in CHECKS.items():
            report(f"{game!r}: {check}")
            try:
                function(game)
            except MissingExtraError as error:
                report(f"{game!r}: {check} left out: {error}")
            except AssertionError as error:
                raise AssertionError(f"{game!r}: {check}: {error}") from error


def check_copies(game: Game[Any]) -> None:
    """Check that a game and its states survive copies and pickles."""
    for again in (copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert again is game, f"a copy of {game!r} is another game; does make() keep what it made?"
    for state in random_states(game, 3):
        for twin in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert type(twin) is type(state), f"a pickled state is a {type(twin).__name__}"
            assert game.same_position(twin, state), f"a pickled state differs: {game.format(state)}"
            assert game.legal_actions(twin) == game.legal_actions(state)
        game.check_state(state)


def check_forms(game: Game[Any]) -> None:
    """Check that each form reads its own example at the usual size, and what it writes of random games."""
    if dict(game.parameters) == dict(make_game(game.name).parameters):
        for form in game.forms:
            if form.read_file is None:
                (item,) = read_text(game, form.example)
                assert not item.error, f"form {form.name!r} does not read its example: {item.error}"
                assert item.form == form.name, f"form {item.form!r} takes the example of {form.name!r}"
    for form in game.forms:
        for seed in range(3 if form.write is not None else 0):
            states, actions = _random_game(game, seed)
            item = Item(state=states[-1], actions=() if form.kind == "position" else tuple(actions))
            try:
                text = write_text(game, [item], form.name)
            except PositionError:  # the form cannot express it
                continue
            (again,) = read_text(game, text, form.name)
            assert not again.error, f"form {form.name!r} does not read what it writes: {again.error}"
            assert game.same_position(again.state, item.state), f"form {form.name!r} reads another position: {text}"
            assert tuple(again.actions) == item.actions, f"form {form.name!r} reads other moves: {text}"
    states, actions = _random_game(game, 0)
    moves = game.move_names(actions[:3], states)
    assert game.read_moves(moves) == actions[:3], f"moves one by one read otherwise: {moves}"
    wrong = [",".join(["", *moves]), "\u0663", *([",,".join(moves)] if len(moves) > 1 else [])]
    for text in wrong:
        try:
            read = game.read_moves(text)
        except IllegalActionError:
            continue
        raise AssertionError(f"{text!r} reads as the moves {read}")


def check_drawings(game: Game[Any]) -> None:
    """Check that positions are drawn as text and as SVG that holds every shape, inside its area."""
    for state in random_states(game, 7):
        at = game.format(state)
        assert game.draw(state).strip(), f"nothing is drawn: {at}"
        drawn = picture(game, state)
        assert drawn.shapes, f"the picture is empty: {at}"
        for shape in drawn.shapes:
            inside = 0 <= shape.x <= drawn.width and 0 <= shape.y <= drawn.height
            assert inside, f"{shape} is outside of {drawn.width:g} x {drawn.height:g}: {at}"
        root = ElementTree.fromstring(svg(game, state))
        assert len(root) == len(drawn.shapes), f"the SVG has {len(root)} of {len(drawn.shapes)} shapes: {at}"


def check_environments(game: Game[Any]) -> None:
    """Run `check_env` on the environments of a game, in several forms."""
    name, parameters = game.name, game.parameters
    check_env(lambda: raw_env(name, **parameters), games=2)
    check_env(lambda: env(name, mask_in="info", flat=True, **parameters), games=2)
    check_env(lambda: BoardEnv(game), games=2)
    check_env(lambda: BoardEnv(game, opponent=None, mask_in="observation"), games=2)


CHECKS: dict[str, Callable[[Game[Any]], None]] = {
    "rules": lambda game: check_rules(game, games=5),
    "copies": check_copies,
    "forms": check_forms,
    "drawings": check_drawings,
    "environments": check_environments,
    "PettingZoo's checkers": check_pettingzoo,
    "Gymnasium's checker": check_gymnasium,
    "vectorised environment": check_vector,
}
"""What `check_game` runs, in this order."""


def random_states(game: Game[Any], seed: int) -> Iterator[Any]:
    """Yield the states of a random game, the finished one included."""
    yield from _random_game(game, seed)[0]


def _random_game(game: Game[Any], seed: int) -> tuple[list[Any], list[int]]:
    stream, states, actions = Stream.seeded(seed), [game.initial_state()], list[int]()
    while len(actions) < LONGEST and (legal := game.legal_actions(states[-1])):
        actions.append(legal[stream.below(len(legal))])
        states.append(game.step(states[-1], actions[-1]))
    return states, actions
