"""The word helpers, interpreted and compiled, against Python integers."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from board_envs import _bits
from board_envs._jit import have_numba, kernel

MASK = (1 << 64) - 1
words = st.integers(0, MASK)
UNARY = {
    "popcount": lambda x: bin(x).count("1"),
    "lowest": lambda x: next((i for i in range(64) if x >> i & 1), 64),
    "leading_zeros": lambda x: next((i for i in range(64) if x >> (63 - i) & 1), 64),
    "lowest_bit": lambda x: next((1 << i for i in range(64) if x >> i & 1), 0),
    "clear_lowest": lambda x: x - next((1 << i for i in range(64) if x >> i & 1), 0),
}
BINARY = {
    "add": lambda a, b: (a + b) % 2**64,
    "subtract": lambda a, b: (a - b) % 2**64,
    "multiply": lambda a, b: (a * b) % 2**64,
}


def _speeds(function):
    yield function
    if have_numba():
        arity = function.__code__.co_argcount
        yield kernel((lambda a: function(a)) if arity == 1 else (lambda a, b: function(a, b)))


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    for function in _speeds(getattr(_bits, name)):

        @settings(max_examples=200)
        @given(words)
        @example(0)
        @example(1 << 63)
        @example(MASK)
        def check(x):
            assert int(function(np.uint64(x))) == UNARY[name](x)

        check()


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    for function in _speeds(getattr(_bits, name)):

        @settings(max_examples=200)
        @given(words, words)
        @example(0, 0)
        @example(0, 1)
        @example(MASK, MASK)
        @example(1 << 63, 1 << 63)
        def check(a, b):
            result = function(np.uint64(a), np.uint64(b))
            assert int(result) == BINARY[name](a, b)
            assert int(result).bit_length() <= 64

        check()


@settings(max_examples=200)
@given(words)
@example(0)
@example(1 << 63)
def test_nth_bit_lists_the_set_bits(x):
    expected = [i for i in range(64) if x >> i & 1]
    assert [_bits.nth_bit(np.uint64(x), k) for k in range(len(expected))] == expected
    assert _bits.nth_bit(np.uint64(x), len(expected)) == 64


@settings(max_examples=100)
@given(words, words)
def test_planes(a, b):
    indices = np.arange(63, -1, -1, dtype=np.intp).reshape(8, 8)
    out = np.full((8, 8, 2), 9, np.int8)
    _bits.write_planes(np.uint64(a), np.uint64(b), indices, out)
    flat = np.full(64, 9, np.int8)
    _bits.write_bits(np.uint64(a), indices.ravel(), flat)
    for cell, bit in np.ndenumerate(indices):
        assert tuple(out[cell]) == (a >> int(bit) & 1, b >> int(bit) & 1)
    assert (flat.reshape(8, 8) == out[..., 0]).all()
