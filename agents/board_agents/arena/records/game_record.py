"""One game as a record: all that is needed to tell it, count it and play it again."""

from __future__ import annotations

import json
import re
import reprlib
import zlib
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any

import board_envs
from board_envs.game import Game
from board_envs.types import IllegalActionError, Outcome, PositionError, TextError

FORMAT = 1
"""Version of the records' form in files."""
_COLUMNS = ("game", "opening_number", "offender", "final", "start", "detail", "version")
"""Fields that are a column of every table under their own names."""


_NUMBERS = {"seeds": 63, "opening": 31, "opening_number": 31, "actions": 31, "offender": 31, "winner": 31, "margin": 31}
"""Fields of whole numbers, and the bits that every form (database, Parquet) has for them beside the sign."""
_SEVERAL: dict[str, Container[int]] = {"seeds": (2,), "opening": range(1 << 31), "actions": range(1 << 31)}
"""Fields of several numbers, and how many these may be."""
_MOST_SECONDS = 1e15
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPR = reprlib.Repr()
_REPR.maxstring = 200


class RecordError(TextError):
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

    def __post_init__(self) -> None:
        """Raise RecordError for values of wrong types or beyond what every form can hold."""
        for name in ("game", "final", "start", "detail", "version"):
            _check_text(name, getattr(self, name))
        if not isinstance(self.parameters, Mapping) or not all(isinstance(key, str) for key in self.parameters):
            raise RecordError(f"a record's parameters are names with values, not {_short(self.parameters)}")
        for name, bits in _NUMBERS.items():
            values = getattr(self, name)
            several = name in _SEVERAL
            if isinstance(values, tuple) is not several or (several and len(values) not in _SEVERAL[name]):
                raise RecordError(f"a record's {name} cannot be {_short(values)}")
            for value in values if several else (values,):
                if isinstance(value, bool) or not isinstance(value, int) or not -(1 << bits) <= value < 1 << bits:
                    raise RecordError(f"a record's {name}: {_short(value)} is no integer of {bits + 1} bits")
        for name in ("agents", "seconds"):
            values = getattr(self, name)
            if not isinstance(values, tuple) or len(values) != 2:
                raise RecordError(f"a record's {name} cannot be {_short(values)}")
        for value in self.agents:
            _check_text("agents", value)
        try:
            for pair in headers_of(self.headers).items():
                _check_text("headers", "".join(pair))
        except TypeError as error:
            raise RecordError(f"a record's {error}") from error
        for value in self.seconds:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _MOST_SECONDS:
                raise RecordError(f"a record's seconds are from 0 to {_MOST_SECONDS:g}, not {_short(value)}")
        if not isinstance(self.ending, Ending):
            raise RecordError(f"a record's ending cannot be {_short(self.ending)}")
        if self.offender not in ((0, 1) if self.ending in FAULTS else (-1,)):
            raise RecordError(f"a record's offender cannot be {self.offender} with the ending {self.ending.value!r}")

    @property
    def key(self) -> str:
        """Text that is equal for two records exactly when they are the same game of the same plan."""
        return task_key(self)

    @classmethod
    def of_game(
        cls,
        game: Game[Any],
        actions: Iterable[int],
        state: Any,
        *,
        agents: tuple[str, str],
        opening: Iterable[int] = (),
        seeds: tuple[int, int] = (0, 0),
        opening_number: int = 0,
        fault: tuple[Ending, int] | None = None,
        **others: Any,
    ) -> GameRecord:
        """Record a game that was played; how it ended, its winner and its margin follow from the last position.

        Args:
            game: the game.
            actions: all actions.
            state: where they led to.
            agents: see the class, as for `seeds`, `opening` and `opening_number`.
            opening: see the class.
            seeds: see the class.
            opening_number: see the class.
            fault: the ending and the offender's seat, if a fault of an agent ended it.
            others: further fields of the class.

        """
        over = game.is_terminal(state)
        ending, offender = fault or (Ending.FINISHED if over else Ending.UNFINISHED, -1)
        winner = 1 - offender if fault else int(game.winner(state)) if over else int(Outcome.ONGOING)
        return cls(
            game=game.name,
            parameters=dict(game.parameters),
            agents=agents,
            seeds=(int(seeds[0]), int(seeds[1])),
            opening=tuple(map(int, opening)),
            opening_number=opening_number,
            actions=tuple(map(int, actions)),
            ending=ending,
            offender=offender,
            winner=winner,
            margin=game.margin(state),
            final=game.format(state),
            **others,
        )

    @classmethod
    def from_columns(
        cls,
        row: Mapping[str, Any],
        *,
        parameters: Mapping[str, Any],
        agents: tuple[str, str],
        actions: Iterable[int],
        winner: int,
        margin: int,
    ) -> GameRecord:
        """Return the record of a table's row, see `to_columns`; RecordError if a column does not read."""
        try:
            actions = tuple(actions)
            return cls(
                **{name: row[name] for name in _COLUMNS},
                parameters=parameters,
                agents=agents,
                seeds=(row["seed_0"], row["seed_1"]),
                opening=actions[: row["opening_plies"]],
                actions=actions,
                ending=Ending(row["ending"]),
                winner=winner,
                margin=margin,
                headers=headers_of(json.loads(row.get("headers") or "{}")),  # version 0.1.0 wrote none
                seconds=(row["seconds_0"], row["seconds_1"]),
            )
        except RecordError:
            raise
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            raise RecordError(f"a row that is no game record ({error})") from error

    def to_columns(self) -> dict[str, Any]:
        """Return what all tables of records (database, Parquet) have as columns under the same names."""
        return {name: getattr(self, name) for name in _COLUMNS} | {
            "parameters": json.dumps(dict(self.parameters), sort_keys=True),
            "seed_0": self.seeds[0],
            "seed_1": self.seeds[1],
            "opening_plies": len(self.opening),
            "ending": self.ending.value,
            "headers": json.dumps(dict(self.headers), sort_keys=True),
            "seconds_0": self.seconds[0],
            "seconds_1": self.seconds[1],
        }

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
            format_, found = data.get("format"), _checksum(data)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise RecordError(f"no game record: {line[:60]!r}") from error
        if format_ != FORMAT:
            raise RecordError(f"a game record of format {_short(format_)}; this version reads {FORMAT}")
        if checksum != found:
            raise RecordError(f"an altered game record (checksum {_short(checksum)}): {line[:60]!r}")
        try:
            data.setdefault("headers", {})
            values = {name: _tuples(data[name]) for name in (known.name for known in fields(cls))}
            parameters = parameters_of(data["parameters"])
            headers = headers_of(data["headers"])
            return cls(**values | {"ending": Ending(data["ending"]), "parameters": parameters, "headers": headers})
        except RecordError:
            raise
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
        try:
            start = game.parse(self.start) if self.start else None
        except PositionError as error:
            raise RecordError(f"the start of a record of {self.game}: {str(error)[:400]}") from error
        try:
            states = game.states(self.actions, start)
        except IllegalActionError as error:
            raise RecordError(f"a record of {self.game}: {error}") from error
        self.check_end(game, states[-1])
        return states

    def check_end(self, game: Game[Any], state: Any) -> None:
        """Raise RecordError if `state`, which the moves lead to, is not the end that the record tells."""
        if game.format(state) != self.final:
            raise RecordError(
                f"a record of {self.game} ends in {_short(self.final)} but replays to {game.format(state)!r}"
            )
        if self.ending is Ending.FINISHED:
            winner = int(game.winner(state))
        elif self.ending is Ending.UNFINISHED:
            winner = int(Outcome.ONGOING)
        else:
            winner = 1 - self.offender
        if winner != self.winner:
            raise RecordError(f"a record of {self.game} names winner {self.winner}, its moves say {winner}")
        if self.ending not in FAULTS and game.is_terminal(state) is not (self.ending is Ending.FINISHED):
            raise RecordError(f"a record of {self.game} is {self.ending.value}, its moves say otherwise")
        if self.actions[: len(self.opening)] != self.opening:
            raise RecordError(
                f"the actions of a record of {self.game} do not begin with its opening {_short(self.opening)}"
            )
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


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str) or _SURROGATE.search(value):
        raise RecordError(f"a record's {name}: {_short(value)} is no text that UTF-8 can hold")


def _short(value: Any) -> str:
    """Return a value for a message; what a file holds may be of any size."""
    return _REPR.repr(value)
