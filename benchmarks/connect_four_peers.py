r"""Time the solver against bitbully and connect-four-ai: CPU milliseconds, nodes, and whether the scores agree.

    python -m venv bitbully && bitbully/bin/pip install bitbully
    python3.13 -m venv fourai && fourai/bin/pip install connect-four-ai-linux
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1 python benchmarks/connect_four_peers.py FOLDER [--positions 20] \
        --bitbully bitbully/bin/python --connect-four-ai fourai/bin/python [--empty-board] [--threads 2]

FOLDER holds Pascal Pons' sets as ``<name>.txt`` ("moves score"). A peer lives in an environment of its own, whose
interpreter is given; one that is not given is left out. One thread, no book on any side (connect-four-ai forgets its
own when the named file does not exist). All sides clear their tables before each position, outside the
time measured, and then solve an unrelated one of few moves (to forget is to write over all that lay in the caches, the
program itself with it); but for the two easy late sets, which make sense only with tables kept. With the variable the
peers' tables lie in large pages as ours do: with small ones ratios flatter us. Ratios are those to the faster peer of
a set.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import subprocess
import time

from board_agents.games.connect_four import ConnectFourSolver
from board_envs import make_game

GAME = make_game("connect-four")
SETS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")
WARM = ("end-easy", "middle-easy")
UNRELATED = "2252576253462244111563365343671351441"
PEERS = {
    "bitbully": """
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
        other = core.BoardCore()
        for move in UNRELATED:
            other.play(int(move) - 1)
        solver.mtdf(other, 0)
    solver.resetNodeCounter()
    began = time.process_time()
    score = solver.mtdf(board, 0)
    seconds = time.process_time() - began
    print(json.dumps([score, seconds, solver.getNodeCounter()]), flush=True)
""",
    "connect-four-ai": """
import json, sys, time
from connect_four_ai import Position, Solver
solver = Solver()
assert not solver.load_opening_book("no such book")
for line in sys.stdin:
    moves, warm = json.loads(line)
    position = Position.from_moves(moves)
    if not warm:
        solver.reset()
        solver.solve(Position.from_moves(UNRELATED))
    began = time.process_time()
    score = solver.solve(position)
    seconds = time.process_time() - began
    print(json.dumps([score, seconds, solver.explored_positions]), flush=True)
""",
}


class Ours:
    """The solver of this project."""

    def __init__(self) -> None:
        self.solver = ConnectFourSolver(GAME)
        self.unrelated = self.solver.as_words([GAME.from_moves(UNRELATED)])
        self.solver.prepare()

    def ask(self, moves: str, warm: bool) -> tuple[int, float, int]:
        """Return score, CPU seconds and nodes."""
        positions = self.solver.as_words([GAME.from_moves(moves)])
        if not warm:
            self.solver.forget()
            self.solver.solve_many(self.unrelated)
        began = time.process_time()
        score = int(self.solver.solve_many(positions)[0])
        return score, time.process_time() - began, self.solver.nodes

    def batch(self, games: list[str]) -> float:
        """Return the CPU seconds of a whole set at once, tables kept."""
        positions = self.solver.as_words([GAME.from_moves(moves) for moves in games])
        self.solver.forget()
        began = time.process_time()
        self.solver.solve_many(positions)
        return time.process_time() - began


class Peer:
    """A peer in its own process."""

    def __init__(self, name: str, python: str) -> None:
        self.process = subprocess.Popen(
            [python, "-c", f"UNRELATED = {UNRELATED!r}\n" + PEERS[name]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
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
    parser.add_argument(
        "--positions",
        type=int,
        default=20,
        help="of each set; ten times (late ones: 35 times) as many of the easy ones",
    )
    parser.add_argument("--sets", default=",".join(SETS))
    for name in PEERS:
        parser.add_argument(f"--{name}", metavar="PYTHON", help=f"the interpreter of the environment with {name}")
    parser.add_argument("--empty-board", action="store_true", help="time the empty board too, on ours only")
    parser.add_argument("--threads", type=int, default=1, help="for the empty board")
    arguments = parser.parse_args()
    ours = Ours()
    pythons = {name: vars(arguments)[name.replace("-", "_")] for name in PEERS}
    peers = {name: Peer(name, python) for name, python in pythons.items() if python}
    ratios = []
    for name in filter(None, arguments.sets.split(",")):
        warm = name in WARM
        rows = [line.split() for line in (arguments.folder / f"{name}.txt").read_text().splitlines()]
        rows = rows[: arguments.positions * (35 if warm else 10 if name.endswith("easy") else 1)]
        results: dict[str, list[tuple[int, float, int]]] = {peer: [] for peer in ("ours", *peers)}
        # In turns, so that what else the machine does weighs on all.
        for moves, score in rows:
            results["ours"].append(ours.ask(moves, warm))
            if results["ours"][-1][0] != int(score):
                raise SystemExit(f"{name} {moves}: {results['ours'][-1][0]}, known {score}")
            for peer, process in peers.items():
                results[peer].append(process.ask(moves, warm))
        n = len(rows)
        ms = {peer: 1000 * sum(row[1] for row in found) / n for peer, found in results.items()}
        if warm:
            ms["ours"] = 1000 * ours.batch([moves for moves, _ in rows]) / n
        line = f"{name:14} {n:4} positions"
        for peer, found in results.items():
            wrong = sum(row[0] != int(score) for row, (_, score) in zip(found, rows, strict=True))
            line += f"  {peer} {ms[peer]:.4f} ms {sum(row[2] for row in found) / n:.0f} nodes"
            line += f" ({wrong} wrong)" if wrong else ""
        if peers:
            ratios.append(min(ms[peer] for peer in peers) / ms["ours"])
            line += f"  ratio {ratios[-1]:.2f}"
        print(line, flush=True)
    if ratios:
        print(f"geometric mean of the ratios {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    if arguments.empty_board:
        ours.solver.forget()
        began, wall = time.process_time(), time.monotonic()
        score = ours.solver.score(GAME.initial_state(), threads=arguments.threads)
        print(
            f"empty board: score {score}, {time.process_time() - began:.1f} s CPU, {time.monotonic() - wall:.1f} s, "
            f"{ours.solver.nodes} nodes, {arguments.threads} threads"
        )


if __name__ == "__main__":
    main()
