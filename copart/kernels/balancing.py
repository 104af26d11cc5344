"""Balance that eviction cannot reach: weight handed on from part to part, and placement anywhere.

A part over its limit may be walled in by full parts.  `shift_path` finds the
nearest part with room over the quotient graph and hands weight along the way, so
that only border vertices move.  `jump` moves vertices to any part with room.
"""

import numpy as np

from . import kernel
from .refinement import gather, move, move_and_log, scatter


@kernel
def group_by_part(part, border, count, start, order):
    """The vertices border[:count] grouped by part: start (nparts + 1,) int64, order (count,) int32."""
    for p in range(len(start)):
        start[p] = 0
    for i in range(count):
        start[part[border[i]] + 1] += 1
    for p in range(len(start) - 1):
        start[p + 1] += start[p]
    for i in range(count):
        p = part[border[i]]
        order[start[p]] = border[i]
        start[p] += 1
    for p in range(len(start) - 1, 0, -1):
        start[p] = start[p - 1]
    start[0] = 0


@kernel
def find_path(g, part, pwgt, limit, source, need, start, order, parent, queue):
    """Nearest part from `source` with room for `need`, over the quotient graph; -1 if there is none.

    parent (nparts,) int32 tells the way back.  Breadth first, parts in the order they are met.
    """
    for p in range(len(parent)):
        parent[p] = -1
    parent[source] = source
    queue[0] = source
    head = 0
    tail = 1
    while head < tail:
        p = queue[head]
        head += 1
        if p != source and pwgt[p] + need <= limit[p]:
            return p
        for i in range(start[p], start[p + 1]):
            v = order[i]
            if part[v] != p:
                continue
            for e in range(g.xadj[v], g.xadj[v + 1]):
                q = part[g.adjncy[e]]
                if parent[q] < 0:
                    parent[q] = p
                    queue[tail] = q
                    tail += 1
    return -1


@kernel
def best_for_hop(g, pull, part, population, here, there, room, start, order, conn, touched):
    """The vertex of part `here` next to `there`, no heavier than `room`, whose move costs least; -1 if none."""
    best = -1
    most = np.int64(0)
    if population[here] <= 1:
        return best
    for i in range(start[here], start[here + 1]):
        v = order[i]
        w = g.vwgt[v]
        if part[v] != here or w == 0 or w > room or (len(g.fixed) > 0 and g.fixed[v] >= 0):
            continue
        count = gather(g, pull, part, v, conn, touched)
        a = max(conn[here], 0)
        b = conn[there]
        scatter(conn, touched, count)
        if b >= 0 and (best < 0 or b - a > most or (b - a == most and v < best)):
            best, most = v, b - a
    return best


@kernel
def shift_path(g, pull, s, limit, source, target, parent, start, order, now, conn, touched):
    """Hand vertices along the path from `source` to `target` until the source fits or nothing more can be handed on.

    Hops nearest the target go first, so that no part passes its limit on the way.  Stops, too, where
    the log has no room for another path.  Returns the decrease of the cut.
    """
    for p in range(len(conn)):
        conn[p] = -1
    total = np.int64(0)
    # a path has fewer hops than there are parts
    while s.pwgt[source] > limit[source] and s.count[2] + len(limit) <= s.log.shape[1]:
        there = target
        while there != source:
            here = parent[there]
            v = best_for_hop(
                g, pull, s.part, s.population, here, there, limit[there] - s.pwgt[there], start, order, conn, touched
            )
            if v < 0:
                return total
            total += move_and_log(g, pull, s, v, there, now)
            there = here
    return total


@kernel
def jump(g, pull, part, pwgt, population, limit, order, conn, touched):
    """Move the vertices `order` out of overloaded parts to the best part with room, anywhere.

    Best is the most connected, then the one with most room.  Returns the decrease of the cut.
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
        scatter(conn, touched, count)
        if best >= 0:
            total += move(g, pull, part, pwgt, population, v, best)
    return total


@kernel
def swap_down(g, part, pwgt, limit, order):
    """Exchange a vertex of an overloaded part for a lighter one elsewhere where that lowers the excess.

    order (nfree,) int32: free vertices, heaviest first.  Quadratic in the worst case, for a last
    resort only; returns the number of exchanges.
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
