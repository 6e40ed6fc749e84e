"""Play a plan's games on several processes or machines: the same records, in the same order, as in one process.

Every game depends on its task alone (seeds included), so it does not matter where it is played. Games are sent in
chunks whose size follows the time per game: large for fast agents, single games for slow ones. A killed worker
loses its current chunks; they are played again, and no game is lost or duplicated.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import os
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from board_agents.arena.play.decisions import Builder, as_builder
from board_agents.arena.records.game_record import GameRecord
from board_agents.arena.tournament import Task, play
from board_envs.game import Game
from board_envs.types import MissingExtraError, SpecError

BACKENDS = ("loky", "ray")
CHUNK_SECONDS = 0.5
"""Target time per chunk: each chunk has an overhead of some milliseconds, and is lost if its worker dies."""
CHUNKS_A_WORKER = 2
"""Minimum number of chunks per worker in the remaining games: chunks shrink towards the end to balance the load."""
_WATCH_SECONDS = 0.5
ATTEMPTS = 3
"""How many workers may die over the same games before the run stops."""


class WorkerError(RuntimeError):
    """Workers died repeatedly over the same games."""


def count_workers(workers: int) -> int:
    """Return the number of processes: 0 means one per available processor; raise ValueError for a negative number."""
    if workers < 0:
        raise ValueError(f"workers must be 0 (one per processor) or more, not {workers}")
    return workers or int(_joblib().cpu_count())


def play_parallel(
    game: Game[Any],
    entrants: Mapping[str, Builder],
    tasks: Iterable[Task],
    *,
    workers: int,
    backend: str = "loky",
    address: str | None = None,
    done: Iterable[GameRecord] = (),
    time_limit: float | None = None,
    max_plies: int | None = None,
) -> Generator[GameRecord, None, None]:
    """Play planned games on several workers; see `tournament.play` for the rest.

    Args:
        game: the game.
        entrants: name -> player in any form. Specs travel as text and are read by each worker (a file that one names
            must exist there, too); everything else is pickled by cloudpickle, once per chunk, and each game gets its
            own copy of an agent object, as in one process.
        tasks: the plan.
        workers: number of workers, 0 for one per processor (of the machine or the cluster).
        backend: "loky" (processes of this machine) or "ray" (a cluster, extra "cluster").
        address: address of the ray cluster; None starts one on this machine.
        done: records of games of this plan that need not be played again.
        time_limit: seconds a move may take.
        max_plies: maximum length of a game.

    Raises:
        WorkerError: workers died repeatedly over the same games.
        SpecError: a player cannot be pickled.
        MissingExtraError: joblib or ray is not installed.

    """
    known = {record.key: record for record in done}
    planned = [(task, known.get(task.key) if known else None) for task in tasks]
    open_tasks = [task for task, record in planned if record is None]
    players = {name: as_builder(player) for name, player in entrants.items()}
    _check_travel(players)
    fresh = _play_open(game, players, open_tasks, workers, backend, address, time_limit, max_plies)
    with contextlib.closing(fresh):
        for _, record in planned:
            yield next(fresh) if record is None else record


def _check_travel(players: Mapping[str, Builder]) -> None:
    """Raise SpecError, naming the player, if one cannot be sent to workers."""
    _joblib()
    from joblib.externals.loky.backend.reduction import dumps

    name = ""
    try:
        for name, player in players.items():  # noqa: B007  # the name is for the message
            dumps(player)
    except Exception as error:
        raise SpecError(
            f"agent {name!r} cannot be sent to workers ({type(error).__name__}: {error}); give its class, a spec, or "
            "agent_builder(f)"
        ) from error


def _play_open(
    game: Game[Any],
    entrants: dict[str, Builder],
    tasks: Sequence[Task],
    workers: int,
    backend: str,
    address: str | None,
    time_limit: float | None,
    max_plies: int | None,
) -> Generator[GameRecord, None, None]:
    if not tasks:
        return
    joblib = _joblib()
    with _backend(joblib, backend, workers, address) as number:
        finished, attempts = 0, 0
        while finished < len(tasks):
            chunks = Chunks(tasks[finished:], number)
            parent = os.getpid() if backend == "loky" else None
            jobs = (joblib.delayed(_play_chunk)(parent, game, entrants, part, time_limit, max_plies) for part in chunks)
            results = _stream(joblib, jobs, number) if backend == "loky" else _waves(joblib, jobs, number)
            try:
                for records, seconds in results:
                    # One chunk of quick games is weak evidence: the expected time falls by half at most.
                    chunks.pace = max(seconds / len(records), (chunks.pace or 0) / 2)
                    attempts = 0
                    for record in records:
                        finished += 1
                        yield record
            except _worker_deaths(backend) as error:
                attempts += 1
                if attempts >= ATTEMPTS:
                    raise WorkerError(
                        f"workers died {attempts} times over the same games; the first is {tasks[finished].key}"
                    ) from error
            finally:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # joblib warns that running games are abandoned: intended here
                    results.close()


class Chunks:
    """Splits games into chunks on demand: single games until the time per game is known.

    Attributes:
        pace: seconds per game, None while unknown.

    """

    def __init__(self, tasks: Sequence[Task], workers: int) -> None:
        self.tasks, self.parts = tasks, workers * CHUNKS_A_WORKER
        self.pace: float | None = None

    def __iter__(self) -> Iterator[Sequence[Task]]:
        begin = 0
        while begin < len(self.tasks):
            wanted = 1 if self.pace is None else int(CHUNK_SECONDS / max(self.pace, 1e-9))
            size = max(1, min(wanted, (len(self.tasks) - begin) // self.parts))
            yield self.tasks[begin : begin + size]
            begin += size


def _stream(joblib: Any, jobs: Iterator[Any], number: int) -> Generator[Any, None, None]:
    """Yield results in order, each as soon as it is available; two jobs per worker are queued ahead."""
    # A generator: a worker that dies while the first jobs are sent raises where results are consumed.
    yield from joblib.Parallel(n_jobs=number, batch_size=1, pre_dispatch="2*n_jobs", return_as="generator")(jobs)


def _waves(joblib: Any, jobs: Iterator[Any], number: int) -> Generator[Any, None, None]:
    """Yield results in order from backends that only return lists: a fixed number of jobs at a time."""
    while wave := list(itertools.islice(jobs, 2 * number * CHUNKS_A_WORKER)):
        yield from joblib.Parallel(n_jobs=number, batch_size=1)(wave)


def _play_chunk(
    parent: int | None,
    game: Game[Any],
    entrants: dict[str, Builder],
    tasks: Sequence[Task],
    time_limit: float | None,
    max_plies: int | None,
) -> tuple[list[GameRecord], float]:
    """Return the records of a chunk, and the seconds it took; a worker ends with its `parent` process."""
    if parent not in (None, os.getpid()):
        _end_with(parent)
    begun = time.perf_counter()
    records = list(play(game, entrants, tasks, time_limit=time_limit, max_plies=max_plies))
    seconds = time.perf_counter() - begun
    _settle()
    return records, seconds


@functools.cache
def _end_with(parent: int) -> None:
    """End this worker when its parent process is gone: a killed parent cannot stop its workers."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@functools.cache
def _settle() -> None:
    """Exempt what a worker has loaded from garbage collection, once.

    Without psutil loky collects garbage every second, and with numba loaded each time takes some 60 ms.
    """
    gc.collect()
    gc.freeze()


def _joblib() -> Any:
    try:
        import joblib
    except ModuleNotFoundError as error:
        raise MissingExtraError("playing on several workers", "records") from error
    return joblib


def _worker_deaths(backend: str) -> tuple[type[BaseException], ...]:
    if backend == "ray":
        from ray.exceptions import RayError

        return (RayError,)
    from joblib.externals.loky.process_executor import BrokenProcessPool

    return (BrokenProcessPool,)


@contextlib.contextmanager
def _backend(joblib: Any, backend: str, workers: int, address: str | None) -> Iterator[int]:
    """Select a joblib backend; yield its number of workers."""
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; backends: {', '.join(BACKENDS)}")
    if backend == "loky":
        number = count_workers(workers)
        with joblib.parallel_config(backend="loky", n_jobs=number, inner_max_num_threads=1):
            yield number
        return
    try:
        import ray
        from ray.util.joblib import register_ray
    except ModuleNotFoundError as error:
        raise MissingExtraError("the backend ray", "cluster") from error
    ours = not ray.is_initialized()
    if ours:
        ray.init(address=address, num_cpus=None if address else count_workers(workers), log_to_driver=False)
    try:
        register_ray()
        number = workers or int(ray.cluster_resources().get("CPU", 1))
        with joblib.parallel_config(backend="ray", n_jobs=number):
            yield number
    finally:
        if ours:
            ray.shutdown()
