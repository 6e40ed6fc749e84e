"""``board-envs analyse``: the exact value of every move of a position, and the principal variation."""

from __future__ import annotations

import functools
import json as jsons
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from board_agents.arena.statistics.quality import unit_of
from board_agents.arena.statistics.stated_values import Comparison, compare
from board_agents.cli.console import (
    AsJson,
    GameName,
    Parameters,
    UserError,
    busy,
    game_title,
    out,
    plain,
    print_json,
    read_game,
)
from board_agents.oracle import HasLine, HasValue, Reduced
from board_agents.registry import default_oracle, make_estimator, make_oracle, missing_estimator, oracle_parameters
from board_agents.search.interpreted import SearchResult
from board_agents.support import exact_unit, load, support_of, value_unit
from board_envs.forms import MOVES, POSITION, Item, find_form, read_one, read_text
from board_envs.game import Game
from board_envs.registry import game_names
from board_envs.types import IllegalActionError, Oracle, PositionError

_OPTION = re.compile(r"--?[A-Za-z][\w-]*(=.*)?", re.DOTALL)
LONGEST_LINE = 10_000
"""Characters of one position; longer lines of a stream are refused."""
DIFFER = 1
"""Exit code of a check that found a wrong value."""


def command(
    name: GameName,
    position: Annotated[
        str | None,
        typer.Argument(
            metavar="[POSITION]",
            help="A position as text, or moves from the start; default: an initial position.",
        ),
    ] = None,
    moves: Annotated[
        bool, typer.Option("--moves", help="Read POSITION only as moves from the start, e.g. 4453.")
    ] = False,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read positions from stdin, one per line; print one JSON object for each.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Compare with the values stated in the text; exit with status 1 if any differs."),
    ] = False,
    form: Annotated[str | None, typer.Option(metavar="NAME", help="Form of the text; detected by default.")] = None,
    param: Parameters = None,
    oracle: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Oracle to use, with its limits; default: the game's best.")
    ] = None,
    empties_to_winner: Annotated[
        bool,
        typer.Option("--empties-to-winner", help="Count empty squares at the end for the winner."),
    ] = False,
    json: AsJson = False,
) -> int:
    """Print the exact value of every move, from the mover's view, and the principal variation."""
    _refuse_option(name)
    game = read_game(name, param)
    if stdin and position is not None:
        raise UserError("--stdin and POSITION exclude each other")
    if empties_to_winner:
        if not _has_rules(game.name):
            known = ", ".join(filter(_has_rules, game_names()))
            raise UserError(f"--empties-to-winner applies to {known}, not to {game.name}")
        if oracle is not None:
            raise UserError(
                "--empties-to-winner and --oracle exclude each other; add rule=empties-to-winner to the oracle's spec"
            )
        oracle = f"{default_oracle(game.name)}:rule=empties-to-winner"
    if form is not None:
        find_form(game, form)
    judges = _Judges(game, oracle)
    if stdin:
        return _stream(game, judges, moves, form, check)
    try:
        item = read_position(game, position, moves, form)
    except (PositionError, IllegalActionError):
        _refuse_option(position or "")
        raise
    with busy("solving"):
        analysis = analyse(game, judges.of(item), item.state)
    data, found = _answer(analysis, item)
    if json:
        print_json(data)
    else:
        if item.form not in ("", POSITION, MOVES):
            out().print(f"read as: {item.form}", markup=False)
        if item.remark:
            out().print(item.remark, markup=False)
        _show(analysis, asker_of(game, item))
        for difference in found.differences:
            out().print(f"differs: {difference}", markup=False)
        if found.compared and not found.differences:
            out().print("the stated values agree", markup=False)
    return _check_code(found.compared, found.unknown, len(found.differences)) if check else 0


class _Judges:
    """Return the oracle that the user named, or the default one with the scoring rule of the item's form."""

    def __init__(self, game: Game[Any], spec: str | None) -> None:
        self.game, self.spec = game, spec
        self._known = {"": make_oracle(game, spec)}

    def of(self, item: Item) -> Oracle[Any]:
        """Return the oracle that an item's stated values are compared with."""
        rule = find_form(self.game, item.form).rule if item.form and self.spec is None else ""
        if rule not in self._known:
            self._known[rule] = make_oracle(self.game, f"{default_oracle(self.game.name)}:rule={rule}")
        return self._known[rule]


def _answer(analysis: Analysis, item: Item, line: int = 1) -> tuple[dict[str, Any], Comparison]:
    """Return the analysis of an item, and how the stated values compare with it."""
    data = analysis.as_data(asker_of(analysis.game, item)) | {"form": item.form or None}
    if item.remark:
        data["remark"] = item.remark
    found = compare(analysis.game, item, analysis.value, analysis.values)
    if found.compared or found.unknown:
        data["stated"] = {
            "line": line,
            "value": number(item.value),
            "outcome": item.outcome,
            "view": analysis.game.current_player(item.state) if item.view is None else item.view,
            "moves": {analysis.name(action): number(value) for action, value in item.values.items()},
            "compared": found.compared,
            "differences": found.differences,
        }
    return data, found


def asker_of(game: Game[Any], item: Item) -> int:
    """Return the seat from whose view values are printed: the mover, or the side named in the text if it must pass."""
    if item.remark and item.view is not None:
        return item.view
    return game.current_player(item.state)


def _has_rules(name: str) -> bool:
    """Whether a game's oracle has several scoring rules."""
    return "rule" in oracle_parameters(default_oracle(name), name)


def _refuse_option(text: str) -> None:
    """Reject unknown options; typer passes them on as arguments because a position may begin with "-"."""
    if _OPTION.fullmatch(text):
        raise UserError(f"no such option: {text}; `board-envs analyse --help` lists them")


def read_position(game: Game[Any], text: str | None, moves: bool, form: str | None = None) -> Item:
    """Parse a text; raise PositionError or IllegalActionError if it is not valid.

    With `moves`, read it as moves in the game's notation; otherwise as a position, moves or a game, in `form` if
    given, else in any form.
    """
    if text is None:
        return Item(state=game.initial_state())
    (item,) = _read_items(game, text, moves, form, one=True)
    return item


def _read_items(game: Game[Any], text: str, moves: bool, form: str | None, *, one: bool) -> list[Item]:
    if len(text) > LONGEST_LINE:
        raise PositionError(f"a position has at most {LONGEST_LINE} characters, not {len(text)}")
    if moves:
        return [Item(state=game.from_moves(text), form=MOVES)]
    return [read_one(game, text, form)] if one else list(read_text(game, text, form))


@dataclass(frozen=True)
class Analysis:
    """An oracle's analysis of a position.

    Attributes:
        game: the game.
        state: the position.
        unit: unit of the values.
        values: exact value of each legal action for the mover; None if unknown, {} if the game is over.
        plies: plies to the end of the game by each action, that action included, where the unit gives them.
        line: principal variation as actions.
        seconds: time taken.
        result: exact value, for the mover, of a finished game or of a position for which some moves' values are
        unknown; None if unknown.
        margin: of a finished game, the mover's points minus the opponent's; else None.
        hint: what a missing extra would add; empty if none is missing.
        estimate: a search's estimate, in the same unit, where the oracle has no answer and the game has an estimator;
            never exact.

    """

    game: Game[Any]
    state: Any
    unit: str
    values: dict[int, float] | None
    plies: dict[int, int] | None
    line: list[int]
    seconds: float
    estimate: SearchResult | None = None
    result: float | None = None
    margin: int | None = None
    hint: str = ""

    @property
    def value(self) -> float | None:
        """Exact value for the mover (in a finished game, for the seat that would have moved next)."""
        return max(self.values.values()) if self.values else self.result

    @property
    def best(self) -> list[int]:
        """All actions with the best value."""
        return [action for action, value in (self.values or {}).items() if value == self.value]

    def name(self, action: int) -> str:
        """Write an action of this position as text."""
        return self.game.action_to_text(self.state, action)

    def as_data(self, asker: int | None = None) -> dict[str, Any]:
        """Return plain data; unknown values are null.

        Values are from the view of `asker`, by default the seat to move; "view" names `asker` if it is the other seat.
        """
        game, state = self.game, self.state
        view = game.current_player(state) if asker is None else asker
        sign = 1 if view == game.current_player(state) else -1

        def seen(value: float | None) -> float | int | None:
            return None if value is None else number(sign * value + 0.0)

        data = {
            "game": game.name,
            "position": game.format(state),
            "to_play": game.current_player(state),
            "winner": int(game.winner(state)),
            "exact": self.values is not None or self.result is not None,
            "unit": self.unit,
            "value": seen(self.value),
            "moves": {self.name(action): seen((self.values or {}).get(action)) for action in game.legal_actions(state)},
            "best": [self.name(action) for action in self.best],
            "line": game.move_names(self.line, game.states(self.line, state)),
            "seconds": round(self.seconds, 3),
        }
        if sign < 0:
            data["view"] = view
        if self.margin is not None:
            data["margin"] = sign * self.margin
        if self.hint:
            data["hint"] = self.hint
        if self.estimate is not None:
            found = self.estimate
            data["estimate"] = {
                "agent": support_of(game.name).estimator,
                "depth": found.depth,
                "value": round(sign * found.value, 2),
                "moves": {self.name(action): round(sign * value, 2) for action, value in found.values.items()},
                "best": self.name(found.action),
                "line": game.move_names(found.line, game.states(found.line, state)),
            }
        if self.plies is not None:
            data["plies"] = min((self.plies[action] for action in self.best), default=None)
            data["move_plies"] = {self.name(action): plies for action, plies in self.plies.items()}
        return data


def analyse(game: Game[Any], oracle: Oracle[Any], state: Any) -> Analysis:
    """Analyse a position with an oracle.

    The value of a finished game comes from the game's SUPPORT, by default the margin.
    """
    unit, began = unit_of(oracle, game), time.perf_counter()
    support = support_of(game.name)
    count_plies = load(support.plies) if support.plies is not None and unit == exact_unit(game) else None
    if game.is_terminal(state):
        sign, margin = 1 - 2 * game.current_player(state), game.margin(state)
        end = margin if support.final_value is None else int(load(support.final_value)(game)(state))
        result = sign * end
        no_plies: dict[int, int] | None = None if count_plies is None else {}
        return Analysis(game, state, unit, {}, no_plies, [], 0.0, result=result, margin=sign * margin)
    answer = oracle.action_values(state)
    values = None if answer is None else {action: answer[action] for action in sorted(answer)}
    plies = None
    if count_plies is not None:
        plies = {action: count_plies(game, state, value) for action, value in (values or {}).items()}
    if values is None:
        estimator = _estimator(game)
        estimate = None if estimator is None else estimator.analyse(state)
        value = oracle.value(state) if isinstance(oracle, HasValue) else None
        taken, hint = time.perf_counter() - began, _hint(game, oracle, estimator)
        return Analysis(game, state, unit, None, plies, [], taken, estimate, result=value, hint=hint)
    line = best_line(game, oracle, state, values)
    return Analysis(game, state, unit, values, plies, line, time.perf_counter() - began)


def _hint(game: Game[Any], oracle: Oracle[Any], estimator: Any) -> str:
    """Describe what missing extras would add for a position beyond the oracle's reach."""
    missing = [oracle.missing] if isinstance(oracle, Reduced) and oracle.missing is not None else []
    if estimator is None and (needed := missing_estimator(game)) is not None:
        missing.append(needed)
    return "; ".join(dict.fromkeys(missing))


@functools.lru_cache(maxsize=1)
def _estimator(game: Game[Any]) -> Any:
    return make_estimator(game)


def best_line(game: Game[Any], oracle: Oracle[Any], state: Any, values: dict[int, float]) -> list[int]:
    """Return the principal variation: the oracle's own if it has one, else best moves as far as values are known."""
    if isinstance(oracle, HasLine):
        return [int(action) for action in oracle.line(state) or ()]
    actions: list[int] = []
    while values:
        best = max(values.values())
        actions.append(min(action for action, value in values.items() if value == best))
        state = game.step(state, actions[-1])
        values = {} if game.is_terminal(state) else oracle.action_values(state) or {}
    return actions


def words(analysis: Analysis, action: int, value: float) -> str:
    """Describe what an action's value means for its seat."""
    plies = None if analysis.plies is None else analysis.plies[action]
    return value_unit(analysis.game, analysis.unit).describe(value, plies)


def number(value: float | None) -> float | int | None:
    """Return a whole number as an int."""
    return int(value) if value is not None and value == int(value) else value


def _show(analysis: Analysis, asker: int) -> None:
    game, state = analysis.game, analysis.state
    console = out()
    console.print(game_title(game), markup=False)
    console.print(game.draw(state), markup=False)
    if game.is_terminal(state):
        winner = int(game.winner(state))
        console.print("the game is over: " + ("drawn" if winner == 2 else f"player_{winner} won"))
        if analysis.margin:
            console.print(f"player_{winner} is ahead by {abs(analysis.margin)} {game.unit}")
        return
    mover = game.current_player(state)
    console.print(f"player_{mover} to move" + (f", values for player_{asker}" if asker != mover else ""))
    sign = 1 if asker == mover else -1
    if analysis.values is None:
        if analysis.result is not None:
            value = f"{sign * analysis.result:+g} {analysis.unit}"
            console.print(f"the position's value is {value}; those of its moves are not all within reach")
        else:
            console.print("no exact value is within the oracle's reach here")
        if analysis.hint:
            console.print(analysis.hint, markup=False)
        if analysis.estimate is not None:
            _show_estimate(analysis, analysis.estimate, sign)
    else:
        _show_values(analysis, analysis.values, sign)
    console.print(f"time: {analysis.seconds:.2f} s")


def _show_values(analysis: Analysis, values: dict[int, float], sign: int) -> None:
    game, console = analysis.game, out()
    table = Table("move", f"value ({analysis.unit})", "")
    for action, value in sorted(values.items(), key=lambda item: -item[1]):
        seen = sign * value
        table.add_row(Text(analysis.name(action)), f"{seen:+g}" if seen else "0", words(analysis, action, seen))
    console.print(table)
    line = game.write_moves(analysis.line, analysis.state)
    console.print(f"principal variation: {line}", markup=False)


def _show_estimate(analysis: Analysis, estimate: SearchResult, sign: int) -> None:
    game, console = analysis.game, out()
    console.print(f"estimates of {support_of(game.name).estimator}, search depth {estimate.depth} plies:", markup=False)
    table = Table("move", f"estimate ({analysis.unit})")
    for action, value in sorted(estimate.values.items(), key=lambda item: -item[1]):
        table.add_row(Text(analysis.name(action)), f"about {sign * value:+.1f}")
    console.print(table)
    line = game.write_moves(estimate.line, analysis.state)
    console.print(f"principal variation: {line}", markup=False)


def _stream(game: Game[Any], judges: _Judges, moves: bool, form: str | None, check: bool) -> int:
    """Answer each line of stdin with one line of JSON, errors included; return the exit code."""
    count = dict.fromkeys(("checked", "differ", "values", "unknown", "errors"), 0)
    with busy("solving") as status:
        for line, text in enumerate(_lines(), 1):
            for item in _items_of_line(game, text, moves, form):
                if item.error:
                    count["errors"] += 1
                    data: dict[str, Any] = {"error": item.error, "line": line}
                else:
                    data, found = _answer(analyse(game, judges.of(item), item.state), item, line)
                    count["checked"] += found.compared > 0
                    count["differ"] += bool(found.differences)
                    count["values"] += found.compared
                    count["unknown"] += found.unknown
                print(jsons.dumps(plain(data)), flush=True)
            if status is not None:
                status.update(f"{line} lines")
    if not check:
        return 0
    print(jsons.dumps(count), flush=True)
    return _check_code(count["values"], count["unknown"], count["differ"], count["errors"])


def _check_code(compared: int, unknown: int, differ: int, errors: int = 0) -> int:
    """Return the exit code of a check; raise UserError if there was nothing to compare."""
    if not compared:
        why = f"{unknown} stated values are out of the oracle's reach" if unknown else "no value is stated"
        if errors:
            why += f", {errors} lines do not read"
        raise UserError(f"--check compared nothing: {why}")
    return DIFFER if differ else 0


def _lines() -> Iterator[bytes]:
    yield from sys.stdin.buffer


def _items_of_line(game: Game[Any], line: bytes, moves: bool, form: str | None) -> list[Item]:
    try:
        text = line.decode("utf-8").strip("\r\n")
        if not text.strip() and not moves:
            raise PositionError("an empty line")
        return _read_items(game, text, moves, form, one=False)
    except (PositionError, IllegalActionError, UnicodeDecodeError) as error:
        return [Item(error=str(error))]
