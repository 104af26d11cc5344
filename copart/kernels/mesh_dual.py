"""Kernels that find which cells share a facet, and where cells are.

A facet is known by its sorted corner nodes, its *key*.  Facets of equal key are
chained through an open-addressing hash table, so the work is linear in the
number of facets whatever the numbering of the nodes.
"""

from . import kernel

NEAR = 32
"""Slots near those of neighbouring nodes that a facet tries first, a power of two."""


@kernel
def facet_keys(cells, table, first_cell, least, at, keys, owner, local):
    """Append the facets of one block from row `at` on; returns the row after the last.

    A facet with fewer than `least` distinct nodes has collapsed and is left out.

    cells : (ncells, k) int64, in   nodes of each cell of the block
    table : (nfacets, 4) int64, in  corners of each facet of such a cell, padded with -1
    first_cell : int                number of the first cell
    least, at : int
    keys : (rows, 4) int32, out     distinct nodes of each facet, sorted, padded with -1
    owner : (rows,) int32, out      cell
    local : (rows,) int32, out      number of the facet in its cell
    """
    for c in range(cells.shape[0]):
        for f in range(table.shape[0]):
            size = 0
            for j in range(4):
                corner = table[f, j]
                if corner < 0:
                    break
                node = cells[c, corner]
                # insertion into the sorted, distinct row
                i = size
                while i > 0 and keys[at, i - 1] > node:
                    i -= 1
                if i > 0 and keys[at, i - 1] == node:
                    continue
                for m in range(size, i, -1):
                    keys[at, m] = keys[at, m - 1]
                keys[at, i] = node
                size += 1
            if size < least:
                continue
            for m in range(size, 4):
                keys[at, m] = -1
            owner[at] = first_cell + c
            local[at] = f
            at += 1
    return at


@kernel
def link_facets(keys, nfacets, spacing, owner, table, link, alone):
    """Chain the facets of equal key; returns how many distinct keys there are.

    A facet is looked for near the slot of its smallest node first: cells next to each other mostly have nodes next to
    each other, so that most of it is in the cache.  Where these slots are taken, as around the node of a large fan, it
    may be anywhere.

    keys : (nfacets, 4) int32, in
    nfacets : int
    spacing : int                       slots per node
    owner : (nfacets,) int32, in        cell
    table : (nslots,) int32, scratch    -1 everywhere before; nslots a power of two > nfacets
    link : (nfacets,) int32, out        the previous facet with the same key, or -1
    alone : (nfacets,) bool, out        whether no other cell has this facet
    """
    mask = len(table) - 1
    distinct = 0
    for f in range(nfacets):
        link[f] = -1
        alone[f] = True
        # int64 products below 2^62: plain Python and compiled code agree
        h = int(keys[f, 0]) + 1
        for j in range(1, 4):
            h = ((h * 1540483477) ^ (int(keys[f, j]) + 1)) & 2147483647
        h = (h * 1540483477) >> 15
        base = int(keys[f, 0]) * spacing
        tried = 0
        slot = (base + (h & (NEAR - 1))) & mask
        while True:
            g = table[slot]
            if g < 0:
                distinct += 1
                table[slot] = f
                break
            if (keys[g, 0] == keys[f, 0] and keys[g, 1] == keys[f, 1] and keys[g, 2] == keys[f, 2]
                    and keys[g, 3] == keys[f, 3]):
                link[f] = g
                table[slot] = f
                if not alone[g]:
                    alone[f] = False  # two cells have it already, whichever this one is
                elif owner[g] != owner[f]:
                    # all so far were of one cell; walked once only, so the work stays linear
                    alone[f] = False
                    e = g
                    while e >= 0:
                        alone[e] = False
                        e = link[e]
                break
            tried += 1
            if tried < NEAR:
                slot = (base + ((h + tried) & (NEAR - 1))) & mask
            elif tried == NEAR:
                slot = (h >> 4) & mask
            else:
                slot = (slot + 1) & mask
    return distinct


@kernel
def count_neighbours(link, owner, most, xadj):
    """Count the entries of each row, repetitions included.

    Returns their sum, or -1 as soon as it would be above `most` (then xadj is unusable).

    link : (nfacets,) int32, in         an earlier facet with the same key, or -1
    owner : (nfacets,) int32, in        cell
    most : int
    xadj : (ncells + 1,) int64, out     offsets
    """
    total = 0
    n = len(xadj) - 1
    for c in range(n + 1):
        xadj[c] = 0
    for f in range(len(link)):
        g = link[f]
        while g >= 0:
            if owner[f] != owner[g]:
                xadj[owner[f] + 1] += 1
                xadj[owner[g] + 1] += 1
                total += 2
                if total > most:
                    return -1
            g = link[g]
    for c in range(n):
        xadj[c + 1] += xadj[c]
    return xadj[n]


@kernel
def fill_neighbours(link, owner, xadj, cursor, adjncy):
    """Fill the rows in facet order.

    link : (nfacets,) int32, in     an earlier facet with the same key, or -1
    owner : (nfacets,) int32, in    cell
    xadj : (ncells + 1,) int64, in
    cursor : (ncells,) int64, scratch
    adjncy : (nentries,) int32, out
    """
    for c in range(len(cursor)):
        cursor[c] = xadj[c]
    for f in range(len(link)):
        g = link[f]
        while g >= 0:
            a = owner[f]
            b = owner[g]
            if a != b:
                adjncy[cursor[a]] = b
                cursor[a] += 1
                adjncy[cursor[b]] = a
                cursor[b] += 1
            g = link[g]


@kernel
def sort_rows(xadj, adjncy):
    """Sort each row and drop repetitions; returns the new number of entries.

    xadj : (ncells + 1,) int64, in and out
    adjncy : (nentries,) int32, in and out
    """
    n = len(xadj) - 1
    out = 0
    start = xadj[0]
    for c in range(n):
        stop = xadj[c + 1]
        for i in range(start + 1, stop):
            x = adjncy[i]
            j = i
            while j > start and adjncy[j - 1] > x:
                adjncy[j] = adjncy[j - 1]
                j -= 1
            adjncy[j] = x
        first = out
        for i in range(start, stop):
            if out == first or adjncy[out - 1] != adjncy[i]:
                adjncy[out] = adjncy[i]
                out += 1
        start = stop
        xadj[c + 1] = out
    return out


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
