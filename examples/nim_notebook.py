"""The notebook "Implémentation du jeu de Nim", exercise by exercise: its name, ours, and the answer.

Run:  python examples/nim_notebook.py

Heaps and moves are written as the notebook writes them: [3, 4, 5], and (heap, count) with heaps from 0. The end counts
in how many won positions of three heaps of at most seven each player finds a move that wins.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import Any

from board_agents import make_agent, make_oracle
from board_agents.games.nim.astar_agent import (
    Node,
    path_to,
    plain_estimate,
    shortest_path,
    successors,
    xor_estimate,
)
from board_envs import make_game
from board_envs.game import Game
from board_envs.types import IllegalActionError

TESTS = ([3, 4, 5], [0, 0, 0], [1, 0, 2])
PLAYERS: tuple[str, ...] = ("nim-astar", "nim-astar:heuristic=sum", "minimax:depth=2", "nim-xor")

Answer = tuple[str, str, str, str, Any]


def position(game: Game[Any], heaps: list[int]) -> Any:
    """Return the state with these heaps, player_0 to move."""
    return game.parse(",".join(map(str, heaps)))


def heaps_of(game: Game[Any], state: Any) -> list[int]:
    """Return the heaps of a state."""
    heaps: list[int] = game.observe(state, 0).tolist()
    return heaps


def moves(game: Game[Any], heaps: list[int]) -> list[tuple[int, int]]:
    """Return the legal moves as the notebook's pairs."""
    state = position(game, heaps)
    texts = (game.action_to_text(state, action) for action in game.legal_actions(state))
    return [(int(heap) - 1, int(count)) for heap, count in (text.split(":") for text in texts)]


def answers() -> Iterator[Answer]:
    """Yield (exercise, question, the notebook's name, ours, the answer) in the notebook's order."""
    game = make_game("nim")  # heaps of 3, 4 and 5
    shown = [heaps_of(game, position(game, heaps)) for heaps in TESTS]
    yield "1", "the three positions", "afficher_etat(etat)", "game.draw(state), game.format(state)", shown
    listed = [moves(game, heaps) for heaps in TESTS]
    yield "2", "their moves", "generer_mouvement(etat)", "game.legal_actions(state)", listed
    one = game.from_moves("(0, 1)")
    yield (
        "3",
        "[3, 4, 5] after (0, 1)",
        "appliquer_mouvement(etat, 0, 1)",
        "game.step(state, action)",
        (heaps_of(game, one)),
    )
    try:
        game.from_moves("(0, 4)")
    except IllegalActionError as error:
        yield "3", "taking more than there is", "prints an error, returns etat", "IllegalActionError", str(error)
    yield (
        "4",
        "the first heuristic",
        "heuristique(etat)",
        "plain_estimate(heaps)",
        [plain_estimate(tuple(heaps)) for heaps in TESTS],
    )
    over = [game.is_terminal(position(game, heaps)) for heaps in TESTS]
    yield "5", "which of them are final", "est_etat_final(etat)", "game.is_terminal(state)", over
    cost = len(shortest_path((1, 0, 0))) - 1
    yield "5", "the cost of a move", "cout_transition(etat, suivant)", "len(shortest_path(heaps)) - 1", cost
    yield "6", "moves from (1, 0, 2)", "generer_successeurs(etat)", "successors(heaps)", successors((1, 0, 2))
    for first in ((4, 8, 5), (3, 4, 5)):
        path = shortest_path(first)
        yield "6", f"the path of A* from {first}", "algorithme_a_star(etat)", "shortest_path(heaps)", path
    last = Node(7, (3, 4, 0), 2, Node(11, (3, 4, 4), 1, Node(12, (3, 4, 5), 0, None)))
    yield "8", "the path of the example node", "reconstruire_chemin(noeud)", "path_to(node)", path_to(last)
    agent = make_agent("nim-astar", game)
    replies = []
    for heaps in ([3, 4, 5], [0, 4, 0]):
        state = position(game, heaps)
        replies.append(heaps_of(game, game.step(state, agent.act({}, state))))
    yield "9", "what the machine leaves of [3, 4, 5] and [0, 4, 0]", "jeu_nim(etat)", "board-envs play nim", replies
    values = [make_oracle(game).action_values(position(game, heaps)) for heaps in ([3, 4, 5], [1, 2, 3])]
    wins = [sum(value > 0 for value in found.values()) for found in values if found is not None]
    yield "10", "winning moves from [3, 4, 5] and [1, 2, 3]", "xor_etat(etat) == 0: lost", "oracle.action_values", wins
    yield (
        "10",
        "the improved heuristic",
        "heuristique_amelioree(etat)",
        "xor_estimate(heaps)",
        [xor_estimate(heaps) for heaps in ((3, 4, 5), (0, 0, 0), (1, 2, 3))],
    )


def winning_moves_found() -> tuple[int, dict[str, int]]:
    """Return the number of won positions with heaps of at most 7, and in how many each player's move wins."""
    game = make_game("nim", heaps=(7, 7, 7))
    oracle = make_oracle(game)
    players = {spec: make_agent(spec, game) for spec in PLAYERS}
    won, found = 0, dict.fromkeys(PLAYERS, 0)
    for heaps in itertools.product(range(8), repeat=3):
        state = position(game, list(heaps))
        values = oracle.action_values(state) or {}
        if max(values.values(), default=-1) > 0:
            won += 1
            for spec, player in players.items():
                found[spec] += values[player.act({}, state)] > 0
    return won, found


def main() -> None:
    """Print the answers."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for number, question, theirs, ours, answer in answers():
        print(f"Exercise {number}. {question}\n    {theirs}  ->  {ours}\n    {answer}")
    won, found = winning_moves_found()
    print(f"Winning moves found in {won} won positions:")
    for spec, count in found.items():
        print(f"    {spec:24} {count:3}")


if __name__ == "__main__":
    main()
