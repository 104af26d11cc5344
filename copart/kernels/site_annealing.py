"""Units of tasks exchange their places on a torus or mesh: simulated annealing of the hops of all messages."""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel
from .rng import MASK, mix


class Units(NamedTuple):
    """What exchanges places, and how many messages are between two of them.

    xadj (n+1,) int64, adjncy (narcs,) int32, weight (narcs,) int64: messages both ways; size (n,) int64: only units of
    one size exchange their places.
    """

    xadj: Any
    adjncy: Any
    weight: Any
    size: Any


class Seats(NamedTuple):
    """Where units are.

    first (npoints+1,) int64: the seats of each point; near (npoints, width) int64: points from the nearest on; dims
    (ndims,) int64: lengths of the torus; at (n, ndims) int64: coordinates of each unit; point, seat (n,) int64 of each
    unit; holder (n,) int64: the unit of each seat.
    """

    first: Any
    near: Any
    dims: Any
    at: Any
    point: Any
    seat: Any
    holder: Any


@inner
def change_of_hops(units, seats, a, b):
    """What hops change by when unit a is where b is; messages between the two are left out.

    units : Units, in
    seats : Seats, in
    a, b : int
    """
    change = 0
    for e in range(units.xadj[a], units.xadj[a + 1]):
        v = units.adjncy[e]
        if v == b:
            continue
        for axis in range(len(seats.dims)):
            length, x = seats.dims[axis], seats.at[v, axis]
            here, there = abs(seats.at[a, axis] - x), abs(seats.at[b, axis] - x)
            change += units.weight[e] * (min(there, length - there) - min(here, length - here))
    return change


@kernel
def anneal_sites(units, seats, tries, heat, salt):
    """Let units exchange places; returns what hops changed by.

    A unit is drawn, one of its neighbours, a point near that (nearer ones more often) and a unit there: so most tries
    bring a unit to another with which it exchanges messages.

    units : Units, in
    seats : Seats, in and out
    tries : int
    heat : (2,) float64, in         temperature at first and at last, in messages
    salt : int
    """
    n, width = len(units.size), seats.near.shape[1]
    every = max(tries // 1024, 1)
    cooling = (heat[1] / heat[0])**(every / tries)
    warm = heat[0]
    total = 0
    for i in range(tries):
        if i % every == 0:
            warm *= cooling
        a = (mix(i, salt) * n) >> 32
        degree = units.xadj[a + 1] - units.xadj[a]
        if degree == 0:
            continue
        v = units.adjncy[units.xadj[a] + ((mix(i, salt + 1) * degree) >> 32)]
        draw = mix(i, salt + 2)
        low, high = draw & 0xFFFF, draw >> 16
        # the square of a number below 1 is small more often
        p = seats.near[seats.point[v], (((low * low) >> 16) * width) >> 16]
        q = seats.point[a]
        b = seats.holder[seats.first[p] + ((high * (seats.first[p + 1] - seats.first[p])) >> 16)]
        if p == q or units.size[a] != units.size[b]:
            continue
        change = change_of_hops(units, seats, a, b) + change_of_hops(units, seats, b, a)
        if change > 0 and mix(i, salt + 3) >= MASK * np.exp(-change / warm):
            continue
        total += change
        seats.point[a], seats.point[b] = p, q
        for axis in range(len(seats.dims)):
            seats.at[a, axis], seats.at[b, axis] = seats.at[b, axis], seats.at[a, axis]
        seats.holder[seats.seat[a]], seats.holder[seats.seat[b]] = b, a
        seats.seat[a], seats.seat[b] = seats.seat[b], seats.seat[a]
    return total
