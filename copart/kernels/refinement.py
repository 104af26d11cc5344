"""Unconstrained local search in synchronous rounds (Jet) and its moves.

Jet: Gilbert, Madduri, Boman & Rajamanickam 2023.  In a round every boundary
vertex names its best other part (`propose`), checks the move against the moves
that rank before it (`afterburn`), and the surviving moves are applied together
(`apply_moves`).  Parts may overflow in between; rebalancing follows.
"""

import numpy as np

from . import kernel
from .rng import mix


@kernel
def gather(g, pull, part, v, conn, touched):
    """Connectivity of v to every part it touches: conn[p] for p in touched[:count]; returns count.

    conn (nparts,) int64 is -1 everywhere on entry; `scatter` restores it.
    """
    count = 0
    unit = len(g.ewgt) == 0
    for e in range(g.xadj[v], g.xadj[v + 1]):
        p = part[g.adjncy[e]]
        if conn[p] < 0:
            conn[p] = 0
            touched[count] = p
            count += 1
        if unit:
            conn[p] += 1
        else:
            conn[p] += g.ewgt[e]
    if len(g.origin) > 0:
        row = g.origin[v]
        for j in range(pull.ptr[row], pull.ptr[row + 1]):
            p = pull.idx[j]
            if conn[p] < 0:
                conn[p] = 0
                touched[count] = p
                count += 1
            conn[p] += pull.val[j] * g.size[v]
    return count


@kernel
def scatter(conn, touched, count):
    """Undo `gather`."""
    for i in range(count):
        conn[touched[i]] = -1


@kernel
def pull_of(g, pull, v, p):
    """What vertex v gains from the affinity table in part p."""
    if len(g.origin) == 0:
        return np.int64(0)
    row = g.origin[v]
    for j in range(pull.ptr[row], pull.ptr[row + 1]):
        if pull.idx[j] == p:
            return pull.val[j] * g.size[v]
    return np.int64(0)


@kernel
def find_boundary(lo, hi, g, part, boundary):
    """boundary[v] = 1 for vertices lo..hi that have a neighbour in another part or an affinity, and are free."""
    for v in range(lo, hi):
        boundary[v] = 0
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


@kernel
def propose(lo, hi, active, g, pull, part, pwgt, limit, moved_in, now, warmth, dest, gain, live, conn, touched):
    """Every active vertex names its best other part.

    dest[v] is that part where the loss stays below warmth times the own connectivity, else -1;
    gain[v] the decrease of the cut.  Vertices moved in round now - 1 rest.  Parts that would pass
    `limit` are not named.  live[i] = 0 where active[i] is not on the boundary.
    Ties: the lighter part, then the smaller number.
    """
    for p in range(len(conn)):
        conn[p] = -1
    for i in range(lo, hi):
        v = active[i]
        dest[v] = -1
        own = part[v]
        count = gather(g, pull, part, v, conn, touched)
        mine = max(conn[own], 0)
        best = -1
        most = np.int64(-1)
        others = 0
        for j in range(count):
            p = touched[j]
            c = conn[p]
            conn[p] = -1
            if p == own:
                continue
            others += 1
            if c < most or pwgt[p] + g.vwgt[v] > limit[p]:
                continue
            if c > most or pwgt[p] < pwgt[best] or (pwgt[p] == pwgt[best] and p < best):
                best, most = p, c
        live[i] = 1 if others > 0 else 0
        if best < 0 or moved_in[v] == now - 1:
            continue
        if most >= mine or float(mine - most) < warmth * float(mine):
            dest[v] = best
            gain[v] = most - mine


@kernel
def afterburn(lo, hi, active, g, pull, part, dest, gain, go):
    """Keep the moves that do not raise the cut when all better-ranked moves happen first.

    Rank: larger gain, then smaller vertex.  Writes go[i] for active[lo:hi].
    """
    unit = len(g.ewgt) == 0
    for i in range(lo, hi):
        v = active[i]
        to = dest[v]
        if to < 0:
            go[i] = 0
            continue
        own = part[v]
        mine = gain[v]
        total = np.int64(0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            p = part[u]
            d = dest[u]
            if d >= 0 and (gain[u] > mine or (gain[u] == mine and u < v)):
                p = d
            if p == to or p == own:
                if unit:
                    w = np.int64(1)
                else:
                    w = g.ewgt[e]
                if p == to:
                    total += w
                else:
                    total -= w
        if len(g.origin) > 0:
            total += pull_of(g, pull, v, to) - pull_of(g, pull, v, own)
        go[i] = 1 if total >= 0 else 0


@kernel
def move(g, pull, part, pwgt, population, v, to):
    """Move v to part `to`; returns the exact decrease of the cut (affinities included)."""
    own = part[v]
    unit = len(g.ewgt) == 0
    total = pull_of(g, pull, v, to) - pull_of(g, pull, v, own)
    for e in range(g.xadj[v], g.xadj[v + 1]):
        p = part[g.adjncy[e]]
        if p == to or p == own:
            if unit:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            if p == to:
                total += w
            else:
                total -= w
    part[v] = to
    pwgt[own] -= g.vwgt[v]
    pwgt[to] += g.vwgt[v]
    population[own] -= 1
    population[to] += 1
    return total


@kernel
def activate(g, v, listed, active, count):
    """Append v and its free neighbours to the active list where not listed; returns the new length."""
    if listed[v] == 0:
        listed[v] = 1
        active[count] = v
        count += 1
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        if listed[u] == 0:
            listed[u] = 1
            active[count] = u
            count += 1
    return count


@kernel
def apply_moves(active, count, go, g, pull, part, pwgt, population, dest, moved_in, now, listed, log, logged, result):
    """Apply the surviving moves in list order; never empty a part.

    Appends (vertex, former part) to log (2, capacity) int32 from column `logged` on; it has room for `count` more.
    result (3,) int64: decrease of the cut, new length of the active list, new length of the log.
    """
    total = np.int64(0)
    grown = count
    for i in range(count):
        if go[i] == 0:
            continue
        v = active[i]
        if population[part[v]] <= 1:
            continue
        log[0, logged] = v
        log[1, logged] = part[v]
        logged += 1
        total += move(g, pull, part, pwgt, population, v, dest[v])
        moved_in[v] = now
        grown = activate(g, v, listed, active, grown)
    for i in range(count):
        dest[active[i]] = -1
    result[0] = total
    result[1] = grown
    result[2] = logged


@kernel
def compact(active, count, live, listed):
    """Drop list entries that are not live; returns the new length."""
    kept = 0
    for i in range(count):
        v = active[i]
        if live[i] == 1:
            active[kept] = v
            kept += 1
        else:
            listed[v] = 0
    return kept


@kernel
def undo_moves(g, part, pwgt, population, log, logged):
    """Take back the logged moves, newest first."""
    for i in range(logged - 1, -1, -1):
        v = log[0, i]
        to = log[1, i]
        own = part[v]
        part[v] = to
        pwgt[own] -= g.vwgt[v]
        pwgt[to] += g.vwgt[v]
        population[own] -= 1
        population[to] += 1


@kernel
def propose_evictions(lo, hi, active, g, pull, part, pwgt, limit, salt, dest, key, conn, touched):
    """Vertices of overloaded parts name the part with room that costs least.

    key[i] orders them: loss a unit of weight, cheapest first, ties by hash; dest[v] = -1 and an
    infinite key where v is not in an overloaded part or no neighbouring part has room.
    """
    for p in range(len(conn)):
        conn[p] = -1
    for i in range(lo, hi):
        v = active[i]
        own = part[v]
        key[i] = np.inf
        if pwgt[own] <= limit[own] or g.vwgt[v] == 0 or (len(g.fixed) > 0 and g.fixed[v] >= 0):
            continue
        count = gather(g, pull, part, v, conn, touched)
        mine = max(conn[own], 0)
        most = np.int64(-1)
        for j in range(count):
            p = touched[j]
            if p != own and conn[p] > most and pwgt[p] + g.vwgt[v] <= limit[p]:
                most = conn[p]
        scatter(conn, touched, count)
        if most < 0:
            continue
        loss = float(mine - most)
        w = float(g.vwgt[v])
        if loss > 0:
            key[i] = loss / w
        else:
            key[i] = loss * w
        key[i] += float(mix(v, salt)) * 1e-16


@kernel
def evict(order, active, count, g, pull, part, pwgt, population, limit, moved_in, now, listed, log, logged, conn,
          touched, result):
    """Move vertices out of overloaded parts in the given order, to the best neighbouring part with room.

    Everything is checked again against the current state.  result as in `apply_moves`.
    """
    for p in range(len(conn)):
        conn[p] = -1
    total = np.int64(0)
    grown = count
    for i in range(len(order)):
        v = active[order[i]]
        own = part[v]
        if pwgt[own] <= limit[own] or population[own] <= 1:
            continue
        n = gather(g, pull, part, v, conn, touched)
        best = -1
        most = np.int64(-1)
        for j in range(n):
            p = touched[j]
            if p == own or pwgt[p] + g.vwgt[v] > limit[p]:
                continue
            if conn[p] > most or (conn[p] == most and (pwgt[p] < pwgt[best] or (pwgt[p] == pwgt[best] and p < best))):
                best, most = p, conn[p]
        scatter(conn, touched, n)
        if best < 0:
            continue
        log[0, logged] = v
        log[1, logged] = own
        logged += 1
        total += move(g, pull, part, pwgt, population, v, best)
        moved_in[v] = now
        grown = activate(g, v, listed, active, grown)
    result[0] = total
    result[1] = grown
    result[2] = logged
