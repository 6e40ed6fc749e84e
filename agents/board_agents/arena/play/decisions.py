"""One game between two agents."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from board_agents.agent import Agent, observation_of
from board_agents.arena.records.game_record import Ending, GameRecord
from board_agents.registry import as_agent
from board_envs.game import Game
from board_envs.types import IllegalActionError, MissingExtraError, Outcome

Builder: TypeAlias = str | Callable[[Game[Any]], Any]
"""What makes an agent for a game, afresh for every game: a spec string, or a function of the game."""
T = TypeVar("T")


class AgentFaultError(Exception):
    """An agent did not do its part: which seat's, how (an `Ending`), and what happened."""

    def __init__(self, seat: int, ending: Ending, detail: str) -> None:
        detail = detail.encode("utf-8", "backslashreplace").decode("utf-8")  # so that any file can hold it
        super().__init__(detail)
        self.seat, self.ending, self.detail = seat, ending, detail


def build_agent(builder: Builder, game: Game[Any]) -> Agent:
    """Make an agent; SpecError if the builder names or makes none."""
    return as_agent(builder if isinstance(builder, str) else builder(game), game)


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
        builders: what makes the agents of seats 0 and 1.
        names: what to call them.
        seeds: what to reset them with.
        opening: actions played before the agents take over; they must leave the game unfinished.
        opening_number: a number to record with it.
        start: a position to begin from, as text; empty for the usual one.
        time_limit: seconds a move may take. An agent of this process is not interrupted: a legal move is judged when
            it has been made. Agents that run apart (programs) enforce it themselves by raising TimeoutError.
        max_plies: cap on the length; beyond it the game is unfinished. None: the rules end every game.

    """
    state = game.parse(start) if start else game.initial_state()
    for action in opening:
        state = game.step(state, action)
    actions = list(opening)
    seconds = [0.0, 0.0]
    agents: list[Agent] = []
    ending, offender, detail = Ending.FINISHED, -1, ""
    try:
        for seat in (0, 1):
            agents.append(guarded(seat, lambda: build_agent(builders[seat], game)))
            guarded(seat, lambda: agents[seat].reset(seed=seeds[seat]))
        while not game.is_terminal(state):
            if max_plies is not None and len(actions) >= max_plies:
                ending = Ending.UNFINISHED
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
        ending, offender, detail = fault.ending, fault.seat, fault.detail
    finally:
        for agent in agents:
            close = getattr(agent, "close", None)  # agents that hold a program or a file open have one
            if callable(close):
                close()
    if ending is Ending.FINISHED:
        winner = int(game.winner(state))
    else:
        winner = int(Outcome.ONGOING) if offender < 0 else 1 - offender
    return GameRecord(
        game=game.name,
        parameters=dict(game.parameters),
        agents=names,
        seeds=seeds,
        opening=tuple(opening),
        opening_number=opening_number,
        actions=tuple(actions),
        ending=ending,
        offender=offender,
        winner=winner,
        margin=game.margin(state),
        final=game.format(state),
        start=start,
        detail=detail,
        seconds=(seconds[0], seconds[1]),
    )


def decide(agent: Agent, game: Game[Any], state: Any) -> int:
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
    except MissingExtraError:
        raise  # the installation's fault, and the user can mend it
    except TimeoutError as error:
        raise AgentFaultError(seat, Ending.TIMEOUT, str(error)) from error
    except IllegalActionError as error:
        raise AgentFaultError(seat, Ending.ILLEGAL, str(error)) from error
    except (Exception, SystemExit) as error:  # an agent that calls sys.exit() ends its own game only
        raise AgentFaultError(seat, Ending.CRASH, f"{type(error).__name__}: {error}") from error
