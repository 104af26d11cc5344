"""Dynamic co-repartitioning: loads, counts or the interface have changed, and the codes go on.

The scheme that made a co-partition is run again, every Part in it replaced by a
repartition from where the data is: first the coupled subgraphs, then their
extensions.  What is minimised is ``alpha * (cut, totV, totZ) + migration``.

A part keeps its number, which is its process: the parts that own coupled cells need
not be the first ones, and where the interface moves, they change.
(Predari & Esnard 2014, Section III, for the schemes; :mod:`copart.adaptive`.)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .adaptive import adaptive_repartition
from .arrays import FREE, VERTEX, fraction
from .counts import Counts, coupled_counts, part_counts
from .coupled_subgraphs import repartition_coupled
from .coupling import CoPartition, CoupledProblem
from .errors import ConfigError, CouplingError, PartitionError
from .joint import WEIGHTS
from .metrics import evaluate
from .migration_plan import MigrationPlan
from .reannealing import reanneal

logger = logging.getLogger(__name__)

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
        the components treated before project onto the next one; "joint" then anneals the coupled cells of all
        components together (:mod:`copart.reannealing`) and keeps what has the smaller :func:`objective`.
    alpha : float
        What cut, volume and messages cost until the next repartitioning, beside 1 for a unit of ``vsize`` that
        moves: the iterations in between, if a datum costs as much to exchange as to move.
    weights : (float, float, float)
        Of the edge cut (positive), of totV (the mean of both ways) and of totZ.  Only "joint" moves cells for the
        sake of the last two; elsewhere they decide between the partitions that have been found.
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
        return CoPartition(_extended(problem, former, count, {}, settings), count)
    coupled = _coupled(problem, former, count, ncoupled, options)
    fixed = repartition_coupled(problem, former, count, coupled, price, project=scheme != "aware", **settings)
    made = CoPartition(_extended(problem, former, count, fixed, settings), count, coupled)
    return _annealed(problem, former, made, alpha, price, options) if scheme == "joint" else made


def objective(problem: CoupledProblem, former: CoPartition, made: CoPartition, alpha: float = 5.0,
              weights: Sequence[float] = WEIGHTS) -> float:
    """What :func:`corepartition` minimises: ``alpha * weights . (cut, totV, totZ) + migration volume``.

    Parameters
    ----------
    problem : CoupledProblem
        As it is now.
    former, made : CoPartition
        Where the data is, and where it is to be.
    alpha, weights
        As in :func:`corepartition`: totV is the mean of both ways.
    """
    found, price = evaluate(problem, made), _weights(weights)
    cut = sum(component.cut for component in found.components.values())
    volume = sum(pair.totV_ab + pair.totV_ba for pair in found.pairs.values()) / 2
    messages = sum(pair.totZ for pair in found.pairs.values())
    regular = price[0] * cut + price[1] * volume + price[2] * messages
    return fraction("alpha", alpha) * regular + MigrationPlan.between(former, made, problem).volume


def _extended(problem: CoupledProblem, former: CoPartition, count: Mapping[str, int], coupled: Mapping[str, Parts],
              settings: Mapping[str, Any], near: Mapping[str, Parts] | None = None) -> dict[str, Parts]:
    """The components repartitioned with their coupled cells as given; the parts `near` are one more start."""
    parts = {}
    for name, graph in problem.components.items():
        fixed = np.full(graph.nvtxs, FREE, VERTEX)
        fixed[problem.coupled(name)] = coupled.get(name, FREE)
        parts[name] = adaptive_repartition(graph, former[name], former.nparts[name], count[name], fixed=fixed,
                                           starts=[near[name]] if near else (), **settings)
    return parts


def _annealed(problem: CoupledProblem, former: CoPartition, made: CoPartition, alpha: float,
              price: tuple[float, float, float], options: Mapping[str, Any]) -> CoPartition:
    """`made` with its coupled cells annealed together and extended anew, where that costs less."""
    only = {key: options[key] for key in ("eps", "seed") if key in options}
    coupled = reanneal(problem, former, made, alpha=alpha, price=price, **only)
    if coupled is None:
        return made
    settings = {"alpha": alpha * price[0], **options}
    try:
        parts = _extended(problem, former, made.nparts, coupled, settings, made.parts)
    except PartitionError as error:
        logger.info("%s", error)
        return made
    other = CoPartition(parts, made.nparts, made.ncoupled)
    return min(made, other, key=lambda one: objective(problem, former, one, alpha, price))


# ---- arguments
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


__all__ = ["SCHEMES", "corepartition", "objective"]
