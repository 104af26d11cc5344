"""Pairs of vertices that change places under a directed hypergraph: parts keep their sizes to the vertex."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .rng import mix
from .umpa_annealing import beyond, message_price
from .umpa_gains import value_now
from .umpa_state import arrive, depart, shift


class Seats(NamedTuple):
    """The vertices of each part, in any order.

    member : (n,) int32, part by part
    first : (K + 1,) int64, where those of each part begin
    seat : (n,) int64, where each vertex is in `member`
    at : (2,) int64, numbers drawn so far; swaps made
    """

    member: Any
    first: Any
    seat: Any
    at: Any


@inlined
def relocate(h, s, u, b):
    """Move vertex u to part b, messages included where they are followed.

    h : Nets, in
    s : Flow, in and out
    u, b : int
    """
    if len(s.key):
        depart(h, s, u, -1)
        arrive(h, s, u, b, 1)
    shift(h, s, u, b)


@inlined
def room_for_two(s):
    """Whether the hash table of pairs takes two more moves.

    s : Flow, in
    """
    pairs = min(s.total[2] + 2 * s.total[3], len(s.load) * len(s.load))
    return len(s.key) == 0 or 8 * pairs <= 7 * len(s.key)


@inlined
def sent_above(s, most):
    """What parts send above `most`, added up.

    s : Flow, in
    most : float
    """
    above = 0.0
    for p in range(len(s.send)):
        above += max(s.send[p] - most, 0.0)
    return above


@inlined
def improved(s, metrics, old):
    """Whether metrics are lexicographically less than `old`.

    s : Flow, in
    metrics : (m,) int64, in        their numbers, first things first
    old : (m,) int64, in
    """
    less = False
    for j in range(len(metrics)):
        now = value_now(s, metrics[j])
        if now != old[j]:
            less = now < old[j]
            break
    return less


@kernel
def swap_sweep(h, s, price, metrics, salt, tries, seats, old):
    """Let pairs of vertices change places, by the price while it is warm; returns the pairs that were tried.

    With `heat` 0 they do where the metrics become lexicographically less. Ends early where the hash table of pairs is
    nearly full.

    h : Nets, in
    s : Flow, in and out
    price : Prices, in              weights above limits cost nothing
    metrics : (m,) int64, in        their numbers, first things first
    salt, tries : int
    seats : Seats, in and out
    old : (m,) int64, scratch
    """
    n = len(s.part)
    k = len(s.load)
    tried = np.int64(0)
    drawn = seats.at[0]
    for j in range(len(metrics)):
        old[j] = value_now(s, metrics[j])
    while tried < tries and room_for_two(s):
        tried += 1
        drawn += 1
        u = np.int64((mix(drawn, salt) * n) >> 32)
        dice = mix(drawn, salt + 1)
        a = np.int64(s.part[u])
        b = np.int64(beyond(h, s, u, dice))
        size = seats.first[b + 1] - seats.first[b]
        v = np.int64(seats.member[seats.first[b] + ((mix(drawn, salt + 2) * size) >> 32)])
        if a == b or (len(h.fixed) > 0 and (h.fixed[u] >= 0 or h.fixed[v] >= 0)):
            continue
        volume = s.total[0]
        above = sent_above(s, price.most_sent) if price.over_sent > 0.0 else 0.0
        relocate(h, s, u, b)
        relocate(h, s, v, a)
        if price.heat > 0.0:
            change = float(s.total[0] - volume)
            if price.over_sent > 0.0:
                change += price.over_sent * (sent_above(s, price.most_sent) - above)
            if len(s.worth):
                change += message_price(s, price)
            go = change < -price.heat * np.log((mix(drawn, salt + 3) + 1.0) / 4294967297.0)
        else:
            go = improved(s, metrics, old)
        if not go:
            relocate(h, s, v, b)
            relocate(h, s, u, a)
        if len(s.worth):
            for j in range(s.who[k]):
                if go:
                    s.soft[s.who[j]] += s.change[s.who[j]]
                s.change[s.who[j]] = 0.0
            s.who[k] = 0
        if go:
            seats.at[1] += 1
            at = seats.seat[u]
            seats.seat[u] = seats.seat[v]
            seats.seat[v] = at
            seats.member[seats.seat[u]] = u
            seats.member[seats.seat[v]] = v
            if price.heat == 0.0:
                for j in range(len(metrics)):
                    old[j] = value_now(s, metrics[j])
    seats.at[0] = drawn
    return tried
