"""Components, the interedges between them, and co-partitions.

`Interedges` relates the cells of two components that exchange data,
`CoupledProblem` holds n named components with the interedges of each coupled
pair, `CoPartition` one part array a component.  Two components are the common
case: ``problem.a``, ``problem.b``, ``problem.interedges``.
(Predari & Esnard 2014, Sections II-III.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import OFFSET, VERTEX, frozen, integers, part_array, whole
from .errors import CouplingError
from .graph import Graph, as_graph


@dataclass(frozen=True, eq=False, repr=False)
class Interedges:
    """A weighted relation between the cells of component A (rows) and B (columns).

    Parameters
    ----------
    shape : (int, int)
        Numbers of vertices of A and of B.
    indptr : (n_a + 1,) array_like of int
        Row offsets, kept as int64.
    indices : (ninteredges,) array_like of int
        B-vertices, ascending in a row, kept as int32.
    weights : (ninteredges,) array_like of float, optional
        Overlap area or length, finite and >= 0; 1 where not given.

    Raises
    ------
    CouplingError
        An index is outside the components, repeated, or a weight is unusable.
    """

    shape: tuple[int, int]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        na, nb = (whole("interedges shape", s, low=0) for s in self.shape)
        indptr = integers("interedges indptr", self.indptr, OFFSET, CouplingError, low=0, size=na + 1)
        if indptr[0] != 0 or (np.diff(indptr) < 0).any():
            raise CouplingError("interedges indptr: must start with 0 and not decrease")
        indices = integers("interedges indices", self.indices, VERTEX, CouplingError, low=0, high=nb,
                           size=int(indptr[-1]))
        w = np.ones(len(indices)) if self.weights is None else np.ascontiguousarray(self.weights, np.float64)
        if w.shape != indices.shape:
            raise CouplingError(f"interedges weights: needs {len(indices)} entries, has shape {w.shape}")
        bad = ~np.isfinite(w) | (w < 0)
        if bad.any():
            i = int(np.argmax(bad))
            raise CouplingError(f"interedges weights: {int(bad.sum())} are negative or not finite, "
                                f"first at index {i}: {w[i]}")
        row = np.repeat(np.arange(na), np.diff(indptr))
        order = np.lexsort((indices, row))
        if not (order[:-1] < order[1:]).all():
            indices, w = indices[order], w[order]
        same = (row[1:] == row[:-1]) & (indices[1:] == indices[:-1])
        if same.any():
            i = int(np.argmax(same))
            raise CouplingError(f"interedges: pair ({row[i]}, {indices[i]}) is listed more than once")
        put = object.__setattr__
        put(self, "shape", (na, nb))
        put(self, "indptr", frozen(indptr))
        put(self, "indices", frozen(indices))
        put(self, "weights", frozen(w))

    @classmethod
    def from_pairs(cls, na: int, nb: int, u: ArrayLike, v: ArrayLike, weights: ArrayLike | None = None) -> Interedges:
        """From pairs (u of A, v of B); repeated pairs are merged and their weights added.

        Raises
        ------
        CouplingError
            A cell number is outside its component.
        """
        a = integers("interedges to A", u, VERTEX, CouplingError, low=0, high=na)
        b = integers("interedges to B", v, VERTEX, CouplingError, low=0, high=nb, size=len(a))
        w = np.ones(len(a)) if weights is None else np.asarray(weights, np.float64)
        if w.shape != a.shape:
            raise CouplingError(f"interedges weights: needs {len(a)} entries, has shape {w.shape}")
        key = a.astype(np.int64) * max(nb, 1) + b
        unique, inverse = np.unique(key, return_inverse=True)
        # without weights every interedge weighs 1, repeated or not
        total = None if weights is None else np.bincount(inverse, w, len(unique)).astype(np.float64)
        indptr = np.zeros(na + 1, OFFSET)
        np.cumsum(np.bincount(unique // max(nb, 1), minlength=na), out=indptr[1:])
        return cls((na, nb), indptr, (unique % max(nb, 1)).astype(VERTEX), total)

    @classmethod
    def from_scipy(cls, matrix: Any) -> Interedges:
        """From an n_a x n_b ``scipy.sparse`` matrix of weights."""
        m = matrix.tocoo()
        return cls.from_pairs(m.shape[0], m.shape[1], m.row, m.col, m.data)

    def to_scipy(self) -> Any:
        """As ``scipy.sparse.csr_array`` of float64 weights."""
        from scipy.sparse import csr_array

        return csr_array((self.weights.copy(), self.indices.copy(), self.indptr.copy()), shape=self.shape)  # type: ignore[union-attr]

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return (f"Interedges({len(self)} between {len(self.coupled_a)} of {self.shape[0]} and "
                f"{len(self.coupled_b)} of {self.shape[1]} cells)")

    @property
    def transposed(self) -> Interedges:
        """The same relation seen from B."""
        u, v, w = self.pairs()
        return Interedges.from_pairs(self.shape[1], self.shape[0], v, u, w)

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """One entry an interedge: A-vertex, B-vertex, weight; ordered by A then B."""
        u = np.repeat(np.arange(self.shape[0], dtype=VERTEX), np.diff(self.indptr))
        return u, self.indices, self.weights  # type: ignore[return-value]

    @property
    def coupled_a(self) -> NDArray[np.int32]:
        """Vertices of A with an interedge, ascending: ``Dom(I)``."""
        return np.flatnonzero(np.diff(self.indptr)).astype(VERTEX)

    @property
    def coupled_b(self) -> NDArray[np.int32]:
        """Vertices of B with an interedge, ascending: ``Dom(I^-1)``."""
        return np.unique(self.indices)

    def restricted(self, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Interedges:
        """Between the ascending vertices `rows` of A and `columns` of B, renumbered."""
        new_a = np.full(self.shape[0], -1, VERTEX)
        new_b = np.full(self.shape[1], -1, VERTEX)
        new_a[rows] = np.arange(len(rows), dtype=VERTEX)
        new_b[columns] = np.arange(len(columns), dtype=VERTEX)
        u, v, w = self.pairs()
        keep = (new_a[u] >= 0) & (new_b[v] >= 0)
        return Interedges.from_pairs(len(rows), len(columns), new_a[u[keep]], new_b[v[keep]], w[keep])


@dataclass(frozen=True, eq=False, repr=False)
class CoupledProblem:
    """n named component graphs and the interedges of each coupled pair.

    Parameters
    ----------
    components : mapping of str to Graph
        In order; anything :func:`copart.graph.as_graph` takes.
    pairs : mapping of (str, str) to Interedges
        By ordered pair of names, each pair once.

    Raises
    ------
    CouplingError
        Unknown names, a pair given twice or with itself, or shapes that do not match.

    Examples
    --------
    >>> line = Graph.from_edges(2, [0], [1])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(2, 2, [1], [0]))
    >>> problem.names, len(problem.interedges)
    (('a', 'b'), 1)
    """

    components: Mapping[str, Graph]
    pairs: Mapping[tuple[str, str], Interedges] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graphs = {str(name): as_graph(g) for name, g in self.components.items()}
        if not graphs:
            raise CouplingError("components: at least one is needed")
        pairs: dict[tuple[str, str], Interedges] = {}
        for (p, q), inter in self.pairs.items():
            for name in (p, q):
                if name not in graphs:
                    raise CouplingError(f"interedges ({p}, {q}): no component {name!r}; known: {', '.join(graphs)}")
            if p == q or (q, p) in pairs:
                raise CouplingError(f"interedges ({p}, {q}): a pair of two components may be given once")
            want = (graphs[p].nvtxs, graphs[q].nvtxs)
            if inter.shape != want:
                raise CouplingError(f"interedges ({p}, {q}): have shape {inter.shape}, "
                                    f"the components have {want} cells")
            pairs[p, q] = inter
        object.__setattr__(self, "components", MappingProxyType(graphs))
        object.__setattr__(self, "pairs", MappingProxyType(pairs))

    @classmethod
    def of_two(cls, a: Any, b: Any, interedges: Interedges, names: tuple[str, str] = ("a", "b")) -> CoupledProblem:
        """The common case: two components and the interedges between them."""
        if names[0] == names[1]:
            raise CouplingError(f"names: the two components need different names, both are {names[0]!r}")
        return cls({names[0]: a, names[1]: b}, {names: interedges})

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the components, in order."""
        return tuple(self.components)

    @property
    def a(self) -> Graph:
        """The first component."""
        return self.components[self.names[0]]

    @property
    def b(self) -> Graph:
        """The second component (error when there is none)."""
        if len(self.names) < 2:
            raise CouplingError("problem.b: this problem has one component")
        return self.components[self.names[1]]

    @property
    def interedges(self) -> Interedges:
        """The interedges of the only pair."""
        if len(self.pairs) != 1:
            raise CouplingError(f"problem.interedges: this problem has {len(self.pairs)} coupled pairs, "
                                f"use problem.pairs")
        return next(iter(self.pairs.values()))

    def coupled(self, name: str) -> NDArray[np.int32]:
        """Vertices of component `name` with an interedge to any other component, ascending."""
        found = [inter.coupled_a if name == p else inter.coupled_b
                 for (p, q), inter in self.pairs.items() if name in (p, q)]
        return np.unique(np.concatenate(found)).astype(VERTEX) if found else np.zeros(0, VERTEX)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {g.nvtxs} cells" for name, g in self.components.items())
        links = ", ".join(f"{p}-{q}: {len(i)}" for (p, q), i in self.pairs.items())
        return f"CoupledProblem({parts}; interedges {links or 'none'})"


@dataclass(frozen=True, eq=False, repr=False)
class CoPartition:
    """One part array a component, with the counts that were asked for.

    Parameters
    ----------
    parts : mapping of str to (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``, kept as int32.
    nparts : mapping of str to int
        Number of parts of each component.
    ncoupled : mapping of str to int or None, optional
        Number of parts that may own coupled cells, where it was asked for.

    Notes
    -----
    It knows nothing of how it was made; :func:`copart.metrics.evaluate`
    computes every figure from it and the problem.  Each component numbers its
    parts from 0; as processes of one world, component i starts at
    ``offset(name)``.
    """

    parts: Mapping[str, NDArray[np.int32]]
    nparts: Mapping[str, int]
    ncoupled: Mapping[str, int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if set(self.parts) != set(self.nparts):
            raise CouplingError(f"parts and nparts name different components: "
                                f"{sorted(self.parts)} and {sorted(self.nparts)}")
        count = {name: whole(f"nparts of {name}", self.nparts[name], low=1) for name in self.parts}
        parts = {}
        for name, part in self.parts.items():
            size = np.asarray(part).shape[0] if np.ndim(part) else 0
            parts[name] = frozen(part_array(f"parts of {name}", part, size, count[name], CouplingError).copy())
        coupled = {name: self.ncoupled.get(name) for name in parts}
        put = object.__setattr__
        put(self, "parts", MappingProxyType(parts))
        put(self, "nparts", MappingProxyType(count))
        put(self, "ncoupled", MappingProxyType(coupled))

    def __getitem__(self, name: str) -> NDArray[np.int32]:
        return self.parts[name]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the components, in order."""
        return tuple(self.parts)

    @property
    def a(self) -> NDArray[np.int32]:
        """Parts of the first component."""
        return self.parts[self.names[0]]

    @property
    def b(self) -> NDArray[np.int32]:
        """Parts of the second component."""
        return self.parts[self.names[1]]

    def offset(self, name: str) -> int:
        """Rank of part 0 of `name` when all components share one world, in order."""
        before = self.names[:self.names.index(name)]
        return sum(self.nparts[n] for n in before)

    def __repr__(self) -> str:
        said = []
        for name in self.names:
            size = np.bincount(self.parts[name], minlength=self.nparts[name])
            coupled = f" ({self.ncoupled[name]} coupled)" if self.ncoupled[name] else ""
            said.append(f"{name}: {self.nparts[name]} parts of {size.min()} to {size.max()} vertices{coupled}")
        return f"CoPartition({', '.join(said)})"


__all__ = ["CoPartition", "CoupledProblem", "Interedges"]
