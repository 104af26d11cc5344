"""Greedy constructions: Mueller-Merbach, TreeMatch, and nodes filled one after another."""

from __future__ import annotations

import heapq
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ...errors import MappingError
from ...kernels.placement import merbach
from ..architectures.architecture import MATRIX_LIMIT, Architecture
from ..evaluation import architecture_of
from ..host_tree import host_tree
from ..machine import Machine
from .objective import Placement, as_processes

#: Candidate groups up to which all are looked at (TreeMatch); else groups grow greedily.
_CANDIDATES = 20_000


def mueller_merbach(processes: Any, machine: Machine | Architecture) -> Placement:
    """The process with most traffic to the most central processor, then always the one most tied to those placed.

    Dense, O(n^2); ties go to the lowest number.  (H. Mueller-Merbach 1970, as restated by Brandfass et al. 2013.)

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture

    Returns
    -------
    (nprocesses,) int32
    """
    graph, target = as_processes(processes), architecture_of(machine)
    n = graph.nvtxs
    if max(n, target.nprocs) > MATRIX_LIMIT:
        raise MappingError(f"mueller-merbach: needs full matrices, at most {MATRIX_LIMIT} processors, has "
                           f"{target.nprocs}; use multisection")
    flow = np.zeros((n, n))
    u, v, w = graph.edges()
    flow[u, v] = w
    order, spot = np.empty(n, np.int64), np.empty(n, np.int64)
    merbach(flow, target.matrix().copy(), order, spot)
    place = np.empty(n, np.int32)
    place[order] = spot
    return place


def greedy(processes: Any, machine: Machine | Architecture) -> Placement:
    """Fill the lowest groups of processors one after another, vertex of highest priority first.

    A process gets priority for its traffic with those in the group and those queued for it; the rule is that of the
    central greedy (:mod:`copart.mapping.cartesian.greedy`), with weights, for any graph.  Ties: the smaller number.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    """
    graph, target = as_processes(processes), architecture_of(machine)
    n = graph.nvtxs
    xadj, adjncy, weight = graph.xadj.tolist(), graph.adjncy.tolist(), graph.edge_weights.tolist()
    group_of = [-1] * n
    place = np.empty(n, np.int32)
    done = lowest = 0
    for number, group in enumerate(host_tree(target).groups()):
        priority: dict[int, int] = {}
        heap: list[tuple[int, int]] = []
        for p in group:
            if done == n:
                return place
            while group_of[lowest] >= 0:
                lowest += 1
            b = lowest
            while heap:
                least, v = heapq.heappop(heap)
                if priority.get(v) == -least:
                    b = v
                    break
            priority.pop(b, None)
            new = [e for e in range(xadj[b], xadj[b + 1]) if group_of[adjncy[e]] < 0 and adjncy[e] not in priority]
            for e in new:
                priority[adjncy[e]] = weight[e]
            for u in (adjncy[e] for e in new):
                for e in range(xadj[u], xadj[u + 1]):
                    w = adjncy[e]
                    queued = w in priority
                    if queued or group_of[w] == number:
                        priority[u] += weight[e]
                        if queued:
                            priority[w] += weight[e]
                            heapq.heappush(heap, (-priority[w], w))
                heapq.heappush(heap, (-priority[u], u))
            place[b], group_of[b] = p, number
            done += 1
    return place


def treematch(processes: Any, machine: Machine | Architecture) -> Placement:
    """TreeMatch: bottom-up, group what communicates most to the arity of each level, add up traffic, go on upward.

    Groups are chosen among all candidates, heaviest first and not overlapping, while these are few; else each grows
    from the heaviest edge left.  (E. Jeannot & G. Mercier 2010.)  The tree must have one arity per level.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    """
    graph, target = as_processes(processes), architecture_of(machine)
    tree = host_tree(target)
    arities = tree.arities()
    if arities is None:
        raise MappingError(f"treematch: needs a tree with equal arities on each level, {target!r} has none; "
                           f"use multisection")
    k, n = target.nprocs, graph.nvtxs
    flow = np.zeros((k, k))
    u, v, w = graph.edges()
    flow[u, v] = w
    flow += flow.T
    members = [[i] for i in range(k)]
    for arity in reversed(arities):
        groups = _group(flow, arity)
        members = [[x for g in group for x in members[g]] for group in groups]
        owner = np.empty(len(flow), np.int64)
        for i, group in enumerate(groups):
            owner[group] = i
        summed = np.zeros((len(groups), len(groups)))
        np.add.at(summed, (owner[:, None], owner[None, :]), flow)
        np.fill_diagonal(summed, 0)
        flow = summed
    place = np.empty(k, np.int32)
    place[[x for group in members for x in group]] = [p for group in tree.groups() for p in group]
    return place[:n]


def _group(flow: np.ndarray[Any, Any], arity: int) -> list[list[int]]:
    """Groups of `arity`, heavy inside."""
    n = len(flow)
    if arity == n:
        return [list(range(n))]
    free = np.ones(n, bool)
    groups: list[list[int]] = []
    if arity > 1 and comb(n, arity) <= _CANDIDATES:
        several = np.array(list(combinations(range(n), arity)))
        inner = sum(flow[several[:, a], several[:, b]] for a, b in combinations(range(arity), 2))
        for i in np.argsort(-np.asarray(inner), kind="stable"):
            if free[several[i]].all():
                groups.append(several[i].tolist())
                free[several[i]] = False
        return groups
    for _ in range(n // arity):
        left = np.flatnonzero(free)
        part = flow[np.ix_(left, left)]
        first = int(left[np.argmax(part.max(axis=1))])
        group = [first]
        free[first] = False
        tie = flow[first].copy()
        while len(group) < arity:
            x = int(np.argmax(np.where(free, tie, -1.0)))
            group.append(x)
            free[x] = False
            tie += flow[x]
        groups.append(group)
    return groups

