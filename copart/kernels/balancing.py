"""Balance that eviction cannot reach: weight handed on from part to part, and placement anywhere.

A part over its limit may be walled in by full parts.  `find_path` finds the
nearest part with room over the quotient graph and `shift_path` hands weight along
the way, so that only border vertices move; where thousands of parts are over their
limits, `ways_to_room` finds all ways at once and `shift_along` goes them.  `jump`
moves vertices to any part with room.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .connectivity import gather, scatter
from .moves import move_and_log, transfer


@kernel
def group_by_part(part, border, count, start, order):
    """The vertices border[:count] grouped by part.

    part : (nvtxs,) int32, in
    border : (nborder,) int32, in       nborder is at least `count`
    count : int
    start : (nparts + 1,) int64, out    where the vertices of each part begin
    order : (count,) int32, out         vertices by part
    """
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


@inlined
def meet_neighbours(g, part, p, start, order, before, queue, tail):
    """Queue the parts next to part `p` that were not met before; returns the end of the queue.

    g : Level, in
    part : (nvtxs,) int32, in
    p : int
    start : (nparts + 1,) int64, in
    order : (count,) int32, in              vertices by part
    before : (nparts,) int32, in and out    the part from which each was met, -1 where none was
    queue : (nparts,) int32, in and out
    tail : int                              parts in the queue
    """
    for i in range(start[p], start[p + 1]):
        v = order[i]
        if part[v] != p:
            continue
        for e in range(g.xadj[v], g.xadj[v + 1]):
            q = part[g.adjncy[e]]
            if before[q] < 0:
                before[q] = p
                queue[tail] = q
                tail += 1
    return tail


@kernel
def find_path(g, part, pwgt, limit, source, need, start, order, parent, queue):
    """Nearest part from `source` with room for `need`, over the quotient graph; -1 if there is none.

    Breadth first, parts in the order they are met.

    g : Level, in
    part : (nvtxs,) int32, in
    pwgt, limit : (nparts,) int64, in
    source, need : int
    start : (nparts + 1,) int64, in
    order : (count,) int32, in      vertices by part
    parent : (nparts,) int32, out   the part before each on the way, -1 where not reached
    queue : (nparts,) int32, scratch
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
        tail = meet_neighbours(g, part, p, start, order, parent, queue, tail)
    return -1


class Hops(NamedTuple):
    """Memory for the hops of a path, for `count` listed vertices.

    onward : (nparts,) int32, next part of each
    place : (nvtxs,) int32, place of each vertex in the list
    value : (count,) int64, decrease of the cut by a hop of each
    ties : (count,) int32, its edges and affinities to the next part
    """

    onward: Any
    place: Any
    value: Any
    ties: Any


@inlined
def value_hop(g, pull, part, here, there, start, order, place, value, ties):
    """What the vertices listed under part `here` win by moving to part `there`, and where they are listed.

    Written for the places start[here]..start[here + 1] of the list.

    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in
    here, there : int
    start : (nparts + 1,) int64, in
    order : (count,) int32, in      vertices by part
    place : (nvtxs,) int32, out     place of each vertex on the list
    value : (count,) int64, out     decrease of the cut
    ties : (count,) int32, out      edges and affinities that lead to `there`, 0 for a vertex that has left `here`
    """
    unit = len(g.ewgt) == 0
    for i in range(start[here], start[here + 1]):
        v = order[i]
        place[v] = i
        won = np.int64(0)
        count = 0
        if part[v] == here:
            for e in range(g.xadj[v], g.xadj[v + 1]):
                p = part[g.adjncy[e]]
                if p == here or p == there:
                    if unit:
                        w = np.int64(1)
                    else:
                        w = g.ewgt[e]
                    if p == there:
                        won += w
                        count += 1
                    else:
                        won -= w
            if len(g.origin) > 0:
                row = g.origin[v]
                for j in range(pull.ptr[row], pull.ptr[row + 1]):
                    if pull.idx[j] == there:
                        won += pull.val[j] * g.size[v]
                        count += 1
                    elif pull.idx[j] == here:
                        won -= pull.val[j] * g.size[v]
        value[i], ties[i] = won, count


@inlined
def revalue(g, part, v, here, there, start, order, onward, place, value, ties):
    """Correct value and ties of the listed neighbours of v, which has moved from `here` to `there`.

    g : Level, in
    part : (nvtxs,) int32, in
    v, here, there : int
    start : (nparts + 1,) int64, in
    order : (count,) int32, in          vertices by part
    onward : (nparts,) int32, in        part that the vertices listed under each are valued for, -1 where they are not
    place : (nvtxs,) int32, in          place of each vertex on the list, anything for others
    value : (count,) int64, in and out  decrease of the cut
    ties : (count,) int32, in and out   edges and affinities that lead to the part they are valued for
    """
    unit = len(g.ewgt) == 0
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        p = part[u]
        q = onward[p]
        if q < 0:
            continue
        # place says nothing about vertices that are not listed
        i = place[u]
        if i < start[p] or i >= start[p + 1] or order[i] != u:
            continue
        if unit:
            w = np.int64(1)
        else:
            w = g.ewgt[e]
        if p == here:
            value[i] += w
        elif p == there:
            value[i] -= w
        if q == here:
            value[i] -= w
            ties[i] -= 1
        elif q == there:
            value[i] += w
            ties[i] += 1


@inlined
def best_for_hop(g, here, room, start, order, value, ties):
    """Where the vertex of part `here` next to the part after it, no heavier than `room`, of best value is listed.

    -1 if there is none.  Ties go to the smaller vertex.

    g : Level, in
    here, room : int
    start : (nparts + 1,) int64, in
    order : (count,) int32, in      vertices by part
    value : (count,) int64, in      decrease of the cut
    ties : (count,) int32, in       0 for a vertex that is not next to that part, or has left
    """
    best = -1
    for i in range(start[here], start[here + 1]):
        if ties[i] == 0 or (best >= 0 and value[i] < value[best]):
            continue
        v = order[i]
        w = g.vwgt[v]
        if w > 0 and w <= room and (best < 0 or value[i] > value[best] or v < order[best]):
            best = i
    return best


@inlined
def hand_on(g, pull, s, limit, source, target, most, parent, start, order, now, hops):
    """Hand vertices along the path from `source` to `target`, until the source fits or nothing more can be handed on.

    Hops nearest the target go first, so that no part passes its limit on the way.  Returns the decrease of the cut.

    g : Level, in
    pull : Pull, in
    s : State, in and out
    limit : (nparts,) int64, in
    source, target : int
    most : int                      moves for which the log must have room
    parent : (nparts,) int32, in    the part before each on the path
    start : (nparts + 1,) int64, in
    order : (count,) int32, in      vertices by part
    now : int                       number of the round
    hops : Hops, scratch            no part of the path has an onward one
    """
    onward, place, value, ties = hops
    total = np.int64(0)
    going = True
    while going and s.pwgt[source] > limit[source] and s.count[2] + most <= s.log.shape[1]:
        there = target
        while there != source:
            here = parent[there]
            if onward[here] < 0:
                onward[here] = there
                value_hop(g, pull, s.part, here, there, start, order, place, value, ties)
            best = -1
            if s.population[here] > 1:
                best = best_for_hop(g, here, limit[there] - s.pwgt[there], start, order, value, ties)
            if best < 0:
                going = False
                break
            v = order[best]
            total += move_and_log(g, pull, s, v, there, now)
            ties[best] = 0
            revalue(g, s.part, v, here, there, start, order, onward, place, value, ties)
            there = here
    return total


@kernel
def shift_path(g, pull, s, limit, source, target, parent, start, order, now, hops):
    """Hand vertices along the path from `source` to `target` until the source fits or nothing more can be handed on.

    Hops nearest the target go first, so that no part passes its limit on the way.  Stops, too, where
    the log has no room for another path.  Only vertices grouped by `group_by_part` are moved, each of them once.
    Returns the decrease of the cut.

    g : Level, in
    pull : Pull, in
    s : State, in and out
    limit : (nparts,) int64, in
    source, target : int
    parent : (nparts,) int32, in    the part before each on the path, as `find_path` found it
    start : (nparts + 1,) int64, in
    order : (count,) int32, in      vertices by part
    now : int                       number of the round
    hops : Hops, scratch
    """
    for p in range(len(hops.onward)):
        hops.onward[p] = -1
    # a path has fewer hops than there are parts
    return hand_on(g, pull, s, limit, source, target, len(limit), parent, start, order, now, hops)


@kernel
def ways_to_room(g, part, pwgt, limit, start, order, toward, queue):
    """From every part the way to the nearest one with room; returns the number of parts that have one.

    Breadth first from all parts with room at once, over the quotient graph, in the order of their numbers.

    g : Level, in
    part : (nvtxs,) int32, in
    pwgt, limit : (nparts,) int64, in
    start : (nparts + 1,) int64, in
    order : (count,) int32, in          vertices by part
    toward : (nparts,) int32, out       the next part on the way, itself where there is room, -1 without a way
    queue : (nparts,) int32, scratch    parts in the order they are met
    """
    tail = 0
    for p in range(len(toward)):
        toward[p] = -1
        if pwgt[p] < limit[p]:
            toward[p] = p
            queue[tail] = p
            tail += 1
    head = 0
    while head < tail:
        p = queue[head]
        head += 1
        tail = meet_neighbours(g, part, p, start, order, toward, queue, tail)
    return tail


@kernel
def shift_along(g, pull, s, limit, toward, parent, start, order, now, hops):
    """Hand vertices on from every part over its limit, one at a time, along its way to the nearest room.

    Ways are as they were found: a part whose room has been taken ends all that lead to it.  Hops nearest the room
    go first.  Returns the decrease of the cut.

    g : Level, in
    pull : Pull, in
    s : State, in and out
    limit : (nparts,) int64, in
    toward : (nparts,) int32, in        the next part on the way, as `ways_to_room` found it
    parent : (nparts,) int32, scratch   the part before each on a way
    start : (nparts + 1,) int64, in
    order : (count,) int32, in          vertices by part
    now : int                           number of the round
    hops : Hops, scratch                no part has an onward one, before and after
    """
    total = np.int64(0)
    for source in range(len(limit)):
        if s.pwgt[source] <= limit[source] or toward[source] < 0:
            continue
        length = 0
        target = source
        while toward[target] != target:
            parent[toward[target]] = target
            target = toward[target]
            length += 1
        total += hand_on(g, pull, s, limit, source, target, length, parent, start, order, now, hops)
        there = target
        while there != source:
            there = parent[there]
            hops.onward[there] = -1
    return total


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
