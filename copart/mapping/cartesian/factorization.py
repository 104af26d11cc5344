"""Factorization level by level: how many nodes, sockets and cores along each dimension of an application's grid.

Where the dimensions of the process grid are free, they follow from the application's cells: on the slowest level
first, the factors that make the surface between its entities smallest (Niethammer & Rabenseifner).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
        price, best = cheapest(whole("entities", count, low=1, high=2**31 - 1), sizes, weight, undivided)
        levels.append(best)
        prices.append(float(price))
        sizes = [g / n for g, n in zip(sizes, best, strict=True)]
    return Factorization(tuple(levels), tuple(prices))


def cheapest(number: int, sizes: Sequence[Fraction], weight: Sequence[Fraction],
             undivided: bool) -> tuple[Fraction, tuple[int, ...]]:
    """The cheapest of all ways to share `number` entities among the dimensions, of equal ones the first.

    The cost is the volume of an entity, the same in all ways, times a sum with one term per dimension.  So the
    dimensions are taken from the last to the first, with the best ending for every number that can be left for it.
    """
    volume = math.prod(sizes, start=Fraction(1)) / number
    divisors = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    divisors += [number // d for d in reversed(divisors) if d * d != number]
    none = Fraction(0)
    # what is left for the dimensions behind: the cost of their terms, and their factors
    behind: dict[int, tuple[Fraction, tuple[int, ...]]] = {1: (none, ())}
    for size, w in zip(reversed(sizes), reversed(weight), strict=True):
        terms = {d: w * d / size if undivided or d > 1 else none for d in divisors}
        behind = {left: min((terms[left // rest] + cost, (left // rest, *factors))
                            for rest, (cost, factors) in behind.items() if left % rest == 0) for left in divisors}
    price, best = behind[number]
    return 2 * volume * price, best


def _factors(name: str, values: Sequence[float] | None, size: int) -> list[Fraction]:
    given = [1.0] * size if values is None else [fraction(name, v) for v in values]
    if len(given) != size:
        raise MappingError(f"{name}: needs {size} numbers, one per dimension, has {len(given)}")
    return [Fraction(v) for v in given]


__all__ = ["Factorization", "cheapest", "factorize"]
