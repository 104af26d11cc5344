"""Dynamic co-repartitioning: loads, counts or the interface have changed, and the codes go on.

The scheme that made a co-partition is run again, every Part in it replaced by a
repartition from where the data is: first the coupled subgraphs, then their
extensions.  What is minimised is ``alpha * (cut, totV, totZ) + migration``.

A part keeps its number, which is its process: the parts that own coupled cells need
not be the first ones, and where the interface moves, they change.
(Predari & Esnard 2014, Section III, for the schemes; :mod:`copart.dynamic.adaptive`.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ..arrays import fraction
from ..coupling import CoPartition, CoupledProblem
from ..errors import ConfigError, CouplingError
from ..interface.counts import Counts, CoupledCounts
from ..interface.price import PRICE, price_of_each
from ..names import SchemeName
from ..options import Options, Settings, Thorough
from .registry import SCHEMES, Rerun, Scheme


def corepartition(problem: CoupledProblem, former: CoPartition, nparts: Counts | None = None,
                  ncoupled: CoupledCounts | None = None, options: Options | None = None, *,
                  scheme: SchemeName = "projrepart", alpha: float = 5.0, price: Sequence[float] = PRICE,
                  scheme_options: Mapping[str, Any] | None = None, **settings: Unpack[Settings]) -> CoPartition:
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
    ncoupled : mapping, sequence, int or "paper", optional
        Parts of each component that may own coupled cells.  Where not given, as many as before if the number
        of parts is the same and they can hold the coupled load, else natural counts
        (:func:`copart.interface.counts.coupled_counts`).
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    scheme : {"naive", "aware", "projrepart", "multiconstraint", "monolithic", "joint", "auto"}
        "naive" repartitions each component alone, "aware" first the coupled subgraphs; "projrepart" also tries what
        the components treated before project onto the next one; "joint" then anneals the coupled cells of all
        components together (:mod:`copart.schemes.joint.again`) and keeps what has the smaller :func:`objective`.
        "multiconstraint" repartitions each component with both loads in balance, "monolithic" all of them as one
        graph; it needs a `former` whose components share a pool of processes, and the others one where they do not.
        "auto" is "joint" here.
    alpha : float
        What cut, volume and messages cost until the next repartitioning, beside 1 for a unit of ``vsize`` that
        moves: the iterations in between, if a datum costs as much to exchange as to move.
    price : (float, float, float)
        Of the edge cut (positive), of totV (the mean of both ways) and of totZ.  Only "joint" moves cells for the
        sake of the last two; elsewhere they decide between the partitions that have been found.
    scheme_options : mapping, optional
        What only this scheme knows when it is run again: `balance` of "monolithic".

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
    chosen = SCHEMES[scheme]
    _check_former(problem, former, scheme, chosen)
    own = dict(scheme_options or {})
    for option in own:
        if option not in chosen.own_again:
            raise ConfigError(f"scheme_options: {option!r} is no option of {scheme} when it is run again; there are "
                              f"{', '.join(chosen.own_again) or 'none'}")
    run = Rerun(problem, former, nparts, ncoupled, fraction("alpha", alpha), price_of_each(price),
                Thorough.of(options, settings))
    return chosen.again(run, **own)


def objective(problem: CoupledProblem, former: CoPartition, made: CoPartition, alpha: float = 5.0,
              price: Sequence[float] = PRICE) -> float:
    """What :func:`corepartition` minimises: ``alpha * price . (cut, totV, totZ) + migration volume``.

    Parameters
    ----------
    problem : CoupledProblem
        As it is now.
    former, made : CoPartition
        Where the data is, and where it is to be.
    alpha, price
        As in :func:`corepartition`: totV is the mean of both ways.
    """
    return Rerun(problem, former, None, None, fraction("alpha", alpha), price_of_each(price), Options()).cost(made)


def _check_former(problem: CoupledProblem, former: CoPartition, name: str, chosen: Scheme) -> None:
    if set(former.names) != set(problem.names):
        raise CouplingError(f"former: is of {', '.join(former.names)}, the problem has {', '.join(problem.names)}")
    for component, graph in problem.components.items():
        if len(former[component]) != graph.nvtxs:
            raise CouplingError(f"former parts of {component}: need {graph.nvtxs} entries, one per cell as it is now, "
                                f"have {len(former[component])}")
    others = ", ".join(known for known, other in SCHEMES.items() if other.shares_pool == former.shared)
    if former.shared and not chosen.shares_pool:
        raise ConfigError(f"scheme: {name} needs processes of its own for every component, here all share one pool; "
                          f"run {others} again")
    if chosen.shares_pool and not former.shared:
        raise ConfigError(f"scheme: {name} shares one pool of processes, here every component has its own; "
                          f"choose one of {others}")


__all__ = ["corepartition", "objective"]
