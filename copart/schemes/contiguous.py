"""Connected parts, whatever the scheme: what a co-partition leaves in several pieces is mended after it.

Every part is in one piece, as far as the mesh is.  Where a mesh consists of several bodies that no whole numbers of
parts fit, a part may own cells of several bodies, connected in each.  In a pool that all components share, it is the
share of every process in each component that is connected.

The balance of all cells is kept, coupled cells give way: first only those move that are in loose pieces, then any
where that does not do or costs much cut, and at last the component is partitioned anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import FREE, VERTEX, sums
from ..coupling import CoPartition, CoupledProblem
from ..errors import PartitionError, of_component
from ..graph import Graph
from ..kgggp_ml import joined_pieces, partition
from ..metrics import (
    bodies,
    copartition_limit,
    edge_cut,
    graph_pieces,
    loose_pieces,
    max_part_weight,
    part_weights,
    pieces,
)
from ..names import Balance
from ..options import Loose, Options
from ..partitioner.affinity import finest
from ..partitioner.connected_search import connected_search
from ..partitioner.contiguity import Pieces

Part = NDArray[np.int32]

DEARER = 0.1
"""By what share the cut may grow for coupled cells to stay where they are."""

TRIES = 3
"""Partitions that are made anew, each with a seed of its own, where mending fails."""


def contiguous(problem: CoupledProblem, made: CoPartition, options: Options, *,
               balance: Balance = "total") -> CoPartition:
    """The co-partition with connected parts.

    Parameters
    ----------
    problem : CoupledProblem
    made : CoPartition
        In balance; what is connected in it stays as it is.
    options : Options
        eps, seed, threads and preset, as `made` was made with.
    balance : {"total", "each"}
        What is balanced over a shared pool; see :func:`copart.schemes.monolithic.monolithic`.

    Returns
    -------
    CoPartition
        `ncoupled` is None for a component of which coupled cells have moved.

    Raises
    ------
    PartitionError
        No such partition within the limits was found.

    Examples
    --------
    >>> from copart import Graph, Interedges
    >>> line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, [3], [0]))
    >>> scattered = CoPartition({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]}, {"a": 2, "b": 2})
    >>> contiguous(problem, scattered, Options()).a.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    if made.shared:
        return replace(made, parts=_in_pool(problem, made, options, balance))
    parts: dict[str, Part] = {}
    asked = dict(made.ncoupled)
    for name, graph in problem.components.items():
        cells = problem.coupled(name)
        limit = copartition_limit(graph.total_weight, made.nparts[name], options.eps)
        with of_component(name):
            parts[name] = connected_parts(graph, made[name], made.nparts[name], limit, options, cells)
        if (parts[name][cells] != made[name][cells]).any():
            asked[name] = None
    return replace(made, parts=parts, ncoupled=asked)


def connected_parts(graph: Graph, part: Part, nparts: int, limit: int, options: Options, keep: NDArray[np.int32]
                    ) -> Part:
    """The partition with its loose pieces joined to neighbouring parts, within the limit.

    Parameters
    ----------
    graph : Graph
        With one weight per vertex.
    part : (nvtxs,) int32
        Within the limit.
    nparts, limit : int
        Number of parts, and the largest weight of one.
    options : Options
    keep : (nkeep,) int32
        Vertices that stay in their parts if that costs little.

    Returns
    -------
    (nvtxs,) int32
        `part` itself where nothing is loose.

    Raises
    ------
    PartitionError
        None was found.
    """
    if int(pieces(graph, part, nparts).sum()) == nparts:
        return part
    count, body = graph_pieces(graph)
    limits = np.full(nparts, limit, np.int64)
    # parts that each body needs for itself, if none is to own cells of two
    need = -(-np.maximum(sums(body, graph.weights, count), 1) // max(limit, 1))
    if need.sum() <= nparts:
        for found in _connected(graph, part, limits, options, keep, body if count > 1 else None):
            if int(pieces(graph, found, nparts).sum()) == nparts:
                return found
    if count > 1:
        for found in _connected_in_bodies(graph, part, limits, options, keep, body):
            if not loose_pieces(graph, found, nparts).any():
                return found
    for several in (False, True):
        last = connected_search(graph, nparts, limit, body, several=several)
        if last is not None:
            return last
    raise PartitionError(f"contiguous: no {nparts} connected parts of at most {limit} each were found; raise eps, ask "
                         f"for fewer parts, or leave contiguous out")


def bodies_shared(problem: CoupledProblem, made: CoPartition) -> list[str]:
    """Which components have parts with cells of several of their bodies, in a sentence each.

    Parameters
    ----------
    problem : CoupledProblem
    made : CoPartition
    """
    out = []
    for name, graph in problem.components.items():
        n = made.nparts[name]
        several = int((bodies(graph, made[name], n) > 1).sum())
        if several:
            why = "the pool is shared" if made.shared else "no whole numbers of parts of this balance fit each"
            out.append(f"{name} consists of {graph_pieces(graph)[0]} bodies: {several} of {n} parts own cells of "
                       f"several of them, connected in each, since {why}")
    return out


# ---- ways to connected parts, the best first; what is above a limit is left out
def _connected(graph: Graph, part: Part, limits: NDArray[np.int64], options: Options, keep: NDArray[np.int32],
               body: Part | None) -> Iterator[Part]:
    """Partitions whose parts may be in one piece each: mended, or made anew; `body` where there are several."""
    yield from _mended(graph, part, limits, options, keep, None)
    if body is not None:
        yield from _by_body(graph, limits, options, body)
        return
    for again in range(TRIES):
        run = options.replace(seed=options.seed + again)
        found = partition(graph, len(limits), run, contiguous=True, strict=False)
        if (part_weights(graph, found, len(limits)) <= limits).all():
            yield found


def _connected_in_bodies(graph: Graph, part: Part, limits: NDArray[np.int64], options: Options, keep: NDArray[np.int32],
                         body: Part) -> Iterator[Part]:
    """Partitions whose parts may be in one piece in each body, and in few bodies."""
    for again in range(1 + TRIES):
        start = part if again == 0 else partition(graph, len(limits), options.replace(seed=options.seed + again - 1),
                                                  strict=False)
        fewer, excess = joined_pieces(graph, start, limits, options, most=0.0)
        yield from _mended(graph, start if excess else fewer, limits, options, keep, body)


def _mended(graph: Graph, part: Part, limits: NDArray[np.int64], options: Options, keep: NDArray[np.int32],
            body: Part | None) -> Iterator[Part]:
    """The partition with its loose pieces joined, first with most of the vertices `keep` where they are."""
    cut, dear = edge_cut(graph, part), None
    if len(keep):
        held = _held(graph, part, len(limits), keep, body)
        kept, excess = joined_pieces(graph, part, limits, options, fixed=held, group=body)
        if not excess and edge_cut(graph, kept) <= (1 + DEARER) * cut:
            yield kept
        elif not excess:
            dear = kept
    free, excess = joined_pieces(graph, part, limits, options, group=body)
    if not excess:
        yield free
    if dear is not None:
        yield dear


def _held(graph: Graph, part: Part, nparts: int, keep: NDArray[np.int32], body: Part | None) -> Part:
    """(nvtxs,) int32 part of the vertices `keep` in the one piece of each part that has most of them, -1 elsewhere."""
    level, _ = finest(graph, nparts, None, None)
    weight = np.zeros(graph.nvtxs, np.int64)
    weight[keep] = graph.weights[keep]
    found = Pieces.of(level._replace(vwgt=weight), part, nparts, body)
    held = np.full(graph.nvtxs, FREE, VERTEX)
    mine = keep[~found.loose[found.piece[keep]]]
    held[mine] = part[mine]
    return held


def _by_body(graph: Graph, limits: NDArray[np.int64], options: Options, body: Part) -> Iterator[Part]:
    """A partition of every body by itself, each in as many parts as it needs and fair numbers of the rest."""
    limit, weight = int(limits[0]), sums(body, graph.weights, int(body.max()) + 1)
    size = np.bincount(body)
    number = -(-np.maximum(weight, 1) // max(limit, 1))
    for _ in range(len(limits) - int(number.sum())):
        # the next part goes where parts are heaviest, and there are vertices for it
        load = np.where(number < size, weight / number, -1.0)
        number[int(load.argmax())] += 1
    found = np.empty(graph.nvtxs, VERTEX)
    first = 0
    for b, n in enumerate(number.tolist()):
        cells = np.flatnonzero(body == b).astype(VERTEX)
        if n > len(cells):
            return
        room = max(0.0, (limit + 0.5) / max(-(-int(weight[b]) // n), 1) - 1)
        run = Loose(room, options.seed, options.threads, options.preset)
        found[cells] = first + partition(graph.subgraph(cells), n, run, contiguous=True, strict=False)
        first += n
    if (part_weights(graph, found, len(limits)) <= limits).all():
        yield found


# ---- a shared pool
def _in_pool(problem: CoupledProblem, made: CoPartition, options: Options, balance: Balance) -> dict[str, Part]:
    """The parts of each component, with the share of every process in each component connected."""
    pool, none = made.nprocs, np.empty(0, VERTEX)
    if not any(loose_pieces(graph, made[name], pool).any() for name, graph in problem.components.items()):
        return dict(made.parts)
    whole: dict[str, Any] = {"": problem.components} if balance == "total" else \
        {name: {name: graph} for name, graph in problem.components.items()}
    parts: dict[str, Part] = {}
    for label, graphs in whole.items():
        graph = _beside(graphs.values())
        total = graph.total_weight
        limit = max_part_weight(total, pool, options.eps) if label else copartition_limit(total, pool, options.eps)
        part = np.concatenate([made[name] for name in graphs])
        home = np.repeat(np.arange(len(graphs), dtype=VERTEX), [g.nvtxs for g in graphs.values()])
        for group in (home, graph_pieces(graph)[1]):
            found = next((f for f in _mended(graph, part, np.full(pool, limit, np.int64), options, none, group)
                          if not loose_pieces(graph, f, pool).any()), None)
            if found is not None:
                break
        if found is None and not any(loose_pieces(g, made[name], pool).any() for name, g in graphs.items()):
            # connected already: one with few cells may be above a limit that is meant for more
            found = part
        if found is None:
            found = connected_search(graph, pool, limit, graph_pieces(graph)[1], several=True)
        if found is None:
            what = f"component {label}" if label else "pool"
            raise PartitionError(f"{what}: contiguous: no connected shares of {pool} processes of at most {limit} each "
                                 f"were found; raise eps, ask for fewer processes, or leave contiguous out")
        parts |= dict(zip(graphs, np.split(found, np.cumsum([g.nvtxs for g in graphs.values()])[:-1]), strict=True))
    return parts


def _beside(graphs: Any) -> Graph:
    """Graphs as one, without edges between them."""
    ends: list[tuple[Any, Any, Any]] = []
    first = 0
    for graph in graphs:
        u, v, w = graph.edges()
        ends.append((u.astype(np.int64) + first, v.astype(np.int64) + first, w))
        first += graph.nvtxs
    u, v, w = (np.concatenate(column) for column in zip(*ends, strict=True))
    return Graph.from_edges(first, u, v, w, vwgt=np.concatenate([graph.weights for graph in graphs]))


__all__ = ["bodies_shared", "connected_parts", "contiguous"]
