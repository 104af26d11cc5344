"""Figures of hypergraph partitions: the published example, and messages that are really sent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import random_array

from copart.errors import GraphError
from copart.hypergraph import Hypergraph
from copart.metrics import evaluate_hypergraph

from ..helpers import grid
from ..test_hypergraph import hypergraphs


def test_the_published_example():
    """Figure 4.2, vertices counted from 0; what the text says of SM contradicts its own definition."""
    h = Hypergraph.from_nets(6, [[0, 5], [3, 4], [1, 0, 2], [2, 3], [5, 0], [4, 1]])
    m = evaluate_hypergraph(h, [0, 1, 2, 0, 1, 2], 3)
    assert m.send.tolist() == [2, 2, 2]
    assert m.receive.tolist() == [3, 1, 2]
    assert m.messages.tolist() == [2, 2, 1]
    assert (m.total_volume, m.max_send, m.max_exchanged, m.total_messages, m.max_messages) == (6, 2, 5, 5, 2)
    assert (m.cut_net, m.imbalance) == (5, 0.0)
    assert m.connectivity.tolist() == [2, 2, 3, 2, 2, 1]


def test_connectivity_is_the_volume_by_definition():
    h = Hypergraph.from_nets(5, [[0, 1, 2, 3], [4, 3]], cost=[3, 10], vwgt=[1, 1, 1, 1, 4])
    m = evaluate_hypergraph(h, [0, 1, 2, 2, 2], 4)
    assert m.connectivity.tolist() == [3, 1]
    assert (m.total_volume, m.cut_net) == (6, 3)
    assert m.load.tolist() == [1, 1, 6, 0]
    assert m.imbalance == 2.0
    two = evaluate_hypergraph(h.replace(vwgt=[[1, 0], [1, 0], [1, 0], [1, 0], [0, 1]]), [0, 1, 0, 1, 1], 2)
    assert (two.load.tolist(), two.imbalance) == ([[2, 0], [2, 1]], 1.0)


@given(hypergraphs(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_sums_agree_and_nothing_is_missed(h, nparts, random):
    part = [random.randrange(nparts) for _ in range(h.nvtxs)]
    m = evaluate_hypergraph(h, part, nparts)
    messages, send, receive = set(), [0] * nparts, [0] * nparts
    for e in range(h.nnets):
        touched = {part[v] for v in h.net(e).tolist()}
        for q in touched - {part[h.source[e]]}:
            messages.add((part[h.source[e]], q))
            send[part[h.source[e]]] += int(h.cost[e])
            receive[q] += int(h.cost[e])
    assert m.send.tolist() == send
    assert m.receive.tolist() == receive
    assert m.messages.tolist() == [sum(p == a for a, _ in messages) for p in range(nparts)]
    assert m.total_volume == sum(receive) == sum(c * (x - 1) for c, x in zip(h.cost, m.connectivity, strict=True))
    assert m.max_exchanged == max(a + b for a, b in zip(send, receive, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_a_product_with_a_matrix_sends_what_is_said(seed):
    """y = A x by rows: who owns row i needs each x_j with an entry in it, and asks its owner once."""
    rng = np.random.default_rng(seed)
    n, k = 60, 6
    matrix = random_array((n, n), density=0.06, rng=rng, format="csr")
    size = rng.integers(1, 9, n)
    part = rng.integers(0, k, n)
    boxes = {}
    for i in range(n):
        for j in matrix.indices[matrix.indptr[i]:matrix.indptr[i + 1]].tolist():
            if part[i] != part[j]:
                boxes.setdefault((part[j], part[i]), {})[j] = size[j]
    m = evaluate_hypergraph(Hypergraph.from_scipy(matrix, cost=size), part, k)
    volume = {pair: sum(box.values()) for pair, box in boxes.items()}
    assert m.send.tolist() == [sum(v for (a, _), v in volume.items() if a == p) for p in range(k)]
    assert m.receive.tolist() == [sum(v for (_, b), v in volume.items() if b == p) for p in range(k)]
    assert m.messages.tolist() == [sum(a == p for a, _ in boxes) for p in range(k)]


def test_a_halo_of_a_grid():
    """Two halves of a 4 x 6 grid: four cells on each side of the border."""
    m = evaluate_hypergraph(Hypergraph.column_net(grid(6, 4)), [0] * 12 + [1] * 12, 2)
    assert m.to_dict() == {"TV": 8, "MSV": 4, "MSRV": 8, "TM": 2, "MSM": 1, "cut_net": 8, "imbalance": 0.0}


def test_part_numbers_are_checked():
    h = Hypergraph.from_nets(2, [[0, 1]])
    with pytest.raises(GraphError, match=r"part: 1 of 2 entries are outside 0\.\.1"):
        evaluate_hypergraph(h, [0, 2], 2)
