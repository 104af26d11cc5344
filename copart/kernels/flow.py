"""Maximum flow through the network of two parts, one augmentation of all shortest paths after the other; and piercing.

Where the minimum cut is out of balance, the smaller side takes in one more vertex beyond its cut, and the flow goes on
(FlowCutter: Hamann & Strasser 2018).
"""

import numpy as np

from . import inner
from .flow_network import PLENTY, SINK, SOURCE


@inner
def search(tail, side, level, arena):
    """Go on with a breadth-first search through arcs with capacity left: from the source, or (SINK) to the sink.

    Returns the distance of the nearest vertex tied to the other side, -1 if none is reached.  Vertices farther
    than that are left out.

    tail : int                      vertices in the queue, whose distances are known
    side : int                      `SOURCE` or `SINK`
    level : (n + 1,) int32, in and out  distances, -1 where not reached; `level` or `back` of the arena
    arena : FlowArena, in and out   its queue has those to begin with
    """
    other = arena.sink if side == SOURCE else arena.source
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
            if last < 0 and other[u] > 0:
                last = level[u]
    return last


@inner
def flow_distances(size, side, level, arena):
    """Distances by :func:`search` from the source, or (SINK) to the sink; returns what that does.

    size : int                      vertices of the region
    side : int                      `SOURCE` or `SINK`
    level : (n + 1,) int32, out     distances, 0 where a tie has capacity left; `level` or `back` of the arena
    arena : FlowArena, in and out   its queue is scratch
    """
    mine, other = (arena.source, arena.sink) if side == SOURCE else (arena.sink, arena.source)
    tail = 0
    both = False
    for i in range(size):
        level[i] = -1
        if mine[i] > 0:
            level[i] = 0
            arena.queue[tail] = i
            tail += 1
            both |= other[i] > 0
    if both:
        return 0
    return search(tail, side, level, arena)


@inner
def augment(size, bound, arena):
    """Dinic's algorithm from the source to the sink, on from the present flow, while less than `bound` is added.

    Returns what was added.  Where it ends below the bound, back >= 0 marks what reaches the sink.

    size : int                      vertices of the region
    bound : int
    arena : FlowArena, in and out
    """
    first, head, cap, rev = arena.first, arena.head, arena.cap, arena.rev
    level, cursor, path, source, sink = arena.back, arena.cursor, arena.path, arena.source, arena.sink
    added = np.int64(0)
    while added < bound:
        # distances to the sink: no path is tried that cannot arrive
        if flow_distances(size, SINK, level, arena) < 0:
            break
        for i in range(size):
            cursor[i] = first[i]
        for root in range(size):
            v = root
            depth = 0
            while source[root] > 0 and level[root] >= 0:
                if sink[v] > 0:
                    least = min(bound - added, source[root], sink[v])
                    for i in range(depth):
                        least = min(least, cap[path[i]])
                    back = depth
                    for i in range(depth - 1, -1, -1):
                        e = path[i]
                        cap[e] -= least
                        cap[rev[e]] += least
                        if cap[e] == 0:
                            back = i
                    source[root] -= least
                    sink[v] -= least
                    added += least
                    if added >= bound:
                        return added
                    # on from the tail of the first arc that is full
                    if back < depth:
                        depth = back
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
def pierce(g, part, a, size, from_source, count, arena):
    """Make up to `count` vertices just beyond the cut of one side stay on it; returns how many.

    Those that the other side does not reach come first, then those deepest in their own part.  All of the side stays
    there.  Returns as well whether the other side reaches them: where not, the flow is still the largest, and what
    the side reaches now is marked, too.

    g : Level, in
    part : (n,) int32, in
    a : int                         the part of the source
    size : int                      vertices of the region
    from_source : bool              the side is that of the source, else that of the sink
    count : int
    arena : FlowArena, in and out
    """
    mine = SOURCE if from_source else SINK
    tie = arena.source if from_source else arena.sink
    side = arena.level if from_source else arena.back
    other = arena.back if from_source else arena.level
    # a vertex is listed once for each of its arcs from the side: the queue may be too short for all
    most = min(count, len(arena.queue))
    best_class = -1
    best_depth = np.int64(0)
    taken = 0
    for i in range(size):
        # what is tied to the side is next to it, too
        begin, end = arena.first[i], arena.first[i + 1]
        if side[i] >= 0:
            arena.term[i] = mine
            tie[i] = PLENTY
        elif arena.tied[i] & mine:
            begin, end = np.int64(-1), np.int64(0)
        else:
            continue
        for e in range(begin, end):
            u = i if e < 0 else np.int64(arena.head[e])
            if side[u] >= 0 or arena.term[u] != 0:
                continue
            kind = 0 if other[u] >= 0 else 1
            if kind < best_class:
                continue
            depth = np.int64(arena.hops[u])
            if (part[arena.vertex[u]] == a) != from_source:
                depth = -depth - 1
            if kind > best_class or depth > best_depth:
                best_class, best_depth, taken = kind, depth, 0
            if depth == best_depth and taken < most:
                arena.queue[taken] = u
                taken += 1
    found = 0
    for i in range(taken):
        u = arena.queue[i]
        if arena.term[u] == 0:
            arena.term[u] = mine
            tie[u] = PLENTY
            side[u] = 0
            arena.queue[found] = u
            found += 1
    if best_class == 1:
        search(found, mine, side, arena)
    return found, best_class == 0
