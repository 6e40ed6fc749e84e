"""Tabular Q-learning learns Nim, or a small Awalé, by self-play, until an exact oracle finds no error.

    python examples/train_tabular_q.py nim --heaps 3 4 5
    python examples/train_tabular_q.py awale --pits 2 --seeds 3

One environment serves both seats (``opponent=None``): a step is one move, ``info["to_play"]`` is the seat to move
next, and the change of ``info["margin"]`` is what the move won: +-1 at the end of a game of Nim, seeds in Awalé. The
Q-table contains the value of each move for its mover, so the next mover's value counts negatively:

    Q(position, move) = won by the move + (max Q(next position, .) if the same seat moves on, minus it otherwise)

The rules are deterministic: the newest value replaces the old one (a learning rate of 1). Games start anywhere
(exploring starts) and moves tried least often are tried first, so that all of the game is seen.

The proof asks the oracle: in every position that play from the start can reach, the table's best move is made in an
environment with ``oracle="default"``, and ``info["regret"]`` is its loss of value. Zero everywhere is perfect play.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import board_envs
from board_envs.game import Game
from board_envs.games.awale import memory
from board_envs.registration import gymnasium_id


def key_of(game: Game[Any], state: Any) -> Hashable:
    """Return the Q-table's key of a position: all that its value depends on.

    That is what the mover sees and, in Awalé, which earlier positions could come back: a repetition ends the game.
    """
    seen = game.observe(state, game.current_player(state)).tobytes()
    return (seen, frozenset(map(tuple, memory(state).tolist()))) if game.rules.has_memory else seen


@dataclass
class Table:
    """What has been learned.

    Attributes:
        game: the game.
        values: position -> value of each action for the mover, float64 (n,); minus infinity where it is illegal.
        tries: position -> how often each action was tried, int64 (n,).

    """

    game: Game[Any]
    values: dict[Hashable, NDArray[np.float64]] = field(default_factory=dict)
    tries: dict[Hashable, NDArray[np.int64]] = field(default_factory=dict)

    def look_up(self, key: Hashable, mask: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return the values of a position, zeros when it is new."""
        if key not in self.values:
            self.values[key] = np.where(mask == 1, 0.0, -np.inf)
            self.tries[key] = np.zeros(len(mask), np.int64)
        return self.values[key]

    def act(self, observation: Mapping[str, NDArray[Any]], state: Any) -> int:
        """Return the best action: the Q-table is an agent for the arena and the environments."""
        return int(self.look_up(key_of(self.game, state), observation["action_mask"]).argmax())

    def reset(self, seed: int | None = None) -> None:
        """Begin a game: nothing to do."""


def play_and_learn(
    env: gymnasium.Env[Any, Any], table: Table, start: Any, explore: float, rng: np.random.Generator
) -> None:
    """Play one game against oneself and learn from its end to its start.

    Args:
        env: made with ``opponent=None``.
        table: is brought up to date.
        start: the state to begin with.
        explore: probability that a move is the one tried least often rather than the best known.
        rng: decides that, and between equals.

    """
    board: Any = env.unwrapped
    _, info = env.reset(options={"state": start})
    moves: list[tuple[Hashable, int, float, bool]] = []
    over = False
    while not over:
        key, seat, margin = key_of(table.game, board.game_state), info["to_play"], info["margin"]
        values, legal = table.look_up(key, info["action_mask"]), np.flatnonzero(info["action_mask"])
        liking = -table.tries[key][legal] if rng.random() < explore else values[legal]
        best = legal[liking == liking.max()]
        action = int(best[rng.integers(len(best))])
        _, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        won = (info["margin"] - margin) * (1 if seat == 0 else -1)
        moves.append((key, action, won, info["to_play"] == seat))
    after = 0.0
    for key, action, won, moves_on in reversed(moves):
        table.values[key][action] = won + (after if moves_on else -after)
        table.tries[key][action] += 1
        after = float(table.values[key].max())


def positions(game: Game[Any]) -> list[Any]:
    """Return a state of every position that play from the start can reach and that is not over."""
    found = {key_of(game, game.initial_state()): game.initial_state()}
    waiting = list(found.values())
    while waiting:
        state = waiting.pop()
        for action in game.legal_actions(state):
            after = game.step(state, action)
            key = key_of(game, after)
            if key not in found and not game.is_terminal(after):
                found[key] = after
                waiting.append(after)
    return list(found.values())


def regrets(env: gymnasium.Env[Any, Any], table: Table, states: list[Any]) -> NDArray[np.float64]:
    """Return the regret of the Q-table's best move in each position, by the environment's oracle.

    Args:
        env: made with ``opponent=None`` and an oracle.
        table: the Q-table to evaluate.
        states: the positions.

    Raises:
        ValueError: the oracle has no answer for a position (the game is too large for it).

    """
    result = np.empty(len(states))
    for i, state in enumerate(states):
        _, info = env.reset(options={"state": state})
        action = int(table.look_up(key_of(table.game, state), info["action_mask"]).argmax())
        result[i] = env.step(action)[4]["regret"]
    if np.isnan(result).any():
        raise ValueError(f"the oracle does not know all positions of {table.game!r}; choose a smaller size")
    return result


@dataclass(frozen=True)
class Outcome:
    """What a training came to.

    Attributes:
        table: the learned Q-table.
        positions: how many positions the game has.
        episodes: how many games were played.
        imperfect: in how many positions the best move gives something away.
        worst_regret: the most that one gives away.
        seconds: how long it took, proof included.

    """

    table: Table
    positions: int
    episodes: int
    imperfect: int
    worst_regret: float
    seconds: float


def train(
    name: str, parameters: Mapping[str, Any], *, episodes: int, check_every: int, explore: float = 0.9, seed: int = 0
) -> Outcome:
    """Learn a game until its oracle finds no fault, or the episodes are used up.

    Args:
        name: the game's, e.g. "nim".
        parameters: its parameters.
        episodes: at most this many games are played.
        check_every: games between two proofs.
        explore: probability of trying a move rather than playing the best one known.
        seed: of all chance.

    """
    begun = time.perf_counter()
    game = board_envs.make_game(name, **parameters)
    env = gymnasium.make(gymnasium_id(name), opponent=None, **parameters)
    judge = gymnasium.make(gymnasium_id(name), opponent=None, oracle="default", **parameters)
    table, rng, states = Table(game), np.random.default_rng(seed), positions(game)
    env.reset(seed=seed)
    played, lost = 0, np.full(len(states), np.inf)
    order = rng.permutation(len(states))
    while played < episodes and lost.any():
        for _ in range(min(check_every, episodes - played)):
            if played % len(states) == 0:  # each position starts one game before any starts another
                order = rng.permutation(len(states))
            play_and_learn(env, table, states[order[played % len(states)]], explore, rng)
            played += 1
        lost = regrets(judge, table, states)
        left = (episodes - played) * (time.perf_counter() - begun) / played
        print(
            f"{played} games: regret in {np.count_nonzero(lost)} of {len(states)} positions, {left:.0f} s left at most",
            file=sys.stderr,
        )
    return Outcome(
        table, len(states), played, int(np.count_nonzero(lost)), float(lost.max()), time.perf_counter() - begun
    )


def main() -> None:
    """Read the arguments, train, print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--episodes", type=int, default=200_000, help="games to play at most (%(default)s)")
    common.add_argument("--check-every", type=int, default=10_000, help="games between two proofs (%(default)s)")
    common.add_argument("--explore", type=float, default=0.9, help="share of moves tried, not known (%(default)s)")
    common.add_argument("--seed", type=int, default=0, help="of all chance (%(default)s)")
    games = parser.add_subparsers(dest="game", required=True)
    nim = games.add_parser("nim", parents=[common])
    nim.add_argument("--heaps", type=int, nargs="+", default=[3, 4, 5], help="objects in each heap (3 4 5)")
    nim.add_argument("--misere", action="store_true", help="whoever takes the last object loses")
    awale = games.add_parser("awale", parents=[common])
    awale.add_argument("--pits", type=int, default=2, help="pits a side (%(default)s)")
    awale.add_argument("--seeds", type=int, default=3, help="seeds a pit at the start (%(default)s)")
    given = vars(parser.parse_args())
    options = {key: given.pop(key) for key in ("episodes", "check_every", "explore", "seed")}
    outcome = train(given.pop("game"), given, **options)
    print(
        f"{outcome.episodes} games in {outcome.seconds:.1f} s: regret 0 in {outcome.positions - outcome.imperfect} of"
        f" {outcome.positions} positions, at most {outcome.worst_regret:g} {outcome.table.game.unit}"
    )
    if outcome.imperfect:
        raise SystemExit("play is not perfect yet: allow more --episodes")


if __name__ == "__main__":
    main()
