"""The exercise "puissance 4" (Bac NSI 2026, Amérique du Nord), question by question: its name, ours, the answer.

Run:  python examples/nsi2026_puissance4.py

Cells are (row, column) from 0, row 5 at the bottom. Player 1 is player_0 here and minimises the score, player 2 is
player_1 and maximises it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from board_agents.games.connect_four.document_tree import Node, build_tree, choose_column
from board_agents.search.tree import build_tree as search_tree
from board_envs import make_game
from board_envs.games.connect_four import alignments, grid_of, grid_score, state_of
from board_envs.types import IllegalActionError

JEU1 = "344"
"""The columns of the third question's grid, counted from 1: jeu1.joue(2, 1), joue(3, 2), joue(3, 1)."""
CELLS = 6 * 7

Answer = tuple[str, str, str, str, Any]


def answers(levels: int = 4) -> Iterator[Answer]:
    """Yield (number, question, the document's name, ours, the answer) in the document's order.

    Args:
        levels: the largest `niveau_max` of question 8, 1 to 8; each more takes seven times as long.

    """
    game = make_game("connect-four")
    empty, jeu1 = game.initial_state(), game.from_moves(JEU1)

    # Partie A: grille de jeu et score associé
    yield "1", "the empty grid", "Grille().grille", "grid_of(state)", grid_of(empty).tolist()
    yield (
        "2",
        "a move: the new position",
        "joue(colonne, joueur) -> True",
        "game.step(state, column)",
        grid_of(game.step(empty, 2)).tolist(),
    )
    full = game.from_moves("444444")
    try:
        game.step(full, 3)
    except IllegalActionError as error:
        yield "2", "a move in a full column", "joue(...) -> False", "game.step raises", str(error)
    yield "3", "the grid after three moves", "jeu1", 'game.from_moves("344")', grid_of(jeu1).tolist()
    values = alignments()
    yield "4", "lines of four through the cell (0, 1)", "valeur_case(0, 1)", "alignments()[0, 1]", int(values[0, 1])
    yield "4", "lines of four through each cell", "valeur_case", "alignments()", values.tolist()
    parts = [(2, 5, 3), (1, 5, 2), (1, 4, 3)]
    calculation = [(f"player {player}", int(values[row, column])) for player, row, column in parts]
    yield "4", "the values under jeu1's stones", "valeur_case", "alignments()[cell]", calculation
    yield "5", "the score of jeu1", "score()", "grid_score(state)", grid_score(state_of(grid_of(jeu1)))

    # Partie B: algorithme min-max et création de l'arbre de coups
    yield "6", "a node without children", "Noeud(colonne)", "Node(column, score, children)", Node(3, 0, ())
    tree = build_tree(game, empty, 2)
    yield "7", "the child of the lowest score", "colonne_score_min()", "Node.lowest()", tree.lowest()
    yield "7", "the child of the highest score", "colonne_score_max()", "Node.highest()", tree.highest()
    yield (
        "8",
        "figure 3: columns of the root's children",
        "suivants",
        "Node.children",
        (
            tree.column,
            [child.column for child in tree.children],
        ),
    )
    yield (
        "8",
        "who has won, of an unfinished and a finished grid",
        "gagnant() -> 0, 1, 2",
        "game.winner(state)",
        (
            int(game.winner(jeu1)),
            int(game.winner(game.from_moves("1212121"))),
        ),
    )
    for title, state in (("the empty grid, player 1", empty), ("jeu1, player 2", jeu1)):
        for level in range(1, levels + 1):
            tree = build_tree(game, state, level)
            yield (
                "8",
                f"{title}, niveau_max = {level}: score, scores of the columns",
                "calcule_score",
                "build_tree",
                (
                    tree.score,
                    [child.score for child in tree.children],
                ),
            )
    sizes = [build_tree(game, empty, level).count() for level in range(1, levels + 1)]
    yield "9", f"nodes of the tree to each level up to {levels}", "niveau_max", "Node.count()", sizes
    yield "9", "columns to the power of all 42 moves", "niveau_max = 42", "7**42", 7**CELLS

    # Partie C: choix du meilleur coup à jouer
    chosen = [choose_column(game, state, levels) for state in (empty, jeu1)]
    yield "10", f"the columns chosen with niveau_max = {levels}", "choisit_coup", "choose_column", chosen


def main() -> None:
    """Print the answers, and the tree of figure 3 as a picture if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=int, default=4, choices=range(1, 9), help="largest niveau_max of question 8")
    parser.add_argument("--svg", type=Path, help="write the tree of figure 3, two moves deep, to this file")
    arguments = parser.parse_args()
    for number, question, theirs, ours, answer in answers(arguments.levels):
        print(f"Q{number}. {question}\n    {theirs}  ->  {ours}")
        rows = isinstance(answer, list) and isinstance(answer[0], list)
        print("\n".join("    " + " ".join(f"{cell:2}" for cell in row) for row in answer) if rows else f"    {answer}")
    if arguments.svg:
        game = make_game("connect-four")
        arguments.svg.write_text(search_tree(game, game.initial_state(), 2, "grid").svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
