"""Dual recursive bipartitioning, compiled: halves of a process subgraph for the halves of a domain.

A neighbour outside the subgraph pulls a vertex towards the nearer half.  One anchor a half, fixed there and joined
to every vertex that is pulled, would say the same; here the difference of the two edges is the vertex'
`bias`, in units of ``1 / UNIT`` of the edge between the halves, positive towards half 0.  (Pellegrini & Lachat 2017.)
"""

import numpy as np

from . import allocating, kernel
from .bisection import LEVELS, TINY, level_at, load_subgraph, shrink
from .fm import remove, sift_down, sift_up
from .growing import pop, push
from .rng import mix

UNIT, PASSES = 16, 4
"""Bias of an edge between the halves; FM passes a level."""

TOP, TOP_TRIES = 8, 4
"""A job of at least one TOP-th of the machine gets TOP_TRIES times as many tries: all others depend on it."""

LARGEST, BREADTH, DEPTH = 0, 1, 2
"""Which job is next: the largest subgraph, the oldest job, the newest job."""


@kernel
def biased_pass(g, bias, side, pwgt, limit, stall, key, heap, size, pos, state, log):
    """One pass of two-way FM with biases; returns (decrease of the cost kept, excess left), the first in UNITs.

    As `bisection.two_way_pass`, but a side may become empty.
    """
    n = len(g.vwgt)
    unit = len(g.ewgt) == 0
    size[:] = 0
    heavy = pwgt[0] > limit[0] or pwgt[1] > limit[1]
    for v in range(n):
        own = side[v]
        balance = np.int64(0)
        border = False
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if unit:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            if side[g.adjncy[e]] == own:
                balance -= w
            else:
                balance += w
                border = True
        key[v] = UNIT * balance + (bias[v] if own == 1 else -bias[v])
        if border or heavy or key[v] >= 0:
            heap[own, size[own]] = v
            pos[v] = size[own]
            size[own] += 1
            sift_up(heap[own], pos, key, size[own] - 1)
    total = np.int64(0)
    best = np.int64(0)
    best_over = max(pwgt[0] - limit[0], 0) + max(pwgt[1] - limit[1], 0)
    kept = 0
    moves = 0
    while True:
        for s in range(2):
            while size[s] > 0 and pwgt[s] <= limit[s]:
                v = heap[s, 0]
                if pwgt[1 - s] + g.vwgt[v] <= limit[1 - s]:
                    break
                size[s] = remove(heap[s], pos, key, size[s], v)
        if pwgt[0] > limit[0]:
            own = 0
        elif pwgt[1] > limit[1] or size[0] == 0:
            own = 1
        elif size[1] == 0:
            own = 0
        else:
            a = key[heap[0, 0]]
            b = key[heap[1, 0]]
            own = 0 if a > b or (a == b and pwgt[0] * limit[1] >= pwgt[1] * limit[0]) else 1
        if size[own] == 0:
            break
        v = heap[own, 0]
        size[own] = remove(heap[own], pos, key, size[own], v)
        to = 1 - own
        total += key[v]
        side[v] = to
        pwgt[own] -= g.vwgt[v]
        pwgt[to] += g.vwgt[v]
        state[v] = 1
        log[0, moves] = v
        moves += 1
        over = max(pwgt[0] - limit[0], 0) + max(pwgt[1] - limit[1], 0)
        if over < best_over or (over == best_over and total > best):
            best, best_over, kept = total, over, moves
        elif moves - kept > stall:
            break
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if unit:
                w = np.int64(2 * UNIT)
            else:
                w = 2 * UNIT * g.ewgt[e]
            s = side[u]
            if s == to:
                key[u] -= w
                if pos[u] >= 0:
                    sift_down(heap[s], pos, key, size[s], pos[u])
            else:
                key[u] += w
                if pos[u] >= 0:
                    sift_up(heap[s], pos, key, pos[u])
                elif state[u] == 0:
                    heap[s, size[s]] = u
                    pos[u] = size[s]
                    size[s] += 1
                    sift_up(heap[s], pos, key, size[s] - 1)
    for i in range(moves - 1, kept - 1, -1):
        v = log[0, i]
        own = side[v]
        side[v] = 1 - own
        pwgt[own] -= g.vwgt[v]
        pwgt[1 - own] += g.vwgt[v]
    for i in range(moves):
        state[log[0, i]] = 0
    for s in range(2):
        for i in range(size[s]):
            pos[heap[s, i]] = -1
    return best, best_over


@allocating
def biased_fm(g, bias, side, pwgt, limit, arena):
    """FM passes until one brings nothing; returns the excess."""
    size = np.zeros(2, np.int64)
    pwgt[0] = 0
    pwgt[1] = 0
    for v in range(len(g.vwgt)):
        pwgt[side[v]] += g.vwgt[v]
    over = np.int64(0)
    for _ in range(PASSES):
        before = max(pwgt[0] - limit[0], 0) + max(pwgt[1] - limit[1], 0)
        won, over = biased_pass(g, bias, side, pwgt, limit, max(30, len(g.vwgt) // 10), arena.key, arena.heap,
                                size, arena.pos, arena.state, arena.log)
        if won <= 0 and over >= before:
            break
    return over


@kernel
def biased_cost(g, bias, side):
    """Edges between the sides and biases not followed, in UNITs: each edge counts once."""
    unit = len(g.ewgt) == 0
    total = np.int64(0)
    pulled = np.int64(0)
    for v in range(len(g.vwgt)):
        pulled += bias[v] if side[v] == 1 else -bias[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if side[g.adjncy[e]] != side[v]:
                if unit:
                    total += 1
                else:
                    total += g.ewgt[e]
    # an edge was met from both ends; a bias counts half from either side of the choice
    return (UNIT * total + pulled) // 2


@kernel
def far_vertex(g, start, seen, queue):
    """The vertex met last in a breadth-first search from `start`; seen and queue (nvtxs,) int32 are scratch."""
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


@kernel
def grow_side(g, bias, side, grown, seed, target, key, heap, pos):
    """Grow side `grown` from `seed`, best gain first, to a weight of about `target`; the rest is on the other side."""
    n = len(g.vwgt)
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
    heap[0] = seed
    pos[seed] = 0
    size = 1
    weight = np.int64(0)
    while weight < target:
        if size == 0:
            # the piece of the graph is used up: all that is left
            for u in range(n):
                if side[u] != grown and pos[u] == -1:
                    heap[size] = u
                    pos[u] = size
                    size += 1
                    sift_up(heap, pos, key, size - 1)
            if size == 0:
                break
        v = heap[0]
        size = remove(heap, pos, key, size, v)
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
                sift_up(heap, pos, key, pos[u])
            else:
                heap[size] = u
                pos[u] = size
                size += 1
                sift_up(heap, pos, key, size - 1)
    for v in range(n):
        pos[v] = -1


@allocating
def bipartition(arena, bias, n, limit, tries, salt):
    """Bipartition the first level of the arena, of n vertices, with biases bias[:n]; writes arena.side[:n]."""
    x, a, depth = 0, 0, 0
    at = np.zeros((3, LEVELS), np.int64)
    at[1, 0] = n
    pwgt = np.zeros(2, np.int64)
    heaviest = np.int64(1)
    total = np.int64(0)
    for v in range(n):
        heaviest = max(heaviest, arena.vwgt[v])
        total += arena.vwgt[v]
    heaviest = max(heaviest, np.int64(1.5 * float(total) / TINY))
    while n > TINY and depth + 1 < LEVELS:
        count = shrink(arena, x, n, a, heaviest)
        if count == 0:
            break
        to = x + n + 1
        for c in range(count):
            bias[to + c] = 0
        for v in range(n):
            bias[to + arena.cmap[x + v]] += bias[x + v]
        depth += 1
        a += arena.xadj[x + n]
        x = to
        n = count
        at[0, depth], at[1, depth], at[2, depth] = x, n, a
    g = level_at(arena, x, n, a)
    pull = bias[x : x + n]
    low = 0
    high = 0
    for v in range(1, n):
        if pull[v] < pull[low]:
            low = v
        if pull[v] > pull[high]:
            high = v
    share = float(limit[0]) / max(float(limit[0]) + float(limit[1]), 1.0)
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
        grow_side(g, pull, side, grown, seed, target, arena.key, arena.heap[0], arena.pos)
        over = biased_fm(g, pull, side, pwgt, limit, arena)
        cost = biased_cost(g, pull, side)
        if t == 0 or over < best_over or (over == best_over and cost < best_cost):
            best_over, best_cost = over, cost
            arena.side[:n] = side
    while depth > 0:
        depth -= 1
        coarse = arena.tried[:n]
        coarse[:] = arena.side[:n]
        x, n, a = at[0, depth], at[1, depth], at[2, depth]
        for v in range(n):
            arena.side[v] = coarse[arena.cmap[x + v]]
        biased_fm(level_at(arena, x, n, a), bias[x : x + n], arena.side[:n], pwgt, limit, arena)


@kernel
def side_limits(weight, left, right, nprocs, wanted):
    """Limits of the two halves of a job: the slack left, spread evenly over the splits still to come.

    left, right: sums of the limits of the processors of each half.
    """
    both = max(float(left) + float(right), 1.0)
    slack = max(both / max(float(weight), 1.0), 1.0) ** (1.0 / np.ceil(np.log2(float(nprocs))))
    share = float(left) / both
    wanted[0] = np.int64(min(np.ceil(slack * weight * share), float(left), float(weight)))
    wanted[1] = np.int64(min(np.ceil(slack * weight * (1.0 - share)), float(right), float(weight)))


@allocating
def split_job(g, vertices, arena, bias, left, right, nprocs, tries, salt):
    """Split the subgraph of `vertices` between two halves; reorders them, half 0 first, and returns how many it has.

    bias[i] is that of vertices[i]; left, right and nprocs as for `side_limits`.
    """
    n = len(vertices)
    load_subgraph(g, vertices, arena)
    weight = np.int64(0)
    for i in range(n):
        weight += g.vwgt[vertices[i]]
    wanted = np.zeros(2, np.int64)
    side_limits(weight, left, right, nprocs, wanted)
    bipartition(arena, bias, n, wanted, tries, salt)
    zeros = 0
    ones = 0
    for i in range(n):
        if arena.side[i] == 0:
            vertices[zeros] = vertices[i]
            zeros += 1
        else:
            arena.members[ones] = vertices[i]
            ones += 1
    vertices[zeros:] = arena.members[:ones]
    return zeros


@kernel
def average(sums, power, a, b, c, d):
    """Mean distance between the processors at places a..b and those at c..d, weighted by their power."""
    total = sums[b, d] - sums[a, d] - sums[b, c] + sums[a, c]
    return total / ((power[b] - power[a]) * (power[d] - power[c]))


@allocating
def map_recursively(g, middle, sums, power, room, lo, hi, vertices, policy, whole, tries, salt, arena, bias, queue,
                    tie, who, where):
    """Map `vertices` onto a machine whose domains are intervals of places.

    middle (2 nprocs - 1,) int32: where each domain is cut, domains in preorder; sums (nprocs + 1, nprocs + 1) and
    power (nprocs + 1,) float64: sums of distances and of compute power up to each place; room (nprocs + 1,)
    int64: sums of limits; lo, hi (nvtxs,) int32: interval of every vertex, those of `vertices` the whole
    machine, written down to one place; whole: count edges that leave a job's subgraph, too.  The
    rest is scratch: arena, bias as long as arena.vwgt, and queue, tie, who, where (3 nprocs,) for the jobs.
    """
    nprocs = len(power) - 1
    unit = len(g.ewgt) == 0
    # a job: first vertex, behind its last vertex, first place, behind its last place, domain
    job = np.zeros((2 * nprocs, 5), np.int64)
    job[0, 1], job[0, 3] = len(vertices), nprocs
    njobs = 1
    size = push(queue, tie, who, where, 0, np.int64(0), np.int64(0), 0, 0)
    while size > 0:
        first, last, begin, end, domain = job[who[0]]
        size = pop(queue, tie, who, where, size)
        if last == first or end - begin == 1:
            continue
        cut = np.int64(middle[domain])
        # an edge that stays in one half will still cost the mean distance inside it
        inside = average(sums, power, begin, cut, begin, cut) + average(sums, power, cut, end, cut, end)
        apart = average(sums, power, begin, cut, cut, end)
        between = max(apart - inside / 2, 0.1 * apart, 1e-12)
        for i in range(first, last):
            v = vertices[i]
            pull = 0.0
            if whole:
                for e in range(g.xadj[v], g.xadj[v + 1]):
                    u = g.adjncy[e]
                    c, d = lo[u], hi[u]
                    if c >= end or d <= begin:
                        if unit:
                            w = 1.0
                        else:
                            w = float(g.ewgt[e])
                        pull += w * (average(sums, power, cut, end, c, d) - average(sums, power, begin, cut, c, d))
                    elif d - c == 1:
                        # a fixed vertex inside this domain
                        if unit:
                            w = 1.0
                        else:
                            w = float(g.ewgt[e])
                        pull += w * between * (1.0 if c < cut else -1.0)
            if len(g.origin) > 0:
                c = g.origin[v]
                if c >= end or c < begin:
                    pull += g.size[v] * (
                        average(sums, power, cut, end, c, c + 1) - average(sums, power, begin, cut, c, c + 1)
                    )
                else:
                    pull += g.size[v] * between * (1.0 if c < cut else -1.0)
            bias[i - first] = np.int64(np.rint(UNIT * pull / between))
        middle_vertex = first + split_job(
            g, vertices[first:last], arena, bias, room[cut] - room[begin], room[end] - room[cut], end - begin,
            TOP_TRIES * tries if TOP * (end - begin) >= nprocs else tries, salt * 8191 + domain,
        )
        for i in range(first, last):
            v = vertices[i]
            if i < middle_vertex:
                hi[v] = cut
            else:
                lo[v] = cut
        for half in range(2):
            if half == 0:
                job[njobs, 0], job[njobs, 1], job[njobs, 2], job[njobs, 3] = first, middle_vertex, begin, cut
                job[njobs, 4] = domain + 1
            else:
                job[njobs, 0], job[njobs, 1], job[njobs, 2], job[njobs, 3] = middle_vertex, last, cut, end
                job[njobs, 4] = domain + 2 * (cut - begin)
            rank = np.int64(0)
            if policy == LARGEST:
                rank = job[njobs, 1] - job[njobs, 0]
            elif policy == DEPTH:
                rank = np.int64(njobs)
            size = push(queue, tie, who, where, size, rank, -np.int64(njobs), njobs, 0)
            njobs += 1
