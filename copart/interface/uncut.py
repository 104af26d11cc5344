"""Interfaces that stay whole: all cells of a component that face one other component in one part, where they fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX
from ..coupling import CoupledProblem
from ..errors import CouplingError
from ..graph import Graph
from ..metrics import copartition_limit
from ..operators import part
from ..options import Options


def interface_groups(problem: CoupledProblem, name: str) -> list[NDArray[np.int64]]:
    """The interfaces of a component, as positions among its coupled cells, ascending.

    Interfaces that have a cell in common are one: that cell cannot be in two parts.

    Parameters
    ----------
    problem : CoupledProblem
    name : str
        Of the component.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    cells = problem.coupled(name)
    faced = [inter.coupled_a if name == a else inter.coupled_b
             for (a, b), inter in problem.pairs.items() if name in (a, b) and len(inter)]
    if not faced:
        return []
    interface = np.repeat(np.arange(len(faced)), [len(f) for f in faced])
    cell = np.searchsorted(cells, np.concatenate(faced))
    size = len(faced) + len(cells)
    link = coo_array((np.ones(len(cell)), (interface, len(faced) + cell)), shape=(size, size))
    count, label = connected_components(link, directed=False)
    return [np.flatnonzero(label[len(faced):] == g) for g in range(count)]


def whole_interfaces(problem: CoupledProblem, name: str, graph_cpl: Graph, nparts: int, options: Options
                     ) -> NDArray[np.int32]:
    """Partition of the coupled cells of a component that keeps each of its interfaces in one part.

    An interface that outweighs a part is cut into as few parts as can hold it.  Every interface has parts of
    its own as long as there are enough; else those that are whole share parts, the heaviest first.

    Parameters
    ----------
    problem : CoupledProblem
    name : str
        The component.
    graph_cpl : Graph
        Its coupled subgraph.
    nparts : int
        Parts of the whole component.
    options : Options

    Returns
    -------
    (ncoupled cells,) int32

    Raises
    ------
    CouplingError
        `nparts` parts cannot hold the interfaces.
    """
    eps = options.eps
    room = copartition_limit(problem.components[name].total_weight, nparts, eps)
    groups = interface_groups(problem, name)
    load = [int(graph_cpl.weights[g].sum()) for g in groups]
    out = np.zeros(graph_cpl.nvtxs, VERTEX)
    used = 0
    held: list[int] = []
    """Load of each part that whole interfaces are in."""
    owner: dict[int, int] = {}
    apart = sum(max(1, -(-w // max(room, 1))) for w in load) <= nparts
    for g in sorted(range(len(groups)), key=lambda g: (-load[g], g)):
        if load[g] <= room:
            free = [i for i, w in enumerate(held) if w + load[g] <= room]
            if apart or not free:
                held.append(0)
                free = [len(held) - 1]
            held[free[0]] += load[g]
            owner[g] = free[0]
            continue
        k = -(-load[g] // room) if room else 1
        within = options.replace(eps=max(0.0, min(eps, room * k / load[g] - 1)))
        out[groups[g]] = used + part(graph_cpl.subgraph(groups[g]), k, within)
        used += k
    for g, i in owner.items():
        out[groups[g]] = used + i
    if used + len(held) > nparts:
        raise CouplingError(f"component {name}: {nparts} parts cannot hold its {len(groups)} interfaces uncut; "
                            f"ask for more parts, raise eps, or take another interface option")
    return out


__all__ = ["interface_groups", "whole_interfaces"]
