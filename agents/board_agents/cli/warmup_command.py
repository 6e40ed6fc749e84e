"""``board-envs warmup``: compile the code of games, agents and oracles ahead; clear the cache of compiled code."""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

import board_envs
from board_agents.cli.console import AsJson, Parameters, UserError, out, print_json, progress, read_game
from board_agents.oracle import Preparable
from board_agents.registry import agent_parameters, make_agent, make_oracle
from board_agents.support import support_of
from board_envs import _code_cache
from board_envs._jit import require_numba
from board_envs.envs.vector import BoardVectorEnv
from board_envs.game import Game
from board_envs.random import Stream
from board_envs.registry import game_names
from board_envs.types import MissingExtraError, SpecError

_LAST = 4
"""Number of positions from the end of a game that the oracle and the game's own agents are run on."""
_SPECS = ("alpha-beta:depth=1,compiled=true", "mcts:simulations=1,compiled=true")
"""Agents run for every game; `minimax` and `greedy` use the code of `alpha-beta`."""


class Step(NamedTuple):
    """One call that compiles the code it needs."""

    name: str
    run: Callable[[], None]


def command(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Only this game.")] = None,
    parameters: Parameters = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all compiled code instead.")] = False,
    json: AsJson = False,
) -> None:
    """Compile the code that vector environments, agents and oracles use by default, so that nothing compiles later."""
    if clear:
        if name is not None:
            raise UserError(f"--clear removes the compiled code of all games and takes no GAME (got {name!r})")
        _clear(json)
        return
    if name is None and parameters:
        raise UserError("--param needs a GAME")
    games = [read_game(key, parameters) for key in ([name] if name is not None else game_names())]
    require_numba("warmup")
    _check_folder()
    steps = [(game, step) for game in games for step in steps_of(game)]
    rows = {game: {"game": game.name, "compiled": 0, "seconds": 0.0, "skipped": {}} for game in games}
    with progress("compiling", len(steps)) as bar:
        for game, step in steps:
            bar.update(bar.task_ids[0], remark=f"{game.name}: {step.name}")
            _run(step, rows[game])
            bar.update(bar.task_ids[0], advance=1)
    _report(list(rows.values()), json)


def steps_of(game: Game[Any]) -> list[Step]:
    """List the steps for a game: everything that works without parameters."""
    own = [name for name in support_of(game.name).agents if not _needs_parameters(name)]
    agents = {spec.partition(":")[0]: spec for spec in (*_SPECS, *own)}
    return [
        Step("vector environment", functools.partial(_step_rows, game, "random")),
        Step("vector environment for self-play", functools.partial(_step_rows, game, None)),
        *(Step(f"agent {name}", functools.partial(_ask_agent, game, spec)) for name, spec in agents.items()),
        Step("oracle", functools.partial(_ask_oracle, game)),
    ]


def _needs_parameters(agent: str) -> bool:
    return any(parameter.default is parameter.empty for parameter in agent_parameters(agent).values())


def _run(step: Step, row: dict[str, Any]) -> None:
    before, begun = len(_code_cache.entries()), time.perf_counter()
    try:
        step.run()
    except (SpecError, MissingExtraError) as error:
        row["skipped"][step.name] = str(error)  # unsupported size, missing extra or missing tablebase
    row["compiled"] += len(_code_cache.entries()) - before
    row["seconds"] += time.perf_counter() - begun


def _step_rows(game: Game[Any], opponent: str | None) -> None:
    rows = BoardVectorEnv(game, 2, opponent=opponent)
    _, infos = rows.reset(seed=0)
    rows.step(np.asarray(infos["action_mask"]).argmax(axis=1))
    rows.close()


def _last_positions(game: Game[Any]) -> list[Any]:
    """List the last positions of a random game, without the terminal one."""
    stream, state, positions = Stream.seeded(0), game.initial_state(), []
    while not game.is_terminal(state):
        positions.append(state)
        actions = game.legal_actions(state)
        state = game.step(state, actions[stream.below(len(actions))])
    return positions[-_LAST:]


def _ask_agent(game: Game[Any], spec: str) -> None:
    agent = make_agent(spec, game)
    agent.reset(0)
    for state in (game.initial_state(), *_last_positions(game)):
        agent.act({}, state)


def _ask_oracle(game: Game[Any]) -> None:
    oracle = make_oracle(game)
    if isinstance(oracle, Preparable):
        oracle.prepare()
    for state in _last_positions(game):
        oracle.action_values(state)


def _check_folder() -> None:
    """Raise UserError if compiled code cannot be stored."""
    place = _code_cache.folder()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        raise UserError(f"cannot store compiled code in {place}: {error.strerror}") from error


def _clear(json: bool) -> None:
    count, size = _code_cache.clear()
    if json:
        print_json({"folder": str(_code_cache.folder()), "removed": count, "bytes": size})
        return
    out().print(Text(f"removed {count} entries, {_megabytes(size)}, from {_code_cache.folder()}"))


def _report(rows: list[dict[str, Any]], json: bool) -> None:
    entries = _code_cache.entries()
    size = sum(octets for _, octets in entries)
    if json:
        kept = {"folder": str(_code_cache.folder()), "entries": len(entries), "bytes": size}
        print_json({"version": board_envs.__version__, **kept, "games": rows})
        return
    console = out()
    table = Table("game", "compiled", "seconds", "skipped", title="Compiled code", title_justify="left")
    for row in rows:
        skipped = "; ".join(f"{step}: {reason}" for step, reason in row["skipped"].items())
        table.add_row(Text(row["game"]), str(row["compiled"]), f"{row['seconds']:.1f}", Text(skipped))
    console.print(table)
    console.print(Text(f"{len(entries)} entries, {_megabytes(size)}, in {_code_cache.folder()}"))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
