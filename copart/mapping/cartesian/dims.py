"""Sizes of a grid for a number of processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

import numpy as np

from ...arrays import whole
from ...errors import MappingError
from ...names import GridSizes, known_name

RULES: tuple[GridSizes, ...] = get_args(GridSizes)


def prime_factors(number: int) -> list[int]:
    """Prime factors with multiplicity, largest first.

    Examples
    --------
    >>> prime_factors(360)
    [5, 3, 3, 2, 2, 2]
    """
    factors = []
    p = 2
    while p * p <= number:
        while number % p == 0:
            factors.append(p)
            number //= p
        p += 1
    return sorted([*factors, number] if number > 1 else factors, reverse=True)


def dims_create(nprocs: int, dims: int | Sequence[int], rule: GridSizes = "open-mpi") -> tuple[int, ...]:
    """Sizes of a grid whose product is `nprocs`, as ``MPI_Dims_create`` chooses them.

    Parameters
    ----------
    nprocs : int
        Number of processes.
    dims : int or sequence of int
        Number of dimensions; or one number per dimension: sizes that are given stay, zeros are chosen.
    rule : {"open-mpi", "balanced"}
        ``open-mpi``: prime factors, largest first, each into the smallest size so far, as Open MPI 4 does.
        ``balanced``: as equal as possible: the largest size as small as it can be, then the next.

    Returns
    -------
    tuple of int
        The chosen sizes descend.

    Examples
    --------
    >>> dims_create(1056, 3), dims_create(72, 2), dims_create(72, 2, "balanced"), dims_create(12, [0, 2, 0])
    ((12, 11, 8), (12, 6), (9, 8), (3, 2, 2))
    """
    total = whole("nprocs", nprocs, low=1, high=2**31 - 1)  # as many as ranks can be
    one = isinstance(dims, int | np.integer)
    wanted = [0] * whole("dims", dims, low=1) if one else [whole("dims", d, low=0) for d in dims]  # type: ignore[union-attr]
    if not wanted:
        raise MappingError("dims: a grid needs at least one dimension")
    known_name("rule", rule, RULES)
    given = math.prod(d for d in wanted if d)
    free = wanted.count(0)
    if total % given or (not free and given != total):
        raise MappingError(f"dims: {'x'.join(map(str, wanted))} cannot hold exactly {total} processes")
    left = total // given
    chosen = iter(_smallest_bin(left, free) if rule == "open-mpi" else _most_equal(left, free))
    return tuple(d or next(chosen) for d in wanted)


def _smallest_bin(number: int, count: int) -> list[int]:
    bins = [1] * count
    if count:
        for factor in prime_factors(number):
            bins[bins.index(min(bins))] *= factor
    return sorted(bins, reverse=True)


def _most_equal(number: int, count: int) -> tuple[int, ...]:
    """The descending factorization that is smallest when compared from its largest factor."""
    divisors = sorted({math.prod(c) for c in _products(prime_factors(number))})

    def search(rest: int, places: int, most: int) -> tuple[int, ...] | None:
        if places == 1:
            return (rest,) if rest <= most else None
        # the first divisor that leaves a solution is the smallest largest factor
        for d in divisors:
            if d > most:
                return None
            if rest % d == 0 and d**places >= rest:
                behind = search(rest // d, places - 1, d)
                if behind is not None:
                    return (d, *behind)
        return None

    return (search(number, count, number) or ()) if count else ()


def _products(factors: Sequence[int]) -> set[tuple[int, ...]]:
    """All multisets of `factors`."""
    found: set[tuple[int, ...]] = {()}
    for f in factors:
        found |= {tuple(sorted((*c, f))) for c in found}
    return found


__all__ = ["RULES", "dims_create", "prime_factors"]
