"""The surviving moves of a round of Jet, made by several threads: what `refinement.apply_moves` does, to the byte.

What takes long is looking at the neighbours of the vertices that move: what they win, and which neighbours
come onto the lists.  That is found from the frozen state, by pieces of the list of moves; writing it down is quick.
"""

import numpy as np

from . import kernel
from .refinement import ACTIVE, BORDER, PINNED, pull_of


@kernel
def list_moves(g, s, dest, go, live, movers, start, leaving):
    """List the surviving moves and renew the active list; returns how many moves, or -1 with nothing changed.

    -1 where a part might be emptied: whether it is depends on the order of the moves.

    g : Level, in
    s : State, in and out
    dest : (nvtxs,) int32, in and out   part proposed to each vertex; -1 afterwards but for those that move
    go : (nvtxs,) uint8, in             by place on the active list, 1 for moves to make
    live : (nvtxs,) uint8, in           by place on the active list, 0 for what leaves it
    movers : (nvtxs,) int32, out        the vertices that move, in the order of the active list
    start : (nvtxs + 1,) int64, out     sums of what each has to do with: its neighbours and itself
    leaving : (nparts,) int64, scratch
    """
    for p in range(len(leaving)):
        leaving[p] = 0
    for i in range(s.count[0]):
        if go[i] == 1:
            leaving[s.part[s.active[i]]] += 1
    for p in range(len(leaving)):
        if leaving[p] > 0 and leaving[p] >= s.population[p]:
            return -1
    kept = count = 0
    start[0] = 0
    for i in range(s.count[0]):
        v = s.active[i]
        if live[i] == 1:
            s.active[kept] = v
            kept += 1
        else:
            s.listed[v] &= 255 - ACTIVE
        if go[i] == 1:
            movers[count] = v
            start[count + 1] = start[count] + g.xadj[v + 1] - g.xadj[v] + 1
            count += 1
        else:
            dest[v] = -1
    s.count[0] = kept
    return count


@kernel
def weigh_moves(lo, hi, g, pull, s, dest, movers, start, won, found):
    """What the moves lo..hi win when all are made together, and what they put onto the lists; returns how many.

    lo, hi : int
    g : Level, in
    pull : Pull, in
    s : State, in
    dest : (nvtxs,) int32, in       part that each vertex moves to, -1 for those that stay
    movers : (nvtxs,) int32, in
    start : (nvtxs + 1,) int64, in  only start[lo] is read
    won : (nvtxs,) int64, out       by move, twice the decrease of the cut; of an edge between two movers each has half
    found : (nfound,) int32, out    from start[lo] on, vertices missing on a list, some more than once
    """
    unit = len(g.ewgt) == 0
    top = start[lo]
    for i in range(lo, hi):
        v = movers[i]
        own, to = s.part[v], dest[v]
        total = np.int64(0)
        for e in range(g.xadj[v] - 1, g.xadj[v + 1]):
            u = v
            if e >= g.xadj[v]:
                u = g.adjncy[e]
            flags = s.listed[u]
            if not flags & PINNED and flags & (ACTIVE | BORDER) != ACTIVE | BORDER:
                found[top] = u
                top += 1
            if u == v:
                continue
            p = s.part[u]
            new = dest[u]
            if unit:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            if new < 0:
                new = p
                w *= 2
            if p != own:
                total += w
            if new != to:
                total -= w
        won[i] = total + 2 * (pull_of(g, pull, v, to) - pull_of(g, pull, v, own))
    return top - start[lo]


@kernel
def make_moves(g, s, dest, movers, count, won, found, spans, now):
    """Make the moves, log them, and put what they found onto the lists; returns the decrease of the cut.

    g : Level, in
    s : State, in and out               the log has room for all moves
    dest : (nvtxs,) int32, in and out   part that each vertex moves to; -1 everywhere afterwards
    movers : (nvtxs,) int32, in
    count : int                         how many
    won : (nvtxs,) int64, in            by move, twice the decrease of the cut
    found : (nfound,) int32, in         vertices to put onto the lists
    spans : (npieces, 2) int64, in      where those of each piece begin and end
    now : int                           number of the round
    """
    logged = s.count[2]
    total = np.int64(0)
    for i in range(count):
        v = movers[i]
        own, to = s.part[v], dest[v]
        s.log[0, logged] = v
        s.log[1, logged] = own
        logged += 1
        s.part[v] = to
        s.pwgt[own] -= g.vwgt[v]
        s.pwgt[to] += g.vwgt[v]
        s.population[own] -= 1
        s.population[to] += 1
        s.moved_in[v] = now
        dest[v] = -1
        total += won[i]
    s.count[2] = logged
    active, border = s.count[0], s.count[1]
    for j in range(len(spans)):
        for i in range(spans[j, 0], spans[j, 1]):
            u = found[i]
            flags = s.listed[u]
            if not flags & ACTIVE:
                s.active[active] = u
                active += 1
            if not flags & BORDER:
                s.border[border] = u
                border += 1
            s.listed[u] = flags | ACTIVE | BORDER
    s.count[0] = active
    s.count[1] = border
    return total // 2
