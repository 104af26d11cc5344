"""Zones of CGNS that continue one another: points that a file says are the same become one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..polyhedra import Ints
from .cgns_boundaries import indices, node_numbers
from .cgns_nodes import Node

_NEAR = 1e-6
"""Distance of two points that are the same, over the size of the mesh."""


class Side(NamedTuple):
    """A zone as its neighbours see it."""

    shape: tuple[int, ...]
    """Vertices by direction; their number where the zone is unstructured."""
    first: int
    """Number of its first point among those of all zones."""


def joined(points: NDArray[np.float64], zones: Sequence[Node], sides: Mapping[str, Side]) -> tuple[Ints, list[str]]:
    """(npoints,) for each point the first of those that are the same, and remarks on connections left alone.

    Points that are named together but are not at one place, as across periodic boundaries, stay apart.

    Parameters
    ----------
    points : (npoints, 3) NDArray of float64
        Of all zones, one after the other.
    zones : sequence of Node
    sides : mapping of str to Side
        By the name of each zone's base and its own, with a slash between.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    pairs: list[tuple[Ints, Ints]] = []
    said: list[str] = []
    for zone in zones:
        for joint in (j for all_of in zone.all("ZoneGridConnectivity_t") for j in all_of):
            named = joint.text()
            donor = sides.get(named if "/" in named else f"{zone.where.partition('/')[0]}/{named}")
            if joint.label not in ("GridConnectivity1to1_t", "GridConnectivity_t"):
                continue
            found = None if donor is None else _pairs(joint, sides[zone.where], donor)
            if found is None:
                said.append(f"{zone.name}: connection {joint.name} does not match node by node, zones stay apart there")
            else:
                pairs.append(found)
    own = np.arange(len(points))
    if not pairs:
        return own, said
    a, b = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    same = np.linalg.norm(points[a] - points[b], axis=1) <= _NEAR * size
    graph = coo_matrix((np.ones(int(same.sum()), np.int8), (a[same], b[same])), shape=(len(points), len(points)))
    number = connected_components(graph, directed=False)[1]
    first = np.full(len(points), len(points), np.int64)
    np.minimum.at(first, number, own)
    return first[number], said


def _pairs(joint: Node, mine: Side, donor: Side) -> tuple[Ints, Ints] | None:
    """Numbers of the points on either side; None where they do not match one to one."""
    if joint.label == "GridConnectivity1to1_t":
        return _of_grids(joint, mine, donor)
    if joint.said("GridConnectivityType_t", "Overset") != "Abutting1to1" \
            or joint.said("GridLocation_t", "Vertex") != "Vertex":
        return None
    name, own = indices(joint, len(mine.shape), ("PointRange", "PointList"))
    _, other = indices(joint, len(donor.shape), ("PointListDonor",))
    if name == "PointRange":
        own = np.stack(list(_steps(own)))
    if own.shape[1] != other.shape[1] or not (_inside(own, mine) and _inside(other, donor)):
        return None
    return node_numbers(own - 1, mine.shape) + mine.first, node_numbers(other - 1, donor.shape) + donor.first


def _of_grids(joint: Node, mine: Side, donor: Side) -> tuple[Ints, Ints] | None:
    """Of two structured zones: a range on either side, and how the directions correspond."""
    dimension = len(mine.shape)
    turn = joint.numbers("Transform")
    turn = np.arange(1, dimension + 1) if turn is None else turn.ravel()
    if len(donor.shape) != dimension or sorted(np.abs(turn).tolist()) != list(range(1, dimension + 1)):
        return None
    own, other = (indices(joint, dimension, (name,))[1] for name in ("PointRange", "PointRangeDonor"))
    if own.shape != (dimension, 2) or other.shape != own.shape or not (_inside(own, mine) and _inside(other, donor)):
        return None
    index = np.stack(list(_steps(own)))
    there = np.empty_like(index)
    for k, t in enumerate(turn.tolist()):
        there[abs(t) - 1] = other[abs(t) - 1, :1] + np.sign(t) * (index[k] - own[k, :1])
    if not _inside(there, donor):
        return None
    return node_numbers(index - 1, mine.shape) + mine.first, node_numbers(there - 1, donor.shape) + donor.first


def _steps(bounds: Ints) -> Iterator[Ints]:
    """The indices of all points from the first to the last, a row for each direction."""
    low, high = bounds.min(axis=1), bounds.max(axis=1)
    grid = np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(low, high, strict=True)), indexing="ij")
    yield from (g.ravel() for g in grid)


def _inside(index: Ints, side: Side) -> bool:
    """Whether all indices, from 1, are those of points."""
    return bool(index.size) and bool((index >= 1).all() and (index <= np.array(side.shape)[:, None]).all())


__all__ = ["Side", "joined"]
