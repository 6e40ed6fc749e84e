"""How every recipe ends: its policy plays through the project's arena, and one illegal move fails the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from board_agents.arena.play.decisions import play_game
from board_envs.game import Game

Policy = Callable[[Mapping[str, NDArray[Any]]], int]
"""``f({"observation", "action_mask"}) -> action``."""


def play_games(game: Game[Any], seats: Sequence[Policy], games: int, opponent: str = "random") -> dict[str, int]:
    """Play a policy in both seats, in turn, against an opponent.

    Args:
        game: the game.
        seats: the policy to use in seat 0 and in seat 1 (the same one, as a rule).
        games: how many games.
        opponent: spec of the other player.

    Returns:
        how many were won, drawn and lost.

    Raises:
        SystemExit: a game did not end by the rules: an illegal move, an exception.

    """
    counts = {"won": 0, "drawn": 0, "lost": 0}
    for number in range(games):
        seat = number % 2
        builders: list[Policy | str] = [seats[seat], opponent]
        names = ("trained", opponent)
        record = play_game(
            game,
            builders if seat == 0 else builders[::-1],
            names=names if seat == 0 else names[::-1],
            seeds=(number, number),
        )
        if record.offender >= 0:
            raise SystemExit(f"game {number}, {record.agents[record.offender]}: {record.ending.value}: {record.detail}")
        counts["drawn" if record.winner == 2 else "won" if record.winner == seat else "lost"] += 1
    print(f"{games} games against {opponent}, no illegal move: {counts}")
    return counts
