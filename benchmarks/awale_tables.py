"""Cost of building and probing Awalé's tablebase, compared with the memory-bound minimum.

Run:  python benchmarks/awale_tables.py [--pits 6 --max-total 18] [--threads 2]

Times are CPU seconds of this process after compiling, so that other programs disturb little; with threads, also how
far they shorten the wait. The floor is a loop that does nothing but what any such solver must: for every configuration
as many random reads and writes of a cell as it has quiet parents.

Memory while a level is made, in bytes a configuration: 4 for its cell and 1 for two queues (8 bytes an entry, room for
one configuration in 16); the scores of the levels below are mapped, and given back after initialisation. A cell is
written once by initialisation, read once by each of the n + 1 passes, and read and written once a quiet parent's
message; scores and depths read it once each and write 2 bytes to the file.

Measured on two cores of an AMD EPYC (Zen 5), Python 3.11: the 4-Awalé in 0.8 s CPU with 0.20 GB; the 6-Awalé to 18
seeds in 9.3 s CPU with 0.38 GB, by two threads in 5.3 s instead of 9.4 s; to 21 seeds by two threads in 46.8 s CPU,
24.6 s, with 0.92 GB. The floor is about a sixth of the last level's time at 15 seeds.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

from board_agents.games.awale import Tables, build
from board_agents.games.awale import open as open_tables
from board_agents.games.awale.retrograde import solve_level
from board_agents.games.awale.rows import Rows, make_rows
from board_envs._jit import kernel
from board_envs.games.awale import make
from board_envs.games.awale.configurations import count


@kernel
def touch(cells, places):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201  # compiled
    """Read and write cells at random places; about as many as there are quiet moves."""
    for x in range(places.shape[0]):
        cells[places[x]] += np.uint32(1)
    return cells[0]


@kernel
def quiet_moves(n, first, sums, room, sown, gained, code):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Count the quiet moves of a level."""
    found = 0
    for other in range(first[n + 1]):
        mine = n - np.int64(sums[other])
        for row in range(first[mine], first[mine + 1]):
            for pit in range(code.shape[1]):
                way = np.int64(code[row, pit])
                if way != 255:
                    pair = np.int64(room[other]) + (way >> 1)
                    found += sown[pair] != 0 and (way & 1 == 0 or gained[pair] == 0)
    return found


def cpu(function: Callable[[], object], repeats: int = 1) -> float:
    """Return the CPU seconds of one call, the median of some."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return float(np.median(times))


def floor(rows: Rows, n: int) -> tuple[float, int]:
    """Return (seconds of the random accesses of a level, how many they are)."""
    moves = rows.moves
    quiet = int(quiet_moves(n, rows.first, rows.sums, moves.room, moves.sown, moves.gained, moves.code))
    size = count(rows.pits, n)
    cells, generator = np.zeros(size, np.uint32), np.random.default_rng(1)
    places = generator.integers(size, size=min(quiet, 20_000_000))
    touch(cells, places[:10])
    return cpu(lambda: touch(cells, places)) * quiet / max(len(places), 1), quiet


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pits", type=int, default=4)
    parser.add_argument("--max-total", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    pits, total, threads = given.pits, given.max_total, given.threads
    # Far enough for rounds that threads share.
    Tables.solve(pits, min(total, 12), threads=threads)

    configurations = sum(count(pits, level) for level in range(total + 1))
    with tempfile.TemporaryDirectory() as folder:
        make_rows.cache_clear()
        begin, wall = time.process_time(), time.perf_counter()
        build(pits, total, folder, threads=threads)
        used, waited = time.process_time() - begin, time.perf_counter() - wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        print(f"{pits} pits a side, {total} seeds: {configurations} configurations, {threads} threads")
        print(f"build and write    {used:8.2f} s CPU   {waited:8.2f} s   {used / configurations * 1e9:6.1f} ns each")
        print(f"peak memory        {peak / 1e9:8.2f} GB, interpreter and compiler included")
        with open_tables(pits, folder) as tables:
            rows = make_rows(pits, total)
            largest = count(pits, total)
            one = cpu(lambda: solve_level(rows, total, tables.score_addresses))
            print(
                f"the last level     {one:8.2f} s CPU, one thread, nothing written   {one / largest * 1e9:6.1f} ns each"
            )
            least, moves = floor(rows, total)
            print(f"its floor          {least:8.2f} s CPU: {moves} random accesses ({moves / largest:.2f} each)")
            print(f"the floor's share  {least / one:8.0%} of the last level")
            if threads > 1:
                report_threads(rows, total, tables, threads)
            report_probes(tables)


def report_threads(rows: Rows, total: int, tables: Tables, threads: int) -> None:
    """Print how much sooner several threads are done with the last level."""
    ratios = []
    for _ in range(3):
        waits = []
        for number in (1, threads):
            wall = time.perf_counter()
            solve_level(rows, total, tables.score_addresses, threads=number)
            waits.append(time.perf_counter() - wall)
        ratios.append(waits[0] / waits[1])
    print(f"{threads} threads          {np.median(ratios):8.2f} times as fast on the last level (median of 3 pairs)")


def report_probes(tables: Tables) -> None:
    """Print the cost of look-ups."""
    pits, total = tables.pits, tables.total
    generator, many = np.random.default_rng(0), 1_000_000
    seeds = generator.multinomial(total, [1 / (2 * pits)] * (2 * pits), size=many).astype(np.uint8)
    rows = np.zeros((many, 2, 8), np.uint8)
    rows[:, 0, :pits], rows[:, 1, :pits] = seeds[:, :pits], seeds[:, pits:]
    words = rows.view("<u8").reshape(many, 2)
    game = make(pits, max(1, -(-total // (2 * pits))))
    state = game.parse(",".join(map(str, seeds[0].tolist())))
    tables.probe_many(words[:2])
    tables.probe(state)
    batch = cpu(lambda: tables.probe_many(words), 5)
    single = cpu(lambda: [tables.probe(state) for _ in range(20_000)], 5)
    print(f"probe              {single / 20_000 * 1e6:8.2f} us from Python, {batch / many * 1e9:.1f} ns in a batch")


if __name__ == "__main__":
    main()
