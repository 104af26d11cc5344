"""Groups of tasks on sites, one group per site: what they are, and what a group pays where it is."""

from typing import Any, NamedTuple

import numpy as np

from . import kernel


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
    """Sites: apart (nsites, nsites) float32 distances, nearest (nsites, nsites) int32 sites by distance from each,
    room (nsites,) int64 slots, point (nsites,) int64 in the network."""

    apart: Any
    nearest: Any
    room: Any
    point: Any


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


@kernel
def start_walk(groups, site, t, walk):
    """Start a walk from the sites of the neighbours of group t that have some; returns how many.

    groups : Groups, in
    site : (n,) int32, in       -1: none yet
    t : int
    walk : Walk, out
    """
    count = 0
    for e in range(groups.xadj[t], groups.xadj[t + 1]):
        m = site[groups.adjncy[e]]
        if m >= 0:
            walk.source[count] = m
            walk.at[count] = 0
            count += 1
    return count


@kernel
def next_site(places, walk, count, salt):
    """The nearest site to any start that this walk has not seen, starts in their order at ties; -1 at the end.

    places : Places, in
    walk : Walk, in and out
    count : int         starts of the walk
    salt : int          tells this walk from others
    """
    n = len(places.room)
    while True:
        start = -1
        least = np.inf
        for j in range(count):
            if walk.at[j] < n:
                s = walk.source[j]
                far = float(places.apart[s, places.nearest[s, walk.at[j]]])
                if far < least:
                    start, least = j, far
        if start < 0:
            return -1
        m = np.int64(places.nearest[walk.source[start], walk.at[start]])
        walk.at[start] += 1
        if walk.stamp[m] != salt:
            walk.stamp[m] = salt
            return m


@kernel
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


@kernel
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
            cost += (groups.out[e] + groups.into[e]) * places.apart[m, site[v]]
    return cost


@kernel
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
