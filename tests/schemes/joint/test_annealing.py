"""Annealing and giving up messages: exact bookkeeping, borders that move together, never at a loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.graph import Graph
from copart.kernels import bottleneck
from copart.kernels import coupled as kernels
from copart.kernels.coupled_annealing import Rates, Traffic, anneal
from copart.metrics import evaluate
from copart.schemes.joint.annealing import give_up_messages
from copart.schemes.joint.cells import CoupledCells, main_partners

from .cases import chain, state


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
