"""Kernels that measure what two cells have in common.

One cell is made of simplices (segments, triangles, tetrahedra), the other is a
convex piece of space between planes.  A simplex is cut by one plane after
another; what is left stays a list of simplices.
"""

import math
from typing import Any, NamedTuple

from . import inner, kernel


@inner
def cut_point(simplex, side, i, j, out):
    """The point where the edge i j crosses the plane.

    simplex : (4, 3) float64, in    corners
    side : (4,) float64, in         height of each corner above the plane
    i, j : int                      corners on different sides of it
    out : (3,) float64, out
    """
    t = side[i] / (side[i] - side[j])
    for d in range(3):
        out[d] = simplex[i, d] + t * (simplex[j, d] - simplex[i, d])


@inner
def copy_point(source, out):
    """A point to another place.

    source : (3,) float64, in
    out : (3,) float64, out
    """
    for d in range(3):
        out[d] = source[d]


@kernel
def cut_simplex(simplex, k, plane, side, place, out, at):
    """Append to `out`, from row `at` on, simplices that make up the part of a simplex of k corners below a plane.

    Returns the row after the last; at most three are written.

    simplex : (4, 3) float64, in    corners; the first k count
    k : int
    plane : (4,) float64, in        n and d: below is n . x <= d
    side : (4,) float64, scratch
    place : (4,) int64, scratch
    out : (room, 4, 3) float64, out
    at : int
    """
    inside = 0
    outside = k
    for i in range(k):
        side[i] = plane[0] * simplex[i, 0] + plane[1] * simplex[i, 1] + plane[2] * simplex[i, 2] - plane[3]
        # corners below the plane come first
        if side[i] <= 0.0:
            place[inside] = i
            inside += 1
        else:
            outside -= 1
            place[outside] = i
    if inside == 0:
        return at
    if inside == k:
        for i in range(k):
            copy_point(simplex[i], out[at, i])
        return at + 1
    a, b = place[0], place[1]
    if inside == 1:
        copy_point(simplex[a], out[at, 0])
        for i in range(1, k):
            cut_point(simplex, side, a, place[i], out[at, i])
        return at + 1
    c = place[2]
    if k == 3:
        copy_point(simplex[a], out[at, 0])
        copy_point(simplex[b], out[at, 1])
        cut_point(simplex, side, b, c, out[at, 2])
        copy_point(simplex[a], out[at + 1, 0])
        cut_point(simplex, side, b, c, out[at + 1, 1])
        cut_point(simplex, side, a, c, out[at + 1, 2])
        return at + 2
    d = place[3]
    # what is left is a prism, from triangle 0 1 2 to triangle 3 4 5: simplices 0125, 0145, 0345
    for row in range(3):
        copy_point(simplex[a], out[at + row, 0])
    if inside == 2:
        # a, ac, ad and b, bc, bd
        for row in range(2):
            cut_point(simplex, side, a, c, out[at + row, 1])
        copy_point(simplex[b], out[at + 2, 1])
        cut_point(simplex, side, a, d, out[at, 2])
        for row in range(1, 3):
            cut_point(simplex, side, b, c, out[at + row, 2])
        for row in range(3):
            cut_point(simplex, side, b, d, out[at + row, 3])
    else:
        # a, b, c and ad, bd, cd
        for row in range(2):
            copy_point(simplex[b], out[at + row, 1])
        cut_point(simplex, side, a, d, out[at + 2, 1])
        copy_point(simplex[c], out[at, 2])
        for row in range(1, 3):
            cut_point(simplex, side, b, d, out[at + row, 2])
        for row in range(3):
            cut_point(simplex, side, c, d, out[at + row, 3])
    return at + 3


@kernel
def simplex_size(simplex, k):
    """Length, area or volume of a simplex of k = 2, 3 or 4 corners.

    simplex : (4, 3) float64, in    corners; the first k count
    k : int
    """
    ax = simplex[1, 0] - simplex[0, 0]
    ay = simplex[1, 1] - simplex[0, 1]
    az = simplex[1, 2] - simplex[0, 2]
    if k == 2:
        return math.sqrt(ax * ax + ay * ay + az * az)
    bx = simplex[2, 0] - simplex[0, 0]
    by = simplex[2, 1] - simplex[0, 1]
    bz = simplex[2, 2] - simplex[0, 2]
    nx = ay * bz - az * by
    ny = az * bx - ax * bz
    nz = ax * by - ay * bx
    if k == 3:
        return 0.5 * math.sqrt(nx * nx + ny * ny + nz * nz)
    cx = simplex[3, 0] - simplex[0, 0]
    cy = simplex[3, 1] - simplex[0, 1]
    cz = simplex[3, 2] - simplex[0, 2]
    return abs(nx * cx + ny * cy + nz * cz) / 6.0


class Simplices(NamedTuple):
    """Cells cut into simplices.

    first : (ncells + 1,) int64, those of each cell
    corners : (nsimplices, k, 3) float64
    sign : (nsimplices,) float64, -1 for what has to be taken off
    low, high : (nsimplices, 3) float64, their boxes
    """

    first: Any
    corners: Any
    sign: Any
    low: Any
    high: Any


class Spaces(NamedTuple):
    """Convex cells as what lies below planes.

    first : (ncells + 1,) int64, those of each cell
    planes : (nplanes, 4) float64, n and d of each: below is n . x <= d
    low, high : (ncells, 3) float64, boxes of the cells
    """

    first: Any
    planes: Any
    low: Any
    high: Any


class Pieces(NamedTuple):
    """Memory for the pieces that a simplex falls into.

    current, spare : (room, 4, 3) float64
    side : (4,) float64
    place : (4,) int64
    """

    current: Any
    spare: Any
    side: Any
    place: Any


@kernel
def common_sizes(pair_a, pair_b, simplices, spaces, pieces, size):
    """What each pair of cells has in common; returns the first pair for which there was no room, or -1.

    pair_a, pair_b : (npairs,) int32, in
    simplices : Simplices, in       cells of A
    spaces : Spaces, in             cells of B
    pieces : Pieces, scratch
    size : (npairs,) float64, out
    """
    first_a, corners, sign, low_a, high_a = simplices
    first_b, planes, low_b, high_b = spaces
    current, spare, side, place = pieces
    k = corners.shape[1]
    room = len(current)
    for p in range(len(pair_a)):
        total = 0.0
        a = pair_a[p]
        b = pair_b[p]
        for s in range(first_a[a], first_a[a + 1]):
            if (low_a[s, 0] > high_b[b, 0] or high_a[s, 0] < low_b[b, 0] or low_a[s, 1] > high_b[b, 1]
                    or high_a[s, 1] < low_b[b, 1] or low_a[s, 2] > high_b[b, 2] or high_a[s, 2] < low_b[b, 2]):
                continue
            count = 1
            for i in range(k):
                copy_point(corners[s, i], current[0, i])
            for q in range(first_b[b], first_b[b + 1]):
                left = 0
                for r in range(count):
                    if left + 3 > room:
                        return p
                    left = cut_simplex(current[r], k, planes[q], side, place, spare, left)
                count = left
                for r in range(count):
                    for i in range(k):
                        copy_point(spare[r, i], current[r, i])
                if count == 0:
                    break
            for r in range(count):
                total += sign[s] * simplex_size(current[r], k)
        size[p] = total
    return -1


@kernel
def bulges(first_corner, points, first_plane, planes, out):
    """How far each cell's corners are above its planes, at most; minus infinity where it holds nothing.

    first_corner : (ncells + 1,) int64, in
    points : (ncorners, 3) float64, in      the corners of one cell after the other
    first_plane : (ncells + 1,) int64, in
    planes : (nplanes, 4) float64, in       n and d of each: below is n . x <= d
    out : (ncells,) float64, out
    """
    for c in range(len(out)):
        most = -math.inf
        for q in range(first_plane[c], first_plane[c + 1]):
            for i in range(first_corner[c], first_corner[c + 1]):
                height = planes[q, 0] * points[i, 0] + planes[q, 1] * points[i, 1] + planes[q, 2] * points[i, 2]
                most = max(most, height - planes[q, 3])
            if planes[q, 3] == -math.inf:
                # collapsed
                most = -math.inf
                break
        out[c] = most
