"""One game as a record: all that is needed to tell it, count it and play it again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any

import board_envs
from board_envs.game import Game
from board_envs.types import IllegalActionError, Outcome

FORMAT = 1
"""Version of the records' form in files."""


class RecordError(ValueError):
    """A record that does not hold together: damaged, of another format, or not replaying to the same end."""


class Ending(str, Enum):
    """How a game ended.

    `FINISHED` by the rules; `ILLEGAL`, `CRASH` and `TIMEOUT` by a fault of one agent, who loses; `UNFINISHED` because
    the cap on its length was reached, which is neither won nor drawn.
    """

    FINISHED = "finished"
    ILLEGAL = "illegal"
    CRASH = "crash"
    TIMEOUT = "timeout"
    UNFINISHED = "unfinished"


FAULTS = (Ending.ILLEGAL, Ending.CRASH, Ending.TIMEOUT)


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Attributes:
        game: name of the game.
        parameters: its parameters.
        agents: who sat at seat 0 (begins) and at seat 1.
        seeds: what each agent was reset with.
        opening: the first actions, chosen by lot before the agents took over.
        opening_number: which opening of its match this is; both seats of an opening share the number.
        actions: all actions, the opening's among them.
        ending: how it ended.
        offender: the seat whose fault ended it, -1 if none.
        winner: 0, 1, 2 for a draw, -1 for an unfinished game (the numbers of `board_envs.types.Outcome`).
        margin: player_0's points minus player_1's at the end, in the game's unit.
        final: the last position as text.
        start: the position it began with as text; empty for the usual one.
        detail: what the fault was; empty without one.
        version: of board_envs, when it was played.
        headers: what else the form that the game was read from states (date, event ...), to be written again.
        seconds: thinking time of each seat; it differs between runs and takes no part in comparisons.

    """

    game: str
    parameters: Mapping[str, Any]
    agents: tuple[str, str]
    seeds: tuple[int, int]
    opening: tuple[int, ...]
    opening_number: int
    actions: tuple[int, ...]
    ending: Ending
    offender: int
    winner: int
    margin: int
    final: str
    start: str = ""
    detail: str = ""
    version: str = board_envs.__version__
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: tuple[float, float] = field(default=(0.0, 0.0), compare=False)

    @property
    def key(self) -> str:
        """Text that is equal for two records exactly when they are the same game of the same plan."""
        return task_key(self)

    def to_json(self) -> str:
        """Write the record as one line of JSON, with a checksum."""
        data = asdict(self) | {"format": FORMAT, "ending": self.ending.value}
        if not self.headers:  # so that versions that know none read the line
            del data["headers"]
        return json.dumps(data | {"crc32": _checksum(data)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> GameRecord:
        """Read what `to_json` wrote; RecordError says what is wrong with it."""
        try:
            data = json.loads(line)
            checksum = data.pop("crc32")
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise RecordError(f"no game record: {line[:60]!r}") from error
        if data.get("format") != FORMAT:
            raise RecordError(f"a game record of format {data.get('format')!r}; this version reads {FORMAT}")
        if checksum != _checksum(data):
            raise RecordError(f"an altered game record (checksum {checksum}): {line[:60]!r}")
        try:
            data.setdefault("headers", {})
            values = {name: _tuples(data[name]) for name in (known.name for known in fields(cls))}
            parameters = parameters_of(data["parameters"])
            headers = headers_of(data["headers"])
            return cls(**values | {"ending": Ending(data["ending"]), "parameters": parameters, "headers": headers})
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise RecordError(f"a game record with a wrong field ({error}): {line[:60]!r}") from error

    def make_game(self) -> Game[Any]:
        """Return the game that was played; RecordError if there is no such game."""
        try:
            return board_envs.make_game(self.game, **self.parameters)
        except (ValueError, TypeError) as error:
            raise RecordError(f"a record of a game that is not offered: {error}") from error

    def replay(self) -> list[Any]:
        """Return all states from the first to the last; RecordError if the record is not a game by the rules."""
        game = self.make_game()
        states = [game.parse(self.start) if self.start else game.initial_state()]
        try:
            for action in self.actions:
                states.append(game.step(states[-1], action))
        except IllegalActionError as error:
            raise RecordError(f"ply {len(states)} of a record of {self.game}: {error}") from error
        self.check_end(game, states[-1])
        return states

    def check_end(self, game: Game[Any], state: Any) -> None:
        """Raise RecordError if `state`, which the moves lead to, is not the end that the record tells."""
        if game.format(state) != self.final:
            raise RecordError(f"a record of {self.game} ends in {self.final!r} but replays to {game.format(state)!r}")
        if self.ending is Ending.FINISHED:
            winner = int(game.winner(state))
        elif self.ending is Ending.UNFINISHED:
            winner = int(Outcome.ONGOING)
        else:
            winner = 1 - self.offender
        if winner != self.winner:
            raise RecordError(f"a record of {self.game} names winner {self.winner}, its moves say {winner}")
        if game.margin(state) != self.margin:
            raise RecordError(
                f"a record of {self.game} tells a margin of {self.margin}, its moves one of {game.margin(state)}"
            )


def task_key(task: Any) -> str:
    """Return what identifies a planned or played game: game, agents, seeds, opening, start."""
    return json.dumps(
        [
            task.game,
            dict(task.parameters),
            list(task.agents),
            list(task.seeds),
            task.opening_number,
            list(task.opening),
            task.start,
        ],
        sort_keys=True,
        ensure_ascii=False,
    )


def _checksum(data: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(data, sort_keys=True, ensure_ascii=False).encode())


def parameters_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a game's parameters as they were before they went through JSON, which knows no tuples."""
    return {key: _tuples(value) for key, value in data.items()}


def headers_of(data: Any) -> dict[str, str]:
    """Return a record's headers; TypeError if they are no mapping of texts to texts."""
    if not isinstance(data, Mapping) or not all(isinstance(part, str) for pair in data.items() for part in pair):
        raise TypeError(f"headers are texts by name, not {data!r}")
    return dict(data)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
