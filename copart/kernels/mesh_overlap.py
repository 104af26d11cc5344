"""Kernels that measure how much two facets overlap.

Faces are convex polygons in space, given as corner arrays (nfaces, width, 3)
with the number of corners of each; edges are segments (nedges, 2, 3).  Both are
projected along the mean of the two directions, where the overlap is exact.
"""

import math
from typing import Any, NamedTuple

from . import inner, kernel

# an overlap narrower than this fraction of the smaller facet comes from rounding, not from the meshes
WIDTH = 1e-5


@inner
def project_polygon(corners, size, origin, frame, out):
    """Plane coordinates of a polygon, counter-clockwise.

    corners : (width, 3) float64, in
    size : int                      how many corners count
    origin : (3,) float64, in
    frame : (3, 3) float64, in      the plane's directions in the first two rows
    out : (room, 2) float64, out    room >= size
    """
    twice = 0.0
    for i in range(size):
        for d in range(2):
            out[i, d] = ((corners[i, 0] - origin[0]) * frame[d, 0] + (corners[i, 1] - origin[1]) * frame[d, 1]
                         + (corners[i, 2] - origin[2]) * frame[d, 2])
    for i in range(size):
        j = i + 1 if i + 1 < size else 0
        twice += out[i, 0] * out[j, 1] - out[j, 0] * out[i, 1]
    if twice < 0.0:
        for i in range(size // 2):
            for d in range(2):
                swap = out[i, d]
                out[i, d] = out[size - 1 - i, d]
                out[size - 1 - i, d] = swap


@inner
def clip_polygon(polygon, size, clip, clip_size, spare):
    """Cut `polygon` by every edge of the counter-clockwise convex `clip`, in place.

    Sutherland-Hodgman; returns the number of corners left, 0 also where there is no room for them.  A room of
    size + clip_size is enough for a convex polygon; one that is not may cross an edge many times.

    polygon : (room, 2) float64, in and out
    size : int                      corners of the polygon
    clip : (room, 2) float64, in
    clip_size : int                 corners of `clip`
    spare : (room, 2) float64, scratch
    """
    for k in range(clip_size):
        j = k + 1 if k + 1 < clip_size else 0
        ex = clip[j, 0] - clip[k, 0]
        ey = clip[j, 1] - clip[k, 1]
        if ex == 0.0 and ey == 0.0:
            continue
        left = 0
        for i in range(size):
            if left + 2 > len(spare):
                return 0
            h = i + 1 if i + 1 < size else 0
            here = ex * (polygon[i, 1] - clip[k, 1]) - ey * (polygon[i, 0] - clip[k, 0])
            there = ex * (polygon[h, 1] - clip[k, 1]) - ey * (polygon[h, 0] - clip[k, 0])
            if here >= 0.0:
                spare[left, 0] = polygon[i, 0]
                spare[left, 1] = polygon[i, 1]
                left += 1
            if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
                t = here / (here - there)
                spare[left, 0] = polygon[i, 0] + t * (polygon[h, 0] - polygon[i, 0])
                spare[left, 1] = polygon[i, 1] + t * (polygon[h, 1] - polygon[i, 1])
                left += 1
        size = left
        for i in range(size):
            polygon[i, 0] = spare[i, 0]
            polygon[i, 1] = spare[i, 1]
        if size < 3:
            return 0
    return size


@inner
def measure_polygon(polygon, size, out):
    """Area of a polygon, and where it is.

    polygon : (room, 2) float64, in
    size : int                      how many corners count
    out : (3,) float64, out         centroid, where the area is above 0, and diameter of the bounding box
    """
    area = 0.0
    cx = 0.0
    cy = 0.0
    x0 = polygon[0, 0]
    y0 = polygon[0, 1]
    left, right, down, up = x0, x0, y0, y0
    for i in range(1, size):
        x = polygon[i, 0]
        y = polygon[i, 1]
        left = min(left, x)
        right = max(right, x)
        down = min(down, y)
        up = max(up, y)
        if i + 1 < size:
            # triangles around the first corner, which keeps the sums small
            ax, ay = x - x0, y - y0
            bx, by = polygon[i + 1, 0] - x0, polygon[i + 1, 1] - y0
            part = 0.5 * (ax * by - bx * ay)
            area += part
            cx += part * (ax + bx) / 3.0
            cy += part * (ay + by) / 3.0
    if area > 0.0:
        out[0] = x0 + cx / area
        out[1] = y0 + cy / area
    out[2] = math.sqrt((right - left) ** 2 + (up - down) ** 2)
    return area


@inner
def plane_frame(ax, ay, az, frame):
    """Two unit vectors across a unit vector.

    ax, ay, az : float              the vector
    frame : (3, 3) float64, out     by rows: the two, and the vector
    """
    # start from the coordinate axis least along the vector
    ux, uy, uz = 1.0, 0.0, 0.0
    if abs(ay) <= abs(ax) and abs(ay) <= abs(az):
        ux, uy = 0.0, 1.0
    elif abs(az) <= abs(ax) and abs(az) <= abs(ay):
        ux, uz = 0.0, 1.0
    dot = ux * ax + uy * ay + uz * az
    ux -= dot * ax
    uy -= dot * ay
    uz -= dot * az
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    frame[0, 0] = ux / length
    frame[0, 1] = uy / length
    frame[0, 2] = uz / length
    frame[1, 0] = ay * frame[0, 2] - az * frame[0, 1]
    frame[1, 1] = az * frame[0, 0] - ax * frame[0, 2]
    frame[1, 2] = ax * frame[0, 1] - ay * frame[0, 0]
    frame[2, 0] = ax
    frame[2, 1] = ay
    frame[2, 2] = az


@inner
def plane_gap(s, t, frame, normal_a, centre_a, normal_b, centre_b):
    """Distance of two planes along frame[2].

    s, t : float                    where, along frame[0] and frame[1], counted from centre_a
    frame : (3, 3) float64, in
    normal_a, centre_a : (3,) float64, in
    normal_b, centre_b : (3,) float64, in
    """
    x = s * frame[0, 0] + t * frame[1, 0]
    y = s * frame[0, 1] + t * frame[1, 1]
    z = s * frame[0, 2] + t * frame[1, 2]
    height_a = -(x * normal_a[0] + y * normal_a[1] + z * normal_a[2]) / (
        frame[2, 0] * normal_a[0] + frame[2, 1] * normal_a[1] + frame[2, 2] * normal_a[2])
    x += centre_a[0] - centre_b[0]
    y += centre_a[1] - centre_b[1]
    z += centre_a[2] - centre_b[2]
    height_b = -(x * normal_b[0] + y * normal_b[1] + z * normal_b[2]) / (
        frame[2, 0] * normal_b[0] + frame[2, 1] * normal_b[1] + frame[2, 2] * normal_b[2])
    return abs(height_a - height_b)


class Faces(NamedTuple):
    """Plane polygons and how far each may be from one that it matches.

    corners : (nfaces, width, 3) float64
    size : (nfaces,) int64, how many of them count
    normal, centre : (nfaces, 3) float64
    diameter, reach : (nfaces,) float64
    """

    corners: Any
    size: Any
    normal: Any
    centre: Any
    diameter: Any
    reach: Any


class Polygons(NamedTuple):
    """Memory for a pair of faces of width_a and width_b corners.

    frame : (3, 3) float64
    measure : (3,) float64
    first, second, spare : (room, 2) float64, room > width_a + width_b
    """

    frame: Any
    measure: Any
    first: Any
    second: Any
    spare: Any


@kernel
def face_overlaps(pair_a, pair_b, faces_a, faces_b, min_cosine, polygons, area, gap):
    """Overlap area of each pair of faces, 0 where they are apart or not parallel; returns how many are positive.

    A pair may be as far apart, at the overlap's centroid, as the larger of its two reaches.

    pair_a, pair_b : (npairs,) int32, in
    faces_a, faces_b : Faces, in
    min_cosine : float
    polygons : Polygons, scratch
    area : (npairs,) float64, out
    gap : (npairs,) float64, out        the largest over the overlap
    """
    frame, measure, first, second, spare = polygons
    found = 0
    for p in range(len(pair_a)):
        a = pair_a[p]
        b = pair_b[p]
        area[p] = 0.0
        gap[p] = 0.0
        this, that = faces_a.normal[a], faces_b.normal[b]
        cosine = this[0] * that[0] + this[1] * that[1] + this[2] * that[2]
        if abs(cosine) < min_cosine:
            continue
        sign = 1.0 if cosine > 0.0 else -1.0
        mx = this[0] + sign * that[0]
        my = this[1] + sign * that[1]
        mz = this[2] + sign * that[2]
        length = math.sqrt(mx * mx + my * my + mz * mz)
        plane_frame(mx / length, my / length, mz / length, frame)
        project_polygon(faces_a.corners[a], faces_a.size[a], faces_a.centre[a], frame, first)
        project_polygon(faces_b.corners[b], faces_b.size[b], faces_a.centre[a], frame, second)
        left = clip_polygon(second, faces_b.size[b], first, faces_a.size[a], spare)
        if left < 3:
            continue
        overlap = measure_polygon(second, left, measure)
        if overlap <= WIDTH * min(faces_a.diameter[a], faces_b.diameter[b]) * measure[2]:
            continue
        reach = max(faces_a.reach[a], faces_b.reach[b])
        if plane_gap(measure[0], measure[1], frame, this, faces_a.centre[a], that, faces_b.centre[b]) > reach:
            continue
        area[p] = overlap
        # the planes are farthest apart over a corner of the overlap
        for i in range(left):
            gap[p] = max(gap[p], plane_gap(second[i, 0], second[i, 1], frame, this, faces_a.centre[a], that,
                                           faces_b.centre[b]))
        found += 1
    return found


@kernel
def edge_overlaps(pair_a, pair_b, ends_a, ends_b, reach_a, reach_b, min_cosine, length, gap):
    """Overlap length of each pair of edges, 0 where they are apart or not parallel; returns how many are positive.

    A pair may be as far apart, in the middle of the overlap, as the larger of its two reaches.

    pair_a, pair_b : (npairs,) int32, in
    ends_a : (nedges_a, 2, 3) float64, in
    ends_b : (nedges_b, 2, 3) float64, in
    reach_a : (nedges_a,) float64, in
    reach_b : (nedges_b,) float64, in
    min_cosine : float
    length : (npairs,) float64, out
    gap : (npairs,) float64, out    the largest at the ends and in the middle of the overlap
    """
    found = 0
    for p in range(len(pair_a)):
        a = pair_a[p]
        b = pair_b[p]
        length[p] = 0.0
        gap[p] = 0.0
        ux = ends_a[a, 1, 0] - ends_a[a, 0, 0]
        uy = ends_a[a, 1, 1] - ends_a[a, 0, 1]
        uz = ends_a[a, 1, 2] - ends_a[a, 0, 2]
        vx = ends_b[b, 1, 0] - ends_b[b, 0, 0]
        vy = ends_b[b, 1, 1] - ends_b[b, 0, 1]
        vz = ends_b[b, 1, 2] - ends_b[b, 0, 2]
        long_a = math.sqrt(ux * ux + uy * uy + uz * uz)
        long_b = math.sqrt(vx * vx + vy * vy + vz * vz)
        if long_a == 0.0 or long_b == 0.0:
            continue
        cosine = (ux * vx + uy * vy + uz * vz) / (long_a * long_b)
        if abs(cosine) < min_cosine:
            continue
        sign = 1.0 if cosine > 0.0 else -1.0
        mx = ux / long_a + sign * vx / long_b
        my = uy / long_a + sign * vy / long_b
        mz = uz / long_a + sign * vz / long_b
        norm = math.sqrt(mx * mx + my * my + mz * mz)
        mx /= norm
        my /= norm
        mz /= norm
        # positions along the mean direction, counted from the first end of a
        a1 = ux * mx + uy * my + uz * mz
        wx = ends_b[b, 0, 0] - ends_a[a, 0, 0]
        wy = ends_b[b, 0, 1] - ends_a[a, 0, 1]
        wz = ends_b[b, 0, 2] - ends_a[a, 0, 2]
        b0 = wx * mx + wy * my + wz * mz
        along = vx * mx + vy * my + vz * mz
        b1 = b0 + along
        start = max(0.0, min(b0, b1))
        stop = min(a1, max(b0, b1))
        if stop - start <= WIDTH * min(long_a, long_b):
            continue
        largest = 0.0
        for place in (0.0, 1.0, 0.5):
            middle = start + place * (stop - start)
            s = middle / a1
            t = (middle - b0) / along
            gx = wx + t * vx - s * ux
            gy = wy + t * vy - s * uy
            gz = wz + t * vz - s * uz
            apart = math.sqrt(gx * gx + gy * gy + gz * gz)
            largest = max(largest, apart)
        # `apart` is now that in the middle
        if apart > max(reach_a[a], reach_b[b]):
            continue
        length[p] = stop - start
        gap[p] = largest
        found += 1
    return found
