"""The coupled application as one graph of processes.

Vertices are the processes of all codes, numbered code by code; what two processes
send one another is kept apart for the regular phase (halos inside a code) and the
coupling phase (interedges), each times how often it happens in a coupling step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import WEIGHT, frozen, whole
from ...coupling import CoPartition, CoupledProblem
from ...errors import ConfigError
from ...graph import Graph
from ...metrics import part_weights
from ...metrics.pairs import coupling_matrix
from ...metrics.traffic import halo_volumes
from ..tasks import TaskGraph

PHASES = ("regular", "coupling")
"""What processes send: halos inside a code, and data across interfaces."""


@dataclass(frozen=True, eq=False, repr=False)
class Processes:
    """What the processes of a coupled run send one another in a coupling step.

    Attributes
    ----------
    ranges : mapping of str to (int, int)
        First rank of each component, and one past its last.
    traffic : mapping of str to csr_array
        ``regular`` and ``coupling``: (nprocs, nprocs) int64, row sends to column; an entry is a message.
    load : (nprocs,) int64
        Weight of the cells of each process.
    centres : (nprocs, ndims) float64 or None
        Mean of the coordinates of its cells; None where some component has no coordinates.
    """

    ranges: Mapping[str, tuple[int, int]]
    traffic: Mapping[str, Any]
    load: NDArray[np.int64]
    centres: NDArray[np.float64] | None = None

    @property
    def nprocs(self) -> int:
        """Number of processes."""
        return len(self.load)

    def graph(self, weights: tuple[float, float] = (1, 1)) -> Graph:
        """Both phases and both directions together: what two processes exchange, times the weight of its phase.

        Edge weights are whole numbers in units that keep nine digits where `weights` are no whole numbers.
        """
        return Graph.from_edges(self.nprocs, *_joined(self._weighed(self.traffic, weights)))

    def tasks(self, phase: str) -> TaskGraph:
        """The messages of one phase: data of a coupling step, and each message once."""
        return TaskGraph.from_matrix(self.traffic[phase])

    def all_tasks(self, weights: tuple[float, float] = (1, 1), *, unit: bool = False) -> TaskGraph:
        """Messages of both phases, their data times the weight of the phase as in :meth:`graph`; what is given to
        one process by another in both phases is one message.

        Parameters
        ----------
        weights : (float, float)
            Of the regular and of the coupling phase.
        unit : bool
            Every message counts as one unit of data, times the weight.
        """
        traffic = self.traffic
        if unit:
            traffic = {phase: matrix.astype(bool).astype(WEIGHT) for phase, matrix in traffic.items()}
        return TaskGraph.from_matrix(self._weighed(traffic, weights))

    @staticmethod
    def _weighed(traffic: Mapping[str, Any], weights: tuple[float, float]) -> Any:
        """Both phases as one matrix of whole numbers, in units that keep nine digits where weights are not whole."""
        factors = [float(w) for w in weights]
        if not all(np.isfinite(w) and w >= 0 for w in factors) or not any(factors):
            raise ConfigError(f"weights: needs two numbers that are not negative nor both 0, got {tuple(weights)}")
        total = sum(traffic[phase] * w for phase, w in zip(PHASES, factors, strict=True)).tocoo()
        if not all(w.is_integer() for w in factors):
            total.data *= 1e9 / max(float(total.data.sum()), 1e-300)
        total.data = np.rint(total.data).astype(WEIGHT)
        return total

    def equal_weights(self, *, unit: bool = False) -> tuple[float, float]:
        """Weights that make both phases count the same in sum; 1 for one that sends nothing.

        Parameters
        ----------
        unit : bool
            In sum of messages, not of data.
        """
        regular, coupling = (1 / max(int(m.nnz if unit else m.sum()), 1) for m in (self.traffic[p] for p in PHASES))
        return regular, coupling

    def owner(self) -> NDArray[np.int32]:
        """(nprocs,) int32 which component each process belongs to; of a shared pool the first."""
        out = np.zeros(self.nprocs, np.int32)
        for i, (first, last) in reversed(list(enumerate(self.ranges.values()))):
            out[first:last] = i
        return out

    def __repr__(self) -> str:
        said = ", ".join(f"{phase} {int(m.sum())} in {m.nnz} messages" for phase, m in self.traffic.items())
        return f"Processes({self.nprocs}: {said})"


def _joined(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Undirected edges of a matrix of what goes from row to column."""
    low, high = np.minimum(matrix.row, matrix.col), np.maximum(matrix.row, matrix.col)
    off = low != high
    key, inverse = np.unique(low[off].astype(np.int64) * matrix.shape[0] + high[off], return_inverse=True)
    weight = np.zeros(len(key), WEIGHT)
    np.add.at(weight, inverse, matrix.data[off])
    return key // matrix.shape[0], key % matrix.shape[0], weight


def process_graph(problem: CoupledProblem, copartition: CoPartition, iterations: int | Mapping[str, int] = 1,
                  exchanges: int = 1, *, coords: Mapping[str, NDArray[np.float64]] | None = None) -> Processes:
    """The processes of a co-partition and what they send one another.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    iterations : int or mapping of str to int
        Halo exchanges of each component in a coupling step.
    exchanges : int
        Times that data crosses the interfaces in a coupling step, each time both ways.
    coords : mapping of str to (ncells, ndims) float64, optional
        Where the cells of each component are, all in one system; those of the graphs where not given.

    Examples
    --------
    >>> from copart import CoPartition, CoupledProblem, Graph, Interedges
    >>> line = Graph.from_edges(2, [0], [1])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(2, 2, [0], [0]))
    >>> of = process_graph(problem, CoPartition({"a": [0, 1], "b": [0, 1]}, {"a": 2, "b": 2}), iterations=5)
    >>> of.traffic["regular"].toarray().tolist()
    [[0, 5, 0, 0], [5, 0, 0, 0], [0, 0, 0, 5], [0, 0, 5, 0]]
    >>> of.traffic["coupling"].toarray().tolist()
    [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    """
    from scipy.sparse import csr_array

    n = copartition.nprocs
    times = {name: iterations.get(name, 1) if isinstance(iterations, Mapping) else iterations
             for name in problem.names}
    load = np.zeros(n, WEIGHT)
    entries: dict[str, list[tuple[Any, Any, Any]]] = {phase: [] for phase in PHASES}
    for name, graph in problem.components.items():
        k, first = copartition.nparts[name], copartition.offset(name)
        load[first:first + k] += part_weights(graph, copartition[name], k)
        p, q, volume = halo_volumes(graph, copartition[name], k)
        rounds = whole(f"iterations of {name}", times[name], low=0, high=2**31 - 1)
        entries["regular"].append((p + first, q + first, volume * rounds))
    for (a, b), inter in problem.pairs.items():
        for one, two, between in ((a, b, inter), (b, a, inter.transposed)):
            m = coupling_matrix(between, copartition[one], copartition[two], copartition.nparts[one],
                                copartition.nparts[two], problem.components[one].vsize).tocoo()
            entries["coupling"].append((m.row + copartition.offset(one), m.col + copartition.offset(two),
                                        m.data * whole("exchanges", exchanges, low=0)))
    traffic = {}
    for phase, found in entries.items():
        rows, columns, values = (np.concatenate(x) if x else np.zeros(0, WEIGHT) for x in zip(*found, strict=True)) \
            if found else (np.zeros(0, WEIGHT),) * 3
        apart = rows != columns  # a shared pool may couple a process with itself
        matrix = csr_array((values[apart], (rows[apart], columns[apart])), shape=(n, n))
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        traffic[phase] = matrix
    ranges = {name: (copartition.offset(name), copartition.offset(name) + copartition.nparts[name])
              for name in problem.names}
    return Processes(MappingProxyType(ranges), MappingProxyType(traffic), frozen(load),
                     _centres(problem, copartition, coords))


def _centres(problem: CoupledProblem, copartition: CoPartition,
             coords: Mapping[str, NDArray[np.float64]] | None) -> NDArray[np.float64] | None:
    """Mean of the cells of each process, of those of all components in a pool; missing dimensions are 0."""
    at = coords if coords is not None else {name: g.coords for name, g in problem.components.items()
                                            if g.coords is not None}
    if set(at) != set(problem.names):
        return None
    total = np.zeros((copartition.nprocs, max(x.shape[1] for x in at.values())))
    cells = np.zeros(copartition.nprocs, WEIGHT)
    for name in problem.names:
        rank = copartition[name] + copartition.offset(name)
        cells += np.bincount(rank, minlength=len(cells))
        for axis, along in enumerate(at[name].T):
            total[:, axis] += np.bincount(rank, weights=along, minlength=len(cells))
    return frozen(total / np.maximum(cells, 1)[:, None])
