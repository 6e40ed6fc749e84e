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
# # Tour
#
# A game, an environment, an agent, an oracle: the four things that everything else here is made of.

# %%
import gymnasium

import board_envs
from board_agents import make_agent, make_oracle

# %% [markdown]
# ## A game
#
# Rules are functions of immutable states. Positions and moves are texts.

# %%
game = board_envs.make_game("connect-four")
state = game.from_moves("4453")
print(game.draw(state))
print("to move:", game.current_player(state), "legal:", game.legal_actions(state))

# %% [markdown]
# ## An environment
#
# PettingZoo's loop for both seats; plane 0 always holds the pieces of who looks.

# %%
env = board_envs.connect_four_v0.env()
env.reset(seed=42)
for name in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    action = None if termination or truncation else env.action_space(name).sample(observation["action_mask"])
    env.step(action)
print("plies:", info["plies"], "winner:", info["winner"])

# %% [markdown]
# Gymnasium's for one seat, with the opponent inside, and with exact values in the infos.

# %%
env = gymnasium.make("board_envs/Nim-v0", opponent="nim-xor", oracle="default")
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step(0)
print("values of the moves:", info["action_values"])
print("given away:", info["regret"])

# %% [markdown]
# ## An agent
#
# Agents are named by a short text. `analyse` returns the value of every move by a search.

# %%
agent = make_agent("alpha-beta:depth=4", game)
found = agent.analyse(state)
print(game.action_to_text(state, found.action), found.value, game.write_moves(found.line, state))

# %% [markdown]
# ## An oracle
#
# Oracles know exact values. In Nim one move of the usual start wins: two objects from the heap of three.

# %%
nim = board_envs.make_game("nim")
values = make_oracle(nim).action_values(nim.initial_state())
winning = [nim.action_to_text(nim.initial_state(), action) for action, value in values.items() if value > 0]
assert winning == ["1:2"]
winning
