"""U_WH: swaps of groups of tasks between sites that shorten weighted distances.

(M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, Ohio State 2015, chapter 7.)
"""

import numpy as np

from . import inner, kernel
from .heap import push, put, remove
from .sites import distance_cost, may_trade, next_site, start_walk, trade


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


@inner
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
            count = start_walk(groups, places, site, t, walk)
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
