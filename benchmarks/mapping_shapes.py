"""More shapes to map, no setting chosen with them: bodies cut out of grids, and Delaunay triangles and tetrahedra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay

from copart.graph import Graph

Array = np.ndarray[Any, Any]
Inside = Callable[..., Array]


def _largest(n: int, u: Array, v: Array) -> Graph:
    graph = Graph.from_edges(n, u, v)
    where = connected_components(graph.to_scipy(), directed=False)[1]
    piece = graph.subgraph(np.flatnonzero(where == np.bincount(where).argmax()))
    return Graph(piece.xadj, piece.adjncy)


def _centres(low: Sequence[float], high: Sequence[float], cells: float) -> list[Array]:
    extent = np.subtract(high, low)
    step = (extent.prod() / cells) ** (1 / len(extent))
    counts = np.maximum(1, np.round(extent / step)).astype(int)
    lines = [a + (np.arange(n) + 0.5) * (e / n) for a, n, e in zip(low, counts, extent, strict=True)]
    return list(np.meshgrid(*lines, indexing="ij"))


def carved(inside: Inside, low: Sequence[float], high: Sequence[float]) -> Callable[[int], Graph]:
    """Cells of a grid of the box that are inside, joined over their faces; made for a number of cells."""
    def make(cells: int) -> Graph:
        share = inside(*_centres(low, high, 2e5)).mean()
        mask = inside(*_centres(low, high, cells / share))
        number = np.full(mask.shape, -1)
        number[mask] = np.arange(mask.sum())
        pairs = []
        for axis in range(mask.ndim):
            along = np.moveaxis(number, axis, 0)
            one, other = along[:-1].ravel(), along[1:].ravel()
            both = (one >= 0) & (other >= 0)
            pairs.append((one[both], other[both]))
        u, v = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
        return _largest(int(mask.sum()), u, v)
    return make


def scattered(inside: Inside, dense: Inside, low: Sequence[float], high: Sequence[float], seed: int,
              ) -> Callable[[int], Graph]:
    """Delaunay cells of random points whose centres are inside, joined over their faces."""
    def make(cells: int) -> Graph:
        rng = np.random.default_rng(seed)
        count = cells // (2 if len(low) == 2 else 6)
        points = np.asarray(low) + rng.random((20 * count, len(low))) * np.subtract(high, low)
        weight = dense(*points.T)
        points = points[rng.random(len(points)) < weight * (count / weight.sum())]
        mesh = Delaunay(points)
        kept = inside(*points[mesh.simplices].mean(1).T)
        number = np.full(len(kept), -1)
        number[kept] = np.arange(kept.sum())
        i, j = np.repeat(np.arange(len(kept)), len(low) + 1), mesh.neighbors.ravel()
        both = (j > i) & kept[i] & kept[j]
        return _largest(int(kept.sum()), number[i[both]], number[j[both]])
    return make


def _even(*point: Array) -> Array:
    return np.ones(len(point[0]))


def _coil(x: Array, y: Array, z: Array) -> Array:
    turn = np.arctan2(y, x) / (2 * np.pi)
    off = np.abs((z - turn + 0.5) % 1 - 0.5)
    return (np.hypot(x, y) - 1) ** 2 + off**2 < 0.09


def _spiral(x: Array, y: Array) -> Array:
    far = np.hypot(x, y)
    return ((far * 4 - np.arctan2(y, x) / (2 * np.pi)) % 1 < 0.55) & (far > 0.25) & (far < 1)


FRESH: dict[str, Callable[[int], Graph]] = {
    "cone": carved(lambda x, y, z: np.abs(np.hypot(x, y) - 0.2 - 0.6 * z) < 0.12, (-1, -1, 0), (1, 1, 1.2)),
    "coil": carved(_coil, (-1.3, -1.3, 0), (1.3, 1.3, 3)),
    "bracket": carved(lambda x, y, z: ((z < 0.15) & (np.hypot(x - 1, y - 0.5) > 0.25)) | (x < 0.15), (0, 0, 0),
                      (1.5, 1, 1)),
    "u-tube": carved(lambda x, y, z: np.abs(np.where(y > 0, np.abs(x), np.hypot(x, y)) - 0.7) < 0.25 + 0 * z,
                     (-1, -1, -0.25), (1, 2, 0.25)),
    "sieve": carved(lambda x, y, z: np.cos(8 * x) * np.cos(8 * y) < 0.6, (0, 0, 0), (2, 1.4, 0.12)),
    "spiral-2d": carved(_spiral, (-1, -1), (1, 1)),
    "honeycomb-2d": carved(lambda x, y: np.cos(12 * x) + np.cos(6 * x + 10.4 * y) + np.cos(6 * x - 10.4 * y) < 0.9,
                           (0, 0), (2, 1.5)),
    "wing-2d": scattered(lambda x, y: (x / 0.5) ** 2 + (y / 0.06) ** 2 > 1,
                         lambda x, y: 1 / (0.03 + np.abs(np.hypot(x, 3 * y) - 0.4)) ** 2, (-1.5, -1), (2, 1), 11),
    "egg": scattered(lambda x, y, z: (x * x + y * y + (z / 1.5) ** 2 < 1) & ((x - 0.3) ** 2 + y * y + z * z > 0.15),
                     _even, (-1, -1, -1.5), (1, 1, 1.5), 12),
    "beam": scattered(lambda x, y, z: (np.abs(y) > 0.3) | (np.abs(z) < 0.1), _even, (0, -0.5, -0.4), (4, 0.5, 0.4), 13),
}
"""From a name to what makes the graph, for about a number of cells."""


def _gear(x: Array, y: Array) -> Array:
    far = np.hypot(x, y)
    return (far < 0.75 + 0.2 * (np.cos(14 * np.arctan2(y, x)) > 0)) & (far > 0.2)


def _hourglass(x: Array, y: Array, z: Array) -> Array:
    return np.hypot(x, y) < 0.25 + 0.75 * z * z


def _dumbbell(x: Array, y: Array, z: Array) -> Array:
    return (np.sqrt((np.abs(x) - 1.2) ** 2 + y * y + z * z) < 0.6) | (np.hypot(y, z) < 0.15)


def _struts(x: Array, y: Array, z: Array) -> Array:
    thick = [np.abs(one % 1 - 0.5) < 0.17 for one in (x, y, z)]
    return (thick[0] & thick[1]) | (thick[0] & thick[2]) | (thick[1] & thick[2])


def _gyroid(x: Array, y: Array, z: Array) -> Array:
    return np.abs(np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x)) < 0.6


def _of(share: float, make: Callable[[int], Graph]) -> Callable[[int], Graph]:
    """The same of a share of the cells."""
    return lambda cells: make(int(share * cells))


SMALL: dict[str, Callable[[int], Graph]] = {
    "gear-2d": _of(0.16, carved(_gear, (-1, -1), (1, 1))),
    "hourglass": _of(0.2, carved(_hourglass, (-1, -1, -1), (1, 1, 1))),
    "louvre": _of(0.24, carved(lambda x, y, z: ((3 * x + 3 * z) % 1 < 0.5) | (np.abs(y) > 0.4), (0, -0.5, 0),
                               (1.5, 0.5, 0.5))),
    "gyroid": _of(0.4, carved(_gyroid, (0, 0, 0), (9, 9, 9))),
    "struts": _of(0.8, carved(_struts, (0, 0, 0), (3, 3, 3))),
    "crescent-2d": _of(0.5, scattered(lambda x, y: (np.hypot(x, y) < 1) & (np.hypot(x - 0.5, y) > 0.8), _even,
                                      (-1, -1), (1, 1), 21)),
    "pyramid": _of(0.5, scattered(lambda x, y, z: np.maximum(np.abs(x), np.abs(y)) < 1 - z, _even, (-1, -1, 0),
                                  (1, 1, 1), 22)),
    "lens": _of(0.7, scattered(lambda x, y, z: x * x + y * y + (np.abs(z) + 0.6) ** 2 < 1, _even, (-1, -1, -0.5),
                               (1, 1, 0.5), 23)),
    "dumbbell": _of(0.4, scattered(_dumbbell, _even, (-1.8, -0.6, -0.6), (1.8, 0.6, 0.6), 24)),
    "star-2d": _of(0.8, scattered(lambda x, y: np.hypot(x, y) < 0.6 + 0.35 * np.cos(5 * np.arctan2(y, x)), _even,
                                  (-1, -1), (1, 1), 25)),
}
"""The same with fewer cells to a processor; that trees are mapped in two ways was decided after one look at these."""
