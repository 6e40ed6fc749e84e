"""The exam "Le jeu d'Awalé" (ENS 2016), question by question: its name, ours, and the answers for a number u0.

Run:  python examples/ens2016_awale.py --u0 42        (the last question needs the extra `fast`)

What the oral questions ask is answered in docs/sources.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from board_envs.games.awale.configurations import (
    Configuration,
    anti_moves,
    binomials,
    code,
    configurations,
    coup,
    decode,
    from_code,
    gain,
    is_terminal,
    playable,
    rotation,
    vector,
)
from board_envs.types import MissingExtraError

A, C, M = 1103515245, 12345, 2**31
SEVEN, TWENTY_FOUR = 3432, 2629575
"""How many 4-Awalé configurations hold 7 and 24 seeds."""


HERE = "board_envs.games.awale.configurations"
QUESTIONS = {
    "1": ("the sequences mod 37", "u, v7, v24, w7, w24", "Numbers in this file"),
    "2": ("binomial coefficients", "(j i)", "binomials"),
    "3": ("vectors of numbers", "enc, dec", "encode, decode"),
    "4": ("configurations of codes", "E, D", "code, from_code, vector"),
    "5": ("seeds, but nothing playable", "jouable", "playable"),
    "6": ("playable pits, and the largest harvest", "coup, gain", "coup, gain"),
    "7": ("terminal configurations", "terminale", "is_terminal"),
    "8": ("codes of rotations", "rotation", "rotation"),
    "9": ("anti-moves, and the sum of their codes mod 37", "anti-coup", "anti_moves"),
    "10": ("children that are missing, and the bound", "initialisation, Instable(t; k)", "initialise in this file"),
    "11": ("iteration and score", "convergence, Stable(s)", "converge in this file"),
    "12": ("scores of 24 seeds", "score", "board_agents.games.awale.Tables.solve, .probe"),
}
"""Number -> (what is asked, the exam's name, ours; the functions of `HERE` without their module)."""


class Numbers:
    """The exam's five sequences for one u0; indices start at 0, as u does."""

    def __init__(self, u0: int) -> None:
        self._u = [u0]

    def u(self, n: int) -> int:
        """u[n+1] = (A u[n] + C) mod M."""
        while len(self._u) <= n:
            self._u.append((A * self._u[-1] + C) % M)
        return self._u[n]

    def v7(self, n: int) -> int:
        """A rank among the 7-configurations."""
        return SEVEN * self.u(n) // M

    def v24(self, n: int) -> int:
        """A rank among the 24-configurations."""
        return TWENTY_FOUR * self.u(n) // M

    def w7(self, n: int) -> int:
        """The code of a 7-configuration."""
        return 7 + 25 * self.v7(n)

    def w24(self, n: int) -> int:
        """The code of a 24-configuration."""
        return 24 + 25 * self.v24(n)


def drawn(w: Callable[[int], int]) -> Iterator[tuple[int, Configuration]]:
    """(n, D(w[n])) for n = 1, 2, ..."""
    return ((n, from_code(w(n))) for n in count(1))


def first(w: Callable[[int], int], property_of: Callable[[Configuration], int], values: range) -> dict[int, int]:
    """For each value the smallest n >= 1 whose configuration has it as `property_of`."""
    found: dict[int, int] = {}
    for n, configuration in drawn(w):
        value = property_of(configuration)
        if value in values:
            found.setdefault(value, n)
        if len(found) == len(values):
            return found
    raise AssertionError("the sequence has no end")


def first_three(w: Callable[[int], int], holds: Callable[[Configuration], bool]) -> list[int]:
    """The three smallest n >= 1 whose configuration has the property."""
    matching = (n for n, configuration in drawn(w) if holds(configuration))
    return [next(matching) for _ in range(3)]


def answers(u0: int) -> dict[str, list[Any]]:
    """Return the answers, one list a question."""
    numbers = Numbers(u0)
    u, v7, v24, w7, w24 = numbers.u, numbers.v7, numbers.v24, numbers.w7, numbers.w24
    out: dict[str, list[Any]] = {}

    out["1"] = [(u(1) % 37, v7(1) % 37, w7(1) % 37)] + [(u(n) % 37, v24(n) % 37, w24(n) % 37) for n in (1000, 1000000)]

    triangle = binomials(32, 8)
    pairs = [(4 + u(n) % 4, u(n + 1) % 20) for n in (10, 12, 14)]
    out["2"] = [triangle[i + 5 + more][i] for i, more in pairs]

    out["3"] = [decode(v7(n), 7) for n in (1, 2, 3)] + [decode(v24(n), 7) for n in (4, 5, 6)]
    out["4"] = [from_code(w7(n)) for n in (1, 2, 3)] + [from_code(w24(n)) for n in (4, 5, 6)]
    assert [vector(a) for a in out["4"]] == out["3"]

    out["5"] = list(first_three(w7, lambda a: any(a[:4]) and is_terminal(a)))

    by_playable = first(w24, lambda a: len(playable(a)), range(5))
    out["6"] = [by_playable[0]]
    for k in range(1, 5):
        chosen = from_code(w24(by_playable[k]))
        out["6"].append((by_playable[k], max(gain(chosen, pit) for pit in playable(chosen))))

    out["7"] = list(first_three(w24, is_terminal))
    out["8"] = [code(rotation(from_code(w))) for w in (w7(30), w24(31), w24(32))]

    by_parents = first(w24, lambda a: len(anti_moves(a)), range(7))
    out["9"] = []
    for k in range(7):
        parents = anti_moves(from_code(w24(by_parents[k])))
        out["9"].append((by_parents[k], sum(code(parent) for parent, _ in parents) % 37))

    def initialise(a: Configuration) -> tuple[int, int]:
        """Return (children without a score, lower bound) from the test tables of fewer seeds."""
        missing, bound, seeds = 0, -sum(a), sum(a)
        for pit in playable(a):
            taken = gain(a, pit)
            if taken:
                left = seeds - taken
                score = u(code(rotation(coup(a, pit)))) % (2 * left + 1) - left
                bound = max(bound, taken - score)
            else:
                missing += 1
        return missing, bound

    by_missing = first(w7, lambda a: initialise(a)[0], range(5))
    out["10"] = [(by_missing[k], initialise(from_code(w7(by_missing[k])))[1]) for k in range(5)]

    stable = converge({a: initialise(a) for a in configurations(4, 7)}, 7)
    out["11"] = [stable.get(from_code(w7(n)), "mat") for n in range(80, 86)]
    return out


def converge(start: dict[Configuration, tuple[int, int]], seeds: int) -> dict[Configuration, tuple[int, int]]:
    """Return (iteration, score) of each configuration that becomes stable, from (missing children, bound) of all."""
    missing = {a: count for a, (count, _) in start.items()}
    bound = {a: lower for a, (_, lower) in start.items()}
    stable: dict[Configuration, tuple[int, int]] = {}
    for iteration in range(seeds + 1):

        def saturated(a: Configuration, wanted: int = seeds - iteration) -> bool:
            return a not in stable and (missing[a] == 0 or bound[a] == wanted)

        waiting = [a for a in start if saturated(a)]
        while waiting:
            child = waiting.pop()
            if child in stable:
                continue
            stable[child] = (iteration, bound[child])
            for parent, _ in anti_moves(rotation(child)):
                if parent not in stable:
                    missing[parent] -= 1
                    bound[parent] = max(bound[parent], -bound[child])
                    if saturated(parent):
                        waiting.append(parent)
    return stable


def answers_by_tables(u0: int) -> list[int]:
    """Return the answers to Q12, scores of 24-configurations: retrograde analysis of the whole game (needs numba)."""
    from board_agents.games.awale import Tables

    tables = Tables.solve(4, 24)
    return [tables.probe(from_code(Numbers(u0).w24(n))) for n in (90, 91, 92)]


def main() -> None:
    """Print the answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--u0", type=int, default=42, help="the number on the exam sheet, 0 to 2^31 - 1")
    u0 = parser.parse_args().u0
    if not 0 <= u0 < M:
        parser.error(f"--u0 must be from 0 to {M - 1}, not {u0}")
    print(f"u0 = {u0}; functions without a module are those of {HERE}")
    for question, parts in answers(u0).items():
        show(question, parts)
        if question == "4":
            for letter, configuration in zip("abcdef", parts, strict=True):
                print(f"  {letter})", *sheet(configuration), sep="\n    ")
    try:
        show("12", answers_by_tables(u0))
    except MissingExtraError as error:
        print(f"Q12: not answered: {error}")


def show(question: str, parts: list[Any]) -> None:
    """Print what a question asks, the exam's name and ours, and the answers."""
    asked, theirs, ours = QUESTIONS[question]
    print(f"\nQ{question}. {asked}\n    {theirs}  ->  {ours}")
    print(f"Q{question}: " + "  ".join(f"{letter}) {part}" for letter, part in zip("abcdefg", parts, strict=False)))


def sheet(configuration: Configuration) -> list[str]:
    """Draw a configuration as the answer sheet does: both rows, the other's from the right, and the pits' numbers."""
    half = len(configuration) // 2
    width = max(3, *(len(str(seeds)) for seeds in configuration))
    other, mine = range(2 * half - 1, half - 1, -1), range(half)
    rows = (
        [f"({pit})" for pit in other],
        [str(configuration[pit]) for pit in other],
        [str(configuration[pit]) for pit in mine],
        [f"({pit})" for pit in mine],
    )
    return [" ".join(cell.center(width) for cell in row).rstrip() for row in rows]


if __name__ == "__main__":
    main()
