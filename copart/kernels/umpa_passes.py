"""Algorithms 5 and 6 of UMPa: a pass over the border in which each vertex goes where the metrics are lexicographically
least."""

from typing import Any, NamedTuple

from . import inlined, kernel
from .umpa_gains import (
    MSM,
    MSRV,
    MSV,
    TM,
    forget,
    leave_msv,
    leave_tm,
    leave_tv,
    put_msv,
    put_tm,
    return_tm,
    take_back,
    value_after,
    value_now,
)
from .umpa_pairs import has_room
from .umpa_state import arrive, at_border, depart, shift

MOST_MOVES = 4
"""A vertex moves so many times in a pass, then it is locked."""

LONG_NET = 512
"""Pins of a net of more are not visited again where it does not become cut."""


class Waiting(NamedTuple):
    """The vertices that a pass has yet to visit.

    queue : (n,) int32, in a circle
    queued : (n,) uint8, 1 for those
    moves : (n,) uint8, of each vertex in this pass
    at : (2,) int64, front and length of the queue
    """

    queue: Any
    queued: Any
    moves: Any
    at: Any


@inlined
def enqueue(waiting, v):
    """Let vertex v be visited, unless it waits already or is locked.

    waiting : Waiting, in and out
    v : int
    """
    if waiting.queued[v] == 0 and waiting.moves[v] < MOST_MOVES:
        n = len(waiting.queue)
        back = waiting.at[0] + waiting.at[1]
        waiting.queue[back - n if back >= n else back] = v
        waiting.queued[v] = 1
        waiting.at[1] += 1


@kernel
def enqueue_pins(h, s, u, waiting):
    """Let the free pins of the cut nets of u be visited, which has just moved.

    h : Nets, in
    s : Flow, in
    u : int
    waiting : Waiting, in and out
    """
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        long = h.xpins[i + 1] - h.xpins[i] > LONG_NET
        # of a long one, only where u alone has made it cut
        if s.spread[i] == 1 or (long and (s.spread[i] > 2 or s.held[s.xslot[i] + 1] > 1)):
            continue
        for f in range(h.xpins[i], h.xpins[i + 1]):
            v = h.pins[f]
            if v != u and (len(h.fixed) == 0 or h.fixed[v] < 0):
                enqueue(waiting, v)


@kernel
def better(new, old, new_load, old_load, by_load):
    """Algorithm 6: whether metrics come before others, lexicographically; where all tie, whether the load is less.

    new, old : (m,) int64, in
    new_load, old_load : int
    by_load : bool                  whether loads break ties
    """
    for j in range(len(new)):
        if new[j] != old[j]:
            return new[j] < old[j]
    return by_load and new_load < old_load


@kernel
def best_place(h, s, u, metrics, by_load, best, tried, t):
    """The part in which the metrics are least with u in it, where there is room; its own if none is better.

    h : Nets, in
    s : Flow, in and out            as before afterwards
    u : int
    metrics : (m,) int64, in        their numbers, first things first
    by_load : bool                  whether the lighter part breaks ties
    best, tried : (m,) int64, out; scratch
    t : Trial, in and out
    """
    a = s.part[u]
    w = h.vwgt[u]
    volumes = False
    messages = False
    for j in range(len(metrics)):
        volumes |= metrics[j] == MSV or metrics[j] == MSRV
        messages |= metrics[j] == TM or metrics[j] == MSM
        best[j] = value_now(s, metrics[j])
    place = a
    load = s.load[a] - w
    leave_tv(h, s, u, t)
    if volumes:
        leave_msv(h, s, u, t)
    if messages:
        leave_tm(h, s, u, t)
    for i in range(t.at[2]):
        p = t.near[i]
        if s.load[p] + w > s.limit[p]:
            continue
        if volumes:
            put_msv(h, s, u, p, t)
        if messages:
            put_tm(s, p, t)
        for j in range(len(metrics)):
            tried[j] = value_after(s, metrics[j], a, p, t)
        if volumes or messages:
            take_back(t)
        if better(tried, best, s.load[p], load, by_load):
            place = p
            load = s.load[p]
            for j in range(len(metrics)):
                best[j] = tried[j]
    if messages:
        return_tm(h, s, u)
    forget(t)
    return place


@kernel
def refine_pass(h, s, metrics, by_load, waiting, scratch, t):
    """Algorithm 5: visit the vertices that wait, and those that moves bring to the border; returns the moves.

    Ends early, with vertices still waiting, where the hash table of pairs is nearly full.

    h : Nets, in
    s : Flow, in and out
    metrics : (m,) int64, in        their numbers, first things first
    by_load : bool                  whether the lighter part breaks ties
    waiting : Waiting, in and out
    scratch : (2, m) int64
    t : Trial, in and out
    """
    n = len(waiting.queue)
    moved = 0
    while waiting.at[1] > 0 and has_room(s):
        u = waiting.queue[waiting.at[0]]
        waiting.at[0] += 1
        if waiting.at[0] == n:
            waiting.at[0] = 0
        waiting.at[1] -= 1
        waiting.queued[u] = 0
        if s.population[s.part[u]] <= 1 or not at_border(h, s, u):
            continue
        b = best_place(h, s, u, metrics, by_load, scratch[0], scratch[1], t)
        if b == s.part[u]:
            continue
        if len(s.key):
            depart(h, s, u, -1)
            arrive(h, s, u, b, 1)
        shift(h, s, u, b)
        waiting.moves[u] += 1
        moved += 1
        enqueue(waiting, u)
        enqueue_pins(h, s, u, waiting)
    return moved
