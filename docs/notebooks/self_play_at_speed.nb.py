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
# # Self-play at speed
#
# Thousands of games at once: one compiled kernel steps them all (extra `fast`). Compiling happens on first use and is kept.

# %%
import time

import gymnasium
import numpy as np

import board_envs  # registers the games

ROWS = 1024
envs = gymnasium.make_vec(
    "board_envs/ConnectFour-v0", num_envs=ROWS, opponent=None, flat=True, autoreset_mode="SameStep"
)
observations, infos = envs.reset(seed=0)
generator = np.random.default_rng(0)

# %% [markdown]
# ## The loop
#
# Any policy goes here; this one draws a legal move at random. Each action is that of the seat to move, `infos["to_play"]`.


# %%
def choose(observations, mask):
    return (generator.random(mask.shape) * mask).argmax(axis=1)


def play(steps):
    global observations, infos
    results = np.zeros(3, int)
    for _ in range(steps):
        observations, rewards, terminated, truncated, infos = envs.step(choose(observations, infos["action_mask"]))
        if terminated.any():
            # In the mode SameStep the infos of the games that are over stand in final_info.
            results += np.bincount(infos["final_info"]["winner"][terminated], minlength=3)
    return results


play(10)  # compiles
begun = time.perf_counter()
results = play(200)
seconds = time.perf_counter() - begun
print(f"{ROWS * 200 / seconds:,.0f} moves a second, choosing included")
print("player_0 won, player_1 won, draws:", results)

# %% [markdown]
# Who begins wins more often, even at random.

# %%
assert results[0] > results[1] > results[2]
envs.close()

# %% [markdown]
# `python benchmarks/vector_step.py` measures the environment alone, on every game and against others.
