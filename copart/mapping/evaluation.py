"""What a mapping is worth: load of the processors, dilation of the edges, neighbours of a processor.

The figures are those of SCOTCH's evaluator ``gmtst``.  Everything is computed from the graph, the machine and the
mapping, whoever made it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import part_array
from ..errors import MappingError
from ..graph import Graph, as_graph
from .architectures.architecture import Architecture
from .machine import Machine

#: Dilations up to this many different values are listed one by one, more of them rounded up to whole numbers.
_VALUES = 64


def architecture_of(machine: Machine | Architecture) -> Architecture:
    """The architecture of a machine, or `machine` itself when it is one."""
    return cast(Architecture, machine.architecture) if isinstance(machine, Machine) else machine


@dataclass(frozen=True)
class MappingFigures:
    """Figures of one mapping.

    Attributes
    ----------
    processors, used : int
        Processors of the machine, and those with at least one vertex.
    load_min, load_max, load_avg : float
        Load of a processor over its compute power, scaled so that equal powers count as 1.
    load_deviation : float
        Mean absolute difference from the average load, as a fraction of it.
    imbalance : float
        Largest load over the average, less one.
    cut_edges, cut : int
        Edges between different processors, and their weight.
    dilation_cost : float
        Sum over the edges of weight times distance: the objective.
    dilation_avg, expansion_avg : float
        Mean distance of an edge, and mean of weight times distance over mean weight.
    dilation_max : float
        Largest distance of an edge.
    distribution : tuple of (distance, edges, share)
        How many edges span how far, distance 0 included.
    neighbours_min, neighbours_max, neighbours_avg, neighbours_sum
        Other processors that a used processor exchanges data with.
    """

    processors: int
    used: int
    load_min: float
    load_max: float
    load_avg: float
    load_deviation: float
    imbalance: float
    cut_edges: int
    cut: int
    dilation_cost: float
    dilation_avg: float
    expansion_avg: float
    dilation_max: float
    distribution: tuple[tuple[float, int, float], ...]
    neighbours_min: int
    neighbours_max: int
    neighbours_avg: float
    neighbours_sum: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "distribution": [list(row) for row in self.distribution]}

    def text(self) -> str:
        """Lines for people, in the order of SCOTCH's evaluator."""
        rows = [
            f"processors  {self.used} of {self.processors} used",
            f"load        min {self.load_min:g}  max {self.load_max:g}  avg {self.load_avg:g}  "
            f"deviation {self.load_deviation:.4f}  imbalance {self.imbalance:.2%}",
            f"neighbours  min {self.neighbours_min}  max {self.neighbours_max}  avg {self.neighbours_avg:.2f}  "
            f"sum {self.neighbours_sum}",
            f"cut         {self.cut_edges} edges, weight {self.cut}",
            f"dilation    cost {self.dilation_cost:g}  avg {self.dilation_avg:.4f}  weighted {self.expansion_avg:.4f}  "
            f"max {self.dilation_max:g}",
            *(f"  distance {distance:g}: {edges} edges, {share:.2%}" for distance, edges, share in self.distribution),
        ]
        return "\n".join(rows)


def dilation_cost(graph: Graph, machine: Machine | Architecture, mapping: ArrayLike) -> float:
    """Sum over the edges of weight times distance between the processors of the ends.

    Parameters
    ----------
    graph : Graph
    machine : Machine or Architecture
    mapping : (nvtxs,) array_like of int
        Processor of each vertex.

    Raises
    ------
    MappingError
        The mapping names a processor that the machine does not have, or is of another length.
    """
    target = architecture_of(machine)
    place = part_array("mapping", mapping, graph.nvtxs, target.nprocs, MappingError)
    u, v, w = graph.edges()
    return float((w * target.distances(place[u], place[v])).sum())


def evaluate_mapping(graph: Any, machine: Machine | Architecture, mapping: ArrayLike) -> MappingFigures:
    """All figures of a mapping.

    Parameters
    ----------
    graph : Graph or graph-like
    machine : Machine or Architecture
    mapping : (nvtxs,) array_like of int
        Processor of each vertex.

    Raises
    ------
    MappingError
        The mapping names a processor that the machine does not have, or is of another length.

    Examples
    --------
    >>> from copart.mapping.architectures.regular import Grid
    >>> ring = Graph.from_edges(4, [0, 1, 2, 3], [1, 2, 3, 0])
    >>> found = evaluate_mapping(ring, Grid([4, 1]), [0, 1, 2, 3])
    >>> found.dilation_cost, found.dilation_max
    (6.0, 3.0)
    """
    graph, target = as_graph(graph), architecture_of(machine)
    k = target.nprocs
    place = part_array("mapping", mapping, graph.nvtxs, k, MappingError)
    load = np.bincount(place, weights=graph.weights, minlength=k)
    power = np.asarray(target.weights, np.float64)
    scaled = load / (power / power.mean())
    average = float(load.sum() / k)
    u, v, w = graph.edges()
    apart = target.distances(place[u], place[v]) if len(u) else np.zeros(0)
    between = place[u] != place[v]
    low, high = np.minimum(place[u], place[v])[between], np.maximum(place[u], place[v])[between]
    pairs = np.unique(low.astype(np.int64) * k + high)
    neighbours = np.bincount(np.concatenate([pairs // k, pairs % k]), minlength=k)
    population = np.bincount(place, minlength=k)
    mine = neighbours[population > 0]
    m, total = max(len(u), 1), max(int(w.sum()), 1)
    return MappingFigures(
        processors=k, used=int((population > 0).sum()), load_min=float(scaled.min()), load_max=float(scaled.max()),
        load_avg=average, load_deviation=float(np.abs(scaled - average).mean() / max(average, 1e-300)),
        imbalance=float(scaled.max() / average - 1) if average else 0.0,
        cut_edges=int(between.sum()), cut=int(w[between].sum()), dilation_cost=float((w * apart).sum()),
        dilation_avg=float(apart.sum() / m), expansion_avg=float((w * apart).sum() / total),
        dilation_max=float(apart.max(initial=0)), distribution=_distribution(apart),
        neighbours_min=int(mine.min(initial=k)) if len(mine) else 0, neighbours_max=int(mine.max(initial=0)),
        neighbours_avg=float(mine.mean()) if len(mine) else 0.0, neighbours_sum=int(mine.sum()),
    )


def _distribution(apart: NDArray[np.float64]) -> tuple[tuple[float, int, float], ...]:
    values = apart if len(np.unique(apart)) <= _VALUES else np.ceil(apart)
    found, count = np.unique(values, return_counts=True)
    return tuple((float(d), int(c), float(c / len(apart))) for d, c in zip(found, count, strict=True))


__all__ = ["MappingFigures", "architecture_of", "dilation_cost", "evaluate_mapping"]
