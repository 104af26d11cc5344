"""Balance of parts in one piece."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.kernels.contiguity import contiguous_hop
from copart.partitioner import contiguity
from copart.partitioner.contiguity import Pieces, _Mender

from ..conftest import NO_JIT
from ..helpers import ends_soon, grid
from ..partition_reference import NO_PULL, level
from ..reference import graphs, pieces


def test_much_weight_is_handed_on_in_few_looks_at_the_border(monkeypatch):
    """Two hundred cells from part 0 through part 1, which is full, to part 2."""
    graph, looks = grid(20, 60), []
    part = np.digitize(np.arange(1200) % 60, (30, 45)).astype(np.int32)
    limit = np.array([400, 300, 500])
    mender = _Mender(level(graph), NO_PULL, part, limit)
    assert mender.excess == 200

    def counted(*arguments):
        looks.append(arguments)
        return find_boundary(*arguments)
    find_boundary = contiguity.find_boundary
    monkeypatch.setattr(contiguity, "find_boundary", counted)
    mender.relieve()
    assert mender.excess == 0
    assert np.bincount(part).tolist() == mender.pwgt.tolist() == [400, 300, 500]
    assert not Pieces.of(level(graph), part, 3).loose.any()
    assert len(looks) < 60, "a few for each layer of twenty cells, not some for every cell"


@settings(deadline=None, max_examples=20 if NO_JIT else 150)
@given(graphs(max_nvtxs=14), st.data())
def test_a_hop_is_the_best_that_leaves_the_part_in_one_piece(graph, data):
    n = graph.nvtxs
    part = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), np.int32)
    g = level(graph)
    mender = _Mender(g, NO_PULL, part, np.full(2, 10**9))
    here = set(np.flatnonzero(part == 0).tolist())
    gains, together = {}, set()
    for v in here if len(here) > 1 else ():
        beside = list(zip(graph.adjncy[graph.xadj[v] : graph.xadj[v + 1]].tolist(),
                          g.ewgt[g.xadj[v] : g.xadj[v + 1]].tolist() or [1] * n, strict=False))
        if g.vwgt[v] == 0 or all(part[u] == 0 for u, _ in beside):
            continue
        # the part may be in several pieces before
        without = np.where(np.arange(n) == v, 1, part)
        if pieces(graph, without, 2)[0] > pieces(graph, part, 2)[0]:
            together.add(v)
        else:
            gains[v] = sum(w if part[u] == 1 else -w for u, w in beside)
    v, _ = contiguous_hop(g, NO_PULL, part, mender.population, 0, 1, 10**9, np.arange(n, dtype=np.int32), 0,
                          mender.scratch)
    assert v == min(gains, key=lambda v: (-gains[v], v), default=-1)
    noted = set(np.flatnonzero(mender.scratch.held).tolist())
    assert noted <= together
    assert noted == together or gains


def test_cells_that_hold_a_large_part_together_are_looked_at_once():
    """A comb, of whose 300 teeth every cell but the last holds others, hands on a thousand cells."""
    width, length = 600, 400
    graph = grid(width, length)
    x, y = np.divmod(np.arange(graph.nvtxs), length)
    part = ((x % 2 == 1) & (y >= length // 2)).astype(np.int32)
    limit = np.bincount(part) + np.array([-1000, 1000])
    mender = _Mender(level(graph), NO_PULL, part, limit)
    with ends_soon():
        mender.relieve()
    assert mender.excess == 0
    assert not Pieces.of(level(graph), part, 2).loose[0]
