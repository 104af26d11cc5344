"""Hashing: in range and near enough to random."""

from __future__ import annotations

import numpy as np

from copart.kernels.rng import mix, mix_each


def twin(x: int, salt: int) -> int:
    """The same hash in whole numbers of any size, cut to 32 bits after every step."""
    h = (x ^ (salt * 0x2545F491)) % 2**32
    h ^= h >> 16
    h = h * 0x7FEB352D % 2**32
    h ^= h >> 15
    h = h * 0x2C1B3C6D % 2**32
    return h ^ (h >> 16)


def test_equals_its_twin():
    for salt in (0, 1, 77, 2**31 - 1):
        for x in (0, 1, 2, 12345, 2**31 - 1):
            assert mix(x, salt) == twin(x, salt)


def test_each_as_one_at_a_time():
    numbers, out = np.arange(50, dtype=np.int32) * 12345, np.empty(50, np.int64)
    mix_each(numbers, 77, out)
    assert out.tolist() == [twin(int(x), 77) for x in numbers]


def test_different_numbers_differ():
    """The steps can all be reversed, so that no two numbers below 2^32 share a hash."""
    values = [int(mix(x, 5)) for x in range(4000)]
    assert len(set(values)) == 4000
    assert min(values) >= 0
    assert max(values) < 2**32


def test_spread_evenly():
    """Every bit is set about half of the time, and a salt changes about half of the bits."""
    values = np.array([[int(mix(x, s)) for x in range(2000)] for s in (3, 4)])
    bits = (values[:, :, None] >> np.arange(32)) & 1
    share = bits.mean(axis=1)
    assert share.min() > 0.45, share
    assert share.max() < 0.55, share
    assert 0.4 < (bits[0] != bits[1]).mean() < 0.6
