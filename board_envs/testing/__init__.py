"""Conformance checks, for this project's games and environments and for those of others.

Each raises AssertionError that says what is broken and in which position: `check_rules` for a Game, `check_env` for an
environment, and `perft` counts move sequences, to be compared with published figures.
"""

from board_envs.testing.conformance import check_rules, perft
from board_envs.testing.environments import check_env

__all__ = ["check_env", "check_rules", "perft"]
