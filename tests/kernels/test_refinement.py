"""Rounds of local search: proposals, the afterburn filter, moves and their books, eviction, undo."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kernels import connectivity as touching
from copart.kernels import eviction, jet, jet_pieces, moves
from copart.kernels import refinement as kernels
from copart.kgggp_ml import partition
from copart.options import PRESETS
from copart.partitioner import multilevel, refinement, rounds
from copart.partitioner.coarsening import carry_down, contract
from copart.partitioner.refinement import Refiner, cut_of, first_state, with_room
from copart.partitioner.rounds import Team

from ..conftest import NO_JIT
from ..helpers import grid, triangulated
from ..partition_reference import (
    NO_PULL,
    connectivity,
    level,
    loads,
    objective,
    path,
    pull_of,
    scale_free,
    scattered,
    star,
)
from ..reference import boundary, edge_cut, graphs, rows


def jet_round(r: Refiner, warmth: float) -> int:
    """One round of moves, whatever becomes of the balance; returns the decrease of the cut."""
    at, anything = r.memory.at, np.full_like(r.limit, np.iinfo(np.int64).max // 8)
    r.state = with_room(r.state, int(r.state.count[0]))
    at[:jet.IN_ORDER] = jet.ROUND, r.now, 0, 0, 0, np.iinfo(np.int64).max, -1
    jet_rounds = jet.jet_rounds
    stage = r.team.together(jet_rounds, len(r.state.part), r.g, r.pull, r.state, anything, r.salt, 1,
                            np.array([warmth, warmth]), 0, r.memory, r.waiting)
    assert (stage, at[jet.DONE]) == (jet.OVER, 1)
    return int(at[jet.TOTAL])


def evict_round(r: Refiner) -> int:
    """One round of moves out of overloaded parts; returns the decrease of the cut."""
    at, m = r.memory.at, r.memory
    at[jet.NOW] += 1
    count, conn, touched = int(r.state.count[1]), m.conn[0], m.touched[0]
    r.state = with_room(r.state, count)
    top = eviction.propose_evictions(0, count, r.g, r.pull, r.state, r.limit, r.salt + r.now, m.key, m.vertex, conn,
                                     touched)
    return int(eviction.evict(top, m.vertex, r.g, r.pull, r.state, r.limit, r.now, r.waiting, conn, touched))


class Search:
    """A refiner on a graph, with the objective recounted from the definition."""

    def __init__(self, graph: Graph, part, limit, *, fixed=None, table=None, origin=None, salt: int = 1):
        self.graph, self.table, self.origin, self.fixed = graph, table, origin, fixed
        self.before = np.array(part, np.int32)
        self.part = self.before.copy()
        self.k = len(limit)
        self.refiner = Refiner(level(graph, fixed, origin), NO_PULL if table is None else pull_of(table), self.part,
                               np.array(limit, np.int64), Team(1), salt)

    def cut(self, part=None) -> int:
        return objective(self.graph, self.part if part is None else part, self.table, self.origin)

    def jet_round(self, warmth: float) -> int:
        return jet_round(self.refiner, warmth)

    def evict_round(self) -> int:
        return evict_round(self.refiner)

    def check(self, won: int) -> None:
        """Weights, populations, and the decrease of the cut agree with a recount; fixed vertices stayed."""
        s = self.refiner.state
        pwgt, population = loads(self.graph, self.part, self.k)
        assert (s.pwgt == pwgt).all()
        assert (s.population == population).all()
        assert won == self.cut(self.before) - self.cut()
        was = loads(self.graph, self.before, self.k)[1]
        assert (population[was > 0] > 0).all(), "no part is emptied"
        if self.fixed is not None:
            held = np.asarray(self.fixed) >= 0
            assert (self.part[held] == self.before[held]).all()


@st.composite
def searches(draw, slack: int = 2, most: int = 4):
    """A random start on a random graph in up to `most` parts, with fixed vertices, affinities and limits."""
    graph = draw(graphs())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = graph.nvtxs, draw(st.integers(1, most))
    part = rng.integers(0, k, n)
    fixed = np.where(rng.random(n) < 0.3, part, -1) if draw(st.booleans()) else None
    table, origin = (rng.integers(0, 3, (2, k)), rng.integers(0, 2, n)) if draw(st.booleans()) else (None, None)
    limit = np.full(k, -(-graph.total_weight // k) + slack)
    return Search(graph, part, limit, fixed=fixed, table=table, origin=origin)


# ---- what a vertex is joined to
@given(graphs(), st.integers(0, 2**32 - 1))
def test_gather_equals_its_twin_and_scatter_restores(graph, seed):
    rng = np.random.default_rng(seed)
    part = rng.integers(0, 3, graph.nvtxs).astype(np.int32)
    origin, table = rng.integers(0, 2, graph.nvtxs), rng.integers(0, 3, (2, 3))
    g, pull = level(graph, origin=origin), pull_of(table)
    conn, touched = np.full(3, -1, np.int64), np.empty(3, np.int32)
    for v in range(graph.nvtxs):
        count = touching.gather(g, pull, part, v, conn, touched)
        assert {int(p): int(conn[p]) for p in touched[:count]} == connectivity(graph, part, v, table, origin)
        touching.scatter(conn, touched, count)
        assert (conn == -1).all()
        for p in range(3):
            assert touching.pull_of(g, pull, v, p) == table[origin[v], p] * graph.sizes[v]


@given(graphs(), st.integers(0, 2**32 - 1))
def test_boundary_equals_its_twin(graph, seed):
    rng = np.random.default_rng(seed)
    part, fixed = rng.integers(0, 2, graph.nvtxs).astype(np.int32), rng.integers(-1, 2, graph.nvtxs)
    found = np.empty(graph.nvtxs, np.uint8)
    none = np.empty(0, np.uint8)
    kernels.find_boundary(0, graph.nvtxs, level(graph, fixed), part, part[:0], none, found)
    assert found.tolist() == [int(b and f < 0) for b, f in zip(boundary(graph, part), fixed, strict=True)]


@given(graphs(), st.integers(0, 2**32 - 1))
def test_what_is_inside_on_the_coarser_level_is_not_at_the_border(graph, seed):
    """The same border, and whoever is inside is not looked at: with all called so, there is none."""
    rng, n = np.random.default_rng(seed), graph.nvtxs
    assume(n)
    cmap = np.unique(rng.integers(0, max(n // 2, 1), n), return_inverse=True)[1].astype(np.int32)
    count = int(cmap.max()) + 1
    coarse_part = rng.integers(0, 2, count).astype(np.int32)
    with Team(1) as team:
        g = level(graph)
        above = Refiner(contract(g, cmap, count, team), NO_PULL, coarse_part, np.array([n, n]), team, 1)
        above.improve(PRESETS["default"], 0)
        part = carry_down(coarse_part, cmap)
        states = [first_state(g, part, np.array([n, n]), team, np.empty(n, np.int32), given)
                  for given in (None, (cmap, above.state.listed), (cmap, np.zeros(count, np.uint8)))]
    assert (states[0].listed == states[1].listed).all()
    assert states[0].count.tolist() == states[1].count.tolist()
    assert not states[2].listed.any()


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
@pytest.mark.parametrize(("graph", "pinned", "hubs"), [
    (triangulated(70, 70), 0, False), (grid(90, 60), 0, False), (grid(26, 26, 26), 0, False),
    (triangulated(70, 70), 40, False), (scale_free(3000, np.random.default_rng(1)), 0, True)])
def test_the_border_is_found_from_the_coarser_level(monkeypatch, graph, pinned, hubs):
    """On every level, after Jet, minimum cuts of pairs and k-way FM."""
    known = []

    class Compared(Refiner):
        def __init__(self, g, pull, part, limit, team, salt, skewed=False, above=None):
            super().__init__(g, pull, part, limit, team, salt, skewed, above)
            whole = first_state(g, part, limit, team, np.empty(len(part), np.int32))
            assert (self.state.listed == whole.listed).all()
            known.append(above is not None)

    monkeypatch.setattr(multilevel, "Refiner", Compared)
    fixed = np.where(np.arange(graph.nvtxs) < pinned, np.arange(graph.nvtxs) % 6, -1)
    for preset in ("fast", "default", "strong"):
        partition(graph, 6, preset=preset, fixed=fixed if pinned else None)
    assert any(known) != hubs


@given(graphs(), st.integers(0, 2**32 - 1))
def test_a_move_wins_what_was_said(graph, seed):
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    part = rng.integers(0, 3, n).astype(np.int32)
    origin, table = rng.integers(0, 2, n), rng.integers(0, 3, (2, 3))
    g, pull = level(graph, origin=origin), pull_of(table)
    pwgt, population = loads(graph, part, 3)
    for v in rng.permutation(n)[:8]:
        before = objective(graph, part, table, origin)
        to = (part[v] + int(rng.integers(1, 3))) % 3
        won = moves.gain_of(g, pull, part, v, to)
        moves.transfer(g, part, pwgt, population, v, to)
        assert won == before - objective(graph, part, table, origin)
        again = loads(graph, part, 3)
        assert (pwgt == again[0]).all()
        assert (population == again[1]).all()


# ---- one round
def proposals(s: Search, warmth: float = 0.25):
    """Destination and gain of every vertex as `propose` sees them in the first round."""
    r, m = s.refiner, s.refiner.memory
    conn, touched = np.empty(s.k, np.int64), np.empty(s.k, np.int32)
    kernels.propose(0, int(r.state.count[0]), r.g, r.pull, r.state, 1, warmth, m.dest, m.gain, m.live, conn, touched)
    return m.dest, m.gain


@given(searches(), st.sampled_from([0.0, 0.25, 1.0]))
def test_proposals_equal_their_twin(s, warmth):
    dest, gain = proposals(s, warmth)
    pwgt, _ = loads(s.graph, s.part, s.k)
    for v in range(s.graph.nvtxs):
        joined = connectivity(s.graph, s.part, v, s.table, s.origin)
        own = joined.get(int(s.part[v]), 0)
        others = [p for p in joined if p != s.part[v]]
        if others and not (s.fixed is not None and s.fixed[v] >= 0):
            best = min(others, key=lambda p: (-joined[p], int(pwgt[p]), p))
            if joined[best] >= own or own - joined[best] < warmth * own:
                assert (dest[v], gain[v]) == (best, joined[best] - own), f"vertex {v}"
                continue
        assert dest[v] == -1, f"vertex {v}"


def test_warmth_allows_small_losses():
    """Vertex 1 is joined to its part with 4 and to the other with 3: a loss of a quarter, not less than a quarter."""
    graph = path(3, ewgt=[4, 3])
    assert proposals(Search(graph, [0, 0, 1], [9, 9]), 0.25)[0][1] == -1
    assert proposals(Search(graph, [0, 0, 1], [9, 9]), 0.26)[0][1] == 1
    assert proposals(Search(graph, [0, 0, 1], [9, 9]), 0.26)[1][1] == -1


def afterburned(s: Search) -> list[int]:
    """The vertices that keep their move."""
    r, m = s.refiner, s.refiner.memory
    proposals(s)
    count = int(r.state.count[0])
    kernels.afterburn(0, count, r.g, r.pull, r.state, m.dest, m.gain, m.go)
    return sorted(int(v) for v in r.state.active[:count][m.go[:count] == 1])


def test_afterburn_stops_neighbours_from_changing_places():
    """Both ends of the cut edge want to cross; the smaller vertex ranks first, and then the other stays."""
    graph = path(2)
    s = Search(graph, [0, 1], [2, 2])
    dest, gain = proposals(s)
    assert (dest.tolist(), gain.tolist()) == ([1, 0], [1, 1])
    assert afterburned(Search(graph, [0, 1], [2, 2])) == [0]


@given(searches())
def test_afterburn_equals_its_twin(s):
    """A move is kept where it does not raise the cut after all better-ranked moves of its neighbours."""
    dest, gain = (x.copy() for x in proposals(s))
    kept = afterburned(s)
    for v in range(s.graph.nvtxs):
        if dest[v] < 0:
            assert v not in kept
            continue
        ahead = s.part.copy()
        for u in rows(s.graph)[v]:
            if dest[u] >= 0 and (gain[u], -u) > (gain[v], -v):
                ahead[u] = dest[u]
        joined = connectivity(s.graph, ahead, v, s.table, s.origin)
        assert (v in kept) == (joined.get(int(dest[v]), 0) >= joined.get(int(s.part[v]), 0)), f"vertex {v}"


@given(searches(), st.integers(1, 6))
def test_books_agree_after_rounds(s, rounds):
    r = s.refiner
    total = sum(jet_round(r, 0.25) for _ in range(rounds))
    s.check(total)
    near = boundary(s.graph, s.part)
    border = set(r.state.border[:r.state.count[1]].tolist())
    assert len(border) == r.state.count[1], "no vertex is listed twice"
    for v in range(s.graph.nvtxs):
        if near[v] and not (s.fixed is not None and s.fixed[v] >= 0):
            assert v in border, f"vertex {v} has a neighbour in another part but is not listed"


def test_a_round_lowers_the_cut_where_it_can():
    """One vertex in the middle of each half belongs to the other half: one round puts both back."""
    halves = np.tile(np.repeat([0, 1], 4), 8)
    strayed = halves.copy()
    strayed[[17, 22]] = [1, 0]
    s = Search(grid(8, 8), strayed, [40, 40])
    s.check(s.jet_round(0.0))
    assert s.cut() == 8
    assert (s.part == halves).all()


def test_moved_vertices_rest_for_a_round():
    graph = path(3)
    s = Search(graph, [0, 1, 1], [9, 9])
    r = s.refiner
    r.state.moved_in[1] = 1  # that is next
    assert proposals(s)[0][1] == -1
    assert r.memory.live[np.flatnonzero(r.state.active[:r.state.count[0]] == 1)[0]] == 1, "it is looked at again"


def test_the_last_vertex_stays():
    s = Search(path(3, ewgt=[5, 5]), [0, 1, 0], [9, 9])
    won = s.jet_round(0.25)
    s.check(won)
    assert s.part[1] == 1


# ---- undo
@given(searches(), st.integers(1, 5))
def test_undo_restores_exactly(s, rounds):
    for i in range(rounds):
        s.jet_round(0.25)
        if i % 2:
            s.evict_round()
    state = s.refiner.state
    assert state.count[2] >= (s.part != s.before).sum()
    moves.undo_moves(s.refiner.g, state)
    assert (s.part == s.before).all()
    assert state.count[2] == 0
    s.check(0)


# ---- eviction
@given(searches(slack=0))
def test_evictions_keep_books_and_never_overload(s):
    before = s.refiner.excess
    pwgt = s.refiner.state.pwgt.copy()
    won = s.evict_round()
    s.check(won)
    after = s.refiner.state.pwgt
    assert s.refiner.excess <= before
    assert (after <= np.maximum(pwgt, s.refiner.limit)).all(), "no part is pushed over its limit"


def test_cheapest_vertices_are_evicted_first():
    """Two of the overloaded part must go; the two on light edges go, not the two on heavy ones."""
    graph = Graph.from_edges(8, [0, 1, 2, 3, 0, 1, 2, 3, 4, 4, 4, 4], [5, 5, 5, 5, 6, 6, 7, 7, 0, 1, 2, 3],
                             [1] * 8 + [9, 1, 9, 1])
    s = Search(graph, [0, 0, 0, 0, 0, 1, 1, 1], [3, 5])
    s.check(s.evict_round())
    assert s.part.tolist() == [0, 1, 0, 1, 0, 1, 1, 1]


def test_heavy_vertices_are_cheap_by_weight():
    """Excess of 3: one vertex of weight 3 costs as much cut as one of weight 1, so it goes first, and alone."""
    graph = Graph.from_edges(5, [0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4], [5, 5, 5, 1, 1, 1], vwgt=[1, 1, 3, 1, 1])
    s = Search(graph, [0, 0, 0, 0, 1], [3, 4])
    s.check(s.evict_round())
    assert s.part.tolist() == [0, 0, 1, 0, 1]


# ---- the whole
@given(searches())
def test_improve_returns_what_it_won_and_never_ends_worse(s):
    excess = s.refiner.excess
    won = s.refiner.improve(PRESETS["default"], s.cut())
    s.check(won)
    assert s.refiner.excess <= excess
    if not excess:
        assert won >= 0


@given(searches(), st.integers(0, 4), st.booleans(), st.integers(1, 3), st.sampled_from([0, 9, 10**9]))
def test_memory_is_made_larger_and_threads_change_nothing(s, most, skewed, threads, long):
    """Too little room for evictions and several threads, or none of these: the same moves, also on long lists."""
    r = s.refiner
    found = []
    for capacity, team_of in ((most, threads), (len(s.part), 1)):
        s.part[:] = s.before
        with pytest.MonkeyPatch.context() as patch, Team(team_of) as team:
            patch.setattr(rounds, "GRAIN", 1)
            again = Refiner(r.g, r.pull, s.part, r.limit, team, 3, skewed)
            again.memory = again.memory._replace(vertex=again.memory.vertex[:capacity], long=long)
            won, listed = again.improve(PRESETS["default"], 1000), again.state.listed.tolist()
        found.append((won, again.now, s.part.tolist(), again.state.count.tolist(), listed))
        assert won == s.cut(s.before) - s.cut()
        assert (again.state.pwgt == loads(s.graph, s.part, s.k)[0]).all()
    assert found[0] == found[1]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_round_on_a_long_list_is_that_on_a_short_one(monkeypatch, threads):
    """Also where each thread does many pieces; the lists hold the same vertices, the long one ascending."""
    monkeypatch.setattr(rounds, "GRAIN", 512)
    graph = triangulated(90, 90)
    part = scattered(graph.nvtxs, 5, 0)
    found = []
    for long, count in ((0, threads), (10**9, 1)):
        with Team(count) as team:
            r = Refiner(level(graph), NO_PULL, part.copy(), np.full(5, graph.nvtxs // 4), team, 1)
        with Team(count) as team:
            r.team, r.memory = team, r.memory._replace(long=long)
            won = [jet_round(r, 0.6) for _ in range(4)]
        s = r.state
        active = s.active[: s.count[0]]
        assert len(r.memory.conn) == (1 if NO_JIT else count)
        if long == 0:
            assert (np.diff(active) > 0).all()
        assert sorted(active) == np.flatnonzero(s.listed & kernels.ACTIVE).tolist()
        assert (r.memory.dest == -1).all()
        assert (s.pwgt == np.bincount(s.part, minlength=5)).all()
        assert sum(won) == cut_of(r.g, part) - cut_of(r.g, s.part)
        found.append((won, s.part.tolist(), s.listed.tolist(), s.pwgt.tolist(), s.population.tolist(),
                      sorted(s.log[:, : s.count[2]].T.tolist()), s.moved_in.tolist()))
    assert found[0] == found[1]
    assert found[0][0][0] > 0


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("long", "there"), [(0, [5]), (10**9, [1, 5])])
def test_a_part_may_be_left_by_all_where_others_come_at_the_same_time(monkeypatch, threads, long, there):
    """In a round on a long list, whatever the number of threads; else the last vertex stays."""
    monkeypatch.setattr(rounds, "GRAIN", 1)
    graph = Graph.from_edges(8, [0, 1, 2, 3, 5, 6], [2, 3, 3, 4, 1, 7], [10, 10, 10, 10, 1, 1])
    with Team(threads) as team:
        r = Refiner(level(graph), NO_PULL, np.array([0, 0, 1, 1, 1, 2, 2, 2], np.int32), np.full(3, 8), team, 1)
        r.memory = r.memory._replace(long=long)
        won = jet_round(r, 0.6)
    assert np.flatnonzero(r.state.part == 0).tolist() == there
    assert won == cut_of(r.g, np.array([0, 0, 1, 1, 1, 2, 2, 2], np.int32)) - cut_of(r.g, r.state.part)


@pytest.mark.skipif(NO_JIT, reason="one thread without compiled kernels")
@pytest.mark.parametrize("long", [0, 10**9])
def test_threads_change_nothing_where_each_does_many_pieces(monkeypatch, long):
    monkeypatch.setattr(rounds, "GRAIN", 512)
    graph = triangulated(90, 90)
    found = []
    for threads in (1, 2, 3):
        part = np.minimum(scattered(graph.nvtxs, 7, 0), 4).astype(np.int32)  # three sevenths in the last
        with Team(threads) as team:
            r = Refiner(level(graph), NO_PULL, part, np.full(5, graph.nvtxs // 5 + 60), team, 1)
            assert len(r.memory.conn) == threads
            r.memory = r.memory._replace(long=long)
            won = r.improve(PRESETS["default"], cut_of(r.g, part))
        assert r.excess == 0
        found.append((won, part.tolist(), r.now, r.state.listed.tolist()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("long", [0, 9])
def test_the_last_vertex_stays_on_a_long_list(monkeypatch, long):
    """All moves at once would leave parts empty: they are taken back, and made one after the other."""
    monkeypatch.setattr(rounds, "GRAIN", 1)
    graph = path(7, ewgt=[5, 7, 8, 1, 2, 7])
    part = np.array([1, 5, 2, 3, 4, 1, 0], np.int32)
    with Team(2) as team:
        r = Refiner(level(graph), NO_PULL, part.copy(), np.full(6, 9), team, 1)
        r.memory = r.memory._replace(long=long)
        won = jet_round(r, 0.25)
    assert r.memory.at[jet_pieces.ALONE] == 1
    assert won == cut_of(r.g, part) - cut_of(r.g, r.state.part)
    assert r.state.part.tolist() == [5, 2, 3, 3, 4, 1, 0]
    assert (r.state.population == np.bincount(r.state.part, minlength=6)).all()
    assert np.flatnonzero(r.state.moved_in).tolist() == [0, 1, 2], "who was taken back does not rest"
    assert (r.memory.dest == -1).all()


@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=70), st.integers(1, 4))
def test_pieces_of_a_list_leave_each_other_alone(flags, pieces):
    """Whichever is written first; listed and counted as by definition."""
    s = Search(path(len(flags)), np.zeros(len(flags)), [99]).refiner.state
    s.listed[:] = flags
    words = s.listed[: len(flags) // 8 * 8].view(np.int64)
    assume(pieces <= max(1, len(words)))
    for bit in (kernels.ACTIVE, kernels.BORDER):
        bounds = np.arange(pieces + 1) * len(words) // pieces
        counts = [int(jet_pieces.tally(lo, hi, bit, s, words)) for lo, hi in pairwise(bounds)]
        ends = np.cumsum([0, *counts])
        right = np.flatnonzero(s.listed & bit)
        found = np.full(len(flags), -1, np.int32)
        for i in reversed(range(pieces)):
            assert jet_pieces.list_in_order(bounds[i], bounds[i + 1], bit, s, words, found, ends[i],
                                            ends[i + 1]) == ends[i + 1]
        assert found[: ends[-1]].tolist() == right.tolist()
        assert (found[ends[-1]:] == -1).all()


@pytest.mark.parametrize("start", ["columns", "random"])
def test_improve_finds_the_straight_cut(start):
    """A 16 x 16 grid in halves, from columns dealt in turn and from chance: most of the cut goes."""
    graph = grid(16, 16)
    part = np.tile(np.arange(16) % 2, 16) if start == "columns" else scattered(256, 2, 0)
    s = Search(graph, part, [134, 134])
    first = s.cut()
    s.check(s.refiner.improve(PRESETS["default"], first))
    assert s.refiner.excess == 0
    assert s.cut() < 0.6 * first, (first, s.cut())


def test_rebalance_reaches_the_limits():
    s = Search(grid(20, 20), np.zeros(400, int) + (np.arange(400) >= 390), [210, 210])
    s.check(s.refiner.rebalance())
    assert s.refiner.excess == 0
    assert loads(s.graph, s.part, 2)[0].tolist() == [210, 190]


def test_cut_of_a_level_is_the_cut_of_the_graph():
    graph = grid(5, 5)
    part = (np.arange(25) % 3).astype(np.int32)
    assert cut_of(level(graph), part) == edge_cut(graph, part)


def test_a_round_fills_no_part_above_its_room_on_skewed_graphs():
    """Everything wants into the part of the hub; without a bound it goes there in one round."""
    graph = star(400)
    part = np.arange(400, dtype=np.int32) % 4
    for room, most in ((np.empty(0, np.int64), 400), (np.empty(4, np.int64), 120)):
        with Team(1) as team:
            r = Refiner(level(graph), NO_PULL, part.copy(), np.full(4, 100), team, 3)
            # there is room in the log for one round
            s = r.state._replace(room=room, log=np.empty((2, r.state.count[0]), np.int32))
            r.memory.at[jet.STAGE] = jet.ROUND
            assert team.together(jet.jet_rounds, 400, r.g, NO_PULL, s, r.limit, 3, 1, np.full(9, 0.5), 9,
                                 r.memory, r.waiting) == jet.ROUND
            assert r.now == 1
        # a fifth above the limit
        assert (s.pwgt.max() > 120) == (most > 120)
        assert s.pwgt.max() > 110
        assert s.population.min() > 0


def test_skewed_graphs_are_refined_within_the_limits():
    graph = scale_free(800, np.random.default_rng(2))
    part = np.random.default_rng(3).integers(0, 5, 800).astype(np.int32)
    found = part.copy()
    with Team(1) as team:
        r = Refiner(level(graph), NO_PULL, found, np.full(5, 168), team, 3, True)
        won = r.improve(PRESETS["default"], cut_of(r.g, found))
    assert r.excess == 0
    assert (r.state.pwgt == np.bincount(found, minlength=5)).all()
    assert won == cut_of(r.g, part) - cut_of(r.g, found) > 0


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("start", ["scattered", "stripes"])
def test_long_lists_are_put_in_order_and_nothing_else_changes(monkeypatch, threads, start):
    """Lists of more than some thousand vertices are sorted; so are short ones here, on any number of threads."""
    def run(long: int, count: int) -> np.ndarray:
        monkeypatch.setattr(jet, "LONG", long)
        monkeypatch.setattr(rounds, "GRAIN", 8)
        graph = grid(24, 24)
        part = scattered(graph.nvtxs, 4, 0)
        if start == "stripes":
            # most has to go, and its border moves on
            part = np.repeat([0, 1, 2, 3], [480, 32, 32, 32]).astype(np.int32)
        with Team(count) as team:
            r = Refiner(level(graph), NO_PULL, part, np.full(4, 160), team, 3)
            for _ in range(6):
                jet_round(r, 0.5)
                r.rebalance()
        return part

    assert (run(0, 1) == run(0, threads)).all()
    # weight is handed on from a long border in order, which stripes need
    assert start == "stripes" or (run(10**9, 1) == run(0, threads)).all()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 3))
def test_parts_are_weighed_by_any_number_of_threads(parts, threads):
    part = np.array(parts, np.int32)
    vwgt = np.arange(len(part)) % 7
    g = level(path(len(part)).replace(vwgt=vwgt))
    with Team(threads) as team, pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "GRAIN", 4)
        found = refinement.weights_of(g, part, 5, team)
    assert found.tolist() == [np.bincount(part, vwgt, 5).tolist(), np.bincount(part, minlength=5).tolist()]
