"""Kernels on CSR arrays: symmetry, induced subgraphs, cuts, halos, pieces."""

import numpy as np

from . import inlined, kernel


@kernel
def first_asymmetry(lo, hi, xadj, adjncy, ewgt, cursor):
    """First of the vertices lo..hi whose row is not matched by its neighbours' rows, or -1.

    Visiting the rows in order, the entries ``u`` of any row ``v`` come up in ascending ``u``, so one cursor
    per row suffices.

    lo, hi : int
    xadj : (nvtxs + 1,) int64, in
    adjncy : (nentries,) int32, in  rows ascending
    ewgt : (nentries,) int64, in    or empty where every edge weighs 1
    cursor : (nvtxs,) int64, scratch
    """
    n = len(xadj) - 1
    unit = len(ewgt) == 0
    for v in range(n):
        cursor[v] = xadj[v]
    if lo > 0:
        for v in range(n):
            c, end = xadj[v], xadj[v + 1]
            if c < end and adjncy[end - 1] < lo:
                c = end  # as for most vertices before: the rest of the row need not be read
            while c < end and adjncy[c] < lo:
                c += 1
            cursor[v] = c
    for u in range(lo, hi):
        for e in range(xadj[u], xadj[u + 1]):
            v = adjncy[e]
            c = cursor[v]
            if c >= xadj[v + 1] or adjncy[c] != u:
                return u
            if not unit and ewgt[c] != ewgt[e]:
                return u
            cursor[v] = c + 1
    return -1


@kernel
def first_faults(lo, hi, xadj, adjncy):
    """First of the vertices lo..hi with an edge to itself, and first whose row is not strictly ascending; -1 for none.

    What is behind an edge of a vertex to itself is not looked at.

    lo, hi : int
    xadj : (nvtxs + 1,) int64, in
    adjncy : (nentries,) int32, in
    """
    disorder = np.int64(-1)
    for v in range(lo, hi):
        first, end = xadj[v], xadj[v + 1]
        for e in range(first, end):
            if adjncy[e] == v:
                return np.int64(v), disorder
        if disorder < 0:
            for e in range(first + 1, end):
                if adjncy[e] <= adjncy[e - 1]:
                    disorder = np.int64(v)
    return np.int64(-1), disorder


@kernel
def count_induced(xadj, adjncy, vertices, new, sub_xadj):
    """Row offsets of the subgraph induced by `vertices`; returns its number of entries.

    xadj : (nvtxs + 1,) int64, in
    adjncy : (2 nedges,) int32, in
    vertices : (nsub,) int32, in
    new : (nvtxs,) int32, in        number of each vertex in the subgraph, -1 outside
    sub_xadj : (nsub + 1,) int64, out
    """
    total = 0
    sub_xadj[0] = 0
    for i in range(len(vertices)):
        v = vertices[i]
        for e in range(xadj[v], xadj[v + 1]):
            if new[adjncy[e]] >= 0:
                total += 1
        sub_xadj[i + 1] = total
    return total


@kernel
def fill_induced(xadj, adjncy, ewgt, vertices, new, sub_adjncy, sub_ewgt):
    """Neighbours and edge weights of the induced subgraph; returns its number of entries.

    xadj : (nvtxs + 1,) int64, in
    adjncy : (2 nedges,) int32, in
    ewgt : (2 nedges,) int64, in        or empty where every edge weighs 1
    vertices : (nsub,) int32, in        ascending, which keeps rows sorted
    new : (nvtxs,) int32, in            number of each vertex in the subgraph, -1 outside
    sub_adjncy : (nentries,) int32, out
    sub_ewgt : (nentries,) int64, out   empty where `ewgt` is
    """
    unit = len(ewgt) == 0
    k = 0
    for i in range(len(vertices)):
        v = vertices[i]
        for e in range(xadj[v], xadj[v + 1]):
            u = new[adjncy[e]]
            if u >= 0:
                sub_adjncy[k] = u
                if not unit:
                    sub_ewgt[k] = ewgt[e]
                k += 1
    return k


@kernel
def edge_cut(xadj, adjncy, ewgt, part):
    """Weight of the edges between different parts, each counted once.

    xadj : (nvtxs + 1,) int64, in
    adjncy : (2 nedges,) int32, in
    ewgt : (2 nedges,) int64, in    or empty where every edge weighs 1
    part : (nvtxs,) int32, in
    """
    n = len(xadj) - 1
    unit = len(ewgt) == 0
    cut = np.int64(0)
    for v in range(n):
        p = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            if part[adjncy[e]] != p:
                if unit:
                    cut += 1
                else:
                    cut += ewgt[e]
    return cut // 2


@inlined
def inserted(values, first, upto, x):
    """Put x into the ascending numbers from place first to upto, if it is not there; returns where they end then.

    values : (...) int32, in and out
    first, upto, x : int
    """
    i = upto
    while i > first and values[i - 1] > x:
        i -= 1
    if i > first and values[i - 1] == x:
        return upto
    for j in range(upto, i, -1):
        values[j] = values[j - 1]
    values[i] = x
    return upto + 1


@kernel
def list_halo(xadj, adjncy, part, cell, there):
    """Vertices with neighbours in other parts, once for each of these; returns how many entries there are.

    xadj : (nvtxs + 1,) int64, in
    adjncy : (2 nedges,) int32, in
    part : (nvtxs,) int32, in
    cell : (2 nedges,) int32, out   vertex of each entry, ascending; filled from the front
    there : (2 nedges,) int32, out  the other part, ascending for each vertex
    """
    count = 0
    for v in range(len(xadj) - 1):
        p = part[v]
        first = count
        for e in range(xadj[v], xadj[v + 1]):
            q = part[adjncy[e]]
            if q == p:
                continue
            upto = inserted(there, first, count, q)
            if upto > count:
                cell[count] = v
                count = upto
    return count


@kernel
def part_pieces(xadj, adjncy, part, piece, root):
    """Connected pieces of the parts; returns how many.

    Trees of vertices are joined edge by edge, each under its smallest vertex, so that memory is read in order
    (Galler & Fischer 1964; ways are halved as in Tarjan & van Leeuwen 1984).

    xadj : (nvtxs + 1,) int64, in
    adjncy : (2 nedges,) int32, in
    part : (nvtxs,) int32, in
    piece : (nvtxs,) int32, out     of each vertex, numbered by their smallest vertex
    root : (nvtxs,) int32, scratch
    """
    n = len(xadj) - 1
    for v in range(n):
        root[v] = v
        mine = v
        p = part[v]
        for e in range(xadj[v], xadj[v + 1]):
            u = int(adjncy[e])
            if u >= v or part[u] != p:
                continue
            while root[u] != u:
                root[u] = root[root[u]]
                u = int(root[u])
            if u < mine:
                root[mine] = u
                mine = u
            elif u > mine:
                root[u] = mine
    count = 0
    for v in range(n):
        if root[v] == v:
            piece[v] = count
            count += 1
        else:
            piece[v] = piece[root[v]]
    return count


@kernel
def spread_labels(xadj, adjncy, sources, hops, label, dist, queue):
    """Label every vertex within `hops` edges of a source with its nearest source; returns how many were labelled.

    Breadth first, so ties go to the source that is listed first.

    xadj : (nvtxs + 1,) int64, in
    adjncy : (2 nedges,) int32, in
    sources : (nsources,) int32, in
    hops : int
    label : (nvtxs,) int32, out     place in `sources` of the nearest, -1 for none
    dist : (nvtxs,) int32, out      edges to it, where there is a label
    queue : (nvtxs,) int32, scratch
    """
    for v in range(len(label)):
        label[v] = -1
    tail = 0
    for i in range(len(sources)):
        v = sources[i]
        label[v] = i
        dist[v] = 0
        queue[tail] = v
        tail += 1
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        if dist[v] == hops:
            continue
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            if label[u] < 0:
                label[u] = label[v]
                dist[u] = dist[v] + 1
                queue[tail] = u
                tail += 1
    return tail
