"""Kernels on the coupled cells of all components together: cut, volume and messages of a move, and moves out of excess.

The cells of all components are numbered through, and so are their coupled parts: a cell moves between
parts of its own component, its interedges lead to cells of other components.  Moves change what is known of the
parts by a few entries, so a gain costs the degree of a cell.  (Gain rules: Catalyurek, Deveci, Kaya & Ucar 2013,
UMPa; here a net is a cell with its interedges, and its source is never in a part of one of its pins.)
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel


class Cells(NamedTuple):
    """The n coupled cells of all components, or clusters of them.

    xadj : (n + 1,) int64, adjncy : (nadj,) int32, ewgt : (nadj,) int64, edges between cells of one component
    bptr : (n + 1,) int64, bidx : (nrest,) int32, bval : (nrest,) int64, edges to its cells that stay, summed up by
        coupled part
    iptr : (n + 1,) int64, iadj : (ninter,) int32, interedges, seen from both ends
    imul : (ninter,) int32, how many each stands for
    give : (ninter,) int64, cost of the datum of this cell in the part of the other
    take : (ninter,) int64, cost of the datum of the other cell in the part of this one
    weight : (n,) int64, of each cell
    """

    xadj: Any
    adjncy: Any
    ewgt: Any
    bptr: Any
    bidx: Any
    bval: Any
    iptr: Any
    iadj: Any
    imul: Any
    give: Any
    take: Any
    weight: Any


class Shares(NamedTuple):
    """A partition of the n cells into K parts, and what every move keeps up to date.

    part : (n,) int32, part of each cell
    load : (K,) int64, weight of the cells of each part
    limit : (K,) int64, the largest allowed
    population : (K,) int64, number of cells of each part
    where : (ninter,) int32, parts that the interedges of cell v lead to: the first used[v] entries from iptr[v]
    many : (ninter,) int32, how many lead to each of them
    used : (n,) int32, number of such parts of each cell
    pairs : (K, K) int64, interedges between two parts, symmetric
    total : (3,) int64, cut, volume, messages
    """

    part: Any
    load: Any
    limit: Any
    population: Any
    where: Any
    many: Any
    used: Any
    pairs: Any
    total: Any


@kernel
def share_out(g, s):
    """Compute everything in `s` from part and limit; returns the number of messages.

    g : Cells, in
    s : Shares, in and out
    """
    s.load[:] = 0
    s.population[:] = 0
    s.pairs[:, :] = 0
    s.total[:] = 0
    n = len(g.weight)
    for v in range(n):
        p = s.part[v]
        s.load[p] += g.weight[v]
        s.population[p] += 1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if u > v and s.part[u] != p:
                s.total[0] += g.ewgt[e]
        for e in range(g.bptr[v], g.bptr[v + 1]):
            if g.bidx[e] != p:
                s.total[0] += g.bval[e]
        first = g.iptr[v]
        used = 0
        for e in range(first, g.iptr[v + 1]):
            q = s.part[g.iadj[e]]
            if p < q:
                if s.pairs[p, q] == 0:
                    s.total[2] += 1
                s.pairs[p, q] += g.imul[e]
                s.pairs[q, p] += g.imul[e]
            i = first
            while i < first + used and s.where[i] != q:
                i += 1
            if i == first + used:
                s.where[i] = q
                s.many[i] = 0
                used += 1
                s.total[1] += g.give[e]
            s.many[i] += g.imul[e]
        s.used[v] = used
    return s.total[2]


@inlined
def change_of_cut(xadj, adjncy, ewgt, bptr, bidx, bval, part, v, a, b):
    """Increase of the cut if cell v moves from part a to b.

    xadj : (n + 1,) int64, in
    adjncy : (nadj,) int32, in
    ewgt : (nadj,) int64, in
    bptr : (n + 1,) int64, in
    bidx : (nrest,) int32, in
    bval : (nrest,) int64, in
    part : (n,) int32, in
    v, a, b : int
    """
    change = np.int64(0)
    for e in range(xadj[v], xadj[v + 1]):
        p = part[adjncy[e]]
        if p == a:
            change += ewgt[e]
        elif p == b:
            change -= ewgt[e]
    for e in range(bptr[v], bptr[v + 1]):
        p = bidx[e]
        if p == a:
            change += bval[e]
        elif p == b:
            change -= bval[e]
    return change


@inlined
def change_of_volume(iptr, iadj, imul, take, where, many, used, v, a, b):
    """Increase of the volume if cell v moves from a to b: what b then gets for the first time, less what only v got.

    iptr : (n + 1,) int64, in
    iadj, imul : (ninter,) int32, in
    take : (ninter,) int64, in
    where, many : (ninter,) int32, in
    used : (n,) int32, in
    v, a, b : int
    """
    change = np.int64(0)
    for e in range(iptr[v], iptr[v + 1]):
        if take[e] == 0:
            continue
        u = iadj[e]
        first = iptr[u]
        new = np.int64(1)
        for i in range(first, first + used[u]):
            if where[i] == b or (where[i] == a and many[i] == imul[e]):
                new += np.int64(-1)
        change += take[e] * new
    return change


@inlined
def change_of_messages(iptr, where, many, used, pairs, v, a, b, blur):
    """Increase of the messages if v moves from a to b, where m interedges count as m / (m + blur) messages.

    iptr : (n + 1,) int64, in
    where, many : (ninter,) int32, in
    used : (n,) int32, in
    pairs : (K, K) int64, in
    v, a, b : int
    blur : float
    """
    change = 0.0
    for i in range(iptr[v], iptr[v] + used[v]):
        q = where[i]
        old = pairs[a, q]
        now = old - many[i]
        change -= old / (old + blur)
        if now > 0:
            change += now / (now + blur)
        old = pairs[b, q]
        now = old + many[i]
        change += now / (now + blur)
        if old > 0:
            change -= old / (old + blur)
    return change


@inlined
def price_of_excess(excess, limit):
    """What a weight of `excess` above `limit` costs: more than in proportion, so that it spreads from part to part.

    excess, limit : int
    """
    if excess <= 0:
        return 0.0
    return excess * (1.0 + 10.0 * excess / (limit + 1.0))


@inlined
def change_of_excess(load, limit, w, a, b):
    """Increase of the price of all excess if a cell of weight w moves from a to b.

    load, limit : (K,) int64, in
    w, a, b : int
    """
    change = 0.0
    x = load[b] + w - limit[b]
    if w > 0 and x > 0:
        change += price_of_excess(x, limit[b]) - price_of_excess(x - w, limit[b])
    x = load[a] - limit[a]
    if w > 0 and x > 0:
        change += price_of_excess(x - w, limit[a]) - price_of_excess(x, limit[a])
    return change


@inlined
def move(g, s, v, a, b):
    """Move cell v from part a to b; the cut is left to the caller.

    g : Cells, in
    s : Shares, in and out
    v, a, b : int
    """
    iptr, iadj, imul, take, weight = g.iptr, g.iadj, g.imul, g.take, g.weight
    where, many, used, pairs, total = s.where, s.many, s.used, s.pairs, s.total
    for e in range(iptr[v], iptr[v + 1]):
        u = iadj[e]
        first = iptr[u]
        kept = used[u]
        i = first
        while where[i] != a:
            i += 1
        many[i] -= imul[e]
        if many[i] == 0:
            kept -= 1
            where[i] = where[first + kept]
            many[i] = many[first + kept]
            total[1] -= take[e]
        i = first
        while i < first + kept and where[i] != b:
            i += 1
        if i == first + kept:
            where[i] = b
            many[i] = 0
            kept += 1
            total[1] += take[e]
        many[i] += imul[e]
        used[u] = kept
    for i in range(iptr[v], iptr[v] + used[v]):
        q = where[i]
        m = many[i]
        pairs[a, q] -= m
        pairs[q, a] -= m
        if pairs[a, q] == 0:
            total[2] -= 1
        if pairs[b, q] == 0:
            total[2] += 1
        pairs[b, q] += m
        pairs[q, b] += m
    s.load[a] -= weight[v]
    s.load[b] += weight[v]
    s.population[a] -= 1
    s.population[b] += 1
    s.part[v] = b


@kernel
def relieve(g, s, owner, weights):
    """Move cells out of parts above their limits, cheapest first, to any part of the component with room.

    g : Cells, in
    s : Shares, in and out
    owner : (K,) int32, in          component of each part
    weights : (3,) float64, in      price of cut, volume and messages
    Returns the weight left above the limits.
    """
    xadj, adjncy, ewgt, bptr, bidx, bval = g.xadj, g.adjncy, g.ewgt, g.bptr, g.bidx, g.bval
    iptr, iadj, imul, take, weight = g.iptr, g.iadj, g.imul, g.take, g.weight
    part, load, limit, population = s.part, s.load, s.limit, s.population
    where, many, used, pairs, total = s.where, s.many, s.used, s.pairs, s.total
    left = np.int64(0)
    for a in range(len(load)):
        while load[a] > limit[a]:
            best = np.int64(-1)
            to = np.int64(-1)
            least = 0.0
            for v in range(len(weight)):
                w = weight[v]
                if part[v] != a or w == 0 or population[a] <= 1:
                    continue
                for b in range(len(load)):
                    if b == a or owner[b] != owner[a] or load[b] + w > limit[b]:
                        continue
                    change = weights[0] * change_of_cut(xadj, adjncy, ewgt, bptr, bidx, bval, part, v, a, b)
                    change += weights[1] * change_of_volume(iptr, iadj, imul, take, where, many, used, v, a, b)
                    change += weights[2] * change_of_messages(iptr, where, many, used, pairs, v, a, b, 0.1)
                    change /= min(w, load[a] - limit[a])
                    if best < 0 or change < least:
                        best = np.int64(v)
                        to = np.int64(b)
                        least = change
            if best < 0:
                left += load[a] - limit[a]
                break
            total[0] += change_of_cut(xadj, adjncy, ewgt, bptr, bidx, bval, part, best, np.int64(a), to)
            move(g, s, best, np.int64(a), to)
    return left
