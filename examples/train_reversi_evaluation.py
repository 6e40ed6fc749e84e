"""Train the pattern evaluation of Reversi from nothing: self-play, exact ends, least squares, in a few rounds.

    pip install 'board-envs[fast,cli,records]'
    python examples/train_reversi_evaluation.py training --workers 2

Round 0 plays at random. Each later round plays with the weights of the round before, looking further ahead, down to a
dozen empty squares, where the exact solver computes the game's value; that is the label of the positions before.
The weights are then fitted anew to the games of the last rounds. At the end deep searches are compared with shallow
ones: how far they are apart is what the player's selective search needs to know.

The folder gets ``evaluation.weights``, ``log.jsonl`` (a line a round: games, positions, processor seconds, mean error
on games kept apart, by phase), ``curve.png`` and the games; started again on the same folder, a run that was stopped
goes on with what is there. The weights that come with the package were made by this program as it is called above.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import pathlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from board_agents.cli.console import progress
from board_agents.games.reversi.evaluation_training import (
    Positions,
    errors_by_phase,
    fit_phase,
    join,
    make_evaluation,
    measure_spreads,
    play_games,
)
from board_agents.games.reversi.pattern_evaluation import PHASES, Evaluation
from board_agents.games.reversi.patterns import shared
from board_agents.games.reversi.thinking import MEASURED
from board_agents.lowlevel.atomic_files import write_whole


class Round(NamedTuple):
    """One round: number of games, search depth, and empty squares from which games are solved."""

    games: int
    depth: int
    solved: int


ROUNDS = (
    Round(40_000, 0, 10),
    Round(60_000, 1, 12),
    Round(100_000, 2, 13),
    Round(150_000, 4, 14),
    Round(80_000, 6, 14),
)
CHUNK = 1000
"""Games in a file, a twentieth of a round's at most."""
REMEMBERED = 3
"""Rounds that a fit takes its games from."""
BANDS = (16, 24, 32, 40)
"""Numbers of empty squares at which searches are compared."""


def in_parallel(what: str, tasks: Sequence[Callable[[], Any]], workers: int) -> list[Any]:
    """Run tasks in threads (compiled code runs in several at once) and show how far it is."""
    with progress(what, len(tasks)) as bar, ThreadPoolExecutor(workers) as pool:

        def run(task: Callable[[], Any]) -> Any:
            result = task()
            bar.update(bar.task_ids[0], advance=1)
            return result

        futures = [pool.submit(run, task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def play_chunk(path: pathlib.Path, evaluation: Evaluation, seed: int, games: int, plan: Round) -> None:
    """Play a file's games, unless it is there."""
    if not path.exists():
        found = play_games(evaluation, seed, games, plan.depth, plan.solved)
        write_whole(path, lambda part: np.savez(part, boards=found.boards, values=found.values))


def read_chunk(path: pathlib.Path) -> Positions:
    """Read a file of games."""
    with np.load(path, allow_pickle=False) as data:
        return Positions(data["boards"], data["values"])


def chunks(folder: pathlib.Path, number: int, plan: Round) -> list[tuple[pathlib.Path, int]]:
    """Return a round's files and how many games each has."""
    size = min(CHUNK, -(-plan.games // 20))
    begins = range(0, plan.games, size)
    return [
        (folder / f"games-{number}-{chunk:04d}.npz", min(size, plan.games - begin))
        for chunk, begin in enumerate(begins)
    ]


def apart(paths: list[pathlib.Path]) -> list[pathlib.Path]:
    """Return the files that are not trained on: the errors in the log are measured there."""
    return paths[19::20] or paths[-1:]


def train(
    folder: pathlib.Path, rounds: tuple[Round, ...], workers: int, seed: int, spread_positions: int
) -> Evaluation:
    """Run all rounds; what the folder holds already is not done again."""
    folder.mkdir(parents=True, exist_ok=True)
    nothing = np.zeros((PHASES, int(shared().max()) + 1), np.int64)
    evaluation = Evaluation(nothing, np.zeros(65, np.int64))
    log = folder / "log.jsonl"
    lines: list[dict[str, Any]] = []
    if log.exists():
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for number, plan in enumerate(rounds):
        weights = folder / f"round-{number}.weights"
        if weights.exists() and len(lines) > number:
            evaluation = Evaluation.load(weights)
            continue
        begun = time.process_time()
        # The first compiles for all.
        tasks = [
            functools.partial(play_chunk, path, evaluation, seed * 10**9 + number * 10**6 + chunk, games, plan)
            for chunk, (path, games) in enumerate(chunks(folder, number, plan))
        ]
        tasks[0]()
        in_parallel(f"round {number}: games", tasks[1:], workers)
        played = time.process_time() - begun
        # Random games teach nothing that better ones do not teach better.
        first = max(min(1, number), number - REMEMBERED + 1)
        files = [[path for path, _ in chunks(folder, k, rounds[k])] for k in range(first, number + 1)]
        positions = join([read_chunk(path) for paths in files for path in paths if path not in apart(paths)])
        fits = [functools.partial(fit_phase, positions, phase) for phase in range(PHASES)]
        phases = in_parallel(f"round {number}: weights", fits, workers)
        evaluation = make_evaluation(phases)
        errors = errors_by_phase(evaluation, join([read_chunk(path) for path in apart(files[-1])]))
        evaluation.save(weights)
        evaluation = Evaluation.load(weights)  # rounded as the file has it, so that a run that goes on is the same
        lines[number:] = [
            {
                "round": number,
                **plan._asdict(),
                "positions": len(positions.values),
                "cpu_seconds_games": round(played, 1),
                "cpu_seconds": round(time.process_time() - begun, 1),
                "error_by_phase": [None if np.isnan(error) else round(error, 3) for error in errors],
            }
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        write_whole(log, lambda part: part.write_text(text, encoding="utf-8"))
        print(
            f"round {number}: {len(positions.values)} positions, mean errors {lines[number]['error_by_phase']}",
            flush=True,
        )
    facts = {
        "games": sum(plan.games for plan in rounds),
        "rounds": [list(plan) for plan in rounds],
        "spreads": spreads(folder, rounds, evaluation, workers, spread_positions),
    }
    evaluation = Evaluation(evaluation.weights, evaluation.bias, facts)
    evaluation.save(folder / "evaluation.weights")
    draw_curve(lines, folder / "curve.png")
    return evaluation


def spreads(
    folder: pathlib.Path, rounds: tuple[Round, ...], evaluation: Evaluation, workers: int, count: int
) -> dict[str, dict[str, float]]:
    """Compare deep and shallow searches of positions of the last round's games."""
    positions = join([read_chunk(path) for path, _ in chunks(folder, len(rounds) - 1, rounds[-1])[:20]])
    empties = positions.empties

    def measure(band: int) -> dict[str, float]:
        boards = positions.boards[empties == band]
        # Every k-th: they come game by game.
        boards = boards[:: max(1, len(boards) // count)][:count]
        found = measure_spreads(evaluation, boards, MEASURED)
        return {str(depth): round(value, 3) for depth, value in found.items()}

    found = in_parallel("errors of shallow searches", [functools.partial(measure, band) for band in BANDS], workers)
    return {str(band): values for band, values in zip(BANDS, found, strict=True)}


def draw_curve(lines: list[dict[str, Any]], path: pathlib.Path) -> None:
    """Draw each round's mean error by phase."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    for line in lines:
        errors = [np.nan if error is None else error for error in line["error_by_phase"]]
        axes.plot(
            range(PHASES), errors, marker="o", markersize=3, label=f"round {line['round']}: depth {line['depth']}"
        )
    axes.set_xlabel("phase of the game (0: more than 48 empty squares, then 4 squares each)")
    axes.set_ylabel("mean error in discs, games kept apart")
    axes.legend()
    axes.grid(alpha=0.3)
    write_whole(path, lambda part: figure.savefig(part, dpi=80, format="png", bbox_inches="tight"))


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where everything is kept")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="threads (default: one a core)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="games of each round, as a share of the usual")
    parser.add_argument("--rounds", type=int, default=len(ROUNDS), help="number of rounds to run")
    parser.add_argument("--spread-positions", type=int, default=300, help="searches compared at each of four stages")
    options = parser.parse_args()
    rounds = tuple(plan._replace(games=max(40, round(plan.games * options.scale))) for plan in ROUNDS[: options.rounds])
    begun = time.process_time()
    train(options.folder, rounds, options.workers, options.seed, options.spread_positions)
    print(f"{options.folder / 'evaluation.weights'} written after {time.process_time() - begun:.0f} processor seconds")


if __name__ == "__main__":
    main()
