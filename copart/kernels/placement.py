"""Placing processes on processors one to one: pair exchanges, and greedy construction from dense matrices."""

import numpy as np

from . import allocating, kernel
from .distances import processor_distance


@kernel
def gain_of_swap(xadj, adjncy, ewgt, code, place, u, v):
    """What the sum of weight times distance falls by when u and v exchange their processors.

    xadj : (n + 1,) int64, in
    adjncy : (nentries,) int32, in
    ewgt : (nentries,) int64, in    empty where every edge weighs 1
    code : DistanceCode, in
    place : (n,) int32, in          processor of each process
    u, v : int
    """
    p = place[u]
    q = place[v]
    unit = len(ewgt) == 0
    gain = 0.0
    for e in range(xadj[u], xadj[u + 1]):
        x = adjncy[e]
        if x != v:
            c = 1.0 if unit else float(ewgt[e])
            gain += c * (processor_distance(code, p, place[x]) - processor_distance(code, q, place[x]))
    for e in range(xadj[v], xadj[v + 1]):
        x = adjncy[e]
        if x != u:
            c = 1.0 if unit else float(ewgt[e])
            gain += c * (processor_distance(code, q, place[x]) - processor_distance(code, p, place[x]))
    return gain


@allocating
def exchange(xadj, adjncy, ewgt, code, place, load, limit, pinned, ptr, near, block, most):
    """Exchange pairs while that helps: every process with its best partner, cyclically; returns the gain.

    After the first cycle a process is looked at again only once it or a neighbour has moved; when none is left, all
    are looked at once more.  Ends after a full cycle without improvement, or `most` cycles.

    xadj : (n + 1,) int64, in
    adjncy : (nentries,) int32, in
    ewgt : (nentries,) int64, in    empty where every edge weighs 1
    code : DistanceCode, in
    place : (n,) int32, in and out  processor of each process
    load : (n,) int64, in           what each process needs; must fit where it goes
    limit : (nprocs,) int64, in     what each processor has
    pinned : (n,) uint8, in         1 for processes that stay
    ptr : (n + 1,) int64, in        partners of u are near[ptr[u]:ptr[u + 1]]
    near : (npartners,) int32, in   empty: partners are the others of the same block
    block : int                     so many consecutive processes are a block
    most : int
    """
    n = len(place)
    total = 0.0
    awake = np.ones(n, np.uint8)
    everyone = True
    for _ in range(most):
        moved = False
        for u in range(n):
            if pinned[u] == 1 or awake[u] == 0:
                continue
            awake[u] = 0
            best = -1
            most_gain = 1e-9
            if len(near) > 0:
                first, last = ptr[u], ptr[u + 1]
            else:
                first, last = np.int64(u // block * block), np.int64(min((u // block + 1) * block, n))
            for i in range(first, last):
                v = np.int64(i)
                if len(near) > 0:
                    v = np.int64(near[i])
                if v == u or pinned[v] == 1 or load[u] > limit[place[v]] or load[v] > limit[place[u]]:
                    continue
                gain = gain_of_swap(xadj, adjncy, ewgt, code, place, u, v)
                if gain > most_gain:
                    best, most_gain = v, gain
            if best >= 0:
                place[u], place[best] = place[best], place[u]
                total += most_gain
                moved = True
                for x in (u, best):
                    awake[x] = 1
                    for e in range(xadj[x], xadj[x + 1]):
                        awake[adjncy[e]] = 1
        if not moved:
            if everyone:
                break
            awake[:] = 1
        everyone = not moved
    return total


@kernel
def list_near(xadj, adjncy, reach, most, ptr, near, seen, queue):
    """Processes within `reach` edges of each one, nearest first, at most `most`; returns how many in all.

    xadj : (n + 1,) int64, in
    adjncy : (nentries,) int32, in
    reach, most : int
    ptr : (n + 1,) int64, out       those of v are near[ptr[v]:ptr[v + 1]]
    near : (count,) int32, out      or empty: they are only counted
    seen : (n,) int32, scratch      -1 everywhere before
    queue : (n,) int32, scratch
    """
    n = len(xadj) - 1
    count = 0
    ptr[0] = 0
    for v in range(n):
        seen[v] = v
        queue[0] = v
        head, tail, depth, end = 0, 1, 0, 1
        while head < tail and depth < reach and tail <= most:
            x = queue[head]
            head += 1
            for e in range(xadj[x], xadj[x + 1]):
                y = adjncy[e]
                if seen[y] != v:
                    seen[y] = v
                    queue[tail] = y
                    tail += 1
            if head == end:
                depth += 1
                end = tail
        for i in range(1, min(tail, most + 1)):
            if len(near) > 0:
                near[count] = queue[i]
            count += 1
        ptr[v + 1] = count
    return count


@allocating
def merbach(flow, distance, order, spot):
    """Greedy of Mueller-Merbach on dense matrices, n <= m.

    The process with most traffic goes to the processor with the smallest sum of distances; then always the
    process with most traffic to those placed, to the free processor nearest to those taken.  Ties: lowest number.

    flow : (n, n) float64, in
    distance : (m, m) float64, in
    order : (n,) int64, out         processes as they are placed
    spot : (n,) int64, out          processor of each of them
    """
    n, m = len(flow), len(distance)
    talk, away = np.zeros(n), np.zeros(m)
    for i in range(n):
        for j in range(n):
            talk[i] += flow[i, j] + flow[j, i]
    for p in range(m):
        for q in range(m):
            away[p] += distance[p, q] + distance[q, p]
    placed, taken = np.zeros(n, np.uint8), np.zeros(m, np.uint8)
    for step in range(n):
        i = -1
        for x in range(n):
            if placed[x] == 0 and (i < 0 or talk[x] > talk[i]):
                i = x
        p = -1
        for y in range(m):
            if taken[y] == 0 and (p < 0 or away[y] < away[p]):
                p = y
        if step == 0:
            for x in range(n):
                talk[x] = 0.0
            for y in range(m):
                away[y] = 0.0
        placed[i], taken[p] = 1, 1
        order[step], spot[step] = i, p
        for x in range(n):
            talk[x] += flow[x, i] + flow[i, x]
        for y in range(m):
            away[y] += distance[y, p] + distance[p, y]
