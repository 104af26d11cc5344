"""Balance beyond the next neighbour: paths of parts, jumps, exchanges, packing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kernels import balancing, paths
from copart.kernels import shifting as kernels
from copart.partitioner.refinement import Refiner, with_room
from copart.partitioner.rounds import Team
from copart.partitioner.settling import PACKING, fill_empty, pack, settle

from ..helpers import grid
from ..partition_reference import NO_PULL, Case, cases, connectivity, excuses, level, loads, objective, packing, path
from ..reference import graphs, rows
from .test_refinement import evict_round, searches


def refiner(graph: Graph, part, limit, fixed=None) -> Refiner:
    return Refiner(level(graph, fixed), NO_PULL, np.array(part, np.int32), np.array(limit, np.int64), Team(1), 1)


def grouped(part, border, k: int):
    start, order = np.empty(k + 1, np.int64), np.empty(len(border), np.int32)
    paths.group_by_part(np.array(part, np.int32), np.array(border, np.int32), len(border), start, order)
    return start, order


# ---- paths of parts
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_vertices_are_grouped_by_part(part, seed):
    border = np.random.default_rng(seed).permutation(len(part))[:len(part) // 2 + 1]
    start, order = grouped(part, border, 5)
    assert (start[0], start[-1]) == (0, len(border))
    for p in range(5):
        assert order[start[p]:start[p + 1]].tolist() == [v for v in border if part[v] == p], "in the order of the list"


def parts_apart(graph: Graph, part, source: int, k: int) -> list[float]:
    """Steps from part to part over the quotient graph."""
    away, near = [np.inf] * k, rows(graph)
    away[source], queue = 0, [source]
    while queue:
        p = queue.pop(0)
        for q in {part[u] for v in near if part[v] == p for u in near[v]}:
            if away[q] == np.inf:
                away[q] = away[p] + 1
                queue.append(q)
    return away


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 3))
def test_path_leads_to_the_nearest_part_with_room(graph, seed, k, need):
    if not graph.nvtxs:
        return
    rng = np.random.default_rng(seed)
    part = rng.integers(0, k, graph.nvtxs)
    pwgt, _ = loads(graph, part, k)
    limit = pwgt + rng.integers(0, 4, k)
    r = refiner(graph, part, limit)
    border = r.state.border[:r.state.count[1]]
    start, order = grouped(part, border, k)
    parent, queue = np.empty(k, np.int32), np.empty(k, np.int32)
    source = int(part[0])
    target = paths.find_path(r.g, r.state.part, pwgt, limit, source, need, start, order, parent, queue)
    away = parts_apart(graph, part, source, k)
    able = [p for p in range(k) if p != source and away[p] < np.inf and pwgt[p] + need <= limit[p]]
    if not able:
        assert target == -1
        return
    assert away[target] == min(away[p] for p in able)
    assert target in able
    p, steps = target, 0
    while p != source:
        p, steps = parent[p], steps + 1
    assert steps == away[target]


def test_a_walled_in_part_hands_weight_down_the_chain():
    """A path of five parts: the first is over, the next three are full, only the last has room.

    ::

        0 0 0 0 0 0 | 1 1 1 1 | 2 2 2 2 | 3 3 3 3 | 4 4          limit 4
    """
    part = [0] * 6 + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 2
    r = refiner(path(20), part, [4] * 5)
    assert evict_round(r) == 0
    assert r.excess == 2, "no neighbour has room: eviction alone is stuck"
    assert r.rebalance() == 0, "every border moves along, the cut stays"
    assert r.excess == 0
    assert r.state.part.tolist() == [p for p in range(5) for _ in range(4)]
    assert (r.state.pwgt == 4).all()


def test_the_log_of_a_shift_is_taken_back():
    part = [0] * 6 + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 2
    r = refiner(path(20), part, [4] * 5)
    r.shift_round()
    assert r.state.part.tolist() != part
    from copart.kernels.moves import undo_moves

    undo_moves(r.g, r.state)
    assert r.state.part.tolist() == part
    assert r.state.pwgt.tolist() == [6, 4, 4, 4, 2]


@given(searches(), st.sampled_from([0, 10**9]))
def test_a_round_of_shifts_hands_each_vertex_on_once(s, most):
    """So that the log, which begins with no room here, is long enough; together or each alone, for a start."""
    r = s.refiner
    r.state = r.state._replace(log=np.empty((2, 0), np.int32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("copart.partitioner.refinement._MANY", most)
        before, excess = s.cut(), r.excess
        won = r.shift_round()
    assert won == before - s.cut()
    assert r.excess <= excess
    moved = r.state.log[0, :r.state.count[2]].tolist()
    assert len(set(moved)) == len(moved)
    assert sorted(moved) == np.flatnonzero(s.part != s.before).tolist()


@given(searches(), st.randoms())
def test_a_round_of_shifts_does_not_ask_for_the_order_of_a_long_border(s, random):
    """That depends on the number of threads."""
    r = s.refiner
    found = []
    for _ in range(2):
        again = Refiner(r.g, r.pull, s.before.copy(), r.limit, Team(1), 1)
        again.memory = again.memory._replace(long=0)
        border = again.state.border[: again.state.count[1]]
        border[:] = random.sample(border.tolist(), len(border))
        found.append((again.shift_round(), again.state.part.tolist()))
    assert found[0] == found[1]


def test_fixed_vertices_block_a_chain():
    """The only vertex of part 1 next to part 2 is fixed, so nothing can be handed on."""
    part = [0] * 4 + [1] * 3 + [2] * 2
    fixed = [-1] * 6 + [1] + [-1] * 2
    r = refiner(path(9), part, [3] * 3, fixed)
    r.rebalance()
    assert r.state.part.tolist() == part
    assert r.excess == 1


def test_hop_takes_the_cheapest_vertex_that_fits():
    """Of part 0, vertices 0..3 touch part 1 with edges 1, 3, 2, 3; 1 is too heavy, 3 is no longer there: 2 goes."""
    graph = Graph.from_edges(5, [0, 1, 2, 3], [4, 4, 4, 4], [1, 3, 2, 3], vwgt=[1, 9, 1, 1, 1])
    part = np.array([0, 0, 0, 0, 1], np.int32)
    start, order = grouped(part, [0, 1, 2, 3, 4], 2)
    part[3] = 1
    place, value, ties = np.empty(5, np.int32), np.empty(5, np.int64), np.empty(5, np.int32)
    g = level(graph)
    kernels.value_hop(g, NO_PULL, part, 0, 1, start, order, place, value, ties)
    assert value[place[:3]].tolist() == [1, 3, 2]
    assert [order[kernels.best_for_hop(g, 0, room, start, order, value, ties)] for room in (5, 9)] == [2, 1]
    assert kernels.best_for_hop(g, 0, 0, start, order, value, ties) == -1


def shifted(s, path: list[int], listed: list[list[int]]) -> int:
    """Twin of `shift_path` that looks at every listed vertex anew; path from the target to the source."""
    won, g, pwgt = 0, s.graph, s.refiner.state.pwgt.copy()
    while pwgt[path[-1]] > s.refiner.limit[path[-1]]:
        for there, here in pairwise(path):
            rates = {}
            for v in listed[here]:
                if s.part[v] == here and 0 < g.weights[v] <= s.refiner.limit[there] - pwgt[there]:
                    joined = connectivity(g, s.part, v, s.table, s.origin)
                    if there in joined:
                        rates[v] = joined[there] - joined.get(here, 0)
            if not rates or (s.part == here).sum() == 1:
                return won
            v = min(rates, key=lambda v: (-rates[v], v))
            s.part[v] = there
            won += rates[v]
            pwgt[[here, there]] += [-g.weights[v], g.weights[v]]
    return won


@given(searches(slack=0, most=6), st.integers(0, 2**32 - 1))
def test_shifts_along_every_path_equal_their_twin(s, seed):
    """Paths of any parts, one after the other, with room here and there."""
    if s.k == 1:
        return
    r, rng = s.refiner, np.random.default_rng(seed)
    count = int(r.state.count[1])
    listed = r.state.border[:count].copy()
    start, order = grouped(s.part, listed, s.k)
    groups = [order[start[p]:start[p + 1]].tolist() for p in range(s.k)]
    onward, value, ties = np.empty(s.k, np.int32), np.empty(count, np.int64), np.empty(count, np.int32)
    for _ in range(3):
        path = rng.permutation(s.k)[:max(2, int(rng.integers(1, s.k + 1)))].tolist()
        r.limit = np.maximum(r.state.pwgt + rng.integers(-1, 4, s.k), 0)
        r.limit[path[-1]] -= rng.integers(0, 6)
        parent = np.full(s.k, -1, np.int32)
        for there, here in pairwise(path):
            parent[there] = here
        r.state = with_room(r.state, count + s.k)
        was = s.part.copy()
        want = shifted(s, path, groups)
        after, s.part[:] = s.part.copy(), was
        got = kernels.shift_path(r.g, r.pull, r.state, r.limit, path[-1], path[0], parent, start, order, 1,
                                 kernels.Hops(onward=onward, place=r.place, value=value, ties=ties))
        assert (s.part == after).all()
        assert got == want
    s.check(s.cut(s.before) - s.cut())


# ---- jumps and exchanges
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_jumps_keep_books_and_limits(graph, seed, k):
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    part = rng.integers(0, k, n).astype(np.int32)
    before = part.copy()
    pwgt, population = loads(graph, part, k)
    limit = np.full(k, -(-graph.total_weight // k))
    was = pwgt.copy()
    order = np.argsort(-graph.weights, kind="stable").astype(np.int32)
    won = balancing.jump(level(graph), NO_PULL, part, pwgt, population, limit, order, np.empty(k, np.int64),
                         np.empty(k, np.int32))
    assert won == objective(graph, before) - objective(graph, part)
    assert (pwgt == loads(graph, part, k)[0]).all()
    assert (population == loads(graph, part, k)[1]).all()
    assert (pwgt <= np.maximum(was, limit)).all()
    assert all(was[p] > limit[p] for p in before[part != before]), "only overloaded parts give"


def test_jumps_reach_parts_that_are_no_neighbours():
    graph = Graph.from_edges(4, [0, 1], [1, 2])
    part = np.array([0, 0, 0, 1], np.int32)
    pwgt, population = loads(graph, part, 2)
    balancing.jump(level(graph), NO_PULL, part, pwgt, population, np.array([2, 2]), np.arange(4, dtype=np.int32),
                 np.empty(2, np.int64), np.empty(2, np.int32))
    assert sorted(np.bincount(part)) == [2, 2]


def test_exchange_lowers_the_excess():
    """5 + 2 against 4 + 2 with a limit of 6 + 1: swapping 5 for 4 would only mirror it; 4 + 4 against 3 + 2 can."""
    graph = path(4, vwgt=[4, 4, 3, 2])
    part = np.array([0, 0, 1, 1], np.int32)
    pwgt, _ = loads(graph, part, 2)
    swaps = balancing.swap_down(level(graph), part, pwgt, np.array([7, 7]), np.arange(4, dtype=np.int32))
    assert swaps == 1
    assert pwgt.tolist() == loads(graph, part, 2)[0].tolist() == [6, 7]


# ---- settling
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_empty_parts_are_filled_with_the_lightest(graph, seed, k):
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    if n < k:
        return
    part = rng.integers(0, max(1, k // 2), n).astype(np.int32)
    before = part.copy()
    fixed = np.where(np.arange(n) < n - k, part, -1)
    fill_empty(level(graph, fixed), part, np.bincount(part, minlength=k))
    assert (np.bincount(part, minlength=k) > 0).all()
    held = fixed >= 0
    assert (part[held] == before[held]).all()
    empty = k - len(np.unique(before))
    assert (part != before).sum() == empty, "one vertex for each empty part, and no other"
    if empty and not held.any() and len(np.unique(before)) == 1:
        assert sorted(graph.weights[part != before]) == sorted(graph.weights)[:empty]


@given(cases(weights=("small", "heavy")))
def test_packing_keeps_fixed_vertices_and_finds_what_the_twin_finds(case: Case):
    if excuses(case):
        return
    g = level(case.graph, case.fixed)
    start = np.zeros(case.graph.nvtxs, np.int32) if case.fixed is None else np.maximum(case.fixed, 0).astype(np.int32)
    free = np.flatnonzero(case.fixed < 0) if case.fixed is not None else np.arange(case.graph.nvtxs)
    order = free[np.argsort(-case.graph.weights[free], kind="stable")].astype(np.int32)
    solved = []
    for rule in PACKING:
        part = pack(g, start, case.limit, order, rule)
        if case.fixed is not None:
            assert (part[case.fixed >= 0] == case.fixed[case.fixed >= 0]).all()
        pwgt, population = loads(case.graph, part, case.nparts)
        solved.append((pwgt <= case.limit).all() and (population > 0).all())
    assert any(solved) >= (packing(case) is not None)


def test_rules_of_packing():
    """Rooms 9, 5 and 7 are taken by one vertex each; then a vertex of weight 2 finds rooms 4, 1 and 2."""
    graph = Graph.from_edges(4, [], [], vwgt=[5, 5, 4, 2])
    limit, start = np.array([9, 5, 7]), np.array([0, 2, 1, 0], np.int32)
    last = {rule: int(pack(level(graph), start, limit, np.arange(4, dtype=np.int32), rule)[3]) for rule in PACKING}
    assert set(last) == {"home", "best", "first", "worst"}
    rest = {}
    for rule in PACKING:
        part = pack(level(graph), start, limit, np.arange(4, dtype=np.int32), rule)
        before = part.copy()
        before[3] = -1
        room = limit - [sum(int(graph.weights[v]) for v in range(3) if before[v] == p) for p in range(3)]
        rest[rule] = [p for p in range(3) if room[p] >= 2], room
    for rule, want in (("best", min), ("worst", max)):
        fits, room = rest[rule]
        assert room[last[rule]] == want(room[p] for p in fits)
    assert last["first"] == min(rest["first"][0])
    assert last["home"] == 0


@given(cases(weights=("small", "heavy")), st.integers(0, 2**32 - 1))
def test_settle_from_anywhere(case: Case, seed):
    """Whatever the start: no empty part, fixed vertices untouched, and balanced where a simple packing is."""
    if excuses(case):
        return
    rng = np.random.default_rng(seed)
    part = rng.integers(0, case.nparts, case.graph.nvtxs).astype(np.int32)
    if case.fixed is not None:
        part = np.where(case.fixed >= 0, case.fixed, part).astype(np.int32)
    left = settle(level(case.graph, case.fixed), NO_PULL, part, case.limit, Team(1), 1)
    pwgt, population = loads(case.graph, part, case.nparts)
    assert left == np.maximum(pwgt - case.limit, 0).sum()
    assert (population > 0).all()
    if case.fixed is not None:
        assert (part[case.fixed >= 0] == case.fixed[case.fixed >= 0]).all()
    if packing(case) is not None:
        assert left == 0


def test_settle_leaves_what_is_settled():
    part = (np.arange(36) // 9).astype(np.int32)
    before = part.copy()
    assert settle(level(grid(6, 6)), NO_PULL, part, np.full(4, 9, np.int64), Team(1), 1) == 0
    assert (part == before).all()
