"""The densest part of a graph with hubs: vertices peeled off by their degree in what is left."""

from . import kernel
from .heap import push, remove, sift_up


@kernel
def peel(g, most, inside, degree, key, heap, pos):
    """Take off the vertex with the least degree for its weight until the others weigh `most` at the most.

    Returns the weight of the edges between them.

    g : Level, in
    most : int
    inside : (nvtxs,) uint8, out    1 for the vertices left
    degree : (nvtxs,) int64, scratch    weighted degree in what is left
    key : (nvtxs,) int64, scratch
    heap : (nvtxs,) int32, scratch
    pos : (nvtxs,) int32, scratch
    """
    n = len(g.vwgt)
    unit = len(g.ewgt) == 0
    weight = edges = size = 0
    for v in range(n):
        inside[v] = 1
        pos[v] = -1
        weight += g.vwgt[v]
        if unit:
            degree[v] = g.xadj[v + 1] - g.xadj[v]
        else:
            degree[v] = 0
            for e in range(g.xadj[v], g.xadj[v + 1]):
                degree[v] += g.ewgt[e]
        edges += degree[v]
        key[v] = -(degree[v] // max(g.vwgt[v], 1))
        size = push(heap, pos, key, key, size, v)
    edges //= 2
    while weight > most:
        v = heap[0]
        size = remove(heap, pos, key, key, size, v)
        inside[v] = 0
        weight -= g.vwgt[v]
        edges -= degree[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if inside[u]:
                degree[u] -= 1 if unit else g.ewgt[e]
                key[u] = -(degree[u] // max(g.vwgt[u], 1))
                sift_up(heap, pos, key, key, pos[u])
    return edges
