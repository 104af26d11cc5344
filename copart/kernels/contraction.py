"""Contraction: numbers for the clusters, their vertices and rows, and what goes down to the finer level."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, kernel


class Members(NamedTuple):
    """The vertices of every cluster, ascending.

    first : (ncoarse,) int32, first member of each cluster; -1 where there is none
    following : (nvtxs,) int32, next member of the same cluster after each vertex, -1 after the last
    """

    first: Any
    following: Any


@kernel
def number_clusters(cluster, cmap):
    """Number clusters in the order of their first member; returns how many.

    cluster : (nvtxs,) int32, in    leader of the cluster of each vertex; a leader leads itself
    cmap : (nvtxs,) int32, out      number of the cluster of each vertex
    """
    n = len(cluster)
    for v in range(n):
        cmap[v] = -1
    nc = 0
    for v in range(n):
        # without a branch, which could not be predicted
        leader = cluster[v]
        fresh = cmap[leader] < 0
        c = nc if fresh else cmap[leader]
        cmap[leader] = c
        cmap[v] = c
        nc += fresh
    return nc


@kernel
def link_members(cmap, members):
    """Chain the members of every cluster.

    cmap : (nvtxs,) int32, in       cluster of each vertex
    members : Members, out
    """
    first, following = members
    for c in range(len(first)):
        first[c] = -1
    for v in range(len(cmap) - 1, -1, -1):
        c = cmap[v]
        following[v] = first[c]
        first[c] = v


@kernel
def contract_vertices(lo, hi, g, members, vwgt, fixed, origin, size):
    """Weights, fixed parts, origins and sizes of the coarse vertices lo..hi.

    Returns how many entries the rows of the members of one have at most, and those of all.

    lo, hi : int
    g : Level, in
    members : Members, in           of each coarse vertex
    vwgt : (ncoarse,) int64, out
    fixed : (ncoarse,) int32, out   or empty where all vertices are free
    origin : (ncoarse,) int32, out  or empty where there are no affinities
    size : (ncoarse,) int64, out    empty where `origin` is
    """
    first, following = members
    most = np.int64(0)
    total = np.int64(0)
    for c in range(lo, hi):
        w = np.int64(0)
        s = np.int64(0)
        d = np.int64(0)
        v = first[c]
        while v >= 0:
            w += g.vwgt[v]
            d += g.xadj[v + 1] - g.xadj[v]
            if len(size) > 0:
                s += g.size[v]
            v = following[v]
        vwgt[c] = w
        most = max(most, d)
        total += d
        if len(fixed) > 0:
            fixed[c] = g.fixed[first[c]]
        if len(origin) > 0:
            origin[c] = g.origin[first[c]]
            size[c] = s
    return most, total


@inlined
def _mask_for(most, room):
    """The mask of numbers to places in a table for rows of so many entries; all bits where there is no room for one.

    A small table stays in the fastest memory, where one with a place for each vertex does not.

    most : int                      entries that a row may have
    room : int                      places that there are
    """
    size = np.int64(64)
    while size < 4 * most:
        size *= 2
    return size - 1 if size <= room else np.int64(-1)


@inlined
def _merge(d, w, row, top, mask, mark, adjncy, ewgt):
    """Add an edge to the row from `row` to `top`; returns where that ends now, and whether the weight fits.

    d, w : int                          the other end, and the weight
    row, top, mask : int
    mark : (size,) int64, in and out    where a neighbour stands in the row
    adjncy : (nentries,) int32, in and out
    ewgt : (nentries,) integer, in and out
    """
    place = d & mask
    written = mark[place]
    # a place is taken by what stands in this row; others in the row may have got there first
    while written >= row and adjncy[written] != d:
        place = (place + 1) & mask
        written = mark[place]
    if written >= row:
        w += ewgt[written]
        ewgt[written] = w
        return top, ewgt[written] == w
    mark[place] = top
    adjncy[top] = d
    ewgt[top] = w
    return top + 1, True


@kernel
def contract_rows(lo, hi, at, g, cmap, members, alike, end, adjncy, ewgt, most, mark):
    """Rows of the coarse vertices lo..hi, parallel edges merged, inner edges dropped; returns the number of entries.

    The rows are written from offset `at` on, densely.  Returns -1 where the type of `ewgt` is too small for one.

    lo, hi, at : int
    g : Level, in
    cmap : (nvtxs,) int32, in           coarse vertex of each vertex
    members : Members, in               of each coarse vertex
    alike : bool                        rows are alike, as in grids, so that it can be predicted which edges are inner
                                        ones: edges are merged as they come, and not gathered before
    end : (ncoarse,) int64, out         of each row
    adjncy : (nentries,) int32, out     nentries is at least the number of entries of g
    ewgt : (nentries,) integer, out
    most : int                          entries that the members of one have at most, as from `contract_vertices`
    mark : (size,) int64, scratch       where a neighbour stands in the row being written; of 8 `most` + 64 places, or
                                        ncoarse
    """
    unit = len(g.ewgt) == 0
    mask = _mask_for(most, len(mark))
    for i in range(mask + 1 if mask >= 0 else len(members.first)):
        mark[i] = -1
    top = at
    fits = True
    for c in range(lo, hi):
        row = top
        v = members.first[c]
        if alike:
            while v >= 0:
                for e in range(g.xadj[v], g.xadj[v + 1]):
                    d = cmap[g.adjncy[e]]
                    if d != c:
                        w = np.int64(1) if unit else np.int64(g.ewgt[e])
                        top, fit = _merge(d, w, row, top, mask, mark, adjncy, ewgt)
                        fits &= fit
                v = members.following[v]
            end[c] = top
            continue
        last = row
        while v >= 0:
            for e in range(g.xadj[v], g.xadj[v + 1]):
                # written in any case and kept where it leads out: a branch here could not be predicted
                d = cmap[g.adjncy[e]]
                adjncy[last] = d
                ewgt[last] = 1 if unit else g.ewgt[e]
                last += d != c
            v = members.following[v]
        # in place: the row never ends beyond what has been read
        for e in range(row, last):
            top, fit = _merge(adjncy[e], np.int64(ewgt[e]), row, top, mask, mark, adjncy, ewgt)
            fits &= fit
        end[c] = top
    return top - at if fits else np.int64(-1)


@kernel
def pull_down(lo, hi, cmap, coarse, fine):
    """Carry values of coarse vertices to their members.

    lo, hi : int
    cmap : (nvtxs,) int32, in       coarse vertex of each vertex
    coarse : (ncoarse,) int32, in
    fine : (nvtxs,) int32, out
    """
    for v in range(lo, hi):
        fine[v] = coarse[cmap[v]]


@kernel
def push_up(cmap, fine, coarse):
    """Carry values that the members of each cluster share to the coarse vertices.

    cmap : (nvtxs,) int32, in       coarse vertex of each vertex
    fine : (nvtxs,) int32, in
    coarse : (ncoarse,) int32, out
    """
    for v in range(len(cmap)):
        coarse[cmap[v]] = fine[v]


@kernel
def centre(cmap, vwgt, coords, total, centres):
    """Centres of gravity of the coarse vertices; vertices without weight count as 1.

    cmap : (nvtxs,) int32, in           coarse vertex of each vertex
    vwgt : (nvtxs,) int64, in
    coords : (nvtxs, d) float64, in
    total : (ncoarse,) float64, out     what the members weigh together
    centres : (ncoarse, d) float64, out
    """
    d = coords.shape[1]
    for c in range(len(total)):
        total[c] = 0.0
        for j in range(d):
            centres[c, j] = 0.0
    for v in range(len(cmap)):
        c = cmap[v]
        w = float(max(vwgt[v], 1))
        total[c] += w
        for j in range(d):
            centres[c, j] += w * coords[v, j]
    for c in range(len(total)):
        for j in range(d):
            centres[c, j] /= total[c]
