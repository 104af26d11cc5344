"""Recursive bisection and space-filling curves beside Multi-Jagged; the graph of boxes and its messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import ConfigError, PartitionError
from copart.partitioner.geometric.boxes import box_graph, jagged_messages, messages
from copart.partitioner.geometric.methods import METHODS, partition_points
from copart.partitioner.multijagged import multijagged

from .geometric_reference import CLOUDS, reference


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(METHODS), st.sampled_from(sorted(CLOUDS)), st.integers(1, 300), st.integers(1, 3),
       st.integers(1, 40), st.integers(0, 9))
def test_every_method_gives_floor_or_ceil(method, kind, n, dim, nparts, seed):
    nparts = min(nparts, n)
    made = partition_points(CLOUDS[kind](np.random.default_rng(seed), n, dim), nparts, method)
    assert set(made.sizes.tolist()) <= {n // nparts, -(-n // nparts)}
    assert made.method == method


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_change_a_byte(method, weighted):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(30_000, 3))
    weights = rng.random(30_000) if weighted else None
    one, two, five = (partition_points(points, 21, method, weights=weights, threads=threads) for threads in (1, 2, 5))
    assert one.part.tobytes() == two.part.tobytes() == five.part.tobytes()
    assert abs(one.weights - one.weights.mean()).max() <= 1


# ---- recursive bisection
def test_counts_of_two_are_bisection_along_each_coordinate_in_turn():
    points = np.random.default_rng(2).random((3000, 2))
    ours = multijagged(points, counts=[2] * 5)
    assert (ours.part == reference(points, 32, depth=5)).all()
    # halves of about equal sides: the longest one is the next one
    wide = points * [1.4, 1.0]
    assert (multijagged(wide, counts=[2] * 4).boxes == partition_points(wide, 16, "rcb").boxes).all()


def test_rcb_cuts_across_the_longest_side():
    points = np.random.default_rng(3).random((2000, 3)) * [1, 5, 2]

    def longest(level, mine):
        return int(np.argmax(np.ptp(mine, axis=0)))

    for nparts in (8, 13):
        made = partition_points(points, nparts, "rcb")
        assert (made.part == reference(points, nparts, depth=4 if nparts == 13 else 3, axis_of=longest)).all()


def test_rib_finds_a_slanted_axis():
    rng = np.random.default_rng(4)
    along = rng.random(4000)
    points = np.column_stack([along + 0.01 * rng.random(4000), 0.01 * rng.random(4000) - 2 * along])
    made = partition_points(points, 8, "rib")
    order = np.argsort(-(points @ [1, -2]))
    assert (made.part[order] == np.repeat(range(8), 500)).mean() > 0.98
    assert made.boxes is None


# ---- curves
def test_hilbert_visits_neighbouring_cells():
    side = np.arange(16.0)
    for dim in (2, 3):
        cells = np.stack(np.meshgrid(*[side] * dim, indexing="ij"), -1).reshape(-1, dim)
        order = np.argsort(partition_points(cells, len(cells), "hsfc").part)
        steps = abs(np.diff(cells[order], axis=0)).sum(axis=1)
        assert (steps == 1).all()
        order = np.argsort(partition_points(cells, len(cells), "morton").part)
        assert (cells[order][:2**dim] <= 1).all()


def test_a_line_is_its_own_curve():
    x = np.random.default_rng(5).random((100, 1))
    assert (partition_points(x, 7, "hsfc").part == partition_points(x, 7).part).all()


# ---- the graph of boxes
@pytest.mark.parametrize(("counts", "total"), [((16, 16), 1410), ((64, 64), 24_066), ((8, 8, 8), 5726),
                                               ((16, 16, 16), 51_390)])
def test_messages_of_uniform_points(counts, total):
    points = np.random.default_rng(6).random((300_000, len(counts)))
    found = messages(box_graph(multijagged(points, counts=counts).boxes))
    assert found.total == total == jagged_messages(*counts)
    if len(counts) == 2:
        assert found.most <= 2 * counts[-1] + 2


def test_messages_by_formula_of_one_to_three_levels():
    assert [jagged_messages(*counts) for counts in ((5,), (5, 1), (1, 5), (4, 3, 1), (32, 32, 32))] == [
        8, 8, 8, jagged_messages(4, 3), 434_558]
    for counts in ((), (4, 4, 4, 4), (4, 0)):
        with pytest.raises(ConfigError, match="counts: "):
            jagged_messages(*counts)


def test_deeper_recursion_makes_as_many_parts_with_fewer_messages_at_most():
    """16 x 16 x 16 x 16 against 256 x 256; on rings and around holes it is the other way round."""
    rng = np.random.default_rng(7)
    roads = []
    for turn in rng.random(100) * 6:
        straight = np.column_stack([rng.random(3000), rng.random() + 1e-3 * rng.random(3000)])
        roads.append(straight @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    for points in (rng.random((300_000, 2)), np.concatenate(roads)):
        shallow = messages(box_graph(multijagged(points, counts=[256, 256]).boxes))
        deep = messages(box_graph(multijagged(points, counts=[16] * 4).boxes))
        assert deep.most < shallow.most <= 2 * 256 + 2
        assert abs(deep.total - shallow.total) < 0.001 * shallow.total


def test_boxes_touch_along_pieces_of_faces():
    boxes = multijagged(np.random.default_rng(8).random((900, 3)), 47).boxes
    pairs = set()
    for i, one in enumerate(boxes):
        for j, other in enumerate(boxes[:i]):
            common = np.minimum(one[1], other[1]) - np.maximum(one[0], other[0])
            if (common >= 0).all() and (common > 0).sum() == 2:
                pairs.add((j, i))
    u, v, _ = box_graph(boxes).edges()
    assert set(zip(u.tolist(), v.tolist(), strict=True)) == pairs


def test_boxes_on_a_line_touch_in_points():
    boxes = multijagged(np.arange(10.0)[:, None], 5).boxes
    assert messages(box_graph(boxes)) == (2, 8)
    assert messages(box_graph(boxes[:1])) == (0, 0)


@pytest.mark.parametrize(("boxes", "said"), [
    (np.zeros((2, 3)), "needs shape"), ([[[1.0], [0.0]]], "end before they begin"),
    ([[[0.0], [np.nan]]], "not finite")])
def test_boxes_are_checked(boxes, said):
    with pytest.raises(PartitionError, match=said):
        box_graph(boxes)


def test_unknown_methods_are_told():
    with pytest.raises(ConfigError, match=r"method: 'multijaged' is not known.*did you mean multijagged"):
        partition_points(np.zeros((3, 2)), 2, "multijaged")
