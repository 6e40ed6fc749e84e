"""Monte Carlo tree search: UCT with random playouts, and proven values (MCTS-Solver) kept apart from estimates.

Sources: Kocsis and Szepesvári, "Bandit based Monte-Carlo planning" (2006); Winands, Björnsson and Saito, "Monte-Carlo
tree search solver" (2008) for the proofs.

One function runs the simulations, interpreted or compiled. All counts are in player_0's view, and a node
chooses for the seat to move there, so seats need not alternate.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.agent import GameAgent
from board_agents.oracle import check_seconds
from board_agents.search.compiled_choice import CompiledChoice, choice_for
from board_agents.search.root_arrays import root_arrays
from board_envs._bits import ONE, borrowed
from board_envs._jit import Kernel, inlined, jitable, kernel, require_numba
from board_envs.game import Game, check_int
from board_envs.random import below, draw, mix
from board_envs.types import S, Words

UNKNOWN = 2
"""In `Tree.proven`: not proven; otherwise the outcome in player_0's view, -1, 0 or 1."""
COMPILED_FROM = 200
"""Simulations per move from which compiling pays for a single search."""
LOADED_FROM = 20
"""Simulations per move from which loading cached compiled code pays for a single search."""
_PATH_LIMIT = 4096
"""Maximum depth of the tree; deeper positions are played out at random."""
_CHUNK = 256


class Tree(NamedTuple):
    """A search tree as arrays, one entry per node; node 0 is the root.

    The children of node i are the `number[i]` nodes from `first[i]`, ordered by action.
    """

    visits: NDArray[np.int64]
    totals: NDArray[np.int64]
    """Sum of outcomes, in player_0's view, without those of children proven lost."""
    spent: NDArray[np.int64]
    """Visits whose outcomes were removed from `totals`."""
    first: NDArray[np.int64]
    number: NDArray[np.int64]
    """0 while a node has no children."""
    action: NDArray[np.int64]
    """The action that leads to the node."""
    proven: NDArray[np.int8]
    distance: NDArray[np.int64]
    """Plies to the end of the game in the proof."""
    key: Words
    """Hash of the position, once it has children."""


def new_tree(capacity: int) -> Tree:
    """Return a tree with a root and space for `capacity` nodes."""

    def zeros() -> NDArray[np.int64]:
        return np.zeros(capacity, np.int64)

    proven = np.full(capacity, UNKNOWN, np.int8)
    return Tree(zeros(), zeros(), zeros(), zeros(), zeros(), zeros(), proven, zeros(), np.zeros(capacity, np.uint64))


def grown(tree: Tree, capacity: int) -> Tree:
    """Return the tree in larger arrays."""
    larger = new_tree(capacity)
    for name, array in tree._asdict().items():
        getattr(larger, name)[: array.size] = array
    return larger


class Solved(NamedTuple):
    """Transposition table of proven positions; 2^k slots."""

    keys: Words
    """uint64 (2^k,): hash of the position, 0 for an empty slot."""
    facts: NDArray[np.int64]
    """int64 (2^k, 2): outcome in player_0's view, plies to the end."""


def new_solved(simulations: int) -> Solved:
    """Return an empty table sized for a number of simulations."""
    slots = 1 << min(18, max(10, (4 * simulations).bit_length()))
    return Solved(np.zeros(slots, np.uint64), np.zeros((slots, 2), np.int64))


@inlined
def settle(tree: Tree, node: int, sign: int) -> bool:
    """Prove a node from its children if possible; `sign` is 1 where player_0 moves, -1 for player_1."""
    proven, distance = tree.proven, tree.distance
    best_value = -2
    best_distance = 0
    unknown = False
    for child in range(tree.first[node], tree.first[node] + tree.number[node]):
        if proven[child] == UNKNOWN:
            unknown = True
            continue
        own = sign * int(proven[child])
        plies = distance[child] + 1
        better = own > best_value
        if own == best_value:
            better = plies < best_distance if own > 0 else plies > best_distance
        if better:
            best_value = own
            best_distance = plies
    if best_value != 1 and unknown:
        return False
    proven[node] = sign * best_value
    distance[node] = best_distance
    return True


@inlined
def remember(tree: Tree, node: int, solved: Solved) -> None:
    """Store a proven node for its transpositions."""
    slot = (tree.key[node] >> ONE) & np.uint64(solved.keys.shape[0] - 1)
    solved.keys[slot] = tree.key[node]
    solved.facts[slot, 0] = tree.proven[node]
    solved.facts[slot, 1] = tree.distance[node]


@inlined
def select(
    tree: Tree, node: int, sign: int, exploration: float, key: np.uint64, counter: np.uint64
) -> tuple[int, np.uint64]:
    """Select a child, never one proven lost for the mover; return it and the random stream's next counter.

    Children without visits come first, in random order; then the child with the highest UCT bound.
    """
    visits, proven = tree.visits, tree.proven
    start = int(tree.first[node])
    end = start + int(tree.number[node])
    fresh = 0
    for child in range(start, end):
        if visits[child] == 0 and proven[child] != -sign:
            fresh += 1
    chosen = -1
    if fresh > 0:
        skip = below(draw(key, counter), fresh)
        for child in range(start, end):
            if visits[child] == 0 and proven[child] != -sign:
                if skip == 0:
                    chosen = child
                    break
                skip -= 1
        return chosen, counter + ONE
    best = -math.inf
    logarithm = math.log(float(visits[node] - tree.spent[node]))
    for child in range(start, end):
        if proven[child] == -sign:
            continue
        seen = float(visits[child] - tree.spent[child])
        bound = sign * float(tree.totals[child]) / seen + exploration * math.sqrt(logarithm / seen)
        if bound > best:
            best = bound
            chosen = child
    return chosen, counter


@functools.cache
def make_simulate(game: Game[Any]) -> Kernel[Any, None]:
    """Return the function that runs simulations from one position; see `simulate` inside."""
    rules = game.rules
    unpack, pack, step, nth, count = rules.unpack, rules.pack, rules.step, rules.nth, rules.count
    to_play, find_winner = rules.to_play, rules.winner
    number_of_words = rules.words
    # With a history, a position's value depends on more than its words: no transpositions.
    shared = not rules.has_memory

    @jitable
    def hash_of(words: Words) -> np.uint64:
        value = ONE
        for i in range(number_of_words):
            value = mix(value ^ words[i])
        return value | ONE

    @inlined
    def expand(
        tree: Tree, solved: Solved, used: NDArray[np.int64], scratch: Words, node: int, state: Any, sign: int
    ) -> bool:
        """Expand a leaf; children that are terminal or known are proven at once. Return whether the leaf is proven."""
        children = count(state)
        tree.first[node] = used[0]
        tree.number[node] = children
        for k in range(children):
            child = used[0] + k
            tree.action[child] = nth(state, k)
            after = step(state, tree.action[child])
            outcome = find_winner(after)
            if outcome >= 0:
                tree.proven[child] = 0 if outcome == 2 else 1 - 2 * outcome
            elif shared:
                pack(after, scratch)
                hashed = hash_of(scratch)
                slot = (hashed >> ONE) & np.uint64(solved.keys.shape[0] - 1)
                if solved.keys[slot] == hashed:
                    tree.proven[child] = solved.facts[slot, 0]
                    tree.distance[child] = solved.facts[slot, 1]
        used[0] += children
        if shared:
            pack(state, scratch)
            tree.key[node] = hash_of(scratch)
        if not settle(tree, node, sign):
            return False
        if shared:
            remember(tree, node, solved)
        return True

    @jitable
    def playout(state: Any, key: np.uint64, counter: np.uint64) -> tuple[int, np.uint64]:
        """Play random moves to the end: (outcome in player_0's view, the random stream's next counter)."""
        outcome = find_winner(state)
        while outcome < 0:
            bits = draw(key, counter)
            counter += ONE
            state = step(state, nth(state, below(bits, count(state))))
            outcome = find_winner(state)
        value = 0
        if outcome == 0:
            value = 1
        elif outcome == 1:
            value = -1
        return value, counter

    @inlined
    def backward(
        tree: Tree, solved: Solved, path: NDArray[np.int64], movers: NDArray[np.int64], length: int, value: int
    ) -> None:
        """Back up a simulation's outcome along its path; a parent of a proven node may become proven, too."""
        node = path[length - 1]
        chain = tree.proven[node] != UNKNOWN
        tree.visits[node] += 1
        tree.totals[node] += value
        lost_visits = 0
        lost_total = 0
        for level in range(length - 2, -1, -1):
            below_node = node
            node = path[level]
            tree.visits[node] += 1
            tree.totals[node] += value
            if chain:
                sign = 1 - 2 * movers[level]
                chain = settle(tree, node, sign)
                if chain:
                    value = int(tree.proven[node])
                    if shared:
                        remember(tree, node, solved)
                elif tree.proven[below_node] == -sign:
                    # A move proven lost will not be played: remove its playouts from its ancestors.
                    lost_visits = tree.visits[below_node] - tree.spent[below_node]
                    lost_total = tree.totals[below_node]
            tree.totals[node] -= lost_total
            tree.spent[node] += lost_visits

    def simulate(
        words: Words,
        memory: Words,
        key: np.uint64,
        counters: Words,
        used: NDArray[np.int64],
        simulations: int,
        exploration: float,
        tree: Tree,
        solved: Solved,
    ) -> None:
        """Run simulations on a tree, which needs space for `simulations` times n more nodes.

        `counters` uint64 (1,) is the random stream's counter, `used` int64 (1,) the number of nodes; both are updated.
        """
        tree, solved, memory = borrowed(tree), borrowed(solved), borrowed(memory)
        scratch = np.empty(number_of_words, np.uint64)
        path = np.empty(_PATH_LIMIT, np.int64)
        movers = np.empty(_PATH_LIMIT, np.int64)
        counter = counters[0]
        for _ in range(simulations):
            if tree.proven[0] != UNKNOWN:
                break
            state = unpack(words, memory)
            node = 0
            length = 0
            while True:
                path[length] = node
                length += 1
                if tree.proven[node] != UNKNOWN:
                    value = int(tree.proven[node])
                    break
                mover = to_play(state)
                sign = 1 - 2 * mover
                if tree.number[node] == 0 and expand(tree, solved, used, scratch, node, state, sign):
                    value = int(tree.proven[node])
                    break
                if (tree.visits[node] == 0 and node != 0) or length == _PATH_LIMIT:
                    value, counter = playout(state, key, counter)
                    break
                movers[length - 1] = mover
                node, counter = select(tree, node, sign, exploration, key, counter)
                state = step(state, tree.action[node])
            backward(tree, solved, path, movers, length, value)
        counters[0] = counter

    return kernel(simulate)


@dataclass(frozen=True)
class MctsResult:
    """Result of a search, values in the view of the seat to move.

    Attributes:
        action: the action chosen.
        value: the mean outcome of its playouts, -1 to 1; its exact outcome if proven.
        visits: simulations that went through each action.
        values: mean outcomes of the actions tried: estimates.
        proven: exact outcomes (1 won, 0 drawn, -1 lost) of the actions whose subtrees are fully searched.
        simulations: number of simulations run; fewer than requested if the root is proven.

    """

    action: int
    value: float
    visits: dict[int, int]
    values: dict[int, float]
    proven: dict[int, int]
    simulations: int


class MctsAgent(GameAgent[S]):
    """UCT with random playouts; a new tree for every move.

    Args:
        game: the game.
        simulations: playouts per move.
        seconds: time per move instead; the choice then depends on the machine's speed.
        exploration: exploration constant of UCT.
        compiled: run compiled (True, needs numba), interpreted (False: the same moves, slower), or whichever is faster
            done (None): compiled where numba is installed and either there are 200 simulations or more, or `seconds`,
            or compiled code is loaded or on disk (see `board-envs warmup`), or interpreted moves have cost more than
            compiling will.

    """

    def __init__(
        self,
        game: Game[S],
        *,
        simulations: int = 1000,
        seconds: float | None = None,
        exploration: float = 1.4,
        compiled: bool | None = None,
    ) -> None:
        super().__init__(game)
        self.simulations = check_int("mcts", "simulations", simulations, 1, 100_000_000)
        if not 0 <= exploration < math.inf:
            raise ValueError(f"exploration must be a number 0 or above, not {exploration!r}")
        if compiled:
            require_numba("mcts:compiled=true")
        self.seconds = None if seconds is None else check_seconds("mcts", seconds)
        self.exploration, self.compiled = float(exploration), compiled

    def choose(self, state: S) -> int:
        """Return the proven or most visited action."""
        self.check_unfinished(state)
        return self._search(state).action

    @property
    def runs_compiled(self) -> bool:
        """Whether the search runs compiled."""
        if self.compiled is None:
            heavy = self.simulations >= COMPILED_FROM or self.seconds is not None
            return self._choice.decide(heavy=heavy, light=self.simulations < LOADED_FROM)
        return self.compiled

    @property
    def _choice(self) -> CompiledChoice:
        return choice_for(make_simulate(self.game))

    def analyse(self, state: S) -> MctsResult:
        """Search a position and return the result.

        Raises:
            IllegalActionError: the game is over.
            PositionError: not a position of this game and size.

        """
        self.check(state)
        return self._search(state)

    def _search(self, state: S) -> MctsResult:
        if self.runs_compiled:
            return self._run(make_simulate(self.game), state, _CHUNK)
        with self._choice.interpreted():
            return self._run(make_simulate(self.game).function, state, _CHUNK if self.seconds is None else 16)

    def _run(self, run: Callable[..., None], state: S, chunk: int) -> MctsResult:
        """Search by a function that runs simulations, `chunk` of them between two clock checks."""
        words, memory = root_arrays(self.game, state)
        counters, used = np.array([self.stream.counter], np.uint64), np.ones(1, np.int64)
        deadline = None if self.seconds is None else time.monotonic() + self.seconds
        left, tree, n = self.simulations, new_tree(1), self.game.num_actions
        solved = new_solved(self.simulations)
        while (left > 0 or deadline is not None) and tree.proven[0] == UNKNOWN:
            now = chunk if deadline is not None else min(chunk, left)
            if used[0] + now * n > tree.visits.size:
                tree = grown(tree, max(2 * tree.visits.size, int(used[0]) + 4 * now * n))
            run(words, memory, self.stream.key, counters, used, now, self.exploration, tree, solved)
            left -= now
            if deadline is not None and time.monotonic() >= deadline:
                break
        self.stream.counter = int(counters[0])
        return self._read(tree, self.game.current_player(state))

    def _read(self, tree: Tree, seat: int) -> MctsResult:
        sign = 1 - 2 * seat
        visits, values, proven = {}, {}, {}
        ranks = []
        for child in range(int(tree.first[0]), int(tree.first[0] + tree.number[0])):
            action, seen = int(tree.action[child]), int(tree.visits[child])
            visits[action] = seen
            outcome = None
            if tree.proven[child] != UNKNOWN:
                outcome = proven[action] = sign * int(tree.proven[child])
            if seen:
                values[action] = sign * int(tree.totals[child]) / max(1, seen - int(tree.spent[child]))
            plies = int(tree.distance[child])
            if outcome == 1:
                rank = (2, -plies, 0.0)
            elif outcome == -1:
                rank = (0, plies, 0.0)
            else:
                # A proven draw is as good as an estimate unless the whole root is decided.
                rank = (1, seen if tree.proven[0] == UNKNOWN or outcome == 0 else -1, values.get(action, -1.0))
            ranks.append((rank, -action))
        action = -max(ranks)[1]
        value = float(proven[action]) if action in proven else values.get(action, 0.0)
        return MctsResult(action, value, visits, values, proven, int(tree.visits[0]))
