"""An agent of Kaggle's "ConnectX" competition, ``agent(observation, configuration) -> column``."""

from __future__ import annotations

import importlib
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from board_agents.agent import GameAgent, check_action
from board_agents.lowlevel.copies import Remade
from board_envs.game import Game
from board_envs.types import SpecError


class Fields(dict[str, Any]):
    """A dictionary whose entries are attributes too, as Kaggle's agents expect."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class KaggleAgent(Remade, GameAgent):
    """Shows a Kaggle agent what it expects: ``observation.board`` (row by row from the top, 0, 1, 2),
    ``observation.mark``, ``configuration.rows``, ``columns``, ``inarow``.

    Args:
        game: Connect Four of any size.
        agent: the function, "package.module:function", or a Python file, whose last function is taken (it is run:
            only name files that you trust).
        seconds: what ``configuration.actTimeout`` says; the arena's own limit is what counts.

    """  # noqa: D205

    def __init__(self, game: Game[Any], *, agent: str | Callable[[Any, Any], Any], seconds: float = 2.0) -> None:
        super().__init__(game)
        if game.name != "connect-four":
            raise SpecError(f"Kaggle's ConnectX is Connect Four, not {game!r}")
        self._function = _load(agent) if isinstance(agent, str) else agent
        self._seconds = seconds

    def choose(self, state: Any) -> int:
        """Return the column that the agent answers; IllegalActionError if that is no column."""
        seat, parameters = self.game.current_player(state), self.game.parameters
        planes = self.game.observe(state, 0).astype(int)
        board = (planes[..., 0] + 2 * planes[..., 1]).ravel().tolist()
        observation = Fields(board=board, mark=seat + 1, step=sum(map(bool, board)), remainingOverageTime=60.0)
        configuration = Fields(
            rows=parameters["rows"],
            columns=parameters["columns"],
            inarow=parameters["connect"],
            actTimeout=self._seconds,
            timeout=self._seconds,
            episodeSteps=1000,
        )
        return check_action(self.game, self._function(observation, configuration), "the Kaggle agent")


def _load(name: str) -> Callable[[Any, Any], Any]:
    """Return the function that a text names; SpecError if there is none."""
    path = Path(name)
    if path.suffix == ".py":
        if not path.is_file():
            raise SpecError(f"there is no file {name!r}")
        functions = [
            value for value in runpy.run_path(name).values() if callable(value) and not isinstance(value, type)
        ]
        if not functions:
            raise SpecError(f"{name!r} defines no function")
        return functions[-1]
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise SpecError(f"Kaggle agent {name!r}: {error}") from error
    if not callable(found):
        raise SpecError(f"Kaggle agent {name!r} is no function")
    return found
