"""A scheme refuses only where nothing exists: compared with all partitions of tiny problems."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

import copart
from copart.checks import check_copartition
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import CopartError, PartitionError, of_component
from copart.graph import Graph
from copart.metrics import copartition_limit, max_part_weights

SCHEMES = (copart.aware, copart.projrepart, copart.joint)


def exists(weight: np.ndarray, coupled: np.ndarray, nparts: int, eps: float) -> bool:
    """Is there a partition with both balances and no empty part, whatever the number of coupled parts?"""
    limit = copartition_limit(int(weight.sum()), nparts, eps)
    inside = np.isin(np.arange(len(weight)), coupled)
    room = [copartition_limit(int(weight[inside].sum()), k, eps) for k in range(1, nparts + 1)]
    load, face = [0] * nparts, [0] * nparts
    cells, owned = [0] * nparts, [0] * nparts

    def place(v: int) -> bool:
        if v == len(weight):
            owners = sum(n > 0 for n in owned)
            return all(cells) and owners > 0 and max(face) <= room[owners - 1]
        seen = set()
        for p in range(nparts):
            state = (load[p], face[p], cells[p] > 0, owned[p] > 0)
            if state in seen or load[p] + weight[v] > limit:
                continue
            seen.add(state)
            load[p], cells[p] = load[p] + weight[v], cells[p] + 1
            if inside[v]:
                face[p], owned[p] = face[p] + weight[v], owned[p] + 1
            if place(v + 1):
                return True
            load[p], cells[p] = load[p] - weight[v], cells[p] - 1
            if inside[v]:
                face[p], owned[p] = face[p] - weight[v], owned[p] - 1
        return False

    return place(0)


def tiny(rng: np.random.Generator) -> tuple[CoupledProblem, tuple[int, int], float]:
    """Two graphs of up to eight vertices, weights from 0 to 3 or all 1, any counts."""
    graphs = []
    for _ in range(2):
        n = int(rng.integers(2, 9))
        u, v = rng.integers(0, n, (2, int(rng.integers(0, 2 * n))))
        weight = rng.integers(0, 4, n) if rng.random() < 0.7 else None
        graphs.append(Graph.from_edges(n, u[u != v], v[u != v], vwgt=weight))
    some = int(rng.integers(1, 8))
    inter = Interedges.from_pairs(graphs[0].nvtxs, graphs[1].nvtxs, rng.integers(0, graphs[0].nvtxs, some),
                                  rng.integers(0, graphs[1].nvtxs, some))
    counts = tuple(int(rng.integers(1, g.nvtxs + 1)) for g in graphs)
    return CoupledProblem.of_two(*graphs, inter), counts, float(rng.choice([0.0, 0.03, 0.05, 0.1, 0.3]))


def attempt(scheme, problem, counts, eps, seed) -> tuple[CoPartition | None, str]:
    """What a scheme makes, or what it says."""
    try:
        return scheme(problem, counts, eps=eps, seed=seed), ""
    except CopartError as error:
        return None, str(error)


def test_the_search_through_all_partitions():
    ones = np.ones(3, int)
    assert exists(ones, np.arange(3), 2, 0.05), "two cells and one, all coupled"
    assert not exists(np.array([3, 3, 3, 1]), np.arange(2), 2, 0.0), "one part would hold two of three heavy cells"
    assert exists(np.array([3, 3, 3, 1]), np.arange(2), 2, 0.2)
    assert not exists(np.array([2, 0, 0]), np.arange(3), 4, 0.0), "more parts than cells"


@pytest.mark.parametrize("first", range(0, 150, 25))
def test_refusals_are_right_and_name_the_component(first):
    made = 0
    for seed in range(first, first + 25):
        problem, counts, eps = tiny(np.random.default_rng(seed))
        there = {name: exists(graph.weights, problem.coupled(name), n, eps)
                 for (name, graph), n in zip(problem.components.items(), counts, strict=True)}
        for scheme in SCHEMES:
            found, said = attempt(scheme, problem, counts, eps, seed)
            if found is None:
                assert not all(there.values()), f"seed {seed}: {scheme.__name__} refuses {counts}, eps {eps}: {said}"
                assert re.search(r"(component|of) [ab]:", said), said
                continue
            report = check_copartition(problem, found, eps)
            assert report.ok, f"seed {seed}: {scheme.__name__}: {report}"
            made += 1
    assert made >= 20, "hardly one of 75 was possible"


def test_a_partition_of_few_vertices_is_refused_where_none_exists() -> None:
    """`part` with weights, limits and fixed vertices that leave one way, or none."""
    rng = np.random.default_rng(7)
    refused = found = 0
    for _ in range(150):
        n = int(rng.integers(4, 9))
        k, eps = int(rng.integers(2, min(4, n) + 1)), float(rng.choice([0, 0.02]))
        weight = rng.integers(1, 30, n)
        fixed = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), -1)
        graph = Graph.from_edges(n, range(n - 1), range(1, n), vwgt=weight)
        limit = max_part_weights(int(weight.sum()), k, eps)
        try:
            part = copart.kgggp_ml.partition(graph, k, eps=eps, fixed=fixed)
        except PartitionError:
            every = np.stack(np.meshgrid(*[range(k)] * n, indexing="ij"), -1).reshape(-1, n)
            every = every[(every[:, fixed >= 0] == fixed[fixed >= 0]).all(axis=1)]
            loads = np.stack([(every == p) @ weight for p in range(k)], axis=1)
            filled = np.stack([(every == p).any(axis=1) for p in range(k)], axis=1).all(axis=1)
            assert not (filled & (loads <= limit).all(axis=1)).any()
            refused += 1
        else:
            assert (np.bincount(part, weight, k) <= limit).all()
            assert len(np.unique(part)) == k
            found += 1
    assert refused > 20
    assert found > 20


def test_ways_out_are_those_of_one_graph_or_of_a_component():
    alone = PartitionError("vwgt: {vertex} weighs {9}", vertex=3, ways=["raise eps", "use fewer parts"], best=True)
    assert str(alone) == ("vwgt: vertex 3 weighs {9}; raise eps, use fewer parts, or take the best balance "
                          "(strict=False; copart part --best-balance)")
    with pytest.raises(PartitionError) as caught, of_component("solid"), of_component("fluid", lambda v: v + 10):
        raise alone
    assert str(caught.value) == "component fluid: vwgt: cell 13 weighs {9}; raise eps or use fewer parts"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("scheme", [copart.aware, copart.projrepart])
def test_what_has_no_room_names_only_ways_out_of_a_component(scheme):
    path = Graph.from_edges(5, range(4), range(1, 5)).replace(vwgt=[5, 7, 8, 1, 2])
    every = np.arange(5)
    load = np.array([3, 7, 3, 4, 6])
    problem = CoupledProblem({"a": path, "b": path}, {("a", "b"): Interedges.from_pairs(5, 5, every, every)},
                             {"a": load, "b": load})
    with pytest.raises(PartitionError, match=r"^component a: 2 parts cannot share the coupled weight.* is allowed; "
                                             r"raise eps$"):
        scheme(problem, (2, 2))
