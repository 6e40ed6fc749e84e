"""Solve Awalé's tables and print their checksums, which must not change when only the code's form does.

    python benchmarks/awale_checksums.py [--parts rows levels probing] [--repeat 5]

A checksum is the CRC-32 of all that the kernels wrote: the look-up tables of rows; scores and progress depths of
every level; the answers to questions. Times are of the processor, the median of the repetitions,
compiling left out.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import zlib

import numpy as np

from board_agents.games.awale import Tables
from board_agents.games.awale.retrograde import finish_depths, finish_scores, solve_level
from board_agents.games.awale.rows import make_rows

EXPECTED = {"rows": 0x1F011E90, "levels": 0xCA9D3E79, "probing": 0x1D9138C1}
Check = tuple[int, float]
"""Checksum, seconds."""


def rows() -> Check:
    """The look-up tables of 6 pits to 18 seeds."""
    make_rows.cache_clear()
    make_rows(3, 2)
    began = time.process_time()
    tables = make_rows(6, 18)
    seconds = time.process_time() - began
    checksum = 0
    for array in (*tables[2:-2], *tables.moves, *tables.parents):
        checksum = zlib.crc32(array, checksum)
    return checksum, seconds


def levels() -> Check:
    """The 4-Awalé's tables, by one thread, and those of 6 pits to 13 seeds by one and two."""
    checksum, seconds = 0, 0.0
    for pits, total, threads in ((4, 24, 1), (6, 13, 1), (6, 13, 2)):
        Tables.solve(2, 2, threads=threads)
        tables = make_rows(pits, total)
        scores, addresses = [], np.zeros(total + 1, np.uint64)
        began = time.process_time()
        for level in range(total + 1):
            cells = solve_level(tables, level, addresses, threads=threads)
            scores.append(np.empty(len(cells), np.int8))
            finish_scores(cells, scores[-1])
            addresses[level] = scores[-1].ctypes.data
            depths = np.empty(len(cells), np.uint8)
            finish_depths(cells, depths)
            checksum = zlib.crc32(depths, zlib.crc32(scores[-1], checksum))
        seconds += time.process_time() - began
    return checksum, seconds


def probing() -> Check:
    """Random positions of the 4-Awalé and, looked ahead from, of games with more seeds than the tables hold."""
    tables = Tables.solve(4, 14)
    generator = np.random.default_rng(1)
    few = generator.multinomial(14, [1 / 8] * 8, size=3000).tolist()
    many = [seeds for seeds in generator.multinomial(20, [1 / 8] * 8, size=300).tolist() if any(seeds[:4])]
    earlier = np.array([tables.rows(position) for position in few[:3]], np.uint64)
    tables.moves(few[0])
    tables.search(many[0], earlier, 1)
    began = time.process_time()
    answers = [[tables.probe(position), tables.moves(position)] for position in few]
    found = [tables.search(position, earlier, 8) for position in many]
    seconds = time.process_time() - began
    return zlib.crc32(repr((answers, found)).encode()), seconds


def main() -> None:
    parts = {"rows": rows, "levels": levels, "probing": probing}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    wrong = []
    for name in options.parts:
        checks = [parts[name]() for _ in range(options.repeat)]
        checksum = checks[0][0]
        seconds = statistics.median(check[1] for check in checks)
        print(f"{name}: checksum {checksum:#010x}, {seconds:.3f} s CPU", flush=True)
        if checksum != EXPECTED[name]:
            wrong.append(f"{name}: expected {EXPECTED[name]:#010x}")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
