"""The surroundings of the border between two parts as a flow network; what lies outside is source and sink.

What lies outside is in no array: vertices are tied to it with the weight of their edges there.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inner


class FlowArena(NamedTuple):
    """Memory of one thread for a level of n vertices and m adjacency entries.

    `local` goes by vertex, `queue` and `path` by place, the others by number in the region or by arc of its network.

    local : (n + 1,) int32, number of each vertex in the region; -1 everywhere between calls
    vertex : (n + 1,) int32, vertex of each number in the region
    hops : (n + 1,) int32, distance from the border, where it is 0
    level : (n + 1,) int32, distance from the source, -1 beyond
    queue : (n + 1,) int32, scratch of searches and of piercing
    path : (n + 1,) int32, arcs from a vertex tied to the source to the vertex reached
    back : (n + 1,) int32, distance to the sink, -1 beyond
    source, sink : (n + 1,) int64, capacity left from the source to each vertex, and from it to the sink
    tied : (n + 1,) uint8, which of them it was tied to at first, `SOURCE` or `SINK`, or 0
    term : (n + 1,) uint8, `SOURCE` or `SINK` for vertices that stay on that side, else 0
    first : (n + 1,) int64, where the arcs of each vertex begin
    cursor : (n + 1,) int64, arc of each vertex that is next
    head : (m + 1,) int32, head of each arc
    rev : (m + 1,) int64, the arc back
    cap : (m + 1,) int64, capacity left
    fresh : (n + 1,) int32, vertices newly at a border since it was emptied; nfresh : (1,) int64, how many
    """

    local: Any
    vertex: Any
    hops: Any
    level: Any
    queue: Any
    path: Any
    back: Any
    source: Any
    sink: Any
    tied: Any
    term: Any
    first: Any
    cursor: Any
    head: Any
    rev: Any
    cap: Any
    fresh: Any
    nfresh: Any


SOURCE, SINK = 1, 2

PLENTY = 1 << 62
"""Capacity of what cannot be cut: more than all edges weigh together."""


@inner
def grow_region(g, part, a, b, seeds, reach, room, arena):
    """The region round the border of parts a and b: its vertices, nearest to the border first; returns (size, cut).

    g : Level, in
    part : (n,) int32, in
    a, b : int
    seeds : (nseeds,) int32, in     vertices among which all at the border between the two are
    reach : int                     hops from the border to what lies outside
    room : (2,) int64, in           most weight of a and of b that is reached; the border counts, and is in anyway
    arena : FlowArena, in and out
    """
    size = 0
    used_a = np.int64(0)
    used_b = np.int64(0)
    unit = len(g.ewgt) == 0
    cut = np.int64(0)
    for i in range(len(seeds)):
        v = seeds[i]
        own = part[v]
        if own != a and own != b:
            continue
        other = a + b - own
        touches = False
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if part[g.adjncy[e]] == other:
                touches = True
                if own == a:
                    if unit:
                        cut += 1
                    else:
                        cut += g.ewgt[e]
        if touches and arena.local[v] < 0:
            arena.local[v] = size
            arena.vertex[size] = v
            arena.hops[size] = 0
            size += 1
            if own == a:
                used_a += g.vwgt[v]
            else:
                used_b += g.vwgt[v]
    head = 0
    while head < size:
        v = arena.vertex[head]
        h = arena.hops[head]
        head += 1
        if h + 1 >= reach:
            break
        own = part[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if part[u] != own or arena.local[u] >= 0:
                continue
            w = g.vwgt[u]
            if own == a:
                if used_a + w > room[0]:
                    continue
                used_a += w
            else:
                if used_b + w > room[1]:
                    continue
                used_b += w
            arena.local[u] = size
            arena.vertex[size] = u
            arena.hops[size] = h + 1
            size += 1
    return size, cut


@inner
def build_network(g, part, a, b, size, arena):
    """The network of the region: arcs by vertex, sorted by head; ties to what lies outside. Fixed vertices stay.

    g : Level, in
    part : (n,) int32, in
    a, b : int
    size : int                      vertices of the region
    arena : FlowArena, in and out
    Returns which kinds of ties there are: `SOURCE`, `SINK`, both added up, or 0.
    """
    local, vertex, first = arena.local, arena.vertex, arena.first
    unit = len(g.ewgt) == 0
    for i in range(size + 1):
        first[i] = 0
    kinds = 0
    for i in range(size):
        v = vertex[i]
        own = part[v]
        mine = SOURCE if own == a else SINK
        tie = np.int64(0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if local[u] >= 0:
                first[i + 1] += 1
            elif part[u] == own:
                if unit:
                    tie += 1
                else:
                    tie += g.ewgt[e]
        arena.term[i] = 0
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            arena.term[i] = mine
            tie = np.int64(PLENTY)
        arena.source[i] = tie if own == a else 0
        arena.sink[i] = 0 if own == a else tie
        arena.tied[i] = mine if tie > 0 else 0
        if tie > 0:
            kinds |= mine
    for i in range(size):
        first[i + 1] += first[i]
        arena.cursor[i] = first[i]
    # tails in ascending order make every row ascending
    for i in range(size):
        v = vertex[i]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            j = local[g.adjncy[e]]
            if j >= 0:
                at = arena.cursor[j]
                arena.cursor[j] += 1
                arena.head[at] = i
                if unit:
                    arena.cap[at] = 1
                else:
                    arena.cap[at] = g.ewgt[e]
    for i in range(size):
        arena.cursor[i] = first[i]
    for i in range(size):
        for e in range(first[i], first[i + 1]):
            j = arena.head[e]
            if j > i:
                back = arena.cursor[j]
                arena.cursor[j] += 1
                arena.rev[e] = back
                arena.rev[back] = e
    return kinds
