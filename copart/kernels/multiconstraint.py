"""K-way refinement under several balance constraints: FM with rollback.

Every vertex has a row of ``ncon`` weights and every part a row of ``ncon`` limits.  The *excess* of a part is
what it holds above its limits, each constraint measured in its own unit (`Loads.scale`), and summed; a partition
is feasible where no part has any.  (Karypis & Kumar 1998, *Multilevel algorithms for multi-constraint graph
partitioning*, Sections 4 and 5.)
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .connectivity import connect
from .heap import push, put, remove, sift_down

LOCKED, PINNED = 1, 2
"""Values of `Scratch.state`: moved in this pass, never to be moved."""


class Loads(NamedTuple):
    """Weights and limits of n vertices and nparts parts, C-ordered.

    vwgts : (n, ncon) int64, weights of each vertex
    limits : (nparts, ncon) int64, largest weights of each part
    scale : (ncon,) int64, units of excess per unit of weight
    pwgts : (nparts, ncon) int64, weights of each part
    population : (nparts,) int64, vertices of each part
    """

    vwgts: Any
    limits: Any
    scale: Any
    pwgts: Any
    population: Any


@kernel
def weigh(part, loads):
    """Fill loads.pwgts and loads.population from `part`.

    part : (n,) int32, in
    loads : Loads, in and out
    """
    loads.pwgts[:] = 0
    loads.population[:] = 0
    ncon = loads.vwgts.shape[1]
    for v in range(len(part)):
        p = part[v]
        loads.population[p] += 1
        for c in range(ncon):
            loads.pwgts[p, c] += loads.vwgts[v, c]


@kernel
def sum_rows(cmap, vwgts, coarse):
    """Add the weights of the vertices of each cluster.

    cmap : (n,) int32, in                       cluster of each vertex
    vwgts : (n, ncon) int64, in
    coarse : (ncoarse, ncon) int64, in and out  weights of each cluster, 0 before
    """
    for v in range(len(cmap)):
        for c in range(vwgts.shape[1]):
            coarse[cmap[v], c] += vwgts[v, c]


@kernel
def total_excess(loads):
    """Excess of all parts.

    loads : Loads, in
    """
    total = np.int64(0)
    for p in range(loads.limits.shape[0]):
        for c in range(loads.limits.shape[1]):
            over = loads.pwgts[p, c] - loads.limits[p, c]
            if over > 0:
                total += over * loads.scale[c]
    return total


@inlined
def relief(loads, v, own, to):
    """Decrease of the excess when v moves from part `own` to part `to`; not negative where `to` has room.

    loads : Loads, in
    v, own, to : int
    """
    total = np.int64(0)
    for c in range(loads.limits.shape[1]):
        w = loads.vwgts[v, c]
        if w > 0:
            out = loads.pwgts[own, c] - loads.limits[own, c]
            into = loads.pwgts[to, c] + w - loads.limits[to, c]
            if out > 0:
                total += min(out, w) * loads.scale[c]
            if into > 0:
                total -= min(into, w) * loads.scale[c]
    return total


@inlined
def shift(loads, part, v, to):
    """Move v to part `to`.

    loads : Loads, in and out
    part : (n,) int32, in and out
    v, to : int
    """
    own = part[v]
    part[v] = to
    loads.population[own] -= 1
    loads.population[to] += 1
    for c in range(loads.limits.shape[1]):
        w = loads.vwgts[v, c]
        loads.pwgts[own, c] -= w
        loads.pwgts[to, c] += w


@inlined
def best_move(g, loads, part, v, conn, touched):
    """The best part for v among those it touches and that may take it: (part or -1, decrease of the cut).

    Ties go to the move that takes away more excess, then to the part met first.

    g : Level, in
    loads : Loads, in
    part : (n,) int32, in
    v : int
    conn : (nparts,) int64, scratch     -1 everywhere before and after
    touched : (nparts,) int32, scratch
    """
    own = part[v]
    count = connect(g, part, v, conn, touched)
    mine = max(conn[own], 0)
    best = -1
    most = np.int64(-1)
    ease = np.int64(0)
    for i in range(count):
        p = touched[i]
        c = conn[p]
        conn[p] = -1
        if p == own or c < most:
            continue
        here = relief(loads, v, own, p)
        if here >= 0 and (c > most or here > ease):
            best, most, ease = p, c, here
    return best, most - mine


HUB = 64
"""Neighbours above which a vertex is not looked at whenever one of them moves: all moves around it would cost that."""


@kernel
def kway_pass(g, loads, part, stall, s):
    """One pass of k-way FM with rollback; returns the decrease of the cut.

    A vertex moves at most once, to a part that has room for all its weights, or where the excess shrinks.
    Vertices of more than `HUB` neighbours are looked at anew only when it is their turn.
    The pass ends after `stall` moves beyond the best prefix, best by excess and then by cut, to which it rolls back.

    g : Level, in
    loads : Loads, in and out
    part : (n,) int32, in and out
    stall : int
    s : Scratch, in and out         clean before and after
    """
    n = len(part)
    size = np.int64(0)
    for v in range(n):
        if s.state[v] == PINNED:
            continue
        own = part[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if part[g.adjncy[e]] != own:
                to, gain = best_move(g, loads, part, v, s.conn, s.touched)
                if to >= 0:
                    s.key[v] = gain
                    size = push(s.heap, s.pos, s.key, s.key, size, v)
                break
    total = np.int64(0)
    best = np.int64(0)
    over = total_excess(loads)
    best_over = over
    moves = 0
    kept = 0
    while size > 0:
        v = s.heap[0]
        own = part[v]
        to, gain = best_move(g, loads, part, v, s.conn, s.touched)
        if to >= 0 and gain < s.key[v]:
            # room has gone since it was listed
            s.key[v] = gain
            sift_down(s.heap, s.pos, s.key, s.key, size, 0)
            continue
        size = remove(s.heap, s.pos, s.key, s.key, size, v)
        if to < 0 or loads.population[own] <= 1:
            continue
        over -= relief(loads, v, own, to)
        shift(loads, part, v, to)
        total += gain
        s.state[v] = LOCKED
        s.log[0, moves] = v
        s.log[1, moves] = own
        moves += 1
        if over < best_over or (over == best_over and total > best):
            best_over, best, kept = over, total, moves
        elif moves - kept > stall:
            break
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if s.state[u] != 0 or g.xadj[u + 1] - g.xadj[u] > HUB:
                continue
            to, gain = best_move(g, loads, part, u, s.conn, s.touched)
            if to < 0:
                if s.pos[u] >= 0:
                    size = remove(s.heap, s.pos, s.key, s.key, size, u)
            else:
                size = put(s.heap, s.pos, s.key, s.key, size, u, gain)
    for i in range(size):
        s.pos[s.heap[i]] = -1
    for i in range(moves - 1, -1, -1):
        v = s.log[0, i]
        s.state[v] = 0
        if i >= kept:
            shift(loads, part, v, s.log[1, i])
    return best
