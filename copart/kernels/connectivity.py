"""What a vertex has to do with each part, for the inner loops of k-way refinement."""

from typing import Any, NamedTuple

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
