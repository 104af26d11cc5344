"""The stages of UMPa in their order, and the promises of a partition that is returned."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, integers, whole
from ...errors import ConfigError, PartitionError
from ...hypergraph import Hypergraph
from ...kernels.stages import stage
from ...kernels.umpa_state import Nets
from ...metrics import max_part_weights
from ...names import ExchangeObjective, known_name
from ...options import Config, Options, Settings
from ..feasibility import feasible_limits, overweight
from ..refinement import loosened
from ..rounds import Team
from ..settling import settle
from .cooling import anneal, evenness
from .levels import COARSENINGS, GROWTH, coarsen, finest
from .objectives import Objective
from .pieces import join_pieces
from .search import Search
from .start import best_start, graph_of, no_pull

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

#: Coarsening stops near so many vertices per part, and near so many vertices at least.
PER_PART, _LEAST = 30, 100

#: Times as many starts where the busiest part's messages come first: who is next to whom is settled on the coarsest
#: level, and chance moves so small a number most.
_BUSIEST = 4

#: Temperature, as a share of the usual, of what follows where balance had to be restored.
_LATE = 0.3

#: Where restoring balance makes the first metric so many times what it was, UMPa's passes alone are tried, too.
_DEAR = 1.1

#: Times that a level is annealed, each half as warm, where it comes out worse than before.
_TRIES = 3


class Pace(NamedTuple):
    """How much time to spend.

    fine, coarse : int, sweeps of annealing of the input, and of each coarser level; 0 leaves UMPa's passes alone
    starts : int, initial partitions of the coarsest level, of which the best goes on (the source has five); four times
        as many where the busiest part's messages come first
    members : int, whole partitions made, of which the best is kept
    polish : bool, whether UMPa's passes follow the annealing on every level, and loose pieces are joined to their
        neighbours where that costs next to nothing; without, sweeps downhill end the annealing of the input where
        nothing but the volume counts, which is as good to half a per cent and takes a tenth of the time less
    growth : int, average vertices of a level that make up the largest cluster of the next
    full : int, parts from which on `fine` and `coarse` hold; fewer parts have fewer sweeps, by the root of their share.
        The border of few parts is longer for each, and all else that takes time shrinks with their number
    late : float, how warm the input is annealed, as a share of what coarser levels have: they went through the heat
    """

    fine: int
    coarse: int
    starts: int = 2
    members: int = 1
    polish: bool = True
    growth: int = GROWTH
    full: int = 1
    late: float = 1.0

    def for_parts(self, nparts: int) -> Pace:
        """The pace with as many sweeps as so many parts are annealed with."""
        share = min(1.0, nparts / self.full) ** 0.5
        return self._replace(fine=round(self.fine * share), coarse=round(self.coarse * share))


PACES = {"fast": Pace(22, 24, starts=1, polish=False, growth=6, full=30, late=0.4), "default": Pace(60, 25),
         "strong": Pace(250, 60),
         "best": Pace(500, 100, members=4)}


def partition_hypergraph(
    hypergraph: Hypergraph,
    nparts: int,
    options: Options | None = None,
    *,
    objective: ExchangeObjective | Objective = "volume",
    fixed: ArrayLike | None = None,
    tpwgts: ArrayLike | None = None,
    strict: bool = True,
    pace: Pace | None = None,
    coarsening: str = "absorption",
    **settings: Unpack[Settings],
) -> NDArray[np.int32]:
    """Partition a hypergraph into `nparts` balanced parts that exchange little.

    Parameters
    ----------
    hypergraph : Hypergraph
        With one weight per vertex; the first pin of each net sends.
    nparts : int
        Number of parts, 1 to nvtxs.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
        No part weighs more than ``floor((1 + eps) * ceil(W / nparts))``.
    objective : {"volume", "max-volume", "messages", "max-messages"} or Objective
        What to have least of: the volume (TV); the volume of the part that sends most (MSV, then MSRV and TV); the
        messages (TM, then TV); the messages of the part that sends most of them (MSM, then TM and TV).
    fixed : (nvtxs,) array_like of int, optional
        Part of each pinned vertex, -1 elsewhere.
    tpwgts : (nparts,) array_like of float, optional
        Target share of each part; equal where not given.
    strict : bool
        Raise where no balanced partition is found. False returns the best balance found and logs a warning.
    pace : Pace, optional
        How much time to spend, instead of what the preset stands for.
    coarsening : str
        How vertices become clusters: "absorption", or a method of :func:`copart.partitioner.hypergraphs.cluster`. Those
        that use locks or threads do not give the same parts twice.

    Returns
    -------
    (nvtxs,) int32
        Part of every vertex: the same for the same arguments, on any number of threads, if not said otherwise above.

    Raises
    ------
    PartitionError
        No such partition exists (more parts than vertices, a vertex heavier than a part may be, fixed vertices that
        overfill a part or leave others empty), or none was found.
    ConfigError, GraphError
        An argument is out of range, or vertices have several weights.

    Examples
    --------
    >>> ring = Hypergraph.from_nets(8, [[v, (v + 1) % 8] for v in range(8)])
    >>> part = partition_hypergraph(ring, 2, eps=0.0)
    >>> int((part != np.roll(part, -1)).sum())
    2
    """
    options = Options.of(options, settings)
    aim = Objective.of(objective)
    h, k = checked_hypergraph(hypergraph), whole("nparts", nparts, low=1)
    known_name("coarsening", coarsening, COARSENINGS)
    if k > h.nvtxs:
        raise PartitionError(f"nparts: {k} parts of {h.nvtxs} vertices would leave parts empty; ask for at most "
                             f"{h.nvtxs}")
    limit = np.minimum(max_part_weights(h.total_weight, k, options.eps, tpwgts), h.total_weight)
    pinned = None if fixed is None else integers("fixed", fixed, VERTEX, PartitionError, low=-1, high=k, size=h.nvtxs)
    limit = feasible_limits(h, limit, pinned, strict, tpwgts)
    if k == 1:
        return np.zeros(h.nvtxs, VERTEX)
    if pinned is not None and (pinned >= 0).all():
        return pinned.copy()
    nets = finest(h, pinned)
    pace = pace or pace_of(options.preset)
    with Team(options.threads) as team:
        alone = Team(1)  # members share the threads, or one member has all of them
        work = [team] if pace.members == 1 else [alone] * team.threads
        found = team.spread(lambda i, mine: multilevel(nets, limit, aim, pace, coarsening, options.seed + 104729 * i,
                                                       mine), pace.members, work)
    best = min(found, key=lambda one: (one.excess, *one.values()))
    if best.excess:
        message = overweight(best.state.part, h, limit)
        if strict:
            raise PartitionError(message, ways=["raise eps"], best=True)
        logger.warning("%s", message)
    part: NDArray[np.int32] = best.state.part
    return part


def checked_hypergraph(given: object) -> Hypergraph:
    """A hypergraph as it is.

    Raises
    ------
    ConfigError
        It is something else.
    """
    if not isinstance(given, Hypergraph):
        raise ConfigError(f"hypergraph: needs a copart Hypergraph, got {type(given).__name__}; make one with "
                          f"Hypergraph.column_net(graph)")
    return given


def pace_of(preset: str | Config) -> Pace:
    """The pace that a preset stands for.

    Raises
    ------
    ConfigError
        It is a configuration of the graph partitioner.
    """
    if isinstance(preset, Config):
        raise ConfigError("preset: hypergraphs take a preset by its name, or a pace")
    return PACES[preset]


def multilevel(
    h: Nets, limit: Array, objective: Objective, pace: Pace, coarsening: str, seed: int, team: Team
) -> Search:
    """Coarsen, partition the coarsest level, uncoarsen and refine; the state of the finest level."""
    k = len(limit)
    pace = pace.for_parts(k)
    # the passes bring down what comes first, annealing brings down a price of all that counts
    annealing = pace.fine > 0 or pace.coarse > 0
    frozen = not pace.polish and pace.fine > 0 and objective.metrics == ("TV",)
    with stage("coarsening"):
        levels, maps = coarsen(h, max(PER_PART * k, _LEAST), k, seed, coarsening, team.threads, growth=pace.growth)
    depth = len(maps)
    room = [limit, *(loosened(limit, level.vwgt) for level in levels[1:])]
    starts = pace.starts * (_BUSIEST if objective.primary == "MSM" else 1)
    with stage("first partition"):
        search = best_start(levels[depth], room[depth], objective, depth, starts, seed, team)
    warmth = 1.0
    while True:
        share = pace.late if maps and depth == 0 else 1.0
        search, warmth = annealed(search, pace.coarse if depth else pace.fine, share * warmth,
                                  freeze=frozen and depth == 0)
        if pace.polish or (depth == 0 and not frozen):
            search.passes(2**depth)
        logger.debug("level %d: %d vertices, %s", depth, len(search.state.part), search.values())
        if depth == 0:
            break
        part = search.state.part[maps[depth - 1]]
        depth -= 1
        levels.pop()
        search = Search(levels[depth], part, room[depth], objective, seed)
    if search.excess or (search.state.population == 0).any():
        found = search.values()[0]
        search = _balanced(search, h, limit, pace, warmth / share, team, seed)
        if annealing and search.values()[0] > _DEAR * found:
            # what annealing has gained it may have gained above the limits
            plain = pace._replace(fine=0, coarse=0, polish=True)
            other = multilevel(h, limit, objective, plain, coarsening, seed, team)
            search = min(search, other, key=lambda one: (one.excess, *one.values()))
    if pace.polish:
        join_pieces(search, graph_of(h, 0))
    return search


def _balanced(search: Search, h: Nets, limit: Array, pace: Pace, warmth: float, team: Team, seed: int) -> Search:
    """The state within the limits, and without empty parts, where that can be had; annealed again."""
    part = search.state.part
    # nets as stars: only who is next to whom matters
    settle(graph_of(h, 0), no_pull(), part, limit, team, seed)
    search = Search(h, part, limit, search.objective, seed)
    anneal(search, pace.coarse, _LATE * warmth, hard=True)
    search.passes(1)
    return search


def annealed(search: Search, sweeps: int, warmth: float, *, freeze: bool = False) -> tuple[Search, float]:
    """The state after annealing (:func:`copart.partitioner.umpa.cooling.anneal`), and the warmth for the next level.

    Where many vertices are in the same few nets, or a net costs more than all others and is cut whatever is done, what
    is good melts at lower temperatures than elsewhere: a partition that comes out worse than it went in is taken back,
    and annealed from half as warm, or less where costs are uneven.
    """
    first = search.state.part.copy()
    excess, values = search.excess, search.values()
    for _ in range(_TRIES):
        anneal(search, sweeps, warmth, freeze=freeze)
        if search.excess < excess or search.values() <= values:
            break
        search = Search(search.h, first.copy(), search.state.limit, search.objective, search.salt)
        warmth *= min(0.5, evenness(search))
    return search, warmth


__all__ = ["PACES", "PER_PART", "Pace", "annealed", "checked_hypergraph", "multilevel", "pace_of",
           "partition_hypergraph"]
