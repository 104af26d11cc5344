"""Kernels on coupled cells that count the busiest process too: what it sends and receives, and its messages.

(Metrics MSV, MSRV, MSM of UMPa: Catalyurek, Deveci, Kaya & Ucar 2013; here a process only sends or only receives at
an interface, and what it does at all its interfaces is added up.)
"""

import numpy as np

from . import inlined, kernel
from .coupled import (
    change_of_cut,
    change_of_excess,
    change_of_messages,
    change_of_volume,
    list_border,
    move,
    other_part,
)
from .rng import mix


@inlined
def datum_for(iptr, iadj, give, part, v, q):
    """Cost of the datum of cell v in part q, one of those that its interedges lead to."""
    e = iptr[v]
    while part[iadj[e]] != q:
        e += 1
    return give[e]


@kernel
def tally(g, s, volume, messages):
    """What each part sends and receives: volume and messages (K,) int64; returns the largest volume."""
    volume[:] = 0
    messages[:] = 0
    iptr, iadj, give, part, where, used, pairs = g.iptr, g.iadj, g.give, s.part, s.where, s.used, s.pairs
    for v in range(len(part)):
        for i in range(iptr[v], iptr[v] + used[v]):
            q = where[i]
            datum = datum_for(iptr, iadj, give, part, v, q)
            volume[part[v]] += datum
            volume[q] += datum
    largest = np.int64(0)
    for p in range(len(volume)):
        largest = max(largest, volume[p])
        for q in range(len(volume)):
            if pairs[p, q] > 0:
                messages[p] += 1
    return largest


@inlined
def note_changes(iptr, iadj, imul, give, take, part, where, many, used, pairs, v, a, b, more, extra):
    """Add to `more` and `extra` (K,) int64 what each part sends and receives more if v moves from a to b."""
    for i in range(iptr[v], iptr[v] + used[v]):
        q = where[i]
        datum = datum_for(iptr, iadj, give, part, v, q)
        more[a] -= datum
        more[b] += datum
        if pairs[a, q] == many[i]:
            extra[a] -= 1
            extra[q] -= 1
        if pairs[b, q] == 0:
            extra[b] += 1
            extra[q] += 1
    for e in range(iptr[v], iptr[v + 1]):
        if take[e] == 0:
            continue
        u = iadj[e]
        sender = part[u]
        known = False
        for i in range(iptr[u], iptr[u] + used[u]):
            if where[i] == b:
                known = True
            if where[i] == a and many[i] == imul[e]:
                more[a] -= take[e]
                more[sender] -= take[e]
        if not known:
            more[b] += take[e]
            more[sender] += take[e]


@kernel
def anneal_bottleneck(g, s, sweeps, weights, heat, blur, press, salt, border, volume, messages, more, extra):
    """As :func:`copart.kernels.coupled.anneal`, with the largest volume and number of messages of a part.

    weights (5,) float64: of cut, volume, messages, largest volume and largest number of messages.  volume, messages
    (K,) int64 as :func:`tally` writes them are kept up to date; more, extra (K,) int64 are scratch, all 0.
    """
    xadj, adjncy, ewgt, bptr, bidx, bval = g.xadj, g.adjncy, g.ewgt, g.bptr, g.bidx, g.bval
    iptr, iadj, imul, give, take, weight = g.iptr, g.iadj, g.imul, g.give, g.take, g.weight
    part, load, limit, population = s.part, s.load, s.limit, s.population
    where, many, used, pairs, total = s.where, s.many, s.used, s.pairs, s.total
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
            b = other_part(xadj, adjncy, bptr, bidx, part, v, dice // count)
            a = part[v]
            if a == b or population[a] <= 1:
                continue
            uncut = change_of_cut(xadj, adjncy, ewgt, bptr, bidx, bval, part, v, a, b)
            change = price * change_of_excess(load, limit, weight[v], a, b)
            change += weights[0] * uncut
            change += weights[1] * change_of_volume(iptr, iadj, imul, take, where, many, used, v, a, b)
            change += weights[2] * change_of_messages(iptr, where, many, used, pairs, v, a, b, tau)
            note_changes(iptr, iadj, imul, give, take, part, where, many, used, pairs, v, a, b, more, extra)
            before, after, fewer, larger = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            for p in range(len(volume)):
                before = max(before, volume[p])
                after = max(after, volume[p] + more[p])
                fewer = max(fewer, messages[p])
                larger = max(larger, messages[p] + extra[p])
            change += weights[3] * (after - before) + weights[4] * (larger - fewer)
            go = change <= 0.0 or change < -temperature * np.log((mix(drawn, salt + 1) + 1.0) / 4294967296.0)
            for p in range(len(volume)):
                if go:
                    volume[p] += more[p]
                    messages[p] += extra[p]
                more[p] = 0
                extra[p] = 0
            if go:
                total[0] += uncut
                move(iptr, iadj, imul, take, weight, part, load, population, where, many, used, pairs, total, v, a, b)
                moves += 1
    return moves
