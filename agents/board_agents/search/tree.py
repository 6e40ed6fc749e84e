"""The game tree to a fixed depth, with the minimax value of each position.

Sources: the figures "arbre d'exploration" and "arbre des évaluations" of the EPITA entrance exam 2024, and the tree of
`Noeud` of the Bac NSI 2026 (Amérique du Nord).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from board_agents.search.evaluations import Evaluation, Weights, evaluation_function, settled_evaluation, win_value
from board_agents.search.interpreted import DEPTH_LIMIT, Search, value_of
from board_envs.game import Game, check_int
from board_envs.pictures.shapes import Circle, Label, Picture, Rectangle, Shape
from board_envs.pictures.svg import CELL, picture_svg

NODES_LIMIT = 1_000_000
"""Default maximum number of positions; each takes about half a kilobyte and 20 microseconds."""

_PITCH, _LEVEL, _RADIUS, _THIN, _THICK = 1.3, 1.7, 0.42, 0.03, 0.09
_EDGE, _CHOSEN, _DARK, _LIGHT, _LEAF = "#8a8a8a", "#b5442e", "#262626", "#ffffff", "#e9e3d5"


@dataclass(frozen=True, eq=False)
class TreeNode:
    """A position of the tree.

    Attributes:
        action: the action that led here; None at the root.
        move: the action's name in the game's notation; empty at the root.
        state: the position.
        seat: the seat to move in it.
        value: its minimax value in player_0's view: player_0 chooses the highest, player_1 the lowest.
        children: the positions after each move, by action; empty at terminal positions and at the full depth.

    """

    action: int | None
    move: str
    state: Any = field(repr=False)
    seat: int
    value: float
    children: tuple[TreeNode, ...] = field(repr=False)

    @property
    def best(self) -> TreeNode | None:
        """The child that the seat to move chooses: the first with the best value; None without children."""
        return next((child for child in self.children if child.value == self.value), None)

    def line(self) -> list[str]:
        """Return the principal variation to the end of the tree."""
        best = self.best
        return [] if best is None else [best.move, *best.line()]

    def count(self) -> int:
        """Return the number of positions, including this one."""
        return 1 + sum(child.count() for child in self.children)

    def leaves(self) -> list[TreeNode]:
        """List the positions without children, from the left."""
        return [leaf for child in self.children for leaf in child.leaves()] if self.children else [self]

    def draw(self) -> str:
        """Return the tree as text: move, value, seat to move; * marks the chosen move."""
        return "\n".join([_words(self), *_lines(self, "")])

    def svg(self, cell: int = CELL) -> str:
        """Return the tree as an SVG image, `cell` pixels per level and slightly more per leaf.

        player_0 is to move in dark circles, player_1 in light ones; rectangles are leaves, chosen moves red.
        """
        return picture_svg(self.picture(), cell)

    def picture(self) -> Picture:
        """Return the tree as shapes."""
        edges: list[Shape] = []
        nodes: list[Shape] = []
        places = iter(range(len(self.leaves())))

        def place(node: TreeNode, depth: int) -> float:
            """Add a node and all below it; return the x of its centre."""
            y = (depth + 0.5) * _LEVEL
            below = [(place(child, depth + 1), child) for child in node.children]
            if not below:
                x = (next(places) + 0.5) * _PITCH
                width = max(0.6, 0.2 * len(f"{node.value:g}"))
                nodes.append(Rectangle(x - width / 2, y - 0.25, width, 0.5, _LEAF, 0.08))
                nodes.append(Label(x, y, f"{node.value:g}", 0.26))
                return x
            x = (below[0][0] + below[-1][0]) / 2
            best, bar = node.best, y + _LEVEL / 2
            # Draw the chosen edge last, above the others.
            for child_x, child in sorted(below, key=lambda one: one[1] is best):
                thick, colour = (_THICK, _CHOSEN) if child is best else (_THIN, _EDGE)
                left, right = min(x, child_x), max(x, child_x)
                edges.append(Rectangle(x - thick / 2, y, thick, _LEVEL / 2, colour))
                edges.append(Rectangle(left - thick / 2, bar - thick / 2, right - left + thick, thick, colour))
                edges.append(Rectangle(child_x - thick / 2, bar, thick, _LEVEL / 2, colour))
                nodes.append(Label(child_x + 0.12 + 0.09 * len(child.move), bar + 0.25, child.move, 0.26))
            dark = node.seat == 0
            nodes.append(Circle(x, y, _RADIUS, _DARK if dark else _LIGHT, _DARK))
            nodes.append(Label(x, y, f"{node.value:g}", 0.26, _LIGHT if dark else _DARK))
            return x

        place(self, 0)
        return Picture(len(self.leaves()) * _PITCH, _height(self) * _LEVEL, (*edges, *nodes))


def _height(node: TreeNode) -> int:
    return 1 + max(map(_height, node.children), default=0)


def _words(node: TreeNode) -> str:
    chooses = f" player_{node.seat} chooses the {'highest' if node.seat == 0 else 'lowest'}" if node.children else ""
    return f"{node.value:g}{chooses}"


def _lines(node: TreeNode, indent: str) -> Iterator[str]:
    for child in node.children:
        last = child is node.children[-1]
        chosen = " *" if child is node.best else ""
        yield f"{indent}{'└─' if last else '├─'} {child.move}: {_words(child)}{chosen}"
        yield from _lines(child, indent + ("   " if last else "│  "))


def build_tree(
    game: Game[Any],
    state: Any,
    depth: int,
    evaluation: str | Evaluation | Weights = "default",
    *,
    nodes: int = NODES_LIMIT,
) -> TreeNode:
    """Return the game tree of `depth` moves from a position.

    Values are those of `MinimaxAgent`: a won position has the game's win value, any other leaf, including a draw,
    its evaluation, clipped below a win. A skipped turn has no edge and does not count as depth.

    Args:
        game: the game.
        state: a position, the root.
        depth: depth in moves, 0 to 100.
        evaluation: as in `SearchAgent`.
        nodes: maximum number of positions.

    Raises:
        PositionError: not a position of this game and size.
        SpecError: the evaluation is unknown.
        ValueError: the depth is out of range, or the tree has more than `nodes` positions.

    """
    game.check_state(state)
    check_int("tree", "depth", depth, 0, DEPTH_LIMIT)
    check_int("tree", "nodes", nodes, 1, 2**40)
    evaluate = evaluation_function(game, settled_evaluation(game, evaluation))
    rules, win = game.rules, win_value(game)
    search = Search(rules, evaluate, win)
    count = 0

    def build(action: int | None, move: str, position: Any, levels: int) -> TreeNode:
        nonlocal count
        count += 1
        if count > nodes:
            raise ValueError(
                f"tree: depth {depth} from {game.format(state)} has more than {nodes} positions; "
                f"use a smaller depth, or allow more with nodes="
            )
        seat, winner = int(rules.to_play(position)), int(rules.winner(position))
        if winner >= 0 or levels == 0:
            return TreeNode(action, move, position, seat, value_of(search.leaf(position, winner, levels), win), ())
        children = tuple(
            build(after, game.action_to_text(position, after), rules.step(game.own(position), after), levels - 1)
            for after in game.legal_actions(position)
        )
        choose = max if seat == 0 else min
        return TreeNode(action, move, position, seat, choose(child.value for child in children), children)

    return build(None, "", game.own(state), depth)
