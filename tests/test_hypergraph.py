"""The hypergraph value: its normal form, what it refuses, and what graphs and matrices become."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from copart.errors import ConfigError, GraphError
from copart.graph import Graph
from copart.hypergraph import Hypergraph

from .helpers import grid


def lists(h: Hypergraph) -> list[list[int]]:
    return [h.net(e).tolist() for e in range(h.nnets)]


@st.composite
def hypergraphs(draw: st.DrawFn, most: int = 12) -> Hypergraph:
    """Any small hypergraph with costs and weights."""
    n = draw(st.integers(1, most))
    net = st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
    nets = draw(st.lists(net, max_size=2 * most))
    cost = draw(st.lists(st.integers(0, 5), min_size=len(nets), max_size=len(nets)))
    vwgt = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    return Hypergraph.from_nets(n, nets, cost=cost, vwgt=vwgt)


@given(hypergraphs())
def test_both_directions_say_the_same(h):
    by_net = {(e, v) for e in range(h.nnets) for v in h.net(e).tolist()}
    by_vertex = {(e, v) for v in range(h.nvtxs) for e in h.nets_of(v).tolist()}
    assert by_net == by_vertex
    assert len(by_net) == h.npins == h.xnets[-1]
    assert all((np.diff(h.net(e)[1:]) > 0).all() for e in range(h.nnets))
    assert all((np.diff(h.nets_of(v)) > 0).all() for v in range(h.nvtxs))
    assert h.source.tolist() == [h.net(e)[0] for e in range(h.nnets)]
    assert h.sizes.tolist() == [len(h.net(e)) for e in range(h.nnets)]
    types = [a.dtype for a in (h.xpins, h.pins, h.xnets, h.nets, h.cost, h.vwgt, h.source)]
    assert types == [np.int64, np.int32, np.int64, np.int32, np.int64, np.int64, np.int32]
    assert not any(a.flags.writeable for a in (h.xpins, h.pins, h.xnets, h.nets, h.cost, h.vwgt, h.source))


def test_the_source_stays_in_front():
    h = Hypergraph.from_nets(5, [[4, 3, 0, 2], [1], [2, 0]])
    assert lists(h) == [[4, 0, 2, 3], [1], [2, 0]]
    chosen = Hypergraph.from_nets(5, [[4, 3, 0, 2], [1], [2, 0]], sources=[0, 1, 0])
    assert lists(chosen) == [[0, 2, 3, 4], [1], [0, 2]]
    assert h.cost.tolist() == [1, 1, 1]
    assert h.vwgt.tolist() == [1] * 5


def test_nothing_given_is_changed_and_nothing_at_all_is_fine():
    pins = np.array([2, 1, 0], np.int32)
    h = Hypergraph(3, np.array([0, 3]), pins)
    assert (pins.tolist(), lists(h)) == ([2, 1, 0], [[2, 0, 1]])
    none = Hypergraph.from_nets(3, [])
    assert (none.nvtxs, none.nnets, none.npins, none.xnets.tolist()) == (3, 0, 0, [0, 0, 0, 0])
    assert Hypergraph(0, [0], []).total_weight == 0


def test_several_weights_per_vertex():
    h = Hypergraph.from_nets(2, [[0, 1]], vwgt=[[1, 2], [3, 4]])
    assert h.ncon == 2
    with pytest.raises(GraphError, match="2 weights per vertex, one is needed"):
        _ = h.weights
    assert h.replace(vwgt=h.vwgt[:, 1]).total_weight == 6


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Hypergraph.from_nets(3, [[0], [], [1], []]), "xpins: 2 nets without pins, the first is net 1, which"),
    (lambda: Hypergraph(3, [0, 2, 1], [0]), "the first is net 1, which ends at 1 before it begins at 2"),
    (lambda: Hypergraph(3, [1, 2], [0]), "xpins: must start with 0"),
    (lambda: Hypergraph(3, [], []), "xpins: must start with 0"),
    (lambda: Hypergraph(3, [0, 2], [0, 1, 2]), "pins: has 3 entries, xpins ends with 2"),
    (lambda: Hypergraph.from_nets(3, [[0, 3]]), r"pins: 1 of 2 entries are outside 0..2, first at index 1: 3"),
    (lambda: Hypergraph.from_nets(3, [[0, 1], [2, 1, 1]]), "pins: 1 repeated pins, the first is vertex 1 in net 1"),
    (lambda: Hypergraph.from_nets(3, [[0, 1], [2, 1, 2]]), "pins: 1 repeated pins, the first is vertex 2 in net 1"),
    (lambda: Hypergraph.from_nets(3, [[0, 1], [2, 1]], sources=[0, 0]), "sources: 1 are no pins of their nets, the "
                                                                        "first is 0 of net 1"),
    (lambda: Hypergraph.from_nets(3, [[0, 1]], sources=[0, 1]), "sources: needs 1 entries, has 2"),
    (lambda: Hypergraph.from_nets(3, [[0, 1]], cost=[-1]), "cost: 1 of 1 entries are negative, first at index 0: -1"),
    (lambda: Hypergraph.from_nets(3, [[0, 1]], cost=[1.5]), "cost: 1 of 1 entries are not whole numbers"),
    (lambda: Hypergraph.from_nets(3, [[0, 1], [0, 2]], cost=[2**60, 2**60]), "cost: the sum of the weights overflows"),
    (lambda: Hypergraph.from_nets(3, [[0, 1, 2]], cost=[2**60]), "cost: with every pin in a part of its own the vol"),
    (lambda: Hypergraph.from_nets(2, [[0, 1]], vwgt=[-3, 1]), "vwgt: 1 of 2 entries are negative"),
    (lambda: Hypergraph.from_nets(2, [[0, 1]], vwgt=[2**61, 1]), "vwgt: the sum of the weights overflows"),
    (lambda: Hypergraph.from_nets(2, [[0, 1]]).replace(pins=[1]), "replace: cannot change pins"),
    (lambda: Hypergraph.from_scipy(coo_array(np.array([[0, 1, 0], [0, 0, 1]]))), "the first is net 0, which has no"),
])
def test_what_is_refused(make, message):
    with pytest.raises(GraphError, match=message):
        make()


def test_unknown_models():
    with pytest.raises(ConfigError, match=r"model: needs one of column-net, row-net, fine-grain, got 'columnnet'; did"):
        Hypergraph.from_scipy(csr_array(np.eye(2)), "columnnet")


def test_large_weights_stay_exact():
    big = 2**53 + 1
    h = Hypergraph.from_nets(2, [[0, 1]], cost=[big], vwgt=[big, big])
    assert (h.cost[0], h.total_weight) == (big, 2 * big)


def test_the_column_net_model_of_a_graph():
    g = grid(3, 4).replace(vsize=np.arange(12), vwgt=np.arange(12) + 1)
    h = Hypergraph.column_net(g)
    assert h.cost.tolist() == list(range(12))
    assert h.vwgt.tolist() == list(range(1, 13))
    for v in range(12):
        assert h.net(v).tolist() == [v, *g.neighbours(v).tolist()]
    assert Hypergraph.column_net(Graph.from_edges(2, [], [])).sizes.tolist() == [1, 1]


MATRIX = np.array([[1, 0, 1, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]])


def test_models_of_a_matrix():
    columns = Hypergraph.from_scipy(csr_array(MATRIX))
    assert lists(columns) == [[0, 1], [1, 2, 3], [2, 0], [3]]  # vertex 1 is in its net without an entry
    rows = Hypergraph.from_scipy(csr_array(MATRIX), "row-net", cost=[1, 2, 3, 4])
    assert lists(rows) == [[0, 2], [1, 0], [2, 1], [3, 1]]
    assert rows.cost.tolist() == [1, 2, 3, 4]
    assert lists(Hypergraph.from_scipy(csr_array(MATRIX.T), "row-net")) == lists(columns)
    fine = Hypergraph.from_scipy(csr_array(MATRIX), "fine-grain")
    # entries by rows: 0 (0,0), 1 (0,2), 2 (1,0), 3 (2,1), 4 (2,2), 5 (3,1), 6 (3,3)
    assert lists(fine) == [[0, 1], [2], [4, 3], [6, 5], [0, 2], [3, 5], [4, 1], [6]]
    assert fine.nvtxs == 7
    same = Hypergraph.from_scipy(coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))
    assert lists(same) == [[0, 1], [1, 0]]  # repeated entries count once, zeros are entries


def test_rectangular_matrices():
    wide = np.array([[1, 0, 1], [0, 1, 1]])
    assert lists(Hypergraph.from_scipy(csr_array(wide))) == [[0], [1], [0, 1]]
    assert lists(Hypergraph.from_scipy(csr_array(wide), "row-net")) == [[0, 2], [1, 2]]
    assert lists(Hypergraph.from_scipy(csr_array(wide), "fine-grain")) == [[0, 1], [2, 3], [0], [2], [1, 3]]


def test_a_graph_and_its_matrix_give_the_same():
    g = grid(4, 5)
    assert lists(Hypergraph.from_scipy(g.to_scipy())) == lists(Hypergraph.column_net(g))


def test_through_pickle():
    h = Hypergraph.from_nets(4, [[3, 0], [1, 2]], cost=[2, 1])
    _ = h.nets
    other = pickle.loads(pickle.dumps(h))
    assert lists(other) == lists(h)
    assert not other.pins.flags.writeable
    assert not other.nets.flags.writeable
