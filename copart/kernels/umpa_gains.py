"""Exact gains of a move in volume and messages, of each part and of all: what a vertex leaves, and where it is put.

Algorithms 7 to 13 of UMPa (Deveci 2015, chapter 4): LEAVEVERTEX takes a vertex out of its part and books what
becomes less there, PUTVERTEX puts it into another one and books what becomes more.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .umpa_pairs import nets_between
from .umpa_state import depart, pins_in

TV, MSV, MSRV, TM, MSM = 0, 1, 2, 3, 4
"""Metrics: total volume; largest volume sent, and sent and received; total messages; most messages of a part."""


class Trial(NamedTuple):
    """A vertex taken out of its part and put into another one, on trial, of K parts; all 0 between vertices.

    gain_send, loss_send : (K,) int64, volume that each part sends less, and more
    gain_messages, loss_messages : (K,) int64
    conn : (K,) int64, cost of the nets of the vertex in each part
    touched : (K,) int32, parts with an entry in any of these
    mark : (K,) uint8, 1 for those, 3 where the vertex can be put, too
    near : (K,) int32, parts that are in nets of the vertex: where it can be put
    senders, receivers : (K,) int32, of nets of the vertex
    role : (K,) uint8, 1 for a sender, 2 for a receiver, 3 for both
    at : (10,) int64
        Numbers of: parts touched after leaving, parts touched, parts near, senders, receivers; volume received less by
        the old part, and more by the new one; volume that the old part receives of the vertex; cost of its nets, and
        of those where it is the only pin of its part
    """

    gain_send: Any
    loss_send: Any
    gain_messages: Any
    loss_messages: Any
    conn: Any
    touched: Any
    mark: Any
    near: Any
    senders: Any
    receivers: Any
    role: Any
    at: Any


@inlined
def touch(t, p):
    """Remember that part p has an entry.

    t : Trial, in and out
    p : int
    """
    if t.mark[p] & 1 == 0:
        t.mark[p] |= 1
        t.touched[t.at[1]] = p
        t.at[1] += 1


@kernel
def leave_tv(h, s, u, t):
    """Algorithm 7: gain in total volume of taking u out of its part, and the parts where it can be put.

    Books the cost of the nets of u in each part, which gives the losses of all parts at once (:func:`put_tv`).

    h : Nets, in
    s : Flow, in
    u : int
    t : Trial, in and out
    """
    a = s.part[u]
    near = 0
    cost = np.int64(0)
    gain = np.int64(0)
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        c = h.cost[i]
        cost += c
        first = s.xslot[i]
        for j in range(first, first + s.spread[i]):
            p = s.slot[j]
            if p == a:
                if s.held[j] == 1:
                    gain += c
                continue
            if t.mark[p] & 2 == 0:
                t.mark[p] |= 2
                t.near[near] = p
                near += 1
            t.conn[p] += c
    t.at[2] = near
    t.at[8] = cost
    t.at[9] = gain
    return gain


@inlined
def put_tv(t, p):
    """Algorithm 8: loss in total volume of putting the vertex that has left into part p.

    t : Trial, in
    p : int
    """
    return t.at[8] - t.conn[p]


@kernel
def leave_msv(h, s, u, t):
    """Algorithm 11: gains in the volumes sent, and in that received by the old part, of taking u out of it.

    h : Nets, in
    s : Flow, in
    u : int
    t : Trial, in and out
    """
    a = s.part[u]
    received = np.int64(0)
    to_old = np.int64(0)
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        if s.spread[i] == 1 and h.xpins[i + 1] - h.xpins[i] == 1:
            continue
        c = h.cost[i]
        source = h.pins[h.xpins[i]]
        here = pins_in(s, i, a)
        if source == u:
            touch(t, a)
            t.gain_send[a] += c * (s.spread[i] - 1)
            if here > 1:
                received -= c
                to_old += c
        elif here == 1:
            own = s.part[source]
            touch(t, own)
            t.gain_send[own] += c
            received += c
    touch(t, a)
    t.at[0] = t.at[1]
    t.at[5] = received
    t.at[7] = to_old


@kernel
def put_msv(h, s, u, p, t):
    """Algorithm 12: losses in the volumes sent, and in that received by part p, of putting u, which has left, there.

    h : Nets, in
    s : Flow, in
    u, p : int
    t : Trial, in and out
    """
    touch(t, p)
    # what the old part sent is only of nets whose source is u
    t.loss_send[p] += t.gain_send[s.part[u]] + t.at[7]
    received = np.int64(0)
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        c = h.cost[i]
        source = h.pins[h.xpins[i]]
        there = pins_in(s, i, p) > 0
        if source == u:
            if there:
                t.loss_send[p] -= c
                received -= c
        elif not there:
            own = s.part[source]
            touch(t, own)
            t.loss_send[own] += c
            received += c
    t.at[6] = received


@kernel
def leave_tm(h, s, u, t):
    """Algorithm 9: gains in messages of taking u out of its part; nets between parts are as without u afterwards.

    :func:`return_tm` takes that back.

    h : Nets, in
    s : Flow, in and out            its hash table and messages
    u : int
    t : Trial, in and out
    """
    a = s.part[u]
    senders = 0
    receivers = 0
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        source = h.pins[h.xpins[i]]
        if source == u:
            first = s.xslot[i]
            for j in range(first, first + s.spread[i]):
                r = s.slot[j]
                if t.role[r] & 2 == 0 and (r != a or s.held[j] > 1):
                    t.role[r] |= 2
                    t.receivers[receivers] = r
                    receivers += 1
        elif t.role[s.part[source]] & 1 == 0:
            own = s.part[source]
            t.role[own] |= 1
            t.senders[senders] = own
            senders += 1
            # what it sends may become less below
            touch(t, own)
            t.gain_messages[own] = s.messages[own]
    touch(t, a)
    t.gain_messages[a] = s.messages[a]
    t.at[3] = senders
    t.at[4] = receivers
    t.at[0] = t.at[1]
    depart(h, s, u, -1)
    # the messages that each part sent, less those it sends now
    for j in range(senders):
        own = t.senders[j]
        if own != a:
            t.gain_messages[own] -= s.messages[own]
    t.gain_messages[a] -= s.messages[a]


@kernel
def return_tm(h, s, u):
    """Count the nets between parts with u in its part again.

    h : Nets, in
    s : Flow, in and out            its hash table and messages
    u : int
    """
    depart(h, s, u, 1)


@kernel
def put_tm(s, p, t):
    """Algorithm 10: losses in messages of putting the vertex that has left into part p.

    s : Flow, in                    nets between parts without the vertex
    p : int
    t : Trial, in and out
    """
    touch(t, p)
    for j in range(t.at[4]):
        r = t.receivers[j]
        if r != p and nets_between(s, p, r) == 0:
            t.loss_messages[p] += 1
    for j in range(t.at[3]):
        own = t.senders[j]
        if own != p and nets_between(s, own, p) == 0:
            t.loss_messages[own] += 1


@kernel
def take_back(t):
    """Forget where the vertex was put; what it left stays booked.

    t : Trial, in and out
    """
    for j in range(t.at[1]):
        p = t.touched[j]
        t.loss_send[p] = 0
        t.loss_messages[p] = 0
        if j >= t.at[0]:
            t.mark[p] &= 2
    t.at[1] = t.at[0]


@kernel
def forget(t):
    """All 0 again.

    t : Trial, in and out
    """
    for j in range(t.at[1]):
        p = t.touched[j]
        t.mark[p] = 0
        t.gain_send[p] = 0
        t.loss_send[p] = 0
        t.gain_messages[p] = 0
        t.loss_messages[p] = 0
    for j in range(t.at[2]):
        t.mark[t.near[j]] = 0
        t.conn[t.near[j]] = 0
    for j in range(t.at[3]):
        t.role[t.senders[j]] = 0
    for j in range(t.at[4]):
        t.role[t.receivers[j]] = 0
    t.at[:] = 0


@kernel
def largest(s, metric, a, p, t):
    """The largest MSV, MSRV or MSM (Algorithm 13) of all parts after a vertex has gone from part a to part p.

    s : Flow, in                    `messages` without the vertex where messages are on trial
    metric, a, p : int
    t : Trial, in
    """
    most = np.int64(0)
    for q in range(len(s.load)):
        value = s.send[q]
        if metric == MSM:
            value = s.messages[q]
            if t.mark[q] & 1:
                value += t.loss_messages[q]
        else:
            if metric == MSRV:
                value += s.receive[q]
                if q == a:
                    value -= t.at[5]
                if q == p:
                    value += t.at[6]
            if t.mark[q] & 1:
                value += t.loss_send[q] - t.gain_send[q]
        most = max(most, value)
    return most


@kernel
def value_after(s, metric, a, p, t):
    """A metric after the vertex on trial has gone from part a to part p.

    s : Flow, in
    metric, a, p : int
    t : Trial, in
    """
    if metric == TV:
        return s.total[0] + put_tv(t, p) - t.at[9]
    if metric == TM:
        # the total counts the messages without the vertex
        more = s.total[1]
        for j in range(t.at[1]):
            more += t.loss_messages[t.touched[j]]
        return more
    return largest(s, metric, a, p, t)


@kernel
def value_now(s, metric):
    """A metric as it is.

    s : Flow, in
    metric : int
    """
    if metric == TV:
        return s.total[0]
    if metric == TM:
        return s.total[1]
    most = np.int64(0)
    for q in range(len(s.load)):
        if metric == MSM:
            value = s.messages[q]
        elif metric == MSV:
            value = s.send[q]
        else:
            value = s.send[q] + s.receive[q]
        most = max(most, value)
    return most
