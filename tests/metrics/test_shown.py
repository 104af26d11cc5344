"""What results say of themselves: on a prompt, in a notebook, as rows for pandas."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import copart
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError
from copart.hypergraph import Hypergraph
from copart.metrics import StepCost, component_metrics, evaluate, evaluate_hypergraph
from copart.metrics.columns import (
    COMPARISON_COLUMNS,
    COMPONENT_COLUMNS,
    HALO_COLUMNS,
    MANY_COLUMNS,
    MANY_HALO_COLUMNS,
    MANY_PAID_COLUMNS,
    PAID_COLUMNS,
    PAIR_COLUMNS,
    PART_COLUMNS,
    REPARTITION_COLUMNS,
    STEP_COLUMNS,
    html_table,
    plural,
    step_time,
    title_html,
)
from copart.metrics.parts import part_metrics
from copart.migration.plan import Moves
from copart.report import Table, comparison_table, halo_table, paid_table, step_table

from ..helpers import grid


@pytest.fixture(scope="module")
def made():
    side = np.arange(10)
    return copart.compare(grid(10, 10, vwgt=np.arange(100) % 5 + 1), grid(10, 10), parts=(4, 3), seeds=2,
                          schemes=["naive", "aware"], names=("water", "wall <1>"),
                          interedges=Interedges.from_pairs(100, 100, 90 + side, side))


class Cells(HTMLParser):
    """Text of the cells of all tables, by row."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.titles, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.titles.append(dict(attrs).get("title"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def test_a_graph_says_the_range_of_its_weights():
    assert repr(grid(2, 2, vwgt=[3, 1, 2, 9])) == "Graph(4 vertices, 4 edges, vwgt 1 to 9)"
    assert repr(grid(2, 2, coords=np.zeros((4, 2)))) == "Graph(4 vertices, 4 edges, coords)"
    assert repr(copart.Graph([0], [], vwgt=[])) == "Graph(0 vertices, 0 edges)"


def test_a_copartition_says_how_large_its_parts_are():
    made = CoPartition({"a": [0, 0, 1], "b": [2, 2]}, {"a": 2, "b": 3}, {"b": 1})
    assert repr(made) == "CoPartition(a: 2 parts of 1 to 2 vertices, b: 3 parts of 0 to 2 vertices (1 coupled))"


def test_metrics_are_told_by_component_and_pair(made):
    metrics = made.runs[0].metrics
    first, second, pair, step = repr(metrics).splitlines()
    assert first == repr(metrics.a)
    assert first.startswith("water: 100 cells in 4 parts, ub ")
    assert second.startswith("wall <1>: 100 cells in 3 parts")
    assert pair == repr(metrics.pair)
    assert f"totZ {metrics.pair.totZ}" in pair
    assert step.startswith(f"coupled step: T_step {metrics.step.T_step:.4g}, own phases ")


def test_part_metrics_agree_with_counting():
    problem = CoupledProblem.of_two(grid(3, 4, vwgt=range(1, 13), vsize=range(12)), grid(2, 2),
                                    Interedges.from_pairs(12, 4, [0, 0, 1, 5, 9], [0, 3, 1, 2, 2]))
    a, b = np.arange(12) % 3, np.array([1, 0, 0, 1])
    parts = part_metrics(problem, CoPartition({"a": a, "b": b}, {"a": 4, "b": 2}))
    u, v, _ = problem.interedges.pairs()
    for p, row in enumerate(parts["a"].to_dicts()):
        mine = a == p
        coupled = np.isin(np.arange(12), u) & mine
        sent = {(int(i), int(b[j])) for i, j in zip(u, v, strict=True) if a[i] == p}
        assert row == {"component": "a", "part": p, "cells": mine.sum(), "load": np.arange(1, 13)[mine].sum(),
                       "coupled_cells": coupled.sum(), "coupled_load": np.arange(1, 13)[coupled].sum(),
                       # a datum of size 0 makes no message
                       "partners": len({q for i, q in sent if i > 0}), "sends": sum(i for i, _ in sent)}
    back = {(int(j), int(a[i])) for i, j in zip(u, v, strict=True)}
    assert parts["b"].sends.tolist() == [sum(b[j] == q for j, _ in back) for q in range(2)]
    assert repr(parts["b"]) == "PartMetrics(b: 2 parts of 2 to 2, 2 coupled)"


def test_rows_are_plain_and_equally_long(made):
    import json

    plan = copart.plan(made.problem.a, made.problem.b, parts=(4, 3), interedges=made.problem.interedges)
    tables = [made.to_dicts(), made.rows(), plan.to_dicts(), plan.metrics.to_dicts(), plan.metrics.to_dicts("pairs"),
              plan.metrics.to_dicts("step"), comparison_table(made.rows()).to_dicts(),
              paid_table(made.rows(), made.cost).to_dicts()]
    for rows in tables:
        assert len({tuple(row) for row in rows}) == 1
        assert json.loads(json.dumps(rows)) == rows
    assert [(row["scheme"], row["seed"]) for row in made.to_dicts()] == [("naive", 1), ("naive", 2), ("aware", 1),
                                                                        ("aware", 2)]
    assert sum(row["load"] for row in plan.to_dicts() if row["component"] == "a") == made.problem.a.total_weight
    with pytest.raises(ConfigError, match="choose one of components, pairs, step"):
        plan.metrics.to_dicts("parts")


def test_notebooks_show_the_figures(made):
    metrics = made.runs[0].metrics
    rows = Cells(metrics._repr_html_()).rows
    assert rows[1][:2] == ["water", "100"]
    assert rows[2][0] == "wall <1>"
    assert rows[-3] == ["water - wall <1>", *(str(getattr(metrics.pair, c.key)) for c in PAIR_COLUMNS[1:])]
    assert rows[-1][-2:] == [str(metrics.maxV), str(metrics.maxZ)]
    assert rows[-1][0] == f"{metrics.step.T_step:.0f}"
    assert Cells(metrics.a._repr_html_()).rows[1] == rows[1]
    assert Cells(metrics.pair._repr_html_()).rows[-1] == rows[-3]
    compared = Cells(made._repr_html_()).rows
    assert [row[0] for row in compared] == ["scheme", "naive", "aware"] * 3
    assert compared[1][9] == f"{made.rows()[0]['totV']:.0f}"
    paid = dict(zip(compared[3], compared[4], strict=True))
    assert paid["Tstep"] == f"{made.rows()[0]['T_step']:.0f}"
    assert not {"NAcpl", "maxV"} & set(compared[0])
    halos = dict(zip(compared[6], compared[7], strict=True))
    assert halos["MSVA"] == f"{made.rows()[0]['MSV_a']:.0f}"


def test_one_is_told_as_one():
    assert [plural(n, "part") for n in (0, 1, 2)] == ["parts", "part", "parts"]
    assert [plural(n, "process") for n in (1, 2)] == ["process", "processes"]
    moves = Moves.between([0, 0, 1], [0, 0, 0], 2, 1)
    assert repr(moves) == "1 of 3 cells move in 1 message, volume 1, from 2 to 1 part"


def test_small_times_of_a_step_are_shown(made):
    cost = StepCost(t=1e-5, t_m=1e-5, alpha=1e-4, beta=1e-7)
    metrics = copart.evaluate(made.problem, made.copartitions["naive"], cost)
    row = step_table(metrics).to_dicts()[0]
    for key, true in metrics.step.row().items():
        if key != "waits":
            assert float(row[key]) == pytest.approx(true, rel=5e-3)
            assert true > 0
    assert [step_time(x) for x in (0, 1.23456e-7, 0.98765, 61, 67.96, 99.96, 686.4)] == [
        "0", "1.23e-07", "0.988", "61", "68.0", "100", "686"]


def test_halos_of_the_schemes_are_what_the_nets_of_the_cells_send(made):
    for run in made.runs:
        if run.seed != 1:
            continue
        figures = run.figures()
        for name, letter in zip(made.problem.names, "ab", strict=True):
            parts = made.copartitions[run.scheme]
            nets = Hypergraph.column_net(made.problem.components[name])
            found = evaluate_hypergraph(nets, parts[name], parts.nparts[name]).to_dict()
            told = run.metrics.components[name].to_dict()
            for key in ("MSV", "TM", "MSM"):
                assert told[key] == figures[f"{key}_{letter}"] == found[key] > 0
        assert figures["MSV"] == max(figures["MSV_a"], figures["MSV_b"])
        assert figures["TM"] == figures["TM_a"] + figures["TM_b"]
        assert figures["MSM"] == max(figures["MSM_a"], figures["MSM_b"])
    table = halo_table(made.rows())
    assert table.header == ["scheme", "MSV_A", "MSV_B", "TM_A", "TM_B", "MSM_A", "MSM_B"]
    assert [row[0] for row in table.rows] == ["NAIVE", "AWARE"]
    assert table.notes == ("halos: MSV most data sent by a part, TM all messages, MSM most of one part",)
    assert max(map(len, table.text().splitlines())) <= 80


def test_halos_of_a_part_that_sends_nothing():
    lone = copart.Graph.from_edges(4, [0], [1], vsize=[3, 1, 1, 1])
    told = component_metrics("lone", lone, np.array([0, 1, 2, 2], np.int32), 3, np.zeros(0, np.int32))
    assert (told.MSV, told.TM, told.MSM) == (3, 2, 1)
    alone = component_metrics("lone", lone, np.zeros(4, np.int32), 1, np.zeros(0, np.int32))
    assert (alone.MSV, alone.TM, alone.MSM) == (0, 0, 0)


def test_a_table_shows_itself(made):
    table = Table(["name", "x"], [["a & b", "1"], ["c", "2"]], frozenset({(0, 1)}), "title")
    assert repr(table) == table.text()
    assert Cells(table._repr_html_()).rows == [["name", "x"], ["a & b", "1"], ["c", "2"]]
    assert "<strong>1</strong>" in table._repr_html_()
    assert "<caption>title</caption>" in table._repr_html_()


@pytest.mark.parametrize("columns", [COMPARISON_COLUMNS, COMPONENT_COLUMNS, HALO_COLUMNS, MANY_COLUMNS,
                                     MANY_HALO_COLUMNS, MANY_PAID_COLUMNS, PAID_COLUMNS, PAIR_COLUMNS, PART_COLUMNS,
                                     REPARTITION_COLUMNS, STEP_COLUMNS])
def test_every_column_has_a_title_and_a_meaning(columns):
    assert len({c.key for c in columns}) == len({c.title for c in columns}) == len(columns)
    titles = [t for t in Cells(html_table(columns, [])).titles if t]
    assert titles == [c.meaning for c in columns]
    assert all(c.meaning for c in columns)
    assert "_" not in "".join(title_html(c.title) for c in columns)


def test_component_columns_are_figures_of_the_metrics(made):
    metrics = evaluate(made.problem, made.copartitions["naive"])
    assert {c.key for c in COMPONENT_COLUMNS} <= set(metrics.a.to_dict())
    assert {c.key for c in PAIR_COLUMNS} - {"pair"} <= set(metrics.pair.to_dict())
