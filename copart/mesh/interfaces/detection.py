"""What was found where two meshes meet: sizes, counts, gaps, names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...coupling import Interedges
from ...parallel import side_by_side
from ..search import overlapping_pairs
from ..value import Mesh
from .matching import Match
from .offers import sizes
from .surface import Surface

_SAME = 1e-6
"""Points nearer than this fraction of a facet are the same."""
UNIT = {0: "points", 1: "length", 2: "area", 3: "volume"}


@dataclass(frozen=True)
class Side:
    """One mesh at the interface.

    Attributes
    ----------
    name : str
        Of the mesh.
    group : str or None
        The facet or point group that was named; several with commas between.
    groups : tuple of str
        Groups of the mesh that hold facets which match, the one with the most first.
    offered, matched : int
        Facets looked at (all of the boundary, or those of the group), and those with a counterpart.
    size : float
        Area or length of the facets that match, in the unit of the coordinates of A.  With ``overlap`` that of the
        cells; of a mesh of larger dimension than the other what its cells hold of the other.
    points : int
        Points of the facets that match.
    unmatched : float
        Share of the named group, or else of the facets that match, over which the other side has nothing.
    cells : int
        Cells with interedges.
    """

    name: str
    group: str | None
    groups: tuple[str, ...]
    offered: int
    matched: int
    size: float
    points: int
    unmatched: float
    cells: int


@dataclass(frozen=True)
class Interface:
    """Where two meshes meet.

    Attributes
    ----------
    kind : str
        ``facet``, ``touch`` or ``overlap``.
    measure : str
        What sizes are: ``area``, ``length``, ``points`` or ``volume``.
    a, b : Side
    overlap : float
        Size of what the two have in common.
    gap : float
        Largest distance of two facets that match.
    shared_points : int
        Points of matching facets that both meshes have; all of them where the meshes conform.
    pieces : int
        Separate surfaces.
    remarks : tuple of str
        What was done to make them meet: flattening, moving, scaling, copies.
    """

    kind: str
    measure: str
    a: Side
    b: Side
    overlap: float
    gap: float
    shared_points: int
    pieces: int = 1
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        out = asdict(self)
        out["remarks"] = list(self.remarks)
        for side in ("a", "b"):
            out[side]["groups"] = list(out[side]["groups"])
        return out

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Interface | None:
        """From what :meth:`to_dict` made; None where that is something else."""
        try:
            sides = {side: Side(**{**told[side], "groups": tuple(told[side]["groups"])}) for side in ("a", "b")}
            out = cls(**{**told, **sides, "remarks": tuple(told["remarks"])})
            return out if all(isinstance(line, str) for line in out.lines()) else None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return None

    def lines(self) -> list[str]:
        """The same in words, a line each."""
        from ...metrics.columns import plural

        thing = "cell" if self.measure == "volume" or self.kind == "overlap" else \
            {"area": "facet", "length": "edge", "points": "end"}[self.measure]
        out = []
        for side in (self.a, self.b):
            where = f"{side.name} at {side.group}" if side.group else side.name
            if side.offered == 0:
                out.append(f"{where}: {side.cells} {plural(side.cells, 'cell')} touch")
                continue
            count = plural(side.offered, thing)
            text = f"{where}: {side.matched} of {side.offered} {count} {'matches' if side.offered == 1 else 'match'}"
            if self.measure != "points":
                text += f", {self.measure} {side.size:.6g}"
            if self.kind != "overlap":
                text += f", {side.points} {plural(side.points, 'point')}, {side.cells} {plural(side.cells, 'cell')}"
            if side.unmatched >= 0.005:
                text += f", {side.unmatched:.1%} without counterpart"
            others = [g for g in side.groups if g != side.group]
            if others and side.group is None:
                text += f"; on {', '.join(others[:4])}" + (", ..." if len(others) > 4 else "")
            out.append(text)
        common = [] if self.measure == "points" else [f"common {self.measure} {self.overlap:.6g}"]
        if self.kind != "overlap" and self.a.offered:
            shared = f"{self.shared_points} {plural(self.shared_points, 'point')} shared"
            common += [f"largest gap {self.gap:.3g}", shared]
        if self.pieces > 1:
            common.append(f"{self.pieces} separate pieces")
        return [*out, *([", ".join(common)] if common else []), *self.remarks]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def describe(kind: str, found: Match, mesh_a: Mesh, mesh_b: Mesh, remarks: tuple[str, ...],
             npieces: int, offsets: NDArray[np.float64], pairs: Interedges, threads: int = 1) -> Interface:
    """The interface that a match amounts to."""
    offer = found.offer
    looked_at = side_by_side([
        partial(_side, found, mesh_a, offer.a, found.i, offer.share_a, found.both[0], len(pairs.coupled_a)),
        partial(_side, found, mesh_b, offer.b, found.j, offer.share_b, found.both[1], len(pairs.coupled_b)),
    ], threads)
    sides, covered, nodes, smallest = zip(*looked_at, strict=True)
    total = min(float(found.overlap.sum()), *covered)
    # of points, as those of flat meshes are, no facet is smallest
    facet = min(smallest) if np.isfinite(min(smallest)) else 0.0
    shared = _shared(nodes[0], nodes[1], facet, offsets)
    gap = float(found.gap.max(initial=0.0))
    # rounding of coordinates is no gap
    extent = float(np.linalg.norm(mesh_a.bounds[1] - mesh_a.bounds[0]))
    said = [offer.remark] if offer.remark else []
    said += [f"{mesh.name!r} has the other mesh on both sides, and each counts"
             for mesh, both in zip((mesh_a, mesh_b), found.both, strict=True) if both.any()]
    if found.same_way:
        said.append("the facets that match face the same way: the bodies overlap there")
    return Interface(kind, UNIT[offer.dimension], sides[0], sides[1], total, gap if gap > 1e-12 * extent else 0.0,
                     shared, npieces, (*said, *remarks))


def _side(found: Match, mesh: Mesh, surface: Surface, index: NDArray[np.int64], share: NDArray[np.float64] | None,
          both: NDArray[np.bool_], ncoupled: int) -> tuple[Side, float, NDArray[np.float64], float]:
    """What one mesh has of a match, how much of it is covered, its distinct points, and its smallest facet (infinite
    where there is none, or where they are points).
    """
    dimension = found.offer.dimension
    mine, at = np.unique(index, return_inverse=True)

    def measured(facets: NDArray[np.int64] | slice) -> NDArray[np.float64]:
        some = surface.taken(facets)
        size = sizes(some, dimension) * (1.0 if share is None else share[facets])
        return np.asarray(size * (1 + both[facets]))

    size = measured(mine)
    matched = float(size.sum())
    reference = float(measured(slice(None)).sum()) if mesh.interface is not None else matched
    # what lies over a facet may lie twice over it where surfaces are curved
    covered = float(np.minimum(np.bincount(at, found.overlap, len(mine)), size).sum())
    unmatched = 0.0 if reference == 0 else max(0.0, 1.0 - covered / reference)
    nodes = _corners(surface, mine)
    side = Side(mesh.name, mesh.boundary, tuple(groups_at(mesh, surface, mine)), len(surface.cell), len(mine),
                matched, len(nodes), unmatched if unmatched > 1e-9 else 0.0, ncoupled)
    smallest = float(surface.diameter[mine].min()) if len(mine) and dimension > 0 else np.inf
    return side, covered, nodes, smallest


def groups_at(mesh: Mesh, surface: Surface, facets: NDArray[np.int64]) -> list[str]:
    """Facet and point groups that hold at least a twentieth of some facets, the one with the most first."""
    if len(facets) == 0 or not (mesh.facet_groups or mesh.point_groups):
        return []
    from scipy.spatial import cKDTree

    corners, inside = surface.corners[facets], np.arange(surface.corners.shape[1]) < surface.size[facets][:, None]
    centre = np.einsum("fcd,fc->fd", corners, inside.astype(float)) / surface.size[facets][:, None]
    # facets of one mesh: those that are the same have the same points, up to rounding
    near = 1e-9 * float(np.linalg.norm(mesh.bounds[1] - mesh.bounds[0]))
    tree, points = cKDTree(centre), cKDTree(corners.reshape(-1, 3))
    count: dict[str, int] = {}
    for name, rows in mesh.facet_groups.items():
        if len(rows) == 0:
            continue
        valid = (rows >= 0)[:, :, None]
        middle = (mesh.points[rows] * valid).sum(axis=1) / valid.sum(axis=1)
        count[name] = int(np.isfinite(tree.query(middle, distance_upper_bound=near)[0]).sum())
    for name, nodes in mesh.point_groups.items():
        if len(nodes) == mesh.npoints:
            # all nodes tell nothing
            continue
        on = np.zeros(corners.shape[0] * corners.shape[1], bool)
        for hits in points.query_ball_point(mesh.points[nodes], near):
            on[hits] = True
        count.setdefault(name, int((on.reshape(inside.shape) | ~inside).all(axis=1).sum()))
    return sorted((n for n in count if count[n] >= 0.05 * len(facets)), key=lambda n: -count[n])


def box_text(bounds: NDArray[np.float64]) -> str:
    """A bounding box in words."""
    return " x ".join(f"[{lo:.4g}, {hi:.4g}]" for lo, hi in bounds.T)


def _corners(surface: Surface, facets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The distinct points of some facets."""
    points = surface.corners[facets].reshape(-1, 3)
    return points[distinct(points)[0]]


def distinct(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each distinct point (all digits the same) comes first, and its number at every point."""
    # sorting one 64-bit mix of the digits is ten times as fast as sorting rows; + 0.0 for the sign of zero
    bits = np.ascontiguousarray(points + 0.0).view(np.uint64)
    mixed = np.zeros(len(points), np.uint64)
    for axis in range(3):
        mixed = (mixed ^ bits[:, axis]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    _, first, number = np.unique(mixed, return_index=True, return_inverse=True)
    return first, number.reshape(-1)


def _shared(a: NDArray[np.float64], b: NDArray[np.float64], facet: float, offsets: NDArray[np.float64]) -> int:
    """How many points of A, up to rounding, are points of B or its copies."""
    if len(a) == 0 or len(b) == 0:
        return 0
    there = np.concatenate([b + offset for offset in offsets])
    reach = _SAME * facet if facet > 0 else 1e-12 * max(1.0, float(np.abs(a).max()))
    i, j = overlapping_pairs(a - reach, a + reach, there, there)
    return len(np.unique(i[np.linalg.norm(a[i] - there[j], axis=1) < reach]))


__all__ = ["UNIT", "Interface", "Side", "box_text", "describe", "distinct", "groups_at"]
