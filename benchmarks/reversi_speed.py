"""Speed of Reversi's compiled parts, each tier, beside rust_reversi and pgx where they are installed.

    pip install rust_reversi pgx        # the peers; both optional
    python benchmarks/reversi_speed.py [--repeat 5] [--tiers vector portable]

Figures are medians of processor seconds, those of all threads together for pgx; compilation is timed apart. A position
is a move played in a random game from the start to the end; each peer's loop is the fastest that its public interface
offers from Python.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable

import board_envs
from board_agents.games.reversi.playouts import perft, playouts
from board_envs.games.reversi.tiers import tier_names


def median_seconds(work: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def rust_reversi_playouts(count: int) -> int:
    from rust_reversi import Board

    plies = 0
    for _ in range(count):
        board = Board()
        while not board.is_game_over():
            if board.is_pass():
                board.do_pass()
            else:
                board.do_move(board.get_random_move())
                plies += 1
    return plies


def pgx_playouts(batch: int) -> Callable[[], int]:
    import jax
    import jax.numpy as jnp
    import pgx

    env = pgx.make("othello")
    initial, step = jax.vmap(env.init), jax.vmap(env.step)

    @jax.jit
    def run(key: jax.Array) -> jax.Array:
        state = initial(jax.random.split(key, batch))

        def more(carry: tuple[object, jax.Array, jax.Array]) -> jax.Array:
            return ~carry[0].terminated.all()

        def play(carry: tuple[object, jax.Array, jax.Array]) -> tuple[object, jax.Array, jax.Array]:
            at, random, plies = carry
            random, now = jax.random.split(random)
            logits = jnp.where(at.legal_action_mask, 0.0, -jnp.inf)
            action = jax.random.categorical(now, logits, axis=-1)
            plies += ((action < 64) & ~at.terminated).sum()
            return step(at, action), random, plies

        return jax.lax.while_loop(more, play, (state, key, jnp.int32(0)))[2]

    keys = iter(range(1 << 30))
    return lambda: int(run(jax.random.PRNGKey(next(keys))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tiers", nargs="+", default=tier_names())
    parser.add_argument("--depth", type=int, default=11, help="of the leaf count")
    parser.add_argument("--games", type=int, default=100_000)
    options = parser.parse_args()
    game = board_envs.make_game("reversi")
    start = game.initial_state()

    speed = {}
    for tier in options.tiers:
        begun = time.perf_counter()
        perft(game, 1, tier)
        _, plies = playouts(game, start, 1, 0, tier)
        compiled = time.perf_counter() - begun
        _, plies = playouts(game, start, options.games, 1, tier)
        leaves = perft(game, options.depth, tier)
        leaf_time = median_seconds(lambda: perft(game, options.depth, tier), options.repeat)
        play_time = median_seconds(lambda: playouts(game, start, options.games, 1, tier), options.repeat)
        speed[tier] = plies / play_time / 1e6
        print(
            f"{tier}: perft {options.depth} {leaves / leaf_time / 1e6:.0f} M nodes/s, playouts {speed[tier]:.1f} M"
            f" positions/s (compiled or loaded in {compiled:.1f} s)",
            flush=True,
        )
    best = max(speed.values())
    if importlib.util.find_spec("rust_reversi") is not None:
        plies = rust_reversi_playouts(1000)
        rate = plies / median_seconds(lambda: rust_reversi_playouts(1000), options.repeat) / 1e6
        print(f"rust_reversi: playouts {rate:.2f} M positions/s; ours is {best / rate:.0f} times that")
    if importlib.util.find_spec("pgx") is not None:
        rates = []
        for batch in (256, 1024, 4096):
            run = pgx_playouts(batch)
            plies = run()
            rates.append(plies / median_seconds(run, options.repeat) / 1e6)
        rate = max(rates)
        print(f"pgx: playouts {rate:.3f} M positions/s (best batch); ours is {best / rate:.0f} times that")


if __name__ == "__main__":
    main()
