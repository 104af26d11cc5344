"""The 331 published grids: means, counts of zero cost, and what is proved of the hyperplane algorithm."""

from __future__ import annotations

import math
import time
import tracemalloc
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.cartesian_instances import instances
from copart.errors import MappingError
from copart.mapping.cartesian import (
    STENCILS,
    CutWeight,
    Grid,
    Hyperplane,
    Nodecart,
    as_stencil,
    cosines,
    cosines_by_length,
    improvement,
    internode,
    mean_improvement,
    reorder_grid,
    stencil,
)
from tests.mapping.cartesian.test_algorithms import edges, grids_with_stencils

#: The nine-point stencil of many dimensions is long: as in the published means, not more dimensions than these.
MOST = {"nine-point": 6}


@cache
def costs(kind: str, method: str, most: int = 99) -> list[tuple[int, int]]:
    """Total and maximum of every instance; everyone has a position in each, and every node its processes."""
    found = []
    for grid, nodes, size in instances():
        if grid.ndims <= most:
            made = reorder_grid(grid, stencil(kind, grid.ndims), nodes, method)
            assert (np.bincount(made.new_rank) == 1).all()
            assert (np.bincount(made.node_of_vertex) == [size] * nodes).all()
            assert made.cost.total <= grid.edge_weight(stencil(kind, grid.ndims))
            found.append(made.cost[:2])
    return found


def means(kind: str, method: str, most: int = 99) -> tuple[float, float]:
    base, found = costs(kind, "cart", most), costs(kind, method, most)
    return tuple(round(mean_improvement([improvement(b[i], f[i]) for b, f in zip(base, found, strict=True)]).mean, 4)
                 for i in (0, 1))


def test_there_are_331():
    assert len(instances()) == 331
    assert all(grid.size == nodes * size for grid, nodes, size in instances())


@pytest.mark.parametrize(("method", "zeros"), [("nodecart", 4), ("distributed-greedy", 16), ("central-greedy", 19),
                                               ("hyperplane", 19)])
def test_how_often_the_component_stencil_costs_nothing(method, zeros):
    assert sum(total == 0 for total, _ in costs("component", method)) == zeros


@pytest.mark.parametrize(("kind", "nodecart", "hyperplane", "wins", "worse"), [
    ("five-point", (1.2213, 1.1235), (1.3852, 1.2400), (209, 39, 83), (87, 7)),
    ("nine-point", (1.2169, 1.0989), (1.3423, 1.2087), (197, 39, 83), (123, 19)),
    ("component", (2.1645, 1.9815), (3.1770, 2.7639), (278, 34, 19), (0, 0)),
    ("diagonal", (1.2270, 1.1090), (1.2996, 1.1994), (100, 158, 73), (7, 3)),
    ("crank-nicolson", (1.2021, 0.9728), (1.2696, 1.1022), (211, 10, 110), (132, 23)),
    ("hops-first", (1.5696, 1.4476), (1.7974, 1.6724), (203, 99, 29), (14, 0)),
    ("hops-last", (0.7779, 0.7643), (1.0829, 1.0347), (300, 17, 14), (256, 64))])
def test_mean_improvements(kind, nodecart, hyperplane, wins, worse):
    most = MOST.get(kind, 99)
    assert means(kind, "nodecart", most) == nodecart
    assert means(kind, "hyperplane", most) == hyperplane
    base, other, ours = (costs(kind, m, most) for m in ("cart", "nodecart", "hyperplane"))
    signs = [np.sign(b[0] - a[0]) for a, b in zip(ours, other, strict=True)]
    assert (signs.count(1), signs.count(0), signs.count(-1)) == wins
    assert tuple(sum(f[0] > b[0] for f, b in zip(found, base, strict=True)) for found in (other, ours)) == worse


@pytest.mark.parametrize(("kind", "most", "mean", "worse"), [
    ("five-point", 99, (0.9406, 0.8041), 240), ("nine-point", 4, (0.9716, 0.8203), 138),
    ("component", 99, (2.4677, 1.7753), 44), ("diagonal", 6, (3.1540, 2.4800), 0),
    ("crank-nicolson", 99, (0.9454, 0.7777), 232), ("hops-first", 99, (1.2384, 0.9818), 61),
    ("hops-last", 99, (0.7116, 0.6199), 330)])
def test_mean_improvements_of_central_greedy(kind, most, mean, worse):
    assert means(kind, "central-greedy", most) == mean
    assert sum(f[0] > b[0] for f, b in zip(costs(kind, "central-greedy", most), costs(kind, "cart", most),
                                           strict=True)) == worse


@pytest.mark.parametrize(("kind", "cut", "best"), [("five-point", 1.3852, 1.4107), ("crank-nicolson", 1.4197, 1.4465),
                                                   ("hops-first", 1.8127, 1.8267), ("hops-last", 1.0885, 1.1291)])
def test_the_exact_cut_and_the_best_of_all(kind, cut, best):
    assert means(kind, "hyperplane-cut")[0] == cut
    base = costs(kind, "cart")
    found = [min(each) for each in zip(base, *(costs(kind, m) for m in ("nodecart", "hyperplane", "hyperplane-cut")),
                                       strict=True)]
    assert round(mean_improvement([improvement(b[0], f[0]) for b, f in zip(base, found, strict=True)]).mean, 4) == best
    for (grid, nodes, _), each in list(zip(instances(), found, strict=True))[::11]:
        assert reorder_grid(grid, stencil(kind, grid.ndims), nodes, "best").cost[:2] == each


def test_nodecart_keeps_its_products():
    for grid, nodes, size in instances():
        rule = Nodecart(grid, size)
        assert (math.prod(rule.intra), math.prod(rule.inter)) == (size, nodes)
        assert tuple(a * b for a, b in zip(rule.intra, rule.inter, strict=True)) == grid.dims


# ---- the criterion
def test_published_criteria():
    values = {(kind, d): [float(a) for a in cosines(stencil(kind, d))] for kind in STENCILS for d in (2, 3)}
    assert values["five-point", 3] == [2, 2, 2]
    assert values["nine-point", 2] == [4, 4]
    assert values["nine-point", 3] == [26 / 3] * 3
    assert values["component", 3] == [2, 2, 0]
    assert values["diagonal", 3] == [8 / 3] * 3
    assert values["crank-nicolson", 2] == [3, 2]
    assert values["crank-nicolson", 3] == [3, 3, 3]
    assert (values["hops-first", 3], values["hops-last", 3]) == ([6, 2, 2], [2, 2, 6])
    assert [float(a) for a in cosines(as_stencil([1, 0, -1, 0, 1, 1], 2))] == [2.5, 0.5]
    # weights count
    assert [float(a) for a in cosines(as_stencil([1, 0, -1, 0, 1, 1], 2, [1, 1, 4]))] == [4, 2]
    for kind in STENCILS:
        for d in range(2, 6):
            assert sum(cosines(stencil(kind, d))) == len(stencil(kind, d))
    assert len(set(cosines(stencil("nine-point", 3)))) == 1
    # far neighbours count by their distance
    assert cosines_by_length(stencil("hops-first", 2)) == (12.0, 2.0)


@settings(max_examples=60, deadline=None)
@given(grids_with_stencils(), st.data())
def test_the_weight_of_a_cut_by_brute_force(made, data):
    grid, kind = made
    low = [data.draw(st.integers(0, d - 1)) for d in grid.dims]
    box = [data.draw(st.integers(1, d - a)) for d, a in zip(grid.dims, low, strict=True)]
    j = data.draw(st.integers(0, grid.ndims - 1))
    a = data.draw(st.integers(0, box[j]))
    x = grid.coordinates(np.arange(grid.size)) - low
    inside = ((x >= 0) & (x < box)).all(axis=1)
    side = x[:, j] < a
    expected = sum(w for u, v, w in edges(grid, kind) if inside[u] and inside[v] and side[u] != side[v])
    assert CutWeight(grid, kind)(box, j, a) == expected


def test_a_criterion_that_is_none():
    with pytest.raises(MappingError, match="'sine' is none of cosine"):
        Hyperplane(Grid((4, 4)), stencil("five-point", 2), 4, "sine")
    with pytest.raises(MappingError, match="needs 2 finite numbers"):
        Hyperplane(Grid((4, 4)), stencil("five-point", 2), 4, [1, 2, 3])


# ---- cuts
def published_split(box, size, criterion):
    """The search as published: a walk from the middle down; with how many steps."""
    shifts = 0
    for _, _, j in sorted((criterion[j], -s, j) for j, s in enumerate(box) if s >= 2):
        layer = math.prod(box) // box[j]
        a = box[j] // 2
        while a * layer % size and a > 1:
            a -= 1
            shifts += 1
        if a * layer % size == 0:
            return j, a, shifts
    raise AssertionError("theorem 5.2.1")


@pytest.mark.parametrize("kind", STENCILS)
def test_cuts_depth_and_shifts_of_all_instances(kind):
    excess, ratios = [], []
    for grid, nodes, size in instances():
        if grid.ndims > MOST.get(kind, 99):
            continue
        rule = Hyperplane(grid, stencil(kind, grid.ndims), size)
        criterion = cosines(stencil(kind, grid.ndims))
        for box, cut in rule.boxes().items():
            assert cut == published_split(box, size, criterion)
            low, high = cut.a, box[cut.j] - cut.a
            assert 1 / 2 <= low / high <= 1
            held = math.prod(box) // size
            assert low * (math.prod(box) // box[cut.j]) > size or held in (2, 3)
        assert math.ceil(math.log2(nodes)) <= rule.depth() <= math.log(nodes, 1.5)
        assert rule.depth() <= math.ceil(math.log2(nodes)) + 1
        excess.append(rule.depth() - math.ceil(math.log2(nodes)))
        ratios.append(rule.shift_ratio())
    if kind == "five-point":
        assert np.mean(excess) == pytest.approx(0.26, abs=0.01)
    assert 0.030 < np.mean(ratios) < 0.053
    wide = kind in ("component", "crank-nicolson", "hops-first")
    assert max(ratios) == pytest.approx(0.242 if wide else 0.195, abs=0.0006)


def test_the_published_cut_and_depth():
    rule = Hyperplane(Grid((12, 11, 8)), stencil("five-point", 3), 32)
    assert rule.split((12, 11, 8)) == (0, 4, 2)
    assert rule.split((4, 11, 8))[:2] == (1, 5)
    assert rule.split((4, 5, 8))[:2] == (1, 2)
    assert rule.depth() == 6


def test_a_published_map_of_nodes():
    made = reorder_grid(Grid((5, 4)), stencil("five-point", 2), 5, "hyperplane")
    assert made.node_of_vertex.reshape(5, 4).tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 2, 2], [3, 3, 4, 4],
                                                          [3, 3, 4, 4]]
    made = reorder_grid(Grid((4, 3)), stencil("five-point", 2), 3, "hyperplane")
    assert made.node_of_vertex.reshape(4, 3).tolist() == [[0, 1, 1], [0, 1, 1], [0, 2, 2], [0, 2, 2]]
    assert made.cost.out.tolist() == [4, 4, 4]
    assert made.new_rank.tolist() == [0, 3, 6, 9, 1, 4, 2, 5, 7, 10, 8, 11]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 8), min_size=1, max_size=4), st.sampled_from(sorted(STENCILS)), st.data())
def test_each_rank_alone_finds_what_all_find_together(dims, kind, data):
    grid = Grid(dims)
    size = data.draw(st.sampled_from([s for s in range(1, grid.size + 1) if grid.size % s == 0]))
    made = stencil(kind, grid.ndims) if kind != "component" or grid.ndims > 1 else stencil("five-point", 1)
    for rule in (Hyperplane(grid, made, size), Hyperplane(grid, made, size, "cut"), Nodecart(grid, size)):
        order = rule.order()
        assert sorted(order.tolist()) == list(range(grid.size))
        assert [rule.vertex(slot) for slot in range(grid.size)] == order.tolist()
        assert [rule.slot(vertex) for vertex in order.tolist()] == list(range(grid.size))
        # every node is a box
        for node in range(min(grid.size // size, 5)):
            x = grid.coordinates(order[node * size:(node + 1) * size])
            assert math.prod((x.max(axis=0) - x.min(axis=0) + 1).tolist()) == size


def test_a_cut_across_a_dimension_without_edges_is_free():
    grid, kind = Grid((6, 6, 8)), stencil("component", 3)
    node = np.zeros(grid.dims, int)
    node[:, :, 3:] = 1
    assert internode(grid, kind, node.ravel()).total == 0


# ---- unequal nodes
def test_boxes_are_dealt_to_unequal_nodes_in_order():
    grid, kind = Grid((6, 4)), stencil("five-point", 2)
    made = reorder_grid(grid, kind, [8, 4, 12], "hyperplane")
    order = Hyperplane(grid, kind, 4).order()
    assert np.array_equal(made.new_rank, order)
    assert np.bincount(made.node_of_vertex).tolist() == [8, 4, 12]
    # neither 5 nor 9 divides 24: single positions are dealt
    assert np.bincount(reorder_grid(grid, kind, [9, 5, 10], "hyperplane").node_of_vertex).tolist() == [9, 5, 10]


def test_unequal_nodes_gain_too():
    grid, kind = Grid((24, 24)), stencil("five-point", 2)
    sizes = [48] * 8 + [24] * 8
    default = reorder_grid(grid, kind, sizes, "cart").cost.total
    best = reorder_grid(grid, kind, sizes).cost.total
    assert (default, best) == (720, 312)


# ---- what a rank needs
LARGE = Grid((100, 100, 100))


@pytest.mark.parametrize("make", [lambda kind: Hyperplane(LARGE, kind, 32), lambda kind: Nodecart(LARGE, 32)],
                         ids=["hyperplane", "nodecart"])
def test_one_rank_of_a_million_takes_less_than_a_millisecond(make):
    kind = stencil("five-point", 3)
    slots = np.random.default_rng(1).integers(0, LARGE.size, 50).tolist()
    spent = []
    for slot in slots:
        begin = time.process_time()
        make(kind).vertex(slot)
        spent.append(time.process_time() - begin)
    assert np.median(spent) < 1e-3


def test_one_rank_needs_no_memory_for_the_others():
    rule = Hyperplane(LARGE, stencil("five-point", 3), 32)
    rule.vertex(1)
    tracemalloc.start()
    rule.vertex(987_654)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000


def test_the_work_of_a_rank_grows_with_the_logarithm_of_the_nodes():
    def cuts(side):
        rule = Hyperplane(Grid((side, side, side)), stencil("five-point", 3), 8)
        calls = 0

        def count(box):
            nonlocal calls
            calls += 1
            return Hyperplane.split(rule, box)

        rule.split = count
        rule.vertex(side**3 - 1)
        return calls

    # 8 times as many nodes: three cuts more
    assert [cuts(2**k) for k in (3, 4, 5, 6, 7, 8)] == [6, 9, 12, 15, 18, 21]
