"""Which earlier configurations the exact value of an Awalé position depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from board_envs.game import Game


class ConfigurationHistory:
    """What the value of an Awalé position depends on: the board, and the earlier configurations it can come back to.

    Moves without harvest make a graph of configurations; an earlier configuration can come back exactly if it lies in
    the same strongly connected component as the present one. Components are found by Tarjan's algorithm.

    Args:
        game: Awalé.
        spend: called for each configuration looked at.

    """

    cost = 4

    def __init__(self, game: Game[Any], spend: Callable[[], None]) -> None:
        self._game, self._spend = game, spend
        # OpenSpiel's rules distinguish movers and end a game by its stores.
        self._abapa = game.parameters["ruleset"] == "abapa"
        self._component: dict[tuple[int, int], int] = {}

    def key(self, state: Any) -> tuple[Any, ...]:
        """Return a hashable key."""
        configuration = self._configuration(state)
        if configuration not in self._component:
            self._find_components(state)
        component = self._component[configuration]
        earlier = map(tuple, state.history[state.start : state.length].tolist())
        relevant = frozenset(entry for entry in earlier if self._component.get(entry) == component)
        stores = (state.store0, state.store1) if self._abapa else ()
        return (*configuration, state.seat, *stores, relevant)

    def _configuration(self, state: Any) -> tuple[int, int]:
        mine, other = (state.row0, state.row1) if state.seat == 0 else (state.row1, state.row0)
        return int(mine) | (state.seat << 7 if self._abapa else 0), int(other)

    def _successors(self, state: Any) -> list[Any]:
        """Return the unfinished states one move without harvest away, none of them with a memory of others."""
        rules = self._game.rules
        start = state._replace(start=0, length=0)
        after = [rules.step(start, rules.nth(start, k)) for k in range(rules.count(start))]
        return [child for child in after if child.winner < 0 and child.length > child.start]

    def _find_components(self, root: Any) -> None:
        root = self._game.own(root)
        index: dict[tuple[int, int], int] = {}
        low: dict[tuple[int, int], int] = {}
        path: list[tuple[int, int]] = []
        on_path: set[tuple[int, int]] = set()
        work: list[tuple[tuple[int, int], list[Any]]] = []

        def enter(state: Any) -> None:
            self._spend()
            name = self._configuration(state)
            index[name] = low[name] = len(index)
            path.append(name)
            on_path.add(name)
            work.append((name, self._successors(state)))

        enter(root)
        while work:
            name, children = work[-1]
            if children:
                child = children.pop()
                other = self._configuration(child)
                if other in on_path:
                    low[name] = min(low[name], index[other])
                elif other not in self._component:
                    enter(child)
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == index[name]:
                number = len(self._component)
                while True:
                    member = path.pop()
                    on_path.discard(member)
                    self._component[member] = number
                    if member == name:
                        break


def nothing_to_come(game: Game[Any]) -> Callable[[Any], int]:
    """Return the value of finished states: no seeds are still to come."""
    return lambda state: 0
