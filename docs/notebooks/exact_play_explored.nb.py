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
# # Exact play explored
#
# What perfect play looks like: values of every move, principal variations, and how rare good moves are.

# %%
import numpy as np

from board_agents import make_agent, make_oracle
from board_envs import make_game

# %% [markdown]
# ## Connect Four from the middle
#
# Scores count how soon the win comes: 22 minus the winner's stones at the win, negative for a loss.

# %%
four = make_game("connect-four")
state = four.from_moves("4444")
print(four.draw(state))
values = make_oracle(four).action_values(state)
print({four.action_to_text(state, action): value for action, value in values.items()})

# %%
found = make_agent("perfect", four).analyse(state)
print("exact:", found.exact, "value:", found.value, "best:", four.action_to_text(state, found.action))
assert found.exact
assert found.value == max(values.values())

# %% [markdown]
# ## Nim: how many moves are good?
#
# Of all positions up to the usual start, those in which the mover loses have a nim-sum of 0.

# %%
nim = make_game("nim")
oracle = make_oracle(nim)
lost, winning_moves = 0, []
for heaps in np.ndindex(4, 5, 6):
    if any(heaps):
        answers = oracle.action_values(nim.parse(",".join(map(str, heaps)))).values()
        winning = sum(value > 0 for value in answers)
        assert (winning == 0) == (np.bitwise_xor.reduce(heaps) == 0)
        lost += winning == 0
        winning_moves.append(winning)
print("positions:", len(winning_moves), "lost for the mover:", lost)
print("winning moves a position, counted:", np.bincount(winning_moves))

# %% [markdown]
# ## Reversi's last moves
#
# Random play to ten empty squares, then the exact margin of every move: what does a random move cost there?

# %%
reversi = make_game("reversi")
endgame = make_oracle(reversi)
generator = np.random.default_rng(0)
costs = []
for _ in range(20):
    state = reversi.initial_state()
    for _ in range(50):
        if reversi.is_terminal(state):
            break
        state = reversi.step(state, int(generator.choice(reversi.legal_actions(state))))
    if not reversi.is_terminal(state):
        answers = np.array(list(endgame.action_values(state).values()))
        costs.append(answers.max() - answers.mean())
print(f"a random move gives away {np.mean(costs):.1f} discs on average, over {len(costs)} positions")
assert all(cost >= 0 for cost in costs)
