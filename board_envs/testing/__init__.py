"""Conformance checks, for this project's games and environments and for those of others.

`check_game` runs all of them on a game by its name, as ``python -m board_envs.testing NAME`` does. Each raises
AssertionError that names the fault and the position: `check_rules` for a Game, `check_env` for an
environment, `check_vector` for the vectorised one; `perft` counts move sequences, to be compared with published
figures.
"""

from board_envs.testing.conformance import check_rules, perft
from board_envs.testing.environments import check_env
from board_envs.testing.games import check_game
from board_envs.testing.vectors import check_vector

__all__ = ["check_env", "check_game", "check_rules", "check_vector", "perft"]
