"""Refinement of a mapping: k-way FM whose gains count distances between processors.

A vertex on processor p costs the sum over its neighbours u of w(v, u) dist(p, part[u]).  Where
`g.origin` is given, one more neighbour sits on processor origin[v], joined with weight size[v]: the price of
leaving an old place.
"""

import numpy as np

from . import inlined, inner, kernel
from .connectivity import connect
from .distances import processor_distance
from .heap import push, put, remove

CANDIDATES = 12
"""Processors that a vertex may move to at a time: those it has most to do with."""


@inlined
def touch(g, part, v, conn, touched):
    """`connect` with the old place of v as one more neighbour; returns how many processors are touched.

    g : Level, in
    part : (nvtxs,) int32, in
    v : int
    conn : (nprocs,) int64, in and out  -1 everywhere before; whoever calls puts it back
    touched : (nprocs + 1,) int32, out
    """
    count = connect(g, part, v, conn, touched)
    if len(g.origin) > 0:
        p = g.origin[v]
        if conn[p] < 0:
            conn[p] = 0
            touched[count] = p
            count += 1
        conn[p] += g.size[v]
    return count


@inlined
def cost_at(code, q, conn, touched, count, most):
    """What a vertex costs on processor q; where that is more than `most`, some number above it.

    code : DistanceCode, in
    q : int
    conn : (nprocs,) int64, in          weight of its edges to each processor
    touched : (nprocs + 1,) int32, in   the processors that it has edges to
    count : int                         how many
    most : float
    """
    cost = 0.0
    for j in range(count):
        cost += conn[touched[j]] * processor_distance(code, q, touched[j])
        if cost > most:
            break
    return cost


@inner
def seek(g, code, part, pwgt, limit, v, conn, touched):
    """The best processor with room for v among those it talks to, and the gain.

    -1 where there is none.  Ties: the lighter processor, then the smaller number.

    g : Level, in
    code : DistanceCode, in
    part : (nvtxs,) int32, in
    pwgt, limit : (nprocs,) int64, in
    v : int
    conn : (nprocs,) int64, scratch     -1 everywhere before and after
    touched : (nprocs + 1,) int32, scratch
    """
    count = touch(g, part, v, conn, touched)
    own = part[v]
    w = g.vwgt[v]
    best = -1
    least = np.inf
    here = cost_at(code, own, conn, touched, count, least)
    bar = np.int64(-1)
    if count > CANDIDATES:
        # a connectivity that about CANDIDATES processors reach
        top = np.int64(0)
        for j in range(count):
            top = max(top, conn[touched[j]])
        bar = top
        while bar > 0:
            above = 0
            for j in range(count):
                if conn[touched[j]] >= bar:
                    above += 1
            if above >= CANDIDATES:
                break
            bar //= 2
    tried = 0
    for i in range(count):
        q = touched[i]
        if q == own or conn[q] < bar or pwgt[q] + w > limit[q]:
            continue
        tried += 1
        if tried > 2 * CANDIDATES:
            break
        cost = cost_at(code, q, conn, touched, count, least)
        if cost < least or (cost == least and (pwgt[q] < pwgt[best] or (pwgt[q] == pwgt[best] and q < best))):
            best, least = q, cost
    for j in range(count):
        conn[touched[j]] = -1
    return best, here - least


@kernel
def mapping_cost(g, code, part):
    """Sum over the edges of weight times distance, and what the old places cost.

    g : Level, in
    code : DistanceCode, in
    part : (nvtxs,) int32, in
    """
    unit = len(g.ewgt) == 0
    total = 0.0
    for v in range(len(part)):
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if u < v and part[u] != part[v]:
                if unit:
                    total += processor_distance(code, part[u], part[v])
                else:
                    total += g.ewgt[e] * processor_distance(code, part[u], part[v])
        if len(g.origin) > 0:
            total += g.size[v] * processor_distance(code, part[v], g.origin[v])
    return total


@kernel
def improve(g, code, scale, part, pwgt, limit, stall, scratch):
    """One pass of k-way FM: every free vertex moves at most once, best gain first; rolled back to the best prefix.

    Ends after `stall` moves beyond it.  Returns the decrease of the cost.

    g : Level, in
    code : DistanceCode, in
    scale : float                   turns gains into the whole numbers of the heap
    part : (nvtxs,) int32, in and out
    pwgt : (nprocs,) int64, in and out
    limit : (nprocs,) int64, in
    stall : int
    scratch : Scratch, scratch
    """
    key, heap, pos, state, log, conn, touched = scratch
    n = len(part)
    size = np.int64(0)
    for v in range(n):
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            state[v] = 1
            continue
        own = part[v]
        inner = len(g.origin) == 0 or g.origin[v] == own
        if inner:
            for e in range(g.xadj[v], g.xadj[v + 1]):
                if part[g.adjncy[e]] != own:
                    inner = False
                    break
        if not inner:
            to, gain = seek(g, code, part, pwgt, limit, v, conn, touched)
            if to >= 0:
                key[v] = np.int64(gain * scale)
                size = push(heap, pos, key, key, size, v)
    total = 0.0
    best = 0.0
    kept = 0
    moves = 0
    while size > 0:
        v = heap[0]
        size = remove(heap, pos, key, key, size, v)
        to, gain = seek(g, code, part, pwgt, limit, v, conn, touched)
        if to < 0:
            continue
        now = np.int64(gain * scale)
        if now < key[v] and size > 0 and now < key[heap[0]]:
            # room or a neighbour has changed since: back into the queue
            key[v] = now
            size = push(heap, pos, key, key, size, v)
            continue
        own = part[v]
        part[v] = to
        pwgt[own] -= g.vwgt[v]
        pwgt[to] += g.vwgt[v]
        state[v] = 1
        log[0, moves], log[1, moves] = v, own
        moves += 1
        total += gain
        if total > best + 1e-9:
            best, kept = total, moves
        elif moves - kept > stall:
            break
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if state[u] == 1:
                continue
            to, gain = seek(g, code, part, pwgt, limit, u, conn, touched)
            if to < 0:
                if pos[u] >= 0:
                    size = remove(heap, pos, key, key, size, u)
                continue
            size = put(heap, pos, key, key, size, u, np.int64(gain * scale))
    for i in range(moves - 1, kept - 1, -1):
        v = log[0, i]
        own, to = part[v], log[1, i]
        part[v] = to
        pwgt[own] -= g.vwgt[v]
        pwgt[to] += g.vwgt[v]
    for i in range(moves):
        state[log[0, i]] = 0
    for i in range(size):
        pos[heap[i]] = -1
    if len(g.fixed) > 0:
        for v in range(n):
            state[v] = 0
    return best


@inner
def seek_anywhere(g, code, part, pwgt, limit, v, conn, touched):
    """As `seek`, among all processors; ties: the smaller number.

    g : Level, in
    code : DistanceCode, in
    part : (nvtxs,) int32, in
    pwgt, limit : (nprocs,) int64, in
    v : int
    conn : (nprocs,) int64, scratch     -1 everywhere before and after
    touched : (nprocs + 1,) int32, scratch
    """
    count = touch(g, part, v, conn, touched)
    own = part[v]
    best = -1
    least = np.inf
    here = cost_at(code, own, conn, touched, count, least)
    for q in range(len(limit)):
        if q == own or pwgt[q] + g.vwgt[v] > limit[q]:
            continue
        cost = cost_at(code, q, conn, touched, count, least)
        if cost < least:
            best, least = q, cost
    for j in range(count):
        conn[touched[j]] = -1
    return best, here - least


@kernel
def relieve(g, code, scale, part, pwgt, limit, anywhere, scratch):
    """Move vertices out of overloaded processors, least loss per unit of weight first; returns the excess left.

    g : Level, in
    code : DistanceCode, in
    scale : float                   turns gains into the whole numbers of the heap
    part : (nvtxs,) int32, in and out
    pwgt : (nprocs,) int64, in and out
    limit : (nprocs,) int64, in
    anywhere : bool                 to any processor with room, else to those that a vertex talks to
    scratch : Scratch, scratch
    """
    key, heap, pos, conn, touched = scratch.key, scratch.heap, scratch.pos, scratch.conn, scratch.touched
    n = len(part)
    size = np.int64(0)
    for v in range(n):
        if pwgt[part[v]] <= limit[part[v]] or g.vwgt[v] == 0 or (len(g.fixed) > 0 and g.fixed[v] >= 0):
            continue
        if anywhere:
            to, gain = seek_anywhere(g, code, part, pwgt, limit, v, conn, touched)
        else:
            to, gain = seek(g, code, part, pwgt, limit, v, conn, touched)
        if to >= 0:
            key[v] = np.int64(scale * gain / g.vwgt[v])
            size = push(heap, pos, key, key, size, v)
    while size > 0:
        v = heap[0]
        size = remove(heap, pos, key, key, size, v)
        own = part[v]
        if pwgt[own] <= limit[own]:
            continue
        if anywhere:
            to, gain = seek_anywhere(g, code, part, pwgt, limit, v, conn, touched)
        else:
            to, gain = seek(g, code, part, pwgt, limit, v, conn, touched)
        if to < 0:
            continue
        now = np.int64(scale * gain / g.vwgt[v])
        if now < key[v] and size > 0 and now < key[heap[0]]:
            key[v] = now
            size = push(heap, pos, key, key, size, v)
            continue
        part[v] = to
        pwgt[own] -= g.vwgt[v]
        pwgt[to] += g.vwgt[v]
    over = np.int64(0)
    for p in range(len(limit)):
        over += max(pwgt[p] - limit[p], 0)
    return over
