"""Some processors of another architecture, of any shape and in any number of pieces (``sub``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import frozen, integers
from ...errors import MappingError
from ...kernels.distances import DistanceCode
from .architecture import BaseArchitecture, Complete, Domain, Domains, WeightedComplete, rows
from .decomposed import Decomposed
from .regular import Matched

#: Processors that speak for a domain of a subset where its distance is estimated.
SAMPLES = 4


class Subset(Decomposed):
    """A list of processors of another architecture, of any shape and in any number of pieces (``sub``).

    The position in the list is the new processor number.  Distances are those of the underlying architecture; between
    larger domains, the mean over up to 4 x 4 pairs of their processors.  Built by :func:`subset`.
    """

    name = "sub"

    def __init__(self, base: BaseArchitecture, vertices: NDArray[np.int64], order: NDArray[np.int64],
                 level: NDArray[np.int64]):
        super().__init__(order, level, base.power(vertices))
        self.base, self.vertices = base, frozen(vertices)

    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """Mean distance of a few processors of each."""
        mine = self.vertices[self.order[_samples(np.array([domain]))]]
        theirs = self.vertices[self.order[_samples(rows(domains))]]
        found: NDArray[np.float64] = self.base.distances(mine[:, :, None], theirs[:, None, :]).mean((1, 2))
        return found

    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Distances in the underlying architecture."""
        return self.base.distances(self.vertices[np.asarray(p)], self.vertices[np.asarray(q)])

    def code(self) -> DistanceCode:
        """The distances as kernels take them."""
        code = self.base.code()
        vertex, turn = self.vertices, len(code.vertex)
        if turn:
            vertex = frozen(vertex - vertex % turn + code.vertex[vertex % turn])
        return code._replace(vertex=vertex)

    def __repr__(self) -> str:
        return f"Subset({self.nprocs} of {self.base!r})"


def subset(base: BaseArchitecture, vertices: ArrayLike) -> BaseArchitecture:
    """The architecture of some processors of another one.

    Parameters
    ----------
    base : BaseArchitecture
        Any, a subset included.
    vertices : (n,) array_like of int
        Processors of `base`, each at most once; processor i of the result is ``vertices[i]``.

    Raises
    ------
    MappingError
        The list is empty, repeats a processor, or names one that `base` does not have.

    Examples
    --------
    Five of the eight processors of a grid; the one in the corner is cut off first:

    >>> from copart.mapping.architectures.regular import Grid
    >>> machine = subset(Grid([4, 2]), [0, 1, 4, 5, 7])
    >>> [machine.size(son) for son in machine.sons(machine.root)]
    [4, 1]
    """
    chosen = integers("vertices", vertices, np.int64, MappingError, low=0, high=base.nprocs)
    if not len(chosen):
        raise MappingError("vertices: a machine needs at least one processor, the list is empty")
    if len(twice := _repeated(chosen)):
        raise MappingError(f"vertices: processor {twice[0]} is listed more than once")
    if isinstance(base, WeightedComplete):
        return WeightedComplete(base.weights[chosen])
    if isinstance(base, Complete):
        return Complete(len(chosen))
    if isinstance(base, Subset):
        # processors of the innermost architecture, in the tree they have here
        below = base.vertices[chosen]
        return Subset(base.base, below, *_restricted(base, chosen))
    if isinstance(base, Decomposed):
        return Subset(base, chosen, *_restricted(base, chosen))
    if not isinstance(base, Matched):
        raise MappingError(f"vertices: no subset of architecture {base.name} is known")
    return Subset(base, chosen, *_merged(base, chosen))


def seats(base: Matched, vertices: ArrayLike) -> Subset:
    """As :func:`subset`, where several processors may be at one vertex, no distance apart: slots of a node, say.

    Parameters
    ----------
    base : Matched
        A grid, torus, hypercube or tree of leaves.
    vertices : (n,) array_like of int

    Examples
    --------
    Two nodes of two slots each, at neighbouring routers:

    >>> from copart.mapping.architectures.regular import Torus
    >>> machine = seats(Torus([5]), [4, 4, 0, 0])
    >>> machine.distances(0, [1, 2, 3]), machine.sons(machine.root)
    (array([0., 1., 1.]), ((0, 2), (2, 4)))
    """
    chosen = integers("vertices", vertices, np.int64, MappingError, low=0, high=base.nprocs)
    if not len(chosen):
        raise MappingError("vertices: a machine needs at least one processor, the list is empty")
    order, level = _merged(base, chosen)
    # who shares a vertex is merged in pairs below all others: at position j among them, where j is halved last
    first = np.flatnonzero(np.concatenate([[True], chosen[order[1:]] != chosen[order[:-1]]]))
    position = np.arange(len(chosen)) - np.repeat(first, np.diff(np.append(first, len(chosen))))
    inside = np.frexp((position & -position).astype(np.float64))[1]
    level[:-1] = np.where(position > 0, inside, level[:-1] + int(inside.max()))
    return Subset(base, chosen, order, level)


def _merged(base: Matched, vertices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order and level of the bipartition tree of some vertices; level 0 between equal ones."""
    sides = base.sides(vertices)
    order = np.argsort(sides, kind="stable")
    # the highest stage at which two neighbours take different sides is where they are merged
    apart = sides[order[1:]] ^ sides[order[:-1]]
    level = np.zeros(len(vertices) + 1, np.int64)
    level[1:-1] = np.frexp(apart.astype(np.float64))[1]
    return order, level


def _repeated(vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    ranked = np.sort(vertices)
    found: NDArray[np.int64] = ranked[1:][ranked[1:] == ranked[:-1]]
    return found


def _restricted(base: Decomposed, vertices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order and level of the bipartition tree of some processors of a decomposed architecture."""
    rank = base.rank[vertices]
    order = np.argsort(rank)
    level = np.zeros(len(vertices) + 1, np.int64)
    if len(vertices) > 1:
        at = rank[order]
        # neighbours here are merged at the highest level between them there
        level[1:-1] = np.maximum.reduceat(base.level[:at[-1] + 1], at[:-1] + 1)
    return order, level


def _samples(domains: NDArray[np.int64]) -> NDArray[np.int64]:
    """Leaves spread evenly over intervals (n, 2): (n, SAMPLES) int64, all equal where there is one leaf only."""
    low, length = domains[:, :1], domains[:, 1:] - domains[:, :1]
    found: NDArray[np.int64] = low + (2 * np.arange(SAMPLES) + 1) * length // (2 * SAMPLES)
    return found
