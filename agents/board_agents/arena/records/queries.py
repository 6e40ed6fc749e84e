"""Predefined queries on the database: those of the source document, and more.

Each function returns what a `Store` runs; `QUERIES` names them for the command line. The source's own three: games
won by a player, mean final score, positions analysed deeper than n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from board_agents.arena.records.schema import GameRow, Player, PositionRow, Run
from board_envs.types import MissingExtraError, Outcome

try:
    from sqlalchemy import Executable, Float, and_, case, cast, func, or_, select
    from sqlalchemy.orm import aliased
    from sqlalchemy.sql.elements import ColumnElement
except ModuleNotFoundError as error:
    raise MissingExtraError("the game database", "records") from error

First, Second = aliased(Player, name="first"), aliased(Player, name="second")
_DRAWN = int(Outcome.DRAW)


def wins(player: str) -> Executable:
    """Number of games won by a player."""
    return (
        select(func.count().label("wins"))
        .select_from(GameRow)
        .join(Player, Player.id == GameRow.winner_id)
        .where(Player.name == player)
    )


def mean_score(player: str) -> Executable:
    """The mean final score of a player's games, in the player's view, without faults and unfinished games."""
    own = case((First.name == player, GameRow.score), else_=-GameRow.score)
    return _with_players(select(func.avg(cast(own, Float)).label("mean_score"), func.count().label("games"))).where(
        or_(First.name == player, Second.name == player), First.id != Second.id, GameRow.ending == "finished"
    )


def results() -> Executable:
    """Games, wins, draws and losses of every player at each seat, without unfinished games."""

    def of_seat(seat: int) -> Any:
        player = (GameRow.player_0_id, GameRow.player_1_id)[seat]
        return (
            select(
                Player.name.label("player"),
                cast(seat, GameRow.outcome.type).label("seat"),
                func.count().label("games"),
                _count_if(GameRow.outcome == seat).label("wins"),
                _count_if(GameRow.outcome == _DRAWN).label("draws"),
                _count_if(GameRow.outcome == 1 - seat).label("losses"),
            )
            .select_from(GameRow)
            .join(Player, Player.id == player)
            .where(GameRow.outcome >= 0)
            .group_by(Player.name)
        )

    both = of_seat(0).union_all(of_seat(1)).subquery()
    return select(both).order_by(both.c.player, both.c.seat)


def head_to_head(player: str, other: str) -> Executable:
    """Two players' games with each other: wins of each, and draws."""
    return _with_players(
        select(
            func.count().label("games"),
            _count_if(
                or_(and_(First.name == player, GameRow.outcome == 0), and_(Second.name == player, GameRow.outcome == 1))
            ).label("wins"),
            _count_if(GameRow.outcome == _DRAWN).label("draws"),
            _count_if(
                or_(and_(First.name == other, GameRow.outcome == 0), and_(Second.name == other, GameRow.outcome == 1))
            ).label("losses"),
        )
    ).where(or_(and_(First.name == player, Second.name == other), and_(First.name == other, Second.name == player)))


def drawn() -> Executable:
    """Drawn games."""
    return _listed().where(GameRow.winner_id.is_(None), GameRow.outcome == _DRAWN).order_by(GameRow.id)


def faults() -> Executable:
    """Games that ended by an illegal move, a crash or a timeout, with the offender."""
    return _listed(GameRow.ending, GameRow.offender, GameRow.detail).where(GameRow.offender >= 0).order_by(GameRow.id)


def highest_scores(count: int = 10) -> Executable:
    """The games with the largest margins."""
    return _listed().order_by(func.abs(GameRow.score).desc(), GameRow.id).limit(count)


def longest(count: int = 10) -> Executable:
    """The longest games."""
    return _listed().order_by(GameRow.plies.desc(), GameRow.id).limit(count)


def shortest(count: int = 10) -> Executable:
    """The shortest games that ended by the rules."""
    return _listed().where(GameRow.ending == "finished").order_by(GameRow.plies, GameRow.id).limit(count)


def duplicates() -> Executable:
    """Games with identical moves between the same players."""
    times = func.count().label("times")
    return (
        _with_players(select(First.name.label("player_0"), Second.name.label("player_1"), GameRow.moves, times))
        .group_by(GameRow.game, GameRow.parameters, First.name, Second.name, GameRow.start, GameRow.moves)
        .having(func.count() > 1)
        .order_by(times.desc(), First.name, Second.name, GameRow.moves)
    )


def thinking_time() -> Executable:
    """Thinking time of each player, in total and per game, in seconds."""

    def of_seat(seat: int) -> Any:
        player = (GameRow.player_0_id, GameRow.player_1_id)[seat]
        seconds = (GameRow.seconds_0, GameRow.seconds_1)[seat]
        return select(player.label("id"), seconds.label("seconds"))

    both = of_seat(0).union_all(of_seat(1)).subquery()
    return (
        select(
            Player.name.label("player"),
            func.sum(both.c.seconds).label("seconds"),
            func.avg(both.c.seconds).label("seconds_a_game"),
        )
        .join(both, both.c.id == Player.id)
        .group_by(Player.name)
        .order_by(Player.name)
    )


def deeper_than(depth: int) -> Executable:
    """Positions analysed deeper than a number of plies."""
    return _analysed().where(PositionRow.depth > depth).order_by(PositionRow.id)


def analyses_of(code: int) -> Executable:
    """All analyses of the board with a code."""
    return _analysed().where(PositionRow.code == code).order_by(PositionRow.depth.desc(), PositionRow.id)


def best_squares(code: int) -> Executable:
    """The best squares on the board with a code, with their counts."""
    times = func.count().label("times")
    return (
        select(PositionRow.row, PositionRow.column, PositionRow.move, times)
        .where(PositionRow.code == code)
        .group_by(PositionRow.row, PositionRow.column, PositionRow.move)
        .order_by(times.desc(), PositionRow.move)
    )


def mean_evaluations() -> Executable:
    """Number of positions analysed by each analyst, and their mean evaluation, by the player to move."""
    return (
        select(
            PositionRow.analyst,
            PositionRow.active,
            func.count().label("positions"),
            func.avg(PositionRow.evaluation).label("mean_evaluation"),
        )
        .group_by(PositionRow.analyst, PositionRow.active)
        .order_by(PositionRow.analyst, PositionRow.active)
    )


def runs() -> Executable:
    """The runs, with their games."""
    return (
        select(Run.name.label("run"), func.count(GameRow.id).label("games"), Run.started)
        .outerjoin(GameRow, GameRow.run_id == Run.id)
        .group_by(Run.id, Run.name, Run.started)
        .order_by(Run.id)
    )


QUERIES: dict[str, Callable[..., Executable]] = {
    "wins": wins,
    "mean-score": mean_score,
    "results": results,
    "head-to-head": head_to_head,
    "drawn": drawn,
    "faults": faults,
    "highest-scores": highest_scores,
    "longest": longest,
    "shortest": shortest,
    "duplicates": duplicates,
    "thinking-time": thinking_time,
    "deeper-than": deeper_than,
    "analyses-of": analyses_of,
    "best-squares": best_squares,
    "mean-evaluations": mean_evaluations,
    "runs": runs,
}
"""Name -> function that makes the query; its parameters are strings and integers."""


def _count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def _with_players(query: Any) -> Any:
    return (
        query.select_from(GameRow)
        .join(First, First.id == GameRow.player_0_id)
        .join(Second, Second.id == GameRow.player_1_id)
    )


def _listed(*more: Any) -> Any:
    columns = (
        GameRow.id,
        GameRow.game,
        First.name.label("player_0"),
        Second.name.label("player_1"),
        GameRow.score,
        GameRow.plies,
    )
    return _with_players(select(*columns, *(more or (GameRow.moves,))))


def _analysed() -> Any:
    return select(
        PositionRow.id,
        PositionRow.game_id,
        PositionRow.ply,
        PositionRow.code,
        PositionRow.position,
        PositionRow.analyst,
        PositionRow.depth,
        PositionRow.evaluation,
        PositionRow.active,
        PositionRow.row,
        PositionRow.column,
        PositionRow.move,
    )
