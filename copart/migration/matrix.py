"""M x N migration matrices: who sends how much to whom when M parts become N.

``C[i, j]`` is the weight that goes from former part i to new part j; on the
diagonal it stays where it is.  A good matrix moves little, in few messages, and
lets every new part be connected.  It is found in three steps.

1. *Groups.*  Former parts are gathered in groups that are connected in their
   quotient graph and whose weight fills a whole number of new parts.  A group of
   r former and n new parts needs ``r + n - 1`` non-zeros, so many small groups mean
   few messages (all groupings are compared for a few former parts, grown greedily
   for more).
2. *Trees.*  Inside a group, a spanning tree of the quotient graph carries weight
   from leaf to root.  Every former part hosts its own new part first, which keeps
   the volume low, and an additional new part where enough weight has gathered.
   What it has too much goes to its parent; what it lacks, the parent gives.  A new
   part is then a former part together with neighbours of it.
3. *Numbers.*  A maximum-weight matching gives a new part the number of the former
   part it shares most with.

The non-zeros, seen as edges between former and new parts, form a forest: given
the pattern and both sums, the amounts follow, so the pattern alone steers the
partitioner.  (Predari & Esnard 2014, Section III.C; Vuchener & Esnard 2012.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import WEIGHT, fraction, weights, whole
from ..errors import ConfigError, PartitionError
from ..graph import Graph
from ..metrics import max_part_weights, target_shares
from .groups import Group, Near, Supply, exact_groups, greedy_groups, linked_up, reached
from .matching import heaviest_matching
from .trees import Entry, spread, trees

#: Up to so many former parts all groupings are compared: 3^9 / 2 steps are some 50 ms.
_EXACT = 9
#: Greedy groupings tried for m former parts: this number over m, within the limits.
_GROUPINGS, _LEAST_GROUPINGS, _MOST_GROUPINGS = 300, 2, 6
#: Trees tried in a group of r former parts: this number over r, within the limits.
_TREES, _FEWEST, _MOST = 400, 12, 40
#: Volume, in new parts, that is worth a pair of neighbours instead of strangers in a new part.
_STRANGERS = 0.1

Quality = tuple[int, int, float, int]


def migration_matrix(former: ArrayLike, nparts: int, *, adjacency: Graph | None = None, eps: float = 0.05,
                     tpwgts: ArrayLike | None = None) -> NDArray[np.int64]:
    """Choose how much weight goes from each former part to each of `nparts` new parts.

    Parameters
    ----------
    former : (M,) array_like of int
        Weights of the former parts, not negative; they may be unbalanced or 0.
    nparts : int
        Number of new parts N, larger, equal or smaller than M.
    adjacency : Graph, optional
        Quotient graph of the former parts; without it all of them count as neighbours.
    eps : float
        Imbalance tolerance, a fraction.  Half of it is used where that saves messages
        or volume; 0 makes the column sums differ by at most 1.
    tpwgts : (nparts,) array_like of float, optional
        Target fractions of the new parts.

    Returns
    -------
    (M, nparts) int64
        Row sums are the former weights.  Column sums are within half of `eps` of the targets
        (whole numbers), but where N = M a light former part may stay as light as it is: only
        what is too much moves, and nothing if all former parts are within `eps`.  The
        non-zeros form a forest, so there are fewer than M + N.

    Notes
    -----
    Messages are the non-zeros off the diagonal: to keep a number costs a non-zero but no
    message.  Equal former weights and equal targets give ``M + N - gcd(M, N)`` non-zeros,
    the known minimum; in general, up to 9 former parts that are all neighbours and equal
    targets give the fewest messages that any matrix has.  With `adjacency` a connected
    new part goes before fewer messages.

    Examples
    --------
    >>> migration_matrix([12, 12], 3, eps=0)
    array([[8, 0, 4],
           [0, 8, 4]])
    """
    n = whole("nparts", nparts, low=1)
    w = weights("former", former, np.size(former), PartitionError)
    m, total = len(w), int(w.sum())
    if m == 0:
        raise PartitionError("former: needs at least one former part")
    if adjacency is not None and adjacency.nvtxs != m:
        raise ConfigError(f"adjacency: has {adjacency.nvtxs} vertices for {m} former parts")
    limit = max_part_weights(total, n, eps, tpwgts)
    if total == 0 or (m == n and (w > 0).all() and (w <= limit).all()):
        return np.diag(w)[:, :n] if m >= n else np.pad(np.diag(w), ((0, 0), (0, n - m)))
    rows = np.flatnonzero(w)
    near = None if adjacency is None else _neighbours(rows, adjacency)
    share = None if tpwgts is None else target_shares(tpwgts, n)
    if share is not None and (share == share[0]).all():
        share = None
    case = _Case(w, rows, near, n, share)
    # Half of eps is left to the partitioner, which has to cut along whole vertices.
    planned = [Fraction(0), Fraction(repr(fraction("eps", eps))) / 2]
    tried: list[tuple[list[Group], bool]] = []
    candidates = []
    for tolerance in dict.fromkeys(planned):
        supply = case.supply(tolerance)
        for groups in case.groupings(supply):
            if (groups, supply.stay) not in tried:
                tried.append((groups, supply.stay))
                candidates.append(case.matrix(groups, supply, tolerance))
    return min(candidates, key=lambda c: (*quality(c, rows, near), int(c.sum(axis=0).max())))


def quality(matrix: NDArray[np.int64], rows: NDArray[np.int64], near: Near | None) -> Quality:
    """What is minimised, in this order.

    Columns that are not connected; messages; volume, to which every pair of former parts in
    one column that are not neighbours adds a tenth of a new part, for their new part will
    be drawn out; last, the boundary that former parts in one column share is made as long
    as possible, because it is no longer cut.

    Entry i of `near` holds the neighbours of former part ``rows[i]``, as positions in
    `rows`; None: all are neighbours.
    """
    off = matrix.copy()
    np.fill_diagonal(off, 0)
    torn, loose, shared = _shape((np.flatnonzero(column).tolist() for column in matrix[rows].T), near)
    strangers = _STRANGERS * loose * float(matrix.sum()) / matrix.shape[1]
    return torn, int(np.count_nonzero(off)), float(off.sum()) + strangers, -shared


def _shape(columns: Iterable[list[int]], near: Near | None) -> tuple[int, int, int]:
    """How many columns are not connected; pairs in a column that are not neighbours; boundary shared in a column."""
    torn = loose = shared = 0
    if near is not None:
        for column in columns:
            if len(column) > 1:
                members = set(column)
                inside = [near[r][u] for r in members for u in near[r].keys() & members]
                torn += len(reached(members, near)) < len(members)
                loose += len(members) * (len(members) - 1) // 2 - len(inside) // 2
                shared += sum(inside) // 2
    return torn, loose, shared


@dataclass(frozen=True)
class _Case:
    """Former weights, the former parts with weight (`rows`), their neighbours, the new parts and their shares."""

    former: NDArray[np.int64]
    rows: NDArray[np.int64]
    near: Near | None
    nparts: int
    share: NDArray[np.float64] | None

    def supply(self, tolerance: Fraction) -> Supply:
        """The former parts and the range of a new part's weight."""
        w = self.former[self.rows].tolist()
        count = min(self.nparts, sum(w))
        mean = Fraction(sum(w), count)
        low = max(1, min(floor(mean), ceil((1 - tolerance) * mean)))  # no new part is empty, however large eps is
        high = min(sum(w), max(ceil(mean), floor((1 + tolerance) * mean)))
        return Supply(w, (self.rows < self.nparts).tolist(), None if self.near is None else linked_up(self.near), count,
                      low, high, stay=tolerance > 0 and len(w) == self.nparts)

    def groupings(self, supply: Supply) -> Iterator[list[Group]]:
        """Groupings to try; a single group where the new parts differ."""
        if self.share is not None:
            yield [(list(range(len(self.rows))), self.nparts)]
        elif len(self.rows) <= _EXACT:
            yield exact_groups(supply)
        else:
            count = min(max(_GROUPINGS // len(self.rows), _LEAST_GROUPINGS), _MOST_GROUPINGS)
            for attempt in range(count):
                yield greedy_groups(supply, attempt)

    def matrix(self, groups: list[Group], supply: Supply, tolerance: Fraction) -> NDArray[np.int64]:
        """The matrix of a grouping, its columns numbered."""
        out = np.zeros((len(self.former), self.nparts), WEIGHT)
        first = 0
        for members, count in groups:
            if self.share is None:
                kept = [r for r in members if supply.kept[r]]
                own = {r: first + i for i, r in enumerate(kept)} if len(kept) <= count else {}
                goals = _even(sum(supply.weight[r] for r in members), count)
                high = np.full(count, supply.high, WEIGHT)
            else:
                own = {r: int(self.rows[r]) for r in members if supply.kept[r]}
                goals = _proportional(sum(supply.weight), self.share)
                total = sum(supply.weight)
                high = np.maximum(goals, np.minimum(float(1 + tolerance) * total * self.share, total).astype(WEIGHT))
            if supply.stay and len(members) == count:
                goals = _excess_only(np.array([supply.weight[r] for r in members]), goals, high)
            # Where hosting its own new part would tear others, a former part may do without.
            hosts = [own] if self.share is not None or supply.stay or not own else [own, {}]
            for r, j, amount in _best_tree(supply, members, hosts, dict(enumerate(goals.tolist(), first))):
                out[self.rows[r], j] = amount
            first += count
        return self.numbered(out)

    def numbered(self, matrix: NDArray[np.int64]) -> NDArray[np.int64]:
        """Permute the columns so that as much as possible is on the diagonal; unequal shares stay apart."""
        share = np.zeros(self.nparts) if self.share is None else self.share
        rows, columns = np.nonzero(matrix[:self.nparts])
        alike = share[rows] == share[columns]
        rows, columns = rows[alike], columns[alike]
        amounts = matrix[rows, columns]
        taken = heaviest_matching(list(zip(rows.tolist(), columns.tolist(), amounts.tolist(), strict=True)))
        column = np.full(self.nparts, -1)
        column[rows[taken]] = columns[taken]
        # the others in order, among those of the same share
        numbers, left = np.flatnonzero(column < 0), np.setdiff1d(np.arange(self.nparts), column)
        column[numbers[np.argsort(share[numbers], kind="stable")]] = left[np.argsort(share[left], kind="stable")]
        return np.ascontiguousarray(matrix[:, column])


def _best_tree(s: Supply, members: list[int], hosts: list[dict[int, int]], target: dict[int, int]) -> list[Entry]:
    """The best way to fill the new parts of one group, over several trees and choices of hosts."""
    best: tuple[Quality, list[Entry]] | None = None
    at = {r: i for i, r in enumerate(members)}
    near = None if s.near is None else [{at[u]: b for u, b in s.near[r].items() if u in at} for r in members]
    linked = None if near is None else linked_up(near)  # a greedy group may have had to jump
    count = min(max(_TREES // len(members), _FEWEST), _MOST if near else _FEWEST)
    strangers = _STRANGERS * sum(target.values()) / len(target)
    seen: set[tuple[Entry, ...]] = set()
    for local_tree in dict.fromkeys(map(tuple, trees(len(members), linked, count))):
        tree = [(members[r], members[parent] if parent >= 0 else -1) for r, parent in local_tree]
        for own, own_first in product(hosts, (False, True)):
            entries = spread(s.weight, tree, own, target, own_first)
            if tuple(entries) in seen:
                continue
            seen.add(tuple(entries))
            columns: dict[int, list[int]] = {}
            for r, j, _ in entries:
                columns.setdefault(j, []).append(at[r])
            stays = [entry for entry in entries if s.kept[entry[0]]]
            taken = heaviest_matching(stays)
            torn, loose, shared = _shape(columns.values(), near)
            key = (torn, len(entries) - len(taken), strangers * loose - sum(stays[i][2] for i in taken), -shared)
            if best is None or key < best[0]:
                best = key, entries
    assert best is not None
    return best[1]


def _even(total: int, count: int) -> NDArray[np.int64]:
    """Whole numbers that differ by at most 1 and sum up to `total`."""
    out = np.full(count, total // count, WEIGHT)
    out[:total % count] += 1
    return out


def _proportional(total: int, share: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers in proportion to `share` (positive, any sum) that sum up to `total`: largest remainders."""
    part = share / share.sum()
    exact = total * part
    out = np.floor(exact).astype(WEIGHT)
    missing = total - int(out.sum())
    order = np.lexsort((np.arange(len(out)), out - exact))
    # floating point may be off by more than one per part where the total is beyond 2^53
    np.add.at(out, order[np.arange(abs(missing)) % len(out)], np.sign(missing))
    return np.asarray(out)


def _excess_only(weight: NDArray[np.int64], goals: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """Targets that leave all former parts as they are, but for what is above `high`; that fills the others' room."""
    out: NDArray[np.int64] = np.minimum(weight, high)
    excess, room = int(weight.sum() - out.sum()), high - out
    if excess > int(room.sum()):
        return goals
    if excess:
        out = out + np.minimum(_proportional(excess, room.astype(np.float64)), room)
        for i in np.flatnonzero(out < high):  # what rounding up one room took from another
            more = min(int(weight.sum() - out.sum()), int(high[i] - out[i]))
            out[i] += more
    return out


def _neighbours(rows: NDArray[np.int64], quotient: Graph) -> Near:
    """Neighbours of the former parts `rows` in the quotient graph, as positions in `rows`."""
    at = {int(r): i for i, r in enumerate(rows)}
    out: Near = [{} for _ in rows]
    for u, v, b in zip(*(x.tolist() for x in quotient.edges()), strict=True):
        if u in at and v in at:
            out[at[u]][at[v]] = out[at[v]][at[u]] = b
    return out
