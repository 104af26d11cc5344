"""Recursive bisection: FM with two parts against brute force, sharing out of the labels, the whole on threads."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kernels import Level, recursive_bisection
from copart.kernels import bisection as kernels
from copart.kernels.fm import two_way_pass
from copart.metrics import max_part_weights
from copart.partitioner import arenas, bisection
from copart.partitioner.contiguity import Pieces
from copart.partitioner.rounds import Team
from copart.partitioner.shape import Shape

from ..conftest import NO_JIT
from ..helpers import grid
from ..partition_reference import level, loads, path, scale_free, star, tree
from ..reference import edge_cut, graphs

UNBIASED = np.zeros(0, np.int64)
EXAMPLES = 10 if NO_JIT else 60


def arena_of(g: Level) -> kernels.Arena:
    return arenas.arena_for(g, 9)


def assert_clean(arena: kernels.Arena) -> None:
    """What has to be as it was between calls."""
    assert (arena.queues.pos == -1).all()
    assert (arena.queues.state == 0).all()


class Pass:
    """One pass of FM with two parts, with everything it keeps."""

    def __init__(self, graph: Graph, side: Any, limit: Any, stall: int = 50):
        g = level(graph)
        arena = arena_of(g)
        self.graph, self.before = graph, np.array(side, np.int32)
        self.side = self.before.copy()
        self.pwgt, self.population = loads(graph, side, 2)
        self.gain, self.over, self.cut = (int(x) for x in two_way_pass(
            g, UNBIASED, self.side, self.pwgt, self.population, 1, np.array(limit, np.int64), stall, False,
            arena.queues))
        assert_clean(arena)

    def check(self, limit: Any) -> None:
        """The books agree with a recount."""
        pwgt, population = loads(self.graph, self.side, 2)
        assert self.pwgt.tolist() == pwgt.tolist()
        assert self.population.tolist() == population.tolist()
        assert self.cut == edge_cut(self.graph, self.before)
        assert self.gain == self.cut - edge_cut(self.graph, self.side)
        assert self.over == np.maximum(pwgt - limit, 0).sum()
        before, was = loads(self.graph, self.before, 2)
        excess = np.maximum(before - limit, 0).sum()
        assert self.over <= excess
        if self.over == excess:
            assert self.gain >= 0, "no balance won: never a larger cut"
        assert (population[was > 0] > 0).all(), "no side is emptied"


def optimum(graph: Graph, limit: Any) -> tuple[int, int, tuple[int, ...]]:
    """Least excess, then least cut, of all bisections with two filled sides; and one that has them."""
    found = []
    for side in product((0, 1), repeat=graph.nvtxs):
        if 0 < sum(side) < graph.nvtxs:
            pwgt, _ = loads(graph, side, 2)
            found.append((int(np.maximum(pwgt - limit, 0).sum()), edge_cut(graph, side), side))
    return min(found)


# ---- one pass
@settings(max_examples=2 * EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_books_agree_after_a_pass(graph, seed, slack):
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, graph.nvtxs)
    total = graph.total_weight
    limit = np.array([total // 2 + slack, total - total // 2]) if rng.random() < 0.5 else np.array([total, total])
    Pass(graph, side, limit, int(rng.integers(0, 30))).check(limit)


@settings(max_examples=2 * EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_a_pass_that_knows_the_gains_does_as_one_that_finds_them(graph, seed, slack):
    rng = np.random.default_rng(seed)
    g, side = level(graph), rng.integers(0, 2, graph.nvtxs).astype(np.int32)
    total = graph.total_weight
    limit = np.array([total // 2 + slack, total - total // 2])
    done = []
    for known in (False, True):
        arena, mine, found = arena_of(g), side.copy(), []
        pwgt, population = loads(graph, mine, 2)
        while not found or found[-1][0] > 0 or found[-1][1] < found[-1][2]:
            excess = int(np.maximum(pwgt - limit, 0).sum())
            won, over, cut = (int(x) for x in two_way_pass(
                g, UNBIASED, mine, pwgt, population, 1, limit, 5, known and bool(found), arena.queues))
            found.append((won, over, excess, cut, mine.tolist()))
        assert_clean(arena)
        done.append(found)
    assert done[0] == done[1]


def test_a_pass_climbs_a_hill_and_rolls_back():
    graph = path(6, ewgt=[1, 5, 5, 5, 1])
    done = Pass(graph, [0, 0, 0, 1, 1, 1], [5, 5])
    done.check([5, 5])
    assert done.gain == 4
    assert (done.side != done.before).sum() == 2, "exactly the moves of the best prefix are kept"


def test_a_pass_without_profit_changes_nothing():
    done = Pass(path(6), [0, 0, 0, 1, 1, 1], [4, 4])
    assert done.gain == 0
    assert (done.side == done.before).all()


def test_a_side_over_its_limit_gives_first():
    graph = grid(4, 4)
    done = Pass(graph, np.zeros(16, int), [8, 8])
    done.check([8, 8])
    assert done.pwgt.tolist() == [8, 8]
    assert done.over == 0


def test_a_lone_vertex_stays():
    done = Pass(path(3), [0, 1, 1], [3, 3])
    done.check([3, 3])
    assert set(done.side.tolist()) == {0, 1}


def test_stall_ends_a_pass():
    """The profit lies behind a long flat stretch; a patient pass gets there, an impatient one does not."""
    graph = path(15, ewgt=[1] + [5] * 12 + [1])
    start = [0] * 8 + [1] * 7
    assert Pass(graph, start, [15, 15], stall=50).gain == 4
    assert Pass(graph, start, [15, 15], stall=2).gain == 0


# ---- passes until nothing is won
def refined(graph: Graph, side: Any, limit: Any) -> tuple[np.ndarray, int, int]:
    g = level(graph)
    arena = arena_of(g)
    side = np.array(side, np.int32)
    over, cut = kernels.refine_sides(g, UNBIASED, side, np.array(limit, np.int64), arena)
    assert arena.load[:2].tolist() == [one.tolist() for one in loads(graph, side, 2)]
    assert_clean(arena)
    return side, int(over), int(cut)


@settings(max_examples=2 * EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_fm_reports_the_cut_and_the_excess_it_leaves(graph, seed):
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 2, graph.nvtxs)
    limit = np.full(2, graph.total_weight // 2 + int(rng.integers(0, 3)))
    side, over, cut = refined(graph, start, limit)
    pwgt, _ = loads(graph, side, 2)
    assert cut == edge_cut(graph, side)
    assert over == np.maximum(pwgt - limit, 0).sum()
    was = np.maximum(loads(graph, start, 2)[0] - limit, 0).sum()
    assert (over, cut) <= (was, edge_cut(graph, start))


@settings(max_examples=EXAMPLES)
@given(graphs(max_nvtxs=8), st.integers(0, 2**32 - 1))
def test_fm_against_all_bisections(graph, seed):
    """Of a tiny graph: never better than the optimum from any start, and exactly as good from the optimum itself."""
    n = graph.nvtxs
    if n < 2:
        return
    total = graph.total_weight
    limit = np.array([(total + 1) // 2 + seed % 2, (total + 1) // 2])
    over, cut, best = optimum(graph, limit)
    rng = np.random.default_rng(seed)
    for _ in range(12):
        side, *got = refined(graph, rng.permutation(np.arange(n) % 2), limit)
        assert 0 < side.sum() < n
        assert tuple(got) >= (over, cut)
    assert refined(graph, best, limit)[1:] == (over, cut)


# ---- a bisection
def bisected(graph: Graph, limit: Any, salt: int = 1, starts: int = 0, layers: bool = False) -> np.ndarray:
    """A bisection of the whole graph as the first level of an arena."""
    n = graph.nvtxs
    g = level(graph)
    arena = arena_of(g)
    recursive_bisection.load_subgraph(g, np.arange(n, dtype=np.int32), arena)
    kernels.bisect(arena, n, np.array(limit, np.int64), salt, starts, layers)
    assert_clean(arena)
    return arena.side[:n].copy()


@settings(max_examples=EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1), st.sampled_from([0, 3]))
def test_any_small_graph_is_bisected_in_two(graph, seed, starts):
    n = graph.nvtxs
    if n < 2:
        return
    total, most = graph.total_weight, int(graph.weights.max())
    side = bisected(graph, [total // 2 + most + 1] * 2, seed % 1000, starts)
    assert set(side.tolist()) <= {0, 1}
    assert loads(graph, side, 2)[0].max() <= total // 2 + most + 1, "room for one more vertex suffices"


@pytest.mark.parametrize("starts", [0, 3])
@pytest.mark.parametrize("name", ["grid", "tree", "scale-free", "star", "path", "no edges", "islands"])
def test_weighted_graphs_are_bisected_evenly(name, starts):
    """Large enough for several levels; weights 1 to 9 leave room to balance exactly at 2 %."""
    rng = np.random.default_rng(5)
    n = 400 if NO_JIT else 3000
    side = int(n**0.5)
    shape = {"grid": lambda: grid(side, side), "tree": lambda: tree(n, rng), "scale-free": lambda: scale_free(n, rng),
             "star": lambda: star(n), "path": lambda: path(n), "no edges": lambda: Graph.from_edges(n, [], []),
             "islands": lambda: Graph.from_edges(n, np.arange(0, n - 1, 2), np.arange(1, n, 2))}[name]()
    n = shape.nvtxs
    u, v, _ = shape.edges()
    graph = Graph.from_edges(n, u, v, rng.integers(1, 9, len(u)), vwgt=rng.integers(1, 10, n))
    total = graph.total_weight
    for share in (0.5, 0.25):
        limit = np.ceil(1.02 * total * np.array([share, 1 - share])).astype(np.int64)
        found = bisected(graph, limit, starts=starts)
        assert (loads(graph, found, 2)[0] <= limit).all()
        scattered = edge_cut(graph, rng.random(n) < share)
        assert edge_cut(graph, found) <= (0.9 if name == "star" else 0.8) * scattered, "better than chance"


def test_the_cut_of_a_grid_is_near_its_side():
    side = 20 if NO_JIT else 50
    graph = grid(side, side)
    cuts = [edge_cut(graph, bisected(graph, [1.02 * side * side / 2] * 2, salt, layers=True)) for salt in range(4)]
    assert min(cuts) <= 1.2 * side
    assert max(cuts) <= 1.6 * side


@pytest.mark.parametrize("shape", [(10, 8, 7), (14, 9)] if NO_JIT else [(24, 20, 16), (31, 20, 17), (90, 41)])
def test_the_wall_through_a_box_is_flat(shape):
    """Also where an odd number of layers, or the levels above, put it out of balance at first."""
    graph = grid(*shape)
    limit = [1.02 * graph.nvtxs / 2] * 2
    for salt in range(3):
        side = bisected(graph, limit, salt, layers=True)
        assert loads(graph, side, 2)[0].max() <= limit[0]
        across = graph.nvtxs // max(shape)
        assert edge_cut(graph, side) <= across + (across ** 0.5 + 1) * (len(shape) > 2) + 1, "at most one step in it"


def test_cliques_joined_by_an_edge():
    u, v = np.triu_indices(60, 1)
    graph = Graph.from_edges(120, np.concatenate([u, u + 60, [59]]), np.concatenate([v, v + 60, [60]]))
    side = bisected(graph, [63, 63])
    assert edge_cut(graph, side) == 1


# ---- labels of the sides
@settings(max_examples=300 if not NO_JIT else 60)
@given(st.integers(2, 9), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_labels_are_shared_out(nlabels, free, seed):
    """Any number of parts with a fixed vertex, no more on a side than it has labels: each keeps its own."""
    rng = np.random.default_rng(seed)
    before = rng.permutation(20)[:nlabels].astype(np.int32)
    left = int(rng.integers(1, nlabels))
    of = np.concatenate([np.zeros(left, np.int32), np.ones(nlabels - left, np.int32)])
    with_fixed = rng.permutation(nlabels)[:rng.integers(0, nlabels + 1)]
    order = rng.permutation(len(with_fixed) + free)
    held = np.concatenate([before[with_fixed], np.full(free, -1, np.int32)])[order]
    side = np.concatenate([of[with_fixed], rng.integers(0, 2, free, dtype=np.int32)])[order]
    labels = rng.permutation(before)
    recursive_bisection._split_labels(side, held, labels, left, np.empty(nlabels + 1, np.int32))
    assert sorted(labels.tolist()) == sorted(before.tolist())
    for s, own in ((0, labels[:left]), (1, labels[left:])):
        assert set(held[(side == s) & (held >= 0)].tolist()) <= set(own.tolist())


def test_free_labels_keep_their_order():
    labels = np.array([4, 1, 7, 2], np.int32)
    side, held = np.array([0, 1], np.int32), np.array([-1, -1], np.int32)
    recursive_bisection._split_labels(side, held, labels, 2, np.empty(4, np.int32))
    assert sorted(labels[:2].tolist()) == [1, 4]
    assert sorted(labels[2:].tolist()) == [2, 7]


def test_the_nearest_to_the_other_side_goes_there():
    """Five parts with a vertex each on the left of a path, where there are labels for three."""
    graph = path(12)
    g = level(graph, np.where(np.arange(12) < 5, np.arange(12), -1))
    arena = arena_of(g)
    recursive_bisection.load_subgraph(g, np.arange(12, dtype=np.int32), arena)
    side = np.array([0] * 6 + [1] * 6, np.int32)
    side[[1, 5]] = 1
    assert recursive_bisection._pin_sides(side, g.fixed, 3, 6, arena), "part 0, whose only neighbour is over there"
    assert arena.pin[:12].tolist() == [1, 1, 0, 0, 0] + [-1] * 7
    assert recursive_bisection._pin_sides(side, g.fixed, 2, 6, arena)
    assert arena.pin[:5].tolist() == [1, 1, 1, 0, 0], "of equals the first"
    assert not recursive_bisection._pin_sides(side, g.fixed, 4, 6, arena)
    assert arena.pin[:5].tolist() == [0, 1, 0, 0, 0]
    assert recursive_bisection._pin_sides(side, g.fixed, 5, 5, arena) == 1, "and the other way round"
    assert arena.pin[:5].tolist() == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("starts", [0, 4])
def test_what_is_pinned_stays(starts):
    """A pin in each corner of a grid, on the side where it costs most; all levels keep to it."""
    graph = grid(12, 15)
    arena = arena_of(level(graph, np.zeros(180)))
    recursive_bisection.load_subgraph(level(graph), np.arange(180, dtype=np.int32), arena)
    arena.pin[:180] = -1
    arena.pin[[0, 179]], arena.pin[[14, 165]] = 0, 1
    kernels.bisect(arena, 180, np.array([95, 95]), 3, starts, True)
    side = arena.side[:180]
    assert side[[0, 179, 14, 165]].tolist() == [0, 0, 1, 1]
    assert loads(graph, side, 2)[0].max() <= 95
    assert_clean(arena)


def test_parts_grow_around_what_is_fixed():
    """Two layers of a block are fixed to six parts of sixteen: no part is far from its own."""
    side = 12 if NO_JIT else 24
    graph = grid(side, side, side)
    x, y, z = np.indices((side, side, side)).reshape(3, -1)
    fixed = np.where(z < 2, x * 3 // side * 2 + y * 2 // side, -1)
    g = level(graph, fixed)
    with Team(1) as team:
        for part in bisection.recursive_bisection(g, max_part_weights(graph.total_weight, 16, 0.1, None), [3, 4], team):
            assert Pieces.of(g, part, 16).weight.size <= 17


@settings(max_examples=EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_split_only_reorders(graph, seed, k):
    """Of a part of the graph, several times in one arena: vertices, labels and the edges between sides stay true."""
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    if n < 2:
        return
    fixed = np.full(n, -1)
    pinned = rng.permutation(n)[:rng.integers(0, min(k, n) + 1)]
    fixed[pinned] = rng.permutation(k)[:len(pinned)]
    g = level(graph, fixed)
    arena = arena_of(g)
    limit = np.full(k, graph.total_weight // k + 5)
    for _ in range(3):
        # also more labels than vertices
        labels = rng.permutation(k)[:rng.integers(2, k + 1)].astype(np.int32)
        usable = np.flatnonzero((fixed < 0) | np.isin(fixed, labels))
        vertices = rng.permutation(usable)[:rng.integers(0, len(usable) + 1)].astype(np.int32)
        if len(vertices) < 2:
            continue
        v, x = vertices.copy(), labels.copy()
        at, left = recursive_bisection.split(g, limit, v, x, int(rng.integers(0, 1000)), seed % 3, seed % 2 == 1, arena)
        assert_clean(arena)
        assert sorted(v.tolist()) == sorted(vertices.tolist())
        assert sorted(x.tolist()) == sorted(labels.tolist())
        assert 0 <= at <= len(v)
        assert left == len(x) // 2
        for own, of in ((v[:at], x[:left]), (v[at:], x[left:])):
            assert set(fixed[own][fixed[own] >= 0].tolist()) <= set(of.tolist())
        # a stable partition: each side keeps the order of its vertices
        place = {int(a): i for i, a in enumerate(vertices)}
        for own in (v[:at], v[at:]):
            assert [place[int(a)] for a in own] == sorted(place[int(a)] for a in own)


# ---- the whole
@settings(max_examples=EXAMPLES)
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(2, 30))
def test_every_vertex_gets_a_part_and_fixed_ones_theirs(graph, seed, k):
    """Also with more parts than vertices, once those of each fixed part are one."""
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    if n < 2:
        return
    fixed = np.where(rng.random(n) < rng.choice([0.0, 0.2, 0.6, 1.0]), rng.integers(0, k, n), -1)
    fixed[0] = -1
    limit = max_part_weights(graph.total_weight, k, 0.05, None)
    with Team(1) as team:
        for part in bisection.recursive_bisection(level(graph, fixed), limit, [seed % 999, 7], team):
            assert part.dtype == np.int32
            assert part.min() >= 0
            assert part.max() < k
            assert (part[fixed >= 0] == fixed[fixed >= 0]).all()


@pytest.mark.parametrize("k", [2, 3, 7, 16])
def test_grids_are_shared_out_evenly(k):
    side = 12 if NO_JIT else 40
    graph = grid(side, side)
    limit = max_part_weights(graph.total_weight, k, 0.05, None)
    with Team(1) as team:
        part = bisection.recursive_bisection(level(graph), limit, [3], team)[0]
    load = np.bincount(part, minlength=k)
    assert (load <= limit).all()
    assert (load > 0).all()


def test_unequal_limits_are_met():
    graph = grid(12, 12) if NO_JIT else grid(40, 40)
    limit = max_part_weights(graph.total_weight, 4, 0.05, [1, 2, 3, 6])
    with Team(1) as team:
        part = bisection.recursive_bisection(level(graph), limit, [3], team)[0]
    assert (np.bincount(part, minlength=4) <= limit).all()


@given(st.integers(0, 30), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40)), max_size=4),
       st.tuples(st.floats(0.5, 4), st.floats(0.5, 4)))
def test_sets_that_are_split_at_the_same_time_share_no_memory(rest, sizes, room):
    """Each has its slice of every array but `new`, and none reaches beyond the arena."""
    sizes = [*sizes, (rest, 30)]
    n = sum(count for count, _ in sizes)
    ring = np.arange(n)
    g = level(Graph.from_edges(n, ring, (ring + 1) % n)) if n > 2 else level(path(n))
    g = g._replace(adjncy=np.zeros(sum(entries for _, entries in sizes), np.int32))
    arena = arenas.arena_for(g, 5, sets=len(sizes))
    arena.at[:] = 7  # of a bisection before
    lo = begin = 0
    slices = []
    for place, (count, entries) in enumerate(sizes):
        one = arenas.VertexSet(0, lo, lo + count, 0, 1, begin, begin + entries, place, 0, room)
        slices.append(arenas.cut_out(arena, one))
        lo, begin = lo + count, begin + entries
    flat = [{**one._asdict(), **one.queues._asdict(),
             **{f"to {name}": of for name, of in one.frontier._asdict().items()}} for one in slices]
    for i, (count, entries) in enumerate(sizes):
        mine = flat[i]
        assert len(mine["xadj"]) == len(mine["vwgt"]) == len(mine["cmap"]) >= int(room[0] * count) + kernels.LEVELS
        assert len(mine["adjncy"]) == len(mine["ewgt"]) >= int(room[1] * entries)
        assert all(len(mine[name]) == count + 1 for name in ("side", "tried", "match", "leader", "cwgt", "mark", "log"))
        assert mine["heap"].shape == (2, count + 1)
        assert len(mine["gains"]) == 2 * count
        assert len(mine["to who"]) == entries
        assert not mine["at"].any()
        for name, a in mine.items():
            if isinstance(a, np.ndarray) and name != "new":
                assert a.flags.c_contiguous
                assert not any(np.shares_memory(a, other[name]) for other in flat[i + 1 :])


@given(st.integers(0, 3), st.data())
def test_halves_lie_within_the_slice_of_the_whole_one_behind_the_other(halvings, data):
    room = (1.7, 2.3)
    whole = arenas.VertexSet(0, 10, 90, 0, 16, 50, 400, 3, halvings, room)
    sets = [whole]
    for _ in range(halvings):
        sets = [half for one in sets for half in one.halves(
            data.draw(st.integers(one.lo, one.hi)), data.draw(st.integers(one.first, one.last)),
            data.draw(st.integers(0, one.end - one.begin)), room)]
    for of in ("rows", "entries", "vertices"):
        slices = [getattr(one, of) for one in sets]
        assert slices[0].start == getattr(whole, of).start
        assert all(here.start <= here.stop <= there.start for here, there in pairwise(slices))
        assert slices[-1].stop <= getattr(whole._replace(place=3 + 2**halvings - 1), of).stop
    assert [one.lo for one in sets[1:]] == [one.hi for one in sets[:-1]]
    assert [one.first for one in sets[1:]] == [one.last for one in sets[:-1]]
    assert (sets[0].lo, sets[-1].hi, sets[0].first, sets[-1].last) == (10, 90, 0, 16)


def test_halves_need_the_memory_that_the_whole_has_taken():
    g = level(grid(40, 40))
    rooms, cut_out = [], arenas.cut_out

    def seen(arena, one):
        rooms.append(one.room)
        return cut_out(arena, one)

    with Team(1) as team, pytest.MonkeyPatch.context() as patch:
        patch.setattr(bisection, "cut_out", seen)
        bisection.recursive_bisection(g, np.full(8, 210), [3], team)
    assert rooms[0] == (4, 4)
    assert len(set(rooms[1:])) == 1, "all others have that of the whole"
    assert all(1.5 < one < 4 for one in rooms[1]), "each level has about half of the one before"


@pytest.mark.parametrize("name", ["grid", "weights", "fixed", "hubs"])
def test_threads_make_no_difference(name):
    rng = np.random.default_rng(3)
    side = 10 if NO_JIT else 40
    n = side * side
    u, v, _ = grid(side, side).edges()
    g = {"grid": lambda: level(grid(side, side)),
         "weights": lambda: level(Graph.from_edges(n, u, v, rng.integers(0, 9, len(u)), vwgt=rng.integers(0, 5, n))),
         "fixed": lambda: level(grid(side, side), np.where(rng.random(n) < 0.1, rng.integers(0, 5, n), -1)),
         "hubs": lambda: level(scale_free(n, rng))}[name]()
    limit = max_part_weights(int(g.vwgt.sum()), 9, 0.03, None)
    salts = [4, 5, 9]
    runs = []
    for threads in (1, 2, 3, 8):
        with Team(threads) as team:
            runs.append(np.stack(bisection.recursive_bisection(g, limit, salts, team)).tobytes())
    assert len(set(runs)) == 1
    with Team(1) as team:
        alone = [bisection.recursive_bisection(g, limit, salts[:1], team)[0]]
        alone += [bisection.recursive_bisection(g, limit, [8, salt], team)[1] for salt in salts[1:]]
    assert np.stack(alone).tobytes() == runs[0], "a salt gives the same partition whatever runs beside it"
    assert len({one.tobytes() for one in alone}) == 3, "and another salt another one"


def test_later_runs_begin_in_another_order_but_on_grids_whose_rows_go_through():
    g, limit = level(grid(12, 11)), np.full(4, 36)
    of_rows, uneven, none = (Shape(grid=on_grid, dense=False, far=False, uneven=not even)
                             for on_grid, even in ((True, True), (True, False), (False, True)))
    with Team(1) as team:
        for shape, same in ((of_rows, True), (uneven, False), (none, False)):
            first, again, other = bisection.recursive_bisection(g, limit, [3, 3, 3], team, shape=shape)
            assert (first.tobytes() == again.tobytes()) == same
            assert again.tobytes() == other.tobytes(), "the order is that of the salt"
            for part in (first, again):
                assert (np.bincount(part, minlength=4) <= 36).all()
