"""Ranks grouped for what nodes send: exact sizes, never worse, and better in what is asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import ConfigError
from copart.hypergraph import Hypergraph
from copart.kgggp_ml import partition
from copart.mapping.ranks.communication import Messages, Times, communication_graph
from copart.mapping.ranks.objectives import message_nets, node_traffic
from copart.mapping.ranks.reorder import OBJECTIVES, reorder_ranks

from ...helpers import grid

#: What each objective has least of, by its place in `NodeTraffic`.
FIRST = {"volume": 0, "max-volume": 1, "messages": 2, "max-messages": 3}


def halos(k=128, side=18):
    """Messages of the parts of a cube: a rank sends to each of its neighbours the cells that it needs."""
    g = grid(side - 1, side, side + 1)
    part, sent = partition(g, k, preset="fast", seed=2), {}
    nets = Hypergraph.column_net(g)
    for e in range(nets.nnets):
        pins = part[nets.net(e)]
        for q in set(pins.tolist()) - {int(pins[0])}:
            sent[int(pins[0]), q] = sent.get((int(pins[0]), q), 0) + 1
    source, target = np.array(list(sent)).T
    return Messages(k, source, target, 400.0 * np.array(list(sent.values())))


def test_traffic_of_nodes_by_hand():
    source, target = (np.array(x, np.int32) for x in ([0, 0, 1, 3], [1, 2, 2, 0]))
    times = Times(source, target, np.array([5.0, 2.0, 3.0, 7.0]))
    nets = message_nets(4, times, 1.0)
    # nodes {0, 1} and {2, 3}: 2 and 3 go there, 7 comes back
    assert node_traffic(nets, [0, 0, 1, 1], 1.0) == (12.0, 7.0, 2, 1)
    assert node_traffic(nets, [0, 1, 2, 0], 1.0) == (10.0, 7.0, 3, 2)
    assert node_traffic(nets, [0, 0, 0, 0], 1.0) == (0.0, 0.0, 0, 0)


@pytest.mark.parametrize("sizes", [[16] * 8, [32, 16, 16, 8, 8, 24, 24]])
def test_each_objective_gets_what_it_asks_for(sizes):
    pairs = communication_graph(halos())
    node = np.repeat(np.arange(len(sizes)), sizes)
    by_time = reorder_ranks(pairs, node)
    for objective, i in FIRST.items():
        found = reorder_ranks(pairs, node, objective=objective)
        assert np.bincount(found.node).tolist() == sizes
        assert np.sort(found.rank).tolist() == list(range(128))
        assert found.after[i] <= by_time.after[i]
        if objective in ("max-volume", "messages") and len(set(sizes)) == 1:
            assert found.after[i] < by_time.after[i]
        assert found.before == by_time.before
        if len(set(sizes)) > 1:  # once for each objective is enough
            assert (found.rank == reorder_ranks(pairs, node, objective=objective).rank).all()


@given(st.integers(2, 12), st.integers(2, 4), st.sampled_from(OBJECTIVES), st.randoms(use_true_random=False))
def test_never_worse_whatever_the_messages(n, k, objective, random):
    pairs = [(random.randrange(n), random.randrange(n), 2.0 ** random.randrange(20)) for _ in range(3 * n)]
    graph = communication_graph(Messages(n, *map(np.array, zip(*pairs, strict=True))))
    node = np.arange(n) % min(k, n)
    found = reorder_ranks(graph, node, objective=objective)
    assert np.bincount(found.node).tolist() == np.bincount(node).tolist()
    if objective == "time":
        assert found.cut_after <= found.cut_before
    else:
        assert found.after[FIRST[objective]] <= found.before[FIRST[objective]]
    assert found.kept or found.after != found.before or found.cut_after != found.cut_before


def test_without_directions_only_the_time_is_known():
    known = communication_graph(halos(16, 8))
    unknown = replace(known, times=None)
    assert reorder_ranks(unknown, np.arange(16) // 4).after is None
    with pytest.raises(ConfigError, match=r"^objective: max-volume needs the time of each direction"):
        reorder_ranks(unknown, np.arange(16) // 4, objective="max-volume")
    with pytest.raises(ConfigError, match=r"^objective: 'fast' is not known"):
        reorder_ranks(known, np.arange(16) // 4, objective="fast")
