"""One graph, whichever way it comes in: files of every format and arrays of every library give the same parts."""

from __future__ import annotations

import gzip

import networkx
import numpy as np
import pytest
import scipy.io
import scipy.sparse

import copart
from copart.cli import main
from copart.errors import GraphError
from copart.formats import read_graph, read_part, write_metis
from copart.graph import Graph
from copart.mesh import Mesh, cube, dual_graph, write_vtu
from copart.metrics import edge_cut, imbalance

from ..helpers import ROOT, grid, shared

PARTS = 5


def weighted() -> Graph:
    """A grid with weights on vertices and edges, by hand the same in every format."""
    plain = grid(7, 9)
    u, v, _ = plain.edges()
    return Graph.from_edges(63, u, v, 1 + (u + v) % 3, vwgt=1 + np.arange(63) % 2)


def metis(path, graph):
    write_metis(path, graph)


def metis_packed(path, graph):
    write_metis(path.with_suffix(""), graph)
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))


def scotch(path, graph):
    """Version 0, base 1, vertex and edge loads: ``load degree (load neighbour)*`` a vertex."""
    lines = ["0", f"{graph.nvtxs} {len(graph.adjncy)}", "1 011"]
    for v in range(graph.nvtxs):
        row = slice(graph.xadj[v], graph.xadj[v + 1])
        arcs = " ".join(f"{w} {u + 1}" for u, w in zip(graph.adjncy[row], graph.edge_weights[row], strict=True))
        lines.append(f"{graph.weights[v]} {graph.degree(v)} {arcs}")
    path.write_text("\n".join(lines) + "\n")


def matrix_market(path, graph):
    scipy.io.mmwrite(path, graph.to_scipy(), field="integer", symmetry="symmetric")


@pytest.mark.parametrize(("name", "write", "has_vertex_weights"), [
    ("g.graph", metis, True), ("g.graph.gz", metis_packed, True), ("g.grf", scotch, True),
    ("g.mtx", matrix_market, False)])
def test_graph_files_of_every_format(tmp_path, name, write, has_vertex_weights):
    graph = weighted()
    write(tmp_path / name, graph)
    expected = graph if has_vertex_weights else graph.replace(vwgt=None)
    assert main(["part", str(tmp_path / name), str(PARTS), "-q", "--seed", "3"]) == 0
    part = read_part(tmp_path / f"{name}.part.{PARTS}", 63, PARTS)
    assert np.array_equal(part, copart.kgggp_ml.partition(expected, PARTS, seed=3))


@pytest.mark.parametrize("name", ["block-hexa.vtu", "block-tetra.vtu", "channel-plate.msh", "pipe-fluid.vtu"])
def test_mesh_files(tmp_path, name):
    out = tmp_path / "p"
    assert main(["part", str(ROOT / "meshes" / name), str(PARTS), "-o", str(out), "-q"]) == 0
    mesh = copart.read_mesh(ROOT / "meshes" / name)
    part = read_part(out, mesh.ncells, PARTS)
    assert imbalance(dual_graph(mesh), part, PARTS) <= 0.05


def test_one_region_of_a_mesh(tmp_path):
    mesh = cube("hexa", 6)
    upper = (mesh.centres()[:, 2] > 0.5).astype(int)
    write_vtu(tmp_path / "zones.vtu", mesh, {"zone": upper})
    assert main(["part", f"{tmp_path / 'zones.vtu'}:zone=1", "4", "-q"]) == 0
    part = read_part(tmp_path / "zones.vtu.zone-1.part.4", 108, 4)
    assert np.bincount(part).tolist() == [27, 27, 27, 27] or np.bincount(part).max() <= 28


def as_arrays(graph):
    return graph.xadj, graph.adjncy


def as_lists(graph):
    return graph.xadj.tolist(), graph.adjncy.tolist()


def as_networkx(graph):
    return graph.to_networkx()


@pytest.mark.parametrize("form", [
    as_arrays, as_lists, as_networkx, Graph.to_scipy, lambda g: scipy.sparse.csr_matrix(g.to_scipy()),
    lambda g: scipy.sparse.coo_array(g.to_scipy()).astype(float)],
    ids=["xadj and adjncy", "lists", "networkx", "csr_array", "csr_matrix", "coo_array of floats"])
def test_copart_part_takes_what_people_have(form):
    graph = grid(8, 9)
    assert np.array_equal(copart.part(form(graph), PARTS), copart.part(graph, PARTS))


def test_weights_come_along():
    graph = weighted()
    assert np.array_equal(copart.part(graph.to_networkx(), PARTS), copart.part(graph, PARTS))
    arrays = graph.to_metis()
    assert np.array_equal(copart.part(Graph.from_metis(**arrays), PARTS), copart.part(graph, PARTS))
    # a matrix has no vertex weights
    assert np.array_equal(copart.part(graph.to_scipy(), PARTS), copart.part(graph.replace(vwgt=None), PARTS))


@pytest.mark.parametrize(("thing", "message"), [
    (7, "expected a Graph"), (np.eye(3), "expected a Graph"), (([0, 1], [0]), "edge to itself"),
    (networkx.DiGraph([(0, 1)]), "must be undirected"), (scipy.sparse.csr_array([[0, 1], [0, 0]]), "not by vertex 1"),
    (Mesh, "expected a Graph")])
def test_what_is_no_graph_says_so(thing, message):
    with pytest.raises(GraphError, match=message):
        copart.part(thing, 2)


@pytest.mark.parametrize("name", ["4elt.graph", "3elt.grf.gz", "delaunay_n15.graph"])
def test_graphs_made_elsewhere(tmp_path, name):
    path = shared(f"data/graphs/{name}")
    assert main(["part", str(path), "16", "-o", str(tmp_path / "p"), "-q"]) == 0
    graph = read_graph(path)
    part = read_part(tmp_path / "p", graph.nvtxs, 16)
    assert imbalance(graph, part, 16) <= 0.0501
    assert edge_cut(graph, part) < 0.1 * graph.nedges
