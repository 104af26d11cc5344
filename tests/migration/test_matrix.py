"""Migration matrices: sums, forests, known minima, connected columns, numbers kept."""

from __future__ import annotations

from itertools import combinations, product
from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import ConfigError, PartitionError
from copart.graph import Graph
from copart.metrics import max_part_weights
from copart.migration.groups import Supply, exact_groups, greedy_groups
from copart.migration.matrix import migration_matrix
from copart.migration.trees import break_cycles, spread, trees

former = st.lists(st.integers(0, 60), min_size=1, max_size=14)


def path(m: int) -> Graph:
    return Graph.from_edges(m, range(m - 1), range(1, m))


def off_diagonal(c: np.ndarray) -> np.ndarray:
    out = c.copy()
    np.fill_diagonal(out, 0)
    return out


def is_forest(c: np.ndarray) -> bool:
    """Union-find over the bipartite graph of the non-zeros."""
    m, n = c.shape
    root = list(range(m + n))

    def find(x: int) -> int:
        while root[x] != x:
            x = root[x]
        return x

    for i, j in zip(*np.nonzero(c), strict=True):
        a, b = find(i), find(m + j)
        if a == b:
            return False
        root[a] = b
    return True


def torn_columns(c: np.ndarray, quotient: Graph) -> int:
    """Columns whose former parts are not connected in the quotient graph."""
    import networkx

    g = quotient.to_networkx()
    return sum(not networkx.is_connected(g.subgraph(np.flatnonzero(col).tolist())) for col in c.T if col.any())


@given(former, st.integers(1, 16), st.sampled_from([0.0, 0.03, 0.1]), st.integers(0, 2**31))
def test_sums_forest_and_few_messages(w: list[int], n: int, eps: float, seed: int) -> None:
    m, total = len(w), sum(w)
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, m, (2, 2 * m))
    quotient = Graph.from_edges(m, u[u != v], v[u != v])
    for adjacency in (None, quotient):
        c = migration_matrix(w, n, adjacency=adjacency, eps=eps)
        assert c.shape == (m, n)
        assert c.dtype == np.int64
        assert (c >= 0).all()
        assert c.sum(axis=1).tolist() == w
        assert (c.sum(axis=0) <= max_part_weights(total, n, eps)).all()
        assert is_forest(c)
        if total >= n:
            assert c.any(axis=0).all() or (total == 0 and not c.any())
        if eps == 0 and total and not (m == n and max(w) - min(w) <= 1):
            assert c.sum(axis=0).max() - c.sum(axis=0).min() <= 1


@given(st.integers(1, 24), st.integers(1, 24), st.integers(1, 50))
def test_equal_weights_need_m_plus_n_minus_gcd(m: int, n: int, factor: int) -> None:
    unit = n // gcd(m, n)  # the weight splits exactly
    c = migration_matrix([unit * factor] * m, n, eps=0)
    assert np.count_nonzero(c) == m + n - gcd(m, n)
    assert c.sum(axis=0).tolist() == [unit * factor * m // n] * n
    # the known minimum of the volume: who has more than a new part's weight gives the rest, who vanishes all
    stay = min(unit * factor, unit * factor * m // n)
    assert off_diagonal(c).sum() == unit * factor * m - min(m, n) * stay


def compositions(total: int, count: int) -> list[tuple[int, ...]]:
    bars = combinations(range(total + count - 1), count - 1)
    return [tuple(b - a - 1 for a, b in zip((-1, *c), (*c, total + count - 1), strict=True)) for c in bars]


def fewest_messages(w: tuple[int, ...], n: int) -> int:
    """Over all matrices with these row sums and column sums that differ by at most 1."""
    best = 10**9
    for rows in product(*(compositions(x, n) for x in w)):
        c = np.array(rows)
        if np.ptp(c.sum(axis=0)) <= 1:
            best = min(best, int(np.count_nonzero(off_diagonal(c))))
    return best


WEIGHTS = [(4, 4), (6, 3), (7, 1), (2, 2, 2), (5, 3, 1), (6, 1, 1), (4, 3, 2), (3, 3, 0), (1, 2, 6)]


@pytest.mark.parametrize("w", WEIGHTS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_fewest_messages_of_all_matrices(w: tuple[int, ...], n: int) -> None:
    c = migration_matrix(w, n, eps=0)
    assert np.count_nonzero(off_diagonal(c)) == fewest_messages(w, n)


def test_grid_of_the_source_five_to_seven() -> None:
    for adjacency in (None, path(5)):
        c = migration_matrix([20] * 5, 7, adjacency=adjacency)
        assert np.count_nonzero(c) == 11
        assert sorted(c.sum(axis=0).tolist()) == [14] * 5 + [15] * 2
        # every former part keeps a full new part: no matrix moves less
        assert off_diagonal(c).sum() == 100 - sum(sorted(c.sum(axis=0))[2:])
        assert adjacency is None or torn_columns(c, adjacency) == 0


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.floats(0, 0.3))
def test_balanced_parts_stay(w: list[int], eps: float) -> None:
    c = migration_matrix(w, len(w), eps=eps)
    if (np.array(w) <= max_part_weights(sum(w), len(w), eps)).all():
        assert (c == np.diag(w)).all()
    else:
        assert off_diagonal(c).any()


def test_only_the_excess_moves_and_to_a_neighbour() -> None:
    c = migration_matrix([100, 100, 130, 80, 100], 5, adjacency=path(5))
    off = off_diagonal(c)
    assert off.sum() == 130 - 104  # half of 5 % above the mean of 102 is planned with
    assert np.flatnonzero(off.any(axis=1)).tolist() == [2]
    assert set(np.flatnonzero(off.any(axis=0)).tolist()) == {1, 3}


@pytest.mark.parametrize(("m", "n"), [(9, 9), (9, 13), (9, 6), (16, 24), (25, 16)])
def test_columns_are_connected(m: int, n: int) -> None:
    rng = np.random.default_rng(m * n)
    for adjacency in (path(m), Graph.from_edges(m, range(m), np.roll(range(m), 1)) if m > 2 else path(m)):
        c = migration_matrix(rng.integers(80, 140, m), n, adjacency=adjacency)
        assert torn_columns(c, adjacency) == 0


def test_vanishing_parts_dissolve_and_others_keep_their_number() -> None:
    c = migration_matrix([20] * 7, 5)
    assert (np.diag(c[:5]) == 20).all()
    assert np.count_nonzero(c) == 11
    # At the end of a chain, load has to pass on: new parts stay connected, at the price of some volume.
    c = migration_matrix([20] * 7, 5, adjacency=path(7))
    assert np.count_nonzero(c) == 11
    assert torn_columns(c, path(7)) == 0


def test_empty_former_parts_get_something() -> None:
    c = migration_matrix([0, 50, 50, 0], 4)
    assert c.sum(axis=0).tolist() == [25] * 4
    assert (np.diag(c)[1:3] == 25).all()
    assert not migration_matrix([0, 0], 3).any()


def test_target_fractions_belong_to_their_number() -> None:
    c = migration_matrix([50, 50], 3, eps=0, tpwgts=[0.5, 0.2, 0.3])
    assert c.sum(axis=0).tolist() == [50, 20, 30]
    assert c[0, 0] == 50
    unbalanced = migration_matrix([80, 10, 10], 3, eps=0.05, tpwgts=[1, 1, 2])
    assert (unbalanced.sum(axis=0) <= max_part_weights(100, 3, 0.05, [1, 1, 2])).all()
    assert is_forest(unbalanced)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=13), st.integers(1, 13),
       st.sampled_from([1, 2, 2.5, 3, 1e12, 1e300]), st.booleans())
def test_any_tolerance_leaves_no_new_part_empty(w: list[int], n: int, eps: float, shares: bool) -> None:
    n = min(n, max(sum(w), 1))
    c = migration_matrix(w, n, eps=eps, tpwgts=range(1, n + 1) if shares else None)
    assert c.sum(axis=1).tolist() == w
    assert shares or sum(w) == 0 or (c.sum(axis=0) > 0).all()


@given(st.lists(st.integers(1, 40), min_size=2, max_size=7), st.integers(1, 8))
def test_exact_groups_are_never_worse_than_greedy_ones(w: list[int], n: int) -> None:
    n = min(n, sum(w))
    low, high = sum(w) // n, -(-sum(w) // n)
    s = Supply(w, [r < n for r in range(len(w))], None, n, low, high, stay=False)

    def messages(groups: list[tuple[list[int], int]]) -> int:
        assert sorted(r for rows, _ in groups for r in rows) == list(range(len(w)))
        assert sum(k for _, k in groups) == n
        assert all(k * low <= sum(w[r] for r in rows) <= k * high for rows, k in groups)
        return sum(len(rows) + k - 1 - min(k, sum(r < n for r in rows)) for rows, k in groups)

    exact = messages(exact_groups(s))
    assert all(exact <= messages(greedy_groups(s, t)) for t in range(3))


def test_spread_sends_surplus_up_and_fills_deficits_from_above() -> None:
    entries = spread([30, 10, 20], [(1, -1), (0, 1), (2, 1)], {0: 0, 1: 1, 2: 2}, {0: 20, 1: 20, 2: 20}, False)
    assert sorted(entries) == [(0, 0, 20), (0, 1, 10), (1, 1, 10), (2, 2, 20)]
    entries = spread([10, 30, 20], [(1, -1), (0, 1), (2, 1)], {0: 0, 1: 1, 2: 2}, {0: 20, 1: 20, 2: 20}, False)
    assert sorted(entries) == [(0, 0, 10), (1, 0, 10), (1, 1, 20), (2, 2, 20)]


def test_own_weight_first_keeps_a_chain_connected() -> None:
    tree = [(0, -1), (1, 0), (2, 1)]  # part 0 has too much, part 2 too little, part 1 lies between
    args = ([30, 20, 10], tree, {0: 0, 1: 1, 2: 2}, {0: 20, 1: 20, 2: 20})
    assert (0, 2, 10) in spread(*args, own_first=False)
    assert sorted(spread(*args, own_first=True)) == [(0, 0, 20), (0, 1, 10), (1, 1, 10), (1, 2, 10), (2, 2, 10)]


def test_trees_span() -> None:
    near = [{1: 5, 2: 1}, {0: 5, 3: 2}, {0: 1, 3: 3}, {1: 2, 2: 3, 4: 1}, {3: 1}]
    found = list(trees(5, near, 20))
    assert {tree[0][0] for tree in found} == set(range(5))
    for tree in found:
        seen = {tree[0][0]}
        assert tree[0][1] == -1
        for r, parent in tree[1:]:
            assert parent in seen
            assert r in near[parent]
            seen.add(r)
        assert seen == set(range(5))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9)), max_size=20))
def test_break_cycles_keeps_sums(entries: list[tuple[int, int, int]]) -> None:
    before, after = np.zeros((2, 5, 5), np.int64)
    for r, j, a in entries:
        before[r, j] += a
    for r, j, a in break_cycles(entries, {(i, i) for i in range(5)}):
        after[r, j] += a
    assert (before.sum(axis=0) == after.sum(axis=0)).all()
    assert (before.sum(axis=1) == after.sum(axis=1)).all()
    assert (after >= 0).all()
    assert is_forest(after)


def test_bad_input() -> None:
    with pytest.raises(PartitionError, match="at least one former part"):
        migration_matrix([], 3)
    with pytest.raises(PartitionError, match="former: 1 of 2 entries are negative"):
        migration_matrix([1, -1], 3)
    with pytest.raises(ConfigError, match="nparts: must be at least 1"):
        migration_matrix([1], 0)
    with pytest.raises(ConfigError, match="adjacency: has 3 vertices for 2"):
        migration_matrix([1, 2], 2, adjacency=path(3))
