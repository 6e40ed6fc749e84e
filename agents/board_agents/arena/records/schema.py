"""SQL tables of the game database: players, games and analysed positions, as in the source, and runs.

Source: "Jeu de Reversi" (EPITA entrance exam 2024): ``joueurs`` (idJoueur and personal fields), ``parties`` (idPartie,
joueurs_idJ1 who has black, joueurs_idJ2, joueurs_idGagnant, score) and ``plateaux`` (id, parties_idPartie, codePlateau,
profondeur, evaluation, joueurActif, caseX, caseY). A comment beside each column gives the source's name.
"""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

from board_envs.types import MissingExtraError

try:
    from sqlalchemy import BigInteger, ForeignKey, Index, Numeric, String, Text, UniqueConstraint
    from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
    from sqlalchemy.types import TypeDecorator, TypeEngine
except ModuleNotFoundError as error:
    raise MissingExtraError("the game database", "records") from error

SCHEMA_VERSION = 1
CODE_LIMIT = 3**64
_DIGITS = len(str(CODE_LIMIT - 1))


class ExactCode(TypeDecorator[int]):
    """A board's code, 0 <= code < 3^64, stored exactly: it needs 102 bits, more than an integer column has.

    PostgreSQL stores it as NUMERIC(31, 0). SQLite would round it, so there it is a text of 31 digits
    with leading zeros, which compares and sorts like the number.
    """

    impl = String(_DIGITS)
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        """Return the column type of a database."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(Numeric(_DIGITS, 0))
        return dialect.type_descriptor(String(_DIGITS))

    def process_bind_param(self, value: Any, dialect: Any) -> Any:
        """Convert a code to the column's type; raise ValueError for an invalid one."""
        if value is None:
            return None
        code = int(value)
        if code != value or not 0 <= code < CODE_LIMIT:
            raise ValueError(f"a board's code must be an integer from 0 to 3^64 - 1, not {value!r}")
        return Decimal(code) if dialect.name == "postgresql" else str(code).zfill(_DIGITS)

    def process_result_value(self, value: Any, dialect: Any) -> int | None:
        """Convert a column's value to a code."""
        return None if value is None else int(value)


def _now() -> datetime:
    return datetime.now(timezone.utc).replace(tzinfo=None)


class Base(DeclarativeBase):
    """Base class of the SQL tables."""


class Meta(Base):
    """Metadata of the database: its schema version."""

    __tablename__ = "meta"
    key: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class Player(Base):
    """A player, human or agent (``joueurs``); an agent's name is its spec."""

    __tablename__ = "players"
    id: Mapped[int] = mapped_column(primary_key=True)  # idJoueur
    name: Mapped[str] = mapped_column(String(400), unique=True)
    full_name: Mapped[str | None] = mapped_column(String(200))
    country: Mapped[str | None] = mapped_column(String(80))


class Run(Base):
    """A tournament, a match or an import; a stopped run resumes by its name."""

    __tablename__ = "runs"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    started: Mapped[datetime] = mapped_column(default=_now)  # UTC


class GameRow(Base):
    """A game (``parties``)."""

    __tablename__ = "games"
    __table_args__ = (
        UniqueConstraint("run_id", "key"),
        Index("games_players", "player_0_id", "player_1_id"),
        Index("games_second", "player_1_id"),
        Index("games_winner", "winner_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)  # idPartie
    run_id: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    key: Mapped[str] = mapped_column(String(64))  # SHA-256 of the planned game: stored once per run
    game: Mapped[str] = mapped_column(String(40))
    parameters: Mapped[str] = mapped_column(Text)  # JSON, keys sorted
    player_0_id: Mapped[int] = mapped_column(ForeignKey("players.id"))  # joueurs_idJ1: moves first, black
    player_1_id: Mapped[int] = mapped_column(ForeignKey("players.id"))  # joueurs_idJ2
    winner_id: Mapped[int | None] = mapped_column(
        ForeignKey("players.id")
    )  # joueurs_idGagnant; NULL: drawn or unfinished
    outcome: Mapped[int]  # 0, 1: the seat that won; 2 drawn; -1 unfinished
    score: Mapped[int]  # of the final board: player_0's points minus player_1's
    ending: Mapped[str] = mapped_column(String(20))
    offender: Mapped[int]  # the seat whose fault ended the game, -1 if none
    detail: Mapped[str] = mapped_column(Text)
    start: Mapped[str] = mapped_column(Text)  # position as text, empty for the initial position
    moves: Mapped[str] = mapped_column(Text)  # in the game's notation, including the opening's
    plies: Mapped[int]
    opening_plies: Mapped[int]
    opening_number: Mapped[int]
    final: Mapped[str] = mapped_column(Text)  # position as text
    seed_0: Mapped[int] = mapped_column(BigInteger)
    seed_1: Mapped[int] = mapped_column(BigInteger)
    seconds_0: Mapped[float]  # thinking time
    seconds_1: Mapped[float]
    version: Mapped[str] = mapped_column(String(40))  # of board_envs that played it
    headers: Mapped[str] = mapped_column(Text, server_default="{}")  # JSON; absent in version 0.1.0


class PositionRow(Base):
    """An analysed position (``plateaux``)."""

    __tablename__ = "positions"
    __table_args__ = (
        UniqueConstraint("game_id", "ply", "analyst"),
        Index("positions_code", "code"),
        Index("positions_depth", "depth"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    game_id: Mapped[int] = mapped_column(ForeignKey("games.id"))  # parties_idPartie
    ply: Mapped[int]  # moves played before it
    code: Mapped[int | None] = mapped_column(ExactCode)  # codePlateau; NULL where a cell has other than three values
    position: Mapped[str] = mapped_column(Text)  # as text
    analyst: Mapped[str] = mapped_column(String(400))  # spec of the agent or oracle
    exact: Mapped[bool]  # proven value rather than an estimate
    depth: Mapped[int | None]  # profondeur: search depth in plies; NULL for an oracle
    evaluation: Mapped[float]  # in player_0's view, as in the source
    active: Mapped[int]  # joueurActif: 1 player_0, -1 player_1
    row: Mapped[int | None]  # caseX of the best move, from 0 at the top
    column: Mapped[int | None]  # caseY, from 0 at the left
    move: Mapped[str] = mapped_column(String(40))  # the best move in the game's notation
