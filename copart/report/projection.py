"""From space to the plane: a camera, and interfaces laid flat."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..mesh import Mesh
from ..mesh.interfaces.surface import Surface, boundary_surface, cell_surface
from .stretching import factors, told

Points = NDArray[np.float64]


def camera(toward: Points | None, pole: Points | None = None, turn: float = 0.55) -> tuple[Points, Points, Points]:
    """Right, up and the direction to the viewer, for a view somewhat aside of `toward`.

    Parameters
    ----------
    toward : (3,) float or None
        Direction that should face the viewer.
    pole : (3,) float, optional
        What is up; z where not given, or y where `toward` is nearly z.
    turn : float
        Angle by which the viewer stands aside, in radians.
    """
    front, side, over = upright_axes(toward, pole)
    eye = np.cos(turn) * np.cos(0.42) * front - np.sin(turn) * np.cos(0.42) * side + np.sin(0.42) * over
    right = np.cross(over, eye)
    right /= np.linalg.norm(right)
    return right, np.cross(eye, right), eye


def upright_axes(toward: Points | None, pole: Points | None = None) -> tuple[Points, Points, Points]:
    """`toward` as a unit vector, the direction aside of it and the one over it."""
    if toward is None or np.linalg.norm(toward) < 1e-9:
        front = np.array([0.0, -1.0, 0.0])
    else:
        front = np.asarray(toward, float) / np.linalg.norm(toward)
    if pole is None:
        pole = np.array([0.0, 0.0, 1.0]) if abs(front[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    side = np.cross(pole, front)
    side /= np.linalg.norm(side)
    return front, side, np.cross(front, side)


def interface(mesh: Mesh, other: Mesh, coupled: NDArray[np.int32], coupled_other: NDArray[np.int32],
              surfaces: tuple[Surface | None, Surface | None] = (None, None)) -> Surface:
    """The boundary facets of coupled cells that lie on those of the other mesh.

    Where none does (volumes that overlap), all boundary facets of the coupled cells.
    `surfaces` are the boundaries of both meshes, of those that are 3D where they are known already.
    """
    from scipy.spatial import cKDTree

    if mesh.dimension < other.dimension:
        mine = cell_surface(mesh)
    else:
        mine = _boundary(mesh, surfaces[0])
    theirs = cell_surface(other) if other.dimension < mesh.dimension else _boundary(other, surfaces[1])
    mine, theirs = mine.taken(np.isin(mine.cell, coupled)), theirs.taken(np.isin(theirs.cell, coupled_other))
    if len(mine.cell) == 0 or len(theirs.cell) == 0:
        return mine
    k = min(12, len(theirs.cell))
    centre, target = mine.centre, theirs.centre
    near = cKDTree(target).query(centre, k)[1].reshape(len(centre), k)
    wide = np.maximum(mine.diameter[:, None], theirs.diameter[near])
    their_normal = facet_normals(theirs, other.dimension)[near]
    cosine = np.einsum("fd,fkd->fk", facet_normals(mine, mesh.dimension), their_normal)
    apart = target[near] - centre[:, None]
    gap = np.abs(np.einsum("fkd,fkd->fk", apart, their_normal))
    close = (gap <= 0.5 * wide) & (np.linalg.norm(apart, axis=2) <= wide)
    # facets that face each other; a shell has no outside, there any parallel ones do
    for facing in (cosine < -0.7, np.abs(cosine) > 0.7):
        kept = (close & facing).any(axis=1)
        if kept.any():
            return mine.taken(kept)
    return mine


def _boundary(mesh: Mesh, known: Surface | None) -> Surface:
    return boundary_surface(mesh) if known is None or mesh.dimension < 3 else known


def facet_normals(surface: Surface, dimension: int) -> Points:
    """(nfacets, 3) unit normals of faces, or of edges within the plane of a 2D mesh."""
    if dimension == 3 or surface.corners.shape[1] > 2:
        return surface.normal
    along = surface.corners[:, 1] - surface.corners[:, 0]
    normal = np.stack([along[:, 1], -along[:, 0], np.zeros(len(along))], axis=1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    return np.where(np.einsum("fd,fd->f", normal, surface.outward)[:, None] < 0, -normal, normal)


def mean_normal(surface: Surface, dimension: int) -> Points | None:
    """The direction an interface faces, None where it faces all ways (a closed surface)."""
    if len(surface.cell) == 0:
        return None
    mean = facet_normals(surface, dimension).mean(axis=0)
    return mean if np.linalg.norm(mean) > 0.3 else None


#: Facets so many diameters apart are no neighbours; and from which share of such that are next to one another in the
#: plane it is said that an interface lies over itself.
_APART, _LAYERED = 2.0, 0.1


@dataclass(frozen=True)
class Chart:
    """How points of an interface are laid flat; the same for both sides.

    An interface that faces one way is seen along its mean normal; one that
    closes on itself is unrolled round its axis.
    """

    origin: Points
    right: Points
    up: Points
    around: Points | None
    """Axis of a closed interface."""
    radius: float = 1.0
    stretch: tuple[float, float] = (1.0, 1.0)
    """Of width and height, where the interface is very long."""
    layered: bool = False
    """Whether parts of the interface lie over one another, as turns of a spiral do."""

    @classmethod
    def of(cls, surface: Surface, dimension: int) -> Chart:
        """The chart of an interface."""
        chart = cls._plain(surface, dimension)
        wide, high = factors(np.ptp(chart.flat(surface), axis=(0, 1))).tolist()
        return replace(chart, stretch=(wide, high), layered=chart._is_layered(surface))

    @property
    def how(self) -> str:
        """How it is laid flat, in words."""
        return ("face-on" if self.around is None else "unrolled") + told(np.array(self.stretch), ("width", "height")) \
            + ("; parts of it lie over one another" if self.layered else "")

    def _is_layered(self, surface: Surface) -> bool:
        """Whether many facets are next to one in the plane that is far from them in space."""
        from scipy.spatial import cKDTree

        if len(surface.cell) < 2:
            return False
        place = self.flat(surface).mean(axis=1)
        first, second = cKDTree(place).query(place, 2)[1].T
        near = np.where(second == np.arange(len(place)), first, second)  # of two at one place either may come first
        wide = np.maximum(surface.diameter, surface.diameter[near])
        apart = np.linalg.norm(surface.centre - surface.centre[near], axis=1)
        return bool((apart > _APART * wide).mean() > _LAYERED)

    @classmethod
    def _plain(cls, surface: Surface, dimension: int) -> Chart:
        """Without stretching."""
        centre = surface.centre.mean(axis=0)
        normal = mean_normal(surface, dimension)
        if normal is None:
            # the normals of a tube have no part along its axis
            normals = facet_normals(surface, dimension)
            axis = np.linalg.eigh(normals.T @ normals)[1][:, 0]
            axis *= np.sign(axis[np.argmax(np.abs(axis))])
            first = np.eye(3)[np.argmin(np.abs(axis))]
            right = np.cross(axis, first)
            right /= np.linalg.norm(right)
            reach = surface.centre - centre
            radius = float(np.linalg.norm(reach - np.outer(reach @ axis, axis), axis=1).mean())
            return cls(centre, right, np.cross(axis, right), axis, radius)
        normal = normal / np.linalg.norm(normal)
        pole = np.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
        right = np.cross(pole, normal)
        right /= np.linalg.norm(right)
        return cls(centre, right, np.cross(normal, right), None)

    def flat(self, surface: Surface) -> Points:
        """(nfacets, width, 2) the corners in the plane; a facet across the seam stays whole."""
        return self.flat_points(surface.corners, surface.centre)

    def flat_points(self, points: Points, near: Points) -> Points:
        """(n, k, 2) points (n, k, 3) in the plane; those of a row stay together, on the side of the seam of `near`."""
        x = points - self.origin
        if self.around is None:
            return np.stack([x @ self.right, x @ self.up], axis=-1) * self.stretch
        middle = near - self.origin
        base = np.arctan2(middle @ self.up, middle @ self.right)
        angle = np.arctan2(x @ self.up, x @ self.right)
        angle = base[:, None] + (angle - base[:, None] + np.pi) % (2 * np.pi) - np.pi
        return np.stack([self.radius * angle, x @ self.around], axis=-1) * self.stretch


@dataclass(frozen=True)
class Line:
    """A one-dimensional interface laid straight by its arc length, piece after piece."""

    centre: Points
    middle: Points
    """(nfacets,) arc length at the middle of each facet of A."""
    length: float

    @classmethod
    def of(cls, surface: Surface) -> Line:
        """Walk along the edges of A's side, each connected piece from one of its ends."""
        ends = surface.corners
        size = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        step = float(size.max()) * 1e-6 or 1.0
        _, point = np.unique(np.round(ends.reshape(-1, 3) / step), axis=0, return_inverse=True)
        point = point.reshape(-1, 2)
        at: dict[int, list[int]] = {}
        for f, (p, q) in enumerate(point.tolist()):
            at.setdefault(p, []).append(f)
            at.setdefault(q, []).append(f)
        loose = [f for f, (p, q) in enumerate(point.tolist()) if len(at[p]) == 1 or len(at[q]) == 1]
        middle, reached = np.full(len(size), -1.0), 0.0
        for start in [*loose, *range(len(size))]:
            if middle[start] >= 0:
                continue
            f, here = start, int(point[start, 0] if len(at[int(point[start, 0])]) == 1 else point[start, 1])
            while True:
                middle[f] = reached + size[f] / 2
                reached += float(size[f])
                here = int(point[f].sum() - here)
                ahead = [g for g in at[here] if middle[g] < 0]
                if not ahead:
                    break
                f = ahead[0]
        return cls(surface.centre, middle, reached)

    def place(self, surface: Surface) -> tuple[Points, Points]:
        """Arc length at the middle, and half the length, of facets of either side."""
        from scipy.spatial import cKDTree

        ends = surface.corners
        half = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / 2
        near = min(2, len(self.centre))
        index = cKDTree(self.centre).query(surface.centre, near)[1].reshape(len(half), near)
        first, second = index[:, 0], index[:, -1]
        step, arc = self.centre[second] - self.centre[first], self.middle[second] - self.middle[first]
        square = np.einsum("fd,fd->f", step, step)
        share = np.einsum("fd,fd->f", surface.centre - self.centre[first], step) / np.maximum(square, 1e-300)
        # along to the neighbour; not where the line ends and begins again
        share[np.abs(arc) > 2 * np.sqrt(square)] = 0
        return self.middle[first] + np.clip(share, -0.5, 1) * arc, half


__all__ = ["Chart", "Line", "camera", "facet_normals", "interface", "mean_normal", "upright_axes"]
