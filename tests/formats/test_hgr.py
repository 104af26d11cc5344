"""Hypergraph files: what is read, what is refused and where."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from copart.errors import FormatError
from copart.formats import Nets, read_hgr

from ..helpers import shared


def pins(nets: Nets) -> list[list[int]]:
    return [nets.eind[nets.eptr[e]:nets.eptr[e + 1]].tolist() for e in range(nets.nnets)]


def put(folder, text):
    path = folder / "x.hgr"
    path.write_text(text, encoding="ascii", newline="")
    return path


def test_all_fields(tmp_path):
    nets = read_hgr(put(tmp_path, "% comment\r\n2 3 11\r\n\r\n7 3 1\r\n% between\r\n0 2\r\n4\r\n5\r\n6"))
    assert (nets.nnets, nets.nvtxs, nets.merged) == (2, 3, 0)
    assert pins(nets) == [[2, 0], [1]]
    assert nets.nwgt.tolist() == [7, 0]
    assert nets.vwgt.tolist() == [4, 5, 6]
    assert (nets.eptr.dtype, nets.eind.dtype, nets.nwgt.dtype) == (np.int64, np.int32, np.int64)
    assert repr(nets) == "Nets(2 nets with 3 pins on 3 vertices)"


def test_no_weights_and_no_nets(tmp_path):
    nets = read_hgr(put(tmp_path, "0 3\n"))
    assert pins(nets) == []
    assert nets.nwgt is None
    assert nets.vwgt is None
    assert read_hgr(put(tmp_path, "0 2 10\n1\n2\n")).vwgt.tolist() == [1, 2]


def test_repeated_pins_are_kept_once_in_place(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        nets = read_hgr(put(tmp_path, "2 4\n4 1 4 4 2 1\n3 3\n"))
    assert pins(nets) == [[3, 0, 1], [2]]
    assert nets.merged == 4
    assert caplog.records[0].getMessage().endswith("x.hgr: 4 repeated pins are left out")


@pytest.mark.parametrize(("text", "message"), [
    ("", "1: is empty, needs a header line"),
    ("4\n", "1: the header needs 2 or 3 numbers (nets, vertices, fmt), has 1"),
    ("1 2 1 1\n", "1: the header needs 2 or 3 numbers (nets, vertices, fmt), has 4"),
    ("1 2 100\n1\n", "1: fmt must be 0, 1 (net weights), 10 (vertex weights) or 11 (both), is 100"),
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
    ("2 2 1\n5 1\n5\n", "3: net 2 has a weight and no pin"),
    ("1 2 1\n-5 1\n", "2: net weight must not be negative, is -5"),
    ("1 2 10\n1\n3\n-4\n", "4: vertex weight must not be negative, is -4"),
    ("1 2 10\n1\n3 1\n4\n", "3: vertex 1 needs one weight, the line has more numbers"),
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
    nets = read_hgr(shared(f"data/malformed/{name}.hgr"))
    assert (nets.nnets, nets.nvtxs, len(nets.eind)) == (4, 7, WELL_FORMED[name])


def test_foreign_duplicated_pins_equal_the_file_without():
    merged = read_hgr(shared("data/malformed/unweighted_hypergraph_duplicated_pins.hgr"))
    plain = read_hgr(shared("data/malformed/unweighted_hypergraph.hgr"))
    assert [sorted(x) for x in pins(merged)] == [sorted(x) for x in pins(plain)]
    assert merged.merged == 9


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
    nets = read_hgr(shared("data/graphs/ibm01.hgr"))
    assert (nets.nnets, nets.nvtxs, len(nets.eind)) == (14111, 12752, 50566)
