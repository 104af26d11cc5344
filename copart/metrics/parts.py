"""Figures of every part: what it computes, what it exchanges, whom it talks to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from .components import part_weights
from .pairs import between_processes, coupling_matrix

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class PartMetrics:
    """Figures of the parts of one component, each (nparts,) int64."""

    name: str
    cells: Counts
    """Number of cells."""
    load: Counts
    """Weight of the cells: work in the component's own phase."""
    coupled_cells: Counts
    """Number of coupled cells."""
    coupled_load: Counts
    """Coupled weight of the coupled cells: work in a coupling phase."""
    partners: Counts
    """Parts of other components that it sends to."""
    sends: Counts
    """Data that it sends in a coupling phase: each cell once per destination part."""

    @property
    def nparts(self) -> int:
        """Number of parts."""
        return len(self.load)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per part, plain JSON types: ready for ``pandas.DataFrame``."""
        keys = ("cells", "load", "coupled_cells", "coupled_load", "partners", "sends")
        columns = [getattr(self, key).tolist() for key in keys]
        return [{"component": self.name, "part": part, **dict(zip(keys, row, strict=True))}
                for part, row in enumerate(zip(*columns, strict=True))]

    def __repr__(self) -> str:
        return (f"PartMetrics({self.name}: {self.nparts} parts of {self.load.min()} to {self.load.max()}, "
                f"{int((self.coupled_cells > 0).sum())} coupled)")


def part_metrics(problem: CoupledProblem, copartition: CoPartition) -> dict[str, PartMetrics]:
    """Figures of every part, by component.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition

    Examples
    --------
    >>> from copart import CoPartition, CoupledProblem, Graph, Interedges
    >>> line = Graph.from_edges(3, [0, 1], [1, 2])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(3, 3, [2, 2], [0, 1]))
    >>> made = CoPartition({"a": [0, 0, 1], "b": [0, 1, 1]}, {"a": 2, "b": 2})
    >>> part_metrics(problem, made)["a"].sends.tolist()
    [0, 2]
    """
    out = {}
    for name, graph in problem.components.items():
        part, n = copartition[name], copartition.nparts[name]
        mine = problem.coupled(name)
        partners, sends = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for (a, b), inter in problem.pairs.items():
            if name in (a, b):
                other, relation = (b, inter) if name == a else (a, inter.transposed)
                matrix = coupling_matrix(relation, part, copartition[other], n, copartition.nparts[other], graph.vsize)
                matrix = between_processes(matrix) if copartition.shared else matrix
                partners += np.diff(matrix.indptr)
                sends += np.asarray(matrix.sum(axis=1)).ravel()
        coupled_load = np.zeros(n, np.int64)
        np.add.at(coupled_load, part[mine], problem.coupled_load(name))
        out[name] = PartMetrics(name, np.bincount(part, minlength=n), part_weights(graph, part, n),
                                np.bincount(part[mine], minlength=n), coupled_load, partners, sends)
    return out


__all__ = ["PartMetrics", "part_metrics"]
