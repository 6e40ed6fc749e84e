"""Nim as a PettingZoo environment: ``env()`` and ``raw_env()``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from board_envs import registration

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from board_envs.envs.aec import BoardAECEnv

__all__ = ["env", "raw_env"]


def raw_env(**kwargs: Any) -> BoardAECEnv:
    """Make the bare environment, see `board_envs.raw_env`."""
    return registration.raw_env("nim", **kwargs)


def env(**kwargs: Any) -> AECEnv[str, Any, Any]:
    """Make the environment with PettingZoo's standard wrappers, see `board_envs.env`."""
    return registration.env("nim", **kwargs)
