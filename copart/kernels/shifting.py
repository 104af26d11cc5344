"""Balance that eviction cannot reach: weight handed on from part to part.

A part over its limit may be walled in by full parts.  `paths.find_path` finds the
nearest part with room over the quotient graph and `shift_path` hands weight along
the way, so that only border vertices move; where thousands of parts are over their
limits, `paths.ways_to_room` finds all ways at once and `shift_along` goes them.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel
from .moves import excess_above, move_and_log
from .paths import find_path, group_by_part, ways_to_room


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


@inner
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


class Ways(NamedTuple):
    """Memory of a round, for `count` border vertices.

    start : (nparts + 1,) int64, where the vertices of each part begin
    order : (count,) int32, border vertices by part
    sources, parent, queue, toward : (nparts,) int32, parts over their limits, and what paths and ways take
    """

    start: Any
    order: Any
    sources: Any
    parent: Any
    queue: Any
    toward: Any


@inlined
def _together(g, pull, s, limit, now, ways, hops):
    """Hand weight from all overloaded parts along ways to the nearest room; returns the decrease of the cut.

    g : Level, in
    pull : Pull, in
    s : State, in and out
    limit : (nparts,) int64, in
    now : int                       number of the round
    ways : Ways, in and out
    hops : Hops, scratch
    """
    for p in range(len(limit)):
        hops.onward[p] = -1
    ways_to_room(g, s.part, s.pwgt, limit, ways.start, ways.order, ways.toward, ways.queue)
    return shift_along(g, pull, s, limit, ways.toward, ways.queue, ways.start, ways.order, now, hops)


@kernel
def shift_round(g, pull, s, limit, now, most, ways, hops):
    """Hand weight from every overloaded part along paths to parts with room; returns the decrease of the cut.

    Each finds its own path, on which all it has too much can go.  Very many find theirs together, for a start; and
    so do those that found none alone, since a way that is blocked for one may be open for another.

    g : Level, in
    pull : Pull, in
    s : State, in and out           border vertices are listed; the log has room for all of them, and one per part
    limit : (nparts,) int64, in
    now : int                       number of the round
    most : int                      parts over their limits, times all parts, up to which each finds its path first
    ways : Ways, scratch
    hops : Hops, scratch
    """
    k = len(limit)
    group_by_part(s.part, s.border, len(ways.order), ways.start, ways.order)
    before = excess_above(s.pwgt, limit)
    over = 0
    for p in range(k):
        if s.pwgt[p] > limit[p]:
            ways.sources[over] = p
            over += 1
    total = np.int64(0)
    many = over * k > most
    if many:
        total += _together(g, pull, s, limit, now, ways, hops)
        if excess_above(s.pwgt, limit) < before:
            return total
    for i in range(over):
        source = ways.sources[i]
        target = find_path(g, s.part, s.pwgt, limit, source, s.pwgt[source] - limit[source], ways.start, ways.order,
                           ways.parent, ways.queue)
        if target < 0:
            target = find_path(g, s.part, s.pwgt, limit, source, 1, ways.start, ways.order, ways.parent, ways.queue)
        if target >= 0:
            total += shift_path(g, pull, s, limit, source, target, ways.parent, ways.start, ways.order, now, hops)
    if not many and excess_above(s.pwgt, limit) == before:
        total += _together(g, pull, s, limit, now, ways, hops)
    return total
