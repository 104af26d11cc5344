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

LEAST = 0.01
"""No step costs less, or chains could go round."""

NO_LIMIT = np.int64(2**60)

INSIDE = 3
"""Mark of a vertex from which no step leads to another part: walls are too far."""


class Chains(NamedTuple):
    """Memory of :func:`hand_over` for m of n vertices, of a component of k parts.

    cost : (k,) float64, of the cheapest step from one part to each other; scratch
    far : (k,) float64, scratch
    parent : (k,) int32, scratch
    done : (k,) uint8, scratch
    head : (k,) int32, after, before : (m,) int32, the vertices of each part one after the other, by their places in
        the list, -1 at the ends; scratch
    place : (n,) int32, place of each vertex in the list; -1 where it is not there, before the first call, too
    price : (m,) float64, of the cheapest step that takes each vertex from one part to another; scratch
    ahead : (m,) int32, the vertex that goes before it in that step, or -1; scratch
    todo : (m,) int32, places of vertices to be priced, filled from the front; scratch
    listed : (m,) int32, places with such a step, filled from the front; scratch
    at : (m,) int32, where each place is listed, or -1; scratch
    """

    cost: Any
    far: Any
    parent: Any
    done: Any
    head: Any
    after: Any
    before: Any
    place: Any
    price: Any
    ahead: Any
    todo: Any
    listed: Any
    at: Any


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
def holds_without(g, part, v, u, border):
    """Whether the part of v holds together without v, and without u unless that is -1.

    g : Joined, in
    part : (n,) int32, in
    v, u : int
    border : Border, in and out     its marks and queue
    """
    border.stamp[0] += 1
    if u < 0:
        return holds_together(g.xadj, g.adjncy, part, v, border.stamp[0], border.mark, border.queue)
    a = part[v]
    part[v] = -1
    whole = holds_together(g.xadj, g.adjncy, part, u, border.stamp[0], border.mark, border.queue)
    part[v] = a
    if whole:  # u's neighbours were looked at without v, and v's are without u
        part[u] = -1
        border.stamp[0] += 1
        whole = holds_together(g.xadj, g.adjncy, part, v, border.stamp[0], border.mark, border.queue)
        part[u] = a
    return whole


@inner
def cheapest_steps(g, s, c, coupled, cells, a, first, t, border):
    """Note what the cheapest step from part a of a component to each other part costs.

    A step is one vertex, or a coupled one with an uncoupled neighbour that lies between it and the other part.

    g : Joined, in
    s : Walls, in
    c : Cooling, in
    coupled : bool                  hand on coupled weight; not that of all vertices
    cells : (m,) int32, in          vertices to choose from
    a, first : int                  the part, and the first one of the component
    t : Chains, in and out
    border : Border, in and out     its marks and queue; there, `INSIDE` for vertices that need no look
    """
    part, there, cost = s.part, border.there, t.cost
    cost[:] = FAR
    i = np.int64(-1)
    if s.population[a] > 1:
        i = np.int64(t.head[a - first])
    while i >= 0:
        v = np.int64(cells[i])
        i = np.int64(t.after[i])
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
                if b == tried or not may_take(g, s, coupled, v, a, b):
                    continue
                tried = np.int64(b)
                if meets and b != priced:
                    exchange = exchange_price(g, s, c, v, np.int64(a), np.int64(b))
                    priced = np.int64(b)
                uncut, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, part, v, a, b)
                price = max(LEAST, uncut + exchange + FLOOR)
                if price < cost[b - first] and holds_without(g, part, v, np.int64(-1), border):
                    cost[b - first] = price
            elif coupled and s.population[a] <= 2:
                inside = False
            elif coupled and g.iptr[u] == g.iptr[u + 1]:
                passed = np.int64(-1)
                for f in range(g.xadj[u], g.xadj[u + 1]):
                    b = part[g.adjncy[f]]
                    if b == a:
                        continue
                    inside = False
                    if b == passed or s.slot[b] < 0:
                        continue
                    passed = np.int64(b)
                    if meets and b != priced:
                        exchange = exchange_price(g, s, c, v, np.int64(a), np.int64(b))
                        priced = np.int64(b)
                    price = max(LEAST, uncut_by_pair(g, part, v, u, e, a, b) + exchange + FLOOR)
                    if price < cost[b - first] and holds_without(g, part, v, u, border):
                        cost[b - first] = price
        if inside:
            there[v] = INSIDE


@inlined
def may_take(g, s, coupled, v, a, b):
    """Whether part b may get v of part a.

    g : Joined, in
    s : Walls, in
    coupled : bool                  coupled weight is handed on; not that of all vertices
    v, a, b : int
    """
    if g.iptr[v] < g.iptr[v + 1] and s.slot[b] < 0:
        return False
    return coupled or g.coupled[v] == 0 or s.share[b] + g.coupled[v] <= max(s.bound[b], s.share[a])


@inlined
def uncut_by_pair(g, part, v, u, e, a, b):
    """Increase of the cut if v and its neighbour u, at entry e, move from part a to b.

    g : Joined, in
    part : (n,) int32, in
    v, u, e, a, b : int
    """
    one, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, part, v, a, b)
    other, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, part, u, a, b)
    both = np.int64(1)
    if len(g.ewgt) > 0:
        both = g.ewgt[e]
    return one + other - 2 * both


@inlined
def cheapest_step(g, s, c, coupled, v, a, b):
    """Price of the cheapest step that takes v from part a to b, and the vertex that goes ahead, or -1.

    g : Joined, in
    s : Walls, in
    c : Cooling, in
    coupled : bool                  see :func:`cheapest_steps`
    v, a, b : int
    """
    part = s.part
    price = FAR
    ahead = np.int64(-1)
    touches = False
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = np.int64(g.adjncy[e])
        if part[u] == b:
            touches = True
        elif coupled and part[u] == a and g.iptr[u] == g.iptr[u + 1] and s.slot[b] >= 0 and s.population[a] > 2:
            for f in range(g.xadj[u], g.xadj[u + 1]):
                if part[g.adjncy[f]] == b:
                    uncut = float(uncut_by_pair(g, part, v, u, e, a, b))
                    if uncut < price:
                        price = uncut
                        ahead = u
                    break
    if touches and may_take(g, s, coupled, v, a, b):
        uncut, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, part, v, a, b)
        if uncut <= price:
            price = float(uncut)
            ahead = np.int64(-1)
    if price < FAR and g.iptr[v] < g.iptr[v + 1]:
        price += exchange_price(g, s, c, v, a, b)
    return price, ahead


@inlined
def list_place(t, i, count):
    """List place i; returns how many are listed now.

    t : Chains, in and out
    i, count : int                  which one, and how many were
    """
    t.at[i] = count
    t.listed[count] = i
    return count + 1


@inlined
def strike(t, i, count):
    """Take place i from the list; returns how many are left.

    t : Chains, in and out
    i, count : int
    """
    last = t.listed[count - 1]
    t.listed[t.at[i]] = last
    t.at[last] = t.at[i]
    t.at[i] = -1
    return count - 1


@inner
def hand_on(g, s, c, coupled, cells, a, b, first, much, spare, t, border):
    """Move vertices of part a to b, the cheapest one each time, until they weigh `much`; returns what they weigh.

    Prices are found once, and anew for vertices near one that has moved, and for the cheapest before it moves.

    g : Joined, in
    s : Walls, in and out
    c : Cooling, in
    coupled : bool                  see :func:`cheapest_steps`
    cells : (m,) int32, in
    a, b, first : int
    much, spare : int               how much at least; and at most, but for the first vertex
    t : Chains, in and out
    border : Border, in and out
    """
    weight = g.weight
    if coupled:
        weight = g.coupled
    part, price, listed, todo = s.part, t.price, t.listed, t.todo
    count = np.int64(0)
    many = 0
    i = np.int64(t.head[a - first])
    while i >= 0:
        t.at[i] = -1
        if border.there[cells[i]] != INSIDE:
            todo[many] = i
            many += 1
        i = np.int64(t.after[i])
    moved = np.int64(0)
    fresh = np.int64(-1)
    while s.population[a] > 1:
        for j in range(many):
            i = np.int64(todo[j])
            price[i], t.ahead[i] = cheapest_step(g, s, c, coupled, np.int64(cells[i]), a, b)
            if price[i] < FAR and t.at[i] < 0:
                count = list_place(t, i, count)
            elif price[i] >= FAR and t.at[i] >= 0:
                count = strike(t, i, count)
        many = 0
        if count == 0:
            break
        i = np.int64(listed[0])
        for j in range(1, count):
            if price[listed[j]] < price[i]:
                i = np.int64(listed[j])
        if moved > 0 and i != fresh:
            todo[0] = i
            many = 1
            fresh = i
            continue
        v = np.int64(cells[i])
        u = np.int64(t.ahead[i])
        lasts = holds_without(g, part, v, u, border)
        if lasts and moved > 0 and moved + weight[v] > spare:
            break
        count = strike(t, i, count)
        if not lasts:
            continue
        for w in (u, v):
            if w >= 0:
                uncut, _, _ = uncut_by(g.xadj, g.adjncy, g.ewgt, part, w, a, b)
                s.cut[s.owner[a]] += uncut
                shift(g, s, w, a, b)
                look_again(g, w, border.there)
        rechain(a - first, b - first, i, t)
        moved += max(np.int64(1), weight[v])
        if moved >= much:
            break
        border.stamp[0] += 1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            x = g.adjncy[e]
            for f in range(g.xadj[x], g.xadj[x + 1]):
                w = np.int64(g.adjncy[f])
                if part[w] == a and t.place[w] >= 0 and border.mark[w] != border.stamp[0]:
                    border.mark[w] = border.stamp[0]
                    todo[many] = t.place[w]
                    many += 1
    return moved


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
    load, room = s.load, s.room
    if coupled:
        load, room = s.share, s.bound
    k = last - first
    chain_up(s.part, cells, np.int64(first), t)
    for i in range(len(cells)):
        t.place[cells[i]] = i
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
            cheapest_steps(g, s, c, coupled, cells, np.int64(first + p), np.int64(first), t, border)
            for q in range(k):
                if t.far[p] + t.cost[q] < t.far[q]:
                    t.far[q] = t.far[p] + t.cost[q]
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
            spare = NO_LIMIT
            if x == end:
                spare = room[b] - load[b]
            if hand_on(g, s, c, coupled, cells, a, b, np.int64(first), much, spare, t, border) > 0:
                moved_any = True
            x = y
        if not moved_any:
            break
    for i in range(len(cells)):
        border.there[cells[i]] = 0
        t.place[cells[i]] = -1
    left = np.int64(0)
    for p in range(first, last):
        left += max(np.int64(0), load[p] - room[p])
    return left


__all__ = ["Chains", "hand_over"]
