"""Rows of a graph that lie beyond the first 2^31 entries of its adjacency: all offsets have 64 bits."""

from __future__ import annotations

import mmap
from dataclasses import replace

import numpy as np
import pytest

from copart.graph import Graph
from copart.kernels import Level
from copart.options import Options
from copart.partitioner.affinity import finest
from copart.partitioner.clustering import cluster
from copart.partitioner.coarsening import contract
from copart.partitioner.contiguity import make_contiguous
from copart.partitioner.multilevel import multilevel
from copart.partitioner.numbering import renumber
from copart.partitioner.refinement import Refiner, cut_of
from copart.partitioner.rounds import Team
from copart.partitioner.settling import settle
from copart.partitioner.shape import Shape, look_at

from ..helpers import grid, triangulated

BORDER = 2**31


def beyond(values: np.ndarray, at: int) -> np.ndarray:
    """An array whose entries from `at` on are the values; the pages before are never touched, and take no memory."""
    size, reserve_none = (at + len(values)) * values.itemsize, getattr(mmap, "MAP_NORESERVE", 0)
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | reserve_none)
    except (OSError, AttributeError) as error:
        pytest.skip(f"no address space for 2^31 entries: {error}")
    out = np.frombuffer(memory, values.dtype)
    out[at:] = values
    return out


@pytest.fixture(params=["across", "beyond"])
def pair(request) -> tuple[Level, Level]:
    """A graph with weights, as it is and with its rows across the border, or beyond it."""
    plain = triangulated(70, 70)
    u, v, _ = plain.edges()
    graph = Graph.from_edges(plain.nvtxs, u, v, 1 + (np.arange(len(u)) % 3))
    level, _ = finest(graph, 5, None, None)
    at = BORDER - len(level.adjncy) // 2 if request.param == "across" else BORDER + 5
    far = level._replace(xadj=level.xadj + at, adjncy=beyond(level.adjncy, at), ewgt=beyond(level.ewgt, at))
    assert far.xadj[-1] > BORDER
    return level, far


def same(one: Level, other: Level) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        assert (a == b).all()


@pytest.mark.parametrize("on_grid", [True, False])
def test_a_level_is_coarsened(pair, on_grid):
    shape = Shape(on_grid, not on_grid, False)
    assert look_at(pair[0]) == look_at(pair[1])
    with Team(2) as team:
        maps = [cluster(g, 20, shape, team) for g in pair]
        assert maps[0][1] == maps[1][1] < 70 * 70 * 2 // 3
        assert (maps[0][0] == maps[1][0]).all()
        same(*(contract(g, cmap, count, team) for g, (cmap, count) in zip(pair, maps, strict=True)))


def test_a_level_is_renumbered(pair):
    (near, order, place), (far, *others) = (renumber(g, look_at(g)) for g in pair)
    assert all((a == b).all() for a, b in zip((order, place), others, strict=True))
    same(near, far)


@pytest.mark.parametrize("preset", ["fast", "default"])
def test_a_level_is_partitioned(pair, preset):
    # networks take memory for all edges, which are not there before the border
    config = replace(Options(preset=preset).config, reach=0)
    limit = np.full(5, int(1.05 * 70 * 70 / 5))
    parts = []
    for g in pair:
        _, pull = finest(grid(2, 2), 5, None, None)
        with Team(2) as team:
            part = multilevel(g, pull, limit, config, 3, team, look_at(g))
            assert settle(g, pull, part, limit, team, 3) == 0
            cut = cut_of(g, part)
            part[::97] = 0  # parts in pieces
            assert make_contiguous(g, pull, part, limit, config, team, 3) == 0
        parts.append((part, cut))
    assert parts[0][1] == parts[1][1] > 0
    assert (parts[0][0] == parts[1][0]).all()


def test_a_partition_is_refined(pair):
    start = (np.arange(70 * 70) // 5 % 5).astype(np.int32)
    made = []
    for g in pair:
        _, pull = finest(grid(2, 2), 5, None, None)
        part, limit = start.copy(), np.full(5, int(1.05 * g.vwgt.sum() / 5))
        with Team(1) as team:
            before = cut_of(g, part)
            won = Refiner(g, pull, part, limit, team, 1).improve(Options().config, before)
        assert cut_of(g, part) == before - won < before
        made.append(part)
    assert (made[0] == made[1]).all()
