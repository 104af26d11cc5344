"""What a co-partition owes its user: in no figure that is paid for worse than partitioning each component alone.

`promised` measures the figures, `broken` lists the lines in which one co-partition is worse than another of the same
counts, eps and seed, made by `naive`; `remarks_on` says so in one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..coupling import CoPartition, CoupledProblem
from .balance import allowed_weight, max_part_weight
from .components import coupled_weights, edge_cut, pieces
from .coupled import CoupledMetrics
from .natural import natural_count
from .traffic import all_matrices, coupling_traffic

#: By what share a cut and a volume may be more than NAIVE's; every other figure is at most NAIVE's.
CUT_SLACK, VOLUME_SLACK = 0.08, 0.01

#: A cut below so many edges may be `FEW_EDGES` more: a share of it is next to nothing.
SMALL_CUT, FEW_EDGES = 50, 10

#: Lines that a remark names; the others are counted.
_NAMED = 3


@dataclass(frozen=True)
class PromiseFigures:
    """What a user pays for; mappings are by component."""

    cut: Mapping[str, int]
    """Edge cut."""
    extra_pieces: Mapping[str, int]
    """Connected pieces beyond one per part."""
    max_coupled: Mapping[str, int]
    """Coupled weight of the part that has most."""
    coupled_weight: Mapping[str, int]
    """Coupled weight of all parts."""
    ncoupled: Mapping[str, int]
    """Parts that share it: as many as were asked for, else the natural number, else those that own coupled cells."""
    totV: int
    """Data sent in a coupling phase, all pairs, both ways."""
    totZ: int
    """Messages in a coupling phase, from the first to the second of every pair."""
    maxV: int
    """Most data that one process sends, or that one receives, over all pairs."""
    maxZ: int
    """Most messages that one process sends, or that one receives, over all pairs."""
    owners: Mapping[str, int] = field(default_factory=dict)
    """Parts that own coupled cells, where they were counted."""


class _ExtraPieces(Mapping[str, int]):
    """Pieces of each component beyond one per part: counted where asked for, as that takes longer than all the rest."""

    def __init__(self, problem: CoupledProblem, copartition: CoPartition):
        self._problem, self._copartition, self._known = problem, copartition, dict[str, int]()

    def __getitem__(self, name: str) -> int:
        if name not in self._known:
            found = pieces(self._problem.components[name], self._copartition[name], self._copartition.nparts[name])
            self._known[name] = int((found - 1).clip(min=0).sum())
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._problem.components)

    def __len__(self) -> int:
        return len(self._problem.components)


@dataclass(frozen=True)
class BrokenLine:
    """A figure that is worse than it may be."""

    figure: str
    """What it is, in words."""
    value: int
    """What the co-partition has."""
    limit: int
    """The most that it may be."""
    against: int
    """What that is measured by: NAIVE's figure, or the mean coupled weight rounded up."""
    measure: str = "naive"
    """Whose figure `against` is."""

    @property
    def excess(self) -> float:
        """How many times the limit it is."""
        return self.value / self.limit if self.limit else float("inf")

    def __str__(self) -> str:
        return f"{self.figure} {self.value} ({self.measure}: {self.against})"


def promised(problem: CoupledProblem, copartition: CoPartition, metrics: CoupledMetrics | None = None
             ) -> PromiseFigures:
    """The figures of the promise; a hundredth of a second for 400,000 cells.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    metrics : CoupledMetrics, optional
        What :func:`copart.metrics.evaluate` says of them, where that is known: the figures are taken from there.

    Examples
    --------
    >>> from copart import Graph, Interedges
    >>> line = Graph.from_edges(3, [0, 1], [1, 2])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(3, 3, [0, 1, 2], [0, 1, 2]))
    >>> figures = promised(problem, CoPartition({"a": [0, 1, 0], "b": [0, 0, 1]}, {"a": 2, "b": 2}))
    >>> dict(figures.extra_pieces), figures.totV, figures.totZ, figures.maxV
    ({'a': 1, 'b': 0}, 6, 3, 2)
    """
    cut, most, weight, over, owning = {}, {}, {}, {}, {}
    natural = natural_numbers(problem, copartition)
    extra: dict[str, int] = {}
    for name, graph in problem.components.items():
        part, n, load = copartition[name], copartition.nparts[name], problem.coupled_load(name)
        if metrics is None:
            share, owners = coupled_weights(load, part, n, problem.coupled(name))
            cut[name], most[name] = edge_cut(graph, part), int(share.max())
        else:
            known = metrics.components[name]
            cut[name], extra[name] = known.cut, known.pieces - (n - known.empty)
            most[name], owners = known.max_coupled, known.ncoupled
        weight[name], owning[name] = int(load.sum()), owners
        asked = copartition.ncoupled[name]
        over[name] = natural.get(name, owners) if asked is None else int(asked)
    matrices = (all_matrices(problem, copartition) if metrics is None
                else {pair: (known.matrix, known.matrix_ba) for pair, known in metrics.pairs.items()})
    busiest = metrics or coupling_traffic(copartition, matrices)
    kept = MappingProxyType
    counted = _ExtraPieces(problem, copartition) if metrics is None else kept(extra)
    return PromiseFigures(kept(cut), counted, kept(most), kept(weight), kept(over),
                          totV=int(sum(there.sum() + back.sum() for there, back in matrices.values())),
                          totZ=sum(there.nnz for there, _ in matrices.values()), maxV=busiest.maxV, maxZ=busiest.maxZ,
                          owners=kept(owning))


def natural_numbers(problem: CoupledProblem, copartition: CoPartition) -> dict[str, int]:
    """Over how many parts each interface is naturally spread, of what a co-partition began with; empty if unknown.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    """
    out = {}
    for name, part in (copartition.alone or {}).items():
        cells = problem.coupled(name)
        before, _ = coupled_weights(problem.coupled_load(name), part, copartition.nparts[name], cells)
        out[name] = natural_count(before, len(cells), 0)
    return out


def allowed_cut(alone: int) -> int:
    """The largest cut that a plan owes where NAIVE's is `alone`.

    Examples
    --------
    >>> allowed_cut(1000), allowed_cut(49)
    (1080, 59)
    """
    return alone + FEW_EDGES if alone < SMALL_CUT else allowed_weight(alone, CUT_SLACK)


def broken(figures: PromiseFigures, naive: PromiseFigures, eps: float | None = None) -> list[BrokenLine]:
    """The lines in which `figures` are worse than they may be, the worst first; empty where the promise is kept.

    Parameters
    ----------
    figures, naive : PromiseFigures
        Of the co-partition, and of NAIVE's with the same counts, eps and seed.
    eps : float, optional
        Imbalance tolerance of the coupled weight; where not given, that is only compared with NAIVE's.
    """
    return sorted((line for line in _lines(figures, naive, eps) if line.value > line.limit),
                  key=lambda line: -line.excess)


def _lines(mine: PromiseFigures, naive: PromiseFigures, eps: float | None) -> Iterator[BrokenLine]:
    for name, theirs in naive.cut.items():
        yield BrokenLine(f"cut of {name}", mine.cut[name], allowed_cut(theirs), theirs)
        if mine.extra_pieces[name]:
            extra = naive.extra_pieces[name]
            yield BrokenLine(f"extra pieces of {name}", mine.extra_pieces[name], extra, extra)
        busiest, most = f"coupled weight of the busiest process of {name}", naive.max_coupled[name]
        yield BrokenLine(busiest, mine.max_coupled[name], most, most)
        if eps is not None and mine.ncoupled[name]:
            total, over = mine.coupled_weight[name], mine.ncoupled[name]
            # tables show how many parts own coupled cells, which may be more than the natural number
            mean = "mean" if mine.owners.get(name, over) == over else f"mean over {over} parts"
            yield BrokenLine(busiest, mine.max_coupled[name], max_part_weight(total, over, eps), -(-total // over),
                             mean)
    yield BrokenLine("totV both ways", mine.totV, allowed_weight(naive.totV, VOLUME_SLACK), naive.totV)
    for key in ("totZ", "maxV", "maxZ"):
        yield BrokenLine(key, getattr(mine, key), getattr(naive, key), getattr(naive, key))


def remarks_on(figures: PromiseFigures, naive: PromiseFigures, eps: float | None = None) -> list[str]:
    """One sentence where a line is broken or parts are in several pieces, with both numbers of the worst lines.

    Parameters
    ----------
    figures, naive, eps
        See :func:`broken`.

    Returns
    -------
    list of str
        Empty, or of one.

    Examples
    --------
    >>> from dataclasses import replace
    >>> alone = PromiseFigures({"a": 100}, {"a": 0}, {"a": 9}, {"a": 9}, {"a": 1}, 40, 10, 8, 4)
    >>> remarks_on(alone, alone)
    []
    >>> remarks_on(replace(alone, cut={"a": 120}, maxZ=5), alone)
    ['worse than partitioning each component alone: maxZ 5 (naive: 4), cut of a 120 (naive: 100)']
    """
    lines = broken(figures, naive, eps)
    worse = [line for line in lines if line.measure == "naive"]
    uneven = [line for line in lines if line.measure != "naive"]
    out = []
    if worse:
        more = len(worse) - _NAMED
        rest = [f"and {more} more figure{'s' if more > 1 else ''}"] if more > 0 else []
        out.append(f"worse than partitioning each component alone: {', '.join([*map(str, worse[:_NAMED]), *rest])}")
    if uneven:
        others = f" and {len(uneven) - 1} more" if len(uneven) > 1 else ""
        out.append(f"the coupling phase is not in balance: {uneven[0]}{others}")
    scattered = [f"{n} more of {name} (naive: {naive.extra_pieces[name]})"
                 for name, n in figures.extra_pieces.items() if n and n <= naive.extra_pieces[name]]
    if scattered:
        out.append(f"there are more pieces than parts, {', '.join(scattered)}")
    return ["; ".join(out)] if out else []


__all__ = ["CUT_SLACK", "VOLUME_SLACK", "BrokenLine", "PromiseFigures", "broken", "natural_numbers", "promised",
           "remarks_on"]
