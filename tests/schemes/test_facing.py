"""Components in a pool: parts that face one another on one process, and each component in balance."""

import json
import sys
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart import CoupledProblem, Graph, Interedges, evaluate, monolithic
from copart.cli import main
from copart.errors import ConfigError, PartitionError
from copart.mesh import cube, dual_graph, find_interedges, write_vtu
from copart.metrics import max_part_weights
from copart.schemes.facing import facing_numbers

#: The module of the scheme, whose name is also that of its function.
ways = sys.modules["copart.schemes.monolithic"]
LINE = Graph.from_edges(6, range(5), range(1, 6))


def row(*names):
    """Lines of six cells side by side."""
    pairs = {(a, b): Interedges.from_pairs(6, 6, range(6), range(6)) for a, b in pairwise(names)}
    return CoupledProblem(dict.fromkeys(names, LINE), pairs)


def test_numbers_follow_from_neighbour_to_neighbour():
    problem = row("a", "b", "c")
    parts = {"a": np.array([0, 0, 1, 1, 2, 2]), "b": np.array([2, 2, 0, 0, 1, 1]), "c": np.array([1, 1, 2, 2, 0, 0])}
    found = facing_numbers(problem, parts, 3)
    assert found["a"].tolist() == found["b"].tolist() == found["c"].tolist()
    for name in parts:
        assert len({*zip(parts[name], found[name], strict=True)}) == 3, "parts stay what they were"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12, unique=True),
       st.lists(st.integers(0, 2), min_size=6, max_size=6), st.integers(3, 8))
def test_no_other_numbers_keep_more_interedges_on_a_process(rows, b, pool):
    a, b = np.array([0, 1, 2, 0, 1, 2]), np.array(b)
    problem = CoupledProblem.of_two(LINE, LINE, Interedges.from_pairs(6, 6, *zip(*rows, strict=True)))
    found = facing_numbers(problem, {"a": a, "b": b}, pool)
    u, v, _ = problem.interedges.pairs()
    kept = int((found["a"][u] == found["b"][v]).sum())
    assert kept == max(int((a[u] == np.array(order)[b][v]).sum()) for order in permutations(range(3)))
    assert max(found["a"].max(), found["b"].max()) < pool


def test_where_only_one_of_the_two_ways_finds_a_balance(monkeypatch):
    problem = row("a", "b")
    def fails(*_):
        raise PartitionError("no balance")
    monkeypatch.setattr(ways, "partition_multiconstraint", fails)
    assert monolithic(problem, processes=2, balance="each").shared
    monkeypatch.setattr(ways, "naive", fails)
    with pytest.raises(PartitionError, match="no balance"):
        monolithic(problem, processes=2, balance="each")
    monkeypatch.undo()
    monkeypatch.setattr(ways, "naive", fails)
    assert monolithic(problem, processes=2, balance="each").shared


@pytest.mark.parametrize("pool", [2, 5, 12])
def test_each_component_in_balance_at_a_small_cut(pool):
    left, right = cube("hexa", 10), cube("hexa", 8, offset=(1, 0, 0))
    problem = CoupledProblem.of_two(dual_graph(left), dual_graph(right), find_interedges(left, right))
    made = monolithic(problem, processes=pool, balance="each")
    assert made.shared
    for name, graph in problem.components.items():
        load = np.bincount(made[name], graph.weights, minlength=pool)
        assert load.max() <= max_part_weights(graph.total_weight, pool, 0.05).max(), name
    total = evaluate(problem, monolithic(problem, processes=pool))
    each = evaluate(problem, made)
    assert each.step.T_step < total.step.T_step, "components run one after the other"


def test_a_component_smaller_than_the_pool():
    small = Graph.from_edges(2, [0], [1])
    problem = CoupledProblem.of_two(LINE, small, Interedges.from_pairs(6, 2, [0, 5], [0, 1]))
    made = monolithic(problem, processes=4, balance="each")
    assert len(set(made.b.tolist())) == 2
    assert np.bincount(made.a, minlength=4).max() == 2


def test_pool_on_the_command_line(tmp_path, capsys):
    for name, offset in (("left", 0), ("right", 1)):
        write_vtu(tmp_path / f"{name}.vtu", cube("hexa", 6, offset=(offset, 0, 0)))
    files = [str(tmp_path / "left.vtu"), str(tmp_path / "right.vtu")]
    assert main(["plan", *files, "--pool", "4", "--balance", "each", "-o", str(tmp_path / "out"), "-q"]) == 0
    kept = json.loads((tmp_path / "out" / "metrics.json").read_text())["settings"]
    assert kept["shared"]
    assert (kept["scheme"], kept["parts"], kept["scheme_options"]) == ("monolithic", [4, 4], {"balance": "each"})
    assert main(["check", str(tmp_path / "out"), "-q"]) == 0
    for more, said in ((["--parts", "4"], "leave out --parts"), (["--scheme", "joint"], "only monolithic shares them")):
        capsys.readouterr()
        assert main(["plan", *files, "--pool", "4", *more, "-o", str(tmp_path / "no")]) == 2
        assert said in capsys.readouterr().err
        assert not (tmp_path / "no").exists()


def test_another_balance_is_an_error():
    with pytest.raises(ConfigError, match="choose one of total, each"):
        monolithic(row("a", "b"), processes=2, balance="all")
