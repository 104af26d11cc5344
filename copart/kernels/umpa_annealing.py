"""Simulated annealing of the border in the volume, the messages and what the busiest parts send.

What the lexicographic passes (`umpa_passes`) cannot do: go through states that are worse. All metrics have prices
here, so that a move that helps one and hurts another is judged by both.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel
from .rng import mix
from .umpa_gains import forget, leave_msv, put_msv
from .umpa_pairs import has_room
from .umpa_state import arrive, at_border, depart, pins_in, shift

COLD = 7.0
"""A move that costs so many times the temperature is not tried: its probability is below a thousandth."""

NEAR, APART = (2, 3, 5), (17, 19, 23)
"""Primes: steps of one that does not divide the length of a list visit all of it; where all of them do, its order does.

They are small, so that a sweep goes through memory in order where neighbours have numbers near each other; near ones
take a tenth less time. Where messages are counted softly, neighbours visited one after another came out a few per cent
worse."""


class Prices(NamedTuple):
    """What moves cost in one sweep, in units of the volume.

    heat : float, temperature
    press : float, of a unit of weight above the limit of a part
    hard : bool, no move to above a limit, or further above it than the part it leaves is
    most_sent, over_sent : float, of a unit sent above `most_sent` by a part
    message : float, of a message; 0 where they do not count
    most_messages, over_message : float, of a message above `most_messages` of a part
    """

    heat: Any
    press: Any
    hard: Any
    most_sent: Any
    over_sent: Any
    message: Any
    most_messages: Any
    over_message: Any


class Border(NamedTuple):
    """The vertices that a sweep visits.

    listed : (n,) int32, filled from the front
    there : (n,) uint8, 1 for those
    at : (2,) int64, how many there are; numbers drawn so far
    """

    listed: Any
    there: Any
    at: Any


@inlined
def beyond(h, s, u, dice):
    """A part that is in a cut net of u and is not its own, by two numbers 0..65535 in `dice`; its own if there is none.

    h : Nets, in
    s : Flow, in
    u, dice : int
    """
    a = s.part[u]
    b = a
    degree = h.xnets[u + 1] - h.xnets[u]
    e = ((dice & 0xFFFF) * degree) >> 16
    for _ in range(degree):
        i = h.nets[h.xnets[u] + e]
        if s.spread[i] > 1:
            j = ((dice >> 16) * s.spread[i]) >> 16
            b = s.slot[s.xslot[i] + j]
            if b == a:
                b = s.slot[s.xslot[i] + (j + 1 if j + 1 < s.spread[i] else 0)]
            break
        e += 1
        if e == degree:
            e = 0
    return b


@inlined
def volume_below(h, s, u, b, bar):
    """Change of the volume where u goes to part b; no less than `bar` but no more than needed for that, if it is not.

    Nets in one part and those of which u is the only pin in its part are in `least`; the cut ones that are not in part
    b come on top.

    h : Nets, in
    s : Flow, in
    u, b : int
    bar : float
    """
    change = s.least[u]
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        if s.spread[i] == 1:
            continue
        j = s.xslot[i]
        last = j + s.spread[i]
        while j < last and s.slot[j] != b:
            j += 1
        if j == last:
            change += h.cost[i]
            if change >= bar:
                break
    return change


@inlined
def sender_change(h, s, u):
    """What senders send less at most where u leaves its part, and to how many parts.

    h : Nets, in
    s : Flow, in
    u : int
    """
    a = s.part[u]
    sent = np.int64(0)
    saved = np.int64(0)
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        if pins_in(s, i, a) == 1:
            sent += h.cost[i]
            saved += 1
        if h.pins[h.xpins[i]] == u:
            sent += h.cost[i] * (s.spread[i] - 1)
            saved += s.spread[i] - 1
    return sent, saved


@inlined
def excess_change(load_a, load_b, w, room_a, room_b):
    """Change of the weight above the limits where w goes from one part to another.

    load_a, load_b, w, room_a, room_b : int
    """
    before = max(load_a - room_a, 0) + max(load_b - room_b, 0)
    return max(load_a - w - room_a, 0) + max(load_b + w - room_b, 0) - before


@inner
def sent_price(h, s, u, b, price, t):
    """Change of the price of what parts send above the aim, where u goes to part b.

    h : Nets, in
    s : Flow, in
    u, b : int
    price : Prices, in
    t : Trial, in and out           all 0 before and after
    """
    leave_msv(h, s, u, t)
    put_msv(h, s, u, b, t)
    change = 0.0
    for j in range(t.at[1]):
        q = t.touched[j]
        now = float(s.send[q])
        change += max(now + t.loss_send[q] - t.gain_send[q] - price.most_sent, 0.0) - max(now - price.most_sent, 0.0)
    forget(t)
    return price.over_sent * change


@inlined
def message_price(s, price):
    """Change of the price of the messages that is booked.

    s : Flow, in
    price : Prices, in
    """
    change = 0.0
    for j in range(s.who[len(s.load)]):
        p = s.who[j]
        now = s.soft[p]
        then = now + s.change[p]
        change += price.message * s.change[p]
        change += price.over_message * (max(then - price.most_messages, 0.0) - max(now - price.most_messages, 0.0))
    return change


@inlined
def list_pins(h, s, u, border):
    """List the free pins of the cut nets of u, which has just moved.

    h : Nets, in
    s : Flow, in
    u : int
    border : Border, in and out
    """
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        if s.spread[i] == 1:
            continue
        first = s.xslot[i]
        # those of a net that was cut before are listed
        if s.spread[i] > 2 or (s.held[first] > 1 and s.held[first + 1] > 1):
            continue
        for f in range(h.xpins[i], h.xpins[i + 1]):
            v = h.pins[f]
            if border.there[v] == 0 and (len(h.fixed) == 0 or h.fixed[v] < 0):
                border.there[v] = 1
                border.listed[border.at[0]] = v
                border.at[0] += 1


@kernel
def sweep(h, s, price, salt, border, t):
    """Visit the vertices at the border once: each may go to one part that is drawn; returns the moves.

    h : Nets, in
    s : Flow, in and out
    price : Prices, in
    salt : int
    border : Border, in and out
    t : Trial, in and out
    """
    before = border.at[0]
    if before < 2:
        return 0
    drawn = border.at[1]
    at = (mix(drawn, salt) * before) >> 32
    stride = np.int64(1)
    for prime in APART if len(s.worth) else NEAR:
        if before % prime != 0:
            stride = np.int64(prime % before)
            break
    moves = 0
    k = len(s.load)
    senders = price.over_sent > 0.0 or len(s.worth) > 0
    # a net fewer of a message saves no more than the last one of it
    step = (price.message + price.over_message) * s.worth[1] if len(s.worth) else 0.0
    for _ in range(before):
        u = np.int64(border.listed[at])
        at += stride
        if at >= before:
            at -= before
        a = s.part[u]
        drawn += 1
        w = h.vwgt[u]
        relief = price.press * w if s.load[a] > s.limit[a] else 0.0
        # nothing is looked at of what no part can be worth
        if not senders and s.least[u] - relief > COLD * price.heat:
            continue
        bar = -price.heat * np.log((mix(drawn, salt + 2) + 1.0) / 4294967297.0)
        if s.population[a] <= 1 or (not senders and s.least[u] - relief >= bar):
            continue
        b = np.int64(beyond(h, s, u, mix(drawn, salt + 1)))
        if b == a:
            continue
        over = s.load[b] + w - s.limit[b]
        if price.hard and over > 0 and over >= s.load[a] - s.limit[a]:
            continue
        change = 0.0
        if over > 0 or s.load[a] > s.limit[a]:
            change = price.press * excess_change(s.load[a], s.load[b], w, s.limit[a], s.limit[b])
        high = bar - change
        if senders:
            sent, saved = sender_change(h, s, u)
            high += price.over_sent * sent + saved * step
        volume = volume_below(h, s, u, b, high)
        if volume >= high:
            continue
        change += volume
        if price.over_sent > 0.0:
            change += sent_price(h, s, u, b, price, t)
        if len(s.worth):
            if not has_room(s):
                continue
            depart(h, s, u, -1)
            arrive(h, s, u, b, 1)
            change += message_price(s, price)
            go = change < bar
            if go:
                for j in range(s.who[k]):
                    s.soft[s.who[j]] += s.change[s.who[j]]
                    s.change[s.who[j]] = 0.0
            else:
                arrive(h, s, u, b, -1)
                depart(h, s, u, 1)
                for j in range(s.who[k]):
                    s.change[s.who[j]] = 0.0
            s.who[k] = 0
        else:
            go = change < bar
            if go and len(s.key):
                depart(h, s, u, -1)
                arrive(h, s, u, b, 1)
        if go:
            shift(h, s, u, b)
            moves += 1
            list_pins(h, s, u, border)
    border.at[1] = drawn
    return moves


@kernel
def trim(h, s, border):
    """Drop the vertices that are no longer at the border.

    h : Nets, in
    s : Flow, in
    border : Border, in and out
    """
    kept = 0
    for i in range(border.at[0]):
        v = border.listed[i]
        if at_border(h, s, v):
            border.listed[kept] = v
            kept += 1
        else:
            border.there[v] = 0
    border.at[0] = kept
