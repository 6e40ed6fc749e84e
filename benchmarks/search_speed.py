"""How fast the compiled search is, against OpenSpiel's alpha-beta and Monte Carlo tree search in the same run.

    python benchmarks/search_speed.py [--repeats 5] [--json]

Needs numba; OpenSpiel (pip install open_spiel) is compared with where it is installed. Times are CPU seconds of this
process, the median of repeats over fixed positions; compilation is done before. OpenSpiel's alpha-beta is its Python
function over its C++ states, given an evaluation that costs nothing (zero); ours runs with that evaluation and with
its usual one. Both MCTS play one random game a simulation.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from board_agents.players.open_spiel import load_open_spiel
from board_agents.search.alpha_beta import AlphaBetaAgent
from board_agents.search.mcts import MctsAgent
from board_envs import make_game
from board_envs.game import Game
from board_envs.random import Stream

GAMES = (
    make_game("connect-four"),
    make_game("reversi"),
    make_game("awale", ruleset="abapa"),
    make_game("nim", heaps=(5, 6, 7)),
)
DEPTH = 8
SIMULATIONS = 1000
PLIES = (0, 4, 8)
"""How many random moves precede each position."""
PEER_LIMIT = 60.0
"""OpenSpiel's alpha-beta is timed at the largest depth up to DEPTH that is expected to stay below this."""


def positions(game: Game[Any]) -> list[list[int]]:
    """Moves that lead to each fixed position, none of them a finished game."""
    result = []
    for plies in PLIES if game.name != "nim" else (0, 1):
        for seed in range(100):
            stream, state, moves = Stream.seeded(seed), game.initial_state(), []
            while len(moves) < plies and not game.is_terminal(state):
                legal = game.legal_actions(state)
                moves.append(legal[stream.below(len(legal))])
                state = game.step(state, moves[-1])
            if not game.is_terminal(state):
                result.append(moves)
                break
    return result


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Median CPU time of one call."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def measure_ours(game: Game[Any], repeats: int) -> dict[str, Any]:
    states = []
    for moves in positions(game):
        state = game.initial_state()
        for action in moves:
            state = game.step(state, action)
        states.append(state)
    row: dict[str, Any] = {}
    for evaluation in ("default", "zero"):
        agent = AlphaBetaAgent(game, depth=DEPTH, evaluation=evaluation, compiled=True)
        deep = AlphaBetaAgent(game, depth=DEPTH + 4, evaluation=evaluation, compiled=True)
        agent.act({}, states[0])
        row[f"depth {DEPTH}, {evaluation}"] = sum(seconds(lambda: agent.act({}, state), repeats) for state in states)
        if evaluation == "default":
            nodes = sum(deep.analyse(state).nodes for state in states)
            row["nodes/s"] = nodes / sum(seconds(lambda: deep.act({}, state), repeats) for state in states)
    mcts = MctsAgent(game, simulations=SIMULATIONS, compiled=True)
    mcts.act({}, states[0])
    row["mcts"] = sum(seconds(lambda: mcts.act({}, state), repeats) for state in states) / len(states)
    return row


def measure_open_spiel(game: Game[Any], repeats: int) -> dict[str, Any]:
    import pyspiel
    from open_spiel.python.algorithms.minimax import alpha_beta_search

    theirs = load_open_spiel(game)
    states = []
    for moves in positions(game):
        state, mine = theirs.new_initial_state(), game.initial_state()
        for action in moves:
            seat = action
            if game.name == "nim":
                heap, count = (int(part) for part in game.action_to_text(mine, action).split(":"))
                seat = (count - 1) * len(game.parameters["heaps"]) + heap - 1
            while state.legal_actions() == [64]:
                state.apply_action(64)
            state.apply_action(seat)
            mine = game.step(mine, action)
        states.append(state)
    visited = 0

    def zero(_state: Any) -> int:
        nonlocal visited
        visited += 1
        return 0

    def search(depth: int) -> float:
        begun = time.process_time()
        for state in states:
            alpha_beta_search(theirs, state=state, value_function=zero, maximum_depth=depth)
        return time.process_time() - begun

    depth, taken = 2, search(2)
    while depth < DEPTH and taken * 8 < PEER_LIMIT:
        depth, taken = depth + 1, search(depth + 1)
    bot = pyspiel.MCTSBot(
        theirs,
        pyspiel.RandomRolloutEvaluator(1, 1),
        2.0,
        SIMULATIONS,
        -1,
        False,
        1,
        False,
        pyspiel.ChildSelectionPolicy.UCT,
    )
    # A position where only a pass is possible is no search.
    live = [state for state in states if state.legal_actions() != [64]]
    mcts = sum(seconds(lambda: bot.step(state), max(1, repeats // 2)) for state in live) / len(live)
    return {"depth": depth, "alpha-beta": taken, "mcts": mcts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        import pyspiel  # noqa: F401

        have_peer = True
    except ImportError:
        have_peer = False
    rows = []
    for game in GAMES:
        print(f"{game} ...", file=sys.stderr)
        row = {"game": repr(game), "positions": len(positions(game)), **measure_ours(game, options.repeats)}
        if have_peer:
            peer = measure_open_spiel(game, options.repeats)
            row["open-spiel"] = peer
            if peer["depth"] == DEPTH:
                row["alpha-beta ratio"] = peer["alpha-beta"] / row[f"depth {DEPTH}, zero"]
            row["mcts ratio"] = peer["mcts"] / row["mcts"]
        rows.append(row)
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        print(f"\n{row['game']}, {row['positions']} positions")
        print(f"  alpha-beta: {row['nodes/s'] / 1e6:.1f} M positions/s")
        print(f"  alpha-beta to depth {DEPTH}: {row[f'depth {DEPTH}, default'] * 1e3:.2f} ms for all positions", end="")
        print(f", {row[f'depth {DEPTH}, zero'] * 1e3:.2f} ms without evaluation")
        print(f"  MCTS, {SIMULATIONS} simulations: {row['mcts'] * 1e3:.2f} ms a move")
        if "open-spiel" in row:
            peer = row["open-spiel"]
            print(f"  OpenSpiel alpha-beta to depth {peer['depth']}: {peer['alpha-beta'] * 1e3:.1f} ms", end="")
            print(f" ({row['alpha-beta ratio']:.0f} x)" if "alpha-beta ratio" in row else " (deeper takes too long)")
            print(f"  OpenSpiel MCTS: {peer['mcts'] * 1e3:.1f} ms a move ({row['mcts ratio']:.0f} x)")


if __name__ == "__main__":
    main()
