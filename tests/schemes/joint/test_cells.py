"""The coupled cells of all components as one problem: clusters, limits, what is written back."""

from __future__ import annotations

import numpy as np

from copart.coupling import CoupledProblem, Interedges
from copart.graph import Graph
from copart.kernels import coupled as kernels
from copart.schemes.joint.cells import CoupledCells, by_partner, contracted

from .cases import state


def test_clusters_keep_interedges_weights_and_cut(nested):
    cells, s, _ = state(nested, 6, 4, False)
    cluster = by_partner(cells.cells, cells.kind)
    rough = contracted(cells.cells, cluster)
    assert len(rough.weight) == 64 + 64, "one cluster of B for each cell of A"
    assert rough.weight.sum() == cells.cells.weight.sum()
    assert rough.imul.sum() == len(cells.cells.iadj)
    part = np.random.default_rng(1).integers(0, 4, len(rough.weight)).astype(np.int32)
    part[64:] += 4
    part = part[np.argsort(np.argsort(np.unique(cluster, return_index=True)[1]))]
    coarse = cells.shares(part, s.limit, rough)
    fine = cells.shares(part[cluster], s.limit)
    assert np.array_equal(coarse.pairs, fine.pairs)
    assert np.array_equal(coarse.total, fine.total)


def test_relief_takes_the_least_from_parts_above_their_limits():
    path = Graph.from_edges(6, range(5), range(1, 6))
    problem = CoupledProblem.of_two(path, path, Interedges.from_pairs(6, 6, range(6), range(6)))
    parts = {name: np.array([0, 0, 0, 0, 1, 1], np.int32) for name in "ab"}
    cells = CoupledCells(problem, parts, {"a": 2, "b": 2}, False)
    s = cells.shares(cells.start(), np.full(4, 3))
    assert kernels.relieve(cells.cells, s, cells.owner, np.array([1.0, 1.0, 1.0])) == 0
    assert s.part.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
