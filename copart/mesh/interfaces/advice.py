"""What to say when two meshes do not meet."""

from __future__ import annotations

import math
import shlex

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ..transform import likely_factors
from ..value import Mesh
from .detection import box_text
from .matching import Match, Reach, match
from .offers import offers

WIDEST = 5
"""A gap of so many small facets may be meant; with wider ones, very many facets are compared."""


def nothing_found(mesh_a: Mesh, mesh_b: Mesh, kind: str, reach: Reach, unscaled: bool) -> str:
    """How far apart the meshes are, and what to do.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
    kind : str
    reach : Reach
    unscaled : bool
        The unit of B has not been changed yet: try whether another one helps.
    """
    from scipy.spatial import cKDTree

    used = [_points(mesh) for mesh in (mesh_a, mesh_b)]
    box = np.maximum(0, np.maximum(mesh_a.bounds[0] - mesh_b.bounds[1], mesh_b.bounds[0] - mesh_a.bounds[1]))
    nearest = float(cKDTree(used[0]).query(used[1])[0].min())
    sizes = [float(np.linalg.norm(p.max(axis=0) - p.min(axis=0))) for p in used]
    where = " and ".join(f"{_called(m)} spans {box_text(np.stack([p.min(axis=0), p.max(axis=0)]))}"
                         for m, p in zip((mesh_a, mesh_b), used, strict=True))
    hint = _unit(mesh_a, mesh_b) if unscaled else None
    advice = _wider(mesh_a, mesh_b, kind, reach, nearest if hint is None else 0.0)
    advice += _other_kinds(mesh_a, mesh_b, kind, apart=bool(box.any()))
    ratio = max(sizes) / min(sizes) if min(sizes) > 0 else math.inf
    if hint is not None:
        advice.insert(0, hint)
    elif ratio > 50:
        advice.insert(0, f"check the units, one mesh is {ratio:.3g} times the other")
    elif nearest > 0.1 * min(sizes) or not advice:
        advice.insert(0, "move or scale one mesh (--shift, --scale)")
    if any(m.interface for m in (mesh_a, mesh_b)):
        advice.append("leave out the names of the boundaries to see where the meshes meet")
    return (f"interedges: no cells meet (kind {kind}); bounding boxes are {float(np.linalg.norm(box)):.3g} apart, "
            f"the nearest points {nearest:.3g}; {where}; {', or '.join(advice)}")


def _wider(mesh_a: Mesh, mesh_b: Mesh, kind: str, reach: Reach, nearest: float) -> list[str]:
    """To allow a larger gap, and one that is enough where there is; nothing where no gap would help."""
    flat = [(m.bounds[0] == m.bounds[1], m.bounds[0]) for m in (mesh_a, mesh_b)]
    if kind == "overlap":
        # volumes, and surfaces in one plane, need no tolerance: they share something or not
        one_plane = (flat[0][0] & flat[1][0] & (flat[0][1] == flat[1][1])).any()
        return [] if one_plane or max(mesh_a.dimension, mesh_b.dimension) == 3 else [f"raise {reach}"]
    return [f"raise {reach}" + _enough(mesh_a, mesh_b, nearest)]


def _enough(mesh_a: Mesh, mesh_b: Mesh, nearest: float) -> str:
    """A gap with which facets match, in words; nothing where there is none, or one so wide that pairs are many."""
    try:
        small = min(float(np.quantile(s.diameter, 0.1)) for o in offers(mesh_a, mesh_b) for s in (o.a, o.b))
    except (MeshError, ValueError, IndexError):
        return ""
    if not 0 < nearest <= WIDEST * small:
        return ""
    # rounded to three digits; one unit more where what was rounded off is needed
    unit = 10.0 ** (math.floor(math.log10(nearest)) - 2)
    least = math.ceil(nearest / unit * (1 - 1e-9))
    for enough in (float(f"{digits * unit:.3g}") for digits in (least, least + 1)):
        count = _facing(mesh_a, mesh_b, Reach(0.1, enough))
        if count:
            return f", as with --gap {enough:g} {count} facets of {mesh_b.name!r} match"
    return ""


def _other_kinds(mesh_a: Mesh, mesh_b: Mesh, kind: str, apart: bool) -> list[str]:
    """Other kinds of interedges by which the meshes may meet; those of `touch` and `overlap` do not over a gap."""
    if kind != "facet" and _facing(mesh_a, mesh_b, Reach(0.1)):
        return ["try --interedges facet"]
    if apart or kind == "touch":
        return []
    return ["try --interedges touch" + (", or overlap where one mesh covers the other" if kind == "facet" else "")]


def _facing(mesh_a: Mesh, mesh_b: Mesh, reach: Reach) -> int:
    """How many facets of B match within some reach, if any two face one another."""
    try:
        for offer in offers(mesh_a, mesh_b):
            found = match(offer, reach, np.zeros((1, 3)))
            facing = np.einsum("pd,pd->p", offer.a.outside[found.i], offer.b.outside[found.j])
            if (facing <= 0).any():
                return len(np.unique(found.j))
    except MeshError:
        # meshes without surfaces to compare
        return 0
    return 0


def same_way(found: Match, mesh_a: Mesh, mesh_b: Mesh) -> str:
    """Facets match, but the two bodies are on the same side of them."""
    count = len(np.unique(found.i)), len(np.unique(found.j))
    hint = _unit(mesh_a, mesh_b)
    return (f"interface: {count[0]} facets of {mesh_a.name!r} match {count[1]} of {mesh_b.name!r}, but face the same "
            f"way, so the bodies overlap there; {hint or 'check unit and place'}, or use --interedges overlap for "
            f"meshes that cover one another, or name the boundary (FILE:GROUP) if it is meant")


def _unit(mesh_a: Mesh, mesh_b: Mesh) -> str | None:
    """Another unit for B with which the facets do match, in words; None for meshes of about the same size."""
    sizes = sorted(float(np.linalg.norm(m.bounds[1] - m.bounds[0])) for m in (mesh_a, mesh_b))
    if sizes[1] <= 5 * sizes[0]:
        return None
    for factor in likely_factors(mesh_a.bounds, mesh_b.bounds):
        count = _facing(mesh_a, mesh_b.scaled(factor), Reach(0.1))
        if count:
            option = f"--scale {shlex.quote(f'{mesh_b.name}={factor:g}')}"
            return (f"check the units: with {mesh_b.name!r} times {factor:g} ({option}) {count} of its facets match")
    return None


def _points(mesh: Mesh) -> NDArray[np.float64]:
    """The points that a mesh offers for coupling."""
    from .touching import interface_points

    on = interface_points(mesh)
    return mesh.points[np.unique(mesh.corners[1])] if on is None else mesh.points[on]


def _called(mesh: Mesh) -> str:
    return repr(mesh.name) if mesh.interface is None else f"{mesh.boundary!r} of {mesh.name!r}"
