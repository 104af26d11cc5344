"""Edge weights of 32 and of 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

from copart.graph import Graph
from copart.kernels.weights import EDGE_WEIGHT, HEAVIEST, narrowed, type_for_sums, type_of, type_unpacked
from copart.kgggp_ml import partition
from copart.metrics import edge_cut, max_part_weight
from copart.partitioner.coarsening import contract
from copart.partitioner.rounds import Team

from ..conftest import NO_JIT
from ..helpers import grid
from ..partition_reference import level

pytestmark = pytest.mark.skipif(NO_JIT, reason="plain Python has weights of 64 bits only")


@pytest.mark.parametrize(("heaviest", "kind"), [(0, np.int32), (2**31 - 1, np.int32), (2**31, np.int64),
                                                (2**59, np.int64)])
def test_weights_get_the_smallest_type_that_holds_each(heaviest, kind):
    found = narrowed(np.array([1, heaviest]))
    assert found.dtype == kind
    assert found.tolist() == [1, heaviest]
    graph = Graph.from_edges(3, [0, 1], [1, 2], [heaviest, 1])
    assert (graph.kernel_ewgt.dtype, graph.ewgt.dtype) == (kind, np.int64)
    assert not graph.kernel_ewgt.flags.writeable
    assert type_of(level(graph)) == type_of(level(grid(2, 2)), level(graph)) == kind


def test_types_for_sums_and_for_packed_weights():
    half = Graph.from_edges(3, [0, 1], [1, 2], [HEAVIEST // 2, HEAVIEST // 2 + 1])
    assert type_for_sums(level(half)) == EDGE_WEIGHT == type_for_sums(level(grid(3, 3)))
    assert type_for_sums(level(half.replace(ewgt=half.ewgt + 1))) == np.int64
    packed = {np.uint8: np.int32, np.uint16: np.int32, np.uint32: np.int64, np.uint64: np.int64, np.int32: np.int32,
              np.int64: np.int64}
    assert {kind: type_unpacked(np.dtype(kind)) for kind in packed} == packed
    plain = level(grid(2, 2))
    for kind, wanted in packed.items():
        assert type_of(plain, plain._replace(ewgt=np.ones(8, kind)), plain) == wanted


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_that_do_not_fit_are_kept_in_64_bits(threads):
    """Edges are merged in pairs; one pair is too heavy."""
    n = 20_000
    columns = np.arange(2 * n).reshape(2, n)
    u, v = np.concatenate([columns[0], columns[:, :-1].ravel()]), np.concatenate([columns[1], columns[:, 1:].ravel()])
    weight = np.full(len(u), 1000)
    for heavy in (HEAVIEST - 1000, HEAVIEST):
        weight[-1] = heavy
        with Team(threads) as team:
            coarse = contract(level(Graph.from_edges(2 * n, u, v, weight)), np.tile(np.arange(n, dtype=np.int32), 2), n,
                              team)
        assert coarse.ewgt.dtype == (np.int32 if heavy < HEAVIEST else np.int64)
        assert coarse.ewgt.max() == heavy + 1000
        assert coarse.ewgt.sum() == 2 * (2000 * (n - 2) + heavy + 1000)


def test_partitions_of_heavy_graphs():
    """Weights that fit, weights whose sums do not, and weights that do not."""
    u, v, _ = grid(40, 40).edges()
    light = np.random.default_rng(1).integers(1, 4, len(u))
    for factor in (1, 2**29, 2**33):
        graph = Graph.from_edges(1600, u, v, light * factor)
        part = partition(graph, 5, preset="strong")
        assert np.bincount(part, minlength=5).max() <= max_part_weight(1600, 5, 0.05)
        cut = edge_cut(graph, part)
        assert cut == factor * int(light[part[u] != part[v]].sum())
        assert cut < 0.2 * graph.ewgt.sum() / 2
