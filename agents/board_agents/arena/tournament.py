"""Matches and round-robin tournaments: plan games, play them, summarise the results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from board_agents.arena.play.decisions import Builder, as_builder, check_builders, play_game
from board_agents.arena.play.openings import Opening, make_openings
from board_agents.arena.records.game_record import GameRecord, task_key
from board_agents.arena.statistics.ratings import Ratings, rate
from board_agents.arena.statistics.tally import Pair, Standing, Tally, distinct_games, first_mover, pairs, standings
from board_envs.forms import own_text
from board_envs.game import Game

_SEED_BITS = 63


@dataclass(frozen=True)
class Task:
    """A planned game: everything that determines it except the agents' code."""

    game: str
    parameters: Mapping[str, Any]
    agents: tuple[str, str]
    seeds: tuple[int, int]
    opening: tuple[int, ...]
    opening_number: int
    start: str = ""

    @property
    def key(self) -> str:
        """Text that identifies the record of this game."""
        return task_key(self)


@dataclass(frozen=True)
class Result:
    """The result of a match or a tournament.

    Attributes:
        records: all games.
        standings: results of each agent by seat.
        pairs: results of each pair of agents.
        first_mover: results of the first seat.
        distinct: number of distinct games.
        ratings: the joint rating fit.
        seed: seed of the bootstrap for the ratings' intervals; in a `tournament` also of its openings and agents.

    """

    records: tuple[GameRecord, ...]
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    first_mover: Tally
    distinct: int
    ratings: Ratings
    seed: int = 0


def name_entrants(agents: Iterable[Builder] | Mapping[str, Builder]) -> dict[str, Builder]:
    """Return name -> player, in the forms that `as_builder` returns.

    In a plain list, a spec, function or class is called by its own name, an agent object by its class's name; a
    repeated name gets a suffix "#2".
    """
    if isinstance(agents, Mapping):
        # pyright takes a mapping for an iterable of players, too.
        return {name: as_builder(player) for name, player in agents.items()}  # pyright: ignore[reportReturnType]
    entrants: dict[str, Builder] = {}
    for player in agents:
        own = player if isinstance(player, str) else getattr(player, "__name__", type(player).__name__)
        name, number = own, 1
        while name in entrants:
            number += 1
            name = f"{own}#{number}"
        entrants[name] = as_builder(player)
    return entrants


def agent_seed(seed: int, task: tuple[Any, ...], seat: int) -> int:
    """Return the seed of one agent in one game: independent of where and in what order games are played."""
    text = repr((seed, *task, seat)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> (64 - _SEED_BITS)


def plan(
    game: Game[Any],
    names: Sequence[str],
    games: int,
    *,
    seed: int = 0,
    opening_plies: int | None = None,
    start: str = "",
    openings: Sequence[Opening] | None = None,
) -> list[Task]:
    """Plan a round-robin tournament.

    Every pair of agents plays the same openings, each from both seats; with an odd number of games the last opening is
    played from one seat. Games are ordered by opening, so that a stopped run has treated all pairs alike.

    Args:
        game: the game.
        names: the agents' names, at least two, all different.
        games: games of each pair.
        seed: determines the openings and the agents' seeds.
        opening_plies: length of the openings; None: see `make_openings`.
        start: position from which all games start, as text; empty for the initial position.
        openings: used in order, repeatedly if needed, instead of random ones; excludes `opening_plies` and `start`.

    """
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"a tournament needs at least two agents with different names, not {list(names)}")
    if games < 1:
        raise ValueError(f"games must be 1 or more, not {games}")
    count = (games + 1) // 2
    if openings is None:
        start = own_text(game, start) if start else ""
        drawn = make_openings(game, count, seed, plies=opening_plies, start=start)
        openings = [Opening(start, actions) for actions in drawn]
    elif not openings or start or opening_plies is not None:
        raise ValueError("openings must not be empty, and exclude opening_plies and start")
    tasks = []
    for number in range(count):
        opening = openings[number % len(openings)]
        for a, b in combinations(names, 2):
            for agents in ((a, b), (b, a))[: games - 2 * number]:
                seeds = agent_seed(seed, (number, *agents), 0), agent_seed(seed, (number, *agents), 1)
                parameters = dict(game.parameters)
                tasks.append(Task(game.name, parameters, agents, seeds, opening.actions, number, opening.start))
    return tasks


def play(
    game: Game[Any],
    entrants: Mapping[str, Builder],
    tasks: Iterable[Task],
    *,
    done: Iterable[GameRecord] = (),
    time_limit: float | None = None,
    max_plies: int | None = None,
) -> Iterator[GameRecord]:
    """Play planned games in order; games found in `done` are not played again, their records are yielded."""
    known = {record.key: record for record in done}
    for task in tasks:
        if (record := known.get(task.key)) is not None:
            yield record
            continue
        yield play_game(
            game,
            [entrants[name] for name in task.agents],
            names=task.agents,
            seeds=task.seeds,
            opening=task.opening,
            opening_number=task.opening_number,
            start=task.start,
            time_limit=time_limit,
            max_plies=max_plies,
        )


def summarise(
    records: Sequence[GameRecord], names: Sequence[str] | None = None, *, anchor: str | None = None, seed: int = 0
) -> Result:
    """Summarise records; their order does not matter."""
    return Result(
        tuple(records),
        tuple(standings(records, names)),
        tuple(pairs(records, names)),
        first_mover(records),
        distinct_games(records),
        rate(records, names, anchor=anchor, seed=seed),
        seed,
    )


def tournament(
    game: Game[Any],
    agents: Iterable[Builder] | Mapping[str, Builder],
    games: int = 100,
    *,
    seed: int = 0,
    opening_plies: int | None = None,
    start: str = "",
    openings: Sequence[Opening] | None = None,
    time_limit: float | None = None,
    max_plies: int | None = None,
    anchor: str | None = None,
    done: Iterable[GameRecord] = (),
    on_game: Callable[[GameRecord], None] | None = None,
) -> Result:
    """Play a round robin with paired openings and rate the agents.

    Args:
        game: the game.
        agents: at least two players in any form that `board_envs.policies` lists, or a mapping of names to them. Each
            game gets new agents: specs, classes and builders create them, agent objects are deep-copied; policies
            are used as they are.
        games: games of each pair, half from each seat.
        seed: the same seed gives the same games.
        opening_plies: random plies before the agents move; None chooses the length, 0 starts from the initial position.
        start: a position to start from, as text.
        openings: openings to use instead of random plies, each from both seats; see `play.openings.read_openings`.
        time_limit: seconds a move may take.
        max_plies: maximum length of a game; a longer one is unfinished.
        anchor: agent whose rating is fixed at 0.
        done: records of games of this plan that need not be played again.
        on_game: called with each record as soon as it exists.

    Raises:
        SpecError: a spec does not name an agent, or an agent object that cannot be copied.
        TypeError: a player has none of the forms.

    """
    entrants = name_entrants(agents)
    names = list(entrants)
    tasks = plan(game, names, games, seed=seed, opening_plies=opening_plies, start=start, openings=openings)
    check_builders(entrants.values(), game)
    records = []
    for record in play(game, entrants, tasks, done=done, time_limit=time_limit, max_plies=max_plies):
        records.append(record)
        if on_game is not None:
            on_game(record)
    return summarise(records, list(entrants), anchor=anchor, seed=seed)
