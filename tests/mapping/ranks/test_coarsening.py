"""Clusters of ranks for coarsening, where the tests of the checklist do not look."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import ConfigError, MappingError
from copart.graph import Graph
from copart.mapping.ranks.clustering import (
    COARSENERS,
    CoarseLevel,
    label_propagation,
    louvain,
    louvain_queued,
    modularity,
)
from copart.mapping.ranks.multilevel import coarsen, multilevel
from copart.mapping.ranks.partitioners import partition_exactly
from copart.metrics import edge_cut

from ...helpers import grid


@pytest.mark.parametrize(("method", "name"), [(louvain, "louvain"), (louvain_queued, "louvain-queue")])
def test_louvain_without_edges(method, name):
    """Ranks that talk to nobody, or to themselves alone: everyone stays alone."""
    level = CoarseLevel.finest(Graph.from_edges(300, [], []))
    assert sorted(method(level, 100, 1)) == list(range(300))
    assert modularity(level, np.zeros(300, np.int32)) == 0
    assert np.bincount(partition_exactly(level.graph, [200, 100], name)).tolist() == [200, 100]


def test_any_coarsener_can_be_plugged_in():
    """One that hands out other numbers than 0, 1, ... and knows no bound."""
    graph, calls = grid(32, 64), []

    def rows(level, bound, seed):
        n = level.graph.nvtxs
        calls.append((n, bound, seed))
        # pairs along the numbering, and all the rest of the finest level in one cluster
        return np.where(np.arange(n) < 1900, 7 * (np.arange(n) // 2), 5)

    part = multilevel(graph, [128] * 16, coarsener=rows, seed=3)
    assert np.bincount(part).tolist() == [128] * 16
    assert calls[0] == (2048, 128 // 8, 4)
    levels, clusters = coarsen(graph, rows, 1024, 16)
    assert levels[1].graph.nvtxs == 950 + 148, "a cluster above the bound comes apart"
    assert all(level.graph.weights.max() <= 16 for level in levels)
    coarse = np.arange(levels[1].graph.nvtxs) % 3
    assert edge_cut(graph, coarse[clusters[0]]) == edge_cut(levels[1].graph, coarse)


@pytest.mark.parametrize("name", COARSENERS)
def test_a_coarsener_as_function_is_the_one_of_that_name(name):
    graph = grid(32, 32)
    by_name, by_function = (multilevel(graph, [512] * 2, coarsener=c) for c in (name, COARSENERS[name]))
    assert (by_name == by_function).all()


def test_coarseners_that_are_none():
    with pytest.raises(ConfigError, match="coarsener: 'louvian' is not known; choose one of rhem"):
        multilevel(grid(2, 2), [2, 2], coarsener="louvian")
    for wrong in (lambda *_: [0, 1], lambda level, *_: np.full(level.graph.nvtxs, -1)):
        with pytest.raises(MappingError, match="coarsener: "):
            multilevel(grid(16, 16), [128, 128], coarsener=wrong)


@pytest.mark.parametrize("seed", range(4))
def test_labels_end_where_no_vertex_has_more_weight_elsewhere(seed):
    """Among the clusters with room for it, every vertex is in the one that it has most weight to."""
    rng, n, bound = np.random.default_rng(seed), 80, 9
    u, v = rng.integers(0, n, (2, 300))
    load = rng.integers(1, 4, n)
    graph = Graph.from_edges(n, u[u != v], v[u != v], rng.integers(1, 9, (u != v).sum()), vwgt=load)
    cluster = label_propagation(CoarseLevel.finest(graph), bound, seed, rounds=1000)
    size = np.bincount(cluster, load)
    assert size.max() <= bound
    assert len(size) < n / 2
    matrix = graph.to_scipy().toarray()
    for x in range(n):
        tied = np.bincount(cluster, matrix[x], len(size))
        fits = size + load[x] <= bound
        fits[cluster[x]] = True
        assert tied[cluster[x]] == tied[fits].max()
    again = label_propagation(CoarseLevel.finest(graph), bound, seed, rounds=1000)
    assert (again == cluster).all()


def test_labels_of_two_cliques():
    """Each becomes a cluster. On a grid more rounds make larger clusters, and ties differ by the seed."""
    u, v = np.triu_indices(6, 1)
    level = CoarseLevel.finest(Graph.from_edges(12, [*u, *(u + 6), 5], [*v, *(v + 6), 6]))
    for seed in range(8):
        assert (np.diff(label_propagation(level, 6, seed)) != 0).nonzero()[0].tolist() == [5]
    level = CoarseLevel.finest(grid(16, 16))
    assert label_propagation(level, 16, 1, rounds=1).max() > label_propagation(level, 16, 1).max()
    assert (label_propagation(level, 16, 1) != label_propagation(level, 16, 2)).any()
