"""SCOTCH target files: the ones of its own distribution, each architecture there and back, and broken ones."""

from __future__ import annotations

import numpy as np
import pytest

from copart.cli import main
from copart.errors import FormatError, MappingError
from copart.formats.scotch_target import read_target, write_target
from copart.graph import Graph
from copart.mapping.architectures.architecture import Complete, WeightedComplete
from copart.mapping.architectures.deco1 import decompose, tree_numbers
from copart.mapping.architectures.deco2 import MultilevelDecomposition
from copart.mapping.architectures.regular import Grid, Hypercube, Torus
from copart.mapping.architectures.subset import seats, subset
from copart.mapping.architectures.tree import TreeLeaf

from ..helpers import grid, shared

#: A file written by SCOTCH's amk_grf for a path of four vertices with links of cost 5, 1 and 3.
PATH_DECO_1 = """deco
1
4 13
0 4 4
0 1 1
1 3 3
-1 0 0
-1 0 0
1 2 2
3 1 1
-1 0 0
-1 0 0
-1 0 0
-1 0 0
1 1 1
2 1 1
4 5 8 0 0 0 0 0
0 0 4 6 2 0 0 6
9 2 0 0 4 0 0 0
0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 4
5 3 0 0 1 4 0 0
0 0 4 6 2 0 0 1
3 0 0 0 0 1
"""
PATH_DECO_2 = """deco
2
4 4 10
1 0
4 1
5 2
6 3
1 4 4 0 -1 1 2 3 0
2 1 1 0 0 -1 -1 0 3
3 3 3 1 0 3 6 2 4
6 2 2 1 2 4 5 1 5
12 1 1 1 3 -1 -1 0 6
13 1 1 2 3 -1 -1 0 7
7 1 1 3 2 -1 -1 0 9
0
4 6
0 010
1 5 1
2 5 0 1 2
2 1 1 3 3
1 3 2
9
0
3 4
0 011
0 1 5 1
2 2 5 0 3 2
0 1 3 1
10
0
2 2
0 011
0 1 5 1
8 1 5 0
13
0
1 0
0 011
18 0
1
0 0 0 0 1 1 1 2 2 3
"""
#: A 2 x 2 mesh by amk_m2: terminal domains with their numbers, then the triangle of distances.
MESH_DECO_0 = "deco\n0\n4\t7\n0\t1\t4\n1\t1\t5\n2\t1\t6\n3\t1\t7\n\n1\n1 2\n2 1 1\n"
PATH_DISTANCES = [[0, 5, 6, 9], [5, 0, 1, 4], [6, 1, 0, 3], [9, 4, 3, 0]]


@pytest.fixture
def read(tmp_path):
    def run(text):
        (tmp_path / "m.tgt").write_text(text)
        return read_target(tmp_path / "m.tgt")
    return run


@pytest.mark.parametrize(("name", "kind", "nprocs"), [
    ("h4", Hypercube, 16), ("h10", Hypercube, 1024), ("k16", Complete, 16), ("k128", Complete, 128),
    ("m4x8", Grid, 32), ("m16x16", Grid, 256), ("m2x4x8", Grid, 64), ("p64", Grid, 64), ("t4x4x4", Torus, 64),
    ("T3D_64", Torus, 64), ("t2x4x8", Torus, 64), ("void", Complete, 1)])
def test_targets_of_scotch(name, kind, nprocs):
    machine = read_target(shared(f"data/targets/{name}.tgt"))
    assert type(machine) is kind
    assert machine.nprocs == nprocs


@pytest.mark.parametrize(("name", "instead"), [("vcmplt", "cmplt"), ("vhcub", "hcub")])
def test_targets_of_variable_size_are_refused(name, instead):
    with pytest.raises(FormatError, match=f"no fixed number of processors.*use {instead} N"):
        read_target(shared(f"data/targets/{name}.tgt"))


@pytest.mark.parametrize("machine", [
    Complete(5), WeightedComplete([3, 1, 2]), Hypercube(3), Grid([4, 2]), Grid([2, 3, 4]), Grid([7]),
    Grid([2, 2, 2, 3]), Torus([4, 3]), Torus([3, 4, 5]), Torus([6]), TreeLeaf([6, 8, 4], [111, 11, 1]),
    TreeLeaf([2, 4], [5, 1], [2, 0, 3, 1]), subset(Torus([8, 8]), [63, 1, 17, 4]), subset(Hypercube(5), [3, 30, 7]),
    subset(TreeLeaf([2, 4], [5, 1], [2, 0, 3, 1]), [5, 0, 7]), subset(WeightedComplete([3, 1, 2]), [2, 0])],
    ids=lambda machine: machine.name)
def test_there_and_back(machine, tmp_path):
    write_target(tmp_path / "m.tgt", machine)
    found = read_target(tmp_path / "m.tgt")
    assert found.name == machine.name
    assert (found.weights == machine.weights).all()
    assert (found.matrix() == machine.matrix()).all()
    write_target(tmp_path / "again.tgt", found)
    assert (tmp_path / "again.tgt").read_text() == (tmp_path / "m.tgt").read_text()


def test_slots_of_a_node_are_written_as_a_decomposition(tmp_path):
    """SCOTCH's subsets have every processor once."""
    machine = seats(Torus([6, 4]), [0, 0, 13, 13, 13])
    write_target(tmp_path / "m.tgt", machine)
    found = read_target(tmp_path / "m.tgt")
    assert found.name == "deco"
    assert (found.matrix() == machine.matrix()).all()


@pytest.mark.parametrize("build", [lambda: decompose(grid(5, 3)),
                                   lambda: MultilevelDecomposition(grid(6, 6), [0, 5, 7, 20]),
                                   lambda: subset(decompose(grid(4, 4)), [9, 0, 3]),
                                   lambda: decompose(Graph.from_edges(3, [0, 1], [1, 2], [7, 2], vwgt=[4, 1, 2]))])
def test_decompositions_are_written_with_their_tree(build, tmp_path):
    machine = build()
    write_target(tmp_path / "m.tgt", machine)
    found = read_target(tmp_path / "m.tgt")
    assert tree_numbers(found) == tree_numbers(machine)
    assert (found.matrix() == machine.matrix()).all()
    assert (found.weights == machine.weights).all()


def test_decompositions_of_scotch(read):
    machine = read(PATH_DECO_1)
    assert tree_numbers(machine) == [2, 12, 13, 7]
    assert machine.matrix().tolist() == PATH_DISTANCES
    assert read(PATH_DECO_2).matrix().tolist() == PATH_DISTANCES
    # by amk_grf -l for vertices 0, 2 and 3 of a path with links of cost 1, 5 and 2
    machine = read("deco 1 3 7  0 3 3  0 1 1  2 2 2  -1 0 0  -1 0 0  2 1 1  3 1 1\n"
                   "4 4 7 0 0 0 0 0 0 0 4 6 1 0 0 5 8 1 0 0 2\n")
    assert machine.matrix().tolist() == [[0, 6, 8], [6, 0, 2], [8, 2, 0]]
    machine = read(MESH_DECO_0)
    assert tree_numbers(machine) == [4, 5, 6, 7]
    assert (machine.matrix() == Grid([2, 2]).matrix()).all()


def test_numbering_and_link_costs_as_scotch_counts_them(read):
    """Distances that SCOTCH 7's atst prints for subsets of two processors."""
    for pair, wanted in (("0 2", 2), ("0 3", 1), ("2 3", 3)):
        assert read(f"sub\n2 {pair}\nmesh2D 3 2\n").distances(0, 1) == wanted
    for pair, wanted in (("0 1", 4), ("0 2", 4), ("0 3", 1), ("1 2", 1)):
        assert read(f"sub\n2 {pair}\nltleaf\n2 2 3 2 1 4 1 2 3 0\n").distances(0, 1) == wanted
    # its average distance of tleaf 2 3 10 4 2 is 9.27273
    machine = read("tleaf 2 3 10 4 2\n")
    assert machine.matrix().sum() / (12 * 11) == pytest.approx(9.27273, rel=1e-5)


@pytest.mark.parametrize(("text", "match"), [
    ("", ":1: ends where the name of an architecture is expected"),
    ("ring 4\n", "unknown architecture 'ring'; known: cmplt, cmpltw"),
    ("cmplt\nfour", ":2: number of processors must be a whole number, is 'four'"),
    ("cmplt 0", "must be at least 1"),
    ("hcub 99", "dimension: must be at most 62"),
    ("mesh2D 4", "2 numbers are announced .extents., 1 are left"),
    ("mesh2D 4 0", "extents must be at least 1"),
    ("meshXD 99999999999 3", "numbers are announced"),
    ("cmplt 4 4", "more numbers than architecture cmplt takes"),
    ("cmpltw 2 1 0", "power: must be at least 1"),
    ("tleaf 2 2 10 0 1", "must be at least 1"),
    ("ltleaf 1 4 1 3 0 1 2", "3 of them do not divide the 4 leaves"),
    ("sub 2 1 1\ncmplt 4", "processor 1 is listed more than once"),
    ("sub 2 1 4\nmesh2D 2 2", "outside 0..3"),
    ("sub 2 0 1\nvarcmplt", "no fixed number"),
    ("deco 3", "kind of decomposition must be 0, 1 or 2"),
    ("deco 0 2 3 0 1 2 1 1 3 7 7", "more numbers"),
    ("deco 0 2 3 0 1 2 0 1 3 7", "numbers of their own"),
    ("deco 0 2 3 0 0 2 1 1 3 7", "processor 0 has compute power 0"),
    ("deco 0 2 4 0 1 2 1 1 4 7", "terminal domain 4 is part of terminal domain 2"),
    ("deco 1 2 3 0 2 2 0 2 1 1 1 1 1 1 1", "2 processors are announced, 1 domains are terminal"),
    ("deco 2 1 1 1 0 0 -1 0 0 0 0 0 0 0 0 0 400000000 0 0 000", "400000000 vertices are announced, 0 numbers are left"),
    (PATH_DECO_2.replace("1 5 1\n2 5 0 1 2", "1 5 1\n2 6 0 1 2", 1), "edge 0-1 weighs 5 one way and 6 the other"),
])
def test_refused(read, text, match):
    with pytest.raises(FormatError, match=match):
        read(text)


def test_cut_short_anywhere(read):
    """No prefix of a file is taken for a whole, and none makes anything but a FormatError."""
    for text in (PATH_DECO_1, PATH_DECO_2, MESH_DECO_0):
        words = text.split()
        for count in range(len(words)):
            with pytest.raises(FormatError):
                read(" ".join(words[:count]))


def test_distances_that_files_cannot_hold(tmp_path):
    with pytest.raises(MappingError, match=r"whole and at least 1, one is 0\.5"):
        write_target(tmp_path / "m.tgt", TreeLeaf([2, 2], [1.5, 1]))
    with pytest.raises(MappingError, match="up to 4096 processors"):
        write_target(tmp_path / "m.tgt", MultilevelDecomposition(grid(5000)))
    assert not np.any([path.exists() for path in tmp_path.iterdir()])


@pytest.mark.parametrize(("listed", "rule"), [
    ("5\n5 3 12 7 2\n", "processor 5 is listed more than once; SCOTCH's lists begin with their length"),
    ("3\n99\n", "1 of 2 entries are outside 0..15, first at index 1: 99"), ("", "at least one processor")])
def test_errors_of_listed_vertices_name_their_file(tmp_path, capsys, listed, rule):
    (tmp_path / "m.tgt").write_text("mesh2D 4 4\n")
    (tmp_path / "list.txt").write_text(listed)
    assert main(["machine", "info", str(tmp_path / "m.tgt"), "--vertices", str(tmp_path / "list.txt")]) == 2
    said = capsys.readouterr().err
    assert "list.txt: " in said
    assert rule in said
