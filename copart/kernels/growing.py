"""K-way greedy graph growing (KGGGP): all parts grow at once from their seeds.

At each step, over all pairs (free vertex, part with room), the pair of best gain
is taken: the weight of the vertex' edges into the part minus that of its other
edges, ties to the lighter part (Predari & Esnard 2014, Section IV).
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel
from .heap import push, remove
from .rng import mix

FAR = 2147483647
"""Distance of what no search has reached."""


class Frontier(NamedTuple):
    """Pairs (free vertex, part) in the order of their offers, and a heap of them; all have room for every pair.

    A pair is offered where a neighbour of the vertex is in the part, once for each such edge, or where the affinity
    table names it: 2 nedges + affinity pairs in all.

    key, tie : (capacity,) int64, gain of each pair when it was offered, and weight of the part, negative
    who, where : (capacity,) int32, vertex and part
    heap, pos : (capacity,) int32
    """

    key: Any
    tie: Any
    who: Any
    where: Any
    heap: Any
    pos: Any


@inlined
def growing_gain(g, pull, part, v, p):
    """Weight of the edges of v into part p minus that of its other edges.

    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in
    v, p : int
    """
    unit = len(g.ewgt) == 0
    total = np.int64(0)
    for e in range(g.xadj[v], g.xadj[v + 1]):
        q = part[g.adjncy[e]]
        if unit:
            w = np.int64(1)
        else:
            w = g.ewgt[e]
        if q == p:
            total += w
        else:
            total -= w
    if len(g.origin) > 0:
        row = g.origin[v]
        for j in range(pull.ptr[row], pull.ptr[row + 1]):
            if pull.idx[j] == p:
                total += pull.val[j] * g.size[v]
            else:
                total -= pull.val[j] * g.size[v]
    return total


@inlined
def part_for_stray(g, part, pwgt, room, v):
    """The part for a vertex that no pair is left of: the lightest neighbouring one with room, else the one with most.

    g : Level, in
    part : (nvtxs,) int32, in
    pwgt, room : (nparts,) int64, in
    v : int
    """
    best = -1
    for e in range(g.xadj[v], g.xadj[v + 1]):
        q = part[g.adjncy[e]]
        if q >= 0 and pwgt[q] + g.vwgt[v] <= room[q] and (best < 0 or pwgt[q] < pwgt[best]):
            best = q
    if best < 0:
        # the part with most room left, relative to its size
        slack = -np.inf
        for q in range(len(pwgt)):
            s = float(room[q] - pwgt[q]) / float(max(room[q], 1))
            if s > slack:
                best, slack = q, s
    return best


@kernel
def grow(g, pull, part, pwgt, room, salt, gains, f):
    """Grow all parts until every vertex has one; returns how many vertices were placed without a frontier.

    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in and out   the seeds, -1 elsewhere; completed
    pwgt : (nparts,) int64, in and out  weight of each part
    room : (nparts,) int64, in          a part is closed to a vertex that would lift it over this
    salt : int                          where the search for vertices without a frontier begins
    gains : (nparts nvtxs,) int64, in and out   by part, minus the weight of the edges of each vertex; they are kept up
                                        to date, which pays where parts are few; empty where they are not
    f : Frontier, scratch
    """
    n = len(part)
    unit = len(g.ewgt) == 0
    kept = len(gains) > 0
    size = np.int64(0)
    # offers are numbered first and filed then, in one place: nothing changes in between
    pairs = np.int64(0)
    filed = np.int64(0)
    free = 0
    for v in range(n):
        if part[v] >= 0:
            continue
        free += 1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            p = part[g.adjncy[e]]
            if p >= 0:
                f.who[pairs], f.where[pairs] = v, p
                pairs += 1
                if kept:
                    gains[p * n + v] += 2 if unit else 2 * g.ewgt[e]
        if len(g.origin) > 0:
            row = g.origin[v]
            for j in range(pull.ptr[row], pull.ptr[row + 1]):
                f.who[pairs], f.where[pairs] = v, pull.idx[j]
                pairs += 1
    stray = 0
    start = mix(salt, 77) % max(n, 1)
    step = 0
    while free > 0:
        if filed < pairs:
            p = f.where[filed]
            v = f.who[filed]
            if kept:
                f.key[filed] = gains[p * n + v]
            else:
                f.key[filed] = growing_gain(g, pull, part, v, p)
            f.tie[filed] = -pwgt[p]
            size = push(f.heap, f.pos, f.key, f.tie, size, filed)
            filed += 1
            continue
        if size > 0:
            pair = np.int64(f.heap[0])
            size = remove(f.heap, f.pos, f.key, f.tie, size, pair)
            v = f.who[pair]
            p = f.where[pair]
            # its gain is still what it was: when another neighbour joined the part, the pair was offered again
            if part[v] >= 0 or pwgt[p] + g.vwgt[v] > room[p]:
                continue
        else:
            while part[(start + step) % n] >= 0:
                step += 1
            v = (start + step) % n
            p = part_for_stray(g, part, pwgt, room, v)
            stray += 1
        part[v] = p
        pwgt[p] += g.vwgt[v]
        free -= 1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if kept:
                gains[p * n + u] += 2 if unit else 2 * g.ewgt[e]
            if part[u] < 0 and pwgt[p] + g.vwgt[u] <= room[p]:
                f.who[pairs], f.where[pairs] = u, p
                pairs += 1
    return stray


@inner
def spread_distances(g, dist, queue, tail):
    """Breadth-first search on from queue[:tail]: lower `dist` wherever a way from there is shorter.

    g : Level, in
    dist : (nvtxs,) int32, in and out   distance of each vertex in edges, `FAR` where none is known
    queue : (nvtxs,) int32, in and out
    tail : int
    """
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if dist[u] > dist[v] + 1:
                dist[u] = dist[v] + 1
                queue[tail] = u
                tail += 1


@kernel
def spread_seeds(g, part, pwgt, population, dist, queue, salt):
    """Give every empty part a free vertex, each as far as possible from all assigned ones; returns how many got none.

    Distances in edges, kept up to date by breadth-first search.  Ties by hash.

    g : Level, in
    part : (nvtxs,) int32, in and out   -1 for free vertices
    pwgt, population : (nparts,) int64, in and out
    dist, queue : (nvtxs,) int32, scratch
    salt : int
    """
    n = len(part)
    tail = 0
    for v in range(n):
        dist[v] = FAR
        if part[v] >= 0:
            dist[v] = 0
            queue[tail] = v
            tail += 1
    empty = 0
    for p in range(len(pwgt)):
        if population[p] > 0:
            continue
        spread_distances(g, dist, queue, tail)
        best = -1
        best_hash = np.int64(-1)
        for v in range(n):
            if part[v] >= 0 or (best >= 0 and dist[v] < dist[best]):
                continue
            h = mix(v, salt)
            if best < 0 or dist[v] > dist[best] or h > best_hash:
                best, best_hash = v, h
        if best < 0:
            empty += 1
            continue
        part[best] = p
        pwgt[p] += g.vwgt[best]
        population[p] += 1
        dist[best] = 0
        queue[0] = best
        tail = 1
    return empty


@kernel
def find_centres(g, part, centre, dist, queue):
    """The vertex of each part that lies deepest inside it, in edges from the part's border; ties to the smaller one.

    Fixed vertices are skipped.

    g : Level, in
    part : (nvtxs,) int32, in
    centre : (nparts,) int32, out       -1 for a part without free vertices
    dist, queue : (nvtxs,) int32, scratch
    """
    n = len(part)
    tail = 0
    for p in range(len(centre)):
        centre[p] = -1
    for v in range(n):
        dist[v] = FAR
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if part[g.adjncy[e]] != part[v]:
                dist[v] = 0
                queue[tail] = v
                tail += 1
                break
    spread_distances(g, dist, queue, tail)
    for v in range(n):
        if dist[v] == FAR:
            # a piece that is a part of its own has no border: it counts least
            dist[v] = -1
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            continue
        p = part[v]
        if centre[p] < 0 or dist[v] > dist[centre[p]]:
            centre[p] = v
