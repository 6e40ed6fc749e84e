"""A long run that looks for wrong rules, faults of readers and lost work: `.ci/run --full` calls it.

    python tests/soak/soak.py [--seed 0] [--scale 1] [--workers 2] [--only rules,texts,files,kills]

| part | at scale 1 |
| --- | --- |
| rules | 1,000,000 plies a game against OpenSpiel, or plain lists where OpenSpiel has no such rules |
| texts | 100,000 damaged positions, moves, games and specs |
| files | 100,000 damaged files of each format that the project reads; fewer of slow ones, see `soak_files` |
| kills | tournaments and builds of tables and books, killed at random moments, then compared with undisturbed runs |

The work is cut into jobs, each with a seed of its own, so that a fault is found again by the same seed and scale. Only
the project's own errors may come out of a reader, within SECONDS and with MEMORY bytes more, and no file may change.
Exits with status 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "games")]

import soak_files  # noqa: E402  # found by the line above
import soak_kills  # noqa: E402  # found by the line above
import soak_rules  # noqa: E402  # found by the line above
import soak_texts  # noqa: E402  # found by the line above

from board_agents.cli.console import progress  # noqa: E402

PARTS = {"rules": soak_rules, "texts": soak_texts, "files": soak_files, "kills": soak_kills}
"""Each has `jobs(scale)`, which yields (name, function of (seed, count), count, seconds that it takes about)."""


@dataclass(frozen=True)
class Job:
    """A piece of work that returns what was wrong, a text each."""

    name: str
    run: Callable[[str, int], list[str]]
    count: int
    seconds: float
    seed: str

    def __call__(self) -> list[str]:
        """Do it; an error of the harness is a fault, too."""
        try:
            return [f"{self.name} (seed {self.seed}): {fault}" for fault in self.run(self.seed, self.count)]
        except Exception:  # whatever it was, the other jobs go on
            return [f"{self.name} (seed {self.seed}): {traceback.format_exc(limit=-4)}"]


def jobs(parts: list[str], seed: int, scale: float) -> Iterator[Job]:
    """Yield the jobs of parts."""
    for part in parts:
        for number, (name, run, count, seconds) in enumerate(PARTS[part].jobs(scale)):
            yield Job(f"{part}: {name}", run, count, seconds, f"{seed}-{part}-{number}")


def soak(parts: list[str], seed: int, scale: float, workers: int) -> list[str]:
    """Run parts; return what was wrong."""
    # The long ones first; a job's seed does not depend on the order.
    todo = sorted(jobs(parts, seed, scale), key=lambda job: -job.seconds)
    faults: list[str] = []
    took: dict[str, list[float]] = {}
    with temporary_files():
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        with pool, progress("soak", max(1, round(sum(job.seconds for job in todo)))) as bar:
            running = {pool.submit(timed, job): job for job in todo}
            try:
                for done in as_completed(running):
                    job = running[done]
                    found, seconds = done.result()
                    faults += found
                    for fault in found:
                        bar.console.print(fault, markup=False, soft_wrap=True)
                    spent = took.setdefault(job.name, [0, 0.0])
                    spent[0] += job.count
                    spent[1] += seconds
                    bar.update(bar.task_ids[0], advance=job.seconds)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    for name, (count, seconds) in sorted(took.items()):
        print(f"{name}: {int(count)} in {seconds:.1f} s")
    return faults


@contextlib.contextmanager
def temporary_files() -> Iterator[None]:
    """Keep temporary files in one folder, which is removed: killed processes leave some."""
    before = os.environ.get("TMPDIR"), tempfile.tempdir
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        try:
            yield
        finally:
            os.environ.pop("TMPDIR")
            if before[0] is not None:
                os.environ["TMPDIR"] = before[0]
            tempfile.tempdir = before[1]


def timed(job: Job) -> tuple[list[str], float]:
    """Run a job; return its faults and how long it took."""
    begin = time.monotonic()
    return job(), time.monotonic() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    options = parser.parse_args()
    parts = options.only.split(",")
    if not set(parts) <= set(PARTS) or options.scale <= 0 or options.workers < 1:
        parser.error(f"parts are {', '.join(PARTS)}; scale and workers are above 0")
    faults = soak(parts, options.seed, options.scale, options.workers)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
