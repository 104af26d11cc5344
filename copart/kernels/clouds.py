"""Points of the parts of one level: their boxes, moments and coordinates, and what each section of them has."""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel


class Cloud(NamedTuple):
    """Points, and what is known of each; positions are those in `perm`.

    coords (n, d) float64, weights (n,) int64 or empty where every point weighs 1, perm (n,) int32 points in the order
    of the parts, values (n,) float64 coordinate by position, load (n,) int64 weight by position, empty where `weights`
    is, tie (n,) float64 next coordinate by position, order, other (n,) int32 positions and scratch, section (n,) int32
    by position.
    """

    coords: Any
    weights: Any
    perm: Any
    values: Any
    load: Any
    tie: Any
    order: Any
    other: Any
    section: Any


class Nodes(NamedTuple):
    """Parts of a level that are cut into sections.

    start (nodes + 1,) int64 where their points begin, first (nodes + 1,) int64 where their goals begin, axis (nodes,)
    int32 coordinate or -1, direction (nodes, d) float64 used where axis is -1, plain (nodes,) bool count points
    instead of weights.
    """

    start: Any
    first: Any
    axis: Any
    direction: Any
    plain: Any


@kernel
def extents(lo, hi, coords, perm, start, corners):
    """Smallest boxes around the points of the nodes lo..hi.

    lo, hi : int
    coords : (n, d) float64, in
    perm : (n,) int32, in
    start : (nodes + 1,) int64, in          where the points of each node begin in `perm`
    corners : (nodes, 2, d) float64, out    from inf to -inf where there are no points
    """
    for node in range(lo, hi):
        for c in range(coords.shape[1]):
            corners[node, 0, c] = np.inf
            corners[node, 1, c] = -np.inf
        for j in range(start[node], start[node + 1]):
            for c in range(coords.shape[1]):
                x = coords[perm[j], c]
                corners[node, 0, c] = min(corners[node, 0, c], x)
                corners[node, 1, c] = max(corners[node, 1, c], x)


@kernel
def moments(lo, hi, cloud, start, corners, sums):
    """Weight, and weighted sums of coordinates and of their products, of the points of the nodes lo..hi.

    lo, hi : int
    cloud : Cloud, in
    start : (nodes + 1,) int64, in          where the points of each node begin
    corners : (nodes, 2, d) float64, in     of their boxes: coordinates count from the centre, in half the longest side
    sums : (nodes, 1 + d, 1 + d) float64, out   of the products of (1, x, y, ...) with itself, in the lower triangle
    """
    coords, perm = cloud.coords, cloud.perm
    dim = coords.shape[1]
    for node in range(lo, hi):
        made = sums[node]
        made[:] = 0.0
        longest = 0.0
        for c in range(dim):
            longest = max(longest, 0.5 * corners[node, 1, c] - 0.5 * corners[node, 0, c])
        if not 1e-300 < longest < 1e300:
            continue
        scale = 1.0 / longest
        for c in range(dim):
            # the upper triangle is free
            made[0, 1 + c] = (0.5 * corners[node, 0, c] + 0.5 * corners[node, 1, c]) * scale
        for j in range(start[node], start[node + 1]):
            i = perm[j]
            w = 1.0 if len(cloud.weights) == 0 else float(cloud.weights[i])
            made[0, 0] += w
            for a in range(dim):
                x = coords[i, a] * scale - made[0, 1 + a]
                made[1 + a, 0] += w * x
                for b in range(a + 1):
                    made[1 + a, 1 + b] += w * x * (coords[i, b] * scale - made[0, 1 + b])


@kernel
def gather(lo, hi, cloud, axis, direction, plain):
    """Coordinates and weights of positions lo..hi, side by side; returns the least and the largest coordinate.

    lo, hi : int
    cloud : Cloud, in and out       writes `values`, `load` and `order`
    axis : int                      -1 for the projection on `direction`, -2 where `values` are there already
    direction : (d,) float64, in
    plain : bool                    count every point as 1
    """
    dim = cloud.coords.shape[1]
    least = np.inf
    most = -np.inf
    for j in range(lo, hi):
        i = cloud.perm[j]
        if axis >= 0:
            x = cloud.coords[i, axis]
        elif axis == -1:
            x = 0.0
            for c in range(dim):
                x += cloud.coords[i, c] * direction[c]
        else:
            x = cloud.values[j]
        cloud.values[j] = x
        cloud.order[j] = j
        least = min(least, x)
        most = max(most, x)
    if len(cloud.weights) > 0:
        for j in range(lo, hi):
            cloud.load[j] = 1 if plain else cloud.weights[cloud.perm[j]]
    return least, most


@inner
def weight_at(load, p):
    """Weight of a position.

    load : (n,) int64, in   or empty where every point weighs 1
    p : int
    """
    return load[p] if len(load) > 0 else 1


@kernel
def measure(lo, hi, cloud, count, weight, most):
    """Points, weight and largest coordinate of every section among positions lo..hi.

    lo, hi : int
    cloud : Cloud, in
    count, weight : (sections,) int64, out
    most : (sections,) float64, out     -inf where there are no points
    """
    for s in range(len(count)):
        count[s] = 0
        weight[s] = 0
        most[s] = -np.inf
    for p in range(lo, hi):
        s = cloud.section[p]
        count[s] += 1
        weight[s] += weight_at(cloud.load, p)
        if cloud.values[p] > most[s]:
            most[s] = cloud.values[p]


@kernel
def update_permutation(lo, hi, cloud, cursor):
    """UPDATEPERM: put the points of every section together, in the order that they had; into `other`.

    lo, hi : int
    cloud : Cloud, in and out
    cursor : (sections,) int64, in and out      where the next point of a section goes
    """
    for p in range(lo, hi):
        s = cloud.section[p]
        cloud.other[cursor[s]] = cloud.perm[p]
        cursor[s] += 1
