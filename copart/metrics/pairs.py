"""Figures of one coupled pair, and of two partitions of one component.

The coupling matrix holds what each part of A sends to each part of B: a cell's
datum goes once to each distinct destination part, however many of its
interedges end there.  ``totV`` is its sum, ``totZ`` its number of non-zeros,
``maxV`` and ``maxZ`` the same of the busiest process.  The migration matrix
holds what goes from each former part to each new one; its diagonal stays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, WEIGHT, part_array, weights, whole
from ..coupling import CoPartition, CoupledProblem, Interedges
from ..errors import CouplingError, GraphError
from .columns import PAIR_COLUMNS, html_table


def coupling_matrix(interedges: Interedges, part_a: ArrayLike, part_b: ArrayLike, na: int, nb: int,
                    sizes: ArrayLike | None = None) -> Any:
    """Data sent from each part of A to each part of B.

    A cell's datum counts once for each distinct destination part.  For the way
    back give ``interedges.transposed`` and swap the rest.

    Parameters
    ----------
    interedges : Interedges
        Between A (rows) and B (columns).
    part_a, part_b : (nvtxs,) array_like of int
        Part of every cell of A and of B.
    na, nb : int
        Numbers of parts.
    sizes : (nvtxs of A,) array_like of int, optional
        Size of the datum of each A-cell; 1 where not given.

    Returns
    -------
    scipy.sparse.csr_array, shape (na, nb), int64
        No explicit zeros, so that ``nnz`` is the number of messages.

    Examples
    --------
    Cell 0 of A meets two cells of one part of B, and one of another:

    >>> inter = Interedges.from_pairs(1, 3, [0, 0, 0], [0, 1, 2])
    >>> coupling_matrix(inter, [0], [0, 0, 1], 1, 2).toarray()
    array([[1, 1]])
    """
    p, q, na, nb = _both(interedges, part_a, part_b, na, nb)
    u, v, _ = interedges.pairs()
    key = np.unique(u.astype(np.int64) * nb + q[v])
    sender = key // nb
    size = None if sizes is None else weights("sizes", sizes, interedges.shape[0], CouplingError)[sender]
    return _matrix(p[sender], (key % nb).astype(VERTEX), size, (na, nb))


def coupling_weights(interedges: Interedges, part_a: ArrayLike, part_b: ArrayLike, na: int, nb: int) -> Any:
    """Sum of the interedge weights between each part of A and of B: (na, nb) float64 csr_array.

    Parameters
    ----------
    interedges : Interedges
    part_a : (cells of A,) array_like of int
    part_b : (cells of B,) array_like of int
    na, nb : int
        Number of parts of A and of B.
    """
    from scipy.sparse import coo_array

    p, q, na, nb = _both(interedges, part_a, part_b, na, nb)
    u, v, w = interedges.pairs()
    return coo_array((w, (p[u], q[v])), shape=(na, nb)).tocsr()


def migration_matrix(old: ArrayLike, new: ArrayLike, m: int, n: int, sizes: ArrayLike | None = None) -> Any:
    """Data that goes from each of `m` former parts to each of `n` new ones: (m, n) int64 csr_array.

    The diagonal is the data that stays, because equal numbers are the same process.
    `sizes` (nvtxs,) is 1 where not given; no explicit zeros are stored.

    Parameters
    ----------
    old, new : (nvtxs,) array_like of int
        Former and new part of every vertex.
    m, n : int
        Number of former and of new parts.
    sizes : (nvtxs,) array_like of int, optional
        Data that moves with each vertex.

    Examples
    --------
    >>> matrix = migration_matrix([0, 0, 1, 1], [0, 2, 1, 2], 2, 3)
    >>> matrix.toarray().tolist(), migration_volume(matrix), migration_messages(matrix)
    ([[1, 0, 1], [0, 1, 1]], 2, 2)
    """
    m, n = whole("m", m, low=1), whole("n", n, low=1)
    was = part_array("old", old, np.size(old), m, GraphError)
    now = part_array("new", new, len(was), n, GraphError)
    return _matrix(was, now, None if sizes is None else weights("sizes", sizes, len(was), GraphError), (m, n))


def migration_volume(matrix: Any) -> int:
    """Data that changes its process: the sum off the diagonal of a migration matrix.

    Parameters
    ----------
    matrix : (m, n) sparse array
        From :func:`migration_matrix`.
    """
    return int(matrix.sum()) - int(matrix.diagonal().sum())


def migration_messages(matrix: Any) -> int:
    """Number of non-zeros off the diagonal of a migration matrix.

    Parameters
    ----------
    matrix : (m, n) sparse array
        From :func:`migration_matrix`.
    """
    return int(np.count_nonzero(matrix.data)) - int(np.count_nonzero(matrix.diagonal()))


def _both(interedges: Interedges, part_a: ArrayLike, part_b: ArrayLike, na: int,
          nb: int) -> tuple[NDArray[np.int32], NDArray[np.int32], int, int]:
    na, nb = whole("na", na, low=1), whole("nb", nb, low=1)
    p = part_array("part_a", part_a, interedges.shape[0], na, CouplingError)
    return p, part_array("part_b", part_b, interedges.shape[1], nb, CouplingError), na, nb


def _matrix(row: NDArray[np.int32], column: NDArray[np.int32], size: NDArray[np.int64] | None,
            shape: tuple[int, int]) -> Any:
    from scipy.sparse import coo_array

    data = np.ones(len(row), WEIGHT) if size is None else size
    out = coo_array((data, (row, column)), shape=shape).tocsr()
    out.eliminate_zeros()
    return out


def check_fits(problem: CoupledProblem, copartition: CoPartition) -> None:
    """Refuse a co-partition of other components than the problem has, or with part arrays of another length.

    Raises
    ------
    CouplingError
    """
    for name, value, kind in (("problem", problem, CoupledProblem), ("copartition", copartition, CoPartition)):
        if not isinstance(value, kind):
            raise CouplingError(f"{name}: needs a {kind.__name__}, got {type(value).__name__}")
    if set(copartition.names) != set(problem.names):
        raise CouplingError(
            f"co-partition: is of {', '.join(copartition.names)}, the problem has {', '.join(problem.names)}"
        )
    for name, graph in problem.components.items():
        if len(copartition[name]) != graph.nvtxs:
            raise CouplingError(f"parts of {name}: needs {graph.nvtxs} entries, has {len(copartition[name])}")


@dataclass(frozen=True, eq=False, repr=False)
class PairMetrics:
    """Figures of one coupled pair; the fields up to `matrix` are the keys of :meth:`to_dict`."""

    a: str
    b: str
    interedges: int
    """Number of interedges."""
    totV_ab: int
    """Total volume from A to B: each datum once a distinct destination part."""
    totV_ba: int
    """Total volume from B to A."""
    totV_weight: float
    """Sum of the interedge weights; the same for every co-partition."""
    totZ: int
    """Number of messages: pairs of parts with something to send from A to B."""
    maxV: int
    """Largest volume from A to B that one process sends or receives."""
    maxZ: int
    """Largest number of messages from A to B that one process sends or receives."""
    maxV_weight: float
    """Largest sum of interedge weights of one process."""
    matrix: Any
    """Coupling matrix A to B: (parts of A, parts of B) int64 csr_array."""
    matrix_ba: Any
    """Coupling matrix B to A: (parts of B, parts of A) int64 csr_array."""

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the matrices, as plain JSON types."""
        return {f.name: getattr(self, f.name) for f in fields(self) if not f.name.startswith("matrix")}

    def __repr__(self) -> str:
        return (f"{self.a}-{self.b}: {self.interedges} interedges, totV {self.totV_ab} there and {self.totV_ba} back, "
                f"totZ {self.totZ}, maxV {self.maxV}, maxZ {self.maxZ}")

    def _repr_html_(self) -> str:
        """A table of one row, for notebooks."""
        return html_table(PAIR_COLUMNS, [{"pair": f"{self.a} - {self.b}", **self.to_dict()}])


def pair_metrics(a: str, b: str, problem: CoupledProblem, copartition: CoPartition) -> PairMetrics:
    """Figures of the coupled pair (`a`, `b`) of the problem.

    Parameters
    ----------
    a, b : str
        Names of the components.
    problem : CoupledProblem
    copartition : CoPartition

    Raises
    ------
    CouplingError
        The problem has no such pair, or the co-partition does not fit it.
    """
    check_fits(problem, copartition)
    if (a, b) not in problem.pairs:
        known = "; ".join(f"{p}, {q}" for p, q in problem.ordered_pairs)
        raise CouplingError(f"pair {a!r}, {b!r}: is none of the coupled pairs, {known}")
    inter = problem.pairs[a, b]
    there, home = pair_matrices(a, b, problem, copartition)
    weight = coupling_weights(inter, copartition[a], copartition[b], copartition.nparts[a], copartition.nparts[b])
    return PairMetrics(
        a=a, b=b, interedges=len(inter), totV_ab=int(there.sum()), totV_ba=int(home.sum()),
        totV_weight=float(weight.sum()), totZ=int(there.nnz), maxV=int(_busiest(there)),
        maxZ=int(_busiest(there != 0)), maxV_weight=float(_busiest(weight)), matrix=there, matrix_ba=home)


def pair_matrices(a: str, b: str, problem: CoupledProblem, copartition: CoPartition) -> tuple[Any, Any]:
    """The coupling matrices of the coupled pair (`a`, `b`), there and back; of a shared pool without what stays."""
    inter, na, nb = problem.pairs[a, b], copartition.nparts[a], copartition.nparts[b]
    there = coupling_matrix(inter, copartition[a], copartition[b], na, nb, problem.components[a].vsize)
    back = coupling_matrix(inter.transposed, copartition[b], copartition[a], nb, na, problem.components[b].vsize)
    return (between_processes(there), between_processes(back)) if copartition.shared else (there, back)


def between_processes(matrix: Any) -> Any:
    """A coupling matrix in a shared pool, without what stays on its process: its diagonal is empty."""
    out = matrix.tocsr(copy=True)
    out.setdiag(0)
    out.eliminate_zeros()
    return out


def _busiest(matrix: Any) -> Any:
    """Largest row or column sum: a process of A sends a row, one of B receives a column."""
    return max(matrix.sum(axis=1).max(), matrix.sum(axis=0).max())
