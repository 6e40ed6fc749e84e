"""One game as a record: everything needed to describe it, count it and replay it."""

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
"""Version of the records' format in files."""
_COLUMNS = ("game", "opening_number", "offender", "final", "start", "detail", "version")
"""Fields stored as a column of the same name in the database and in Parquet."""


_NUMBERS = {"seeds": 63, "opening": 31, "opening_number": 31, "actions": 31, "offender": 31, "winner": 31, "margin": 31}
"""Integer fields, and the bits without sign that every format (database, Parquet) has for them."""
_SEVERAL: dict[str, Container[int]] = {"seeds": (2,), "opening": range(1 << 31), "actions": range(1 << 31)}
"""Fields of several numbers, and their maximum length."""
_MOST_SECONDS = 1e15
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPR = reprlib.Repr()
_REPR.maxstring = 200


class RecordError(TextError):
    """An inconsistent record: damaged, of another format, or not replaying to its recorded end."""


class Ending(str, Enum):
    """How a game ended.

    `FINISHED` by the rules; `ILLEGAL`, `CRASH` and `TIMEOUT` by a fault of one agent, who loses; `UNFINISHED` because
    the maximum length was reached, neither won nor drawn.
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
        agents: names at seat 0 (moves first) and at seat 1.
        seeds: the seed each agent was reset with.
        opening: the first actions, played before the agents move.
        opening_number: number of the opening in its match; paired games share it.
        actions: all actions, including the opening's.
        ending: how it ended.
        offender: the seat whose fault ended it, -1 if none.
        winner: 0, 1, 2 for a draw, -1 for an unfinished game (the numbers of `board_envs.types.Outcome`).
        margin: player_0's points minus player_1's at the end, in the game's unit.
        final: the last position as text.
        start: the first position as text; empty for the initial position.
        detail: description of the fault; empty without one.
        version: version of board_envs that played it.
        headers: further data of the form that the game was read from (date, event ...), to be written again.
        seconds: thinking time of each seat; it differs between runs and is ignored in comparisons.

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
        """Raise RecordError for values of a wrong type or range."""
        for name in ("game", "final", "start", "detail", "version"):
            _check_text(name, getattr(self, name))
        if not isinstance(self.parameters, Mapping) or not all(isinstance(key, str) for key in self.parameters):
            raise RecordError(f"a record's parameters must map names to values, not {_short(self.parameters)}")
        for name, bits in _NUMBERS.items():
            values = getattr(self, name)
            several = name in _SEVERAL
            if isinstance(values, tuple) is not several or (several and len(values) not in _SEVERAL[name]):
                raise RecordError(f"a record's {name} cannot be {_short(values)}")
            for value in values if several else (values,):
                if isinstance(value, bool) or not isinstance(value, int) or not -(1 << bits) <= value < 1 << bits:
                    raise RecordError(f"a record's {name}: {_short(value)} is not an integer of {bits + 1} bits")
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
                raise RecordError(f"a record's seconds must be 0 to {_MOST_SECONDS:g}, not {_short(value)}")
        if not isinstance(self.ending, Ending):
            raise RecordError(f"a record's ending cannot be {_short(self.ending)}")
        if self.offender not in ((0, 1) if self.ending in FAULTS else (-1,)):
            raise RecordError(f"a record's offender cannot be {self.offender} with the ending {self.ending.value!r}")

    @property
    def key(self) -> str:
        """Text that is equal for two records if and only if they are the same game of the same plan."""
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
        """Create the record of a game; ending, winner and margin follow from the last position.

        Args:
            game: the game.
            actions: all actions.
            state: the state after them.
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
        """Return the record of a row, see `to_columns`; raise RecordError for an invalid column."""
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
                headers=headers_of(json.loads(row.get("headers") or "{}")),  # absent in version 0.1.0
                seconds=(row["seconds_0"], row["seconds_1"]),
            )
        except RecordError:
            raise
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            raise RecordError(f"not the row of a game record ({error})") from error

    def to_columns(self) -> dict[str, Any]:
        """Return the columns common to the database and Parquet, by name."""
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
        if not self.headers:  # so that older versions can read the line
            del data["headers"]
        return json.dumps(data | {"crc32": _checksum(data)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> GameRecord:
        """Parse a line written by `to_json`; raise RecordError if it is invalid."""
        try:
            data = json.loads(line)
            checksum = data.pop("crc32")
            format_, found = data.get("format"), _checksum(data)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise RecordError(f"not a game record: {line[:60]!r}") from error
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
        """Return the game that was played; raise RecordError if it does not exist."""
        try:
            return board_envs.make_game(self.game, **self.parameters)
        except (ValueError, TypeError) as error:
            raise RecordError(f"a record of an unknown game: {error}") from error

    def replay(self) -> list[Any]:
        """Return all states from the first to the last; raise RecordError if the moves break the rules."""
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
        """Raise RecordError if `state`, reached by the moves, is not the recorded end."""
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
            raise RecordError(f"a record of {self.game} states winner {self.winner}, its moves give {winner}")
        if self.ending not in FAULTS and game.is_terminal(state) is not (self.ending is Ending.FINISHED):
            raise RecordError(f"a record of {self.game} states {self.ending.value}, its moves contradict that")
        if self.actions[: len(self.opening)] != self.opening:
            raise RecordError(
                f"the actions of a record of {self.game} do not begin with its opening {_short(self.opening)}"
            )
        if game.margin(state) != self.margin:
            raise RecordError(
                f"a record of {self.game} states margin {self.margin}, its moves give {game.margin(state)}"
            )


def task_key(task: Any) -> str:
    """Return the identity of a planned or played game: game, agents, seeds, opening, start."""
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
    """Return a game's parameters as they were before JSON, which has no tuples."""
    return {key: _tuples(value) for key, value in data.items()}


def headers_of(data: Any) -> dict[str, str]:
    """Return a record's headers; raise TypeError if they are not a mapping of strings to strings."""
    if not isinstance(data, Mapping) or not all(isinstance(part, str) for pair in data.items() for part in pair):
        raise TypeError(f"headers must map strings to strings, not {data!r}")
    return dict(data)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str) or _SURROGATE.search(value):
        raise RecordError(f"a record's {name}: {_short(value)} cannot be encoded as UTF-8")


def _short(value: Any) -> str:
    """Return a value for a message, shortened: values from a file may have any size."""
    return _REPR.repr(value)
