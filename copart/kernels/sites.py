"""Groups of tasks onto sites, one group per site: greedy growing, and swaps that shorten weighted distances.

(U_G and U_WH: M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, Ohio State 2015, chapter 7.)
"""

from typing import Any, NamedTuple

import numpy as np

from . import kernel
from .heap import push, put, remove, sift_up


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
def next_level(places, walk, count):
    """Distance of the nearest sites that the walk has not passed, infinite at its end.

    places : Places, in
    walk : Walk, in
    count : int         starts of the walk
    """
    level = np.inf
    n = len(places.room)
    for j in range(count):
        if walk.at[j] < n:
            s = walk.source[j]
            level = min(level, float(places.apart[s, places.nearest[s, walk.at[j]]]))
    return level


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
def best_free(groups, places, site, owner, t, wanted, salt, walk):
    """The free site of `wanted` slots for group t: of the nearest to any neighbour, the cheapest; -1 for none.

    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    owner : (nsites,) int32, in     group of each site, -1: free
    t, wanted : int
    salt : int                      tells this walk from others
    walk : Walk, scratch
    """
    count = start_walk(groups, site, t, walk)
    n = len(places.room)
    while True:
        level = next_level(places, walk, count)
        if level == np.inf:
            return -1
        best = -1
        least = np.inf
        for j in range(count):
            s = walk.source[j]
            while walk.at[j] < n and places.apart[s, places.nearest[s, walk.at[j]]] <= level:
                m = places.nearest[s, walk.at[j]]
                walk.at[j] += 1
                if owner[m] < 0 and places.room[m] == wanted and walk.stamp[m] != salt:
                    walk.stamp[m] = salt
                    cost = distance_cost(groups, places, site, t, m, -1)
                    if cost < least or (cost == least and m < best):
                        best, least = np.int64(m), cost
        if best >= 0:
            return best


@kernel
def farthest_group(groups, site, wanted, slots, volume, queue, level):
    """Among groups without a site that want so many slots, the farthest in the task graph from all that have one.

    Unreached ones come first; ties go to the larger volume, then the smaller number; -1 for none.

    groups : Groups, in
    site : (n,) int32, in
    wanted : (n,) int64, in     slots of the site that each group is for
    slots : int
    volume : (n,) int64, in     of all messages of each group
    queue, level : (n,) int32, scratch
    """
    n = len(site)
    end = 0
    for v in range(n):
        level[v] = -1
        if site[v] >= 0:
            level[v] = 0
            queue[end] = v
            end += 1
    begin = 0
    while begin < end:
        u = queue[begin]
        begin += 1
        for e in range(groups.xadj[u], groups.xadj[u + 1]):
            v = groups.adjncy[e]
            if level[v] < 0:
                level[v] = level[u] + 1
                queue[end] = v
                end += 1
    best = -1
    deepest = -1
    for v in range(n):
        if site[v] < 0 and wanted[v] == slots:
            depth = n if level[v] < 0 else level[v]
            if depth > deepest or (depth == deepest and volume[v] > volume[best]):
                best, deepest = v, depth
    return best


@kernel
def grow(groups, places, wanted, classes, seeds, first, site, owner, walk, queue, far, orders):
    """U_G: the group most tied to those with a site takes the best free site near them; rare sizes first.

    groups : Groups, in
    places : Places, in
    wanted : (n,) int64, in         slots of the site that each group is for
    classes : (nclasses,) int64, in     the different ones, in the order in which their groups are placed
    seeds : int                     further groups, after the first, that are placed far from all others
    first : int                     site of the first group
    site : (n,) int32, out
    owner : (nsites,) int32, out
    walk : Walk, scratch
    queue : Queue, scratch          tie: volume of all messages of each group, in
    far : (nsites,) float64, scratch
    orders : (2, n) int32, scratch
    """
    n = len(site)
    for v in range(n):
        site[v] = -1
        queue.key[v] = 0
        queue.pos[v] = -1
    for m in range(len(owner)):
        owner[m] = -1
        far[m] = np.inf
        walk.stamp[m] = -1
    done = 0
    sown = 0
    for c in range(len(classes)):
        size = np.int64(0)
        for v in range(n):
            if wanted[v] == classes[c]:
                size = push(queue.heap, queue.pos, queue.key, queue.tie, size, v)
        while size > 0:
            t = np.int64(queue.heap[0])
            if done > 0 and sown < seeds:
                t = np.int64(farthest_group(groups, site, wanted, classes[c], queue.tie, orders[0], orders[1]))
                sown += 1
            elif done == 0:
                # all keys are 0: the group of most volume
                t = np.int64(queue.heap[0])
            size = remove(queue.heap, queue.pos, queue.key, queue.tie, size, t)
            best = np.int64(-1)
            if done == 0:
                best = np.int64(first)
            else:
                best = np.int64(best_free(groups, places, site, owner, t, classes[c], done, walk))
            if best < 0:
                # nobody near: one of the farthest from all sites in use
                for m in range(len(owner)):
                    if owner[m] < 0 and places.room[m] == classes[c] and (best < 0 or far[m] > far[best]):
                        best = np.int64(m)
            site[t] = best
            owner[best] = t
            done += 1
            for m in range(len(owner)):
                if places.apart[best, m] < far[m]:
                    far[m] = places.apart[best, m]
            for e in range(groups.xadj[t], groups.xadj[t + 1]):
                v = groups.adjncy[e]
                if site[v] < 0:
                    queue.key[v] += groups.out[e] + groups.into[e]
                    if queue.pos[v] >= 0:
                        sift_up(queue.heap, queue.pos, queue.key, queue.tie, queue.pos[v])


@kernel
def swap_change(groups, places, site, a, b, m):
    """What the sum of data times distance changes by when group a takes site m, and group b there, if any, its own.

    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    a, m : int
    b : int         group of site m, -1: none
    """
    own = site[a]
    change = distance_cost(groups, places, site, a, m, b) - distance_cost(groups, places, site, a, own, b)
    if b >= 0:
        change += distance_cost(groups, places, site, b, own, a) - distance_cost(groups, places, site, b, m, a)
    return change


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


@kernel
def renew(groups, places, site, scale, t, queue, size):
    """Put the cost of group t, and of its neighbours, as keys into the heap, where they are in it.

    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    scale : float           turns costs into whole numbers
    t : int
    queue : Queue, in and out
    size : int              entries in the heap
    """
    for e in range(groups.xadj[t] - 1, groups.xadj[t + 1]):
        v = np.int64(t) if e < groups.xadj[t] else np.int64(groups.adjncy[e])
        if queue.pos[v] >= 0:
            put(queue.heap, queue.pos, queue.key, queue.tie, size, v,
                np.int64(distance_cost(groups, places, site, v, site[v], -1) * scale))


@kernel
def improve_distances(groups, places, scale, most, enough, site, owner, walk, queue):
    """U_WH: the group that pays most is swapped with one near its neighbours where that lowers the sum.

    Passes over all groups are made while one lowers the sum by more than `enough` of it.  Returns the swaps made.

    groups : Groups, in
    places : Places, in
    scale : float                   turns costs into the whole numbers of the heap
    most : int                      sites tried for each group
    enough : float
    site : (n,) int32, in and out
    owner : (nsites,) int32, in and out
    walk : Walk, scratch
    queue : Queue, scratch
    """
    n = len(site)
    salt = np.int64(0)
    swaps = 0
    total = 0.0
    for m in range(len(owner)):
        walk.stamp[m] = -1
    for v in range(n):
        total += 0.5 * distance_cost(groups, places, site, v, site[v], -1)
    while True:
        size = np.int64(0)
        won = 0.0
        for v in range(n):
            queue.key[v] = np.int64(distance_cost(groups, places, site, v, site[v], -1) * scale)
            queue.tie[v] = -v
            size = push(queue.heap, queue.pos, queue.key, queue.tie, size, v)
        while size > 0:
            t = np.int64(queue.heap[0])
            size = remove(queue.heap, queue.pos, queue.key, queue.tie, size, t)
            count = start_walk(groups, site, t, walk)
            salt += 1
            tried = 0
            while tried < most:
                m = np.int64(next_site(places, walk, count, salt))
                if m < 0:
                    break
                if not may_trade(groups, places, site, owner, t, m):
                    continue
                tried += 1
                b = np.int64(owner[m])
                change = swap_change(groups, places, site, t, b, m)
                if change < -1e-9:
                    trade(site, owner, t, b, m)
                    won -= change
                    swaps += 1
                    tried = most
                    renew(groups, places, site, scale, t, queue, size)
                    if b >= 0:
                        renew(groups, places, site, scale, b, queue, size)
        total -= won
        if won <= enough * (total + won):
            return swaps
