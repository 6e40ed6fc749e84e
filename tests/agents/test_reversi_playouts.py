"""Compiled random games and leaf counts of Reversi against the interpreted rules."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba")

from board_agents.games.reversi.playouts import perft, playouts
from board_envs import make_game
from board_envs.games.reversi.tiers import tier_names
from board_envs.random import below, draw, key_of

PERFT = json.loads((pathlib.Path(__file__).parent.parent / "data" / "reversi_perft.json").read_text())["paths"]


def slow(game, state, count, seed):
    """The same games by the interpreted rules: draw number `ply` of the stream of game i, a lost turn no ply."""
    key, margins, plies = key_of(np.uint64(seed)), [], 0
    for i in range(count):
        stream, at, ply = draw(key, np.uint64(i)), state, 0
        while not game.is_terminal(at):
            k = below(draw(stream, np.uint64(ply)), game.rules.count(at))
            at = game.rules.step(at, game.rules.nth(at, k))
            ply += 1
        margins.append(game.margin(at))
        plies += ply
    return margins, plies


@pytest.mark.parametrize("tier", tier_names())
def test_playouts_equal_the_interpreted_rules(tier):
    game = make_game("reversi")
    for moves, counts in (("", (0, 1, 2, 7)), ("d3", (5,)), ("d3c3c4", (30,))):
        state = game.from_moves(moves)
        for count in counts:
            margins, plies = playouts(game, state, count, 5, tier)
            assert (margins.tolist(), plies) == slow(game, state, count, 5)
            assert margins.dtype == np.int8


@pytest.mark.parametrize("size", [4, 6])
def test_playouts_on_small_boards(size):
    game = make_game("reversi", size=size)
    state = game.initial_state()
    margins, plies = playouts(game, state, 101, 9)
    assert (margins.tolist(), plies) == slow(game, state, 101, 9)


def test_playouts_of_a_finished_game():
    game = make_game("reversi")
    state = game.from_moves("d3c3b3d2e1d6d7e3f4")
    margins, plies = playouts(game, state, 4, 0)
    assert margins.tolist() == [13] * 4
    assert plies == 0


def test_leaf_counts_to_depth_eleven():
    game = make_game("reversi")
    for depth, expected in enumerate(PERFT[:12]):
        assert perft(game, depth) == expected
    for tier in tier_names()[1:]:
        assert perft(game, 9, tier) == PERFT[9]


def test_a_processor_without_vectors_gets_the_portable_form():
    """Compiled for the plainest processor of this kind, both forms that exist there count right."""
    program = (
        "from board_envs import make_game; from board_envs.games.reversi.tiers import tier_names;"
        "from board_agents.games.reversi.playouts import perft;"
        "print(tier_names(), [perft(make_game('reversi'), 6, tier) for tier in (None, 'vector')])"
    )
    plain = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    done = subprocess.run([sys.executable, "-c", program], env=plain, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "('portable', 'vector') [8200, 8200]"


def test_bad_numbers_are_refused():
    game = make_game("reversi")
    for count, seed in ((-1, 0), (1, -1), (1, 2**63)):
        with pytest.raises(ValueError, match=r"."):
            playouts(game, game.initial_state(), count, seed)
    with pytest.raises(ValueError, match="depth must be"):
        perft(game, -1)
