"""Corridors: ways between the pieces of a part, along which a search came from its fixed vertices."""

from typing import Any, NamedTuple

from . import inlined, inner, kernel


class Search(NamedTuple):
    """Where a search by :func:`copart.kernels.csr.spread_labels` came from, in a graph of n vertices.

    label : (n,) int32, the nearest source of each vertex, -1 for none
    dist : (n,) int32, edges to it
    home : (nsources,) int32, part of each source
    piece : (nsources,) int32, piece of its part that each source is in
    """

    label: Any
    dist: Any
    home: Any
    piece: Any


@inlined
def root_of(parent, i):
    """The piece that stands for all that piece i is joined with.

    parent : (npieces,) int32, in and out
    i : int
    """
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner
def walk_back(g, search, v, fix, part):
    """Follow the way from vertex v back to its source; returns the weight of the vertices that are of no part yet.

    g : Level, in
    search : Search, in
    v : int                         a vertex with a label
    fix : bool                      give them the part of the source, too
    part : (nvtxs,) int32, in and out
    """
    weight = 0
    while search.dist[v] > 0:
        if part[v] < 0:
            weight += g.vwgt[v]
            if fix:
                part[v] = search.home[search.label[v]]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if search.label[u] == search.label[v] and search.dist[u] == search.dist[v] - 1:
                v = u
                break
    return weight


@kernel
def dig(u, v, g, search, room, parent, part):
    """Join pieces along edges, each with the ways back from its ends; returns how many edges were taken.

    An edge is taken where it joins two pieces that are not joined yet, and there is room in the part for what
    is on its way.

    u, v : (m,) int32, in           ends of edges, in the order in which they are tried
    g : Level, in
    search : Search, in
    room : (nparts,) int64, in and out
    parent : (npieces,) int32, in and out   each piece itself, in the beginning
    part : (nvtxs,) int32, in and out       -1 for none yet
    """
    taken = 0
    for i in range(len(u)):
        a = root_of(parent, search.piece[search.label[u[i]]])
        b = root_of(parent, search.piece[search.label[v[i]]])
        if a == b:
            continue
        p = search.home[search.label[u[i]]]
        need = walk_back(g, search, u[i], False, part) + walk_back(g, search, v[i], False, part)
        if need > room[p]:
            continue
        walk_back(g, search, u[i], True, part)
        walk_back(g, search, v[i], True, part)
        room[p] -= need
        parent[a] = b
        taken += 1
    return taken
