"""Interedges, coupled problems and co-partitions: validation and conversions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError, CouplingError

from .helpers import grid


@st.composite
def relations(draw):
    """Sizes of A and B, pairs (possibly repeated) and weights."""
    na, nb = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    pairs = draw(st.lists(st.tuples(st.integers(0, na - 1), st.integers(0, nb - 1)), max_size=20))
    weights = draw(st.lists(st.integers(0, 9), min_size=len(pairs), max_size=len(pairs)))
    return na, nb, pairs, weights


def table(inter: Interedges) -> dict[tuple[int, int], float]:
    u, v, w = inter.pairs()
    return {(int(a), int(b)): float(x) for a, b, x in zip(u, v, w, strict=True)}


def split(pairs):
    return [p[0] for p in pairs], [p[1] for p in pairs]


@given(relations())
def test_from_pairs_merges_and_adds(relation):
    na, nb, pairs, weights = relation
    inter = Interedges.from_pairs(na, nb, *split(pairs), weights)
    want: dict[tuple[int, int], float] = {}
    for pair, w in zip(pairs, weights, strict=True):
        want[pair] = want.get(pair, 0) + w
    assert table(inter) == want
    assert len(inter) == len(want)
    assert inter.coupled_a.tolist() == sorted({u for u, _ in pairs})
    assert inter.coupled_b.tolist() == sorted({v for _, v in pairs})
    assert inter.coupled_a.dtype == inter.coupled_b.dtype == np.int32
    unweighted = Interedges.from_pairs(na, nb, *split(pairs))
    assert table(unweighted) == dict.fromkeys(want, 1.0)


@given(relations())
def test_transposing_twice_and_scipy_are_round_trips(relation):
    na, nb, pairs, weights = relation
    inter = Interedges.from_pairs(na, nb, *split(pairs), weights)
    assert inter.transposed.shape == (nb, na)
    assert table(inter.transposed) == {(v, u): w for (u, v), w in table(inter).items()}
    assert table(inter.transposed.transposed) == table(inter)
    assert table(Interedges.from_scipy(inter.to_scipy())) == table(inter)
    assert table(Interedges.from_scipy(sp.coo_matrix(inter.to_scipy()))) == table(inter)


@given(relations(), st.integers(0, 2**32 - 1))
def test_restricted_against_its_definition(relation, seed):
    na, nb, pairs, weights = relation
    rng = np.random.default_rng(seed)
    rows, columns = np.flatnonzero(rng.random(na) < 0.6), np.flatnonzero(rng.random(nb) < 0.6)
    inter = Interedges.from_pairs(na, nb, *split(pairs), weights)
    small = inter.restricted(rows, columns)
    assert small.shape == (len(rows), len(columns))
    assert {(int(rows[u]), int(columns[v])): w for (u, v), w in table(small).items()} == {
        (u, v): w for (u, v), w in table(inter).items() if u in rows and v in columns}


def test_rows_are_sorted_with_their_weights():
    inter = Interedges((2, 3), [0, 2, 3], [2, 0, 1], [5, 6, 7])
    assert table(inter) == {(0, 0): 6, (0, 2): 5, (1, 1): 7}
    assert inter.indices.tolist() == [0, 2, 1]
    assert repr(inter) == "Interedges(3 between 2 of 2 and 3 of 3 cells)"
    assert table(Interedges((1, 2), [0, 2], [0, 1])) == {(0, 0): 1, (0, 1): 1}


@pytest.mark.parametrize(("fields", "message"), [
    (((2, 2), [0, 1], [0]), "interedges indptr: needs 3 entries, has 2"),
    (((1, 2), [1, 1], [0]), "interedges indptr: must start with 0 and not decrease"),
    (((2, 2), [0, 2, 1], [0]), "interedges indptr: must start with 0 and not decrease"),
    (((1, 2), [0, 1], [2]), "interedges indices: 1 of 1 entries are outside 0..1, first at index 0: 2"),
    (((1, 2), [0, 1], [-1]), "interedges indices: 1 of 1 entries are outside 0..1, first at index 0: -1"),
    (((1, 2), [0, 2], [0]), "interedges indices: needs 2 entries, has 1"),
    (((1, 2), [0, 2], [1, 1]), "interedges: pair (0, 1) is listed more than once"),
    (((1, 2), [0, 1], [1], [1.0, 2.0]), "interedges weights: needs 1 entries, has shape (2,)"),
    (((1, 2), [0, 1], [1], [np.nan]), "interedges weights: 1 are negative or not finite, first at index 0: nan"),
    (((1, 2), [0, 1], [1], [-1.0]), "interedges weights: 1 are negative or not finite, first at index 0: -1.0"),
])
def test_what_are_no_interedges(fields, message):
    with pytest.raises(CouplingError) as e:
        Interedges(*fields)
    assert str(e.value) == message


def test_from_pairs_checks_cells_and_lengths():
    with pytest.raises(CouplingError, match=r"interedges to A: 1 of 2 entries are outside 0\.\.2, first at index 1: 3"):
        Interedges.from_pairs(3, 2, [0, 3], [0, 1])
    with pytest.raises(CouplingError, match="interedges to B: needs 2 entries, has 1"):
        Interedges.from_pairs(3, 2, [0, 1], [0])
    with pytest.raises(CouplingError, match=r"interedges weights: needs 1 entries, has shape \(2,\)"):
        Interedges.from_pairs(3, 2, [0], [0], [1, 2])
    assert len(Interedges.from_pairs(0, 0, [], [])) == 0


def test_two_components_are_the_convenient_case():
    inter = Interedges.from_pairs(4, 6, [0, 3], [5, 1])
    p = CoupledProblem.of_two(grid(2, 2), grid(2, 3).to_scipy(), inter, ("fluid", "solid"))
    assert p.names == ("fluid", "solid")
    assert (p.a.nvtxs, p.b.nvtxs) == (4, 6)
    assert p.interedges is inter
    assert p.coupled("solid").tolist() == [1, 5]
    assert repr(p) == "CoupledProblem(fluid: 4 cells, solid: 6 cells; interedges fluid-solid: 2)"
    with pytest.raises(TypeError):
        p.components["fluid"] = grid(1)  # type: ignore[index]


def test_n_components():
    g = grid(3)
    p = CoupledProblem({"x": g, "y": g, "z": g}, {("x", "y"): Interedges.from_pairs(3, 3, [0], [2]),
                                                 ("z", "x"): Interedges.from_pairs(3, 3, [1], [2])})
    assert p.coupled("x").tolist() == [0, 2]
    assert p.coupled("y").tolist() == [2]
    assert p.coupled("z").tolist() == [1]
    with pytest.raises(CouplingError, match=r"has 2 coupled pairs, use problem\.pairs"):
        _ = p.interedges
    alone = CoupledProblem({"x": g})
    assert alone.coupled("x").tolist() == []
    assert repr(alone) == "CoupledProblem(x: 3 cells; interedges none)"
    with pytest.raises(CouplingError, match=r"problem\.b: this problem has one component"):
        _ = alone.b


def test_what_is_no_coupled_problem():
    g, inter = grid(3), Interedges.from_pairs(3, 3, [0], [0])
    with pytest.raises(CouplingError, match="components: at least one is needed"):
        CoupledProblem({})
    with pytest.raises(CouplingError, match=r"interedges \(x, q\): no component 'q'; known: x"):
        CoupledProblem({"x": g}, {("x", "q"): inter})
    with pytest.raises(CouplingError, match="join x with itself"):
        CoupledProblem({"x": g}, {("x", "x"): inter})
    with pytest.raises(CouplingError, match="may be given once"):
        CoupledProblem({"x": g, "y": g}, {("x", "y"): inter, ("y", "x"): inter})
    with pytest.raises(CouplingError, match=r"have shape \(3, 3\), the components have \(3, 4\) cells"):
        CoupledProblem({"x": g, "y": grid(4)}, {("x", "y"): inter})
    with pytest.raises(CouplingError, match="need different names, both are 'x'"):
        CoupledProblem.of_two(g, g, inter, ("x", "x"))


@pytest.mark.parametrize(("make", "error", "said"), [
    (lambda: Interedges((2, 2, 2), [0], []), CouplingError, "interedges shape: needs the numbers of cells of A and of"),
    (lambda: Interedges(None, [0], []), CouplingError, "interedges shape: needs the numbers"),
    (lambda: Interedges.from_pairs(-1, 2, [], []), ConfigError, "interedges shape: must be at least 0, got -1"),
    (lambda: Interedges.from_pairs(2, 1.5, [], []), ConfigError, "interedges shape: needs an integer, got 1.5"),
    (lambda: Interedges.from_pairs(2, 2, [1, 1, 0], [0, 0, 0], [3, -1, 1]), CouplingError, "1 are negative or not "),
    (lambda: Interedges.from_pairs(2, 2, [1, 0], [0, 0], [1, np.nan]), CouplingError, "first at index 1: nan"),
    (lambda: Interedges.from_scipy(np.eye(2)), CouplingError, "matrix: needs a scipy.sparse matrix .* got ndarray"),
    (lambda: Interedges.from_scipy(sp.coo_array([1.0, 2.0])), CouplingError, "matrix: needs a scipy.sparse matrix"),
    (lambda: Interedges.from_pairs(2, 2, [0], [0]).capped(0), ConfigError, "most: must be at least 1, got 0"),
    (lambda: Interedges.from_pairs(2, 2, [0], [0]).capped(1.5), ConfigError, "most: needs an integer, got 1.5"),
])
def test_what_are_no_interedges_is_named(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_sizes_of_any_type_of_number():
    for na, nb in ((np.int8(2), np.uint64(3)), (2.0, np.float32(3)), (np.int32(2), 3)):
        inter = Interedges.from_pairs(na, nb, [1, 0], [2, 1])
        assert inter.shape == (2, 3)
        assert table(inter) == {(1, 2): 1.0, (0, 1): 1.0}


def test_copartition():
    c = CoPartition({"a": [0, 1, 1], "b": [2, 0]}, {"a": 2, "b": 3}, {"b": 1})
    assert c.a.tolist() == [0, 1, 1]
    assert c["b"].dtype == np.int32
    assert (c.offset("a"), c.offset("b")) == (0, 2)
    assert dict(c.ncoupled) == {"a": None, "b": 1}
    assert repr(c) == "CoPartition(a: 2 parts of 1 to 2 vertices, b: 3 parts of 0 to 1 vertices (1 coupled))"
    with pytest.raises(ValueError, match="read-only"):
        c.a[0] = 1


def test_a_copartition_keeps_its_own_arrays():
    part = np.zeros(3, np.int32)
    c = CoPartition({"a": part}, {"a": 2})
    part[0] = 1
    assert c.a.tolist() == [0, 0, 0]


def test_what_is_no_copartition():
    with pytest.raises(CouplingError, match=r"parts and nparts name different components: \['a'\] and \['b'\]"):
        CoPartition({"a": [0]}, {"b": 1})
    with pytest.raises(CouplingError, match=r"parts of a: 1 of 2 entries are outside 0\.\.1, first at index 1: 2"):
        CoPartition({"a": [0, 2]}, {"a": 2})
    with pytest.raises(ConfigError, match="nparts of a: must be at least 1, got 0"):
        CoPartition({"a": []}, {"a": 0})
    with pytest.raises(CouplingError, match="parts of a"):
        CoPartition({"a": 3}, {"a": 4})


LINE, MEET = grid(2), Interedges.from_pairs(2, 2, [1], [0])


def two(**changes):
    return CoupledProblem(**{"components": {"a": LINE, "b": LINE}, "pairs": {("a", "b"): MEET}, **changes})


@pytest.mark.parametrize(("make", "said"), [
    (lambda: two(components=[LINE, LINE]), "components: need a mapping from components, got"),
    (lambda: two(components={1: LINE, "1": LINE}), "components: two components have the same name; there are 1, 1"),
    (lambda: two(pairs=[MEET]), "pairs: need a mapping from two names to interedges, got list"),
    (lambda: two(pairs={"ab": MEET}), "pairs: the key of interedges is a tuple of two names, got 'ab'"),
    (lambda: two(pairs={("a", "b", "c"): MEET}), "pairs: the key of interedges is a tuple of two names"),
    (lambda: two(pairs={("a", "b"): MEET.to_scipy()}), r"interedges \(a, b\): need copart.Interedges, got csr_array"),
    (lambda: two(coupled_weights=0), "coupled weights: need a mapping from components, got 0"),
    (lambda: CoupledProblem.of_two(LINE, LINE, MEET, ("a",)), r"names: needs two names, got \('a',\)"),
    (lambda: CoupledProblem.of_two(LINE, LINE, None), r"interedges \(a, b\): need copart.Interedges, got NoneType"),
    (lambda: CoPartition([[0]], {"a": 1}), "parts: need a mapping from components"),
    (lambda: CoPartition({"a": [0], 1: [0]}, {"a": 1}), "different components: \\['1', 'a'\\] and \\['a'\\]"),
    (lambda: CoPartition({"a": [[0], [1, 2]]}, {"a": 3}), "parts of a: is no array: its rows have different lengths"),
    (lambda: CoPartition({"a": [0]}, {"a": 1}, alone={"a": [0, 0]}), "alone of a: needs 1 entries, has 2"),
    (lambda: CoPartition({"a": [0]}, {"a": 1}, alone={"b": [0]}), "no component 'b'; known: a"),
    (lambda: CoPartition({"a": [0]}, {"a": 1}).b, "copartition.b: there are 1 components, needs two"),
])
def test_arguments_of_another_kind_are_named(make, said):
    with pytest.raises(CouplingError, match=said):
        make()


def test_a_number_of_coupled_parts_is_one():
    with pytest.raises(ConfigError, match="ncoupled of a: needs an integer, got 'few'"):
        CoPartition({"a": [0]}, {"a": 1}, {"a": "few"})


def test_names_that_are_numbers_are_the_same_everywhere():
    one = CoupledProblem.of_two(LINE, LINE, MEET, (1, 2), coupled_weights={1: [1, 1]})
    assert one.names == ("1", "2")
    assert list(one.pairs) == [("1", "2")]
    assert one.own_weights("1")
    assert CoPartition({1: [0]}, {1: 1}, {1: 1}).ncoupled["1"] == 1


def test_the_partition_alone_is_kept_as_parts_are():
    given = np.zeros(3, np.int64)
    made = CoPartition({"a": [0, 1, 1]}, {"a": 2}, alone={"a": given})
    given[:] = 1
    assert made.alone["a"].tolist() == [0, 0, 0]
    assert made.alone["a"].dtype == np.int32
