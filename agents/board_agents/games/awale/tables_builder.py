"""Awalé's tables for ``board-envs tables``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from board_agents.games.awale.table_files import LevelStatistics, folder_of
from board_agents.games.awale.tablebase import Report, Tables, build, check_size, existing_levels
from board_agents.games.awale.verify import verify
from board_agents.support import Progress, TablesError, TablesReport
from board_envs.games.awale.configurations import count

HEADER = ("seeds", "configurations", "won", "even", "lost", "mat", "deepest", "CRC-32 of scores")


class AwaleTablesBuilder:
    """Exact scores of all configurations with up to `max_total` seeds, a file a level."""

    about = "all configurations with up to --max-total seeds"
    options: ClassVar[Mapping[str, int | None]] = {"pits": 4, "max_total": None}

    def build(self, options: Mapping[str, int], folder: Path | None, threads: int, progress: Progress) -> TablesReport:
        """Build the levels that are missing."""
        pits, total = _size(options)
        levels = build(pits, total, folder, threads=threads, report=_levels(f"{pits} pits", pits, total, progress))
        return _report(pits, folder, levels)

    def verify(self, options: Mapping[str, int], folder: Path | None, full: bool, progress: Progress) -> TablesReport:
        """Check files against their checksums, and every score and progress depth against what the moves lead to."""
        pits, _ = _size(options)
        with Tables.open(pits, folder, total=options.get("max_total")) as tables:
            wrong = verify(tables, full=full, report=_levels("checking", pits, tables.total, progress))
            if wrong is not None:
                level, rank = wrong
                configuration = ",".join(map(str, tables.configuration(level, rank)))
                raise TablesError(f"{folder_of(pits, folder)}: level {level}, rank {rank} ({configuration}) is wrong")
            total, configurations = tables.total, sum(level.configurations for level in tables.statistics)
        how = "checksums, scores and depths" + (", and value iteration" if full else "")
        return TablesReport(
            {"game": "awale", "pits": pits, "total": total, "configurations": configurations, "full": full},
            f"{configurations} configurations of up to {total} seeds are right: {how}",
        )

    def info(self, options: Mapping[str, int], folder: Path | None) -> TablesReport:
        """Say where the tables are and what each level holds."""
        pits, _ = _size(options)
        with Tables.open(pits, folder, check=False) as tables:
            return _report(pits, folder, tables.statistics)


def _size(options: Mapping[str, int]) -> tuple[int, int]:
    try:
        return check_size(options["pits"], options.get("max_total", 0))
    except ValueError as error:
        raise TablesError(str(error)) from None


def _levels(what: str, pits: int, total: int, progress: Progress) -> Report:
    """Turn (level, share of it) into how many configurations are done."""
    before = [0]
    for level in range(total + 1):
        before.append(before[-1] + count(pits, level))

    def report(level: int, share: float) -> None:
        done = before[level] + share * count(pits, level)
        progress(f"{what}, {level} of {total} seeds", done, before[-1])

    return report


def _report(pits: int, folder: Path | None, levels: list[LevelStatistics]) -> TablesReport:
    place, paths = folder_of(pits, folder), existing_levels(pits, folder)
    size = sum(path.stat().st_size for path in paths)
    data = [
        {
            **{key: getattr(level, key) for key in LevelStatistics.__dataclass_fields__},
            "scores_crc32": f"{level.scores_crc32:08x}",
            "depths_crc32": f"{level.depths_crc32:08x}",
        }
        for level in levels
    ]
    rows = []
    for level in levels:
        numbers = (level.configurations, level.positive, level.zero, level.negative, level.unresolved, level.deepest)
        rows.append((str(level.level), *map(str, numbers), f"{level.scores_crc32:08x}"))
    total = sum(level.configurations for level in levels)
    return TablesReport(
        {"game": "awale", "pits": pits, "folder": str(place), "bytes": size, "levels": data},
        f"{total} configurations, {size} bytes in {place}",
        HEADER,
        rows,
    )
