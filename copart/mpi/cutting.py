"""Multi-Jagged on points that are distributed over the ranks of a communicator.

All ranks cut all boxes of a level together, exactly (:mod:`copart.partitioner.geometric.pooled`), or with a tolerance
by trial and correction, where one reduction per trial serves all cuts of a box.  After each level the rule of
:mod:`copart.partitioner.geometric.migration` says whether points move to the ranks that go on with them; a rank that
has a part for itself finishes it alone, by selection.  Weights are summed as whole numbers and points in one place are
ordered by their global numbers, so parts do not depend on the number of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, WEIGHT, frozen, tolerance, whole
from ..kernels.clouds import Cloud
from ..kernels.multisection import Found
from ..names import known_name
from ..partitioner.geometric.cutting import Selecting, cloud_of
from ..partitioner.geometric.levels import Cutter, Level, cut, whole_box
from ..partitioner.geometric.migration import Decision, assign, by_part, destinations, judged
from ..partitioner.geometric.points import (
    Points,
    checked_coords,
    checked_nparts,
    common_unit,
    goals,
    real_weights,
    whole_weights,
)
from ..partitioner.geometric.pooled import Pooling
from ..partitioner.geometric.result import Counters
from ..partitioner.geometric.search import Reduction, Searching
from ..partitioner.geometric.tree import next_level, shape
from ..partitioner.multijagged import round_robin, slack
from ..partitioner.rounds import Team
from .agreement import agree, collective
from .rows import exchange, items

Array = np.ndarray[Any, Any]

MIGRATE = ("rule", "always", "never")


@dataclass(frozen=True, eq=False)
class DistributedPartition:
    """Parts of the points of this rank.

    Attributes
    ----------
    part : (n,) int32
        Part of every point of this rank, in the order given.
    nparts : int
    weights : (nparts,) float64
        Weight of each part on all ranks.
    boxes : (nparts, 2, d) float64
        Lower and upper corner of the box of each part.
    counters : Counters
        What this rank took part in.
    decisions : tuple of (int, Decision)
        Levels done, and what the rule of migration found, as far as this rank took part.
    moved : int
        Points that changed their rank, on all ranks, those sent back with their parts not counted.
    """

    part: NDArray[np.int32]
    nparts: int
    weights: NDArray[np.float64]
    boxes: NDArray[np.float64]
    counters: Counters
    decisions: tuple[tuple[int, Decision], ...]
    moved: int


class _Request(NamedTuple):
    """What is asked for, once it was found right on this rank."""

    coords: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    nparts: int
    depth: int
    counts: tuple[int, ...] | None
    eps: float
    migrate: str
    near: bool
    threads: int


@collective
def multijagged(comm: Any, points: ArrayLike, nparts: int | None = None, *, weights: ArrayLike | None = None,
                tpwgts: ArrayLike | None = None, depth: int | None = None, counts: Sequence[int] | None = None,
                eps: float | str = 0.0, migrate: str = "rule", near: bool = False,
                threads: int = 1) -> DistributedPartition:
    """Partition distributed points into boxes of equal weight. Collective.

    The parts are those of :func:`copart.partitioner.multijagged.multijagged` for the points of all ranks, one rank
    after the other, on any number of ranks.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    points : (n, d) array_like of float
        Of this rank; it may have none, of shape (0, d).
    nparts, tpwgts, depth, counts
        As there, the same on all ranks.
    weights : (n,) array_like of float, optional
        Of the points of this rank; on all ranks or on none.
    eps : float
        How far above its target a part may be, as a fraction or in per cent; 0 for the best balance.
    migrate : {"rule", "always", "never"}
        Whether points move after a level: where it pays, after the first level in any case, or not at all.
    near : bool
        Points of a part move to ranks of consecutive numbers, which are mostly near each other, instead of to those
        that have most of them.
    threads : int
        Threads of each rank.

    Returns
    -------
    DistributedPartition

    Raises
    ------
    PartitionError, ConfigError, TypeError
        On all ranks alike: of the first rank with a wrong argument; there are more parts than points on all ranks; or
        an argument other than `points`, `weights` and `threads` differs between ranks.
    """
    request = agree(comm, "multijagged", lambda: _checked(points, weights, nparts, tpwgts, depth, counts, eps, migrate,
                                                          near, threads))
    ours = comm.Dup()
    try:
        with Team(request.threads) as team:
            return _Run(ours, request, tpwgts, team).result()
    finally:
        ours.Free()


def _checked(points: ArrayLike, weights: ArrayLike | None, nparts: Any, tpwgts: Any, depth: Any, counts: Any, eps: Any,
             migrate: str, near: Any, threads: Any) -> tuple[_Request, dict[str, Any]]:
    """The request of this rank, and what must be the same on all ranks."""
    coords = checked_coords(points)
    dim = coords.shape[1]
    k, levels, each = shape(nparts, depth, counts, dim)
    share = tolerance("eps", eps)
    known_name("migrate", migrate, MIGRATE)
    goals(1, k, tpwgts)
    request = _Request(coords, None if weights is None else real_weights(weights, len(coords)), k, levels, each, share,
                       migrate, bool(near), whole("threads", threads, low=1, high=1024))
    return request, {"number of coordinates": dim, "nparts": k, "depth": levels, "counts": each, "eps": share,
                     "migrate": migrate, "near": request.near,
                     "tpwgts": None if tpwgts is None else np.asarray(tpwgts, float),
                     # else one rank would sum them and another would not
                     "weights (given or not)": "left out" if weights is None else "given"}


def reduction(comm: Any) -> Reduction:
    """The sum over the ranks of a communicator as one collective call, whatever is summed or compared."""
    if comm.size == 1:
        return lambda found: None

    def reduce(found: Found) -> None:
        from mpi4py import MPI

        size = len(found.weight)

        def combine(given: Any, into: Any, kind: Any) -> None:
            one = np.frombuffer(given, np.int64).reshape(4, size)
            all_ = np.frombuffer(into, np.int64).reshape(4, size)
            all_[:2] += one[:2]
            least, most = (rows.view(np.float64) for rows in (all_[2], all_[3]))
            np.minimum(least, one[2].view(np.float64), out=least)
            np.maximum(most, one[3].view(np.float64), out=most)

        table = np.empty((4, size), np.int64)
        table[0], table[1] = found.weight, found.count
        table[2], table[3] = found.least.view(np.int64), found.most.view(np.int64)
        # as one item, which no library cuts into pieces
        record, operation = MPI.BYTE.Create_contiguous(table.nbytes).Commit(), MPI.Op.Create(combine, commute=True)
        try:
            comm.Allreduce(MPI.IN_PLACE, [table, 1, record], operation)
        finally:
            operation.Free()
            record.Free()
        found.weight[:], found.count[:] = table[0], table[1]
        found.least[:], found.most[:] = table[2].view(np.float64), table[3].view(np.float64)

    return reduce


class _Peers:
    """The ranks of a communicator, as cutting together knows them."""

    def __init__(self, comm: Any):
        self._comm, self.size, self.rank, self.reduce = comm, comm.size, comm.rank, reduction(comm)

    def add_up(self, mine: Array) -> None:
        from mpi4py import MPI

        self._comm.Allreduce(MPI.IN_PLACE, mine, MPI.SUM)

    def least(self, mine: Array) -> None:
        from mpi4py import MPI

        self._comm.Allreduce(MPI.IN_PLACE, mine, MPI.MIN)

    def gathered(self, mine: Array) -> list[Array]:
        sizes = np.array(self._comm.allgather(len(mine)))
        out = np.empty((sizes.sum(), mine.shape[1]))
        with items(mine) as item:
            self._comm.Allgatherv([mine, len(mine), item], [out, sizes.tolist(), item])
        return np.split(out, np.cumsum(sizes)[:-1])


class _Piece(NamedTuple):
    """Boxes of a result: first part, weights, corners."""

    first: int
    weights: Array
    boxes: Array


class _Run:
    """One call on one rank: the levels, and what they leave."""

    def __init__(self, comm: Any, request: _Request, tpwgts: ArrayLike | None, team: Team):
        self.comm, self.request, self.team = comm, request, team
        sizes = comm.allgather(len(request.coords))
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.points = self._points()
        self.nparts = checked_nparts(request.nparts, int(self.offsets[-1]))
        total = Found(np.array([self.points.total]), np.zeros(1, np.int64), np.zeros(1), np.zeros(1))
        reduction(comm)(total)
        self.total = int(total.weight[0])
        self.wanted = goals(self.total, self.nparts, tpwgts)
        self.slack = slack(self.wanted, request.eps, tpwgts)
        self.counters, self.moved = Counters(), 0
        self.decisions: list[tuple[int, Decision]] = []
        self.pieces: list[_Piece] = []
        self.parts: list[tuple[Array, Array]] = []

    def _points(self) -> Points:
        """The points of this rank, with weights in the unit of all ranks."""
        coords, given = self.request.coords, self.request.weights
        if given is None:
            return Points(coords, np.zeros(0, WEIGHT), 1.0)
        each = self.comm.allgather((bool((given != np.floor(given)).any()), float(given.max(initial=0)),
                                    float(given.sum())))
        fractions, largest, total = zip(*each, strict=True)
        unit = common_unit(any(fractions), max(largest), sum(total), int(self.offsets[-1]))
        return Points(coords, whole_weights(given, unit), unit)

    def result(self) -> DistributedPartition:
        """Do the work."""
        ids = np.arange(self.offsets[self.comm.rank], self.offsets[self.comm.rank + 1])
        cloud = cloud_of(self.points)
        level = whole_box(self.points, cloud, self.nparts, self.team)
        corners = Found(np.zeros(level.boxes.shape[2], np.int64), np.zeros(level.boxes.shape[2], np.int64),
                        level.boxes[0, 0].copy(), level.boxes[0, 1].copy())
        reduction(self.comm)(corners)
        level = level._replace(size=self.offsets[-1:], weight=np.array([self.total]),
                               boxes=np.stack([corners.least, corners.most])[None])
        self._on_with(self.comm, level, cloud, ids, 0)
        weights, boxes = np.zeros(self.nparts, WEIGHT), np.empty((self.nparts, *level.boxes.shape[1:]))
        for pieces in self.comm.allgather(self.pieces):
            for piece in pieces:
                rows = slice(piece.first, piece.first + len(piece.weights))
                weights[rows], boxes[rows] = piece.weights, piece.boxes
        moved = sum(self.comm.allgather(self.moved))
        return DistributedPartition(frozen(self._sent_home(moved)), self.nparts, frozen(weights * self.points.unit),
                                    frozen(boxes), self.counters, tuple(self.decisions), moved)

    def _on_with(self, comm: Any, level: Level, cloud: Cloud, ids: Array, done: int) -> None:
        """The levels from `done` on, of one communicator."""
        request = self.request
        cutter = self._cutter(comm, ids)
        rule = round_robin(cloud.coords.shape[1])
        for number in range(done, request.depth):
            made, parts = next_level(level.parts, request.depth - number,
                                     None if request.counts is None else request.counts[number])
            if (made > 1).any():
                axes = rule(number, cloud, level.start, self.team)
                level = cut(level, made, parts, self.wanted, axes, cloud, self.team, cutter)
            if comm.size > 1 and number < request.depth - 1 and self._migrates(comm, level, number + 1):
                self._count(cutter.counters)
                self._migrate(comm, level, cloud, ids, number + 1)
                return
        self._count(cutter.counters)
        part = np.empty(len(ids), VERTEX)
        part[cloud.perm] = np.repeat(np.arange(level.parts[0], level.parts[-1], dtype=VERTEX), np.diff(level.start))
        self.parts.append((ids, part))
        if comm.rank == 0:
            self.pieces.append(_Piece(int(level.parts[0]), level.weight, level.boxes))

    def _cutter(self, comm: Any, ids: Array) -> Cutter:
        """What cuts best: as published where that is asked for, else exactly."""
        if self.slack > 0:
            return Searching(self.slack, ids, reduction(comm))
        return Selecting() if comm.size == 1 else Pooling(ids, _Peers(comm), self.request.weights is not None)

    def _count(self, more: Counters) -> None:
        self.counters = self.counters.plus(**more._asdict())

    def _migrates(self, comm: Any, level: Level, done: int) -> bool:
        """Ask the rule; another reduction."""
        full = level.size > 0
        average = level.size[full] / comm.size
        mine = float((abs(average - np.diff(level.start)[full]) / average).sum())
        imbalance = sum(comm.allgather(mine)) / (comm.size * max(1, int(full.sum())))
        self._count(Counters(reductions=1))
        found = judged(imbalance, comm.size, int(level.size.sum()), self._counts(level, done), done)
        self.decisions.append((done, found))
        return found.migrate if self.request.migrate == "rule" else self.request.migrate == "always"

    def _counts(self, level: Level, done: int) -> list[int]:
        """Sections per level, those of the largest box where boxes differ, and of this communicator's boxes so far."""
        if self.request.counts is not None:
            later = list(self.request.counts[done:])
        else:
            held, later = np.array([0, np.diff(level.parts).max()]), []
            for left in range(self.request.depth - done, 0, -1):
                made, parts = next_level(held, left, None)
                later.append(int(made[0]))
                held = np.array([0, np.diff(parts).max()])
        return [len(level.size)] + [1] * (done - 1) + later

    def _migrate(self, comm: Any, level: Level, cloud: Cloud, ids: Array, done: int) -> None:
        """Send points to the ranks that go on with their boxes, and go on."""
        owned = np.array(comm.allgather(np.diff(level.start)))
        groups = assign(owned, self.request.near)
        box = np.repeat(np.arange(len(groups)), np.diff(level.start))
        # points of a box in the order of their numbers
        to = destinations(owned, groups, comm.rank, box)
        self.moved += int((to != comm.rank).sum())
        order = np.argsort(to, kind="stable")
        sent = np.bincount(to, minlength=comm.size)
        rows = cloud.perm[order]
        came = comm.alltoall(sent.tolist())
        new_ids, new_box = (exchange(comm, one, sent, came) for one in (ids[rows], box[order]))
        coords = exchange(comm, cloud.coords[rows], sent, came)
        # a rank without points has no weights either, and takes part in sending them all the same
        weighted = self.request.weights is not None
        weights = exchange(comm, cloud.weights[rows], sent, came) if weighted else cloud.weights
        before = level.before + np.cumsum(level.weight) - level.weight
        mine = [number for number, group in enumerate(groups) if comm.rank in group]
        shared = len(groups[mine[0]]) > 1
        inner = comm.Split(mine[0] if shared else comm.size + comm.rank, comm.rank)
        try:
            came_first = np.argsort(new_ids)
            in_box, ends = by_part(new_box[came_first], len(groups))
            for number in mine:
                here = came_first[in_box[ends[number]:ends[number + 1]]]
                own = Points(frozen(np.ascontiguousarray(coords[here])),
                             weights[here] if weighted else weights, self.points.unit)
                parts = level.parts[number:number + 2]
                one = Level(parts, np.array([0, len(here)]), level.size[number:number + 1],
                            level.weight[number:number + 1], level.boxes[number:number + 1], int(before[number]))
                self._on_with(inner, one, cloud_of(own), new_ids[here], done)
        finally:
            inner.Free()

    def _sent_home(self, moved: int) -> NDArray[np.int32]:
        """The parts of the points that this rank gave, in its order; `moved` changed their rank."""
        if not moved and len(self.parts) == 1:
            return self.parts[0][1]
        ids = np.concatenate([one for one, _ in self.parts])
        part = np.concatenate([one for _, one in self.parts])
        first = self.offsets[self.comm.rank]
        if moved:
            home = np.searchsorted(self.offsets, ids, side="right") - 1
            order = np.argsort(home, kind="stable")
            sent = np.bincount(home, minlength=self.comm.size)
            came = self.comm.alltoall(sent.tolist())
            ids, part = (exchange(self.comm, one[order], sent, came) for one in (ids, part))
        out = np.empty(int(np.diff(self.offsets)[self.comm.rank]), VERTEX)
        out[ids - first] = part
        return out


__all__ = ["MIGRATE", "DistributedPartition", "multijagged", "reduction"]
