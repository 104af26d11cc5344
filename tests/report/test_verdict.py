"""The verdict of a report: what is said of good plans and of bad ones, and that the next step helps."""

import sys

import numpy as np
import pytest

import copart
from copart import CoPartition, CoupledProblem, Graph, Interedges, evaluate
from copart.mesh import cube
from copart.report.coupled import page_of
from copart.report.page import command_line
from copart.report.tables import best_entries
from copart.report.verdict import findings, verdict_html


def line(n):
    return Graph.from_edges(n, range(n - 1), range(1, n))


def facing(n, a, b, k, **more):
    """Two lines of n cells side by side, in given parts."""
    problem = CoupledProblem.of_two(line(n), line(n), Interedges.from_pairs(n, n, range(n), range(n)))
    return evaluate(problem, CoPartition({"a": a, "b": b}, dict(zip("ab", k, strict=True)), **more))


HALVES = np.arange(400) // 200


def test_a_good_plan():
    metrics = facing(400, HALVES, HALVES, (2, 2))
    assert findings(metrics, 0.05) == []
    assert "Good plan" in verdict_html(metrics, 0.05)
    assert "1.00 x the mean" in verdict_html(metrics, 0.05)


@pytest.mark.parametrize(("a", "k", "said"), [
    (np.arange(400) // 300, 2, "heaviest part of a holds 1.5 x the mean"),
    (HALVES, 3, "1 part of a without a cell"),
    (np.arange(400) // 100 % 2, 2, "Parts of a are in 2 pieces more than they need be: --contiguous"),
    (np.arange(400) // 4, 100, "a has 4 cells per process"),
    (np.arange(400), 400, "a has 1 cell per process"),
])
def test_what_to_look_at(a, k, said):
    metrics = facing(400, a, HALVES, (k, 2))
    found = findings(metrics, 0.05)
    assert any(said in text for text in found), found
    assert "Look at" in verdict_html(metrics, 0.05)


def test_an_uneven_coupling_phase_and_waiting():
    inter = Interedges.from_pairs(400, 4000, range(200, 400), range(200))
    problem = CoupledProblem.of_two(line(400), line(4000), inter)
    made = CoPartition({"a": np.arange(400) // 100, "b": np.arange(4000) // 2000}, {"a": 4, "b": 2})
    found = findings(evaluate(problem, made), 0.05)
    assert any("Processes wait" in text and "for b most of all" in text for text in found)
    skewed = CoPartition({"a": np.arange(400) // 240, "b": made["b"]}, {"a": 2, "b": 2})
    assert any("coupling phase one process of a holds" in text
               for text in findings(evaluate(problem, skewed), 0.2))


def test_waiting_is_no_slower_component_where_all_take_equally_long():
    """One process of each has all of the interface, and more to do there than in its own phase."""
    inter = Interedges.from_pairs(400, 400, range(4), range(4))
    problem = CoupledProblem.of_two(line(400), line(400), inter, coupled_weights=dict.fromkeys("ab", np.full(400, 999)))
    made = CoPartition({"a": np.arange(400) // 50, "b": np.arange(400) // 50}, {"a": 8, "b": 8})
    metrics = evaluate(problem, made)
    assert metrics.step.T_reg["a"] == metrics.step.T_reg["b"]
    found = [text for text in findings(metrics, 0.05) if "Processes wait" in text]
    assert len(found) == 1
    assert "less than half of it for a slower component" in found[0]


def test_a_component_of_few_cells_in_a_pool():
    """It cannot have fewer parts than the others: the pool can be smaller."""
    problem = CoupledProblem.of_two(line(8), line(1), Interedges.from_pairs(8, 1, [7], [0]))
    made = CoPartition({"a": np.arange(8) // 2, "b": [3]}, {"a": 4, "b": 4}, shared=True)
    found = findings(evaluate(problem, made), 0.05)
    assert "3 processes of the pool without a cell of b, which has 1 cell: take a smaller pool (--pool)." in found
    assert not any("fewer parts" in text for text in found)


def test_a_pool_that_balances_the_sum_only():
    a, b = cube("hexa", 8, name="a"), cube("hexa", 8, offset=(1, 0, 0), name="b")
    total = copart.plan(a, b, parts=4, scheme="monolithic")
    assert any("--balance each" in text for text in findings(total.metrics, 0.05))
    each = copart.plan(a, b, parts=4, scheme="monolithic", scheme_options={"balance": "each"})
    assert not any("--balance each" in text for text in findings(each.metrics, 0.05))


def test_remarks_against_each_component_alone_are_repeated():
    found = findings(facing(400, HALVES, HALVES, (2, 2)), 0.05,
                     ["worse than partitioning each component alone: maxZ 5 (naive: 4)", "something else"])
    assert found == ["Worse than partitioning each component alone: maxZ 5 (naive: 4)."]


def test_an_interface_that_faces_next_to_nothing():
    """Two meshes out of place have little in common; a patch under large cells is no such case."""
    a, b = cube("hexa", 2, name="a"), cube("hexa", 2, offset=(1, 0.95, 0), name="b")
    made = copart.plan(a, b, parts=(2, 2))
    found = findings(made.metrics, 0.05, interfaces=made.interfaces)
    assert found[0].startswith("Most of the interface of a and b faces nothing")
    assert "without counterpart; check unit and place" in page_of(made)
    patch = cube("hexa", 2, name="b").scaled(0.2).translated((1, 0, 0))
    small = copart.plan(cube("hexa", 2, name="a"), patch, parts=(2, 2))
    assert max(side.unmatched for side in (small.interface.a, small.interface.b)) > 0.5
    assert not any("faces nothing" in text for text in findings(small.metrics, 0.05, interfaces=small.interfaces))


def test_best_marks_only_within_the_limits():
    made = copart.compare(cube("hexa", 6), cube("hexa", 6, offset=(1, 0, 0)), parts=(4, 4), seeds=1,
                          schemes=["naive", "monolithic"])
    kept = {row["scheme"]: row["kept"] for row in made.rows()}
    assert kept == {"naive": True, "monolithic": False}
    rows = made.rows()
    assert {row for row, _ in best_entries(rows)} == {rows.index(one) for one in rows if one["scheme"] == "naive"}
    turned = [{**one, "kept": not one["kept"]} for one in rows]
    monolithic = {rows.index(one) for one in rows if one["scheme"] == "monolithic"}
    assert {row for row, _ in best_entries(turned)} == monolithic


def test_the_command_line_in_the_footer(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/copart", "plan", "a b.vtu", "--parts", "4"])
    assert command_line() == "copart plan 'a b.vtu' --parts 4"
    monkeypatch.setattr(sys, "argv", ["-c"])
    assert command_line() is None
