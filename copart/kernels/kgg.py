"""K-way greedy growing of parts of exactly given sizes (N. Tihon, Graph Partitioning and its application to MPI, 2024).

``conn[v, j]`` is the weight of the edges between vertex v and part j, so that the gain of moving v from part i to
part j is ``conn[v, j] - conn[v, i]``.
"""

from typing import Any, NamedTuple

from . import inner, kernel
from .heap import push, remove, sift_down, sift_up
from .rng import mix


class Growth(NamedTuple):
    """What growing leaves behind, and its scratch, for n vertices and k parts.

    part : (n,) int32, -1 before
    size : (k,) int64, weight of each part, 0 before
    conn : (n, k) int64, 0 before
    order : (n,) int32, the vertices in the order of their placement
    free : (n,) int64, weight of the edges to vertices without part
    best : (n,) int32, part of largest gain, -1 before
    key, tie : (n,) int64, heap : (n,) int32, pos : (n,) int32, -1 before; the candidates
    """

    part: Any
    size: Any
    conn: Any
    order: Any
    free: Any
    best: Any
    key: Any
    tie: Any
    heap: Any
    pos: Any


@inner
def best_open_part(conn, cap, size, weight, v):
    """The part with room for vertex v that it is connected to most, among equals the emptiest; -1 for none.

    conn : (n, k) int64, in
    cap, size : (k,) int64, in
    weight : int                    of the vertex
    v : int
    """
    best = -1
    for j in range(len(cap)):
        if size[j] + weight <= cap[j] and (best < 0 or conn[v, j] > conn[v, best]
                                           or (conn[v, j] == conn[v, best] and size[j] < size[best])):
            best = j
    return best


@inner
def roomiest_part(cap, size):
    """The part with the most room left, or the least excess.

    cap, size : (k,) int64, in
    """
    best = 0
    for j in range(1, len(cap)):
        if cap[j] - size[j] > cap[best] - size[best]:
            best = j
    return best


@kernel
def grow_parts(g, cap, start, full, salt, growth):
    """Assign every vertex by largest gain, k parts at once; returns how many vertices found no part with room.

    A vertex without part is in the imaginary part -1: its gain for part j is conn[v, j] - free[v], where free[v] is
    the weight of its edges to others without part.

    g : Level, in                   with weights of edges; nothing fixed
    cap : (k,) int64, in
    start : (n,) int32, in          the vertices in the order in which they are taken up where nothing else is left
    full : bool                     all are candidates from the beginning; else the first k of `start` are
                                    placed, one per part, and only neighbours of placed vertices are candidates
    salt : int
    growth : Growth, in and out
    """
    part, size, conn, order, free, best, key, tie, heap, pos = growth
    vwgt = g.vwgt
    n, k = len(vwgt), len(cap)
    for v in range(n):
        free[v] = 0
        for e in range(g.xadj[v], g.xadj[v + 1]):
            free[v] += g.ewgt[e]
        key[v] = -free[v]
        tie[v] = mix(v, salt)
    inside = 0
    if full:
        for v in start:
            inside = push(heap, pos, key, tie, inside, v)
    placed = nxt = homeless = 0
    while placed < n:
        if not full and placed < k:
            v = start[placed]
            j = placed
            if size[j] + vwgt[v] > cap[j]:
                j = best_open_part(conn, cap, size, vwgt[v], v)
        else:
            if inside == 0:
                while part[start[nxt]] >= 0:
                    nxt += 1
                inside = push(heap, pos, key, tie, inside, start[nxt])
            v = heap[0]
            j = best[v]
            if j < 0 or size[j] + vwgt[v] > cap[j]:
                # the gain kept for a part that has been closed is too large: file the vertex anew
                j = best_open_part(conn, cap, size, vwgt[v], v)
                if j >= 0:
                    best[v] = j
                    if key[v] != conn[v, j] - free[v]:
                        key[v] = conn[v, j] - free[v]
                        sift_down(heap, pos, key, tie, inside, pos[v])
                        continue
        if j < 0:
            j = roomiest_part(cap, size)
            homeless += 1
        if pos[v] >= 0:
            inside = remove(heap, pos, key, tie, inside, v)
        part[v] = j
        size[j] += vwgt[v]
        order[placed] = v
        placed += 1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            conn[u, j] += g.ewgt[e]
            if part[u] >= 0:
                continue
            free[u] -= g.ewgt[e]
            if best[u] < 0 or conn[u, j] > conn[u, best[u]]:
                best[u] = j
            key[u] = conn[u, best[u]] - free[u]
            if pos[u] < 0:
                inside = push(heap, pos, key, tie, inside, u)
            else:
                sift_up(heap, pos, key, tie, pos[u])
    return homeless
