"""Tools for the meshes of the cases: grids, and what is cut, bent, stacked, split and joined from them.

All take and give a `Mesh`, so that a case reads as a few lines of geometry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copart.mesh import Mesh

Points = NDArray[np.float64]
Mask = NDArray[np.bool_]

_NEAR = 1e-7
"""Points of joined meshes nearer than this are one; sizes of the cases are about 1."""
_SHIFT = 0.3819660113
"""Moves round coordinates off the limits at which rounding changes."""
_FACES = {"hexahedron": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
          "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5))}
# the six tetrahedra round the diagonal of a hexahedron; all diagonals agree where the cells of a grid do
_SIX = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))


# ---- grids
def axis(breaks: Sequence[float], n: float, fixed: Mapping[int, int] | None = None, least: int = 1) -> Points:
    """Coordinates that contain all `breaks`, about `n` cells per unit of length between them.

    Parameters
    ----------
    breaks : sequence of float
        Ascending.
    n : float
    fixed : mapping of int to int, optional
        Intervals with a number of cells of their own.
    least : int
        Cells in each interval, at least.
    """
    out = [np.array([breaks[0]], float)]
    for i, (low, high) in enumerate(pairwise(breaks)):
        count = (fixed or {}).get(i, max(least, round((high - low) * n)))
        out.append(np.linspace(low, high, count + 1)[1:])
    return np.concatenate(out)


def graded(low: float, high: float, step: float, growth: float) -> Points:
    """Coordinates from `low` to `high` whose steps grow: about `step` first, `growth` times more each."""
    count = max(1, round(np.log1p((growth - 1) * abs(high - low) / step) / np.log(growth)))
    sums = np.concatenate([[0.0], np.cumsum(growth ** np.arange(count))])
    out = low + (high - low) * sums / sums[-1]
    out[-1] = high
    return out


def grid(*axes: Points) -> Mesh:
    """Rectangles (two axes) or boxes (three) between coordinates, x fastest."""
    lengths = [len(a) for a in axes]
    points = np.stack([c.ravel() for c in np.meshgrid(*axes[::-1], indexing="ij")[::-1]], axis=1)
    steps = np.cumprod([1, *lengths[:-1]])
    index = np.meshgrid(*[np.arange(k - 1) for k in lengths[::-1]], indexing="ij")[::-1]
    first = sum(s * i.ravel() for s, i in zip(steps, index, strict=True))
    around = np.array([0, 1, 1 + steps[1], steps[1]])
    if len(axes) == 2:
        return Mesh(points, [("quad", first[:, None] + around)])
    return Mesh(points, [("hexahedron", first[:, None] + np.concatenate([around, around + steps[2]]))])


def within(mesh: Mesh, *limits: tuple[float, float]) -> Mask:
    """Which cells have their centre between limits along x, y, ..."""
    centres = mesh.centres()
    return np.logical_and.reduce([(centres[:, k] > lo) & (centres[:, k] < hi) for k, (lo, hi) in enumerate(limits)])


def cut(mesh: Mesh, keep: Mask) -> Mesh:
    """The cells where `keep` is true, with their points only."""
    blocks, at = [], 0
    for kind, cells in mesh.blocks:
        blocks.append((kind, cells[keep[at:at + len(cells)]]))
        at += len(cells)
    used = np.zeros(mesh.npoints, bool)
    for _, cells in blocks:
        used[cells] = True
    number = np.cumsum(used) - 1
    return Mesh(mesh.points[used], [(kind, number[cells]) for kind, cells in blocks], name=mesh.name)


def bent(mesh: Mesh, to: Callable[[Points, Points, Points], Sequence[Any]]) -> Mesh:
    """The mesh with its points moved: ``to(x, y, z)`` gives the new coordinates."""
    moved = [np.broadcast_to(c, mesh.npoints) for c in to(*mesh.points.T)]
    return mesh.replace(points=np.stack(moved, axis=1))


# ---- layers
def stacked(sheet: Mesh, levels: Points) -> Mesh:
    """Cells between copies of a sheet: lines give quadrilaterals, quadrilaterals hexahedra, triangles wedges.

    Parameters
    ----------
    sheet : Mesh
    levels : (nlevels, npoints, 3) float64
        Where the points of the sheet are on each level.
    """
    nlevels, npoints = levels.shape[:2]
    lift = (np.arange(nlevels - 1) * npoints)[:, None, None]
    blocks = []
    for kind, cells in sheet.blocks:
        above = cells + npoints
        pair = np.concatenate([cells, above[:, ::-1] if kind == "line" else above], axis=1)
        solid = {"line": "quad", "quad": "hexahedron", "triangle": "wedge"}[kind]
        blocks.append((solid, (pair + lift).reshape(-1, pair.shape[1])))
    return Mesh(levels.reshape(-1, 3), blocks)


def extruded(flat: Mesh, heights: Points) -> Mesh:
    """A flat mesh drawn out along z."""
    up = np.zeros((len(heights), 1, 3))
    up[:, 0, 2] = heights
    return stacked(flat, flat.points + up)


def between(sheet: Mesh, inner: Points, outer: Points, count: int) -> Mesh:
    """`count` layers of cells from one place of the points of a sheet to another."""
    share = np.linspace(0, 1, count + 1)[:, None, None]
    return stacked(sheet, (1 - share) * inner + share * outer)


def joined(*meshes: Mesh) -> Mesh:
    """One mesh of several whose points meet."""
    points = np.concatenate([m.points for m in meshes])
    keys = np.floor(points / _NEAR + _SHIFT).astype(np.int64)
    order = np.lexsort(keys.T)
    new = np.ones(len(points), bool)
    new[1:] = (np.diff(keys[order], axis=0) != 0).any(axis=1)
    number = np.empty(len(points), np.int64)
    number[order] = np.cumsum(new) - 1
    blocks: dict[str, list[NDArray[np.int64]]] = {}
    at = 0
    for mesh in meshes:
        for kind, cells in mesh.blocks:
            blocks.setdefault(kind, []).append(number[cells + at])
        at += mesh.npoints
    return Mesh(points[order[new]], [(kind, np.concatenate(cells)) for kind, cells in blocks.items()])


# ---- simplices
def triangles(flat: Mesh, which: Mask | None = None) -> Mesh:
    """Quadrilaterals cut in two along a diagonal, every other one along the other; only those of `which`."""
    (kind, cells), = flat.blocks
    assert kind == "quad"
    turned = np.where((np.arange(len(cells)) % 2 == 0)[:, None], cells, np.roll(cells, 1, axis=1))
    mine = np.ones(len(cells), bool) if which is None else which
    halves = np.stack([turned[mine][:, [0, 1, 2]], turned[mine][:, [0, 2, 3]]], axis=1).reshape(-1, 3)
    return Mesh(flat.points, [("triangle", halves), ("quad", cells[~mine])])


def six_tetrahedra(boxes: Mesh) -> Mesh:
    """Each hexahedron of a grid as six tetrahedra; to be called before anything is joined."""
    (_, cells), = boxes.blocks
    return Mesh(boxes.points, [("tetra", cells[:, _SIX].reshape(-1, 4))])


def tetrahedra(solid: Mesh) -> Mesh:
    """Hexahedra and wedges of any mesh as tetrahedra round their centres: 12 and 8 of each.

    A face is cut from its node of the least number, so that both cells of the face cut it alike.
    """
    points, out, first = [solid.points], [], solid.npoints
    for kind, cells in solid.blocks:
        if kind == "tetra":
            out.append(cells)
            continue
        centre = (first + np.arange(len(cells)))[:, None]
        first += len(cells)
        points.append(solid.points[cells].mean(axis=1))
        for face in _FACES[kind]:
            ring = cells[:, face]
            ring = np.take_along_axis(ring, (ring.argmin(axis=1)[:, None] + np.arange(len(face))) % len(face), axis=1)
            out += [np.hstack([ring[:, [0, i, i + 1]], centre]) for i in range(1, len(face) - 1)]
    made = Mesh(np.concatenate(points), [("tetra", np.concatenate(out))])
    return _near_in_memory(made)


def _near_in_memory(mesh: Mesh) -> Mesh:
    """Tetrahedra in the order of their last node, which those of one old cell share."""
    (kind, cells), = mesh.blocks
    return Mesh(mesh.points, [(kind, cells[np.argsort(cells[:, 3], kind="stable")])])


# ---- orientation
def oriented(mesh: Mesh) -> Mesh:
    """Cells turned so that their volume (in 2D: area) is positive."""
    blocks = []
    for kind, cells in mesh.blocks:
        turned = signed_size(mesh.points, kind, cells) < 0
        half = cells.shape[1] // 2
        flip = {"tetra": [0, 2, 1, 3], "triangle": [0, 2, 1], "quad": [0, 3, 2, 1]}.get(
            kind, [*range(half, 2 * half), *range(half)])
        blocks.append((kind, np.where(turned[:, None], cells[:, flip], cells)))
    return Mesh(mesh.points, blocks, mesh.cell_data, mesh.name)


def signed_size(points: Points, kind: str, cells: NDArray[np.int64]) -> Points:
    """(ncells,) a number with the sign and the order of magnitude of the volume or area of each cell."""
    p = points[cells]
    if kind in ("triangle", "quad"):
        a, b = (p[:, 2] - p[:, 0], p[:, 3] - p[:, 1]) if kind == "quad" else (p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    if kind == "tetra":
        a, b, c = (p[:, i] - p[:, 0] for i in (1, 2, 3))
    else:
        half = p.shape[1] // 2
        a, b = p[:, 1] - p[:, 0], p[:, half - 1] - p[:, 0]
        c = p[:, half:].mean(axis=1) - p[:, :half].mean(axis=1)
        if half == 4:
            a, b = p[:, 2] - p[:, 0], p[:, 3] - p[:, 1]
    return np.asarray(np.einsum("cd,cd->c", np.cross(a, b), c))
