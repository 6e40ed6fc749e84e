"""Compare the values stated in a text with an oracle's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from board_agents.arena.statistics.quality import outcome_for_mover
from board_envs.forms import Item
from board_envs.game import Game


@dataclass
class Comparison:
    """The result of a comparison.

    Attributes:
        compared: stated values whose exact value is known.
        unknown: stated values beyond the oracle's reach.
        differences: one text for each compared value that differs.

    """

    compared: int = 0
    unknown: int = 0
    differences: list[str] = field(default_factory=list)

    def judge(self, what: str, stated: float, exact: float | None) -> None:
        """Count one stated value."""
        if exact is None:
            self.unknown += 1
            return
        self.compared += 1
        if stated != exact:
            self.differences.append(f"{what}: {stated:+g} stated, exact value {exact:+g}")


def compare(game: Game[Any], item: Item, value: float | None, values: Mapping[int, float] | None) -> Comparison:
    """Compare an item's stated values with the exact ones.

    Args:
        game: the game.
        item: the position and the values its text states.
        value: exact value of ``item.state`` for its mover; None if unknown.
        values: exact value of each legal action for the mover; None if unknown.

    """
    found = Comparison()
    sign = 1 if item.view in (None, game.current_player(item.state)) else -1
    if item.value is not None:
        found.judge("value", item.value, None if value is None else sign * value)
    if item.outcome is not None:
        exact = None if value is None else sign * outcome_for_mover(game, item.state, value)
        found.judge("outcome", item.outcome, exact)
    for action, stated in item.values.items():
        name = f"move {game.action_to_text(item.state, action)}"
        if not game.is_legal(item.state, action):
            found.compared += 1
            found.differences.append(f"{name}: {stated:+g} stated, but the move is illegal")
        else:
            found.judge(name, stated, None if values is None else values[action])
    return found
