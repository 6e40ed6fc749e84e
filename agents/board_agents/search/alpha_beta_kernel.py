"""Minimax and alpha-beta compiled: the values and choices of `search`, with a transposition table.

Numba cannot cache recursive functions on disk, so the search has its own stack: one row of each array per ply.
It can therefore stop after any number of positions and resume, which implements time limits.

Scores are those of `search`: in player_0's view, player_0 maximises, ``256 * value`` plus or minus the levels left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.search.evaluations import named_evaluation, win_value
from board_agents.search.interpreted import SCALE
from board_envs._bits import ONE, ZERO, as_int, borrowed
from board_envs._jit import Kernel, inlined, jitable, kernel
from board_envs.game import Game
from board_envs.random import mix
from board_envs.types import Words

INFINITY = 1 << 60
"""Above every score."""

# Columns of a frame, the search's progress in one position.
_COUNT, _NEXT, _ALPHA, _BETA, _BEST, _BEST_ACTION, _MOVER, _LOW, _HIGH, _HORIZON, _TABLE_ACTION = range(11)
_COLUMNS = 11

# Entries of `status`, kept between calls.
PLY, NODES, MODE, VALUE, HORIZON, ROOT_BEST, ROOT_ACTION = range(7)
_ENTER, _CHOOSE, _TAKE, DONE = range(4)

# Kinds of scores in a transposition table entry.
_EXACT, _LOWER, _UPPER = 1, 2, 3


class Workspace(NamedTuple):
    """The workspace: arrays of a search D plies deep, with n actions."""

    stack: Words
    """uint64 (D + 1, words): the packed position of each ply."""
    keys: Words
    """uint64 (D + 1,): their hashes."""
    frames: NDArray[np.int64]
    """int64 (D + 1, columns)."""
    moves: NDArray[np.int64]
    """int64 (D + 1, n): untried actions come last."""
    lines: NDArray[np.int64]
    """int64 (D + 2, D + 2): principal variation from each ply; entry 0 its length."""
    killers: NDArray[np.int64]
    """int64 (D + 1, 2): killer moves: the last two actions that caused a cutoff at each ply, -1 for none."""
    history: NDArray[np.int64]
    """int64 (2, n): history heuristic: cutoffs by each seat's actions."""
    table: NDArray[np.int64]
    """int64 (2^k, 4): hash; score; levels, horizon and kind; best action."""
    status: NDArray[np.int64]
    """int64 (7,): see PLY, NODES ...; the search resumes from here."""
    root_scores: NDArray[np.int64]
    """int64 (n,): score of each root action."""
    root_exact: NDArray[np.int8]
    """int8 (n,): whether that score is exact."""


def make_workspace(game: Game[Any], depth: int, table_bits: int) -> Workspace:
    """Return an empty workspace for searches of up to `depth` plies."""
    n, plies, slots = game.num_actions, depth + 1, 1 << table_bits
    return Workspace(
        stack=np.zeros((plies, game.rules.words), np.uint64),
        keys=np.zeros(plies, np.uint64),
        frames=np.zeros((plies, _COLUMNS), np.int64),
        moves=np.zeros((plies, n), np.int64),
        lines=np.zeros((plies + 1, plies + 1), np.int64),
        killers=np.full((plies, 2), -1, np.int64),
        history=np.zeros((2, n), np.int64),
        table=np.zeros((slots, 4), np.int64),
        status=np.zeros(7, np.int64),
        root_scores=np.zeros(n, np.int64),
        root_exact=np.zeros(n, np.int8),
    )


def begin(work: Workspace, words: Words) -> None:
    """Start a search from a packed position; transposition table, killers and history stay."""
    work.stack[0] = words
    work.frames[0, [_ALPHA, _LOW]] = -INFINITY
    work.frames[0, [_BETA, _HIGH]] = INFINITY
    work.status[:] = 0
    work.status[ROOT_ACTION] = -1
    work.root_exact[:] = 0


@functools.cache
def make_leaf(game: Game[Any], evaluation: str) -> Callable[[Any, int, int], int]:
    """Return (state, winner, levels left) -> score, jitable, with a named integer evaluation."""
    win = win_value(game)
    base, step, limit = win.base, win.step, win.base - 1
    evaluate = named_evaluation(game, evaluation)

    @jitable
    def leaf(state: Any, winner: int, levels: int) -> int:
        if winner == 0:
            return (base + step * levels) * SCALE + levels
        if winner == 1:
            return -((base + step * levels) * SCALE + levels)
        value = evaluate(state)
        if value > limit:
            value = limit
        elif value < -limit:
            value = -limit
        return int(value) * SCALE

    return leaf


@inlined
def keep_line(work: Workspace, ply: int, action: int) -> None:
    """Set the principal variation from `ply` to the action followed by that of the next ply."""
    lines = work.lines
    length = lines[ply + 1, 0]
    lines[ply, 0] = length + 1
    lines[ply, 1] = action
    for i in range(1, length + 1):
        lines[ply, i + 1] = lines[ply + 1, i]


@inlined
def probe(work: Workspace, ply: int, left: int) -> tuple[bool, int]:
    """Probe the transposition table for hash keys[ply], `left` levels to go: (whether the entry cuts off, its score).

    The entry's action becomes the first to try.
    """
    key, frame = work.keys[ply], work.frames[ply]
    entry = work.table[key & np.uint64(work.table.shape[0] - 1)]
    if entry[0] != as_int(key) or entry[2] == 0:
        return False, 0
    frame[_TABLE_ACTION] = entry[3]
    if ply == 0 or entry[2] >> 3 != left:
        return False, 0
    kind, found = entry[2] & 3, entry[1]
    answers = (
        kind == _EXACT or (kind == _LOWER and found >= frame[_BETA]) or (kind == _UPPER and found <= frame[_ALPHA])
    )
    if answers:
        frame[_HORIZON] = (entry[2] >> 2) & 1
    return answers, found


@inlined
def store(work: Workspace, ply: int, left: int, value: int) -> None:
    """Store the score of the position with hash keys[ply], searched `left` levels deep."""
    key, frame = work.keys[ply], work.frames[ply]
    kind = _EXACT
    if value <= frame[_LOW]:
        kind = _UPPER
    elif value >= frame[_HIGH]:
        kind = _LOWER
    entry = work.table[key & np.uint64(work.table.shape[0] - 1)]
    entry[0] = as_int(key)
    entry[1] = value
    entry[2] = (left << 3) | (frame[_HORIZON] << 2) | kind
    entry[3] = frame[_BEST_ACTION]


@inlined
def learn(work: Workspace, ply: int, left: int) -> None:
    """Update killers and history with the action that caused a cutoff."""
    frame, killers = work.frames[ply], work.killers
    action = frame[_BEST_ACTION]
    if killers[ply, 0] != action:
        killers[ply, 1] = killers[ply, 0]
        killers[ply, 0] = action
    work.history[frame[_MOVER], action] += left * left


@inlined
def select(work: Workspace, ply: int, first_action: int) -> None:
    """Move the most promising untried action to the front; ties by index, so that the order is deterministic."""
    frame, moves, killers = work.frames[ply], work.moves, work.killers
    place, mover = frame[_NEXT], frame[_MOVER]
    chosen = place
    chosen_rank = -1
    for k in range(place, frame[_COUNT]):
        action = moves[ply, k]
        rank = work.history[mover, action]
        if action == frame[_TABLE_ACTION] or (ply == 0 and action == first_action):
            rank = INFINITY
        elif action == killers[ply, 0]:
            rank = INFINITY - 1
        elif action == killers[ply, 1]:
            rank = INFINITY - 2
        if rank > chosen_rank:
            chosen_rank = rank
            chosen = k
    action = moves[ply, chosen]
    for k in range(chosen, place, -1):
        moves[ply, k] = moves[ply, k - 1]
    moves[ply, place] = action


@inlined
def open_window(work: Workspace, ply: int, prune: bool, all_ties: bool) -> int:
    """Return the next action, and set the window for the search of its child."""
    frame, child, status = work.frames[ply], work.frames[ply + 1], work.status
    action = work.moves[ply, frame[_NEXT]]
    frame[_NEXT] += 1
    child[_ALPHA] = frame[_ALPHA]
    child[_BETA] = frame[_BETA]
    if prune and ply == 0 and status[ROOT_ACTION] >= 0:
        # An equal score matters if all ties are wanted, or if this action comes before the best one so far.
        slack = 1 if all_ties or action < status[ROOT_ACTION] else 0
        if frame[_MOVER] == 0:
            child[_ALPHA] = status[ROOT_BEST] - slack
        else:
            child[_BETA] = status[ROOT_BEST] + slack
    child[_LOW] = child[_ALPHA]
    child[_HIGH] = child[_BETA]
    return action


@inlined
def take_at_root(work: Workspace, value: int) -> None:
    """Update the root with the score of an action."""
    frame, child, status = work.frames[0], work.frames[1], work.status
    action, mover = work.moves[0, frame[_NEXT] - 1], frame[_MOVER]
    # A score outside its window is only a bound: the action is not the best.
    if (mover == 0 and value > child[_LOW]) or (mover == 1 and value < child[_HIGH]):
        work.root_scores[action] = value
        work.root_exact[action] = 1
        better = value > frame[_BEST] if mover == 0 else value < frame[_BEST]
        if better or (value == frame[_BEST] and action < status[ROOT_ACTION]):
            frame[_BEST] = value
            frame[_BEST_ACTION] = action
            status[ROOT_BEST] = value
            status[ROOT_ACTION] = action
            keep_line(work, 0, action)


@inlined
def take(work: Workspace, ply: int, value: int, prune: bool) -> None:
    """Update an inner node with the score of an action."""
    frame = work.frames[ply]
    action, mover = work.moves[ply, frame[_NEXT] - 1], frame[_MOVER]
    if value <= frame[_BEST] if mover == 0 else value >= frame[_BEST]:
        return
    frame[_BEST] = value
    frame[_BEST_ACTION] = action
    keep_line(work, ply, action)
    if prune:
        if mover == 0 and value > frame[_ALPHA]:
            frame[_ALPHA] = value
        elif mover == 1 and value < frame[_BETA]:
            frame[_BETA] = value


@functools.cache
def make_search(game: Game[Any], evaluation: str) -> Kernel[Any, None]:
    """Return the search with a named evaluation; see `search` inside."""
    rules = game.rules
    unpack, pack, step, nth, count = rules.unpack, rules.pack, rules.step, rules.nth, rules.count
    to_play, find_winner = rules.to_play, rules.winner
    leaf = make_leaf(game, evaluation)
    number_of_words = rules.words
    # A position's value must not depend on its history, or table entries would be wrong.
    has_table = not rules.has_memory

    @jitable
    def hash_of(words: Words) -> np.uint64:
        value = ZERO
        for i in range(number_of_words):
            value = mix(value ^ words[i])
        return value >> ONE  # fits a signed integer

    @inlined
    def best_leaf(work: Workspace, ply: int, state: Any, prune: bool) -> tuple[int, int]:
        """Return (score, number of leaves) of a position whose children are leaves, without frames for them."""
        frame = work.frames[ply]
        mover, best, seen = frame[_MOVER], frame[_BEST], 0
        for k in range(frame[_COUNT]):
            action = nth(state, k)
            child = step(state, action)
            winner = find_winner(child)
            seen += 1
            if winner < 0:
                frame[_HORIZON] = 1
            score = leaf(child, winner, 0)
            if (mover == 0 and score > best) or (mover == 1 and score < best):
                best = score
                work.lines[ply, 0] = 1
                work.lines[ply, 1] = action
                if prune and ((mover == 0 and best >= frame[_BETA]) or (mover == 1 and best <= frame[_ALPHA])):
                    break
        return best, seen

    @inlined
    def enter(work: Workspace, memory: Words, ply: int, left: int, prune: bool) -> tuple[int, int, int]:
        """Enter the position stack[ply]: (next mode, its score if that is _TAKE, positions searched)."""
        frame = work.frames[ply]
        state = unpack(work.stack[ply], memory)
        work.lines[ply, 0] = 0
        if ply > 0:
            winner = find_winner(state)
            if winner >= 0 or left == 0:
                frame[_HORIZON] = 1 if winner < 0 else 0
                return _TAKE, leaf(state, winner, left), 1
        frame[_HORIZON] = 0
        frame[_TABLE_ACTION] = -1
        if has_table and prune and left >= 2:
            work.keys[ply] = hash_of(work.stack[ply])
            answers, value = probe(work, ply, left)
            if answers:
                return _TAKE, value, 1
        mover = to_play(state)
        frame[_MOVER] = mover
        frame[_COUNT] = count(state)
        frame[_NEXT] = 0
        frame[_BEST] = -INFINITY if mover == 0 else INFINITY
        frame[_BEST_ACTION] = -1
        if left == 1 and ply > 0:
            value, seen = best_leaf(work, ply, state, prune)
            return _TAKE, value, 1 + seen
        for k in range(frame[_COUNT]):
            work.moves[ply, k] = nth(state, k)
        return _CHOOSE, 0, 1

    def search(
        memory: Words, work: Workspace, levels: int, prune: bool, all_ties: bool, node_limit: int, first_action: int
    ) -> None:
        """Search the unfinished position in stack[0] `levels` plies deep, or resume from `status`.

        Stops with status[MODE] == DONE, or after `node_limit` positions. Without `prune` the whole tree is searched and
        every root action is exact. `first_action` is tried first at the root; among equals the choice is still the
        first action. With `all_ties` every root action as good as the best is exact.
        """
        memory, work = borrowed(memory), borrowed(work)
        status, frames = work.status, work.frames
        ply, mode, value = status[PLY], status[MODE], status[VALUE]
        nodes = 0
        while mode != DONE and nodes < node_limit:
            frame = frames[ply]
            left = levels - ply
            if mode == _ENTER:
                mode, value, seen = enter(work, memory, ply, left, prune)
                nodes += seen
                if mode == _TAKE:
                    ply -= 1
            elif mode == _TAKE:
                # `value` is the score of the position at ply + 1, reached by the action before `_NEXT`.
                frame[_HORIZON] |= frames[ply + 1, _HORIZON]
                mode = _CHOOSE
                if ply == 0:
                    take_at_root(work, value)
                else:
                    take(work, ply, value, prune)
            elif frame[_NEXT] == frame[_COUNT] or frame[_ALPHA] >= frame[_BETA]:
                # This position is finished.
                value = frame[_BEST]
                if has_table and prune and left >= 2:
                    store(work, ply, left, value)
                if prune and frame[_NEXT] < frame[_COUNT]:
                    learn(work, ply, left)
                if ply == 0:
                    mode = DONE
                else:
                    ply -= 1
                    mode = _TAKE
            else:
                if prune:
                    select(work, ply, first_action)
                action = open_window(work, ply, prune, all_ties)
                pack(step(unpack(work.stack[ply], memory), action), work.stack[ply + 1])
                ply += 1
                mode = _ENTER
        status[PLY] = ply
        status[MODE] = mode
        status[VALUE] = value
        status[NODES] += nodes
        if mode == DONE:
            status[HORIZON] = frames[0, _HORIZON]

    return kernel(search)
