"""What a `Mesh` is checked for: points, blocks and groups, each refused with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import frozen, integers, own, places, plain, reals, surely_within
from ..errors import MeshError
from .cells import shape_of

Block = tuple[str, NDArray[np.int64]]
Groups = Mapping[str, NDArray[np.int64]]


def vector(name: str, values: Sequence[float]) -> NDArray[np.float64]:
    """Three finite numbers."""
    try:
        v = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise MeshError(f"{name}: needs 3 numbers, got {values!r}") from None
    if v.shape != (3,) or not np.isfinite(v).all():
        raise MeshError(f"{name}: needs 3 finite numbers, got {values!r}")
    return v


#: Areas are products of lengths, and are squared: coordinates beyond this would overflow on the way.
_FARTHEST = 1e60


def points_of(values: Any) -> NDArray[np.float64]:
    """Points as (npoints, 3) float64, all finite."""
    p = reals("points", values, MeshError)
    if p.size == 0:
        return np.zeros((0, 3))
    if p.ndim != 2 or p.shape[1] not in (1, 2, 3):
        raise MeshError(f"points: need shape (npoints, 1, 2 or 3), have {p.shape}")
    if not (p.min() >= -_FARTHEST and p.max() <= _FARTHEST):  # also of numbers that are none
        _refuse(p)
    if len(p) >= 2**31:
        raise MeshError(f"points: {len(p)}, at most {2**31 - 1} are supported")
    if p.shape[1] == 3:
        return np.ascontiguousarray(p)
    return np.hstack([p, np.zeros((len(p), 3 - p.shape[1]))])


def _refuse(p: NDArray[np.float64]) -> None:
    """Raise for the first point that is not finite, or too far away."""
    far = f"have coordinates beyond {_FARTHEST:g}"
    for bad, what in ((~np.isfinite(p), "are not finite"), (np.abs(p) > _FARTHEST, far)):
        rows = bad.any(axis=1)
        if rows.any():
            i = int(np.argmax(rows))
            raise MeshError(f"points: {int(rows.sum())} of {len(p)} {what}, first at index {i}: {p[i].tolist()}")


def block_of(cell_type: Any, nodes: Any, npoints: int) -> Block:
    """A block of cells: known type, whole node numbers, inside the points."""
    name = str(cell_type)
    array = plain(f"cells {name}", nodes, MeshError)
    if array.size == 0 and array.dtype != object:
        return name, np.zeros((0, 1), np.int64)
    if array.ndim != 2 or array.dtype == object:
        raise MeshError(f"cells {name}: need one row of nodes per cell, all of one length")
    shape_of(name, array.shape[1])
    flat = own(integers(f"cells {name}", array.reshape(-1), np.int64, MeshError), nodes)
    if not surely_within(flat, 0, npoints) and (outside := (flat < 0) | (flat >= npoints)).any():
        i = int(np.argmax(outside))
        cell = i // array.shape[1]
        count = int(outside.reshape(array.shape).any(axis=1).sum())
        raise MeshError(f"cells {name}: {count} of {len(array)} point outside the {npoints} points, "
                        f"first cell {cell}: node {int(flat[i])}")
    return name, flat.reshape(array.shape)


def pairs_of(blocks: Any) -> list[tuple[Any, Any]]:
    """Blocks as pairs of a cell type and nodes."""
    try:
        return [(kind, nodes) for kind, nodes in blocks]
    except (TypeError, ValueError):
        raise MeshError(f"blocks: need pairs of a cell type and the nodes of its cells, got {blocks!r:.60}") from None


def mapping_of(what: str, given: Any) -> dict[str, Any]:
    """A mapping from names, which are text, as in files."""
    if not isinstance(given, Mapping):
        raise MeshError(f"{what}: need a mapping from names, got {given!r:.60}")
    return {str(name): values for name, values in given.items()}


def texts_of(what: str, given: Any) -> tuple[str, ...]:
    """One text, or several."""
    try:
        return (given,) if isinstance(given, str) else tuple(str(one) for one in given)
    except TypeError:
        raise MeshError(f"{what}: needs text, or several, got {given!r:.60}") from None


def facet_groups_of(groups: Mapping[str, Any], npoints: int, dimension: int) -> Groups:
    """Facet groups as frozen (n, w) int64 arrays; see :class:`Mesh`."""
    out = {}
    for name, values in groups.items():
        array = plain(f"facet group {name!r}", values, MeshError)
        if array.size == 0:
            out[str(name)] = frozen(np.zeros((0, dimension), np.int64))
            continue
        if array.ndim != 2:
            raise MeshError(f"facet group {name!r}: needs one row of nodes per facet, has shape {array.shape}")
        flat = integers(f"facet group {name!r}", array.reshape(-1), np.int64, MeshError, low=-1, high=npoints)
        flat = own(flat, values)
        array = flat.reshape(array.shape)
        there = array >= 0
        short = (there.sum(axis=1) < dimension) | (there[:, 1:] & ~there[:, :-1]).any(axis=1)
        if short.any():
            i = int(np.argmax(short))
            raise MeshError(f"facet group {name!r}: {int(short.sum())} of {len(array)} facets are not at least "
                            f"{dimension} nodes padded with -1 at the end, first at index {i}: {array[i].tolist()}")
        out[str(name)] = frozen(array)
    return MappingProxyType(out)


def index_groups_of(kind: str, groups: Mapping[str, Any], size: int) -> Groups:
    """Groups of points or cells as frozen int64 arrays, ascending, each number once."""
    out = {}
    for name, values in groups.items():
        array = places(f"{kind} group {name!r}", values, np.int64, MeshError, high=size)
        if len(array) > 1 and not (array[1:] > array[:-1]).all():
            array = np.unique(array)
        out[str(name)] = own(array, values)
    return MappingProxyType(out)
