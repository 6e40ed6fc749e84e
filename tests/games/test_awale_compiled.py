"""Awalé compiled: the same games as interpreted, memories in an array outside included."""

import functools
import random

import numpy as np
import pytest

from board_envs._jit import kernel
from board_envs.games.awale import make

pytest.importorskip("numba")


@functools.cache
def _player(pits, seeds, ruleset):
    rules = make(pits, seeds, ruleset).rules
    unpack, pack, step, observe, write_mask, count, nth = (
        rules.unpack,
        rules.pack,
        rules.step,
        rules.observe,
        rules.write_mask,
        rules.count,
        rules.nth,
    )
    memory_length, compact, winner, margin = rules.memory_length, rules.compact, rules.winner, rules.margin

    @kernel
    def play(words, memory, choices, out, seen, mask):
        """Play until the game is over; out gets one row of (action, winner, margin, memory length) a ply."""
        plies = 0
        while True:
            state = unpack(words, memory)
            observe(state, 0, seen[plies, 0])
            observe(state, 1, seen[plies, 1])
            write_mask(state, mask[plies])
            n = count(state)
            if n == 0 or plies == choices.shape[0]:
                return plies
            if memory_length(state) == memory.shape[0]:
                state = compact(state)
            action = nth(state, choices[plies] % n)
            after = step(state, action)
            pack(after, words)
            out[plies, 0] = action
            out[plies, 1] = winner(after)
            out[plies, 2] = margin(after)
            out[plies, 3] = after.length - after.start
            plies += 1

    return play


@pytest.mark.parametrize("ruleset", ["tamale", "abapa"])
def test_compiled_games_are_the_interpreted_ones(ruleset):
    pits, seeds, plies = 8, 7, 800
    game, play, rng = make(pits, seeds, ruleset), _player(pits, seeds, ruleset), random.Random(2)
    compacted = 0
    for _ in range(12):
        words = np.zeros(game.rules.words, np.uint64)
        game.rules.pack(game.initial_state(), words)
        memory = np.zeros((240, 2), np.uint64)
        choices = np.array([rng.randrange(5040) for _ in range(plies)])
        out, mask = np.zeros((plies, 4), np.int64), np.zeros((plies + 1, pits), np.int8)
        seen = np.zeros((plies + 1, 2, pits, 5), np.int8)
        length = play(words, memory, choices, out, seen, mask)
        compacted += length > len(memory)
        state = game.initial_state()
        for ply in range(length):
            for seat in (0, 1):
                assert np.array_equal(game.observe(state, seat), seen[ply, seat])
            assert np.array_equal(game.legal_mask(state), mask[ply])
            state = game.step(state, int(out[ply, 0]))
            expected = [game.winner(state), game.margin(state), state.length - state.start]
            assert out[ply, 1:].tolist() == expected
        assert game.is_terminal(state)
        assert np.array_equal(game.pack(state), words[:3])
    assert compacted
    assert len(play.signatures) == 1


def test_compiled_steps_go_on_without_room():
    game = make(4, 3)
    play = _player(4, 3, "tamale")
    rng = random.Random(1)
    words = np.zeros(game.rules.words, np.uint64)
    game.rules.pack(game.initial_state(), words)
    out, seen = np.zeros((0, 4), np.int64), np.zeros((1, 2, 4, 5), np.int8)
    assert play(words, np.zeros((1, 2), np.uint64), np.zeros(0, np.int64), out, seen, np.zeros((1, 4), np.int8)) == 0

    rules = game.rules
    unpack, step, count, nth, winner = rules.unpack, rules.step, rules.count, rules.nth, rules.winner

    @kernel
    def finish(words, memory, choices):
        state = unpack(words, memory)
        plies = 0
        while count(state):
            state = step(state, nth(state, choices[plies] % count(state)))
            plies += 1
        return plies * 10 + winner(state)

    for _ in range(100):
        choices = np.array([rng.randrange(24) for _ in range(1000)])
        state, plies = game.initial_state(), 0
        while not game.is_terminal(state):
            legal = game.legal_actions(state)
            state = game.step(state, legal[choices[plies] % len(legal)])
            plies += 1
        assert finish(words, np.zeros((0, 2), np.uint64), choices) == plies * 10 + game.winner(state)
