"""Two-player board games with ground truth, as PettingZoo and Gymnasium environments.

Importing this enters the games into both registries and makes the modules ``board_envs.<game>_v0``.
"""

from typing import TYPE_CHECKING

from board_envs.registration import GameModule, install_modules, register
from board_envs.registry import GAMES, game_parameters, make_game
from board_envs.version import __version__

__all__ = ["GAMES", "__version__", "game_parameters", "make_game", "register"]

register()
globals().update(install_modules())

if TYPE_CHECKING:

    def __getattr__(name: str) -> GameModule: ...
