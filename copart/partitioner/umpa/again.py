"""A partition improved for an objective: coarsened within its parts, then refined on the way back up."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, WEIGHT, integers, part_array, sums, whole
from ...errors import PartitionError
from ...hypergraph import Hypergraph
from ...kernels.umpa_state import Nets
from ...metrics import max_part_weights
from ...names import ExchangeObjective
from ...options import Effort, Options
from .driver import PER_PART, annealed, checked_hypergraph, pace_of
from .levels import coarsen, finest
from .objectives import Objective
from .pieces import join_pieces
from .search import Search
from .start import graph_of

Array = np.ndarray[Any, Any]

#: How warm annealing begins, as a share of the usual: cooler where a partition that is good already has melted.
_WARMTHS = (1.0, 0.5, 0.25, 0.1)


def improve_partition(
    hypergraph: Hypergraph,
    part: ArrayLike,
    nparts: int,
    *,
    limits: ArrayLike | None = None,
    eps: float = 0.05,
    objective: ExchangeObjective | Objective = "volume",
    held: ArrayLike | None = None,
    **effort: Unpack[Effort],
) -> NDArray[np.int32]:
    """A partition that is in no metric of the objective, taken in their order, worse than the one given.

    Parameters
    ----------
    hypergraph : Hypergraph
        With one weight per vertex; the first pin of each net sends.
    part : (nvtxs,) array_like of int
        Part of each vertex.
    nparts : int
        Number of parts.
    limits : int or (nparts,) array_like of int, optional
        Largest weight of each part, or of all alike, instead of what `eps` allows. A part that weighs more gets
        no heavier.
    eps : float
        Imbalance tolerance, a fraction.
    objective : {"volume", "max-volume", "messages", "max-messages"} or Objective
        As for :func:`copart.partitioner.umpa.partition_hypergraph`.
    held : (nvtxs,) array_like of bool, optional
        Vertices that stay where they are.
    **effort : object
        seed, threads and preset (:class:`copart.options.Options`); threads make no difference.

    Returns
    -------
    (nvtxs,) int32
        `part` as it was given where nothing better is found.

    Raises
    ------
    PartitionError
        The part of a vertex is out of range, or an array has another length or no whole numbers from 0 up.
    ConfigError, GraphError
        An argument is out of range or no hypergraph, or vertices have several weights.

    Examples
    --------
    >>> path = Hypergraph.from_nets(6, [[v, v + 1] for v in range(5)])
    >>> improve_partition(path, [0, 1, 0, 1, 0, 1], 2, eps=0.0, held=[1, 0, 0, 0, 0, 1]).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    run = Options.of(None, {"eps": eps, **effort})
    h, k, aim = checked_hypergraph(hypergraph), whole("nparts", nparts, low=1), Objective.of(objective)
    given: NDArray[np.int32] = part_array("part", part, h.nvtxs, k, PartitionError).astype(VERTEX)
    if limits is None:
        limits = max_part_weights(h.total_weight, k, run.eps)
    elif np.ndim(limits) == 0:
        limits = np.full(k, limits)
    allowed = integers("limits", limits, WEIGHT, PartitionError, low=0, size=k)
    load = sums(given, h.weights, k)
    limit = np.maximum(allowed, load)
    stays = np.zeros(h.nvtxs, bool)
    if held is not None:
        stays = integers("held", held, VERTEX, PartitionError, low=0, high=2, size=h.nvtxs).astype(bool)
    if k == 1 or stays.all():
        return given
    pace = pace_of(run.preset)
    levels, maps = coarsen(finest(h, given), PER_PART * k, 1, run.seed)
    holds = [stays]
    for cmap, level in zip(maps, levels[1:], strict=True):
        holds.append(np.zeros(len(level.vwgt), bool))
        np.logical_or.at(holds[-1], cmap, holds[-2])
    before = Search(levels[0], given.copy(), limit, aim, run.seed).values()
    for warmth in _WARMTHS:
        at: NDArray[np.int32] = levels[-1].fixed.copy()
        for depth in range(len(maps), -1, -1):
            search = Search(_free(levels[depth], holds[depth]), at, limit, aim, run.seed)
            search, warmth = annealed(search, pace.coarse if depth else pace.fine, warmth)
            search.passes(2**depth)
            at = search.state.part if depth == 0 else search.state.part[maps[depth - 1]]
        join_pieces(search, graph_of(search.h, 0))
        if search.excess == 0 and search.values() < before:
            return at
    return given


def _free(h: Nets, held: Array) -> Nets:
    """The hypergraph with those fixed to their parts that are held, and no other."""
    return h._replace(fixed=np.where(held, h.fixed, -1).astype(VERTEX) if held.any() else np.zeros(0, VERTEX))


__all__ = ["improve_partition"]
