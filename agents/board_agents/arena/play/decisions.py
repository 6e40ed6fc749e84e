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
    """An agent did not do its part: which seat's, how (an `Ending`), and what happened."""

    def __init__(self, seat: int, ending: Ending, detail: str) -> None:
        detail = detail.encode("utf-8", "backslashreplace").decode("utf-8")  # so that any file can hold it
        super().__init__(detail)
        self.seat, self.ending, self.detail = seat, ending, detail


def as_builder(player: Any) -> Builder:
    """Return a player in a form in which it is built for each game; idempotent.

    A bare function whose one parameter is named `game` is taken for a builder, with a DeprecationWarning;
    `agent_builder` declares one.
    """
    if not _is_bare_builder(player):
        return cast(Builder, player)
    warnings.warn(
        f"{player!r} is taken for a function that builds an agent, because its parameter is named 'game'; write "
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
    """Return the `stacklevel`, as `as_builder` sees it, of the code that called this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "board_agents":
        frame, level = frame.f_back, level + 1
    return level


def build_agent(player: Builder, game: Game[S]) -> Agent[S]:
    """Make the agent of one game from a player in any form.

    Specs, classes and builders make a new agent; an agent object is deep-copied, so that no game depends on another;
    policies (functions) are used as they are.

    Raises:
        SpecError: a spec that does not name an agent, or an agent object that cannot be copied.
        TypeError: none of the forms.

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
    """Build each player once, so that an impossible one is refused before the first game; errors as `build_agent`."""
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

    An illegal action, an exception or too slow a move ends the game: its author loses, and the record says why.

    Args:
        game: the game.
        builders: the players of seats 0 and 1, in any form; `build_agent` says how agents are made of them.
        names: what to call them.
        seeds: what to reset them with.
        opening: actions played before the agents take over; they must leave the game unfinished.
        opening_number: a number to record with it.
        start: a position to begin from, as text; empty for the usual one.
        time_limit: seconds a move may take. An agent of this process is not interrupted: a legal move is judged when
            it has been made. Agents that run apart (programs) enforce it themselves by raising TimeoutError.
        max_plies: cap on the length; beyond it the game is unfinished. None: the rules end every game.

    Raises:
        SpecError: a spec that does not name an agent, or an agent object that cannot be copied.
        TypeError: a player of none of the forms.

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
                raise AgentFaultError(seat, Ending.TIMEOUT, f"a move took {taken:.2f} s, allowed are {time_limit:g} s")
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
    """Make an agent; what fails in a builder's own code is its fault, a player that is none is the caller's."""
    if not isinstance(player, (type, AgentBuilder)):
        return build_agent(player, game)
    return guarded(seat, lambda: build_agent(player, game))


def decide(agent: Agent[S], game: Game[S], state: S) -> int:
    """Ask an agent for its action; AgentFaultError if it fails or answers with an illegal one."""
    seat = game.current_player(state)
    action = guarded(seat, lambda: agent.act(observation_of(game, state), game.own(state)))
    if not game.is_legal(state, action):
        raise AgentFaultError(seat, Ending.ILLEGAL, game.explain_illegal(state, action))
    return int(action)


def guarded(seat: int, call: Callable[[], T]) -> T:
    """Call into an agent's code; whatever goes wrong there is the agent's fault, not the arena's."""
    try:
        return call()
    except (MissingExtraError, InputEndedError):
        raise  # the user's affair, and the user can mend it
    except TimeoutError as error:
        raise AgentFaultError(seat, Ending.TIMEOUT, str(error)) from error
    except IllegalActionError as error:
        raise AgentFaultError(seat, Ending.ILLEGAL, str(error)) from error
    except (Exception, SystemExit) as error:  # an agent that calls sys.exit() ends its own game only
        raise AgentFaultError(seat, Ending.CRASH, f"{type(error).__name__}: {error}") from error
