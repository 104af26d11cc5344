"""`Mesh`: points and cells, frozen and validated."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import frozen, integers
from ..errors import MeshError
from .cells import CellShape, shape_of

Block = tuple[str, NDArray[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """Points and cells, as read from a file or generated.

    The blocks given may mix dimensions: those of the largest dimension are the
    *cells* of the mesh, numbered over the blocks in order; the others (boundary
    faces with a tag, say) are kept aside in `lower`.

    Parameters
    ----------
    points : (npoints, d) array_like of float
        Coordinates, d = 1, 2 or 3; kept as float64 with three columns.
    blocks : sequence of (str, (n, k) array_like of int)
        meshio cell type and the nodes of each cell; empty blocks are dropped.
    cell_data : mapping of str to (ncells, ...) array, optional
        Values on the cells.
    name : str
        What to call the mesh in files and messages.
    lower : sequence of blocks, optional
        More blocks of lower dimension.
    lower_data : mapping of str to (nlower, ...) array, optional
        Values on the cells of `lower`.
    tags : mapping of str to (int, int), optional
        Names of regions: value in ``cell_data["gmsh:physical"]`` and dimension.

    Raises
    ------
    MeshError
        Not finite coordinates, nodes outside the points, no cells, or data of the wrong length.

    Examples
    --------
    >>> m = Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], [("triangle", [[0, 1, 2], [1, 3, 2]])])
    >>> m
    Mesh('mesh': 2 triangle in 2D, 4 points)
    >>> m.ncells, m.dimension
    (2, 2)
    """

    points: NDArray[np.float64]
    blocks: Sequence[Block]
    cell_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    name: str = "mesh"
    lower: Sequence[Block] = ()
    lower_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    tags: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        points = _points(self.points)
        given = [*self.blocks, *self.lower]
        nblocks = len(self.blocks)
        checked = [_block(t, cells, len(points)) for t, cells in given]
        used = [(i, b) for i, b in enumerate(checked) if len(b[1])]
        dims = [shape_of(t, c.shape[1]).dimension for _, (t, c) in used]
        top = max((d for (i, _), d in zip(used, dims, strict=True) if i < nblocks), default=0)
        if top == 0:
            what = "points only, no cells" if len(points) else "empty: neither points nor cells"
            raise MeshError(f"mesh {self.name!r}: {what}")
        main = [(i, b) for (i, b), d in zip(used, dims, strict=True) if d == top and i < nblocks]
        aside = [(i, b) for (i, b), d in zip(used, dims, strict=True) if d < top]
        data, aside_data = self._split_data(checked, nblocks, [i for i, _ in main], [i for i, _ in aside])
        put = object.__setattr__
        put(self, "points", frozen(points))
        put(self, "blocks", tuple((t, frozen(c)) for _, (t, c) in main))
        put(self, "lower", tuple((t, frozen(c)) for _, (t, c) in aside))
        put(self, "cell_data", MappingProxyType(data))
        put(self, "lower_data", MappingProxyType(aside_data))
        put(self, "tags", MappingProxyType({str(k): (int(v[0]), int(v[1])) for k, v in self.tags.items()}))

    def _split_data(self, checked: list[Block], nblocks: int, main: list[int], aside: list[int],
                    ) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """Cut the cell arrays by block; what belongs to lower blocks goes to `lower_data`.

        An array may cover all blocks given, or only the cells of the largest dimension.
        """
        sizes = [len(c) for _, c in checked]
        total, cells, rest = sum(sizes[:nblocks]), sum(sizes[i] for i in main), sum(sizes[nblocks:])
        start = np.concatenate([[0], np.cumsum(sizes)])
        data: dict[str, NDArray[Any]] = {}
        aside_data: dict[str, NDArray[Any]] = {}
        for name, values in self.cell_data.items():
            array = np.asarray(values)
            if array.ndim == 0 or len(array) not in (total, cells):
                raise MeshError(f"cell data {name!r}: needs {cells} entries, one a cell, has shape {array.shape}")
            if len(array) == cells and total != cells:
                data[name] = frozen(array)
                continue
            parts = {i: array[start[i]:start[i + 1]] for i in range(nblocks)}
            data[name] = frozen(np.concatenate([parts[i] for i in main]))
            low = [parts[i] for i in aside if i < nblocks]
            if low and rest == 0:
                aside_data[name] = frozen(np.concatenate(low))
        nlower = sum(sizes[i] for i in aside)
        for name, values in self.lower_data.items():
            array = np.asarray(values)
            if array.ndim == 0 or len(array) != nlower:
                raise MeshError(f"lower data {name!r}: needs {nlower} entries, has shape {array.shape}")
            aside_data[name] = frozen(array)
        return data, aside_data

    # ---- what a reader asks first
    @cached_property
    def ncells(self) -> int:
        """Number of cells (of the largest dimension)."""
        return sum(len(c) for _, c in self.blocks)

    @property
    def npoints(self) -> int:
        """Number of points."""
        return len(self.points)

    @cached_property
    def dimension(self) -> int:
        """Dimension of the cells, 1, 2 or 3; that of the space may be larger."""
        t, c = self.blocks[0]
        return shape_of(t, c.shape[1]).dimension

    def shapes(self) -> list[tuple[CellShape, NDArray[np.int64]]]:
        """Shape and nodes of each block, in cell order."""
        return [(shape_of(t, c.shape[1]), c) for t, c in self.blocks]

    def centres(self) -> NDArray[np.float64]:
        """(ncells, 3) mean of the corner points of each cell."""
        out = np.empty((self.ncells, 3))
        at = 0
        for shape, cells in self.shapes():
            part = out[at:at + len(cells)]
            part[:] = self.points[cells[:, 0]]
            for j in range(1, shape.ncorners):
                part += self.points[cells[:, j]]
            part /= shape.ncorners
            at += len(cells)
        return out

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) smallest and largest coordinates of the points that cells use."""
        used = np.zeros(self.npoints, bool)
        for shape, cells in self.shapes():
            used[cells[:, :shape.ncorners]] = True
        p = self.points[used]
        return frozen(np.stack([p.min(axis=0), p.max(axis=0)]))

    def replace(self, **changes: Any) -> Mesh:
        """A copy with other fields, validated again."""
        return dataclasses.replace(self, **changes)

    def translated(self, offset: Sequence[float]) -> Mesh:
        """The mesh moved by `offset` (3 numbers)."""
        return self.replace(points=self.points + _vector("offset", offset))

    def scaled(self, factor: float) -> Mesh:
        """The mesh with all coordinates multiplied by `factor`."""
        f = float(factor)
        if not np.isfinite(f) or f <= 0:
            raise MeshError(f"factor: must be finite and positive, got {factor!r}")
        return self.replace(points=self.points * f)

    def __repr__(self) -> str:
        kinds: dict[str, int] = {}
        for t, c in self.blocks:
            kinds[t] = kinds.get(t, 0) + len(c)
        cells = " + ".join(f"{n} {t}" for t, n in kinds.items())
        data = f", data {', '.join(self.cell_data)}" if self.cell_data else ""
        return f"Mesh({self.name!r}: {cells} in {self.dimension}D, {self.npoints} points{data})"


def _vector(name: str, values: Sequence[float]) -> NDArray[np.float64]:
    """Three finite numbers."""
    try:
        v = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise MeshError(f"{name}: needs 3 numbers, got {values!r}") from None
    if v.shape != (3,) or not np.isfinite(v).all():
        raise MeshError(f"{name}: needs 3 finite numbers, got {values!r}")
    return v


def _points(values: Any) -> NDArray[np.float64]:
    """Points as (npoints, 3) float64, all finite."""
    try:
        p = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise MeshError("points: need numbers, one row a point") from None
    if p.size == 0:
        return np.zeros((0, 3))
    if p.ndim != 2 or p.shape[1] not in (1, 2, 3):
        raise MeshError(f"points: need shape (npoints, 1, 2 or 3), have {p.shape}")
    bad = ~np.isfinite(p).all(axis=1)
    if bad.any():
        i = int(np.argmax(bad))
        raise MeshError(f"points: {int(bad.sum())} of {len(p)} are not finite, first at index {i}: {p[i].tolist()}")
    if len(p) >= 2**31:
        raise MeshError(f"points: {len(p)}, at most {2**31 - 1} are supported")
    if p.shape[1] == 3:
        return np.ascontiguousarray(p)
    return np.hstack([p, np.zeros((len(p), 3 - p.shape[1]))])


def _block(cell_type: Any, nodes: Any, npoints: int) -> Block:
    """A block of cells: known type, whole node numbers, inside the points."""
    name = str(cell_type)
    try:
        array = np.asarray(nodes)
    except ValueError:
        array = np.empty(0, object)
    if array.size == 0 and array.dtype != object:
        return name, np.zeros((0, 1), np.int64)
    if array.ndim != 2 or array.dtype == object:
        raise MeshError(f"cells {name}: need one row of nodes a cell, all of one length")
    shape_of(name, array.shape[1])
    flat = integers(f"cells {name}", array.reshape(-1), np.int64, MeshError)
    low, high = int(flat.min()), int(flat.max())
    if low < 0 or high >= npoints:
        outside = (flat < 0) | (flat >= npoints)
        i = int(np.argmax(outside))
        cell = i // array.shape[1]
        count = int(outside.reshape(array.shape).any(axis=1).sum())
        raise MeshError(f"cells {name}: {count} of {len(array)} point outside the {npoints} points, "
                        f"first cell {cell}: node {int(flat[i])}")
    return name, flat.reshape(array.shape)
