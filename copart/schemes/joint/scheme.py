"""JOINT: both sides of every interface are partitioned together, level by level.

Without a number of coupled parts, the components are partitioned alone first, and then improved together by V-cycles
that are in no figure worse for it (:mod:`.together`).

Where so many parts are to own coupled cells, no more and no fewer, another way leads there:

1. *Coarsen* every component (`.levels`).  The largest begin with a partition of small cut, of as many vertices as
   KGGGP-ML would take, whose parts with most of the interface become the coupled ones; where that leaves much to be
   moved, with the interface partitioned first and the walls carried on behind it (`.columns`), if that costs less.  A
   small component is led by the large one that it meets most: the groups of parts that it faces are its own, and the
   rest of it is grown from them.
2. *Anneal* the coupled vertices of all components as one problem (`copart.kernels.coupled_annealing`) on the coarsest
   levels: cut, volume and messages of a move are exact, weight above the limits of the coupled parts has a price.  Two
   vertices that face each other may move at once, so that borders of both components move together.
   Then *give up* messages of few cells, each as a whole (`copart.kernels.dissolving`).
3. *Refine* on the way back to the cells: each level for its cut, then the coupled vertices, cold, for all three.
4. *Anneal* clusters of cells that share a cell of the coarser mesh; then those components that are led might follow
   anew; then the cells.  At last FM and minimum cuts refine the components with their coupled cells where they are.

(The problem: Predari & Esnard 2014, Section II; gain rules: Catalyurek, Deveci, Kaya & Ucar 2013, UMPa.)
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from ...algorithms import aware, projrepart
from ...coupling import CoPartition, CoupledProblem
from ...errors import NotApplicableError, PartitionError, of_component
from ...interface.counts import Counts, CoupledCounts, coupled_counts, part_counts
from ...interface.price import PRICE, price_with_busiest
from ...interface.uncut import interface_groups
from ...metrics import edge_cut, max_part_weights
from ...names import Directions, Fix, InterfaceRule, known_name
from ...operators import copartition_balance, ext
from ...options import Options, Settings, Thorough
from ...partitioner.affinity import finest
from ...partitioner.refinement import cut_of
from ...partitioner.rounds import Team
from ...partitioner.shape import known_shape
from ..contiguous import contiguous as connected
from .annealing import Annealing, Schedule
from .cells import CoupledCells, PartArrays
from .descent import Descent
from .finish import finish, held
from .together import together

logger = logging.getLogger(__name__)

Array = NDArray[np.int32]

DIRECTIONS: tuple[Directions, ...] = get_args(Directions)
"""Whose volume counts: data from the first component of each pair to the second, as in totV, or both ways."""

FIXES: tuple[Fix, ...] = get_args(Fix)
"""The last refinement keeps the coupled cells where they are (hard), or is followed by one more annealing (soft)."""

AGAIN = Schedule(50, (0.5, 0.1), (1.0, 0.05), (5.0, 20.0))

SMALL = 100_000
"""Up to so many vertices AWARE and PROJREPART are run, too, and the result has no more traffic than theirs."""


def joint(
    problem: CoupledProblem,
    nparts: Counts,
    ncoupled: CoupledCounts | None = None,
    options: Options | None = None,
    *,
    interface: InterfaceRule = "spread",
    price: Sequence[float] | None = None,
    directions: Directions = "forward",
    fix: Fix = "hard",
    contiguous: bool = False,
    **settings: Unpack[Settings],
) -> CoPartition:
    """JOINT: partitions of small cut whose interfaces are refined together for cut, volume and messages.

    By default begins from NAIVE with the same arguments and is in no figure worse than that: cuts at most 8 % above,
    data 1 %, and messages, data and messages of the busiest process, coupled weight of the busiest process,
    connected pieces and the length of a step (:class:`copart.metrics.step.StepCost`) at most as much.  Any of
    `ncoupled`, `interface`, `price`, `directions` and `fix` asks for the other way, in which exactly N^cpl parts of
    each component own its coupled cells, in balance.

    Parameters
    ----------
    problem : CoupledProblem
        Any number of components.
    nparts : mapping, sequence or int
        Parts of each component, by name or in order.
    ncoupled : mapping, sequence, int or "paper", optional
        Parts of each component that own its coupled cells; see :func:`copart.interface.counts.coupled_counts`.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    interface : {"spread", "gather", "uncut"}
        Over how many parts the coupled cells go where `ncoupled` does not say; "uncut" is "gather" here.
    price : (float, float, float) or (float, float, float, float, float)
        What a cut edge, a datum sent and a message cost.  A message costs its latency, in units of the time
        that one cell's datum takes.  Two more numbers are what the process with the most data sent or received
        (maxV) and the one with the most messages (maxZ) pay for each besides.  Where not given, what follows from
        the cut, the data and the messages of the components alone; (1, 16, 120) where N^cpl is given.
    directions : {"forward", "both"}
        Whose data count: from the first component of each pair to the second, or both ways.
    fix : {"hard", "soft"}
        With "soft" the coupled cells are annealed once more in the refined components, which are then
        refined again: a little less cut for more time.
    contiguous : bool
        Connected parts (:mod:`copart.schemes.contiguous`); begins from NAIVE with connected parts by default.

    Returns
    -------
    CoPartition
        Parts ``0..ncoupled-1`` of each component own its coupled cells where their number was asked for; else
        `alone` holds what it began with.

    Raises
    ------
    ConfigError
        `price`, `directions` or `fix` are out of range.
    NotApplicableError
        A component with several interfaces has to keep them uncut, and one part cannot hold them.
    CouplingError, PartitionError
        No balanced partition exists with the `ncoupled` that was asked for, or parts would be empty.

    Examples
    --------
    >>> from copart import Graph, Interedges
    >>> line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> facing = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, range(4), range(4)))
    >>> made = joint(facing, 2, 2)
    >>> bool((made.a == made.a[::-1]).any()), sorted(set(made.a.tolist()))
    (False, [0, 1])
    """
    run, prices = Thorough.of(options, settings), price_with_busiest(PRICE if price is None else price)
    known_name("directions", directions, DIRECTIONS)
    known_name("fix", fix, FIXES)
    count = part_counts(problem, nparts)
    for name, graph in problem.components.items():
        if count[name] > graph.nvtxs:
            raise PartitionError(f"nparts of {name}: {count[name]} parts of {graph.nvtxs} cells would leave parts "
                                 f"empty; ask for at most {graph.nvtxs}")
    plain = price is None and directions == "forward" and fix == "hard"
    if ncoupled is None and interface == "spread" and plain:
        return together(problem, count, run, contiguous)
    if contiguous:
        made = joint(problem, nparts, ncoupled, run, interface=interface, price=price, directions=directions, fix=fix)
        return connected(problem, made, run)
    coupled = coupled_counts(problem, count, ncoupled, run, interface=interface)
    for name in problem.names if interface == "uncut" and ncoupled is None else ():
        if coupled[name] > 1 and len(interface_groups(problem, name)) > 1:
            raise NotApplicableError(f"joint: cannot keep the interfaces of {name} uncut, it has several and they need "
                                     f"{coupled[name]} parts; take aware or projrepart")
    task = Annealing(problem, count, coupled, directions == "both", prices, run)
    small = sum(graph.nvtxs for graph in problem.components.values()) <= SMALL
    found: list[PartArrays] = []
    failed: PartitionError | None = None
    try:
        with Team(run.threads) as team:
            found.append(Descent(task, team).parts())
        if fix == "soft":
            found = [_finished(task, _annealed_again(task, found[0]))]
    except PartitionError as error:
        given = ncoupled is not None and not isinstance(ncoupled, str)
        if not small and given:
            raise
        logger.info("the levels lead to no balanced partition; the published schemes may")
        failed = error
    published = _published(task) if small else []
    if not found and not published:
        assert failed is not None
        if ncoupled is None or isinstance(ncoupled, str):  # with other numbers of coupled parts there may be one
            return _other_counts(task, ncoupled, interface, failed)
        raise failed
    return CoPartition(_best_of(task, found, published) if published else found[0], count, coupled)


def _published(task: Annealing) -> list[PartArrays]:
    """What AWARE and PROJREPART make of the problem, where they find a partition."""
    found: list[PartArrays] = []
    for scheme in (aware, projrepart):
        try:
            found.append(scheme(task.problem, task.nparts, task.ncoupled, task.options).parts)
        except PartitionError as error:
            logger.info("%s", error)
    return found


def _other_counts(task: Annealing, ncoupled: CoupledCounts | None, interface: InterfaceRule, failed: PartitionError
                  ) -> CoPartition:
    """What AWARE or PROJREPART make with another number of coupled parts than the usual one."""
    for scheme in (aware, projrepart):
        try:
            return scheme(task.problem, task.nparts, ncoupled, task.options, interface=interface)
        except PartitionError as error:
            logger.info("%s", error)
    raise failed


def _best_of(task: Annealing, found: list[PartArrays], others: list[PartArrays]) -> PartArrays:
    """The cheapest of `found`, the others and these annealed again, none with more traffic than any other has."""
    again = [_finished(task, _annealed_again(task, other)) for other in others]
    made = [(*_figures(task, one), one) for one in (*found, *again, *others)]
    bound = min((traffic for traffic, _, _ in made[len(made) - len(others):]), default=np.inf)
    return min((m for m in made if m[0] <= bound), key=lambda m: m[1])[2]


def _figures(task: Annealing, parts: PartArrays) -> tuple[int, float]:
    """Volume and messages added up, and all three at their prices."""
    cells = CoupledCells(task.problem, parts, task.ncoupled, task.both)
    s = cells.shares(cells.start(), cells.limits(task.nparts, task.options.eps))
    cut = sum(edge_cut(graph, parts[name]) for name, graph in task.problem.components.items())
    return int(s.total[1] + s.total[2]), float(task.price[:3] @ (cut, *s.total[1:]))


def _annealed_again(task: Annealing, parts: PartArrays) -> dict[str, Array]:
    """`parts`, which are balanced, with the coupled cells annealed at a low temperature."""
    cells = CoupledCells(task.problem, parts, task.ncoupled, task.both)
    s = cells.shares(cells.start(), cells.limits(task.nparts, task.options.eps))
    task.cool(cells.cells, s, AGAIN, fair=True)
    return cells.scatter(task.relieved(cells, cells.cells, s))


def _finished(task: Annealing, parts: PartArrays) -> dict[str, Array]:
    """The components refined with their coupled cells where they are."""
    return {name: _refined(task, name, parts[name]) for name in task.problem.names}


def _refined(task: Annealing, name: str, start: NDArray[np.int32]) -> NDArray[np.int32]:
    """Refined with the coupled cells where they are; extended from them where that finds no balance."""
    graph, nparts, cells = task.problem.components[name], task.nparts[name], task.problem.coupled(name)
    within = copartition_balance(graph, nparts, task.options)
    limit = max_part_weights(graph.total_weight, nparts, within.eps)
    level, pull = finest(graph, nparts, None, None)
    out = start.copy()
    with Team(task.options.threads) as team:
        if finish(held(level, cells, start[cells]), pull, out, limit, cut_of(level, out), task.options.config,
                  task.options.seed, team, known_shape(graph, level)) == 0:
            return out
    logger.info("%s: refinement did not reach balance, extending anew", name)
    with of_component(name):
        return ext(graph, cells, start[cells], task.ncoupled[name], nparts, task.options)


__all__ = ["DIRECTIONS", "FIXES", "joint"]
