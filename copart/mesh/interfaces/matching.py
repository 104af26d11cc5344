"""Facets of two meshes that lie on one another, of those that they offer (:mod:`.offers`)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX
from ...parallel import side_by_side
from ...partitioner.rounds import Team
from ..polyhedra import spans
from ..search import overlapping_pairs
from .concave import in_pieces
from .offers import MIN_COSINE, Offer
from .surface import Surface


class Reach(NamedTuple):
    """How far apart two things may be."""

    fraction: float
    """Of their size, where there is no `length`."""
    length: float | None = None
    """In the unit of the coordinates."""

    def of(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest gap of each thing, (n,) float64."""
        return np.full(len(sizes), self.length) if self.length is not None else np.asarray(self.fraction * sizes)

    def __str__(self) -> str:
        return f"tolerance ({self.fraction:g} now)" if self.length is None else f"gap ({self.length:g} now)"


class Match(NamedTuple):
    """Pairs of facets that lie on one another."""

    offer: Offer
    i: NDArray[np.int64]
    """(npairs,) facet of A, counted over all facets offered."""
    j: NDArray[np.int64]
    """(npairs,) facet of B."""
    overlap: NDArray[np.float64]
    """(npairs,) area, length, or 1 for points."""
    gap: NDArray[np.float64]
    """(npairs,) how far apart they are."""
    same_way: bool = False
    """No facet faces its counterpart: the two bodies are on the same side."""
    both: tuple[NDArray[np.bool_], NDArray[np.bool_]] = (np.zeros(0, bool), np.zeros(0, bool))
    """(nfacets,) each, of A and of B: whether a facet that is its cell, of a shell, has counterparts on both sides."""

    def taken(self, keep: NDArray[np.bool_]) -> Match:
        """The pairs where `keep` is true."""
        return self._replace(i=self.i[keep], j=self.j[keep], overlap=self.overlap[keep], gap=self.gap[keep])


def match(offer: Offer, reach: Reach, offsets: NDArray[np.float64], threads: int = 1) -> Match:
    """Pairs of facets of an offer that overlap.

    Parameters
    ----------
    offer : Offer
    reach : Reach
        As a fraction: of the larger facet's diameter; for points of the shortest cell.
    offsets : (ncopies, 3) float64
        Where the copies of B are; usually one row of zeros.
    threads : int
    """
    parts = [_one_copy(offer, reach, offset, threads) for offset in offsets]
    i, j, overlap, gap, facing, behind = (np.concatenate(x) for x in zip(*parts, strict=True))
    if behind.any():
        keep = ~(_through_contact(offer.a, i, gap, facing, behind, offer.dimension, threads)
                 | _through_contact(offer.b, j, gap, facing, behind, offer.dimension, threads))
        i, j, overlap, gap, facing = i[keep], j[keep], overlap[keep], gap[keep], facing[keep]
    for share, index in ((offer.share_a, i), (offer.share_b, j)):
        if share is not None:
            overlap *= share[index]
    # Two bodies in contact face one another.  Their facets that face the same way only graze: the end rings
    # of a pipe and of the fluid in it, the far side of a thin plate.  They count where no two face one another.
    found = Match(offer, i, j, overlap, gap, same_way=not facing.any())
    found = found if found.same_way else found.taken(facing)
    return found._replace(both=(_both_sides(offer.a, found.i, offer.b, found.j),
                                _both_sides(offer.b, found.j, offer.a, found.i)))


# ---- thin bodies
def _behind(a: Surface, b: Surface, i: NDArray[np.int64], j: NDArray[np.int64], out_a: NDArray[np.float64],
            out_b: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(npairs,) the facets face one another through both their cells, each behind the centre of the other's cell."""
    apart = b.centre[j] - a.centre[i]
    depth_a, depth_b = (np.einsum("pd,pd->p", apart, out) for out in (out_a, -out_b))
    high_a, high_b = (np.einsum("pd,pd->p", s.outward[k], out) for s, k, out in ((a, i, out_a), (b, j, out_b)))
    return np.asarray((depth_a < -high_a) & (depth_b < -high_b) & (high_a > 0) & (high_b > 0))


def _through_contact(surface: Surface, mine: NDArray[np.int64], gap: NDArray[np.float64], facing: NDArray[np.bool_],
                     behind: NDArray[np.bool_], dimension: int, threads: int) -> NDArray[np.bool_]:
    """(npairs,) the way from a facet to its counterpart leaves its own body through a facet in contact.

    Of two thin plates that lie on one another the far sides are within reach, too, through however many cells.
    Bodies that overlap a little are thicker than the overlap: their facets are not left out.
    """
    near = np.unique(mine[facing])
    # how far into the other body a facet is, at least; less than half a cell counts as nothing
    depth = np.full(len(surface.cell), np.inf)
    np.minimum.at(depth, mine[facing], np.where(behind, gap, 0.0)[facing])
    far, at = np.unique(mine[behind], return_inverse=True)
    reach = np.zeros(len(far))
    np.maximum.at(reach, at, gap[behind])
    a, b = surface.taken(far), surface.taken(near)
    i, j = overlapping_pairs(a.low - reach[:, None], a.high + reach[:, None], b.low, b.high)
    overlap, apart = _overlaps(a, b, i, j, reach, np.zeros(len(near)), dimension, threads)
    inside = np.einsum("pd,pd->p", b.centre[j] - a.centre[i], a.outside[i]) < 0
    opposed = np.einsum("pd,pd->p", a.outside[i], b.outside[j]) < 0
    hit = (overlap > 0) & inside & opposed & (depth[near[j]] < apart)
    thickness = np.full(len(far), np.inf)
    np.minimum.at(thickness, i[hit], apart[hit])
    out = np.zeros(len(mine), bool)
    out[behind] = thickness[at] < gap[behind]
    return out


def _both_sides(surface: Surface, mine: NDArray[np.int64], other: Surface,
                theirs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(nfacets,) which facets that are cells have counterparts on either side."""
    above, below = np.zeros((2, len(surface.cell)), bool)
    if not surface.outward.any() and surface.corners.shape[1] > 2:
        side = np.einsum("pd,pd->p", surface.normal[mine], other.outside[theirs])
        above[mine[side > 0]], below[mine[side < 0]] = True, True
    return np.asarray(above & below)


# ---- the search
Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_],
              NDArray[np.bool_]]


def _one_copy(offer: Offer, reach: Reach, offset: NDArray[np.float64], threads: int) -> Found:
    """Pairs of facets of A and of one copy of B, their overlap and gap, which face one another, and which do so
    through both their cells.
    """
    a, b = offer.a, offer.b
    if offset.any():
        b = replace(b, corners=b.corners + offset)
    size_a, size_b = side_by_side([partial(_scale, s, offer.dimension) for s in (a, b)], threads)
    reach_a, reach_b = reach.of(size_a), reach.of(size_b)
    largest = float(max(reach_a.max(initial=0), reach_b.max(initial=0)))
    near_a = _near(a, b, largest)
    a, reach_a = a.taken(near_a), reach_a[near_a]
    near_b = _near(b, a, largest)
    b, reach_b = b.taken(near_b), reach_b[near_b]
    i, j = overlapping_pairs(a.low - reach_a[:, None], a.high + reach_a[:, None],
                             b.low - reach_b[:, None], b.high + reach_b[:, None])
    overlap, gap = _overlaps(a, b, i, j, reach_a, reach_b, offer.dimension, threads)
    hit = overlap > 0
    at_a, at_b = i[hit].astype(np.int64), j[hit].astype(np.int64)
    out_a, out_b = a.outside[at_a], b.outside[at_b]
    facing = np.einsum("pd,pd->p", out_a, out_b) <= 0
    return (np.flatnonzero(near_a)[at_a], np.flatnonzero(near_b)[at_b], overlap[hit], gap[hit], facing,
            _behind(a, b, at_a, at_b, out_a, out_b))


def _scale(surface: Surface, dimension: int) -> NDArray[np.float64]:
    """What a tolerance is a fraction of: the diameter; for points the shortest way to a cell's centre, twice."""
    if dimension > 0:
        return surface.diameter
    return np.full(len(surface.cell), 2 * float(np.linalg.norm(surface.outward, axis=1).min(initial=np.inf)))


def _near(surface: Surface, other: Surface, reach: float) -> NDArray[np.bool_]:
    """Which facets are within `reach` of the bounding box of `other`."""
    if len(other.cell) == 0:
        return np.zeros(len(surface.cell), bool)
    low, high = other.low.min(axis=0) - 2 * reach, other.high.max(axis=0) + 2 * reach
    return np.asarray(((surface.high >= low) & (surface.low <= high)).all(axis=1))


def _overlaps(a: Surface, b: Surface, i: NDArray[np.int32], j: NDArray[np.int32], reach_a: NDArray[np.float64],
              reach_b: NDArray[np.float64], dimension: int, threads: int,
              ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Overlap and gap of each pair of facets."""
    if dimension == 0:
        gap = np.linalg.norm(a.corners[i, 0] - b.corners[j, 0], axis=1)
        return (gap <= np.maximum(reach_a[i], reach_b[j])).astype(float), gap
    if len(i) == 0:
        return np.zeros(0), np.zeros(0)
    if dimension == 2:
        a, face = in_pieces(a)
        if len(face) > len(reach_a):
            first, count = np.searchsorted(face, i), np.bincount(face)[i]
            pair = np.repeat(np.arange(len(i)), count)
            area, apart = _convex_overlaps(a, b, spans(first, count).astype(VERTEX), j[pair], reach_a[face], reach_b,
                                           dimension, threads)
            out, gap = np.zeros((2, len(i)))
            np.add.at(out, pair, area)
            np.maximum.at(gap, pair, apart)
            return out, gap
    return _convex_overlaps(a, b, i, j, reach_a, reach_b, dimension, threads)


def _convex_overlaps(a: Surface, b: Surface, i: NDArray[np.int32], j: NDArray[np.int32], reach_a: NDArray[np.float64],
                     reach_b: NDArray[np.float64], dimension: int, threads: int,
                     ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Overlap and gap of each pair of edges or faces, where those of A are convex."""
    out, gap = np.zeros(len(i)), np.zeros(len(i))
    if dimension == 1:
        from ...kernels.mesh_overlap import edge_overlaps

        ends_a, ends_b = (np.ascontiguousarray(s.corners[:, :2]) for s in (a, b))
        edge_overlaps(i, j, ends_a, ends_b, reach_a, reach_b, MIN_COSINE, out, gap)
    else:
        from ...kernels.mesh_overlap import Faces, Polygons, face_overlaps

        # more than convex faces need: those of polyhedra may not be
        width = 4 * (a.corners.shape[1] + b.corners.shape[1]) + 16
        one, other = (Faces(corners=s.corners, size=s.size, normal=s.normal, centre=s.centre, diameter=s.diameter,
                            reach=reach) for s, reach in ((a, reach_a), (b, reach_b)))

        def some(lo: int, hi: int) -> None:
            polygons = Polygons(frame=np.empty((3, 3)), measure=np.empty(3), first=np.empty((width, 2)),
                                second=np.empty((width, 2)), spare=np.empty((width, 2)))
            face_overlaps(i[lo:hi], j[lo:hi], one, other, MIN_COSINE, polygons, out[lo:hi], gap[lo:hi])

        with Team(threads) as team:
            team.run(some, len(i))
    return out, gap


__all__ = ["Match", "Reach", "match"]
