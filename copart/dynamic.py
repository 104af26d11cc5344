"""Dynamic co-repartitioning: loads, counts or the interface have changed, and the codes go on.

The scheme that made a co-partition is run again, every Part in it replaced by a
repartition from where the data is: first the coupled subgraphs, then their
extensions.  What is minimised is ``alpha * (cut, totV, totZ) + migration``.

A part keeps its number, which is its process: the parts that own coupled cells need
not be the first ones, and where the interface moves, they change.
(Predari & Esnard 2014, Section III, for the schemes; :mod:`copart.adaptive`.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .adaptive import adaptive_repartition, keep_numbers
from .arrays import FREE, VERTEX, fraction
from .counts import Counts, coupled_counts, part_counts, part_room
from .coupling import CoPartition, CoupledProblem
from .coupling_metrics import coupling_matrix
from .errors import ConfigError, CouplingError
from .graph import Graph
from .joint import WEIGHTS
from .operators import proj, repart, rest_joined

Parts = NDArray[np.int32]

SCHEMES = ("naive", "aware", "projrepart", "joint")
"""The schemes that can be run again."""


def corepartition(problem: CoupledProblem, former: CoPartition, nparts: Counts | None = None,
                  ncoupled: Counts | None = None, *, scheme: str = "projrepart", alpha: float = 5.0,
                  weights: Sequence[float] = WEIGHTS, **options: Any) -> CoPartition:
    """A co-partition for what has changed, near the former one.

    Parameters
    ----------
    problem : CoupledProblem
        As it is now: new vertex weights or sizes, new edge weights, another interface.
    former : CoPartition
        Where each cell of `problem` is now; after a change of the meshes, the part that holds the new cell.
    nparts : mapping, sequence or int, optional
        Parts of each component; as many as before where not given.
    ncoupled : mapping, sequence or int, optional
        Parts of each component that may own coupled cells.  Where not given, as many as before if the number
        of parts is the same and they can hold the coupled load, else :func:`copart.counts.coupled_counts`.
    scheme : {"naive", "aware", "projrepart", "joint"}
        "naive" repartitions each component alone, "aware" first the coupled subgraphs; "projrepart" also tries what
        the components treated before project onto the next one, and "joint" is the same: its annealing knows nothing
        of where the data is.
    alpha : float
        What cut, volume and messages cost until the next repartitioning, beside 1 for a unit of ``vsize`` that
        moves: the iterations in between, if a datum costs as much to exchange as to move.
    weights : (float, float, float)
        Of the edge cut (positive), of totV (the mean of both ways) and of totZ.  The last two decide between the
        partitions of a coupled subgraph that have been found.
    **options
        eps, seed, threads, preset.

    Returns
    -------
    CoPartition
        A part that is in both has the same number in both.

    Raises
    ------
    CouplingError
        `former` does not fit the problem, or no balanced extension exists with the `ncoupled` asked for.
    PartitionError, ConfigError
        No balanced partition was found; another argument is out of range.

    Examples
    --------
    >>> from copart.coupling import Interedges
    >>> line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], vwgt=[1, 1, 1, 3])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, range(4), range(4)))
    >>> former = CoPartition({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}, {"a": 2, "b": 2})
    >>> corepartition(problem, former, eps=0).a.tolist()
    [0, 0, 0, 1]
    """
    if scheme not in SCHEMES:
        raise ConfigError(f"scheme: {scheme!r} cannot be run again; choose one of {', '.join(SCHEMES)}")
    _check_former(problem, former)
    price = _weights(weights)
    count = dict(former.nparts) if nparts is None else part_counts(problem, nparts)
    settings = {"alpha": fraction("alpha", alpha) * price[0], **options}
    if scheme == "naive":
        parts = {name: adaptive_repartition(graph, former[name], former.nparts[name], count[name], **settings)
                 for name, graph in problem.components.items()}
        return CoPartition(parts, count)
    coupled = _coupled(problem, former, count, ncoupled, options)
    done: dict[str, _Surface] = {}
    for name, parent in problem.spanning_tree():
        graph, cells = rest_joined(problem.components[name], problem.coupled(name))
        within = _within(problem.components[name], graph, count[name], coupled[name], options)
        surface = _Surface.begun(former, name, graph, cells, count[name], coupled[name])
        starts = [_projection(problem, done[parent], name, surface, within)] if parent and scheme != "aware" else []
        surface.part = adaptive_repartition(
            graph, surface.part, surface.former_parts, coupled[name], starts=starts,
            extra=_coupling_cost(problem, former, done, name, surface, price), **{**settings, **within})
        done[name] = surface
    parts = {}
    for name, graph in problem.components.items():
        surface = done[name]
        fixed = np.full(graph.nvtxs, FREE, VERTEX)
        fixed[surface.cells] = surface.number[surface.part]
        parts[name] = adaptive_repartition(graph, former[name], former.nparts[name], count[name], fixed=fixed,
                                           **settings)
    return CoPartition(parts, count, coupled)


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

    def __init__(self, name: str, graph: Graph, cells: Parts, number: Parts, part: Parts, former_parts: int):
        self.name, self.graph, self.cells, self.number = name, graph, cells, number
        self.part, self.former_parts = part, former_parts

    @classmethod
    def begun(cls, former: CoPartition, name: str, graph: Graph, cells: Parts, n: int, k: int) -> _Surface:
        """With the former parts, of which `k` go on to own coupled cells."""
        held = former[name][cells]
        number = coupled_numbers(held, graph.weights, n, k)
        others = np.setdiff1d(held, number)
        compact = np.empty(max(former.nparts[name], n), VERTEX)
        compact[number] = np.arange(k)
        compact[others] = k + np.arange(len(others))
        return cls(name, graph, cells, number, compact[held], k + len(others))


def coupled_numbers(held: Parts, weights: NDArray[np.int64], n: int, k: int) -> Parts:
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
                options: dict[str, Any]) -> Parts:
    """Proj from a neighbour that has been treated, then Repart, under the numbers that keep most cells in place."""
    relation = problem.facing(source.name, name)
    assert relation is not None
    m, k = len(source.number), len(surface.number)
    projected = proj(source.graph, surface.graph, relation.restricted(source.cells, surface.cells), source.part, m,
                     **options)
    part = repart(surface.graph, projected, m, k, **options)
    return keep_numbers(part, surface.part, surface.former_parts, k, surface.graph.sizes)


def _coupling_cost(problem: CoupledProblem, former: CoPartition, done: Mapping[str, _Surface], name: str,
                   surface: _Surface, price: tuple[float, float, float]) -> Callable[[Parts], float]:
    """Volume and messages with all neighbours, in units of the cut; those not treated yet count as they were."""
    k = len(surface.number)
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
        facing.append((relation.restricted(surface.cells, cells), part, count,
                       problem.components[other].sizes[cells]))
    mine = surface.graph.sizes

    def cost(new: Parts) -> float:
        total = 0.0
        for relation, part, count, theirs in facing:
            out = coupling_matrix(relation, new, part, k, count, mine)
            back = coupling_matrix(relation.transposed, part, new, count, k, theirs)
            total += price[1] * (int(out.sum()) + int(back.sum())) / 2 + price[2] * int(out.nnz)
        return total / price[0]

    return cost


# ---- arguments
def _within(graph: Graph, surface: Graph, n: int, k: int, options: dict[str, Any]) -> dict[str, Any]:
    """Options for a coupled partition none of whose parts outweighs a part of the whole."""
    eps = fraction("eps", options.get("eps", 0.05))
    room, load = k * part_room(graph.total_weight, n, eps), surface.total_weight
    return dict(options) if room >= (1 + eps) * load else {**options, "eps": max(0.0, room / load - 1)}


def _coupled(problem: CoupledProblem, former: CoPartition, count: Mapping[str, int], asked: Counts | None,
             options: dict[str, Any]) -> dict[str, int]:
    """N^cpl of each component: as asked, as before, or by the usual rule."""
    if asked is not None:
        return coupled_counts(problem, count, asked, **options)
    usual = coupled_counts(problem, count, None, **options)
    out = {}
    for name in problem.names:
        kept = former.ncoupled[name] or len(np.unique(former[name][problem.coupled(name)]))
        try:
            asked = {name: kept if count[name] == former.nparts[name] else None}
            out[name] = coupled_counts(problem, count, asked, **options)[name]
        except CouplingError:  # so many parts can no longer hold the coupled cells
            out[name] = usual[name]
    return out


def _check_former(problem: CoupledProblem, former: CoPartition) -> None:
    if set(former.names) != set(problem.names):
        raise CouplingError(f"former: is of {', '.join(former.names)}, the problem has {', '.join(problem.names)}")
    for name, graph in problem.components.items():
        if len(former[name]) != graph.nvtxs:
            raise CouplingError(f"former parts of {name}: need {graph.nvtxs} entries, one a cell as it is now, "
                                f"have {len(former[name])}")


def _weights(weights: Sequence[float]) -> tuple[float, float, float]:
    try:
        cut, volume, messages = weights
    except (TypeError, ValueError):
        raise ConfigError(f"weights: needs three numbers (cut, volume, messages), got {weights!r}") from None
    if not fraction("weight of the cut", cut) > 0:
        raise ConfigError("weights: the weight of the cut must be above 0")
    return float(cut), fraction("weight of volume", volume), fraction("weight of messages", messages)


__all__ = ["SCHEMES", "corepartition", "coupled_numbers"]
