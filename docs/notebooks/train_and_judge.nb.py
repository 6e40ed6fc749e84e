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
# # Train and judge
#
# A learner of a few lines, tabular Q-learning in self-play on a small Nim, and the judgement that only ground truth allows: not how often
# it wins, but how many of its moves are perfect.

# %%
from collections import defaultdict

import gymnasium
import numpy as np

import board_envs  # registers the games
from board_agents import make_oracle
from board_envs import make_game

HEAPS = (2, 3, 4)
game = make_game("nim", heaps=HEAPS)
oracle = make_oracle(game)

# %% [markdown]
# ## Self-play
#
# With `opponent=None` a step is one move of whoever is to play, and the reward is that of the player who just moved. So the value of a
# position for the mover is the best over moves of minus the value of the position after it.

# %%
table = defaultdict(lambda: np.zeros(game.num_actions))
env = gymnasium.make("board_envs/Nim-v0", opponent=None, heaps=HEAPS)
generator = np.random.default_rng(0)


def best(observation, mask):
    return int(np.where(mask, table[tuple(observation)], -np.inf).argmax())


def play_an_episode(explore):
    observation, info = env.reset()
    terminated = False
    while not terminated:
        mask = info["action_mask"].astype(bool)
        key = tuple(observation)
        action = (
            int(generator.choice(np.flatnonzero(mask))) if generator.random() < explore else best(observation, mask)
        )
        observation, reward, terminated, _, info = env.step(action)
        answer = 0.0 if terminated else table[tuple(observation)][info["action_mask"] == 1].max()
        table[key][action] += 0.5 * (reward - answer - table[key][action])


env.reset(seed=0)

# %% [markdown]
# ## Judging by exact values
#
# Over all positions in which one move is better than another: the share of moves of the best value.


# %%
def share_perfect():
    perfect = counted = 0
    for heaps in np.ndindex(*(size + 1 for size in HEAPS)):
        state = game.parse(",".join(map(str, heaps)))
        values = oracle.action_values(state) if not game.is_terminal(state) else {}
        if len(set(values.values())) == 2:
            action = best(game.observe(state, 0), game.legal_mask(state) == 1)
            perfect += values[action] == max(values.values())
            counted += 1
    return perfect / counted


curve = [share_perfect()]
for _ in range(10):
    for _ in range(100):
        play_an_episode(explore=0.3)
    curve.append(share_perfect())
print([f"{share:.0%}" for share in curve])

# %% [markdown]
# It learns perfect play, and that is known, not guessed from results against some opponent.

# %%
assert curve[0] < curve[-1] == 1.0
