"""Slow twins (the definitions again, with dictionaries and loops and no numpy cleverness), and instances."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from hypothesis import strategies as st

from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.graph import Graph

from .helpers import grid


def rows(graph: Graph) -> dict[int, dict[int, int]]:
    """Neighbours and edge weights of every vertex."""
    out: dict[int, dict[int, int]] = {}
    for v in range(graph.nvtxs):
        span = range(int(graph.xadj[v]), int(graph.xadj[v + 1]))
        out[v] = {int(graph.adjncy[e]): 1 if graph.ewgt is None else int(graph.ewgt[e]) for e in span}
    return out


def edge_cut(graph: Graph, part: Any) -> int:
    return sum(w for v, row in rows(graph).items() for u, w in row.items() if v < u and part[v] != part[u])


def part_weights(graph: Graph, part: Any, nparts: int) -> list[int]:
    load = [0] * nparts
    for v in range(graph.nvtxs):
        load[part[v]] += 1 if graph.vwgt is None else int(graph.vwgt[v])
    return load


def pieces(graph: Graph, part: Any, nparts: int) -> list[int]:
    """Connected pieces of each part, by depth-first search."""
    near = rows(graph)
    seen: set[int] = set()
    count = [0] * nparts
    for start in range(graph.nvtxs):
        if start in seen:
            continue
        count[part[start]] += 1
        stack = [start]
        seen.add(start)
        while stack:
            v = stack.pop()
            for u in near[v]:
                if u not in seen and part[u] == part[v]:
                    seen.add(u)
                    stack.append(u)
    return count


def boundary(graph: Graph, part: Any) -> list[bool]:
    return [any(part[u] != part[v] for u in row) for v, row in rows(graph).items()]


def coupling_matrix(pairs: list[tuple[int, int]], part_a: Any, part_b: Any, sizes: Any) -> dict[tuple[int, int], int]:
    """Each datum of A once for each distinct part of B that it goes to."""
    goes_to: dict[int, set[int]] = defaultdict(set)
    for u, v in pairs:
        goes_to[u].add(part_b[v])
    out: dict[tuple[int, int], int] = defaultdict(int)
    for u, parts in goes_to.items():
        for q in parts:
            out[part_a[u], q] += sizes[u]
    return {key: volume for key, volume in out.items() if volume}


def as_dict(matrix: Any) -> dict[tuple[int, int], int]:
    """The stored entries of a sparse matrix."""
    m = matrix.tocoo()
    return {(int(i), int(j)): int(x) for i, j, x in zip(m.row, m.col, m.data, strict=True)}


def four_by_three() -> tuple[CoupledProblem, CoPartition]:
    """A (4, 3, 2, 3) co-partition of a 4 x 4 and a 3 x 6 grid.

    ::

        A: 0 0 1 1 --- 0 0 0 0 0 0 :B      the right column of A (parts 1, 3) meets the left
           0 0 1 1 --- 1 1 1 1 1 1         column of B; rows 0, 1, 2, 3 of A meet rows 0, 1, 1, 2
           2 2 3 3 -/
           2 2 3 3 --- 2 2 2 2 2 2
    """
    part_a = np.kron([[0, 1], [2, 3]], np.ones((2, 2), int)).ravel()
    part_b = np.repeat([0, 1, 2], 6)
    inter = Interedges.from_pairs(16, 18, [3, 7, 11, 15], [0, 6, 6, 12])
    problem = CoupledProblem.of_two(grid(4, 4), grid(3, 6), inter)
    return problem, CoPartition({"a": part_a, "b": part_b}, {"a": 4, "b": 3}, {"a": 2, "b": 3})


def random_graph(rng: np.random.Generator, nvtxs: int, nedges: int, *, weighted: bool = True) -> Graph:
    """Up to `nedges` random edges, with random weights and sizes (some of them 0)."""
    if nvtxs < 2:
        return Graph.from_edges(nvtxs, [], [])
    u, v = rng.integers(0, nvtxs, (2, nedges))
    keep = u != v
    fields = {"vwgt": rng.integers(0, 5, nvtxs), "vsize": rng.integers(0, 4, nvtxs)} if weighted else {}
    ewgt = rng.integers(0, 6, int(keep.sum())) if weighted else None
    return Graph.from_edges(nvtxs, u[keep], v[keep], ewgt, **fields)


@st.composite
def graphs(draw: Any, max_nvtxs: int = 24) -> Graph:
    """Random small graphs, from empty to dense, with and without weights."""
    n = draw(st.integers(0, max_nvtxs))
    return random_graph(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), n, draw(st.integers(0, 3 * n)),
                        weighted=draw(st.booleans()))


def same_graph(a: Graph, b: Graph) -> None:
    """Assert that two graphs agree, all-ones weights being the same as none."""
    np.testing.assert_array_equal(a.xadj, b.xadj)
    np.testing.assert_array_equal(a.adjncy, b.adjncy)
    np.testing.assert_array_equal(a.edge_weights, b.edge_weights)
    np.testing.assert_array_equal(a.weights, b.weights)
    np.testing.assert_array_equal(a.sizes, b.sizes)
