"""Moves that leave every part in one piece."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .refinement import gather, move, scatter


class Scratch(NamedTuple):
    """Memory for a graph of n vertices and nparts parts.

    conn : (nparts,) int64, connectivity of a vertex to each part
    touched : (nparts,) int32, the parts it touches
    mark : (n,) int64, below twice any stamp yet to come
    queue : (n,) int32, vertices of a search
    """

    conn: Any
    touched: Any
    mark: Any
    queue: Any


@inlined
def stays_connected(g, part, v, stamp, mark, queue):
    """Whether the neighbours of v in its part reach one another there without v.

    g : Level, in
    part : (nvtxs,) int32, in
    v : int
    stamp : int                         larger than at any call before
    mark : (nvtxs,) int64, in and out   2 * stamp for those to be found, 2 * stamp + 1 for what has been visited
    queue : (nvtxs,) int32, scratch
    """
    own = part[v]
    wanted = 0
    first = -1
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        if part[u] == own and mark[u] != 2 * stamp:
            mark[u] = 2 * stamp
            wanted += 1
            first = u
    if wanted > 1:
        mark[v] = 2 * stamp + 1
        mark[first] = 2 * stamp + 1
        wanted -= 1
        queue[0] = first
        tail = 1
        head = 0
        while head < tail and wanted > 0:
            x = queue[head]
            head += 1
            for e in range(g.xadj[x], g.xadj[x + 1]):
                u = g.adjncy[e]
                if part[u] != own or mark[u] == 2 * stamp + 1:
                    continue
                if mark[u] == 2 * stamp:
                    wanted -= 1
                mark[u] = 2 * stamp + 1
                queue[tail] = u
                tail += 1
        return wanted == 0
    return True


@inlined
def touches(g, part, v, p):
    """Whether vertex v has a neighbour in part p.

    g : Level, in
    part : (nvtxs,) int32, in
    v, p : int
    """
    found = False
    for e in range(g.xadj[v], g.xadj[v + 1]):
        if part[g.adjncy[e]] == p:
            found = True
            break
    return found


@kernel
def contiguous_moves(order, relieve, g, pull, part, pwgt, population, limit, stamp, scratch):
    """Move the vertices `order` to better neighbouring parts with room, each part staying in one piece.

    relieve: only out of parts over their limits, at any loss; else only where the cut falls, or stays
    and the heavier part gives.  Returns (decrease of the cut, moves, last stamp).

    order : (norder,) int32, in
    relieve : bool
    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in and out
    pwgt, population : (nparts,) int64, in and out
    limit : (nparts,) int64, in
    stamp : int                     the last one used
    scratch : Scratch, scratch
    """
    conn, touched, mark, queue = scratch
    for p in range(len(conn)):
        conn[p] = -1
    total = np.int64(0)
    moves = 0
    for i in range(len(order)):
        v = order[i]
        own = part[v]
        w = g.vwgt[v]
        if population[own] <= 1 or (len(g.fixed) > 0 and g.fixed[v] >= 0):
            continue
        if relieve and (pwgt[own] <= limit[own] or w == 0):
            continue
        count = gather(g, pull, part, v, conn, touched)
        mine = max(conn[own], 0)
        best = -1
        most = np.int64(-1)
        for j in range(count):
            p = touched[j]
            if p == own or pwgt[p] + w > limit[p]:
                continue
            if conn[p] > most or (conn[p] == most and pwgt[p] < pwgt[best]):
                best, most = p, conn[p]
        scatter(conn, touched, count)
        if best < 0:
            continue
        if not relieve and (most < mine or (most == mine and pwgt[best] + w >= pwgt[own])):
            continue
        # an affinity may name a part that v does not touch
        stamp += 1
        if touches(g, part, v, best) and stays_connected(g, part, v, stamp, mark, queue):
            total += move(g, pull, part, pwgt, population, v, best)
            moves += 1
    return total, moves, stamp


@kernel
def contiguous_hop(g, pull, part, population, here, there, room, vertices, stamp, scratch):
    """The vertex among `vertices` of part `here` beside `there`, no heavier than `room`, whose move costs least.

    Part `here` stays in one piece.  Returns (vertex or -1, last stamp).

    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in
    population : (nparts,) int64, in
    here, there, room : int
    vertices : (nvertices,) int32, in
    stamp : int                     the last one used
    scratch : Scratch, scratch
    """
    conn, touched, mark, queue = scratch
    for p in range(len(conn)):
        conn[p] = -1
    best = -1
    most = np.int64(0)
    if population[here] <= 1:
        return best, stamp
    for i in range(len(vertices)):
        v = vertices[i]
        w = g.vwgt[v]
        if part[v] != here or w == 0 or w > room or (len(g.fixed) > 0 and g.fixed[v] >= 0):
            continue
        if not touches(g, part, v, there):
            continue
        count = gather(g, pull, part, v, conn, touched)
        won = conn[there] - max(conn[here], 0)
        scatter(conn, touched, count)
        if best < 0 or won > most:
            stamp += 1
            if stays_connected(g, part, v, stamp, mark, queue):
                best, most = v, won
    return best, stamp


@kernel
def piece_ties(g, part, piece, loose, tie):
    """Edges from loose pieces to pieces that stay; returns how many there are.

    g : Level, in
    part : (nvtxs,) int32, in
    piece : (nvtxs,) int32, in
    loose : (npieces,) bool, in
    tie : (m, 3) int64, out         piece, part beyond and weight of each; only as many as fit
    """
    at = 0
    for v in range(len(part)):
        p = piece[v]
        if not loose[p]:
            continue
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if part[u] == part[v] or loose[piece[u]]:
                continue
            if at < len(tie):
                tie[at, 0] = p
                tie[at, 1] = part[u]
                if len(g.ewgt) == 0:
                    tie[at, 2] = 1
                else:
                    tie[at, 2] = g.ewgt[e]
            at += 1
    return at
