"""Unconstrained local search in synchronous rounds (Jet): what is decided.

Jet: Gilbert, Madduri, Boman & Rajamanickam 2023.  In a round every boundary
vertex names its best other part (`propose`), checks the move against the moves
that rank before it (`afterburn`), and the surviving moves are applied together
(:mod:`copart.kernels.jet_pieces`).  Parts may overflow in between; rebalancing follows.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel
from .connectivity import connect_few, pull_of

ACTIVE, BORDER, PINNED = 1, 2, 4
"""Bits of `State.listed`: on the active list, on the border list, never to be listed."""

EIGHT = 0x0101010101010101
"""A bit times this is that bit in each of eight bytes."""


class State(NamedTuple):
    """Working state of one level.

    part : (nvtxs,) int32
    pwgt, population : (nparts,) int64, weight and number of vertices of each part
    active : (nvtxs,) int32, vertices whose move is worth another look
    border : (nvtxs,) int32, all vertices with a neighbour in another part, and some more
    listed : (nvtxs,) uint8, bits as above
    moved_in : (nvtxs,) int32, round after the last move, in which a vertex rests; 0 for none
    log : (2, capacity) int32, vertex and former part of each move
    count : (3,) int64, lengths of active, border and log
    room : (nparts,) int64, weight above which a round fills no part, or empty where it may overload parts at will
    """

    part: Any
    pwgt: Any
    population: Any
    active: Any
    border: Any
    listed: Any
    moved_in: Any
    log: Any
    count: Any
    room: Any


@kernel
def weigh(lo, hi, part, vwgt, pwgt, population):
    """Add up the weight and the number of the vertices lo..hi of each part.

    lo, hi : int
    part : (nvtxs,) int32, in
    vwgt : (nvtxs,) int64, in
    pwgt, population : (nparts,) int64, in and out
    """
    # neighbours in memory are mostly of one part, and a register is faster than memory written just before
    p = part[lo] if lo < hi else 0
    first = lo
    total = np.int64(0)
    for v in range(lo, hi):
        if part[v] != p:
            pwgt[p] += total
            population[p] += v - first
            p, first, total = part[v], v, np.int64(0)
        total += vwgt[v]
    pwgt[p] += total
    population[p] += max(hi - first, 0)


@kernel
def find_boundary(lo, hi, g, part, cmap, coarse, boundary):
    """Find the free vertices in lo..hi that have a neighbour in another part or an affinity.

    What is deep inside on the coarser level, from which the partition comes, is so here.

    lo, hi : int
    g : Level, in
    part : (nvtxs,) int32, in
    cmap : (nvtxs,) int32, in       coarse vertex of each vertex, not read where `coarse` is empty
    coarse : (ncoarse,) uint8, in   0 for coarse vertices whose neighbours are all in their part; or empty
    boundary : (nvtxs,) uint8, out  1 for those, else 0
    """
    for v in range(lo, hi):
        boundary[v] = 0
        if len(coarse) > 0 and coarse[cmap[v]] == 0:
            continue
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            continue
        if len(g.origin) > 0:
            boundary[v] = 1
            continue
        p = part[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if part[g.adjncy[e]] != p:
                boundary[v] = 1
                break


@inner
def propose(lo, hi, g, pull, s, now, warmth, dest, gain, live, conn, touched):
    """Every vertex of active[lo:hi] names its best other part.

    Vertices moved in round now - 1 rest.  Parts without room do not count where `State.room` bounds them.  Ties: the
    lighter part, then the smaller number.

    lo, hi : int
    g : Level, in
    pull : Pull, in
    s : State, in
    now : int                       number of the round
    warmth : float                  share of its own connectivity that a vertex may lose
    dest : (nvtxs,) int32, out      that part by vertex, -1 for none or too large a loss
    gain : (nvtxs,) int64, out      decrease of the cut by vertex, where it names a part
    live : (nvtxs,) uint8, out      by place on the active list, 0 for no other look before a neighbour moves
    conn : (nparts,) int64, scratch
    touched : (nparts,) int32, scratch
    """
    bounded = len(s.room) > 0
    for p in range(len(conn)):
        conn[p] = -1
    for i in range(lo, hi):
        v = s.active[i]
        dest[v] = -1
        if s.moved_in[v] == now:
            live[i] = 1
            continue
        live[i] = 0
        own = s.part[v]
        mine, best, most, count = connect_few(g, pull, s, v, bounded, s.room, conn, touched)
        for j in range(count):
            p = touched[j]
            c = conn[p]
            conn[p] = -1
            if p == own or c < most or (bounded and s.pwgt[p] + g.vwgt[v] > s.room[p]):
                continue
            if c > most or s.pwgt[p] < s.pwgt[best] or (s.pwgt[p] == s.pwgt[best] and p < best):
                best, most = p, c
        if best >= 0 and (most >= mine or float(mine - most) < warmth * float(mine)):
            dest[v] = best
            gain[v] = most - mine
            live[i] = 1


@inner
def afterburn(lo, hi, g, pull, s, dest, gain, go):
    """Keep the moves of active[lo:hi] that do not raise the cut when all better-ranked moves happen first.

    Rank: larger gain, then smaller vertex.

    lo, hi : int
    g : Level, in
    pull : Pull, in
    s : State, in
    dest : (nvtxs,) int32, in       part proposed to each vertex, -1 for none
    gain : (nvtxs,) int64, in       decrease of the cut by vertex
    go : (nvtxs,) uint8, out        by place on the active list, 1 for moves that are kept
    """
    unit = len(g.ewgt) == 0
    for i in range(lo, hi):
        v = s.active[i]
        to = dest[v]
        if to < 0:
            go[i] = 0
            continue
        own = s.part[v]
        mine = gain[v]
        total = np.int64(0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            p = s.part[u]
            d = dest[u]
            # chosen and added without branches, which could not be predicted
            if d >= 0:
                ahead = (gain[u] > mine) | ((gain[u] == mine) & (u < v))
                p = d if ahead else p
            if unit:
                w = np.int64(1)
            else:
                w = np.int64(g.ewgt[e])
            total += w * (p == to) - w * (p == own)
        if len(g.origin) > 0:
            total += pull_of(g, pull, v, to) - pull_of(g, pull, v, own)
        go[i] = 1 if total >= 0 else 0
