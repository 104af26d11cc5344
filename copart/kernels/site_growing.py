"""U_G: groups of tasks onto sites by greedy growing.

(M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, Ohio State 2015, chapter 7.)
"""

import numpy as np

from . import inner, kernel
from .heap import push, remove, sift_up
from .sites import distance_cost, site_distance, start_walk


@kernel
def next_level(places, walk, count):
    """Distance of the nearest sites that the walk has not passed, infinite where a list of nearest sites has ended.

    What is behind the end of a list may be nearer than what is next in others.

    places : Places, in
    walk : Walk, in
    count : int         starts of the walk
    """
    level = np.inf
    for j in range(count):
        s = walk.source[j]
        if walk.at[j] >= places.known[s]:
            return np.inf
        level = min(level, places.gap[s, walk.at[j]])
    return level


@inner
def nearest_free(groups, places, site, owner, t, wanted, walk, count):
    """:func:`best_free` by a look at all free sites, for when those near the neighbours are taken.

    groups : Groups, in
    places : Places, in
    site : (n,) int32, in
    owner : (nsites,) int32, in
    t, wanted : int
    walk : Walk, in
    count : int                     starts of the walk
    """
    best = -1
    level = np.inf
    least = np.inf
    for m in range(len(owner)):
        if owner[m] < 0 and places.room[m] == wanted:
            far = np.inf
            for j in range(count):
                far = min(far, site_distance(places, m, walk.source[j]))
            if far > level or far == np.inf:
                continue
            cost = distance_cost(groups, places, site, t, m, -1)
            if far < level or cost < least:
                best, level, least = m, far, cost
    return best


@inner
def best_free(groups, places, site, owner, t, wanted, salt, walk):
    """The free site of `wanted` slots for group t: of the nearest to any neighbour, the cheapest; -1 for none.

    groups : Groups, in
    places : Places, in and out
    site : (n,) int32, in
    owner : (nsites,) int32, in     group of each site, -1: free
    t, wanted : int
    salt : int                      tells this walk from others
    walk : Walk, scratch
    """
    count = start_walk(groups, places, site, t, walk)
    while True:
        level = next_level(places, walk, count)
        if level == np.inf:
            return nearest_free(groups, places, site, owner, t, wanted, walk, count)
        best = -1
        least = np.inf
        ended = False
        for j in range(count):
            s = walk.source[j]
            while walk.at[j] < places.known[s] and places.gap[s, walk.at[j]] <= level:
                m = np.int64(places.near[s, walk.at[j]])
                walk.at[j] += 1
                if owner[m] < 0 and places.room[m] == wanted and walk.stamp[m] != salt:
                    walk.stamp[m] = salt
                    cost = distance_cost(groups, places, site, t, m, -1)
                    if cost < least or (cost == least and m < best):
                        best, least = m, cost
            ended = ended or (walk.at[j] == places.known[s] and places.known[s] < len(owner))
        if best >= 0 and not ended:
            return best


@inner
def farthest_free(places, owner, wanted, site, order, begin, end, far):
    """The free site of `wanted` slots that is farthest from all sites in use, the first of several; -1 for none.

    places : Places, in
    owner : (nsites,) int32, in
    wanted : int
    site : (n,) int32, in
    order : (n,) int32, in          groups as they got their sites
    begin, end : int                those from order[begin] to order[end] did since the last call
    far : (nsites,) float64, in and out     distance of each free site to the nearest of those before
    """
    best = -1
    for m in range(len(owner)):
        if owner[m] < 0:
            for i in range(begin, end):
                far[m] = min(far[m], site_distance(places, m, site[order[i]]))
            if places.room[m] == wanted and (best < 0 or far[m] > far[best]):
                best = m
    return best


@inner
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
    places : Places, in and out
    wanted : (n,) int64, in         slots of the site that each group is for
    classes : (nclasses,) int64, in     the different ones, in the order in which their groups are placed
    seeds : int                     further groups, after the first, that are placed far from all others
    first : int                     site of the first group
    site : (n,) int32, out
    owner : (nsites,) int32, out
    walk : Walk, scratch
    queue : Queue, scratch          tie: volume of all messages of each group, in
    far : (nsites,) float64, scratch
    orders : (3, n) int32, scratch
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
    measured = 0
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
            size = remove(queue.heap, queue.pos, queue.key, queue.tie, size, t)
            best = np.int64(-1)
            if done == 0:
                best = np.int64(first)
            else:
                best = np.int64(best_free(groups, places, site, owner, t, classes[c], done, walk))
            if best < 0:
                # nobody near: one of the farthest from all sites in use
                best = np.int64(farthest_free(places, owner, classes[c], site, orders[2], measured, done, far))
                measured = done
            site[t] = best
            owner[best] = t
            orders[2, done] = t
            done += 1
            for e in range(groups.xadj[t], groups.xadj[t + 1]):
                v = groups.adjncy[e]
                if site[v] < 0:
                    queue.key[v] += groups.out[e] + groups.into[e]
                    if queue.pos[v] >= 0:
                        sift_up(queue.heap, queue.pos, queue.key, queue.tie, queue.pos[v])
