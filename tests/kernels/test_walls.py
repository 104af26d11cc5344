"""The walls between parts: what moves keep up to date equals a fresh survey, and prices equal what then changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from copart.coupling import CoupledProblem, Interedges
from copart.kernels.handing import Chains, hand_over
from copart.kernels.wall_annealing import EASING, Border, Cooling, anneal_walls, find_walls, list_walls
from copart.kernels.wall_dissolving import TARGETS, Group, dissolve_messages
from copart.kernels.wall_prices import holds_together, traffic_price, uncut_by
from copart.kernels.walls import Walls, shift, touch_coupled
from copart.metrics import pieces
from copart.options import PRESETS
from copart.partitioner.rounds import Team
from copart.schemes.joint.stack import stacked, walls_of

from ..helpers import grid

FREE = 2**60


def chained(rng: np.random.Generator, k: int = 3) -> tuple[CoupledProblem, dict[str, np.ndarray]]:
    """Three grids, each beside the next with random interedges besides, in stripes of k parts."""
    ids = np.arange(64).reshape(8, 8)
    graphs = {name: grid(8, 8, vwgt=rng.integers(1, 4, 64)).replace(vsize=rng.integers(0, 4, 64)) for name in "abc"}
    pairs = {}
    for pair in pairwise("abc"):
        u = np.r_[ids[:, -1], rng.integers(0, 64, 6)]
        v = np.r_[ids[:, 0], rng.integers(0, 64, 6)]
        pairs[pair] = Interedges.from_pairs(64, 64, u, v)
    parts = {name: (np.arange(64) // 8 * k // 8).astype(np.int32) for name in "abc"}
    return CoupledProblem(graphs, pairs), parts


def state(problem, parts, k=3, level=0):
    with Team(1) as team:
        stack = stacked(problem, parts, dict.fromkeys(problem.names, k), PRESETS["default"], team)
    owner = np.repeat(np.arange(len(problem.names), dtype=np.int32), k)
    part = np.concatenate([parts[name] + k * i for i, name in enumerate(problem.names)]).astype(np.int32)
    for cmap in stack.maps[:level]:
        coarse = np.empty(int(cmap.max()) + 1, np.int32)
        coarse[cmap] = part
        part = coarse
    free = np.full(len(owner), FREE)
    g = stack.levels[level]
    return g, walls_of(g, part, owner, np.arange(len(owner), dtype=np.int32), free, free.copy())


def border_of(n: int) -> Border:
    return Border(np.empty(n, np.int32), np.zeros(n, np.uint8), np.zeros(n, np.int32), np.empty(n, np.int32),
                  np.empty(n, np.int32), np.zeros(n, np.uint8), np.zeros(2, np.int64))


ALL_WALLS = np.zeros(0, np.int32)


def cooling(components: int, **given) -> Cooling:
    ones, limits = np.ones(components), np.full((components, components), FREE)
    return Cooling(**{"heat": np.array([0.5, 0.1]), "blur": np.array([1.0, 0.1]), "press": np.ones(2) * 5,
                      "squeeze": np.ones(2) * 5, "unit": ones, "heavy": ones, "wet": ones,
                      "datum": np.ones((components, components)), "message": ones * 4, "over": 0.0, "most": limits,
                      "most_messages": limits, "ease": np.ones(components),
                      "most_cut": np.full(components, FREE), "least": np.ones(components, np.int64),
                      "islands": np.zeros(components, np.uint8), **given})


def fresh(g, s: Walls) -> Walls:
    return walls_of(g, s.part.copy(), s.owner, s.slot, s.room, s.bound)


def assert_same(s: Walls, other: Walls, g) -> None:
    for name in ("load", "share", "population", "pairs", "sent", "got", "messages", "volume", "cut", "total", "owners"):
        assert np.array_equal(getattr(s, name), getattr(other, name)), name
    for v in range(len(s.part)):  # in any order
        mine, theirs = ({(int(x.where[i]), int(x.many[i])) for i in range(g.iptr[v], g.iptr[v] + x.used[v])}
                        for x in (s, other))
        assert mine == theirs


@pytest.mark.parametrize("seed", range(4))
def test_moves_keep_everything_up_to_date(seed):
    rng = np.random.default_rng(seed)
    g, s = state(*chained(rng))
    for _ in range(150):
        v = int(rng.integers(len(s.part)))
        a = int(s.part[v])
        b = int(rng.choice(np.flatnonzero(s.owner == s.owner[a])))
        if b == a:
            continue
        uncut, _, _ = _uncut(g, s, v, a, b)
        s.cut[s.owner[a]] += uncut
        _shift(g, s, v, a, b)
    assert_same(s, fresh(g, s), g)


@pytest.mark.parametrize("seed", range(3))
def test_prices_are_what_changes(seed):
    """Data and messages at the prices of the component that moves; what is above a limit counts once more."""
    rng = np.random.default_rng(10 + seed)
    g, s = state(*chained(rng))
    prices = rng.random((3, 3))
    few = np.full((3, 3), 2)
    for limit in (np.full((3, 3), FREE), few):
        for _ in range(60):
            v = int(rng.choice(np.flatnonzero(np.diff(g.iptr))))
            a = int(s.part[v])
            own = int(s.owner[a])
            b = int(rng.choice(np.flatnonzero((s.owner == own) & (np.arange(9) != a))))
            told = _traffic(g, s, v, a, b, prices, 7.0, limit)
            before = fresh(g, s)
            _shift(g, s, v, a, b)
            change = float((prices[own] * (s.volume - before.volume)[:, own]).sum())
            change += 7.0 * float(s.total[0] - before.total[0])
            over, was = (np.maximum(x.messages - limit[x.owner], 0) for x in (s, before))
            change += 7.0 * float((over - was)[[a, b]].sum())
            partners = 7.0 * float(np.maximum(over - was, 0).sum() - np.maximum(over - was, 0)[[a, b]].sum())
            assert told == pytest.approx(change + partners, abs=1e-4)


def _uncut(g, s, v, a, b):
    return _compiled_uncut(g, s, v, a, b)


def _jit(function):
    from copart.kernels import kernel

    return kernel(function)


@_jit
def _compiled_uncut(g, s, v, a, b):
    return uncut_by(g.xadj, g.adjncy, g.ewgt, s.part, v, a, b)


@_jit
def _shift(g, s, v, a, b):
    shift(g, s, np.int64(v), np.int64(a), np.int64(b))


@_jit
def _traffic(g, s, v, a, b, datum, message, most):
    return traffic_price(g, s, np.int64(v), np.int64(a), np.int64(b), datum, message, 1e-9, most, most, 0.0)


@_jit
def _holds(g, part, v, stamp, mark, queue):
    return holds_together(g.xadj, g.adjncy, part, v, stamp, mark, queue)


def test_holding_together_is_what_a_search_finds():
    rng = np.random.default_rng(5)
    graph = grid(7, 7)
    for stamp in range(1, 200):
        part = (rng.random(49) < 0.6).astype(np.int32)
        v = int(rng.integers(49))
        g, _ = state(CoupledProblem({"a": graph}, {}), {"a": np.zeros(49, np.int32)}, 1)
        near = [u for u in graph.adjncy[graph.xadj[v]:graph.xadj[v + 1]] if part[u] == part[v]]
        without = part.copy()
        without[v] = 2
        reached = {near[0]} if near else set()
        grown = True
        while grown:
            more = {int(u) for x in reached for u in graph.adjncy[graph.xadj[x]:graph.xadj[x + 1]]
                    if without[u] == part[v]}
            grown = not more <= reached
            reached |= more
        assert _holds(g, part, v, stamp, np.zeros(49, np.int32), np.empty(60, np.int32)) == (set(near) <= reached)


def listed(g, s, live, former, border) -> int:
    """The vertices at walls of all the graph, which are looked for in two pieces; looked at again they are the same."""
    n = len(s.part)
    found = np.full(n, -9, np.int32)
    cuts = (0, n // 3, n)
    near = np.concatenate([found[lo : lo + find_walls(lo, hi, g, s, live, former, found)] for lo, hi in pairwise(cuts)])
    assert (np.diff(near) > 0).all()
    count = list_walls(g, s, live, near, False, border)
    assert border.listed[:count].tolist() == near.tolist()
    assert np.flatnonzero(border.there).tolist() == near.tolist()
    assert sorted(border.pool[: border.stamp[1]].tolist()) == np.flatnonzero(border.known).tolist()
    if not border.stamp[0]:
        assert list_walls(g, s, live, ALL_WALLS, True, border) == count
        assert border.listed[:count].tolist() == near.tolist()
    return count


@pytest.mark.parametrize("along", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_annealing_keeps_parts_in_one_piece_and_the_books_right(seed, along):
    problem, parts = chained(np.random.default_rng(seed))
    g, s = state(problem, parts)
    before = 4 * s.total[0] + s.cut.sum() + s.volume.sum()
    live, border = np.ones(9, np.uint8), border_of(len(s.part))
    count = listed(g, s, live, ALL_WALLS, border)
    moves = anneal_walls(g, s, 40, cooling(3), seed, False, along, live, count, border)
    assert moves > 0
    assert_same(s, fresh(g, s), g)
    assert not border.there.any()
    for i, name in enumerate("abc"):
        mine = s.part[64 * i:64 * (i + 1)] - 3 * i
        assert pieces(problem.components[name], mine, 3).tolist() == [1, 1, 1]
    assert 4 * s.total[0] + s.cut.sum() + s.volume.sum() < before


def test_walls_that_have_not_moved_are_left_out():
    """Of two walls far from any interface only the one beside a vertex in another part than before is listed."""
    problem = CoupledProblem({"a": grid(12, 3)}, {})
    part = np.repeat([0, 1, 2], 12).astype(np.int32)  # columns of 3: walls between vertices 9-11 and 12-14, 21-23 ...
    g, s = state(problem, {"a": part}, 3)
    live, former = np.ones(3, np.uint8), s.part.copy()
    assert listed(g, s, live, ALL_WALLS, border_of(36)) == 12
    assert listed(g, s, live, former, border_of(36)) == 0
    former[13] = 0  # as if it had come from part 0
    border = border_of(36)
    count = listed(g, s, live, former, border)
    assert sorted(border.listed[:count].tolist()) == [10, 12, 13, 14]
    border = border_of(36)
    some = np.array([9, 11, 28], np.int32)
    count = list_walls(g, s, live, some, False, border)
    assert sorted(border.listed[:count].tolist()) == [9, 11], "of those that are asked for"
    s.room[2] = 11  # above its limit: all its walls count
    border = border_of(36)
    assert listed(g, s, live, s.part.copy(), border) == 3
    assert sorted(border.listed[:3].tolist()) == [24, 25, 26]


@pytest.mark.parametrize("seed", range(3))
def test_no_cut_grows_beyond_its_limit_where_limits_are_hard(seed):
    """And while one is too large, data and messages are worth less from sweep to sweep."""
    problem, parts = chained(np.random.default_rng(seed))
    g, s = state(problem, parts)
    limit = s.cut + 2
    given = cooling(3, message=np.full(3, 40.0), most_cut=limit)
    live, border = np.ones(9, np.uint8), border_of(len(s.part))
    count = listed(g, s, live, ALL_WALLS, border)
    assert anneal_walls(g, s, 10, given, seed, True, False, live, count, border) > 0
    assert (s.cut <= limit).all()
    assert_same(s, fresh(g, s), g)
    given = cooling(3, most_cut=np.zeros(3, np.int64))
    count = listed(g, s, live, ALL_WALLS, border)
    anneal_walls(g, s, 4, given, seed, False, False, live, count, border)
    assert np.allclose(given.ease, EASING**4)


def test_excess_is_handed_along_the_parts_between():
    """A line of parts whose first weighs too much and whose last has room: all in between hand on."""
    problem = CoupledProblem({"a": grid(40, 3)}, {})
    part = np.repeat([0, 1, 2, 3], [48, 30, 30, 12]).astype(np.int32)
    g, s = state(problem, {"a": part}, 4)
    s.room[:] = 31
    memory = Chains(np.empty((4, 4)), np.empty((4, 4), np.int32), np.empty((4, 4), np.int32), np.empty(4),
                    np.empty(4, np.int32), np.empty(4, np.uint8), np.empty(4, np.int32),
                    np.empty(120, np.int32), np.empty(120, np.int32))
    cells = np.arange(120, dtype=np.int32)
    left = hand_over(g, s, cooling(1), False, cells, 0, 4, memory, border_of(120), 400)
    assert left == 0
    assert s.load.max() <= 31
    assert_same(s, fresh(g, s), g)
    assert pieces(problem.components["a"], s.part, 4).tolist() == [1, 1, 1, 1]


def test_parts_at_the_interface_and_those_beside_them_are_marked():
    """A row of three parts of which the first is coupled: it, and the one that touches it."""
    side = Interedges.from_pairs(36, 36, [0, 1], [0, 1])
    part = np.repeat([0, 1, 2], 12).astype(np.int32)
    g, s = state(CoupledProblem({"a": grid(12, 3), "b": grid(12, 3)}, {("a", "b"): side}), {"a": part, "b": part}, 3)
    wet, near = np.zeros((2, 6), np.uint8)
    assert touch_coupled(g, s.part, wet, near) == 4
    assert wet.tolist() == [1, 0, 0, 1, 0, 0]
    assert near.tolist() == [1, 1, 0, 1, 1, 0]


def test_a_message_of_one_interedge_is_given_up():
    """Two squares in two parts that face each other, but for one vertex beyond the wall."""
    ids = np.arange(64).reshape(8, 8)
    side = Interedges.from_pairs(64, 64, ids[:, -1], ids[:, 0])
    problem = CoupledProblem({"a": grid(8, 8), "b": grid(8, 8)}, {("a", "b"): side})
    half = (np.arange(64) // 32).astype(np.int32)
    ragged = half.copy()
    ragged[ids[4]] = 0
    g, s = state(problem, {"a": ragged, "b": half}, 2)
    assert s.total[0] == 3
    cells = np.flatnonzero(np.diff(g.iptr)).astype(np.int32)
    order = cells[np.argsort(s.part[cells], kind="stable")]
    start = np.searchsorted(s.part[order], np.arange(5))
    group = Group(*(np.empty(size, np.int32) for size in (8, 8, TARGETS, 4, 4, 16, 16, 16)))
    moved = dissolve_messages(g, s, cooling(2, message=np.full(2, 9.0)), 1.0, 2, start, order, group,
                              border_of(len(s.part)))
    assert moved == 1
    assert s.total[0] == 2
    assert_same(s, fresh(g, s), g)
