"""Kernels that find which cells share a facet, and where cells are.

A facet is known by its sorted corner nodes, its *key*.  Facets are listed by the smallest of these, and those of one
list are told apart by a hash table for that list alone: mostly a few dozen entries, which stay in the cache.  So the
work is linear in the number of facets whatever the numbering of the nodes, and lists can be looked at by many threads.
"""

from typing import Any, NamedTuple

from . import inlined, kernel
from .csr import inserted

NONE = 1 << 62
"""Instead of a corner that a facet does not have."""
BITS = 2147483647
"""Of a node that count in its hash."""
ALONE, SEVERAL, NO_FACET = -1, -2, -3
"""Instead of the cell across a facet: there is no other one; there are several facets; the facet has collapsed."""


class Corners(NamedTuple):
    """The corners of all cells, and which of them make a facet.

    nodes (...) int64, at (ncells,) int64 where those of each cell begin, facet (ncells + 1,) int64 number of the first
    facet of each cell, row (ncells,) int32 where the facets of its shape begin in table (..., 4) int64, corners of each
    facet, padded with -1.
    """

    nodes: Any
    at: Any
    facet: Any
    row: Any
    table: Any


@inlined
def facet_key(g, c, f):
    """Distinct corners of a facet, ascending, then `NONE`.

    g : Corners, in
    c, f : int      cell, and number of the facet in it
    """
    first = g.at[c]
    row = g.row[c] + f
    a = g.nodes[first + g.table[row, 0]]
    b = g.nodes[first + g.table[row, 1]] if g.table[row, 1] >= 0 else NONE
    d = g.nodes[first + g.table[row, 2]] if g.table[row, 2] >= 0 else NONE
    e = g.nodes[first + g.table[row, 3]] if g.table[row, 3] >= 0 else NONE
    low, high = min(a, b), max(a, b)
    lower, higher = min(d, e), max(d, e)
    a, e = min(low, lower), max(high, higher)
    low, high = max(low, lower), min(high, higher)
    b, d = min(low, high), max(low, high)
    if d == e:
        e = NONE
    if b == d:
        d, e = e, NONE
    if a == b:
        b, d, e = d, e, NONE
    return a, b, d, e


@kernel
def list_facets(lo, hi, g, least, place, cell, local):
    """Count the facets of cells lo to hi by their smallest node, or list them.

    lo, hi : int
    g : Corners, in
    least : int                             a facet with fewer distinct nodes has collapsed and is left out
    place : (npoints,) int32, in and out    how many there are; where listed, the place of the next one
    cell, local : (nfacets,) int32, out     cell, and number in that, of each facet; or empty: only counted
    """
    listed = len(cell) > 0
    for c in range(lo, hi):
        for f in range(g.facet[c + 1] - g.facet[c]):
            a, b, d, _ = facet_key(g, c, f)
            if least == 1 or (least == 2 and b < NONE) or d < NONE:
                if listed:
                    cell[place[a]] = c
                    local[place[a]] = f
                place[a] += 1


@kernel
def match_facets(lo, hi, g, start, cell, local, across, pairs, key, ring, table):
    """Find the facets of equal key among those whose smallest node is in lo to hi.

    lo, hi : int
    g : Corners, in
    start : (npoints + 1,) int32, in    where the facets of each node begin in `cell` and `local`
    cell, local : in, by `list_facets`
    across : (nfacets,) int32, out      the only other cell with a facet, by number of the facet; or `ALONE`, `SEVERAL`
    pairs : (2, npairs) int32, out      each cell with such several, and every other one there; or empty
    key : (most, 3) int64, scratch      most, facets of a node
    ring : (3, most) int32, scratch     next facet of equal key, the first one of them, and there how many they are
    table : (slots,) int32, scratch     slots a power of two, at least twice most

    Returns
    -------
    int
        How many pairs there are, or where these are not asked for, at most.
    """
    count = 0
    for node in range(lo, hi):
        begin = start[node]
        size = start[node + 1] - begin
        if size == 0:
            continue
        slots = 2
        while slots < 2 * size:
            slots *= 2
        for i in range(slots):
            table[i] = -1
        usual = True
        for i in range(size):
            c = cell[begin + i]
            f = g.facet[c] + local[begin + i]
            _, b, d, e = facet_key(g, c, local[begin + i])
            # int64 sums below 2^63: plain Python and compiled code agree
            h = (b & BITS) * 1540483477 + (d & BITS) * 1181783497 + (e & BITS) * 1431655781
            slot = (h >> 24) & (slots - 1)
            j = table[slot]
            while j >= 0 and not (key[j, 0] == b and key[j, 1] == d and key[j, 2] == e):
                slot = (slot + 1) & (slots - 1)
                j = table[slot]
            if j < 0:
                table[slot] = i
                key[i, 0] = b
                key[i, 1] = d
                key[i, 2] = e
                ring[0, i] = i
                ring[1, i] = i
                ring[2, i] = 1
                across[f] = ALONE
                continue
            other = cell[begin + j]
            ring[0, i] = ring[0, j]
            ring[0, j] = i
            ring[1, i] = j
            if ring[2, j] == 1 and other != c:
                across[f] = other
                across[g.facet[other] + local[begin + j]] = c
                ring[2, j] = -2
            else:
                usual = False
                # below zero where they are of different cells
                ring[2, j] = ring[2, j] + 1 if ring[2, j] > 0 and other == c else -abs(ring[2, j]) - 1
        if usual:
            continue
        for i in range(size):
            c = cell[begin + i]
            f = g.facet[c] + local[begin + i]
            many = ring[2, ring[1, i]]
            if many > 0:
                across[f] = ALONE
            elif many < -2:
                across[f] = SEVERAL
                if pairs.shape[1] == 0:
                    count -= many + 1
                    continue
                j = ring[0, i]
                while j != i:
                    if cell[begin + j] != c:
                        pairs[0, count] = c
                        pairs[1, count] = cell[begin + j]
                        count += 1
                    j = ring[0, j]
    return count


@kernel
def sort_across(lo, hi, facet, across, degree):
    """Put the neighbours of cells lo to hi in order, each once, where those across the facets of each cell were.

    lo, hi : int
    facet : (ncells + 1,) int64, in         number of the first facet of each cell
    across : (nfacets,) int32, in and out
    degree : (ncells,) int64, out           neighbours
    """
    for c in range(lo, hi):
        first = facet[c]
        upto = first
        for f in range(first, facet[c + 1]):
            if across[f] >= 0:
                upto = inserted(across, first, upto, across[f])
        degree[c] = upto - first


@kernel
def fill_rows(lo, hi, facet, across, xadj, adjncy):
    """Write the rows of cells lo to hi.

    lo, hi : int
    facet, across : in, by `sort_across`
    xadj : (ncells + 1,) int64, in
    adjncy : (nentries,) int32, out
    """
    for c in range(lo, hi):
        first = facet[c]
        at = xadj[c]
        for i in range(xadj[c + 1] - at):
            adjncy[at + i] = across[first + i]


@kernel
def cell_centres(points, cells, ncorners, out):
    """Mean of the corner points of each cell of one block.

    points : (npoints, 3) float64, in
    cells : (ncells, k) int64, in   nodes of each cell, the corners first
    ncorners : int
    out : (ncells, 3) float64, out
    """
    for c in range(len(cells)):
        x = points[cells[c, 0], 0]
        y = points[cells[c, 0], 1]
        z = points[cells[c, 0], 2]
        for j in range(1, ncorners):
            x += points[cells[c, j], 0]
            y += points[cells[c, j], 1]
            z += points[cells[c, j], 2]
        out[c, 0] = x / ncorners
        out[c, 1] = y / ncorners
        out[c, 2] = z / ncorners


@kernel
def mark_corners(cells, ncorners, used):
    """Mark the corner points of each cell of one block.

    cells : (ncells, k) int64, in   nodes of each cell, the corners first
    ncorners : int
    used : (npoints,) bool, out     marked where true, others stay
    """
    for c in range(len(cells)):
        for j in range(ncorners):
            used[cells[c, j]] = True


@kernel
def list_corners(first, faces, start, nodes, seen, begin, corners):
    """The nodes of each polyhedron, each once, or how many there are.

    first : (ncells + 1,) int64, in         where the faces of each cell begin
    faces : (nsides,) int64, in
    start : (nfaces + 1,) int64, in         where the nodes of each face begin
    nodes : (...) int64, in
    seen : (nnodes,) int64, scratch         -1 everywhere before
    begin : (ncells + 1,) int64, in or out  where those of each cell begin; where not listed, how many, one place on
    corners : (ncorners,) int64, out        or empty: only counted
    """
    listed = len(corners) > 0
    for c in range(len(first) - 1):
        count = 0
        for i in range(first[c], first[c + 1]):
            for j in range(start[faces[i]], start[faces[i] + 1]):
                v = nodes[j]
                if seen[v] == c:
                    continue
                seen[v] = c
                if listed:
                    corners[begin[c] + count] = v
                count += 1
        if not listed:
            begin[c + 1] = count
