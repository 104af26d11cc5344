"""Kernels that decide whether two convex cells share at least a point.

The distance of the convex hulls of their corners, by the algorithm of Gilbert,
Johnson and Keerthi: walk to the point of the difference body A - B nearest to
the origin, over simplices of at most four of its corners.  Works for any mix of
dimensions and for flat cells, because only corners are looked at.
"""

import math
from typing import Any, NamedTuple

from . import inner, kernel


@inner
def nearest_on_segment(s, i, j, out):
    """Point of segment s[i] s[j] nearest to the origin; returns the corners used, as bits 1 and 2.

    s : (4, 3) float64, in
    i, j : int
    out : (3,) float64, out
    """
    dx = s[j, 0] - s[i, 0]
    dy = s[j, 1] - s[i, 1]
    dz = s[j, 2] - s[i, 2]
    dd = dx * dx + dy * dy + dz * dz
    t = -(s[i, 0] * dx + s[i, 1] * dy + s[i, 2] * dz)
    if t <= 0.0 or dd == 0.0:
        used, t = 1, 0.0
    elif t >= dd:
        used, t = 2, 1.0
    else:
        used, t = 3, t / dd
    out[0] = s[i, 0] + t * dx
    out[1] = s[i, 1] + t * dy
    out[2] = s[i, 2] + t * dz
    return used


@inner
def nearest_on_triangle(s, i, j, k, out):
    """Point of triangle s[i] s[j] s[k] nearest to the origin; returns the corners used, as bits 1, 2, 4.

    s : (4, 3) float64, in
    i, j, k : int
    out : (3,) float64, out
    """
    abx, aby, abz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
    acx, acy, acz = s[k, 0] - s[i, 0], s[k, 1] - s[i, 1], s[k, 2] - s[i, 2]
    nx = aby * acz - abz * acy
    ny = abz * acx - abx * acz
    nz = abx * acy - aby * acx
    nn = nx * nx + ny * ny + nz * nz
    scale = (abx * abx + aby * aby + abz * abz) * (acx * acx + acy * acy + acz * acz)
    if nn > 1e-24 * scale:
        # barycentric coordinates of the foot of the perpendicular, times nn
        u = ((s[j, 1] * s[k, 2] - s[j, 2] * s[k, 1]) * nx + (s[j, 2] * s[k, 0] - s[j, 0] * s[k, 2]) * ny
             + (s[j, 0] * s[k, 1] - s[j, 1] * s[k, 0]) * nz)
        v = ((s[k, 1] * s[i, 2] - s[k, 2] * s[i, 1]) * nx + (s[k, 2] * s[i, 0] - s[k, 0] * s[i, 2]) * ny
             + (s[k, 0] * s[i, 1] - s[k, 1] * s[i, 0]) * nz)
        w = ((s[i, 1] * s[j, 2] - s[i, 2] * s[j, 1]) * nx + (s[i, 2] * s[j, 0] - s[i, 0] * s[j, 2]) * ny
             + (s[i, 0] * s[j, 1] - s[i, 1] * s[j, 0]) * nz)
        if u >= 0.0 and v >= 0.0 and w >= 0.0:
            h = (s[i, 0] * nx + s[i, 1] * ny + s[i, 2] * nz) / nn
            out[0] = h * nx
            out[1] = h * ny
            out[2] = h * nz
            return 7
    # outside, or no area: the nearest of the three sides
    best = nearest_on_segment(s, i, j, out)
    x, y, z = out[0], out[1], out[2]
    other = nearest_on_segment(s, i, k, out)
    if out[0] * out[0] + out[1] * out[1] + out[2] * out[2] < x * x + y * y + z * z:
        x, y, z = out[0], out[1], out[2]
        best = (other & 1) | ((other & 2) << 1)
    other = nearest_on_segment(s, j, k, out)
    if out[0] * out[0] + out[1] * out[1] + out[2] * out[2] < x * x + y * y + z * z:
        x, y, z = out[0], out[1], out[2]
        best = other << 1
    out[0] = x
    out[1] = y
    out[2] = z
    return best


@inner
def outside_face(s, i, j, k, m):
    """Whether the origin and corner m are not strictly on one side of face i j k.

    s : (4, 3) float64, in
    i, j, k, m : int
    """
    abx, aby, abz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
    acx, acy, acz = s[k, 0] - s[i, 0], s[k, 1] - s[i, 1], s[k, 2] - s[i, 2]
    nx = aby * acz - abz * acy
    ny = abz * acx - abx * acz
    nz = abx * acy - aby * acx
    origin = -(s[i, 0] * nx + s[i, 1] * ny + s[i, 2] * nz)
    corner = (s[m, 0] - s[i, 0]) * nx + (s[m, 1] - s[i, 1]) * ny + (s[m, 2] - s[i, 2]) * nz
    return origin * corner <= 0.0


@inner
def nearest_on_simplex(s, n, out):
    """Reduce the n corners s to those whose hull holds the point nearest to the origin.

    Returns how many are left, 4 when the origin is inside.

    s : (4, 3) float64, in and out
    n : int
    out : (3,) float64, out         the point
    """
    if n == 1:
        out[0], out[1], out[2] = s[0, 0], s[0, 1], s[0, 2]
        return 1
    if n == 2:
        used = nearest_on_segment(s, 0, 1, out)
    elif n == 3:
        used = nearest_on_triangle(s, 0, 1, 2, out)
    else:
        used = 0
        x = y = z = 0.0
        smallest = -1.0
        for f in range(4):
            # face f leaves out corner f
            i = 0 if f != 0 else 1
            j = 1 if f > 1 else 2
            k = 3 if f != 3 else 2
            if outside_face(s, i, j, k, f):
                bits = nearest_on_triangle(s, i, j, k, out)
                dd = out[0] * out[0] + out[1] * out[1] + out[2] * out[2]
                if smallest < 0.0 or dd < smallest:
                    smallest = dd
                    x, y, z = out[0], out[1], out[2]
                    used = 0
                    if bits & 1:
                        used |= 1 << i
                    if bits & 2:
                        used |= 1 << j
                    if bits & 4:
                        used |= 1 << k
        if used == 0:
            out[0] = out[1] = out[2] = 0.0
            return 4
        out[0] = x
        out[1] = y
        out[2] = z
    left = 0
    for i in range(n):
        if used & (1 << i):
            s[left, 0] = s[i, 0]
            s[left, 1] = s[i, 1]
            s[left, 2] = s[i, 2]
            left += 1
    return left


@inner
def hulls_within(points_a, nodes_a, a0, a1, points_b, nodes_b, b0, b1, limit, s, v):
    """Whether the hulls of the nodes nodes_a[a0:a1] and nodes_b[b0:b1] are at most `limit` apart.

    points_a : (npoints_a, 3) float64, in
    nodes_a : (nentries_a,) int64, in
    a0, a1 : int
    points_b : (npoints_b, 3) float64, in
    nodes_b : (nentries_b,) int64, in
    b0, b1 : int
    limit : float
    s : (4, 3) float64, scratch
    v : (3,) float64, scratch
    """
    for d in range(3):
        v[d] = points_a[nodes_a[a0], d] - points_b[nodes_b[b0], d]
    n = 0
    for _ in range(64):
        vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
        if vv <= limit * limit:
            return True
        # the corner of A - B farthest against v
        best_a = a0
        low = float("inf")
        for i in range(a0, a1):
            dot = v[0] * points_a[nodes_a[i], 0] + v[1] * points_a[nodes_a[i], 1] + v[2] * points_a[nodes_a[i], 2]
            if dot < low:
                low, best_a = dot, i
        best_b = b0
        high = -float("inf")
        for i in range(b0, b1):
            dot = v[0] * points_b[nodes_b[i], 0] + v[1] * points_b[nodes_b[i], 1] + v[2] * points_b[nodes_b[i], 2]
            if dot > high:
                high, best_b = dot, i
        wx = points_a[nodes_a[best_a], 0] - points_b[nodes_b[best_b], 0]
        wy = points_a[nodes_a[best_a], 1] - points_b[nodes_b[best_b], 1]
        wz = points_a[nodes_a[best_a], 2] - points_b[nodes_b[best_b], 2]
        vw = v[0] * wx + v[1] * wy + v[2] * wz
        # vw / |v| is a lower bound of the distance
        if vw > 0.0 and vw * vw > limit * limit * vv:
            return False
        if n > 0 and vv - vw <= 1e-12 * vv:
            return False
        for i in range(n):
            if s[i, 0] == wx and s[i, 1] == wy and s[i, 2] == wz:
                return False
        s[n, 0] = wx
        s[n, 1] = wy
        s[n, 2] = wz
        n = nearest_on_simplex(s, n + 1, v)
        if n == 4:
            return True
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) <= 2.0 * limit


class Hulls(NamedTuple):
    """The cells of a mesh as convex hulls.

    points : (npoints, 3) float64
    nodes : (nentries,) int64, corners of the cells, one cell after the other
    start : (ncells + 1,) int64, those of each cell
    limit : (ncells,) float64, how far apart it may be from one that it touches
    """

    points: Any
    nodes: Any
    start: Any
    limit: Any


@kernel
def touching(pair_a, pair_b, a, b, s, v, touch):
    """Which pairs of cells are at most the smaller of their two limits apart; returns how many.

    pair_a, pair_b : (npairs,) int32, in
    a, b : Hulls, in
    s : (4, 3) float64, scratch
    v : (3,) float64, scratch
    touch : (npairs,) bool, out
    """
    count = 0
    for p in range(len(pair_a)):
        i = pair_a[p]
        j = pair_b[p]
        touch[p] = hulls_within(a.points, a.nodes, a.start[i], a.start[i + 1], b.points, b.nodes,
                                b.start[j], b.start[j + 1], min(a.limit[i], b.limit[j]), s, v)
        if touch[p]:
            count += 1
    return count
