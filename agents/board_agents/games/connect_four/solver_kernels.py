"""The search: null-window alpha-beta over positions without an immediate win, without recursion.

The stack is stored in arrays, so a search can be paused after a number of nodes and resumed, which implements limits,
progress and interruption. The recipe is Pascal Pons' (score convention, non-losing moves, null windows). On top:
moves ordered by static features and history, a two-tier transposition table, mirror images identified, cutoffs by the
children's table entries, and the follow-up bound of V. Allis' "rule of claimeven".

Values are Pons' scores from the side to move. In a node with `e` empty squares, a score is at most (e - 1) // 2 (the
next stone but one wins) and at least -((e - 2) // 2).
"""

from __future__ import annotations

import functools

import numpy as np

from board_agents.games.connect_four.geometry import geometry, make_safe_replies, make_winning_squares
from board_agents.games.connect_four.move_ranking import learn, make_move_ranking
from board_agents.games.connect_four.root_windows import close_window, make_next_window
from board_agents.games.connect_four.score_bounds import make_score_bounds
from board_agents.games.connect_four.solver_workspace import (
    BEST,
    BETA,
    BUSY_BITS,
    DEFERRED,
    DEPTH,
    ENTERING,
    FEW_EMPTIES,
    FOLLOW_UP,
    LIMIT,
    LOOK_AHEAD,
    LOWER,
    NEVER,
    NO_TABLE,
    NODES,
    POSITION,
    PREVIOUS,
    SHARED,
    STARTED,
    STOP,
    TOGETHER,
    UPPER,
    Ints,
    Workspace,
    lanes_of,
)
from board_agents.games.connect_four.table_use import make_table_use, worth_keeping
from board_envs._bits import ZERO, borrowed, clear_lowest, lowest, popcount
from board_envs._jit import Kernel, inlined, kernel
from board_envs.types import Words


@inlined
def pause(control: Ints, position: int, d: int, entering: bool, nodes: int) -> None:
    """Save the search's progress for the next call."""
    control[POSITION] = position
    control[DEPTH] = d
    control[ENTERING] = int(entering)
    control[NODES] = nodes


@inlined
def descend(work: Workspace, d: int, move: np.uint64, reply: np.uint64, threat: np.uint64) -> None:
    """Write the frame after a move."""
    work.own[d + 1] = work.own[d] ^ work.mask[d]
    work.mask[d + 1] = work.mask[d] | move
    work.safe[d + 1] = reply
    work.threats[d + 2] = threat
    work.frames[d + 1, BETA] = 1 - work.frames[d, BETA]
    work.frames[d + 1, PREVIOUS] = lowest(move)


@functools.cache
def make_search(rows: int, columns: int, connect: int) -> Kernel[..., int]:
    """Return the compiled search for one size; it solves positions one after the other.

    The kernel takes positions uint64 (n, 2), own stones and all stones of unfinished positions; bounds int64 (n, 2),
    the window in which each score is wanted on the way in, what was proven on the way out (both equal to the score,
    clipped to the window, once the position is done); and a `Workspace`. It returns 1 when every
    position is done, 0 when NODES reached LIMIT or STOP was set: called again, it resumes.
    """
    facts = geometry(rows, columns, connect)
    board, first_column, height, cells = facts.board, facts.column, facts.height, facts.cells
    winning_squares = make_winning_squares(rows, connect)
    safe_replies = make_safe_replies(rows, columns, connect)
    next_window = make_next_window(rows, columns, connect)
    follow_up, owed_square = make_score_bounds(rows, columns, connect)
    describe, rank_moves, best_rank = make_move_ranking(rows, columns, connect)
    key_of, recall, remember, name_children, prefetch_children, look_ahead = make_table_use(rows, columns, connect)
    lanes_count = lanes_of(rows, columns)
    busy_shift = np.uint64(max(0, facts.key_bits - BUSY_BITS))

    @inlined
    def expand(work: Workspace, d: int, empties: int, nodes: int) -> tuple[bool, int, np.uint64, np.uint64, np.uint64]:
        """Enter a node: (whether it is decided, its value; else its first move, the safe replies, its threats)."""
        mine, occupied, can, frames = work.own[d], work.mask[d], work.safe[d], work.frames
        beta = frames[d, BETA]
        upper = (empties - 1) // 2
        lower = -((empties - 2) // 2)
        if empties <= 2:
            return True, 0, ZERO, ZERO, ZERO
        if upper < beta:
            return True, upper, ZERO, ZERO, ZERO
        if lower >= beta:
            return True, lower, ZERO, ZERO, ZERO
        known_move = -1
        keeps = worth_keeping(empties, beta)
        if keeps:
            lower, upper, known_move = recall(work, mine + occupied, empties, lower, upper)
            if lower >= beta:
                return True, lower, ZERO, ZERO, ZERO
            if upper < beta:
                return True, upper, ZERO, ZERO, ZERO
        if empties >= FOLLOW_UP:
            if empties % 2 == 1:
                upper = min(upper, owed_square(mine, occupied, work.threats[d + 1]))
            elif beta >= 0:
                upper = min(upper, follow_up(mine, occupied))
            if upper < beta:
                return True, upper, ZERO, ZERO, ZERO
        single = clear_lowest(can) == ZERO
        looks_ahead = not single and keeps and empties >= LOOK_AHEAD
        threat = reply = ZERO
        if single:
            threat = winning_squares(mine | can) & board & ~(occupied | can)
            reply = safe_replies(threat, occupied | can)
            wins = reply == ZERO
        else:
            if looks_ahead:
                name_children(mine ^ occupied, occupied, can, empties - 1, work.keys)
                if empties > FEW_EMPTIES:
                    prefetch_children(work)
            wins = describe(mine, occupied, work.threats[d], can, empties, work.lanes) != ZERO
        if wins:
            # The opponent cannot prevent the next stone but one from winning.
            return True, (empties - 1) // 2, ZERO, ZERO, ZERO
        # No move wins with the next stone but one.
        upper = min(upper, (empties - 3) // 2)
        if upper < beta:
            return True, upper, ZERO, ZERO, ZERO
        if looks_ahead:
            best = look_ahead(work, can, empties)
            if best >= beta:
                return True, best, ZERO, ZERO, ZERO
        move = can
        if not single:
            column = rank_moves(work, d, can, empties, known_move)
            move = can & (first_column << np.uint64(column * height))
            reply = work.lanes[column]
            threat = work.lanes[2 * lanes_count + column]
        frames[d, BEST] = -cells
        frames[d, LOWER] = lower
        frames[d, UPPER] = upper
        frames[d, STARTED] = nodes
        work.untried[d] = can ^ move
        return False, 0, move, reply, threat

    @inlined
    def close_frame(work: Workspace, d: int, empties: int, score: int, nodes: int) -> int:
        """Return a position's value after its last move's `score`; update transposition table and history."""
        frames = work.frames
        beta = frames[d, BETA]
        lower = frames[d, LOWER]
        upper = frames[d, UPPER]
        column = -1
        if score >= beta:
            value = score
            lower = max(lower, score)
            square = frames[d + 1, PREVIOUS]
            column = square // height
            if empties >= NO_TABLE:
                learn(work, d, square)
        else:
            value = min(frames[d, BEST], upper)
            upper = value
        if worth_keeping(empties, beta):
            remember(work, d, empties, lower, upper, column, nodes)
        return value

    @inlined
    def child_key(work: Workspace, d: int, move: np.uint64, empties: int) -> np.uint64:
        """Return the scattered key of the position after a move."""
        return key_of((work.own[d] ^ work.mask[d]) + (work.mask[d] | move), empties - 1)

    @inlined
    def select(work: Workspace, d: int, empties: int, together: bool) -> tuple[np.uint64, np.uint64, np.uint64]:
        """Take a frame's next move: (move, the safe replies, its threats)."""
        ranks = work.ranks
        rank = best_rank(ranks, d)
        if together and empties >= SHARED:
            while rank >= 0:
                move = work.untried[d] & (first_column << np.uint64((rank & 63) * height))
                key = child_key(work, d, move, empties)
                if work.busy[key >> busy_shift] != key:
                    break
                # Another thread is searching this move: try it last.
                ranks[d, rank & 63] = rank - DEFERRED
                rank = best_rank(ranks, d)
        column = rank & 63
        ranks[d, column] = NEVER
        move = work.untried[d] & (first_column << np.uint64(column * height))
        work.untried[d] ^= move
        return move, work.replies[d, column], work.later_threats[d, column]

    def search(positions: Words, bounds: Ints, work: Workspace) -> int:
        positions, bounds, work = borrowed(positions), borrowed(bounds), borrowed(work)
        control = work.control
        position, d, nodes, limit = control[POSITION], control[DEPTH], control[NODES], control[LIMIT]
        entering = control[ENTERING] == 1
        together = control[TOGETHER] == 1
        root_empties = cells - popcount(work.mask[0])
        value = 0
        while True:
            if d < 0:
                position = next_window(positions, bounds, work, position, nodes)
                if position == positions.shape[0]:
                    pause(control, position, -1, False, nodes)
                    return 1
                root_empties = cells - popcount(work.mask[0])
                d = 0
                entering = True
            empties = root_empties - d
            if entering:
                if nodes >= limit or control[STOP] != 0:
                    pause(control, position, d, True, nodes)
                    return 0
                nodes += 1
                done, value, move, reply, threat = expand(work, d, empties, nodes)
            else:
                # A child of this frame returned `value`.
                score = -value
                done = score >= work.frames[d, BETA] or work.untried[d] == ZERO
                work.frames[d, BEST] = max(work.frames[d, BEST], score)
                if together and empties >= SHARED:
                    key = key_of(work.own[d + 1] + work.mask[d + 1], empties - 1)
                    work.busy[key >> busy_shift] = ZERO
                if done:
                    value = close_frame(work, d, empties, score, nodes)
                    move = reply = threat = ZERO
                else:
                    move, reply, threat = select(work, d, empties, together)
            entering = not done
            if entering:
                descend(work, d, move, reply, threat)
                if together and empties >= SHARED:
                    key = child_key(work, d, move, empties)
                    work.busy[key >> busy_shift] = key
                d += 1
            else:
                d -= 1
                if d < 0:
                    close_window(bounds, work, position, value)

    return kernel(search)
