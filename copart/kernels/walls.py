"""The walls between the parts of all components as one problem: what a vertex, coupled or not, changes by a move.

The vertices of all components are numbered through, and so are their parts.  A vertex moves between parts of its own
component; its interedges lead to vertices of others.  What every part weighs, owns of the interface, sends and has
messages for is kept up to date, so a move costs the degree of a vertex.  (Gain rules: Catalyurek, Deveci, Kaya & Ucar
2013, UMPa.)
"""

from typing import Any, NamedTuple

from . import inlined, kernel


class Joined(NamedTuple):
    """The n vertices of all components on one level.

    xadj : (n + 1,) int64, adjncy : (nadj,) int32, ewgt : (nadj,) int64, empty where every edge weighs 1
    weight : (n,) int64, of each vertex
    coupled : (n,) int64, coupled weight of each vertex
    iptr : (n + 1,) int64, iadj : (ninter,) int32, interedges, seen from both ends
    imul : (ninter,) int32, how many each stands for
    give : (ninter,) int64, data of this vertex for the component of the other
    take : (ninter,) int64, data of the other vertex for the component of this one
    """

    xadj: Any
    adjncy: Any
    ewgt: Any
    weight: Any
    coupled: Any
    iptr: Any
    iadj: Any
    imul: Any
    give: Any
    take: Any


class Walls(NamedTuple):
    """A partition of the n vertices into K parts, and what every move keeps up to date.

    part : (n,) int32, part of each vertex
    owner : (K,) int32, component of each part
    slot : (K,) int32, row of each part in `pairs`; -1 where it may own no coupled vertex
    load, room : (K,) int64, weight of each part, and the largest allowed
    share, bound : (K,) int64, coupled weight of each part, and the largest allowed
    population : (K,) int64, vertices of each part
    where : (ninter,) int32, parts that the interedges of vertex v lead to: the first used[v] entries from iptr[v]
    many : (ninter,) int32, how many lead to each of them
    used : (n,) int32, number of such parts of each vertex
    pairs : (S, S) int32, interedges between two parts, symmetric, by slot
    sent, got : (K, C) int64, data that each part sends to each other component, and receives from it
    messages : (K, C) int64, parts of each other component that each part meets
    volume : (C, C) int64, data from one component to another
    cut : (C,) int64, of each component
    total : (1,) int64, messages
    owners : (C,) int64, parts of each component that own coupled weight
    """

    part: Any
    owner: Any
    slot: Any
    load: Any
    room: Any
    share: Any
    bound: Any
    population: Any
    where: Any
    many: Any
    used: Any
    pairs: Any
    sent: Any
    got: Any
    messages: Any
    volume: Any
    cut: Any
    total: Any
    owners: Any


@kernel
def count_meetings(u, v, first, second, degree):
    """Add the interedges of a pair of components to those of their coupled vertices.

    u, v : (n,) int32, in           cells of either component at each interedge
    first, second : (nvtxs,) int32, in      number of each coupled cell
    degree : (m,) int64, in and out
    """
    for e in range(len(u)):
        degree[first[u[e]]] += 1
        degree[second[v[e]]] += 1


@kernel
def list_meetings(u, v, first, second, end, adjncy):
    """List the interedges of a pair of components behind those that their coupled vertices have already.

    u, v, first, second : see :func:`count_meetings`
    end : (m,) int64, in and out    where the list of each coupled vertex ends
    adjncy : (ninter,) int32, out
    """
    for e in range(len(u)):
        i = first[u[e]]
        j = second[v[e]]
        adjncy[end[i]] = j
        adjncy[end[j]] = i
        end[i] += 1
        end[j] += 1


@kernel
def touch_coupled(g, part, wet, near):
    """Mark the parts that own coupled vertices, and those that touch one that does; returns how many do not.

    g : Joined, in
    part : (n,) int32, in
    wet, near : (K,) uint8, in and out      0 before
    """
    for v in range(len(part)):
        if g.iptr[v] < g.iptr[v + 1]:
            wet[part[v]] = 1
    left = 0
    for p in range(len(wet)):
        near[p] = wet[p]
        left += wet[p] == 0
    for v in range(len(part) if left > 0 else 0):
        p = part[v]
        if wet[p] == 1:
            continue
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if wet[part[g.adjncy[e]]] == 1:
                near[p] = 1
                break
    return left


@kernel
def list_exchange(xadj, adjncy, kind, data, give, take):
    """Data that go along the interedges of m coupled vertices of C components.

    xadj : (m + 1,) int64, in
    adjncy : (ninter,) int32, in
    kind : (m,) int32, in           component of each vertex
    data : (C, m) int64, in         what each has for every component
    give, take : (ninter,) int64, out       see :class:`Joined`
    """
    for v in range(len(kind)):
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            give[e] = data[kind[u], v]
            take[e] = data[kind[v], u]


@kernel
def survey(g, s, edges):
    """Compute everything in `s` from part, owner and slot; returns the number of messages.

    g : Joined, in
    s : Walls, in and out
    edges : bool                    the cuts, too; they stay as they are else
    """
    s.load[:] = 0
    s.share[:] = 0
    s.population[:] = 0
    s.pairs[:, :] = 0
    s.sent[:, :] = 0
    s.got[:, :] = 0
    s.messages[:, :] = 0
    s.volume[:, :] = 0
    if edges:
        s.cut[:] = 0
    s.total[:] = 0
    s.owners[:] = 0
    unit = len(g.ewgt) == 0
    for v in range(len(g.weight)):
        p = s.part[v]
        s.load[p] += g.weight[v]
        s.share[p] += g.coupled[v]
        s.population[p] += 1
        for e in range(g.xadj[v], g.xadj[v + 1] if edges else g.xadj[v]):
            u = g.adjncy[e]
            if u > v and s.part[u] != p:
                if unit:
                    s.cut[s.owner[p]] += 1
                else:
                    s.cut[s.owner[p]] += g.ewgt[e]
        first = g.iptr[v]
        used = 0
        for e in range(first, g.iptr[v + 1]):
            q = s.part[g.iadj[e]]
            if p < q:
                i = s.slot[p]
                j = s.slot[q]
                if s.pairs[i, j] == 0:
                    s.total[0] += 1
                    s.messages[p, s.owner[q]] += 1
                    s.messages[q, s.owner[p]] += 1
                s.pairs[i, j] += g.imul[e]
                s.pairs[j, i] += g.imul[e]
            i = first
            while i < first + used and s.where[i] != q:
                i += 1
            if i == first + used:
                s.where[i] = q
                s.many[i] = 0
                used += 1
                s.volume[s.owner[p], s.owner[q]] += g.give[e]
                s.sent[p, s.owner[q]] += g.give[e]
                s.got[q, s.owner[p]] += g.give[e]
            s.many[i] += g.imul[e]
        s.used[v] = used
    for p in range(len(s.load)):
        if s.share[p] > 0:
            s.owners[s.owner[p]] += 1
    return s.total[0]


@kernel
def edge_cuts(g, kind, part, cut):
    """Edge cut of each component.

    g : Joined, in
    kind, part : (n,) int32, in
    cut : (C,) int64, in and out    added to
    """
    unit = len(g.ewgt) == 0
    for v in range(len(part)):
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if u > v and part[u] != part[v]:
                if unit:
                    cut[kind[v]] += 1
                else:
                    cut[kind[v]] += g.ewgt[e]


@inlined
def datum_for(g, s, v, other):
    """Data of vertex v for component `other`, which it has an interedge to; the same for all its parts.

    g : Joined, in
    s : Walls, in
    v, other : int
    """
    e = g.iptr[v]
    while s.owner[s.part[g.iadj[e]]] != other:
        e += 1
    return g.give[e]


@inlined
def shift_weight(g, s, v, a, b):
    """Move vertex v from part a to b, all but its data and messages; all there is to do where it has no interedges.

    g : Joined, in
    s : Walls, in and out
    v, a, b : int
    """
    own = s.owner[a]
    w = g.weight[v]
    c = g.coupled[v]
    s.load[a] -= w
    s.load[b] += w
    if c > 0:
        if s.share[a] == c:
            s.owners[own] -= 1
        if s.share[b] == 0:
            s.owners[own] += 1
        s.share[a] -= c
        s.share[b] += c
    s.population[a] -= 1
    s.population[b] += 1
    s.part[v] = b


@kernel
def shift(g, s, v, a, b):
    """Move vertex v from part a to b; the cut is left to the caller.

    g : Joined, in
    s : Walls, in and out
    v, a, b : int
    """
    iptr, iadj, imul, take = g.iptr, g.iadj, g.imul, g.take
    where, many, used, pairs, slot, owner, part = s.where, s.many, s.used, s.pairs, s.slot, s.owner, s.part
    own = owner[a]
    for e in range(iptr[v], iptr[v + 1]):
        u = iadj[e]
        p = part[u]
        other = owner[p]
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
            s.volume[other, own] -= take[e]
            s.got[a, other] -= take[e]
            s.sent[p, own] -= take[e]
        i = first
        while i < first + kept and where[i] != b:
            i += 1
        if i == first + kept:
            where[i] = b
            many[i] = 0
            kept += 1
            s.volume[other, own] += take[e]
            s.got[b, other] += take[e]
            s.sent[p, own] += take[e]
        many[i] += imul[e]
        used[u] = kept
    pa = slot[a]
    pb = slot[b]
    for i in range(iptr[v], iptr[v] + used[v]):
        q = where[i]
        pq = slot[q]
        m = many[i]
        other = owner[q]
        given = datum_for(g, s, v, other)
        s.sent[a, other] -= given
        s.sent[b, other] += given
        pairs[pa, pq] -= m
        pairs[pq, pa] -= m
        if pairs[pa, pq] == 0:
            s.total[0] -= 1
            s.messages[a, other] -= 1
            s.messages[q, own] -= 1
        if pairs[pb, pq] == 0:
            s.total[0] += 1
            s.messages[b, other] += 1
            s.messages[q, own] += 1
        pairs[pb, pq] += m
        pairs[pq, pb] += m
    shift_weight(g, s, v, a, b)


__all__ = ["Joined", "Walls", "count_meetings", "datum_for", "edge_cuts", "list_exchange", "list_meetings", "shift",
           "shift_weight", "survey", "touch_coupled"]
