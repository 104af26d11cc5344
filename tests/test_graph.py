"""`Graph`: normal form, validation, conversions, subgraphs, quotients."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import ConfigError, CopartError, GraphError
from copart.graph import Graph, as_graph
from copart.hypergraph import Hypergraph

from . import reference
from .helpers import grid
from .reference import graphs, same_graph


def path(n: int, **fields: object) -> Graph:
    return Graph.from_edges(n, np.arange(n - 1), np.arange(1, n), **fields)  # type: ignore[arg-type]


def test_a_grid():
    g = grid(3, 4)
    assert (g.nvtxs, g.nedges, g.total_weight) == (12, 3 * 3 + 2 * 4, 12)
    assert g.neighbours(5).tolist() == [1, 4, 6, 9]
    assert g.degree(0) == 2
    assert g.xadj.dtype == np.int64
    assert g.adjncy.dtype == np.int32
    assert g.ewgt is None
    assert repr(g) == "Graph(12 vertices, 17 edges)"


def test_arrays_are_frozen_and_the_callers_stay_his():
    xadj, adjncy, vwgt = np.array([0, 1, 2]), np.array([1, 0]), np.array([4, 5])
    g = Graph(xadj, adjncy, vwgt=vwgt)
    for array in (g.xadj, g.adjncy, g.vwgt):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    vwgt[0] = 1
    assert vwgt.flags.writeable
    with pytest.raises(AttributeError):
        g.vwgt = vwgt  # type: ignore[misc]


def test_unsorted_rows_are_sorted_with_their_weights():
    g = Graph([0, 2, 3, 4], [2, 1, 0, 0], [7, 5, 5, 7])
    assert g.adjncy.tolist() == [1, 2, 0, 0]
    assert g.edge_weights.tolist() == [5, 7, 5, 7]


@pytest.mark.parametrize(("arrays", "message"), [
    ({"xadj": [], "adjncy": []}, "xadj: needs at least one entry"),
    ({"xadj": [1, 2], "adjncy": [0, 0]}, "xadj: must start with 0, starts with 1"),
    ({"xadj": [0, 2, 1], "adjncy": [1]}, "xadj: offsets must not decrease, entry 2 is 1 after 2"),
    ({"xadj": [0, 1, 2], "adjncy": [1]}, "adjncy: has 1 entries, xadj ends with 2"),
    ({"xadj": [0, 1, 2], "adjncy": [1, 2]}, "adjncy: 1 of 2 entries are outside 0..1, first at index 1: 2"),
    ({"xadj": [0, 1], "adjncy": [0]}, "adjncy: vertex 0 has an edge to itself, loops are not allowed"),
    ({"xadj": [0, 2, 4], "adjncy": [1, 1, 0, 0]}, "adjncy: vertex 0 lists neighbour 1 more than once"),
    ({"xadj": [0, 1, 1], "adjncy": [1]}, "adjncy: edge 0-1 is listed by vertex 0 but not by vertex 1"),
    ({"xadj": [0, 0, 1], "adjncy": [0]}, "adjncy: edge 1-0 is listed by vertex 1 but not by vertex 0"),
    ({"xadj": [0, 1, 3, 4], "adjncy": [2, 0, 2, 1]}, "adjncy: edge 0-2 is listed by vertex 0 but not by vertex 2"),
    ({"xadj": [0, 1, 2], "adjncy": [1, 0], "ewgt": [1, 2]}, "ewgt: edge 0-1 weighs 1 one way and 2 the other"),
    ({"xadj": [0, 1, 2], "adjncy": [1, 0], "ewgt": [1]}, "ewgt: needs 2 entries, has 1"),
    ({"xadj": [0, 0], "adjncy": [], "vwgt": [-1]}, "vwgt: 1 of 1 entries are negative, first at index 0: -1"),
    ({"xadj": [0, 0], "adjncy": [], "vwgt": [0.5]}, "vwgt: 1 of 1 entries are not whole numbers"),
    ({"xadj": [0, 0], "adjncy": [], "vsize": [1, 2]}, "vsize: needs 1 entries, has 2"),
    ({"xadj": [0, 0, 0], "adjncy": [], "vwgt": [2**60, 2**60]}, "vwgt: the sum of the weights overflows"),
    ({"xadj": [0, 0], "adjncy": [], "coords": [[1.0, np.nan]]}, "coords: 1 points are not finite, first at index 0"),
    ({"xadj": [0, 0], "adjncy": [], "coords": [1.0]}, "coords: needs shape (1, 2) or (1, 3), has (1,)"),
])
def test_what_is_no_graph(arrays, message):
    with pytest.raises(GraphError) as e:
        Graph(**arrays)
    assert str(e.value).startswith(message)


@given(graphs(), st.integers(2, 5), st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=3),
       st.booleans())
def test_the_graph_or_what_is_wrong_is_the_same_on_any_number_of_threads(graph, threads, swaps, weighted):
    """Entries are changed at random: loops, neighbours listed twice, one-sided edges, rows that are not sorted."""
    adjncy, ewgt = graph.adjncy.copy(), np.ones(len(graph.adjncy), int) if weighted else None
    for at, to in swaps if len(adjncy) else ():
        adjncy[at % len(adjncy)] = to % graph.nvtxs
        if ewgt is not None:
            ewgt[to % len(adjncy)] += at % 2

    def outcome(count: int) -> object:
        try:
            made = Graph(graph.xadj, adjncy, ewgt, threads=count)
        except GraphError as error:
            return str(error)
        return made.adjncy.tolist(), made.edge_weights.tolist()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("copart.graph.rows._LARGE", 0)
        assert outcome(threads) == outcome(1)


def test_threads_are_not_kept_with_a_graph():
    pair = Graph([0, 1, 2], [1, 0], threads=3)
    assert "threads" not in vars(pair)
    assert pair.replace(vwgt=[1, 2]).vwgt.tolist() == [1, 2]
    assert as_graph(([0, 1, 2], [1, 0]), 2).nedges == 1
    with pytest.raises(ConfigError, match="threads: must be at least 1, got 0"):
        Graph([0, 1, 2], [1, 0], threads=0)


@given(graphs(), st.data())
def test_every_one_sided_edge_is_found_and_named_rightly(g, data):
    if g.nedges == 0:
        return
    drop = data.draw(st.integers(0, len(g.adjncy) - 1))
    owner = int(np.searchsorted(g.xadj, drop, side="right") - 1)
    other = int(g.adjncy[drop])
    xadj = g.xadj - (np.arange(g.nvtxs + 1) > owner)
    rule = f"edge {other}-{owner} is listed by vertex {other} but not by vertex {owner}$"
    with pytest.raises(GraphError, match=rule):
        Graph(xadj, np.delete(g.adjncy, drop))


@given(graphs())
def test_round_trips(g):
    same_graph(g.replace(vsize=None, vwgt=None), Graph.from_scipy(g.to_scipy()))
    same_graph(g.replace(vsize=None), Graph.from_networkx(g.to_networkx()))
    m = g.to_metis()
    same_graph(g, Graph.from_metis(m["xadj"], m["adjncy"], m["vwgt"], m["adjwgt"], m["vsize"]))
    u, v, w = g.edges()
    assert (u < v).all()
    assert len(u) == g.nedges
    same_graph(g, Graph.from_edges(g.nvtxs, v, u, w, vwgt=g.vwgt, vsize=g.vsize))


@given(graphs(), st.integers(0, 2**32 - 1))
def test_subgraph_against_its_definition(g, seed):
    keep = np.flatnonzero(np.random.default_rng(seed).random(g.nvtxs) < 0.6)
    sub = g.subgraph(keep)
    full, small = reference.rows(g), reference.rows(sub)
    new = {int(v): i for i, v in enumerate(keep)}
    for v, i in new.items():
        assert small[i] == {new[u]: w for u, w in full[v].items() if u in new}
    assert sub.weights.tolist() == g.weights[keep].tolist()
    assert sub.sizes.tolist() == g.sizes[keep].tolist()


def test_subgraph_keeps_coordinates_and_wants_ascending_vertices():
    g = path(3, coords=np.eye(3)[:, :2])
    assert g.subgraph([1, 2]).coords.tolist() == [[0, 1], [0, 0]]
    assert g.subgraph([]).nvtxs == 0
    for bad in ([1, 0], [1, 1]):
        with pytest.raises(GraphError, match="vertices: must be strictly ascending"):
            g.subgraph(bad)
    with pytest.raises(GraphError, match=r"vertices: 1 of 1 entries are outside 0\.\.2"):
        g.subgraph([3])


@given(graphs(), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_quotient_against_its_definition(g, nparts, seed):
    part = np.random.default_rng(seed).integers(0, nparts, g.nvtxs)
    q = g.quotient(part, nparts)
    assert q.weights.tolist() == reference.part_weights(g, part, nparts)
    assert int(q.edge_weights.sum()) // 2 == reference.edge_cut(g, part)
    between: dict[tuple[int, int], int] = {}
    for v, row in reference.rows(g).items():
        for u, w in row.items():
            if part[v] != part[u]:
                between[part[v], part[u]] = between.get((part[v], part[u]), 0) + w
    assert {(v, u): w for v, row in reference.rows(q).items() for u, w in row.items()} == between


def test_from_edges_merges_repeated_edges_and_refuses_loops():
    g = Graph.from_edges(3, [0, 1, 0], [1, 0, 2], [2, 3, 0])
    assert reference.rows(g) == {0: {1: 5, 2: 0}, 1: {0: 5}, 2: {0: 0}}
    assert reference.rows(Graph.from_edges(2, [0, 0], [1, 1])) == {0: {1: 2}, 1: {0: 2}}
    with pytest.raises(GraphError, match="edges: 1 loops, first at index 1: vertex 2"):
        Graph.from_edges(3, [0, 2], [1, 2])
    with pytest.raises(GraphError, match="v: needs 2 entries, has 1"):
        Graph.from_edges(3, [0, 1], [1])
    with pytest.raises(GraphError, match="outside"):
        Graph.from_edges(0, [0], [1])


def test_from_scipy_drops_the_diagonal_and_checks_the_rest():
    m = sp.csr_array(np.array([[9, 2, 0], [2, 0, 1], [0, 1, 0]]))
    assert reference.rows(Graph.from_scipy(m)) == {0: {1: 2}, 1: {0: 2, 2: 1}, 2: {1: 1}}
    assert Graph.from_scipy(sp.coo_matrix(m)).nedges == 2
    with pytest.raises(GraphError, match=r"needs a square matrix, has shape \(2, 3\)"):
        Graph.from_scipy(sp.csr_array(np.ones((2, 3))))
    with pytest.raises(GraphError, match="edge 0-1 weighs 2 one way and 3 the other"):
        Graph.from_scipy(sp.csr_array(np.array([[0, 2], [3, 0]])))
    with pytest.raises(GraphError, match=r"matrix data: .* not whole numbers"):
        Graph.from_scipy(sp.csr_array(np.array([[0, 0.5], [0.5, 0]])))
    with pytest.raises(GraphError, match=r"matrix data: .* negative"):
        Graph.from_scipy(sp.csr_array(np.array([[0, -1], [-1, 0]])))


def test_from_networkx_keeps_the_order_and_drops_loops():
    x = nx.Graph()
    x.add_node("b", weight=3)
    x.add_edge("c", "b", weight=4)
    x.add_edge("c", "c")
    g = Graph.from_networkx(x)
    assert reference.rows(g) == {0: {1: 4}, 1: {0: 4}}
    assert g.weights.tolist() == [3, 1]
    assert Graph.from_networkx(nx.empty_graph(3)).nvtxs == 3
    with pytest.raises(GraphError, match="must be undirected"):
        Graph.from_networkx(nx.DiGraph([(0, 1)]))


def test_vertices_that_are_none_have_no_neighbours():
    pair = Graph([0, 1, 2], [1, 0])
    assert (pair.degree(np.int8(1)), pair.neighbours(1).tolist()) == (1, [0])
    for v in (-1, 2):
        for ask in (pair.degree, pair.neighbours, Hypergraph.column_net(pair).net, Hypergraph.column_net(pair).nets_of):
            with pytest.raises(IndexError, match=f"{v} is none of the 2"):
                ask(v)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Graph.from_scipy(np.eye(2)), "matrix: needs a scipy.sparse matrix, got ndarray"),
    (lambda: Graph.from_scipy(None), "matrix: needs a scipy.sparse matrix, got NoneType"),
    (lambda: Graph.from_networkx([1]), "networkx graph: needs one, got list"),
    (lambda: Hypergraph.from_scipy(sp.coo_array([1.0, 2.0])), "matrix: needs a scipy.sparse matrix of two dimensions"),
])
def test_what_is_no_matrix_and_no_graph_is_named(make, message):
    with pytest.raises(CopartError, match=message):
        make()


def test_as_graph():
    g = path(3)
    assert as_graph(g) is g
    for thing in (g.to_scipy(), g.to_networkx(), (g.xadj, g.adjncy)):
        same_graph(as_graph(thing), g)
    with pytest.raises(GraphError, match=r"expected a Graph, .* got dict"):
        as_graph({})


def test_replace():
    g = path(3).replace(vwgt=[1, 2, 3])
    assert g.total_weight == 6
    assert g.replace(vwgt=None).total_weight == 3
    with pytest.raises(GraphError, match="replace: cannot change adjncy"):
        g.replace(adjncy=[])


@pytest.mark.parametrize("nvtxs", [0, 1, 2])
def test_graphs_without_edges(nvtxs):
    g = Graph(np.zeros(nvtxs + 1), [])
    assert g.nedges == 0
    assert g.to_scipy().nnz == 0
    assert g.quotient(np.zeros(g.nvtxs, int), 1).total_weight == g.nvtxs
