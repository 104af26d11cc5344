"""Clusters of a hypergraph's vertices by the nets that they share: in sequence, and by threads with locks or races.

Shared by all: ``rep`` (n,) int32 is the vertex that names the cluster of each vertex, -1 where it is alone; ``conn``
(n,) float64 is what the nets shared with each vertex count, 0 everywhere between calls; ``adj`` (n+1,) int32 lists the
vertices where it is not, with a place to spare.  All return how many pins were looked at.
"""

from typing import Any, NamedTuple

from . import inlined, kernel
from .atomic import release, taken


class Incidence(NamedTuple):
    """A hypergraph both ways, and what each net counts in the similarity of two of its pins.

    xpins (nnets+1,) int64, pins (npins,) int32, xnets (nvtxs+1,) int64, nets (npins,) int32, score (nnets,) float64;
    a net that scores 0 brings nobody together.
    """

    xpins: Any
    pins: Any
    xnets: Any
    nets: Any
    score: Any


@kernel
def match_in_sequence(h, order, active, end, rep, conn, adj):
    """Match each vertex with the free one of the largest similarity, the first of equals (HCM).

    Pins that are matched leave their nets when they are met, so that they are not looked at again.

    h : Incidence, in
    order : (n,) int32, in
    active : (npins,) int32, in and out     a copy of h.pins
    end : (nnets,) int64, in and out        a copy of h.xpins[1:]
    rep : (n,) int32, in and out            -1 everywhere before
    conn : (n,) float64, scratch
    adj : (n + 1,) int32, scratch
    """
    looked = 0
    for u in order:
        if rep[u] >= 0:
            continue
        count = 0
        for i in range(h.xnets[u], h.xnets[u + 1]):
            e = h.nets[i]
            score = h.score[e]
            if score == 0:
                continue
            j = h.xpins[e]
            while j < end[e]:
                v = active[j]
                looked += 1
                if rep[v] >= 0:
                    end[e] -= 1
                    active[j] = active[end[e]]
                    active[end[e]] = v
                    continue
                j += 1
                if conn[v] == 0:
                    adj[count] = v
                    count += 1
                conn[v] += score
        best = u
        most = 0.0
        for i in range(count):
            v = adj[i]
            if v != u and conn[v] > most:
                best = v
                most = conn[v]
            conn[v] = 0
        if best != u:
            rep[best] = u
            rep[u] = u
    return looked


@inlined
def all_around(h, u, conn, adj):
    """Vertices that share a net with u, and u; how many, and how many pins were looked at.

    Half of the branches would be taken, at random: sums instead of them halve the time.

    h : Incidence, in
    u : int
    conn : (nvtxs,) float64, in and out   what each of them has in common with u, added
    adj : (nvtxs,) int32, out
    """
    count = 0
    looked = 0
    for i in range(h.xnets[u], h.xnets[u + 1]):
        e = h.nets[i]
        score = h.score[e]
        if score == 0:
            continue
        looked += h.xpins[e + 1] - h.xpins[e]
        for j in range(h.xpins[e], h.xpins[e + 1]):
            v = h.pins[j]
            adj[count] = v
            count += conn[v] == 0
            conn[v] += score
    return count, looked


@inlined
def free_around(h, u, rep, conn, adj):
    """Vertices without a cluster that share a net with u, and u; how many, and how many pins were looked at.

    h : Incidence, in
    u : int
    rep : (nvtxs,) int32, in        -1 where there is no cluster
    conn : (nvtxs,) float64, in and out   what each of them has in common with u, added
    adj : (nvtxs,) int32, out
    """
    count = 0
    looked = 0
    for i in range(h.xnets[u], h.xnets[u + 1]):
        e = h.nets[i]
        score = h.score[e]
        if score == 0:
            continue
        looked += h.xpins[e + 1] - h.xpins[e]
        for j in range(h.xpins[e], h.xpins[e + 1]):
            v = h.pins[j]
            free = rep[v] < 0
            adj[count] = v
            count += free & (conn[v] == 0)
            conn[v] += score * free
    return count, looked


@kernel
def match_with_locks(lo, hi, h, order, locks, rep, conn, adj):
    """Match the vertices order[lo..hi] while other threads do the same with theirs.

    A vertex is locked by who looks for its partner and by who holds it as a candidate; those of a pair stay locked.

    lo, hi : int
    h : Incidence, in
    order : (n,) int32, in
    locks : (n,) uint8, in and out      0 everywhere before
    rep : (n,) int32, in and out        -1 everywhere before
    conn : (n,) float64, scratch        own
    adj : (n + 1,) int32, scratch           own
    """
    looked = 0
    for i in range(lo, hi):
        u = order[i]
        if rep[u] >= 0 or not taken(locks, u):
            continue
        if rep[u] >= 0:
            continue
        count, seen = free_around(h, u, rep, conn, adj)
        looked += seen
        best = u
        most = 0.0
        for j in range(count):
            v = adj[j]
            if v != u and conn[v] > most and rep[v] < 0 and locks[v] == 0 and taken(locks, v):
                if best != u:
                    release(locks, best)
                best = v
                most = conn[v]
            conn[v] = 0
        if best != u:
            rep[u] = u
            rep[best] = u
        else:
            release(locks, u)
    return looked


@kernel
def propose_pairs(lo, hi, h, order, rep, conn, adj):
    """Let the vertices order[lo..hi] and their best free partners name each other, whatever other threads write.

    lo, hi : int
    h : Incidence, in
    order : (n,) int32, in
    rep : (n,) int32, in and out        partner of each vertex, -1 everywhere before; not always mutual after
    conn : (n,) float64, scratch        own
    adj : (n + 1,) int32, scratch           own
    """
    looked = 0
    for i in range(lo, hi):
        u = order[i]
        if rep[u] >= 0:
            continue
        count, seen = free_around(h, u, rep, conn, adj)
        looked += seen
        best = u
        most = 0.0
        for j in range(count):
            v = adj[j]
            if v != u and conn[v] > most and rep[v] < 0:
                best = v
                most = conn[v]
            conn[v] = 0
        if best != u and rep[u] < 0 and rep[best] < 0:
            rep[u] = best
            rep[best] = u
    return looked


@kernel
def cluster_in_sequence(h, order, bound, per_weight, weight, rep, conn, adj):
    """Join each vertex to the vertex or cluster of the largest similarity, the first of equals (HCC).

    h : Incidence, in
    order : (n,) int32, in
    bound : int                         clusters stay lighter
    per_weight : bool                   the similarity counts per weight of the cluster that would result
    weight : (n,) int64, in and out     of each vertex; of the whole cluster where it names one
    rep : (n,) int32, in and out        -1 everywhere before
    conn : (n,) float64, scratch
    adj : (n + 1,) int32, scratch
    """
    looked = 0
    for u in order:
        if rep[u] >= 0:
            continue
        count, seen = all_around(h, u, conn, adj)
        looked += seen
        best = u
        most = 0.0
        for j in range(count):
            v = adj[j]
            r = v
            if v == u:
                continue
            if rep[v] >= 0 and rep[v] != v:
                r = rep[v]
                conn[r] += conn[v]
                conn[v] = 0
                adj[j] = r
            total = weight[u] + weight[r]
            value = conn[r]
            if per_weight:
                value /= max(total, 1)
            if value > most and total < bound:
                best = r
                most = value
        for j in range(count):
            conn[adj[j]] = 0
        if best != u:
            rep[best] = best
            rep[u] = best
            weight[best] += weight[u]
    return looked


@kernel
def cluster_with_locks(lo, hi, h, order, bound, per_weight, locks, weight, rep, conn, adj):
    """Join the vertices order[lo..hi] to clusters while other threads do the same with theirs.

    Who holds the lock of a vertex alone changes the weight of the cluster that it names, and whether it has one.

    lo, hi : int
    h : Incidence, in
    order : (n,) int32, in
    bound : int
    per_weight : bool
    locks : (n,) uint8, in and out      0 everywhere before and after
    weight : (n,) int64, in and out
    rep : (n,) int32, in and out        -1 everywhere before
    conn : (n,) float64, scratch        own
    adj : (n + 1,) int32, scratch           own
    """
    looked = 0
    for i in range(lo, hi):
        u = order[i]
        if rep[u] >= 0 or not taken(locks, u):
            continue
        if rep[u] >= 0:
            release(locks, u)
            continue
        count, seen = all_around(h, u, conn, adj)
        looked += seen
        best = u
        most = 0.0
        for j in range(count):
            v = adj[j]
            r = rep[v]
            if v == u:
                continue
            if r < 0:
                r = v
            if r != v:
                conn[r] += conn[v]
                conn[v] = 0
                adj[j] = r
            total = weight[u] + weight[r]
            value = conn[r]
            if per_weight:
                value /= max(total, 1)
            if value <= most or total >= bound:
                continue
            if r == best:
                most = value
            elif locks[r] == 0 and taken(locks, r):
                # between the look and the lock it may have grown, or joined another cluster
                total = weight[u] + weight[r]
                value = conn[r]
                if per_weight:
                    value /= max(total, 1)
                if (rep[r] >= 0 and rep[r] != r) or total >= bound or value <= most:
                    release(locks, r)
                    continue
                if best != u:
                    release(locks, best)
                best = r
                most = value
        for j in range(count):
            conn[adj[j]] = 0
        if best != u:
            rep[best] = best
            rep[u] = best
            weight[best] += weight[u]
            release(locks, best)
        release(locks, u)
    return looked


@kernel
def clustering_quality(xpins, pins, cost, rep, count):
    """Sum over the nets of their cost times the pairs of their pins in the same cluster.

    xpins : (nnets + 1,) int64, in
    pins : (npins,) int32, in
    cost : (nnets,) int64, in
    rep : (n,) int32, in
    count : (n,) int64, scratch     0 everywhere
    """
    quality = 0
    for e in range(len(cost)):
        pairs = 0
        for i in range(xpins[e], xpins[e + 1]):
            r = rep[pins[i]]
            if r >= 0:
                pairs += count[r]
                count[r] += 1
        for i in range(xpins[e], xpins[e + 1]):
            r = rep[pins[i]]
            if r >= 0:
                count[r] = 0
        quality += cost[e] * pairs
    return quality
