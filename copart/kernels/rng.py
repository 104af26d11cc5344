"""Hashing: the only source of randomness in kernels."""

import numpy as np

from . import kernel

MASK = 0xFFFFFFFF


@kernel
def mix(x, salt):
    """A pseudo-random number in 0..2^32-1 from two numbers.

    Multipliers stay below 2^31 so that products of 32-bit values fit in int64,
    with and without the JIT.

    x, salt : int
    """
    h = (np.int64(x) ^ (np.int64(salt & MASK) * 0x2545F491)) & 0xFFFFFFFF
    h ^= h >> 16
    h = (h * 0x7FEB352D) & 0xFFFFFFFF
    h ^= h >> 15
    h = (h * 0x2C1B3C6D) & 0xFFFFFFFF
    h ^= h >> 16
    return h


@kernel
def mix_each(numbers, salt, out):
    """:func:`mix` of every number.

    numbers : (n,) int32, in
    salt : int
    out : (n,) int64, out
    """
    for i in range(len(numbers)):
        out[i] = mix(numbers[i], salt)
