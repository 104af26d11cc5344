"""Quality: bounds on the cut by instance, parts and preset, and how far simple ways are left behind.

Bounds lie 8 % above the mean of 3 seeds observed on the day of calibration, so they notice a change that
costs quality and not one that merely changes results.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from copart.checks import check_partition
from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.metrics import edge_cut, pieces
from copart.operators import part, repart

from .conftest import NO_JIT
from .helpers import grid
from .partition_reference import complete, grown, path, scale_free, scattered, star, tree

if NO_JIT:
    pytest.skip("quality is the same without compiled kernels, and takes minutes", allow_module_level=True)

MARGIN = 1.08
SEEDS = (1, 2, 3)


@cache
def instance(name: str) -> Graph:
    rng = np.random.default_rng(12)
    if name == "square":
        return grid(100, 100)
    if name == "cube":
        return grid(24, 24, 24)
    if name == "cube with weights":
        return grid(20, 20, 20, vwgt=rng.integers(1, 6, 8000))
    if name == "random geometric":
        from scipy.spatial import cKDTree

        points = rng.random((6000, 2))
        pairs = cKDTree(points).query_pairs(0.022, output_type="ndarray")
        return Graph.from_edges(6000, pairs[:, 0], pairs[:, 1])
    if name == "triangles":  # a grid with diagonals, vertices in random order
        n = 80
        ids = rng.permutation(n * n).reshape(n, n)
        u = np.concatenate([ids[:-1].ravel(), ids[:, :-1].ravel(), ids[:-1, :-1].ravel()])
        v = np.concatenate([ids[1:].ravel(), ids[:, 1:].ravel(), ids[1:, 1:].ravel()])
        return Graph.from_edges(n * n, u, v)
    return scale_free(5000, rng)


#: instance, parts, eps, preset: cut observed, mean of 3 seeds, calibrated in November 2026
TABLE = {
    ("square", 4, 0.05, "default"): 207,
    ("square", 16, 0.05, "fast"): 638,
    ("square", 16, 0.05, "default"): 626,
    ("square", 64, 0.03, "default"): 1521,
    ("cube", 8, 0.05, "default"): 1931,
    ("cube", 16, 0.05, "fast"): 2957,
    ("cube", 16, 0.05, "default"): 2900,
    ("cube", 16, 0.05, "strong"): 2819,
    ("cube", 64, 0.05, "default"): 5688,
    ("cube with weights", 16, 0.05, "default"): 2157,
    ("cube with weights", 5, 0.0, "default"): 1164,
    ("random geometric", 12, 0.05, "default"): 600,
    ("random geometric", 12, 0.05, "strong"): 579,
    ("triangles", 16, 0.05, "default"): 958,
    ("triangles", 16, 0.01, "fast"): 1039,
    ("scale-free", 8, 0.05, "default"): 6935,
}


@pytest.mark.parametrize(("name", "k", "eps", "preset"), TABLE)
def test_cut_is_within_its_bound(name, k, eps, preset):
    g = instance(name)
    parts = [partition(g, k, eps=eps, seed=s, preset=preset) for s in SEEDS]
    for p in parts:
        assert check_partition(g, p, k, eps).ok
    cut = float(np.mean([edge_cut(g, p) for p in parts]))
    observed = TABLE[name, k, eps, preset]
    assert cut <= MARGIN * observed, f"{name}, {k} parts, {preset}: cut {cut:.0f}, calibrated at {observed}"


#: by what factor a random partition, and growing one part after the other, are to be beaten; observed in November 2026:
#: (30, 2.0), (13, 2.2), (41, 3.0), (18, 1.3), (1.9, 1.4)
BASELINES = {("square", 16): (20, 1.6), ("cube", 16): (9, 1.6), ("random geometric", 12): (28, 2.0),
             ("triangles", 16): (13, 1.2), ("scale-free", 8): (1.5, 1.2)}


@pytest.mark.parametrize(("name", "k"), BASELINES)
def test_far_better_than_chance_and_than_plain_growing(name, k):
    g = instance(name)
    ours = np.mean([edge_cut(g, partition(g, k, seed=s)) for s in SEEDS])
    chance = np.mean([edge_cut(g, scattered(g.nvtxs, k, s)) for s in SEEDS])
    plain = np.mean([edge_cut(g, grown(g, k, s)) for s in SEEDS])
    factor, other = BASELINES[name, k]
    assert ours * factor <= chance, f"{name}: {ours:.0f}, by chance {chance:.0f}: {chance / ours:.2f} times"
    assert ours * other <= plain, f"{name}: {ours:.0f}, plain growing {plain:.0f}: {plain / ours:.2f} times"


@pytest.mark.parametrize("name", ["random geometric", "cube", "triangles"])
def test_more_effort_pays(name):
    """24 seeds, whose cuts are 5 % apart: `strong` no worse than `default` within 1 %, that than `fast` within 3 %."""
    g = instance(name)
    fast, default, strong = (np.mean([edge_cut(g, partition(g, 12, preset=p, seed=s)) for s in range(1, 25)])
                             for p in ("fast", "default", "strong"))
    assert strong <= 1.01 * default, (fast, default, strong)
    assert default <= 1.03 * fast, (fast, default, strong)
    # all find the same boxes of a cube
    assert strong < fast or name == "cube", (fast, default, strong)


def test_parts_of_meshes_hang_together():
    """Mean pieces per part on meshes; strays would cost halo exchanges (observed 1.00, 1.02, 1.00)."""
    for name in ("square", "cube", "triangles"):
        g = instance(name)
        count = np.mean([pieces(g, partition(g, 16, seed=s), 16).mean() for s in SEEDS])
        assert count <= 1.15, f"{name}: {count:.2f} pieces per part"


@pytest.mark.parametrize("name", ["square", "cube", "random geometric", "triangles"])
@pytest.mark.parametrize("eps", [0.0, 0.05])
def test_parts_in_one_piece_cost_little(name, eps):
    """At most 3 % more cut than partitions that may fall apart, mean of 8 seeds, whose cuts are up to 15 % apart."""
    g = instance(name)
    free, whole = [], []
    for s in range(1, 9):
        free.append(edge_cut(g, partition(g, 16, eps=eps, seed=s)))
        p = partition(g, 16, eps=eps, seed=s, contiguous=True)
        assert check_partition(g, p, 16, eps).ok
        apart = pieces(g, np.zeros(g.nvtxs, np.int32), 1)[0]
        assert pieces(g, p, 16).sum() <= 16 + apart - 1
        whole.append(edge_cut(g, p))
    assert np.mean(whole) <= 1.03 * np.mean(free), (whole, free)


def test_exact_balance_costs_little():
    """Coarse levels leave room for their vertices, or exact balance would be bought there (observed 1.00 to 1.22)."""
    for name in ("square", "cube", "random geometric", "triangles"):
        g = instance(name)
        exact, loose = (np.mean([edge_cut(g, partition(g, 16, eps=eps, seed=s)) for s in SEEDS]) for eps in (0, 0.05))
        assert exact <= 1.3 * loose, (name, exact, loose)


def test_the_boxes_of_a_cube_are_found():
    """64 parts of a cube are about 4 x 4 x 4 boxes (cut 5,184; observed 1.00 of it), with coordinates or without."""
    g = instance("cube")
    placed = g.replace(coords=np.stack(np.unravel_index(np.arange(g.nvtxs), (24, 24, 24)), axis=1))
    for graph in (g, placed):
        cuts = [edge_cut(graph, partition(graph, 64, seed=s)) for s in SEEDS]
        assert np.mean(cuts) <= 1.03 * 3 * 3 * 24 * 24, cuts


def test_fixed_vertices_cost_little_where_they_fit():
    """Fixing what a partition found, on a tenth of the vertices, keeps about its cut."""
    g = instance("square")
    rng = np.random.default_rng(3)
    free = partition(g, 12)
    fixed = np.where(rng.random(g.nvtxs) < 0.1, free, -1)
    held = partition(g, 12, fixed=fixed)
    assert (held[fixed >= 0] == free[fixed >= 0]).all()
    assert edge_cut(g, held) <= 1.1 * edge_cut(g, free), (edge_cut(g, held), edge_cut(g, free))  # observed 1.03


def test_repartitioning_costs_little_cut():
    g = instance("square")
    old = part(g, 10)
    new = repart(g, old, 10, 13)
    scratch = edge_cut(g, part(g, 13))
    assert edge_cut(g, new) <= 1.3 * scratch, (edge_cut(g, new), scratch)  # observed 1.14


@pytest.mark.parametrize("make", [
    star, path, lambda n: tree(n, np.random.default_rng(1)), lambda n: Graph.from_edges(n, [], []),
    lambda n: scale_free(n // 4, np.random.default_rng(1))], ids=["star", "path", "tree", "no edges", "scale-free"])
def test_work_grows_with_the_graph_alone(make, monkeypatch):
    """Twice the vertices make at most one level and few rounds more: levels shrink, and rounds come to an end.

    Counted, not timed: vertices of all levels together, and vertices looked at by all kernels run in rounds.
    """
    from copart.partitioner import rounds

    run = rounds.Team.run
    looked_at = []

    def counted(self, kernel, n, *args, **more):
        looked_at.append(n)
        return run(self, kernel, n, *args, **more)

    monkeypatch.setattr(rounds.Team, "run", counted)
    work = []
    for n in (8000, 16_000, 32_000):
        looked_at.clear()
        partition(make(n), 8)
        work.append(sum(looked_at))
    assert work[1] <= 3 * work[0], work
    assert work[2] <= 3 * work[1], work


def test_a_complete_graph_is_done_in_time():
    """Every vertex is a neighbour of all: the cut is the same for every balanced partition."""
    assert edge_cut(complete(200), partition(complete(200), 4, eps=0.0)) == 6 * 50 * 50
