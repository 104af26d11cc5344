"""Static routes in networks: which links a message from one point to another takes.

:class:`RouteCode` holds a network as plain arrays, of the same types whatever the network, so that a kernel that takes
one is compiled once.  Links are numbered; how, is said with each network (`copart.mapping.congestion.networks`).
"""

from typing import Any, NamedTuple

from . import inner, kernel

TORUS, MESH, FAT_TREE, DRAGONFLY = range(4)


class RouteCode(NamedTuple):
    """A network as kernels see it; all arrays read-only.

    kind : int, one of the constants above
    dims : int64, extents of a torus or mesh, first fastest; of a fat tree, points below a switch of each level, leaves
        (1 point) first; of a dragonfly, routers of a group, global links of a router, groups
    ways : int64, of a fat tree: switches of each level that stand for one another, leaves (1) first; else empty
    first : int64, of a fat tree: number of the first link above each level; else empty
    directed : bool, whether the two directions of a cable are two links
    bandwidth : (nlinks,) float64
    """

    kind: int
    dims: Any
    ways: Any
    first: Any
    directed: bool
    bandwidth: Any


@inner
def grid_route(dims, around, directed, a, b, links):
    """The links of the dimension-ordered route in a torus (`around`) or mesh; returns how many.

    A dimension is walked the shorter way round, at a tie upwards.  Link ``(point * naxes + axis) * 2 + down`` leaves a
    point; undirected, ``point * naxes + axis`` is the cable upwards of a point.

    dims : (naxes,) int64, in
    around, directed : bool
    a, b : int
    links : (longest,) int64, out
    """
    naxes = len(dims)
    count = 0
    at = a
    stride = 1
    for axis in range(naxes):
        size = dims[axis]
        x = a // stride % size
        y = b // stride % size
        up = y - x
        if around:
            up %= size
            if 2 * up > size:
                up -= size
        while up != 0:
            if up > 0:
                beyond = at + stride if x + 1 < size else at - (size - 1) * stride
                links[count] = (at * naxes + axis) * 2 if directed else at * naxes + axis
                x = x + 1 if x + 1 < size else 0
                up -= 1
            else:
                beyond = at - stride if x > 0 else at + (size - 1) * stride
                links[count] = (at * naxes + axis) * 2 + 1 if directed else beyond * naxes + axis
                x = x - 1 if x > 0 else size - 1
                up += 1
            at = beyond
            count += 1
        stride *= size
    return count


@inner
def tree_route(below, ways, first, directed, a, b, links):
    """The links of the up-down route in a fat tree, ways up by D-mod-k; returns how many.

    A switch of a level is a block of points below it and one of the `ways` of that level; the message for point b takes
    way ``b % ways`` of each level, so that it comes down the same way wherever it comes from.  Cable ``first[l] + block
    * ways[l + 1] + way`` joins level l and l + 1; directed, twice that is the way up, and one more the way down.

    below : (nlevels + 1,) int64, in
    ways : (nlevels + 1,) int64, in
    first : (nlevels,) int64, in
    directed : bool
    a, b : int
    links : (longest,) int64, out
    """
    top = 0
    while a // below[top] != b // below[top]:
        top += 1
    for level in range(top):
        way = b % ways[level + 1]
        up = first[level] + a // below[level] * ways[level + 1] + way
        down = first[level] + b // below[level] * ways[level + 1] + way
        links[level] = 2 * up if directed else up
        links[2 * top - 1 - level] = 2 * down + 1 if directed else down
    return 2 * top


@inner
def dragonfly_route(dims, directed, a, b, links):
    """The links of the minimal route in a dragonfly, local, global, local; returns how many.

    Link ``router * group size + position`` goes to the router at this position of the same group; behind those,
    ``group * (groups - 1) + channel`` goes to the group that is ``channel + 1`` groups on.  Undirected: the number from
    the smaller router or group.

    dims : (3,) int64, in       routers of a group, global links of a router, groups
    directed : bool
    a, b : int
    links : (longest,) int64, out
    """
    size, ports, groups = dims[0], dims[1], dims[2]
    g, h = a // size, b // size
    count = 0
    if g == h:
        if a != b:
            near, far = (a, b) if directed or a < b else (b, a)
            links[0] = near * size + far % size
            count = 1
        return count
    channel = (h - g - 1) % groups
    back = groups - 2 - channel
    leave = g * size + channel // ports
    enter = h * size + back // ports
    if a != leave:
        near, far = (a, leave) if directed or a < leave else (leave, a)
        links[count] = near * size + far % size
        count += 1
    links[count] = groups * size * size + (g * (groups - 1) + channel if directed or g < h else
                                           h * (groups - 1) + back)
    count += 1
    if enter != b:
        near, far = (enter, b) if directed or enter < b else (b, enter)
        links[count] = near * size + far % size
        count += 1
    return count


@kernel
def route(code, a, b, links):
    """The links of the route from point a to point b, in order; returns how many.

    code : RouteCode, in
    a, b : int
    links : (longest,) int64, out
    """
    if code.kind == FAT_TREE:
        return tree_route(code.dims, code.ways, code.first, code.directed, a, b, links)
    if code.kind == DRAGONFLY:
        return dragonfly_route(code.dims, code.directed, a, b, links)
    return grid_route(code.dims, code.kind == TORUS, code.directed, a, b, links)


@inner
def hops_between(code, a, b, links):
    """Links on the route from point a to point b, without walking it where a formula says it.

    code : RouteCode, in
    a, b : int
    links : (longest,) int64, scratch
    """
    if code.kind == FAT_TREE or code.kind == DRAGONFLY:
        return route(code, a, b, links)
    total = 0
    for axis in range(len(code.dims)):
        size = code.dims[axis]
        apart = abs(a % size - b % size)
        if code.kind == TORUS and size - apart < apart:
            apart = size - apart
        total += apart
        a //= size
        b //= size
    return total


@kernel
def count_hops(code, source, target, hops, links):
    """Links on the route of each pair.

    code : RouteCode, in
    source, target : (npairs,) int64, in
    hops : (npairs,) float64, out
    links : (longest,) int64, scratch
    """
    for i in range(len(source)):
        hops[i] = hops_between(code, source[i], target[i], links)


@kernel
def load_links(code, source, target, volume, messages, carried, count, links):
    """Add messages to the links of their routes.

    code : RouteCode, in
    source, target : (npairs,) int64, in
    volume, messages : (npairs,) int64, in      data, and number of messages, of each pair
    carried, count : (nlinks,) int64, in and out    the same of each link
    links : (longest,) int64, scratch
    """
    for i in range(len(source)):
        for j in range(route(code, source[i], target[i], links)):
            carried[links[j]] += volume[i]
            count[links[j]] += messages[i]
