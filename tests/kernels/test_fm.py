"""K-way FM: the heap, the choice of a target, the pass with its rollback."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kernels import fm as kernels

from ..helpers import grid
from ..partition_reference import NO_PULL, connectivity, level, loads, objective, path, pull_of
from ..reference import graphs


class Pass:
    """One FM pass on a graph, with everything it keeps."""

    def __init__(self, graph: Graph, part, limit, *, fixed=None, table=None, origin=None, stall: int = 50):
        n, k = graph.nvtxs, len(limit)
        self.graph, self.table, self.origin = graph, table, origin
        self.before = np.array(part, np.int32)
        self.part = self.before.copy()
        self.pwgt, self.population = loads(graph, part, k)
        self.pos, self.state = np.full(n, -1, np.int32), np.zeros(n, np.uint8)
        self.log, result = np.empty((2, n), np.int32), np.zeros(4, np.int64)
        pull, seeds = NO_PULL if table is None else pull_of(table), np.arange(n, dtype=np.int32)
        scratch = np.empty(k, np.int64), np.empty(k, np.int32)
        self.gain = int(kernels.fm_pass(
            level(graph, fixed, origin), pull, self.part, self.pwgt, self.population, np.array(limit, np.int64), seeds,
            stall, np.empty(n, np.int32), self.pos, np.empty(n, np.int64), self.state, self.log,
            *scratch, result))
        self.kept = int(result[2])

    def cut(self, part) -> int:
        return objective(self.graph, part, self.table, self.origin)

    def check(self, limit, fixed=None) -> None:
        """The books agree with a recount."""
        k = len(limit)
        pwgt, population = loads(self.graph, self.part, k)
        assert (self.pwgt == pwgt).all()
        assert (self.population == population).all()
        assert self.gain == self.cut(self.before) - self.cut(self.part), "the gain is the decrease of the objective"
        assert (self.pos == -1).all()
        assert (self.state == 0).all()
        before, was = loads(self.graph, self.before, k)
        assert np.maximum(pwgt - limit, 0).sum() <= np.maximum(before - limit, 0).sum(), "excess never grows"
        assert (population[was > 0] > 0).all(), "no part is emptied"
        if fixed is not None:
            held = np.asarray(fixed) >= 0
            assert (self.part[held] == self.before[held]).all()


# ---- the heap of vertices
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=50), st.integers(0, 2**32 - 1))
def test_vertices_leave_the_heap_by_key(keys, seed):
    rng = np.random.default_rng(seed)
    n = len(keys)
    key = np.array(keys, np.int64)
    heap, pos = np.empty(n, np.int32), np.full(n, -1, np.int32)
    for v in range(n):
        heap[v] = v
        pos[v] = v
        kernels.sift_up(heap, pos, key, v)
    size = n
    for v in rng.choice(n, n // 3, replace=False).tolist():
        # removed from anywhere, or with another key
        if rng.random() < 0.5:
            size = kernels.remove(heap, pos, key, size, v)
            assert pos[v] == -1
        else:
            key[v] += int(rng.integers(-9, 10))
            kernels.sift_up(heap, pos, key, pos[v])
            kernels.sift_down(heap, pos, key, size, pos[v])
        assert all(pos[heap[i]] == i for i in range(size))
    left = sorted((int(key[v]) for v in range(n) if pos[v] >= 0), reverse=True)
    order = []
    while size:
        order.append(int(key[heap[0]]))
        size = kernels.remove(heap, pos, key, size, heap[0])
    assert order == left


# ---- the target
def target(graph: Graph, part, limit, v: int, table=None, origin=None) -> tuple[int, int]:
    k = len(limit)
    pwgt, _ = loads(graph, part, k)
    conn, result = np.full(k, -1, np.int64), np.zeros(4, np.int64)
    kernels.best_target(level(graph, origin=origin), NO_PULL if table is None else pull_of(table),
                        np.array(part, np.int32), pwgt, np.array(limit, np.int64), v, conn, np.empty(k, np.int32),
                        result)
    assert (conn == -1).all(), "scratch is restored"
    return int(result[0]), int(result[1])


@given(graphs(), st.integers(0, 2**32 - 1), st.booleans())
def test_target_equals_its_twin(graph, seed, affine):
    """Most connected part with room; ties to the lighter, then the smaller number; affinities count."""
    rng = np.random.default_rng(seed)
    n, k = graph.nvtxs, 4
    part = rng.integers(0, k, n)
    origin, table = (rng.integers(0, 2, n), rng.integers(0, 3, (2, k))) if affine else (None, None)
    pwgt, _ = loads(graph, part, k)
    limit = [int(w) + int(x) for w, x in zip(pwgt, rng.integers(0, 4, k), strict=True)]
    for v in range(n):
        joined = connectivity(graph, part, v, table, origin)
        room = [p for p in joined if p != part[v] and pwgt[p] + graph.weights[v] <= limit[p]]
        got, gain = target(graph, part, limit, v, table, origin)
        if room:
            want = min(room, key=lambda p: (-joined[p], int(pwgt[p]), p))
            assert (got, gain) == (want, joined[want] - joined.get(int(part[v]), 0))
        else:
            assert got == -1


def test_target_ties():
    graph = Graph.from_edges(7, [0, 0, 0], [1, 2, 3], vwgt=[1, 5, 3, 3, 1, 1, 1])
    part = [0, 1, 2, 3, 0, 0, 0]
    assert target(graph, part, [9] * 4, 0) == (2, 1), "parts 2 and 3 are lighter than 1, and 2 comes first"
    assert target(graph, part, [9, 9, 3, 9], 0) == (3, 1), "part 2 is full"
    assert target(graph, part, [9, 5, 3, 3], 0)[0] == -1


# ---- the pass
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 4), st.booleans())
def test_books_agree_after_a_pass(graph, seed, k, affine):
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    part = rng.integers(0, k, n)
    fixed = np.where(rng.random(n) < 0.3, part, -1)
    origin, table = (rng.integers(0, 2, n), rng.integers(0, 3, (2, k))) if affine else (None, None)
    limit = np.full(k, -(-graph.total_weight // k) + 2)
    done = Pass(graph, part, limit, fixed=fixed, origin=origin, table=table, stall=int(rng.integers(1, 20)))
    done.check(limit, fixed)
    over = np.maximum(loads(graph, part, k)[0] - limit, 0).sum()
    if not over:
        assert done.gain >= 0, "from balance, a pass never ends worse"


def test_takes_strays_back():
    """Two halves of a grid, and in the middle of each a vertex of the other: one pass exchanges them."""
    graph = grid(8, 8)
    halves = np.tile(np.repeat([0, 1], 4), 8)
    strayed = halves.copy()
    strayed[[17, 22]] = [1, 0]
    done = Pass(graph, strayed, [33, 33])
    done.check(np.array([33, 33]))
    assert (done.part == halves).all()
    assert done.gain == 8


def test_climbs_a_hill_and_rolls_back_to_the_best_prefix():
    """Path 0=1-2=3 with the border through the first heavy edge: the first move loses or wins nothing, the second wins.

    ::

        part   0 | 1   1   1        weights of the edges: 5, 1, 5
    """
    graph = path(6, ewgt=[1, 5, 5, 5, 1])
    done = Pass(graph, [0, 0, 0, 1, 1, 1], [5, 5])
    done.check(np.array([5, 5]))
    assert done.gain == 4, "border moved over two heavy edges, through moves of gain 0"
    assert done.cut(done.part) == 1
    moved = int((done.part != done.before).sum())
    assert done.kept == moved, "exactly the moves of the best prefix are kept"
    assert moved == 2


def test_a_pass_without_profit_changes_nothing():
    graph = path(6)
    done = Pass(graph, [0, 0, 0, 1, 1, 1], [4, 4])
    assert (done.gain, done.kept) == (0, 0)
    assert (done.part == done.before).all()


def test_stall_ends_a_pass():
    """The profit lies behind a long flat stretch; a patient pass gets there, an impatient one does not."""
    weights = [1] + [5] * 12 + [1]
    graph = path(15, ewgt=weights)
    start = [0] * 8 + [1] * 7
    assert Pass(graph, start, [15, 15], stall=50).gain == 4
    assert Pass(graph, start, [15, 15], stall=2).gain == 0


def test_overweight_is_worked_off_at_any_loss():
    graph = path(8, ewgt=[1, 1, 1, 1, 9, 9, 1])
    done = Pass(graph, [0] * 7 + [1], [5, 5])
    done.check(np.array([5, 5]))
    assert done.pwgt.max() <= 5
    assert done.gain < 0 or done.cut(done.part) == 1


def test_everything_fixed_stays():
    graph = grid(4, 4)
    part = np.arange(16) % 2
    done = Pass(graph, part, [16, 16], fixed=part)
    assert (done.gain, done.kept) == (0, 0)
    assert (done.part == part).all()


def test_a_lone_vertex_keeps_its_part():
    graph = path(3)
    done = Pass(graph, [0, 1, 1], [3, 3])
    assert set(done.part.tolist()) == {0, 1}
    assert (done.population > 0).all()
