"""The lists in ``exchange/``: what they hold, read back, and every way in which a file can be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import copart
from copart import CoPartition, CoupledProblem, Interedges
from copart.checks.lists import check_halo_lists, check_interedge_lists, check_owned_lists
from copart.errors import FormatError
from copart.formats.exchange_files import (
    component_name,
    halo_lists,
    interedge_lists,
    owned_lists,
    pair_name,
    read_lists,
    write_exchange,
)
from copart.mesh import cube
from copart.plans.verify import check_plan

from ..reference import graphs, random_graph


@settings(max_examples=30)
@given(graphs(), graphs(), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_lists_hold_what_the_definition_says(a, b, na, nb, seed):
    rng = np.random.default_rng(seed)
    part_a, part_b = (rng.integers(0, n, g.nvtxs).astype(np.int32) for g, n in ((a, na), (b, nb)))
    count = min(12, a.nvtxs * b.nvtxs)
    inter = Interedges.from_pairs(a.nvtxs, b.nvtxs, rng.integers(0, max(a.nvtxs, 1), count),
                                  rng.integers(0, max(b.nvtxs, 1), count), rng.random(count))
    problem = CoupledProblem.of_two(a, b, inter)
    made = CoPartition({"a": part_a, "b": part_b}, {"a": na, "b": nb})
    lists = interedge_lists(inter, part_a, part_b, nb)
    for p in range(na):
        for q, rows in lists.of_first(p).items():
            true = [(u, v, w) for u, v, w in zip(*inter.pairs(), strict=True) if part_a[u] == p and part_b[v] == q]
            assert [tuple(row) for row in rows.tolist()] == true
            assert lists.of_second(q)[p].tolist() == rows.tolist()
    assert not check_interedge_lists(problem, made, ("a", "b"), lists.index, lists.rows)
    halo, owned = halo_lists(a, part_a, na), owned_lists(part_a, na)
    assert not check_halo_lists(problem, made, "a", halo.index, halo.rows)
    assert not check_owned_lists(made, "a", owned.index, owned.rows)
    for p in range(na):
        assert owned.of_first(p).get(p, np.zeros(0)).tolist() == np.flatnonzero(part_a == p).tolist()


@pytest.fixture
def folder(tmp_path):
    copart.plan(cube("hexa", 3), cube("hexa", 4, offset=(1, 0, 0)), names=("a", "b"), parts=(2, 3), output=tmp_path)
    return tmp_path


def test_lists_of_many_parts_of_the_first_and_few_of_the_second():
    """Pairs of parts are more than 16 bits can tell apart, though those of the second alone are not."""
    parts = np.arange(600, dtype=np.int32)
    inter = Interedges.from_pairs(600, 200, parts, parts // 3)
    lists = interedge_lists(inter, parts, parts[:200], 200)
    assert [(p, q) for p, q, _ in lists.items()] == [(p, p // 3) for p in range(600)]
    assert lists.of_first(597)[199]["a"].tolist() == [597]


def test_what_is_written_is_read(tmp_path):
    a, b = (random_graph(np.random.default_rng(n), n, 2 * n) for n in (40, 30))
    inter = Interedges.from_pairs(40, 30, range(20), range(20))
    problem = CoupledProblem({"a": a, "b": b}, {("a", "b"): inter})
    made = copart.naive(problem, {"a": 3, "b": 2})
    files = write_exchange(tmp_path, problem, made)
    assert sorted(files) == sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.npy"))
    read = read_lists(tmp_path, pair_name("a", "b"), (3, 2))
    assert read.rows.tolist() == interedge_lists(inter, made["a"], made["b"], 2).rows.tolist()
    assert read_lists(tmp_path, component_name("b", "halo"), (2, 2)).rows.tolist() == \
        halo_lists(b, made["b"], 2).rows.tolist()


@pytest.mark.parametrize(("change", "rule"), [
    (lambda index: index[:, :2], "needs three columns, has 2"),
    (lambda index: index[::-1], "must ascend by its keys"),
    (lambda index: index + np.array([0, 7, 0]), "names part"),
    (lambda index: index - [3, 0, 0], "names part -"),
    (lambda index: index + np.array([0, 0, 1]), "rows, the file beside has"),
    (lambda index: index.astype("f8"), "needs 2 dimension(s) of int64"),
    (lambda index: index.ravel(), "needs 2 dimension(s) of int64")])
def test_files_that_are_wrong_are_refused(folder, change, rule):
    path = folder / "exchange" / "a-b.interedges.index.npy"
    np.save(path, np.ascontiguousarray(change(np.load(path))))
    with pytest.raises(FormatError) as caught:
        read_lists(folder, pair_name("a", "b"), (2, 3))
    assert rule in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_files_that_are_gone_or_cut_are_refused(folder):
    path = folder / "exchange" / "a-b.interedges.rows.npy"
    path.write_bytes(path.read_bytes()[:90])
    with pytest.raises(FormatError, match="is no array in NumPy's format"):
        read_lists(folder, pair_name("a", "b"), (2, 3))
    path.unlink()
    with pytest.raises(FormatError, match="cannot be read: no such file"):
        read_lists(folder, pair_name("a", "b"), (2, 3))
    np.save(path, np.array([{}], object), allow_pickle=True)
    with pytest.raises(FormatError, match="it holds objects"):
        read_lists(folder, pair_name("a", "b"), (2, 3))


@pytest.mark.parametrize(("name", "change"), [
    ("a-b.interedges.rows", lambda rows: np.roll(rows, 1)), ("a.halo.rows", lambda rows: rows[::-1]),
    ("b.owned.rows", lambda rows: np.roll(rows, 1)), ("a.halo.rows", lambda rows: rows[:-1])])
def test_check_derives_the_lists_again(folder, name, change):
    path = folder / "exchange" / f"{name}.npy"
    np.save(path, np.ascontiguousarray(change(np.load(path))))
    try:
        found = [str(one) for one in check_plan(folder).findings]
    except FormatError as error:
        found = [f"exchange: {error}"]
    assert any(text.startswith("exchange: ") for text in found), found
