"""The game database: every game and analysed position, in an SQLite file or on a PostgreSQL server.

Games are written in batches, one transaction each. A run (a tournament, an import) has a name; each game planned in a
run is stored once, even if the run was stopped or two workers played the same game.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from board_agents.arena.records.game_record import GameRecord, RecordError, parameters_of
from board_agents.arena.records.schema import SCHEMA_VERSION, Base, GameRow, Meta, Player, PositionRow, Run
from board_agents.oracle import Analyst, MaybeExact
from board_envs.game import Game, ternary_code
from board_envs.registry import make_game
from board_envs.types import IllegalActionError, MissingExtraError, Oracle, Outcome

try:
    from sqlalchemy import Engine, Executable, create_engine, event, func, inspect, select, text
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.engine import URL, Connection, make_url
    from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError
except ModuleNotFoundError as error:
    raise MissingExtraError("the game database", "records") from error

BATCH = 500
"""Games per transaction."""
WAIT_SECONDS = 2.0
"""Longest time before a waiting game is written, in seconds."""
_BUSY_SECONDS = 60
_FIRST_WRITER = 0x626F6172  # an advisory lock's number on PostgreSQL


class StoreError(RecordError):
    """An unusable database: wrong URL, no connection, another schema version, unknown run."""


def open_url(target: str | Path) -> URL:
    """Return a database's URL: a path means an SQLite file, "postgresql://..." the psycopg driver.

    Raises:
        StoreError: the URL is invalid, or names another kind of database.

    """
    text = str(target)
    if isinstance(target, Path) or "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise StoreError(f"{text!r} is not a database URL") from error
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise StoreError(f"supported databases are SQLite and PostgreSQL, not {url.get_backend_name()}")
    return url


class Store:
    """An open database; a context manager.

    Args:
        target: a path (SQLite, created if missing) or a URL ("sqlite:///games.db", "postgresql://user@host/name").
        create: create missing tables; otherwise the database must already contain games.

    Raises:
        StoreError: it cannot be opened, is a file of another program, or has another schema version.
        MissingExtraError: the database's driver is not installed.

    """

    def __init__(self, target: str | Path, *, create: bool = True) -> None:
        self.url = open_url(target)
        try:
            self.engine: Engine = create_engine(self.url, **_options(self.url))
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"the database {self.url.get_backend_name()}", "records") from error
        try:
            with self._damage_named():
                self._prepare(create)
        except StoreError:
            self.engine.dispose()
            raise

    @contextlib.contextmanager
    def _damage_named(self) -> Iterator[None]:
        """Turn what drivers raise about files and servers that cannot be read into StoreError."""
        try:
            yield
        except DatabaseError as error:
            raise StoreError(f"{self.url.render_as_string()}: {error.orig}") from error
        except UnicodeDecodeError as error:
            raise StoreError(f"{self.url.render_as_string()} is damaged: {error}") from error

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._damage_named(), self.engine.connect() as connection:
            yield connection

    def _prepare(self, create: bool) -> None:
        wanted = set(Base.metadata.tables)
        with self.engine.begin() as connection:
            tables = set(inspect(connection).get_table_names())
            if not tables & wanted and create:
                # Two processes may create the tables at once: the second waits, then finds them.
                if connection.dialect.name == "postgresql":
                    connection.execute(select(func.pg_advisory_xact_lock(_FIRST_WRITER)))
                else:
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                tables = set(inspect(connection).get_table_names())
                # An SQLite file belongs to one program; a server's database may contain other tables.
                if not tables & wanted and (not tables or connection.dialect.name == "postgresql"):
                    Base.metadata.create_all(connection)
                    connection.execute(_insert_new(connection, Meta), [{"key": "schema", "value": str(SCHEMA_VERSION)}])
                    tables = wanted
            if not wanted <= tables:
                what = "contains tables of another program" if tables else "contains no games"
                raise StoreError(f"{self.url.render_as_string()} {what}")
            version = connection.scalar(select(Meta.value).where(Meta.key == "schema"))
            self._has_headers = _has_headers(connection)
        if version != str(SCHEMA_VERSION):
            raise StoreError(
                f"{self.url.render_as_string()} has schema version {version}; this version reads {SCHEMA_VERSION}"
            )

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- writing ------------------------------------------------------------------------------------------------------

    def add(self, records: Iterable[GameRecord], run: str, batch: int = BATCH) -> int:
        """Write games, in transactions of `batch`; those already in the run are skipped.

        Returns:
            number of new games.

        Raises:
            RecordError: a record does not replay to its recorded end; its batch is not written, earlier ones are.

        """
        new = 0
        waiting: list[GameRecord] = []
        for record in records:
            waiting.append(record)
            if len(waiting) >= batch:
                new += self._write(waiting, run)
                waiting = []
        return new + (self._write(waiting, run) if waiting else 0)

    def _write(self, records: Sequence[GameRecord], run: str) -> int:
        with self.engine.begin() as connection:
            if not self._has_headers and not _has_headers(connection):
                connection.execute(text("ALTER TABLE games ADD COLUMN headers TEXT NOT NULL DEFAULT '{}'"))
            run_id = _ids(connection, Run, [run])[run]
            players = _ids(connection, Player, sorted({name for record in records for name in record.agents}))
            rows = [_row(record, run_id, players) for record in records]
            new = _insert_counted(connection, GameRow, rows)
        self._has_headers = True
        return new

    def writer(self, run: str, batch: int = BATCH) -> Writer:
        """Return a context manager whose `append` collects games into batches; leaving it writes the rest."""
        return Writer(self, run, batch)

    def add_analyses(
        self,
        analyst: Any,
        name: str,
        run: str | None = None,
        *,
        progress: Callable[[Sequence[int]], Iterable[int]] = iter,
    ) -> int:
        """Analyse every position of stored games that has at least two legal moves.

        Positions already analysed by this analyst are skipped, and so are those without an answer.

        Args:
            analyst: function ``game -> object`` with ``analyse(state)`` (search agents) or ``action_values(state)``
                (oracles).
            name: its name in the database.
            run: only this run's games.
            progress: wraps the iteration over games to show progress.

        Returns:
            number of positions written.

        """
        ids = self.scalars(_of_run(select(GameRow.id), run).order_by(GameRow.id))
        made: dict[Game[Any], Any] = {}
        written = 0
        for game_id in progress(ids):
            record = next(self.records(ids=[game_id]))
            game = record.make_game()
            if game not in made:
                made[game] = analyst(game)
            known = set(
                self.scalars(select(PositionRow.ply).where(PositionRow.game_id == game_id, PositionRow.analyst == name))
            )
            rows = []
            for ply, state in enumerate(record.replay()):
                if ply in known or game.rules.count(state) < 2:
                    continue
                row = analyse_position(game, state, made[game])
                if row is not None:
                    rows.append({"game_id": game_id, "ply": ply, "analyst": name, **row})
            if rows:
                with self.engine.begin() as connection:
                    written += _insert_counted(connection, PositionRow, rows)
        return written

    # -- reading ------------------------------------------------------------------------------------------------------

    def records(self, run: str | None = None, ids: Sequence[int] | None = None) -> Iterator[GameRecord]:
        """Yield games in the order written; raise RecordError if one does not replay to its recorded end."""
        table = GameRow.__table__
        columns = [column for column in table.c if self._has_headers or column.name != "headers"]
        query = _of_run(select(*columns), run).order_by(table.c.id).limit(BATCH)
        if ids is not None:
            query = query.where(table.c.id.in_(ids))
        last = 0
        while True:
            with self._reading() as connection:
                rows = connection.execute(query.where(table.c.id > last)).all()
                wanted = {row.player_0_id for row in rows} | {row.player_1_id for row in rows}
                players = connection.execute(select(Player.id, Player.name).where(Player.id.in_(wanted)))
                names = {player.id: player.name for player in players}
            if not rows:
                return
            if rows[-1].id <= last:
                raise StoreError(f"{self.url.render_as_string()} is damaged: game {rows[-1].id} comes after {last}")
            for row in rows:
                yield _record(row, names)
            last = rows[-1].id

    def table(self, query: Executable) -> tuple[list[str], list[dict[str, Any]]]:
        """Run a query and return the names of its columns and its rows, column name -> value."""
        with self._reading() as connection:
            result = connection.execute(query)
            return list(result.keys()), [dict(row) for row in result.mappings()]

    def rows(self, query: Executable) -> list[dict[str, Any]]:
        """Run a query and return its rows, column name -> value."""
        return self.table(query)[1]

    def scalars(self, query: Executable) -> list[Any]:
        """Run a query of one column and return its values."""
        with self._reading() as connection:
            return list(connection.scalars(query))

    def count(self, run: str | None = None) -> int:
        """Return the number of games, in total or of a run."""
        return int(self.scalars(_of_run(select(func.count()).select_from(GameRow), run))[0])


class Writer:
    """Collects games until a batch is full or some seconds old, and writes them together; leaving it writes the rest.

    A killed process loses only the waiting games; a resumed run plays them again.

    Attributes:
        new: number of new games written so far.

    """

    def __init__(self, store: Store, run: str, batch: int = BATCH) -> None:
        self.store, self.run, self.batch = store, run, batch
        self.new = 0
        self._waiting: list[GameRecord] = []
        self._written = time.monotonic()

    def read(self) -> list[GameRecord]:
        """Return the games of the run that are in the database."""
        return list(self.store.records(self.run))

    def append(self, record: GameRecord) -> None:
        """Add a game; it is stored with its batch."""
        self._waiting.append(record)
        if len(self._waiting) >= self.batch or time.monotonic() - self._written > WAIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the waiting games."""
        waiting, self._waiting = self._waiting, []
        self.new += self.store.add(waiting, self.run, self.batch)
        self._written = time.monotonic()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()  # also after an error: keep the games played so far


def analyse_position(game: Game[Any], state: Any, analyst: Any) -> dict[str, Any] | None:
    """Return the columns of `PositionRow` with the analysis; None if the analyst has no answer.

    Args:
        game: the game.
        state: an unfinished state.
        analyst: an object with ``analyse(state)`` (search agents) or ``action_values(state)`` (oracles).

    """
    seat = game.current_player(state)
    active = 1 if seat == 0 else -1
    if isinstance(analyst, Analyst):
        found = analyst.analyse(state)
        action, evaluation, depth = found.action, float(found.value_for(0)), int(found.depth)
        exact = isinstance(found, MaybeExact) and bool(found.exact)
    elif isinstance(analyst, Oracle):
        values = analyst.action_values(state)
        if values is None:
            return None
        action = max(values, key=lambda action: (values[action], -action))
        evaluation, depth, exact = active * float(values[action]), None, True
    else:
        raise TypeError(f"{analyst!r} cannot analyse: it has neither analyse nor action_values")
    row, column = square_of(game, state, action)
    return {
        "code": board_code(game, state),
        "position": game.format(state),
        "exact": exact,
        "depth": depth,
        "evaluation": evaluation,
        "active": active,
        "row": row,
        "column": column,
        "move": game.action_to_text(state, action),
    }


def board_code(game: Game[Any], state: Any) -> int | None:
    """Return the source's code of a board, the sum of (p + 1) 3^(cell): None for boards that are not two planes."""
    grid = _grid(game, state)
    return None if grid is None else ternary_code(grid)


def square_of(game: Game[Any], state: Any, action: int) -> tuple[int | None, int | None]:
    """Return (row, column) of the cell that an action fills; (None, None) where a move is not a cell."""
    before = _grid(game, state)
    if before is None:
        return None, None
    filled = np.argwhere((before == 0) & (_grid(game, game.step(state, action)) != 0))
    if len(filled) != 1:
        return None, None
    return int(filled[0][0]), int(filled[0][1])


def _grid(game: Game[Any], state: Any) -> Any:
    """Return the board as 1 player_0, -1 player_1, 0 empty: int8 (rows, columns), or None."""
    if len(game.observation_shape) != 3 or game.observation_shape[2] != 2 or game.observation_high != 1:
        return None
    planes = game.observe(state, 0)
    return planes[..., 0] - planes[..., 1]


def _options(url: URL) -> dict[str, Any]:
    return {"connect_args": {"timeout": _BUSY_SECONDS}} if url.get_backend_name() == "sqlite" else {}


@event.listens_for(Engine, "connect")
def _check_references(connection: Any, _record: Any) -> None:
    """Enable SQLite's foreign keys, which are off by default."""
    if type(connection).__module__.startswith("sqlite3"):
        connection.execute("PRAGMA foreign_keys = ON")


@event.listens_for(Engine, "handle_error")
def _tell_damage(context: Any) -> None:
    """Turn errors of the database itself (damaged, full, gone) into StoreError; others propagate."""
    error = context.sqlalchemy_exception
    if isinstance(error, OperationalError) or type(error) is DatabaseError:
        url = context.engine.url.render_as_string() if context.engine is not None else "the database"
        raise StoreError(f"{url}: {context.original_exception}") from context.original_exception


def _has_headers(connection: Connection) -> bool:
    """Whether the SQL table of games has the column, new since 0.1.0; the first write adds it."""
    return "headers" in {column["name"] for column in inspect(connection).get_columns(GameRow.__tablename__)}


def _insert_new(connection: Connection, table: type[Base]) -> Any:
    """Return an INSERT that skips existing rows."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table).on_conflict_do_nothing()


def _insert_counted(
    connection: Connection, table: type[GameRow] | type[PositionRow], rows: Sequence[Mapping[str, Any]]
) -> int:
    """Insert new rows and return their number; drivers' own counts ignore which rows were skipped."""
    return len(connection.scalars(_insert_new(connection, table).returning(table.id), list(rows)).all())


def _ids(connection: Connection, table: type[Player] | type[Run], names: Sequence[str]) -> dict[str, int]:
    """Return name -> id, creating missing rows."""
    connection.execute(_insert_new(connection, table), [{"name": name} for name in names])
    rows = connection.execute(select(table.name, table.id).where(table.name.in_(names)))
    return {row.name: row.id for row in rows}


def _of_run(query: Any, run: str | None) -> Any:
    if run is None:
        return query
    return query.join(Run, Run.id == GameRow.run_id).where(Run.name == run)


def _row(record: GameRecord, run_id: int, players: Mapping[str, int]) -> dict[str, Any]:
    """Return a game's columns; raise RecordError if it does not replay to its recorded end."""
    states = record.replay()
    game = record.make_game()
    won = record.winner in (Outcome.PLAYER_0, Outcome.PLAYER_1)
    return record.to_columns() | {
        "run_id": run_id,
        "key": hashlib.sha256(record.key.encode()).hexdigest(),
        "player_0_id": players[record.agents[0]],
        "player_1_id": players[record.agents[1]],
        "winner_id": players[record.agents[record.winner]] if won else None,
        "outcome": record.winner,
        "score": record.margin,
        "moves": game.notation.join_moves(game.move_names(record.actions, states)),
        "plies": len(record.actions),
    }


def _record(row: Any, names: Mapping[int, str]) -> GameRecord:
    """Return the game of a row; raise RecordError if its moves and its other columns disagree."""
    try:
        parameters = parameters_of(json.loads(row.parameters))
        game = make_game(row.game, **parameters)
        start = game.parse(row.start) if row.start else None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise RecordError(f"game {row.id} of the database: {error}") from error
    try:
        actions, state = game.play_moves(row.moves, start)
    except IllegalActionError as error:
        raise RecordError(f"game {row.id} of the database, {error}") from error
    try:
        for player in (row.player_0_id, row.player_1_id):
            if player not in names:
                raise RecordError(f"there is no player {player!r}")
        record = GameRecord.from_columns(
            row._mapping,
            parameters=parameters,
            agents=(names[row.player_0_id], names[row.player_1_id]),
            actions=actions,
            winner=row.outcome,
            margin=row.score,
        )
        record.check_end(game, state)
    except RecordError as error:
        raise RecordError(f"game {row.id} of the database: {error}") from error
    return record
