"""``copart.metis``: called as pymetis is, checked against what pymetis documents."""

from __future__ import annotations

import inspect
from array import array
from collections.abc import Sequence

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import copart
from copart import metis
from copart.errors import ConfigError, GraphError
from copart.metrics import edge_cut, imbalance, pieces

from .helpers import grid, shared

#: Figure 2 of the METIS manual, counted from 0, as pymetis' first page has it.
MANUAL = [[4, 2, 1], [0, 2, 3], [4, 3, 1, 0], [1, 2, 5, 6], [0, 2, 5], [4, 3, 6], [5, 3]]


def test_the_signature_is_the_documented_one():
    parameters = inspect.signature(metis.part_graph).parameters
    # pymetis 2025.2
    assert list(parameters) == ["nparts", "adjacency", "xadj", "adjncy", "vweights", "eweights", "tpwgts", "recursive",
                                "contiguous", "options", "warn_on_copies"]
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[4:])
    assert [p.default for p in list(parameters.values())[1:]] == [None] * 9 + [False]
    assert metis.GraphPartition._fields == ("edge_cuts", "vertex_part")
    assert metis.CSRAdjacency.__match_args__ == ("adj_starts", "adjacent")


def test_the_quick_start():
    n_cuts, membership = metis.part_graph(2, adjacency=[np.array(row) for row in MANUAL])
    assert n_cuts == 3  # as pymetis' page says, and no balanced bisection is better
    assert isinstance(membership, Sequence)
    assert sorted(np.bincount(np.array(membership))) == [3, 4]
    assert np.argwhere(np.array(membership) == 0).ravel().size in (3, 4)


def test_both_ways_to_give_a_graph_agree():
    graph = grid(12, 9)
    rows = [graph.neighbours(v).tolist() for v in range(graph.nvtxs)]
    results = [metis.part_graph(5, adjacency=rows),
               metis.part_graph(5, adjacency=dict(enumerate(rows))),
               metis.part_graph(5, adjacency=metis.CSRAdjacency(graph.xadj, graph.adjncy)),
               metis.part_graph(5, xadj=graph.xadj, adjncy=graph.adjncy),
               metis.part_graph(5, None, array("i", graph.xadj.tolist()), array("i", graph.adjncy.tolist()))]
    assert all(result == results[0] for result in results)
    assert results[0].edge_cuts == edge_cut(graph, results[0].vertex_part)


def test_weights_count():
    path = grid(1, 6)
    cut, part = metis.part_graph(2, xadj=path.xadj, adjncy=path.adjncy, vweights=[5, 1, 1, 1, 1, 1])
    assert cut == 1
    assert part[0] != part[1] == part[5]
    # the middle edge is dear, so the cut goes beside it where the balance allows that
    dear = [1, 1, 1, 1, 9, 9, 1, 1, 1, 1]
    cut, part = metis.part_graph(2, xadj=path.xadj, adjncy=path.adjncy, eweights=dear, recursive=False,
                                 options=metis.Options(ufactor=400))
    assert cut == 1
    assert part[2] == part[3]


def test_shares_of_the_weight():
    graph = grid(20, 20)
    part = np.asarray(metis.part_graph(2, adjacency=metis.CSRAdjacency(graph.xadj, graph.adjncy),
                                       tpwgts=[0.25, 0.75]).vertex_part)
    assert 90 <= (part == 0).sum() <= 101


@pytest.mark.parametrize(("nparts", "recursive", "options", "allowed"), [
    (8, None, None, 0.001), (9, None, None, 0.03), (8, False, None, 0.03), (16, True, None, 0.001),
    (16, None, metis.Options(ufactor=100), 0.1)])
def test_the_default_balance_is_that_of_metis(nparts, recursive, options, allowed):
    graph = grid(40, 40)
    _, part = metis.part_graph(nparts, xadj=graph.xadj, adjncy=graph.adjncy, recursive=recursive, options=options)
    assert np.bincount(part, minlength=nparts).max() <= np.floor((1 + allowed) * np.ceil(1600 / nparts))


def test_the_seed_of_the_options_counts():
    graph = grid(40, 40)
    parts = [metis.part_graph(7, xadj=graph.xadj, adjncy=graph.adjncy, options=o)
             for o in (None, metis.Options(seed=1), metis.Options(seed=1, niter=3), metis.Options(seed=2))]
    assert parts[0] == parts[1] == parts[2]
    assert parts[3] != parts[0]


def test_edges_of_the_domain():
    assert metis.part_graph(2, adjacency=[]) == (0, array("q"))
    assert metis.part_graph(1, adjacency=MANUAL) == (0, array("q", [0] * 7))
    cut, part = metis.part_graph(3, adjacency=[[1], [0]])  # metis leaves one empty, too
    assert cut == 1
    assert len(set(part)) == 2


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({}, TypeError, "needs the graph"),
    ({"adjacency": MANUAL, "xadj": [0]}, TypeError, "not both"),
    ({"xadj": [0, 1, 2]}, TypeError, "needs the graph"),
    ({"adjacency": [[1], []]}, GraphError, "listed by vertex 0 but not by vertex 1"),
    ({"adjacency": [[1], [7]]}, GraphError, "outside"),
    ({"adjacency": [["x"], [0]]}, GraphError, "adjacency"),
    ({"adjacency": [[1], [0]], "vweights": [1, 1, 1, 1]}, GraphError, "several weights per vertex need"),
    ({"adjacency": [[1], [0]], "eweights": [1]}, GraphError, "eweights: needs 2 entries"),
    ({"adjacency": MANUAL, "options": metis.Options(numbering=1)}, ConfigError, "numbering"),
    ({"adjacency": MANUAL, "tpwgts": [0.5, 0.5, 0.5]}, ConfigError, "tpwgts"),
])
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        metis.part_graph(2, **arguments)
    with pytest.raises(ConfigError, match="nparts"):
        metis.part_graph(0, adjacency=MANUAL)


def test_options_know_their_names():
    assert repr(metis.Options(contig=1, seed=3)) == "Options(seed=3, contig=1)"
    assert metis.Options().minconn == -1
    with pytest.raises(ConfigError, match="'unknown' is not known; choose from ncuts"):
        metis.Options(unknown=1)
    with pytest.raises(TypeError, match="integer"):
        metis.Options(seed=0.5)


# ---- parts in one piece

@pytest.mark.parametrize("ask", [{"contiguous": True}, {"options": metis.Options(contig=True)}])
def test_contiguous_parts(ask):
    tree = networkx.full_rary_tree(5, 400)
    cases = [grid(15, 15), copart.Graph.from_networkx(tree), copart.Graph.from_networkx(networkx.star_graph(40))]
    for graph in cases:
        for k in (3, 7, 12):
            result = metis.part_graph(k, xadj=graph.xadj, adjncy=graph.adjncy, recursive=False, **ask)
            found = pieces(graph, result.vertex_part, k)
            assert (found <= 1).all(), (graph, k, found)
            assert result.edge_cuts == edge_cut(graph, result.vertex_part)


def test_contiguous_does_not_cost_the_balance_of_a_mesh():
    graph = grid(30, 40)
    _, part = metis.part_graph(16, xadj=graph.xadj, adjncy=graph.adjncy, contiguous=True)
    assert imbalance(graph, part, 16) <= 0.03
    assert (pieces(graph, part, 16) == 1).all()


def test_a_disconnected_graph_keeps_as_few_pieces_as_it_has():
    # METIS ignores the request then; here each part is in one piece within each piece of the graph
    two = networkx.disjoint_union(networkx.grid_2d_graph(9, 9), networkx.grid_2d_graph(5, 20))
    graph = copart.Graph.from_networkx(two)
    for k in (2, 5):
        _, part = metis.part_graph(k, xadj=graph.xadj, adjncy=graph.adjncy, contiguous=True, recursive=False)
        found = pieces(graph, part, k)
        assert found.sum() <= k + 1
        assert (found >= 1).all()


@given(st.data())
def test_any_graph_can_be_partitioned(data):
    n = data.draw(st.integers(1, 30), "vertices")
    edges = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60), "edges")
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((a, b) for a, b in edges if a != b)
    k = data.draw(st.integers(1, n + 2), "parts")
    one_piece = data.draw(st.booleans(), "contiguous")
    cut, part = metis.part_graph(k, adjacency=[list(graph[v]) for v in range(n)], contiguous=one_piece)
    assert len(part) == n
    assert set(part) <= set(range(k))
    assert cut == sum(part[a] != part[b] for a, b in graph.edges)
    if one_piece and networkx.is_connected(graph):
        assert all(networkx.is_connected(graph.subgraph(v for v in graph if part[v] == p)) for p in set(part))


def test_a_real_mesh_against_the_cuts_of_metis():
    graph = copart.formats.read_graph(shared("data/graphs/4elt.graph"))
    for k, published in ((2, 159), (8, 679), (32, 1715)):  # METIS k-way, 3 %, in ../shared/data/SOURCES.md
        cut, _ = metis.part_graph(k, xadj=graph.xadj, adjncy=graph.adjncy, recursive=False)
        assert cut <= 1.1 * published, (k, cut)
