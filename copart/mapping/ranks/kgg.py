"""KGG: k-way greedy growing of parts of exactly given sizes.

Growing assigns, again and again, the vertex and the open part of largest gain.  A vertex without part belongs to an
imaginary part -1, so its gain for part j is the weight of its edges to j less that of its edges to others without
part; the first vertices are those of smallest weighted degree, as a rule the rim of the domain.
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Section 4.1.2.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, WEIGHT, frozen, integers
from ...errors import ConfigError, MappingError
from ...graph import Graph

#: Entries of the table of connections, vertices x parts; more do not fit the memory of one process.
MAX_TABLE = 2**27


def check_capacities(graph: Graph, capacities: ArrayLike) -> NDArray[np.int64]:
    """(k,) int64 vertex weight that each part is to have; MappingError where they do not add up to the graph's."""
    cap = integers("capacities", capacities, WEIGHT, MappingError, low=0)
    if cap.sum() != graph.total_weight:
        raise MappingError(f"capacities: must add up to the {graph.total_weight} processes, add up to {cap.sum()}")
    if graph.nvtxs * len(cap) > MAX_TABLE:
        raise MappingError(f"capacities: {graph.nvtxs} processes x {len(cap)} parts exceed {MAX_TABLE} table entries")
    return cap


def counted(graph: Graph) -> Graph:
    """The graph with vertices that count one each; MappingError where they have other weights."""
    if graph.vwgt is None:
        return graph
    if (graph.vwgt != 1).any():
        raise MappingError("graph: processes count one each, vertex weights other than 1 are not supported")
    return graph.replace(vwgt=None)


class Grown(NamedTuple):
    """A grown partition: part (n,) int32, and the vertices in the order of their placement, (n,) int32."""

    part: NDArray[np.int32]
    order: NDArray[np.int32]


def grow(graph: Graph, capacities: ArrayLike, *, seeds: str = "all", seed: int = 1) -> Grown:
    """k-way greedy: place the vertex and part of largest gain until all are placed.

    Parameters
    ----------
    graph : Graph
    capacities : (k,) array_like of int
        Largest weight of each part; ``[nvtxs] * k`` sets no limit, and one part takes a whole connected graph.  Where
        no part has room for a vertex, which happens with weighted vertices only or where they add up to less than
        the graph, the part with the most room takes it.
    seeds : {"all", "random"}
        "all": every vertex is a candidate from the beginning. "random": k
        random vertices are placed first, one per part, and only neighbours of
        placed vertices are candidates; faster where k is large, with worse cuts.
    seed : int
        Decides ties, and the random vertices.

    Raises
    ------
    ConfigError
        `seeds` is none of these.
    """
    from ...kernels.kgg import grow_parts

    if seeds not in ("all", "random"):
        raise ConfigError(f"seeds: must be all or random, got {seeds!r}")
    cap = frozen(integers("capacities", capacities, WEIGHT, MappingError, low=0))
    n, k = graph.nvtxs, len(cap)
    if seeds == "random" and k > n:
        raise MappingError(f"seeds: {k} parts need as many vertices, there are {n}")
    start = np.random.default_rng([seed, 1]).permutation(n).astype(VERTEX)
    growth = _growth(n, k)
    grow_parts(kernel_level(graph), cap, start, seeds == "all", seed, growth)
    return Grown(growth.part, growth.order)


def kernel_level(graph: Graph) -> Any:
    """The graph as kernels see it, with weights of edges and nothing fixed."""
    from ...kernels import Level
    from ...kernels.weights import narrowed

    none = np.zeros(0, VERTEX)
    return Level(xadj=graph.xadj, adjncy=graph.adjncy, ewgt=frozen(narrowed(graph.edge_weights)), vwgt=graph.weights,
                 fixed=none, origin=none, size=np.zeros(0, WEIGHT))


def _growth(n: int, k: int) -> Any:
    """Memory to grow k parts of n vertices, each of which is placed once and a candidate once at a time."""
    from ...kernels.kgg import Growth

    return Growth(
        part=np.full(n, -1, VERTEX),
        size=np.zeros(k, WEIGHT),
        conn=np.zeros((n, k), WEIGHT),
        order=np.empty(n, VERTEX),
        free=np.empty(n, WEIGHT),
        best=np.full(n, -1, VERTEX),
        key=np.empty(n, WEIGHT),
        tie=np.empty(n, WEIGHT),
        heap=np.empty(n, VERTEX),
        pos=np.full(n, -1, VERTEX),
    )
