"""Flow-based refinement of two neighbouring parts: the smallest cut near the present one that keeps balance.

A region on both sides of the border becomes a flow network (:mod:`.flow_network`); what lies outside it is
source and sink.  Where the minimum cut is out of balance, the smaller side takes in
one more vertex beyond its cut (piercing) and the flow goes on (:mod:`.flow`), until a cut fits or the flow reaches the
present cut (for refinement: Gottesbueren et al. 2019).
"""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel
from .flow import augment, flow_distances, pierce
from .flow_network import SINK, SOURCE, build_network, grow_region
from .paths import group_by_part

SEVERAL, NONE = -1, -2
"""In place of the one other part that a vertex touches."""


class Batch(NamedTuple):
    """Pairs of parts, none of which is in two of them, and the border; what they won adds up over the batches.

    pairs : (nparts // 2, 2) int32, the parts of each
    room : (nparts // 2, 2) int64, scratch
    won : (nparts,) int64, decrease of the cut by the pairs that each part was the first of
    changed : (nparts,) uint8, 1 for parts of pairs that won something
    start : (nparts + 1,) int64, where the border vertices of each part begin
    order : (n,) int32, border vertices by part
    border : (n,) int32, border vertices, ascending; count : (1,) int64, how many
    facing : (n,) int32, the only other part that a vertex touched when the border was listed; `SEVERAL` for other
        vertices there, and wherever something has moved since; `NONE` for those inside
    """

    pairs: Any
    room: Any
    won: Any
    changed: Any
    start: Any
    order: Any
    border: Any
    count: Any
    facing: Any


@inner
def refine_pair(g, part, pwgt, population, limit, a, b, seeds, reach, room, facing, arena):
    """Replace the cut between parts a and b by a smaller one where there is one within the limits.

    Returns the decrease of the cut; part, pwgt, population and the list of border vertices are kept up to date.

    g : Level, in
    part : (n,) int32, in and out
    pwgt, population : (nparts,) int64, in and out
    limit : (nparts,) int64, in
    a, b : int
    seeds : (nseeds,) int32, in     vertices among which all at the border between the two are
    reach : int                     hops from the border to what stays where it is
    room : (2,) int64, in           weight of a and of b that may take part
    facing : (n,) int32, in and out  `NONE` for no vertex at a border; new ones there are `fresh`, too
    arena : FlowArena, scratch      its `local` -1 before and after
    """
    size, cut = grow_region(g, part, a, b, seeds, reach, room, arena)
    gain = np.int64(0)
    if cut > 0 and build_network(g, part, a, b, size, arena) == SOURCE | SINK:
        region = np.int64(0)
        region_a = np.int64(0)
        for i in range(size):
            v = arena.vertex[i]
            region += g.vwgt[v]
            if part[v] == a:
                region_a += g.vwgt[v]
        rest_a = pwgt[a] - region_a
        total = pwgt[a] + pwgt[b]
        flow = np.int64(0)
        count = 1
        reached = True
        while True:
            if reached:
                flow += augment(size, cut - flow, arena)
                if flow >= cut:
                    break
                flow_distances(size, SOURCE, arena.level, arena)
            small = rest_a
            large = rest_a + region
            for i in range(size):
                w = g.vwgt[arena.vertex[i]]
                if arena.level[i] >= 0:
                    small += w
                if arena.back[i] >= 0:
                    large -= w
            # a keeps what the sources reach, or all that does not reach the sinks
            fits_small = small <= limit[a] and total - small <= limit[b]
            fits_large = large <= limit[a] and total - large <= limit[b]
            if fits_small or fits_large:
                by_source = fits_small
                if fits_small and fits_large:
                    by_source = abs(2 * small - total) <= abs(2 * large - total)
                stays_a = 0
                stays_b = 0
                for i in range(size):
                    v = arena.vertex[i]
                    to_a = arena.level[i] >= 0 if by_source else arena.back[i] < 0
                    if to_a:
                        stays_a += 1
                    if part[v] == a:
                        stays_b += 1
                # neither part may end up empty
                if population[a] - stays_b + stays_a > 0 and population[b] + stays_b - stays_a > 0:
                    for i in range(size):
                        v = arena.vertex[i]
                        to_a = arena.level[i] >= 0 if by_source else arena.back[i] < 0
                        to = a if to_a else b
                        own = part[v]
                        if own != to:
                            part[v] = to
                            pwgt[own] -= g.vwgt[v]
                            pwgt[to] += g.vwgt[v]
                            population[own] -= 1
                            population[to] += 1
                            # neighbours in a third part, which others work on, are at the border already
                            for e in range(g.xadj[v] - 1, g.xadj[v + 1]):
                                u = v if e < g.xadj[v] else g.adjncy[e]
                                if facing[u] == NONE:
                                    arena.fresh[arena.nfresh[0]] = u
                                    arena.nfresh[0] += 1
                                facing[u] = SEVERAL
                    gain = cut - flow
                break
            # the smaller side grows: that of the sources where even its largest cut leaves b too heavy
            from_source = total - large > limit[b] or (small <= limit[a] and small <= total - large)
            found, reached = pierce(g, part, a, size, from_source, count, arena)
            if found == 0:
                break
            count = 4 * count + 4
    for i in range(size):
        arena.local[arena.vertex[i]] = -1
    return gain


@kernel
def find_facing(lo, hi, g, part, listed, facing):
    """Which other part the vertices lo..hi touch.

    lo, hi : int
    g : Level, in
    part : (n,) int32, in
    listed : (n,) uint8, in     0 for vertices whose neighbours are all in their part; or empty
    facing : (n,) int32, out    that part, `SEVERAL` or `NONE`
    """
    for v in range(lo, hi):
        if len(listed) > 0 and listed[v] == 0:
            facing[v] = NONE
            continue
        own = part[v]
        other = NONE
        for e in range(g.xadj[v], g.xadj[v + 1]):
            p = part[g.adjncy[e]]
            if p != own and p != other:
                if other != NONE:
                    other = SEVERAL
                    break
                other = p
        facing[v] = other


@kernel
def next_batch(part, fresh, waiting, left, batch):
    """A maximal set of pairs without a part in common, taken in order, and the border by part.

    Returns how many pairs it has, and how many are left; these move to the front.

    part : (n,) int32, in
    fresh : (nfresh,) int32, in         vertices that are new at the border, ascending
    waiting : (npairs, 2) int32, in and out
    left : int                          pairs that are waiting
    batch : Batch, in and out
    """
    start, border = batch.start, batch.border
    for p in range(len(start)):
        start[p] = 0
    taken = 0
    asked = left
    left = 0
    for i in range(asked):
        a, b = waiting[i, 0], waiting[i, 1]
        if start[a] == 0 and start[b] == 0:
            start[a] = start[b] = 1
            batch.pairs[taken, 0], batch.pairs[taken, 1] = a, b
            taken += 1
        else:
            waiting[left, 0], waiting[left, 1] = a, b
            left += 1
    old = batch.count[0] - 1
    new = len(fresh) - 1
    batch.count[0] += len(fresh)
    while new >= 0:
        if old >= 0 and border[old] > fresh[new]:
            border[old + new + 1] = border[old]
            old -= 1
        else:
            border[old + new + 1] = fresh[new]
            new -= 1
    group_by_part(part, border, batch.count[0], start, batch.order)
    return taken, left


@kernel
def refine_batch(lo, hi, g, part, pwgt, population, limit, batch, reach, share, arena):
    """Lower the cut between the pairs lo..hi of a batch; :func:`refine_pair` for one after the other.

    lo, hi : int
    g : Level, in
    part : (n,) int32, in and out
    pwgt, population : (nparts,) int64, in and out
    limit : (nparts,) int64, in
    batch : Batch, in and out       no part is in two of its pairs
    reach : int                     hops from the border to what stays where it is
    share : float                   share of the weight of a part that may take part
    arena : FlowArena, scratch      its `local` -1 before and after
    """
    start, order, room, facing = batch.start, batch.order, batch.room, batch.facing
    for i in range(lo, hi):
        a, b = batch.pairs[i, 0], batch.pairs[i, 1]
        # places for every vertex of both: a vertex is listed once
        count = 0
        for p in (a, b):
            for j in range(start[p], start[p + 1]):
                v = order[j]
                # others touch only a third part, and looking at their neighbours would take most of the time
                if facing[v] == SEVERAL or facing[v] == a + b - p:
                    arena.queue[count] = v
                    count += 1
        room[i, 0], room[i, 1] = np.int64(share * pwgt[a]), np.int64(share * pwgt[b])
        won = refine_pair(g, part, pwgt, population, limit, a, b, arena.queue[:count], reach, room[i], facing, arena)
        if won > 0:
            batch.won[a] += won
            batch.changed[a] = batch.changed[b] = 1


@kernel
def cut_pairs(g, part, border, nparts, key, weight, table):
    """Cut edges at the border, each once; returns how many.

    The smaller part * nparts + the larger one is the key of an edge.

    g : Level, in
    part : (n,) int32, in
    border : (nborder,) int32, in
    nparts : int
    key : (narcs,) int64, out       of each edge; room for all edges of the border vertices
    weight : (narcs,) int64, out
    table : (nparts * nparts,) int64, in and out   weight added up by key; where it is empty edges are listed instead
    """
    at = 0
    for i in range(len(border)):
        v = border[i]
        p = part[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            q = part[g.adjncy[e]]
            if q > p:
                w = np.int64(1) if len(g.ewgt) == 0 else g.ewgt[e]
                if len(table) > 0:
                    table[np.int64(p) * nparts + q] += w
                else:
                    key[at] = np.int64(p) * nparts + q
                    weight[at] = w
                at += 1
    return at
