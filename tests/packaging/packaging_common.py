"""Programs that the packaging tests run in an environment of their own."""

SMOKE = """
import sys
from pathlib import Path

import numpy as np

import board_agents
import board_envs

prefix = Path(sys.argv[1]).resolve()
for package in (board_envs, board_agents):
    assert prefix in Path(package.__file__).resolve().parents, package.__file__

played = 0
for name in board_envs.GAMES:
    game = board_envs.make_game(name)
    env = board_envs.env(name)
    env.reset(seed=1)
    state = game.initial_state()
    before = None
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        seat = int(agent[-1])
        # The tensor follows the game: it is the engine's, and it shows the position from which it is rebuilt.
        assert np.array_equal(observation["observation"], game.observe(state, seat)), name
        if termination or truncation:
            env.step(None)
            continue
        assert game.same_position(game.decode(observation["observation"], seat), state), name
        assert before is None or not np.array_equal(before, observation["observation"]), name
        before = observation["observation"]
        action = int(np.flatnonzero(observation["action_mask"])[0])
        env.step(action)
        state = game.step(state, action)
    played += 1
assert not {"numba", "torch", "pygame"} & set(sys.modules)
print(played, "games played")
"""

_NAME = "import sys\nname = sys.argv[1]\ncamel = ''.join(part.capitalize() for part in name.split('-'))\n"
FRESH_WAYS = {
    "import": _NAME
    + "import board_envs, gymnasium\n"
    + "print(gymnasium.make(f'board_envs/{camel}-v0').unwrapped.game.name)",
    "module:id": _NAME
    + "import gymnasium\nprint(gymnasium.make(f'board_envs:board_envs/{camel}-v0').unwrapped.game.name)",
    "register": _NAME
    + "import importlib, board_envs, gymnasium\n"
    + "board_envs.register(); importlib.reload(board_envs)\n"
    + "assert sum(id.startswith('board_envs/') for id in gymnasium.registry) == len(board_envs.GAMES)\n"
    + "print(gymnasium.make(f'board_envs/{camel}-v0').unwrapped.game.name)",
    "pettingzoo": _NAME
    + "import board_envs, pettingzoo\n"
    + "env = pettingzoo.make('aec', 'board_envs/' + name.replace('-', '_') + '-v0') "
    + "if hasattr(pettingzoo, 'register') else board_envs.env(name)\n"
    + "env.reset(); print(env.unwrapped.game.name)",
}
"""How a game's environment can be had in a fresh interpreter; each prints the game's name."""

if __name__ == "__main__":
    exec(SMOKE)
