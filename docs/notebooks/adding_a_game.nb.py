# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     name: python3
#     display_name: Python 3
#     language: python
# ---

# %% [markdown]
# # Adding a game
#
# A game of your own in one sitting: one heap of objects, one to three are taken by turns, and whoever takes the last one wins. With that it has
# environments, agents, exact values and conformance checks.

# %%
import sys
from typing import NamedTuple

import gymnasium
import numpy as np

from board_agents import make_agent, make_oracle
from board_agents.arena import tournament
from board_envs import make_game
from board_envs.authoring import (
    Game,
    IllegalActionError,
    PositionError,
    Rules,
    Symmetry,
    add_game,
    as_int,
    check_int,
    jitable,
)
from board_envs.testing import check_env, check_rules

# %% [markdown]
# ## Rules
#
# Pure functions of an immutable state. `@jitable` lets the same source run interpreted and compiled.

# %%
MOST = 3


class State(NamedTuple):
    """A position: objects left, and the seat to move."""

    left: int
    seat: int


def make_rules(objects):
    """Return the rules for a heap of this many objects."""

    @jitable
    def initial():
        return State(objects, 0)

    @jitable
    def to_play(state):
        return state.seat

    @jitable
    def count(state):
        return min(state.left, MOST)

    @jitable
    def nth(state, k):
        return k

    @jitable
    def is_legal(state, action):
        return action < state.left

    @jitable
    def write_mask(state, out):
        for action in range(MOST):
            out[action] = 1 if action < state.left else 0

    @jitable
    def step(state, action):
        return State(state.left - action - 1, 1 - state.seat)

    @jitable
    def winner(state):
        return -1 if state.left > 0 else 1 - state.seat

    @jitable
    def margin(state):
        return 0 if state.left > 0 else 2 * state.seat - 1

    @jitable
    def observe(state, seat, out):
        out[0] = state.left

    @jitable
    def pack(state, out):
        out[0] = np.uint64(state.left)
        out[1] = np.uint64(state.seat)

    @jitable
    def unpack(words, memory):
        return State(as_int(words[0]), as_int(words[1] & np.uint64(1)))

    return Rules(
        initial, to_play, count, nth, is_legal, write_mask, step, winner, margin, observe, pack, unpack, words=2
    )


# %% [markdown]
# ## Notation
#
# Positions and moves as text; whatever does not read is refused by name.


# %%
class Notation:
    """Positions are the objects left and the seat, moves the number taken."""

    legend = "how many are taken, 1 to 3"

    def __init__(self, objects):
        self.objects = objects

    def parse(self, text):
        """Read "5 0"."""
        left, _, seat = text.strip().partition(" ")
        if not (left.isdecimal() and int(left) <= self.objects and seat in ("", "0", "1")):
            raise PositionError(f"{text!r}: expected 0 to {self.objects} objects and the seat to move, as in '5 0'")
        return State(int(left), int(seat or 0))

    def format(self, state):
        """Write "5 0"."""
        return f"{state.left} {state.seat}"

    def action_to_text(self, state, action):
        """Write the number taken."""
        return str(action + 1)

    def text_to_action(self, state, text):
        """Read the number taken."""
        if text.strip() not in ("1", "2", "3"):
            raise IllegalActionError(f"{text!r} is not a move; moves are 1, 2, 3")
        return int(text) - 1

    def split_moves(self, text):
        """Cut "3 1 2"."""
        return text.split()

    def join_moves(self, moves):
        """Write "3 1 2"."""
        return " ".join(moves)

    def draw(self, state):
        """Draw a stroke an object."""
        return "|" * state.left or "-"


# %% [markdown]
# ## The game

# %%
_MADE = {}


def make(objects=21):
    """Return the game; the same parameters give the same object."""
    objects = check_int("take-away", "objects", objects, 1, 127)
    if objects not in _MADE:
        _MADE[objects] = Game(
            name="take-away",
            parameters={"objects": objects},
            rules=make_rules(objects),
            notation=Notation(objects),
            num_actions=MOST,
            observation_shape=(1,),
            observation_high=objects,
            max_plies=objects,
            unit="win",
            decoder=lambda observation, seat: State(int(observation[0]), seat),
            symmetries=lambda: (Symmetry(np.arange(1, dtype=np.intp), np.arange(MOST, dtype=np.intp)),),
        )
    return _MADE[objects]


add_game("take-away", sys.modules[__name__])

# %% [markdown]
# ## What it has now
#
# The checks that every game here passes, environments in both registries, agents, an oracle, the arena.

# %%
game = make_game("take-away")
check_rules(game)
check_env(lambda: gymnasium.make("board_envs/TakeAway-v0", opponent="random"))

# %% [markdown]
# The mover loses exactly if the objects left are a multiple of four, and the oracle for every game, exhaustive search, finds that.

# %%
oracle = make_oracle(game)
for left in range(1, 22):
    values = oracle.action_values(game.parse(str(left)))
    assert (max(values.values()) < 0) == (left % 4 == 0)
found = make_agent("perfect", game).analyse(game.initial_state())
print("best at 21:", game.action_to_text(game.initial_state(), found.action), "exact:", found.exact)

# %%
result = tournament(game, ["random", "perfect"], games=10, seed=0)
for standing in result.standings:
    print(standing.name, standing.total)

# %% [markdown]
# A package declares the entry point `board_envs.games` instead of calling `add_game`, and is then a full game everywhere.
