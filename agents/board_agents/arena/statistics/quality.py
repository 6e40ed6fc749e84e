"""Move quality: how far an agent's moves are from perfect play, by the values of an exact oracle.

A decision is a position with two or more legal actions. Decisions beyond the oracle's reach are not counted;
the share counted is reported. Values are from the mover's view, larger is better, in the oracle's unit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from board_agents.arena.records.game_record import GameRecord
from board_agents.oracle import HasUnit
from board_envs.game import Game
from board_envs.random import Stream
from board_envs.types import Oracle

PHASES = ("opening", "middle", "end")
_HORIZON_GAMES = 100


@dataclass(frozen=True)
class Judgement:
    """One decision, compared with the oracle.

    Attributes:
        ply: moves played before it.
        best: exact value of the best action.
        value: exact value of the action chosen.
        outcome_before: +1, 0, -1 for the mover under perfect play.
        outcome_after: the same, after the action chosen.

    """

    ply: int
    best: float
    value: float
    outcome_before: int
    outcome_after: int

    @property
    def regret(self) -> float:
        """Best value minus the action's value, 0 or more."""
        return self.best - self.value

    @property
    def is_blunder(self) -> bool:
        """Whether the action turned a won position into one not won, or a drawn one into a lost one."""
        return self.outcome_after < self.outcome_before


def judge(game: Game[Any], state: Any, action: int, values: Mapping[int, float], ply: int) -> Judgement:
    """Compare an action with the exact values of all; raise ValueError if the action has no value."""
    if action not in values:
        raise ValueError(f"the values {dict(values)} of {game.format(state)} lack action {action}")
    best, value = float(max(values.values())), float(values[action])
    return Judgement(ply, best, value, outcome_for_mover(game, state, best), outcome_for_mover(game, state, value))


def outcome_for_mover(game: Game[Any], state: Any, value: float) -> int:
    """Return the outcome for the mover, +1, 0 or -1, that an exact value means in a state."""
    if game.values_to_come:
        margin = game.margin(state)
        value += margin if game.current_player(state) == 0 else -margin
    return (value > 0) - (value < 0)


@dataclass
class Quality:
    """Sums over decisions; `add` adds to them, the properties read them (NaN where nothing was counted).

    Attributes:
        decisions: positions in which the agent had a choice.
        counted: those whose values the oracle knew and that the agent answered legally.
        optimal: counted decisions without regret.
        blunders: counted decisions that changed the outcome for the worse.
        chances: counted decisions in which a blunder was possible.
        faults: decisions without a legal answer (illegal actions, exceptions).
        regret: sum of regrets.
        regret_squared: sum of their squares.

    """

    decisions: int = 0
    counted: int = 0
    optimal: int = 0
    blunders: int = 0
    chances: int = 0
    faults: int = 0
    regret: float = 0.0
    regret_squared: float = 0.0

    def add(self, judgement: Judgement, worst_outcome: int) -> None:
        """Add a decision; `worst_outcome` is that after the worst action."""
        self.decisions += 1
        self.counted += 1
        self.optimal += judgement.regret == 0
        self.blunders += judgement.is_blunder
        self.chances += worst_outcome < judgement.outcome_before
        self.regret += judgement.regret
        self.regret_squared += judgement.regret**2

    def merge(self, other: Quality) -> None:
        """Add another object's sums."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def share_counted(self) -> float:
        """Counted decisions among all."""
        return _ratio(self.counted, self.decisions)

    @property
    def share_optimal(self) -> float:
        """Optimal decisions among those counted."""
        return _ratio(self.optimal, self.counted)

    @property
    def share_blunders(self) -> float:
        """Blunders among those counted."""
        return _ratio(self.blunders, self.counted)

    @property
    def mean_regret(self) -> float:
        """Mean regret, in the oracle's unit."""
        return _ratio(self.regret, self.counted)

    @property
    def regret_error(self) -> float:
        """Standard error of the mean regret; NaN with fewer than two decisions."""
        if self.counted < 2:
            return math.nan
        variance = max(0.0, self.regret_squared - self.regret**2 / self.counted) / (self.counted - 1)
        return math.sqrt(variance / self.counted)

    @property
    def optimal_interval(self) -> tuple[float, float]:
        """95 % interval of the share of optimal decisions (Wilson 1927)."""
        return wilson(self.optimal, self.counted)

    def to_dict(self) -> dict[str, Any]:
        """Return counts and shares as plain numbers; None where nothing was counted."""
        low, high = self.optimal_interval
        numbers = {
            "decisions": self.decisions,
            "counted": self.counted,
            "share_counted": self.share_counted,
            "optimal": self.optimal,
            "share_optimal": self.share_optimal,
            "share_optimal_low": low,
            "share_optimal_high": high,
            "mean_regret": self.mean_regret,
            "mean_regret_error": self.regret_error,
            "blunders": self.blunders,
            "blunder_chances": self.chances,
            "faults": self.faults,
        }
        return {key: None if math.isnan(value) else value for key, value in numbers.items()}


@dataclass
class QualityReport:
    """Quality of one agent's moves: in total, by phase and by ply.

    Attributes:
        agent: its name.
        game: the game judged.
        unit: unit of regret.
        source: the positions: a suite with its checksum, or games with their settings.
        total: all decisions.
        phases: the same by `PHASES`.
        plies: the same by moves played before.

    """

    agent: str
    game: Game[Any]
    unit: str
    source: dict[str, Any]
    total: Quality = field(default_factory=Quality)
    phases: dict[str, Quality] = field(default_factory=lambda: {phase: Quality() for phase in PHASES})
    plies: dict[int, Quality] = field(default_factory=dict)

    def count(self, quality: Quality, ply: int) -> None:
        """Add the sums of decisions at one ply."""
        self.total.merge(quality)
        self.phases[phase_of(self.game, ply)].merge(quality)
        self.plies.setdefault(ply, Quality()).merge(quality)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            "agent": self.agent,
            "game": self.game.name,
            "parameters": dict(self.game.parameters),
            "unit": self.unit,
            "source": self.source,
            "total": self.total.to_dict(),
            "phases": {phase: quality.to_dict() for phase, quality in self.phases.items()},
            "plies": {str(ply): self.plies[ply].to_dict() for ply in sorted(self.plies)},
        }


def judge_decision(
    game: Game[Any],
    state: Any,
    action: int | None,
    values: Mapping[int, float] | None,
    ply: int,
) -> Quality:
    """Return the sums of one decision: `action` is None for a fault, `values` is None if unknown."""
    quality = Quality()
    if action is None or values is None:
        quality.decisions = 1
        quality.faults = int(action is None)
        return quality
    worst = outcome_for_mover(game, state, min(values.values()))
    quality.add(judge(game, state, action, values, ply), worst)
    return quality


def judge_records(
    records: Iterable[GameRecord],
    oracle: Oracle[Any],
    agent: str | None = None,
    progress: Callable[[list[Any]], Iterable[Any]] = iter,
) -> dict[str, QualityReport]:
    """Evaluate the moves of recorded games of one game and size.

    Moves of the opening and forced moves are left out. The oracle is asked once per position.

    Args:
        records: the games.
        oracle: the source of exact values.
        agent: evaluate only this agent's moves; None evaluates all agents.
        progress: wraps the iteration over decisions to show progress.

    Returns:
        Agent's name -> report.

    """
    records = list(records)
    if not records:
        return {}
    names = {name for record in records for name in record.agents}
    if agent is not None and agent not in names:
        raise ValueError(f"no games by agent {agent!r}; agents: {', '.join(sorted(names))}")
    game = records[0].make_game()
    unit = unit_of(oracle, game)
    source = {"kind": "games", "games": len(records)}
    reports: dict[str, QualityReport] = {}
    ask = _remembering(game, oracle)

    def count(name: str, quality: Quality, ply: int) -> None:
        if agent in (None, name):
            if name not in reports:
                reports[name] = QualityReport(name, game, unit, source)
            reports[name].count(quality, ply)

    decisions: list[tuple[str, Any, int, int]] = []
    for record in records:
        if record.make_game() is not game:
            raise ValueError(f"records of {game!r} and of {record.make_game()!r} cannot be evaluated together")
        states = record.replay()
        for ply in range(len(record.opening), len(record.actions)):
            state = states[ply]
            name = record.agents[game.current_player(state)]
            if agent in (None, name) and game.rules.count(state) > 1:
                decisions.append((name, state, record.actions[ply], ply))
        if record.offender >= 0:
            count(record.agents[record.offender], Quality(decisions=1, faults=1), len(record.actions))
    for name, state, action, ply in progress(decisions):
        count(name, judge_decision(game, state, action, ask(state), ply), ply)
    return reports


def _remembering(game: Game[Any], oracle: Oracle[Any]) -> Callable[[Any], dict[int, float] | None]:
    """Return the oracle's answers, cached by position; positions with a history are all distinct."""
    if game.rules.has_memory:
        return oracle.action_values
    known: dict[bytes, dict[int, float] | None] = {}

    def ask(state: Any) -> dict[int, float] | None:
        key = game.pack(state).tobytes()
        if key not in known:
            known[key] = oracle.action_values(state)
        return known[key]

    return ask


def unit_of(oracle: Any, game: Game[Any]) -> str:
    """Return the unit of an oracle's values: its own, or the game's."""
    return str(oracle.unit) if isinstance(oracle, HasUnit) else game.unit


@functools.cache
def horizon(game: Game[Any]) -> int:
    """Return the assumed length of a game in plies: the rules' bound, or the mean of 100 random games (seed 0)."""
    if game.max_plies is not None:
        return game.max_plies
    stream = Stream.seeded(0)
    plies = 0
    for _ in range(_HORIZON_GAMES):
        state = game.initial_state()
        while count := game.rules.count(state):
            state = game.step(state, game.rules.nth(state, stream.below(count)))
            plies += 1
    return max(1, round(plies / _HORIZON_GAMES))


def phase_of(game: Game[Any], ply: int) -> str:
    """Return the third of the game, of length `horizon`, to which a move after `ply` others belongs."""
    return PHASES[min(2, 3 * ply // horizon(game))]


def wilson(successes: int, trials: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return Wilson's score interval of a share; (NaN, NaN) without trials."""
    if trials == 0:
        return math.nan, math.nan
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def _ratio(part: float, whole: int) -> float:
    return part / whole if whole else math.nan
