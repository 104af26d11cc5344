"""Repartitioning: always balanced, little migration, few messages; the mechanisms of diffusion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import ConfigError, PartitionError
from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.metrics import (
    edge_cut,
    max_part_weights,
    migration_matrix,
    migration_messages,
    migration_volume,
    part_weights,
    pieces,
)
from copart.options import Options
from copart.repart import (
    METHODS,
    _dissolved,
    _flow,
    _move_layer,
    _split,
    _Task,
    default_migration_cost,
    migration_plan,
    repartition,
)
from tests.helpers import grid


def moved(graph: Graph, former: np.ndarray, new: np.ndarray, m: int, n: int) -> tuple[int, int]:
    """Migration volume and messages."""
    c = migration_matrix(former, new, m, n, graph.sizes)
    return migration_volume(c), migration_messages(c)


def assert_balanced(graph: Graph, part: np.ndarray, n: int, eps: float, tpwgts: list[float] | None = None) -> None:
    assert part.dtype == np.int32
    assert part.shape == (graph.nvtxs,)
    assert (np.bincount(part, minlength=n) > 0).all()
    assert len(np.bincount(part)) == n
    assert (part_weights(graph, part, n) <= max_part_weights(graph.total_weight, n, eps, tpwgts)).all()


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(st.integers(4, 40), st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**30))
def test_balanced_for_any_former_parts(method: str, nvtxs: int, m: int, n: int, seed: int) -> None:
    """Disconnected graphs, empty and scattered former parts, m above and below n."""
    n = min(n, nvtxs)
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, nvtxs, (2, nvtxs))
    graph = Graph.from_edges(nvtxs, u[u != v], v[u != v], rng.integers(0, 5, int((u != v).sum())))
    former = rng.integers(0, m, nvtxs)
    new = repartition(graph, former, m, n, method=method, seed=seed)
    assert_balanced(graph, new, n, 0.05)


@pytest.mark.parametrize("method", METHODS)
def test_weights_sizes_and_targets(method: str) -> None:
    rng = np.random.default_rng(3)
    graph = grid(20, 20, vwgt=rng.integers(0, 4, 400), vsize=rng.integers(0, 9, 400))
    former = partition(grid(20, 20), 6)
    for n, tpwgts in ((6, None), (4, [1.0, 2.0, 1.0, 2.0]), (8, [2.0] * 2 + [1.0] * 6)):
        new = repartition(graph, former, 6, n, method=method, tpwgts=tpwgts, eps=0.1)
        assert_balanced(graph, new, n, 0.1, tpwgts)


@pytest.mark.parametrize("method", METHODS)
def test_no_weight_at_all(method: str) -> None:
    graph = grid(6, 6, vwgt=np.zeros(36, int))
    new = repartition(graph, np.zeros(36, int), 2, 4, method=method)
    assert (np.bincount(new, minlength=4) > 0).all()


def test_from_or_to_one_part() -> None:
    path = Graph.from_edges(4000, range(3999), range(1, 4000))
    assert not repartition(path, np.arange(4000) % 1500, 1500, 1).any()  # no plan of so many messages is needed
    assert np.bincount(repartition(path, np.zeros(4000, int), 1, 7)).max() <= 1.05 * 4000 / 7


def test_nothing_moves_where_nothing_has_to() -> None:
    graph = grid(12, 12)
    former = partition(graph, 6)
    assert (repartition(graph, former, 6, 6, seed=9) == former).all()


@pytest.mark.parametrize("layout", ["blocks", "strips"])
def test_grid_of_the_source(layout: str) -> None:
    graph = grid(10, 10)
    i, j = np.divmod(np.arange(100), 10)
    former = np.where(i >= 8, 4, 2 * (i // 4) + j // 5) if layout == "blocks" else i // 2
    plan = migration_plan(graph, former, 5, 7)
    assert np.count_nonzero(plan) == 11
    rows = []
    for seed in range(1, 9):
        new = repartition(graph, former, 5, 7, seed=seed)
        assert_balanced(graph, new, 7, 0.05)
        c = migration_matrix(former, new, 5, 7)
        remap = repartition(graph, former, 5, 7, seed=seed, method="scratch-remap")
        other = migration_matrix(former, remap, 5, 7)
        rows.append((c.nnz, migration_volume(c), c.toarray()[plan == 0].sum(), edge_cut(graph, new),
                     other.nnz, migration_volume(other), edge_cut(graph, remap)))
    nonzeros, volume, astray, cut, *scratch = np.mean(rows, axis=0)
    # observed, blocks and strips: non-zeros 10.1 and 11, volume 32 and 29, cut 38 and 42;
    # from scratch 15 and 17, 45 and 62, cut 35 and 35
    assert abs(nonzeros - 11) <= 1.2, rows
    assert volume <= 36, rows
    assert astray <= 6, rows
    assert nonzeros < scratch[0], rows
    assert volume < scratch[1], rows
    assert cut < 1.35 * scratch[2], rows


@pytest.mark.parametrize(("m", "n"), [(12, 12), (12, 16), (16, 12), (6, 18)])
def test_fewer_messages_and_volume_than_from_scratch(m: int, n: int) -> None:
    rows: dict[str, list[tuple[int, ...]]] = {method: [] for method in METHODS}
    for seed in range(1, 5):
        graph = grid(50, 50)
        former = partition(graph, m, seed=seed)
        if m == n:  # one side has become three times as heavy
            graph = graph.replace(vwgt=np.where(np.arange(2500) < 750, 3, 1))
        for method in METHODS:
            new = repartition(graph, former, m, n, method=method, seed=seed)
            assert_balanced(graph, new, n, 0.05)
            rows[method].append((*moved(graph, former, new, m, n), edge_cut(graph, new)))
    figures = {method: np.mean(row, axis=0) for method, row in rows.items()}
    volume, messages, cut = figures["mxn"]
    # observed: messages 0.45 to 0.81 of scratch-remap's and 0.43 to 0.52 of diffusion's, volume 0.74 to 1.00 and
    # cut 1.11 to 1.20 of scratch-remap's
    assert messages < 0.9 * figures["scratch-remap"][1], figures
    assert messages < 0.8 * figures["diffusive"][1], figures
    assert volume <= 1.05 * figures["scratch-remap"][0], figures
    assert cut < 1.35 * figures["scratch-remap"][2], figures


def test_only_the_excess_moves() -> None:
    graph = grid(8, 40)
    former = np.repeat([0, 1, 2, 3], 80).reshape(4, 8, 10).transpose(1, 0, 2).reshape(-1)
    weight = np.where((former == 1) & (np.arange(320) // 40 < 2), 2, 1)  # part 1 weighs 100, the others 80
    graph = graph.replace(vwgt=weight)
    new = repartition(graph, former, 4, 4)
    assert_balanced(graph, new, 4, 0.05)
    assert moved(graph, former, new, 4, 4)[0] <= 25
    assert (new[former == 3] == 3).mean() > 0.9
    assert pieces(graph, new, 4).sum() <= 5


def test_a_higher_cost_keeps_to_the_matrix() -> None:
    graph = grid(30, 30)
    former = partition(graph, 8)
    plan = migration_plan(graph, former, 8, 11)
    astray = {}
    for cost in (0, 3):
        new = repartition(graph, former, 8, 11, migration_cost=cost)
        assert_balanced(graph, new, 11, 0.05)
        astray[cost] = int(migration_matrix(former, new, 8, 11).toarray()[plan == 0].sum())
    assert astray[3] < 0.03 * 900 < astray[0], astray


def test_default_cost_follows_the_units_of_the_graph() -> None:
    graph = grid(4, 4)
    assert default_migration_cost(graph) == 1
    assert default_migration_cost(graph.replace(ewgt=np.full(48, 30))) == 30
    assert default_migration_cost(graph.replace(ewgt=np.full(48, 30), vsize=np.full(16, 10))) == 3
    assert default_migration_cost(graph.replace(vsize=np.zeros(16, int))) == 1
    assert default_migration_cost(Graph.from_edges(3, [], [])) == 1


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_bytes_on_any_threads(method: str) -> None:
    graph = grid(40, 40)
    former = partition(graph, 5)
    results = [repartition(graph, former, 5, 8, method=method, seed=4, threads=t) for t in (1, 2, 1)]
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


def test_scratch_remap_keeps_numbers() -> None:
    graph = grid(12, 12)
    former = partition(graph, 4)
    new = repartition(graph, former, 4, 4, method="scratch-remap")
    assert (new == former).all()  # the same partition from scratch, numbered as it was
    shuffled = np.array([2, 3, 1, 0])[former]
    assert (repartition(graph, shuffled, 4, 4, method="scratch-remap") == shuffled).all()


def test_flow_of_least_squares_on_a_path() -> None:
    quotient = Graph.from_edges(3, [0, 1], [1, 2], vwgt=[9, 3, 0])
    flow = _flow(quotient, np.array([4.0, 4.0, 4.0]))
    assert np.allclose(flow, [[0, 5, 0], [0, 0, 4], [0, 0, 0]])


def test_a_layer_moves_by_gain_and_no_further_than_the_flow() -> None:
    graph = grid(1, 6)
    part = np.array([0, 0, 0, 0, 1, 1], np.int32)
    flow = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert _move_layer(graph, part, flow)
    assert part.tolist() == [0, 0, 0, 1, 1, 1]
    assert not _move_layer(graph, part, np.zeros((2, 2)))
    lone = np.array([0, 1, 1, 1, 1, 1], np.int32)
    assert not _move_layer(graph, lone, flow)  # the last vertex of a part stays


def test_split_halves_the_heaviest_and_dissolve_follows_the_edges() -> None:
    graph = grid(4, 10)
    former = np.tile(np.repeat([0, 1], [7, 3]), 4).astype(np.int32)

    def task(former, m, n):
        return _Task(graph, former, m, n, 1, Options(), None)

    part = _split(task(former, 2, 3))
    assert set(part[former == 0].tolist()) == {0, 2}
    assert (part[former == 1] == 1).all()
    former = np.tile(np.repeat([0, 2, 1], [3, 4, 3]), 4).astype(np.int32)
    assert _dissolved(task(former, 3, 2)).reshape(4, 10)[0].tolist() == [0] * 5 + [1] * 5
    assert (_dissolved(task(np.full(40, 2, np.int32), 3, 2)) == 0).all()


def test_bad_input() -> None:
    graph = grid(3, 3)
    with pytest.raises(ConfigError, match="method: 'best' is not known; choose one of mxn, scratch-remap, diffusive"):
        repartition(graph, [0] * 9, 1, 2, method="best")
    with pytest.raises(PartitionError, match=r"part: 1 of 9 entries are outside 0\.\.1, first at index 8: 2"):
        repartition(graph, [0] * 8 + [2], 2, 2)
    with pytest.raises(PartitionError, match="part: needs 9 entries, has 8"):
        repartition(graph, [0] * 8, 2, 2)
    with pytest.raises(PartitionError, match="n: 10 parts of 9 vertices"):
        repartition(graph, [0] * 9, 2, 10)
    with pytest.raises(ConfigError, match="migration_cost: must be at least 0"):
        repartition(graph, [0] * 9, 2, 2, migration_cost=-1)


def test_example(tmp_path: Path) -> None:
    from examples.repartition_grid import main

    figures = main()
    assert figures["plan"]["nonzeros"] == 11
    assert figures["mxn"]["nonzeros"] <= 12
    assert figures["mxn"]["imbalance"] <= 0.0501
    assert figures["mxn"]["messages"] < figures["scratch-remap"]["messages"]
    assert figures["mxn"]["volume"] < figures["scratch-remap"]["volume"]
    pytest.importorskip("matplotlib")
    assert main(tmp_path) == figures
    assert (tmp_path / "repartition_grid.png").read_bytes()[:4] == b"\x89PNG"
