"""Guarantees of the partitioner: what always holds for a partition it returns, and when it may refuse."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart import metrics
from copart.checks import check_partition
from copart.errors import ConfigError, CopartError, GraphError, PartitionError
from copart.graph import Graph
from copart.kgggp_ml import partition, refine
from copart.options import PRESETS, Config, Loose
from copart.partitioner.affinity import Affinity

from .conftest import NO_JIT
from .helpers import grid
from .partition_reference import (
    Case,
    cases,
    complete,
    excuses,
    exists,
    objective,
    packing,
    path,
    scale_free,
    star,
    tree,
)

#: Coarsens graphs of a few dozen vertices, so that small random cases pass through several levels.
DEEP = replace(PRESETS["default"], coarse_per_part=2, coarse_least=8)
SETTINGS = {"default": PRESETS["default"], "fast": PRESETS["fast"], "deep": DEEP,
            "deep and strong": replace(PRESETS["strong"], coarse_per_part=2, coarse_least=8),
            "bred": replace(DEEP, members=3, generations=2, reach=8, rounds=2)}
EXAMPLES = 8 if NO_JIT else 100


def assert_promises(case: Case, part: np.ndarray, *, balanced: bool = True) -> None:
    """Everything promised of a result, derived again from the definitions."""
    g = case.graph
    assert part.dtype == np.int32
    assert part.shape == (g.nvtxs,)
    assert set(part.tolist()) == set(range(case.nparts)), "every part has a vertex, and no other numbers occur"
    if case.fixed is not None:
        held = case.fixed >= 0
        assert (part[held] == case.fixed[held]).all()
    if balanced:
        load = [0] * case.nparts
        for v, p in enumerate(part.tolist()):
            load[p] += int(g.weights[v])
        assert all(w <= most for w, most in zip(load, case.limit.tolist(), strict=True)), (load, case.limit.tolist())


# ---- random cases
@pytest.mark.parametrize("config", SETTINGS)
@settings(max_examples=EXAMPLES)
@given(cases(weights=("unit", "zero or one", "zero")))
def test_weights_of_0_and_1_never_fail(config: str, case: Case) -> None:
    """Limits add up to the whole weight at least, so that only fixed vertices can rule a partition out."""
    if not excuses(case):
        assert_promises(case, partition(case.graph, case.nparts, preset=SETTINGS[config], **case.options))
    else:
        with pytest.raises(PartitionError):
            partition(case.graph, case.nparts, preset=SETTINGS[config], **case.options)


@settings(max_examples=EXAMPLES)
@given(cases(weights=("unit",), fixed=False, tpwgts=False, max_nvtxs=120))
def test_exact_balance_of_unit_weights_always_succeeds(case: Case) -> None:
    case = replace(case, eps=0.0)
    part = partition(case.graph, case.nparts, preset=DEEP, **case.options)
    assert_promises(case, part)
    assert np.bincount(part).max() == -(-case.graph.nvtxs // case.nparts)


@pytest.mark.parametrize("config", SETTINGS)
@settings(max_examples=EXAMPLES)
@given(cases(weights=("small", "heavy")))
def test_uneven_weights_keep_all_promises_or_the_error_is_true(config: str, case: Case) -> None:
    """Where a simple packing keeps the limits, so does the partitioner; else it may say that it found none."""
    refusal = ""
    try:
        part = partition(case.graph, case.nparts, preset=SETTINGS[config], **case.options)
    except PartitionError as e:
        refusal = str(e)
    reasons = excuses(case)
    if reasons:
        assert refusal.split(":")[0] in reasons
    elif refusal:
        assert packing(case) is None, f"a packing exists: {refusal}"
        assert refusal.startswith("balance: no partition within the limits was found")
    else:
        assert_promises(case, part)


@settings(max_examples=4 * EXAMPLES)
@given(cases(weights=("small", "heavy"), max_nvtxs=8))
def test_tiny_cases_fail_only_where_nothing_exists(case: Case) -> None:
    try:
        part = partition(case.graph, case.nparts, **case.options)
    except PartitionError:
        assert not exists(case)
    else:
        assert exists(case)
        assert_promises(case, part)


@settings(max_examples=EXAMPLES)
@given(cases())
def test_not_strict_keeps_all_but_balance(case: Case) -> None:
    """Too many parts of too few free vertices is the one thing that nothing can be returned for."""
    missing = set(range(case.nparts)) - set([] if case.fixed is None else case.fixed.tolist())
    free = case.graph.nvtxs if case.fixed is None else int((case.fixed < 0).sum())
    if len(missing) > free:
        with pytest.raises(PartitionError, match="fixed"):
            partition(case.graph, case.nparts, preset=DEEP, strict=False, **case.options)
        return
    part = partition(case.graph, case.nparts, preset=DEEP, strict=False, **case.options)
    assert_promises(case, part, balanced=packing(case) is not None and not excuses(case))


@settings(max_examples=EXAMPLES)
@given(cases(weights=("unit", "zero or one")), st.integers(0, 1000))
def test_refine_keeps_the_same_promises(case: Case, seed: int) -> None:
    start = np.random.default_rng(seed).integers(0, case.nparts, case.graph.nvtxs)
    if excuses(case):
        with pytest.raises(PartitionError):
            refine(case.graph, start, case.nparts, **case.options)
        return
    before = start.copy()
    part = refine(case.graph, start, case.nparts, **case.options)
    assert_promises(case, part)
    assert (start == before).all(), "the partition given is not touched"


@settings(max_examples=EXAMPLES)
@given(cases(weights=("unit",), fixed=False))
def test_refine_never_worsens_a_balanced_partition(case: Case) -> None:
    start = partition(case.graph, case.nparts, preset="fast", **case.options)
    better = refine(case.graph, start, case.nparts, **case.options)
    assert objective(case.graph, better) <= objective(case.graph, start)


# ---- larger graphs of the awkward kind: real coarsening
LARGE = {
    "star of 10,000 leaves": lambda rng: star(10_001),
    "path": lambda rng: path(5000),
    "tree": lambda rng: tree(4000, rng),
    "scale-free": lambda rng: scale_free(4000, rng),
    "no edges": lambda rng: Graph.from_edges(5000, [], []),
    "matching": lambda rng: Graph.from_edges(4000, np.arange(0, 4000, 2), np.arange(1, 4000, 2)),
    "two components": lambda rng: Graph.from_edges(
        4900, *(np.concatenate([e, e + 2450]) for e in grid(49, 50).edges()[:2])),
    "complete": lambda rng: complete(300),
    "grid with tails": lambda rng: grid(60, 60, vwgt=np.minimum(rng.zipf(2.0, 3600), 40)),
    "grid of no weight": lambda rng: grid(50, 50, vwgt=np.zeros(2500, int)),
    "grid with weight on one side": lambda rng: grid(50, 50, vwgt=np.where(np.arange(2500) < 50, 1, 0)),
}
if NO_JIT:
    del LARGE["star of 10,000 leaves"], LARGE["complete"]


@pytest.mark.parametrize(("k", "eps"), [(2, 0.0), (7, 0.05), (60, 0.03)])
@pytest.mark.parametrize("name", LARGE)
def test_large_awkward_graphs(name: str, k: int, eps: float) -> None:
    case = Case(LARGE[name](np.random.default_rng(4)), k, eps, 1)
    assert not excuses(case)
    assert_promises(case, partition(case.graph, k, eps=eps))


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9, 0.999])
def test_many_fixed_vertices_on_a_large_grid(share: float) -> None:
    rng = np.random.default_rng(8)
    fixed = np.where(rng.random(3600) < share, np.arange(3600) % 9, -1)
    case = Case(grid(60, 60), 9, 0.05, 3, fixed)
    assert_promises(case, partition(case.graph, 9, **case.options))


@pytest.mark.parametrize("config", ["deep", "deep and strong"])
def test_more_parts_than_clusters(config: str) -> None:
    """Free vertices without weight shrink to a few clusters, fewer than the parts that need one of them."""
    rng = np.random.default_rng(2)
    n, k = 600, 90
    pinned = rng.permutation(n)[:300]
    fixed, vwgt = np.full(n, -1), np.zeros(n, int)
    fixed[pinned] = np.arange(300) % 20
    vwgt[pinned] = 1
    for graph in (complete(n) if not NO_JIT else star(n), grid(20, 30)):
        u, v, _ = graph.edges()
        case = Case(Graph.from_edges(n, u, v, vwgt=vwgt), k, 5.0, 1, fixed)
        assert_promises(case, partition(case.graph, k, Loose(5.0, 1, preset=SETTINGS[config]), fixed=fixed))


def test_numbering_makes_no_difference_to_the_promises() -> None:
    """Vertices in random order are renumbered inside, fixed ones and results numbered back."""
    g = grid(40, 40)
    u, v, _ = g.edges()
    new = np.random.default_rng(7).permutation(1600)
    fixed = np.where(np.arange(1600) % 40 == 0, np.arange(1600) // 400, -1)
    moved = np.full(1600, -1)
    moved[new] = fixed
    case = Case(Graph.from_edges(1600, new[u], new[v], vwgt=np.arange(1600) % 3), 6, 0.05, 3, moved)
    part = partition(case.graph, 6, **case.options)
    assert_promises(case, part)
    near = partition(Graph.from_edges(1600, u, v, vwgt=case.graph.weights[new]), 6, eps=0.05, seed=3, fixed=fixed)
    assert metrics.edge_cut(case.graph, part) <= 1.3 * metrics.edge_cut(g, near)


def test_fixed_vertices_gather_their_parts() -> None:
    """One row fixed to three parts of six: those parts grow from it, the others share the rest."""
    fixed = np.full(3600, -1)
    fixed[:60] = np.arange(60) // 20
    part = partition(grid(60, 60), 6, fixed=fixed)
    assert (part[:60] == fixed[:60]).all()
    free = metrics.edge_cut(grid(60, 60), partition(grid(60, 60), 6))
    assert metrics.edge_cut(grid(60, 60), part) <= 1.25 * free  # observed 211 and 198 (2026-11)


# ---- the odd ones
def test_no_vertices() -> None:
    empty = Graph.from_edges(0, [], [])
    with pytest.raises(PartitionError, match="nparts: 1 parts of 0 vertices"):
        partition(empty, 1)
    with pytest.raises(PartitionError, match="nparts: 3 parts of 0 vertices"):
        partition(empty, 3)


def test_one_vertex() -> None:
    one = Graph.from_edges(1, [], [], vwgt=[7])
    assert partition(one, 1, eps=0.0).tolist() == [0]
    with pytest.raises(PartitionError, match="2 parts of 1 vertices"):
        partition(one, 2)


def test_as_many_parts_as_vertices() -> None:
    for graph in (path(9), star(9), complete(9), Graph.from_edges(9, [], []), path(9, vwgt=np.zeros(9, int))):
        assert sorted(partition(graph, 9, eps=0.0).tolist()) == list(range(9))


def test_one_part() -> None:
    assert (partition(grid(5, 5), 1) == 0).all()


def test_everything_fixed() -> None:
    fixed = np.arange(25) % 5
    given = fixed.copy()
    part = partition(grid(5, 5), 5, fixed=fixed)
    assert (part == given).all()
    part[:] = 0
    assert (fixed == given).all(), "the result is not the caller's array"


def test_nothing_fixed_is_the_same_as_no_fixed() -> None:
    g = grid(12, 12)
    assert (partition(g, 4, fixed=np.full(144, -1)) == partition(g, 4)).all()


def test_all_ones_are_the_same_as_no_weights() -> None:
    g = grid(60, 60)
    u, v, _ = g.edges()
    same = Graph.from_edges(3600, u, v, np.ones(len(u), int), vwgt=np.ones(3600, int))
    assert (partition(g, 7) == partition(same, 7)).all()


def test_graph_likes_and_read_only_memory() -> None:
    g = grid(8, 8)
    want = partition(g, 3)
    assert (partition(g.to_scipy(), 3) == want).all()
    assert (partition(g.to_networkx(), 3) == want).all()
    assert (partition((g.xadj, g.adjncy), 3) == want).all()
    for array in (g.xadj, g.adjncy):
        assert not array.flags.writeable
    before = [g.xadj.copy(), g.adjncy.copy()]
    partition(g, 3, threads=2)
    assert (g.xadj == before[0]).all()
    assert (g.adjncy == before[1]).all()


def test_optimum_where_it_is_plain() -> None:
    """Cuts that nobody could miss: a path in two, two cliques joined by one edge, islands."""
    assert metrics.edge_cut(path(1000), partition(path(1000), 2, eps=0.0)) == 1
    u, v = np.triu_indices(20, 1)
    cliques = Graph.from_edges(40, np.concatenate([u, u + 20, [19]]), np.concatenate([v, v + 20, [20]]))
    assert metrics.edge_cut(cliques, partition(cliques, 2, eps=0.0)) == 1
    islands = Graph.from_edges(80, *(np.concatenate([e + 20 * i for i in range(4)]) for e in (u, v)))
    assert metrics.edge_cut(islands, partition(islands, 4, eps=0.0)) == 0


def test_target_shares_are_met() -> None:
    shares = [1, 2, 3, 6]
    part = partition(grid(60, 60), 4, tpwgts=shares, eps=0.02)
    load = np.bincount(part)
    want = 3600 * np.array(shares) / 12
    assert (load <= 1.02 * want).all()
    assert (load >= 0.8 * want).all(), load
    assert check_partition(grid(60, 60), part, 4, 0.02, tpwgts=shares).ok
    scaled = partition(grid(60, 60), 4, tpwgts=[0.5, 1, 1.5, 3], eps=0.02)
    assert (scaled == part).all()


def test_weights_near_the_limit_of_64_bits() -> None:
    case = Case(path(8, vwgt=np.full(8, 2**57)), 4, 0.05, 1)
    assert_promises(case, partition(case.graph, 4))
    assert metrics.edge_cut(case.graph, partition(case.graph, 4)) == 3


# ---- errors that say what is wrong
@pytest.mark.parametrize(("kind", "match", "arguments"), [
    (ConfigError, "nparts: must be at least 1, got 0", {"nparts": 0}),
    (ConfigError, "nparts: needs an integer", {"nparts": 2.5}),
    (PartitionError, "nparts: 26 parts of 25 vertices", {"nparts": 26}),
    (ConfigError, "eps: must be at least 0", {"eps": -0.1}),
    (ConfigError, "eps", {"eps": float("nan")}),
    (ConfigError, "seed", {"seed": -1}),
    (ConfigError, "threads: must be at least 1", {"threads": 0}),
    (ConfigError, "preset: 'quick' is not known; choose one of fast, default, strong, best", {"preset": "quick"}),
    (PartitionError, "fixed: needs 25 entries, has 3", {"fixed": [0, 1, 2]}),
    (PartitionError, r"fixed: 1 of 25 entries are outside -1\.\.3, first at index 24: 4", {"fixed": [-1] * 24 + [4]}),
    (PartitionError, "fixed: 25 of 25 entries are outside", {"fixed": [-2] * 25}),
    (PartitionError, "fixed: the vertices fixed to part 1 weigh 20, more than its limit 7",
     {"fixed": [1] * 20 + [-1] * 5}),
    (PartitionError, "fixed: 2 parts have no fixed vertex and only 1 vertices are free",
     {"fixed": [0, 1] * 12 + [-1], "eps": 0.99}),
    (ConfigError, "tpwgts: needs 4 entries", {"tpwgts": [1, 2]}),
    (ConfigError, "time_limit: must be finite", {"time_limit": np.inf, "preset": "best"}),
    (ConfigError, "time_limit: needs a number, got 'soon'", {"time_limit": "soon"}),
    (ConfigError, "tpwgts: 1 shares are not positive, first at index 2", {"tpwgts": [1, 1, 0, 1]}),
])
def test_errors(kind: type[Exception], match: str, arguments: dict) -> None:
    with pytest.raises(kind, match=match):
        partition(grid(5, 5), **{"nparts": 4, **arguments})


def test_not_a_graph() -> None:
    with pytest.raises(GraphError, match="expected a Graph"):
        partition("mesh.vtu", 2)


def test_a_vertex_heavier_than_a_part_may_be(caplog: pytest.LogCaptureFixture) -> None:
    g = path(10, vwgt=[1] * 9 + [40])
    with pytest.raises(PartitionError, match=r"vertex 9 weighs 40, more than a part may \(13\)") as e:
        partition(g, 4)
    assert "226.6 %" in str(e.value), "49 in 4 parts are 12.25 on average"
    with caplog.at_level(logging.WARNING):
        part = partition(g, 4, strict=False)
    load = metrics.part_weights(g, part, 4)
    assert load.max() == 40, "the best balance there is"
    assert (np.bincount(part, minlength=4) > 0).all()
    assert "raise eps" not in str(e.value), "no eps allows that"
    few = path(10, vwgt=[1] * 9 + [5])
    with pytest.raises(PartitionError, match=r"than 42\.9 % over the average; raise eps to at least that"):
        partition(few, 4)
    assert partition(few, 4, eps=0.429).shape == (10,)


def test_best_balance_on_request_warns(caplog: pytest.LogCaptureFixture) -> None:
    """Three vertices of weight 2 and two parts of at most 3: nothing exists, 4 and 2 is the best."""
    g = path(3, vwgt=[2, 2, 2])
    with pytest.raises(PartitionError, match=r"balance: no partition .* was found; part . weighs 4 where 3"):
        partition(g, 2, eps=0.0)
    with caplog.at_level(logging.WARNING, logger="copart"):
        part = partition(g, 2, eps=0.0, strict=False)
    assert sorted(np.bincount(part)) == [1, 2]
    assert "part" in caplog.text
    assert "weighs 4" in caplog.text


def test_refine_errors() -> None:
    g = grid(4, 4)
    with pytest.raises(PartitionError, match=r"part: 16 of 16 entries are outside 0\.\.1"):
        refine(g, np.full(16, 2), 2)
    with pytest.raises(PartitionError, match="17 parts of 16 vertices"):
        refine(g, np.zeros(16, int), 17)


# ---- affinity
def test_affinity_errors() -> None:
    g = grid(3, 3)
    with pytest.raises(ConfigError, match="affinity table: needs 2 columns, has 3"):
        partition(g, 2, affinity=Affinity(np.zeros(9, int), np.ones((1, 3), int)))
    with pytest.raises(ConfigError, match="affinity origin: needs 9 entries, has 4"):
        partition(g, 2, affinity=Affinity(np.zeros(4, int), np.ones((1, 2), int)))
    with pytest.raises(PartitionError, match="affinity table: needs two dimensions"):
        Affinity(np.zeros(4, int), np.ones(3, int))
    with pytest.raises(PartitionError, match="affinity table: 1 of 4 entries are negative"):
        Affinity(np.zeros(4, int), np.array([[1, -1], [0, 0]]))
    with pytest.raises(PartitionError, match=r"affinity origin: 1 of 2 entries are outside 0\.\.0"):
        Affinity([0, 1], np.ones((1, 2), int))


def test_affinity_is_checked_before_kernels_see_it() -> None:
    g = grid(10, 10)
    with pytest.raises(ConfigError, match="affinity origin: needs 100 entries, has 4"):
        refine(g, np.zeros(100, int), 2, affinity=Affinity(np.zeros(4, int), np.ones((1, 2), int)))
    with pytest.raises(ConfigError, match="affinity table: needs 2 columns, has 3"):
        refine(g, np.zeros(100, int), 2, affinity=Affinity(np.zeros(100, int), np.ones((1, 3), int)))
    with pytest.raises(CopartError, match="affinity"):
        partition(g, 2, affinity=Affinity(np.zeros(100, int), np.zeros((0, 2), int)))
    vast = Affinity([0, 1, 0, 1], np.array([[2**40, 0], [0, 2**40]]))
    with pytest.raises(CopartError, match="overflow"):
        partition(path(4, vsize=np.full(4, 2**40)), 2, affinity=vast)


def test_tolerances_beyond_all_weight() -> None:
    for eps in (1e18, 1e300):
        assert set(partition(grid(5, 5), 3, Loose(eps)).tolist()) == {0, 1, 2}


def test_affinity_by_rows() -> None:
    ptr, idx, val = Affinity([0], [[0, 3, 0], [0, 0, 0], [1, 0, 2]]).rows()
    assert ptr.tolist() == [0, 1, 1, 3]
    assert idx.tolist() == [1, 0, 2]
    assert val.tolist() == [3, 1, 2]
    assert (ptr.dtype, idx.dtype, val.dtype) == (np.int64, np.int32, np.int64)


@pytest.mark.parametrize("preset", ["default", "strong"])
@pytest.mark.parametrize("shape", [(9, 9), (50, 50)])
def test_a_strong_affinity_is_followed(shape: tuple[int, int], preset: str) -> None:
    """Where balance allows it, every vertex goes where its row of the table pulls it, whatever the cut."""
    g = grid(*shape)
    rng = np.random.default_rng(1)
    origin = rng.permutation(np.arange(g.nvtxs) % 3)
    to = np.array([2, 0, 1])
    table = np.zeros((3, 3), int)
    table[np.arange(3), to] = 1000
    part = partition(g, 3, affinity=Affinity(origin, table), preset=preset)
    assert (part == to[origin]).all()


def test_a_smooth_affinity_is_followed() -> None:
    """Rows of a grid pulled in turn to one part and the other, by more than edges hold: flows must not undo it."""
    g = grid(30, 30)
    origin = np.arange(900) // 30 // 3 % 2
    table = np.array([[20, 0], [0, 20]])
    for preset in ("default", "strong"):
        part = partition(g, 2, affinity=Affinity(origin, table), preset=preset)
        assert (part == origin).all(), preset


def test_a_strong_affinity_counts_sizes() -> None:
    """Two vertices want the one place left in part 0; the one with more data gets it."""
    g = Graph.from_edges(4, [], [], vsize=[1, 5, 1, 1])
    table = [[9, 0], [0, 9]]
    part = partition(g, 2, eps=0.0, fixed=[-1, -1, 0, -1], affinity=Affinity([0, 0, 0, 1], table))
    assert part.tolist() == [1, 0, 0, 1]


def test_no_affinity_is_the_same_as_a_table_of_zeros() -> None:
    """As far as the objective goes: vertices of one row are merged in both."""
    g = grid(20, 20)
    part = partition(g, 4, affinity=Affinity(np.zeros(400, int), np.zeros((1, 4), int)))
    assert check_partition(g, part, 4, 0.05).ok
    assert metrics.edge_cut(g, part) <= 1.2 * metrics.edge_cut(g, partition(g, 4))  # observed 40 and 40 (2026-11)


@settings(max_examples=EXAMPLES // 2)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 4), st.integers(8, 60))
def test_affinity_is_the_explicitly_enriched_graph(seed: int, k: int, m: int, n: int) -> None:
    """The two problems have one objective; each answer is judged by it, and both are near each other."""
    rng = np.random.default_rng(seed)
    base = tree(n, rng, vsize=rng.integers(0, 4, n))
    origin, table = rng.integers(0, m, n), rng.integers(0, 4, (m, k))
    case = Case(base, k, 0.5, seed % 1000)
    implicit = partition(base, k, affinity=Affinity(origin, table), preset=DEEP, **case.options)
    assert_promises(case, implicit)
    # the enriched graph: one vertex of weight 0 a part, fixed, joined with the affinities
    u, v, w = base.edges()
    pull = table[origin] * base.sizes[:, None]
    a, b = np.nonzero(pull)
    full = Graph.from_edges(n + k, np.concatenate([u, a]), np.concatenate([v, n + b]), np.concatenate([w, pull[a, b]]),
                            vwgt=np.concatenate([np.ones(n, int), np.zeros(k, int)]))
    fixed = np.concatenate([np.full(n, -1), np.arange(k)])
    explicit = partition(full, k, eps=0.5, seed=case.seed, fixed=fixed, preset=DEEP)
    # the cut of the enriched graph is the objective and the sum of all affinities, for any partition
    for part in (implicit, explicit[:n]):
        whole_part = np.concatenate([part, np.arange(k)])
        assert metrics.edge_cut(full, whole_part) == objective(base, part, table, origin) + int(pull.sum())
    best = metrics.edge_cut(full, explicit)
    ours = metrics.edge_cut(full, np.concatenate([implicit, np.arange(k)]))
    assert ours <= 1.5 * best + 4, f"seed {seed}: implicit {ours}, explicit {best}"


def test_presets_are_known_and_frozen() -> None:
    assert list(PRESETS) == ["fast", "default", "strong", "best"]
    assert Config() == PRESETS["default"]
    with pytest.raises(AttributeError):
        PRESETS["fast"].tries = 3  # type: ignore[misc]
