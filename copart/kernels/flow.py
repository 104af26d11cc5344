"""Flow-based refinement of two neighbouring parts: the smallest cut near the present one that keeps balance.

A region on both sides of the border becomes a flow network; what lies outside it is
source and sink.  Where the minimum cut is out of balance, the smaller side takes in
one more vertex beyond its cut (piercing) and the flow goes on, until a cut fits or the flow reaches the present
cut (FlowCutter: Hamann & Strasser 2018; for refinement Gottesbueren et al. 2019).
"""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel


class FlowArena(NamedTuple):
    """Memory of one thread for a level of n vertices and m adjacency entries.

    `local` goes by vertex, `queue` and `path` by place, the others by number in the region or by arc of its network.

    local : (n + 1,) int32, number of each vertex in the region; -1 everywhere between calls
    vertex : (n + 1,) int32, vertex of each number in the region
    hops : (n + 1,) int32, distance from the border, where it is 0
    level : (n + 1,) int32, distance from the sources, -1 beyond
    queue : (n + 1,) int32, scratch of searches and of piercing
    path : (n + 1,) int32, arcs from a source to the vertex reached
    back : (n + 1,) int32, distance to the sinks, -1 beyond
    term : (n + 1,) uint8, `SOURCE` or `SINK` for terminals, else 0
    first : (n + 1,) int64, where the arcs of each vertex begin
    cursor : (n + 1,) int64, arc of each vertex that is next
    head : (m + 1,) int32, head of each arc
    rev : (m + 1,) int64, the arc back
    cap : (m + 1,) int64, capacity left
    """

    local: Any
    vertex: Any
    hops: Any
    level: Any
    queue: Any
    path: Any
    back: Any
    term: Any
    first: Any
    cursor: Any
    head: Any
    rev: Any
    cap: Any


class Batch(NamedTuple):
    """Pairs of parts, none of which is in two of them, and the border.

    pairs : (npairs, 2) int32, the parts of each
    room : (npairs, 2) int64, scratch
    won : (npairs,) int64, decrease of the cut by each
    start : (nparts + 1,) int64, where the border vertices of each part begin
    order : (nborder,) int32, border vertices by part
    listed : (n,) uint8, 1 for all border vertices, and for some more
    """

    pairs: Any
    room: Any
    won: Any
    start: Any
    order: Any
    listed: Any


SOURCE, SINK = 1, 2


@kernel
def _grow(g, part, a, b, seeds, reach, room, arena):
    """The region round the border of parts a and b: its vertices, nearest to the border first; returns (size, cut).

    g : Level, in
    part : (n,) int32, in
    a, b : int
    seeds : (nseeds,) int32, in     vertices among which all at the border between the two are
    reach : int                     hops from the border, at most
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
        if h == reach:
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


@kernel
def _build(g, part, a, b, size, arena):
    """The network of the region: arcs by vertex, sorted by head; terminals from what lies outside.

    g : Level, in
    part : (n,) int32, in
    a, b : int
    size : int                      vertices of the region
    arena : FlowArena, in and out
    Returns which kinds of terminals there are: `SOURCE`, `SINK`, both added up, or 0.
    """
    local, vertex, first = arena.local, arena.vertex, arena.first
    unit = len(g.ewgt) == 0
    for i in range(size + 1):
        first[i] = 0
    terminals = 0
    for i in range(size):
        v = vertex[i]
        own = part[v]
        arena.term[i] = 0
        outside = len(g.fixed) > 0 and g.fixed[v] >= 0
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if local[u] >= 0:
                first[i + 1] += 1
            elif part[u] == own:
                outside = True
        if outside:
            arena.term[i] = SOURCE if own == a else SINK
            terminals |= SOURCE if own == a else SINK
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
    return terminals


@kernel
def _distances(size, side, level, arena):
    """Breadth-first distances through arcs with capacity left: from the sources, or (SINK) to the sinks; -1 beyond.

    Returns the distance of the nearest terminal of the other side, -1 if none is reached.  Vertices farther
    than that are left out.

    size : int                      vertices of the region
    side : int                      `SOURCE` or `SINK`
    level : (n + 1,) int32, out     distances; `level` or `back` of the arena
    arena : FlowArena, in and out   its queue is scratch
    """
    tail = 0
    for i in range(size):
        level[i] = -1
        if arena.term[i] == side:
            level[i] = 0
            arena.queue[tail] = i
            tail += 1
    at = 0
    last = -1
    while at < tail:
        v = arena.queue[at]
        at += 1
        if last >= 0 and level[v] >= last:
            break
        for e in range(arena.first[v], arena.first[v + 1]):
            u = arena.head[e]
            if level[u] >= 0 or arena.cap[e if side == SOURCE else arena.rev[e]] == 0:
                continue
            level[u] = level[v] + 1
            arena.queue[tail] = u
            tail += 1
            if last < 0 and arena.term[u] == SOURCE + SINK - side:
                last = level[u]
    return last


@kernel
def _augment(size, bound, arena):
    """Dinic's algorithm from all sources to all sinks, on from the present flow, while less than `bound` is added.

    Returns what was added.  Where it ends below the bound, back >= 0 marks what reaches the sinks.

    size : int                      vertices of the region
    bound : int
    arena : FlowArena, in and out
    """
    first, head, cap, rev = arena.first, arena.head, arena.cap, arena.rev
    level, cursor, path, term = arena.back, arena.cursor, arena.path, arena.term
    added = np.int64(0)
    while added < bound:
        # distances to the sinks: no path is tried that cannot arrive
        if _distances(size, SINK, level, arena) < 0:
            break
        for i in range(size):
            cursor[i] = first[i]
        for root in range(size):
            if term[root] != SOURCE or level[root] < 0:
                continue
            v = root
            depth = 0
            while True:
                if term[v] == SINK:
                    least = bound - added
                    for i in range(depth):
                        least = min(least, cap[path[i]])
                    back = depth
                    for i in range(depth - 1, -1, -1):
                        e = path[i]
                        cap[e] -= least
                        cap[rev[e]] += least
                        if cap[e] == 0:
                            back = i
                    added += least
                    if added >= bound:
                        return added
                    # on from the tail of the first arc that is full
                    depth = min(back, depth - 1)
                    v = head[rev[path[depth]]]
                    continue
                moved = False
                while cursor[v] < first[v + 1]:
                    e = cursor[v]
                    u = head[e]
                    if cap[e] > 0 and level[u] == level[v] - 1 and level[u] >= 0:
                        path[depth] = e
                        depth += 1
                        v = u
                        moved = True
                        break
                    cursor[v] += 1
                if not moved:
                    if depth == 0:
                        break
                    depth -= 1
                    v = head[rev[path[depth]]]
                    cursor[v] += 1
    return added


@inner
def _pierce(g, part, a, size, from_source, count, arena):
    """Make up to `count` vertices just beyond the cut of one side its terminals; returns how many.

    Those that the other side does not reach come first (the flow stays as it is), then those deepest
    in their own part.  All of the side becomes terminal.

    g : Level, in
    part : (n,) int32, in
    a : int                         the part of the sources
    size : int                      vertices of the region
    from_source : bool              the side is that of the sources, else that of the sinks
    count : int
    arena : FlowArena, in and out
    """
    mine = SOURCE if from_source else SINK
    best_class = -1
    best_depth = np.int64(-2147483647)
    for pick in range(2):
        taken = 0
        for i in range(size):
            inside = arena.level[i] >= 0 if from_source else arena.back[i] >= 0
            if not inside:
                continue
            for e in range(arena.first[i], arena.first[i + 1]):
                u = arena.head[e]
                beyond = arena.level[u] < 0 if from_source else arena.back[u] < 0
                if not beyond or arena.term[u] != 0:
                    continue
                reached = arena.back[u] >= 0 if from_source else arena.level[u] >= 0
                kind = 0 if reached else 1
                depth = np.int64(arena.hops[u])
                home = part[arena.vertex[u]] == a
                if home != from_source:
                    depth = -depth - 1
                if pick == 0:
                    if kind > best_class or (kind == best_class and depth > best_depth):
                        best_class, best_depth = kind, depth
                # a vertex is listed once for each of its arcs from the side: the queue may be too short for all
                elif taken < min(count, len(arena.queue)) and kind == best_class and depth == best_depth:
                    arena.queue[taken] = u
                    taken += 1
        if best_class < 0:
            return 0
    found = 0
    for i in range(size):
        inside = arena.level[i] >= 0 if from_source else arena.back[i] >= 0
        if inside:
            arena.term[i] = mine
    for i in range(taken):
        u = arena.queue[i]
        if arena.term[u] == 0:
            arena.term[u] = mine
            found += 1
    return found


@kernel
def refine_pair(g, part, pwgt, population, limit, a, b, seeds, reach, room, listed, arena):
    """Replace the cut between parts a and b by a smaller one where there is one within the limits.

    Returns the decrease of the cut; part, pwgt, population and the list of border vertices are kept up to date.

    g : Level, in
    part : (n,) int32, in and out
    pwgt, population : (nparts,) int64, in and out
    limit : (nparts,) int64, in
    a, b : int
    seeds : (nseeds,) int32, in     vertices among which all at the border between the two are
    reach : int                     hops from the border up to which vertices take part
    room : (2,) int64, in           weight of a and of b that may take part
    listed : (n,) uint8, in and out  1 for all vertices at a border, and for some more
    arena : FlowArena, scratch      its `local` -1 before and after
    """
    size, cut = _grow(g, part, a, b, seeds, reach, room, arena)
    gain = np.int64(0)
    if cut > 0 and _build(g, part, a, b, size, arena) == SOURCE | SINK:
        region = np.int64(0)
        region_a = np.int64(0)
        for i in range(size):
            v = arena.vertex[i]
            region += g.vwgt[v]
            if part[v] == a:
                region_a += g.vwgt[v]
        rest_a = pwgt[a] - region_a
        total = pwgt[a] + pwgt[b]
        flow = np.int64(0)
        count = 1
        while True:
            flow += _augment(size, cut - flow, arena)
            if flow >= cut:
                break
            _distances(size, SOURCE, arena.level, arena)
            small = rest_a
            large = rest_a + region
            for i in range(size):
                w = g.vwgt[arena.vertex[i]]
                if arena.level[i] >= 0:
                    small += w
                if arena.back[i] >= 0:
                    large -= w
            # a keeps what the sources reach, or all that does not reach the sinks
            fits_small = small <= limit[a] and total - small <= limit[b]
            fits_large = large <= limit[a] and total - large <= limit[b]
            if fits_small or fits_large:
                by_source = fits_small
                if fits_small and fits_large:
                    by_source = abs(2 * small - total) <= abs(2 * large - total)
                stays_a = 0
                stays_b = 0
                for i in range(size):
                    v = arena.vertex[i]
                    to_a = arena.level[i] >= 0 if by_source else arena.back[i] < 0
                    if to_a:
                        stays_a += 1
                    if part[v] == a:
                        stays_b += 1
                # neither part may end up empty
                if population[a] - stays_b + stays_a > 0 and population[b] + stays_b - stays_a > 0:
                    for i in range(size):
                        v = arena.vertex[i]
                        # a border never leaves the region: what lies at its rim keeps its part
                        listed[v] = 1
                        to_a = arena.level[i] >= 0 if by_source else arena.back[i] < 0
                        to = a if to_a else b
                        own = part[v]
                        if own != to:
                            part[v] = to
                            pwgt[own] -= g.vwgt[v]
                            pwgt[to] += g.vwgt[v]
                            population[own] -= 1
                            population[to] += 1
                    gain = cut - flow
                break
            # the smaller side grows: that of the sources where even its largest cut leaves b too heavy
            from_source = total - large > limit[b] or (small <= limit[a] and small <= total - large)
            if _pierce(g, part, a, size, from_source, count, arena) == 0:
                break
            count = 4 * count + 4
    for i in range(size):
        arena.local[arena.vertex[i]] = -1
    return gain


@kernel
def refine_batch(lo, hi, g, part, pwgt, population, limit, batch, reach, share, arena):
    """Lower the cut between the pairs lo..hi of a batch; :func:`refine_pair` for one after the other.

    lo, hi : int
    g : Level, in
    part : (n,) int32, in and out
    pwgt, population : (nparts,) int64, in and out
    limit : (nparts,) int64, in
    batch : Batch, in and out       no part is in two of its pairs
    reach : int                     hops from the border up to which vertices take part
    share : float                   share of the weight of a part that may take part
    arena : FlowArena, scratch      its `local` -1 before and after
    """
    start, order, room = batch.start, batch.order, batch.room
    for i in range(lo, hi):
        a, b = batch.pairs[i, 0], batch.pairs[i, 1]
        # places for every vertex of both: a vertex is listed once
        count = 0
        for p in (a, b):
            for j in range(start[p], start[p + 1]):
                arena.queue[count] = order[j]
                count += 1
        room[i, 0], room[i, 1] = np.int64(share * pwgt[a]), np.int64(share * pwgt[b])
        batch.won[i] = refine_pair(g, part, pwgt, population, limit, a, b, arena.queue[:count], reach, room[i],
                                   batch.listed, arena)


@kernel
def cut_pairs(g, part, border, nparts, key, weight):
    """Cut edges at the border, each once; returns how many.

    g : Level, in
    part : (n,) int32, in
    border : (nborder,) int32, in
    nparts : int
    key : (narcs,) int64, out       smaller part * nparts + larger part; room for all edges of the border vertices
    weight : (narcs,) int64, out
    """
    at = 0
    for i in range(len(border)):
        v = border[i]
        p = part[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            q = part[g.adjncy[e]]
            if q > p:
                key[at] = np.int64(p) * nparts + q
                if len(g.ewgt) == 0:
                    weight[at] = 1
                else:
                    weight[at] = g.ewgt[e]
                at += 1
    return at
