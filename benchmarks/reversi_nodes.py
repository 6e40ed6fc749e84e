"""Search fixed Reversi positions and count the nodes, which must not change when only the code's form does.

    python benchmarks/reversi_nodes.py [--parts endgame midgame training] [--repeat 5]

One thread, tables of a fixed size: the searches are deterministic, so other numbers than EXPECTED mean that they search
something else. Times are of the processor, the median of the repetitions, compiling left out.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy as np

from board_agents.games.reversi import ReversiOracle
from board_agents.games.reversi.midgame_workspace import MOST_POSITIONS
from board_agents.games.reversi.pattern_evaluation import shipped_evaluation
from board_agents.games.reversi.thinking import Thinker
from board_envs import make_game
from board_envs.games.reversi.board import sides

ENDGAMES = pathlib.Path(__file__).parent.parent / "tests" / "data" / "reversi_endgames.jsonl"
SMALL = "e4e5d5e3f5f6d2c5b3a2a3b2d6e2"
"""A game on 6 x 6."""
MIDGAMES = ("e6f6d3e7f7", "d3c5c6e3b5d2f5d6e2", "c4c5f6e3c3b3e2c2b4f3b2a2")
EXPECTED = {
    "endgame": (8_566_156, 163),
    "midgame": (8_901_764, 222_286),
    "training": (10_510_772, 2_774_336_499_500_824_800),
}
"""By part: nodes, and a sum of what was found (values; boards of the games played)."""

Count = tuple[int, int, float]
"""Nodes, sum of what was found, seconds."""


def endgame() -> Count:
    """Solve the endgames of 15 squares or more, and a position each of 4 x 4 and 6 x 6."""
    game, nodes, found, seconds = make_game("reversi"), 0, 0, 0.0
    records = [json.loads(line) for line in ENDGAMES.read_text().splitlines()]
    states = [game.parse(f"{record['board']} {record['side']}") for record in records if record["empties"] >= 15]
    tiny, small = make_game("reversi", size=4), make_game("reversi", size=6)
    for rules, positions in ((game, states), (tiny, [tiny.initial_state()]), (small, [small.from_moves(SMALL)])):
        for rule in ("plain", "empties-to-winner"):
            oracle = ReversiOracle(rules, rule=rule, empties=20, megabytes=16)
            oracle.prepare()
            began = time.process_time()
            for state in positions:
                for goal in ("exact", "outcome"):
                    solution = oracle.solve(state, goal=goal)
                    nodes += solution.nodes
                    found += solution.value or 0
            seconds += time.process_time() - began
    return nodes, found, seconds


def midgame() -> Count:
    """Search openings, selectively and not, for the best move's value and for every move's."""
    game, nodes, found, seconds = make_game("reversi"), 0, 0, 0.0
    for selectivity, deepest in ((None, 10), (1.4, 13)):
        thinker = Thinker(shipped_evaluation(), table_bits=18, selectivity=selectivity)
        thinker.compile()
        began = time.process_time()
        for moves in MIDGAMES:
            for whole in (False, True):
                thinker.begin()
                for depth in range(1, deepest - 2 * whole):
                    found += sum(thinker.search(*sides(game.from_moves(moves)), depth, whole=whole).values.values())
                nodes += thinker.nodes
        seconds += time.process_time() - began
    return nodes, found, seconds


def training() -> Count:
    """Play games as training does."""
    thinker = Thinker(shipped_evaluation(), table_bits=16)
    boards = np.zeros((400, MOST_POSITIONS + 1, 3), np.uint64)
    lengths = np.zeros(400, np.int64)
    thinker.play(np.uint64(0), 1, 10, boards[:1], lengths[:1])
    thinker.begin()
    began = time.process_time()
    thinker.play(np.uint64(7), 4, 10, boards, lengths)
    seconds = time.process_time() - began
    return thinker.nodes, int(boards.sum()) + int(lengths.sum()), seconds


def main() -> None:
    parts = {"endgame": endgame, "midgame": midgame, "training": training}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    wrong = []
    for name in options.parts:
        counts = [parts[name]() for _ in range(options.repeat)]
        nodes, found = counts[0][:2]
        seconds = statistics.median(count[2] for count in counts)
        print(
            f"{name}: {nodes:,} nodes, sum {found}, {seconds:.3f} s CPU, {seconds / nodes * 1e9:.1f} ns a node",
            flush=True,
        )
        if (nodes, found) != EXPECTED[name]:
            wrong.append(f"{name}: expected {EXPECTED[name][0]:,} nodes, sum {EXPECTED[name][1]}")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
