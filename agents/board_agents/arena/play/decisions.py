"""One game between two agents."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType, MethodType
from typing import Any, TypeAlias, TypeVar, cast

from board_agents.agent import Agent, InputEndedError, close_agent, observation_of
from board_agents.arena.records.game_record import Ending, GameRecord
from board_agents.registry import as_agent
from board_envs.game import Game
from board_envs.policies import AgentBuilder, agent_builder, is_agent
from board_envs.types import IllegalActionError, MissingExtraError, S, SpecError

Builder: TypeAlias = str | Agent[Any] | Callable[..., Any]
"""A player in any form that `board_envs.policies` lists."""
T = TypeVar("T")


class AgentFaultError(Exception):
    """An agent's fault: the seat, the kind (an `Ending`), and what happened."""

    def __init__(self, seat: int, ending: Ending, detail: str) -> None:
        detail = detail.encode("utf-8", "backslashreplace").decode("utf-8")  # so that any file can store it
        super().__init__(detail)
        self.seat, self.ending, self.detail = seat, ending, detail


def as_builder(player: Any) -> Builder:
    """Return a player in a form from which each game builds an agent; idempotent.

    A bare function whose one parameter is named `game` counts as a builder, with a DeprecationWarning;
    declare builders with `agent_builder`.
    """
    if not _is_bare_builder(player):
        return cast(Builder, player)
    warnings.warn(
        f"{player!r} counts as a function that builds an agent, because its parameter is named 'game'; write "
        "agent_builder(f), from board_envs.policies: without it this will be a policy of one observation",
        DeprecationWarning,
        stacklevel=_callers_level(),
    )
    return agent_builder(player)


def _is_bare_builder(player: Any) -> bool:
    if not isinstance(player, (FunctionType, MethodType, functools.partial)):
        return False
    parameters = list(inspect.signature(player).parameters.values())
    return bool(parameters) and parameters[0].name == "game" and all(p.default is not p.empty for p in parameters[1:])


def _callers_level() -> int:
    """Return the `stacklevel`, seen from `as_builder`, of the code that called this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "board_agents":
        frame, level = frame.f_back, level + 1
    return level


def build_agent(player: Builder, game: Game[S]) -> Agent[S]:
    """Create the agent for one game from a player in any form.

    Specs, classes and builders create a new agent; an agent object is deep-copied, so that games are independent;
    policies (functions) are used as they are.

    Raises:
        SpecError: a spec does not name an agent, or an agent object that cannot be copied.
        TypeError: the player has none of the forms.

    """
    player = as_builder(player)
    if is_agent(player):
        try:
            player = copy.deepcopy(player)
        except Exception as error:
            raise SpecError(
                f"the agent {player!r} cannot be copied for a game ({type(error).__name__}: {error}); give its class "
                "or agent_builder(f)"
            ) from error
    return as_agent(player, game)


def check_builders(players: Iterable[Builder], game: Game[Any]) -> None:
    """Build each player once, so that an invalid one raises before the first game; errors as in `build_agent`."""
    for player in players:
        close_agent(build_agent(player, game))


def play_game(
    game: Game[Any],
    builders: Sequence[Builder],
    *,
    names: tuple[str, str],
    seeds: tuple[int, int] = (0, 0),
    opening: Sequence[int] = (),
    opening_number: int = 0,
    start: str = "",
    time_limit: float | None = None,
    max_plies: int | None = None,
) -> GameRecord:
    """Play one game and record it.

    An illegal action, an exception or a slow move ends the game: its agent loses, and the record contains the reason.

    Args:
        game: the game.
        builders: the players of seats 0 and 1, in any form; see `build_agent`.
        names: their names.
        seeds: their seeds for `reset`.
        opening: actions played before the agents move; they must not end the game.
        opening_number: its number in the record.
        start: position to start from, as text; empty for the initial position.
        time_limit: seconds per move. An agent in this process is not interrupted: the time is checked after
            its move. Agents in other processes (programs) enforce it themselves by raising TimeoutError.
        max_plies: maximum length; a longer game is unfinished. None: no limit.

    Raises:
        SpecError: a spec does not name an agent, or an agent object that cannot be copied.
        TypeError: a player has none of the forms.

    """
    builders = [as_builder(builder) for builder in builders]
    actions = list(opening)
    state = game.states(actions, game.parse(start) if start else None)[-1]
    seconds = [0.0, 0.0]
    agents: list[Agent[Any]] = []
    failed: tuple[Ending, int] | None = None
    detail = ""
    try:
        for seat in (0, 1):
            agents.append(_build_guarded(seat, builders[seat], game))
            guarded(seat, lambda: agents[seat].reset(seed=seeds[seat]))
        while not game.is_terminal(state):
            if max_plies is not None and len(actions) >= max_plies:
                break
            seat = game.current_player(state)
            begun = time.perf_counter()
            action = decide(agents[seat], game, state)
            taken = time.perf_counter() - begun
            seconds[seat] += taken
            if time_limit is not None and taken > time_limit:
                raise AgentFaultError(seat, Ending.TIMEOUT, f"a move took {taken:.2f} s, the limit is {time_limit:g} s")
            actions.append(action)
            state = game.step(state, action)
    except AgentFaultError as fault:
        failed, detail = (fault.ending, fault.seat), fault.detail
    finally:
        for agent in agents:
            close_agent(agent)
    return GameRecord.of_game(
        game,
        actions,
        state,
        agents=names,
        seeds=seeds,
        opening=opening,
        opening_number=opening_number,
        fault=failed,
        start=start,
        detail=detail,
        seconds=(seconds[0], seconds[1]),
    )


def _build_guarded(seat: int, player: Builder, game: Game[S]) -> Agent[S]:
    """Build an agent; an error in a builder's code is the agent's fault, an invalid player is the caller's."""
    if not isinstance(player, (type, AgentBuilder)):
        return build_agent(player, game)
    return guarded(seat, lambda: build_agent(player, game))


def decide(agent: Agent[S], game: Game[S], state: S) -> int:
    """Return an agent's action; raise AgentFaultError if it fails or is illegal."""
    seat = game.current_player(state)
    action = guarded(seat, lambda: agent.act(observation_of(game, state), game.own(state)))
    if not game.is_legal(state, action):
        raise AgentFaultError(seat, Ending.ILLEGAL, game.explain_illegal(state, action))
    return int(action)


def guarded(seat: int, call: Callable[[], T]) -> T:
    """Call an agent's code; raise AgentFaultError for its errors."""
    try:
        return call()
    except (MissingExtraError, InputEndedError):
        raise  # an error of the user's installation, not of the agent
    except TimeoutError as error:
        raise AgentFaultError(seat, Ending.TIMEOUT, str(error)) from error
    except IllegalActionError as error:
        raise AgentFaultError(seat, Ending.ILLEGAL, str(error)) from error
    except (Exception, SystemExit) as error:  # an agent that calls sys.exit() ends only its own game
        raise AgentFaultError(seat, Ending.CRASH, f"{type(error).__name__}: {error}") from error
