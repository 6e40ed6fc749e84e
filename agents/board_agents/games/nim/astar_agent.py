"""A* in Nim, a weak baseline: it plans both sides' moves as one player's.

Source: the notebook "Implémentation du jeu de Nim". A* looks for the cheapest way to take everything, each move
costing one; the estimate is the number of objects, plus 100 where the exclusive or of the heaps is zero. So it avoids
exactly the positions to leave to the opponent, and finds a winning move in 22 of the 448 won positions of
three heaps of at most 7.
"""

from __future__ import annotations

import functools
import heapq
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from board_agents.agent import GameAgent
from board_envs.game import Game
from board_envs.games.nim import State
from board_envs.types import SpecError

Heaps = tuple[int, ...]
PENALTY = 100
POSITIONS_LIMIT = 20_000
"""Maximum number of positions: A* visits nearly all, some often, so larger games are rejected."""


def plain_estimate(heaps: Heaps) -> int:
    """Return the notebook's first heuristic: the number of objects."""
    return sum(heaps)


def xor_estimate(heaps: Heaps) -> int:
    """Return the notebook's improved heuristic: 100 more where the exclusive or of the heaps is zero."""
    lost = functools.reduce(operator.xor, heaps) == 0
    return sum(heaps) + (PENALTY if lost else 0)


ESTIMATES: dict[str, Callable[[Heaps], int]] = {"xor": xor_estimate, "sum": plain_estimate}


def successors(heaps: Heaps) -> list[Heaps]:
    """List the positions one move away, heap by heap, fewer objects taken first."""
    return [
        (*heaps[:heap], size - taken, *heaps[heap + 1 :])
        for heap, size in enumerate(heaps)
        for taken in range(1, size + 1)
    ]


@dataclass(order=True)
class Node:
    """The end of a path.

    Attributes:
        total: cost and estimate; nodes compare by it alone, so that the queue breaks ties like the notebook's.
        heaps: the position.
        cost: moves so far.
        parent: the node before; None at the start.

    """

    total: int
    heaps: Heaps = field(compare=False)
    cost: int = field(compare=False)
    parent: Node | None = field(compare=False)


def path_to(node: Node) -> list[Heaps]:
    """Return the positions from the start of a node's path to the node, both included."""
    path = []
    step: Node | None = node
    while step is not None:
        path.append(step.heaps)
        step = step.parent
    return path[::-1]


def shortest_path(heaps: Heaps, estimate: Callable[[Heaps], int] = xor_estimate) -> list[Heaps]:
    """Return the positions from `heaps` to the empty one that A* finds with an estimate, both included."""
    queue = [Node(estimate(heaps), heaps, 0, None)]
    closed: set[Heaps] = set()
    while True:
        node = heapq.heappop(queue)
        if not any(node.heaps):
            return path_to(node)
        closed.add(node.heaps)
        for after in successors(node.heaps):
            if after not in closed:
                cost = node.cost + 1
                heapq.heappush(queue, Node(cost + estimate(after), after, cost, node))


class NimAStarAgent(GameAgent[State]):
    """Plays the first move of the path that A* finds; it ignores the misère rule.

    Args:
        game: Nim.
        heuristic: the notebook's improved one, "xor", or its first, the plain "sum" of the heaps.

    """

    def __init__(self, game: Game[State], *, heuristic: Literal["xor", "sum"] = "xor") -> None:
        super().__init__(game)
        if heuristic not in ESTIMATES:
            raise ValueError(f"nim-astar: heuristic must be 'xor' or 'sum', not {heuristic!r}")
        self.heuristic = heuristic
        if game.name != "nim":
            raise SpecError(f"A* plays Nim only, not {game!r}")
        positions = prod(size + 1 for size in game.parameters["heaps"])
        if positions > POSITIONS_LIMIT:
            raise SpecError(f"A* would visit nearly all of the {positions} positions of {game!r}: too many")

    def choose(self, state: State) -> int:
        """Return the action that leads to the second position of the path."""
        number = len(self.game.parameters["heaps"])
        heaps = tuple(int(state.heaps).to_bytes(8, "little")[:number])
        after = shortest_path(heaps, ESTIMATES[self.heuristic])[1]
        heap = next(heap for heap in range(number) if heaps[heap] != after[heap])
        return self.game.text_to_action(state, f"{heap + 1}:{heaps[heap] - after[heap]}")
