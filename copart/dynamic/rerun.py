"""What every scheme is given when it is run again, and what all of them share: counts kept, components extended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import FREE, VERTEX, PartArray
from ..coupling import CoPartition, CoupledProblem
from ..errors import CouplingError, of_component
from ..interface.counts import Counts, CoupledCounts, choices_of, coupled_choices, part_counts
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

    def choices(self, name: str) -> Iterator[int]:
        """Values for N^cpl of a component, the best first: as asked, else as before, then natural counts and others.

        Whether cells of unequal weight can be shared out evenly is only known when it has been tried.
        """
        problem, run = self.problem, self.options
        if self.ncoupled is not None:
            yield from self._asked[name]
            return
        n, former, kept = self.count[name], self.former, 0
        if n == former.nparts[name]:
            before = former.ncoupled[name] or len(np.unique(former[name][problem.coupled(name)]))
            with suppress(CouplingError):  # so many parts can no longer hold the coupled cells, or there are none
                kept = choices_of(problem, name, n, before, run)[0]
                yield kept
        yield from (k for k in choices_of(problem, name, n, None, run) if k != kept)

    @cached_property
    def _asked(self) -> dict[str, list[int]]:
        return coupled_choices(self.problem, self.count, self.ncoupled, self.options)

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
        return {name: self.extended_one(name, coupled.get(name), near[name] if near else None)
                for name in self.problem.names}

    def extended_one(self, name: str, coupled: PartArray | None, near: PartArray | None = None) -> PartArray:
        """One component as in :meth:`extended`.

        Parameters
        ----------
        name : str
        coupled : (ncoupled cells,) int32, optional
        near : (nvtxs,) int32, optional
        """
        graph, former = self.problem.components[name], self.former
        fixed = np.full(graph.nvtxs, FREE, VERTEX)
        fixed[self.problem.coupled(name)] = FREE if coupled is None else coupled
        with of_component(name):
            return adaptive_repartition(graph, former[name], former.nparts[name], self.count[name], self.options,
                                        alpha=self.edge, fixed=fixed, starts=[] if near is None else [near])

    def cost(self, made: CoPartition) -> float:
        """``alpha * price . (cut, totV, totZ) + migration volume``, totV being the mean of both ways."""
        found = evaluate(self.problem, made)
        cut = sum(component.cut for component in found.components.values())
        volume = sum(pair.totV_ab + pair.totV_ba for pair in found.pairs.values()) / 2
        messages = sum(pair.totZ for pair in found.pairs.values())
        regular = self.price[0] * cut + self.price[1] * volume + self.price[2] * messages
        return self.alpha * regular + MigrationPlan.between(self.former, made, self.problem).volume


__all__ = ["Rerun"]
