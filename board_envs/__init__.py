"""Two-player board games with ground truth, as PettingZoo and Gymnasium environments."""

from board_envs.registry import make_game
from board_envs.version import __version__

__all__ = ["__version__", "make_game"]
