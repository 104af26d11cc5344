"""Maximum flow through the network of two parts, one augmentation of all shortest paths after the other; and piercing.

Where the minimum cut is out of balance, the smaller side takes in one more vertex beyond its cut, and the flow goes on
(FlowCutter: Hamann & Strasser 2018).
"""

import numpy as np

from . import inner
from .flow_network import SINK, SOURCE


@inner
def search(tail, side, level, arena):
    """Go on with a breadth-first search through arcs with capacity left: from the sources, or (SINK) to the sinks.

    Returns the distance of the nearest terminal of the other side, -1 if none is reached.  Vertices farther
    than that are left out.

    tail : int                      vertices in the queue, whose distances are known
    side : int                      `SOURCE` or `SINK`
    level : (n + 1,) int32, in and out  distances, -1 where not reached; `level` or `back` of the arena
    arena : FlowArena, in and out   its queue has those to begin with
    """
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


@inner
def flow_distances(size, side, level, arena):
    """Distances by :func:`search` from all sources, or (SINK) to all sinks; returns what that does.

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
    return search(tail, side, level, arena)


@inner
def augment(size, bound, arena):
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
        if flow_distances(size, SINK, level, arena) < 0:
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
def pierce(g, part, a, size, from_source, count, arena):
    """Make up to `count` vertices just beyond the cut of one side its terminals; returns how many.

    Those that the other side does not reach come first, then those deepest in their own part.  All of the side becomes
    terminal.  Returns as well whether the other side reaches them: where not, the flow is still the largest, and what
    the side reaches now is marked, too.

    g : Level, in
    part : (n,) int32, in
    a : int                         the part of the sources
    size : int                      vertices of the region
    from_source : bool              the side is that of the sources, else that of the sinks
    count : int
    arena : FlowArena, in and out
    """
    mine = SOURCE if from_source else SINK
    side = arena.level if from_source else arena.back
    other = arena.back if from_source else arena.level
    # a vertex is listed once for each of its arcs from the side: the queue may be too short for all
    most = min(count, len(arena.queue))
    best_class = -1
    best_depth = np.int64(0)
    taken = 0
    for i in range(size):
        if side[i] < 0:
            continue
        arena.term[i] = mine
        for e in range(arena.first[i], arena.first[i + 1]):
            u = arena.head[e]
            if side[u] >= 0 or arena.term[u] != 0:
                continue
            kind = 0 if other[u] >= 0 else 1
            if kind < best_class:
                continue
            depth = np.int64(arena.hops[u])
            home = part[arena.vertex[u]] == a
            if home != from_source:
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
            side[u] = 0
            arena.queue[found] = u
            found += 1
    if best_class == 1:
        search(found, mine, side, arena)
    return found, best_class == 0
