"""The random numbers of environments and agents: splitmix64 as a counter generator.

A stream is a key and a counter; draw k of a stream is a hash of both, so a stream is copied, saved and continued by two
integers, and interpreted and compiled play draw the same.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np

from board_envs._bits import _MASK, add, as_int, multiply
from board_envs._jit import compiled_as, jitable

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
SEED_LIMIT = 1 << 63
"""Seeds are 0 <= seed < SEED_LIMIT, so that they fit a signed 64-bit integer."""


def _mix(word: np.uint64) -> np.uint64:
    word = multiply(word ^ (word >> np.uint64(30)), _FIRST)
    word = multiply(word ^ (word >> np.uint64(27)), _SECOND)
    return word ^ (word >> np.uint64(31))


@compiled_as(_mix)
def mix(word: np.uint64) -> np.uint64:
    """Hash a word (splitmix64's finaliser)."""
    value = int(word)
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return np.uint64(value ^ (value >> 31))


@jitable
def key_of(seed: np.uint64) -> np.uint64:
    """Return the key of a seed's stream."""
    return mix(add(seed, _GAMMA))


@jitable
def draw(key: np.uint64, counter: np.uint64) -> np.uint64:
    """Return draw number `counter` of a stream: 64 random bits."""
    return mix(add(key, multiply(add(counter, np.uint64(1)), _GAMMA)))


@jitable
def below(bits: np.uint64, n: int) -> int:
    """Map 64 random bits to 0 .. n-1, n < 2^31 (bias below n / 2^32)."""
    return as_int(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@dataclass
class Stream:
    """A stream of random numbers; `key` and `counter` are all its state."""

    key: np.uint64
    counter: int = 0

    @classmethod
    def seeded(cls, seed: int | None) -> Stream:
        """Return the stream of a seed, 0 <= seed < 2^63; None takes one from the operating system."""
        if seed is None:
            seed = secrets.randbelow(SEED_LIMIT)
        return cls(key_of(np.uint64(check_seed(seed))))

    def bits(self) -> np.uint64:
        """Draw 64 random bits."""
        value = draw(self.key, np.uint64(self.counter))
        self.counter += 1
        return value

    def below(self, n: int) -> int:
        """Draw one of 0 .. n-1."""
        return below(self.bits(), n)

    def seed(self) -> int:
        """Draw a seed for another stream."""
        return int(self.bits()) >> 1


def check_seed(seed: int) -> int:
    """Return the seed as an int; ValueError if it is not a valid seed."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"seed must be an integer from 0 to 2^63 - 1, not {seed!r}")
    return int(seed)
