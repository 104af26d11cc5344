"""What a vertex has to do with each part, for the inner loops of k-way refinement."""

from . import inlined


@inlined
def connect(g, part, v, conn, touched):
    """Weight of the edges of v to every part it touches: conn[p] for p in touched[:count]; returns count.

    g : Level, in
    part : (nvtxs,) int32, in
    v : int
    conn : (nparts,) int64, in and out  -1 everywhere before; whoever calls puts it back
    touched : (nparts,) int32, out
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
