"""Time the solver against bitbully, position by position: CPU milliseconds, nodes, and whether the scores agree.

    python benchmarks/connect_four_peers.py FOLDER [--positions 20] [--peer-python PYTHON] [--empty-board] [--threads 2]

FOLDER holds Pascal Pons' sets as ``<name>.txt`` ("moves score"). The peer may live in another environment
(``python -m venv peers && peers/bin/pip install bitbully``), whose interpreter is given. One thread, no book on either
side. Both sides forget what they know before each position, outside the time measured, but for the two easy late
sets, which make sense only with tables kept. Set ``GLIBC_TUNABLES=glibc.malloc.hugetlb=1``, so that the peer's table
lies in large pages as ours does: with small ones ratios flatter us.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import subprocess
import sys
import time

from board_agents.solvers.connect_four import ConnectFourSolver
from board_envs import make_game

GAME = make_game("connect-four")
SETS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")
WARM = ("end-easy", "middle-easy")
PEER = """
import json, sys, time
from bitbully import bitbully_core as core
solver = core.BitBullyCore()
for line in sys.stdin:
    moves, warm = json.loads(line)
    board = core.BoardCore()
    for move in moves:
        board.play(int(move) - 1)
    if not warm:
        solver.resetTranspositionTable()
    solver.resetNodeCounter()
    began = time.process_time()
    score = solver.mtdf(board, 0)
    seconds = time.process_time() - began
    print(json.dumps([score, seconds, solver.getNodeCounter()]), flush=True)
"""


class Ours:
    """The solver of this project."""

    def __init__(self) -> None:
        self.solver = ConnectFourSolver(GAME)
        self.ask("444444355", False)

    def ask(self, moves: str, warm: bool) -> tuple[int, float, int]:
        """Return score, CPU seconds and nodes."""
        positions = self.solver.as_words([GAME.from_moves(moves)])
        if not warm:
            self.solver.memory.clear()
        began = time.process_time()
        score = int(self.solver.solve_many(positions)[0])
        return score, time.process_time() - began, self.solver.nodes

    def batch(self, games: list[str]) -> float:
        """Return the CPU seconds of a whole set at once, tables kept."""
        positions = self.solver.as_words([GAME.from_moves(moves) for moves in games])
        self.solver.memory.clear()
        began = time.process_time()
        self.solver.solve_many(positions)
        return time.process_time() - began


class Peer:
    """The peer in its own process."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen(
            [python, "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def ask(self, moves: str, warm: bool) -> tuple[int, float, int]:
        """Return score, CPU seconds and nodes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([moves, warm]) + "\n")
        score, seconds, nodes = json.loads(self.process.stdout.readline())
        return score, seconds, nodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--positions", type=int, default=20, help="of each set (the easy ones take ten times as many)")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--empty-board", action="store_true", help="time the empty board too, on ours only")
    parser.add_argument("--threads", type=int, default=1, help="for the empty board")
    arguments = parser.parse_args()
    ours = Ours()
    peer = None if arguments.no_peer else Peer(arguments.peer_python)
    ratios = []
    for name in filter(None, arguments.sets.split(",")):
        warm = name in WARM
        rows = [line.split() for line in (arguments.folder / f"{name}.txt").read_text().splitlines()]
        rows = rows[: arguments.positions * (10 if name.endswith("easy") else 1)]
        results, theirs = [], []
        # In turns, so that what else the machine does weighs on both.
        for moves, score in rows:
            results.append(ours.ask(moves, warm))
            if results[-1][0] != int(score):
                raise SystemExit(f"{name} {moves}: {results[-1][0]}, known {score}")
            if peer is not None:
                theirs.append(peer.ask(moves, warm))
        n = len(rows)
        ms = 1000 * (ours.batch([moves for moves, _ in rows]) if warm else sum(r[1] for r in results)) / n
        line = f"{name:14} {n:4} positions  ours {ms:10.4f} ms {sum(r[2] for r in results) / n:12.0f} nodes"
        if theirs:
            wrong = sum(a[0] != b[0] for a, b in zip(results, theirs, strict=True))
            peer_ms = 1000 * sum(r[1] for r in theirs) / n
            ratios.append(peer_ms / ms)
            line += f"  peer {peer_ms:10.4f} ms {sum(r[2] for r in theirs) / n:12.0f} nodes ({wrong} differ)"
            line += f"  ratio {ratios[-1]:.2f}"
        print(line, flush=True)
    if ratios:
        print(f"geometric mean of the ratios {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    if arguments.empty_board:
        ours.solver.memory.clear()
        began, wall = time.process_time(), time.monotonic()
        score = ours.solver.score(GAME.initial_state(), threads=arguments.threads)
        print(
            f"empty board: score {score}, {time.process_time() - began:.1f} s CPU, {time.monotonic() - wall:.1f} s, "
            f"{ours.solver.nodes} nodes, {arguments.threads} threads"
        )


if __name__ == "__main__":
    main()
