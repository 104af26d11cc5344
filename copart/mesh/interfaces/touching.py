"""Cells of two meshes that share at least a point (the relation of Predari & Esnard 2014)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import OFFSET, VERTEX
from ..search import overlapping_pairs
from ..value import Mesh
from .matching import Match, Reach
from .surface import Surface

UPRIGHT = 1e-3
"""A corner lies over another when they are less than this fraction of their heights apart in the plane."""

Pairs = tuple[NDArray[np.int32], NDArray[np.int32]]
Heights = tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]


def touching_cells(mesh_a: Mesh, mesh_b: Mesh, reach: Reach, offsets: NDArray[np.float64],
                   curved: Match | None = None, heights: Heights = (None, None)) -> Pairs:
    """Pairs of cells whose hulls are no farther apart than the smaller limit of the two.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
        Of a mesh with a named interface only the corners on that interface count.
    reach : Reach
        As a fraction: of the shortest edge of a cell.
    offsets : (ncopies, 3) float64
        Where the copies of B are.
    curved : Match, optional
        Facets that lie on one another: cells at such a facet may be as far apart as
        it is from its counterpart, as chords of one curved wall are.
    heights : pair of (npoints,) float64, optional
        How far from its plane each point of A and of B was before the mesh was flattened.

    Returns
    -------
    a, b : (npairs,) int32
        A pair may be repeated.
    """
    from ...kernels.mesh_touch import Hulls, touching

    found: list[Pairs] = []
    slack_a, slack_b = _slack(mesh_a, curved, 0), _slack(mesh_b, curved, 1)
    for offset in offsets:
        there = mesh_b.translated(offset) if offset.any() else mesh_b
        margin = max(_largest(mesh_a, reach, slack_a), _largest(mesh_b, reach, slack_b))
        a = _Hulls(mesh_a, there.bounds, margin, reach, slack_a, heights[0])
        b = _Hulls(there, mesh_a.bounds, margin, reach, slack_b, heights[1])
        i, j = overlapping_pairs(a.low - a.limit[:, None], a.high + a.limit[:, None],
                                 b.low - b.limit[:, None], b.high + b.limit[:, None])
        touch = np.empty(len(i), np.bool_)
        # coordinates relative to one of the points, so that a far origin costs no digits
        origin = mesh_a.bounds[0]
        touching(i, j, Hulls(points=mesh_a.points - origin, nodes=a.nodes, start=a.start, limit=a.limit),
                 Hulls(points=there.points - origin, nodes=b.nodes, start=b.start, limit=b.limit),
                 np.empty((4, 3)), np.empty(3), touch)
        found.append((a.cell[i[touch]], b.cell[j[touch]]))
    return np.concatenate([a for a, _ in found]), np.concatenate([b for _, b in found])


class _Hulls:
    """Corners, boxes and gap limits of the cells of a mesh near a bounding box."""

    def __init__(self, mesh: Mesh, bounds: NDArray[np.float64], margin: float, reach: Reach,
                 slack: NDArray[np.float64] | None, height: NDArray[np.float64] | None) -> None:
        start, nodes = mesh.corners
        low, high = _boxes(mesh.points, start, nodes)
        near = ((high >= bounds[0] - margin) & (low <= bounds[1] + margin)).all(axis=1)
        wetted = interface_points(mesh)
        if wetted is not None:
            near &= np.logical_or.reduceat(wetted[nodes], start[:-1])
        start, nodes = _rows(start, nodes, near)
        limit = reach.of(shortest_edges(mesh.points, start, nodes, height))
        if slack is not None and len(limit):
            limit = np.maximum(limit, np.maximum.reduceat(slack[nodes], start[:-1]))
        if wetted is not None:
            on = wetted[nodes]
            start, nodes = np.concatenate([[0], np.cumsum(on)])[start], nodes[on]
        self.cell = np.flatnonzero(near).astype(VERTEX)
        self.start, self.nodes, self.limit = start.astype(OFFSET), nodes.astype(OFFSET), limit
        self.low, self.high = _boxes(mesh.points, start, nodes)


def _boxes(points: NDArray[np.float64], start: NDArray[np.int64], nodes: NDArray[np.int64],
           ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(ncells, 3) smallest and largest coordinates of the nodes of each cell, none of which is empty."""
    if len(start) == 1:
        return np.empty((0, 3)), np.empty((0, 3))
    corners = points[nodes]
    return np.minimum.reduceat(corners, start[:-1]), np.maximum.reduceat(corners, start[:-1])


def _rows(start: NDArray[np.int64], nodes: NDArray[np.int64], keep: NDArray[np.bool_],
          ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows where `keep` is true."""
    size = np.diff(start)
    return np.concatenate([[0], np.cumsum(size[keep])]), nodes[np.repeat(keep, size)]


def interface_points(mesh: Mesh) -> NDArray[np.bool_] | None:
    """(npoints,) which points are on the named boundaries of a mesh; None where none is named."""
    if mesh.interface is None:
        return None
    on = np.zeros(mesh.npoints, bool)
    for name in mesh.offered:
        nodes = mesh.facet_groups[name] if name in mesh.facet_groups else mesh.point_groups[name]
        on[nodes[nodes >= 0]] = True
    return on


def shortest_edges(points: NDArray[np.float64], start: NDArray[np.int64], nodes: NDArray[np.int64],
                   height: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """(ncells,) smallest distance of two different corners of each cell.

    With the heights that the points of a flattened mesh had corners that lay over one another are the same.
    """
    size = np.diff(start)
    out = np.zeros(len(size))
    for k in np.unique(size):
        cells = np.flatnonzero(size == k)
        corners = points[nodes[start[cells][:, None] + np.arange(k)]]
        best = np.full(len(cells), np.inf)
        # corners that differ by rounding are the same
        rounding = 1e-9 * np.linalg.norm(corners.max(axis=1) - corners.min(axis=1), axis=1)
        level = None if height is None else height[nodes[start[cells][:, None] + np.arange(k)]]
        for i in range(k):
            for j in range(i):
                d = np.linalg.norm(corners[:, i] - corners[:, j], axis=1)
                least = rounding if level is None else \
                    np.maximum(rounding, UPRIGHT * np.abs(level[:, i] - level[:, j]))
                np.minimum(best, np.where(d > least, d, np.inf), out=best)
        out[cells] = np.where(np.isfinite(best), best, 0.0)
    return out


def _largest(mesh: Mesh, reach: Reach, slack: NDArray[np.float64] | None) -> float:
    """An upper bound of the gap limit of any cell."""
    most = reach.length if reach.length is not None else \
        reach.fraction * float(np.linalg.norm(mesh.bounds[1] - mesh.bounds[0]))
    return 2 * max(most, 0.0 if slack is None else float(slack.max(initial=0)))


def _slack(mesh: Mesh, curved: Match | None, side: int) -> NDArray[np.float64] | None:
    """(npoints,) the largest gap of the matched facets at each point of a mesh; None where there is none."""
    if curved is None or not curved.gap.any():
        return None
    from scipy.spatial import cKDTree

    surface: Surface = (curved.offer.a, curved.offer.b)[side]
    facet = (curved.i, curved.j)[side]
    used = np.unique(facet)
    worst = np.zeros(len(surface.cell))
    # a hair more, so that the hulls of cells with facets that match do touch
    np.maximum.at(worst, facet, curved.gap * (1 + 1e-6))
    corners = surface.corners[used]
    out = np.zeros(mesh.npoints)
    size = float(np.linalg.norm(mesh.bounds[1] - mesh.bounds[0]))
    distance, point = cKDTree(mesh.points).query(corners.reshape(-1, 3), distance_upper_bound=1e-9 * size)
    hit = np.isfinite(distance)
    np.maximum.at(out, point[hit], np.repeat(worst[used], corners.shape[1])[hit])
    return out


__all__ = ["interface_points", "shortest_edges", "touching_cells"]
