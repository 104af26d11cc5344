"""Clusters for coarsening: randomized heavy-edge matching, and Louvain moves by sweeps or with a queue."""

from typing import Any, NamedTuple

from . import kernel


class Clusters(NamedTuple):
    """Clusters of n vertices, each named by one of them.

    cluster : (n,) int32, of each vertex
    degree : (n,) int64, weighted degree of each vertex
    weight, total : (n,) int64, vertex weight and weighted degree of each cluster
    link : (n,) int64, 0 everywhere between calls; touched : (n,) int32
    """

    cluster: Any
    degree: Any
    weight: Any
    total: Any
    link: Any
    touched: Any


@kernel
def match_heavy_edges(xadj, adjncy, ewgt, vwgt, order, bound, match):
    """Match each vertex, in the given order, with the free neighbour of the heaviest edge; returns how many pairs.

    Among equal edges the first counts.

    xadj : (n + 1,) int64, in
    adjncy : (2 nedges,) int32, in
    ewgt : (2 nedges,) int64, in
    vwgt : (n,) int64, in
    order : (n,) int32, in
    bound : int                     most that a pair may weigh
    match : (n,) int32, in and out  partner of each vertex, itself where it stays alone; -1 everywhere before
    """
    pairs = 0
    for v in order:
        if match[v] >= 0:
            continue
        best = -1
        weight = -1
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if match[u] < 0 and ewgt[e] > weight and vwgt[v] + vwgt[u] <= bound:
                best = u
                weight = ewgt[e]
        if best < 0:
            match[v] = v
        else:
            match[v] = best
            match[best] = v
            pairs += 1
    return pairs


@kernel
def move_to_best(g, twice, bound, clusters, u):
    """Louvain step for vertex u: the neighbouring cluster of largest modularity gain, or its own; true if it moves.

    g : Level, in                   with weights of edges
    twice : int                     sum of the weighted degrees
    bound : int                     largest weight of a cluster
    clusters : Clusters, in and out
    u : int
    """
    cluster, degree, weight, total, link, touched = clusters
    own = cluster[u]
    total[own] -= degree[u]
    count = 0
    for e in range(g.xadj[u], g.xadj[u + 1]):
        c = cluster[g.adjncy[e]]
        if link[c] == 0:
            touched[count] = c
            count += 1
        link[c] += g.ewgt[e]
    share = degree[u] / twice
    best = own
    # to move without a gain above rounding could go on for ever
    most = link[own] - share * total[own] + 1e-12 * degree[u]
    for i in range(count):
        c = touched[i]
        gain = link[c] - share * total[c]
        if c != own and gain > most and weight[c] + g.vwgt[u] <= bound:
            most = gain
            best = c
    for i in range(count):
        link[touched[i]] = 0
    total[best] += degree[u]
    if best == own:
        return False
    weight[own] -= g.vwgt[u]
    weight[best] += g.vwgt[u]
    cluster[u] = best
    return True


@kernel
def louvain_sweeps(g, twice, bound, order, clusters):
    """Visit all vertices in the given order until nothing moves; returns the number of visits.

    g : Level, in                   with weights of edges
    twice : int                     sum of the weighted degrees
    bound : int                     largest weight of a cluster
    order : (n,) int32, in
    clusters : Clusters, in and out
    """
    visits = 0
    moved = True
    while moved:
        moved = False
        for u in order:
            visits += 1
            if move_to_best(g, twice, bound, clusters, u):
                moved = True
    return visits


@kernel
def louvain_queue(g, twice, bound, rounds, queue, queued, clusters):
    """Visit vertices from a queue, which neighbours of those that move join again; returns the number of visits.

    g : Level, in                   with weights of edges
    twice : int                     sum of the weighted degrees
    bound : int                     largest weight of a cluster
    rounds : int                    a round is as many visits as the queue was long when it began
    queue : (n,) int32, in and out  all vertices in the order of their first visit
    queued : (n,) bool, in and out  true
    clusters : Clusters, in and out
    """
    n = len(queue)
    front = visits = 0
    length = n
    for _ in range(rounds):
        for _ in range(length):
            u = queue[front]
            front = front + 1 if front + 1 < n else 0
            length -= 1
            visits += 1
            queued[u] = False
            if move_to_best(g, twice, bound, clusters, u):
                for e in range(g.xadj[u], g.xadj[u + 1]):
                    v = g.adjncy[e]
                    if not queued[v]:
                        queued[v] = True
                        back = front + length
                        queue[back if back < n else back - n] = v
                        length += 1
        if length == 0:
            break
    return visits
