"""Whether two meshes meet at one surface or at several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, frozen
from ...errors import MeshError
from ..value import Mesh
from .detection import UNIT, box_text, distinct, groups_at
from .matching import Match

COMPARABLE = 0.1
"""A second surface with less than this fraction of the largest one is no candidate of its own."""


class Piece(NamedTuple):
    """One surface among those that match."""

    overlap: float
    facets_a: NDArray[np.int64]
    facets_b: NDArray[np.int64]
    bounds: NDArray[np.float64]
    """(2, 3) of the facets of A."""


def pieces(found: Match) -> list[Piece]:
    """The separate surfaces that match, the largest first.

    Facets belong together when they lie on one another, have a point in common, or
    only one facet without a counterpart is between them.
    """
    a, i = np.unique(found.i, return_inverse=True)
    b, j = np.unique(found.j, return_inverse=True)
    na, nb = len(a), len(b)
    if na == 0:
        return []
    links = [(i, na + j)]
    first = na + nb
    for facets, surface, base in ((a, found.offer.a, 0), (b, found.offer.b, na)):
        corners = surface.corners[facets]
        place, point = distinct(corners.reshape(-1, 3))
        links.append((base + np.repeat(np.arange(len(facets)), corners.shape[1]), first + point))
        first += len(place)
    u, v = (np.concatenate(x) for x in zip(*links, strict=True))
    label = _joined(u, v, first)
    label_a, label_b = label[:na], label[na:na + nb]
    if label_a.max() > 0:
        label_a, label_b = _bridged(found, a, b, label_a, label_b)
    out = []
    for which in np.unique(label_a):
        mine = a[label_a == which]
        surface = found.offer.a.taken(mine)
        bounds = np.stack([surface.low.min(axis=0), surface.high.max(axis=0)])
        out.append(Piece(float(found.overlap[label_a[i] == which].sum()), mine, b[label_b == which], bounds))
    return sorted(out, key=lambda p: -p.overlap)


def _joined(u: NDArray[np.int64], v: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """(n,) numbers of the connected pieces that links of u and v make.

    scipy.sparse.csgraph knows them, too, but to import it takes a tenth of the time of a small plan.
    """
    from ...kernels.csr import part_pieces

    # each link once, with the larger of its ends
    high, low = np.maximum(u, v), np.minimum(u, v).astype(VERTEX)
    xadj = np.concatenate([[0], np.cumsum(np.bincount(high, minlength=n))])
    label = np.empty(n, VERTEX)
    part_pieces(frozen(xadj), frozen(low[np.argsort(high, kind="stable")]), frozen(np.zeros(n, VERTEX)), label,
                np.empty(n, VERTEX))
    return label


def refuse_several(found: list[Piece], match: Match, mesh_a: Mesh, mesh_b: Mesh) -> None:
    """Refuse to choose between surfaces of comparable size.

    Raises
    ------
    MeshError
        There are several; the message says where they are and how to name one.
    """
    rivals = [p for p in found if p.overlap >= COMPARABLE * found[0].overlap]
    if len(rivals) < 2:
        return
    unit = UNIT[match.offer.dimension]
    said = []
    for number, piece in enumerate(rivals[:6], 1):
        text = f"({number}) {unit} {piece.overlap:.4g} in {box_text(piece.bounds)}"
        for mesh, surface, facets in ((mesh_a, match.offer.a, piece.facets_a), (mesh_b, match.offer.b, piece.facets_b)):
            names = groups_at(mesh, surface, facets)
            text += f", {len(facets)} facets of {mesh.name!r}" + (f" on {', '.join(names[:3])}" if names else "")
        said.append(text)
    more = f"; and {len(rivals) - 6} more" if len(rivals) > 6 else ""
    raise MeshError(f"interface: {len(rivals)} separate surfaces of {mesh_a.name!r} and {mesh_b.name!r} match, and "
                    f"it is not clear which is meant: {'; '.join(said)}{more}; name one (FILE:GROUP, {_names(mesh_a)}, "
                    f"{_names(mesh_b)}), or couple all of them (--several, several=True)")


def _names(mesh: Mesh) -> str:
    """The groups of a mesh that can be named."""
    known = [*mesh.facet_groups, *(n for n in mesh.point_groups if n not in mesh.facet_groups)]
    some = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    return f"{mesh.name!r} has {some}" if known else f"{mesh.name!r} has no named groups"


def _bridged(found: Match, a: NDArray[np.int64], b: NDArray[np.int64], label_a: NDArray[np.int32],
             label_b: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Labels after pieces with a facet between them have been joined: one that has no counterpart, but touches both."""
    rows, columns = [], []
    npieces = int(max(label_a.max(), label_b.max())) + 1
    first = npieces
    for facets, surface, label in ((a, found.offer.a, label_a), (b, found.offer.b, label_b)):
        place, point = distinct(surface.corners.reshape(-1, 3))
        point = point.reshape(surface.corners.shape[:2])
        piece_of = np.full(len(place), -1)
        piece_of[point[facets]] = label[:, None]
        alone = np.ones(len(point), bool)
        alone[facets] = False
        between, corner = np.nonzero((piece_of[point] >= 0) & alone[:, None])
        rows.append(first + between)
        columns.append(piece_of[point[between, corner]])
        first += len(point)
    u, v = np.concatenate(rows), np.concatenate(columns)
    joined = _joined(u, v, first)
    return joined[label_a], joined[label_b]


__all__ = ["COMPARABLE", "Piece", "pieces", "refuse_several"]
