"""The moves that refinement by negative cycles chooses from.

``conn[v, j]`` is the weight of the edges between vertex v and part j: a move changes two columns of the rows of its
neighbours and nothing else.  (N. Tihon, Graph Partitioning and its application to MPI, 2024, Section 4.1.3.)
"""

from typing import Any, NamedTuple

from . import kernel
from .rng import mix


class Members(NamedTuple):
    """The vertices by part, for n vertices and k parts.

    first : (k + 1,) int64, where each part begins
    vertices : (n,) int32
    eligible : (n,) bool, not moved and not next to a moved one
    """

    first: Any
    vertices: Any
    eligible: Any


@kernel
def connect(g, part, conn):
    """Weight of the edges between each vertex and each part.

    g : Level, in                   with weights of edges
    part : (n,) int32, in
    conn : (n, k) int64, out        0 before
    """
    for v in range(len(part)):
        for e in range(g.xadj[v], g.xadj[v + 1]):
            conn[v, part[g.adjncy[e]]] += g.ewgt[e]


@kernel
def move(g, part, size, conn, v, to):
    """Move vertex v to a part; returns the gain, by which the cut falls.

    g : Level, in                   with weights of edges
    part : (n,) int32, in and out
    size : (k,) int64, in and out   weight of each part
    conn : (n, k) int64, in and out
    v, to : int
    """
    old = part[v]
    gain = conn[v, to] - conn[v, old]
    part[v] = to
    size[old] -= g.vwgt[v]
    size[to] += g.vwgt[v]
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        conn[u, old] -= g.ewgt[e]
        conn[u, to] += g.ewgt[e]
    return gain


@kernel
def choose_moves(g, part, conn, barred, pairs, salt, by_part, moves):
    """One local search: for each ordered pair of parts at most one move, no two moved vertices equal or adjacent.

    Ties go to the first vertex found, from a place that depends on `salt`.

    g : Level, in
    part : (n,) int32, in
    conn : (n, k) int64, in
    barred : (n,) bool, in          vertices that stay, with their neighbours
    pairs : (npairs,) int64, in     i * k + j in the order in which they are served
    salt : int
    by_part : Members, scratch
    moves : Moves, out              tail = i, head = j, vertex and gain of each
    """
    first, members, eligible = by_part
    tail, head, vertex, gain = moves
    n, k = len(part), conn.shape[1]
    first[:] = 0
    for v in range(n):
        first[part[v] + 1] += 1
        eligible[v] = True
    for i in range(k):
        first[i + 1] += first[i]
    for v in range(n):
        members[first[part[v]]] = v
        first[part[v]] += 1
        if barred[v]:
            eligible[v] = False
            for e in range(g.xadj[v], g.xadj[v + 1]):
                eligible[g.adjncy[e]] = False
    for i in range(k, 0, -1):
        first[i] = first[i - 1]
    first[0] = 0
    count = 0
    for pair in pairs:
        i = pair // k
        j = pair - i * k
        lo = first[i]
        # vertices that are out of the game go to the end of their part
        width = 0
        for at in range(lo, first[i + 1]):
            v = members[at]
            if v < 0:
                break
            if eligible[v]:
                members[lo + width] = v
                width += 1
        if lo + width < first[i + 1]:
            members[lo + width] = -1
        if width == 0:
            continue
        turn = mix(pair, salt) % width
        found = -1
        for step in range(width):
            at = turn + step
            v = members[lo + (at if at < width else at - width)]
            if found < 0 or conn[v, j] - conn[v, i] > conn[found, j] - conn[found, i]:
                found = v
        tail[count] = i
        head[count] = j
        vertex[count] = found
        gain[count] = conn[found, j] - conn[found, i]
        count += 1
        eligible[found] = False
        for e in range(g.xadj[found], g.xadj[found + 1]):
            eligible[g.adjncy[e]] = False
    return count


@kernel
def relax_edges(tail, head, weight, used, dist, pred, seen):
    """Bellman-Ford from the distances given; returns a vertex on a negative cycle of `pred`, -1 where there is none.

    A cycle of predecessors is a negative one, so it is looked for after every round.

    tail, head : (m,) int32, in     ends of the directed edges
    weight : (m,) int64, in
    used : (m,) bool, in            edges left out
    dist : (n,) int64, in and out
    pred : (n,) int32, in and out   last edge on the way to each vertex, or -1
    seen : (n,) int32, scratch
    """
    n = len(dist)
    far = 4611686018427387904  # 2^62: not reached
    while True:
        changed = False
        for e in range(len(tail)):
            if not used[e] and dist[tail[e]] < far and dist[tail[e]] + weight[e] < dist[head[e]]:
                dist[head[e]] = dist[tail[e]] + weight[e]
                pred[head[e]] = e
                changed = True
        if not changed:
            return -1
        seen[:] = -1
        for start in range(n):
            v = start
            while seen[v] < 0:
                seen[v] = start
                if pred[v] < 0:
                    break
                v = tail[pred[v]]
            if seen[v] == start and pred[v] >= 0:
                return v


@kernel
def best_gains(part, conn, best, adjacent):
    """Largest gain of a move from part i to part j, and whether any edge joins them.

    part : (n,) int32, in
    conn : (n, k) int64, in
    best : (k, k) int64, in and out     lower than any gain before
    adjacent : (k, k) bool, in and out  False before
    """
    k = conn.shape[1]
    for v in range(len(part)):
        i = part[v]
        inside = conn[v, i]
        for j in range(k):
            if conn[v, j] - inside > best[i, j]:
                best[i, j] = conn[v, j] - inside
            if conn[v, j] > 0 and j != i:
                adjacent[i, j] = True
