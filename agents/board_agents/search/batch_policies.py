"""Search agents as jitable functions: opponents inside the vector environment's kernel.

Such a policy is ``(state, key, counter) -> (action, counter after its draws)`` on the agent's random stream; it plays
the
agent's moves. Cached compiled code cannot be recursive, so each level of the search is a function
of its own that calls the one below; hence only shallow searches are available.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from board_agents.search.alpha_beta_kernel import INFINITY, make_leaf
from board_envs._bits import ONE
from board_envs._jit import jitable
from board_envs.game import Game
from board_envs.random import below, draw

if TYPE_CHECKING:
    from board_envs.envs.kernels import Policy

DEPTH_LIMIT = 4
"""Maximum depth of a policy."""


@functools.cache
def make_level(game: Game[Any], evaluation: str, levels: int) -> Callable[[Any, int, int], int]:
    """Return alpha-beta of a fixed depth as a jitable function (state, alpha, beta) -> score.

    Scores and bounds are those of `search`: player_0's view; a score outside (alpha, beta) is a bound.
    """
    rules = game.rules
    step, nth, count, to_play, find_winner = rules.step, rules.nth, rules.count, rules.to_play, rules.winner
    leaf = make_leaf(game, evaluation)
    if levels == 0:

        @jitable
        def value_now(state: Any, alpha: int, beta: int) -> int:
            return leaf(state, find_winner(state), 0)

        return value_now
    level_below = make_level(game, evaluation, levels - 1)

    @jitable
    def value(state: Any, alpha: int, beta: int) -> int:
        winner = find_winner(state)
        if winner >= 0:
            return leaf(state, winner, levels)
        maximise = to_play(state) == 0
        best = -INFINITY if maximise else INFINITY
        for k in range(count(state)):
            score = level_below(step(state, nth(state, k)), alpha, beta)
            if maximise:
                best = max(best, score)
                alpha = max(alpha, best)
            else:
                best = min(best, score)
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best

    return value


@functools.cache
def make_policy(game: Game[Any], evaluation: str, depth: int, random_ties: bool) -> Policy:
    """Return the choice of minimax or alpha-beta of `depth` plies as a policy; random ties cost one draw."""
    rules = game.rules
    step, nth, count, to_play = rules.step, rules.nth, rules.count, rules.to_play
    level = make_level(game, evaluation, depth - 1)

    @jitable
    def own_score(state: Any, k: int, bound: int) -> int:
        """Return the mover's score of its k-th action, exact if it is above `bound`."""
        child = step(state, nth(state, k))
        if to_play(state) == 0:
            return level(child, bound, INFINITY)
        return -level(child, -INFINITY, -bound)

    @jitable
    def choose_first(state: Any, key: np.uint64, counter: np.uint64) -> tuple[int, np.uint64]:
        best, chosen = -INFINITY, 0
        for k in range(count(state)):
            score = own_score(state, k, best)
            if score > best:
                best, chosen = score, k
        return nth(state, chosen), counter

    @jitable
    def choose_any(state: Any, key: np.uint64, counter: np.uint64) -> tuple[int, np.uint64]:
        best, equal, chosen = -INFINITY, 0, 0
        for k in range(count(state)):
            # One below the best: an equal score is then exact.
            score = own_score(state, k, best - 1)
            if score > best:
                best, equal, chosen = score, 1, k
            elif score == best:
                equal += 1
        if equal == 1:
            return nth(state, chosen), counter
        skip = below(draw(key, counter), equal)
        for k in range(count(state)):
            if own_score(state, k, best - 1) == best:
                if skip == 0:
                    chosen = k
                    break
                skip -= 1
        return nth(state, chosen), counter + ONE

    return choose_any if random_ties else choose_first
