"""How many parts own coupled cells: natural counts, the rule of the source, and what may be said instead."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.algorithms import aware, naive, projrepart
from copart.checks import check_copartition
from copart.coupling import CoupledProblem, Interedges
from copart.errors import ConfigError, CouplingError, PartitionError
from copart.graph import Graph
from copart.interface import natural
from copart.interface.counts import coupled_counts, coupled_rule, default_ncoupled
from copart.metrics import copartition_limit
from copart.options import QUICK, Options
from copart.schemes.registry import run_scheme

from ..conftest import NO_JIT
from ..helpers import grid
from ..reference import random_graph


def cubes(n: int, m: int | None = None) -> CoupledProblem:
    """Two cubes of n^3 and m^3 cells that share a face, each cell coupled with the one that its middle faces."""
    m = n if m is None else m
    face_a, face_b = np.arange(n**3).reshape(n, n, n)[:, :, -1], np.arange(m**3).reshape(m, m, m)[:, :, 0]
    large = max(n, m)
    i, j = np.arange(large) * n // large, np.arange(large) * m // large
    return CoupledProblem.of_two(grid(n, n, n), grid(m, m, m), Interedges.from_pairs(
        n**3, m**3, face_a[np.ix_(i, i)].ravel(), face_b[np.ix_(j, j)].ravel()))


def body_inside(n: int, wall: int) -> CoupledProblem:
    """A cube of n^3 cells, and the shell of `wall` cells around it, which it faces on all sides."""
    size = n + 2 * wall
    ids = np.arange(size**3).reshape(size, size, size)
    inner = np.zeros(ids.shape, bool)
    inner[wall:-wall, wall:-wall, wall:-wall] = True
    u, v, _ = grid(size, size, size).edges()
    inside = inner.ravel()
    meet = inside[u] != inside[v]
    body, shell = np.where(inside[u], u, v)[meet], np.where(inside[u], v, u)[meet]
    number = np.where(inside, np.cumsum(inside) - 1, np.cumsum(~inside) - 1)
    whole = grid(size, size, size)
    graphs = {"body": whole.subgraph(np.flatnonzero(inside)), "shell": whole.subgraph(np.flatnonzero(~inside))}
    relation = Interedges.from_pairs(n**3, size**3 - n**3, number[body], number[shell])
    return CoupledProblem(graphs, {("body", "shell"): relation})


def chain() -> CoupledProblem:
    """Three squares, each beside the next: that in the middle has an interface on two sides."""
    ids = np.arange(400).reshape(20, 20)
    side = Interedges.from_pairs(400, 400, ids[:, -1], ids[:, 0])
    return CoupledProblem({name: grid(20, 20) for name in "abc"}, dict.fromkeys(pairwise("abc"), side))


def ratio(problem: CoupledProblem, name: str, part: np.ndarray, n: int) -> Fraction:
    """The participation ratio of the coupled weights, cell by cell."""
    x = [0] * n
    for cell in problem.coupled(name):
        x[part[cell]] += int(problem.components[name].weights[cell])
    return Fraction(sum(x)**2, sum(one * one for one in x))


# ---- natural counts
@pytest.mark.parametrize(("n", "parts", "owners"), [(25, 16, 6), (40, 64, 14), (40, 128, 25)])
def test_the_face_of_a_cube_has_about_as_many_as_the_source_takes(n, parts, owners):
    """As in the first experiment of Predari & Esnard 2014: NAIVE owns 6.2 parts of 16 there and 23.4 of 128.

    Parts that are boxes lie flush with the face or not, so that counts differ by a fifth.
    """
    problem = cubes(n)
    found = [count for seed in (1, 2, 3)
             for count in coupled_counts(problem, {"a": parts, "b": parts}, None, seed=seed).values()]
    assert np.mean(found) == pytest.approx(owners, rel=0.25)
    assert np.mean(found) == pytest.approx(default_ncoupled(parts), rel=0.25)


def test_nearly_all_parts_of_a_closed_interface():
    """A body of 27 parts has one inside; of a thin shell around it every part faces it."""
    found = coupled_counts(body_inside(12, 2), {"body": 27, "shell": 24}, None)
    assert 23 <= found["body"] <= 27
    assert 22 <= found["shell"] <= 24
    assert default_ncoupled(27) == 9, "which is what the source takes"


def test_natural_counts_are_the_participation_ratio_of_naive():
    """Rounded, whatever the preset; all coupled cells of a component count, also where it faces several."""
    problem, run = chain(), Options(seed=3, eps=0.1)
    parts = dict.fromkeys("abc", 16)
    alone = naive(problem, parts, options=run.replace(preset=QUICK))
    found = coupled_counts(problem, parts, None, run)
    for name in "abc":
        assert found[name] == round(ratio(problem, name, alone[name], 16))
    assert min(found["b"] - found["a"], found["b"] - found["c"]) >= 2, "two interfaces meet more parts than one"
    assert coupled_counts(problem, parts, None, run.replace(preset="strong", threads=2)) == found


def test_the_schemes_take_natural_counts():
    problem = body_inside(8, 2)
    parts = {"body": 8, "shell": 16}
    wanted = coupled_counts(problem, parts, None)
    assert wanted["body"] == 8
    for scheme in (aware, projrepart):
        made = scheme(problem, parts)
        assert dict(made.ncoupled) == wanted
        assert check_copartition(problem, made, 0.05).ok
    assert dict(aware(problem, parts, "paper").ncoupled) != wanted


def test_one_partition_of_each_component_alone(monkeypatch):
    """Natural counts cost one quick partition a component; numbers, the rule of the source and gathering none."""
    made = []

    def counting(graph, nparts, options):
        made.append((graph.nvtxs, options.preset))
        return part(graph, nparts, options)

    part = natural.part
    monkeypatch.setattr(natural, "part", counting)
    problem, parts = cubes(6, 8), (8, 12)
    projrepart(problem, parts)
    assert made == [(216, QUICK), (512, QUICK)]
    made.clear()
    projrepart(problem, parts, (4, None))
    assert made == [(512, QUICK)], "only where no number was asked for"
    made.clear()
    projrepart(problem, parts, (4, 5))
    projrepart(problem, parts, "paper")
    projrepart(problem, parts, interface="gather")
    assert made == []


def test_balance_goes_before_the_natural_count():
    """Loads on the interface need more parts than it meets, and exactly so many own it."""
    weights = np.ones(400, int)
    weights[19::20] = 30  # 20 cells of 30 among 380 of 1: 980 in 8 parts of at most 128
    ids = np.arange(400).reshape(20, 20)
    side = Interedges.from_pairs(400, 400, ids[:, -1], ids[:, 0])
    problem = CoupledProblem.of_two(grid(20, 20, vwgt=weights), grid(20, 20), side)
    found = coupled_counts(problem, {"a": 8, "b": 8}, None)
    assert found["a"] >= 5
    made = aware(problem, {"a": 8, "b": 8})
    assert check_copartition(problem, made, 0.05).ok
    assert made.ncoupled["a"] >= 5


def test_cells_without_weight_count_one_each():
    """Coupled cells of weight 0 are spread as cells, not put in one part."""
    weights = np.where(np.arange(400) % 20 == 19, 0, 1)
    ids = np.arange(400).reshape(20, 20)
    side = Interedges.from_pairs(400, 400, ids[:, -1], ids[:, 0])
    problem = CoupledProblem.of_two(grid(20, 20, vwgt=weights), grid(20, 20), side)
    assert coupled_counts(problem, {"a": 16, "b": 16}, None)["a"] >= 3


def test_where_a_component_cannot_be_partitioned_alone():
    """One vertex outweighs a part: N^cpl is that of a cube, and the scheme says what is wrong."""
    weights = np.ones(144, int)
    weights[0] = 100
    ids = np.arange(144).reshape(12, 12)
    side = Interedges.from_pairs(144, 144, ids[:, -1], ids[:, 0])
    problem = CoupledProblem.of_two(grid(12, 12, vwgt=weights), grid(12, 12), side)
    assert coupled_counts(problem, {"a": 8, "b": 8}, None)["a"] == default_ncoupled(8)
    with pytest.raises(PartitionError, match="component a"):
        aware(problem, 8)


@settings(max_examples=4 if NO_JIT else 60)
@given(st.integers(0, 2**32 - 1))
def test_natural_counts_can_be_kept(seed):
    """Between 1 and the parts and coupled cells; they can hold the load, and every other part has a cell."""
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, n, 2 * n, weighted=False) for n in rng.integers(2, 60, 2).tolist()]
    count = int(rng.integers(1, 1 + min(g.nvtxs for g in graphs)**2))
    ends = [rng.integers(0, g.nvtxs, count) for g in graphs]
    problem = CoupledProblem.of_two(*graphs, Interedges.from_pairs(graphs[0].nvtxs, graphs[1].nvtxs, *ends))
    parts = {name: int(rng.integers(1, g.nvtxs + 1)) for name, g in problem.components.items()}
    eps = float(rng.choice([0.0, 0.05, 0.5]))
    for name, k in coupled_counts(problem, parts, None, eps=eps, seed=seed % 1000).items():
        n, cells, total = parts[name], len(problem.coupled(name)), problem.components[name].nvtxs
        assert 1 <= k <= min(n, cells)
        assert cells <= k * copartition_limit(total, n, eps)
        assert n - k <= total - cells


# ---- words and numbers
def test_every_scheme_takes_the_word():
    problem = cubes(10, 16)
    for scheme in ("naive", "aware", "projrepart", "multiconstraint", "joint"):
        made = run_scheme(scheme, problem, (8, 27), "paper")
        if scheme in ("aware", "projrepart", "joint"):
            assert dict(made.ncoupled) == {"a": 4, "b": 9}
    # and lays a word, as numbers, above the interface
    assert dict(run_scheme("aware", problem, (8, 27), "paper", interface="uncut").ncoupled) == {"a": 4, "b": 9}


def test_the_rule_by_what_is_asked():
    assert [coupled_rule(None, interface) for interface in ("spread", "gather", "uncut")] == \
        ["natural", "gather", "uncut"]
    assert [coupled_rule(asked, "gather") for asked in ((3, 4), {"a": 3}, 3, np.array([3, 4]), "paper")] == \
        ["given"] * 4 + ["paper"]


@pytest.mark.parametrize("word", ["natural", "Paper", "", "4"])
@pytest.mark.parametrize("scheme", ["naive", "aware", "projrepart", "joint"])
def test_other_words_are_refused(scheme, word):
    with pytest.raises(ConfigError, match=f"ncoupled: '{word}' is not known; give numbers or 'paper'"):
        run_scheme(scheme, cubes(4), 2, word)


def test_refusals_name_the_parameter():
    problem = cubes(4)
    with pytest.raises(ConfigError, match="interface: 'spred' is not known"):
        run_scheme("naive", problem, 2, interface="spred")
    with pytest.raises(ConfigError, match="ncoupled of a: needs an integer, got 'paper'"):
        aware(problem, 2, {"a": "paper"})
    with pytest.raises(ConfigError, match="coupled: 'many' is not known"):
        coupled_rule("many", what="coupled")
    apart = CoupledProblem.of_two(Graph.from_edges(2, [0], [1]), Graph.from_edges(2, [0], [1]),
                                  Interedges.from_pairs(2, 2, [], []))
    for asked in (None, "paper", 1):
        with pytest.raises(CouplingError, match="component a: no cell has an interedge"):
            coupled_counts(apart, {"a": 1, "b": 1}, asked)
