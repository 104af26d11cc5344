"""Refinement of pairs by minimum cuts: the flow against scipy's, the moves against a recount."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from copart.graph import Graph
from copart.kernels import Level, flow, flow_network, flow_pairs
from copart.kernels.flow_network import PLENTY, SINK, SOURCE
from copart.kernels.flow_pairs import NONE, SEVERAL
from copart.kgggp_ml import partition
from copart.metrics import max_part_weights
from copart.options import PRESETS
from copart.partitioner import flows
from copart.partitioner.refinement import Refiner
from copart.partitioner.rounds import Team

from ..conftest import NO_JIT
from ..helpers import grid
from ..partition_reference import (
    NO_PULL,
    cases,
    complete,
    excuses,
    grown,
    level,
    loads,
    packing,
    path,
    scattered,
    star,
)
from ..reference import edge_cut, graphs, rows

EXAMPLES = 15 if NO_JIT else 80


class Network:
    """A whole graph as the region between parts 0 and 1, tied to source and sink by hand."""

    def __init__(self, graph: Graph, source: Any, sink: Any):
        self.graph, self.g = graph, level(graph)
        n = graph.nvtxs
        self.arena = flows._arena(self.g)
        self.part = np.zeros(n, np.int32)
        self.part[np.asarray(sink) > 0] = 1
        for v in range(n):
            self.arena.vertex[v] = v
            self.arena.local[v] = v
        flow_network.build_network(self.g, self.part, 0, 1, n, self.arena)
        self.arena.source[:n] = source
        self.arena.sink[:n] = sink

    def augment(self, bound: int) -> int:
        return int(flow.augment(self.graph.nvtxs, bound, self.arena))

    def marked(self) -> tuple[set[int], set[int]]:
        """What the source reaches, and what reaches the sink, once no more flow fits."""
        n = self.graph.nvtxs
        flow.flow_distances(n, SOURCE, self.arena.level, self.arena)
        return {v for v in range(n) if self.arena.level[v] >= 0}, {v for v in range(n) if self.arena.back[v] >= 0}


def expected_flow(graph: Graph, source: Any, sink: Any) -> int:
    """By scipy, with one source and one sink beside the vertices."""
    n = graph.nvtxs
    u, v, w = graph.edges()
    plenty = int(w.sum()) + 1000
    s, t = np.flatnonzero(source), np.flatnonzero(sink)
    a = np.concatenate([u, v, np.full(len(s), n), t]).astype(int)
    b = np.concatenate([v, u, s, np.full(len(t), n + 1)]).astype(int)
    c = np.minimum(np.concatenate([w, w, source[s], sink[t]]), plenty).astype(np.int32)
    return int(maximum_flow(csr_array((c, (a, b)), shape=(n + 2, n + 2)), n, n + 1).flow_value)


def plenty_at(n: int, vertices: Any) -> np.ndarray:
    out = np.zeros(n, np.int64)
    out[vertices] = PLENTY
    return out


def between(graph: Graph, side: set[int]) -> int:
    return edge_cut(graph, [v in side for v in range(graph.nvtxs)])


def ties(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Some vertices that stay, some that are tied with some weight, to one side or both."""
    order = rng.permutation(n)
    a = int(rng.integers(1, max(2, n // 3)))
    source, sink = plenty_at(n, order[:a]), plenty_at(n, order[a : a + int(rng.integers(1, max(2, n // 3)))])
    for one, other in ((source, sink), (sink, source)):
        some = (rng.random(n) < 0.3) & (one == 0) & (other < PLENTY)
        one[some] = rng.integers(1, 9, int(some.sum()))
    return source, sink


# ---- the network
@settings(max_examples=EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_arcs_and_their_reverses(graph, seed):
    """Of a region that is a part of the graph: one arc each way for every edge inside, ties where edges leave."""
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    part = rng.integers(0, 3, n).astype(np.int32)
    fixed = np.where(rng.random(n) < 0.2, part, -1)
    g = level(graph, fixed)
    arena = flows._arena(g)
    region = rng.permutation(np.flatnonzero(part < 2))[:rng.integers(0, n + 1)].tolist()
    for i, v in enumerate(region):
        arena.vertex[i], arena.local[v] = v, i
    ends = int(flow_network.build_network(g, part, 0, 1, len(region), arena))
    near = rows(graph)
    seen = 0
    for i, v in enumerate(region):
        row = range(int(arena.first[i]), int(arena.first[i + 1]))
        assert {region[arena.head[e]]: int(arena.cap[e]) for e in row} == {
            u: w for u, w in near[v].items() if u in region}
        for e in row:
            back = arena.rev[e]
            assert arena.rev[back] == e
            assert arena.head[back] == i
            assert arena.first[arena.head[e]] <= back < arena.first[arena.head[e] + 1]
        tie = PLENTY if fixed[v] >= 0 else sum(w for u, w in near[v].items() if part[u] == part[v] and u not in region)
        side = SOURCE if part[v] == 0 else SINK
        kind = side if tie else 0
        assert arena.tied[i] == kind
        assert arena.term[i] == (side if fixed[v] >= 0 else 0)
        assert [arena.source[i], arena.sink[i]] == ([tie, 0] if part[v] == 0 else [0, tie])
        seen |= kind
    assert ends == seen


# ---- the flow
@settings(max_examples=2 * EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_the_flow_is_a_maximum_and_equals_both_cuts(graph, seed):
    n = graph.nvtxs
    if n < 2:
        return
    source, sink = ties(n, np.random.default_rng(seed))
    net = Network(graph, source, sink)
    want = expected_flow(graph, source, sink)
    assert net.augment(10**9) == want
    near, back = net.marked()
    assert set(np.flatnonzero(source == PLENTY).tolist()) <= near
    assert set(np.flatnonzero(sink == PLENTY).tolist()) <= back
    assert not near & back
    for side, what in ((near, "the smallest side of the source"), (set(range(n)) - back, "and so is that of the sink")):
        inside = np.isin(np.arange(n), sorted(side))
        assert between(graph, side) + source[~inside].sum() + sink[inside].sum() == want, f"{what} is a minimum cut"
    for i in range(n):
        for e in range(int(net.arena.first[i]), int(net.arena.first[i + 1])):
            assert net.arena.cap[e] >= 0
            w = rows(graph)[i][int(net.arena.head[e])]
            assert net.arena.cap[e] + net.arena.cap[net.arena.rev[e]] == 2 * w


@settings(max_examples=EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_flow_in_portions_with_terminals_added(graph, seed, portion):
    """No portion passes its bound; more that stays later, as piercing makes, come to the same as from the start."""
    n = graph.nvtxs
    if n < 4:
        return
    rng = np.random.default_rng(seed)
    source, sink = ties(n, rng)
    net = Network(graph, source, sink)
    total = 0
    while added := net.augment(portion):
        assert added <= portion
        total += added
    assert total == expected_flow(graph, source, sink)
    rest = np.flatnonzero((source < PLENTY) & (sink < PLENTY))
    if not len(rest):
        return
    more, to_source = int(rng.choice(rest)), bool(rng.random() < 0.5)
    # as the tie is, less what flows through it
    (net.arena.source if to_source else net.arena.sink)[more] = PLENTY
    (source if to_source else sink)[more] = PLENTY
    total += net.augment(10**9)
    assert total == expected_flow(graph, source, sink)


def test_flow_through_a_long_and_a_wide_network():
    """Deep searches and many paths: a strip of a grid from end to end."""
    rows_, columns = (6, 40) if NO_JIT else (30, 400)
    graph = grid(rows_, columns)
    ids = np.arange(rows_ * columns).reshape(rows_, columns)
    n = rows_ * columns
    net = Network(graph, plenty_at(n, ids[:, 0]), plenty_at(n, ids[:, -1]))
    assert net.augment(10**9) == rows_


# ---- one pair
class Pair:
    """One pair refined, with everything kept up to date."""

    def __init__(self, graph: Graph, part: Any, limit: Any, a: int = 0, b: int = 1, *, fixed: Any = None,
                 reach: int = 8, room: Any = None, seeds: Any = None):
        self.graph, self.a, self.b, self.k = graph, a, b, len(limit)
        self.g = level(graph, fixed)
        self.before = np.array(part, np.int32)
        self.part = self.before.copy()
        self.limit = np.array(limit, np.int64)
        self.pwgt, self.population = loads(graph, part, self.k)
        self.fixed = np.full(graph.nvtxs, -1) if fixed is None else np.asarray(fixed)
        arena = flows._arena(self.g)
        seeds = np.arange(graph.nvtxs) if seeds is None else np.asarray(seeds)
        room = self.pwgt[[a, b]] if room is None else np.array(room)
        self.room = room
        self.facing = np.empty(graph.nvtxs, np.int32)
        flow_pairs.find_facing(0, graph.nvtxs, self.g, self.part, np.empty(0, np.uint8), self.facing)
        self.gain = int(flow_pairs.refine_pair(self.g, self.part, self.pwgt, self.population, self.limit, a, b,
                                            seeds.astype(np.int32), reach, room.astype(np.int64), self.facing, arena))
        assert (arena.local == -1).all(), "scratch is restored"

    def check(self) -> None:
        pwgt, population = loads(self.graph, self.part, self.k)
        assert self.pwgt.tolist() == pwgt.tolist()
        assert self.population.tolist() == population.tolist()
        assert self.gain == edge_cut(self.graph, self.before) - edge_cut(self.graph, self.part)
        assert self.gain >= 0
        _, was = loads(self.graph, self.before, self.k)
        assert (population[was > 0] > 0).all(), "no part is emptied"
        moved = self.before != self.part
        if self.gain == 0:
            assert not moved.any()
        else:
            assert (pwgt[[self.a, self.b]] <= self.limit[[self.a, self.b]]).all()
        assert set(self.before[moved].tolist()) <= {self.a, self.b}
        assert set(self.part[moved].tolist()) <= {self.a, self.b}
        for v, row in rows(self.graph).items():
            others = {int(self.part[u]) for u in row} - {int(self.part[v])}
            assert self.facing[v] == SEVERAL or others <= {int(self.facing[v])}, "who touches a pair is a seed of it"
        assert (self.fixed[moved] < 0).all()
        assert (self.part[self.fixed >= 0] == self.before[self.fixed >= 0]).all()


@settings(max_examples=4 * EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(0, 4), st.booleans())
def test_a_pair_keeps_all_promises(graph, seed, reach, some_fixed):
    """Weights of vertices and edges, also 0; pieces; fixed vertices; little room; a third part beside the two."""
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    part = rng.integers(0, 3, n)
    fixed = np.where(rng.random(n) < 0.3, part, -1) if some_fixed else None
    pwgt, _ = loads(graph, part, 3)
    limit = pwgt + rng.integers(0, 4, 3)
    a, b = rng.permutation(3)[:2].tolist()
    room = (rng.uniform(0, 1.2, 2) * pwgt[[a, b]]).astype(np.int64)
    done = Pair(graph, part, limit, a, b, fixed=fixed, reach=reach, room=room)
    done.check()
    before = rows(graph)
    # nothing moves that is farther from the border than the reach
    steps = {v: 0 for v in range(n) if part[v] in (a, b)
             and any(part[u] == a + b - part[v] for u in before[v])}
    queue = list(steps)
    for v in queue:
        for u in before[v]:
            if part[u] == part[v] and u not in steps:
                steps[u] = steps[v] + 1
                queue.append(u)
    assert all(steps.get(int(v), 10**9) <= reach for v in np.flatnonzero(done.part != part))


@settings(max_examples=EXAMPLES)
@given(graphs(max_nvtxs=9), st.integers(0, 2**32 - 1))
def test_without_limits_the_cut_is_the_smallest_there_is(graph, seed):
    """Between fixed ends and with room for everything, one pair gives the minimum cut itself."""
    n = graph.nvtxs
    if n < 4:
        return
    rng = np.random.default_rng(seed)
    part = rng.permutation(np.arange(n) % 2)
    fixed = np.full(n, -1)
    for p in (0, 1):
        fixed[rng.choice(np.flatnonzero(part == p))] = p
    done = Pair(graph, part, [graph.total_weight] * 2, fixed=fixed, reach=n)
    done.check()
    ends = np.flatnonzero(fixed == 0), np.flatnonzero(fixed == 1)
    border = {v for v, row in rows(graph).items() if any(part[u] != part[v] for u in row)}
    grown = set(border)
    for _ in range(n):
        grown |= {u for v in grown for u in rows(graph)[v]}
    if set(np.concatenate(ends).tolist()) <= grown:
        assert edge_cut(graph, done.part) == expected_flow(graph, *(plenty_at(n, end) for end in ends))


def test_a_ragged_border_becomes_straight():
    """Two halves of a grid with teeth between them."""
    graph = grid(16, 16)
    column = np.arange(256) % 16
    teeth = np.where(np.arange(256) // 16 // 2 % 2 == 0, 10, 6)
    done = Pair(graph, (column >= teeth).astype(int), [134, 134], reach=4)
    done.check()
    assert edge_cut(graph, done.before) > 16
    assert edge_cut(graph, done.part) == 16


def test_a_cut_out_of_balance_is_pierced_until_it_fits():
    """A dumbbell whose thin place lies off the middle: the minimum cut is too uneven, the next one fits."""
    thin = np.array([9, 9, 9, 1, 9, 9, 2, 9, 9, 9, 9])  # a path of 12; the thinnest edge joins 3 and 4
    graph = path(12, ewgt=thin)
    part = (np.arange(12) >= 6).astype(int)  # through an edge of 9
    wide = Pair(graph, part, [12, 12], fixed=np.where(np.isin(np.arange(12), (0, 11)), part, -1), reach=12)
    wide.check()
    assert edge_cut(graph, wide.part) == 1
    tight = Pair(graph, part, [7, 7], fixed=np.where(np.isin(np.arange(12), (0, 11)), part, -1), reach=12)
    tight.check()
    assert edge_cut(graph, tight.part) == 2
    exact = Pair(graph, part, [6, 6], fixed=np.where(np.isin(np.arange(12), (0, 11)), part, -1), reach=12)
    exact.check()
    assert exact.gain == 0


def test_a_part_that_lies_in_the_region_as_a_whole_is_left_alone():
    """Without a vertex outside there is no terminal: the smallest cut would be none, with one part empty."""
    graph = path(8)
    done = Pair(graph, np.arange(8) % 2, [8, 8], reach=8)
    done.check()
    assert done.gain == 0


def test_nothing_to_win_between_parts_that_do_not_touch():
    graph = Graph.from_edges(8, [0, 1, 2, 4, 5, 6], [1, 2, 3, 5, 6, 7])
    done = Pair(graph, [0] * 4 + [1] * 4, [8, 8])
    done.check()
    assert done.gain == 0


@pytest.mark.parametrize("graph", [star(9), complete(6), path(2), path(3), grid(3, 3, vwgt=np.zeros(9, int))],
                         ids=["star", "complete", "edge", "three", "no weight"])
def test_small_graphs_of_the_odd_kind(graph):
    n = graph.nvtxs
    for part in product((0, 1), repeat=n):
        if 0 < sum(part) < n:
            total = graph.total_weight
            pwgt, _ = loads(graph, part, 2)
            for limit in (pwgt, [total, total]):
                Pair(graph, part, limit).check()


@settings(max_examples=EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_the_only_other_part_that_a_vertex_touches(graph, seed):
    n = graph.nvtxs
    rng = np.random.default_rng(seed)
    part = rng.integers(0, 3, n).astype(np.int32)
    want = []
    for v, row in rows(graph).items():
        others = {int(part[u]) for u in row} - {int(part[v])}
        want.append(NONE if not others else others.pop() if len(others) == 1 else SEVERAL)
    # those at the border, and some more
    listed = ((np.array(want) != NONE) | (rng.random(n) < 0.5)).astype(np.uint8)
    for known in (listed, listed[:0]):
        found = np.empty(n, np.int32)
        for lo, hi in ((0, n // 2), (n // 2, n)):
            flow_pairs.find_facing(lo, hi, level(graph), part, known, found)
        assert found.tolist() == want


# ---- cut edges by pair
@given(graphs(), st.integers(0, 2**32 - 1))
def test_cut_edges_are_listed_once_by_pair(graph, seed):
    part = np.random.default_rng(seed).integers(0, 4, graph.nvtxs).astype(np.int32)
    g = level(graph)
    border = np.array([v for v, row in rows(graph).items() if any(part[u] != part[v] for u in row)], np.int32)
    key, weight = np.empty(len(g.adjncy), np.int64), np.empty(len(g.adjncy), np.int64)
    count = int(flow_pairs.cut_pairs(g, part, border, 4, key, weight, key[:0]))
    want = sorted((int(min(part[u], part[v])) * 4 + int(max(part[u], part[v])), w)
                  for v, row in rows(graph).items() for u, w in row.items() if v < u and part[u] != part[v])
    assert sorted(zip(key[:count].tolist(), weight[:count].tolist(), strict=True)) == want
    table, none = np.zeros(16, np.int64), np.zeros(0, np.int64)
    assert flow_pairs.cut_pairs(g, part, border, 4, none, none, table) == count
    assert table.tolist() == [sum(w for pair, w in want if pair == one) for one in range(16)]


# ---- all pairs
def refined(g: Level, start: np.ndarray, limit: np.ndarray, threads: int = 1, **how: Any) -> tuple[np.ndarray, int]:
    part = start.copy()
    with Team(threads) as team:
        won = flows.refine_pairs(g, part, limit, team, **{"rounds": 3, "reach": 6, "share": 0.5, **how})
    return part, won


@settings(max_examples=EXAMPLES)
@given(cases(), st.integers(1, 3))
def test_all_pairs_keep_all_promises(case, rounds):
    found = packing(case)
    if found is None or excuses(case):
        return
    graph, start = case.graph, np.array(found, np.int32)
    part, won = refined(level(graph, case.fixed), start, case.limit, rounds=rounds)
    assert won == edge_cut(graph, start) - edge_cut(graph, part) >= 0
    pwgt, population = loads(graph, part, case.nparts)
    assert (pwgt <= case.limit).all()
    assert (population > 0).all()
    if case.fixed is not None:
        held = case.fixed >= 0
        assert (part[held] == case.fixed[held]).all()


@pytest.mark.parametrize("name", ["grown", "scattered", "weights", "fixed"])
def test_pairs_on_threads_make_no_difference(name):
    side, k = (8, 4) if NO_JIT else (40, 8)
    n = side * side
    rng = np.random.default_rng(2)
    graph = grid(side, side)
    start, fixed = grown(graph, k, 1), None
    if name == "scattered":
        start = scattered(n, k, 1)
    elif name == "weights":
        u, v, _ = graph.edges()
        graph = Graph.from_edges(n, u, v, rng.integers(0, 9, len(u)), vwgt=rng.integers(0, 5, n))
    elif name == "fixed":
        fixed = np.where(rng.random(n) < 0.1, start, -1)
    g = level(graph, fixed)
    limit = np.maximum(max_part_weights(graph.total_weight, k, 0.1, None), loads(graph, start, k)[0])
    runs = [refined(g, start, limit, threads) for threads in (1, 2, 3)]
    assert len({(part.tobytes(), won) for part, won in runs}) == 1
    # a part whose vertices all lie at borders has no terminal
    assert runs[0][1] > 0 or name == "scattered"


@settings(max_examples=EXAMPLES)
@given(graphs(), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_pairs_are_refined_as_well_from_what_refinement_knows(graph, k, seed):
    """Its books and its list of the border, after moves and evictions, stand for a look at the whole graph."""
    if graph.nvtxs < k:
        return
    rng = np.random.default_rng(seed)
    fixed = np.where(rng.random(graph.nvtxs) < 0.1, rng.integers(0, k, graph.nvtxs), -1).astype(np.int32)
    part = np.where(fixed < 0, rng.permutation(graph.nvtxs) % k, fixed).astype(np.int32)
    g, limit = level(graph, fixed), np.full(k, graph.total_weight)
    with Team(1) as team:
        refiner = Refiner(g, NO_PULL, part, limit, team, 1)
        refiner.improve(PRESETS["default"], edge_cut(graph, part))
        want, gain = refined(g, part, limit)
        state = refiner.state
        won = flows.refine_pairs(g, part, limit, team, 3, 6, 0.5, state)
    assert (part.tolist(), won) == (want.tolist(), gain)
    pwgt, population = loads(graph, part, k)
    assert (state.pwgt.tolist(), state.population.tolist()) == (pwgt.tolist(), population.tolist())


def test_batches_are_disjoint_and_maximal():
    waiting = np.array([(0, 1), (1, 2), (2, 3), (0, 3), (4, 5)], np.int32)
    none = np.zeros(0, np.int32)
    batch = flows.empty_batch(6, 6)
    assert flow_pairs.next_batch(np.zeros(6, np.int32), none, waiting, 5, batch) == (3, 2)
    assert batch.pairs.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert flow_pairs.next_batch(np.zeros(6, np.int32), none, waiting, 2, batch) == (2, 0)
    assert batch.pairs[:2].tolist() == [[1, 2], [0, 3]]


@given(st.lists(st.lists(st.integers(0, 39), unique=True), max_size=4), st.integers(0, 2**32 - 1))
def test_batches_come_with_the_border_by_part(turns, seed):
    """What is new there is put in, wherever it belongs; listed twice it never is."""
    part = np.random.default_rng(seed).integers(0, 5, 40).astype(np.int32)
    batch, there = flows.empty_batch(40, 5), set()
    for new in turns:
        fresh = np.array(sorted(set(new) - there), np.int32)
        there |= set(new)
        flow_pairs.next_batch(part, fresh, np.zeros((0, 2), np.int32), 0, batch)
        assert batch.border[: batch.count[0]].tolist() == sorted(there)
        for p in range(5):
            mine = batch.order[batch.start[p] : batch.start[p + 1]]
            assert mine.tolist() == [v for v in sorted(there) if part[v] == p]


@pytest.mark.parametrize("seed", [0, 5, 7, 12, 26])
def test_dense_graphs_stay_within_the_queue(seed):
    """A vertex is listed once per arc from the side: more than there is room for, as plain Python an IndexError."""
    rng, n = np.random.default_rng(seed), 16
    graph = Graph.from_edges(n, *np.triu_indices(n, 1)).replace(vwgt=rng.integers(1, 6, n))
    fixed = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), -1)
    part = partition(graph, 3, fixed=fixed, preset="strong", eps=0.3, seed=seed)
    assert (part[fixed >= 0] == fixed[fixed >= 0]).all()
    assert len(np.unique(part)) == 3


@pytest.mark.parametrize("spread", [1, 40])
def test_pairs_of_parts_come_by_the_weight_between_them(spread):
    """Counted in a table where there are few parts, and put in order where there are many: against a recount."""
    rng = np.random.default_rng(5)
    graph = grid(9, 8)
    part = (rng.integers(0, 6, graph.nvtxs) * spread).astype(np.int32)
    between: dict[tuple[int, int], int] = {}
    for v in range(graph.nvtxs):
        for u in graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]]:
            if part[v] < part[u]:
                pair = int(part[v]), int(part[u])
                between[pair] = between.get(pair, 0) + 1
    found = flows._pairs(level(graph), part, 6 * spread, np.arange(graph.nvtxs, dtype=np.int32))
    assert [tuple(p) for p in found.tolist()] == sorted(between, key=lambda pair: (-between[pair], pair))
