"""Balance that eviction and :mod:`copart.kernels.shifting` cannot reach: vertices are placed anywhere."""

import numpy as np

from . import kernel
from .connectivity import gather, scatter
from .moves import transfer


@kernel
def jump(g, pull, part, pwgt, population, limit, order, conn, touched):
    """Move the vertices `order` out of overloaded parts to the best part with room, anywhere.

    Best is the most connected, then the one with most room.  Returns the decrease of the cut.

    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in and out
    pwgt, population : (nparts,) int64, in and out
    limit : (nparts,) int64, in
    order : (nfree,) int32, in      free vertices, heaviest first
    conn : (nparts,) int64, scratch
    touched : (nparts,) int32, scratch
    """
    for p in range(len(conn)):
        conn[p] = -1
    total = np.int64(0)
    nparts = len(limit)
    for i in range(len(order)):
        v = order[i]
        own = part[v]
        w = g.vwgt[v]
        if pwgt[own] <= limit[own] or population[own] <= 1 or w == 0:
            continue
        count = gather(g, pull, part, v, conn, touched)
        best = -1
        most = np.int64(-1)
        slack = np.int64(-1)
        for p in range(nparts):
            room = limit[p] - pwgt[p] - w
            if p == own or room < 0:
                continue
            if conn[p] > most or (conn[p] == most and room > slack):
                best, most, slack = p, conn[p], room
        if best >= 0:
            total += max(most, 0) - max(conn[own], 0)
            transfer(g, part, pwgt, population, v, best)
        scatter(conn, touched, count)
    return total


@kernel
def swap_down(g, part, pwgt, limit, order):
    """Exchange a vertex of an overloaded part for a lighter one elsewhere where that lowers the excess.

    Quadratic in the worst case, for a last resort only; returns the number of exchanges.

    g : Level, in
    part : (nvtxs,) int32, in and out
    pwgt : (nparts,) int64, in and out
    limit : (nparts,) int64, in
    order : (nfree,) int32, in      free vertices, heaviest first
    """
    swaps = 0
    for i in range(len(order)):
        v = order[i]
        p = part[v]
        over = pwgt[p] - limit[p]
        if over <= 0:
            continue
        for j in range(len(order) - 1, i, -1):
            u = order[j]
            q = part[u]
            d = g.vwgt[v] - g.vwgt[u]
            if q == p or d <= 0:
                continue
            if pwgt[q] + d <= limit[q]:
                part[v] = q
                part[u] = p
                pwgt[p] -= d
                pwgt[q] += d
                swaps += 1
                break
    return swaps
