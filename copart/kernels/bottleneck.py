"""What every process sends and receives at the interfaces, for annealing that counts the busiest one too.

(Metrics MSV, MSRV, MSM of UMPa: Catalyurek, Deveci, Kaya & Ucar 2013; here a process only sends or only receives at
an interface, and what it does at all its interfaces is added up.)
"""

import numpy as np

from . import inlined, kernel


@inlined
def datum_for(iptr, iadj, give, part, v, q):
    """Cost of the datum of cell v in part q, one of those that its interedges lead to.

    iptr : (n + 1,) int64, in       interedges of each cell
    iadj : (ninter,) int32, in    cell at the other end
    give : (ninter,) int64, in    cost of the datum of this cell in the part of the other
    part : (n,) int32, in
    v, q : int
    """
    e = iptr[v]
    while part[iadj[e]] != q:
        e += 1
    return give[e]


@kernel
def tally(g, s, volume, messages):
    """What each part sends and receives; returns the largest volume.

    g : Cells, in
    s : Shares, in
    volume, messages : (K,) int64, out
    """
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
def note_changes(g, s, v, a, b, more, extra):
    """Note what each part sends and receives more if v moves from part a to part b.

    g : Cells, in
    s : Shares, in
    v, a, b : int
    more, extra : (K,) int64, in and out    increase of volume and messages, added to what is there
    """
    iptr, iadj, imul, give, take = g.iptr, g.iadj, g.imul, g.give, g.take
    part, where, many, used, pairs = s.part, s.where, s.many, s.used, s.pairs
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
