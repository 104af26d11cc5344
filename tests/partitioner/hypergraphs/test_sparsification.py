"""Merged nets and vertices: nothing is lost where nothing should be, and the same from every way and thread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import ConfigError
from copart.formats import read_graph, read_hgr
from copart.hypergraph import Hypergraph
from copart.kernels import sparsification as kernels
from copart.metrics import evaluate_hypergraph
from copart.partitioner.hypergraphs import (
    remove_identical_nets,
    remove_identical_vertices,
    remove_similar_nets,
    sparsify,
)
from copart.partitioner.hypergraphs.classes import CHECKSUMS, identical
from copart.partitioner.umpa import partition_hypergraph

from ...helpers import grid, shared
from ...test_hypergraph import hypergraphs, lists

#: Six nets of three kinds; sums of squares of the pins counted from 1: 53, 58, 74, which are 4, 2, 4 modulo 7.
TOY = Hypergraph.from_nets(7, [[1, 6], [1, 6], [1, 6], [2, 6], [4, 6], [4, 6]], cost=[1, 2, 3, 4, 5, 6])


def with_repeats(seed, nnets=4000, nvtxs=500, kinds=900):
    """Many nets of few kinds, and vertices that are in the same nets."""
    rng = np.random.default_rng(seed)
    some = [rng.choice(nvtxs, rng.integers(1, 9), replace=False) for _ in range(kinds)]
    nets = [rng.permutation(some[i]) for i in rng.integers(0, kinds, nnets)]
    return Hypergraph.from_nets(nvtxs, nets, cost=rng.integers(0, 9, nnets), vwgt=rng.integers(1, 5, nvtxs))


def kinds_of(rows):
    """The classes by definition: for each row, the first equal one."""
    first = {}
    return [first.setdefault(tuple(row), i) for i, row in enumerate(rows)]


# ---- identical nets


def test_the_chains_of_the_toy():
    """One chain holds nets 0 and 4, another net 3."""
    key, rep, counts = np.empty(6, np.int64), np.empty(6, np.int32), np.zeros(3, np.int64)
    kernels.checksums(0, 6, TOY.xpins, TOY.pins, 2, -1, key)
    assert (key % 7).tolist() == [4, 4, 4, 2, 4, 4]
    first, after = np.full(7, -1, np.int32), np.full(6, -1, np.int32)
    kernels.identical_by_hashing(TOY.xpins, TOY.pins, key, first, after, rep, counts)
    assert rep.tolist() == [0, 0, 0, 3, 4, 4]
    assert first.tolist() == [-1, -1, 3, -1, 0, -1, -1]
    assert after.tolist() == [4, -1, -1, -1, -1, -1]
    assert counts.tolist() == [0, 1, 0]
    # the way of several threads: all nets first, then each chain for itself
    first, after = np.full(7, -1, np.int32), np.full(6, -1, np.int32)
    kernels.chain_all(key, first, after)
    assert after.tolist() == [1, 2, 4, -1, 5, -1]
    for lo, hi in ((4, 7), (0, 4)):
        kernels.thin_chains(lo, hi, TOY.xpins, TOY.pins, key, first, after, rep, counts)
    assert rep.tolist() == [0, 0, 0, 3, 4, 4]
    assert first.tolist() == [-1, -1, 3, -1, 0, -1, -1]
    assert after[[0, 3, 4]].tolist() == [4, -1, -1]
    small = remove_identical_nets(TOY)
    assert (lists(small.hypergraph), small.hypergraph.cost.tolist()) == ([[1, 6], [2, 6], [4, 6]], [6, 4, 11])
    assert small.of_net.tolist() == [0, 0, 0, 1, 2, 2]


@pytest.fixture(scope="module")
def large():
    """Many nets, and their classes with directions and without."""
    h = with_repeats(1, nnets=20000)
    rows = [h.net(e).tolist() for e in range(h.nnets)]
    return h, {True: kinds_of(rows), False: kinds_of(map(sorted, rows))}


@pytest.mark.parametrize("way", ["hash", "sort"])
@pytest.mark.parametrize("checksum", CHECKSUMS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_all_ways_find_the_classes(large, way, checksum, threads):
    h, classes = large
    for directed, first in classes.items():
        found = remove_identical_nets(h, way=way, checksum=checksum, directed=directed, threads=threads)
        kept = sorted(set(first))
        assert found.of_net.tolist() == np.searchsorted(kept, first).tolist()
        assert lists(found.hypergraph) == [h.net(e).tolist() for e in kept]
        cost = np.zeros(len(kept), np.int64)
        np.add.at(cost, found.of_net, h.cost)
        assert found.hypergraph.cost.tolist() == cost.tolist()


@given(hypergraphs(), st.booleans(), st.sampled_from(list(CHECKSUMS)))
def test_sorting_and_hashing_agree(h, directed, checksum):
    one, other = (remove_identical_nets(h, way=way, checksum=checksum, directed=directed) for way in ("sort", "hash"))
    assert one.of_net.tolist() == other.of_net.tolist()
    assert (one.occupancy, one.false_positives) == (other.occupancy, other.false_positives)


@given(hypergraphs(), st.integers(1, 4), st.randoms(use_true_random=False), st.booleans())
def test_identical_nets_are_merged_without_loss(h, nparts, random, directed):
    small = remove_identical_nets(h, directed=directed)
    part = [random.randrange(nparts) for _ in range(h.nvtxs)]
    before, after = evaluate_hypergraph(h, part, nparts), evaluate_hypergraph(small.hypergraph, part, nparts)
    assert (before.total_volume, before.cut_net) == (after.total_volume, after.cut_net)
    if directed:
        assert before.to_dict() == after.to_dict()
        assert before.send.tolist() == after.send.tolist()
    assert small.lift(part).tolist() == part


def named(name):
    """The toy, or a real hypergraph: the column-net model of a graph, or a netlist."""
    if name == "toy":
        return TOY
    path = shared(f"data/graphs/{name}")
    return read_hgr(path) if name.endswith(".hgr") else Hypergraph.column_net(read_graph(path))


@pytest.mark.parametrize(("name", "count"), [("toy", 1000), ("ibm01.hgr", 300), ("4elt.graph", 300),
                                             ("fe_4elt2.graph", 300)])
def test_hundreds_of_random_partitions(name, count):
    h = named(name)
    rng = np.random.default_rng(5)
    ways = [remove_identical_nets(h), remove_identical_nets(h, directed=False), sparsify(h)]
    assert name != "toy" or all(small.hypergraph.nnets < h.nnets for small in ways)
    for i in range(count):
        nparts = 2 + i % 15
        for exact, small in zip((True, False, True), ways, strict=True):
            part = rng.integers(0, nparts, small.hypergraph.nvtxs).astype(np.int32)
            before = evaluate_hypergraph(h, small.lift(part), nparts)
            after = evaluate_hypergraph(small.hypergraph, part, nparts)
            assert before.total_volume == after.total_volume
            assert not exact or before.to_dict() == after.to_dict()


# ---- checksums


def test_checksums_by_hand():
    pins, xids = np.array([1, 2**31 - 2, 4], np.int32), np.array([0, 3])
    for name, exponent in CHECKSUMS.items():
        key = np.empty(1, np.int64)
        kernels.checksums(0, 1, xids, pins, exponent, -1, key)
        if name != "murmur":
            assert key[0] == sum((int(v) + 1)**exponent for v in pins) % 2**62
            kernels.checksums(0, 1, xids, pins, exponent, 10, key)
            assert key[0] == (sum((int(v) + 1)**exponent for v in pins) + 12**exponent) % 2**62
    # published values of MurmurHash3, 32 bits: of nothing, and of the bytes of "test"
    assert kernels.murmur(pins, 0, 0) == 0
    assert kernels.murmur(np.frombuffer(b"test", "<i4"), 0, 1) == 0xBA6BD213
    assert kernels.murmur(np.frombuffer(b"Hello, world!123", "<i4"), 0, 4) == murmur_by_the_book(b"Hello, world!123")


def murmur_by_the_book(data):
    h = 0
    for i in range(0, len(data), 4):
        k = int.from_bytes(data[i:i + 4], "little") * 0xCC9E2D51 & 0xFFFFFFFF
        k = ((k << 15) | (k >> 17)) & 0xFFFFFFFF
        h ^= k * 0x1B873593 & 0xFFFFFFFF
        h = (((h << 13) | (h >> 19)) * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= len(data)
    h = (h ^ (h >> 16)) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ (h >> 16)


def test_better_checksums_are_shared_by_fewer():
    h = with_repeats(2)
    found = {name: remove_identical_nets(h, checksum=name, directed=False) for name in CHECKSUMS}
    assert found["cs1"].occupancy > 1.1
    assert found["cs1"].false_positives > 100
    for name in ("cs2", "cs3", "murmur"):
        assert found[name].occupancy < 1.01
        assert found[name].false_positives <= 0.01 * found["cs1"].false_positives


def test_counts_by_hand():
    """{0, 3} and {1, 2} have the same sum: one comparison in vain for each further net of the second kind."""
    h = Hypergraph.from_nets(4, [[0, 3], [1, 2], [1, 2], [0, 3]])
    for way in ("sort", "hash"):
        found = remove_identical_nets(h, way=way, checksum="cs1", directed=False)
        assert (found.hypergraph.nnets, found.occupancy, found.false_positives) == (2, 2.0, 2)
        better = remove_identical_nets(h, way=way, directed=False)
        assert (better.hypergraph.nnets, better.occupancy, better.false_positives) == (2, 1.0, 0)


# ---- identical vertices


def test_identical_vertices_by_hand():
    h = Hypergraph.from_nets(6, [[0, 1, 2, 3], [3, 2, 0], [2, 3]], vwgt=[1, 2, 3, 4, 5, 6])
    small = remove_identical_vertices(h)
    assert small.of_vertex.tolist() == [0, 1, 2, 2, 3, 4]  # 4 and 5 are in no net: they stay as they are
    assert lists(small.hypergraph) == [[0, 1, 2], [2, 0]]
    assert small.hypergraph.vwgt.tolist() == [1, 2, 7, 5, 6]
    assert small.of_net.tolist() == [0, 1, -1]


def test_blocks_of_a_matrix_are_found():
    """Five unknowns per point, as in a shell: four of five rows go."""
    from scipy.sparse import csr_array, kron

    points = csr_array(np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]))
    h = Hypergraph.from_scipy(kron(points, np.ones((5, 5)), format="csr"))
    for threads in (1, 2):
        small = remove_identical_vertices(h, threads=threads)
        assert small.hypergraph.nvtxs == 4
        assert small.hypergraph.vwgt.tolist() == [5, 5, 5, 5]
    assert sparsify(h).hypergraph.nnets == 4
    assert remove_identical_nets(h, directed=False).hypergraph.nnets == 4
    assert remove_identical_nets(h).hypergraph.nnets == 20


@given(hypergraphs(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_partitions_are_lifted_exactly(h, nparts, random):
    for small in (remove_identical_vertices(h), sparsify(h)):
        part = [random.randrange(nparts) for _ in range(small.hypergraph.nvtxs)]
        before = evaluate_hypergraph(h, small.lift(part), nparts)
        after = evaluate_hypergraph(small.hypergraph, part, nparts)
        assert before.to_dict() == after.to_dict()
        assert before.load.tolist() == after.load.tolist()


@given(hypergraphs())
def test_without_sources_the_order_does_not_matter(h):
    """Identical vertices are in the same nets, so merging them makes no nets identical that were not."""
    vertices = remove_identical_vertices(h)
    one = remove_identical_nets(vertices.hypergraph, directed=False).after(vertices)
    nets = remove_identical_nets(h, directed=False)
    other = remove_identical_vertices(nets.hypergraph).after(nets)
    assert one.of_vertex.tolist() == other.of_vertex.tolist()
    kept = one.of_net >= 0
    assert (kept == (other.of_net >= 0)).all()
    assert kinds_of(one.of_net[kept, None].tolist()) == kinds_of(other.of_net[kept, None].tolist())


def test_sources_may_become_one():
    h = Hypergraph.from_nets(3, [[0, 1, 2], [1, 0, 2]])
    assert remove_identical_nets(h).hypergraph.nnets == 2
    assert sparsify(h).hypergraph.nnets == 0  # all three are identical, and then alone in their nets
    h = Hypergraph.from_nets(4, [[0, 1, 2], [1, 0, 2], [2, 3]])
    assert lists(sparsify(h).hypergraph) == [[0, 1], [1, 2]]


def test_a_partition_of_the_smaller_one_is_one_of_the_larger():
    """As balanced, of the same figures, and not worse than without: 5 unknowns per point stay together."""
    from scipy.sparse import csr_array, kron

    graph = grid(16, 16).to_scipy() + csr_array(np.eye(256))
    h = Hypergraph.from_scipy(kron(graph, np.ones((5, 5)), format="csr"))
    small = sparsify(h)
    merged = plain = 0
    for seed in (1, 2, 3, 4):
        part = partition_hypergraph(small.hypergraph, 8, preset="fast", seed=seed)
        after, before = evaluate_hypergraph(small.hypergraph, part, 8), evaluate_hypergraph(h, small.lift(part), 8)
        assert before.to_dict() == after.to_dict()
        assert before.imbalance <= 0.05 + 1e-9
        merged += before.total_volume
        plain += evaluate_hypergraph(h, partition_hypergraph(h, 8, preset="fast", seed=seed), 8).total_volume
    assert merged <= 1.03 * plain


# ---- similar nets


@pytest.mark.parametrize(("shared_pins", "times"), [(16, 2), (18, 4), (19, 8), (12, 1)])
def test_similar_nets_are_merged_with_probability(shared_pins, times):
    """Pairs of nets of 20 pins, disjoint from other pairs: J^t of them are merged."""
    pairs, union = 3000, 40 - shared_pins
    nets = []
    for i in range(pairs):
        pool = np.arange(union) + i * union
        nets += [pool[:20], pool[union - 20:]]
    h = Hypergraph.from_nets(pairs * union, nets)
    merged = h.nnets - remove_similar_nets(h, permutations=times, directed=False, seed=3).hypergraph.nnets
    probability = (shared_pins / union)**times
    assert abs(merged / pairs - probability) < 4 * np.sqrt(probability * (1 - probability) / pairs)


def test_more_orders_merge_fewer_nets():
    h = Hypergraph.from_nets(300, [np.arange(i, i + 12) % 300 for i in range(300)])
    left = [remove_similar_nets(h, permutations=t, directed=False).hypergraph.nnets for t in (1, 2, 4, 8)]
    assert left == sorted(left)
    assert left[0] < left[2] < left[3]


@pytest.mark.parametrize("keep", ["largest", "important", "union"])
def test_small_nets_are_left_alone(keep):
    h = with_repeats(3)
    found = remove_similar_nets(h, permutations=1, least=4, keep=keep, directed=False)
    small = np.flatnonzero(h.sizes < 4)
    assert len(np.unique(found.of_net[small])) == len(small)
    for e in small[:200].tolist():
        assert found.hypergraph.net(found.of_net[e]).tolist() == h.net(e).tolist()
        assert found.hypergraph.cost[found.of_net[e]] == h.cost[e]
    assert found.hypergraph.nnets < h.nnets
    assert found.hypergraph.cost.sum() == h.cost.sum()


def test_what_stands_for_a_class():
    """All three have vertex 0 in front in the only order for which they are a class."""
    nets = [[0, 1, 2, 3], [0, 1, 4], [0, 4]]
    h = Hypergraph.from_nets(5, nets, cost=[1, 9, 9])
    seed = next(s for s in range(100) if len(set(remove_similar_nets(h, permutations=1, seed=s).of_net)) == 1)
    made = {keep: remove_similar_nets(h, permutations=1, seed=seed, keep=keep).hypergraph
            for keep in ("largest", "important", "union")}
    assert lists(made["largest"]) == [[0, 1, 2, 3]]
    # pins 0, 1 and 4 are in nets that cost 19, 10 and 18
    assert lists(made["important"]) == [[0, 1, 4]]
    assert lists(made["union"]) == [[0, 1, 2, 3, 4]]
    assert [one.cost.tolist() for one in made.values()] == [[19]] * 3


@given(hypergraphs(), st.integers(1, 4), st.sampled_from(["largest", "important", "union"]), st.booleans(),
       st.integers(0, 5))
def test_similar_nets_keep_what_they_can(h, times, keep, directed, seed):
    found = remove_similar_nets(h, permutations=times, keep=keep, directed=directed, seed=seed)
    assert found.hypergraph.cost.sum() == h.cost.sum()
    for k in range(found.hypergraph.nnets):
        members = np.flatnonzero(found.of_net == k).tolist()
        sets = [set(h.net(e).tolist()) for e in members]
        made = set(found.hypergraph.net(k).tolist())
        assert set.intersection(*sets)
        assert made == set.union(*sets) if keep == "union" else made in sets
        assert keep != "largest" or len(made) == max(map(len, sets))
        if directed:
            assert {h.source[e] for e in members} == {found.hypergraph.source[k]}
        if keep == "important" and len(members) > 1:
            cover = [sum(int(h.cost[m]) for m in members for v in one if v in set(h.net(m).tolist())) for one in sets]
            assert cover[sets.index(made)] == max(cover)
    identical_first = remove_identical_nets(h, directed=directed)
    assert found.hypergraph.nnets <= identical_first.hypergraph.nnets + int((h.sizes < 2).sum())


def test_the_same_from_any_number_of_threads():
    rng = np.random.default_rng(4)
    h = Hypergraph.from_nets(9000, [rng.integers(0, 60, 1) * 150 + np.arange(rng.integers(2, 9)) for _ in range(12000)])
    made = [[remove_similar_nets(h, threads=t), remove_similar_nets(h, directed=False, threads=t),
             sparsify(h, permutations=2, threads=t)] for t in (1, 2)]
    for a, b in zip(*made, strict=True):
        assert a.of_net.tolist() == b.of_net.tolist()
        assert lists(a.hypergraph) == lists(b.hypergraph)


def test_seeds_of_any_size():
    h = Hypergraph.from_nets(40, [[v, (v + 1) % 40, (v + 2) % 40] for v in range(40)])
    for seed in (2**57, 2**70):
        assert 1 <= remove_similar_nets(h, permutations=1, directed=False, seed=seed).hypergraph.nnets < 40


def test_rows_without_entries_are_no_class():
    found = identical(np.array([0, 0, 1, 1, 2]), np.array([3, 3], np.int32), "hash", "cs2", -1, 1)
    assert found.number.tolist() == [0, 1, 2, 1]


def test_nothing_at_all():
    none = Hypergraph.from_nets(3, [])
    for small in (sparsify(none, permutations=2), remove_identical_nets(none, way="sort"), sparsify(none, threads=2)):
        assert (small.hypergraph.nvtxs, small.hypergraph.nnets, small.of_net.tolist()) == (3, 0, [])


@pytest.mark.parametrize(("call", "settings", "message"), [
    (remove_identical_nets, {"way": "hashing"},
     "way: 'hashing' is not known; choose one of hash, sort; did you mean hash"),
    (remove_identical_vertices, {"checksum": "cs4"},
     "checksum: 'cs4' is not known; choose one of cs1, cs2, cs3, murmur"),
    (remove_similar_nets, {"keep": "big"}, "keep: 'big' is not known; choose one of largest, important, union"),
    (remove_similar_nets, {"permutations": 0}, "permutations: must be at least 1"),
    (sparsify, {"threads": 0}, "threads: must be at least 1"),
])
def test_refused_settings(call, settings, message):
    with pytest.raises(ConfigError, match=message):
        call(TOY, **settings)
