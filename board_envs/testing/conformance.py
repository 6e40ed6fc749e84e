"""Checks of a game's rules, observation and notation."""

from __future__ import annotations

from typing import Any

import numpy as np

from board_envs.game import Game
from board_envs.random import Stream
from board_envs.types import IllegalActionError, Outcome

LONGEST = 10_000
"""Plies after which a random game counts as endless, where the game states no bound."""


def perft(game: Game[Any], depth: int, state: Any = None) -> int:
    """Return the number of move sequences of `depth` plies from a state (None: the initial one); ends end them."""
    state = game.initial_state() if state is None else state
    if depth <= 0:
        return 1
    rules = game.rules
    number = rules.count(state)
    if depth == 1:
        return number
    return sum(perft(game, depth - 1, rules.step(game.own(state), rules.nth(state, k))) for k in range(number))


def check_rules(game: Game[Any], games: int = 50, seed: int = 0) -> None:
    """Play random games and check at every position that the game's functions agree."""
    stream = Stream.seeded(seed)
    for _ in range(games):
        state, actions = game.initial_state(), []
        assert not game.is_terminal(state), f"{game!r} is over before it begins"
        while not game.is_terminal(state):
            check_position(game, state)
            legal = game.legal_actions(state)
            action = legal[stream.below(len(legal))]
            before = game.pack(state)
            after = game.step(state, action)
            assert np.array_equal(game.pack(state), before), f"a step changed its state: {_at(game, state)}"
            _check_symmetries(game, state, action, after)
            state = after
            actions.append(action)
            bound = game.max_plies or LONGEST
            assert len(actions) <= bound, f"{game!r}: a game of more than {bound} plies"
        check_position(game, state)
        again = game.from_moves(game.write_moves(actions))
        assert game.same_position(again, state), f"the written moves lead elsewhere: {game.write_moves(actions)}"


def check_position(game: Game[Any], state: Any) -> None:
    """Check one position, also a finished one."""
    at = _at(game, state)
    rules, n = game.rules, game.num_actions
    mask = game.legal_mask(state)
    assert mask.dtype == np.int8, f"the mask is {mask.dtype}, not int8: {at}"
    assert mask.shape == (n,), f"the mask has shape {mask.shape}, not {(n,)}: {at}"
    legal = np.flatnonzero(mask).tolist()
    assert set(mask.tolist()) <= {0, 1}, f"the mask holds other than 0 and 1: {at}"
    assert rules.count(state) == len(legal), f"count is {rules.count(state)}, the mask has {len(legal)}: {at}"
    assert [rules.nth(state, k) for k in range(len(legal))] == legal, f"nth and mask differ: {at}"
    assert [a for a in range(n) if game.is_legal(state, a)] == legal, f"is_legal and mask differ: {at}"
    dirty = np.full(n, 7, np.int8)
    rules.write_mask(state, dirty)
    assert np.array_equal(dirty, mask), f"write_mask leaves entries unwritten: {at}"

    over = not legal
    winner = game.winner(state)
    first, second = game.returns(state)
    assert game.is_terminal(state) == over, f"is_terminal and mask differ: {at}"
    assert (winner is Outcome.ONGOING) != over, f"winner is {winner!r}, over is {over}: {at}"
    assert first + second == 0, f"returns are {first} and {second}: {at}"
    expected = {0: (1, -1), 1: (-1, 1)}.get(int(winner), (0, 0))
    assert (first, second) == expected, f"returns are {first} and {second}, winner {winner!r}: {at}"
    for action in (-1, n, 0.5, None, True, *([] if not over else [0])):
        try:
            game.step(state, action)  # type: ignore[arg-type]
        except IllegalActionError:
            continue
        raise AssertionError(f"action {action!r} was played: {at}")

    words = np.zeros(rules.words, np.uint64)
    rules.pack(state, words)
    memory = next((part for part in state if isinstance(part, np.ndarray)), np.zeros((0, 2), np.uint64))
    unpacked = rules.unpack(words, memory)
    assert np.array_equal(game.pack(unpacked), game.pack(state)), f"unpack does not undo pack: {at}"
    for seat in (0, 1):
        board = game.observe(state, seat)
        assert board.dtype == np.int8, f"an observation is {board.dtype}, not int8: {at}"
        assert board.shape == game.observation_shape, f"an observation has shape {board.shape}: {at}"
        assert board.min() >= 0, f"an observation holds {board.min()}: {at}"
        assert board.max() <= game.observation_high, f"an observation holds {board.max()}: {at}"
        dirty = np.full(game.observation_shape, 99, np.int8)
        rules.observe(state, seat, dirty)
        assert np.array_equal(dirty, board), f"observe leaves entries unwritten: {at}"
    if over:
        return
    mover = game.current_player(state)
    decoded = game.decode(game.observe(state, mover), mover)
    assert game.same_position(decoded, state), f"decode gives {game.format(decoded)}: {at}"
    parsed = game.parse(game.format(state))
    assert game.same_position(parsed, state), f"parse(format) gives {game.format(parsed)}: {at}"
    for action in legal:
        text = game.action_to_text(state, action)
        assert game.text_to_action(state, text) == action, f"the move {text!r} is not action {action}: {at}"


def _check_symmetries(game: Game[Any], state: Any, action: int, after: Any) -> None:
    """The image of a position has the image's legal moves, and its moves lead to images."""
    mover = game.current_player(state)
    for number, symmetry in enumerate(game.symmetries()):
        image = game.decode(symmetry.observation(game.observe(state, mover)), mover)
        at = f"symmetry {number}, {_at(game, state)}"
        mask = symmetry.policy(game.legal_mask(state))
        assert np.array_equal(game.legal_mask(image), mask), f"the mask is not mapped: {at}"
        if game.rules.has_memory:
            continue  # The image lacks the history, on which the next position can depend.
        image_after = game.step(image, symmetry.action(action))
        for seat in (0, 1):
            mapped = symmetry.observation(game.observe(after, seat))
            assert np.array_equal(game.observe(image_after, seat), mapped), f"action {action} is not mapped: {at}"


def _at(game: Game[Any], state: Any) -> str:
    return f"{game!r} at {game.format(state)}"
