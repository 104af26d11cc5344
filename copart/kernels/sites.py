"""Groups of tasks on sites, one group per site: what they are, and what a group pays where it is."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel


class Groups(NamedTuple):
    """What groups of tasks exchange.

    xadj (n+1,) int64, adjncy (narcs,) int32: pairs that communicate, in both rows; out, into (narcs,) int64: what the
    row sends the neighbour and gets from it; size (n,) int64: tasks of each group.
    """

    xadj: Any
    adjncy: Any
    out: Any
    into: Any
    size: Any


class Places(NamedTuple):
    """Sites, and how far apart they are: by coordinates, by the blocks of a hierarchy, or by a table.

    at (nsites, ndims) int64: coordinates, or number of the block of each level, root first; dims (ndims,) int64:
    lengths of a torus, or empty; cost (nlevels,) float64: between sites that part at each level, or empty; table
    (nsites, nsites) float32, or empty; room (nsites,) int64 slots; point (nsites,) int64 in the network; near (nsites,
    width) int32 and gap (nsites, width) float64: the nearest sites of each, itself included, and their distances, of
    which known (nsites,) int64 are listed, 0 as long as nobody has asked for them (:func:`list_nearest`).
    """

    at: Any
    dims: Any
    cost: Any
    table: Any
    room: Any
    point: Any
    near: Any
    gap: Any
    known: Any


class Walk(NamedTuple):
    """Scratch of walks outward from several sites.

    source, at (most neighbours of a group + 1,) int64: where the walk starts, and how far it has come from each;
    stamp (nsites,) int64: the last walk that saw a site.
    """

    source: Any
    at: Any
    stamp: Any


class Queue(NamedTuple):
    """A heap of groups: key, tie (n,) int64, heap, pos (n,) int32, `pos` -1 outside."""

    key: Any
    tie: Any
    heap: Any
    pos: Any


@inner
def torus_distance(at, dims, a, b):
    """Hops between two sites of a torus.

    at : (nsites, ndims) int64, in
    dims : (ndims,) int64, in
    a, b : int
    """
    total = 0
    for axis in range(len(dims)):
        apart = abs(at[a, axis] - at[b, axis])
        total += min(apart, dims[axis] - apart)
    return float(total)


@inner
def parting_cost(at, cost, a, b):
    """Cost of the first level at which two sites are in different blocks.

    at : (nsites, nlevels) int64, in
    cost : (nlevels,) float64, in
    a, b : int
    """
    for level in range(len(cost)):
        if at[a, level] != at[b, level]:
            return cost[level]
    return 0.0


@inlined
def site_distance(places, a, b):
    """Distance between two sites.

    places : Places, in
    a, b : int
    """
    distance = 0.0
    if len(places.dims) > 0:
        distance = torus_distance(places.at, places.dims, a, b)
    elif len(places.cost) > 0:
        distance = parting_cost(places.at, places.cost, a, b)
    else:
        distance = float(places.table[a, b])
    return distance


@kernel
def tabulate_distances(places, table):
    """The distances between all sites.

    places : Places, in
    table : (nsites, nsites) float64, out
    """
    for a in range(len(table)):
        for b in range(len(table)):
            table[a, b] = site_distance(places, a, b)


@kernel
def sum_distances(places, total):
    """What each site is apart from all others, in all.

    places : Places, in
    total : (nsites,) float64, out
    """
    for a in range(len(total)):
        total[a] = 0.0
        for b in range(len(total)):
            total[a] += site_distance(places, a, b)


@kernel
def total_distance(places, source, target, site):
    """How far all messages go between the sites of their tasks.

    places : Places, in
    source, target : (nmessages,) int32, in
    site : (ntasks,) int64, in
    """
    total = 0.0
    for i in range(len(source)):
        total += site_distance(places, site[source[i]], site[target[i]])
    return total


@kernel
def list_nearest(places, s):
    """List the sites nearest to one, by distance, then by number.

    They are looked at outward from its own number: numbers near to it are near to it, where a scheduler gave them.

    places : Places, in and out
    s : int
    """
    n, most = len(places.room), places.near.shape[1]
    count = 0
    for turn in range(2 * n):
        m = s + (turn + 1) // 2 if turn % 2 else s - turn // 2
        if m < 0 or m >= n:
            continue
        far = site_distance(places, s, m)
        i = count
        if count == most:
            i = most - 1
            if far > places.gap[s, i] or (far == places.gap[s, i] and m > places.near[s, i]):
                continue
        else:
            count += 1
        while i > 0 and (places.gap[s, i - 1] > far or (places.gap[s, i - 1] == far and places.near[s, i - 1] > m)):
            places.gap[s, i], places.near[s, i] = places.gap[s, i - 1], places.near[s, i - 1]
            i -= 1
        places.gap[s, i], places.near[s, i] = far, m
    places.known[s] = count


@inner
def start_walk(groups, places, site, t, walk):
    """Start a walk from the sites of the neighbours of group t that have some; returns how many.

    groups : Groups, in
    places : Places, in and out     lists of the nearest sites of these
    site : (n,) int32, in           -1: none yet
    t : int
    walk : Walk, out
    """
    count = 0
    for e in range(groups.xadj[t], groups.xadj[t + 1]):
        m = np.int64(site[groups.adjncy[e]])
        if m >= 0:
            if places.known[m] == 0:
                list_nearest(places, m)
            walk.source[count] = m
            walk.at[count] = 0
            count += 1
    return count


@inner
def next_site(places, walk, count, salt):
    """The nearest site to any start that this walk has not seen, starts in their order at ties.

    -1 at the end of the lists of the nearest sites of all starts.

    places : Places, in
    walk : Walk, in and out
    count : int         starts of the walk
    salt : int          tells this walk from others
    """
    while True:
        start = -1
        least = np.inf
        for j in range(count):
            s = walk.source[j]
            if walk.at[j] < places.known[s] and places.gap[s, walk.at[j]] < least:
                start, least = j, places.gap[s, walk.at[j]]
        if start < 0:
            return -1
        m = np.int64(places.near[walk.source[start], walk.at[start]])
        walk.at[start] += 1
        if walk.stamp[m] != salt:
            walk.stamp[m] = salt
            return m


@inner
def may_trade(groups, places, site, owner, t, m):
    """Whether group t has room at site m, another one, and the group there, if any, at that of t.

    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    owner : (nsites,) int32, in
    t, m : int
    """
    b = owner[m]
    return b != t and groups.size[t] <= places.room[m] and (b < 0 or groups.size[b] <= places.room[site[t]])


@inner
def distance_cost(groups, places, site, t, m, but):
    """What group t would pay at site m: data times distance to its neighbours that have a site, `but` left out.

    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    t, m, but : int
    """
    cost = 0.0
    for e in range(groups.xadj[t], groups.xadj[t + 1]):
        v = groups.adjncy[e]
        if site[v] >= 0 and v != but:
            cost += (groups.out[e] + groups.into[e]) * site_distance(places, m, site[v])
    return cost


@inner
def trade(site, owner, a, b, m):
    """Give group a site m, and group b there, if any, its own.

    site : (n,) int32, in and out
    owner : (nsites,) int32, in and out
    a, b, m : int
    """
    own = site[a]
    site[a] = m
    owner[m] = a
    owner[own] = b
    if b >= 0:
        site[b] = own
