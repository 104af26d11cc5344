"""Meshes as pixels that know their cells: a surface, a cut, a plane mesh, an interface laid flat.

Large meshes cost little: only the boundary is drawn, or the cells that a plane cuts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..mesh import Mesh
from ..mesh.interfaces.surface import Surface, boundary_surface, cell_surface
from .projection import camera, upright_axes
from .raster import Canvas, Frame
from .section import section
from .stretching import factors, told

Points = NDArray[np.float64]

#: Width and height of a picture on the page; it has twice as many pixels each way, for fine screens.
WIDTH, HEIGHT = 520, 440
FINE = 2
#: Lines between cells are drawn where a cell has so many pixels on average.
_ROOMY = 50.0


@dataclass(frozen=True)
class Scene:
    """What is seen at each pixel; colours are given by a partition, see :mod:`copart.report.drawing`.

    Attributes
    ----------
    cell : (height, width) int32
        Cell of the mesh, -1 where nothing is.
    shade : (height, width) float64
        Brightness, at most 1.
    lines : (height, width) bool
        Between two cells, or two facets of one.
    frame : Frame
    note : str
        By what a long or thin domain is stretched, after a semicolon.
    """

    cell: NDArray[np.int32]
    shade: Points
    lines: NDArray[np.bool_]
    frame: Frame
    note: str = ""


def whole_boundary(mesh: Mesh) -> Surface:
    """The boundary of a 3D mesh, or the cells of another one, whatever part of it is offered for coupling."""
    if mesh.dimension < 3:
        return cell_surface(mesh)
    return boundary_surface(mesh.replace(interface=None) if getattr(mesh, "interface", None) else mesh)


def mesh_scene(mesh: Mesh, surface: Surface, toward: Points | None) -> Scene:
    """A mesh as it stands: plane ones as they are, others from somewhat aside of `toward`.

    Long and thin ones are stretched, and the note of the scene says so.
    """
    if mesh.dimension < 3 and np.ptp(mesh.points[:, 2]) == 0:
        stretch = factors(np.ptp(mesh.bounds[:, :2], axis=0))
        flat = surface.corners[:, :, :2] * stretch
        canvas = _canvas(flat)
        canvas.draw(flat, np.zeros(flat.shape[:2]), np.arange(len(flat), dtype=np.int32))
        return _scene(canvas, surface.cell, np.ones(len(flat)), told(stretch, "xy"))
    stretch = factors(np.ptp(mesh.bounds, axis=0))
    surface, toward = _stretched(surface, stretch), None if toward is None else toward / stretch
    right, up, eye = camera(toward, upright(mesh, toward, stretch))
    if mesh.dimension == 3:
        surface = surface.taken(surface.normal @ eye > 1e-9)
    return _solid([surface], (right, up, eye), None, told(stretch, "xyz"))


def cut_scene(mesh: Mesh, surface: Surface, toward: Points | None) -> Scene:
    """A 3D mesh cut through the middle, the nearer half taken away.

    The cut holds `toward`, so that what faces the other mesh is seen with what lies behind it.
    """
    stretch = factors(np.ptp(mesh.bounds, axis=0))
    origin, toward = mesh.bounds.mean(axis=0) * stretch, None if toward is None else toward / stretch
    pole = upright(mesh, toward, stretch)
    # seen further from the side, which the cut faces
    right, up, eye = camera(toward, pole, 0.55 if toward is None else 1.0)
    front, side, _ = upright_axes(toward, pole)
    normal = front if toward is None else -side
    # a plane of the stretched mesh is one of the mesh
    inside = _stretched(section(mesh, origin / stretch, normal * stretch), stretch)
    surface = _stretched(surface, stretch)
    outside = surface.taken((surface.normal @ eye > 1e-9) & ((surface.corners - origin) @ normal < 0).any(axis=1))
    return _solid([outside, inside], (right, up, eye), (origin, normal), told(stretch, "xyz"))


def near_scene(surface: Surface, facets: Surface) -> Scene | None:
    """A plane mesh around its interface; None where the interface is not small against the mesh."""
    spot, whole = facets.corners[..., :2].reshape(-1, 2), surface.corners[..., :2].reshape(-1, 2)
    if len(spot) == 0 or np.ptp(spot, axis=0).max() > 0.4 * np.ptp(whole, axis=0).max():
        return None
    flat = surface.corners[:, :, :2]
    canvas = Canvas(Frame.around(spot, FINE * WIDTH, FINE * HEIGHT, 0.4))
    canvas.draw(flat, np.zeros(flat.shape[:2]), np.arange(len(flat), dtype=np.int32))
    return _scene(canvas, surface.cell, np.ones(len(flat)))


def flat_scene(flat: Points, cell: NDArray[np.int32], frame: Frame) -> Scene:
    """Facets of an interface laid flat, in a frame that both sides share."""
    canvas = Canvas(frame)
    canvas.draw(flat, np.zeros(flat.shape[:2]), np.arange(len(flat), dtype=np.int32))
    return _scene(canvas, cell, np.ones(len(flat)))


def frame_of(flat: Points) -> Frame:
    """The frame of a picture of the usual size."""
    return Frame.around(flat, FINE * WIDTH, FINE * HEIGHT)


def upright(mesh: Mesh, toward: Points | None, stretch: Points) -> Points | None:
    """The direction that is up in a picture where a long mesh should lie; None for the usual one."""
    extent = np.ptp(mesh.bounds, axis=0) * stretch
    if toward is None and extent[2] > 1.5 * extent[:2].max():
        return np.array([1.0, 0.0, 0.0])
    return None


def _stretched(surface: Surface, stretch: Points) -> Surface:
    """A surface wider in some directions."""
    return replace(surface, corners=surface.corners * stretch, outward=surface.outward * stretch)


def _canvas(flat: Points) -> Canvas:
    return Canvas(frame_of(flat))


def _solid(surfaces: list[Surface], view: tuple[Points, Points, Points], plane: tuple[Points, Points] | None,
           note: str) -> Scene:
    """Surfaces seen from `view`; of the first one only what lies behind `plane`."""
    right, up, eye = view
    flat = [s.corners @ np.stack([right, up], axis=1) for s in surfaces]
    canvas = _canvas(np.concatenate([f.reshape(-1, 2) for f in flat]))
    shade, first = [], 0
    light = (eye + 0.55 * up - 0.25 * right) / np.linalg.norm(eye + 0.55 * up - 0.25 * right)
    for i, (surface, corners) in enumerate(zip(surfaces, flat, strict=True)):
        beyond = None if plane is None or i > 0 else (surface.corners - plane[0]) @ plane[1]
        canvas.draw(corners, surface.corners @ eye, np.arange(first, first + len(corners), dtype=np.int32), beyond)
        facing = np.abs(surface.normal @ light)
        shade.append(0.62 + 0.38 * np.clip(facing / 0.95, 0, 1))
        first += len(corners)
    return _scene(canvas, np.concatenate([s.cell for s in surfaces]), np.concatenate(shade), note)


def _scene(canvas: Canvas, cell: NDArray[np.int32], shade: Points, note: str = "") -> Scene:
    item = canvas.item
    there = item >= 0
    seen = np.count_nonzero(np.bincount(item[there], minlength=1)) if there.any() else 0
    lines = np.zeros(item.shape, bool)
    if seen and there.sum() / seen >= _ROOMY:
        lines[:, :-1] |= (item[:, :-1] != item[:, 1:]) & there[:, 1:]
        lines[:-1] |= (item[:-1] != item[1:]) & there[1:]
    return Scene(np.where(there, cell[item], -1).astype(np.int32), np.where(there, shade[item], 0.0), lines,
                 canvas.frame, note)


__all__ = ["FINE", "HEIGHT", "WIDTH", "Scene", "cut_scene", "flat_scene", "frame_of", "mesh_scene", "near_scene",
           "whole_boundary"]
