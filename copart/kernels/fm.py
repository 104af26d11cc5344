"""Two-way FM with rollback (Fiduccia & Mattheyses 1982), and its max-heap of vertices with their places."""

import numpy as np

from . import kernel


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


@kernel
def two_way_pass(g, side, pwgt, population, limit, stall, key, heap, size, pos, state, log):
    """One pass of FM with two parts; returns (decrease of the cut kept, excess left, cut before).

    Every vertex moves at most once; the pass ends after `stall` moves beyond the best prefix, to which it
    rolls back.  A side over its limit gives first.  Gains are kept up to date by edge.
    """
    n = len(g.vwgt)
    unit = len(g.ewgt) == 0
    size[:] = 0
    heavy = pwgt[0] > limit[0] or pwgt[1] > limit[1]
    cut = np.int64(0)
    for v in range(n):
        own = side[v]
        out = np.int64(0)
        inside = np.int64(0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if unit:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            if side[g.adjncy[e]] == own:
                inside += w
            else:
                out += w
        key[v] = out - inside
        cut += out
        if out > 0 or heavy:
            heap[own, size[own]] = v
            pos[v] = size[own]
            size[own] += 1
            sift_up(heap[own], pos, key, size[own] - 1)
    over = max(pwgt[0] - limit[0], 0) + max(pwgt[1] - limit[1], 0)
    total = np.int64(0)
    best = np.int64(0)
    best_over = over
    kept = 0
    moves = 0
    while True:
        for s in range(2):
            # the best of each side that the other side has room for
            while size[s] > 0 and pwgt[s] <= limit[s]:
                v = heap[s, 0]
                if pwgt[1 - s] + g.vwgt[v] <= limit[1 - s]:
                    break
                size[s] = remove(heap[s], pos, key, size[s], v)
        if pwgt[0] > limit[0]:
            own = 0
        elif pwgt[1] > limit[1] or size[0] == 0:
            own = 1
        elif size[1] == 0:
            own = 0
        else:
            a = key[heap[0, 0]]
            b = key[heap[1, 0]]
            own = 0 if a > b or (a == b and pwgt[0] * limit[1] >= pwgt[1] * limit[0]) else 1
        if size[own] == 0 or population[own] <= 1:
            break
        v = heap[own, 0]
        size[own] = remove(heap[own], pos, key, size[own], v)
        to = 1 - own
        total += key[v]
        side[v] = to
        pwgt[own] -= g.vwgt[v]
        pwgt[to] += g.vwgt[v]
        population[own] -= 1
        population[to] += 1
        state[v] = 1
        log[0, moves] = v
        moves += 1
        over = max(pwgt[0] - limit[0], 0) + max(pwgt[1] - limit[1], 0)
        if over < best_over or (over == best_over and total > best):
            best, best_over, kept = total, over, moves
        elif moves - kept > stall:
            break
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if unit:
                w = np.int64(2)
            else:
                w = 2 * g.ewgt[e]
            s = side[u]
            if s == to:
                key[u] -= w
                if pos[u] >= 0:
                    sift_down(heap[s], pos, key, size[s], pos[u])
            else:
                key[u] += w
                if pos[u] >= 0:
                    sift_up(heap[s], pos, key, pos[u])
                elif state[u] == 0:
                    heap[s, size[s]] = u
                    pos[u] = size[s]
                    size[s] += 1
                    sift_up(heap[s], pos, key, size[s] - 1)
    for i in range(moves - 1, kept - 1, -1):
        v = log[0, i]
        own = side[v]
        side[v] = 1 - own
        pwgt[own] -= g.vwgt[v]
        pwgt[1 - own] += g.vwgt[v]
        population[own] -= 1
        population[1 - own] += 1
    for i in range(moves):
        state[log[0, i]] = 0
    for s in range(2):
        for i in range(size[s]):
            pos[heap[s, i]] = -1
    return best, best_over, cut // 2
