"""Connected parts, whatever the scheme: connected, in balance, no part empty, or a refusal that is right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from copart.checks import check_copartition
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import CopartError, PartitionError
from copart.graph import Graph
from copart.metrics import copartition_limit, graph_pieces, loose_pieces, part_weights, pieces
from copart.metrics.promise import broken, promised
from copart.metrics.step import step_cost
from copart.operators import part
from copart.options import Options
from copart.partitioner.connected_search import connected_search
from copart.schemes.contiguous import bodies_shared, connected_parts, contiguous
from copart.schemes.registry import SCHEMES, run_scheme

from ..conftest import NO_JIT
from ..helpers import grid
from ..partition_reference import tree
from ..reference import random_graph

EXAMPLES = 4 if NO_JIT else 60
TOLERANCES = st.sampled_from([0.0, 0.05, 0.3, 0.99])


def some_graph(rng: np.random.Generator, n: int, kind: str) -> Graph:
    """A graph of n vertices: a tree, a grid, or edges at random, of which some are in several pieces."""
    weights = rng.integers(0, 4, n) if rng.random() < 0.5 else None
    made = tree(n, rng) if kind == "tree" else random_graph(rng, n, n if kind == "sparse" else 3 * n)
    return made.replace(vwgt=weights)


def exists(graph: Graph, k: int, limit: int) -> bool:
    """Whether any partition keeps the promise, by trying all."""
    weights = graph.weights.tolist()

    def rest(labels: list[int], load: list[int], used: int) -> bool:
        v = len(labels)
        if v == graph.nvtxs:
            return used == k and not loose_pieces(graph, labels, k).any()
        for p in range(min(used + 1, k)):
            if load[p] + weights[v] <= limit:
                more = load.copy()
                more[p] += weights[v]
                if rest([*labels, p], more, max(used, p + 1)):
                    return True
        return False

    return rest([], [0] * k, 0)


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["tree", "sparse", "dense"]), st.integers(1, 60), TOLERANCES,
       st.data())
def test_any_graph(seed, kind, n, eps, data):
    """Up to as many parts as vertices; what is refused can be tried by hand where it is small."""
    rng = np.random.default_rng(seed)
    graph, k = some_graph(rng, n, kind), data.draw(st.integers(1, n), "parts")
    options = Options(eps=eps, seed=seed % 100)
    try:
        start = part(graph, k, options)
    except PartitionError:
        assume(False)
    limit = copartition_limit(graph.total_weight, k, eps)
    try:
        made = connected_parts(graph, start, k, limit, options, np.arange(0, n, 3, dtype=np.int32))
    except PartitionError as error:
        said = str(error)
        made = None
    if made is None:
        assert said.startswith(f"contiguous: no {k} connected parts of at most {limit} each were found; raise eps")
        assert n > 8 or not exists(graph, k, limit)
        return
    assert not loose_pieces(graph, made, k).any()
    assert part_weights(graph, made, k).max() <= limit
    assert (np.bincount(made, minlength=k) > 0).all()
    if graph_pieces(graph)[0] == 1:
        assert (pieces(graph, made, k) == 1).all()


@settings(max_examples=EXAMPLES)
@given(st.sampled_from([name for name in SCHEMES if name != "auto"]), st.integers(0, 2**32 - 1), TOLERANCES,
       st.booleans())
def test_any_scheme(name, seed, eps, each):
    """All parts of all components, in a pool the shares of every process; N^cpl is named where it still holds."""
    rng = np.random.default_rng(seed)
    graphs = [some_graph(rng, int(rng.integers(1, 40)), str(rng.choice(["tree", "sparse", "dense"]))) for _ in "ab"]
    n, m = graphs[0].nvtxs, graphs[1].nvtxs
    count = int(rng.integers(1, 12))
    meet = Interedges.from_pairs(n, m, rng.integers(0, n, count), rng.integers(0, m, count))
    problem = CoupledProblem.of_two(*graphs, meet)
    nparts = int(rng.integers(1, 8)) if SCHEMES[name].shares_pool else [int(rng.integers(1, min(g.nvtxs, 8) + 1))
                                                                       for g in graphs]
    own = {"balance": "each"} if each and SCHEMES[name].shares_pool else None
    try:
        free = run_scheme(name, problem, nparts, eps=eps, scheme_options=own)
    except CopartError:
        assume(False)
    try:
        made = run_scheme(name, problem, nparts, eps=eps, scheme_options=own, contiguous=True)
    except PartitionError as error:
        said = str(error)
        made = None
    if made is None:
        assert "contiguous: no " in said
        return
    for component, graph in problem.components.items():
        assert not loose_pieces(graph, made[component], made.nparts[component]).any()
        cells = problem.coupled(component)
        moved = bool((made[component][cells] != free[component][cells]).any())
        assert made.ncoupled[component] == (None if moved else free.ncoupled[component])
    if name == "multiconstraint":  # its text
        free, made = (CoPartition(one.parts, one.nparts) for one in (free, made))
    if check_copartition(problem, free, eps).ok:
        assert check_copartition(problem, made, eps).ok


def scattered() -> tuple[CoupledProblem, CoPartition]:
    """Two grids side by side, the first with a cell of part 0 in the middle of part 1, the second as it should be."""
    ids = np.arange(100).reshape(10, 10)
    problem = CoupledProblem.of_two(grid(10, 10), grid(10, 10), Interedges.from_pairs(100, 100, ids[:, -1], ids[:, 0]))
    halves = np.repeat([0, 1], 50)
    island = halves.copy()
    island[75] = 0
    return problem, CoPartition({"a": island, "b": halves}, {"a": 2, "b": 2}, {"a": 2, "b": 2})


def test_what_is_connected_stays_and_coupled_cells_stay_if_they_can():
    problem, start = scattered()
    made = contiguous(problem, start, Options())
    assert made.b.tolist() == start.b.tolist()
    assert (made.a[problem.coupled("a")] == start.a[problem.coupled("a")]).all()
    assert dict(made.ncoupled) == {"a": 2, "b": 2}
    assert (pieces(problem.a, made.a, 2) == 1).all()


def test_coupled_cells_give_way():
    """A coupled cell apart from all others of its part: the count that was asked for is no longer said to hold."""
    problem, start = scattered()
    moved = start.a.copy()
    moved[75], moved[99] = 1, 0
    made = contiguous(problem, CoPartition({"a": moved, "b": start.b}, start.nparts, start.ncoupled), Options())
    assert (pieces(problem.a, made.a, 2) == 1).all()
    assert dict(made.ncoupled) == {"a": None, "b": 2}


def bodies(*sizes: int) -> Graph:
    """Paths side by side."""
    ends = np.cumsum(sizes)
    u = np.setdiff1d(np.arange(ends[-1] - 1), ends - 1)
    return Graph.from_edges(int(ends[-1]), u, u + 1)


def alone(graph: Graph, nparts: int, eps: float, **settings) -> tuple[CoupledProblem, CoPartition]:
    problem = CoupledProblem.of_two(graph, Graph.from_edges(1, [], []), Interedges.from_pairs(graph.nvtxs, 1, [0], [0]))
    return problem, run_scheme("naive", problem, (nparts, 1), eps=eps, contiguous=True, **settings)


@pytest.mark.parametrize("seed", range(5))
def test_parts_keep_to_one_body_where_their_numbers_fit(seed):
    """Bodies of 20, 40 and 60 in six parts of 20: nobody needs cells of two."""
    problem, made = alone(bodies(20, 40, 60), 6, 0.0, seed=seed)
    assert (pieces(problem.a, made.a, 6) == 1).all()
    assert bodies_shared(problem, made) == []


def test_few_parts_share_bodies_where_their_numbers_do_not_fit():
    """Two bodies of 30 in three parts of 20: one of them has cells of both, and the reason is said."""
    problem, made = alone(bodies(30, 30), 3, 0.05)
    assert sorted(pieces(problem.a, made.a, 3).tolist()) == [1, 1, 2]
    assert bodies_shared(problem, made) == [
        "a consists of 2 bodies: 1 of 3 parts own cells of several of them, connected in each, since no whole numbers "
        "of parts of this balance fit each"]


def test_a_refusal_says_what_to_do():
    """A star has no parts in one piece but single leaves and the rest."""
    star = Graph.from_edges(12, np.zeros(11, int), np.arange(1, 12))
    with pytest.raises(PartitionError, match="component a: contiguous: no 3 connected parts of at most 4 each were "
                                             "found; raise eps, ask for fewer parts, or leave contiguous out"):
        alone(star, 3, 0.05)


def test_shares_of_a_pool():
    problem, start = scattered()
    pool = CoPartition(start.parts, start.nparts, shared=True)
    for balance in ("total", "each"):
        made = contiguous(problem, pool, Options(eps=0.1), balance=balance)
        assert made.shared
        assert all((pieces(problem.components[name], made[name], 2) == 1).all() for name in "ab")
        loads = [np.bincount(made[name], minlength=2) for name in "ab"]
        assert (np.max(loads) <= 55) if balance == "each" else (np.sum(loads, axis=0).max() <= 110)
    star = Graph.from_edges(8, np.zeros(7, int), np.arange(1, 8))
    whole = CoupledProblem.of_two(star, Graph.from_edges(1, [], []), Interedges.from_pairs(8, 1, [0], [0]))
    pool = CoPartition({"a": [0, 0, 0, 1, 1, 1, 2, 2], "b": [2]}, {"a": 3, "b": 3}, shared=True)
    with pytest.raises(PartitionError, match="pool: contiguous: no connected shares of 3 processes of at most 3 each"):
        contiguous(whole, pool, Options(eps=0.0))


#: Weights, edges, parts: small graphs with little room, which were refused.
TIGHT = [
    ([4, 4, 1, 0, 3, 3, 0, 3, 1, 4], [(0, 3), (1, 2), (1, 8), (1, 9), (2, 4), (2, 8), (2, 9), (3, 5), (3, 7), (3, 9),
                                      (4, 7), (5, 6), (5, 8), (6, 7), (6, 8), (7, 8), (7, 9)], 2),
    ([2, 0, 2, 4, 3, 1, 0, 1, 0, 1, 0], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), *((i, i + 1) for i in range(6, 10))],
     3),
    ([8, 5, 6, 5, 4, 8], [(0, 1), (1, 2), (2, 3), (4, 5)], 5),
    ([1, 4, 3, 3, 2, 2, 4, 2], [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7)], 7),
]


@pytest.mark.parametrize(("weights", "edges", "k"), TIGHT)
def test_small_graphs_with_little_room(weights, edges, k):
    graph = Graph.from_edges(len(weights), *zip(*edges, strict=True), vwgt=weights)
    limit = copartition_limit(graph.total_weight, k, 0.5)
    start = np.arange(len(weights), dtype=np.int32) % k
    made = connected_parts(graph, start, k, limit, Options(eps=0.5), np.array([0], np.int32))
    assert not loose_pieces(graph, made, k).any()
    assert part_weights(graph, made, k).max() <= limit
    assert len(set(made.tolist())) == k


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.booleans())
def test_exhaustive_search_finds_what_there_is(seed, n, several):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, n, n).replace(vwgt=rng.integers(0, 4, n))
    k = int(rng.integers(1, n + 1))
    limit = -(-graph.total_weight // k) + int(rng.integers(0, 2))
    made = connected_search(graph, k, limit, graph_pieces(graph)[1], several=several)
    if made is None:
        assert several is False or not exists(graph, k, limit)
        return
    assert part_weights(graph, made, k).max() <= limit
    assert len(set(made.tolist())) == k
    assert not loose_pieces(graph, made, k).any() if several else pieces(graph, made, k).sum() == k


def foam(side: int, seed: int) -> CoupledProblem:
    """Two bodies of voxels that fill a cube, each with cells that hang on by a face."""
    noise = np.random.default_rng(seed).normal(size=(side,) * 3)
    first = gaussian_filter(noise, 1.0, mode="wrap") > 0
    number = np.where(first, np.cumsum(first.ravel()).reshape(first.shape), np.cumsum(~first).reshape(first.shape)) - 1
    ends = [[np.delete(of, last, axis).ravel() for last in (-1, 0) for of in (number, first)] for axis in range(3)]
    u, p, v, q = (np.concatenate(of) for of in zip(*ends, strict=True))
    bodies = [Graph.from_edges(int(np.count_nonzero(first == which)), u[(p == which) & (q == which)],
                               v[(p == which) & (q == which)]) for which in (True, False)]
    meet = Interedges.from_pairs(bodies[0].nvtxs, bodies[1].nvtxs, np.where(p, u, v)[p != q], np.where(p, v, u)[p != q])
    return CoupledProblem.of_two(*bodies, meet)


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
@pytest.mark.parametrize("name", ["joint", "auto"])
def test_connected_parts_are_no_worse_than_those_of_each_component_alone(name):
    """Where loose pieces were joined after a scheme had compared itself, half of these were, in up to four figures."""
    fewer = 0
    for seed in (1, 5, 7, 8):
        problem = foam(16, seed)
        for nparts in ((8, 12), (16, 16)):
            made = run_scheme(name, problem, nparts, contiguous=True, seed=seed)
            alone = run_scheme("naive", problem, nparts, contiguous=True, seed=seed)
            mine, theirs = promised(problem, made), promised(problem, alone)
            assert not broken(mine, theirs)
            assert step_cost(problem, made).T_step <= step_cost(problem, alone).T_step
            for component, graph in problem.components.items():
                assert not loose_pieces(graph, made[component], made.nparts[component]).any()
            fewer += mine.totZ < theirs.totZ
    assert fewer >= 6
