"""The search: null-window alpha-beta over positions in which nobody can win at once, without recursion.

The stack lies in arrays, so a search can be paused after a number of nodes and taken up again: that is how limits,
progress and interruption work. The recipe is Pascal Pons' (score convention, non-losing moves, null windows). On top:
moves ordered by static features and history, a table in two tiers, mirror images taken for one, cut-offs by the
children's table entries, and the follow-up bound of V. Allis' "rule of claimeven".

Values are Pons' scores from the side to move. In a node with `e` empty squares, a score is at most (e - 1) // 2 (the
next stone but one wins) and at least -((e - 2) // 2).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from board_agents.games.connect_four.geometry import geometry, make_safe_replies, make_winning_squares
from board_agents.games.connect_four.transposition_table import LINE, layout, make_table
from board_agents.lowlevel.aligned_arrays import aligned
from board_agents.lowlevel.instructions import prefetch
from board_envs._bits import ONE, ZERO, as_int, borrowed, clear_lowest, leading_zeros, lowest, popcount
from board_envs._jit import Kernel, inlined, jitable, kernel
from board_envs.games.connect_four.alignments import alignments
from board_envs.games.connect_four.rules import bit_index, make_has_line
from board_envs.types import Words

Ints = NDArray[np.int64]

# Columns of a stack frame (int64).
BETA, BEST, LOWER, UPPER, STARTED, PREVIOUS = range(6)
FRAME = 8
# What a search keeps between two calls (int64).
POSITION, DEPTH, ENTERING, NODES, LIMIT, STOP, GUESS, BEGUN, TOGETHER = range(9)
CONTROL = 9
NO_GUESS, LEAST = 1000, 1001
"""GUESS of positions of which nothing is known, or whose score is likely to be the lower bound given; else it is the
score of the position before."""

HARD = 26
"""Positions with so many empty squares or more are mostly near a draw, and windows far from it are dear."""
FEW_EMPTIES = 21
"""Positions with fewer empty squares go to the small table."""
QUICK_NODES = 4000
"""Until a position took so many nodes, the shortest wins and losses are asked about: easy positions need no more."""
PLAIN_WIN = 9
"""Scores this far from 0 are asked about first in hard positions: short wins are cheap to find or to rule out."""
FOLLOW_UP = 6
"""With so many empty squares or more, bounds by following up are looked for."""
NO_TABLE = 10
"""Positions with fewer empty squares than this go to no table."""
MIRRORED = 28
"""With so many empty squares or more, a position and its mirror image are one."""
NEAR = 1
"""Nor do positions whose window asks for the end within so many stones more: to search is quicker than to look."""
LOOK_AHEAD = 11
"""With so many empty squares or more, the children's table entries are looked at before any is searched."""

# Ranks of moves (int64): points above 6 bits for the column.
NEVER = -(1 << 62)
"""The rank of a column in which there is nothing to try, or no more."""
KNOWN = 1 << 46
"""Put into the rank of the table's move."""
DEFERRED = 1 << 50
"""Taken from the rank of a move that another thread searches just now."""
SHARED = 20
"""With so many empty squares or more, threads that solve one position tell each other what they search."""
BUSY_BITS = 12
"""Places for what is searched just now, as a power of two."""
ROW = 65
"""History has a row for each square of the move before and, last, one for any, which a root takes for both; a row has a
place for each square."""
ANY = 64 * ROW
HISTORY = 65 * ROW
HISTORY_LIMIT = 2000
UNIT = 5120
"""What one point of a static feature weighs against history."""


class Workspace(NamedTuple):
    """The arrays of one thread's search; depth d is the node after d moves from the root.

    Attributes:
        own, mask: uint64 (depth,), stones of the side to move and all stones.
        safe: uint64 (depth,), the moves that do not lose at once.
        threats: uint64 (depth + 2,), at d the winning squares of the side to move at depth d.
        untried: uint64 (depth,), the moves not yet searched.
        frames: int64 (depth, FRAME), columns BETA to PREVIOUS.
        ranks: int64 (depth, lanes), how good each column's move looks.
        replies, later_threats: uint64 (depth, lanes), `safe` of the child by each column's move, the move's threats.
        lanes, keys: uint64 (3 * lanes,) and (lanes,), scratch of one node: see `describe` and `name_children`.
        big, small: uint64, the transposition tables of positions with many and few empty squares.
        busy: uint64 (1 << BUSY_BITS,), the keys of what threads search now.
        history: int16 (HISTORY,).
        values: int64 (65,), `square_values`.
        control: int64 (CONTROL,), what a search keeps between two calls.
        big_bits, small_bits: the tables' numbers of lines, as powers of two.

    """

    own: Words
    mask: Words
    safe: Words
    threats: Words
    untried: Words
    frames: Ints
    ranks: Ints
    replies: Words
    later_threats: Words
    lanes: Words
    keys: Words
    big: Words
    small: Words
    busy: Words
    history: NDArray[np.int16]
    values: Ints
    control: Ints
    big_bits: np.uint64
    small_bits: np.uint64


def make_workspace(rows: int, columns: int, connect: int, big: Words, small: Words, busy: Words) -> Workspace:
    """Return the workspace of one thread, which shares the tables `big` and `busy` with others."""
    depth = rows * columns + 1
    lanes = max(8, columns)
    return Workspace(
        own=aligned((depth,)),
        mask=aligned((depth,)),
        safe=aligned((depth,)),
        threats=aligned((depth + 2,)),
        untried=aligned((depth,)),
        frames=aligned((depth, FRAME), np.int64),
        ranks=aligned((depth, lanes), np.int64),
        replies=aligned((depth, lanes)),
        later_threats=aligned((depth, lanes)),
        lanes=aligned((3 * lanes,)),
        keys=aligned((lanes,)),
        big=big,
        small=small,
        busy=busy,
        history=aligned((HISTORY,), np.int16),
        values=square_values(rows, columns, connect),
        control=np.zeros(CONTROL, np.int64),
        big_bits=np.uint64((big.size // LINE).bit_length() - 1),
        small_bits=np.uint64((small.size // LINE).bit_length() - 1),
    )


@functools.cache
def square_values(rows: int, columns: int, connect: int) -> Ints:
    """Return the static value of each bit: int64 (65,); lines through it, in UNITs, low rows first."""
    values = np.zeros(65, np.int64)
    lines = alignments(rows, columns, connect)
    most = max(1, int(lines.max()))
    for row, bits in enumerate(bit_index(rows, columns)):
        for column, bit in enumerate(bits):
            values[bit] = lines[row, column] * 8 * UNIT // most
    return values


@functools.cache
def make_search(rows: int, columns: int, connect: int) -> Kernel[..., int]:
    """Return the compiled search for one size; it solves positions one after the other.

    The kernel takes positions uint64 (n, 2), own stones and all stones of unfinished positions; bounds int64 (n, 2),
    the window in which each score is wanted on the way in, what was proven on the way out (both equal to the score,
    clipped to the window, once the position is done); then a `Workspace`. It returns 1 when every
    position is done, 0 when NODES reached LIMIT or STOP was set: called again, it goes on where it was.
    """
    facts = geometry(rows, columns, connect)
    cut = layout(facts.key_bits, facts.cells, columns)
    scatter, line_of, probe, store = make_table(cut)
    winning_squares = make_winning_squares(rows, connect)
    safe_replies = make_safe_replies(rows, columns, connect)
    has_line = make_has_line(rows, connect)
    board, bottom, first_column, paired = facts.board, facts.bottom, facts.column, facts.paired
    height, cells = facts.height, facts.cells
    # Eight lanes make whole vectors; those beyond the last column are never read.
    lanes_count = 8 if columns <= 8 and 7 * height < 64 else columns
    score_bits, move_bits, work_bits, offset = cut.score_bits, cut.move_bits, cut.work_bits, cut.offset
    score_mask = np.uint64((1 << score_bits) - 1)
    move_mask = np.uint64((1 << move_bits) - 1)
    most_work = (1 << work_bits) - 1
    move_shift = np.uint64(2 * score_bits + work_bits)
    upper_shift = np.uint64(score_bits + work_bits)
    lower_shift = np.uint64(work_bits)
    odd_rows = np.uint64(int(bottom) * sum(1 << row for row in range(0, rows, 2)))
    even_rows = np.uint64(int(board) & ~int(odd_rows))
    low_rows = np.uint64(int(bottom) * 3)
    busy_shift = np.uint64(max(0, facts.key_bits - BUSY_BITS))
    column_bits = np.uint64((1 << height) - 1)

    @jitable
    def describe(
        own: np.uint64, mask: np.uint64, threats_now: np.uint64, safe: np.uint64, good_rows: np.uint64, lanes: Words
    ) -> np.uint64:
        """Write, a lane a column, the opponent's safe replies to each safe move, the move's points and its threats.

        Returns the moves to which the opponent has no safe reply: they win with the next stone but one.
        """
        below_own_threat = (threats_now & ~mask) >> ONE
        wins = ZERO
        for i in range(lanes_count):
            move = safe & (first_column << np.uint64(i * height))
            mine = own | move
            occupied = mask | move
            threats = winning_squares(mine) & board & ~occupied
            answers = safe_replies(threats, occupied)
            wins |= move if answers == ZERO else ZERO
            lanes[i] = answers
            lanes[lanes_count + i] = np.uint64(
                256
                + 2 * popcount(threats)
                + 2 * popcount(threats & good_rows)
                + 2 * popcount(threats & low_rows)
                + 4 * popcount(threats & (threats << ONE))
                - 4 * popcount(answers)
                - 36 * popcount(move & below_own_threat)
            )
            lanes[2 * lanes_count + i] = threats
        return wins

    @jitable
    def flip(key: np.uint64) -> np.uint64:
        """Return the key of the mirror image."""
        image = ZERO
        for i in range(columns):
            image = image << np.uint64(height) | (key >> np.uint64(i * height)) & column_bits
        return image

    @jitable
    def canonical(key: np.uint64, empties: int) -> np.uint64:
        """Return the key under which a position is kept: the smaller one of its two images while few stones lie."""
        return min(key, flip(key)) if empties >= MIRRORED else key

    @jitable
    def worth_keeping(empties: int, beta: int) -> bool:
        """Whether a position is looked for in the tables and kept there."""
        return empties >= NO_TABLE and min((empties - 1) // 2 - beta, beta + (empties - 2) // 2) > NEAR

    @jitable
    def name_children(theirs: np.uint64, mask: np.uint64, safe: np.uint64, empties: int, keys: Words) -> None:
        """Write, a lane a column, the scattered key after each safe move; that of no move where there is none."""
        if empties >= MIRRORED:
            for i in range(columns):
                key = theirs + (mask | (safe & (first_column << np.uint64(i * height))))
                keys[i] = scatter(canonical(key, empties))
        else:
            for i in range(lanes_count):
                keys[i] = scatter(theirs + (mask | (safe & (first_column << np.uint64(i * height)))))

    @jitable
    def follow_up(mine: np.uint64, occupied: np.uint64) -> int:
        """Return an upper bound of the score with an even number of empty squares; `cells` if none is seen.

        The opponent answers each move right above it and, after a move that leaves a column of even room, in another
        column of odd room (with an even number of empty squares there is one): the side to move gets no more than
        `mover_gets`.
        """
        empty = board & ~occupied
        mover_gets = (empty & paired) | ((occupied + bottom) & board)
        if has_line(mine | mover_gets):
            return cells
        return -1 if has_line((mine ^ occupied) | (empty & ~mover_gets)) else 0

    @jitable
    def owed_square(mine: np.uint64, occupied: np.uint64, threats: np.uint64) -> int:
        """Return an upper bound of the score with an odd number of empty squares; `cells` if none is seen.

        The opponent wins on one of its `threats`, even room above the one below it, in a column of odd room. It
        follows up everywhere (see `follow_up`; columns of odd room other than this one are even in number), until the
        side to move must play in that column, where the following up ends on the winning square.
        """
        empty = board & ~occupied
        starts = (occupied + bottom) & board & ~paired
        owed = threats & empty & paired
        while owed != ZERO:
            square = lowest(owed)
            owed = clear_lowest(owed)
            column = square // height
            here = first_column << np.uint64(column * height)
            if starts & here != ZERO:
                below = here & ((ONE << np.uint64(square)) - ONE)
                mover_gets = (((empty & paired) | starts) & ~here) | (empty & ~paired & below)
                if not has_line(mine | mover_gets):
                    return -((rows - (square - column * height) + 1) // 2)
        return cells

    @jitable
    def pack(lower: int, upper: int, move: int, work: int) -> np.uint64:
        return (
            (np.uint64(move + 1) << move_shift if move_bits > 0 else ZERO)
            | (np.uint64(upper + offset) << upper_shift)
            | (np.uint64(lower + offset) << lower_shift)
            | np.uint64(min(work, most_work))
        )

    @jitable
    def lower_of(payload: np.uint64) -> int:
        return as_int((payload >> lower_shift) & score_mask) - offset

    @jitable
    def upper_of(payload: np.uint64) -> int:
        return as_int((payload >> upper_shift) & score_mask) - offset

    @jitable
    def move_of(payload: np.uint64) -> int:
        return as_int((payload >> move_shift) & move_mask) - 1

    @jitable
    def reward(history: NDArray[np.int16], place: int, change: int) -> None:
        """Add to a place of history, within the limit."""
        history[place] = max(-HISTORY_LIMIT, min(HISTORY_LIMIT, history[place] + change))

    @jitable
    def best_rank(ranks: Ints, d: int) -> int:
        """Return the highest rank of a frame's row."""
        rank = ranks[d, 0]
        for i in range(1, lanes_count):
            rank = max(rank, ranks[d, i])
        return rank

    @jitable
    def look_ahead(table: Words, index_bits: np.uint64, keys: Words, moves: np.uint64) -> int:
        """Return the best score that the table proves for one of the moves at least."""
        best = -cells
        while moves != ZERO:
            found = probe(table, index_bits, keys[lowest(moves) // height])
            moves = clear_lowest(moves)
            best = max(best, -upper_of(found) if found != ZERO else -cells)
        return best

    @jitable
    def shortest(low: int, high: int, empties: int) -> int:
        """Return the null window's upper end that asks for the shortest win or loss that is still possible."""
        return high if (empties - 1) // 2 - high <= low + (empties - 2) // 2 else low + 1

    @jitable
    def window_end(low: int, high: int, guess: int) -> int:
        """Return the null window's upper end, low < it <= high.

        First both windows that prove the guess, if there is one; else near 0 first, then halving.
        """
        if low < guess <= high:
            return guess
        if low == guess:
            return low + 1
        if high == guess - 1:
            return high
        middle = (low + high) // 2
        if middle <= 0 and low // 2 < middle:
            middle = -((-low) // 2)
        elif middle >= 0 and high // 2 > middle:
            middle = high // 2
        return min(max(middle, low), high - 1) + 1

    @jitable
    def narrow(bounds: Ints, position: int, value: int, beta: int) -> None:
        """Take the answer of a null window into a position's bounds, which never cross."""
        low, high = bounds[position, 0], bounds[position, 1]
        if value >= beta:
            bounds[position, 0] = min(max(low, value), high)
        else:
            bounds[position, 1] = max(min(high, value), low)

    @jitable
    def root(own: np.uint64, mask: np.uint64, position: int, bounds: Ints) -> np.uint64:
        """Return the moves that do not lose at once; bounds are narrowed, to the score where it is plain to see."""
        empties = cells - popcount(mask)
        upper = (empties - 1) // 2
        lower = -((empties - 2) // 2)
        starts = (mask + bottom) & board
        safe = ZERO
        if winning_squares(own) & starts != ZERO:
            lower = upper = (empties + 1) // 2
        else:
            safe = safe_replies(winning_squares(own ^ mask) & board & ~mask, mask)
            if empties <= 1:
                lower = upper = 0
            elif safe == ZERO:
                lower = upper = -(empties // 2)
            elif empties <= 2:
                lower = upper = 0
        narrow(bounds, position, lower, lower)
        narrow(bounds, position, upper, upper + 1)
        return safe

    @inlined
    def next_window(positions: Words, bounds: Ints, work: Workspace, position: int, nodes: int) -> int:
        """Open the next null window at the root; returns its position, or how many there are when all are done."""
        control = work.control
        while True:
            while position < positions.shape[0] and bounds[position, 0] >= bounds[position, 1]:
                position += 1
                control[BEGUN] = nodes
            if position == positions.shape[0]:
                return position
            own, mask = positions[position, 0], positions[position, 1]
            safe = root(own, mask, position, bounds)
            low, high = bounds[position, 0], bounds[position, 1]
            if low < high:
                break
        work.own[0] = own
        work.mask[0] = mask
        work.safe[0] = safe
        work.threats[0] = winning_squares(own) & board
        work.threats[1] = winning_squares(own ^ mask) & board
        empties = cells - popcount(mask)
        guess = control[GUESS]
        if guess == LEAST:
            guess = low
        elif guess == NO_GUESS and nodes - control[BEGUN] < QUICK_NODES:
            guess = shortest(low, high, empties)
        elif guess == NO_GUESS and empties >= HARD:
            guess = 1
            if low < PLAIN_WIN < high:
                guess = PLAIN_WIN
            elif low < -PLAIN_WIN < high:
                guess = 1 - PLAIN_WIN
        work.frames[0, BETA] = window_end(low, high, guess)
        work.frames[0, PREVIOUS] = 64
        return position

    @inlined
    def close_window(bounds: Ints, work: Workspace, position: int, value: int) -> None:
        """Take the answer of the root's null window."""
        narrow(bounds, position, value, work.frames[0, BETA])
        if work.control[GUESS] < NO_GUESS and bounds[position, 0] == bounds[position, 1]:
            work.control[GUESS] = bounds[position, 0]

    @inlined
    def recall(work: Workspace, key: np.uint64, empties: int) -> np.uint64:
        """Return what the transposition table of this depth knows; 0 is nothing."""
        if empties >= FEW_EMPTIES:
            return probe(work.big, work.big_bits, key)
        return probe(work.small, work.small_bits, key)

    @inlined
    def remember(work: Workspace, d: int, empties: int, lower: int, upper: int, column: int, nodes: int) -> None:
        """Keep the bounds of a frame's position, and the column that was best (-1 for none)."""
        plain = work.own[d] + work.mask[d]
        name = canonical(plain, empties)
        if column >= 0 and name != plain:
            column = columns - 1 - column
        effort = 63 - leading_zeros(np.uint64(nodes - work.frames[d, STARTED] + 1))
        payload = pack(lower, upper, column, effort)
        if empties >= FEW_EMPTIES:
            store(work.big, work.big_bits, scatter(name), payload)
        else:
            store(work.small, work.small_bits, scatter(name), payload)

    @inlined
    def prefetch_children(work: Workspace) -> None:
        """Ask for the children's lines of the big table, which are then on their way while the node is described."""
        address = np.uint64(work.big.ctypes.data)
        for i in range(lanes_count):
            prefetch(address + (line_of(work.big_bits, work.keys[i]) << np.uint64(3)))

    @inlined
    def rank_moves(work: Workspace, d: int, can: np.uint64, empties: int, known_move: int) -> int:
        """Rank the moves of a frame, each lane a column, and keep what `describe` found; returns the best column."""
        lanes, ranks, history, values = work.lanes, work.ranks, work.history, work.values
        rank = NEVER
        # Two loops: asked in each round, the question becomes a branch for each lane.
        if empties >= NO_TABLE:
            previous = work.frames[d, PREVIOUS] * ROW
            for i in range(lanes_count):
                square = lowest(can & (first_column << np.uint64(i * height)))
                points = as_int(lanes[lanes_count + i]) * UNIT + values[square]
                points += history[ANY + square] + history[previous + square]
                points = points << 6 | i if square < 64 else NEVER
                if i == known_move:
                    points |= KNOWN
                ranks[d, i] = points
                rank = max(rank, points)
        else:
            for i in range(lanes_count):
                square = lowest(can & (first_column << np.uint64(i * height)))
                points = as_int(lanes[lanes_count + i]) * UNIT + values[square]
                points = points << 6 | i if square < 64 else NEVER
                ranks[d, i] = points
                rank = max(rank, points)
        for i in range(lanes_count):
            work.replies[d, i] = lanes[i]
            work.later_threats[d, i] = lanes[2 * lanes_count + i]
        column = rank & 63
        ranks[d, column] = NEVER
        return column

    @inlined
    def expand(work: Workspace, d: int, empties: int, nodes: int) -> tuple[bool, int, np.uint64, np.uint64, np.uint64]:
        """Enter a node: (whether it is answered, its value; else its first move, the safe replies, its threats)."""
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
            name = canonical(mine + occupied, empties)
            found = recall(work, scatter(name), empties)
            if found != ZERO:
                lower = max(lower, lower_of(found))
                upper = min(upper, upper_of(found))
                if move_bits > 0:
                    known_move = move_of(found)
                    if known_move >= 0 and name != mine + occupied:
                        known_move = columns - 1 - known_move
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
            good_rows = odd_rows if (cells - empties) % 2 == 0 else even_rows
            wins = describe(mine, occupied, work.threats[d], can, good_rows, work.lanes) != ZERO
        if wins:
            # The opponent cannot prevent the next stone but one from winning.
            return True, (empties - 1) // 2, ZERO, ZERO, ZERO
        # No move wins with the next stone but one.
        upper = min(upper, (empties - 3) // 2)
        if upper < beta:
            return True, upper, ZERO, ZERO, ZERO
        if looks_ahead:
            if empties > FEW_EMPTIES:
                best = look_ahead(work.big, work.big_bits, work.keys, can)
            else:
                best = look_ahead(work.small, work.small_bits, work.keys, can)
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
    def learn(work: Workspace, d: int, square: int) -> None:
        """History: the move that cut off goes up, those tried before it go down."""
        tried = work.safe[d] & ~work.untried[d] & ~(ONE << np.uint64(square))
        if tried == ZERO:
            return
        history = work.history
        previous = work.frames[d, PREVIOUS] * ROW
        reward(history, ANY + square, 9)
        reward(history, previous + square, 9)
        while tried != ZERO:
            square = lowest(tried)
            tried = clear_lowest(tried)
            reward(history, ANY + square, -5)
            reward(history, previous + square, -5)

    @inlined
    def close_frame(work: Workspace, d: int, empties: int, score: int, nodes: int) -> int:
        """Return a position's value after its last move's `score`; table and history learn from it."""
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
        return scatter(canonical((work.own[d] ^ work.mask[d]) + (work.mask[d] | move), empties - 1))

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
                # Another thread searches this move now: it comes last.
                ranks[d, rank & 63] = rank - DEFERRED
                rank = best_rank(ranks, d)
        column = rank & 63
        ranks[d, column] = NEVER
        move = work.untried[d] & (first_column << np.uint64(column * height))
        work.untried[d] ^= move
        return move, work.replies[d, column], work.later_threats[d, column]

    @inlined
    def descend(work: Workspace, d: int, move: np.uint64, reply: np.uint64, threat: np.uint64) -> None:
        """Write the frame after a move."""
        work.own[d + 1] = work.own[d] ^ work.mask[d]
        work.mask[d + 1] = work.mask[d] | move
        work.safe[d + 1] = reply
        work.threats[d + 2] = threat
        work.frames[d + 1, BETA] = 1 - work.frames[d, BETA]
        work.frames[d + 1, PREVIOUS] = lowest(move)

    @inlined
    def pause(control: Ints, position: int, d: int, entering: bool, nodes: int) -> None:
        """Keep where the search is for the next call."""
        control[POSITION] = position
        control[DEPTH] = d
        control[ENTERING] = int(entering)
        control[NODES] = nodes

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
                    key = scatter(canonical(work.own[d + 1] + work.mask[d + 1], empties - 1))
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
