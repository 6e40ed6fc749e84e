"""A round robin from Python: the games as records, the tallies, the ratings.

python examples/tournament.py --game nim --agents random greedy nim-xor --games 40
"""

from __future__ import annotations

import argparse

from board_agents.arena import tournament
from board_envs import game_names, make_game


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="connect-four", choices=game_names())
    parser.add_argument("--agents", nargs="+", default=["random", "greedy", "alpha-beta:depth=2"])
    parser.add_argument("--games", type=int, default=20, help="games of every two agents")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    game = make_game(arguments.game)
    result = tournament(game, arguments.agents, games=arguments.games, seed=arguments.seed)
    for standing in result.standings:
        begins, answers = standing.seats
        print(f"{standing.name:20} begins {begins.wins}/{begins.draws}/{begins.losses}", end="  ")
        print(f"answers {answers.wins}/{answers.draws}/{answers.losses}")
    for rating in result.ratings.agents:
        print(f"{rating.name:20} {rating.rating:+5.0f}  (95 %: {rating.low:+.0f} to {rating.high:+.0f})")
    longest = max(result.records, key=lambda record: len(record.actions))
    print(f"{result.distinct} of {len(result.records)} games differ; the longest, {' - '.join(longest.agents)}:")
    print(game.write_moves(longest.actions))


if __name__ == "__main__":
    main()
