"""A* in Nim, the weak baseline: it plans both sides' moves as if they were one player's.

Source: the notebook "Implémentation du jeu de Nim". A* looks for the cheapest way to take everything, each move
costing one; the estimate is the number of objects, plus 100 where the exclusive or of the heaps is zero. So it avoids
exactly the positions that one should leave to the opponent, and finds a winning move in 22 of the 448 won positions of
three heaps of at most 7.
"""

from __future__ import annotations

import functools
import heapq
import operator
from dataclasses import dataclass, field
from math import prod
from typing import Any

from board_agents.agent import GameAgent
from board_envs.game import Game
from board_envs.types import SpecError

Heaps = tuple[int, ...]
PENALTY = 100
POSITIONS_LIMIT = 20_000
"""Nearly every position is looked at, some often, so larger games are refused."""


def estimate(heaps: Heaps) -> int:
    """Return the notebook's heuristic."""
    lost = functools.reduce(operator.xor, heaps) == 0
    return sum(heaps) + (PENALTY if lost else 0)


def successors(heaps: Heaps) -> list[Heaps]:
    """List the positions one move away, heap by heap, fewer objects taken first."""
    return [
        (*heaps[:heap], size - taken, *heaps[heap + 1 :])
        for heap, size in enumerate(heaps)
        for taken in range(1, size + 1)
    ]


@dataclass(order=True)
class _Node:
    """A path's end. Only its total orders it, so that the queue settles ties as the notebook's does."""

    total: int
    heaps: Heaps = field(compare=False)
    cost: int = field(compare=False)
    parent: _Node | None = field(compare=False)


def shortest_path(heaps: Heaps) -> list[Heaps]:
    """Return the positions from `heaps` to the empty one that A* finds, both included."""
    queue = [_Node(estimate(heaps), heaps, 0, None)]
    closed: set[Heaps] = set()
    while True:
        node = heapq.heappop(queue)
        if not any(node.heaps):
            path = []
            step: _Node | None = node
            while step is not None:
                path.append(step.heaps)
                step = step.parent
            return path[::-1]
        closed.add(node.heaps)
        for after in successors(node.heaps):
            if after not in closed:
                cost = node.cost + 1
                heapq.heappush(queue, _Node(cost + estimate(after), after, cost, node))


class NimAStarAgent(GameAgent):
    """Plays the first move of the path that A* finds; in misère play too, whose winner it knows nothing of."""

    def __init__(self, game: Game[Any]) -> None:
        super().__init__(game)
        if game.name != "nim":
            raise SpecError(f"A* plays Nim only, not {game!r}")
        positions = prod(size + 1 for size in game.parameters["heaps"])
        if positions > POSITIONS_LIMIT:
            raise SpecError(f"A* goes through nearly all of the {positions} positions of {game!r}: too many")

    def choose(self, state: Any) -> int:
        """Return the action that leads to the second position of the path."""
        number = len(self.game.parameters["heaps"])
        heaps = tuple(int(state.heaps).to_bytes(8, "little")[:number])
        after = shortest_path(heaps)[1]
        heap = next(heap for heap in range(number) if heaps[heap] != after[heap])
        return self.game.text_to_action(state, f"{heap + 1}:{heaps[heap] - after[heap]}")
