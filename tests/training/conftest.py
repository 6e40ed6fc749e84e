"""The examples are programs, not a package: the tests import them by their folders."""

import sys
from pathlib import Path

import numpy as np
import pytest

_EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path[:0] = [str(_EXAMPLES), str(_EXAMPLES / "recipes")]


@pytest.fixture
def one_legal_move():
    """Return a function ``game -> state`` that finds a position with a single legal action by random play."""

    def find(game):
        rng = np.random.default_rng(0)
        while True:
            state = game.initial_state()
            while not game.is_terminal(state):
                legal = game.legal_actions(state)
                if len(legal) == 1:
                    return state
                state = game.step(state, int(rng.choice(legal)))

    return find
