"""Dual recursive bipartitioning, compiled: halves of a process subgraph for the halves of a domain.

A neighbour outside the subgraph pulls a vertex towards the nearer half.  One anchor per half, fixed there and joined
to every vertex that is pulled, would say the same; here the difference of the two edges is the vertex'
`bias`, in units of ``1 / UNIT`` of the edge between the halves, positive towards half 0.  (Pellegrini & Lachat 2017.)
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel
from .fm import UNIT
from .heap import push, remove
from .pulled_bisection import bipartition
from .recursive_bisection import load_subgraph, order_by_side
from .rng import mix

TOP = 8
"""A job of less than one TOP-th of the machine gets half the runs: fewer others depend on it."""

LARGEST, BREADTH, DEPTH = 0, 1, 2
"""Which job is next: the largest subgraph, the oldest job, the newest job."""


@inner
def side_limits(weight, left, right, nprocs, wanted):
    """Limits of the two halves of a job: the slack left, spread evenly over the splits still to come.

    weight : int                    of the process subgraph
    left, right : int               sums of the limits of the processors of each half
    nprocs : int                    processors of both
    wanted : (2,) int64, out
    """
    both = max(float(left) + float(right), 1.0)
    slack = max(both / max(float(weight), 1.0), 1.0) ** (1.0 / np.ceil(np.log2(float(nprocs))))
    share = float(left) / both
    wanted[0] = np.int64(min(np.ceil(slack * weight * share), float(left), float(weight)))
    wanted[1] = np.int64(min(np.ceil(slack * weight * (1.0 - share)), float(right), float(weight)))


@inner
def shuffle(vertices, bias, salt):
    """Bring vertices and their biases into another order.

    vertices : (n,) int32, in and out
    bias : (n,) int64, in and out   or longer
    salt : int
    """
    for i in range(len(vertices) - 1, 0, -1):
        j = mix(i, salt) % (i + 1)
        vertices[i], vertices[j] = vertices[j], vertices[i]
        bias[i], bias[j] = bias[j], bias[i]


@kernel
def split_job(g, vertices, arena, bias, chosen, left, right, nprocs, runs, tries, salt):
    """Split the subgraph of `vertices` between two halves, the best of several runs; returns how many half 0 has.

    Vertices are matched in their order, so every run brings them into another one.

    g : Level, in
    vertices : (n,) int32, in and out   reordered, half 0 first
    arena : Arena, scratch
    bias : (rows,) int64, in and out    bias[i] is that of vertices[i]; room for those of the coarser levels
    chosen : (2, nvtxs) int32, scratch  half of each vertex in the best run; the vertices in their order
    left, right, nprocs : int           as for `side_limits`
    runs, tries, salt : int
    """
    n = len(vertices)
    wanted = arena.load[2]
    best_over = np.int64(0)
    best_cost = np.int64(0)
    for i in range(n):
        chosen[1, i] = vertices[i]
    for run in range(runs):
        if run > 0:
            shuffle(vertices, bias, salt + run)
        weight = load_subgraph(g, vertices, arena)
        side_limits(weight, left, right, nprocs, wanted)
        over, cost = bipartition(arena, bias, n, wanted, tries, salt + run)
        if run == 0 or over < best_over or (over == best_over and cost < best_cost):
            best_over, best_cost = over, cost
            for i in range(n):
                chosen[0, vertices[i]] = arena.side[i]
    for i in range(n):
        vertices[i] = chosen[1, i]
        arena.side[i] = chosen[0, vertices[i]]
    return order_by_side(arena.side, vertices, arena.following)


class Places(NamedTuple):
    """The processors of a machine in the order of its bipartition tree, in which every domain is an interval.

    middle : (2 nprocs - 1,) int32, where each domain is cut, domains in preorder
    sums : (nprocs + 1, nprocs + 1) float64, distances times both powers, summed up to each pair of places
    power : (nprocs + 1,) float64, compute power up to each place
    room : (nprocs + 1,) int64, limits up to each place
    lo, hi : (nvtxs,) int32, interval of each vertex
    """

    middle: Any
    sums: Any
    power: Any
    room: Any
    lo: Any
    hi: Any


class Jobs(NamedTuple):
    """The jobs of a mapping, each a process subgraph and a domain; there are at most 2 nprocs - 1.

    table : (2 nprocs, 5) int64, of each: first vertex, behind its last one, first place, behind its last one, domain
    heap, pos : (2 nprocs,) int32, key, tie : (2 nprocs,) int64, those that wait
    """

    table: Any
    heap: Any
    pos: Any
    key: Any
    tie: Any


@kernel
def average(places, a, b, c, d):
    """Mean distance between the processors at places a..b and those at c..d, weighted by their power.

    places : Places, in
    a, b, c, d : int
    """
    sums, power = places.sums, places.power
    total = sums[b, d] - sums[a, d] - sums[b, c] + sums[a, c]
    return total / ((power[b] - power[a]) * (power[d] - power[c]))


@inlined
def farther(places, begin, cut, end, c, d):
    """How much farther the right half of a domain is than the left one from the processors at places c..d.

    places : Places, in
    begin, cut, end, c, d : int
    """
    return average(places, cut, end, c, d) - average(places, begin, cut, c, d)


@inner
def pull_left(g, places, vertices, begin, cut, end, whole, bias):
    """What draws each vertex of a job to the left half of its domain, in UNITs of an edge between the halves.

    g : Level, in
    places : Places, in
    vertices : (n,) int32, in
    begin, cut, end : int           places of the domain and of its right half
    whole : bool                    count edges that leave the job's subgraph, too
    bias : (n,) int64, out
    """
    unit = len(g.ewgt) == 0
    # an edge that stays in one half will still cost the mean distance inside it
    inside = average(places, begin, cut, begin, cut) + average(places, cut, end, cut, end)
    apart = average(places, begin, cut, cut, end)
    between = max(apart - inside / 2, 0.1 * apart, 1e-12)
    for i in range(len(vertices)):
        v = vertices[i]
        pull = 0.0
        if whole:
            for e in range(g.xadj[v], g.xadj[v + 1]):
                u = g.adjncy[e]
                c, d = places.lo[u], places.hi[u]
                outside = c >= end or d <= begin
                # inside this domain only fixed vertices draw
                if outside or d - c == 1:
                    if unit:
                        w = 1.0
                    else:
                        w = float(g.ewgt[e])
                    if outside:
                        pull += w * farther(places, begin, cut, end, c, d)
                    else:
                        pull += w * between * (1.0 if c < cut else -1.0)
        if len(g.origin) > 0:
            c = g.origin[v]
            if c >= end or c < begin:
                pull += g.size[v] * farther(places, begin, cut, end, c, c + 1)
            else:
                pull += g.size[v] * between * (1.0 if c < cut else -1.0)
        bias[i] = np.int64(np.rint(UNIT * pull / between))


@inner
def file_job(jobs, count, size, policy, first, last, begin, end, domain):
    """Let a new job wait; returns the size of the heap.

    jobs : Jobs, in and out
    count : int                     number of jobs before
    size : int                      those of them that wait
    policy, first, last, begin, end, domain : int
    """
    job = jobs.table[count]
    job[0], job[1], job[2], job[3], job[4] = first, last, begin, end, domain
    jobs.key[count] = last - first if policy == LARGEST else count if policy == DEPTH else 0
    jobs.tie[count] = -count
    return push(jobs.heap, jobs.pos, jobs.key, jobs.tie, size, count)


@kernel
def map_recursively(g, places, vertices, policy, whole, runs, tries, salt, arena, bias, chosen, jobs):
    """Map `vertices` onto a machine whose domains are intervals of places; writes places.lo and places.hi.

    g : Level, in
    places : Places, in and out     the interval of each of `vertices` is the whole machine, and one place afterwards
    vertices : (n,) int32, in and out   reordered
    policy : int                    which job is next
    whole : bool                    count edges that leave a job's subgraph, too
    runs, tries, salt : int
    arena : Arena, scratch
    bias : (rows,) int64, scratch   as long as arena.vwgt
    chosen : (2, nvtxs) int32, scratch
    jobs : Jobs, scratch
    """
    room = places.room
    nprocs = len(room) - 1
    # as int64: a literal would make one more signature
    none = np.int64(0)
    size = file_job(jobs, none, none, policy, none, len(vertices), none, nprocs, none)
    njobs = none + 1
    while size > 0:
        this = jobs.heap[0]
        job = jobs.table[this]
        first, last, begin, end, domain = job[0], job[1], job[2], job[3], job[4]
        size = remove(jobs.heap, jobs.pos, jobs.key, jobs.tie, size, this)
        if last == first or end - begin == 1:
            continue
        cut = np.int64(places.middle[domain])
        pull_left(g, places, vertices[first:last], begin, cut, end, whole, bias)
        middle = first + split_job(
            g, vertices[first:last], arena, bias, chosen, room[cut] - room[begin], room[end] - room[cut], end - begin,
            runs if TOP * (end - begin) >= nprocs else max(1, runs // 2), tries, salt * 8191 + domain,
        )
        for i in range(first, last):
            if i < middle:
                places.hi[vertices[i]] = cut
            else:
                places.lo[vertices[i]] = cut
        size = file_job(jobs, njobs, size, policy, first, middle, begin, cut, domain + 1)
        size = file_job(jobs, njobs + 1, size, policy, middle, last, cut, end, domain + 2 * (cut - begin))
        njobs += 2
