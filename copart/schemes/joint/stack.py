"""All components on the levels of their coarsening as one graph, and a partition of all of them as kernels see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT
from ...coupling import CoupledProblem
from ...kernels import Level
from ...kernels.walls import Joined, Walls, count_meetings, list_exchange, list_meetings, survey
from ...kernels.weights import EDGE_WEIGHT, type_of
from ...options import Config
from ...parallel import shares, side_by_side
from ...partitioner.affinity import finest
from ...partitioner.coarsening import Levels, carry_down, coarsen, coarsest_size, contract
from ...partitioner.rounds import Team
from ...partitioner.shape import known_shape
from .cells import PartArrays

Array = np.ndarray[Any, Any]

STEP = 4.0
"""From one level to the next there are so many times fewer vertices, at least."""


class Stack(NamedTuple):
    """All components from fine to coarse.

    levels : list of Joined
    maps : list of (n,) int32, from the vertices of each level to those of the next
    kinds : list of (n,) int32, component of each vertex
    """

    levels: list[Joined]
    maps: list[Array]
    kinds: list[Array]


def stacked(problem: CoupledProblem, parts: PartArrays, nparts: dict[str, int], config: Config, team: Team,
            meanwhile: Sequence[Callable[[], object]] = ()) -> Stack:
    """All components coarsened inside the parts, joined level by level.

    Threads that would wait for the largest component join the level of the cells, and do the work in `meanwhile`.
    """
    at_once, threads = shares([graph.nvtxs for graph in problem.components.values()], team.threads)
    cells = [finest(graph, nparts[name], None, None)[0] for name, graph in problem.components.items()]

    def coarser(name: str, level: Level) -> Levels:
        with Team(threads) as own:
            return coarsen(level, coarsest_size(config, nparts[name]), known_shape(problem.components[name], level),
                           own, within=np.array(parts[name]), pack=True)  # writable, or kernels are compiled once more

    def of_cells() -> tuple[_Interface, Array, Joined]:
        interface, kind = _interface(problem), _kinds(cells)
        return interface, kind, _joined(cells, interface, kind, threads)

    done: list[Any] = side_by_side([*(partial(coarser, *one) for one in zip(problem.names, cells, strict=True)),
                                    of_cells, *meanwhile], at_once, threads)
    found: list[Levels] = done[:len(cells)]
    interface, kind, joined = done[len(cells)]
    depth = max(len(one.levels) for one in found)
    row = [[one.levels[min(d, len(one.levels) - 1)] for one in found] for d in range(depth)]
    sizes = [sum(len(g.vwgt) for g in graphs) for graphs in row]
    use = [0]
    for d in range(1, depth):
        if d == depth - 1 or (sizes[use[-1]] >= STEP * sizes[d] and sizes[d] >= 1.3 * sizes[-1]):
            use.append(d)
    maps = [one.maps for one in found]
    rest = [row[d] for d in use]
    del found, row, done  # what is not used goes before more is joined, and the rest as it is
    levels, joined_maps, kinds = [joined], [], [kind]
    for j, d in enumerate(use[:-1]):
        counts = [len(g.vwgt) for g in rest.pop(0)]
        steps = [_composed(own[d:use[j + 1]], count) for own, count in zip(maps, counts, strict=True)]
        ends = np.cumsum([0] + [len(g.vwgt) for g in rest[0]])
        cmap = np.empty(len(kinds[-1]), VERTEX)
        last = 0
        for step, end in zip(steps, ends.tolist(), strict=False):
            first, last = last, last + len(step)
            np.add(step, np.int32(end), out=cmap[first:last])
        joined_maps.append(cmap)
        interface = _contracted(interface, cmap, int(ends[-1]), team)
        kinds.append(_kinds(rest[0]))
        levels.append(_joined(rest[0], interface, kinds[-1], team.threads))
    return Stack(levels, joined_maps, kinds)


def _kinds(graphs: list[Level]) -> NDArray[np.int32]:
    """Component of each vertex."""
    return np.repeat(np.arange(len(graphs), dtype=VERTEX), [len(g.vwgt) for g in graphs])


def _composed(maps: list[Array], n: int) -> Array:
    """Several maps, one after the other; none of them is the identity of n vertices."""
    out = np.arange(n, dtype=VERTEX) if not maps else maps[0]
    for cmap in maps[1:]:
        out = carry_down(cmap, out)
    return out


class _Interface(NamedTuple):
    """The m coupled vertices of all components on one level.

    cells : (m,) int32, which they are, ascending
    graph : Level, their interedges; the weight of each is its coupled weight
    data : (C, m) int64, what each has for every component
    alike : bool, whether that is 1 wherever there is an interedge
    """

    cells: Array
    graph: Level
    data: Array
    alike: bool


def _interface(problem: CoupledProblem) -> _Interface:
    """That of the cells."""
    place, first = {}, [0]
    for name in problem.names:
        place[name] = np.zeros(problem.components[name].nvtxs, VERTEX)
        place[name][problem.coupled(name)] = np.arange(first[-1], first[-1] + len(problem.coupled(name)), dtype=VERTEX)
        first.append(first[-1] + len(problem.coupled(name)))
    data = np.zeros((len(place), first[-1]), WEIGHT)
    xadj, alike = np.zeros(first[-1] + 1, WEIGHT), True
    for (a, b), relation in problem.pairs.items():
        u, v, _ = relation.pairs()
        count_meetings(u, v, place[a], place[b], xadj[1:])
        for name, other, met in ((a, b, relation.coupled_a), (b, a, relation.coupled_b)):
            sizes = problem.components[name].sizes[met]
            data[problem.names.index(other), place[name][met]] = sizes
            alike &= bool((sizes == 1).all())
    np.cumsum(xadj, out=xadj)
    end, adjncy = xadj[:-1].copy(), np.empty(xadj[-1], VERTEX)
    for (a, b), relation in problem.pairs.items():
        u, v, _ = relation.pairs()
        list_meetings(u, v, place[a], place[b], end, adjncy)
    starts = np.cumsum([0] + [g.nvtxs for g in problem.components.values()])
    cells = [problem.coupled(name) + start for name, start in zip(problem.names, starts, strict=False)]
    none = np.zeros(0, VERTEX)
    graph = Level(xadj=xadj, adjncy=adjncy, ewgt=np.ones(len(adjncy), EDGE_WEIGHT),
                  vwgt=np.concatenate([problem.coupled_load(name) for name in problem.names]),
                  fixed=none, origin=none, size=np.zeros(0, WEIGHT))
    return _Interface(np.concatenate(cells).astype(VERTEX), graph, data, alike)


def _contracted(fine: _Interface, cmap: Array, n: int, team: Team) -> _Interface:
    """That of the n clusters of `cmap`."""
    coarse = cmap[fine.cells]
    there = np.zeros(n, np.bool_)
    there[coarse] = True
    cells = np.flatnonzero(there).astype(VERTEX)
    number = np.empty(n, VERTEX)
    number[cells] = np.arange(len(cells), dtype=VERTEX)
    within = number[coarse]
    data = np.array([np.bincount(within, row, len(cells)) for row in fine.data]).astype(WEIGHT)
    return _Interface(cells, contract(fine.graph, within, len(cells), team), data, False)


def _joined(graphs: list[Level], interface: _Interface, kind: Array, threads: int) -> Joined:
    starts = np.cumsum([0] + [len(g.vwgt) for g in graphs])
    entries = np.cumsum([0] + [len(g.adjncy) for g in graphs])
    plain = all(len(g.ewgt) == 0 for g in graphs)
    xadj, weight = np.zeros(starts[-1] + 1, WEIGHT), np.empty(starts[-1], WEIGHT)
    adjncy, ewgt = np.empty(entries[-1], VERTEX), np.empty(0 if plain else entries[-1], type_of(*graphs))

    def put(g: Level, s: int, e: int) -> None:
        rows, mine = slice(s, s + len(g.vwgt)), slice(e, e + len(g.adjncy))
        np.add(g.xadj[1:], e, out=xadj[1:][rows])
        np.add(g.adjncy, np.int32(s), out=adjncy[mine])
        weight[rows] = g.vwgt
        if not plain:
            ewgt[mine] = g.ewgt if len(g.ewgt) else 1

    side_by_side([partial(put, *one) for one in zip(graphs, starts.tolist(), entries.tolist(), strict=False)], threads)
    cells, meetings, data, alike = interface
    # where nothing is written, none of this memory is taken
    iptr, coupled = np.zeros(len(xadj), WEIGHT), np.zeros(len(weight), WEIGHT)
    iptr[1:][cells] = np.diff(meetings.xadj)
    coupled[cells] = meetings.vwgt
    np.cumsum(iptr, out=iptr)
    give, take = np.ones((2, len(meetings.adjncy)), WEIGHT)
    if not alike:
        list_exchange(meetings.xadj, meetings.adjncy, kind[cells], data, give, take)
    return Joined(xadj=xadj, adjncy=adjncy, ewgt=ewgt, weight=weight, coupled=coupled, iptr=iptr,
                  iadj=cells[meetings.adjncy], imul=meetings.ewgt.astype(VERTEX), give=give, take=take)


def walls_of(g: Joined, part: Array, owner: Array, slot: Array, room: Array, bound: Array,
             cut: Array | None = None) -> Walls:
    """The partition `part` of `g`, with everything that moves keep up to date; `cut` of each component if known."""
    k, components, entries, n = len(owner), int(owner[-1]) + 1, len(g.iadj), len(g.weight)

    def zeros(*shape: int, dtype: Any = WEIGHT) -> NDArray[Any]:
        return np.zeros(shape, dtype)

    slots = int(slot.max()) + 1
    s = Walls(part=part, owner=owner, slot=slot, load=zeros(k), room=room, share=zeros(k), bound=bound,
              population=zeros(k), where=zeros(entries, dtype=VERTEX), many=zeros(entries, dtype=VERTEX),
              used=zeros(n, dtype=VERTEX), pairs=zeros(slots, slots, dtype=VERTEX), sent=zeros(k, components),
              got=zeros(k, components), messages=zeros(k, components),
              volume=zeros(components, components), cut=zeros(components), total=zeros(1), owners=zeros(components))
    if cut is not None:
        s.cut[:] = cut
    survey(g, s, cut is None)
    return s


__all__ = ["Stack", "stacked", "walls_of"]
