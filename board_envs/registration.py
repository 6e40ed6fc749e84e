"""The games' names in Gymnasium's and PettingZoo's registries, and the environments that PettingZoo's entries make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

from board_envs.registry import add_module, camel_name, known_names, snake_name

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from board_envs.envs.aec import BoardAECEnv


def gymnasium_id(name: str) -> str:
    """Return a game's id in Gymnasium's registry."""
    return f"board_envs/{camel_name(name)}-v0"


def pettingzoo_id(name: str) -> str:
    """Return a game's id in PettingZoo's registry."""
    return f"board_envs/{snake_name(name)}-v0"


def module_name(name: str) -> str:
    """Return the name of a game's PettingZoo module inside this package, for built-in games."""
    return f"{snake_name(name)}_v0"


def raw_env(game: str, **kwargs: Any) -> BoardAECEnv:
    """Make the bare PettingZoo environment of a game; an illegal action raises IllegalActionError.

    Args:
        game: the game's name.
        kwargs: of `BoardAECEnv`, and the game's parameters.

    """
    from board_envs.envs.aec import BoardAECEnv

    return BoardAECEnv(game, **kwargs)


def env(game: str, **kwargs: Any) -> AECEnv[str, Any, Any]:
    """Make the PettingZoo environment of a game with PettingZoo's standard wrappers.

    An illegal action ends the game, the offender at -1, unless ``illegal=`` chooses a rule of `BoardAECEnv`.

    Args:
        game: the game's name.
        kwargs: of `BoardAECEnv`, and the game's parameters.

    """
    from board_envs.envs.aec import wrap

    return wrap(raw_env(game, **kwargs), terminate_illegal="illegal" not in kwargs)


def add_game(name: str, module: Any) -> None:
    """Add a game while the program runs, to ``make_game`` and both registries; entry points do it for installed ones.

    Args:
        name: of the game, words of small letters and digits joined by hyphens.
        module: with ``make(**parameters) -> Game``; see `board_envs.registry`. A module's own code can give
            ``sys.modules[__name__]``.

    Raises:
        ValueError: the name is malformed or taken; the module has no function ``make``.

    """
    add_module(name, module)
    register()


def register() -> None:
    """Register every game in both registries, other packages' by their metadata; existing entries stay."""
    for name in known_names():
        if gymnasium_id(name) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(name),
                entry_point="board_envs.envs.single:BoardEnv",
                vector_entry_point="board_envs.envs.vector:BoardVectorEnv",
                kwargs={"game": name},
            )
        # PettingZoo has a registry since 1.27.
        if hasattr(pettingzoo, "register") and pettingzoo_id(name) not in pettingzoo.aec_registry:
            pettingzoo.register(
                "aec", pettingzoo_id(name), entry_point="board_envs.registration:env", kwargs={"game": name}
            )
