"""Compare the speed of this checkout with that of another one, piece by piece.

    git worktree add /tmp/before v0.1.0
    python benchmarks/paired.py --against /tmp/before                     # every piece
    python benchmarks/paired.py --against /tmp/before 'aec-raw/*' step/*  # some; --list names them all

Each piece does a fixed amount of work. A process for each checkout does it once to compile; then the two take turns,
each pair in the other order than the pair before, with as many repetitions as take the other checkout ``--seconds`` of
CPU time. The ratio of a pair is the other's CPU time over ours, so above 1 we are faster; the median of the ratios
is printed with their quartiles, and CPU time a repetition on both sides. Pieces below ``start/`` are whole processes,
those that end in "cold" with an empty folder of compiled code. Both checkouts run in the same Python and share a folder
of compiled code, where neither takes the other's. The exit status is 1 if a median is below ``--least``.

On a machine that others use, a median of five short pairs is good to some percent: measure again what looks slower.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
GAMES = ("awale", "connect-four", "nim", "reversi")
ROWS = 1024
STARTS = {
    "import board_envs": "import board_envs",
    "import board_agents": "import board_agents",
    "make_agent": "import board_agents, board_envs; board_agents.make_agent('mcts', board_envs.make_game('nim'))",
    "aec": "import board_envs; env = board_envs.connect_four_v0.env(); env.reset(seed=0); env.last(); env.step(3)",
    "gymnasium": (
        "import gymnasium, board_envs; env = gymnasium.make('board_envs/ConnectFour-v0'); env.reset(); env.step(3)"
    ),
    **{
        f"make_vec {game} {state}": "import gymnasium, board_envs\n"
        f"env = gymnasium.make_vec('board_envs/{game.title().replace('-', '')}-v0', num_envs={ROWS})\n"
        "env.reset(seed=0); from board_envs.random import Stream; env.step(env.random_actions(Stream.seeded(0)))"
        for game in GAMES
        for state in ("warm", "cold")
    },
    **{
        f"{agent} {state}": "import board_agents, board_envs; game = board_envs.make_game('reversi')\n"
        f"board_agents.make_agent('{agent}:compiled=true', game).act({{}}, game.initial_state())"
        for agent in ("alpha-beta", "mcts")
        for state in ("warm", "cold")
    },
}
"""Whole processes by name."""

Run = Callable[[], object]
PIECES: dict[str, Callable[..., Run]] = {}
"""By the first part of their names: functions that take the rest of the name, prepare a piece, and return its work."""
NAMES: list[str] = [f"start/{name}" for name in STARTS]


def piece(prefix: str, *kinds: str) -> Callable[[Callable[..., Run]], Callable[..., Run]]:
    """Add a piece for each kind, for each game if none is given."""

    def mark(prepare: Callable[..., Run]) -> Callable[..., Run]:
        PIECES[prefix] = prepare
        NAMES.extend(f"{prefix}/{kind}" for kind in kinds or GAMES)
        return prepare

    return mark


# -- one game at a time -----------------------------------------------------------------------------------------------


def random_games(name: str, number: int) -> list[list[int]]:
    """Return the actions of random games, the same on both sides."""
    from board_envs import make_game
    from board_envs.random import Stream

    game, stream, games = make_game(name), Stream.seeded(0), []
    for _ in range(number):
        state, actions = game.initial_state(), []
        while not game.is_terminal(state):
            legal = game.legal_actions(state)
            actions.append(legal[stream.below(len(legal))])
            state = game.step(state, actions[-1])
        games.append(actions)
    return games


def middle(name: str, plies: int = 6) -> Any:
    """Return a state after some random moves."""
    from board_envs import make_game

    game = make_game(name)
    state = game.initial_state()
    for action in random_games(name, 1)[0][: plies if name != "nim" else 1]:
        state = game.step(state, action)
    return game, state


def replay(env: Any, name: str, each: Callable[[Any, int], object]) -> Run:
    games = random_games(name, 10)

    def run() -> None:
        for actions in games:
            env.reset()
            for action in actions:
                each(env, action)

    return run


def last_and_step(env: Any, action: int) -> None:
    env.last()
    env.step(action)


@piece("aec-raw")
def aec_raw(name: str) -> Run:
    from board_envs.envs.aec import BoardAECEnv

    return replay(BoardAECEnv(name), name, last_and_step)


@piece("aec-raw-step")
def aec_raw_step(name: str) -> Run:
    from board_envs.envs.aec import BoardAECEnv

    return replay(BoardAECEnv(name), name, lambda env, action: env.step(action))


@piece("aec-wrapped")
def aec_wrapped(name: str) -> Run:
    from board_envs.envs.aec import BoardAECEnv, wrap

    return replay(wrap(BoardAECEnv(name)), name, last_and_step)


@piece("gymnasium")
def gymnasium_self_play(name: str) -> Run:
    from board_envs.envs.single import BoardEnv

    return replay(BoardEnv(name, opponent=None), name, lambda env, action: env.step(action))


@piece("gymnasium-random")
def gymnasium_random(name: str) -> Run:
    from board_envs.envs.single import BoardEnv
    from board_envs.random import Stream

    env = BoardEnv(name, opponent="random")

    def run() -> None:
        stream = Stream.seeded(0)
        mask = env.reset(seed=0)[1]["action_mask"]
        for _ in range(200):
            legal = mask.nonzero()[0]
            _, _, over, _, info = env.step(int(legal[stream.below(len(legal))]))
            mask = env.reset()[1]["action_mask"] if over else info["action_mask"]

    return run


@piece("functions")
def functions(name: str) -> Run:
    from board_envs import make_game

    game, games = make_game(name), random_games(name, 10)

    def run() -> None:
        for actions in games:
            state = game.initial_state()
            for action in actions:
                game.observe(state, game.current_player(state))
                game.legal_mask(state)
                state = game.step(state, action)

    return run


# -- many games at once -----------------------------------------------------------------------------------------------


@piece("self-play")
def self_play(name: str) -> Run:
    from board_envs import make_game
    from board_envs.envs.batch import SelfPlay

    env = SelfPlay(make_game(name), ROWS)
    return lambda: env.step_random(20)


@piece("vector", *(f"{game} {opponent} {mode}" for game in GAMES for opponent, mode in (
    ("self", "next-step"), ("random", "next-step"), ("self", "same-step"), ("random", "same-step"))))  # fmt: skip
def vector(name: str) -> Run:
    from gymnasium.vector import AutoresetMode

    from board_envs.envs.vector import BoardVectorEnv
    from board_envs.random import Stream

    game, opponent, mode = name.split()
    autoreset = AutoresetMode.NEXT_STEP if mode == "next-step" else AutoresetMode.SAME_STEP
    env = BoardVectorEnv(game, ROWS, opponent=None if opponent == "self" else opponent, autoreset_mode=autoreset)
    env.reset(seed=0)
    stream = Stream.seeded(0)

    def run() -> None:
        for _ in range(20):
            env.step(env.random_actions(stream))

    return run


@piece("random-actions")
def random_actions(name: str) -> Run:
    from board_envs.envs.vector import BoardVectorEnv
    from board_envs.random import Stream

    env, stream = BoardVectorEnv(name, ROWS, opponent=None), Stream.seeded(0)
    env.reset(seed=0)
    for _ in range(3):
        env.step(env.random_actions(stream))
    return lambda: env.random_actions(stream)


def some_states(name: str, rows: int = ROWS) -> tuple[Any, Any, Any]:
    """Return a batch, states of running games, and a legal action for each."""
    from board_envs import make_game
    from board_envs.envs.batch import Batch
    from board_envs.random import Stream

    batch, stream = Batch(make_game(name)), Stream.seeded(0)
    states = batch.initial(rows)
    for _ in range(6 if name != "nim" else 1):
        states = batch.step(states, batch.random_actions(states, stream))
    live = batch.status(states)[1] < 0
    states = type(states)(states.words[live], states.memory[live])
    return batch, states, batch.random_actions(states, stream)


@piece("step", *GAMES, *(f"{game} 8192" for game in GAMES))
def step(name: str) -> Run:
    game, _, rows = name.partition(" ")
    batch, states, actions = some_states(game, int(rows or ROWS))
    return lambda: batch.step(states, actions)


@piece("legal")
def legal(name: str) -> Run:
    batch, states, _ = some_states(name)
    return lambda: batch.legal(states)


@piece("status")
def status(name: str) -> Run:
    batch, states, _ = some_states(name)
    return lambda: batch.status(states)


@piece("batch-random-actions")
def batch_random_actions(name: str) -> Run:
    from board_envs.random import Stream

    batch, states, _ = some_states(name)
    return lambda: batch.random_actions(states, Stream.seeded(1))


@piece("playout")
def playout(name: str) -> Run:
    batch, states, _ = some_states(name)
    return lambda: batch.playout(states, 0)


# -- agents -----------------------------------------------------------------------------------------------------------


def search(name: str, spec: str) -> Run:
    from board_agents import make_agent
    from board_agents.agent import observation_of

    game, state = middle(name)
    agent, seen = make_agent(spec, game), observation_of(game, state)

    def run() -> None:
        agent.reset(seed=0)
        agent.act(seen, state)

    return run


@piece("alpha-beta")
def alpha_beta(name: str) -> Run:
    return search(name, "alpha-beta:depth=6,compiled=true")


@piece("alpha-beta-interpreted")
def alpha_beta_interpreted(name: str) -> Run:
    return search(name, "alpha-beta:depth=2,compiled=false")


@piece("mcts")
def mcts(name: str) -> Run:
    return search(name, "mcts:simulations=3000,compiled=true")


@piece("tournament")
def tournament(name: str) -> Run:
    from board_agents.arena.tournament import plan, play
    from board_envs import make_game

    agents = {"first": "alpha-beta:depth=2,compiled=true", "second": "alpha-beta:depth=2,ties=random,compiled=true"}
    game = make_game(name)
    return lambda: list(play(game, agents, plan(game, list(agents), 20, seed=0)))


@piece("solve", "connect-four", "reversi")
def solve(name: str) -> Run:
    """Solve a late position exactly."""
    from board_agents import make_oracle
    from board_envs import make_game

    game = make_game(name)
    left = {"connect-four": 24, "reversi": 14}[name]
    actions = random_games(name, 1)[0]
    state = game.initial_state()
    for action in actions[: max(0, {"connect-four": 42, "reversi": 60}[name] - left)]:
        after = game.step(state, action)
        if game.is_terminal(after):
            break
        state = after
    return lambda: make_oracle(game).action_values(state)


@piece("perft", "reversi")
def perft(name: str) -> Run:
    from board_agents.games.reversi.playouts import perft
    from board_envs import make_game

    game = make_game(name)
    return lambda: perft(game, 8)


@piece("tables", "build 4", "probe", "probe many")
def tables(kind: str) -> Run:
    import numpy as np

    from board_agents.games.awale import Tables
    from board_envs.games.awale import make

    if kind == "build 4":
        return lambda: Tables.solve(4, 14)
    solved = Tables.solve(4, 12)
    if kind == "probe":
        state = make(4, 2).parse("1,2,0,3,1,0,4,1")
        return lambda: [solved.probe(state) for _ in range(100)]
    seeds = np.random.default_rng(0).multinomial(12, [1 / 8] * 8, size=50_000).astype(np.uint8)
    rows = np.zeros((len(seeds), 2, 8), np.uint8)
    rows[:, 0, :4], rows[:, 1, :4] = seeds[:, :4], seeds[:, 4:]
    words = rows.view("<u8").reshape(len(seeds), 2)
    return lambda: solved.probe_many(words)


# -- the two sides ----------------------------------------------------------------------------------------------------


def work(name: str) -> None:
    """Be the process of one side: prepare a piece, then repeat it as often as each line of the input asks for."""
    import board_envs

    assert Path(board_envs.__file__).is_relative_to(os.environ["PYTHONPATH"].split(os.pathsep)[0])
    prefix, _, rest = name.partition("/")
    run = PIECES[prefix](rest)
    run()
    print("ready", flush=True)
    for line in sys.stdin:
        begun = time.process_time()
        for _ in range(int(line)):
            run()
        print(time.process_time() - begun, flush=True)


def environment(checkout: Path, code: str) -> dict[str, str]:
    """Return the variables under which a checkout is imported and keeps its compiled code."""
    path = os.pathsep.join([str(checkout), str(checkout / "agents")])
    return {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": code, "PYTHONHASHSEED": "0"}


class Worker:
    """One side's process."""

    def __init__(self, name: str, checkout: Path, code: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(checkout, code),
            text=True,
        )
        if self._read() != "ready":
            raise RuntimeError(f"{name} does not run in {checkout}")

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __call__(self, times: int) -> float:
        """Return the CPU seconds of some repetitions."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{times}\n")
        self._process.stdin.flush()
        return float(self._read())

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Start:
    """A process that is measured whole."""

    def __init__(self, name: str, checkout: Path, code: str) -> None:
        self._program, self._checkout, self._code = STARTS[name], checkout, code
        self._cold = name.endswith("cold")
        self()

    def __call__(self, times: int = 1) -> float:
        """Return the CPU seconds of some starts."""
        with tempfile.TemporaryDirectory() as empty:
            variables = environment(self._checkout, empty if self._cold else self._code)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            for _ in range(times):
                subprocess.run([sys.executable, "-c", self._program], env=variables, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def close(self) -> None:
        """Nothing is held open."""


def compare(name: str, other: Path, code: str, pairs: int, seconds: float) -> dict[str, Any]:
    """Measure a piece on both sides."""
    prefix, _, rest = name.partition("/")
    make = functools.partial(Start, rest) if prefix == "start" else functools.partial(Worker, name)
    sides = [make(HERE, code), make(other, code)]
    times = 1
    if prefix != "start":
        while (took := sides[1](times)) < seconds / 2:
            times = max(2 * times, int(times * seconds / max(took, seconds / 100)))
    taken: list[list[float]] = [[], []]
    for number in range(pairs):
        for side in (0, 1) if number % 2 else (1, 0):
            taken[side].append(sides[side](times) / times)
    for side in sides:
        side.close()
    ratios = sorted(theirs / ours for ours, theirs in zip(*taken, strict=True))
    low, median, high = statistics.quantiles(ratios, n=4) if pairs > 1 else ratios * 3
    ours, theirs = map(statistics.median, taken)
    return {"piece": name, "ratio": median, "quartiles": [low, high], "ours": ours, "theirs": theirs}


def describe() -> str:
    """Return the processor, the flags that compiled code depends on, and the versions."""
    import llvmlite.binding as llvm
    import numba
    import numpy as np

    flags = llvm.get_host_cpu_features()
    wanted = [flag for flag in ("bmi2", "avx2", "avx512f", "avx512vbmi", "gfni") if flags.get(flag)]
    return (
        f"{llvm.get_host_cpu_name()} ({platform.machine()}; {' '.join(wanted)}), {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}"
    )


def commit_of(checkout: Path) -> str:
    """Return what git calls a checkout."""
    called = ["git", "-C", str(checkout), "describe", "--always", "--dirty"]
    return subprocess.run(called, capture_output=True, text=True, check=False).stdout.strip() or "no git"


def chosen(patterns: list[str]) -> Iterator[str]:
    """Yield the pieces that the patterns name."""
    for pattern in patterns:
        if not fnmatch.filter(NAMES, pattern):
            sys.exit(f"unknown piece {pattern!r}; pieces: {', '.join(NAMES)}")
    for name in NAMES:
        if not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            yield name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pieces", nargs="*", help="names or patterns of pieces; all by default")
    parser.add_argument("--against", type=Path, help="the other checkout")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="CPU time of a run")
    parser.add_argument("--least", type=float, default=0.98, help="the ratio below which a piece counts as slower")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.add_argument("--list", action="store_true", help="print the names of the pieces")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    names = list(chosen(options.pieces))
    if options.list:
        print("\n".join(names))
        return
    if options.against is None or not (options.against / "board_envs").is_dir():
        parser.error("--against must name another checkout, a folder that holds board_envs/")
    other = options.against.resolve()
    print(f"{describe()}\n{commit_of(HERE)} against {commit_of(other)} ({other})", file=sys.stderr)
    slower = 0
    with tempfile.TemporaryDirectory() as folder:
        code = os.environ.get("NUMBA_CACHE_DIR") or folder
        for name in names:
            row = compare(name, other, code, options.pairs, options.seconds)
            slower += row["ratio"] < options.least
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            low, high = row["quartiles"]
            print(
                f"{name:34} {row['ratio']:6.3f} ({low:.3f} to {high:.3f})  ours {row['ours'] * 1e6:12.2f} us, other "
                f"{row['theirs'] * 1e6:12.2f} us{'  slower' if row['ratio'] < options.least else ''}",
                flush=True,
            )
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
