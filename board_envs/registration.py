"""The games' names in Gymnasium's and PettingZoo's registries, and as modules ``board_envs.<game>_v0``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

from board_envs.registry import GAMES, camel_name, snake_name

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from board_envs.envs.aec import BoardAECEnv


class GameModule(ModuleType):
    """A module ``board_envs.<game>_v0`` in the manner of PettingZoo; there is no file for it.

    Attributes:
        env: makes the environment with PettingZoo's standard wrappers; an illegal action ends the game, the offender at
            -1, unless ``illegal=`` chooses a rule of `BoardAECEnv`.
        raw_env: makes the bare `BoardAECEnv`; an illegal action raises IllegalActionError.

    """

    env: Callable[..., AECEnv[str, Any, int]]
    raw_env: Callable[..., BoardAECEnv]

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """Pickle by name: cloudpickle (trainers' workers) does so for plain modules only."""
        return importlib.import_module, (self.__name__,)


def gymnasium_id(name: str) -> str:
    """Return a game's id in Gymnasium's registry."""
    return f"board_envs/{camel_name(name)}-v0"


def pettingzoo_id(name: str) -> str:
    """Return a game's id in PettingZoo's registry."""
    return f"board_envs/{snake_name(name)}-v0"


def module_name(name: str) -> str:
    """Return the name of a game's PettingZoo module inside this package."""
    return f"{snake_name(name)}_v0"


def register() -> None:
    """Enter every game into both registries; what is there already stays."""
    for name in GAMES:
        if gymnasium_id(name) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(name),
                entry_point="board_envs.envs.single:BoardEnv",
                vector_entry_point="board_envs.envs.vector:BoardVectorEnv",
                kwargs={"game": name},
            )
        # PettingZoo has a registry since 1.27.
        if hasattr(pettingzoo, "register") and pettingzoo_id(name) not in pettingzoo.aec_registry:
            pettingzoo.register("aec", pettingzoo_id(name), entry_point=f"board_envs.{module_name(name)}:env")


def install_modules() -> dict[str, GameModule]:
    """Make the modules ``board_envs.<game>_v0`` importable; returns them by their names in the package."""
    return {module_name(name): _install_module(name) for name in GAMES}


def _install_module(name: str) -> GameModule:
    full_name = f"board_envs.{module_name(name)}"
    module = sys.modules.get(full_name)
    if isinstance(module, GameModule):
        return module

    def raw_env(**kwargs: Any) -> BoardAECEnv:
        """Make the bare environment; arguments: those of `BoardAECEnv` and the game's parameters."""
        from board_envs.envs.aec import BoardAECEnv

        return BoardAECEnv(name, **kwargs)

    def env(**kwargs: Any) -> AECEnv[str, Any, int]:
        """Make the environment with PettingZoo's standard wrappers; arguments as for `raw_env`."""
        from board_envs.envs.aec import wrap

        return wrap(raw_env(**kwargs), terminate_illegal="illegal" not in kwargs)

    module = GameModule(full_name, f"{camel_name(name)} as PettingZoo environment: env() and raw_env().")
    module.__spec__ = ModuleSpec(full_name, None, origin="made by board_envs.registration")
    module.__package__ = "board_envs"
    for function in (raw_env, env):
        # Pickles name a function by its module.
        function.__module__, function.__qualname__ = full_name, function.__name__
        setattr(module, function.__name__, function)
    sys.modules[full_name] = module
    return module
