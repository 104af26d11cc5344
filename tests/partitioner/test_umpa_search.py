"""UMPa's passes, annealing, coarsening: what they promise about the metrics, locks, sources and balance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.hypergraph import Hypergraph
from copart.kernels import umpa_annealing, umpa_passes, umpa_state
from copart.metrics import evaluate_hypergraph
from copart.partitioner.shuffling import visiting_order
from copart.partitioner.umpa import METRICS, OBJECTIVES, Objective
from copart.partitioner.umpa.cooling import anneal
from copart.partitioner.umpa.driver import annealed
from copart.partitioner.umpa.levels import COARSENINGS, cluster, coarsen, contract, finest
from copart.partitioner.umpa.search import Search
from copart.partitioner.umpa.start import graph_of

from ..helpers import grid
from .umpa_helpers import agrees, figures, flows, free, problems, searching

ORDERS = [("TV",), ("MSV",), ("MSV", "MSRV", "TV"), ("TM",), ("TM", "TV"), ("MSM", "TM", "TV"), ("MSV", "TV")]


@given(problems(), st.sampled_from(ORDERS), st.booleans())
def test_the_metrics_never_get_worse_in_a_pass(problem, metrics, by_load):
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k, metrics, by_load=by_load)
    before = search.values()
    search.passes(3)
    agrees(search, h)
    after = tuple(figures(h, search.state.part, k)[name] for name in metrics)
    assert after == search.values() <= before
    if not by_load and after == before:
        assert search.state.part.tolist() == part.tolist(), "without the load as a reason, ties are left alone"


@given(problems(), st.sampled_from(ORDERS))
def test_every_single_move_of_a_pass_is_the_best(problem, metrics):
    """Algorithm 6 by brute force: no part with room would have been better by (metrics, load)."""
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k, metrics)
    numbers = np.array([METRICS[name] for name in metrics])
    for u in range(h.nvtxs):
        near = {int(p) for e in h.nets_of(u) for p in part[h.net(e)]}

        def cost(p, u=u):
            other = part.copy()
            other[u] = p
            found = figures(h, other, k)
            load = np.bincount(part, weights=h.vwgt, minlength=k)[p] - (h.vwgt[u] if p == part[u] else 0)
            return (*(found[name] for name in metrics), load)

        best = umpa_passes.best_place(search.h, search.state, u, numbers, True, *np.empty((2, len(metrics)), np.int64),
                                      search.trial)
        assert cost(best) == min(cost(p) for p in {*near, int(part[u])})
        agrees(search, h)


@given(problems(), st.sampled_from(ORDERS), st.data())
def test_limits_and_fixed_vertices_hold_in_passes_and_annealing(problem, metrics, data):
    h, part, k = free(problem[0]), *problem[1:]
    load = np.bincount(part, weights=h.vwgt, minlength=k).astype(np.int64)
    limit = load + data.draw(st.integers(0, 4))
    pinned = np.array(data.draw(st.lists(st.booleans(), min_size=h.nvtxs, max_size=h.nvtxs)), bool)
    search = searching(h, part, k, metrics, limit=limit, fixed=np.where(pinned, part, -1).astype(np.int32))
    there = np.bincount(part, minlength=k) > 0
    search.passes(2)
    anneal(search, 4, 1.0, hard=True)
    agrees(search, h)
    assert (search.state.load <= limit).all()
    assert (search.state.part[pinned] == part[pinned]).all()
    assert (search.state.population[there] > 0).all(), "no part is emptied"


def waiting_for(search):
    n = len(search.state.part)
    listed, there = np.empty(n, np.int32), np.empty(n, np.uint8)
    count = int(umpa_state.list_border(search.h, search.state, listed, there))
    return umpa_passes.Waiting(listed, there, np.zeros(n, np.uint8), np.array([0, count]))


def test_no_vertex_moves_more_than_four_times_in_a_pass():
    h = Hypergraph.column_net(grid(12, 12))
    part = np.random.default_rng(1).integers(0, 5, h.nvtxs).astype(np.int32)
    most = 0
    for metrics in ORDERS:
        search = searching(h, part, 5, metrics)
        waiting = waiting_for(search)
        metric = np.array([METRICS[name] for name in metrics])
        made = umpa_passes.refine_pass(search.h, search.state, metric, True, waiting,
                                       np.empty((2, len(metric)), np.int64), search.trial)
        assert waiting.moves.sum() == made > 0
        assert waiting.moves.max() <= 4
        assert waiting.at[1] == 0
        most = max(most, int(waiting.moves.max()))
    assert most > 1, "vertices that become border again are visited again in the same pass"


def test_a_locked_vertex_is_not_enqueued():
    h = Hypergraph.column_net(grid(3, 3))
    search = searching(h, np.array([0, 1, 0, 1, 0, 1, 0, 1, 0], np.int32), 2)
    waiting = waiting_for(search)
    waiting.at[:] = 0
    waiting.queued[:] = 0
    waiting.moves[:] = 4
    umpa_passes.enqueue_pins(search.h, search.state, 4, waiting)
    assert waiting.at[1] == 0
    waiting.moves[1] = 3
    umpa_passes.enqueue_pins(search.h, search.state, 4, waiting)
    assert waiting.queue[:waiting.at[1]].tolist() == [1]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_at_most_so_many_passes(monkeypatch, most):
    h = Hypergraph.column_net(grid(30, 30))
    calls = []
    kernel = umpa_passes.refine_pass
    monkeypatch.setattr(umpa_passes, "refine_pass", lambda *args: calls.append(1) or kernel(*args))
    part = np.random.default_rng(1).integers(0, 6, h.nvtxs).astype(np.int32)
    search = searching(h, part, 6, ("TV",))
    search.passes(most)
    assert len(calls) == most
    # the last one changes next to nothing
    search.passes(1000)
    assert len(calls) < 40


def test_the_border_grows_within_a_pass():
    # only vertex 1 of the second net is at the border at first; what it does makes the third net cut
    h = Hypergraph.from_nets(5, [[0, 1], [0, 1], [1, 2], [3, 4]])
    search = searching(h, np.array([0, 1, 1, 1, 1], np.int32), 2, ("TV",))
    waiting = waiting_for(search)
    assert sorted(waiting.queue[:2].tolist()) == [0, 1]
    assert search.passes(1) >= 2
    assert search.values() == (0,)


@given(problems(), st.integers(1, 9))
def test_the_source_and_all_figures_are_kept_by_contraction(problem, salt):
    h, part, k = free(problem[0]), *problem[1:]
    nets = finest(h, None)
    cmap, weight, fixed = cluster(nets, 6, salt)
    coarse = contract(nets, cmap, weight, fixed)
    n = len(weight)
    assert weight.tolist() == np.bincount(cmap, weights=h.vwgt, minlength=n).astype(int).tolist()
    assert (np.diff(coarse.xpins) > 1).all(), "nets of one cluster are gone"
    on_clusters = part[:n]
    value = Hypergraph(n, coarse.xpins, coarse.pins, coarse.cost, coarse.vwgt)
    assert figures(value, on_clusters, k) == figures(h, on_clusters[cmap], k)
    agrees(Search(coarse, on_clusters.copy(), np.full(k, h.total_weight), OBJECTIVES["messages"], 1), value)
    # a net with the same pins and the same source is there once
    keys = [(int(p[0]), *sorted(p[1:].tolist())) for p in map(value.net, range(value.nnets))]
    assert len(set(keys)) == len(keys)
    # and vertices know their nets, in order
    for v in range(n):
        mine = coarse.nets[coarse.xnets[v] : coarse.xnets[v + 1]].tolist()
        assert mine == [e for e in range(value.nnets) if v in value.net(e)]


@given(problems(), st.integers(0, 8), st.sampled_from(COARSENINGS), st.data())
def test_clusters_keep_bounds_and_fixed_parts(problem, bound, method, data):
    h, _, k = problem
    fixed = np.array(data.draw(st.lists(st.integers(-1, k - 1), min_size=h.nvtxs, max_size=h.nvtxs)), np.int32)
    cmap, weight, pinned = cluster(finest(h, fixed), bound, 3, method, threads=2)
    matching = method in ("hcm", "locks", "resolution")
    assert weight.tolist() == [h.vwgt[cmap == c].sum() for c in range(len(weight))]
    for c in range(len(weight)):
        inside = cmap == c
        assert inside.sum() <= 2 if matching else inside.sum() == 1 or weight[c] <= bound
        held = set(fixed[inside]) - {-1}
        assert len(held) <= 1
        if (fixed >= 0).any():
            assert pinned[c] == (held.pop() if held else -1)


def test_coarsening_of_a_mesh_goes_down_in_steps():
    h = finest(Hypergraph.column_net(grid(40, 40)), None)
    levels, maps = coarsen(h, 200, 4, 1)
    sizes = [len(level.vwgt) for level in levels]
    assert sizes[0] == 1600
    assert sizes[-1] <= 260
    assert len(maps) == len(levels) - 1 >= 2
    assert all(level.vwgt.sum() == 1600 for level in levels)
    assert levels[-1].vwgt.max() <= 1.5 * 1600 / 200


@given(problems())
def test_the_graph_of_a_hypergraph_is_one(problem):
    nets = finest(problem[0], None)
    for longest in (0, 3, 40):
        g = graph_of(nets, longest)
        n = len(g.vwgt)
        rows = np.repeat(np.arange(n), np.diff(g.xadj))
        there = {(int(u), int(v)): int(w) for u, v, w in zip(rows, g.adjncy, g.ewgt, strict=True)}
        assert len(there) == len(g.adjncy)
        assert all(u != v and there[v, u] == w > 0 for (u, v), w in there.items())


def test_annealing_lowers_what_is_asked_for():
    h = Hypergraph.column_net(grid(30, 30))
    part = np.random.default_rng(1).integers(0, 12, h.nvtxs).astype(np.int32)
    limit = np.full(12, 100)
    first = figures(h, part, 12)
    for name, objective in OBJECTIVES.items():
        search = searching(h, part, 12, objective.metrics, limit=limit)
        anneal(search, 80, 1.0)
        agrees(search, h)
        assert search.values()[0] < first[objective.primary], name
        assert len(search.state.worth) == 0


@given(problems(), st.data())
def test_a_trial_of_annealing_is_exact_as_far_as_it_matters(problem, data):
    """The change of the volume, unless it is as much as a bar; and bounds of what senders send less."""
    h, part, k = free(problem[0]), *problem[1:]
    u, b = data.draw(st.integers(0, h.nvtxs - 1)), data.draw(st.integers(0, k - 1))
    if b == part[u]:
        return
    search = searching(h, part, k, ("TM", "TV"))
    search.state = search.state._replace(least=np.empty(h.nvtxs, np.int64))
    umpa_state.count_least(search.h, search.state)
    moved = part.copy()
    moved[u] = b
    before, after = (evaluate_hypergraph(h, p, k) for p in (part, moved))
    change = after.total_volume - before.total_volume
    assert umpa_annealing.volume_below(search.h, search.state, u, b, np.inf) == change
    bar = data.draw(st.integers(-5, 10)) + 0.5
    found = umpa_annealing.volume_below(search.h, search.state, u, b, bar)
    assert found == change or bar <= found <= change
    sent, saved = umpa_annealing.sender_change(search.h, search.state, u)
    assert sent >= np.maximum(before.send - after.send, 0).sum()
    # each message that goes is one of a net at least
    assert saved >= len(set(flows(h, part)) - set(flows(h, moved)))


@pytest.mark.parametrize("n", [0, 1, 64, 1000])
def test_vertices_are_visited_in_shuffled_blocks(n):
    for bits in (2, 6, 31):
        order = visiting_order(n, 3, bits)
        assert (np.sort(order) == np.arange(n)).all()
        assert (order >> bits == np.arange(n) >> bits).all()
        assert n < 64 or ((order != np.arange(n)).mean() > 0.5 and (order != visiting_order(n, 4, bits)).any())


@given(problems(), st.data())
def test_no_move_changes_the_volume_by_less_than_the_bound_says(problem, data):
    """The bound is followed exactly through moves, and true of every part."""
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k, ("TV",))
    bound = np.empty(h.nvtxs, np.int64)
    search.state = search.state._replace(least=bound)
    umpa_state.count_least(search.h, search.state)
    for _ in range(data.draw(st.integers(0, 6))):
        u, b = data.draw(st.integers(0, h.nvtxs - 1)), data.draw(st.integers(0, k - 1))
        if b != search.state.part[u]:
            umpa_state.shift(search.h, search.state, u, b)
    followed = bound.copy()
    umpa_state.count_least(search.h, search.state)
    assert followed.tolist() == bound.tolist()
    now = search.state.part
    volume = figures(h, now, k)["TV"]
    for u in range(h.nvtxs):
        found = [figures(h, np.where(np.arange(h.nvtxs) == u, p, now), k)["TV"] for p in range(k) if p != now[u]]
        assert all(other - volume >= bound[u] for other in found)
        if k == 2:
            assert found == [volume + bound[u]], "with two parts it is the change itself"


def test_annealing_that_melts_a_good_partition_is_taken_back():
    # five unknowns per cell, in the same few nets: good borders melt at a temperature that suits single cells
    cells = Hypergraph.column_net(grid(20, 20))
    h = Hypergraph.from_nets(2000, [[5 * int(v) + i for v in cells.net(e) for i in range(5)] for e in range(400)])
    part = np.repeat((np.arange(400) // 100).astype(np.int32), 5)
    first = figures(h, part, 4)["TV"]
    melted = searching(h, part, 4, ("TV",), limit=np.full(4, 520))
    anneal(melted, 5, 20.0)
    assert melted.values()[0] > first
    search, warmth = annealed(searching(h, part, 4, ("TV",), limit=np.full(4, 520)), 5, 20.0)
    agrees(search, h)
    assert search.values()[0] <= first
    assert warmth < 20.0


def test_objectives_by_name_and_by_metrics():
    assert Objective.of("volume").metrics == ("TV",)
    assert Objective.of("max-volume").metrics == ("MSV", "MSRV", "TV")
    assert Objective.of("messages").metrics == ("TM", "TV")
    assert Objective.of("max-messages").metrics == ("MSM", "TM", "TV")
    assert all(o.by_load for o in OBJECTIVES.values())
    with pytest.raises(ValueError, match=r"choose one of volume, max-volume, messages, max-messages.*did you mean"):
        Objective.of("volum")
    with pytest.raises(ValueError, match="'TX' is no metric"):
        Objective(("TX",))
    for wrong in ((), ("TV", "TV"), ("TV", "TM", "MSM", "MSV"), None, 3):
        with pytest.raises(ValueError, match="one to three metrics"):
            Objective(wrong)
