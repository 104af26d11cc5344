"""What to say when two meshes do not meet."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ..transform import likely_factors
from ..value import Mesh
from .detection import box_text
from .matching import Match, Reach, match
from .offers import offers


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
    advice = [f"raise {reach}", f"try --interedges {'facet' if kind == 'touch' else 'touch'}"]
    if kind == "facet" and not box.any():
        advice[-1] += ", or overlap where one mesh covers the other"
    if kind == "overlap":
        # volumes need no tolerance, they share something or not
        advice = advice[1:] if max(mesh_a.dimension, mesh_b.dimension) == 3 else advice
    ratio = max(sizes) / min(sizes) if min(sizes) > 0 else math.inf
    hint = _unit(mesh_a, mesh_b) if unscaled else None
    if hint is not None:
        advice.insert(0, hint)
    elif ratio > 50:
        advice.insert(0, f"check the units, one mesh is {ratio:.3g} times the other")
    elif nearest > 0.1 * min(sizes):
        advice.insert(0, "move or scale one mesh (--shift, --scale)")
    if any(m.interface for m in (mesh_a, mesh_b)):
        advice.append("leave out the names of the boundaries to see where the meshes meet")
    return (f"interedges: no cells meet (kind {kind}); bounding boxes are {float(np.linalg.norm(box)):.3g} apart, "
            f"the nearest points {nearest:.3g}; {where}; {', or '.join(advice)}")


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
        scaled = mesh_b.scaled(factor)
        try:
            for offer in offers(mesh_a, scaled):
                found = match(offer, Reach(0.1), np.zeros((1, 3)))
                facing = np.einsum("pd,pd->p", offer.a.outside[found.i], offer.b.outside[found.j])
                if (facing <= 0).any():
                    option = f"--scale {mesh_b.name}={factor:g}"
                    return (f"check the units: with {mesh_b.name!r} times {factor:g} ({option}) "
                            f"{len(np.unique(found.j))} of its facets match")
        except MeshError:
            return None
    return None


def _points(mesh: Mesh) -> NDArray[np.float64]:
    """The points that a mesh offers for coupling."""
    from .touching import interface_points

    on = interface_points(mesh)
    return mesh.points[np.unique(mesh.corners[1])] if on is None else mesh.points[on]


def _called(mesh: Mesh) -> str:
    return repr(mesh.name) if mesh.interface is None else f"{mesh.boundary!r} of {mesh.name!r}"
