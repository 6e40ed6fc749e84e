"""Nim."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import permutations

import numpy as np

from board_envs.game import About, Game, Symmetry, check_int
from board_envs.games.nim.forms import make_forms
from board_envs.games.nim.notation import NimNotation
from board_envs.games.nim.rules import State, make_rules
from board_envs.types import Int8

__all__ = ["State", "make"]

SAMPLES = ({"heaps": (1, 3), "misere": True},)

HEAPS_LIMIT, SIZE_LIMIT = 8, 127


def make(heaps: Sequence[int] = (3, 4, 5), misere: bool = False) -> Game[State]:
    """Return Nim.

    Args:
        heaps: initial sizes, 1 to 8 heaps of 1 to 127 objects (eight bits a heap in a word; int8 observations).
        misere: False, whoever takes the last object wins; True, loses.

    """
    if isinstance(heaps, (str, bytes)) or not isinstance(heaps, (Sequence, np.ndarray)):
        raise ValueError(f"nim: heaps must be a sequence of sizes, not {heaps!r}")
    if not 1 <= len(heaps) <= HEAPS_LIMIT:
        raise ValueError(f"nim: there must be 1 to {HEAPS_LIMIT} heaps, not {len(heaps)}")
    if not isinstance(misere, (bool, np.bool_)):
        raise ValueError(f"nim: misere must be True or False, not {misere!r}")
    sizes = tuple(check_int("nim", f"heap {number}", size, 1, SIZE_LIMIT) for number, size in enumerate(heaps, 1))
    return _make(sizes, bool(misere))


@functools.cache
def _make(heaps: tuple[int, ...], misere: bool) -> Game[State]:
    def decode(observation: Int8, seat: int) -> State:
        return State(np.uint64(sum(int(size) << (8 * heap) for heap, size in enumerate(observation.tolist()))), seat)

    bases = np.concatenate([[0], np.cumsum(heaps)])

    def symmetries() -> tuple[Symmetry, ...]:
        # Heaps that began equal can change places.
        result = []
        for order in permutations(range(len(heaps))):
            if all(heaps[heap] == heaps[image] for heap, image in enumerate(order)):
                actions = np.concatenate([np.arange(bases[heap], bases[heap + 1]) for heap in order])
                result.append(Symmetry(np.array(order, np.intp), actions.astype(np.intp)))
        return tuple(result)

    return Game(
        name="nim",
        parameters={"heaps": heaps, "misere": misere},
        rules=make_rules(heaps, misere),
        notation=NimNotation(heaps, misere),
        num_actions=sum(heaps),
        observation_shape=(len(heaps),),
        observation_high=max(heaps),
        max_plies=sum(heaps),
        unit="win",
        decoder=decode,
        symmetries=symmetries,
        outside_forms=make_forms,
        about=About(
            title="Nim",
            summary="take any number of objects from one heap; whoever takes the last one "
            + ("loses" if misere else "wins"),
            axes=("heap: how many objects it holds; the same for both seats",),
            planes=(),
            actions="count - 1 + the initial sizes of the heaps before the one taken from",
            end="all heaps are empty",
            length="every move takes an object or more",
        ),
    )
