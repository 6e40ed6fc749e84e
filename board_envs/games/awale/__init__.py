"""Awalé."""

from __future__ import annotations

import functools

import numpy as np

from board_envs.game import About, Game, Symmetry, check_int
from board_envs.games.awale.forms import make_forms
from board_envs.games.awale.notation import AwaleNotation
from board_envs.games.awale.rules import PITS_LIMIT, RULESETS, SEEDS_LIMIT, State, make_rules, memory, own
from board_envs.types import Int8

_ENDS = {
    "tamale": "no move leaves the other a seed (the other takes what is on the board), or a position comes again (each "
    "takes half of what is left)",
    "abapa": "a store holds more than half of the seeds, the mover has no legal move, or a position comes again; "
    "each takes the seeds of its own row",
}

__all__ = ["PITS_LIMIT", "RULESETS", "SEEDS_LIMIT", "State", "make", "memory", "own"]

SAMPLES = ({"pits": 3, "seeds": 2, "ruleset": "abapa"},)


def make(pits: int = 6, seeds: int = 4, ruleset: str = "tamale") -> Game[State]:
    """Return Awalé.

    Args:
        pits: pits a side, 1 to 8 (eight bits a pit in a word); the source's 4-Awalé has 4.
        seeds: seeds a pit at the start, 1 or more; at most 127 in all (int8 observations). The 4-Awalé has 3.
        ruleset: "tamale", the source's rules, or "abapa", those of OpenSpiel's `oware`; see docs/rules.md.

    """
    name = "awale"
    pits = check_int(name, "pits", pits, 1, PITS_LIMIT)
    seeds = check_int(
        name, "seeds", seeds, 1, SEEDS_LIMIT // (2 * pits), f" with {pits} pits a side (at most {SEEDS_LIMIT} in all)"
    )
    if ruleset not in RULESETS:
        raise ValueError(f"{name}: ruleset must be {' or '.join(map(repr, RULESETS))}, not {ruleset!r}")
    if ruleset == "tamale" and pits == seeds == 1:
        raise ValueError(
            f"{name}: with pits=1, seeds=1 and ruleset 'tamale' the game would begin finished, as the only move takes "
            "all; seeds must be 2 or more"
        )
    return _make(pits, seeds, ruleset)


@functools.cache
def _make(pits: int, seeds: int, ruleset: str) -> Game[State]:
    notation = AwaleNotation(pits, seeds, ruleset)

    def decode(observation: Int8, seat: int) -> State:
        mine, other, store, other_store = observation.T[:4].tolist()
        return notation.position(mine + other, (store[0], other_store[0]), seat)

    def symmetries() -> tuple[Symmetry, ...]:
        # Sowing has a direction: only the identity.
        return (Symmetry(np.arange(pits * 5, dtype=np.intp), np.arange(pits, dtype=np.intp)),)

    return Game(
        name="awale",
        parameters={"pits": pits, "seeds": seeds, "ruleset": ruleset},
        rules=make_rules(pits, seeds, ruleset),
        notation=notation,
        num_actions=pits,
        observation_shape=(pits, 5),
        observation_high=2 * pits * seeds,
        max_plies=None,
        unit="seeds",
        values_to_come=True,
        decoder=decode,
        symmetries=symmetries,
        own=own,
        outside_forms=make_forms,
        about=About(
            title="Awalé",
            summary="sow a pit's seeds one by one, harvest pits of 2 or 3 seeds; more than half of the seeds win",
            axes=("pit, from the seat's own first",),
            planes=(
                "seeds in the own pit",
                "seeds in the other's pit, counted from the other's first",
                "seeds in the own store, the same in every entry",
                "seeds in the other's store, the same in every entry",
                "1 where that move would repeat a position of the game; zeros for the seat that waits",
            ),
            actions="the pit of the seat to move, from 0 at its own first",
            end=_ENDS[ruleset],
            length="a position that comes again ends the game, so every game ends, but no useful bound is known",
        ),
    )
