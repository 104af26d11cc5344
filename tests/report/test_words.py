"""Figures of a result in words."""

from __future__ import annotations

import re

import pytest

import copart
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.graph import Graph
from copart.metrics import evaluate
from copart.report.words import comparison_words, coupled_words, listed, pair_words, repartition_words, times

from .test_page import compared


@pytest.fixture(scope="module")
def made():
    return compared()


@pytest.mark.parametrize(("ub", "said"), [(0.0, "1.00 x the mean"), (0.9, "1.9 x the mean"), (0.047, "1.05 x the mean"),
                                          (1.0, "2 x the mean"), (11.6, "13 x the mean"), (-0.25, "0.75 x the mean")])
def test_imbalance_in_words(ub, said):
    assert times(ub) == said


def test_words_tell_the_figures(made):
    metrics = copart.evaluate(made.problem, made.copartitions["naive"])
    said = "\n".join(coupled_words(metrics))
    for c in metrics.components.values():
        assert f"slowest coupled process of {c.name} holds {times(c.ub_cpl)}" in said
        assert f"{c.cells:,} cells in {c.parts} parts" in said
    pair = metrics.pair
    assert f"{pair.totZ} messages carry {pair.totV_ab:,} values" in said
    assert f"{int(pair.matrix.data.max()):,} at most" in said
    least = max(metrics.a.ncoupled, metrics.b.ncoupled)
    assert f"the minimum for the processes that face each other is {least}." in said


def test_the_least_of_messages_is_of_the_parts_that_face_each_other():
    """Of three components in a row the one in the middle has parts at either end; a pool sends itself nothing."""
    row = [copart.mesh.cube("hexa", n, offset=(x, 0, 0)) for x, n in enumerate((6, 8, 5))]
    for parts, scheme in (([4, 15, 3], "joint"), (14, "monolithic")):
        metrics = copart.plan(*row, names=["a", "b", "c"], parts=parts, scheme=scheme).metrics
        for pair in metrics.pairs.values():
            said = "\n".join(pair_words(pair, metrics.step.pool))
            told = re.search(r"face each other is (\d+)", said)
            assert (told is None) == (scheme == "monolithic")
            assert told is None or int(told[1]) <= pair.totZ
    line = Graph.from_edges(3, [0, 1], [1, 2])
    problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(3, 3, [0], [0]))
    alone = copart.evaluate(problem, CoPartition({"a": [0, 0, 1], "b": [0, 0, 1]}, {"a": 2, "b": 2}))
    said = "\n".join(pair_words(alone.pair))
    assert "1 message carries 1 value from a to b" in said
    assert "1 value goes back." in said
    pool = copart.evaluate(problem, CoPartition({"a": [0, 0, 1], "b": [0, 0, 1]}, {"a": 2, "b": 2}, shared=True))
    assert pair_words(pool.pair, pool.step.pool) == [
        "Nothing goes between a and b: what they exchange stays on its process."]


def test_schemes_are_ranked_and_equals_stand_together():
    base = {"ub_cpl_a": 0.05, "ub_cpl_b": 0.05, "totV": 10.0, "cut_a": 4, "cut_b": 5}
    rows = [{"scheme": "one", **base, "totZ": 7.0}, {"scheme": "two", **base, "totZ": 5.5}]
    said = comparison_words(rows, ("fluid", "solid"))
    assert "The slowest coupled process of fluid holds 1.05 x the mean with one and two." in said
    assert "Messages from A to B in a coupling phase: 5.5 with two, 7 with one." in said
    assert comparison_words(rows[:1], ("a", "b")) == []


def test_moves_in_words():
    moves = copart.metrics.migration_matrix([0, 0, 1, 1], [0, 1, 1, 1], 2, 2)
    figures = {"former_parts": 2, "parts": 2, "migration_volume": 1, "migration_messages": 1, "ub": 0.5}
    said = repartition_words(figures, moves, 0.0)[1]
    assert said == "1 of 4 units of data move, 25.0% of all, in 1 message of 1 on average."


def test_a_single_value_goes_back():
    one = Graph.from_edges(1, [], [])
    problem = CoupledProblem.of_two(one, one, Interedges.from_pairs(1, 1, [0], [0]))
    (said,) = pair_words(evaluate(problem, CoPartition({"a": [0], "b": [0]}, {"a": 1, "b": 1})).pair)
    assert "1 value goes back." in said
    assert listed("abc") == "a, b and c"
