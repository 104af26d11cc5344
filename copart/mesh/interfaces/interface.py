"""Interedges from geometry: which cells of two meshes exchange data.

Three relations.  ``facet``: boundary facets of A and B that lie on one another,
weighted by the overlap.  ``touch``: cells that share at least a point, be it
that surfaces touch or volumes overlap (the relation of Predari & Esnard 2014).
``overlap``: cells that cover the same space, weighted by what they share.
None needs matching meshes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import fraction
from ...coupling import Interedges
from ...errors import ConfigError, MeshError, NoInterfaceError
from ...names import InteredgeKind, known_name
from ...parallel import side_by_side
from ..transform import Transform
from ..value import Mesh
from .advice import nothing_found, same_way
from .detection import Interface, Side, describe
from .matching import Match, Reach, match
from .offers import Offer, offers, onto_plane, plane_of, sizes
from .overlapping import Cover, overlapping_cells
from .patches import pieces, refuse_several
from .surface import cell_surface
from .touching import Heights, touching_cells

TOLERANCE = {"facet": 0.1, "touch": 1e-3, "overlap": 0.1}
"""Where no tolerance is given.

Facets of two meshes of one curved wall are chords of different lengths: with n
facets round a circle they are up to pi / (4 n) of a facet apart, 0.1 for n = 8.
"""
SHELL = 0.01
"""A flat mesh that covers less than this fraction of itself on a volume is no shell on it: it meets it along edges."""
_ROUNDING = 1e-9


def find_interedges(mesh_a: Mesh, mesh_b: Mesh, kind: InteredgeKind = "facet", tolerance: float | None = None,
                    gap: float | None = None) -> Interedges:
    """Find the pairs of cells of A and B that meet, on however many surfaces.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
        In one coordinate system and unit.  Of a mesh with a named `interface` only that counts.
    kind : {"facet", "touch", "overlap"}
        ``facet``: boundary facets that overlap, weighted by the area (3D meshes) or
        length (2D meshes) of the overlap, summed for each pair of cells.  Facets overlap when they are at most
        45 degrees from parallel and their gap is within the tolerance.  Facets that face the
        same way count only where no two face one another.  Where one mesh has a dimension more,
        the cells of the other (a shell) are the facets; a flat mesh that is no shell on
        a volume meets it along edges, seen along the normal of the plane, and the weight is the length
        times the share of the thickness.
        ``touch``: the convex hulls of the cells' corners share at least a point, for a flat mesh beside
        an extruded one as seen along the normal; weight 1.
        ``overlap``: the cells share volume (of a surface inside a volume: area), which is the weight.
    tolerance : float, optional
        Largest gap between two cells that meet, as a fraction of their size.
        ``facet``: of the larger facet's diameter; 0.1 by default.
        ``touch``: of the shortest edge of either cell; 0.001 by default.  Without `tolerance` and `gap` cells may also
        be as far apart as their facets that match as for ``facet`` and face each other, be the walls curved or flat.
        ``overlap``: of the larger cell; 0.1 by default.  Only surfaces need it, volumes overlap or do not.
    gap : float, optional
        Largest gap in the unit of the coordinates, instead of `tolerance`.

    Returns
    -------
    Interedges
        Of shape (cells of A, cells of B).

    Raises
    ------
    MeshError
        The meshes do not meet; the message says how far apart they are.
    ConfigError
        An unknown kind or a tolerance below 0.

    Examples
    --------
    >>> from copart.mesh import cube
    >>> find_interedges(cube("hexa", 2), cube("hexa", 3, offset=(1, 0, 0)))
    Interedges(16 between 4 of 8 and 9 of 27 cells)
    """
    return find_interface(mesh_a, mesh_b, kind, tolerance=tolerance, gap=gap, several=kind != "overlap")[0]


def find_interface(mesh_a: Mesh, mesh_b: Mesh, kind: InteredgeKind = "facet", *, tolerance: float | None = None,
                   gap: float | None = None, transform: Transform | None = None, several: bool = False,
                   threads: int = 1) -> tuple[Interedges, Interface]:
    """Find the pairs of cells that meet, and say where that is.

    Parameters
    ----------
    mesh_a, mesh_b, kind, tolerance, gap
        As for :func:`find_interedges`; the gap is in the unit of A.
    transform : Transform, optional
        Where B is put first.
    several : bool
        Take all surfaces that match, whichever way they face.  Otherwise two or more of comparable size are
        refused, unless one of the meshes has a named interface.  Not with ``overlap``, which takes all cells.
    threads : int
        With 2 or more, both meshes are looked at at once; the result is the same.

    Returns
    -------
    Interedges
    Interface

    Raises
    ------
    MeshError, ConfigError
        As for :func:`find_interedges`; also where several surfaces match, with the names that tell them apart,
        and where the two bodies are on the same side of the facets that match.

    Examples
    --------
    >>> from copart.mesh import cube
    >>> _, found = find_interface(cube("hexa", 2, name="left"), cube("hexa", 3, offset=(1, 0, 0), name="right"))
    >>> print(found)
    left: 4 of 24 facets match, area 1, 9 points, 4 cells
    right: 9 of 54 facets match, area 1, 16 points, 9 cells
    common area 1, largest gap 0, 4 points shared
    """
    known_name("interedges", kind, TOLERANCE)
    if tolerance is not None and gap is not None:
        raise ConfigError("tolerance, gap: give one of the two, not both")
    if several and kind == "overlap":
        raise ConfigError("several: has no effect on interedges by overlap, which are between all cells; leave it out")
    reach = Reach(max(_ROUNDING, TOLERANCE[kind] if tolerance is None else fraction("tolerance", tolerance)),
                  None if gap is None else fraction("gap", gap))
    transform = transform or Transform()
    there = transform.apply(mesh_b)
    side_by_side([lambda: mesh_a.bounds, lambda: there.bounds], threads)  # kept with the meshes
    extent = max(float(np.linalg.norm(m.bounds[1] - m.bounds[0])) for m in (mesh_a, there))
    if reach.length is not None:
        # a gap of nothing still allows for rounding
        reach = reach._replace(length=max(reach.length, 1e-12 * extent))
    margin = reach.length if reach.length is not None else reach.fraction * extent
    offsets = transform.offsets(mesh_a.bounds, there.bounds, margin)
    remarks = transform.remarks(mesh_b.name)
    if kind == "overlap":
        found = _overlap(mesh_a, there, reach, offsets, remarks)
    elif kind == "touch":
        found = _touch(mesh_a, there, reach, tolerance is None and gap is None, offsets, remarks, several, threads)
    else:
        found = _facet(mesh_a, there, reach, offsets, remarks, several, threads)
    if found is None:
        raise NoInterfaceError(nothing_found(mesh_a, there, kind, reach, "scale" not in " ".join(remarks)))
    return found


Result = tuple[Interedges, Interface] | None


def _facet(mesh_a: Mesh, mesh_b: Mesh, reach: Reach, offsets: NDArray[np.float64], remarks: tuple[str, ...],
           several: bool, threads: int) -> Result:
    """Cells whose facets lie on one another."""
    found = best_match(mesh_a, mesh_b, reach, offsets, threads)
    if found is None:
        return None
    if found.same_way and not several and mesh_a.interface is None and mesh_b.interface is None:
        if _outline_only(found) and _beside_the_plane(mesh_a, mesh_b):
            return None
        raise MeshError(same_way(found, mesh_a, mesh_b))
    count = _pieces(found, mesh_a, mesh_b, several, len(offsets))
    pairs = Interedges.from_pairs(mesh_a.ncells, mesh_b.ncells, found.offer.a.cell[found.i],
                                  found.offer.b.cell[found.j], found.overlap)
    return pairs, describe("facet", found, mesh_a, mesh_b, remarks, count, offsets, pairs, threads)


def _touch(mesh_a: Mesh, mesh_b: Mesh, reach: Reach, default: bool, offsets: NDArray[np.float64],
           remarks: tuple[str, ...], several: bool, threads: int) -> Result:
    """Cells that share at least a point."""
    try:
        found = best_match(mesh_a, mesh_b, Reach(TOLERANCE["facet"], reach.length), offsets, threads)
    except MeshError:
        # closed surfaces, dimensions far apart: cells may touch all the same
        found = None
    if found is not None and _outline_only(found):
        # cells may touch inside the thick mesh, and not at its sides
        found = None
    a, b, heights = mesh_a, mesh_b, None
    count = 1
    if found is not None:
        count = _pieces(found, mesh_a, mesh_b, several, len(offsets))
        if found.offer.extruded and not found.same_way:
            a, b, heights = _in_one_plane(mesh_a, mesh_b)
    # bodies on the same side of what matches are not in contact there
    walls = found if default and heights is None and found is not None and not found.same_way else None
    if default and found is None and mesh_a.dimension == mesh_b.dimension == 2:
        # surfaces that cover one another: their cells are chords of one curved surface
        sheets = Offer(cell_surface(mesh_a), cell_surface(mesh_b), 2)
        walls = match(sheets, Reach(TOLERANCE["overlap"], reach.length), offsets, threads)
    i, j = touching_cells(a, b, reach, offsets, walls, heights or (None, None))
    if len(i) == 0:
        return None
    pairs = Interedges.from_pairs(mesh_a.ncells, mesh_b.ncells, i, j)
    if found is not None:
        return pairs, describe("touch", found, mesh_a, mesh_b, remarks, count, offsets, pairs, threads)
    sides = [Side(m.name, m.boundary, (), 0, 0, 0.0, 0, 0.0, len(coupled))
             for m, coupled in ((mesh_a, pairs.coupled_a), (mesh_b, pairs.coupled_b))]
    return pairs, Interface("touch", "points", sides[0], sides[1], 0.0, 0.0, 0, 1, remarks)


def _overlap(mesh_a: Mesh, mesh_b: Mesh, reach: Reach, offsets: NDArray[np.float64], remarks: tuple[str, ...],
             ) -> Result:
    """Cells that cover the same space."""
    for mesh in (mesh_a, mesh_b):
        if mesh.interface is not None:
            raise MeshError(f"interedges: those of --interedges overlap are between whole cells, not at a boundary "
                            f"such as {mesh.offered[0]!r} of mesh {mesh.name!r}; name a region or none")
    cover = overlapping_cells(mesh_a, mesh_b, reach, offsets)
    if len(cover.a) == 0:
        return None
    pairs = Interedges.from_pairs(mesh_a.ncells, mesh_b.ncells, cover.a, cover.b, cover.size)
    total = float(cover.size.sum())
    low = min(mesh_a.dimension, mesh_b.dimension)
    sides = [_covered(mesh, cover, side, low) for side, mesh in enumerate((mesh_a, mesh_b))]
    measure = {1: "length", 2: "area", 3: "volume"}[low]
    return pairs, Interface("overlap", measure, sides[0], sides[1], total, 0.0, 0, 1, remarks)


def _covered(mesh: Mesh, cover: Cover, side: int, dimension: int) -> Side:
    """One mesh of an overlap: how many of its cells, and how much of them, the other covers.

    A volume that a surface or a line lies in has no area or length of its own: what it holds of the other counts.
    """
    cells, size = ((cover.a, cover.sizes_a), (cover.b, cover.sizes_b))[side]
    mine = np.unique(cells)
    flat = mesh.dimension == dimension
    total = float(size[mine].sum() if flat else cover.size.sum())
    unmatched = 0.0
    if flat and total > 0:
        inside = np.minimum(np.bincount(cells, cover.size, mesh.ncells)[mine], size[mine]).sum()
        unmatched = max(0.0, 1.0 - float(inside) / total)
    return Side(mesh.name, None, (), mesh.ncells, len(mine), total, 0, unmatched if unmatched > 1e-9 else 0.0,
                len(mine))


def best_match(mesh_a: Mesh, mesh_b: Mesh, reach: Reach, offsets: NDArray[np.float64],
               threads: int = 1) -> Match | None:
    """The facets that lie on one another, in the likeliest way to compare the two meshes; None where there are none."""
    best = None
    for offer in offers(mesh_a, mesh_b, threads):
        found = match(offer, reach, offsets, threads)
        if len(found.i) == 0:
            continue
        if offer.dimension == mesh_a.dimension - 1 == mesh_b.dimension - 1:
            return found
        if offer.share_a is None and offer.share_b is None:
            # a shell, unless next to nothing of it is on the volume
            shell = offer.a if mesh_a.dimension < mesh_b.dimension else offer.b
            if found.overlap.sum() >= SHELL * sizes(shell, offer.dimension).sum():
                return found
        best = found
    return best


def _outline_only(found: Match) -> bool:
    """A flat mesh has the outline of a thick one, seen along its normal, as a shell over one end of a body has."""
    return found.same_way and (found.offer.share_a is not None or found.offer.share_b is not None)


def _beside_the_plane(mesh_a: Mesh, mesh_b: Mesh) -> bool:
    """Whether all of the thick one of two meshes is on one side of the plane of the flat one, and off it."""
    thin, thick = (mesh_a, mesh_b) if mesh_a.dimension == 2 else (mesh_b, mesh_a)
    normal = plane_of(thin)
    if normal is None:
        return False
    along = (thick.points[thick.corners[1]] - thin.points[thin.corners[1][0]]) @ normal
    return bool((along > 0).all() or (along < 0).all())


def _pieces(found: Match, mesh_a: Mesh, mesh_b: Mesh, several: bool, ncopies: int) -> int:
    """How many surfaces match; several are refused where nobody said which."""
    surfaces = pieces(found)
    if not several and ncopies == 1 and mesh_a.interface is None and mesh_b.interface is None:
        refuse_several(surfaces, found, mesh_a, mesh_b)
    return len(surfaces)


def _in_one_plane(mesh_a: Mesh, mesh_b: Mesh) -> tuple[Mesh, Mesh, Heights | None]:
    """Both meshes in the plane of the flat one, and how high their points were; None where neither is flat."""
    thin = mesh_a if mesh_a.dimension == 2 else mesh_b
    normal = plane_of(thin)
    if normal is None:
        return mesh_a, mesh_b, None
    height = float(thin.points[thin.corners[1][0]] @ normal)

    a, b = (m.replace(points=onto_plane(m.points, normal, height)) for m in (mesh_a, mesh_b))
    return a, b, (mesh_a.points @ normal, mesh_b.points @ normal)


__all__ = ["TOLERANCE", "best_match", "find_interedges", "find_interface"]
