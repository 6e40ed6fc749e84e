"""An agent of Kaggle's "ConnectX" competition, ``agent(observation, configuration) -> column``."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, cast

from board_agents.agent import GameAgent, check_action
from board_agents.lowlevel.copies import Remade
from board_agents.lowlevel.foreign_code import load_object, run_file
from board_agents.oracle import check_seconds
from board_envs.game import Game
from board_envs.games.connect_four import State
from board_envs.types import SpecError


class Fields(dict[str, Any]):
    """A dictionary with attribute access, as Kaggle's agents expect."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class KaggleAgent(Remade, GameAgent[State]):
    """Calls a Kaggle agent with its usual arguments: ``observation.board`` (row by row from the top, 0, 1, 2),
    ``observation.mark``, ``configuration.rows``, ``columns``, ``inarow``.

    Args:
        game: Connect Four of any size.
        agent: the function, "package.module:function", "file.py:function", or a Python file, whose last function is
            taken. The module or file is run: only name files that you trust. Modules beside a file can be imported.
            The function takes the observation, or the observation and the configuration.
        seconds: value of ``configuration.actTimeout``; only the arena's own limit is enforced.

    """  # noqa: D205

    def __init__(self, game: Game[State], *, agent: str | Callable[..., Any], seconds: float = 2.0) -> None:
        super().__init__(game)
        if game.name != "connect-four":
            raise SpecError(f"Kaggle's ConnectX is Connect Four, not {game!r}")
        self._function = _load(agent) if isinstance(agent, str) else agent
        self._given = _count_arguments(self._function)
        self._seconds = check_seconds("kaggle", seconds)

    def choose(self, state: State) -> int:
        """Return the agent's column; raise IllegalActionError if it is not a column."""
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
        arguments = (observation, configuration)[: self._given]
        return check_action(self.game, self._function(*arguments), "the Kaggle agent")


def _load(name: str) -> Callable[..., Any]:
    """Return the function that a text names; raise SpecError if it does not exist."""
    if not name.endswith(".py"):
        found = load_object(name)
        if not callable(found):
            raise SpecError(f"{name!r} is not a function")
        return cast(Callable[..., Any], found)
    # Run the file for each agent: such files store a game's state in global variables.
    values = run_file(name, again=True).values()
    functions = [value for value in values if callable(value) and not isinstance(value, type)]
    if not functions:
        raise SpecError(f"{name!r} defines no function")
    return cast(Callable[..., Any], functions[-1])


def _count_arguments(function: Callable[..., Any]) -> int:
    """Return the number of arguments: 1 (observation) or 2 (observation and configuration)."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return 2  # some builtin callables have no signature
    for count in (2, 1):
        with contextlib.suppress(TypeError):
            signature.bind(*[None] * count)
            return count
    raise SpecError(f"a Kaggle agent takes (observation) or (observation, configuration), not {signature}")
