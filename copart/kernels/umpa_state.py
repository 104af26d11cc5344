"""Where the nets of a directed hypergraph go under a partition: parts of each net, volumes, messages; and one move.

The parts of a net are a list, not a row of a table of all parts; the nets that flow from one part to another are
counted in a hash table that holds the pairs that have any.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel
from .umpa_pairs import add_flow


class Nets(NamedTuple):
    """A directed hypergraph as kernels see it: m nets, n vertices; the first pin of a net is its source.

    xpins (m+1,) int64, pins (npins,) int32, xnets (n+1,) int64, nets (npins,) int32, cost (m,) int64, vwgt (n,) int64,
    fixed (n,) int32 or empty where all vertices are free.
    """

    xpins: Any
    pins: Any
    xnets: Any
    nets: Any
    cost: Any
    vwgt: Any
    fixed: Any


class Flow(NamedTuple):
    """A partition into K parts and what follows from it.

    part : (n,) int32
    load, population, limit : (K,) int64, weight of each part, its vertices, and the most it may weigh
    xslot : (m+1,) int64, slot, held : (nslots,) int32
        The parts of net i are slot[xslot[i]:][:spread[i]], with so many pins each
    spread : (m,) int32, parts of each net (the connectivity)
    send, receive : (K,) int64, volume
    messages : (K,) int64, parts that each part sends to
    key, count : (2^j,) int64
        Hash table of the pairs p * K + q, -1 where free, and of the nets that flow from p to q; empty where messages
        are not followed
    total : (4,) int64
        Volume and messages of all parts, pairs in the table, most pairs that one move adds
    worth : (j,) float64
        Of a message of so many nets, 0 for none and 1 for j - 1 and more, where messages are counted softly, so that
        each net fewer is a gain; else empty
    soft, change : (K,) float64
        Messages of each part, counted softly, and what changes of a move that is on trial; 0 between moves
    who : (K+1,) int32, parts with a change, and how many are
    least : (n,) int64
        What a move of each vertex changes the volume by at least: the cost of its nets that lie in one part, less that
        of those of which it is the only pin in its part; empty where that is not followed
    """

    part: Any
    load: Any
    population: Any
    limit: Any
    xslot: Any
    slot: Any
    held: Any
    spread: Any
    send: Any
    receive: Any
    messages: Any
    key: Any
    count: Any
    total: Any
    worth: Any
    soft: Any
    change: Any
    who: Any
    least: Any


@inlined
def pins_in(s, i, p):
    """How many pins of net i are in part p.

    s : Flow, in
    i, p : int
    """
    found = 0
    first = s.xslot[i]
    for j in range(first, first + s.spread[i]):
        if s.slot[j] == p:
            found = s.held[j]
            break
    return found


@kernel
def count_parts(h, s):
    """Count everything that follows from `part`: all other arrays of `s` but xslot, limit and the free hash table.

    h : Nets, in
    s : Flow, in and out
    """
    s.load[:] = 0
    s.population[:] = 0
    for v in range(len(s.part)):
        s.load[s.part[v]] += h.vwgt[v]
        s.population[s.part[v]] += 1
    s.send[:] = 0
    s.receive[:] = 0
    s.messages[:] = 0
    s.total[0] = 0
    s.total[1] = 0
    for i in range(len(h.cost)):
        first = s.xslot[i]
        parts = 0
        for e in range(h.xpins[i], h.xpins[i + 1]):
            p = s.part[h.pins[e]]
            j = first
            while j < first + parts and s.slot[j] != p:
                j += 1
            if j == first + parts:
                s.slot[j] = p
                s.held[j] = 0
                parts += 1
            s.held[j] += 1
        s.spread[i] = parts
        # the source is the first pin, so its part is the first of the list
        own = s.slot[first]
        s.send[own] += h.cost[i] * (parts - 1)
        s.total[0] += h.cost[i] * (parts - 1)
        for j in range(first + 1, first + parts):
            s.receive[s.slot[j]] += h.cost[i]
            if len(s.key):
                add_flow(s, own, s.slot[j], 1)


@inlined
def add_pin(s, i, p, by):
    """Count pins of net i in part p, `by` more, and return how many there are then; the list of its parts follows.

    s : Flow, in and out
    i, p, by : int                  by is 1 or -1
    """
    first = s.xslot[i]
    last = first + s.spread[i]
    j = first
    while j < last and s.slot[j] != p:
        j += 1
    if j == last:
        s.slot[j] = p
        s.held[j] = 0
        s.spread[i] += 1
    held = s.held[j] + by
    s.held[j] = held
    if held == 0:
        s.spread[i] -= 1
        s.slot[j] = s.slot[last - 1]
        s.held[j] = s.held[last - 1]
    return held


@kernel
def depart(h, s, u, by):
    """Count the nets that no longer flow once u is in no part (by = -1), or flow again (by = 1).

    h : Nets, in
    s : Flow, in and out            its hash table and messages only
    u, by : int
    """
    a = s.part[u]
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        if s.spread[i] == 1:
            continue
        first = s.xslot[i]
        source = h.pins[h.xpins[i]]
        if source == u:
            for j in range(first, first + s.spread[i]):
                if s.slot[j] != a:
                    add_flow(s, a, s.slot[j], by)
        elif pins_in(s, i, a) == 1:
            add_flow(s, s.part[source], a, by)


@kernel
def shift(h, s, u, b):
    """Move vertex u to part b, and keep all counts but those of nets between parts, which are the caller's.

    h : Nets, in
    s : Flow, in and out
    u, b : int
    """
    a = s.part[u]
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        c = h.cost[i]
        source = h.pins[h.xpins[i]]
        before = s.spread[i]
        if source == u:
            s.send[a] -= c * (before - 1)
            left, there = move_pin(s, i, a, b)
            if there > 1:
                s.receive[b] -= c
            if left > 0:
                s.receive[a] += c
            s.send[b] += c * (s.spread[i] - 1)
        else:
            own = s.part[source]
            left, there = move_pin(s, i, a, b)
            if left == 0:
                s.send[own] -= c
                s.receive[a] -= c
            if there == 1:
                s.send[own] += c
                s.receive[b] += c
        s.total[0] += c * (s.spread[i] - before)
        if len(s.least):
            follow_least(h, s, i, u, b, before, left, there)
    s.part[u] = b
    s.load[a] -= h.vwgt[u]
    s.load[b] += h.vwgt[u]
    s.population[a] -= 1
    s.population[b] += 1


@inlined
def move_pin(s, i, a, b):
    """Count one pin of net i in part b instead of a; returns how many are in a and in b then.

    s : Flow, in and out
    i, a, b : int
    """
    # first out, then in: a net never has more parts than slots
    left = add_pin(s, i, a, -1)
    there = add_pin(s, i, b, 1)
    return left, there


@inlined
def follow_least(h, s, i, u, b, before, left, there):
    """Follow in `least` that vertex u has gone to part b, as far as net i goes.

    h : Nets, in
    s : Flow, in and out            net i is counted already, u still stands in its old part
    i, u, b : int
    before : int                    parts of the net before
    left, there : int               pins of the net in the old part and in b now
    """
    c = h.cost[i]
    first, last = h.xpins[i], h.xpins[i + 1]
    if left == 0:
        s.least[u] += c
    if there == 1:
        s.least[u] -= c
    if left == 1 or there == 2:
        # another pin is the only one left there, or no longer the only one
        a = s.part[u]
        for e in range(first, last):
            v = h.pins[e]
            if v == u:
                continue
            if s.part[v] == a:
                if left == 1:
                    s.least[v] -= c
            elif s.part[v] == b and there == 2:
                s.least[v] += c
    if before == 1 or s.spread[i] == 1:
        more = -c if before == 1 else c
        for e in range(first, last):
            s.least[h.pins[e]] += more


@kernel
def count_least(h, s):
    """Count `least` of all vertices.

    h : Nets, in
    s : Flow, in and out
    """
    for v in range(len(s.part)):
        least = np.int64(0)
        for e in range(h.xnets[v], h.xnets[v + 1]):
            i = h.nets[e]
            if s.spread[i] == 1:
                least += h.cost[i]
            elif pins_in(s, i, s.part[v]) == 1:
                least -= h.cost[i]
        s.least[v] = least


@kernel
def arrive(h, s, u, b, by):
    """Count the nets that flow once u, which has departed from its part, is in part b (by = 1), or no longer (by = -1).

    h : Nets, in
    s : Flow, in and out            its hash table and messages only; u is still counted where it was elsewhere
    u, b, by : int
    """
    a = s.part[u]
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        first = s.xslot[i]
        source = h.pins[h.xpins[i]]
        if source == u:
            for j in range(first, first + s.spread[i]):
                q = s.slot[j]
                if q != b and (q != a or s.held[j] > 1):
                    add_flow(s, b, q, by)
        elif pins_in(s, i, b) == 0:
            add_flow(s, s.part[source], b, by)


@inner
def at_border(h, s, u):
    """Whether vertex u is a pin of a net of several parts.

    h : Nets, in
    s : Flow, in
    u : int
    """
    cut = False
    for e in range(h.xnets[u], h.xnets[u + 1]):
        if s.spread[h.nets[e]] > 1:
            cut = True
            break
    return cut


@kernel
def list_border(h, s, listed, there):
    """List the free vertices at the border; returns how many.

    h : Nets, in
    s : Flow, in
    listed : (n,) int32, out
    there : (n,) uint8, out         1 for those, else 0
    """
    count = 0
    for v in range(len(s.part)):
        there[v] = 0
        if (len(h.fixed) == 0 or h.fixed[v] < 0) and at_border(h, s, v):
            listed[count] = v
            there[v] = 1
            count += 1
    return count
