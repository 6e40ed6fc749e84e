"""Matches of the Reversi player: its evaluation against the weighted squares, its levels, OpenSpiel's MCTS.

    python benchmarks/reversi_levels.py evaluation [--games 200]
    python benchmarks/reversi_levels.py levels [--games 100] [--from-level 1] [--to-level 10]
    python benchmarks/reversi_levels.py mcts [--games 100] [--seconds 0.02]       # needs open_spiel

Games are paired: each of the seeded random openings is played twice, seats exchanged. A draw counts half. For "mcts"
the number of simulations is the one that takes OpenSpiel as long a move as the player may take; both times are printed
as measured in the games.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import board_envs
from board_agents import make_agent
from board_agents.arena import make_openings
from board_agents.players.open_spiel import OpenSpielAgent

OPENING_PLIES = 6


def match(game: Any, first: str, second: str, games: int, seed: int) -> tuple[int, int, int]:
    """Play a match, print and return wins, draws and losses of `first`."""
    agents = (make_agent(first, game), make_agent(second, game))
    seconds, moves, longest = [0.0, 0.0], [0, 0], [0.0, 0.0]
    counts = [0, 0, 0]
    for agent in agents:  # compiles
        agent.reset(0)
        agent.act({}, game.initial_state())
    for number, opening in enumerate(make_openings(game, (games + 1) // 2, seed, plies=OPENING_PLIES)):
        for seat_of_first in (0, 1):
            state = game.initial_state()
            for agent in agents:
                agent.reset(number)
            for action in opening:
                state = game.step(state, action)
            while not game.is_terminal(state):
                who = 0 if state.seat == seat_of_first else 1
                begun = time.perf_counter()
                action = agents[who].act({}, state)
                spent = time.perf_counter() - begun
                seconds[who] += spent
                moves[who] += 1
                longest[who] = max(longest[who], spent)
                state = game.step(state, action)
                for agent in agents:
                    if isinstance(agent, OpenSpielAgent):
                        agent.see(state)
            margin = game.margin(state) * (1 - 2 * seat_of_first)
            counts[0 if margin > 0 else 1 if margin == 0 else 2] += 1
    wins, draws, losses = counts
    score = (wins + draws / 2) / sum(counts)
    times = ", ".join(
        f"{name} {1000 * total / many:.2f} ms a move (most {1000 * most:.0f})"
        for name, total, many, most in zip((first, second), seconds, moves, longest, strict=True)
    )
    print(f"{first} against {second}: +{wins} ={draws} -{losses}, {100 * score:.1f} %; {times}", flush=True)
    return wins, draws, losses


def simulations_for(game: Any, seconds: float) -> int:
    """Return how many simulations OpenSpiel's MCTS makes in that time on a game's average."""
    state = game.initial_state()
    probe = 200
    agent = make_agent(f"open-spiel:bot=mcts,simulations={probe}", game)
    agent.reset(0)
    begun = time.perf_counter()
    agent.act({}, state)
    # A playout from the start is twice as long as one from the middle.
    return max(2, round(2 * probe * seconds / (time.perf_counter() - begun)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("evaluation", "levels", "mcts"))
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.02)
    parser.add_argument("--from-level", type=int, default=1)
    parser.add_argument("--to-level", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    game = board_envs.make_game("reversi")
    if options.what == "evaluation":
        match(game, "reversi:depth=2,empties=0", "alpha-beta:depth=6", options.games, options.seed)
    elif options.what == "levels":
        for level in range(options.from_level, options.to_level - 1):
            match(game, f"reversi:level={level + 2}", f"reversi:level={level}", options.games, options.seed)
    else:
        count = simulations_for(game, options.seconds)
        theirs = f"open-spiel:bot=mcts,simulations={count}"
        match(game, f"reversi:level=10,seconds={options.seconds}", theirs, options.games, options.seed)


if __name__ == "__main__":
    main()
