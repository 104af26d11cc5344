"""Simulated annealing of the coupled cells of all components together, or of blocks of them."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel
from .bottleneck import note_changes
from .coupled import change_of_cut, change_of_excess, change_of_messages, change_of_volume, move
from .rng import MASK, mix


class Rates(NamedTuple):
    """First and last values of what changes from sweep to sweep.

    heat : (2,) float64, the temperature
    blur : (2,) float64, of the messages
    press : (2,) float64, price of a unit of excess
    """

    heat: Any
    blur: Any
    press: Any


class Traffic(NamedTuple):
    """What the K parts send and receive; all empty where the busiest part has no price.

    volume, messages : (K,) int64, kept up to date
    more, extra : (K,) int64, change of both by a move, 0 between calls; scratch
    """

    volume: Any
    messages: Any
    more: Any
    extra: Any


@inlined
def other_part(xadj, adjncy, bptr, bidx, part, v, draw):
    """Part of a neighbour of v that is not its own, from an entry on that is drawn; its own if there is none.

    xadj : (n + 1,) int64, in
    adjncy : (nadj,) int32, in
    bptr : (n + 1,) int64, in
    bidx : (nrest,) int32, in
    part : (n,) int32, in
    v : int
    draw : int                      0..2^32-1; scaled by a product, since a division takes as long as the rest
    """
    a = part[v]
    inner = xadj[v + 1] - xadj[v]
    degree = inner + bptr[v + 1] - bptr[v]
    b = a
    if degree > 0:
        j = (draw * degree) >> 32
        for _ in range(degree):
            if j < inner:
                b = part[adjncy[xadj[v] + j]]
            else:
                b = bidx[bptr[v] + j - inner]
            if b != a:
                break
            j += 1
            if j == degree:
                j = 0
    return b


@kernel
def list_border(g, s, border):
    """Write the cells with a neighbour in another part; returns how many.

    g : Cells, in
    s : Shares, in
    border : (n,) int32, out        filled from the front
    """
    xadj, adjncy, bptr, bidx, part = g.xadj, g.adjncy, g.bptr, g.bidx, s.part
    count = 0
    for v in range(len(part)):
        if other_part(xadj, adjncy, bptr, bidx, part, v, np.int64(0)) != part[v]:
            border[count] = v
            count += 1
    return count


@inlined
def taken(change, temperature, number, salt):
    """Whether annealing makes a move: always one that lowers the cost, else with a probability (Metropolis).

    change : float                  of the cost
    temperature : float
    number, salt : int              what the random number is made of
    """
    return change <= 0.0 or change < -temperature * np.log((mix(number, salt) + 1.0) / 4294967296.0)


@kernel
def anneal(g, s, sweeps, weights, rates, salt, partner, border, traffic):
    """Simulated annealing of the cells at the borders; returns how many moves were made.

    A cell moves to the part of a neighbour, at once where that lowers ``weights . (cut, volume, messages)`` plus the
    price of excess weight, else with a probability that falls with the temperature.  Each of `sweeps` lists the border
    and draws from it as many cells as are on it.

    Where a partner is given, a cell that may not move alone takes its partner along, unless that is -1: to the
    part of one of the partner's neighbours.  So borders that face each other move together.

    Two more `weights` count for the part with the largest volume and the one with the most messages, where `traffic`
    is not empty.  Either that or `partner` has to be.

    g : Cells, in
    s : Shares, in and out
    sweeps : int
    weights : (3,) or (5,) float64, in
    rates : Rates, in
    salt : int
    partner : (n,) int32, in        or empty: cells move alone
    border : (n,) int32, scratch
    traffic : Traffic, in and out
    """
    volume, messages, more, extra = traffic
    # the tuples are unpacked once
    xadj, adjncy, ewgt, bptr, bidx, bval = g.xadj, g.adjncy, g.ewgt, g.bptr, g.bidx, g.bval
    iptr, iadj, imul, take, weight = g.iptr, g.iadj, g.imul, g.take, g.weight
    part, load, limit, population = s.part, s.load, s.limit, s.population
    where, many, used, pairs, total = s.where, s.many, s.used, s.pairs, s.total
    shrink = 1.0 / max(sweeps - 1, 1)
    moves = 0
    drawn = 0
    for t in range(sweeps):
        temperature = rates.heat[0] * (rates.heat[1] / rates.heat[0]) ** (t * shrink)
        tau = rates.blur[0] * (rates.blur[1] / rates.blur[0]) ** (t * shrink)
        price = rates.press[0] * (rates.press[1] / rates.press[0]) ** (t * shrink)
        count = list_border(g, s, border)
        for _ in range(count):
            drawn += 1
            dice = mix(drawn, salt) * count
            v = np.int64(border[dice >> 32])
            b = other_part(xadj, adjncy, bptr, bidx, part, v, dice & MASK)
            a = part[v]
            if a == b or population[a] <= 1:
                continue
            uncut = change_of_cut(xadj, adjncy, ewgt, bptr, bidx, bval, part, v, a, b)
            change = price * change_of_excess(load, limit, weight[v], a, b)
            change += weights[0] * uncut
            change += weights[1] * change_of_volume(iptr, iadj, imul, take, where, many, used, v, a, b)
            change += weights[2] * change_of_messages(iptr, where, many, used, pairs, v, a, b, tau)
            if len(volume) > 0:
                note_changes(g, s, v, a, b, more, extra)
                most, most_then, busiest, busiest_then = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
                for p in range(len(volume)):
                    most = max(most, volume[p])
                    most_then = max(most_then, volume[p] + more[p])
                    busiest = max(busiest, messages[p])
                    busiest_then = max(busiest_then, messages[p] + extra[p])
                change += weights[3] * (most_then - most) + weights[4] * (busiest_then - busiest)
            go = taken(change, temperature, drawn, salt + 1)
            for p in range(len(volume)):
                if go:
                    volume[p] += more[p]
                    messages[p] += extra[p]
                more[p] = 0
                extra[p] = 0
            if go:
                total[0] += uncut
                move(g, s, v, a, b)
                moves += 1
            elif len(partner) > 0 and partner[v] >= 0:
                u = np.int64(partner[v])
                c = part[u]
                d = other_part(xadj, adjncy, bptr, bidx, part, u, mix(drawn, salt + 2))
                if c == d or population[c] <= 1:
                    continue
                move(g, s, v, a, b)
                uncut_too = change_of_cut(xadj, adjncy, ewgt, bptr, bidx, bval, part, u, c, d)
                change += price * change_of_excess(load, limit, weight[u], c, d)
                change += weights[0] * uncut_too
                change += weights[1] * change_of_volume(iptr, iadj, imul, take, where, many, used, u, c, d)
                change += weights[2] * change_of_messages(iptr, where, many, used, pairs, u, c, d, tau)
                if taken(change, temperature, drawn, salt + 3):
                    total[0] += uncut + uncut_too
                    v, a, b = u, c, d
                    moves += 2
                else:
                    a, b = b, a
                move(g, s, v, a, b)
    return moves


__all__ = ["Rates", "Traffic", "anneal", "list_border", "other_part", "taken"]
