"""Messages of few interedges given up: all vertices of a part that cause one move to a neighbouring part together."""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel
from .wall_prices import excess_change, holds_together, traffic_price, uncut_by
from .walls import shift

TARGETS = 8
"""Parts that a group of vertices is tried in, at most."""


class Group(NamedTuple):
    """Memory of :func:`dissolve_messages` for groups of up to m vertices.

    members, moved : (m,) int32, of a group, and in the order in which they were moved; scratch
    targets : (TARGETS,) int32, scratch
    head, tail : (K,) int32, first and last entry of the list of what causes the message to each part; scratch
    entry, after : (ninter,) int32, entries of `where` that are listed, and the place of the next one; scratch
    cause : (ninter,) int32, vertex of each listed entry; scratch
    """

    members: Any
    moved: Any
    targets: Any
    head: Any
    tail: Any
    entry: Any
    after: Any
    cause: Any


@inner
def give_over(g, s, c, worth, group, size, a, b, border):
    """Move the group from part a to b one by one; returns what that costs, and how many could be moved.

    g : Joined, in
    s : Walls, in and out
    c : Cooling, in
    worth : float                   what a message is worth, as a share of its price
    group : Group, in and out       `moved` gets those that were moved, in order
    size : int
    a, b : int
    border : Border, in and out     its marks and queue
    """
    own = s.owner[a]
    price = 0.0
    count = 0
    stamp = border.stamp[0]
    for _ in range(size):
        before = count
        for i in range(size):
            v = np.int64(group.members[i])
            if s.part[v] != a or s.population[a] <= 1:
                continue
            touches = False
            for e in range(g.xadj[v], g.xadj[v + 1]):
                if s.part[g.adjncy[e]] == b:
                    touches = True
                    break
            if not touches:
                continue
            stamp += 1
            if not holds_together(g.xadj, g.adjncy, s.part, v, stamp, border.mark, border.queue):
                continue
            uncut, inside, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, s.part, v, a, b)
            if not inside and c.islands[own]:
                continue
            w = g.weight[v]
            x = g.coupled[v]
            price += uncut + traffic_price(g, s, v, a, b, c.datum, worth * c.message[own], 0.1, c.most,
                                           c.most_messages, c.over)
            price += c.press[0] * c.unit[own] / c.heavy[own] * excess_change(s.load[a], s.load[b], w, w, s.room[a],
                                                                             s.room[b])
            price += c.squeeze[0] * c.unit[own] / c.wet[own] * excess_change(s.share[a], s.share[b], x, x, s.bound[a],
                                                                             s.bound[b])
            s.cut[own] += uncut
            shift(g, s, v, a, b)
            group.moved[count] = v
            count += 1
        if count == size or count == before:
            break
    border.stamp[0] = stamp
    return price, count


@inner
def take_back(g, s, group, count, a, b):
    """Undo :func:`give_over`.

    g : Joined, in
    s : Walls, in and out
    group : Group, in
    count : int                     how many were moved
    a, b : int
    """
    own = s.owner[a]
    for i in range(count - 1, -1, -1):
        v = np.int64(group.moved[i])
        uncut, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, s.part, v, b, a)
        s.cut[own] += uncut
        shift(g, s, v, b, a)


@inner
def list_causes(g, s, p, few, start, order, group):
    """List the vertices of part p that cause messages of at most `few` interedges, for each such message.

    g : Joined, in
    s : Walls, in
    p, few : int
    start : (K + 1,) int64, in
    order : (m,) int32, in          see :func:`dissolve_messages`
    group : Group, in and out
    """
    head, tail, entry, after, cause = group.head, group.tail, group.entry, group.after, group.cause
    part, where, slot, pairs = s.part, s.where, s.slot, s.pairs
    row = slot[p]
    head[:] = -1
    listed = 0
    for i in range(start[p], start[p + 1]):
        v = order[i]
        if part[v] != p:
            continue
        for j in range(g.iptr[v], g.iptr[v] + s.used[v]):
            q = where[j]
            if pairs[row, slot[q]] > few:
                continue
            entry[listed] = j
            cause[listed] = v
            after[listed] = -1
            if head[q] < 0:
                head[q] = listed
            else:
                after[tail[q]] = listed
            tail[q] = listed
            listed += 1


@kernel
def dissolve_messages(g, s, c, worth, few, start, order, group, border):
    """Give up messages of at most `few` interedges wherever that pays; returns how many groups were moved.

    g : Joined, in
    s : Walls, in and out
    c : Cooling, in                 `press` and `squeeze` price excess
    worth : float                   what a message is worth, as a share of its price
    few : int
    start : (K + 1,) int64, in
    order : (m,) int32, in          coupled vertices by part: those of part p from start[p] on
    group : Group, in and out
    border : Border, in and out     its marks and queue
    """
    done = 0
    parts = len(s.load)
    for p in range(parts):
        if s.slot[p] < 0:
            continue
        fresh = False
        for q in range(parts):
            if s.owner[q] == s.owner[p] or s.slot[q] < 0:
                continue
            m = s.pairs[s.slot[p], s.slot[q]]
            if m == 0 or m > few:
                continue
            if not fresh:  # once for all messages of a part: what is tried and taken back changes no list
                list_causes(g, s, np.int64(p), few, start, order, group)
                fresh = True
            size = 0
            met = 0
            i = group.head[q]
            while i >= 0:
                met += s.many[group.entry[i]]
                if size < len(group.members):
                    group.members[size] = group.cause[i]
                size += 1
                i = group.after[i]
            if met != m or size > len(group.members):
                continue
            count = 0
            for i in range(size):
                v = group.members[i]
                for e in range(g.xadj[v], g.xadj[v + 1]):
                    b = s.part[g.adjncy[e]]
                    if b == p or s.slot[b] < 0 or count == TARGETS:
                        continue
                    known = False
                    for k in range(count):
                        if group.targets[k] == b:
                            known = True
                            break
                    if not known:
                        group.targets[count] = b
                        count += 1
            least = -1e-6
            best = np.int64(-1)
            a = np.int64(p)
            for k in range(count):
                b = np.int64(group.targets[k])
                price, moved = give_over(g, s, c, worth, group, size, a, b, border)
                if moved == size and price < least:
                    least = price
                    best = b
                take_back(g, s, group, moved, a, b)
            if best >= 0:
                give_over(g, s, c, worth, group, size, a, best, border)
                done += 1
                fresh = False
    return done


__all__ = ["Group", "dissolve_messages"]
