"""Message costs and the communication graph (rows 1 to 7 of the rank reordering checklist)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.rank_workloads import FLUPS_GRIDS, flups, paired_ranks, transport
from copart.errors import ConfigError, MappingError
from copart.mapping.ranks.communication import Messages, communication_graph, join_directions, message_times
from copart.mapping.ranks.message_costs import TABLES, CostModel, as_cost_model

NET, LUCIA = CostModel.named("meluxina-network"), CostModel.named("lucia-network")


@st.composite
def traffic(draw):
    n = draw(st.integers(1, 8))
    rank = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(rank, rank, st.integers(0, 2**24)), max_size=40))


def messages_of(n, listed):
    table = np.array(listed, float).reshape(-1, 3)
    return Messages(n, table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2])


@given(traffic())
def test_row_1_the_directed_graph_is_the_union_of_the_lists(case):
    n, listed = case
    expected = defaultdict(float)
    for s, t, w in listed:
        if s != t:
            expected[s, t] += float(NET.times(w))
    times = message_times(messages_of(n, listed), NET)
    pairs = list(zip(times.source.tolist(), times.target.tolist(), strict=True))
    assert pairs == sorted(expected)
    assert times.time.tolist() == [expected[pair] for pair in pairs]


def test_row_2_standard_model():
    w = np.array([0, 1, 7, 2.0**30])
    assert np.abs(CostModel.standard(1.5, 12340.0).times(w) - (1.5 + w / 12340.0)).max() < 1e-12 * 2**30
    assert float(as_cost_model((1.5, 1000)).times(500)) == 2.0


@pytest.mark.parametrize(("table", "nbytes", "microseconds"), [
    ("meluxina-network", 4, 1.3984), ("lucia-network", 4, 1.8106), ("meluxina-local", 4, 0.2391),
    ("lucia-local", 4, 0.6618), ("meluxina-network", 6000, 3.7645), ("meluxina-network", 2**14, 6.4684),
    ("lucia-network", 2**14, 7.1686), ("meluxina-local", 2**14, 5.8352), ("lucia-local", 2**14, 5.8949),
    ("meluxina-network", 2**17, 16.7382), ("lucia-network", 2**17, 26.5829), ("meluxina-local", 2**17, 14.0573),
    ("lucia-local", 2**17, 15.2690), ("meluxina-network", 2**19, 50.5306), ("lucia-network", 2**19, 90.3670),
    ("meluxina-local", 2**19, 48.1783), ("lucia-local", 2**19, 48.3296), ("meluxina-network", 2**22, 353.0371),
    ("lucia-network", 2**22, 686.0956), ("meluxina-local", 2**22, 340.3354), ("lucia-local", 2**22, 365.0309)])
def test_row_3_extended_model(table, nbytes, microseconds):
    assert float(CostModel.named(table).times(nbytes)) == pytest.approx(microseconds, abs=5.1e-5)


def test_row_3_ends_of_the_tables():
    assert float(NET.times(0)) == 1.11
    assert float(NET.times(1)) == 1.11 + 1 / 13.87
    assert float(NET.times(2**30)) == 181.18 + 2**30 / 24405.77
    # neither of the measured columns is monotone everywhere
    falls = {name for name in TABLES for column in (CostModel.named(name).latency, CostModel.named(name).bandwidth)
             if (np.diff(column) < 0).any()}
    assert falls == set(TABLES) - {"lucia-network"}


def test_row_4_every_message_pays_its_latency():
    two = message_times(Messages(2, [0, 0], [1, 1], [4, 4]), NET).time[0]
    assert two == 2 * float(NET.times(4))
    assert two > 1.5 * float(NET.times(8))
    assert message_times(Messages(2, [0], [1], [4], [2]), NET).time[0] == two


def test_row_5_duplex():
    example = Messages(2, [0, 0, 1], [1, 1, 0], [4, 4, 2**22])
    cuts = {d: communication_graph(example, NET, d).cut([0, 1]) for d in ("half", "full")}
    assert cuts == {"half": pytest.approx(355.8339, abs=1e-4), "full": pytest.approx(353.0371, abs=1e-4)}
    one_sided = Messages(2, [0], [1], [4])
    assert communication_graph(one_sided, NET, "half").cut([0, 1]) == communication_graph(one_sided, NET).cut([0, 1])
    with pytest.raises(ConfigError, match="duplex"):
        communication_graph(example, NET, "both")


@given(traffic(), st.sampled_from(["full", "half"]))
def test_row_6_the_graph_is_simple_and_undirected(case, duplex):
    n, listed = case
    found = communication_graph(messages_of(n, listed), NET, duplex)
    matrix = np.zeros((n, n))
    for s, t, w in listed:
        matrix[s, t] += float(NET.times(w)) * (s != t)
    both = matrix + matrix.T if duplex == "half" else np.maximum(matrix, matrix.T)
    there = found.graph.to_scipy().toarray()
    assert found.graph.nedges <= n * (n - 1) // 2
    assert (there == there.T).all()
    assert (there.diagonal() == 0).all()
    assert ((there > 0) == (both > 0)).all()
    assert np.abs(there * found.resolution - both).max(initial=0) <= found.resolution


def test_row_6_gain_of_the_appendix_example():
    from copart.mapping.ranks.negative_cycles import Moves, Refinement

    # directed edges 0 -> 1 of 10 and 1 -> 2 of 5; 0 and 1 are blue, 2 is red
    found = communication_graph(Messages(3, [0, 1], [1, 2], [10, 5]), (0.0, 1.0)).graph
    state = Refinement(found, [0, 0, 1], [2, 1])
    move = Moves(*(np.array([x], np.int32) for x in (0, 1, 1)), np.array([0]))
    assert state.apply(move, [0]) == -5 * 10**6


def test_times_of_seconds_take_weights_of_32_bits():
    """Which have their kernels, and to nine figures."""
    given = Messages(3, [0, 1, 2], [1, 2, 0], [2**22] * 3, [10**5, 7, 1])
    found = communication_graph(given, LUCIA)
    assert found.graph.ewgt.max() <= 2**31 - 1
    assert found.resolution == pytest.approx(0.1)
    assert found.cut([0, 1, 2]) == pytest.approx(100008 * float(LUCIA.times(2**22)), rel=1e-9)


def test_large_totals_take_a_coarser_unit():
    found = communication_graph(Messages(2, [0], [1], [2**22], [10**15]), LUCIA)
    assert found.resolution > 1e-6
    assert found.cut([0, 1]) == pytest.approx(10**15 * 686.0956, rel=1e-6)


def test_bad_messages():
    with pytest.raises(MappingError, match=r"target: 1 of 1 entries are outside 0\.\.1"):
        Messages(2, [0], [2], [4])
    with pytest.raises(MappingError, match="bytes: needs 1 entries"):
        Messages(2, [0], [1], [4, 4])
    with pytest.raises(ConfigError, match="at least 0"):
        message_times(Messages(2, [0], [1], [-4]))
    with pytest.raises(ConfigError, match="no known table"):
        CostModel.named("nonsense")
    with pytest.raises(ConfigError, match="bandwidth must be above 0"):
        CostModel.standard(1, 0)
    with pytest.raises(ConfigError, match="sizes must ascend"):
        CostModel(np.array([4, 4]), np.ones(2), np.ones(2))
    with pytest.raises(ConfigError, match="needs 2 entries"):
        CostModel(np.array([4, 8]), np.ones(3), np.ones(2))


def test_row_30_flups():
    per_rank = flups((4, 4, 8), 2.0**21, growth=(1, 1, 2))
    sizes, counts = np.unique(per_rank.nbytes[per_rank.source == 37], return_counts=True)
    assert dict(zip(sizes.tolist(), counts.tolist(), strict=True)) == {2.0**21 / 16: 15, 2.0**19: 3 + 7}
    default = flups((4, 4, 8), 2.0**21)
    assert sorted(set(default.nbytes)) == [2.0**18, 2.0**19, 2.0**20]
    for nodes, degree, edges in [(2, 38, 4864), (4, 70, 17920), (8, 78, 39936), (16, 142, 145408), (32, 270, 552960)]:
        found = communication_graph(flups(FLUPS_GRIDS[nodes], 64**3 * 8)).graph
        assert found.nedges == edges
        assert set(np.diff(found.xadj)) == {degree}
    px, py, pz = np.array(list(FLUPS_GRIDS.values())).T
    assert (px * py * pz == 128 * np.array(list(FLUPS_GRIDS))).all()
    assert (px * py + pz - 2).tolist()[-2:] == [286, 542]


def test_generators_of_pairs_and_transport():
    pairs = paired_ranks(3, 4, count=40000)
    assert pairs.target.tolist() == [3, 4, 5, 0, 1, 2]
    assert message_times(pairs, NET).time.tolist() == [40000 * float(NET.times(4))] * 6
    toy = communication_graph(transport(20, 2), NET)
    assert toy.graph.nedges == 1
    assert toy.cut([0, 1]) == pytest.approx(float(NET.times(8)), abs=1e-6)


def test_join_directions_of_nothing():
    empty = message_times(Messages(3, [1], [1], [10]))
    assert len(empty.time) == 0
    assert join_directions(3, empty).graph.nedges == 0
