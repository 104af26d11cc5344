"""Kernels on the coupled cells of all components together: cut, volume and messages of a move, and annealing.

The cells of all components are numbered through, and so are their coupled parts: a cell moves between
parts of its own component, its interedges lead to cells of other components.  Moves change what is known of the
parts by a few entries, so a gain costs the degree of a cell.  (Gain rules: Catalyurek, Deveci, Kaya & Ucar 2013,
UMPa; here a net is a cell with its interedges, and its source is never in a part of one of its pins.)
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .rng import mix


class Cells(NamedTuple):
    """The coupled cells of all components, or clusters of them.

    xadj (n+1,) int64, adjncy int32, ewgt int64: edges between cells of one component.
    bptr (n+1,) int64, bidx int32, bval int64: edges to its cells that stay, summed up by coupled part.
    iptr (n+1,) int64, iadj int32, imul int32: interedges, seen from both ends, and how many each stands for.
    give, take (len(iadj),) int64: cost of the datum of this cell in the part of the other, and the other way round.
    weight (n,) int64.
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
    """A partition of the cells, and what every move keeps up to date.

    part (n,) int32; load, limit, population (K,) int64: weight of the cells of a part, the largest allowed, and their
    number.  where, many (len(iadj),) int32, used (n,) int32: parts that the interedges of cell v lead to, and how many
    lead to each: the first used[v] entries from iptr[v].  pairs (K, K) int64: interedges between two parts, symmetric.
    total (3,) int64: cut, volume, messages.
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
    """Compute everything in `s` from part and limit; returns the number of messages."""
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
def change_of_cut(g, s, v, b):
    """Increase of the cut if cell v moves to part b."""
    a = s.part[v]
    change = np.int64(0)
    for e in range(g.xadj[v], g.xadj[v + 1]):
        p = s.part[g.adjncy[e]]
        if p == a:
            change += g.ewgt[e]
        elif p == b:
            change -= g.ewgt[e]
    for e in range(g.bptr[v], g.bptr[v + 1]):
        p = g.bidx[e]
        if p == a:
            change += g.bval[e]
        elif p == b:
            change -= g.bval[e]
    return change


@inlined
def change_of_volume(g, s, v, b):
    """Increase of the volume if cell v moves to part b: what b then gets for the first time, less what only v got."""
    a = s.part[v]
    change = np.int64(0)
    for e in range(g.iptr[v], g.iptr[v + 1]):
        if g.take[e] == 0:
            continue
        u = g.iadj[e]
        first = g.iptr[u]
        new = np.int64(1)
        for i in range(first, first + s.used[u]):
            if s.where[i] == b or (s.where[i] == a and s.many[i] == g.imul[e]):
                new += np.int64(-1)
        change += g.take[e] * new
    return change


@inlined
def change_of_messages(g, s, v, b, blur):
    """Increase of the messages if cell v moves to part b, where m interedges count as m / (m + blur) messages."""
    a = s.part[v]
    change = 0.0
    for i in range(g.iptr[v], g.iptr[v] + s.used[v]):
        q = s.where[i]
        old = s.pairs[a, q]
        now = old - s.many[i]
        change -= old / (old + blur)
        if now > 0:
            change += now / (now + blur)
        old = s.pairs[b, q]
        now = old + s.many[i]
        change += now / (now + blur)
        if old > 0:
            change -= old / (old + blur)
    return change


@inlined
def move(g, s, v, b):
    """Move cell v to part b."""
    s.total[0] += change_of_cut(g, s, v, b)
    a = s.part[v]
    for e in range(g.iptr[v], g.iptr[v + 1]):
        u = g.iadj[e]
        first = g.iptr[u]
        used = s.used[u]
        i = first
        while s.where[i] != a:
            i += 1
        s.many[i] -= g.imul[e]
        if s.many[i] == 0:
            used -= 1
            s.where[i] = s.where[first + used]
            s.many[i] = s.many[first + used]
            s.total[1] -= g.take[e]
        i = first
        while i < first + used and s.where[i] != b:
            i += 1
        if i == first + used:
            s.where[i] = b
            s.many[i] = 0
            used += 1
            s.total[1] += g.take[e]
        s.many[i] += g.imul[e]
        s.used[u] = used
    for i in range(g.iptr[v], g.iptr[v] + s.used[v]):
        q = s.where[i]
        m = s.many[i]
        s.pairs[a, q] -= m
        s.pairs[q, a] -= m
        if s.pairs[a, q] == 0:
            s.total[2] -= 1
        if s.pairs[b, q] == 0:
            s.total[2] += 1
        s.pairs[b, q] += m
        s.pairs[q, b] += m
    s.load[a] -= g.weight[v]
    s.load[b] += g.weight[v]
    s.population[a] -= 1
    s.population[b] += 1
    s.part[v] = b


@inlined
def price_of_excess(excess, limit):
    """What a weight of `excess` above `limit` costs: more than in proportion, so that it spreads from part to part."""
    if excess <= 0:
        return 0.0
    return excess * (1.0 + 10.0 * excess / (limit + 1.0))


@inlined
def change_of_excess(g, s, v, b):
    """Increase of the price of all excess if cell v moves to part b."""
    a = s.part[v]
    w = g.weight[v]
    change = 0.0
    x = s.load[b] + w - s.limit[b]
    if w > 0 and x > 0:
        change += price_of_excess(x, s.limit[b]) - price_of_excess(x - w, s.limit[b])
    x = s.load[a] - s.limit[a]
    if w > 0 and x > 0:
        change += price_of_excess(x - w, s.limit[a]) - price_of_excess(x, s.limit[a])
    return change


@inlined
def other_part(g, s, v, draw):
    """Part of a neighbour of v that is not its own: the next one from a drawn entry on; its own if there is none."""
    a = s.part[v]
    inner = g.xadj[v + 1] - g.xadj[v]
    degree = inner + g.bptr[v + 1] - g.bptr[v]
    b = a
    if degree > 0:
        j = draw % degree
        for _ in range(degree):
            if j < inner:
                b = s.part[g.adjncy[g.xadj[v] + j]]
            else:
                b = g.bidx[g.bptr[v] + j - inner]
            if b != a:
                break
            j += 1
            if j == degree:
                j = 0
    return b


@kernel
def list_border(g, s, border):
    """Write the cells with a neighbour in another part; returns how many."""
    count = 0
    for v in range(len(g.weight)):
        if other_part(g, s, v, np.int64(0)) != s.part[v]:
            border[count] = v
            count += 1
    return count


@kernel
def anneal(g, s, sweeps, weights, heat, blur, press, salt, border):
    """Simulated annealing of the cells at the borders; returns how many moves were made.

    A cell moves to the part of a neighbour, at once where that lowers ``weights . (cut, volume, messages)`` plus the
    price of excess weight, else with a probability that falls with the temperature.  heat, blur, press (2,) float64:
    temperature, blur of the messages and price of a unit of excess, first and last.  Each of `sweeps` lists the border
    and draws from it as many cells as are on it.  border (n,) int32 is scratch.
    """
    shrink = 1.0 / max(sweeps - 1, 1)
    moves = 0
    drawn = 0
    for t in range(sweeps):
        temperature = heat[0] * (heat[1] / heat[0]) ** (t * shrink)
        tau = blur[0] * (blur[1] / blur[0]) ** (t * shrink)
        price = press[0] * (press[1] / press[0]) ** (t * shrink)
        count = list_border(g, s, border)
        for _ in range(count):
            drawn += 1
            dice = mix(drawn, salt)
            v = np.int64(border[dice % count])
            b = other_part(g, s, v, dice // count)
            a = s.part[v]
            if a == b or s.population[a] <= 1:
                continue
            change = price * change_of_excess(g, s, v, b)
            change += weights[0] * change_of_cut(g, s, v, b)
            change += weights[1] * change_of_volume(g, s, v, b)
            change += weights[2] * change_of_messages(g, s, v, b, tau)
            if change <= 0.0 or change < -temperature * np.log((mix(drawn, salt + 1) + 1.0) / 4294967296.0):
                move(g, s, v, b)
                moves += 1
    return moves


@kernel
def relieve(g, s, owner, weights):
    """Move cells out of parts above their limits, cheapest first, to any part of the component with room.

    owner (K,) int32: component of each part.  Returns the weight left above the limits.
    """
    left = np.int64(0)
    for a in range(len(s.load)):
        while s.load[a] > s.limit[a]:
            best = np.int64(-1)
            to = np.int64(-1)
            least = 0.0
            for v in range(len(g.weight)):
                w = g.weight[v]
                if s.part[v] != a or w == 0 or s.population[a] <= 1:
                    continue
                for b in range(len(s.load)):
                    if b == a or owner[b] != owner[a] or s.load[b] + w > s.limit[b]:
                        continue
                    change = weights[0] * change_of_cut(g, s, v, b)
                    change += weights[1] * change_of_volume(g, s, v, b)
                    change += weights[2] * change_of_messages(g, s, v, b, 0.1)
                    change /= min(w, s.load[a] - s.limit[a])
                    if best < 0 or change < least:
                        best = np.int64(v)
                        to = np.int64(b)
                        least = change
            if best < 0:
                left += s.load[a] - s.limit[a]
                break
            move(g, s, best, to)
    return left
