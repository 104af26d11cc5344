"""K-way FM with rollback: sequential moves in gain order, also downhill, then back to the best prefix.

Fiduccia & Mattheyses 1982 in its k-way form; every vertex moves at most once a pass.
Used for bisections, small levels and, localized, for polishing.
"""

import numpy as np

from . import inlined, kernel
from .refinement import gather, move, scatter


@kernel
def sift_up(heap, pos, key, i):
    """Restore the max-heap upwards from place i."""
    v = heap[i]
    a = key[v]
    while i > 0:
        up = (i - 1) >> 1
        u = heap[up]
        if key[u] >= a:
            break
        heap[i] = u
        pos[u] = i
        i = up
    heap[i] = v
    pos[v] = i


@kernel
def sift_down(heap, pos, key, size, i):
    """Restore the max-heap downwards from place i."""
    v = heap[i]
    a = key[v]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        u = heap[child]
        if a >= key[u]:
            break
        heap[i] = u
        pos[u] = i
        i = child
    heap[i] = v
    pos[v] = i


@kernel
def remove(heap, pos, key, size, v):
    """Take vertex v out of the heap; returns the new size."""
    i = pos[v]
    pos[v] = -1
    size -= 1
    if i == size:
        return size
    u = heap[size]
    heap[i] = u
    pos[u] = i
    if i > 0 and key[heap[(i - 1) >> 1]] < key[u]:
        sift_up(heap, pos, key, i)
    else:
        sift_down(heap, pos, key, size, i)
    return size


@inlined
def best_target(g, pull, part, pwgt, limit, v, conn, touched, result):
    """Best part for v among its neighbours' parts with room: result[0] part or -1, result[1] gain.

    A part over its limit may be left at any loss for a lighter one.  Ties: the lighter part, then the smaller number.
    """
    own = part[v]
    count = gather(g, pull, part, v, conn, touched)
    mine = max(conn[own], 0)
    best = -1
    most = np.int64(-1)
    for j in range(count):
        p = touched[j]
        if p == own or pwgt[p] + g.vwgt[v] > limit[p]:
            continue
        c = conn[p]
        if c > most or (c == most and (pwgt[p] < pwgt[best] or (pwgt[p] == pwgt[best] and p < best))):
            best, most = p, c
    scatter(conn, touched, count)
    result[0] = best
    result[1] = most - mine


@kernel
def fm_pass(g, pull, part, pwgt, population, limit, seeds, stall, heap, pos, key, state, log, conn, touched, result):
    """One pass of k-way FM from the boundary vertices `seeds`; returns the decrease of the cut kept.

    heap, pos (nvtxs,) int32, key (nvtxs,) int64 and state (nvtxs,) uint8 are scratch; pos is -1 and state 0
    everywhere on entry and restored.  log (2, nvtxs) int32 records the moves, result (4,) int64 is scratch.
    The pass ends after `stall` moves beyond the best prefix.  Ties by place in the heap.
    """
    for p in range(len(conn)):
        conn[p] = -1
    size = 0
    for i in range(len(seeds)):
        v = seeds[i]
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            continue
        best_target(g, pull, part, pwgt, limit, v, conn, touched, result)
        if result[0] >= 0:
            key[v] = result[1]
            heap[size] = v
            pos[v] = size
            size += 1
            sift_up(heap, pos, key, size - 1)
    total = np.int64(0)
    best = np.int64(0)
    over = np.int64(0)
    for p in range(len(limit)):
        over += max(pwgt[p] - limit[p], 0)
    best_over = over
    kept = 0
    moves = 0
    while size > 0:
        v = heap[0]
        size = remove(heap, pos, key, size, v)
        own = part[v]
        if population[own] <= 1:
            continue
        best_target(g, pull, part, pwgt, limit, v, conn, touched, result)
        to = result[0]
        if to < 0:
            continue
        now = result[1]
        if now < key[v]:
            # the room or the neighbours have changed since it was queued
            key[v] = now
            heap[size] = v
            pos[v] = size
            size += 1
            sift_up(heap, pos, key, size - 1)
            continue
        over -= max(pwgt[own] - limit[own], 0)
        total += move(g, pull, part, pwgt, population, v, to)
        over += max(pwgt[own] - limit[own], 0)
        state[v] = 1
        log[0, moves] = v
        log[1, moves] = own
        moves += 1
        if over < best_over or (over == best_over and total > best):
            best, best_over, kept = total, over, moves
        elif moves - kept > stall:
            break
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if state[u] != 0 or (len(g.fixed) > 0 and g.fixed[u] >= 0):
                continue
            best_target(g, pull, part, pwgt, limit, u, conn, touched, result)
            if result[0] < 0:
                if pos[u] >= 0:
                    size = remove(heap, pos, key, size, u)
                continue
            fresh = result[1]
            if pos[u] < 0:
                key[u] = fresh
                heap[size] = u
                pos[u] = size
                size += 1
                sift_up(heap, pos, key, size - 1)
            elif fresh > key[u]:
                key[u] = fresh
                sift_up(heap, pos, key, pos[u])
            elif fresh < key[u]:
                key[u] = fresh
                sift_down(heap, pos, key, size, pos[u])
    for i in range(moves - 1, kept - 1, -1):
        v = log[0, i]
        own = part[v]
        to = log[1, i]
        part[v] = to
        pwgt[own] -= g.vwgt[v]
        pwgt[to] += g.vwgt[v]
        population[own] -= 1
        population[to] += 1
    for i in range(moves):
        state[log[0, i]] = 0
    for i in range(size):
        pos[heap[i]] = -1
    result[2] = kept
    return best
