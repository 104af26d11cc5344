"""Simulated annealing of the walls between parts, for cut, data and messages at once; parts stay in one piece."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .rng import mix
from .wall_prices import excess_change, holds_together, traffic_price, uncut_by
from .walls import shift, shift_weight

STRIDES = (7919, 10007, 104729)
"""Primes: one of them does not divide the length of a list, and steps of that size visit all of it."""

COLD = 6.0
"""A move that costs so many times the temperature is not tried: its probability is e^-6."""


EASING, RETURN = 0.6, 0.9
"""By what factor prices of data and messages fall in a sweep while a cut is too large, and come back after it."""


NEAR = 0.98
"""A cut is too large from this share of its limit."""


class Cooling(NamedTuple):
    """First and last values of what changes from sweep to sweep, and prices that do not; in edges of each component.

    heat : (2,) float64, the temperature
    blur : (2,) float64, of the messages
    press : (2,) float64, price of a unit of excess weight
    squeeze : (2,) float64, price of a unit of excess coupled weight
    unit : (C,) float64, a mean edge of each component
    heavy : (C,) float64, mean weight of a vertex
    wet : (C,) float64, mean coupled weight of a coupled vertex
    datum : (C, C) float64, price of a datum that component [0] receives from [1]
    message : (C,) float64, price of a message
    over : float, price of a datum above `most`; 0 where they do not count
    most : (C, C) int64, data from component [0] to [1] that a part of either sends or receives, above which `over` is
        paid
    most_messages : (C, C) int64, messages of a part of component [0] for [1] above which one more `message` is paid
    ease : (C,) float64, in and out, what data and messages are worth at the moment, as a share of their price: less
        from sweep to sweep while a cut is above `most_cut`
    most_cut : (C,) int64, the largest cut of each component
    least : (C,) int64, as many parts of each component own coupled vertices at least
    islands : (C,) uint8, 1 where the graph is in several pieces: the parts that are in two of them are what balance can
        be had by, so no part leaves a piece
    """

    heat: Any
    blur: Any
    press: Any
    squeeze: Any
    unit: Any
    heavy: Any
    wet: Any
    datum: Any
    message: Any
    over: Any
    most: Any
    most_messages: Any
    ease: Any
    most_cut: Any
    least: Any
    islands: Any


class Border(NamedTuple):
    """Memory of :func:`anneal_walls` on n vertices.

    listed : (n,) int32, vertices at a wall, filled from the front; scratch
    there : (n,) uint8, 1 for those, 2 where no move is likely until a neighbour has moved; 0 between calls
    mark : (n,) int32, of searches; 0 before the first call
    queue : (length,) int32, of searches; how far they go
    pool : (n,) int32, the vertices that have ever been listed, filled from the front
    known : (n,) uint8, 1 for those; 0 before the first call
    stamp : (2,) int64, number of the last search; how many have ever been listed
    """

    listed: Any
    there: Any
    mark: Any
    queue: Any
    pool: Any
    known: Any
    stamp: Any


@inlined
def at_live_wall(xadj, adjncy, part, live, v):
    """Whether v has a neighbour in another part, where one of the two parts is live.

    xadj : (n + 1,) int64, in
    adjncy : (nadj,) int32, in
    part : (n,) int32, in
    live : (K,) uint8, in
    v : int
    """
    p = part[v]
    found = False
    for e in range(xadj[v], xadj[v + 1]):
        q = part[adjncy[e]]
        if q != p and (live[p] or live[q]):
            found = True
            break
    return found


@inlined
def worth_a_look(g, s, former, v):
    """Whether v at a wall may have a move that pays: at the interface, where walls have moved, or above a limit.

    g : Joined, in
    s : Walls, in
    former : (n,) int32, in         parts whose other walls are good as they are; empty where there are none
    v : int
    """
    p = s.part[v]
    found = len(former) == 0 or g.iptr[v] < g.iptr[v + 1] or p != former[v] or s.load[p] > s.room[p]
    if not found:
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if s.part[u] != former[u]:
                found = True
                break
    return found


@kernel
def find_walls(lo, hi, g, s, live, former, found):
    """Find the vertices in lo..hi with a neighbour in another part, where one of the two parts is live, that are worth
    a look; returns how many.

    lo, hi : int
    g : Joined, in
    s : Walls, in
    live : (K,) uint8, in
    former : (n,) int32, in         see :func:`worth_a_look`
    found : (n,) int32, out         from place lo on, ascending
    """
    count = lo
    for v in range(lo, hi):
        if at_live_wall(g.xadj, g.adjncy, s.part, live, v) and worth_a_look(g, s, former, v):
            found[count] = v
            count += 1
    return count - lo


@kernel
def list_walls(g, s, live, near, again, border):
    """List the vertices with a neighbour in another part, where one of the two parts is live; returns how many.

    g : Joined, in
    s : Walls, in
    live : (K,) uint8, in
    near : (m,) int32, in           look only at these
    again : bool                    or at all that have been listed before: others have not become border
    border : Border, in and out
    """
    count = 0
    if again:
        near = border.pool[: border.stamp[1]]
    for i in range(len(near)):
        v = near[i]
        if at_live_wall(g.xadj, g.adjncy, s.part, live, v):
            border.listed[count] = v
            border.there[v] = 1
            count += 1
            if border.known[v] == 0:
                border.known[v] = 1
                border.pool[border.stamp[1]] = v
                border.stamp[1] += 1
    return count


@inlined
def beyond(xadj, adjncy, part, v, draw):
    """Part of a neighbour of v that is not its own, from an entry on that is drawn; its own if there is none.

    xadj : (n + 1,) int64, in
    adjncy : (nadj,) int32, in
    part : (n,) int32, in
    v : int
    draw : int                      0..2^32-1
    """
    a = part[v]
    degree = xadj[v + 1] - xadj[v]
    j = (draw * degree) >> 32
    b = a
    for _ in range(degree):
        b = part[adjncy[xadj[v] + j]]
        if b != a:
            break
        j += 1
        if j == degree:
            j = 0
    return b


@kernel
def anneal_walls(g, s, sweeps, c, salt, hard, along, live, count, border):
    """Simulated annealing of the vertices at walls; returns how many moves were made.

    A vertex moves to the part of a neighbour, always where that lowers the price of cut, data, messages and excess,
    else with a probability that falls with the temperature; and only if its part stays in one piece without it.
    A temperature of 0 takes no move that costs anything.

    g : Joined, in
    s : Walls, in and out
    sweeps : int
    c : Cooling, in
    salt : int
    hard : bool                     no move above a limit, or further above it than its part was
    along : bool                    visit vertices as they are listed, forth and back: what the next one needs is in the
                                    cache then, else every other time in an order that jumps
    live : (K,) uint8, in           parts that may change
    count : int                     how many vertices are listed
    border : Border, in and out
    """
    xadj, adjncy, ewgt, weight, coupled = g.xadj, g.adjncy, g.ewgt, g.weight, g.coupled
    part, owner, slot, load, room, share, bound = s.part, s.owner, s.slot, s.load, s.room, s.share, s.bound
    listed, there, mark, queue = border.listed, border.there, border.mark, border.queue
    shrink = 1.0 / max(sweeps - 1, 1)
    moves = 0
    drawn = 0
    stamp = border.stamp[0]
    for t in range(sweeps):
        if count < 2:
            break
        heat = 0.0
        if c.heat[0] > 0.0:
            heat = c.heat[0] * (c.heat[1] / c.heat[0]) ** (t * shrink)
        blur = c.blur[0] * (c.blur[1] / c.blur[0]) ** (t * shrink)
        press = c.press[0] * (c.press[1] / c.press[0]) ** (t * shrink)
        squeeze = c.squeeze[0] * (c.squeeze[1] / c.squeeze[0]) ** (t * shrink)
        before = count
        at = (mix(t, salt) * before) >> 32
        stride = np.int64(1)
        if along:
            at = 0
            if t % 2 == 1:
                at = before - 1
                stride = np.int64(before - 1)
        else:
            for prime in STRIDES:
                if before % prime != 0:
                    stride = np.int64(prime % before)
                    break
        done = 0
        for _ in range(before):
            v = np.int64(listed[at])
            at += stride
            if at >= before:
                at -= before
            a = part[v]
            drawn += 1
            dice = mix(drawn, salt + 1)
            b = beyond(xadj, adjncy, part, v, dice)
            if b == a or s.population[a] <= 1 or not (live[a] or live[b]):
                continue
            own = owner[a]
            w = weight[v]
            x = coupled[v]
            meets = g.iptr[v] < g.iptr[v + 1]
            if meets and slot[b] < 0:
                continue
            if x > 0 and share[a] == x and share[b] > 0 and s.owners[own] <= c.least[own]:
                continue
            if hard:
                if load[b] + w > room[b] and load[b] + w - room[b] >= load[a] - room[a]:
                    continue
                if x > 0 and share[b] + x > bound[b] and share[b] + x - bound[b] >= share[a] - bound[a]:
                    continue
            warm = heat * c.unit[own]
            uncut, inside, several = uncut_by(xadj, adjncy, ewgt, part, v, a, b)
            if not inside and c.islands[own]:
                continue
            if hard and uncut > 0 and s.cut[own] + uncut > c.most_cut[own]:
                continue
            change = float(uncut)
            excess = False
            if load[a] > room[a] or load[b] + w > room[b]:
                excess = True
                price = press * c.unit[own] / c.heavy[own]
                change += price * excess_change(load[a], load[b], w, w, room[a], room[b])
            elif not meets and change > COLD * warm:
                if not several:
                    there[v] = 2
                continue
            if x > 0 and (share[a] > bound[a] or share[b] + x > bound[b]):
                excess = True
                price = squeeze * c.unit[own] / c.wet[own]
                change += price * excess_change(share[a], share[b], x, x, bound[a], bound[b])
            if meets:
                change += c.ease[own] * traffic_price(g, s, v, a, b, c.datum, c.message[own], blur, c.most,
                                                      c.most_messages, c.over)
            if change > 0.0:
                if change > COLD * warm:
                    if not several and not excess:
                        there[v] = 2
                    continue
                if change >= -warm * np.log((mix(drawn, salt + 2) + 1.0) / 4294967296.0):
                    continue
            elif change == 0.0 and heat <= 0.0 and load[b] + w >= load[a]:
                continue
            stamp += 1
            if not holds_together(xadj, adjncy, part, v, stamp, mark, queue):
                continue
            s.cut[own] += uncut
            if meets:
                shift(g, s, v, a, b)
            else:  # passing the tuples on takes longer than this
                shift_weight(g, s, v, a, b)
            done += 1
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if there[u] == 0:
                    listed[count] = u
                    count += 1
                    if border.known[u] == 0:
                        border.known[u] = 1
                        border.pool[border.stamp[1]] = u
                        border.stamp[1] += 1
                there[u] = 1
        kept = 0
        for i in range(count):
            v = listed[i]
            p = part[v]
            if there[v] == 2:
                there[v] = 0
                continue
            at_wall = False
            for e in range(xadj[v], xadj[v + 1]):
                if part[adjncy[e]] != p:
                    at_wall = True
                    break
            if at_wall:
                listed[kept] = v
                kept += 1
            else:
                there[v] = 0
        count = kept
        moves += done
        for i in range(len(c.ease)):
            if s.cut[i] > NEAR * c.most_cut[i]:
                c.ease[i] *= EASING
            else:
                c.ease[i] = min(1.0, c.ease[i] / RETURN)
        if heat <= 0.0 and done <= before // 1000:
            break
    border.stamp[0] = stamp
    for i in range(count):
        there[listed[i]] = 0
    return moves


__all__ = ["Border", "Cooling", "anneal_walls", "find_walls", "list_walls"]
