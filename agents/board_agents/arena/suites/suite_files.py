"""Published suites: fixed sets of positions with exact values, one per game, balanced by ply and outcome.

A suite is a text file in ``arena/data``: a header as JSON (game, parameters, unit, recipe, checksum), then one position
a line. It contains the exact value of every move, so evaluating an agent needs no oracle. `build_suite` rebuilds it
from its recipe; the checksum covers the positions' lines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from board_agents.arena.play.decisions import Builder, as_builder, check_builders, play_game
from board_agents.arena.play.openings import position_key
from board_agents.arena.records.game_record import parameters_of
from board_agents.arena.records.storage import read_text
from board_agents.arena.statistics.quality import QualityReport, judge_decision, outcome_for_mover, unit_of
from board_agents.lowlevel.atomic_files import begins_with, write_whole
from board_envs.game import Game
from board_envs.random import Stream, check_seed
from board_envs.registry import make_game, snake_name
from board_envs.types import Oracle, TextError

FORMAT = "board-envs suite 1"
_IS_SUITE = begins_with(b'{"format": "board-envs suite ')
TRIES_A_PLACE = 100
"""Random games tried per position of a suite; places not filled by then stay empty."""


class SuiteError(TextError):
    """A suite file that is damaged, has another format or another game; or a missing suite."""


@dataclass(frozen=True)
class SuitePosition:
    """One position of a suite.

    Attributes:
        position: the position as text.
        ply: moves played before it.
        outcome: +1, 0, -1 for the mover under perfect play.
        values: exact value of every legal action for the mover.

    """

    position: str
    ply: int
    outcome: int
    values: dict[int, float]

    def line(self) -> str:
        """Return the position's line in a file: text, ply, outcome and action:value pairs, tab separated."""
        pairs = " ".join(f"{action}:{value:g}" for action, value in self.values.items())
        return f"{self.position}\t{self.ply}\t{self.outcome}\t{pairs}"

    @classmethod
    def from_line(cls, line: str) -> SuitePosition:
        """Parse a line written by `line`; raise SuiteError if it has another form."""
        try:
            position, ply, outcome, pairs = line.split("\t")
            values = {int(action): float(value) for action, value in (pair.split(":") for pair in pairs.split())}
            return cls(position, int(ply), int(outcome), values)
        except ValueError as error:
            raise SuiteError(f"not a line of a suite: {line!r}") from error


@dataclass(frozen=True)
class Suite:
    """A suite of one game.

    Attributes:
        game: the game.
        unit: unit of the values.
        recipe: the arguments of `build_suite`, and the oracle's name.
        positions: the positions, sorted by ply.

    """

    game: Game[Any]
    unit: str
    recipe: dict[str, Any]
    positions: tuple[SuitePosition, ...]

    @property
    def checksum(self) -> str:
        """SHA-256 of the positions' lines."""
        return hashlib.sha256("".join(p.line() + "\n" for p in self.positions).encode()).hexdigest()

    def save(self, path: Path) -> None:
        """Write the file atomically; raise FileExistsError if a file exists that is not a suite."""
        header = {
            "format": FORMAT,
            "game": self.game.name,
            "parameters": dict(self.game.parameters),
            "unit": self.unit,
            "recipe": self.recipe,
            "sha256": self.checksum,
        }
        lines = [json.dumps(header, ensure_ascii=False), *(p.line() for p in self.positions)]
        text = "\n".join(lines) + "\n"
        write_whole(path, lambda part: part.write_text(text, encoding="utf-8"), ours=_IS_SUITE)

    @classmethod
    def parse(cls, text: str, name: str) -> Suite:
        """Parse a file's text; raise SuiteError naming the file and the error."""
        head, _, rest = text.partition("\n")
        lines = rest.splitlines()
        try:
            header = json.loads(head)
            parameters = parameters_of(header["parameters"])
            known = header["format"], header["unit"], header["recipe"], header["sha256"]
            game = make_game(header["game"], **parameters)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise SuiteError(f"{name}: no header of a suite") from error
        if known[0] != FORMAT:
            raise SuiteError(f"{name}: format {known[0]!r}; this version reads {FORMAT!r}")
        suite = cls(game, known[1], known[2], tuple(map(SuitePosition.from_line, lines)))
        if suite.checksum != known[3]:
            raise SuiteError(f"{name}: the positions do not match the checksum {known[3]}")
        return suite


def suite_name(game: Game[Any]) -> str:
    """Return the file name of a game's suite, name and parameters joined by hyphens."""
    values = [".".join(map(str, v)) if isinstance(v, tuple) else str(v).lower() for v in game.parameters.values()]
    return "-".join([snake_name(game.name), *values]) + ".suite"


def published_suites() -> list[str]:
    """List the file names of the published suites."""
    return sorted(
        f.name for f in resources.files("board_agents.arena.suites").joinpath("data").iterdir() if f.is_file()
    )


def load_suite(game: Game[Any]) -> Suite:
    """Return the published suite of a game; raise SuiteError, listing the published ones, if it does not exist."""
    name = suite_name(game)
    if name not in published_suites():
        raise SuiteError(f"no published suite for {game!r}; published: {', '.join(published_suites())}")
    text = resources.files("board_agents.arena.suites").joinpath("data").joinpath(name).read_text(encoding="utf-8")
    return Suite.parse(text, name)


def read_suite(path: Path) -> Suite:
    """Return the suite of a file; raise SuiteError or RecordError naming the file and the error."""
    return Suite.parse(read_text(path), str(path))


def build_suite(
    game: Game[Any],
    oracle: Oracle[Any],
    *,
    seed: int,
    bins: Sequence[tuple[int, int]],
    per_cell: int,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Suite:
    """Draw positions until each cell (a range of plies, an outcome) contains `per_cell`, or no more are found.

    Candidate i comes from random game number i: uniformly random actions from the initial state, to a ply drawn
    from the ranges in rotation. Accepted are positions with at least two legal actions and known values,
    no two of them images of each other under the game's symmetries. A candidate depends on the seed
    alone, so any exact oracle of the same reach builds the same suite.

    Args:
        game: the game.
        oracle: the source of exact values.
        seed: seed of the random games.
        bins: ranges of plies, both ends included.
        per_cell: positions wanted for each of +1, 0, -1 in each range.
        progress: wraps the iteration over candidates to show progress.

    """
    check_seed(seed)
    cells: dict[tuple[int, int], list[SuitePosition]] = {(b, o): [] for b in range(len(bins)) for o in (-1, 0, 1)}
    seen: set[bytes] = set()
    stream = Stream.seeded(seed)
    for number in progress(range(TRIES_A_PLACE * per_cell * len(bins))):
        turn = number % len(bins)
        low, high = bins[turn]
        ply = low + stream.below(high - low + 1)
        state = _random_position(game, ply, Stream.seeded(stream.seed()))
        if state is None or all(len(cells[turn, o]) >= per_cell for o in (-1, 0, 1)):
            continue
        key = position_key(game, state)
        if key in seen:
            continue
        values = oracle.action_values(state)
        if values is None:
            continue
        outcome = outcome_for_mover(game, state, max(values.values()))
        if len(cells[turn, outcome]) < per_cell:
            seen.add(key)
            cells[turn, outcome].append(SuitePosition(game.format(state), ply, outcome, dict(sorted(values.items()))))
        if all(len(cell) >= per_cell for cell in cells.values()):
            break
    positions = sorted((p for cell in cells.values() for p in cell), key=lambda p: (p.ply, p.position))
    recipe = {"seed": seed, "bins": [list(b) for b in bins], "per_cell": per_cell, "oracle": type(oracle).__name__}
    return Suite(game, unit_of(oracle, game), recipe, tuple(positions))


def rebuild(suite: Suite, oracle: Oracle[Any]) -> Suite:
    """Rebuild a suite from its recipe; any exact oracle of the same reach gives the same suite."""
    recipe = suite.recipe
    bins = [(low, high) for low, high in recipe["bins"]]
    return build_suite(suite.game, oracle, seed=recipe["seed"], bins=bins, per_cell=recipe["per_cell"])


def judge_on_suite(
    build: Builder,
    suite: Suite,
    *,
    name: str,
    seed: int = 0,
    repeats: int = 1,
    progress: Callable[[Sequence[SuitePosition]], Iterable[SuitePosition]] = iter,
) -> QualityReport:
    """Evaluate an agent's moves in every position of a suite.

    Args:
        build: the agent in any form that `board_envs.policies` lists, built anew for every position.
        suite: the positions.
        name: of the agent.
        seed: the agent of position i, repeat j is reset with a seed that depends on this, i and j only.
        repeats: number of answers per position (use more than one for random agents).
        progress: wraps the iteration over positions to show progress.

    Raises:
        SpecError: a spec does not name an agent, or an agent object that cannot be copied.
        TypeError: `build` has none of the forms.

    """
    game, build = suite.game, as_builder(build)
    check_builders([build], game)
    source = {"kind": "suite", "name": suite_name(game), "sha256": suite.checksum, "seed": seed, "repeats": repeats}
    report = QualityReport(name, game, suite.unit, source)
    stream = Stream.seeded(seed)
    for position in progress(suite.positions):
        state = game.parse(position.position)
        for _ in range(repeats):
            action = _answer(build, game, position.position, stream.seed())
            report.count(judge_decision(game, state, action, position.values, position.ply), position.ply)
    return report


def _answer(build: Builder, game: Game[Any], position: str, seed: int) -> int | None:
    """Return the agent's action in a position, None if it is not legal; the agent is reset first."""
    record = play_game(game, (build, build), names=("", ""), seeds=(seed, seed), start=position, max_plies=1)
    return record.actions[0] if record.actions else None


def _random_position(game: Game[Any], plies: int, stream: Stream) -> Any:
    """Return the position after `plies` random actions; None if it has fewer than two moves or the game ends before.

    Its history is dropped, as in the suite's text.
    """
    state = game.initial_state()
    for _ in range(plies):
        count = game.rules.count(state)
        if count == 0:
            return None
        state = game.step(state, game.rules.nth(state, stream.below(count)))
    return game.parse(game.format(state)) if game.rules.count(state) > 1 else None
