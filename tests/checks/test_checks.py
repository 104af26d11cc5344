"""The verifier: it accepts what is right, names what is wrong, and agrees with the metrics."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.checks import Report, check_copartition, check_graph, check_partition
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import PartitionError
from copart.formats import coupling_schedule
from copart.graph import Graph
from copart.metrics import evaluate, max_part_weight, max_part_weights, part_weights

from ..helpers import grid
from ..reference import four_by_three, graphs, random_graph


def only(report: Report) -> str:
    assert len(report.findings) == 1, str(report)
    return str(report.findings[0])


# ---- graphs
@given(graphs())
def test_every_graph_is_a_graph(g):
    report = check_graph(g)
    assert report.ok, str(report)
    assert report.figures == {"nvtxs": g.nvtxs, "nedges": g.nedges}


@pytest.mark.parametrize(("fields", "finding"), [
    ({"xadj": [0, 1, 2], "adjncy": [1, 2]}, "graph: vertex 1: neighbours are 0..1, found 2"),
    ({"xadj": [0, 1], "adjncy": [0]}, "graph: vertex 0: has no edge to itself, found 0"),
    ({"xadj": [0, 2, 4], "adjncy": [1, 1, 0, 0]}, "graph: vertex 0: lists a neighbour once, found 1 (1 more)"),
    ({"xadj": [0, 1, 1], "adjncy": [1]}, "graph: edge 0-1: is listed by both ends, found it is missing at vertex 1"),
    ({"xadj": [0, 1, 2], "adjncy": [1, 0], "ewgt": [1, 2]},
     "graph: edge 0-1: weighs the same both ways, found 1 and 2"),
    ({"xadj": [0, 1, 2], "adjncy": [1, 0], "ewgt": [-1, -1]},
     "graph: edge 0-1: weight must not be negative, found -1 (1 more)"),
    ({"xadj": [0, 1, 2], "adjncy": [1, 0], "ewgt": [1]}, "graph: ewgt: needs 2 entries, found 1"),
    ({"xadj": [0, 0], "adjncy": [], "vwgt": [-3]}, "graph: vwgt of vertex 0: must not be negative, found -3"),
    ({"xadj": [0, 0], "adjncy": [], "vsize": []}, "graph: vsize: needs 1 entries, found 0"),
    ({"xadj": [0, 2], "adjncy": [0]}, "graph: xadj: must start with 0, not decrease and end with 1, found [0, 2]"),
])
def test_what_is_no_graph(fields, finding):
    report = check_graph(SimpleNamespace(**fields))
    assert str(report.findings[0]) == finding


# ---- partitions
@given(graphs(), st.integers(1, 5), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_balance_agrees_with_the_limit(g, nparts, seed, eps):
    part = np.random.default_rng(seed).integers(0, nparts, g.nvtxs)
    report = check_partition(g, part, nparts, eps)
    over = part_weights(g, part, nparts) > max_part_weight(g.total_weight, nparts, eps)
    told = [f for f in report.findings if f.rule.startswith("weight at most")]
    assert bool(told) == bool(over.any()), str(report)
    if told:
        assert told[0].where == f"part {np.argmax(over)}"
    empty = bool((np.bincount(part, minlength=nparts) == 0).any())
    assert any("no part is empty" in f.rule for f in report.findings) == (empty and nparts <= g.nvtxs)


def test_target_weights_of_the_parts():
    g, part = grid(12), [0] * 6 + [1] * 3 + [2] * 3
    assert check_partition(g, part, 3, 0.0, tpwgts=[2, 1, 1]).ok
    assert check_partition(g, part, 3, 0.0, tpwgts=[2, 1, 1]).figures["ub"] == 0
    assert "part 0: weight at most 4, found 6" in only(check_partition(g, part, 3, 0.0))
    thirds = [0] * 4 + [1] * 4 + [2] * 4
    assert check_partition(g, thirds, 3, 0.0, tpwgts=[1 / 3] * 3).ok
    # the limits are those that the metrics define
    for shares in ([0.1, 0.2, 0.7], [3, 3, 1]):
        limit = max_part_weights(12, 3, 0.1, shares)
        loads = part_weights(g, part, 3)
        assert check_partition(g, part, 3, 0.1, tpwgts=shares).ok == bool((loads <= limit).all())


@pytest.mark.parametrize(("part", "nparts", "finding"), [
    ([0, 1], 2, "partition: length: needs one part number for each of 4 vertices, found shape (2,)"),
    (np.ma.array([0, 0, 1, 1], mask=[1, 0, 0, 0]), 2, "partition: array: part numbers are an array, found parts: "
     "1 of 4 entries are masked; fill them in (numpy.ma.filled), or leave them out"),
    ([[0], [0, 1]], 2, "partition: array: part numbers are an array, found parts: is no array: its rows have different "
     "lengths"),
    ([0, 1, 2, 0], 2, "partition: vertex 2: parts are 0..1, found 2"),
    ([0, -1, -1, 0], 2, "partition: vertex 1: parts are 0..1, found -1 (1 more)"),
    ([0.0, 1, 1, 0], 2, "partition: type: part numbers are whole, found float64"),
    ([0, 0, 0, 0], 0, "partition: nparts: needs at least one part, found 0"),
    ([0, 0, 2, 2], 3, "partition: part 1: no part is empty where there are at least as many vertices as parts, "
                      "found no vertex"),
])
def test_what_is_no_partition(part, nparts, finding):
    assert only(check_partition(grid(4), part, nparts)) == finding


def test_fixed_vertices():
    g = grid(4)
    assert check_partition(g, [0, 0, 1, 1], 2, fixed=[0, -1, -1, 1]).ok
    assert only(check_partition(g, [0, 0, 1, 1], 2, fixed=[1, -1, 0, 1])) == (
        "partition: vertex 0: is fixed to part 1, found 0 (1 more)")
    assert "fixed: needs 4 entries" in only(check_partition(g, [0, 0, 1, 1], 2, fixed=[1]))


def test_a_report_can_be_raised():
    broken = check_partition(grid(4), [0, 0, 0, 1], 3, eps=0.0)
    with pytest.raises(PartitionError, match=r"part 2: no part is empty .* \(1 more finding\)"):
        broken.raise_if_broken()
    good = check_partition(grid(4), [0, 0, 1, 1], 2, eps=0.0)
    assert good.raise_if_broken() is good
    assert str(good) == "no findings"


# ---- co-partitions
def random_problem(seed: int) -> tuple[CoupledProblem, CoPartition]:
    rng = np.random.default_rng(seed)
    a, b = (random_graph(rng, int(n), 2 * int(n)) for n in rng.integers(2, 20, 2))
    m = int(rng.integers(0, 25))
    inter = Interedges.from_pairs(a.nvtxs, b.nvtxs, rng.integers(0, a.nvtxs, m), rng.integers(0, b.nvtxs, m),
                                  rng.random(m))
    na, nb = (int(k) for k in rng.integers(1, 5, 2))
    parts = {"a": rng.integers(0, na, a.nvtxs), "b": rng.integers(0, nb, b.nvtxs)}
    asked = {"a": int(rng.integers(1, na + 1))} if rng.random() < 0.5 else {}
    return CoupledProblem.of_two(a, b, inter), CoPartition(parts, {"a": na, "b": nb}, asked)


@given(st.integers(0, 2**32 - 1))
def test_figures_agree_with_the_metrics(seed):
    """Two independent derivations of every figure, and of the exchange schedule."""
    problem, cop = random_problem(seed)
    told = evaluate(problem, cop).to_dict()
    report = check_copartition(problem, cop, claimed=told, coupling=coupling_schedule(problem, cop))
    assert not [f for f in report.findings if f.what in ("claimed figures", "exchange schedule")], str(report)
    for name, figures in told["components"].items():
        assert set(figures) == set(report.figures["components"][name])
    assert set(told["pairs"][0]) == set(report.figures["pairs"][0])


def test_the_published_example_is_accepted():
    problem, cop = four_by_three()
    report = check_copartition(problem, cop, eps=0.0, claimed=evaluate(problem, cop).to_dict(),
                               coupling=coupling_schedule(problem, cop))
    assert report.ok, str(report)
    assert report.figures["pairs"][0]["totV_ab"] == 4


def changed(nested, path, value):
    """A copy of `nested` with one entry replaced (or dropped, for None)."""
    out = copy.deepcopy(nested)
    *way, last = path
    inner = out
    for key in way:
        inner = inner[key]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return out


@pytest.mark.parametrize(("path", "value", "finding"), [
    (("components", "a", "cut"), 7, "component a: cut: is 8, found the claim 7"),
    (("components", "b", "ub_cpl"), 0.01, "component b: ub_cpl: is 0.0, found the claim 0.01"),
    (("components", "b", "ub_cpl"), "none", "component b: ub_cpl: is 0.0, found the claim none"),
    (("components", "a", "ub"), float("nan"), "component a: ub: is 0.0, found the claim nan"),
    (("pairs", 0, "totZ"), 5, "pair a-b: totZ: is 4, found the claim 5"),
    (("components", "a"), None, "component a: has figures, found none"),
    (("pairs", 0), None, "pair a-b: has figures, found none"),
    (("components",), None, "component a: has figures, found none"),
])
def test_a_wrong_claim_is_found(path, value, finding):
    problem, cop = four_by_three()
    claimed = changed(evaluate(problem, cop).to_dict(), path, value)
    assert str(check_copartition(problem, cop, claimed=claimed).findings[0]) == f"claimed figures: {finding}"


def test_rounded_fractions_and_unknown_keys_are_no_wrong_claims():
    problem, cop = four_by_three()
    claimed = changed(evaluate(problem, cop).to_dict(), ("components", "a", "ub"), 4e-7)
    claimed["components"]["a"]["colour"] = "green"
    assert check_copartition(problem, cop, claimed=claimed).ok


@pytest.mark.parametrize(("path", "value", "finding"), [
    (("pairs", 0, "matrix_ab", 0, 2), 3, "a-b: matrix_ab[1, 0]: is 1, found 3"),
    (("pairs", 0, "matrix_ba", 0), None, "a-b: matrix_ba[0, 1]: is 1, found 0"),
    (("pairs", 0, "matrix_ab", 0), [1, 1, 1], "a-b: matrix_ab: lists each pair of parts once, found a repeated pair"),
    (("pairs", 0, "totV_ab"), 9, "pair a-b: totV_ab: is 4, found the claim 9"),
    (("pairs", 0), None, "pair a-b: is listed, found nothing"),
    (("pairs", 0, "exchanges", 0), None, "a-b: exchange of parts 1 and 0: is listed, found nothing"),
    (("pairs", 0, "exchanges", 0, "a_cells"), [3, 4],
     "a-b: exchange of parts 1 and 0: a_cells: are 1 cells, found 0 missing and 1 too many"),
    (("pairs", 0, "exchanges", 0, "b_cells"), [],
     "a-b: exchange of parts 1 and 0: b_cells: are 1 cells, found 1 missing and 0 too many"),
    (("pairs", 0, "exchanges", 0, "interedges"), 2,
     "a-b: exchange of parts 1 and 0: has 1 interedges, found 2"),
    (("pairs", 0, "exchanges", 0, "part_a"), 0,
     "a-b: exchange of parts 0 and 0: shares interedges, found no interedge (1 more)"),
    (("components", 1, "rank_offset"), 0, "component b: rank_offset: is 4, found the claim 0"),
    (("components", 0, "coupled_parts"), [1], "component a: coupled_parts: is [1, 3], found the claim [1]"),
    (("components", 0), None, "component a: is listed, found nothing"),
])
def test_a_wrong_schedule_is_found(path, value, finding):
    problem, cop = four_by_three()
    coupling = changed(coupling_schedule(problem, cop), path, value)
    assert str(check_copartition(problem, cop, coupling=coupling).findings[0]) == f"exchange schedule: {finding}"


def test_the_coupled_subgraph_must_be_balanced_over_its_parts():
    problem, cop = four_by_three()
    # the right column of A: three cells to part 1, one to part 3; the component stays balanced
    part = cop.a.copy()
    part[11], part[6] = 1, 3
    tilted = CoPartition({"a": part, "b": cop.b}, cop.nparts, cop.ncoupled)
    report = check_copartition(problem, tilted, eps=0.05)
    assert only(report) == "coupled subgraph of a: part 1: coupled weight at most 2, found 3"
    assert report.figures["components"]["a"]["ub_cpl"] == 0.5
    assert check_copartition(problem, CoPartition(tilted.parts, cop.nparts), eps=0.05).ok


def test_only_the_requested_parts_touch_the_interface():
    problem, cop = four_by_three()
    for asked in (1, 3):
        other = CoPartition(cop.parts, cop.nparts, {"a": asked})
        assert only(check_copartition(problem, other)) == (
            f"coupled subgraph of a: parts: exactly {asked} parts own coupled cells, found 2")


def test_an_unbalanced_component_and_another_set_of_components():
    problem, cop = four_by_three()
    heavy = CoPartition({"a": np.where(np.arange(16) == 0, 1, cop.a), "b": cop.b}, cop.nparts)
    assert only(check_copartition(problem, heavy, eps=0.05)) == "component a: part 1: weight at most 4, found 5"
    other = CoPartition({"x": cop.a}, {"x": 4})
    assert only(check_copartition(problem, other)) == "co-partition: components: must be a, b, found x"
    short = CoPartition({"a": cop.a[:3], "b": cop.b}, cop.nparts)
    assert "component a: length" in only(check_copartition(problem, short))


def test_linear_time():
    """Eight times the cells take far less than 64 times as long."""
    import time

    def seconds(side):
        g = grid(side, side, side)
        part = np.arange(g.nvtxs) * 8 // g.nvtxs
        start = time.thread_time()
        assert check_partition(g, part, 8, 0.05).ok
        return time.thread_time() - start

    seconds(8)
    small, large = min(seconds(16) for _ in range(5)), min(seconds(32) for _ in range(5))
    assert large < 30 * small, f"{large:.3f} s against {small:.3f} s"


def test_figures_of_a_path():
    g = Graph.from_edges(3, [0, 1], [1, 2], [5, 7])
    assert check_partition(g, [0, 0, 1], 2).figures == {
        "ub": pytest.approx(1 / 3), "cut": 7, "weights": [2, 1], "empty": 0, "boundary": 2, "pieces": 2,
        "max_pieces": 1}
