"""Clusters of ranks for coarsening, where the tests of the checklist do not look."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import ConfigError, MappingError
from copart.graph import Graph
from copart.mapping.ranks.clustering import COARSENERS, CoarseLevel, louvain, louvain_queued, modularity
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
