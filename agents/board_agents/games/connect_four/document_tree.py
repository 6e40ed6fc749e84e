"""The tree of the Connect Four source: every line to a depth, with a score at each node.

Source: class `Noeud` of the exercise "puissance 4" (Bac NSI 2026, Amérique du Nord). Scores are in player_1's view (the
source's player 2): player_0 chooses the lowest, player_1 the highest. `board_agents.search.tree`
draws such trees, for any game, with the sign changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from board_agents.search.tree import TreeNode
from board_agents.search.tree import build_tree as search_tree
from board_envs.game import Game, check_int
from board_envs.types import IllegalActionError, SpecError

DEPTH_LIMIT = 8
"""A tree of depth 8 has up to 6.7 million nodes."""


@dataclass(frozen=True)
class Node:
    """A move in the tree.

    Attributes:
        column: the column played, from 0; -1 at the root, which is not a move.
        score: the minimax score of the grid after it.
        children: the moves that may follow, by column; empty at terminal positions and at the full depth.

    """

    column: int
    score: int
    children: tuple[Node, ...]

    def lowest(self) -> tuple[int, int]:
        """Return (column, score) of the child with the lowest score, the first of equals."""
        child = min(self.children, key=lambda node: node.score)
        return child.column, child.score

    def highest(self) -> tuple[int, int]:
        """Return (column, score) of the child with the highest score, the first of several."""
        child = max(self.children, key=lambda node: node.score)
        return child.column, child.score

    def count(self) -> int:
        """Return the number of nodes, including this one."""
        return 1 + sum(child.count() for child in self.children)


def build_tree(game: Game[Any], state: Any, depth: int) -> Node:
    """Return the tree of all lines of `depth` moves from a Connect Four position.

    A full grid without a line is scored as any grid is, above the last level too.
    """
    if game.name != "connect-four":
        raise SpecError(f"the tree is Connect Four's, not {game!r}")
    check_int("connect-four tree", "depth", depth, 1, DEPTH_LIMIT)
    nodes = sum(game.num_actions**level for level in range(depth + 1))

    def node_of(tree: TreeNode) -> Node:
        column = -1 if tree.action is None else tree.action
        return Node(column, -int(tree.value), tuple(map(node_of, tree.children)))

    return node_of(search_tree(game, state, depth, "grid", nodes=nodes))


def choose_column(game: Game[Any], state: Any, depth: int) -> int:
    """Return the column that the source's player chooses: the first of the best score for the seat to move.

    Raises:
        IllegalActionError: the game is over.

    """
    tree = build_tree(game, state, depth)
    if not tree.children:
        raise IllegalActionError(f"no legal actions, the game is over: {game.format(state)}")
    return (tree.lowest() if game.current_player(state) == 0 else tree.highest())[0]
