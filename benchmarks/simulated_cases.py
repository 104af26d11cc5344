"""Task graphs on scattered nodes of networks for `simulated_tasks`: some to tune by, others held out.

Bandwidths are in GB/s.  The held-out cases differ from those to tune by in graph, size, network and share of the
machine that is busy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.mapping.allocations import scattered
from copart.mapping.congestion import Dragonfly, FatTree, MeshNetwork, Network, TorusNetwork
from copart.mapping.machine import Machine
from copart.mapping.tasks import TaskGraph

from .topology import cloud, grid, stencil, triangulated

Tasks = tuple[TaskGraph, np.ndarray]
#: Of a Cray XE6, by dimension: between 4.68 and 9.38 GB/s.
CRAY = (9.38, 4.68, 9.38)


class Case(NamedTuple):
    """Tasks, and the nodes that a scheduler gives them."""

    tasks: Callable[[], Tasks]
    network: Network
    nhosts: int
    slots: int
    fill: float
    seed: int
    nodes_per_point: int = 2

    def machine(self) -> Machine:
        """The job's nodes."""
        return scattered(self.network, self.nhosts, fill=self.fill, run=8.0, seed=self.seed, slots=self.slots,
                         nodes_per_point=self.nodes_per_point)


def parts(graph: Graph, ntasks: int) -> Tasks:
    """Parts of a mesh as tasks, and their middles."""
    part = partition(graph, ntasks, preset="fast", strict=False)
    size = np.maximum(np.bincount(part, minlength=ntasks), 1)
    middle = np.stack([np.bincount(part, axis, ntasks) / size for axis in graph.coords.T], 1)  # type: ignore[union-attr]
    return TaskGraph.from_partition(graph, part, ntasks), middle


def full_stencil(*dims: int) -> Tasks:
    """A grid of tasks that write to all around them: faces 64, edges 8, corners 1 unit of data in space."""
    place = np.stack(np.unravel_index(np.arange(int(np.prod(dims))), dims, order="F"), 1)
    gap = np.abs(place[:, None] - place[None]).astype(np.int8)
    source, target = np.nonzero(gap.max(2) == 1)
    volume = 8 ** (len(dims) - gap[source, target].sum(1, dtype=np.int64))
    return TaskGraph(len(place), source, target, volume), place * 1.0


def near(ntasks: int, seed: int, reach: float) -> Tasks:
    """Points in space that write to all that are near, more the nearer they are."""
    place = np.random.default_rng(seed).random((ntasks, 3))
    place = place[np.lexsort(np.floor(place * 4).T)]
    apart = np.sqrt(((place[:, None] - place[None]) ** 2).sum(2))
    source, target = np.nonzero((apart < reach) & (apart > 0))
    return TaskGraph(ntasks, source, target, np.ceil(20 * (1 - apart[source, target] / reach)).astype(int)), place


def long_range(ntasks: int, seed: int) -> Tasks:
    """Rows of a banded matrix with some entries far from the diagonal, as tasks of one direction."""
    rng = np.random.default_rng(seed)
    near_by = np.concatenate([np.arange(ntasks - d) for d in (1, 2, 5)])
    beyond = near_by + np.repeat((1, 2, 5), [ntasks - d for d in (1, 2, 5)])
    far = rng.integers(0, ntasks, (2, 2 * ntasks))
    volume = np.concatenate([np.full(2 * len(near_by), 8), rng.integers(1, 5, 2 * ntasks)])
    return (TaskGraph(ntasks, np.concatenate([near_by, beyond, far[0]]), np.concatenate([beyond, near_by, far[1]]),
                      volume), np.arange(ntasks)[:, None] * 1.0)


def graded(ntasks: int, seed: int) -> Tasks:
    """Parts of a mesh of the plane that is fine around three points."""
    rng = np.random.default_rng(seed)
    return parts(triangulated(np.concatenate([rng.random((9000, 2)), *(rng.normal(at, 0.06, (9000, 2)) for at in (
        (0.2, 0.3), (0.8, 0.4), (0.5, 0.9)))])), ntasks)


TUNING = {
    "stencil-7, torus": Case(lambda: stencil(8, 8, 8), TorusNetwork((8, 6, 6), 5.0), 32, 16, 0.5, 1),
    "plane, torus": Case(lambda: parts(cloud(40_000, 2, 1), 512), TorusNetwork((10, 8, 8), 5.0), 32, 16, 0.5, 2),
    "box, Cray": Case(lambda: parts(grid(40, 30, 30), 512), TorusNetwork((10, 8, 6), CRAY), 32, 16, 0.4, 3),
    "long box, mesh": Case(lambda: parts(grid(120, 20, 16), 256), MeshNetwork((8, 8, 4), 5.0), 32, 8, 0.6, 4),
    "random, torus": Case(lambda: near(256, 5, 0.25), TorusNetwork((6, 6, 6), 5.0), 16, 16, 0.7, 5),
    "grid, fat tree": Case(lambda: parts(grid(200, 200), 512), FatTree((4, 4, 4), (2, 2, 1), 5.0), 32, 16, 0.4, 6, 1),
    "stencil-5, dragonfly": Case(lambda: stencil(16, 16), Dragonfly(9, 4, 2, 5.0), 32, 8, 0.4, 7),
    "plane, dragonfly": Case(lambda: parts(cloud(20_000, 2, 3), 256), Dragonfly(9, 4, 2, (5.0, 2.5)), 16, 16, 0.6, 8),
}
HELD_OUT = {
    "graded plane, torus": Case(lambda: graded(512, 11), TorusNetwork((9, 7, 5), 5.0), 64, 8, 0.6, 11),
    "tetrahedra, Cray": Case(lambda: parts(cloud(20_000, 3, 12), 256), TorusNetwork((17, 8, 24), CRAY), 32, 8, 0.5, 12),
    "stencil-27, mesh": Case(lambda: full_stencil(6, 6, 6), MeshNetwork((8, 8, 8), 5.0), 27, 8, 0.7, 13),
    "stencil-9, torus": Case(lambda: full_stencil(20, 20), TorusNetwork((12, 12), 5.0), 50, 8, 0.5, 14),
    "random, cables": Case(lambda: near(240, 15, 0.25), TorusNetwork((8, 8, 8), 5.0, directed=False), 40, 6, 0.8, 15),
    "tetrahedra, fat tree": Case(lambda: parts(cloud(20_000, 3, 16), 256), FatTree((8, 4, 3), (2, 2, 1), 5.0), 32, 8,
                                 0.5, 16, 1),
    "stencil-7, fat tree": Case(lambda: stencil(16, 8, 4), FatTree((6, 4, 4), (1, 2, 1), 5.0), 32, 16, 0.6, 17, 1),
    "graded plane, dragonfly": Case(lambda: graded(512, 18), Dragonfly(13, 4, 3, 5.0), 32, 16, 0.6, 18),
    "long range, dragonfly": Case(lambda: long_range(256, 19), Dragonfly(9, 8, 1, (5.0, 10.0)), 32, 8, 0.5, 19),
    "bent box, Cray": Case(lambda: parts(grid(120, 20, 12), 320), TorusNetwork((10, 10, 10), CRAY), 32, 10, 0.3, 20),
}
