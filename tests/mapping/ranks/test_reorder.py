"""From parts to ranks, the whole pipeline and its guard (rows 24 to 31 and 34 of the checklist)."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.rank_workloads import FLUPS_GRIDS, flups, flups_columns, paired_ranks, transport
from copart.errors import ConfigError, MappingError
from copart.mapping.ranks.communication import Messages, communication_graph
from copart.mapping.ranks.isomorphism import (
    block_cyclic,
    block_of,
    new_ranks,
    positions,
    process_in_slot,
)
from copart.mapping.ranks.partitioners import METHODS, partition_exactly
from copart.mapping.ranks.reorder import keep_most, reorder_ranks

from ...helpers import grid

#: Cuts of nodes of 128 consecutive ranks and of whole columns, microseconds: D, system, nodes, linear, column.
FLUPS_CUTS = [
    (64, "lucia", 2, 90211, 54442), (64, "meluxina", 2, 48584, 34280), (96, "lucia", 2, 237261, 127998),
    (96, "meluxina", 2, 122474, 73313), (64, "lucia", 4, 270632, 196083), (64, "meluxina", 4, 145753, 137926),
    (96, "lucia", 4, 711784, 417322), (96, "meluxina", 4, 367421, 254663), (64, "lucia", 8, 647750, 457528),
    (64, "meluxina", 8, 362203, 321828), (96, "lucia", 8, 1682090, 973751), (96, "meluxina", 8, 899880, 594213),
    (64, "lucia", 16, 1388036, 1214802), (64, "meluxina", 16, 776149, 999013), (96, "lucia", 16, 3604479, 2419331),
    (96, "meluxina", 16, 1928314, 1630549), (64, "lucia", 32, 4655279, 4076496), (64, "meluxina", 32, 3247946, 3559556),
    (96, "lucia", 32, 10302656, 7018020), (96, "meluxina", 32, 6272608, 5267467)]


def shuffled(sizes, seed):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


def test_row_24_the_worked_example():
    initial, final = [0, 1, 1, 0, 0, 1], [1, 0, 0, 0, 1, 1]
    assert positions(initial).tolist() == [0, 0, 1, 1, 2, 2]
    f = new_ranks(initial, final)
    assert f.tolist() == [1, 0, 4, 2, 3, 5]
    assert np.argsort(f).tolist() == [1, 0, 3, 4, 2, 5]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(0, 99))
def test_row_24_isomorphism(sizes, seed):
    initial, final = shuffled(sizes, seed), shuffled(sizes, seed + 1)
    f = new_ranks(initial, final)
    assert sorted(f) == list(range(len(initial)))
    assert (final[f] == initial).all()
    if len(f):
        assert (positions(final)[f] == positions(initial)).all()


def test_row_24_sizes_must_agree():
    with pytest.raises(MappingError, match="node 0 runs 2 processes and gets 1 ranks"):
        new_ranks([0, 0, 1], [0, 1, 1])


def test_row_24_nodes_by_any_numbers():
    """No memory for the numbers between those in use: two nodes of 2^31 once took 16 GB."""
    initial, final = np.array([7, 2**31 - 2, 7, 2**31 - 2]), np.array([7, 7, 2**31 - 2, 2**31 - 2])
    assert positions(initial).tolist() == [0, 0, 1, 1]
    assert new_ranks(initial, final).tolist() == [0, 2, 1, 3]
    with pytest.raises(MappingError, match="node 2147483646 runs 2 processes and gets 0 ranks"):
        new_ranks(initial, np.where(final == 7, 7, 2**31 - 1))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("cap", [4, 6, 12])
def test_row_25_without_all_gather(k, cap):
    for block in (b for b in range(1, cap + 1) if cap % b == 0):
        initial = block_cyclic(k * cap, k, block)
        ranks = np.arange(k * cap)
        assert block_of(initial) == (block if k > 1 else cap)
        assert (process_in_slot(initial, positions(initial), k, block) == ranks).all()
        final = shuffled([cap] * k, block)
        # each process receives one message: the number that it takes
        receivers = process_in_slot(final, positions(final), k, block)
        assert sorted(receivers) == ranks.tolist()
        assert (new_ranks(initial, final)[receivers] == ranks).all()


def test_row_25_check_value_and_refusals():
    assert process_in_slot(1, 3, 3, 2) == 9
    assert block_cyclic(12, 3, 2).tolist() == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]
    with pytest.raises(MappingError, match="whole number of rounds"):
        block_cyclic(12, 3, 3)
    assert block_of([0, 1, 1, 0, 0, 1]) is None
    assert block_of([1, 0]) is None


@pytest.mark.parametrize("seed", range(5))
def test_row_26_renumbering_realizes_the_cut(seed):
    rng = np.random.default_rng(seed)
    sizes = [7, 3, 5, 5]
    initial = shuffled(sizes, seed)
    found = communication_graph(Messages(20, rng.integers(0, 20, 90), rng.integers(0, 20, 90), rng.integers(1, 9, 90)))
    done = reorder_ranks(found, initial, seed=seed)
    # where new rank v runs: on the node of the process that took the number
    runs_on = initial[done.process]
    u, v, w = found.graph.edges()
    assert w[runs_on[u] != runs_on[v]].sum() * found.resolution == pytest.approx(done.cut_after, rel=1e-12)
    assert (runs_on == done.node).all()
    assert done.cut_after < done.cut_before
    assert (np.bincount(done.node) == sizes).all()


def test_row_27_one_node_keeps_everything():
    done = reorder_ranks(communication_graph(paired_ranks(4, 9)), np.zeros(8, int))
    assert done.kept
    assert done.cut_after == done.cut_before == 0


@pytest.mark.parametrize("method", [m for m in METHODS if m != "metis"])
def test_row_28_every_partitioner_is_exact(method):
    graph = grid(16, 24)
    for sizes in ([128] * 3, [200, 100, 84, 0], [1, 383]):
        part = partition_exactly(graph, sizes, method, seed=3)
        assert np.bincount(part, minlength=len(sizes)).tolist() == sizes


def test_row_28_metis_where_it_is_installed():
    pytest.importorskip("pymetis", reason="pymetis is not installed (copart[metis])")
    part = partition_exactly(grid(32, 64), [128] * 16, "metis")
    assert np.bincount(part).tolist() == [128] * 16


def test_row_28_metis_where_it_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(ConfigError, match=r"copart\[metis\]"):
        partition_exactly(grid(4, 4), [8, 8], "metis")


def test_row_28_unbalanced_results_are_repaired():
    calls = []

    def lazy(graph, capacities, seed):
        calls.append((graph.nvtxs, capacities.tolist(), seed))
        return np.zeros(graph.nvtxs, int)

    part = partition_exactly(grid(8, 8), [20, 20, 24], lazy, seed=9)
    assert np.bincount(part).tolist() == [20, 20, 24]
    assert calls == [(64, [20, 20, 24], 9)]


def test_bad_input():
    graph = communication_graph(paired_ranks(4, 9))
    with pytest.raises(ConfigError, match="method: 'nonsense' is not known; choose one of greedy"):
        reorder_ranks(graph, [0] * 4 + [1] * 4, method="nonsense")
    with pytest.raises(MappingError, match="must add up to the 16 processes, add up to 15"):
        partition_exactly(grid(4, 4), [8, 7])
    with pytest.raises(MappingError, match="vertex weights"):
        partition_exactly(grid(1, 2, vwgt=[1, 2]), [1, 2])
    with pytest.raises(MappingError, match="placement: needs 8 entries"):
        reorder_ranks(graph, [0, 1])


def test_nodes_by_any_numbers():
    """More nodes than processes, most of which run none of them."""
    graph = communication_graph(Messages(8, np.arange(8), np.arange(4, 12) % 8, np.full(8, 65536.0)))
    few, many = np.repeat([0, 1], 4), np.repeat([7, 2**31 - 2], 4)
    one, other = reorder_ranks(graph, few), reorder_ranks(graph, many)
    assert one.cut_after == 0
    assert one.rank.tolist() == other.rank.tolist()
    assert np.array([7, 2**31 - 2])[one.node].tolist() == other.node.tolist()
    assert reorder_ranks(graph, [10**6] * 8).kept


@pytest.mark.parametrize("n", [8, 16, 24, 32, 48, 64, 96, 128])
def test_row_29_proof_of_concept(n):
    placement = np.arange(2 * n) // n
    for table, time in (("meluxina-network", 353.0371), ("lucia-network", 686.0956)):
        pairs = paired_ranks(n, 2**22)
        for duplex, factor in (("full", 1), ("half", 2)):
            done = reorder_ranks(communication_graph(pairs, table, duplex), placement, method="greedy")
            assert done.cut_before == pytest.approx(factor * n * time, rel=2e-7)
            assert done.cut_after == 0
    round_robin = np.arange(2 * n) % 2 if n % 2 else np.arange(2 * n) % n % 2
    assert communication_graph(pairs).cut(round_robin) == 0


@pytest.mark.parametrize(("side", "system", "nodes", "linear", "column"), FLUPS_CUTS)
def test_rows_14_and_31_flups(side, system, nodes, linear, column):
    shape = FLUPS_GRIDS[nodes]
    found = communication_graph(flups(shape, side**3 * 8), f"{system}-network")
    placement, columns = np.arange(128 * nodes) // 128, flups_columns(shape)
    assert found.cut(placement) == pytest.approx(linear, abs=0.6)
    assert found.cut(columns) == pytest.approx(column, abs=0.6)
    # plain greedy finds the columns, whatever the total says
    plain = partition_exactly(found.graph, [128] * nodes, "greedy")
    assert found.cut(plain) == pytest.approx(column, abs=0.6)
    done = reorder_ranks(found, placement, method="greedy")
    assert done.cut_after == pytest.approx(min(linear, column), abs=0.6)
    assert done.kept == (linear < column)
    if system == "lucia":
        # l is the slowest coordinate: ranks of one column differ by multiples of P_x P_y
        classes = np.arange(128 * nodes) % (shape[0] * shape[1])
        u, v, w = found.graph.edges()
        in_column = classes[u] == classes[v]
        cut = done.node[u] != done.node[v]
        assert not (cut & in_column).any()
        before = placement[u] != placement[v]
        assert w[cut & ~in_column].sum() > w[before & ~in_column].sum()


@pytest.mark.parametrize(("nodes", "linear", "column"), [
    (2, (0, 0, 512), (0, 2048, 0)), (8, (0, 0, 7168), (0, 28672, 0)), (32, (0, 262144, 30720), (16384, 491520, 0))])
def test_row_31_classes_of_cut_edges(nodes, linear, column):
    shape = px, py, _ = FLUPS_GRIDS[nodes]
    u, v, _ = communication_graph(flups(shape, 64**3 * 8)).graph.edges()
    row, slab = u // px == v // px, u // (px * py) == v // (px * py)
    for node, expected in ((np.arange(128 * nodes) // 128, linear), (flups_columns(shape), column)):
        cut = node[u] != node[v]
        assert (int((cut & row).sum()), int((cut & slab & ~row).sum()), int((cut & ~slab).sum())) == expected


def test_never_worse_than_the_start():
    """The optimum stays as it is, and so does what no method improves."""
    toy = communication_graph(transport(20, 4))
    done = reorder_ranks(toy, [0, 0, 1, 1])
    assert done.kept
    assert done.cut_before == done.cut_after
    worse = reorder_ranks(toy, [0, 1, 0, 1])
    assert worse.cut_after == pytest.approx(worse.cut_before / 3)


@pytest.mark.parametrize("objective", ["time", "max-volume"])
def test_one_process_a_node_keeps_everything(objective):
    """Whatever the order, all messages are between nodes: nothing is partitioned, which took tables of n x n."""
    ranks = np.arange(12_000)
    ring = communication_graph(Messages(12_000, ranks, (ranks + 1) % 12_000, np.full(12_000, 1e4)))
    done = reorder_ranks(ring, ranks[::-1], objective=objective)
    assert done.kept
    assert done.node.tolist() == ranks[::-1].tolist()
    assert done.cut_before == done.cut_after > 0
    with pytest.raises(ConfigError, match="method: 'nonsense' is not known"):
        reorder_ranks(ring, ranks, method="nonsense")


def test_numbers_of_parts_keep_most_ranks():
    part, placement = np.array([1, 1, 0, 0, 2, 2, 2], np.int32), np.array([0, 0, 1, 1, 2, 2, 2], np.int32)
    assert keep_most(part, placement).tolist() == placement.tolist()


@pytest.mark.parametrize("method", [m for m in METHODS if m != "metis"])
def test_row_34_same_seed_same_ranks(method):
    found = communication_graph(flups((4, 4, 4), 2.0**20))
    placement = np.arange(64) // 16
    first, again = (reorder_ranks(found, placement, method=method, seed=5) for _ in range(2))
    assert first.rank.tolist() == again.rank.tolist()
    assert first.node.tolist() == again.node.tolist()
