"""Factorization level by level: how many nodes, sockets and cores along each dimension of an application's grid.

Where the dimensions of the process grid are free, they follow from the application's cells: on the slowest level
first, the factors that make the surface between its entities smallest (Niethammer & Rabenseifner).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...arrays import fraction, whole
from ...errors import MappingError
from .nodecart import decode, encode


@dataclass(frozen=True)
class Factorization:
    """How the entities of every level lie in the grid.

    Attributes
    ----------
    levels : tuple of tuple of int
        Entities along each dimension, by level, the slowest first.
    costs : tuple of float
        Halo data of one entity of each level.
    """

    levels: tuple[tuple[int, ...], ...]
    costs: tuple[float, ...]

    @property
    def dims(self) -> tuple[int, ...]:
        """Sizes of the grid of processes."""
        return tuple(math.prod(column) for column in zip(*self.levels, strict=True))

    def vertex(self, slot: int) -> int:
        """Vertex of a process; slots count the entities level by level, the slowest level most significant."""
        slot = whole("slot", slot, low=0, high=math.prod(self.dims) - 1)
        places = []
        for level in reversed(self.levels):
            slot, entity = divmod(slot, math.prod(level))
            places.append(decode(entity, level))
        x = [0] * len(self.levels[0])
        for level, place in zip(self.levels, reversed(places), strict=True):
            x = [a * n + b for a, n, b in zip(x, level, place, strict=True)]
        return encode(x, self.dims)


def factorize(cells: Sequence[int], entities: Sequence[int], *, halos: Sequence[float] | None = None,
              costs: Sequence[float] | None = None, undivided: bool = True) -> Factorization:
    """Choose how many nodes (sockets, cores, ...) lie along each dimension.

    Parameters
    ----------
    cells : (d,) sequence of int
        Size of the application's grid.
    entities : sequence of int
        How many entities each level has: nodes, then processes of each node, or further levels between.
    halos, costs : (d,) sequence of float, optional
        Width of the halo along each dimension, and the cost of its data; 1 where not given.
    undivided : bool
        Whether a dimension with one entity pays for a halo, as it does in the published formula and where it is
        periodic.

    Returns
    -------
    Factorization
        Level by level the cheapest: ``2 sum_i c_i h_i prod_{j != i} g_j / n_j``; of equal ones the first in
        lexicographic order.

    Examples
    --------
    >>> made = factorize((400, 200, 100), [8])
    >>> made.dims, made.costs
    ((4, 2, 1), (60000.0,))
    """
    sizes = [Fraction(whole("cells", g, low=1)) for g in cells]
    if not sizes or not entities:
        raise MappingError("factorize: needs at least one dimension and one level")
    weight = [h * c for h, c in zip(_factors("halos", halos, len(sizes)), _factors("costs", costs, len(sizes)),
                                    strict=True)]
    levels, prices = [], []
    for count in entities:
        priced = [(_halo(sizes, weight, n, undivided), n)
                  for n in ordered_factorizations(whole("entities", count, low=1), len(sizes))]
        price, best = min(priced)
        levels.append(best)
        prices.append(float(price))
        sizes = [g / n for g, n in zip(sizes, best, strict=True)]
    return Factorization(tuple(levels), tuple(prices))


def ordered_factorizations(number: int, count: int) -> Iterator[tuple[int, ...]]:
    """All ways to write `number` as a product of `count` factors, in lexicographic order."""
    if count == 1:
        yield (number,)
        return
    for d in range(1, number + 1):
        if number % d == 0:
            for rest in ordered_factorizations(number // d, count - 1):
                yield (d, *rest)


def _halo(sizes: Sequence[Fraction], weight: Sequence[Fraction], n: Sequence[int], undivided: bool) -> Fraction:
    own = [g / k for g, k in zip(sizes, n, strict=True)]
    volume = math.prod(own, start=Fraction(1))
    return 2 * sum((w * volume / g for w, g, k in zip(weight, own, n, strict=True) if undivided or k > 1),
                   start=Fraction(0))


def _factors(name: str, values: Sequence[float] | None, size: int) -> list[Fraction]:
    given = [1.0] * size if values is None else [fraction(name, v) for v in values]
    if len(given) != size:
        raise MappingError(f"{name}: needs {size} numbers, one per dimension, has {len(given)}")
    return [Fraction(v) for v in given]


__all__ = ["Factorization", "factorize", "ordered_factorizations"]
