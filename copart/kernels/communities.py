"""Communities: groups of vertices with more edges among themselves than their degrees alone explain."""

from . import kernel


@kernel
def move_to_communities(g, order, volume, rounds, community, total, conn, touched):
    """Move vertices to the communities where modularity grows most; returns the number of moves.

    The first phase of the Louvain method (Blondel et al. 2008): every vertex starts in a community of its own, and in
    each round goes where the weight of its edges exceeds by most what is expected of edges drawn at random.

    g : Level, in
    order : (nvtxs,) int32, in              visited in this order
    volume : (nvtxs,) int64, in             weight of the edges of each vertex, those inside it counted twice
    rounds : int                            visits of every vertex at most
    community : (nvtxs,) int32, out         named by one of the vertices that were in it at the start
    total : (nvtxs,) int64, out             volume of each community, by name
    conn : (nvtxs,) int64, scratch
    touched : (nvtxs,) int32, scratch
    """
    n = len(order)
    unit = len(g.ewgt) == 0
    whole = 0.0
    for v in range(n):
        community[v], total[v], conn[v] = v, volume[v], 0
        whole += volume[v]
    moves = 0
    for _ in range(rounds):
        moved = 0
        for i in range(n):
            v = order[i]
            count = 0
            for e in range(g.xadj[v], g.xadj[v + 1]):
                c = community[g.adjncy[e]]
                if conn[c] == 0:
                    touched[count] = c
                    count += 1
                conn[c] += 1 if unit else g.ewgt[e]
            own = community[v]
            total[own] -= volume[v]
            expected = volume[v] / max(whole, 1.0)  # edges may weigh nothing
            best, most = own, conn[own] - expected * total[own]
            for j in range(count):
                c = touched[j]
                gain = conn[c] - expected * total[c]
                conn[c] = 0
                if gain > most:
                    best, most = c, gain
            total[best] += volume[v]
            if best != own:
                community[v] = best
                moved += 1
        moves += moved
        if moved * 50 < n:
            break
    return moves


__all__ = ["move_to_communities"]
