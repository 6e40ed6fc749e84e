"""Compiled minimax and alpha-beta: iterative deepening, time limits and choice around the kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from board_agents.search.alpha_beta_kernel import (
    DONE,
    HORIZON,
    MODE,
    NODES,
    ROOT_ACTION,
    Workspace,
    begin,
    make_search,
    make_workspace,
)
from board_agents.search.interpreted import RootScores, SearchResult
from board_agents.search.root_arrays import root_arrays
from board_envs.game import Game

_CHUNK = 20_000
"""Positions between two clock checks: one or two milliseconds."""
_LONG_CHUNK = 5_000_000
"""Positions between two checks for an interrupt, in a search without time limit."""
_TABLE_BITS = 20
"""Maximum size of the transposition table, as a power of two: 32 MiB. Shallow searches use smaller ones."""


class SearchRequest(NamedTuple):
    """Parameters of a search.

    Attributes:
        game: the game.
        evaluation: name of an evaluation of the game.
        depth: search depth in plies; the maximum with `seconds`.
        prune: alpha-beta; otherwise plain minimax.
        seconds: time for iterative deepening; None searches `depth` plies.
        all_ties: whether the scores of all best actions are needed, not only of the first.
        with_line: whether the complete principal variation is needed.
        finish: chooses among the root's exact scores: ``(scores, seat, nodes, depth) -> SearchResult``.

    """

    game: Game[Any]
    evaluation: str
    depth: int
    prune: bool
    seconds: float | None
    all_ties: bool
    with_line: bool
    finish: Callable[[RootScores, int, int, int], SearchResult]


def search_compiled(request: SearchRequest, state: Any) -> SearchResult:
    """Return the same values and choice as the interpreted search."""
    game, seat = request.game, request.game.current_player(state)
    seconds, all_ties = request.seconds, request.all_ties
    run_ = _Run(request)
    deadline = None if seconds is None else time.monotonic() + seconds
    words, memory = root_arrays(game, state)
    exact: RootScores = {}
    line: tuple[int, ...] = ()
    reached, first = 0, -1
    for depth in _depths(request.depth, request.prune, seconds is not None):
        limit = deadline if reached else None
        if not run_.search(words, memory, depth, all_ties, first, limit):
            break
        work = run_.work
        reached, first = depth, int(work.status[ROOT_ACTION])
        actions = np.flatnonzero(work.root_exact).tolist()
        exact = {action: (int(work.root_scores[action]), ()) for action in actions}
        line = tuple(work.lines[0, 1 : 1 + work.lines[0, 0]].tolist())
        if seconds is not None and not work.status[HORIZON]:
            break
    result = request.finish(exact, seat, run_.nodes, reached)
    if line[0] != result.action:
        line = (result.action,)
    if request.with_line:
        line = _whole_line(request, state, line, reached)
    return SearchResult(result.action, result.value, result.values, line, run_.nodes, reached, seat)


class _Run:
    """A kernel with its workspace."""

    def __init__(self, request: SearchRequest) -> None:
        game, depth, self.prune, self.nodes = request.game, request.depth, request.prune, 0
        self.kernel = make_search(game, request.evaluation)
        bits = min(_TABLE_BITS, 2 + 3 * depth // 2) if self.prune and not game.rules.has_memory else 0
        self.work: Workspace = make_workspace(game, depth, bits)

    def search(self, words: Any, memory: Any, depth: int, all_ties: bool, first: int, deadline: float | None) -> bool:
        """Search to one depth; return False if the time ran out."""
        begin(self.work, words)
        while self.work.status[MODE] != DONE:
            chunk = _LONG_CHUNK if deadline is None else _CHUNK
            arguments = (memory, self.work, depth, self.prune, all_ties, chunk, first)
            before = int(self.work.status[NODES])
            self.kernel(*arguments)
            self.nodes += int(self.work.status[NODES]) - before
            if deadline is not None and self.work.status[MODE] != DONE and time.monotonic() >= deadline:
                return False
        return True


def _depths(depth: int, prune: bool, timed: bool) -> list[int]:
    """List the depths of iterative deepening: shallow searches order the moves of deep ones."""
    if timed:
        return list(range(1, depth + 1))
    if not prune or depth <= 3:
        return [depth]
    return list(range(2 + depth % 2, depth + 1, 2))


def _whole_line(request: SearchRequest, state: Any, line: tuple[int, ...], depth: int) -> tuple[int, ...]:
    """Return the complete principal variation; where table hits cut it short, search for the rest."""
    game = request.game
    moves, state = list(line), game.states(line, state)[-1]
    while len(moves) < depth and not game.is_terminal(state):
        run_ = _Run(request)
        words, memory = root_arrays(game, state)
        run_.search(words, memory, depth - len(moves), False, -1, None)
        rest = run_.work.lines[0, 1 : 1 + run_.work.lines[0, 0]].tolist()
        state = game.states(rest, state)[-1]
        moves.extend(rest)
    return tuple(moves)
