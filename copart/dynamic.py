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
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .adaptive import adaptive_repartition
from .adaptive_multiconstraint import adaptive_repartition_multiconstraint
from .arrays import FREE, VERTEX, fraction
from .counts import Counts, coupled_counts, part_counts
from .coupled_subgraphs import Facing, Price, coupling_cost, repartition_coupled
from .coupling import CoPartition, CoupledProblem
from .errors import ConfigError, CouplingError, PartitionError
from .joint import WEIGHTS
from .metrics import evaluate
from .migration_plan import MigrationPlan
from .monolithic import monolithic_again, pool_size
from .multiconstraint.scheme import balanced, phase_loads, with_owners
from .reannealing import reanneal

logger = logging.getLogger(__name__)

Parts = NDArray[np.int32]

SCHEMES = ("naive", "aware", "projrepart", "multiconstraint", "monolithic", "joint")
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
        Parts of each component; as many as before where not given.  With "monolithic" one number is the size of the
        pool, and several add up to it.
    ncoupled : mapping, sequence or int, optional
        Parts of each component that may own coupled cells.  Where not given, as many as before if the number
        of parts is the same and they can hold the coupled load, else :func:`copart.counts.coupled_counts`.
    scheme : {"naive", "aware", "projrepart", "multiconstraint", "monolithic", "joint"}
        "naive" repartitions each component alone, "aware" first the coupled subgraphs; "projrepart" also tries what
        the components treated before project onto the next one; "joint" then anneals the coupled cells of all
        components together (:mod:`copart.reannealing`) and keeps what has the smaller :func:`objective`.
        "multiconstraint" repartitions each component with both loads in balance, "monolithic" all of them as one
        graph; it needs a `former` whose components share a pool of processes, and the others one where they do not.
    alpha : float
        What cut, volume and messages cost until the next repartitioning, beside 1 for a unit of ``vsize`` that
        moves: the iterations in between, if a datum costs as much to exchange as to move.
    weights : (float, float, float)
        Of the edge cut (positive), of totV (the mean of both ways) and of totZ.  Only "joint" moves cells for the
        sake of the last two; elsewhere they decide between the partitions that have been found.
    **options
        eps, seed, threads, preset; for "monolithic" also balance.

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
    >>> from copart import Graph, Interedges
    >>> line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], vwgt=[1, 1, 1, 3])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, range(4), range(4)))
    >>> former = CoPartition({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}, {"a": 2, "b": 2})
    >>> corepartition(problem, former, eps=0).a.tolist()
    [0, 0, 0, 1]
    """
    if scheme not in SCHEMES:
        raise ConfigError(f"scheme: {scheme!r} cannot be run again; choose one of {', '.join(SCHEMES)}")
    _check_former(problem, former, scheme)
    price = _weights(weights)
    if scheme == "monolithic":
        pool = former.nprocs if nparts is None else pool_size(problem, nparts)
        return monolithic_again(problem, former, pool, alpha=fraction("alpha", alpha), price=price, **options)
    count = dict(former.nparts) if nparts is None else part_counts(problem, nparts)
    settings = {"alpha": fraction("alpha", alpha) * price[0], **options}
    if scheme == "multiconstraint":
        return _multiconstraint(problem, former, count, price, settings)
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


def _multiconstraint(problem: CoupledProblem, former: CoPartition, count: Mapping[str, int], price: Price,
                     settings: dict[str, Any]) -> CoPartition:
    """Each component repartitioned alone with both loads in balance; neighbours decide between what has been found."""
    options = {key: value for key, value in settings.items() if key != "eps"}
    made: dict[str, Parts] = {}
    for name, graph in problem.components.items():
        facing = [Facing(relation, made.get(other, former[other]),
                         count[other] if other in made else former.nparts[other], problem.components[other].sizes)
                  for other in problem.names if (relation := problem.facing(name, other)) is not None]
        loads, extra = phase_loads(problem, name), coupling_cost(facing, count[name], graph.sizes, price)
        again = partial(adaptive_repartition_multiconstraint, graph, former[name], former.nparts[name], count[name],
                        loads, extra=extra, **options)
        made[name] = balanced(again, loads, count[name], fraction("eps", settings.get("eps", 0.05)))
    return with_owners(problem, made, count)


def _annealed(problem: CoupledProblem, former: CoPartition, made: CoPartition, alpha: float,
              price: Price, options: Mapping[str, Any]) -> CoPartition:
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


def _check_former(problem: CoupledProblem, former: CoPartition, scheme: str) -> None:
    if set(former.names) != set(problem.names):
        raise CouplingError(f"former: is of {', '.join(former.names)}, the problem has {', '.join(problem.names)}")
    for name, graph in problem.components.items():
        if len(former[name]) != graph.nvtxs:
            raise CouplingError(f"former parts of {name}: need {graph.nvtxs} entries, one a cell as it is now, "
                                f"have {len(former[name])}")
    if former.shared and scheme != "monolithic":
        raise ConfigError(f"scheme: {scheme} needs processes of its own for every component, here all share one pool; "
                          f"run monolithic again")
    if scheme == "monolithic" and not former.shared:
        others = ", ".join(known for known in SCHEMES if known != scheme)
        raise ConfigError(f"scheme: monolithic shares one pool of processes, here every component has its own; "
                          f"choose one of {others}")


def _weights(weights: Sequence[float]) -> tuple[float, float, float]:
    try:
        cut, volume, messages = weights
    except (TypeError, ValueError):
        raise ConfigError(f"weights: needs three numbers (cut, volume, messages), got {weights!r}") from None
    if not fraction("weight of the cut", cut) > 0:
        raise ConfigError("weights: the weight of the cut must be above 0")
    return float(cut), fraction("weight of volume", volume), fraction("weight of messages", messages)


__all__ = ["SCHEMES", "corepartition", "objective"]
