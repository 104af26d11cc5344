"""Hypergraph files: what is read, what is written, what is refused and where."""

from __future__ import annotations

import gzip
import logging

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copart.errors import FormatError, GraphError
from copart.formats import read_hgr, read_hypergraph, read_matrix_hypergraph, read_patoh, write_hypergraph
from copart.hypergraph import Hypergraph

from ..helpers import shared
from ..test_hypergraph import hypergraphs, lists


def put(folder, text, name="x.hgr"):
    path = folder / name
    path.write_text(text, encoding="ascii", newline="")
    return path


def test_all_fields(tmp_path):
    h = read_hgr(put(tmp_path, "% comment\r\n2 3 11\r\n\r\n7 3 1\r\n% between\r\n0 2\r\n4\r\n5\r\n6"))
    assert lists(h) == [[2, 0], [1]]
    assert h.cost.tolist() == [7, 0]
    assert h.vwgt.tolist() == [4, 5, 6]
    assert (h.xpins.dtype, h.pins.dtype, h.cost.dtype) == (np.int64, np.int32, np.int64)


def test_no_weights_and_no_nets(tmp_path):
    h = read_hgr(put(tmp_path, "0 3\n"))
    assert (lists(h), h.vwgt.tolist()) == ([], [1, 1, 1])
    assert read_hgr(put(tmp_path, "0 2 10\n1\n2\n")).vwgt.tolist() == [1, 2]


def test_repeated_pins_are_kept_once_in_place(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        h = read_hgr(put(tmp_path, "2 4\n4 1 4 4 2 1\n3 3\n"))
    assert lists(h) == [[3, 0, 1], [2]]
    assert caplog.records[0].getMessage().endswith("x.hgr: 4 repeated pins are left out")


def test_the_sum_of_costs_and_weights(tmp_path):
    for text in ("2 2 1\n900000000000000000 1 2\n900000000000000000 1 2\n",):
        with pytest.raises(FormatError, match=r"x.hgr: cost: with every pin in a part of its own the volume is about"):
            read_hgr(put(tmp_path, text))
    weights = "900000000000000000\n" * 3
    with pytest.raises(FormatError, match=r"x.hgr: vwgt: the sum of the weights overflows"):
        read_hgr(put(tmp_path, f"1 3 10\n1 2\n{weights}"))
    exact = read_hgr(put(tmp_path, "1 2 11\n9007199254740993 1 2\n9007199254740993\n1\n"))
    assert (exact.cost[0], exact.total_weight) == (2**53 + 1, 2**53 + 2)


@pytest.mark.parametrize(("text", "message"), [
    ("", "1: is empty, needs a header line"),
    ("4\n", "1: the header needs 2 or 3 numbers (nets, vertices, fmt), has 1"),
    ("1 2 1 1\n", "1: the header needs 2 or 3 numbers (nets, vertices, fmt), has 4"),
    ("1 2 100\n1\n", "1: fmt must be 0, 1 (net costs), 10 (vertex weights) or 11 (both), is 100"),
    ("-1 2\n", "1: the header announces -1 nets on 2 vertices, needs numbers >= 0, fewer than 2^31 vertices"),
    ("1 9999999999\n1\n", "1: the header announces 1 nets on 9999999999 vertices, needs numbers >= 0, "
                          "fewer than 2^31 vertices"),
    ("2 3\n1 2\n", "2: 2 nets are announced in line 1, only 1 follow"),
    ("900000000000000000 3\n1 2\n", "2: 900000000000000000 nets are announced in line 1, only 1 follow"),
    ("1 2000000000 10\n1 2\n5\n", "3: fmt in line 1 demands 2000000000 vertex weights, only 1 follow the nets"),
    ("%\n1 3\n1 2\n\n2 3\n", "5: only 1 nets are announced in line 2, here is one more line"),
    ("1 1 10\n1\n5\n6\n", "4: only 1 nets and 1 vertex weights are announced in line 1, here is one more line"),
    ("1 2\n1 3\n", "2: pin 3 is outside 1..2"),
    ("1 2\n0\n", "2: pin 0 is outside 1..2"),
    ("2 2 1\n5 1\n5\n", "3: net 2 has a cost and no pin"),
    ("1 2 1\n-5 1\n", "2: net cost must not be negative, is -5"),
    ("1 2 10\n1\n3\n-4\n", "4: vertex weight must not be negative, is -4"),
    ("1 2 10\n1\n3 1\n4\n", "3: vertex 1 needs one weight, the line has more numbers"),
    ("1 2000000000\n1 2\n", "1: 2000000000 vertices do not fit a file of 4 numbers"),
    ("1 2\n1 b\n", "2: needs whole numbers, found 'b'"),
])
def test_ill_formed_files(tmp_path, text, message):
    path = put(tmp_path, text)
    with pytest.raises(FormatError) as e:
        read_hgr(path)
    assert str(e.value) == f"{path}:{message}"


WELL_FORMED = {
    "unweighted_hypergraph": 12, "hypergraph_with_edge_weights": 12, "hypergraph_with_node_and_edge_weights": 12,
    "hypergraph_with_edge_weights_single_pin": 11, "unweighted_hypergraph_duplicated_pins": 12,
}
ILL_FORMED = {
    "hypergraph_id_overflow": "7: pin 4294967296 is outside 1..6",
    "hypergraph_with_too_few_node_weights": "11: fmt in line 1 demands 7 vertex weights, only 6 follow the nets",
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_foreign_well_formed_files(name):
    h = read_hgr(shared(f"data/malformed/{name}.hgr"))
    assert (h.nnets, h.nvtxs, h.npins) == (4, 7, WELL_FORMED[name])


def test_foreign_duplicated_pins_equal_the_file_without():
    merged = read_hgr(shared("data/malformed/unweighted_hypergraph_duplicated_pins.hgr"))
    plain = read_hgr(shared("data/malformed/unweighted_hypergraph.hgr"))
    assert lists(merged) == lists(plain)


@pytest.mark.parametrize("name", ILL_FORMED)
def test_foreign_ill_formed_files(name):
    path = shared(f"data/malformed/{name}.hgr")
    with pytest.raises(FormatError) as e:
        read_hgr(path)
    assert str(e.value) == f"{path}:{ILL_FORMED[name]}"


def test_every_foreign_file_is_decided():
    names = {p.stem for p in shared("data/malformed").glob("*.hgr")}
    assert names == set(WELL_FORMED) | set(ILL_FORMED)


def test_a_foreign_netlist():
    h = read_hgr(shared("data/graphs/ibm01.hgr"))
    assert (h.nnets, h.nvtxs, h.npins) == (14111, 12752, 50566)


@pytest.mark.parametrize(("text", "nets", "cost", "vwgt"), [
    ("% a comment\n0 3 2 4\n0 1\n% more\n2 1\n", [[0, 1], [2, 1]], [1, 1], [1, 1, 1]),
    ("1 3 2 4 0\n1 2\n\n3 2\n", [[0, 1], [2, 1]], [1, 1], [1, 1, 1]),
    ("1 3 2 4 1\n1 2\n3 2\n5 6 7\n", [[0, 1], [2, 1]], [1, 1], [5, 6, 7]),
    ("1 3 2 4 1\n1 2\n3 2\n5\n6 7", [[0, 1], [2, 1]], [1, 1], [5, 6, 7]),
    ("0 3 2 4 2\n8 0 1\n9 2 1\n", [[0, 1], [2, 1]], [8, 9], [1, 1, 1]),
    ("0 3 2 4 3\n8 0 1\n9 2 1\n1 2 3\n", [[0, 1], [2, 1]], [8, 9], [1, 2, 3]),
    ("0 3 2 4 3 2\n8 0 1\n9 2 1\n1 2 3\n4 5 6\n", [[0, 1], [2, 1]], [8, 9], [[1, 2], [3, 4], [5, 6]]),
    ("0 3 0 0\n", [], [], [1, 1, 1]),
])
def test_patoh_files(tmp_path, text, nets, cost, vwgt):
    h = read_patoh(put(tmp_path, text, "x.u"))
    assert (lists(h), h.cost.tolist(), h.vwgt.tolist()) == (nets, cost, vwgt)


@pytest.mark.parametrize(("text", "message"), [
    ("%\n", "1: is empty, needs a header line"),
    ("0 3 2\n", "1: the header needs 4 to 6 numbers (base, vertices, nets, pins, scheme, constraints), has 3"),
    ("2 3 1 1\n2\n", "1: base, the number of the first vertex, must be 0 or 1, is 2"),
    ("0 3 -1 1\n2\n", "1: the header announces 3 vertices, -1 nets and 1 pins, needs numbers >= 0, "
                      "fewer than 2^31 vertices"),
    ("0 3 1 1 4\n2\n", "1: scheme must be 0, 1 (vertex weights), 2 (net costs) or 3 (both), is 4"),
    ("0 3 1 1 1 0\n2\n", "1: the number of weights per vertex must be 1 to 64, is 0"),
    ("0 3 2 4\n0 1\n", "2: 2 nets are announced in line 1, only 1 follow"),
    ("0 3 1 4\n0 1\n", "1: 4 pins are announced, the nets have 2"),
    ("0 3 1 2 2\n5 0 1 2\n", "1: 2 pins are announced, the nets have 3"),
    ("0 3 1 2\n0 3\n", "2: pin 3 is outside 0..2"),
    ("1 3 1 2\n1 0\n", "2: pin 0 is outside 1..3"),
    ("0 3 1 2 1\n0 1\n4 5\n", "3: the header in line 1 demands 3 vertex weights, only 2 follow the nets"),
    ("0 3 1 2 1\n0 1\n4 5 6\n7\n", "4: as the header in line 1 says 3 vertex weights follow the nets, here is one "
                                   "more number"),
    ("0 3 1 2\n0 1\n4\n", "3: as the header in line 1 says no vertex weights follow the nets, here is one more number"),
    ("0 3 1 2 1\n0 1\n4 -5 6\n", "3: vertex weight must not be negative, is -5"),
    ("0 3 2 1 2\n7 0\n8\n", "3: net 1 has a cost and no pin"),
    ("0 3 1 1 2\n-1 0\n", "2: net cost must not be negative, is -1"),
    ("0 2000000000 1 1\n0\n", "1: 2000000000 vertices do not fit a file of 5 numbers"),
])
def test_ill_formed_patoh_files(tmp_path, text, message):
    path = put(tmp_path, text, "x.u")
    with pytest.raises(FormatError) as e:
        read_patoh(path)
    assert str(e.value) == f"{path}:{message}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hypergraphs(), st.sampled_from([".hgr", ".patoh", ".u"]))
def test_what_is_written_is_read_back(tmp_path, h, suffix):
    path = tmp_path / f"x{suffix}"
    write_hypergraph(path, h)
    back = read_hypergraph(path)
    assert (back.nvtxs, lists(back)) == (h.nvtxs, lists(h))
    assert back.cost.tolist() == h.cost.tolist()
    assert back.vwgt.tolist() == h.vwgt.tolist()


def test_several_weights_are_written_as_patoh(tmp_path):
    h = Hypergraph.from_nets(2, [[1, 0]], vwgt=[[1, 2], [3, 4]])
    write_hypergraph(tmp_path / "x.patoh", h)
    assert read_hypergraph(tmp_path / "x.patoh").vwgt.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(GraphError, match="2 weights per vertex"):
        write_hypergraph(tmp_path / "x.hgr", h)
    with pytest.raises(FormatError, match=r"x\.txt: is no name of a hypergraph file that can be written"):
        write_hypergraph(tmp_path / "x.txt", h)


MATRIX = "%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 1\n2 1\n1 3\n2 3\n"


def test_matrices(tmp_path):
    path = put(tmp_path, MATRIX, "x.mtx")
    assert lists(read_hypergraph(path)) == [[0, 1], [1], [2, 0, 1]]
    assert lists(read_matrix_hypergraph(path, "row-net")) == [[0, 2], [1, 0, 2], [2]]
    path = put(tmp_path, MATRIX.replace("3 3 4", "2 3 4"), "x.mtx")
    with pytest.raises(FormatError, match=r"x\.mtx: the matrix is no column-net hypergraph: xpins: 1 nets without pin"
                                          r"s, the first is net 1"):
        read_hypergraph(path)
    assert lists(read_matrix_hypergraph(path, "row-net")) == [[0, 2], [0, 2]]
    path = put(tmp_path, MATRIX.replace("3 3 4", "2 999999999 4"), "x.mtx")
    with pytest.raises(FormatError, match=r"x\.mtx:2: 999999999 rows and 4 entries do not fit a file of"):
        read_hypergraph(path)


def test_graphs_and_packed_files(tmp_path):
    path = put(tmp_path, "3 2\n2\n1 3\n2\n", "x.graph")
    assert lists(read_hypergraph(path)) == [[0, 1], [1, 0, 2], [2, 1]]
    packed = tmp_path / "x.hgr.gz"
    packed.write_bytes(gzip.compress(b"1 3\n3 1\n"))
    assert lists(read_hypergraph(packed)) == [[2, 0]]
    with pytest.raises(FormatError, match=r"x\.foo: is no known hypergraph format; known suffixes: \.hgr, "):
        read_hypergraph(tmp_path / "x.foo")
