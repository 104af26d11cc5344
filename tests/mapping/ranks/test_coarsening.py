"""Clusters of ranks for coarsening, where the tests of the checklist do not look."""

from __future__ import annotations

import numpy as np
import pytest

from copart.graph import Graph
from copart.mapping.ranks.clustering import CoarseLevel, louvain, louvain_queued, modularity
from copart.mapping.ranks.partitioners import partition_exactly


@pytest.mark.parametrize(("method", "name"), [(louvain, "louvain"), (louvain_queued, "louvain-queue")])
def test_louvain_without_edges(method, name):
    """Ranks that talk to nobody, or to themselves alone: everyone stays alone."""
    level = CoarseLevel.finest(Graph.from_edges(300, [], []))
    assert sorted(method(level, 100, 1)) == list(range(300))
    assert modularity(level, np.zeros(300, np.int32)) == 0
    assert np.bincount(partition_exactly(level.graph, [200, 100], name)).tolist() == [200, 100]
