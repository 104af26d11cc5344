"""The published co-partitioning schemes, written in the five operators, for any number of components.

Read them beside Figures 10, 11 and 12 of Predari & Esnard 2014: NAIVE looks at
each component alone, AWARE partitions the coupled subgraphs first and extends,
PROJREPART makes the second coupled partition from a projection of the first.
With more than two components PROJREPART goes along a spanning tree of the coupling
graph, largest interface first (:meth:`copart.coupling.CoupledProblem.spanning_tree`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from .arrays import VERTEX
from .coupling import CoPartition, CoupledProblem, Interedges
from .graph import Graph
from .interface.counts import Counts, coupled_counts, part_counts, within_parts
from .interface.uncut import interface_groups, whole_interfaces
from .operators import ext, part, proj, repart, rest_joined
from .options import Options, Settings

Coupled = Mapping[str, tuple[Graph, NDArray[np.int32]]]
"""The coupled subgraph of each component, and its vertices in the component."""


def naive(problem: CoupledProblem, nparts: Counts, ncoupled: Counts | None = None, options: Options | None = None,
          **settings: Unpack[Settings]) -> CoPartition:
    """NAIVE: every component is partitioned alone; `ncoupled` plays no role.

    Parameters and errors as in :func:`aware`.
    """
    run, count = Options.of(options, settings), part_counts(problem, nparts)
    parts = {name: part(graph, count[name], run) for name, graph in problem.components.items()}
    return CoPartition(parts, count)


def aware(problem: CoupledProblem, nparts: Counts, ncoupled: Counts | None = None, options: Options | None = None, *,
          interface: str = "spread", **settings: Unpack[Settings]) -> CoPartition:
    """AWARE: the coupled subgraphs are partitioned first, then extended to the components.

    Parameters
    ----------
    problem : CoupledProblem
        Each component is treated by its own coupled subgraph: all its cells with an interedge to any other.
    nparts : mapping, sequence or int
        Parts of each component, by name or in order.
    ncoupled : mapping, sequence or int, optional
        Parts of each component that may own coupled cells; see
        :func:`copart.interface.counts.coupled_counts` where not given.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    interface : {"spread", "gather", "uncut"}
        Over how many parts the coupled cells go where `ncoupled` does not say: ``floor(N^(2/3))``, as few as can
        hold them, or such that the interface with each other component is whole in one part where it fits.

    Raises
    ------
    CouplingError
        No balanced extension exists with the `ncoupled` that was asked for.
    """
    run, count = Options.of(options, settings), part_counts(problem, nparts)
    coupled = coupled_counts(problem, count, ncoupled, interface=interface, eps=run.eps)
    cpl = {name: rest_joined(graph, problem.coupled(name)) for name, graph in problem.components.items()}
    uncut = _uncut(problem, cpl, count, ncoupled, interface, run)
    found = dict(uncut)
    for name, (graph, _) in cpl.items():
        if name not in found:
            found[name] = part(graph, coupled[name], _within(problem, name, cpl, count, coupled, run))
    return _extended(problem, cpl, found, count, {**coupled, **dict.fromkeys(uncut)}, run)


def projrepart(problem: CoupledProblem, nparts: Counts, ncoupled: Counts | None = None,
               options: Options | None = None, *, interface: str = "spread", **settings: Unpack[Settings]
               ) -> CoPartition:
    """PROJREPART: B's coupled partition is A's, projected and repartitioned.

    Parameters and errors as in :func:`aware`.  The first component of the spanning tree is partitioned as by
    AWARE.  Every further one, in the order of the tree, is a projection of all its neighbours
    that have been treated, repartitioned; its coupled cells that face none of them begin as a part of their own.
    """
    run, count = Options.of(options, settings), part_counts(problem, nparts)
    coupled = coupled_counts(problem, count, ncoupled, interface=interface, eps=run.eps)
    cpl = {name: rest_joined(graph, problem.coupled(name)) for name, graph in problem.components.items()}
    uncut = _uncut(problem, cpl, count, ncoupled, interface, run)
    found = dict(uncut)
    treated: list[str] = []
    for name, parent in problem.spanning_tree():
        if name not in found:
            within = _within(problem, name, cpl, count, coupled, run)
            if parent is None:
                found[name] = part(cpl[name][0], coupled[name], within)
            else:
                former, m = _projected(problem, name, [n for n in treated if problem.facing(n, name) is not None],
                                       cpl, found, run)
                found[name] = repart(cpl[name][0], former, m, coupled[name], within)
        treated.append(name)
    return _extended(problem, cpl, found, count, {**coupled, **dict.fromkeys(uncut)}, run)


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


def _uncut(problem: CoupledProblem, cpl: Coupled, count: Mapping[str, int], ncoupled: Counts | None, interface: str,
           options: Options) -> dict[str, NDArray[np.int32]]:
    """The coupled partitions of components with several interfaces, where these are to stay uncut."""
    if interface != "uncut" or ncoupled is not None:
        return {}
    return {name: whole_interfaces(problem, name, cpl[name][0], count[name], options) for name in problem.names
            if len(interface_groups(problem, name)) > 1}


def _within(problem: CoupledProblem, name: str, cpl: Coupled, count: Mapping[str, int], coupled: Mapping[str, int],
            options: Options) -> Options:
    """Options for the coupled partition of a component."""
    return within_parts(options, problem.components[name].total_weight, count[name], cpl[name][0].total_weight,
                        coupled[name])


def _extended(problem: CoupledProblem, cpl: Coupled, found: Mapping[str, NDArray[np.int32]], count: Mapping[str, int],
              ncoupled: Mapping[str, int | None], options: Options) -> CoPartition:
    """The co-partition that keeps the coupled partitions."""
    parts = {name: ext(graph, cpl[name][1], found[name], int(found[name].max()) + 1, count[name], options)
             for name, graph in problem.components.items()}
    return CoPartition(parts, count, ncoupled)


__all__ = ["aware", "naive", "projrepart"]
