"""Excess weight handed from part to part along the cheapest chain to one with room; parts stay in one piece."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel
from .wall_prices import holds_together, traffic_price, uncut_by
from .walls import shift

FAR = 1e18
"""No chain is so long."""

FLOOR = 3.0
"""What handing on costs besides, in edges: short chains are better, and no step may gain."""

INSIDE = 3
"""Mark of a vertex from which no step leads to another part: walls are too far."""


class Chains(NamedTuple):
    """Memory of :func:`hand_over` for m vertices of a component of k parts.

    cost : (k, k) float64, of the cheapest step from one part to another; scratch
    cell, ahead : (k, k) int32, the vertex of that step by its place in the list, and the one that has to go before it
        or -1; scratch
    far : (k,) float64, scratch
    parent : (k,) int32, scratch
    done : (k,) uint8, scratch
    head : (k,) int32, after, before : (m,) int32, the vertices of each part one after the other, by their places in
        the list, -1 at the ends; scratch
    """

    cost: Any
    cell: Any
    ahead: Any
    far: Any
    parent: Any
    done: Any
    head: Any
    after: Any
    before: Any


@inner
def chain_up(part, cells, first, t):
    """Chain the vertices of each part up, in the order of the list.

    part : (n,) int32, in
    cells : (m,) int32, in
    first : int                     first part of the component
    t : Chains, in and out
    """
    t.head[:] = -1
    for i in range(len(cells) - 1, -1, -1):
        push(part[cells[i]] - first, i, t)


@inlined
def push(p, i, t):
    """Put place i in front of the chain of part p.

    p, i : int                      p from 0 on in the component
    t : Chains, in and out
    """
    t.before[i] = -1
    t.after[i] = t.head[p]
    if t.head[p] >= 0:
        t.before[t.head[p]] = i
    t.head[p] = i


@inlined
def rechain(a, b, i, t):
    """Take place i out of the chain of part a and put it in front of that of b.

    a, b, i : int                   parts from 0 on in the component
    t : Chains, in and out
    """
    if t.before[i] >= 0:
        t.after[t.before[i]] = t.after[i]
    else:
        t.head[a] = t.after[i]
    if t.after[i] >= 0:
        t.before[t.after[i]] = t.before[i]
    push(b, i, t)


@inner
def exchange_price(g, s, c, v, a, b):
    """What moving coupled vertex v from part a to b costs in data and messages.

    g : Joined, in
    s : Walls, in
    c : Cooling, in
    v, a, b : int
    """
    return traffic_price(g, s, v, a, b, c.datum, c.message[s.owner[a]], 0.1, c.most, c.most_messages, c.over)


@inner
def cheapest_steps(g, s, c, coupled, cells, source, target, first, t, border):
    """Note the cheapest step from a part of a component to each other that it touches; returns how many there are.

    A step is one vertex, or a coupled one with an uncoupled neighbour that lies between it and the other part.

    g : Joined, in
    s : Walls, in
    c : Cooling, in
    coupled : bool                  hand on coupled weight; not that of all vertices
    cells : (m,) int32, in          vertices to choose from
    source, target : int            from this part, and only to that one; -1 for all
    first : int                     first part of the component
    t : Chains, in and out
    border : Border, in and out     its marks and queue; there, `INSIDE` for vertices that need no look
    """
    part, there = s.part, border.there
    found = 0
    stamp = border.stamp[0]
    a = source
    i = np.int64(-1)
    if s.population[a] > 1:
        i = np.int64(t.head[a - first])
    while i >= 0:
        place = i
        v = np.int64(cells[place])
        i = np.int64(t.after[place])
        if there[v] == INSIDE:
            continue
        inside = True
        meets = g.iptr[v] < g.iptr[v + 1]
        priced = np.int64(-1)
        exchange = 0.0
        tried = np.int64(-1)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = np.int64(g.adjncy[e])
            b = part[u]
            if b != a:
                inside = False
                if b == tried or (target >= 0 and b != target) or (meets and s.slot[b] < 0):
                    continue
                tried = np.int64(b)
                if not coupled and g.coupled[v] > 0 and s.share[b] + g.coupled[v] > max(s.bound[b], s.share[a]):
                    continue
                if meets and b != priced:  # once for each part: passing the tuples on takes as long as the work
                    exchange = exchange_price(g, s, c, v, np.int64(a), np.int64(b))
                    priced = np.int64(b)
                uncut, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, part, v, a, b)
                price = max(0.01, uncut + exchange + FLOOR)
                if price < t.cost[a - first, b - first]:
                    stamp += 1
                    if holds_together(g.xadj, g.adjncy, part, v, stamp, border.mark, border.queue):
                        found += t.cost[a - first, b - first] >= FAR
                        t.cost[a - first, b - first] = price
                        t.cell[a - first, b - first] = place
                        t.ahead[a - first, b - first] = -1
            elif coupled and s.population[a] <= 2:
                inside = False
            elif coupled and g.iptr[u] == g.iptr[u + 1]:
                passed = np.int64(-1)
                for f in range(g.xadj[u], g.xadj[u + 1]):
                    b = part[g.adjncy[f]]
                    if b == a:
                        continue
                    inside = False
                    if b == passed or (target >= 0 and b != target) or s.slot[b] < 0:
                        continue
                    passed = np.int64(b)
                    both = np.int64(1)
                    if len(g.ewgt) > 0:
                        both = g.ewgt[e]
                    if meets and b != priced:
                        exchange = exchange_price(g, s, c, v, np.int64(a), np.int64(b))
                        priced = np.int64(b)
                    uncut, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, part, v, a, b)
                    other, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, part, u, a, b)
                    price = max(0.01, other + (uncut + exchange) - 2 * both + FLOOR)
                    if price < t.cost[a - first, b - first]:
                        part[v] = -1
                        stamp += 1
                        whole = holds_together(g.xadj, g.adjncy, part, u, stamp, border.mark, border.queue)
                        # u's neighbours are looked at without v, and v's without u
                        part[v] = a
                        if whole:
                            part[u] = -1
                            stamp += 1
                            whole = holds_together(g.xadj, g.adjncy, part, v, stamp, border.mark, border.queue)
                            part[u] = a
                        if whole:
                            found += t.cost[a - first, b - first] >= FAR
                            t.cost[a - first, b - first] = price
                            t.cell[a - first, b - first] = place
                            t.ahead[a - first, b - first] = u
        if inside:
            there[v] = INSIDE
    border.stamp[0] = stamp
    return found


@inner
def look_again(g, v, there):
    """Take the marks away around v, which changes its part: a step may lead there from two edges off.

    g : Joined, in
    v : int
    there : (n,) uint8, in and out
    """
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        if there[u] == INSIDE:
            there[u] = 0
        for f in range(g.xadj[u], g.xadj[u + 1]):
            w = g.adjncy[f]
            if there[w] == INSIDE:
                there[w] = 0


@kernel
def hand_over(g, s, c, coupled, cells, first, last, t, border, tries):
    """Bring the parts first..last of a component below their limits, if that can be had; returns the excess left.

    Again and again a part above its limit hands a quarter of its excess on along the cheapest chain of parts to one
    with room, the far end first.  Steps are looked for only from the parts that chains reach.

    g : Joined, in
    s : Walls, in and out
    c : Cooling, in
    coupled : bool                  coupled weight, or all weight
    cells : (m,) int32, in          vertices to choose from
    first, last : int
    t : Chains, in and out
    border : Border, in and out
    tries : int                     chains, at most
    """
    load, room, weight = s.load, s.room, g.weight
    if coupled:
        load, room, weight = s.share, s.bound, g.coupled
    k = last - first
    chain_up(s.part, cells, np.int64(first), t)
    for _ in range(tries):
        source = -1
        for p in range(first, last):
            if load[p] > room[p] and (source < 0 or load[p] - room[p] > load[source] - room[source]):
                source = p
        if source < 0:
            break
        for p in range(k):
            t.far[p] = FAR
            t.done[p] = 0
            t.parent[p] = -1
        t.far[source - first] = 0.0
        end = -1
        while True:
            p = -1
            for q in range(k):
                if t.done[q] == 0 and t.far[q] < FAR and (p < 0 or t.far[q] < t.far[p]):
                    p = q
            if p < 0:
                break
            t.done[p] = 1
            if load[first + p] < room[first + p]:
                end = p
                break
            for q in range(k):
                t.cost[p, q] = FAR
            cheapest_steps(g, s, c, coupled, cells, np.int64(first + p), np.int64(-1), np.int64(first), t, border)
            for q in range(k):
                if t.cost[p, q] < FAR and t.far[p] + t.cost[p, q] < t.far[q]:
                    t.far[q] = t.far[p] + t.cost[p, q]
                    t.parent[q] = p
        if end < 0:
            break
        much = min((load[source] - room[source] + 3) // 4, room[first + end] - load[first + end])
        much = max(np.int64(1), much)
        x = end
        moved_any = False
        while x != source - first:
            y = t.parent[x]
            a = np.int64(first + y)
            b = np.int64(first + x)
            moved = np.int64(0)
            while moved < much:
                i = np.int64(-1)
                v = np.int64(-1)
                u = np.int64(-1)
                t.cost[y, x] = FAR
                if cheapest_steps(g, s, c, coupled, cells, a, b, np.int64(first), t, border) > 0:
                    i = np.int64(t.cell[y, x])
                    v = np.int64(cells[i])
                    u = np.int64(t.ahead[y, x])
                if v < 0 or (moved > 0 and load[b] + weight[v] > room[b] and x == end):
                    break
                if u >= 0:
                    uncut, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, s.part, u, a, b)
                    s.cut[s.owner[a]] += uncut
                    shift(g, s, u, a, b)
                    look_again(g, u, border.there)
                uncut, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, s.part, v, a, b)
                s.cut[s.owner[a]] += uncut
                shift(g, s, v, a, b)
                look_again(g, v, border.there)
                rechain(y, x, i, t)
                moved += max(np.int64(1), weight[v])
                moved_any = True
            x = y
        if not moved_any:
            break
    for i in range(len(cells)):
        border.there[cells[i]] = 0
    left = np.int64(0)
    for p in range(first, last):
        left += max(np.int64(0), load[p] - room[p])
    return left


__all__ = ["Chains", "cheapest_steps", "hand_over"]
