"""Labels spread from sources and halos, against their definitions; other kernels on rows are tested through `Graph`."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from copart.kernels import csr as kernels
from copart.metrics.traffic import halo_cells, halo_volumes

from ..partition_reference import path
from ..reference import graphs, rows


def spread(graph, sources, hops: int):
    n = graph.nvtxs
    label, dist = np.empty(n, np.int32), np.empty(n, np.int32)
    count = kernels.spread_labels(graph.xadj, graph.adjncy, np.array(sources, np.int32), hops, label, dist,
                                  np.empty(n, np.int32))
    return label, dist, int(count)


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_every_vertex_in_reach_has_the_label_of_a_nearest_source(graph, seed, hops):
    n = graph.nvtxs
    sources = np.random.default_rng(seed).permutation(n)[:n // 4].tolist()
    label, dist, count = spread(graph, sources, hops)
    near = rows(graph)
    away = []
    for s in sources:
        steps, queue = {s: 0}, [s]
        for v in queue:
            for u in near[v]:
                if u not in steps:
                    steps[u] = steps[v] + 1
                    queue.append(u)
        away.append(steps)
    for v in range(n):
        nearest = min((steps.get(v, np.inf) for steps in away), default=np.inf)
        if nearest <= hops:
            assert dist[v] == nearest
            assert away[label[v]][v] == nearest
        else:
            assert label[v] == -1
    assert count == (label >= 0).sum()


def test_ties_go_to_the_source_listed_first():
    assert spread(path(5), [4, 0], 9)[0].tolist() == [1, 1, 0, 0, 0]
    assert spread(path(5), [0, 4], 9)[0].tolist() == [0, 0, 0, 1, 1]


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_halos_are_the_other_parts_next_to_each_vertex(graph, seed, k):
    part = np.random.default_rng(seed).integers(0, k, graph.nvtxs).astype(np.int32)
    near = rows(graph)
    expected = [(v, int(q)) for v in range(graph.nvtxs) for q in sorted({part[u] for u in near[v]} - {part[v]})]
    sender, there, cell = halo_cells(graph, part)
    assert list(zip(cell.tolist(), there.tolist(), strict=True)) == expected
    assert sender.tolist() == [int(part[v]) for v, _ in expected]


@given(graphs(), st.integers(0, 2**32 - 1))
def test_a_table_of_all_pairs_changes_nothing_in_a_halo(graph, seed):
    """Few parts have a table, many do not."""
    part = np.random.default_rng(seed).integers(0, 3, graph.nvtxs).astype(np.int32)
    few, many = halo_volumes(graph, part, 3), halo_volumes(graph, part, 1000)
    for mine, theirs in zip(few, many, strict=True):
        assert mine.tolist() == theirs.tolist()
