"""Configurations of Awalé as tuples of numbers, the way the source writes them, and their codes.

A configuration is 2P numbers: the mover's pits 0 .. P-1, then the other's P .. 2P-1, anticlockwise. The functions here
are exact and check what they are given; they are for tests, tables and people, the fast ones are in ``rules.py``.

Source: "Le jeu d'Awalé" (entrance exam of the French Écoles normales supérieures, 2016), sections 2 to 4.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import comb
from typing import TypeAlias

from board_envs.games.awale.rules import PITS_LIMIT, SEEDS_LIMIT, State, make_moves, pits_of, row_of

Configuration: TypeAlias = tuple[int, ...]


def check(configuration: Sequence[int]) -> Configuration:
    """Return the configuration as a tuple; ValueError if it is malformed."""
    pits = tuple(int(seeds) for seeds in configuration)
    if len(pits) % 2 or not 2 <= len(pits) <= 2 * PITS_LIMIT:
        raise ValueError(f"a configuration has 2 to {2 * PITS_LIMIT} pits, an even number, not {len(pits)}")
    if min(pits) < 0:
        raise ValueError(f"a pit holds no negative number of seeds: {pits}")
    if sum(pits) > SEEDS_LIMIT:
        raise ValueError(f"{sum(pits)} seeds are more than {SEEDS_LIMIT}")
    return pits


def configuration_of(state: State, pits: int) -> Configuration:
    """Return the configuration of a state: the mover's row, then the other's."""
    mine, other = (state.row0, state.row1) if state.seat == 0 else (state.row1, state.row0)
    return pits_of(mine, pits) + pits_of(other, pits)


# -- moves ------------------------------------------------------------------------------------------------------------


def rotation(configuration: Sequence[int]) -> Configuration:
    """Return what the other player sees."""
    pits = check(configuration)
    half = len(pits) // 2
    return pits[half:] + pits[:half]


def _play(configuration: Sequence[int], pit: int, ruleset: str) -> tuple[Configuration, int]:
    pits = check(configuration)
    half = len(pits) // 2
    if not 0 <= pit < half or not pits[pit]:
        raise ValueError(f"pit {pit} of {pits} has nothing that the mover can sow")
    mine, other, gain = make_moves(half, ruleset).play(row_of(pits[:half]), row_of(pits[half:]), pit)
    return pits_of(mine, half) + pits_of(other, half), int(gain)


def sow(configuration: Sequence[int], pit: int) -> Configuration:
    """Return the configuration after sowing the mover's pit, before any harvest, not rotated."""
    pits = check(configuration)
    half = len(pits) // 2
    if not 0 <= pit < half or not pits[pit]:
        raise ValueError(f"pit {pit} of {pits} has nothing that the mover can sow")
    mine, other, _ = make_moves(half, "tamale").sow(row_of(pits[:half]), row_of(pits[half:]), pit)
    return pits_of(mine, half) + pits_of(other, half)


def coup(configuration: Sequence[int], pit: int, ruleset: str = "tamale") -> Configuration:
    """Return the configuration after sowing and harvest, not rotated."""
    return _play(configuration, pit, ruleset)[0]


def gain(configuration: Sequence[int], pit: int, ruleset: str = "tamale") -> int:
    """Return how many seeds sowing the mover's pit harvests."""
    return _play(configuration, pit, ruleset)[1]


def playable(configuration: Sequence[int], ruleset: str = "tamale") -> list[int]:
    """List the mover's playable pits."""
    pits = check(configuration)
    half = len(pits) // 2
    word = int(make_moves(half, ruleset).playable(row_of(pits[:half]), row_of(pits[half:])))
    return [pit for pit in range(half) if word >> pit & 1]


def is_terminal(configuration: Sequence[int], ruleset: str = "tamale") -> bool:
    """Whether the mover has no playable pit."""
    return not playable(configuration, ruleset)


def anti_moves(configuration: Sequence[int], ruleset: str = "tamale") -> list[tuple[Configuration, int]]:
    """List (A', pit) such that the playable `pit` makes this configuration of A' without a harvest; no rotation."""
    pits = check(configuration)
    half, lap = len(pits) // 2, len(pits) - 1
    found = []
    for pit in range(half):
        # The origin is empty after its own sowing.
        if pits[pit]:
            continue
        for seeds in range(1, sum(pits) + 1):
            before = list(pits)
            before[pit] = seeds
            for step in range(1, len(pits)):
                before[(pit + step) % len(pits)] -= seeds // lap + (step <= seeds % lap)
            if min(before) < 0:
                break
            if pit in playable(before, ruleset) and _play(before, pit, ruleset) == (pits, 0):
                found.append((tuple(before), pit))
    return found


# -- codes ------------------------------------------------------------------------------------------------------------


@functools.cache
def binomials(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """Return Pascal's triangle: entry [n][k] is n choose k, n < rows, k < columns."""
    table = [[1] + [0] * (columns - 1)]
    for n in range(1, rows):
        table.append([1] + [table[n - 1][k - 1] + table[n - 1][k] for k in range(1, columns)])
    return tuple(tuple(row) for row in table[:rows])


def count(pits: int, seeds: int) -> int:
    """Return how many configurations of `pits` a side hold `seeds` seeds."""
    return comb(seeds + 2 * pits - 1, seeds)


def vector(configuration: Sequence[int]) -> tuple[int, ...]:
    """Return the source's vector c: where the walls between the pits stand, without the last pit."""
    walls, position = [], -1
    for seeds in check(configuration)[:-1]:
        position += seeds + 1
        walls.append(position)
    return tuple(walls)


def encode(walls: Sequence[int]) -> int:
    """Return enc(c): the rank of a vector among all increasing ones of its length."""
    if any(low >= high for low, high in pairwise(walls)) or (walls and walls[0] < 0):
        raise ValueError(f"the vector must increase from 0 or more: {tuple(walls)}")
    return sum(comb(wall, place) for place, wall in enumerate(walls, 1))


def decode(rank: int, length: int) -> tuple[int, ...]:
    """Return dec: the vector of `length` numbers whose `encode` is `rank`, 0 or more."""
    if rank < 0:
        raise ValueError(f"a rank is 0 or more, not {rank}")
    walls = []
    for place in range(length, 0, -1):
        # Doubling, then halving: the largest wall with comb(wall, place) <= rank.
        high = place
        while comb(high, place) <= rank:
            high *= 2
        low = place - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if comb(middle, place) <= rank else (low, middle)
        walls.append(low)
        rank -= comb(low, place)
    return tuple(reversed(walls))


def rank(configuration: Sequence[int]) -> int:
    """Return the configuration's place among those with as many seeds, from 0; all seeds in the last pit is first."""
    return encode(vector(configuration))


def unrank(number: int, seeds: int, pits: int) -> Configuration:
    """Return the configuration of `pits` a side and `seeds` seeds at a place; the inverse of `rank`."""
    if not 0 <= seeds <= SEEDS_LIMIT or not 1 <= pits <= PITS_LIMIT:
        raise ValueError(f"0 to {SEEDS_LIMIT} seeds and 1 to {PITS_LIMIT} pits a side, not {seeds} and {pits}")
    if not 0 <= number < count(pits, seeds):
        raise ValueError(f"{seeds} seeds in {2 * pits} pits have ranks 0 to {count(pits, seeds) - 1}, not {number}")
    walls = decode(number, 2 * pits - 1)
    return tuple(b - a - 1 for a, b in zip((-1, *walls), (*walls, seeds + 2 * pits - 1), strict=True))


def code(configuration: Sequence[int], total: int = 24) -> int:
    """Return E(A) = n + (total + 1) enc(c) for a configuration of n <= `total` seeds."""
    seeds = sum(configuration)
    if seeds > total:
        raise ValueError(f"{seeds} seeds are more than the total of {total}")
    return seeds + (total + 1) * rank(configuration)


def from_code(number: int, pits: int = 4, total: int = 24) -> Configuration:
    """Return D(g), the configuration with this code; the inverse of `code`."""
    if number < 0:
        raise ValueError(f"a code is 0 or more, not {number}")
    return unrank(number // (total + 1), number % (total + 1), pits)


def configurations(pits: int, seeds: int) -> Iterator[Configuration]:
    """Iterate over all configurations of `seeds` seeds in the order of `rank`."""
    walls = list(range(2 * pits - 1))
    size = seeds + 2 * pits - 1
    while True:
        yield tuple(b - a - 1 for a, b in zip((-1, *walls), (*walls, size), strict=True))
        # The next vector: the first wall that has room moves up, those below it return to their start.
        place = 0
        while walls[place] + 1 == (walls[place + 1] if place + 1 < len(walls) else size):
            place += 1
            if place == len(walls):
                return
        walls[place] += 1
        walls[:place] = range(place)
