"""The problem "Jeu de reversi" (EPITA, Sciences du numérique 2024), part by part: their name, ours, and the answer.

Run:  python examples/epita2024_reversi.py        (the database at the end needs the extra `records`)

Squares are (row, column) from 0, rows from the top; a grid p holds 1 (black, J1), -1 (white, J2) and 0.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from board_agents import make_agent
from board_agents.search.tree import build_tree
from board_envs import make_game
from board_envs.games.reversi import decode_grid, encode_grid, grid_of, grids, square_of
from board_envs.types import MissingExtraError

FIGURE_3 = "c4e3f5b4"
"""The figure itself is lost; after these moves both captures that the text describes are there."""
F = [
    [100, -20, 10, 5, 5, 10, -20, 100],
    [-20, -50, -2, -2, -2, -2, -50, -20],
    [10, -2, -1, -1, -1, -1, -2, 10],
    [5, -2, -1, -1, -1, -1, -2, 5],
    [5, -2, -1, -1, -1, -1, -2, 5],
    [10, -2, -1, -1, -1, -1, -2, 10],
    [-20, -50, -2, -2, -2, -2, -50, -20],
    [100, -20, 10, 5, 5, 10, -20, 100],
]
"""Weights with strong corners; the document leaves them open."""
SHORTEST = "e6f4e3f6g5d6e7f5c5"
"""Black takes every disc in nine moves: a finished game for the database."""

Answer = tuple[str, str, str, Any]


def answers() -> Iterator[Answer]:
    """Yield (question, the document's name, ours, the answer) in the document's order."""
    game = make_game("reversi")
    start = game.initial_state()
    p = grid_of(start)

    # Déroulé du jeu et premières fonctions
    yield "the grid at the start", "p", "grid_of(state)", p.tolist()
    yield "the square (8, a)", "(7, 0)", 'square_of("a8")', square_of("a8")
    yield "where J1 may play at the start", "cases jouables", "grids.playable(p, 1)", grids.playable(p, 1)
    figure = grid_of(game.from_moves(FIGURE_3))
    for square in ((1, 4), (2, 3)):
        name = f"grids.captures(p, {square}, 1)"
        yield "figure 3: what J1 captures, (dx, dy) -> discs", "capture", name, grids.captures(figure, square, 1)
    after = grids.play(figure, (2, 3), 1)
    yield "figure 4: the grid after (3, d)", "retournement", "grids.play(p, (2, 3), 1)", after.tolist()
    # A board on which J2 cannot play and J1 can: J1 plays again.
    corner = np.zeros((8, 8), int)
    corner[0, :2] = 1, -1
    both = grids.playable(corner, 1), grids.playable(corner, -1)
    yield "J2 has no square, so J1 plays again", "l'opposant rejoue", "grids.playable(p, +-1)", both
    yield (
        "is the game over there, and after J1's move",
        "fin de partie",
        "grids.is_over(p)",
        (
            grids.is_over(corner),
            grids.is_over(grids.play(corner, (0, 2), 1)),
        ),
    )
    d3 = grids.play(p, (2, 3), 1)
    yield "score at the start and after d3", "score", "grids.score(p)", (grids.score(p), grids.score(d3))
    frontiers = tuple(len(grids.frontier(grid)) for grid in (p, d3))
    yield "frontier squares at the start and after d3", "cases frontières", "grids.frontier(p)", frontiers

    # Implémentation d'une intelligence artificielle
    state = game.from_moves("d3")
    yield (
        "f: the sum of p[i][j] F[i][j] after d3",
        "f",
        "build_tree(game, state, 0, F).value",
        (build_tree(game, state, 0, F).value),
    )
    tree = build_tree(game, start, 3, F)
    leaves = len(tree.leaves())
    yield (
        "figure 5: positions and leaves 3 moves ahead",
        "arbre d'exploration",
        "build_tree(game, state, 3, F)",
        (
            tree.count(),
            leaves,
        ),
    )
    best = tree.best
    assert best is not None
    yield (
        "figure 6: the value of each first move",
        "arbre des évaluations",
        "tree.children",
        {child.move: child.value for child in tree.children},
    )
    yield "the move that J1 chooses, and its value", "meilleur coup", "tree.best", (best.move, best.value)
    agent = make_agent("minimax:depth=3,evaluation=" + "/".join(" ".join(map(str, row)) for row in F), game)
    found = agent.act({}, start)
    yield (
        "the same by the agent",
        "minimax, n coups",
        "minimax:depth=3,evaluation=...",
        game.action_to_text(start, found),
    )
    won = game.from_moves(SHORTEST)
    yield (
        "the value of a game that J1 has won",
        "+infini",
        "build_tree(game, state, 0, F).value",
        build_tree(game, won, 0, F).value,
    )

    # Évaluation statistique des parties
    yield "the code of the start", "codePlateau", "encode_grid(p)", encode_grid(p)
    yield "the code after d3", "codePlateau", "encode_grid(p)", encode_grid(d3)
    yield (
        "bits of the largest code, all black",
        "codePlateau",
        "encode_grid(p)",
        encode_grid(np.ones((8, 8), int)).bit_length(),
    )
    back = decode_grid(encode_grid(d3))
    yield "a code gives its grid back", "décodage", "decode_grid(code)", bool((back == d3).all())
    yield from database()


def database() -> Iterator[Answer]:
    """Yield what the three tables hold after one game; without the extra `records`, what is missing."""
    try:
        from board_agents.arena.records.database import Store
        from board_agents.arena.records.game_record import GameRecord
        from board_agents.arena.records.queries import deeper_than, mean_score, wins
    except MissingExtraError as error:
        yield "the database", "joueurs, parties, plateaux", "Store", f"not answered: {error}"
        return
    game = make_game("reversi")
    actions = game.read_moves(SHORTEST)
    record = GameRecord.of_game(game, actions, game.from_moves(SHORTEST), agents=("J1", "J2"))
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "games.db") as store:
        store.add([record], run="epita")
        store.add_analyses(lambda game: make_agent("minimax:depth=2", game), "minimax:depth=2")
        yield "games that J1 has won", "joueurs, parties", 'wins("J1")', store.rows(wins("J1"))[0]["wins"]
        mean = store.rows(mean_score("J1"))[0]["mean_score"]
        yield "J1's mean score", "parties.score", 'mean_score("J1")', mean
        rows = store.rows(deeper_than(1))
        yield "positions analysed deeper than 1", "plateaux.profondeur", "deeper_than(1)", len(rows)
        first = {key: rows[0][key] for key in ("code", "depth", "active", "row", "column")}
        names = "codePlateau, profondeur, joueurActif, caseX, caseY"
        yield "the first of them", names, "code, depth, active, row, column", first


def main() -> None:
    """Print the answers, and the tree of figure 6 as a picture if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--svg", type=Path, help="write the tree two moves ahead to this file")
    arguments = parser.parse_args()
    for number, (question, theirs, ours, answer) in zip(itertools.count(1), answers(), strict=False):
        print(f"{number:2}. {question}\n    {theirs}  ->  {ours}")
        rows = isinstance(answer, list) and answer and isinstance(answer[0], list)
        print("\n".join("    " + " ".join(f"{cell:2}" for cell in row) for row in answer) if rows else f"    {answer}")
    game = make_game("reversi")
    tree = build_tree(game, game.initial_state(), 2, F)
    print("the tree two moves ahead, values of f in J1's view:", tree.draw(), sep="\n")
    if arguments.svg:
        arguments.svg.write_text(tree.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
