"""Moves that leave every part in one piece."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .connectivity import gather, scatter
from .moves import transfer


class Scratch(NamedTuple):
    """Memory for a graph of n vertices and nparts parts.

    conn : (nparts,) int64, connectivity of a vertex to each part
    touched : (nparts,) int32, the parts it touches
    mark : (n,) int64, what the searches of a call have reached; 0 at first
    behind : (n,) int32, queues of the searches
    search : (4, largest degree) int32, state of the searches
    held : (n,) bool, vertices known to hold their part together
    """

    conn: Any
    touched: Any
    mark: Any
    behind: Any
    search: Any
    held: Any


@inlined
def stays_connected(g, part, v, stamp, mark, behind, search):
    """Whether the neighbours of v in its part reach one another there without v.

    A search begins at each of them, and they take turns vertex by vertex: where v holds two regions together,
    the work ends with the smaller one.

    g : Level, in
    part : (nvtxs,) int32, in
    v : int
    stamp : int                         larger than at any call before
    mark : (nvtxs,) int64, in and out   stamp << 32 plus the number of the search, for what has been reached
    behind : (nvtxs,) int32, scratch    next vertex in the queue of a search
    search : (4, largest degree) int32, scratch     for each search: the one it has joined, the first and the last
                                                    vertex of its queue; last row: searches that go on
    """
    own = part[v]
    joined, first, last, going = search[0], search[1], search[2], search[3]
    apart = 0
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        if part[u] == own and u != v and mark[u] >> 32 != stamp:
            mark[u] = (stamp << 32) + apart
            joined[apart] = going[apart] = apart
            first[apart] = last[apart] = u
            apart += 1
    ngoing = apart
    turn = 0
    while apart > 1:
        if turn >= ngoing:
            turn = 0
        r = np.int64(going[turn])
        if joined[r] != r:
            ngoing -= 1
            going[turn] = going[ngoing]
            continue
        x = first[r]
        for e in range(g.xadj[x], g.xadj[x + 1]):
            u = g.adjncy[e]
            if part[u] != own or u == v:
                continue
            if mark[u] >> 32 != stamp:
                mark[u] = (stamp << 32) + r
                behind[last[r]] = u
                last[r] = u
                continue
            s = mark[u] & 0xFFFFFFFF
            while joined[s] != s:
                s = joined[s]
            if s != r:
                joined[s] = r
                behind[last[r]] = first[s]
                last[r] = last[s]
                apart -= 1
        if x == last[r]:
            break
        first[r] = behind[x]
        turn += 1
    return apart <= 1


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
    conn, touched, mark, behind, search, _ = scratch
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
        if touches(g, part, v, best) and stays_connected(g, part, v, stamp, mark, behind, search):
            total += most - mine
            transfer(g, part, pwgt, population, v, best)
            moves += 1
    return total, moves, stamp


@kernel
def contiguous_hop(g, pull, part, population, here, there, room, vertices, stamp, scratch):
    """The vertex among `vertices` of part `here` beside `there`, no heavier than `room`, whose move costs least.

    Part `here` stays in one piece.  Returns (vertex or -1, last stamp).  Vertices once found to hold the part
    together are noted in `scratch.held` and not looked at again: each look may go through the whole part.

    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in
    population : (nparts,) int64, in
    here, there, room : int
    vertices : (nvertices,) int32, in
    stamp : int                     the last one used
    scratch : Scratch, scratch
    """
    conn, touched, mark, behind, search, held = scratch
    for p in range(len(conn)):
        conn[p] = -1
    best = -1
    most = np.int64(0)
    if population[here] <= 1:
        return best, stamp
    for i in range(len(vertices)):
        v = vertices[i]
        w = g.vwgt[v]
        if held[v] or part[v] != here or w == 0 or w > room or (len(g.fixed) > 0 and g.fixed[v] >= 0):
            continue
        if not touches(g, part, v, there):
            continue
        count = gather(g, pull, part, v, conn, touched)
        won = conn[there] - max(conn[here], 0)
        scatter(conn, touched, count)
        if best < 0 or won > most:
            stamp += 1
            if stays_connected(g, part, v, stamp, mark, behind, search):
                best, most = v, won
            else:
                held[v] = True
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
