"""What every scheme is given when it is run again, and what all of them share: counts kept, components extended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import FREE, VERTEX, PartArray
from ..coupling import CoPartition, CoupledProblem
from ..errors import CouplingError, of_component
from ..interface.counts import Counts, CoupledCounts, choices_of, coupled_counts, part_counts
from ..interface.price import Price
from ..metrics import evaluate
from ..migration.plan import MigrationPlan
from ..options import Options
from .adaptive import adaptive_repartition


@dataclass(frozen=True, eq=False)
class Rerun:
    """A co-partition that is to be made near the former one.

    Attributes
    ----------
    problem : CoupledProblem
        As it is now.
    former : CoPartition
        Where its cells are now.
    nparts, ncoupled : mapping, sequence, int, optional
        Counts that are asked for; `ncoupled` may be "paper".
    alpha : float
        What `price` is paid for, beside 1 for a unit of ``vsize`` that moves.
    price : (float, float, float)
        Of the edge cut (positive), of volume (the mean of both ways) and of messages.
    options : Options
    """

    problem: CoupledProblem
    former: CoPartition
    nparts: Counts | None
    ncoupled: CoupledCounts | None
    alpha: float
    price: Price
    options: Options

    @cached_property
    def count(self) -> dict[str, int]:
        """Parts of each component: as asked, or as before."""
        return dict(self.former.nparts) if self.nparts is None else part_counts(self.problem, self.nparts)

    @cached_property
    def coupled(self) -> dict[str, int]:
        """N^cpl of each component: as asked, as before, or the natural count."""
        problem, former, run = self.problem, self.former, self.options
        if self.ncoupled is not None:
            return coupled_counts(problem, self.count, self.ncoupled, run)
        out = {}
        for name, n in self.count.items():
            kept = former.ncoupled[name] or len(np.unique(former[name][problem.coupled(name)]))
            try:
                out[name] = choices_of(problem, name, n, kept if n == former.nparts[name] else None, run)[0]
            except CouplingError:  # so many parts can no longer hold the coupled cells, or there are none
                out[name] = choices_of(problem, name, n, None, run)[0]
        return out

    @property
    def edge(self) -> float:
        """What a cut edge of weight 1 costs, beside 1 for a unit of ``vsize`` that moves."""
        return self.alpha * self.price[0]

    def extended(self, coupled: Mapping[str, PartArray], near: Mapping[str, PartArray] | None = None
                 ) -> dict[str, PartArray]:
        """The components repartitioned with their coupled cells as given; the parts `near` are one more start.

        Parameters
        ----------
        coupled : mapping of str to (ncoupled cells,) int32
            Parts of the coupled cells.
        near : mapping of str to (nvtxs,) int32, optional
            Parts of all cells.
        """
        parts = {}
        for name, graph in self.problem.components.items():
            fixed = np.full(graph.nvtxs, FREE, VERTEX)
            fixed[self.problem.coupled(name)] = coupled.get(name, FREE)
            with of_component(name):
                parts[name] = adaptive_repartition(graph, self.former[name], self.former.nparts[name],
                                                   self.count[name], self.options, alpha=self.edge, fixed=fixed,
                                                   starts=[near[name]] if near else ())
        return parts

    def cost(self, made: CoPartition) -> float:
        """``alpha * price . (cut, totV, totZ) + migration volume``, totV being the mean of both ways."""
        found = evaluate(self.problem, made)
        cut = sum(component.cut for component in found.components.values())
        volume = sum(pair.totV_ab + pair.totV_ba for pair in found.pairs.values()) / 2
        messages = sum(pair.totZ for pair in found.pairs.values())
        regular = self.price[0] * cut + self.price[1] * volume + self.price[2] * messages
        return self.alpha * regular + MigrationPlan.between(self.former, made, self.problem).volume


__all__ = ["Rerun"]
