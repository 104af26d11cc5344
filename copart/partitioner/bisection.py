"""Initial partitions by recursive multilevel bisection: KGGGP with two parts, FM with rollback.

On meshes it starts refinement better than growing all parts at once (cut of a
70^3 grid in 16 parts on the coarsest graph: 27,000 against 37,000).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels import Level
from ..kernels.memory import reuse
from ..kernels.recursive_bisection import bisect_recursively
from ..options import Config
from .arenas import ROOM, USUAL, VertexSet, arena_for, cut_out, room_needed
from .bodies import separated
from .coarsening import contract
from .cores import induced
from .rounds import Team
from .shape import Shape, look_at
from .shuffling import visiting_order

Array = np.ndarray[Any, Any]

#: Halvings after which the sets of parts are shared out among the threads for good.
_SHARED = 2

#: On grids in space bisections coarsen to so many vertices, at most: of 64 bodies of blocks 1 % less cut in a twentieth
#: less time (`default`) than with 80, and the boxes of a cube are found.  On others as many bring nothing.
_LEAST_OF_GRIDS = 48


def recursive_bisection(g: Level, limit: Array, salts: list[int], team: Team, starts: int = 0, *,
                        shape: Shape | None = None, config: Config = USUAL) -> list[Array]:
    """Partitions into ``len(limit)`` parts, one per salt, by halving the set of parts again and again.

    The first is made in the order of the vertices, later ones in others, but on grids whose rows go through.

    The fixed vertices of each part are collapsed into one, which may go to either side: a
    bisection itself decides which fixed parts stay together, so that neighbours are not
    separated by their numbers.  Where whole bodies fill some of the parts, without fixed vertices, nothing is cut
    between these and the others (:func:`copart.partitioner.bodies.separated`).

    Parameters
    ----------
    limit : (nparts,) int64
        Largest weight of each part; the slack is spread over the splits.
    salts : list of int
        Seed of each partition.
    starts : int
        Above 0 where the graph has hubs: so many more sides of each bisection are grown from one vertex, and it is
        coarsened without pairs: every vertex joins the cluster it is tied to most.
    shape : Shape, optional
        Whether it is a grid, in which limits are looser at first, and whose order is kept where its rows go through;
        looked at where not given.
    config : Config, optional
        halving_least, halving_passes.

    Returns
    -------
    list of (nvtxs,) int32
        Parts; may exceed the limits where coarse vertices are heavy.
    """
    shape = shape or look_at(g)
    sets = [] if len(g.fixed) else separated(g, limit)
    if len(sets) < 2:
        return _halved(g, limit, salts, team, starts, shape, config)
    found = np.empty((len(salts), len(g.vwgt)), np.int32)
    for vertices, parts in sets:
        halved = _halved(induced(g, vertices), limit[parts], salts, team, starts, shape, config)
        found[:, vertices] = parts[np.stack(halved)]
    return list(found)


@reuse
def _halved(g: Level, limit: Array, salts: list[int], team: Team, starts: int, shape: Shape,
            config: Config) -> list[Array]:
    """Partitions as :func:`recursive_bisection` makes them, of bodies that are divided."""
    team.grow()
    whole, cmap = _collapse(g, len(limit))
    if shape.grid and not shape.flat and not shape.uneven:
        config = replace(config, halving_least=min(config.halving_least, _LEAST_OF_GRIDS))
    n, k = len(whole.vwgt), len(limit)
    arenas = [arena_for(whole, k, config, 2**_SHARED) for _ in range(min(team.threads, len(salts)))]
    degree = np.diff(whole.xadj)
    vertices = np.tile(np.arange(n, dtype=np.int32), (len(salts), 1))
    if not shape.grid or shape.uneven:
        # what is matched in another order is cut in other places; boxes of a grid are kept
        for run in range(1, len(salts)):
            vertices[run] = visiting_order(n, salts[run])
    labels = np.tile(np.arange(k, dtype=np.int32), (len(salts), 1))
    part = np.empty((len(salts), n), np.int32)

    def bisect(one: VertexSet) -> list[VertexSet]:
        """Halve the set, or make all of its parts; the sets that are left."""
        run, lo, first = one.run, one.lo, one.first
        once = one.halvings > 0 and one.last - first > 1 and one.hi - lo > 1
        arena = cut_out(arenas[run % len(arenas)], one)
        at, left = bisect_recursively(whole, limit, vertices[run, lo : one.hi], labels[run, first : one.last],
                                      salts[run], starts, shape.grid, once, part[run], arena)
        if not once:
            return []
        room = room_needed(arena, n, len(whole.adjncy)) if one.hi - lo == n else one.room
        middle = lo + int(at)
        return one.halves(middle, first + int(left), int(degree[vertices[run, lo:middle]].sum()), room)

    whole_sets = [VertexSet(run, 0, n, 0, k, 0, len(whole.adjncy), 0, _SHARED, (ROOM, ROOM))
                  for run in range(len(salts))]
    # runs that share an arena are made one after the other
    for begin in range(0, len(salts), len(arenas)):
        team.unfold(bisect, whole_sets[begin : begin + len(arenas)])
    return [one if cmap is None else one[cmap] for one in part]


def _collapse(g: Level, nparts: int) -> tuple[Level, Array | None]:
    """The level without affinities, one vertex for the fixed vertices of each part, and the map to it, if any are."""
    none = np.zeros(0, np.int32)
    if len(g.fixed):
        label = np.where(g.fixed >= 0, g.fixed, nparts + np.arange(len(g.fixed)))
        cmap = np.unique(label, return_inverse=True)[1].astype(np.int32)
        with Team(1) as alone:
            return contract(g, cmap, int(cmap.max()) + 1, alone), cmap
    return g._replace(fixed=none, origin=none, size=np.zeros(0, np.int64)), None
