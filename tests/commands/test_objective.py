"""``copart part --objective``: what parts send in place of the cut, also of hypergraph files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import eye_array, random_array

from copart.cli import main
from copart.formats import read_part, write_graph, write_hypergraph
from copart.hypergraph import Hypergraph
from copart.metrics import evaluate_hypergraph

from ..helpers import grid
from .lines import line_of


@pytest.fixture
def graph(folder):
    made = grid(12, 12, 6)
    write_graph("g.graph", made)
    return made


def figures(capsys, *words: object) -> dict[str, object]:
    assert main(["part", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_each_objective_tells_its_own_figures(graph, capsys):
    h = Hypergraph.column_net(graph)
    cut = figures(capsys, "g.graph", 12)
    assert "volume" not in cut
    better = 0
    assert cut == {**figures(capsys, "g.graph", 12, "--objective", "cut"), "seconds": cut["seconds"]}
    of_cut = evaluate_hypergraph(h, read_part("g.graph.part.12", h.nvtxs, 12), 12).to_dict()
    for name, letters, key in (("volume", "TV", "volume"), ("max-volume", "MSV", "max_volume"),
                               ("messages", "TM", "messages"), ("max-messages", "MSM", "max_messages")):
        said = figures(capsys, "g.graph", 12, "--objective", name, "--eps", 0.03)
        truth = evaluate_hypergraph(h, read_part("g.graph.part.12", h.nvtxs, 12), 12).to_dict()
        assert [said[k] for k in ("volume", "max_volume", "messages", "max_messages")] == [
            truth[k] for k in ("TV", "MSV", "TM", "MSM")]
        assert said[key] <= of_cut[letters], name
        better += said[key] < of_cut[letters]
        assert said["cut"] >= cut["cut"] * 0.9
        assert said["ub"] <= 0.03 + 12 / h.nvtxs
    assert better >= 3


@pytest.mark.parametrize("name", ["h.hgr", "h.patoh"])
def test_a_hypergraph_file(graph, capsys, name):
    h = Hypergraph.column_net(graph)
    write_hypergraph(name, h)
    said = figures(capsys, name, 4)
    assert "cut" not in said
    part = read_part(f"{name}.part.4", h.nvtxs, 4)
    assert said["volume"] == evaluate_hypergraph(h, part, 4).total_volume
    assert main(["part", name, "4", "-o", "other", "--fixed", f"{name}.part.4"]) == 0
    assert (read_part("other", h.nvtxs, 4) == part).all()
    assert f"volume {said['volume']} (at most {said['max_volume']} from a part)" in capsys.readouterr().out


@pytest.mark.parametrize("shape", [(60, 60), (40, 70)])
def test_a_matrix_that_is_no_graph(folder, capsys, shape):
    """Rows are vertices, columns are nets: what ``y = A x`` by rows sends."""
    matrix = random_array(shape, density=0.05, rng=np.random.default_rng(1), format="csr")
    matrix = matrix + eye_array(*shape) + eye_array(*shape, k=30)
    mmwrite("m.mtx", matrix)
    h = Hypergraph.from_scipy(matrix)
    for name, letters, key in (("volume", "TV", "volume"), ("max-messages", "MSM", "max_messages")):
        said = figures(capsys, "m.mtx", 4, "--objective", name, "--eps", 0.1)
        truth = evaluate_hypergraph(h, read_part("m.mtx.part.4", shape[0], 4), 4).to_dict()
        assert (said["vertices"], said["nets"], said[key]) == (*shape, truth[letters])
    for other in ([], ["--objective", "cut"]):
        assert "m.mtx" in line_of(capsys, "part", "m.mtx", 4, *other)
    assert "--load: has no effect on m.mtx, a hypergraph" in line_of(
        capsys, "part", "m.mtx", 4, "--objective", "volume", "--load", "x")


def test_shares_of_a_hypergraph(graph, capsys):
    write_hypergraph("h.hgr", Hypergraph.column_net(graph))
    Path("shares").write_text("0.5\n0.25\n0.25\n")
    said = figures(capsys, "h.hgr", 3, "--tpwgts", "shares", "--eps", 0.02)
    assert said["ub"] <= 0.02 + 3 / 864
    assert np.bincount(read_part("h.hgr.part.3", 864, 3)).max() > 400


def test_what_does_not_go_together(graph, capsys):
    write_hypergraph("h.hgr", Hypergraph.column_net(graph))
    assert "h.hgr is a hypergraph, whose parts have no cut edges; choose one of volume, messages" in line_of(
        capsys, "part", "h.hgr", 2, "--objective", "cut")
    write_graph("two.graph", graph.replace(vwgt=np.ones((864, 2), int)))
    assert "only the cut goes with 2 weights per vertex" in line_of(
        capsys, "part", "two.graph", 2, "--objective", "volume")
    assert not Path("two.graph.part.2").exists()
