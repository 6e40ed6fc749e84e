"""An opponent for Reversi in levels: search with learned estimates, exact play as soon as the solver gets there."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from board_agents.agent import GameAgent
from board_agents.games.reversi.endgame_oracle import DIRECT, ReversiOracle
from board_agents.games.reversi.midgame_workspace import MOST_DEPTH
from board_agents.games.reversi.pattern_evaluation import UNIT, shipped_evaluation
from board_agents.games.reversi.thinking import Found, Thinker
from board_agents.oracle import check_seconds
from board_agents.search.interpreted import SearchResult
from board_envs._bits import popcount
from board_envs._jit import require_numba
from board_envs.game import Game, check_int
from board_envs.games.reversi import State
from board_envs.games.reversi.board import sides


class Level(NamedTuple):
    """How strong a level is.

    Attributes:
        depth: plies that the search looks ahead.
        empties: number of empty squares from which the rest is played exactly.
        selectivity: see `Thinker`.
        noise: maximum random error of each move's value, in discs.

    """

    depth: int
    empties: int
    selectivity: float | None = None
    noise: float = 0.0


LEVELS = (
    Level(1, 0, noise=24.0),
    Level(1, 0, noise=8.0),
    Level(1, 4),
    Level(2, 8),
    Level(4, 10),
    Level(6, 12, 1.4),
    Level(8, 14, 1.4),
    Level(10, 16, 1.4),
    Level(12, 18, 1.4),
    Level(16, 22, 1.4),
)
"""Level 1 first."""

_NODES_PER_SECOND = 5_000_000
"""What the solver visits in a second at least, on a processor of today."""
_SOLVING_SHARE = 0.7
"""Share of a move's time that is kept for the solver where it may reach the end."""
_SOLVING_SECONDS, _SOLVING_GROWTH = 0.08, 2.5
"""What the solver takes on average with 20 empty squares, on a processor of today, and how much more with one more."""
_SOLVING_CHANCE = 2.0
"""The solver is skipped if its mean time exceeds its time budget by more than this factor."""


class ReversiAgent(GameAgent[State]):
    """Plays Reversi on 8 x 8 by searching with the learned evaluation, and exactly near the end.

    Args:
        game: Reversi, size 8.
        level: 1 (weak) to 10 (strong).
        depth: plies looked ahead, 1 to 60, instead of the level's.
        empties: number of empty squares from which play is exact, 0 to 64, instead of the level's.
        seconds: most time a move takes; a level's depth is not exceeded. None takes what the level needs, and the same
            position is then answered alike everywhere (up to the weak levels' noise, which follows the seed).

    Copies share the search's memory and take turns; nothing in it outlives a move. A pickle begins with new memory.

    Raises:
        MissingExtraError: numba is not installed.

    """

    def __init__(
        self,
        game: Game[State],
        *,
        level: int = 6,
        depth: int | None = None,
        empties: int | None = None,
        seconds: float | None = None,
    ) -> None:
        if game.name != "reversi" or game.parameters["size"] != 8:
            raise ValueError(
                f"the learned evaluation is of Reversi on 8 x 8, not of {game!r}; alpha-beta plays any size"
            )
        require_numba("the Reversi player")
        super().__init__(game)
        self.level = check_int("reversi player", "level", level, 1, len(LEVELS))
        self.seconds = None if seconds is None else check_seconds("reversi player", seconds)
        self.strength = LEVELS[self.level - 1]
        if depth is not None:
            depth = check_int("reversi player", "depth", depth, 1, MOST_DEPTH)
            self.strength = self.strength._replace(depth=depth)
        if empties is not None:
            empties = check_int("reversi player", "empties", empties, 0, 64)
            self.strength = self.strength._replace(empties=empties)
        depth = self.strength.depth
        self._thinker = Thinker(
            shipped_evaluation(), table_bits=min(18, 10 + depth), selectivity=self.strength.selectivity
        )
        self._oracle = ReversiOracle(game, empties=self.strength.empties, megabytes=16 if depth > 4 else 1)
        self._ready = False

    def choose(self, state: State) -> int:
        """Return the best move that is found."""
        return self._think(state, whole=self.strength.noise > 0).action

    def analyse(self, state: State) -> SearchResult:
        """Return every move's value, exact near the end and estimated before, and the line that is expected.

        Raises:
            IllegalActionError: the game is over.
            PositionError: no position of this game and size.

        """
        self.check(state)
        return self._think(state, whole=True, with_line=True)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without what holds for this process alone."""
        return {**self.__dict__, "_ready": False}

    def _think(self, state: State, *, whole: bool, with_line: bool = False) -> SearchResult:
        # Copies of this agent search in the same memory, one at a time.
        with self._thinker.lock:
            return self._think_alone(state, whole, with_line)

    def _think_alone(self, state: State, whole: bool, with_line: bool) -> SearchResult:
        self._compile()
        deadline = None if self.seconds is None else time.monotonic() + self.seconds
        own, other = sides(state)
        empties = 64 - popcount(own | other)
        reachable = empties <= self.strength.empties and self._in_time(empties)
        if reachable and deadline is None:
            thought = self._solve(state, whole, None)
            assert thought is not None  # nothing limits the solver here
            return thought
        self._thinker.begin()
        until = deadline
        if deadline is not None and self.seconds is not None and reachable:
            until = deadline - _SOLVING_SHARE * self.seconds
        depth = min(self.strength.depth, empties)
        step = 1 if deadline is not None or depth < 3 else 2
        found, reached = self._thinker.search(own, other, 1, whole=whole), 1
        for levels in range(1 + (depth - 1) % step if step == 2 else 2, depth + 1, step):
            # A search for every move's value gives them only at the depth that is the last without a clock.
            deeper = self._thinker.search(
                own, other, levels, whole=whole and (until is not None or levels == depth), deadline=until
            )
            if deeper.square == 64:
                break
            found, reached = deeper, levels
        if reachable:
            left = max(1e-4, deadline - time.monotonic()) if deadline is not None else None
            thought = self._solve(state, whole, left)
            if thought is not None:
                return thought
        return self._thought(state, found, reached, with_line)

    def _in_time(self, empties: int) -> bool:
        """Whether the solver has a chance to reach the end in its share of a move's time."""
        if self.seconds is None:
            return True
        average = _SOLVING_SECONDS * _SOLVING_GROWTH ** (empties - 20)
        return average <= _SOLVING_CHANCE * _SOLVING_SHARE * self.seconds

    def _compile(self) -> None:
        """Compile before the first clock is started."""
        if not self._ready:
            self._thinker.compile()
            self._oracle.prepare()
            self._ready = True

    def _solve(self, state: State, whole: bool, seconds: float | None) -> SearchResult | None:
        """Return the exact values, None if the time was too short."""
        empties, nodes = 64 - popcount(state.black | state.white), None
        if seconds is not None and empties <= DIRECT:
            # Small searches look at no clock while they run; their positions are counted instead.
            nodes = max(1, int(_NODES_PER_SECOND * seconds))
        solution = self._oracle.solve(state, nodes=nodes, seconds=seconds)
        if solution.value is None or solution.best is None:
            return None
        values, line = {solution.best: float(solution.value)}, [solution.best]
        if whole and seconds is None:
            exact = self._oracle.action_values(state)
            assert exact is not None  # within reach, and nothing limits it
            values, line = exact, self._oracle.line(state)
        value = float(solution.value)
        return SearchResult(line[0], value, values, tuple(line), solution.nodes, empties, state.seat, exact=True)

    def _thought(self, state: State, found: Found, depth: int, with_line: bool) -> SearchResult:
        """Choose among estimates."""
        values = dict(sorted(found.values.items()))
        if self.strength.noise and not with_line:
            reach = round(self.strength.noise * UNIT)
            values = {square: value + self.stream.below(2 * reach + 1) - reach for square, value in values.items()}
            square = max(values, key=lambda square: values[square])
        else:
            square = found.square
        line = self._line(state, square, depth) if with_line else [square]
        return SearchResult(
            square,
            values[square] / UNIT,
            {square: value / UNIT for square, value in values.items()},
            tuple(line),
            self._thinker.nodes,
            depth,
            state.seat,
        )

    def _line(self, state: State, square: int, depth: int) -> list[int]:
        """Return the moves that the search expects, as far as the table still has them."""
        line = [square]
        state = self.game.step(state, square)
        while len(line) < depth and not self.game.is_terminal(state):
            own, other = sides(state)
            square = self._thinker.best_known(np.uint64(own), np.uint64(other))
            if square == 64:
                break
            line.append(square)
            state = self.game.step(state, square)
        return line
