"""Levelling of a mapping: border vertices go to lighter processors where that costs nothing."""

import numpy as np

from . import inner, kernel
from .mapping import cost_at, touch


@inner
def seek_lighter(g, code, part, pwgt, limit, v, conn, touched):
    """The processor that vertex v may go to so that the cost does not rise and loads become more even; -1 for none.

    Loads are compared as shares of the limits.  Least cost first, then the lighter processor, then the smaller number.

    g : Level, in
    code : DistanceCode, in
    part : (nvtxs,) int32, in
    pwgt, limit : (nprocs,) int64, in
    v : int
    conn : (nprocs,) int64, scratch     -1 everywhere before and after
    touched : (nprocs + 1,) int32, scratch
    """
    count = touch(g, part, v, conn, touched)
    own = part[v]
    w = g.vwgt[v]
    least = cost_at(code, own, conn, touched, count, np.inf)
    best = -1
    before = float(pwgt[own]) / max(float(limit[own]), 1.0)
    lightest = before
    for i in range(count):
        q = touched[i]
        if q == own or pwgt[q] + w > limit[q]:
            continue
        after = float(pwgt[q] + w) / max(float(limit[q]), 1.0)
        if after >= before:
            continue
        cost = cost_at(code, q, conn, touched, count, least)
        if cost < least or (cost == least and (after < lightest or (after == lightest and best >= 0 and q < best))):
            best, least, lightest = q, cost, after
    for j in range(count):
        conn[touched[j]] = -1
    return best


@kernel
def level_loads(g, code, part, pwgt, limit, most, conn, touched):
    """Move border vertices to lighter processors while that costs nothing; returns how many moves were made.

    Each move lowers the cost, or leaves it and makes two loads more even, so that this ends.

    g : Level, in
    code : DistanceCode, in
    part : (nvtxs,) int32, in and out
    pwgt : (nprocs,) int64, in and out
    limit : (nprocs,) int64, in
    most : int                          rounds over all vertices, at most
    conn : (nprocs,) int64, scratch     -1 everywhere before and after
    touched : (nprocs + 1,) int32, scratch
    """
    total = np.int64(0)
    for _ in range(most):
        moves = np.int64(0)
        for v in range(len(part)):
            own = part[v]
            if g.vwgt[v] == 0 or (len(g.fixed) > 0 and g.fixed[v] >= 0):
                continue
            border = False
            for e in range(g.xadj[v], g.xadj[v + 1]):
                if part[g.adjncy[e]] != own:
                    border = True
                    break
            if not border:
                continue
            to = seek_lighter(g, code, part, pwgt, limit, v, conn, touched)
            if to >= 0:
                part[v] = to
                pwgt[own] -= g.vwgt[v]
                pwgt[to] += g.vwgt[v]
                moves += 1
        total += moves
        if moves == 0:
            break
    return total
