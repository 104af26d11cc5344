"""The scheme `joint`: what it promises, the exact bookkeeping of its kernels, real interfaces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.algorithms import aware, naive, projrepart
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError, CouplingError, NotApplicableError, PartitionError
from copart.graph import Graph
from copart.metrics import part_room
from copart.kernels import bottleneck
from copart.kernels import coupled as kernels
from copart.kernels.coupled_annealing import Rates, Traffic, anneal
from copart.mesh import cube
from copart.metrics import evaluate, part_weights
from copart.plans.components import coupled_problem
from copart.schemes.joint import joint
from copart.schemes.joint.annealing import give_up_messages
from copart.schemes.joint.cells import CoupledCells, by_partner, contracted, main_partners
from copart.schemes.joint.first import coupled_first

from .helpers import grid, shared


@pytest.fixture(scope="module")
def nested() -> CoupledProblem:
    """Each face of A covers 3 x 3 faces of B."""
    return coupled_problem(cube("hexa", 8), cube("hexa", 24, offset=(1, 0, 0)), interedges="facet").problem


@pytest.fixture(scope="module")
def tetra() -> CoupledProblem:
    return coupled_problem(cube("tetra", 4000), cube("tetra", 9000, offset=(1, 0, 0)), interedges="touch").problem


def chain() -> CoupledProblem:
    """Three grids, each beside the next."""
    ids = np.arange(400).reshape(20, 20)
    side = Interedges.from_pairs(400, 400, ids[:, -1], ids[:, 0])
    return CoupledProblem({name: grid(20, 20) for name in "abc"}, dict.fromkeys(pairwise("abc"), side))


def keeps_its_promises(problem: CoupledProblem, made: CoPartition, eps: float) -> None:
    for name, graph in problem.components.items():
        n, k, cells = made.nparts[name], made.ncoupled[name], problem.coupled(name)
        assert set(made[name].tolist()) == set(range(n))
        assert set(made[name][cells].tolist()) == set(range(k))
        total, load = graph.total_weight, int(graph.weights[cells].sum())
        assert part_weights(graph, made[name], n).max() <= max(part_room(total, n, eps), -(-total // n))
        coupled = np.bincount(made[name][cells], graph.weights[cells], k)
        assert coupled.max() <= max(part_room(load, k, eps), -(-load // k))


# ---- promises
@pytest.mark.parametrize("counts", [(4, 4), (6, 12), (12, 5)])
@pytest.mark.parametrize("fix", ["hard", "soft"])
def test_both_balances_hold(nested, tetra, counts, fix):
    for problem in (nested, tetra):
        keeps_its_promises(problem, joint(problem, counts, fix=fix), 0.05)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 5), st.integers(1, 5), st.sampled_from([0.03, 0.1]))
def test_random_interfaces_of_unit_cells(seed, ka, kb, eps):
    rng = np.random.default_rng(seed)
    a, b = grid(*rng.integers(4, 16, 2)), grid(*rng.integers(4, 16, 2))
    few = rng.integers(max(ka, kb), 30)
    inter = Interedges.from_pairs(a.nvtxs, b.nvtxs, np.r_[:ka, rng.integers(0, a.nvtxs, few)],
                                  np.r_[rng.integers(0, b.nvtxs, ka), rng.integers(0, b.nvtxs, few)])
    problem = CoupledProblem.of_two(a, b, inter)
    kb = min(kb, len(problem.coupled("b")))
    try:
        made = joint(problem, (ka + 2, kb + 2), (ka, kb), eps=eps, seed=seed)
    except CouplingError:
        return  # so many coupled cells in so few parts leave no balance
    keeps_its_promises(problem, made, eps)


def test_heavy_cells_are_balanced_or_refused():
    rng = np.random.default_rng(2)
    for _ in range(5):
        a = grid(15, 15, vwgt=rng.integers(1, 9, 225))
        ids = np.arange(225).reshape(15, 15)
        problem = CoupledProblem.of_two(a, a, Interedges.from_pairs(225, 225, ids[:, -1], ids[:, 0]))
        try:
            made = joint(problem, (5, 6), (3, 3), eps=0.1)
        except PartitionError:
            continue
        figures = evaluate(problem, made)
        assert max(c.ub for c in figures.components.values()) <= 0.1
        assert max(c.ub_cpl for c in figures.components.values()) <= 0.25


def test_three_components():
    problem = chain()
    keeps_its_promises(problem, joint(problem, 6, 3), 0.05)


def test_cells_of_two_components_that_share_a_partner_stay_apart():
    """Each middle cell meets four finer ones on either side."""
    fine, coarse = np.arange(80).reshape(20, 4), np.repeat(np.arange(20), 4)
    line = Graph.from_edges(80, range(79), range(1, 80))
    side = Interedges.from_pairs(80, 20, fine.ravel(), coarse)
    problem = CoupledProblem({"a": line, "b": Graph.from_edges(20, range(19), range(1, 20)), "c": line},
                             {("a", "b"): side, ("b", "c"): side.transposed})
    for counts, ncoupled in (((8, 2, 5), (8, 2, 5)), ((1, 4, 3), (1, 4, 3))):
        keeps_its_promises(problem, joint(problem, counts, ncoupled, eps=0.1), 0.1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**20), st.lists(st.integers(1, 6), min_size=3, max_size=3))
def test_random_chains_of_three(seed, counts):
    rng = np.random.default_rng(seed)
    graphs = {name: grid(*rng.integers(3, 25, 2)) for name in "abc"}
    pairs = {}
    for a, b in pairwise("abc"):
        few = rng.integers(6, 60)
        pairs[a, b] = Interedges.from_pairs(graphs[a].nvtxs, graphs[b].nvtxs, rng.integers(0, graphs[a].nvtxs, few),
                                            rng.integers(0, graphs[b].nvtxs, few))
    problem = CoupledProblem(graphs, pairs)
    try:
        made = joint(problem, counts, eps=0.1, seed=seed)
    except CouplingError:
        return  # more coupled cells than the parts can hold in balance
    keeps_its_promises(problem, made, 0.1)


def test_the_same_arguments_give_the_same_parts(tetra):
    one, two = (joint(tetra, (4, 9), seed=3, threads=threads) for threads in (1, 2))
    assert all(np.array_equal(one[name], two[name]) for name in one.names)


@pytest.mark.parametrize(("options", "what"), [
    ({"weights": (1, 2)}, "weights: needs three numbers"), ({"weights": (1, -2, 3)}, "weights: needs three numbers"),
    ({"weights": "cut"}, "weights: needs three numbers"), ({"directions": "back"}, "directions: 'back'"),
    ({"fix": "firm"}, "fix: 'firm'")])
def test_other_arguments_are_refused(options, what):
    with pytest.raises(ConfigError, match=what):
        joint(chain(), 4, **options)


# ---- what it is for
def test_several_interfaces_stay_uncut_or_it_says_that_they_cannot():
    made = joint(chain(), 8, interface="uncut")
    assert made.ncoupled == {"a": 1, "b": 1, "c": 1}
    with pytest.raises(NotApplicableError, match=r"interfaces of b uncut.*take aware or projrepart"):
        joint(chain(), 16, interface="uncut")


def test_nested_meshes_send_every_datum_once(nested):
    """Parts of B that are unions of whole faces of A: totV is the number of coupled cells of A, its least value."""
    made = evaluate(nested, joint(nested, (8, 8)))
    assert made.pair.totV_ab <= 1.02 * 64
    assert made.pair.totZ <= evaluate(nested, aware(nested, (8, 8))).pair.totZ


def test_less_volume_and_fewer_messages_than_other_schemes(tetra):
    def mean(scheme):
        pairs = [evaluate(tetra, scheme(tetra, (8, 24), seed=seed)).pair for seed in (1, 2, 3)]
        return np.mean([p.totV_ab for p in pairs]), np.mean([p.totZ for p in pairs])

    volume, messages = mean(joint)
    for other in (aware, projrepart):
        v, z = mean(other)
        assert volume < v
        assert messages < z


def test_a_price_on_messages_saves_messages(tetra):
    found = [evaluate(tetra, joint(tetra, (8, 24), weights=(1, 4, price))).pair.totZ for price in (0, 200)]
    assert found[1] < found[0]


SETS = {"tube": (("elastic-tube-3d/fluid-polyMesh", "elastic-tube-3d/solid/all.msh"), (16, 4)),
        "channel": (("steady-fsi/mesh_channel.su2", "steady-fsi/mesh_cantilever.su2"), (16, 4)),
        "flap": (("perpendicular-flap/fluidMesh.su2", "perpendicular-flap/solid-all.msh"), (8, 4)),
        "plates": (("contact-resistance-3codes/fluid_mesh.su2", "contact-resistance-3codes/solid_mesh_1.su2"), (8, 4))}


@pytest.mark.parametrize("case", SETS)
def test_real_interfaces(case):
    files, counts = SETS[case]
    problem = coupled_problem(*(shared(f"data/coupled/{f}") for f in files), interedges="facet").problem
    made = joint(problem, counts)
    keeps_its_promises(problem, made, 0.05)

    def cost(copartition):
        pair = evaluate(problem, copartition).pair
        return pair.totV_ab + pair.totZ

    assert cost(made) <= min(cost(aware(problem, counts)), cost(projrepart(problem, counts)))


@pytest.mark.parametrize("scheme", [aware, projrepart, joint])
def test_parts_that_could_own_no_cell_are_refused(scheme):
    line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    facing = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, range(4), range(4)))
    assert set(scheme(facing, 3, eps=1.0).a.tolist()) == {0, 1, 2}
    with pytest.raises(CouplingError, match=r"1 parts would own no coupled cell, but only 0 .* ask for at least 3"):
        scheme(facing, 3, 2, eps=1.0)
    with pytest.raises(PartitionError, match="5 parts of 4"):
        scheme(facing, 5, eps=1.0)


# ---- bookkeeping
def state(problem: CoupledProblem, nparts: int, k: int, both: bool):
    count, coupled = dict.fromkeys(problem.names, nparts), dict.fromkeys(problem.names, k)
    alone = naive(problem, nparts)
    parts = {name: coupled_first(graph, problem.coupled(name), alone[name].copy(), nparts, k)
             for name, graph in problem.components.items()}
    cells = CoupledCells(problem, parts, coupled, both)
    return cells, cells.shares(cells.start(), np.full(cells.k, 10**6)), count


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_what_moves_keep_up_to_date_is_what_the_metrics_find(tetra, both, together):
    for problem in (tetra, chain()):
        cells, s, count = state(problem, 6, 3, both)
        before = evaluate(problem, CoPartition(cells.scatter(s.part), count))
        start = s.total.copy()
        none = np.zeros(0, np.int64)
        partner = main_partners(cells.cells, cells.cells.imul) if together else np.zeros(0, np.int32)
        anneal(cells.cells, s, 5, np.array([1.0, 3.0, 50.0]),
               Rates(heat=np.array([20.0, 5.0]), blur=np.array([5.0, 1.0]), press=np.array([1.0, 1.0])), 7, partner,
               np.empty(cells.n, np.int32), Traffic(volume=none, messages=none, more=none, extra=none))
        after = evaluate(problem, CoPartition(cells.scatter(s.part), count))
        fresh = cells.shares(s.part, s.limit)
        for kept, counted in zip(s[:4] + s[7:], fresh[:4] + fresh[7:], strict=True):
            assert np.array_equal(kept, counted)
        assert (s.part != cells.start()).any()

        def cut(figures):
            return sum(c.cut for c in figures.components.values())

        assert s.total[0] - start[0] == cut(after) - cut(before)
        volume = sum(p.totV_ab + both * p.totV_ba for p in after.pairs.values())
        assert s.total[1] == volume
        assert s.total[2] == sum(p.totZ for p in after.pairs.values())


@pytest.mark.parametrize("both", [False, True])
def test_what_the_busiest_processes_do_is_what_the_metrics_find(tetra, both):
    cells, s, count = state(tetra, 6, 3, both)
    volume, messages = np.empty(cells.k, np.int64), np.empty(cells.k, np.int64)
    scratch = np.zeros((2, cells.k), np.int64)

    def found():
        pair = evaluate(tetra, CoPartition(cells.scatter(s.part), count)).pair
        there, back = pair.matrix.toarray()[:3, :3], both * pair.matrix_ba.toarray()[:3, :3]
        sent = np.concatenate([there.sum(1) + back.sum(0), there.sum(0) + back.sum(1)])
        return sent, np.concatenate([(there > 0).sum(1), (there > 0).sum(0)])

    assert bottleneck.tally(cells.cells, s, volume, messages) == found()[0].max()
    for _ in range(2):
        assert np.array_equal(volume, found()[0])
        assert np.array_equal(messages, found()[1])
        anneal(
            cells.cells, s, 5, np.array([1.0, 3.0, 50.0, 2.0, 30.0]),
            Rates(heat=np.array([20.0, 5.0]), blur=np.array([5.0, 1.0]), press=np.array([1.0, 1.0])), 7,
            np.zeros(0, np.int32), np.empty(cells.n, np.int32),
            Traffic(volume=volume, messages=messages, more=scratch[0], extra=scratch[1]))
    assert not scratch.any()


@pytest.mark.parametrize("together", [False, True])
def test_borders_that_face_each_other_move_together(together):
    """Where one cell alone would cause two messages, both borders leave their heavy edges at once or not at all."""
    line = Graph.from_edges(8, range(7), range(1, 8), ewgt=[20, 20, 10, 1, 20, 20, 20])
    problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(8, 8, range(8), range(8)))
    halves = np.repeat(np.array([0, 1], np.int32), [3, 5])
    cells = CoupledCells(problem, {"a": halves, "b": halves}, {"a": 2, "b": 2}, False)
    s = cells.shares(cells.start(), np.full(4, 8))
    none = np.zeros(0, np.int64)
    partner = main_partners(cells.cells, cells.cells.imul)
    assert partner.tolist() == [*range(8, 16), *range(8)]
    anneal(cells.cells, s, 20, np.array([1.0, 1.0, 100.0]),
           Rates(heat=np.full(2, 0.1), blur=np.full(2, 0.01), press=np.ones(2)), 1,
           partner if together else np.zeros(0, np.int32), np.empty(16, np.int32),
           Traffic(volume=none, messages=none, more=none, extra=none))
    assert s.total.tolist() == ([2, 8, 2] if together else [20, 8, 2])


def test_a_price_on_the_busiest_process_lightens_its_load(tetra):
    plain, fair = (evaluate(tetra, joint(tetra, (8, 24), weights=(1, 16, 120, *price))).pair
                   for price in ((0, 0), (100, 1000)))
    assert fair.maxV < plain.maxV
    assert fair.maxZ <= plain.maxZ
    assert fair.maxV + 10 * fair.maxZ < plain.maxV + 10 * plain.maxZ


def test_clusters_keep_interedges_weights_and_cut(nested):
    cells, s, _ = state(nested, 6, 4, False)
    cluster = by_partner(cells.cells, cells.kind)
    rough = contracted(cells.cells, cluster)
    assert len(rough.weight) == 64 + 64, "one cluster of B for each cell of A"
    assert rough.weight.sum() == cells.cells.weight.sum()
    assert rough.imul.sum() == len(cells.cells.iadj)
    part = np.random.default_rng(1).integers(0, 4, len(rough.weight)).astype(np.int32)
    part[64:] += 4
    part = part[np.argsort(np.argsort(np.unique(cluster, return_index=True)[1]))]
    coarse = cells.shares(part, s.limit, rough)
    fine = cells.shares(part[cluster], s.limit)
    assert np.array_equal(coarse.pairs, fine.pairs)
    assert np.array_equal(coarse.total, fine.total)


def test_relief_takes_the_least_from_parts_above_their_limits():
    path = Graph.from_edges(6, range(5), range(1, 6))
    problem = CoupledProblem.of_two(path, path, Interedges.from_pairs(6, 6, range(6), range(6)))
    parts = {name: np.array([0, 0, 0, 0, 1, 1], np.int32) for name in "ab"}
    cells = CoupledCells(problem, parts, {"a": 2, "b": 2}, False)
    s = cells.shares(cells.start(), np.full(4, 3))
    assert kernels.relieve(cells.cells, s, cells.owner, np.array([1.0, 1.0, 1.0])) == 0
    assert s.part.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_a_message_is_given_up_by_all_its_cells_or_none():
    path = Graph.from_edges(8, range(7), range(1, 8))
    problem = CoupledProblem.of_two(path, path, Interedges.from_pairs(8, 8, range(8), range(8)))
    parts = {"a": np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), "b": np.array([0, 0, 0, 0, 0, 0, 1, 1], np.int32)}
    cells = CoupledCells(problem, parts, {"a": 2, "b": 2}, False)
    price = np.array([1.0, 1.0, 10.0])
    s = cells.shares(cells.start(), np.array([4, 4, 8, 8]))
    assert s.total.tolist() == [2, 8, 3]
    assert give_up_messages(cells.cells, s, price, 100.0) == 2
    assert s.part.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4, "cells 4 and 5 of b, since a has no room"
    assert s.total.tolist() == [2, 8, 2]
    tight = cells.shares(cells.start(), np.array([4, 4, 6, 3]))
    assert give_up_messages(cells.cells, tight, price, 100.0) == 0
    assert tight.part.tolist() == cells.start().tolist()


@given(seed=st.integers(0, 2**16), latency=st.sampled_from([0.0, 20.0, 500.0]), room=st.sampled_from([1.05, 1.3]))
@settings(max_examples=25, deadline=None)
def test_giving_messages_up_never_costs(tetra, seed, latency, room):
    cells, s, _ = state(tetra, 6, 4, False)
    draw = np.random.default_rng(seed)
    part = s.part.copy()
    for v in draw.integers(0, cells.n, 60):  # a few cells in a neighbour's part
        near = cells.cells.adjncy[cells.cells.xadj[v] : cells.cells.xadj[v + 1]]
        part[v] = part[draw.choice(near)] if len(near) else part[v]
    s = cells.shares(part, np.full(cells.k, int(room * cells.n / cells.k)))
    price = np.array([1.0, 2.0, latency])

    def cost():
        excess = zip(s.load - s.limit, s.limit, strict=True)
        return price @ s.total + 50 * sum(kernels.price_of_excess(x, limit) for x, limit in excess)

    before = cost()
    moves = give_up_messages(cells.cells, s, price, 50.0)
    fresh = cells.shares(s.part, s.limit)
    for kept, counted in zip(s[:4] + s[7:], fresh[:4] + fresh[7:], strict=True):
        assert np.array_equal(kept, counted)
    assert cost() <= before + 1e-6
    assert (moves > 0) == (s.part != part).any()


def test_missing_and_surplus_coupled_parts():
    ids = np.arange(64).reshape(8, 8)
    part = (ids // 16).ravel().astype(np.int32)
    cells = ids[0].astype(np.int32)
    out = coupled_first(grid(8, 8), cells, part, 4, 2)
    assert sorted(np.bincount(out[cells], minlength=4).tolist()) == [0, 0, 1, 7]
    assert set(out[ids[2]].tolist()) == set(out[cells].tolist()) - {int(np.bincount(out[cells]).argmax())}
    columns = np.tile(np.repeat(np.arange(4), 2), 8).astype(np.int32)
    out = coupled_first(grid(8, 8), cells, columns, 4, 2)
    assert set(out[cells].tolist()) == {0, 1}
