"""What a vertex has to do with each part, for the inner loops of k-way refinement."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined


class Scratch(NamedTuple):
    """Memory of k-way FM on n vertices and nparts parts, or processors: one heap, the log, and what a vertex touches.

    key : (n,) int64, gain or score of each vertex
    heap : (n,) int32, the vertices that may move
    pos : (n,) int32, place of each vertex in the heap; -1 everywhere between calls
    state : (n,) uint8, not 0 where a vertex must not move; 0 or pinned between calls
    log : (2, n) int32, vertex and former part of each move
    conn : (nparts,) int64, weight of the edges of a vertex to each part; -1 everywhere between calls
    touched : (nparts + 1,) int32, the parts that a vertex has edges to, and one more that it is drawn to
    """

    key: Any
    heap: Any
    pos: Any
    state: Any
    log: Any
    conn: Any
    touched: Any


@inlined
def connect(g, part, v, conn, touched):
    """Weight of the edges of v to every part it touches: conn[p] for p in touched[:count]; returns count.

    g : Level, in
    part : (nvtxs,) int32, in
    v : int
    conn : (nparts,) int64, in and out  -1 everywhere before; whoever calls puts it back
    touched : (nparts,) int32, out         or longer
    """
    count = 0
    unit = len(g.ewgt) == 0
    for e in range(g.xadj[v], g.xadj[v + 1]):
        p = part[g.adjncy[e]]
        if conn[p] < 0:
            conn[p] = 0
            touched[count] = p
            count += 1
        if unit:
            conn[p] += 1
        else:
            conn[p] += g.ewgt[e]
    return count


@inlined
def gather(g, pull, part, v, conn, touched):
    """Connectivity of v to every part it touches: conn[p] for p in touched[:count]; returns count.

    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in
    v : int
    conn : (nparts,) int64, in and out  -1 everywhere before; `scatter` restores it
    touched : (nparts,) int32, out
    """
    count = connect(g, part, v, conn, touched)
    if len(g.origin) > 0:
        row = g.origin[v]
        for j in range(pull.ptr[row], pull.ptr[row + 1]):
            p = pull.idx[j]
            if conn[p] < 0:
                conn[p] = 0
                touched[count] = p
                count += 1
            conn[p] += pull.val[j] * g.size[v]
    return count


@inlined
def scatter(conn, touched, count):
    """Undo `gather`.

    conn : (nparts,) int64, in and out
    touched : (nparts,) int32, in
    count : int                     how many parts are touched
    """
    for i in range(count):
        conn[touched[i]] = -1


@inlined
def connect_few(g, pull, s, v, limited, limit, conn, touched):
    """Connectivity of v to the parts it touches, most of it without the table: (own, first other part, its, count).

    Most vertices touch one other part, which needs no table: conn[p] for p in touched[:count] is that of further ones,
    or of all where the affinity table pulls; whoever calls puts it back to -1.  The first other part is -1, and its
    connectivity -1, where there is none, or all are in the table.

    g : Level, in
    pull : Pull, in
    s : State, in
    v : int
    limited : bool                      leave out parts without room for v
    limit : (nparts,) int64, in
    conn : (nparts,) int64, in and out
    touched : (nparts,) int32, out
    """
    unit = len(g.ewgt) == 0
    own = s.part[v]
    mine = np.int64(0)
    other = -1
    most = np.int64(-1)
    count = 0
    if len(g.origin) > 0:
        count = gather(g, pull, s.part, v, conn, touched)
        mine = max(conn[own], 0)
    else:
        for e in range(g.xadj[v], g.xadj[v + 1]):
            p = s.part[g.adjncy[e]]
            if unit:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            if p == own:
                mine += w
            elif p == other:
                most += w
            elif not limited or s.pwgt[p] + g.vwgt[v] <= limit[p]:
                if other < 0:
                    other, most = p, w
                else:
                    if conn[p] < 0:
                        conn[p] = 0
                        touched[count] = p
                        count += 1
                    conn[p] += w
    return mine, other, most, count


@inlined
def pull_of(g, pull, v, p):
    """What vertex v gains from the affinity table in part p.

    g : Level, in
    pull : Pull, in
    v, p : int
    """
    if len(g.origin) == 0:
        return np.int64(0)
    row = g.origin[v]
    for j in range(pull.ptr[row], pull.ptr[row + 1]):
        if pull.idx[j] == p:
            return pull.val[j] * g.size[v]
    return np.int64(0)
