"""Coupled weights of a plan: the work of each cell in a coupling phase, from an array, the interedges, or numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import arrays
from ..arrays import WEIGHT
from ..coupling import CoupledProblem, Interedges
from ..errors import ConfigError, CouplingError, MeshError, did_you_mean
from ..graph import Graph
from ..metrics import StepCost

if TYPE_CHECKING:
    from ..mesh import Mesh

CoupledWeights = str | Mapping[str, ArrayLike]
"""A word (`WORDS`), the name of a cell array of the meshes, or numbers of each cell by component."""

WORDS = ("area", "partners")
"""Coupled weights that follow from the interedges: sum of their weights, and their number."""

MEAN = 1000
"""By "area" the mean of a component's coupled cells is scaled to this, and then divided by what divides them all.

Cells of equal overlap weigh 1 each, so that whole cells are what balance is held to.
"""

ARRAY = "coupled_weight"
"""The cell array that keeps numbers which were given, in the meshes of a plan."""

GIVEN = "given"
"""The setting where there is no mesh to keep them in."""

Pair = tuple[str, str]


class Weighed(NamedTuple):
    """Coupled weights, and how they are kept."""

    weights: dict[str, NDArray[np.int64]]
    """(nvtxs,) by component; none where the weights of the cells are meant."""
    setting: str | None
    """A word, the name of a cell array, or that they were given."""
    meshes: dict[str, Mesh]
    """The meshes, with numbers that were given as a cell array."""
    unit: Mapping[str, float] = {}
    """By component, the coupled weight of a cell that costs what is said of a coupled cell, where that is not 1."""


def weighed(given: CoupledWeights | None, graphs: Mapping[str, Graph], pairs: Mapping[Pair, Interedges],
            meshes: Mapping[str, Mesh]) -> Weighed:
    """Coupled weights by component.

    Parameters
    ----------
    given : str or mapping of str to (nvtxs,) array_like of int, optional
        A word or the name of a cell array for all components, or the numbers of some.
    graphs, pairs
        Of the components, and their interedges.
    meshes : mapping of str to Mesh
        Of the components that came as such.

    Raises
    ------
    ConfigError
        It is neither.
    CouplingError
        A component is not known, or numbers are unusable.
    MeshError
        A mesh has no such array, or what is in it is unusable.
    """
    if given is None:
        return Weighed({}, None, dict(meshes))
    if isinstance(given, str):
        if given in WORDS:
            values, unit = _from_interedges(given, graphs, pairs)
            return Weighed(values, given, dict(meshes), unit)
        return Weighed({name: _array(name, given, graph, meshes) for name, graph in graphs.items()}, given,
                       dict(meshes))
    if not isinstance(given, Mapping):
        raise ConfigError(f"coupled_weights: needs {', '.join(WORDS)}, the name of a cell array, or a mapping from "
                          f"components to numbers, got {given!r:.60}")
    unknown = [name for name in given if name not in graphs]
    if unknown:
        raise CouplingError(f"coupled weights: no component {unknown[0]!r}; known: {', '.join(graphs)}"
                            + did_you_mean(unknown[0], graphs))
    own = {name: arrays.weights(f"coupled weights of {name}", given[name], graphs[name].nvtxs, CouplingError)
           for name in given}
    if not own:
        return Weighed({}, None, dict(meshes))
    if set(meshes) != set(graphs):
        return Weighed(own, GIVEN, dict(meshes))
    every = {name: own.get(name, graph.weights) for name, graph in graphs.items()}
    kept = {name: mesh.replace(cell_data={**mesh.cell_data, ARRAY: every[name]}) for name, mesh in meshes.items()}
    return Weighed(every, ARRAY, kept)


def _array(name: str, array: str, graph: Graph, meshes: Mapping[str, Mesh]) -> NDArray[np.int64]:
    """The coupled weights of a component from a cell array of its mesh."""
    from ..mesh.groups import cell_array

    if name not in meshes:
        raise CouplingError(f"coupled weights: component {name} is a graph, which has no cell array {array!r}; give "
                            f"numbers by component, or {' or '.join(WORDS)}")
    values = cell_array(meshes[name], array, "coupled weights")
    return arrays.weights(f"coupled weights: cell array {array!r} of {name}", values, graph.nvtxs, MeshError)


def _from_interedges(word: str, graphs: Mapping[str, Graph], pairs: Mapping[Pair, Interedges]
                     ) -> tuple[dict[str, NDArray[np.int64]], dict[str, float]]:
    """Sums over the interedges of each cell, in the order of the components whatever that of the pairs is.

    With them the weight of a mean coupled cell of each component, where they are scaled.
    """
    problem = CoupledProblem(graphs, pairs)  # which refuses interedges that do not fit
    total = {name: np.zeros(graph.nvtxs) for name, graph in problem.components.items()}
    for a, b in combinations(graphs, 2):
        relation = problem.facing(a, b)
        if relation is not None:
            u, v, w = relation.pairs()
            each = w if word == "area" else np.ones(len(w))
            total[a] += np.bincount(u, each, len(total[a]))
            total[b] += np.bincount(v, each, len(total[b]))
    if word == "partners":
        return {name: x.astype(WEIGHT) for name, x in total.items()}, {}
    out, mean_weight = {}, {}
    for name, x in total.items():
        cells = problem.coupled(name)
        mean = float(x[cells].mean()) if len(cells) else 1.0
        if not mean > 0:
            raise CouplingError(f"coupled weights: the interedges of {name} have no area, all weigh 0; take partners")
        # the smallest overlap is some work, too
        values = np.zeros(len(x), WEIGHT)
        values[cells] = np.maximum(np.rint(MEAN * (x[cells] / mean)), 1)
        common = max(1, int(np.gcd.reduce(values)))
        out[name], mean_weight[name] = values // common, MEAN / common
    return out, mean_weight


def units(setting: str | None, graphs: Mapping[str, Graph], pairs: Mapping[Pair, Interedges]) -> dict[str, float]:
    """Those of :class:`Weighed` again, from what is kept of a plan.

    Parameters
    ----------
    setting : str or None
        As a plan keeps it.
    graphs : mapping of str to Graph
    pairs : mapping of (str, str) to Interedges
    """
    return _from_interedges(setting, graphs, pairs)[1] if setting == "area" else {}


def priced(cost: StepCost, unit: Mapping[str, float], former: Mapping[str, float] | None = None) -> StepCost:
    """The constants of a coupled step for coupled weights in other units.

    Parameters
    ----------
    cost : StepCost
        By component, as :meth:`copart.metrics.StepCost.named` makes it.
    unit, former : mapping of str to float
        Those of the coupled weights, and those that `cost` is meant for; see :func:`units`.
    """
    before = former or {}
    if dict(unit) == dict(before) or not isinstance(cost.t_m, Mapping):
        return cost
    return replace(cost, t_m={name: t_m * before.get(name, 1.0) / unit.get(name, 1.0)
                              for name, t_m in cost.t_m.items()})


def with_interedges(problem: CoupledProblem, pairs: Mapping[Pair, Interedges], setting: str | None) -> CoupledProblem:
    """The problem with other interedges; coupled weights that follow from these are others, too."""
    own = weighed(setting, problem.components, pairs, {}).weights if setting in WORDS else problem.coupled_weights
    return CoupledProblem(problem.components, pairs, own)


__all__ = ["ARRAY", "GIVEN", "MEAN", "WORDS", "CoupledWeights", "Weighed", "priced", "units", "weighed",
           "with_interedges"]
