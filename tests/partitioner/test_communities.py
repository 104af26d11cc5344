"""Communities of graphs with hubs, and coarsening inside them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.metrics import edge_cut
from copart.options import Config
from copart.partitioner import refinement
from copart.partitioner.affinity import finest
from copart.partitioner.communities import coarsen_communities, find_communities
from copart.partitioner.refinement import Refiner, cut_of
from copart.partitioner.rounds import Team
from copart.partitioner.shape import look_at

from ..partition_reference import scale_free


def modularity(graph: Graph, community: np.ndarray) -> float:
    """Share of the weight of edges inside communities, less what is expected of edges drawn at random."""
    u, v, w = graph.edges()
    volume = np.bincount(community[u], w, graph.nvtxs) + np.bincount(community[v], w, graph.nvtxs)
    return float(w[community[u] == community[v]].sum() / w.sum() - ((volume / (2 * w.sum())) ** 2).sum())


def ring_of_cliques(count: int, size: int) -> Graph:
    """Cliques one after the other, the last vertex of each joined to the first of the next."""
    u, v = np.triu_indices(size, 1)
    first = np.arange(count) * size
    return Graph.from_edges(count * size, np.concatenate([(first[:, None] + u).ravel(), first + size - 1]),
                            np.concatenate([(first[:, None] + v).ravel(), np.roll(first, -1)]))


def test_cliques_in_a_ring_are_communities() -> None:
    # below 22 of them, pairs of cliques have less modularity (Fortunato & Barthelemy 2007)
    level, _ = finest(ring_of_cliques(8, 5), 2, None, None)
    with Team(1) as team:
        found = find_communities(level, team)
    assert found.tolist() == [v // 5 for v in range(40)]


def test_weights_count() -> None:
    """A square whose opposite edges are heavy."""
    graph = Graph.from_edges(4, [0, 1, 2, 3], [1, 2, 3, 0], [9, 1, 9, 1])
    level, _ = finest(graph, 2, None, None)
    with Team(1) as team:
        found = find_communities(level, team)
    assert found[0] == found[1] != found[2] == found[3]


def test_edges_that_weigh_nothing_tie_nothing() -> None:
    level, _ = finest(Graph.from_edges(3, [0, 1], [1, 2], [0, 0]), 2, None, None)
    with Team(1) as team:
        assert find_communities(level, team).tolist() == [0, 1, 2]


def test_vertices_without_edges_stay_alone() -> None:
    for graph in (Graph.from_edges(6, [1, 2], [2, 4]), Graph.from_edges(6, [1, 2], [2, 4], [5, 5])):
        level, _ = finest(graph, 2, None, None)
        with Team(1) as team:
            found = find_communities(level, team)
        assert sorted(np.bincount(found).tolist()) == [1, 1, 1, 3]
        assert found[1] == found[2] == found[4]


@settings(deadline=None, max_examples=50)
@given(n=st.integers(5, 80), seed=st.integers(0, 10**6), unit=st.booleans())
def test_communities_have_modularity(n: int, seed: int, unit: bool) -> None:
    rng = np.random.default_rng(seed)
    u, v, _ = scale_free(n, rng).edges()
    graph = Graph.from_edges(n, u, v, None if unit else rng.integers(1, 9, len(u)))
    level, _ = finest(graph, 2, None, None)
    with Team(1) as one, Team(2) as two:
        found = find_communities(level, one)
        assert (find_communities(level, two) == found).all()
    # each move adds to it, and hubs are worth moving to
    assert modularity(graph, found) > modularity(graph, np.arange(n))
    assert np.unique(found).tolist() == list(range(found.max() + 1))


def test_clusters_stay_inside_communities_while_these_shrink() -> None:
    graph = scale_free(3000, np.random.default_rng(3))
    level, _ = finest(graph, 4, None, None)
    with Team(1) as team:
        found = find_communities(level, team)
        levels = coarsen_communities(level, 100, look_at(level), team, least=4)
    assert len(levels.levels) == len(levels.maps) + 1
    assert len(levels.levels[-1].vwgt) < 300
    inside = levels.maps[0]
    assert all(len(np.unique(found[inside == c])) == 1 for c in range(inside.max() + 1))
    assert levels.levels[-1].vwgt.sum() == graph.nvtxs


def test_communities_around_hubs_are_found_by_partitions() -> None:
    """Parts of a graph whose hubs each know one quarter of the others, and a few of the rest."""
    rng = np.random.default_rng(2)
    n, home = 4000, np.arange(4000) % 4
    hub = rng.integers(0, 10, 3 * n) * 4
    u, stray = np.arange(3 * n) % n, rng.random(3 * n) < 0.1
    v = np.where(stray, rng.integers(0, 40, 3 * n), hub + home[u])
    graph = Graph.from_edges(n, u[u != v], v[u != v])
    assert look_at(finest(graph, 4, None, None)[0]).skewed
    assert edge_cut(graph, partition(graph, 4)) <= edge_cut(graph, home)
    assert edge_cut(graph, partition(graph, 4, preset=Config(hub_rounds=0))) <= 1.1 * edge_cut(graph, home)


def test_a_short_log_is_made_longer_around_hubs(monkeypatch) -> None:
    """Evictions that the log has no room for are not rounds of moves: those would come again for ever."""
    graph = scale_free(500, np.random.default_rng(1))
    level, pull = finest(graph, 2, None, None)
    part = (np.arange(500) % 2).astype(np.int32)
    stages, room = [refinement.jet.BALANCE, refinement.jet.OVER], []

    def rounds(me, crew, g, pull, state, *_):
        room.append(state.log.shape[1] - int(state.count[2] + state.count[1]))
        return stages.pop(0)

    with Team(1) as team:
        refiner = Refiner(level, pull, part, np.array([250, 250]), team, 1, skewed=True)
        refiner.state = refiner.state._replace(log=np.empty((2, 10), np.int32))
        monkeypatch.setattr(refinement.jet, "jet_rounds", rounds)
        refiner.improve(Config(), cut_of(level, part))
    assert room[0] < 0 <= room[1]


def test_hubs_are_cooled_over_six_rounds_at_most():
    graph = scale_free(500, np.random.default_rng(2))
    assert look_at(finest(graph, 4, None, None)[0]).skewed
    six, twelve, many = (partition(graph, 4, preset=Config(cooling=cooling)) for cooling in (11, 12, 40))
    assert (six == twelve).all()
    assert (six == many).all()
    assert (partition(graph, 4, preset=Config(cooling=2)) != six).any()
