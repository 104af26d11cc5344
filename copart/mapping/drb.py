"""Dual recursive bipartitioning: process subgraph and domain are halved together until domains are single processors.

A job is a process subgraph and the domain it goes to.  The domain is halved by its
architecture, the subgraph by weighted bipartition with limits in proportion to the compute power of the
halves, so that the **partial cost** is small: for every edge with an end in the
subgraph, weight times distance between the domains of its ends, edges that leave the subgraph
included.  Jobs wait in a queue; by default the largest subgraph is next, so that neighbouring jobs know
each other's latest domains.  (Pellegrini & Lachat, "Process Mapping onto Complex Architectures and
Partitions Thereof", Inria RR-9135, 2017.)

Up to `TABLE_LIMIT` processors all jobs run compiled, and distances between domains are means over their
processors; above it the jobs are run one by one and the architecture is asked.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..kernels import Level
from ..kernels import drb as kernels
from ..kernels.fm import UNIT
from ..names import BipartitioningOrder, known_name
from ..partitioner.arenas import arena_for
from .architectures.architecture import Architecture, Domain

Array = np.ndarray[Any, Any]

#: Most processors of which the distances between all pairs of intervals are kept (32 MiB).
TABLE_LIMIT = 2048

POLICIES = {"largest": kernels.LARGEST, "breadth-first": kernels.BREADTH, "depth-first": kernels.DEPTH}
"""Which job is next: the largest process subgraph, the oldest job, the newest job."""


@dataclass(frozen=True, eq=False)
class Places:
    """The processors of a machine in the order of its bipartition tree, in which every domain is an interval.

    Attributes
    ----------
    order, place : (nprocs,) int32
        Processor at each place, and place of each processor.
    middle : (2 nprocs - 1,) int32
        Where each domain is cut, domains in preorder; 0 for terminal ones.
    power : (nprocs + 1,) float64
        Compute power up to each place.
    sums : (nprocs + 1, nprocs + 1) float64
        Distances times both powers, summed up to each pair of places.
    """

    order: Array
    place: Array
    middle: Array
    power: Array
    sums: Array

    @classmethod
    def of(cls, machine: Architecture) -> Places:
        """The places of a machine of at most `TABLE_LIMIT` processors; kept as long as the machine lives."""
        found = _PLACES.get(machine)
        if found is None:
            found = _PLACES[machine] = cls._made(machine)
        return found

    @classmethod
    def _made(cls, machine: Architecture) -> Places:
        k = machine.nprocs
        order, middle = np.empty(k, np.int32), np.zeros(2 * k - 1, np.int32)
        jobs: list[tuple[Domain, int, int, int]] = [(machine.root, 0, 0, k)]
        while jobs:
            domain, number, begin, end = jobs.pop()
            if end - begin == 1:
                order[begin] = machine.processor(domain)
                continue
            left, right = machine.sons(domain)
            cut = begin + machine.size(left)
            middle[number] = cut
            jobs += [(right, number + 2 * (cut - begin), cut, end), (left, number + 1, begin, cut)]
        place = np.empty(k, np.int32)
        place[order] = np.arange(k, dtype=np.int32)
        weight = np.asarray(machine.weights, np.float64)[order]
        sums, power = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
        np.cumsum(weight, out=power[1:])
        inner = sums[1:, 1:]
        inner[...] = machine.matrix()[np.ix_(order, order)]
        inner *= weight[:, None] * weight
        np.cumsum(inner, axis=0, out=inner)
        np.cumsum(inner, axis=1, out=inner)
        return cls(order, place, middle, power, sums)


_PLACES: WeakKeyDictionary[Any, Places] = WeakKeyDictionary()


def map_recursively(
    g: Level, machine: Architecture, limit: Array, *, policy: BipartitioningOrder = "largest",
    partial_cost: bool = True, runs: int = 5, tries: int = 4, seed: int = 1,
) -> Array:
    """Map the vertices of a level onto processors by dual recursive bipartitioning.

    Parameters
    ----------
    g : Level
        The process graph; `g.fixed`: processor of each fixed vertex, -1 for free ones, or empty; `g.origin` and
        `g.size`: processor that each vertex leaves, and the price of a unit of distance from it, or empty.
    machine : Architecture
    limit : (nprocs,) int64
        Largest weight of each processor.
    policy : {"largest", "breadth-first", "depth-first"}
        Which job is next.
    partial_cost : bool
        Count edges that leave a job's subgraph, as the method wants it.
    runs : int
        Multilevel bipartitions of a job, best kept; of a job far down, half as many.
    tries : int
        Bipartitions grown on the coarsest graph of each run, best kept.

    Returns
    -------
    (nvtxs,) int32
        Processor of each vertex; limits may be passed where vertices are heavy.
    """
    known_name("policy", policy, POLICIES)
    n, k = len(g.vwgt), machine.nprocs
    room = limit.astype(np.int64)
    held = g.fixed >= 0 if len(g.fixed) else np.zeros(n, bool)
    if held.any():
        np.subtract.at(room, g.fixed[held], g.vwgt[held])
        room = np.maximum(room, 0)
    part = np.zeros(n, np.int32)
    if len(g.fixed):
        part[held] = g.fixed[held]
    vertices = np.flatnonzero(~held).astype(np.int32)
    if k == 1 or not len(vertices):
        return part
    arena = arena_for(g)
    bias = np.empty(len(arena.vwgt), np.int64)
    if k > TABLE_LIMIT:
        _by_jobs(g, machine, room, vertices, part, policy, partial_cost, runs, tries, seed, arena, bias)
        return part
    places = Places.of(machine)
    ahead = np.zeros(k + 1, np.int64)
    np.cumsum(room[places.order], out=ahead[1:])
    lo, hi = np.zeros(n, np.int32), np.full(n, k, np.int32)
    lo[held] = places.place[part[held]]
    hi[held] = lo[held] + 1
    if len(g.origin):
        g = g._replace(origin=places.place[g.origin])
    layout = kernels.Places(middle=places.middle, sums=places.sums, power=places.power, room=ahead, lo=lo, hi=hi)
    kernels.map_recursively(g, layout, vertices, POLICIES[policy], partial_cost, runs, tries, seed, arena,
                            bias, np.empty((2, n), np.int32), _jobs(k))
    found: Array = places.order[lo]
    return found


def _jobs(nprocs: int) -> kernels.Jobs:
    """Room for the root and two halves for each of the ``nprocs - 1`` domains that are cut."""
    count = 2 * nprocs
    return kernels.Jobs(table=np.empty((count, 5), np.int64), heap=np.empty(count, np.int32),
                        pos=np.empty(count, np.int32), key=np.empty(count, np.int64), tie=np.empty(count, np.int64))


def _by_jobs(g: Level, machine: Architecture, room: Array, vertices: Array, part: Array, policy: str,
             partial_cost: bool, runs: int, tries: int, seed: int, arena: Any, bias: Array) -> None:
    """The same with the architecture's own distances between domains, which are met only where a vertex goes."""
    domains: list[Domain] = [machine.root]
    number = {machine.root: 0}

    def known(domain: Domain) -> int:
        if domain not in number:
            number[domain] = len(domains)
            domains.append(domain)
        return number[domain]

    at, chosen = np.zeros(len(g.vwgt), np.int64), np.empty((2, len(g.vwgt)), np.int32)
    for v in np.flatnonzero(g.fixed >= 0) if len(g.fixed) else ():
        at[v] = known(machine.terminal(int(g.fixed[v])))
    old = np.array([known(machine.terminal(int(p))) for p in g.origin], np.int64)
    # limits are in proportion to compute power, but for fixed vertices
    share = float(room.sum()) / float(machine.weight(machine.root))
    jobs: list[tuple[int, int, Domain, Array]] = [(0, 0, machine.root, vertices)]
    count = 0
    while jobs:
        _, _, domain, mine = heapq.heappop(jobs)
        if not len(mine):
            continue
        if machine.size(domain) == 1:
            part[mine] = machine.processor(domain)
            continue
        left, right = machine.sons(domain)
        between = max(float(machine.domain_distances(left, [right])[0]), 1e-12)
        pull = np.zeros(len(mine))
        if partial_cost:
            degree = g.xadj[mine + 1] - g.xadj[mine]
            owner = np.repeat(np.arange(len(mine)), degree)
            entry = np.repeat(g.xadj[mine] - np.concatenate([[0], np.cumsum(degree)[:-1]]), degree) + np.arange(
                degree.sum())
            there = at[g.adjncy[entry]]
            leaves = there != at[mine[0]]
            weight = g.ewgt[entry] if len(g.ewgt) else np.ones(len(entry))
            np.add.at(pull, owner[leaves], weight[leaves] * _difference(machine, left, right, domains, there[leaves]))
        if len(old):
            pull += g.size[mine] * _difference(machine, left, right, domains, old[mine])
        bias[:len(mine)] = np.rint(UNIT * pull / between).astype(np.int64)
        first = kernels.split_job(g, mine, arena, bias, chosen, int(share * machine.weight(left)),
                                  int(share * machine.weight(right)), machine.size(domain), runs, tries, seed + count)
        for half, some in ((left, mine[:first]), (right, mine[first:])):
            at[some] = known(half)
            count += 1
            rank = {"largest": -len(some), "breadth-first": 0, "depth-first": -count}[policy]
            heapq.heappush(jobs, (rank, count, half, some))


def _difference(machine: Architecture, left: Domain, right: Domain, domains: list[Domain], there: Array) -> Array:
    """How much farther the right half is than the left one from the domains numbered `there`."""
    some, back = np.unique(there, return_inverse=True)
    others = [domains[i] for i in some]
    if not others:
        return np.zeros(0)
    gap: Array = machine.domain_distances(right, others) - machine.domain_distances(left, others)
    return gap[back]
