"""``copart grid``: the table, the files, the picture, and one line for each kind of bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest

from copart.cli import main
from copart.commands.grid import COMPARED, compared
from copart.errors import MappingError
from copart.mapping.cartesian import Grid, internode, reorder_grid, round_robin, stencil
from copart.report.grid_picture import draw_grid, node_colours, panels


def result(capsys, *arguments: str) -> dict:
    assert main(["grid", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_published_grid(capsys):
    made = result(capsys, "--dims", "12x11x8", "--nodes", "33")
    totals = {name: (entry["total"], entry["max"]) for name, entry in made["methods"].items()}
    assert totals == {"cart": (2416, 80), "nodecart": (2272, 80), "central-greedy": (2402, 127),
                      "central-greedy-once": (1946, 90), "distributed-greedy": (2656, 113), "hyperplane": (1552, 80),
                      "hyperplane-cut": (1552, 80), "best": (1552, 80)}
    assert made["base"] == {"name": "blocked", "total": 2416, "max": 80}
    assert (made["chosen"], made["edges"]) == ("hyperplane", 5704)


def test_ranks_are_written_for_the_placement_they_come_from(capsys, tmp_path):
    target = tmp_path / "new" / "ranks.txt"
    made = result(capsys, "--procs", "36", "--ndims", "2", "--nodes", "6", "--base", "round-robin", "--no-compare",
                  "--method", "hyperplane", "-o", str(target))
    assert (made["dims"], made["files"]) == ([6, 6], [str(target)])
    new_rank = np.array(target.read_text().split(), int)
    base = round_robin([6] * 6)
    node = np.empty(36, int)
    node[new_rank] = base
    assert internode(Grid((6, 6)), stencil("five-point", 2), node)[:2] == (36, 8)
    assert made["methods"] == {"hyperplane": {**made["methods"]["hyperplane"], "total": 36, "max": 8}}


def test_stencils_weights_periods_and_unequal_nodes(capsys):
    made = result(capsys, "--dims", "8x6", "--node-sizes", "20,20,8", "--periodic", "yes,no", "--stencil=1,0,-1,0,1,1",
                  "--weights", "8,8,1", "--objective", "max")
    assert (made["stencil"], made["weights"]) == ([[1, 0], [-1, 0], [1, 1]], [8, 8, 1])
    assert (made["periodic"], made["edges"]) == ([True, False], 48 * 16 + 40)
    assert "nodecart" not in made["methods"]
    assert made["methods"]["best"]["max"] == min(
        made["methods"][name]["max"] for name in ("cart", "hyperplane", "hyperplane-cut", "best"))


def test_the_table_for_people(capsys):
    assert main(["grid", "--dims", "4x4", "--nodes", "4", "--stencil", "component"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == ("grid 4x4, component (2 offsets), 4 nodes of 4 processes each, 24 sent in one exchange")
    # nothing is left to send: no ratio
    assert next(line for line in out if line.startswith("hyperplane ")).split()[1:5] == ["0*", "0*", "-", "-"]
    assert next(line for line in out if line.startswith("nodecart ")).split()[1:5] == ["8", "2", "3.00", "4.00"]


@pytest.mark.parametrize(("arguments", "words"), [
    (["--dims", "5x4", "--nodes", "3"], "20 processes are no multiple of 3 nodes"),
    (["--dims", "5x4", "--node-sizes", "9,9"], "sizes add up to 18 processes, the grid has 20"),
    (["--dims", "4x4", "--nodes", "4", "--stencil", "0,0,1,0"], "offset 0 is zero"),
    (["--dims", "4x4", "--nodes", "4", "--stencil", "1,0,1"], "multiple of 2 numbers"),
    (["--dims", "4x4", "--nodes", "4", "--stencil", "star"], "'star' is none of five-point"),
    (["--dims", "40x40", "--nodes", "4", "--weights", f"{2**58},{2**58},1,1"], "do not fit in 64 bits"),
    (["--dims", "4x4"], "give the number of compute nodes"),
    (["--nodes", "4"], "give the sizes of the grid"),
    (["--dims", "4x0", "--nodes", "4"], "is not given"),
    (["--dims", "4xb", "--nodes", "4"], "needs whole numbers, got '4xb'"),
    (["--dims", "4x4", "--nodes", "4", "--periodic", "maybe"], "needs yes or no"),
    (["--dims", "4x4", "--nodes", "4", "--method", "magic"], "'magic' is not known; choose one of best"),
    (["--dims", "4x4", "--node-sizes", "8,4,4", "--method", "nodecart"], "needs nodes of one size, has 4 to 8"),
    (["--procs", "12", "--dims", "4x4", "--nodes", "4"], "4x4 cannot hold exactly 12"),
    (["--procs", "2147483647", "--ndims", "1", "--nodes", "1"], "processes are more than the 134217728 that are kept"),
    (["--dims", "1000x1000x1000", "--nodes", "10"], "Hyperplane tells the position of one rank of any grid"),
    (["--dims", "4x4", "--nodes", "2147483647"], "--nodes: must be at most 16777216, got 2147483647")])
def test_bad_input_is_one_line(capsys, tmp_path, arguments, words):
    target = tmp_path / "ranks.txt"
    assert main(["grid", *arguments, "-o", str(target)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert words in err
    assert not target.exists()


def test_what_is_compared():
    """Neither what does not apply nor what would take many minutes, beside algorithms of a second."""
    assert compared([4, 4]) == list(COMPARED)
    assert compared([4, 3]) == [name for name in COMPARED if name != "nodecart"]
    assert compared([64] * 4096) == [name for name in COMPARED if name != "distributed-greedy"]


# ---- the picture
def test_planes_of_a_grid():
    flat = panels((2, 3), [0, 0, 1, 1, 2, 2])
    assert [(name, plane.tolist()) for name, plane in flat] == [("", [[0, 0, 1], [1, 2, 2]])]
    assert panels((4,), [0, 0, 1, 1])[0][1].tolist() == [[0, 0, 1, 1]]
    solid = panels((2, 2, 2), range(8))
    assert [name for name, _ in solid] == ["0, :, :", "1, :, :"]
    assert solid[1][1].tolist() == [[4, 5], [6, 7]]
    with pytest.raises(MappingError, match="needs 6 entries"):
        panels((2, 3), [0, 1])


def test_nodes_that_meet_have_different_colours():
    grid = Grid((12, 11, 8))
    node = reorder_grid(grid, stencil("five-point", 3), 33, "hyperplane").node_of_vertex
    colour = node_colours(grid.dims, node)[node].reshape(grid.dims)
    box = node.reshape(grid.dims)
    for axis in range(3):
        a, b = np.delete(box, -1, axis), np.delete(box, 0, axis)
        meet = a != b
        assert (np.delete(colour, -1, axis) != np.delete(colour, 0, axis))[meet].all()


def test_pictures_of_grids(capsys, tmp_path):
    image = pytest.importorskip("matplotlib.image", reason="pictures need matplotlib")
    target = tmp_path / "pictures" / "grid.png"
    made = result(capsys, "--dims", "3x8x6", "--nodes", "12", "--picture", str(target), "--no-compare")
    assert made["files"] == [str(target)]
    pixels = image.imread(target)
    # two placements of three panels: wider than high would be one row
    assert pixels.shape[0] > 300
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 8
    assert [p.name for p in target.parent.iterdir()] == ["grid.png"]
    assert draw_grid(tmp_path / "line.svg", (16,), [("line", np.arange(16) // 4)]).stat().st_size > 1000
    assert main(["grid", "--dims", "4x4", "--nodes", "4", "--picture", "grid.xyz"]) == 2
    assert "no known format" in capsys.readouterr().err
