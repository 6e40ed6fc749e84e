"""Two-player board games with ground truth, as PettingZoo and Gymnasium environments.

Importing this registers the games in both registries. Each built-in game has a module ``board_envs.<game>_v0`` in
PettingZoo's style; `env` and `raw_env` make the environment of any game by its name.
"""

from board_envs import awale_v0, connect_four_v0, nim_v0, reversi_v0
from board_envs._moved import moved_modules
from board_envs.registration import add_game, env, raw_env, register
from board_envs.registry import GAMES, game_names, game_parameters, make_game
from board_envs.version import __version__

__all__ = [
    "GAMES",
    "__version__",
    "add_game",
    "awale_v0",
    "connect_four_v0",
    "env",
    "game_names",
    "game_parameters",
    "make_game",
    "nim_v0",
    "raw_env",
    "register",
    "reversi_v0",
]

register()
moved_modules({"board_envs.picture": "board_envs.pictures.shapes", "board_envs.render": "board_envs.pictures.svg"})
