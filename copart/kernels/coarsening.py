"""Clusters of a level: matching, absorption of leftovers, two-hop pairs.

A cluster never holds two different fixed parts or two origins.
"""

import numpy as np

from . import inlined, kernel

HEAVIEST = 1.5
"""No coarse vertex may be heavier than this times the average of the coarsest graph, or balance is out of reach there.
"""


@inlined
def may_merge(g, u, v):
    """Whether two vertices may share a cluster: same origin, and both free or both fixed to one part.

    g : Level, in
    u, v : int
    """
    if len(g.fixed) > 0 and g.fixed[u] != g.fixed[v]:
        return False
    return not (len(g.origin) > 0 and g.origin[u] != g.origin[v])


@inlined
def _partner(lo, hi, upto, g, v, max_vwgt, match):
    """The unmatched neighbour that v rates highest, -1 for none; arguments as for `match_in_order`.

    lo, hi, upto : int
    g : Level, in
    v, max_vwgt : int
    match : (nvtxs,) int32, in
    """
    unit = len(g.ewgt) == 0
    best = -1
    tie = 0.0
    weight = 1.0
    wv = g.vwgt[v]
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        if u < lo or u >= upto or (u < hi and match[u] >= 0):
            continue
        wu = g.vwgt[u]
        if wv + wu > max_vwgt or not may_merge(g, u, v):
            continue
        if unit:
            w = 1.0
        else:
            w = float(g.ewgt[e])
        # rates compared without quotients; that of v itself is in all of them
        w *= w
        other = float(max(wu, 1))
        here, there = tie * other, w * weight
        if best < 0 or there > here or (there == here and u < best):
            best, tie, weight = u, w, other
    return best


@kernel
def match_in_order(lo, hi, upto, g, max_vwgt, match):
    """Greedy heavy-edge matching of the vertices lo..hi, visited in order, up to a pair that lies across hi.

    Every unmatched vertex takes the unmatched neighbour it rates highest: w(e)^2 / (w(u) w(v))
    (expansion*2 of Holtgrewe, Sanders & Schulz 2010).  Ties go to the smaller number, which keeps the
    grain of a mesh that is numbered along its shape: on a regular grid clusters stay boxes and
    cuts stay smooth on every level (cut of a 100^3 grid in 32 parts: 73,000 against 83,000 with
    random ties).

    Returns the first vertex whose partner would lie behind hi, which is left out as all after it, or hi.

    lo, hi : int
    upto : int                          partners are in lo..upto; from hi on all are taken for unmatched
    g : Level, in
    max_vwgt : int                      most that a pair may weigh
    match : (nvtxs,) int32, in and out  partner of each vertex, -1 for none; -1 everywhere before
    """
    for v in range(lo, hi):
        if match[v] >= 0:
            continue
        best = _partner(lo, hi, upto, g, v, max_vwgt, match)
        if best >= hi:
            return np.int64(v)
        if best >= 0:
            match[v] = best
            match[best] = v
    return np.int64(hi)


@kernel
def lead_pairs(lo, hi, g, match, cluster, cwgt):
    """A matching as clusters, each led by the smaller vertex of its pair.

    lo, hi : int
    g : Level, in
    match : (nvtxs,) int32, in      partner of each vertex, -1 for none
    cluster : (nvtxs,) int32, out   leader of the cluster of each vertex
    cwgt : (nvtxs,) int64, out      weight of each cluster by leader, 0 elsewhere
    """
    for v in range(lo, hi):
        # without branches, which could not be predicted
        u = match[v]
        alone = u < 0
        other = v if alone else u
        leads = other >= v
        cluster[v] = v if leads else other
        both = g.vwgt[v] + (0 if alone else g.vwgt[other])
        cwgt[v] = both if leads else 0


@kernel
def list_singles(lo, hi, match, singles):
    """List the vertices lo..hi that are alone, ascending, from `singles[lo]` on; returns how many.

    lo, hi : int
    match : (n,) int32, in          -1 where a vertex is alone
    singles : (n,) int32, out       or longer
    """
    count = np.int64(0)
    for v in range(lo, hi):
        # without a branch, which could not be predicted
        singles[lo + count] = v
        count += match[v] < 0
    return count


@kernel
def absorb_singles(lo, hi, singles, g, match, max_vwgt, cluster, cwgt):
    """Let every vertex that is alone join the cluster of a neighbour in lo..hi that it is tied to most.

    One after the other; those that cannot are left in front in `singles`.  Returns how many they are.

    lo, hi : int                            leaders of the vertices there are there
    singles : (nsingles,) int32, in and out     those that are alone, ascending
    g : Level, in
    match : (nvtxs,) int32, in and out      -1 where a vertex is alone
    max_vwgt : int                          most that a cluster may weigh
    cluster : (nvtxs,) int32, in and out    leader of the cluster of each vertex
    cwgt : (nvtxs,) int64, in and out       weight of each cluster by leader
    """
    unit = len(g.ewgt) == 0
    left = np.int64(0)
    for i in range(len(singles)):
        v = singles[i]
        best = -1
        best_rate = -1.0
        # a vertex that others have joined keeps its cluster
        if cluster[v] == v and cwgt[v] == g.vwgt[v]:
            for e in range(g.xadj[v], g.xadj[v + 1]):
                u = g.adjncy[e]
                if u < lo or u >= hi:
                    continue
                c = cluster[u]
                if c == v or cwgt[c] + cwgt[v] > max_vwgt or not may_merge(g, u, v):
                    continue
                if unit:
                    w = 1.0
                else:
                    w = float(g.ewgt[e])
                rate = w * w / float(max(cwgt[c], 1))
                if rate > best_rate:
                    best, best_rate = c, rate
        if best < 0:
            singles[left] = v
            left += 1
            continue
        cluster[v] = best
        cwgt[best] += g.vwgt[v]
        match[v] = best
    return left


@kernel
def pair_two_hop(g, match, max_vwgt, cluster, cwgt, waiting):
    """Pair single vertices that hang on the same neighbour (leaves of a star), and isolated ones.

    Returns how many joined.

    g : Level, in
    match : (nvtxs,) int32, in and out      -1 where a vertex is alone
    max_vwgt : int                          most that a cluster may weigh
    cluster : (nvtxs,) int32, in and out    leader of the cluster of each vertex
    cwgt : (nvtxs,) int64, in and out       weight of each cluster by leader
    waiting : (nvtxs + 1,) int32, scratch   by neighbour, the last for vertices without; -1 before and after
    """
    n = len(match)
    joined = 0
    for v in range(n):
        if match[v] >= 0 or cluster[v] != v or cwgt[v] != g.vwgt[v]:
            continue
        hub = n
        best = np.int64(-1)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if len(g.ewgt) == 0:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            if w > best:
                hub, best = g.adjncy[e], w
        other = waiting[hub]
        if other >= 0 and cwgt[other] + g.vwgt[v] <= max_vwgt and may_merge(g, other, v):
            cluster[v] = other
            cwgt[other] += g.vwgt[v]
            match[v] = other
            joined += 1
            if cwgt[other] * 2 > max_vwgt:
                waiting[hub] = -1
        else:
            waiting[hub] = v
    for v in range(n + 1):
        waiting[v] = -1
    return joined
