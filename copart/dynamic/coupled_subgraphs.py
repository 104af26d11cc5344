"""The coupled subgraphs of all components, repartitioned one after the other from where the data is.

(Predari & Esnard 2014, Section III, for the schemes; :mod:`copart.dynamic.adaptive` for a single subgraph.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX, PartArray
from ..coupling import CoPartition, CoupledProblem, Interedges
from ..errors import PartitionError, of_component
from ..graph import Graph
from ..interface.counts import within_parts
from ..interface.price import Price
from ..interface.room import loaded, within_room
from ..metrics.pairs import coupling_matrix
from ..operators import proj, repart, rest_joined
from ..options import Options
from .adaptive import adaptive_repartition, keep_numbers
from .rerun import Rerun


def repartition_coupled(run: Rerun, *, project: bool) -> CoPartition:
    """The coupled cells of every component, along the spanning tree of the coupling graph, and the rest around them.

    The parts that own coupled cells are those that hold most of these now; the prices of volume and messages decide
    between the partitions found.  Numbers of coupled parts that nobody asked for give way to others where no balanced
    partition is found.

    Parameters
    ----------
    run : Rerun
    project : bool
        Also try what a neighbour treated before projects onto the next component.

    Raises
    ------
    PartitionError
        None was found for a component, with any number.
    """
    problem = run.problem
    done: dict[str, _Surface] = {}
    parts: dict[str, PartArray] = {}
    for name, parent in problem.spanning_tree():
        source = done[parent] if parent and project else None
        done[name], parts[name] = _first_that_works(run, done, name, source)
    return CoPartition({name: parts[name] for name in problem.names}, run.count,
                       {name: len(one.number) for name, one in done.items()})


def _first_that_works(run: Rerun, done: Mapping[str, _Surface], name: str, source: _Surface | None
                      ) -> tuple[_Surface, PartArray]:
    """The coupled cells of a component, and all its cells, with the first number of coupled parts that works."""
    graph, cells = rest_joined(run.problem.components[name], run.problem.coupled(name), far=True)
    failed: PartitionError | None = None
    for k in run.choices(name):
        try:
            with of_component(name, cells.item):
                surface = _repartitioned(run, done, name, source, graph, cells, k)
            return surface, run.extended_one(name, surface.number[surface.part])
        except PartitionError as error:
            failed = failed or error
    assert failed is not None
    raise failed


def _repartitioned(run: Rerun, done: Mapping[str, _Surface], name: str, source: _Surface | None, graph: Graph,
                   cells: PartArray, k: int) -> _Surface:
    """The coupled cells of a component, whose subgraph is `graph`, in `k` parts."""
    problem, former, n = run.problem, run.former, run.count[name]
    within = run.options if problem.own_weights(name) else within_parts(
        run.options, problem.components[name].total_weight, n, graph.total_weight, k)
    graph = loaded(problem, name, graph)
    surface = _Surface.begun(former, name, graph, cells, n, k)
    starts = [] if source is None else [_projection(problem, source, name, surface, within)]
    surface.part = adaptive_repartition(graph, surface.part, surface.former_parts, k, within, alpha=run.edge,
                                        starts=starts,
                                        extra=_coupling_cost(problem, former, done, name, surface, run.price))
    surface.part = within_room(problem, name, graph, surface.part, k, n, run.options)
    return surface


class _Surface:
    """The coupled subgraph of a component while it is repartitioned.

    Attributes
    ----------
    name, graph, cells
        The component, the subgraph, and its vertices in the component.
    number : (k,) int32
        What its new parts ``0..k-1`` are called in the component.
    part : (ncells,) int32
        First the former parts, those of `number` as ``0..k-1`` and the others after them; then the new ones.
    former_parts : int
        How many former parts there are, counted so.
    """

    def __init__(self, name: str, graph: Graph, cells: PartArray, number: PartArray, part: PartArray,
                 former_parts: int):
        self.name, self.graph, self.cells, self.number = name, graph, cells, number
        self.part, self.former_parts = part, former_parts

    @classmethod
    def begun(cls, former: CoPartition, name: str, graph: Graph, cells: PartArray, n: int, k: int) -> _Surface:
        """With the former parts, of which `k` go on to own coupled cells."""
        held = former[name][cells]
        number = coupled_numbers(held, graph.weights, n, k)
        others = np.setdiff1d(held, number)
        compact = np.empty(max(former.nparts[name], n), VERTEX)
        compact[number] = np.arange(k)
        compact[others] = k + np.arange(len(others))
        return cls(name, graph, cells, number, compact[held], k + len(others))


def coupled_numbers(held: PartArray, weights: NDArray[np.int64], n: int, k: int) -> PartArray:
    """Which `k` of the parts ``0..n-1`` are to own the coupled cells: those that hold most of them, ascending.

    Parameters
    ----------
    held : (ncells,) int32
        Former part of each coupled cell.
    weights : (ncells,) int64
        Their weights.

    Examples
    --------
    >>> coupled_numbers(np.array([3, 3, 1, 5]), np.array([1, 1, 1, 9]), 4, 2)
    array([1, 3], dtype=int32)
    """
    load = np.zeros(max(n, int(held.max(initial=0)) + 1), np.int64)
    np.add.at(load, held, weights)
    return np.sort(np.lexsort((np.arange(n), -load[:n]))[:k]).astype(VERTEX)


def _projection(problem: CoupledProblem, source: _Surface, name: str, surface: _Surface,
                options: Options) -> PartArray:
    """Proj from a neighbour that has been treated, then Repart, under the numbers that keep most cells in place."""
    relation = problem.facing(source.name, name)
    assert relation is not None
    m, k = len(source.number), len(surface.number)
    projected = proj(source.graph, surface.graph, relation.restricted(source.cells, surface.cells), source.part, m,
                     options)
    part = repart(surface.graph, projected, m, k, options)
    return keep_numbers(part, surface.part, surface.former_parts, k, surface.graph.sizes)


def _coupling_cost(problem: CoupledProblem, former: CoPartition, done: Mapping[str, _Surface], name: str,
                   surface: _Surface, price: Price) -> Callable[[PartArray], float]:
    """Volume and messages with all neighbours, in units of the cut; those not treated yet count as they were."""
    facing = []
    for other in problem.names:
        relation = problem.facing(name, other)
        if relation is None:
            continue
        if other in done:
            cells, part, count = done[other].cells, done[other].part, len(done[other].number)
        else:
            cells = problem.coupled(other)
            part, count = former[other][cells], former.nparts[other]
        facing.append(Facing(relation.restricted(surface.cells, cells), part, count,
                             problem.components[other].sizes[cells]))
    return coupling_cost(facing, len(surface.number), surface.graph.sizes, price)


class Facing(NamedTuple):
    """The other side of an interface: interedges to its cells, their parts, how many parts, sizes of the cells."""

    interedges: Interedges
    part: PartArray
    nparts: int
    sizes: NDArray[np.int64]


def coupling_cost(facing: Sequence[Facing], nparts: int, sizes: NDArray[np.int64], price: Price
                  ) -> Callable[[PartArray], float]:
    """What `nparts` parts of cells with `sizes` cost in volume and messages with others, in units of the cut."""

    def cost(new: PartArray) -> float:
        total = 0.0
        for relation, part, count, theirs in facing:
            out = coupling_matrix(relation, new, part, nparts, count, sizes)
            back = coupling_matrix(relation.transposed, part, new, count, nparts, theirs)
            total += price[1] * (int(out.sum()) + int(back.sum())) / 2 + price[2] * int(out.nnz)
        return total / price[0]

    return cost


__all__ = ["Facing", "coupled_numbers", "coupling_cost", "repartition_coupled"]
