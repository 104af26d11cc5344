"""K-way greedy graph growing (KGGGP): all parts grow at once from their seeds.

At each step, over all pairs (free vertex, part with room), the pair of best gain
is taken: the weight of the vertex' edges into the part minus that into other
parts, ties to the lighter part (Predari & Esnard 2014, Section IV).
"""

import numpy as np

from . import inlined, kernel
from .rng import mix


@kernel
def push(gain, tie, who, where, size, a, b, v, p):
    """Add an entry to the max-heap; returns the new size."""
    i = size
    while i > 0:
        up = (i - 1) >> 1
        if gain[up] > a or (gain[up] == a and tie[up] >= b):
            break
        gain[i], tie[i], who[i], where[i] = gain[up], tie[up], who[up], where[up]
        i = up
    gain[i], tie[i], who[i], where[i] = a, b, v, p
    return size + 1


@kernel
def pop(gain, tie, who, where, size):
    """Remove the top entry (read it before); returns the new size."""
    size -= 1
    a, b, v, p = gain[size], tie[size], who[size], where[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and (
            gain[child + 1] > gain[child] or (gain[child + 1] == gain[child] and tie[child + 1] > tie[child])
        ):
            child += 1
        if a > gain[child] or (a == gain[child] and b >= tie[child]):
            break
        gain[i], tie[i], who[i], where[i] = gain[child], tie[child], who[child], where[child]
        i = child
    gain[i], tie[i], who[i], where[i] = a, b, v, p
    return size


@inlined
def growing_gain(g, pull, part, v, p):
    """Weight of the edges of v into part p minus that into other parts; free neighbours do not count."""
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


@kernel
def grow(g, pull, part, pwgt, room, salt, gain, tie, who, where):
    """Grow all parts until every vertex has one.

    part (nvtxs,) int32 holds the seeds and -1 elsewhere, and is completed; pwgt (nparts,) int64
    is kept up to date; a part is closed to a vertex that would lift it over room (nparts,) int64.
    gain, tie int64 and who, where int32 are the heap, with room for 2 * nedges + nvtxs + affinity pairs.
    Returns how many vertices were placed without a frontier.
    """
    n = len(part)
    nparts = len(pwgt)
    size = 0
    for v in range(n):
        if part[v] >= 0:
            continue
        # each frontier part of v once: entries are stamped by scanning earlier neighbours only
        for e in range(g.xadj[v], g.xadj[v + 1]):
            p = part[g.adjncy[e]]
            if p >= 0:
                size = push(gain, tie, who, where, size, growing_gain(g, pull, part, v, p), -pwgt[p], v, p)
        if len(g.origin) > 0:
            row = g.origin[v]
            for j in range(pull.ptr[row], pull.ptr[row + 1]):
                p = pull.idx[j]
                size = push(gain, tie, who, where, size, growing_gain(g, pull, part, v, p), -pwgt[p], v, p)
    stray = 0
    start = mix(salt, 77) % max(n, 1)
    step = 0
    while True:
        placed = -1
        if size > 0:
            a = gain[0]
            v = who[0]
            p = where[0]
            size = pop(gain, tie, who, where, size)
            if part[v] >= 0 or pwgt[p] + g.vwgt[v] > room[p]:
                continue
            now = growing_gain(g, pull, part, v, p)
            if now < a:
                # gains only fall between pushes, so the entry was an overestimate
                size = push(gain, tie, who, where, size, now, -pwgt[p], v, p)
                continue
            part[v] = p
            pwgt[p] += g.vwgt[v]
            placed = v
        else:
            while step < n and part[(start + step) % n] >= 0:
                step += 1
            if step == n:
                break
            v = (start + step) % n
            best = -1
            for e in range(g.xadj[v], g.xadj[v + 1]):
                q = part[g.adjncy[e]]
                if q >= 0 and pwgt[q] + g.vwgt[v] <= room[q] and (best < 0 or pwgt[q] < pwgt[best]):
                    best = q
            if best < 0:
                # the part with most room left, relative to its size
                slack = -np.inf
                for q in range(nparts):
                    s = float(room[q] - pwgt[q]) / float(max(room[q], 1))
                    if s > slack:
                        best, slack = q, s
            part[v] = best
            pwgt[best] += g.vwgt[v]
            stray += 1
            placed = v
        p = part[placed]
        for e in range(g.xadj[placed], g.xadj[placed + 1]):
            u = g.adjncy[e]
            if part[u] < 0 and pwgt[p] + g.vwgt[u] <= room[p]:
                size = push(gain, tie, who, where, size, growing_gain(g, pull, part, u, p), -pwgt[p], u, p)
    return stray


@kernel
def spread_seeds(g, part, pwgt, population, dist, queue, salt):
    """Give every empty part a free vertex, each as far as possible from all assigned ones.

    Distances in edges, kept up to date by breadth-first search (dist, queue (nvtxs,) int32
    scratch).  Ties by hash.  Returns the number of parts left empty for lack of free vertices.
    """
    n = len(part)
    far = 2147483647
    tail = 0
    for v in range(n):
        dist[v] = far
        if part[v] >= 0:
            dist[v] = 0
            queue[tail] = v
            tail += 1
    empty = 0
    for p in range(len(pwgt)):
        if population[p] > 0:
            continue
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
    """The vertex of each part that lies deepest inside it: centre (nparts,) int32, -1 for an empty part.

    Depth in edges from the part's border; ties to the smaller vertex.  Fixed vertices are skipped.
    """
    n = len(part)
    tail = 0
    for p in range(len(centre)):
        centre[p] = -1
    for v in range(n):
        dist[v] = -1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if part[g.adjncy[e]] != part[v]:
                dist[v] = 0
                queue[tail] = v
                tail += 1
                break
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if dist[u] < 0:
                dist[u] = dist[v] + 1
                queue[tail] = u
                tail += 1
    for v in range(n):
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            continue
        p = part[v]
        if centre[p] < 0 or dist[v] > dist[centre[p]]:
            centre[p] = v
