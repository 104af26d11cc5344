"""The published co-partitioning schemes, written in the five operators, for any number of components.

Read them beside Figures 10, 11 and 12 of Predari & Esnard 2014: NAIVE looks at
each component alone, AWARE partitions the coupled subgraphs first and extends,
PROJREPART makes the second coupled partition from a projection of the first.
With more than two components PROJREPART goes along a spanning tree of the coupling
graph, largest interface first (:meth:`copart.coupling.CoupledProblem.spanning_tree`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from .arrays import VERTEX
from .coupling import CoPartition, CoupledProblem, Interedges
from .errors import PartitionError, of_component
from .graph import Graph
from .interface.counts import Counts, CoupledCounts, coupled_choices, part_counts, within_parts
from .interface.room import loaded, within_room
from .interface.uncut import interface_groups, whole_interfaces
from .names import InterfaceRule
from .operators import connected, ext, part, proj, repart, rest_joined
from .options import Options, Settings, Thorough
from .parallel import shares, side_by_side

Coupled = Mapping[str, tuple[Graph, NDArray[np.int32]]]
"""The coupled subgraph of each component, and its vertices in the component."""


def naive(problem: CoupledProblem, nparts: Counts, ncoupled: CoupledCounts | None = None,
          options: Options | None = None, **settings: Unpack[Settings]) -> CoPartition:
    """NAIVE: every component is partitioned alone; `ncoupled` plays no role.

    Parameters and errors as in :func:`aware`.

    Parameters
    ----------
    problem : CoupledProblem
    nparts : mapping, sequence or int
        Parts of each component, by name or in order.
    ncoupled : mapping, sequence, int or "paper", optional
        Plays no role: every scheme is called alike.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    """
    run, count = Thorough.of(options, settings), part_counts(problem, nparts)
    at_once, threads = shares([graph.nvtxs for graph in problem.components.values()], run.threads)
    each = replace(run, threads=threads)

    def one(name: str) -> NDArray[np.int32]:
        with of_component(name):
            return part(problem.components[name], count[name], each)

    parts = side_by_side([partial(one, name) for name in problem.names], at_once, threads)
    return CoPartition(dict(zip(problem.names, parts, strict=True)), count)


def aware(problem: CoupledProblem, nparts: Counts, ncoupled: CoupledCounts | None = None,
          options: Options | None = None, *, interface: InterfaceRule = "spread", **settings: Unpack[Settings]
          ) -> CoPartition:
    """AWARE: the coupled subgraphs are partitioned first, then extended to the components.

    Parameters
    ----------
    problem : CoupledProblem
        Each component is treated by its own coupled subgraph: all its cells with an interedge to any other.
    nparts : mapping, sequence or int
        Parts of each component, by name or in order.
    ncoupled : mapping, sequence, int or "paper", optional
        Parts of each component that may own coupled cells, natural counts where not given; see
        :func:`copart.interface.counts.coupled_counts`.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    interface : {"spread", "gather", "uncut"}
        Over how many parts the coupled cells go where `ncoupled` does not say: natural counts, as few as can
        hold them, or such that the interface with each other component is whole in one part where it fits.

    Raises
    ------
    CouplingError
        No balanced extension exists with the `ncoupled` that was asked for.
    """
    run, count = Thorough.of(options, settings), part_counts(problem, nparts)
    task = _Task(problem, count, ncoupled, interface, run)
    return task.made({name: task.extended(name, partial(task.part, name)) for name in problem.names})


def projrepart(problem: CoupledProblem, nparts: Counts, ncoupled: CoupledCounts | None = None,
               options: Options | None = None, *, interface: InterfaceRule = "spread", **settings: Unpack[Settings]
               ) -> CoPartition:
    """PROJREPART: B's coupled partition is A's, projected and repartitioned.

    Parameters and errors as in :func:`aware`.  The first component of the spanning tree is partitioned as by
    AWARE.  Every further one, in the order of the tree, is a projection of all its neighbours
    that have been treated, repartitioned; its coupled cells that face none of them begin as a part of their own.

    Parameters
    ----------
    problem : CoupledProblem
    nparts : mapping, sequence or int
        Parts of each component, by name or in order.
    ncoupled : mapping, sequence, int or "paper", optional
        Parts of each component that may own coupled cells; see :func:`copart.interface.counts.coupled_counts`.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    interface : {"spread", "gather", "uncut"}
        Over how many parts the coupled cells go where `ncoupled` is not given.
    """
    run, count = Thorough.of(options, settings), part_counts(problem, nparts)
    task = _Task(problem, count, ncoupled, interface, run)
    found: dict[str, Extended] = {}
    for name, parent in problem.spanning_tree():
        if parent is None or name in task.uncut:
            found[name] = task.extended(name, partial(task.part, name))
            continue
        neighbours = [n for n in found if problem.facing(n, name) is not None]
        former, m = _projected(problem, name, neighbours, task.cpl, {n: found[n].coupled for n in neighbours}, run)
        found[name] = task.extended(name, partial(task.repart, name, former, m))
    return task.made({name: found[name] for name in problem.names})


def _projected(problem: CoupledProblem, name: str, neighbours: list[str], cpl: Coupled,
               found: Mapping[str, NDArray[np.int32]], options: Options) -> tuple[NDArray[np.int32], int]:
    """The neighbours' coupled partitions projected on the coupled subgraph of a component, and how many parts."""
    graph, cells = cpl[name]
    ends: list[tuple[Any, Any, Any]] = []
    labels: list[NDArray[np.int32]] = []
    m = rows = 0
    for other in neighbours:
        relation = problem.facing(other, name)
        assert relation is not None
        relation = relation.restricted(cpl[other][1], cells)
        # only the parts at this interface
        here, label = np.unique(found[other][relation.coupled_a], return_inverse=True)
        mirrored = np.zeros(len(found[other]), VERTEX)
        mirrored[relation.coupled_a] = label + m
        u, v, w = relation.pairs()
        ends.append((u + rows, v, w))
        labels.append(mirrored)
        m, rows = m + len(here), rows + len(mirrored)
    u, v, w = (np.concatenate(column) for column in zip(*ends, strict=True))
    relation = Interedges.from_pairs(rows, len(cells), u, v, w)
    # Proj looks at the parts and the interedges of what it projects, not at its edges
    former = proj(Graph.from_edges(rows, [], []), graph, relation, np.concatenate(labels), m, options)
    facing = np.zeros(len(cells), np.bool_)
    facing[relation.coupled_b] = True
    if not facing.all():
        former[~facing] = m
        m += 1
    return former, m


class Extended(NamedTuple):
    """A component whose coupled cells were partitioned first."""

    coupled: NDArray[np.int32]
    """Part of each coupled cell."""
    part: NDArray[np.int32]
    """Part of each cell."""
    ncoupled: int | None
    """How many parts own coupled cells; None where whole interfaces decide."""


class _Task:
    """What AWARE and PROJREPART have in common: coupled subgraphs, partitioned and extended to the components."""

    def __init__(self, problem: CoupledProblem, count: Mapping[str, int], ncoupled: CoupledCounts | None,
                 interface: InterfaceRule, options: Options):
        self.problem, self.count, self.options = problem, count, options
        self.choices = coupled_choices(problem, count, ncoupled, options, interface=interface)
        self.cpl: Coupled = {name: rest_joined(graph, problem.coupled(name), far=True)
                             for name, graph in problem.components.items()}
        self.uncut = {name: whole_interfaces(problem, name, self.cpl[name][0], count[name], options)
                      for name in problem.names if interface == "uncut" and ncoupled is None
                      and len(interface_groups(problem, name)) > 1}

    def within(self, name: str, k: int) -> Options:
        """Options for a partition of the coupled cells of a component in `k` parts."""
        if self.problem.own_weights(name):
            return self.options
        return within_parts(self.options, self.problem.components[name].total_weight, self.count[name],
                            self.cpl[name][0].total_weight, k)

    def part(self, name: str, k: int) -> NDArray[np.int32]:
        """A partition of the coupled cells of a component in `k` parts."""
        graph, within = loaded(self.problem, name, self.cpl[name][0]), self.within(name, k)
        return self.fitted(name, connected(graph, part(graph, k, within), k, within), k)

    def repart(self, name: str, former: NDArray[np.int32], m: int, k: int) -> NDArray[np.int32]:
        """The `m` parts `former` of the coupled cells of a component repartitioned in `k` parts."""
        graph, within = loaded(self.problem, name, self.cpl[name][0]), self.within(name, k)
        return self.fitted(name, connected(graph, repart(graph, former, m, k, within), k, within), k)

    def fitted(self, name: str, coupled: NDArray[np.int32], k: int) -> NDArray[np.int32]:
        """The `k` parts of the coupled cells of a component such that none outweighs a part of it."""
        return within_room(self.problem, name, self.cpl[name][0], coupled, k, self.count[name], self.options)

    def extended(self, name: str, make: Callable[[int], NDArray[np.int32]]) -> Extended:
        """The component extended from what `make` does to its coupled cells, with the first number that works."""
        graph, cells = self.problem.components[name], self.cpl[name][1]
        failed: PartitionError | None = None
        for k in self.choices[name][:1 if name in self.uncut else None]:
            try:
                with of_component(name):
                    with of_component(name, cells.item):
                        coupled = self.uncut[name] if name in self.uncut else make(k)
                    whole = ext(graph, cells, coupled, int(coupled.max()) + 1, self.count[name], self.options)
            except PartitionError as error:
                failed = failed or error
                continue
            return Extended(coupled, whole, None if name in self.uncut else k)
        assert failed is not None
        raise failed

    def made(self, found: Mapping[str, Extended]) -> CoPartition:
        """The co-partition."""
        return CoPartition({name: one.part for name, one in found.items()}, self.count,
                           {name: one.ncoupled for name, one in found.items()})


__all__ = ["aware", "naive", "projrepart"]
