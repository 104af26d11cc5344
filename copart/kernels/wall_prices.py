"""What a move across a wall between parts changes: cut, data and messages, excess weight; and whether a part holds."""

import numpy as np

from . import inlined, inner
from .walls import datum_for

SLOPE = 10.0
"""How much more than in proportion excess costs: so many times its share of the limit."""


@inlined
def uncut_by(xadj, adjncy, ewgt, part, v, a, b):
    """Increase of the cut if vertex v moves from part a to b; whether it has neighbours in a, and in parts besides.

    xadj : (n + 1,) int64, in
    adjncy : (nadj,) int32, in
    ewgt : (nadj,) int64, in
    part : (n,) int32, in
    v, a, b : int
    """
    change = np.int64(0)
    inside = False
    others = False
    unit = len(ewgt) == 0
    for e in range(xadj[v], xadj[v + 1]):
        p = part[adjncy[e]]
        w = np.int64(1)
        if not unit:
            w = ewgt[e]
        if p == a:
            change += w
            inside = True
        elif p == b:
            change -= w
        else:
            others = True
    return change, inside, others


@inlined
def excess_price(x, limit):
    """What a weight of x costs above `limit`: more than in proportion, so that it spreads from part to part.

    x, limit : int
    """
    d = float(max(x - limit, 0))
    return d * (1.0 + SLOPE * d / (limit + 1.0))


@inlined
def traffic_price(g, s, v, a, b, datum, message, blur, most, most_messages, over):
    """Increase of the price of data and messages if coupled vertex v moves from part a to b.

    g : Joined, in
    s : Walls, in
    v, a, b : int
    datum : (C, C) float64, in      price of a datum that component [0] receives from [1]
    message : float                 price of a message
    blur : float                    m interedges count as m / (m + blur) messages
    most : (C, C) int64, in         data from component [0] to [1] that a part of either sends or receives, above which
                                    `over` is paid
    most_messages : (C, C) int64, in        messages of a part of component [0] for [1] above which one more `message`
                                    is paid
    over : float                    price of a datum above `most`, 0 where they do not count
    """
    iptr, iadj, imul, take = g.iptr, g.iadj, g.imul, g.take
    where, many, used, pairs, slot, messages = s.where, s.many, s.used, s.pairs, s.slot, s.messages
    sent, got = s.sent, s.got
    own = s.owner[a]
    price = 0.0
    met = np.int64(-1)  # entries of one component stand together, mostly
    new = np.int64(0)
    lost = np.int64(0)
    for e in range(iptr[v], iptr[v + 1]):
        u = iadj[e]
        first = iptr[u]
        there = False
        last = False
        for i in range(first, first + used[u]):
            if where[i] == b:
                there = True
            elif where[i] == a and many[i] == imul[e]:
                last = True
        if there and not last:
            continue
        other = s.owner[s.part[u]]
        if other != met:
            if over > 0.0 and met >= 0:
                price += over * excess_change(got[a, met], got[b, met], lost, new, most[met, own], most[met, own])
            met = np.int64(other)
            new = np.int64(0)
            lost = np.int64(0)
        if not there:
            price += datum[own, other] * take[e]
            new += take[e]
        if last:
            price -= datum[own, other] * take[e]
            lost += take[e]
    if over > 0.0 and met >= 0:
        price += over * excess_change(got[a, met], got[b, met], lost, new, most[met, own], most[met, own])
    pa = slot[a]
    pb = slot[b]
    blurred = 0.0
    met = np.int64(-1)
    up = np.int64(0)
    down = np.int64(0)
    new = np.int64(0)
    for i in range(iptr[v], iptr[v] + used[v]):
        q = where[i]
        pq = slot[q]
        other = s.owner[q]
        if other != met:
            if met >= 0:
                blurred += crowd(messages[a, met], messages[b, met], down, up, most_messages[own, met])
                if over > 0.0:
                    price += over * excess_change(sent[a, met], sent[b, met], new, new, most[own, met], most[own, met])
            met = np.int64(other)
            up = np.int64(0)
            down = np.int64(0)
            new = np.int64(0)
        if over > 0.0:
            new += datum_for(g, s, v, other)
        old = pairs[pa, pq]
        now = old - many[i]
        gone = now == 0
        blurred -= old / (old + blur)
        if gone:
            down += 1
        else:
            blurred += now / (now + blur)
        old = pairs[pb, pq]
        now = old + many[i]
        blurred += now / (now + blur)
        if old > 0:
            blurred -= old / (old + blur)
        else:
            up += 1
            if messages[q, own] >= most_messages[other, own] and not gone:
                blurred += 1.0
    if met >= 0:
        blurred += crowd(messages[a, met], messages[b, met], down, up, most_messages[own, met])
        if over > 0.0:
            price += over * excess_change(sent[a, met], sent[b, met], new, new, most[own, met], most[own, met])
    return price + message * blurred


@inlined
def excess_change(from_load, to_load, lost, new, from_limit, to_limit):
    """Increase of the price of what two parts have above their limits, if one loses `lost` and the other gets `new`.

    from_load, to_load, lost, new, from_limit, to_limit : int
    """
    change = 0.0
    if to_load + new > to_limit:
        change += excess_price(to_load + new, to_limit) - excess_price(to_load, to_limit)
    if from_load > from_limit:
        change += excess_price(from_load - lost, from_limit) - excess_price(from_load, from_limit)
    return change


@inlined
def crowd(from_count, to_count, down, up, limit):
    """Messages above `limit` that two parts have more, if one loses `down` and the other gets `up`.

    from_count, to_count, down, up, limit : int
    """
    more = 0.0
    if up > 0 and to_count + up > limit:
        more += to_count + up - max(limit, to_count)
    if down > 0 and from_count > limit:
        more -= min(down, from_count - limit)
    return more


@inner
def holds_together(xadj, adjncy, part, v, stamp, mark, queue):
    """Whether the neighbours of v in its part still reach one another without it, by a search of bounded length.

    xadj : (n + 1,) int64, in
    adjncy : (nadj,) int32, in
    part : (n,) int32, in
    v : int
    stamp : int                     of this search: larger than in every one before
    mark : (n,) int32, in and out   twice the stamp where wanted, and one more where found
    queue : (length,) int32, scratch
    """
    own = part[v]
    wanted = 0
    first = np.int64(-1)
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        if part[u] == own and mark[u] != 2 * stamp:
            mark[u] = 2 * stamp
            wanted += 1
            first = np.int64(u)
    found = wanted <= 1
    if not found:
        mark[v] = 2 * stamp + 1
        mark[first] = 2 * stamp + 1
        wanted -= 1
        queue[0] = first
        head = 0
        tail = 1
        while head < tail and wanted > 0:
            x = queue[head]
            head += 1
            for e in range(xadj[x], xadj[x + 1]):
                u = adjncy[e]
                if part[u] != own or mark[u] == 2 * stamp + 1:
                    continue
                if mark[u] == 2 * stamp:
                    wanted -= 1
                mark[u] = 2 * stamp + 1
                if tail < len(queue):
                    queue[tail] = u
                    tail += 1
        found = wanted == 0
    return found


__all__ = ["crowd", "excess_change", "excess_price", "holds_together", "traffic_price", "uncut_by"]
