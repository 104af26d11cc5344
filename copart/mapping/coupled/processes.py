"""The coupled application as one graph of processes, and what a placement of it costs.

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

from ...arrays import WEIGHT, frozen, integers, whole
from ...coupling import CoPartition, CoupledProblem
from ...errors import ConfigError, MappingError
from ...graph import Graph
from ...metrics import part_weights
from ...metrics.pairs import coupling_matrix
from ...metrics.traffic import halo_volumes
from ..machine import Machine

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
    """

    ranges: Mapping[str, tuple[int, int]]
    traffic: Mapping[str, Any]
    load: NDArray[np.int64]

    @property
    def nprocs(self) -> int:
        """Number of processes."""
        return len(self.load)

    def graph(self, weights: tuple[float, float] = (1, 1)) -> Graph:
        """Both phases and both directions together: what two processes exchange, times the weight of its phase.

        Edge weights are whole numbers in units that keep nine digits where `weights` are no whole numbers.
        """
        factors = [float(w) for w in weights]
        if not all(np.isfinite(w) and w >= 0 for w in factors) or not any(factors):
            raise ConfigError(f"weights: needs two numbers that are not negative nor both 0, got {tuple(weights)}")
        total = sum(self.traffic[phase] * w for phase, w in zip(PHASES, factors, strict=True)).tocoo()
        if not all(w.is_integer() for w in factors):
            total.data *= 1e9 / max(float(total.data.sum()), 1e-300)
        total.data = np.rint(total.data).astype(WEIGHT)
        return Graph.from_edges(self.nprocs, *_joined(total))

    def equal_weights(self) -> tuple[float, float]:
        """Weights that make both phases count the same in sum; 1 for one that sends nothing."""
        regular, coupling = (1 / max(int(self.traffic[phase].sum()), 1) for phase in PHASES)
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
                  exchanges: int = 1) -> Processes:
    """The processes of a co-partition and what they send one another.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    iterations : int or mapping of str to int
        Halo exchanges of each component in a coupling step.
    exchanges : int
        Times that data crosses the interfaces in a coupling step, each time both ways.

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
    times = {name: iterations if isinstance(iterations, int) else iterations.get(name, 1) for name in problem.names}
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
    return Processes(MappingProxyType(ranges), MappingProxyType(traffic), frozen(load))


# ---- what a placement costs
@dataclass(frozen=True)
class PhaseTraffic:
    """Figures of one phase of a placement, a coupling step; the fields are the keys of :meth:`Placed.to_dict`."""

    volume: int
    """Data sent in all."""
    messages: int
    """Messages sent in all."""
    inter_node_volume: int
    """Data that leaves its host."""
    inter_node_messages: int
    """Messages that leave their host."""
    hops: float
    """Sum of data times distance."""
    max_node_volume: int
    """Data that the busiest host sends to others and receives from them."""
    by_distance: Mapping[float, int]
    """Data by the distance it goes."""


@dataclass(frozen=True, eq=False, repr=False)
class Placed:
    """Processes on a machine.

    Attributes
    ----------
    processes : Processes
    machine : Machine
    processor : (nprocs,) int32
        Processor of each rank.
    phases : mapping of str to PhaseTraffic
        ``regular`` and ``coupling``.
    name : str
        How it was made.
    """

    processes: Processes
    machine: Machine
    processor: NDArray[np.int32]
    phases: Mapping[str, PhaseTraffic]
    name: str

    @property
    def host(self) -> NDArray[np.int32]:
        """(nprocs,) int32 host of each rank; the processor itself where the machine names no hosts."""
        return self.machine.host[self.processor] if self.machine.hosts else self.processor

    def to_dict(self) -> dict[str, Any]:
        """The figures and the processors as plain JSON types."""
        return {"placement": self.name, "processors": self.processor.tolist(),
                "hosts": [self.machine.hosts[h] for h in self.host] if self.machine.hosts else None,
                "phases": {phase: {**{k: v for k, v in vars(f).items() if k != "by_distance"},
                                   "by_distance": [[d, v] for d, v in f.by_distance.items()]}
                           for phase, f in self.phases.items()}}

    def __repr__(self) -> str:
        return "\n".join(f"{self.name}, {phase}: {f.inter_node_volume} of {f.volume} between hosts in "
                         f"{f.inter_node_messages} of {f.messages} messages, {f.hops:.0f} data x distance"
                         for phase, f in self.phases.items())


def placed(processes: Processes, machine: Machine, processor: Any, name: str = "given") -> Placed:
    """The figures of a placement, computed from scratch.

    Parameters
    ----------
    processes : Processes
    machine : Machine
    processor : (nprocs,) array_like of int
        Processor of each process.
    name : str
        What the placement is called.

    Raises
    ------
    MappingError
        Fewer slots than processes, a processor that is not there, or two processes on one.
    """
    check_room(processes.nprocs, machine)
    where = integers("processor", processor, np.int32, MappingError, low=0, high=machine.nprocs, size=processes.nprocs)
    if len(np.unique(where)) < len(where):
        raise MappingError("processor: two processes have the same one")
    host = machine.host[where] if machine.hosts else where
    phases = {}
    for phase in PHASES:
        m = processes.traffic[phase].tocoo()
        far = machine.architecture.distances(where[m.row], where[m.col]) if m.nnz else np.zeros(0)
        leaves = host[m.row] != host[m.col]
        at, inverse = np.unique(far, return_inverse=True)
        volume = np.zeros(len(at), WEIGHT)
        np.add.at(volume, inverse, m.data)
        node = np.zeros(int(host.max(initial=0)) + 1, WEIGHT)
        np.add.at(node, host[m.row[leaves]], m.data[leaves])
        np.add.at(node, host[m.col[leaves]], m.data[leaves])
        phases[phase] = PhaseTraffic(
            volume=int(m.data.sum()), messages=int(m.nnz), inter_node_volume=int(m.data[leaves].sum()),
            inter_node_messages=int(leaves.sum()), hops=float(far @ m.data), max_node_volume=int(node.max(initial=0)),
            by_distance=dict(zip(at.tolist(), volume.tolist(), strict=True)))
    return Placed(processes, machine, frozen(where), MappingProxyType(phases), name)


def check_room(nprocs: int, machine: Machine) -> None:
    """MappingError where the machine has fewer slots than there are processes."""
    if nprocs > machine.nprocs:
        raise MappingError(f"machine: has {machine.nprocs} slots for {nprocs} processes; name more hosts or "
                           f"ask for fewer parts")
