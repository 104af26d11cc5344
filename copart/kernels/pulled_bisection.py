"""Multilevel bisection of a process subgraph whose vertices are drawn to one side or the other: growth, and all levels.

Limits in a job are tight, and on a tiny graph hardly any bisection keeps them.  On coarse levels they are loosened by
the heaviest vertex (`bisection.uncoarsen`), or else balance and not the cut would decide which growth is kept.
"""

import numpy as np

from . import inner
from .bisection import coarsen, level_at, loosened, refine_sides, uncoarsen
from .fm import UNIT
from .heap import push, remove, sift_up
from .rng import mix


@inner
def far_vertex(g, start, seen, queue):
    """The vertex met last in a breadth-first search from `start`.

    g : Level, in
    start : int
    seen, queue : (nvtxs,) int32, scratch   or longer
    """
    for v in range(len(g.vwgt)):
        seen[v] = 0
    seen[start] = 1
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if seen[u] == 0:
                seen[u] = 1
                queue[tail] = u
                tail += 1
    return queue[tail - 1]


@inner
def grow_side(g, bias, side, grown, seed, target, queues):
    """Grow side `grown` from `seed`, best gain first, to a weight of about `target`; the rest is on the other side.

    g : Level, in
    bias : (n,) int64, in           how much more each vertex is drawn to side 0, in UNITs
    side : (n,) int32, out
    grown, seed, target : int
    queues : Queues, scratch
    """
    n = len(g.vwgt)
    key, heap, pos = queues.key, queues.heap[0], queues.pos
    unit = len(g.ewgt) == 0
    for v in range(n):
        side[v] = 1 - grown
        total = np.int64(0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if unit:
                total += 1
            else:
                total += g.ewgt[e]
        key[v] = (bias[v] if grown == 0 else -bias[v]) - UNIT * total
    size = np.int64(0)
    size = push(heap, pos, key, key, size, seed)
    weight = np.int64(0)
    while weight < target:
        if size == 0:
            # the piece of the graph is used up: all that is left
            for u in range(n):
                if side[u] != grown and pos[u] == -1:
                    size = push(heap, pos, key, key, size, u)
            if size == 0:
                break
        v = heap[0]
        size = remove(heap, pos, key, key, size, v)
        if weight > 0 and 2 * (weight + g.vwgt[v] - target) > g.vwgt[v]:
            pos[v] = -2
            continue
        side[v] = grown
        weight += g.vwgt[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if side[u] == grown or pos[u] == -2:
                continue
            if unit:
                key[u] += 2 * UNIT
            else:
                key[u] += 2 * UNIT * g.ewgt[e]
            if pos[u] >= 0:
                sift_up(heap, pos, key, key, pos[u])
            else:
                size = push(heap, pos, key, key, size, u)
    for v in range(n):
        pos[v] = -1


@inner
def grow_layers(g, side, grown, seed, target, seen, queue):
    """Grow side `grown` from `seed`, breadth first, to a weight of about `target`; the rest is on the other side.

    g : Level, in
    side : (n,) int32, out
    grown, seed, target : int
    seen, queue : (n,) int32, scratch   or longer
    """
    n = len(g.vwgt)
    far_vertex(g, seed, seen, queue)
    count = 0
    for v in range(n):
        side[v] = 1 - grown
        count += seen[v]
    # the other pieces of the graph behind
    for v in range(n):
        if seen[v] == 0:
            queue[count] = v
            count += 1
    weight = np.int64(0)
    for i in range(n):
        v = queue[i]
        if weight >= target:
            break
        if weight > 0 and 2 * (weight + g.vwgt[v] - target) > g.vwgt[v]:
            continue
        side[v] = grown
        weight += g.vwgt[v]


@inner
def bipartition(arena, bias, n, limit, tries, salt):
    """Bipartition the first level of the arena, of n vertices, with biases bias[:n]; writes arena.side[:n].

    Returns the excess and the cost, as `refine_sides` does.

    arena : Arena, in and out
    bias : (rows,) int64, in and out    of the first level, and room for those of the others
    n : int
    limit : (2,) int64, in          changed in between
    tries, salt : int
    """
    at = arena.at
    depth = coarsen(arena, bias, n, False, False)
    x, n, a = at[0, depth], at[1, depth], at[2, depth]
    g = level_at(arena, x, n, a)
    pull = bias[x : x + n]
    total = np.int64(0)
    low = 0
    high = 0
    for v in range(n):
        total += g.vwgt[v]
        if pull[v] < pull[low]:
            low = v
        if pull[v] > pull[high]:
            high = v
    share = float(limit[0]) / max(float(limit[0]) + float(limit[1]), 1.0)
    room = loosened(arena, depth)
    limit[0] += room
    limit[1] += room
    best_over = np.int64(0)
    best_cost = np.int64(0)
    for t in range(tries):
        side = arena.tried[:n]
        grown = t & 1
        if t < 2 and pull[high] > pull[low]:
            seed = high if grown == 0 else low
        else:
            seed = far_vertex(g, mix(t, salt) % n, arena.match, arena.leader)
        target = np.int64(float(total) * (share if grown == 0 else 1.0 - share))
        # greedy growth follows the rim of long and thin graphs; layers cut across
        if t & 2 == 0:
            grow_side(g, pull, side, grown, seed, target, arena.queues)
        else:
            grow_layers(g, side, grown, seed, target, arena.match, arena.leader)
        over, cost = refine_sides(g, pull, side, limit, arena)
        if t == 0 or over < best_over or (over == best_over and cost < best_cost):
            best_over, best_cost = over, cost
            for v in range(n):
                arena.side[v] = side[v]
    limit[0] -= room
    limit[1] -= room
    over, cost = uncoarsen(arena, bias, depth, np.int64(0), limit, total)
    return (over, cost) if depth > 0 else (best_over, best_cost)
