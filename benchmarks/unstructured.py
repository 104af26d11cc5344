"""Quadrilaterals and hexahedra that are not in rows, beside METIS k-way: ``python -m benchmarks.unstructured``.

Mesh generators pave surfaces with quadrilaterals of any valence, extrude these to layers of hexahedra, and divide the
cells of an octree near a body, of which a large one then has several small neighbours.  Such graphs look like grids,
and have no planes that walls could follow.  Prints a table of cut and time over those of METIS, means over the seeds;
meshes of gmsh are left out where it is not installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from copart.graph import Graph
from copart.mesh import Mesh, dual_graph

from .numbering import OURS, beside_metis
from .shape_cases.building import extruded
from .shape_cases.unstructured import quadrilaterals

PARTS = (16, 48)


def quadrangulated(npoints: int, seed: int = 3) -> Mesh:
    """Quadrilaterals, three in each triangle of a Delaunay triangulation of random points: one at each corner."""
    points = np.random.default_rng(seed).random((npoints, 2))
    corners = Delaunay(points).simplices.astype(np.int64)
    edges = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
    pairs, which = np.unique(edges, axis=0, return_inverse=True)
    middle = which.reshape(-1, 3) + npoints
    centre = np.broadcast_to((np.arange(len(corners)) + npoints + len(pairs))[:, None], corners.shape)
    cells = np.stack([corners, middle, centre, np.roll(middle, 1, axis=1)], axis=2).reshape(-1, 4)
    points = np.concatenate([points, points[pairs].mean(axis=1), points[corners].mean(axis=1)])
    return Mesh(points, [("quad", cells)])


def octree(base: int, levels: int, near: Callable[..., NDArray[np.float64]], dimension: int = 3) -> Graph:
    """Leaves of quadtrees or octrees, `base` along each axis, as neighbours where they share a piece of a face.

    Parameters
    ----------
    base : int
    levels : int
        How often a cell may be divided.
    near : callable
        How far points of the unit cube are from a surface; cells that may touch it are divided.
    dimension : int

    Returns
    -------
    Graph
        Leaves, largest first.
    """
    side = base << levels
    leaf = np.zeros((side,) * dimension, np.int64)
    divided, first = np.ones((base,) * dimension, bool), 0
    for level in range(levels + 1):
        centres = (np.indices(divided.shape) + 0.5) / (base << level)
        again = divided & (np.abs(near(*centres)) < np.sqrt(dimension) / (base << level)) & (level < levels)
        ends = divided & ~again
        number = np.where(ends, first + np.cumsum(ends.ravel()).reshape(ends.shape), 0)
        leaf += np.kron(number, np.ones((side // len(divided),) * dimension, int))
        first += int(ends.sum())
        divided = np.kron(again, np.ones((2,) * dimension, bool))
    pairs = np.concatenate([np.stack([np.delete(leaf, -1, axis).ravel(), np.delete(leaf, 0, axis).ravel()], 1)
                            for axis in range(dimension)])
    u, v = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0).T - 1
    return Graph.from_edges(first, u, v)


def graphs() -> Iterator[tuple[str, Graph]]:
    """Names and graphs, those of gmsh where it is installed."""
    yield "triangles cut in three", dual_graph(quadrangulated(9000))
    yield "quadtree", octree(48, 4, lambda x, y: np.hypot(x - 0.4, y - 0.5) - 0.3, dimension=2)
    yield "octree, two levels", octree(20, 2, lambda x, y, z: np.sqrt((x - 0.5)**2 + (y - 0.4)**2 + z**2) - 0.5)
    yield "octree, three levels", octree(12, 3, lambda x, y, z: np.hypot(x - 0.5, y - 0.5) - 0.25)
    try:
        for name, size in (("disc", 0.012), ("plate with holes", 0.008), ("sphere", 0.015)):
            yield f"gmsh: {name}", dual_graph(quadrilaterals(name, size))
        layers = extruded(quadrilaterals("plate with holes", 0.04), np.arange(31.0))
        yield "gmsh: plate with holes, 30 layers", dual_graph(layers)
    except ImportError as error:
        print(error)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(1, parser.parse_args().seeds + 1)
    print(f"| mesh | cells | parts | {' | '.join(OURS)} |\n| --- | ---: | ---: |{' ---: |' * len(OURS)}")
    for name, graph in graphs():
        for k in PARTS:
            print(f"| {name} | {graph.nvtxs:,} | {k} | {beside_metis(graph, k, seeds)} |", flush=True)


if __name__ == "__main__":
    main()
