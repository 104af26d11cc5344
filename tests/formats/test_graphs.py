"""Graph files: what is read, what is refused and where, round trips."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copart.checks import check_graph
from copart.errors import FormatError, GraphError
from copart.formats import graph_suffix, read_graph, read_hypergraph, read_metis, write_graph, write_metis
from copart.graph import Graph

from .. import reference
from ..helpers import ends_soon, grid, shared
from ..reference import graphs, same_graph

tmp_is_shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def put(folder, text, name="x.graph"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(path, read=read_graph):
    """The message of the error that reading raises, without the folder."""
    with pytest.raises(FormatError) as e:
        read(path)
    assert str(path) in str(e.value)
    return str(e.value).removeprefix(str(path)).lstrip(":")


@pytest.mark.parametrize("name", ["x.graph", "x.grf", "x.mtx", "x.graph.gz", "x.hgr"])
def test_a_pointer_of_git_lfs_is_recognised(tmp_path, name):
    path = put(tmp_path, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n", name)
    said = refused(path, read_hypergraph if name.endswith("hgr") else read_graph)
    assert said == f" is a pointer of git-lfs, the file itself was not fetched: git lfs pull --include {name}"


# ---- METIS
@tmp_is_shared
@given(graphs())
def test_metis_round_trip(tmp_path, g):
    write_metis(tmp_path / "g.graph", g)
    same_graph(read_metis(tmp_path / "g.graph"), g)


def test_all_fields_of_a_metis_file(tmp_path):
    text = "% sizes, weights, edge weights\n3 2 111 1\n7 1 2 5\n8 2 1 5 3 6\n\t9   3 2 6\n"
    g = read_graph(put(tmp_path, text))
    assert reference.rows(g) == {0: {1: 5}, 1: {0: 5, 2: 6}, 2: {1: 6}}
    assert g.vsize.tolist() == [7, 8, 9]
    assert g.vwgt.tolist() == [1, 2, 3]
    write_graph(tmp_path / "again.graph", g)
    assert (tmp_path / "again.graph").read_text() == "3 2 111\n7 1 2 5\n8 2 1 5 3 6\n9 3 2 6\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(tmp_path, ending, last):
    text = ending.join(["% a comment", "3 2", "2", "1 3", "  % another one", "2"]) + (ending if last else "")
    same_graph(read_graph(put(tmp_path, text)), grid(3))


def test_empty_lines_are_vertices_without_neighbours(tmp_path):
    g = read_graph(put(tmp_path, "\n4 1\n\n3\n2\n\n"))
    assert reference.rows(g) == {0: {}, 1: {2: 1}, 2: {1: 1}, 3: {}}
    assert read_graph(put(tmp_path, "4 1\n\n3\n2\n")).nvtxs == 4  # the last, empty line has no line end
    assert read_graph(put(tmp_path, "0 0")).nvtxs == 0
    assert read_graph(put(tmp_path, "1 0\n")).nvtxs == 1


@pytest.mark.parametrize(("text", "message"), [
    ("", "1: is empty, needs a header line"),
    ("% only a comment\n\n", "1: is empty, needs a header line"),
    ("3\n", "1: the header needs 2 to 4 numbers (vertices, edges, fmt, ncon), has 1"),
    ("1 2 3 4 5\n", "1: the header needs 2 to 4 numbers (vertices, edges, fmt, ncon), has 5"),
    ("-1 0\n", "1: the header announces -1 vertices and 0 edges, needs numbers >= 0"),
    ("2 1 2\n2\n1\n", "1: fmt must be three digits 0 or 1 (sizes, vertex weights, edge weights), is 2"),
    ("2 1 10 3\n1 1 1 2\n1 1\n", "3: vertex 2 has not 3 weights, as fmt in line 1 demands"),
    ("2 1 10 65\n1\n2\n", "1: ncon, the number of vertex weights per vertex, must be 0 to 64, is 65"),
    ("2 1 1 1\n2 1\n1 1\n", "1: ncon is 1, fmt 1 says that there are no vertex weights"),
    ("%\n2 1\n2\n", "3: vertex 1 lists neighbour 2, which does not list it"),
    ("3 1\n2\n1", "3: 3 vertices are announced in line 1, only 2 lines follow"),
    ("2 1\n2\n1\n\n\n2", "6: only 2 vertices are announced in line 1, here is one more"),
    ("2 1\n2\nx1\n", "3: needs whole numbers, found 'x1'"),
    ("2 1\n2\n1.5\n", "3: needs whole numbers, found '1.5'"),
    ("2 1\n2 % no comment here\n1\n", "2: needs whole numbers, found '%'"),
    ("2 1\n-2\n1\n", "2: numbers must not be negative, found -2"),
    ("2 1\n2-1\n1\n", "2: needs whole numbers, found '2-1'"),
    ("2 1\n2\n-\n", "3: needs whole numbers, found '-'"),
    ("2 1\n2\n99999999999999999999\n", "3: number 99999999999999999999 is too large"),
    ("2 1\n2\n0\n", "3: neighbour 0 is outside 1..2"),
    ("2 1\n2\n3\n", "3: neighbour 3 is outside 1..2"),
    ("2 1\n2\n4294967297\n", "3: neighbour 4294967297 is outside 1..2"),
    ("2 1 10\n1 2\n\n", "3: vertex 2 has no weight, as fmt in line 1 demands"),
    ("2 1 100\n1 2\n\n", "3: vertex 2 has no size, as fmt in line 1 demands"),
    ("2 1 110\n1 1 2\n1\n", "3: vertex 2 has no weight, as fmt in line 1 demands"),
    ("2 1 1\n2 1\n1\n", "3: vertex 2: needs pairs of neighbour and edge weight, has 1 numbers"),
    ("2 1\n2 1\n1\n", "2: vertex 1 has an edge to itself, loops are not allowed"),
    ("2 1\n2\n1 1\n", "3: vertex 2 lists neighbour 1 more than once"),
    ("3 1\n2\n1 3\n\n", "3: vertex 2 lists neighbour 3, which does not list it"),
    ("2 1 1\n2 5\n1 6\n", "2: edge 1-2 weighs 5 here and 6 at its other end"),
    ("2 2\n2\n1\n", "1: 2 edges are announced, the file has 1"),
    ("1 0 10\n2305843009213693952\n", "2: number 2305843009213693952 is too large"),
])
def test_ill_formed_metis_files(tmp_path, text, message):
    assert refused(put(tmp_path, text)) == message


def test_weights_that_overflow_are_refused(tmp_path):
    text = "3 0 10\n" + "999999999999999999\n" * 3
    assert "vwgt: the sum of the weights overflows" in refused(put(tmp_path, text))


def test_a_huge_header_is_refused_at_once(tmp_path):
    for text in ("900000000000000000 1\n2\n1\n", "2147483647 900000000000000000\n2\n1\n"):
        assert "vertices are announced in line 1, only 2 lines follow" in refused(put(tmp_path, text))
    assert "edges are announced" in refused(put(tmp_path, "2 900000000000000000\n2\n1\n"))


WELL_FORMED = {
    "graph_empty_lines": (15, 3), "graph_no_newline": (7, 11), "graph_no_newline_windows": (7, 11),
    "graph_with_edge_weights": (8, 11), "graph_with_node_and_edge_weights": (8, 11),
    "graph_with_node_weights": (8, 11), "unweighted_graph": (8, 11),
}
ILL_FORMED = {
    "graph_id_overflow": "4: neighbour 4294967296 is outside 1..5",
    "graph_one_line_too_few": "7: 6 vertices are announced in line 2, only 5 lines follow",
    "graph_too_few_edges": "2: 6 edges are announced, the file has 5",
    "graph_too_few_lines": "9: 17 vertices are announced in line 3, only 3 lines follow",
    "graph_too_few_lines_windows": "9: 17 vertices are announced in line 3, only 3 lines follow",
    "graph_too_many_edges": "2: 4 edges are announced, the file has 5",
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_foreign_well_formed_graphs(name):
    g = read_graph(shared(f"data/malformed/{name}.graph"))
    assert (g.nvtxs, g.nedges) == WELL_FORMED[name]


@pytest.mark.parametrize("name", ILL_FORMED)
def test_foreign_ill_formed_graphs(name):
    assert refused(shared(f"data/malformed/{name}.graph")) == ILL_FORMED[name]


def test_every_foreign_graph_is_decided():
    names = {p.stem for p in shared("data/malformed").glob("*.graph")}
    assert names == set(WELL_FORMED) | set(ILL_FORMED)


def test_foreign_weights():
    g = read_graph(shared("data/malformed/graph_with_node_and_edge_weights.graph"))
    assert g.weights.tolist() == [4, 2, 5, 3, 1, 6, 2, 1]
    assert reference.rows(g)[6] == {5: 6, 3: 5}
    assert g.degree(7) == 0


@pytest.mark.parametrize(("name", "nvtxs", "nedges"), [
    ("wing.graph", 62032, 121544), ("4elt.graph", 15606, 45878), ("fe_4elt2.graph", 11143, 32818),
    ("delaunay_n15.graph", 32768, 98274), ("bump.grf.gz", 9800, 28989), ("4elt2.grf.gz", 11143, 32818),
    ("3elt.grf.gz", 4720, 13722), ("m4x4.grf", 16, 24), ("m4x4_b1_ev.grf", 16, 24),
])
def test_foreign_graphs_have_their_known_sizes(name, nvtxs, nedges):
    g = read_graph(shared(f"data/graphs/{name}"))
    assert (g.nvtxs, g.nedges) == (nvtxs, nedges)


def test_one_graph_in_two_foreign_formats():
    same_graph(read_graph(shared("data/graphs/4elt2.grf.gz")), read_graph(shared("data/graphs/fe_4elt2.graph")))


def test_several_weights_a_vertex(tmp_path):
    graph = read_graph(shared("data/graphs/test.mgraph"))
    assert (graph.nvtxs, graph.nedges, graph.ncon) == (766, 1314, 2)
    # the lines of vertices 1 and 8: "1 1 479 ..." and "24 8 152 733 ..."
    assert graph.vwgt[[0, 7]].tolist() == [[1, 1], [24, 8]]
    assert graph.neighbours(7).tolist() == sorted(u - 1 for u in (152, 733, 638, 746))
    sized = graph.replace(vsize=np.arange(766))
    write_metis(tmp_path / "again.graph", sized)
    again = read_graph(tmp_path / "again.graph")
    assert all((getattr(again, f) == getattr(sized, f)).all() for f in ("xadj", "adjncy", "vwgt", "vsize"))


def test_a_million_vertices(tmp_path):
    g = grid(100, 100, 100)
    write_metis(tmp_path / "big.graph", g)
    with ends_soon():
        h = read_metis(tmp_path / "big.graph")
    assert (h.nvtxs, h.nedges) == (1_000_000, 2_970_000)


# ---- SCOTCH
def test_scotch_loads():
    g = read_graph(shared("data/graphs/m4x4_b1_ev.grf"))
    assert reference.rows(g)[0] == {1: 7, 4: 1}
    assert g.weights.tolist() == [1, 2, 2, 1, 3, 2, 1, 1, 1, 2, 3, 2, 1, 3, 1, 2]
    same_graph(g.replace(ewgt=None, vwgt=None), grid(4, 4))


@given(graphs())
@tmp_is_shared
def test_scotch_round_trip(tmp_path, graph):
    write_graph(tmp_path / "g.grf", graph)
    same_graph(read_graph(tmp_path / "g.grf"), graph.replace(vsize=None))


def test_scotch_files_are_what_scotch_writes(tmp_path):
    write_graph(tmp_path / "g.grf", grid(4, 4))
    given = shared("data/graphs/m4x4.grf").read_text().split()
    assert (tmp_path / "g.grf").read_text().split()[:5] == given[:5]
    same_graph(read_graph(tmp_path / "g.grf"), read_graph(shared("data/graphs/m4x4.grf")))
    with pytest.raises(GraphError, match="2 weights per vertex"):
        write_graph(tmp_path / "g.grf", grid(4, 4).replace(vwgt=np.ones((16, 2), int)))


def test_scotch_labels(tmp_path):
    text = "0\n3 4\n0 101\n10 5 1 30\n20 6 1 30\n30 7 2 10 20\n"
    g = read_graph(put(tmp_path, text, "x.grf"))
    assert reference.rows(g) == {0: {2: 1}, 1: {2: 1}, 2: {0: 1, 1: 1}}
    assert g.weights.tolist() == [5, 6, 7]


@pytest.mark.parametrize(("text", "message"), [
    ("0\n2 2\n0\n", "3: needs a header of five numbers: version, vertices, arcs, base, flags"),
    ("1\n2 2\n0 000\n1 1\n1 0\n", "1: version must be 0, is 1"),
    ("0\n-2 2\n0 000\n1 1\n1 0\n", "2: the header announces -2 vertices and 2 arcs, needs numbers >= 0"),
    ("0\n2 2\n5 000\n1 1\n1 0\n", "3: vertices are counted from 0 or 1, not from 5"),
    ("0\n2 2\n0 002\n1 1\n1 0\n", "3: flags must be three digits 0 or 1 (labels, edge loads, vertex loads), are 2"),
    ("0\n2 4\n0 000\n1 1\n1 0\n", "2: 4 arcs are announced, the file has 2"),
    ("0\n3 2\n0 000\n1 1\n1 0\n", "5: 3 vertices are announced, the file ends after 2"),
    ("0\n900000000000000000 2\n0 000\n1 1\n1 0\n",
     "5: 900000000000000000 vertices are announced, the file ends too early"),
    ("0\n2 2\n0 000\n1 1\n1 0\n7\n", "6: only 2 vertices are announced, here are more numbers"),
    ("0\n2 2\n0 000\n1 1\n9 0\n", "5: degree 9 is negative or more than the file has numbers left"),
    ("0\n2 2\n0 000\n1 1\n-1 0\n", "5: degree -1 is negative or more than the file has numbers left"),
    ("0\n2 2\n0 000\n1 1\n1 2\n", "5: neighbour 2 is outside 0..1"),
    ("0\n2 2\n1 000\n1 2\n1 0\n", "5: neighbour 0 is outside 1..2"),
    ("0\n2 2\n0 100\n5 1 6\n5 1 5\n", "5: label 5 is given to more than one vertex"),
    ("0\n2 2\n0 100\n5 1 6\n6 1 4\n", "5: neighbour 4 is no vertex label"),
    ("0\n2 2\n0 001\n1 1 1\n-1 1 0\n", "5: vertex load must not be negative, is -1"),
    ("0\n2 2\n0 010\n1 -3 1\n1 -3 0\n", "4: edge load must not be negative, is -3"),
    ("0\n2 2\n0 000\n1 0\n1 0\n", "4: vertex 0 has an edge to itself, loops are not allowed"),
    ("0\n3 3\n0 000\n1 1\n2 0 2\n0\n", "5: vertex 1 lists neighbour 2, which does not list it"),
    ("0\n2 2\n0 000\n% 1\n1 0\n", "4: needs whole numbers, found '%'"),
])
def test_ill_formed_scotch_files(tmp_path, text, message):
    assert refused(put(tmp_path, text, "x.grf")) == message


# ---- Matrix Market
def test_matrix_market(tmp_path):
    g = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], [5, 6, 1])
    full = tmp_path / "full.mtx"
    scipy.io.mmwrite(full, g.to_scipy(), symmetry="general")
    same_graph(read_graph(full), g)
    half = tmp_path / "half.mtx"
    scipy.io.mmwrite(half, g.to_scipy(), symmetry="symmetric")
    same_graph(read_graph(half), g)
    packed = tmp_path / "half.mm.gz"
    packed.write_bytes(gzip.compress(half.read_bytes()))
    same_graph(read_graph(packed), g)


def test_of_a_real_matrix_only_the_structure_counts(tmp_path):
    m = sp.coo_array(np.array([[4.0, -1.5, 0], [-1.5, 4, 2e-3], [0, 2e-3, 1]]))
    scipy.io.mmwrite(tmp_path / "m.mtx", m, symmetry="symmetric")
    same_graph(read_graph(tmp_path / "m.mtx"), grid(3))
    pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n% c\n2 2 1\n2 1\n"
    same_graph(read_graph(put(tmp_path, pattern, "p.mtx")), grid(2))


HEAD = "%%MatrixMarket matrix coordinate integer general\n"


@pytest.mark.parametrize(("text", "message"), [
    ("1 2 3\n", "1: needs a first line '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"),
    ("%%MatrixMarket matrix array real general\n1 1\n0\n",
     "1: holds a matrix in array form, a graph needs coordinate form"),
    (HEAD, "1: ends before the line with rows, columns and entries"),
    (HEAD + "2 2\n", "2: needs three whole numbers (rows, columns, entries), found '2 2'"),
    (HEAD + "% c\n2 3 1\n1 2 1\n", "3: a graph needs a square matrix, this one is 2 x 3"),
    (HEAD + "9000000000 9000000000 1\n1 2 1\n", "2: 9000000000 rows and 1 entries do not fit a file of 79 bytes"),
    (HEAD + "2 2 9000000000\n1 2 1\n", "2: 2 rows and 9000000000 entries do not fit a file of 70 bytes"),
    (HEAD + "2 2 1\n1 2 1\n", " the matrix is no undirected graph: adjncy: edge 0-1 is listed by vertex 0 "
                              "but not by vertex 1"),
    (HEAD + "2 2 2\n1 2 -1\n2 1 -1\n", " the matrix is no undirected graph: matrix data: 2 of 2 entries are negative, "
                                       "first at index 0: -1"),
])
def test_ill_formed_matrices(tmp_path, text, message):
    assert refused(put(tmp_path, text, "x.mtx")) == message


@pytest.mark.parametrize("body", ["2 2 2\n1 2 1\n", "2 2 1\n1 5 1\n", "2 2 1\n1 x 1\n", "2 2 1\n1 2 1\n2 1 1\n"])
def test_matrices_whose_entries_are_wrong(tmp_path, body):
    assert refused(put(tmp_path, HEAD + body, "x.mtx"))


# ---- all formats
def test_dispatch_by_suffix(tmp_path):
    assert graph_suffix("a/b/My.GRAPH") == ".graph"
    assert graph_suffix("x.grf.gz") == ".grf"
    assert graph_suffix("x.vtu") is None
    message = refused(put(tmp_path, "", "x.vtu"))
    assert message == (" is no known graph format; known suffixes: .graph, .mgraph, .metis, .grf, .mtx, .mm "
                       "(each also with .gz)")


def test_packed_files(tmp_path):
    packed = gzip.compress(b"2 1\n2\n1\n")
    assert read_graph(put(tmp_path, packed, "x.graph.gz")).nedges == 1
    for broken in (b"2 1\n2\n1\n", packed[:-6], b""):
        message = refused(put(tmp_path, broken, "y.graph.gz"))
        assert "gzip" in message or "is empty" in message


def test_files_that_are_not_there(tmp_path):
    assert "cannot be read: no such file" in refused(tmp_path / "none.graph")
    (tmp_path / "folder.graph").mkdir()
    assert "cannot be read: is a directory" in refused(tmp_path / "folder.graph")


def test_binary_rubbish(tmp_path):
    rubbish = np.random.default_rng(3).integers(0, 256, 4000).astype(np.uint8).tobytes()
    for suffix in (".graph", ".grf", ".mtx"):
        assert refused(put(tmp_path, rubbish, f"x{suffix}"))
    assert "needs whole numbers" in refused(put(tmp_path, "2 1\n2\n\0\n"))
    assert "needs whole numbers" in refused(put(tmp_path, "2 1\n٢\n1\n"))


SMALL = {
    ".graph": b"% c\n4 3 111\n1 2 2 5\n1 2 1 5 3 6\n1 1 2 6 4 1\n1 3 3 1\n",
    ".grf": b"0\n3 4\n0 111\n10 5 1 2 30\n20 6 1 3 30\n30 7 2 2 10 3 20\n",
    ".mtx": b"%%MatrixMarket matrix coordinate integer symmetric\n% c\n3 3 2\n2 1 4\n3 2 5\n",
}


@tmp_is_shared
@given(st.sampled_from(sorted(SMALL)), st.sampled_from(["set", "insert", "cut"]),
       st.lists(st.tuples(st.integers(0, 90), st.sampled_from(b"0123456789 \n\r-.%x\0")), min_size=1, max_size=3))
def test_a_damaged_file_is_a_graph_or_one_format_error(tmp_path, suffix, how, changes):
    data = bytearray(SMALL[suffix])
    for at, byte in changes:
        at %= max(len(data), 1)
        if how == "set" and data:
            data[at] = byte
        elif how == "insert":
            data.insert(at, byte)
        else:
            del data[at:]
    path = put(tmp_path, bytes(data), f"x{suffix}")
    try:
        g = read_graph(path)
    except FormatError as e:
        told = str(e)
    else:
        told = ""
        assert check_graph(g).ok
    assert told.startswith(str(path)) or not told
    assert "\n" not in told
